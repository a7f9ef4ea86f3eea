%% SPDX-License-Identifier: Apache-2.0
%% Promise 21: probes of the provider state take no more of the schedulers' time than the option
%% statebudget permits, however many processes there are and however often they are asked for; and a large
%% node, 100,000 processes, 10,000 tables and as many sockets as it may open, up to 50,000, is asked every 5 s
%% within the 2 % that are the default.
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
-define(SOCKETS, 50000).
-define(OTHER_FILES, 500). % that the node itself may open

-spec main() -> no_return().
main() ->
    {ok, _} = application:ensure_all_started(erltrace),
    Pids = processes(?PROCESSES),
    {Tick, 0} = percent("tick-1s { @ = count(); }", 2, ?MS),
    Some = [kept(B, Tick) || B <- [1, 2, 5]],
    More = processes(100000 - ?PROCESSES),
    Tables = [ets:new(many, [public]) || _ <- lists:seq(1, 10000)],
    Sockets = sockets(?SOCKETS),
    All = [large(What, Number, Script, Tick) || {What, Number, Script} <- large(length(Sockets))],
    [P ! stop || P <- Pids ++ More],
    [ets:delete(T) || T <- Tables],
    [gen_udp:close(S) || S <- Sockets],
    Failed = length([false || false <- Some ++ All]),
    io:format("~b passed, ~b failed~n", [length(Some ++ All) - Failed, Failed]),
    halt(min(1, Failed)).

processes(N) ->
    [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, N)].

sockets(Wanted) ->
    {max_fds, Fds} = lists:keyfind(max_fds, 1, lists:append(erlang:system_info(check_io))),
    May = min(Wanted, Fds - ?OTHER_FILES),
    May < Wanted andalso
        io:format("promise 21: ~b sockets instead of ~b: here a process may open no more than ~b files~n",
                  [May, Wanted, Fds]),
    [begin
         {ok, S} = gen_udp:open(0, [{ip, {127, 0, 0, 1 + N rem 10}}, {active, false}]),
         S
     end || N <- lists:seq(1, May)].

large(Sockets) ->
    [{"processes", 100000,
      "state:::process-5s /args[0]->mailbox > 1000/ { @[args[0]->name] = max(args[0]->mailbox); }"},
     {"tables", 10000,
      "state:::table-5s { @[args[0]->name] = max(args[0]->memory); @g = sum(args[0]->growth); }"},
     {"sockets", Sockets,
      "state:::socket-5s { @s = sum(args[0]->new_sent + args[0]->new_received); @q = max(args[0]->queue); }"}].

large(What, Number, Script, Tick) ->
    {Percent, Asked} = percent(Script, 2, ?ROUNDS_MS),
    Cost = Percent - Tick,
    io:format("promise 21: OTP ~s: ~b ~s, every 5 s: ~.2f % of the schedulers' time, of 2 %; asked ~.1f "
              "times in ~b s~n", [erlang:system_info(otp_release), Number, What, Cost, Asked / Number,
                                  ?ROUNDS_MS div 1000]),
    Cost =< 2.

%% Everything about every process, ten times a second.
kept(Budget, Tick) ->
    {Percent, _} = percent("state:::process-100ms { @[args[0]->status] = max(args[0]->memory);"
                           "@n[args[0]->links] = sum(args[0]->binaries); }", Budget, ?MS),
    Cost = Percent - Tick,
    io:format("promise 21: OTP ~s: ~b processes, ten times a second: ~.2f % of the schedulers' time, "
              "of ~b %~n", [erlang:system_info(otp_release), ?PROCESSES, Cost, Budget]),
    Cost =< Budget.

%% What it took, and for how many things its probes have fired.
percent(Script, Budget, Ms) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "statebudget", integer_to_list(Budget)),
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    receive after 1000 -> ok end, % arming, and what it may spend at once
    Began = erlang:monotonic_time(nanosecond),
    Cpu = bench_lib:cpu_ns(),
    Before = seen(H),
    receive after Ms -> ok end,
    Spent = bench_lib:cpu_ns() - Cpu,
    Time = erlang:monotonic_time(nanosecond) - Began,
    Seen = seen(H) - Before,
    ok = erltrace:close(H),
    {100 * Spent / (Time * erlang:system_info(schedulers_online)), Seen}.

seen(H) ->
    case erltrace:status(H) of
        {ok, #{things := #{seen := Seen}}} -> Seen;
        {ok, _} -> 0
    end.
