%% SPDX-License-Identifier: Apache-2.0
%% What it costs to ask what there is: processor time of a whole node for each thing that a probe of the
%% provider state fires for, and so how many things fit into a round of 5 s, at the budget that scripts
%% have by default, 2 % of the time of two schedulers. The goals are those of a large node: 100,000
%% processes, 10,000 tables, 50,000 sockets.
-module(bench_state).
-export([main/0, run/3]).

-define(BUDGET_NS, 200000000.0). % 2 % of two schedulers for 5 s

-spec main() -> ok.
main() ->
    Peer = bench_lib:peer(["+P", "300000", "+S", "2", "+sbwt", "none", "+sbwtdcpu", "none",
                           "+sbwtdio", "none"]),
    try
        Longest = [one(Peer, What, Number, Goal, Script) || {What, Number, Goal, Script} <- cases()],
        Ms = lists:max(Longest) / 1.0e6,
        Name = "longest time that asking had a scheduler",
        io:format("~-62s ~9.2f <=1~n", [Name, Ms]),
        bench_lib:goal("state", Name, Ms, "ms", 0, Ms, '<=', 1)
    after peer:stop(Peer)
    end.

cases() ->
    [{"processes in a round, with a predicate", {processes, 100000}, 100000,
      "state:::process-1s /args[0]->mailbox > 1000/ { @[args[0]->name] = max(args[0]->mailbox); }"},
     {"processes in a round, who has run more than others", {processes, 100000}, 100000,
      "state:::process-1s /args[0]->new_reductions > 100000/ { @[args[0]->name] = max(args[0]->memory); }"},
     {"processes in a round, all members, as they rest", {processes, 20000}, 0,
      "state:::process-1s { @ = sum(args[0]->memory); @l = sum(args[0]->links + args[0]->binaries);"
      "@f[args[0]->function, args[0]->status] = count(); }"},
     {"tables in a round", {tables, 10000}, 10000,
      "state:::table-1s { @[args[0]->name] = max(args[0]->memory); @g = sum(args[0]->growth); }"},
     {"sockets in a round", {sockets, 8000}, 50000,
      "state:::socket-1s { @[args[0]->remote] = sum(args[0]->new_sent + args[0]->new_received);"
      "@q = max(args[0]->queue); }"}].

one(Peer, What, Number, Goal, Script) ->
    {Ns, Longest} = peer:call(Peer, ?MODULE, run, [Number, Script, rounds()], 600000),
    Fit = ?BUDGET_NS / Ns,
    io:format("~-62s ~9b ~9.2f us~n", [What, round(Fit), Ns / 1000]),
    case Goal of
        0 -> bench_lib:row("state", [{name, What}, {value, Fit}, {unit, "in 5 s"}]);
        _ -> bench_lib:goal("state", What, Fit, "in 5 s", 0, Fit, '>=', Goal)
    end,
    Longest.

rounds() -> case bench_lib:quick() of true -> 3; false -> 10 end.

%% The best of so many rounds after the first: ns of processor time for each thing. And the longest time
%% that asking had a scheduler.
-spec run({atom(), pos_integer()}, iodata(), pos_integer()) -> {float(), non_neg_integer()}.
run({Kind, N}, Script, Rounds) ->
    Stop = make(Kind, N),
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "statebudget", "50"),
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    _ = wait(H, 1),
    Costs = [begin
                 Seen = seen(H),
                 Cpu = bench_lib:cpu_ns(),
                 _ = wait(H, I + 1),
                 (bench_lib:cpu_ns() - Cpu) / max(1, seen(H) - Seen)
             end || I <- lists:seq(1, Rounds)],
    {ok, #{things := #{longest := Longest}}} = erltrace:status(H),
    ok = erltrace:close(H),
    Stop(),
    {lists:min(Costs), Longest}.

seen(H) ->
    {ok, #{things := #{seen := Seen}}} = erltrace:status(H),
    Seen.

%% Until so many rounds are over.
wait(H, Rounds) ->
    {ok, #{things := #{rounds := N}}} = erltrace:status(H),
    N >= Rounds orelse begin receive after 50 -> ok end, wait(H, Rounds) end.

make(processes, N) ->
    Pids = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, N)],
    fun() -> [P ! stop || P <- Pids] end;
make(tables, N) ->
    Tables = [ets:new(many, [public]) || _ <- lists:seq(1, N)],
    fun() -> [ets:delete(T) || T <- Tables] end;
make(sockets, Wanted) ->
    {max_fds, Fds} = lists:keyfind(max_fds, 1, lists:append(erlang:system_info(check_io))),
    N = min(Wanted, Fds - 200),
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}, {backlog, N}]),
    {ok, Port} = inet:port(L),
    Sockets = lists:append([begin
                                {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
                                {ok, S} = gen_tcp:accept(L),
                                [C, S]
                            end || _ <- lists:seq(1, N div 2)]),
    fun() -> [gen_tcp:close(S) || S <- [L | Sockets]] end.
