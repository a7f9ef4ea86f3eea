%% SPDX-License-Identifier: Apache-2.0
%% Promise 21: probes of the provider state take no more of the schedulers' time than the option
%% statebudget permits, however many processes there are and however often they are asked for.
%%
%%   erl +sbwt none +sbwtdcpu none +sbwtdio none -run state_promise main
%%
%% The processor time of all threads of this node, as the kernel counts it, while such a script runs, less
%% that of a script which only ticks. A figure is a line "promise 21: TEXT"; the last line is "N passed, N
%% failed".
-module(state_promise).
-export([main/0]).

-define(PROCESSES, 30000).
-define(MS, 10000).

-spec main() -> no_return().
main() ->
    {ok, _} = application:ensure_all_started(erltrace),
    Pids = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, ?PROCESSES)],
    Tick = percent("tick-1s { @ = count(); }", 2),
    Failed = length([B || B <- [1, 2, 5], not kept(B, Tick)]),
    [P ! stop || P <- Pids],
    io:format("~b passed, ~b failed~n", [3 - Failed, Failed]),
    halt(min(1, Failed)).

%% Everything about every process, ten times a second.
kept(Budget, Tick) ->
    Cost = percent("state:::process-100ms { @[args[0]->status] = max(args[0]->memory);"
                   "@n[args[0]->links] = sum(args[0]->binaries); }", Budget) - Tick,
    io:format("promise 21: OTP ~s: ~b processes, ten times a second: ~.2f % of the schedulers' time, "
              "of ~b %~n", [erlang:system_info(otp_release), ?PROCESSES, Cost, Budget]),
    Cost =< Budget.

percent(Script, Budget) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "statebudget", integer_to_list(Budget)),
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    receive after 1000 -> ok end, % arming, and what it may spend at once
    Began = erlang:monotonic_time(nanosecond),
    Cpu = bench_lib:cpu_ns(),
    receive after ?MS -> ok end,
    Spent = bench_lib:cpu_ns() - Cpu,
    Time = erlang:monotonic_time(nanosecond) - Began,
    ok = erltrace:close(H),
    100 * Spent / (Time * erlang:system_info(schedulers_online)).
