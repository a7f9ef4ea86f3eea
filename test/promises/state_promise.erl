%% SPDX-License-Identifier: Apache-2.0
%% Promise 21: probes of the provider state take no more of the schedulers' time than the option
%% statebudget permits, however many processes there are and however often they are asked for; and a large
%% node, 100,000 processes, 10,000 tables and 50,000 sockets, is asked every 5 s within the 2 % that are the
%% default. Where a process may not open so many files, as many sockets as it may are real ones, which are
%% measured alone too; the others are ports of tcp_inet that nobody has opened: the VM has all of such a
%% socket but its file.
%%
%%   ulimit -n 60000; erl +sbwt none +sbwtdcpu none +sbwtdio none +P 300000 +Q 131072 -run state_promise main
%%
%% The processor time of all threads of this node, as the kernel counts it, while such a script runs, less
%% that of a script which only ticks. A figure is a line "promise 21: TEXT"; the last line is "N passed, N
%% failed".
-module(state_promise).
-export([main/0]).

-define(PROCESSES, 30000).
-define(MS, 5000).
-define(ROUNDS_MS, 15000).
-define(FIRST_MS, 60000).
-define(SOCKETS, 50000).
-define(OTHER_FILES, 500). % that the node itself may open
-define(SOCKET_SCRIPT, "state:::socket-5s { @s = sum(args[0]->new_sent + args[0]->new_received);"
                       "@q = max(args[0]->queue); }").

-spec main() -> no_return().
main() ->
    {ok, _} = application:ensure_all_started(erltrace),
    Pids = processes(?PROCESSES),
    {Tick, _} = percent("tick-1s { @ = count(); }", 2, 0, ?MS),
    Some = [kept(B, Tick) || B <- [1, 2, 5]],
    More = processes(100000 - ?PROCESSES),
    Tables = [ets:new(many, [public]) || _ <- lists:seq(1, 10000)],
    Sockets = sockets(?SOCKETS),
    Real = length(Sockets),
    Large = [large(What, Number, Script, Tick) || {What, Number, Script} <- large(Real)],
    Unopened = unopened(?SOCKETS - Real),
    Most = "sockets, of which " ++ integer_to_list(Real) ++ " have a file",
    Fifty = [large(Most, ?SOCKETS, ?SOCKET_SCRIPT, Tick) || Unopened =/= []],
    All = [Cost =< 2 || Cost <- Large ++ Fifty],
    extrapolated(Real, lists:last(Large)),
    [P ! stop || P <- Pids ++ More],
    [ets:delete(T) || T <- Tables],
    [gen_udp:close(S) || S <- Sockets],
    [port_close(P) || P <- Unopened],
    Failed = length([false || false <- Some ++ All]),
    io:format("~b passed, ~b failed~n", [length(Some ++ All) - Failed, Failed]),
    halt(min(1, Failed)).

processes(N) ->
    [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, N)].

sockets(Wanted) ->
    {max_fds, Fds} = lists:keyfind(max_fds, 1, lists:append(erlang:system_info(check_io))),
    May = min(Wanted, Fds - ?OTHER_FILES),
    [begin
         {ok, S} = gen_udp:open(0, [{ip, {127, 0, 0, 1 + N rem 10}}, {active, false}]),
         S
     end || N <- lists:seq(1, May)].

%% Ports of a driver of sockets, which knows of them all that is asked for, but without a file.
unopened(N) ->
    [open_port({spawn_driver, "tcp_inet"}, [binary]) || _ <- lists:seq(1, N)].

%% By the price of one with a file.
extrapolated(?SOCKETS, _) ->
    ok;
extrapolated(Real, Cost) ->
    io:format("promise 21: OTP ~s: ~b sockets would take ~.2f % of the time of ~b schedulers, each as much as "
              "one of these ~b~n",
              [erlang:system_info(otp_release), ?SOCKETS, Cost * ?SOCKETS / Real,
               erlang:system_info(schedulers_online), Real]).

large(Sockets) ->
    [{"processes", 100000,
      "state:::process-5s /args[0]->mailbox > 1000/ { @[args[0]->name] = max(args[0]->mailbox); }"},
     {"tables", 10000,
      "state:::table-5s { @[args[0]->name] = max(args[0]->memory); @g = sum(args[0]->growth); }"},
     {"sockets", Sockets, ?SOCKET_SCRIPT}].

large(What, Number, Script, Tick) ->
    {Percent, #{rounds := Rounds, partial := Partial}} = percent(Script, 2, Number, ?ROUNDS_MS),
    Cost = Percent - Tick,
    io:format("promise 21: OTP ~s: ~b ~s, every 5 s: ~.2f % of the time of ~b schedulers, of 2 %; ~b of ~b "
              "rounds whole~n",
              [erlang:system_info(otp_release), Number, What, Cost, erlang:system_info(schedulers_online),
               Rounds - Partial, Rounds]),
    Cost.

%% Everything about every process, ten times a second.
kept(Budget, Tick) ->
    {Percent, _} = percent("state:::process-100ms { @[args[0]->status] = max(args[0]->memory);"
                           "@n[args[0]->links] = sum(args[0]->binaries); }", Budget, 0, ?MS),
    Cost = Percent - Tick,
    io:format("promise 21: OTP ~s: ~b processes, ten times a second: ~.2f % of the schedulers' time, "
              "of ~b %~n", [erlang:system_info(otp_release), ?PROCESSES, Cost, Budget]),
    Cost =< Budget.

%% What it took, and how many rounds it made, from when it had fired for the first ones: the first pass, which
%% asks more, takes longer.
percent(Script, Budget, First, Ms) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "statebudget", integer_to_list(Budget)),
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    receive after 1000 -> ok end, % arming, and what it may spend at once
    await(H, First, ?FIRST_MS div 100),
    Began = erlang:monotonic_time(nanosecond),
    Cpu = bench_lib:cpu_ns(),
    Before = things(H),
    receive after Ms -> ok end,
    Spent = bench_lib:cpu_ns() - Cpu,
    Time = erlang:monotonic_time(nanosecond) - Began,
    Made = maps:map(fun(Key, N) -> N - maps:get(Key, Before) end, things(H)),
    ok = erltrace:close(H),
    {100 * Spent / (Time * erlang:system_info(schedulers_online)), Made}.

await(H, First, Tries) ->
    Tries =:= 0 orelse maps:get(seen, things(H)) >= First orelse
        begin receive after 100 -> ok end, await(H, First, Tries - 1) end.

things(H) ->
    case erltrace:status(H) of
        {ok, #{things := #{} = Things}} -> maps:with([seen, rounds, partial], Things);
        {ok, _} -> #{seen => 0, rounds => 0, partial => 0}
    end.
