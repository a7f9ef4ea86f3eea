%% SPDX-License-Identifier: Apache-2.0
%% Schedulers stay fair: what our own processes do for a large script is short, or on dirty
%% schedulers. The VM's own word for it is the system monitor's long_schedule, here at 1 ms. On a
%% machine with other work to do a thread is put aside now and then, and whoever it ran is told of:
%% so each step is taken many times. One that is too long by itself is told of each time.
-module(fair_tests).
-include_lib("eunit/include/eunit.hrl").

-define(ROUNDS, 40).
-define(KEYS, 30000).
-define(LIBRARIES, [lists, dict, gb_trees, ordsets, maps, string, io_lib, file, filename, ets, code,
                    supervisor, gen_server, proplists, binary]).

fair_test_() ->
    {timeout, 300, fun fair/0}.

fair() ->
    [code:ensure_loaded(M) || M <- ?LIBRARIES],
    Old = erlang:system_monitor(),
    try
        %% What is short in one round is short: no more is asked of that step.
        Left = rounds(?ROUNDS, [open, compile, go, events, walk, status, stop, consume, close]),
        ?assertEqual([], Left)
    after
        restore(Old)
    end.

%% A script that has nothing to say is asked over and over again: that takes no dirty scheduler, which would
%% spin each time before it sleeps again. Here none is to be had.
rests_without_a_dirty_scheduler_test_() ->
    {timeout, 120, fun rests/0}.

rests() ->
    {ok, H} = erltrace:script("#pragma D option quiet\n"
                             "erlang*:::user_trace-i4s4 { printf(\"%d\", arg2); }"),
    ?assert(rests(H, 20)),
    true = dtrace:p(7),
    {ok, Said} = erltrace:output(H),
    ?assertEqual(<<"7">>, iolist_to_binary(Said)),
    ok = erltrace:close(H).

%% Was it answered while all of them were busy? Now and then it reads whether there is anything or not: then
%% it waits for one of them, and is asked again.
rests(_, 0) -> false;
rests(H, N) ->
    {ok, []} = erltrace:output(H),
    Busy = [spawn(fun() -> erts_debug:dirty_cpu(wait, 2000) end) ||
               _ <- lists:seq(1, erlang:system_info(dirty_cpu_schedulers_online))],
    [until(fun() -> process_info(P, status) =:= {status, running} end) || P <- Busy],
    {ok, []} = erltrace:output(H),
    lists:all(fun is_process_alive/1, Busy) orelse rests(H, N - 1).

until(Is) ->
    case Is() of
        true -> ok;
        false -> erlang:yield(), until(Is)
    end.

restore(undefined) -> erlang:system_monitor(undefined);
restore({Pid, Options}) -> erlang:system_monitor(Pid, Options).

rounds(0, Left) -> Left;
rounds(_, []) -> [];
rounds(N, Left) -> rounds(N - 1, Left -- round()).

%% The steps that were short.
round() ->
    Script = ["erlang*:", lists:join(["::function-entry,erlang*:"], names()), "::function-entry "
              "{ @[probemod, probefunc] = count(); }\n"
              "user_trace-i4s4 { @keys[arg2] = count(); @q[arg2 % 100] = quantize(arg2); }"],
    {Short1, {ok, H}} = step(open, fun erltrace:open/0),
    {Short2, ok} = step(compile, fun() -> erltrace:compile(H, iolist_to_binary(Script)) end),
    {Short3, ok} = step(go, fun() -> erltrace:go(H) end),
    {Short4, ok} = step(events, fun events/0),
    {Short5, {ok, Aggs}} = step(walk, fun() -> erltrace:aggregations(H) end),
    {Short6, {ok, _}} = step(status, fun() -> {ok, erltrace:status(H)} end),
    {Short7, ok} = step(stop, fun() -> erltrace:stop(H) end),
    {Short8, _} = step(consume, fun() -> erltrace:consume(H) end),
    {Short9, ok} = step(close, fun() -> erltrace:close(H) end),
    ?assertEqual(?KEYS, length([x || {<<"keys">>, _, _, 1} <- Aggs])),
    lists:append([Short1, Short2, Short3, Short4, Short5, Short6, Short7, Short8, Short9]).

names() ->
    [atom_to_list(M) || M <- ?LIBRARIES].

events() ->
    {P, Mon} = spawn_monitor(fun() -> [true = dtrace:p(I) || I <- lists:seq(1, ?KEYS)] end),
    receive {'DOWN', Mon, process, P, normal} -> ok end.

%% {[Step], Result} where no process of ours was told of, {[], Result} where one was.
step(Name, Fun) ->
    erlang:system_monitor(self(), [{long_schedule, 1}]),
    Result = Fun(),
    [is_out(P) || P <- processes(), P =/= self()],
    erlang:system_monitor(undefined),
    case told() of
        [] -> {[Name], Result};
        _ -> {[], Result}
    end.

%% It has given the answer and goes on running: that is told when it is done.
is_out(P) ->
    case process_info(P, [status, current_function]) of
        [{status, Status}, {_, {M, _, _}}] when Status =/= waiting ->
            case is_ours(M) of
                true -> is_out(P);
                false -> ok
            end;
        _ ->
            ok
    end.

%% Our processes are sensitive: they are known by where they were, not by how they began.
told() ->
    receive
        {monitor, _, long_schedule, Info} ->
            [Info || {How, {M, _, _}} <- Info, How =:= in orelse How =:= out, is_ours(M)] ++ told()
    after 0 -> []
    end.

is_ours(M) ->
    lists:prefix("erltrace", atom_to_list(M)).
