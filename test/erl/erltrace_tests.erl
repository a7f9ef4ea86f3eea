%% SPDX-License-Identifier: Apache-2.0
%% Known numbers of events, and exactly these numbers counted; nothing left behind.
-module(erltrace_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1]).

with(Script, Fun) ->
    {ok, H} = erltrace:script(Script),
    try
        Fun(),
        {ok, Aggs} = erltrace:aggregations(H),
        Aggs
    after
        erltrace:close(H)
    end.

value(Aggs, Name) ->
    lists:sum([V || {N, _, _, V} <- Aggs, N =:= Name]).

%% A process of ours that does nothing but end; waits until it has.
spawn_and_wait() ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, P, _} -> list_to_binary(pid_to_list(P)) end.

f(X) -> X + 1.

spawn_exit_test() ->
    Aggs = with("erlang*:::process-spawn /copyinstr(arg1) == \"erlang:apply/2\"/"
                "{ @s[copyinstr(arg0)] = count(); }"
                "erlang*:::process-exit /copyinstr(arg1) == \"normal\"/ { @e[copyinstr(arg0)] = count(); }",
                fun() -> put(pids, [spawn_and_wait() || _ <- lists:seq(1, 500)]) end),
    %% others may come and go meanwhile
    Ours = maps:from_keys(get(pids), x),
    ?assertEqual([{A, P, 1} || A <- [<<"e">>, <<"s">>], P <- lists:sort(get(pids))],
                 lists:sort([{A, P, N} || {A, _, [P], N} <- Aggs, is_map_key(P, Ours)])).

send_test() ->
    Self = self(),
    Aggs = with(["erlang*:::message-send /copyinstr(arg0) == \"", pid_to_list(Self),
                 "\" && copyinstr(arg1) == copyinstr(arg0)/ { @ = count(); }"],
                fun() -> [Self ! {msg, I} || I <- lists:seq(1, 1000)] end),
    [receive {msg, I} -> ok end || I <- lists:seq(1, 1000)],
    ?assertEqual(1000, value(Aggs, <<"_">>)).

function_entry_test() ->
    Aggs = with("erlang*:erltrace_tests:f*:global-function-entry { @[copyinstr(arg1)] = count(); }",
                fun() -> [?MODULE:f(I) || I <- lists:seq(1, 2000)] end),
    ?assertEqual([{<<"_">>, count, [<<"erltrace_tests:f/1">>], 2000}], Aggs).

%% self-> is a process's own: two processes count to 100 each.
self_test() ->
    Aggs = with("erlang*:erltrace_tests:f*:global-function-entry"
                "{ self->n++; @[copyinstr(arg0)] = max(self->n); }",
                fun() ->
                        Ps = [spawn_monitor(fun() -> [?MODULE:f(I) || I <- lists:seq(1, 100)] end)
                              || _ <- [1, 2]],
                        [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ps]
                end),
    ?assertMatch([{_, max, _, 100}, {_, max, _, 100}], Aggs).

compile_error_test() ->
    {ok, H} = erltrace:open(),
    {error, {dtrace, <<"D_IDENT_UNDEF">>, 1, 15, _}} = E =
        erltrace:compile(H, "BEGIN { trace(nosuch); }"),
    ?assertNotEqual(nomatch, string:find(erltrace:format_error(E), "nosuch")),
    ?assertEqual({error, no_prog}, erltrace:stop(H)),
    ok = erltrace:close(H),
    ?assertEqual({error, closed}, erltrace:go(H)).

output_test() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "quiet", ""),
    ok = erltrace:compile(H, "BEGIN { printf(\"%d %s\", $1, $$2); exit(0); }", ["42", "x"]),
    ok = erltrace:go(H),
    {done, Text} = erltrace:output(H),
    ?assertEqual(<<"42 x\n">>, iolist_to_binary(Text)),
    ok = erltrace:close(H).

%% The owner is killed: no flag, no pattern is left.
owner_dies_test() ->
    Self = self(),
    Owner = spawn(fun() ->
                          {ok, H} = erltrace:script("erlang*:lists:seq:function-entry,"
                                                    "erlang*:::message-send { @ = count(); }"),
                          Self ! {armed, H},
                          receive after infinity -> ok end
                  end),
    H = receive {armed, P} -> P end,
    ?assertMatch([_ | _], session_tests:flags(self())),
    ?assertEqual([local], session_tests:pattern({lists, seq, 2})),
    M = erlang:monitor(process, H),
    exit(Owner, kill),
    receive {'DOWN', M, process, H, _} -> ok end,
    ?assertEqual([], session_tests:flags(self())),
    ?assertEqual([], session_tests:flags(new_processes)),
    ?assertEqual([], session_tests:pattern({lists, seq, 2})).
