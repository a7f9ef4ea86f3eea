%% SPDX-License-Identifier: Apache-2.0
%% What attaching costs a request, inside the node (stall_bench.sh): a process on each scheduler reads the
%% clock without pause, and keeps the longest time between two readings for each phase: while nothing
%% happens, attaching, arming and so on. Time in which the kernel gives the processor to other programs does
%% not count (bench_stalls.c).
-module(bench_stalls).
-export([start/1, phase/1, longest/1, loaded/0]).
-nifs([us/0]).
-on_load(init/0).

init() ->
    erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "bench_stalls"), 0).

-define(LEAST, 50). % us: less is not looked at
-define(PHASES, 16).

%% So many processes that rest, and one that reads the clock on each scheduler.
-spec start(Processes :: non_neg_integer()) -> ok.
start(N) ->
    Schedulers = erlang:system_info(schedulers),
    Longest = atomics:new(?PHASES * Schedulers + 1, []),
    persistent_term:put(?MODULE, Longest),
    _ = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, N)],
    erlang:garbage_collect(),
    _ = [spawn_opt(fun() -> read(I, Longest) end, [{scheduler, I}])
         || I <- lists:seq(1, Schedulers)],
    ok.

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

read(I, Longest) ->
    loop(us(), I, erlang:system_info(schedulers), Longest).

loop(Last, I, S, Longest) ->
    Now = us(),
    Now - Last >= ?LEAST andalso gap(Now - Last, I, S, Longest),
    loop(Now, I, S, Longest).

gap(Gap, I, S, Longest) ->
    Phase = atomics:get(Longest, ?PHASES * S + 1),
    Phase > 0 andalso begin
        Slot = slot(Phase, I, S),
        Gap > atomics:get(Longest, Slot) andalso atomics:put(Longest, Slot, Gap)
    end.

-spec us() -> integer().
us() -> erlang:nif_error(not_loaded).
