%% SPDX-License-Identifier: Apache-2.0
%% The calls of the erltrace of 2013, used as its author's article uses them: a handler of web
%% sockets that compiles each text it is sent, and answers each tick with a heat map. Checked by
%% counts that are known.
-module(blog_tests).
-include_lib("eunit/include/eunit.hrl").
-export([work/1]).

work(X) -> X + 1.

%% ---- the handler, as it was written ----------------------------------------------------------

websocket_handle({text, Msg}, Req, State) ->
    %% We create a new handler
    {ok, Handle} = case State of
                       undefined ->
                           erltrace:open();
                       {_, Old} ->
                           %% But we want to make sure that any old one is closed first.
                           erltrace:close(Old),
                           erltrace:open()
                   end,
    %% We've to confert cowboys binary to a list.
    Msg1 = binary_to_list(Msg),
    ok = erltrace:compile(Handle, Msg1),
    ok = erltrace:go(Handle),
    {ok, Req, {Msg1, Handle}}.

websocket_info(tick, Req, {Msg, Handle} = State) ->
    case erltrace:walk(Handle) of
        {ok, R} ->
            JSON = [{list_to_binary(Call), [[[S, E], V] || {{S, E}, V} <- Vs]} ||
                       {lquantize, [Call], Vs} <- R],
            {reply, {text, JSON}, Req, State, hibernate};
        ok ->
            {ok, Req, {Msg, Handle}};
        _Other ->
            try
                erltrace:stop(Handle)
            catch
                _:_ ->
                    ok
            end,
            {ok, Handle1} = erltrace:open(),
            erltrace:compile(Handle1, Msg),
            erltrace:go(Handle1),
            {ok, Req, {Msg, Handle1}}
    end.

%% ---- its scripts -----------------------------------------------------------------------------

-define(HEAT_MAP,
        <<"erlang*:::global-function-entry\n"
          "{\n"
          "  self->funcall_entry_ts[copyinstr(arg1)] = vtimestamp;\n"
          "}\n"
          "erlang*:::function-return\n"
          "{\n"
          "  @time[copyinstr(arg1)] = lquantize((vtimestamp - "
          "self->funcall_entry_ts[copyinstr(arg1)] ) / 1000, 0, 63, 2);\n"
          "}\n">>).

-define(PROFILE,
        <<"erlang*:::global-function-entry\n"
          "{\n"
          "  self->funcall_entry_ts[copyinstr(arg1)] = vtimestamp;\n"
          "}\n"
          "erlang*:::function-return\n"
          "{\n"
          "  @time[copyinstr(arg1)] = sum((vtimestamp - "
          "self->funcall_entry_ts[copyinstr(arg1)] ) / 1000);\n"
          "}\n">>).

%% In a process of its own, which is new to the script and has ended when this returns.
calls(N) ->
    {P, M} = spawn_monitor(fun() -> [?MODULE:work(I) || I <- lists:seq(1, N)] end),
    receive {'DOWN', M, process, P, normal} -> ok end.

counts(JSON) ->
    {_, Buckets} = lists:keyfind(<<"blog_tests:work/1">>, 1, JSON),
    [?assert(is_integer(S) andalso is_integer(E) andalso S =< E) || [[S, E], _] <- Buckets],
    lists:sum([V || [_, V] <- Buckets]).

heat_map_test_() ->
    {timeout, 60, fun heat_map/0}.

heat_map() ->
    {ok, req, State} = websocket_handle({text, ?HEAT_MAP}, req, undefined),
    calls(1000),
    {reply, {text, JSON}, req, State, hibernate} = websocket_info(tick, req, State),
    ?assertEqual(1000, counts(JSON)),
    calls(234),
    {reply, {text, JSON1}, req, State, hibernate} = websocket_info(tick, req, State),
    ?assertEqual(234, counts(JSON1)),
    %% a new text: the old one's probes are off
    {ok, req, {Script, Handle} = State1} = websocket_handle({text, ?HEAT_MAP}, req, State),
    ?assertEqual(binary_to_list(?HEAT_MAP), Script),
    calls(77),
    {reply, {text, JSON2}, req, State1, hibernate} = websocket_info(tick, req, State1),
    ?assertEqual(77, counts(JSON2)),
    ok = erltrace:close(Handle),
    ?assertEqual({flags, []}, erlang:trace_info(self(), flags)).

profile_test_() ->
    {timeout, 60, fun profile/0}.

profile() ->
    {ok, req, {_, Handle}} = websocket_handle({text, ?PROFILE}, req, undefined),
    calls(100),
    {ok, R} = erltrace:walk(Handle),
    [Sum] = [V || {sum, ["blog_tests:work/1"], V} <- R],
    ?assert(is_integer(Sum) andalso Sum >= 0),
    ok = erltrace:close(Handle).

%% Nothing gathered yet: ok. An error: another handle, as the article does.
nothing_yet_test() ->
    {ok, req, State} = websocket_handle({text, <<"erlang*:::user_trace-n3"
                                                 "{ @[copyinstr(arg6)] = lquantize(arg2, 0, 9); }">>},
                                        req, undefined),
    {ok, req, State} = websocket_info(tick, req, State),
    [true = dtrace:pn(3, I, "x") || I <- [1, 2, 2]],
    ?assertEqual({reply, {text, [{<<"x">>, [[[1, 1], 1], [[2, 2], 2]]}]}, req, State, hibernate},
                 websocket_info(tick, req, State)),
    {_, Handle} = State,
    ok = erltrace:stop(Handle),
    {ok, req, {_, Handle1} = State1} = websocket_info(tick, req, State),
    ?assertNotEqual(Handle, Handle1),
    ok = erltrace:close(Handle),
    [true = dtrace:pn(3, I, "y") || I <- [5, 5]],
    ?assertEqual({reply, {text, [{<<"y">>, [[[5, 5], 2]]}]}, req, State1, hibernate},
                 websocket_info(tick, req, State1)),
    ok = erltrace:close(Handle1).

%% What compile says if the text is wrong.
wrong_test() ->
    {ok, H} = erltrace:open(),
    ?assertMatch({error, {dtrace, <<"D_SYNTAX">>, 1, _, _}}, erltrace:compile(H, "erlang*::: {")),
    ok = erltrace:close(H).
