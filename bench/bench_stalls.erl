%% SPDX-License-Identifier: Apache-2.0
%% What attaching costs a request, inside the node (stall_bench.sh): a process on each scheduler reads the
%% clock without pause, and keeps the longest time between two readings for each phase: while nothing
%% happens, attaching, arming and so on. Time in which the kernel gave the processor to others, as it says in
%% schedstat, is not counted: it is the machine's.
-module(bench_stalls).
-export([start/1, phase/1, longest/1, loaded/0]).

-define(LEAST, 300). % us: less is not looked at
-define(PHASES, 16).

%% So many processes that rest, and one that reads the clock on each scheduler.
-spec start(Processes :: non_neg_integer()) -> ok.
start(N) ->
    Schedulers = erlang:system_info(schedulers),
    Longest = atomics:new(?PHASES * Schedulers + 1, []),
    persistent_term:put(?MODULE, Longest),
    _ = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, N)],
    erlang:garbage_collect(),
    Threads = threads(),
    _ = [spawn_opt(fun() -> read(I, maps:get(I, Threads), Longest) end, [{scheduler, I}])
         || I <- lists:seq(1, Schedulers)],
    ok.

%% The files of schedulers' threads, which are called erts_sched_1 or 1_scheduler.
threads() ->
    maps:from_list([{list_to_integer(I), filename:join(filename:dirname(F), "schedstat")} ||
                       F <- filelib:wildcard("/proc/self/task/*/comm"),
                       {ok, Name} <- [file:read_file(F)],
                       {match, [I]} <- [re:run(Name, "^(?:erts_sched_)?([0-9]+)(?:_scheduler)?\n$",
                                               [{capture, [1], list}])]]).

%% From now on it is this phase, from 1; what was seen of it before is forgotten.
-spec phase(pos_integer()) -> ok.
phase(Phase) when Phase =< ?PHASES ->
    Longest = persistent_term:get(?MODULE),
    S = erlang:system_info(schedulers),
    [atomics:put(Longest, slot(Phase, I, S), 0) || I <- lists:seq(1, S)],
    atomics:put(Longest, ?PHASES * S + 1, Phase).

%% us, of all schedulers.
-spec longest(Phase :: pos_integer()) -> non_neg_integer().
longest(Phase) ->
    S = erlang:system_info(schedulers),
    lists:max([atomics:get(persistent_term:get(?MODULE), slot(Phase, I, S)) || I <- lists:seq(1, S)]).

slot(Phase, I, Schedulers) -> (Phase - 1) * Schedulers + I.

%% Modules of erltrace that are loaded.
-spec loaded() -> non_neg_integer().
loaded() -> length([M || M <- erlang:loaded(), lists:prefix("erltrace", atom_to_list(M))]).

read(I, File, Longest) ->
    S = erlang:system_info(schedulers),
    {ok, Fd} = file:open(File, [read, raw, binary]),
    go_on({I, S, Fd, Longest}, 50).

%% Another thread reads the file for us: if that took long, the delay was of some time ago.
go_on({_, _, Fd, _} = St, Tries) ->
    Began = us(),
    Delay = delay(Fd),
    case us() of
        Now when Now - Began < ?LEAST; Tries =:= 0 -> loop(Now, Delay, St);
        _ -> go_on(St, Tries - 1)
    end.

loop(Last, Delay, St) ->
    case us() of
        Now when Now - Last < ?LEAST -> loop(Now, Delay, St);
        Now -> gap(Now - Last, Delay, St)
    end.

gap(Gap, Before, {I, S, Fd, Longest} = St) ->
    After = delay(Fd),
    Phase = atomics:get(Longest, ?PHASES * S + 1),
    Phase > 0 andalso begin
        Slot = slot(Phase, I, S),
        Stall = Gap - (After - Before),
        Stall > atomics:get(Longest, Slot) andalso atomics:put(Longest, Slot, Stall)
    end,
    go_on(St, 50).

%% us that the thread has waited for a processor.
delay(Fd) ->
    {ok, Text} = file:pread(Fd, 0, 200),
    [_, Ns | _] = binary:split(Text, <<" ">>, [global]),
    binary_to_integer(Ns) div 1000.

us() -> erlang:monotonic_time(microsecond).
