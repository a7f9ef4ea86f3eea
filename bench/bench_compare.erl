%% SPDX-License-Identifier: Apache-2.0
%% The loads of bench_loads traced by the ways of bench_ways, side by side. Each load and way has a
%% fresh node of its own; the nodes take turns, round by round, and in each turn the work is done
%% without and with the tracer. Of the rounds the best counts, for both.
%%
%% A row has: ns, processor time of the VM that an event costs; kept, percent of the throughput,
%% where the work has ended when the tracer has dealt with its last event; p99, us that the slowest
%% percent of operations takes longer; kb, the most memory that was resident beyond that of the work
%% alone (and in programs that trace); messages, sent to a tracer, of 1000 events.
-module(bench_compare).
-export([main/0, node_init/2, turn/4, count/1]).

-spec main() -> ok.
main() ->
    Only = [list_to_atom(N) || N <- string:lexemes(os:getenv("BENCH_LOADS", ""), " ")],
    [compare(Load) || #{name := Name} = Load <- bench_loads:all(),
                      Only =:= [] orelse lists:member(Name, Only)],
    ok.

compare(#{name := Load, title := Title}) ->
    io:format(standard_error, "bench: ~s~n", [Title]),
    Nodes = [start(Load, W) || #{loads := Loads} = W <- bench_ways:all(), lists:member(Load, Loads)],
    Here = [N || {_, P} = N <- Nodes, is_pid(P)],
    Events = events(Load),
    Rounds = case bench_lib:quick() of true -> 2; false -> 5 end,
    Turns = lists:append([[{Way, Peer, turn_of(Peer, Load, Way, Events)} || {#{name := Way}, Peer} <- Here]
                          || _ <- lists:seq(1, Rounds)]),
    nothing(Load, Title, [T || {_, _, T} <- Turns]),
    Figures = [case Peer of
                   {no, Why} -> row(Load, Title, Way, Why);
                   _ -> row(Load, Title, Way, best([T || {_, P, T} <- Turns, P =:= Peer]))
               end || {Way, Peer} <- Nodes],
    goals(Load, maps:from_list(lists:append(Figures))),
    [peer:stop(P) || {_, P} <- Here],
    ok.

%% A node for it, or why there is none.
start(Load, #{name := Way} = W) ->
    Otp = maps:get(otp, W, false),
    Peer = bench_lib:peer(["+S", integer_to_list(min(4, bench_lib:schedulers()))], Otp),
    case peer:call(Peer, ?MODULE, node_init, [Load, Way], 60000) of
        ok -> {W, Peer};
        {no, Why} ->
            peer:stop(Peer),
            {W, {no, Why}}
    end.

-spec node_init(atom(), atom()) -> ok | {no, string()}.
node_init(Load, Way) ->
    logger:set_primary_config(level, error),
    case Way of
        usdt -> ok;
        _ ->
            {module, _} = code:ensure_loaded(null_tracer),
            {ok, H} = erltrace:open(),
            ok = erltrace:close(H)
    end,
    L = bench_loads:load(Load),
    _ = measure(L, nothing, ops(L)), % so that its memory is there
    bench_ways:here(Way, Load).

%% Of one operation, as the script counts them.
events(Load) ->
    case bench_loads:load(Load) of
        #{events := 0} ->
            Peer = bench_lib:peer([]),
            N = peer:call(Peer, ?MODULE, count, [Load], 60000),
            peer:stop(Peer),
            N;
        #{events := N} -> N
    end.

-spec count(atom()) -> float().
count(Load) ->
    {module, _} = code:ensure_loaded(bench_loads),
    {erltrace, H} = State = bench_ways:on(erltrace, Load),
    _ = bench_loads:run(bench_loads:load(Load), #{ops => 2000, ready => fun(_) -> ok end,
                                                  done => fun() -> ok end}),
    {ok, #{fired := Fired}} = erltrace:status(H),
    _ = bench_ways:off(State),
    Fired / 2000.

turn_of(Peer, Load, Way, Events) ->
    #{share := Share} = bench_ways:way(Way),
    peer:call(Peer, ?MODULE, turn, [Load, Way, Share, Events], 300000).

%% In the node: the work alone, then traced.
-spec turn(atom(), atom(), number(), number()) -> {map(), map()}.
turn(Name, Way, Share, Events) ->
    Load = (bench_loads:load(Name))#{events => Events},
    N = ops(Load),
    {measure(Load, nothing, N), measure(Load, Way, max(500, round(N * Share)))}.

ops(#{ops := Ops}) ->
    case bench_lib:quick() of
        true -> Ops div 3;
        false -> Ops
    end.

measure(#{name := Name, events := Events} = Load, Way, Ops) ->
    [garbage_collect(P) || P <- processes()],
    Before = bench_lib:resident(),
    bench_lib:peak_reset(),
    State = bench_ways:on(Way, Name),
    Cpu0 = bench_lib:cpu_ns(),
    #{wall := Wall, latencies := Times} =
        bench_loads:run(Load, #{ops => Ops, ready => fun(Pids) -> bench_ways:ready(State, Pids) end,
                                done => fun() -> bench_ways:done(State) end}),
    Cpu = bench_lib:cpu_ns() - Cpu0,
    {Messages, Programs} = bench_ways:off(State),
    Kb = max(0, bench_lib:peak("self") - Before) + Programs,
    #{cpu => Cpu / Ops, wall => Wall / Ops, p99 => bench_lib:percentile(99, Times), kb => Kb,
      messages => Messages / Ops, events => Events}.

%% ---- rows -------------------------------------------------------------------------------------

%% The least of each figure; of memory the most.
best(Turns) ->
    {Bare, Traced} = lists:unzip(Turns),
    {least(Bare), least(Traced)}.

least([First | Rest]) ->
    lists:foldl(fun(T, Acc) ->
                        maps:map(fun(kb, V) -> max(V, maps:get(kb, T));
                                    (K, V) -> min(V, maps:get(K, T))
                                 end, Acc)
                end, First, Rest).

nothing(Load, Title, Turns) ->
    {#{wall := Wall, p99 := P99}, _} = best(Turns),
    bench_lib:row("compare", [{load, atom_to_list(Load)}, {title, Title}, {way, "nothing"},
                              {what, "nothing"}, {kept, 100.0}, {op_ns, Wall}, {p99, 0.0},
                              {p99_op_ns, P99}, {kb, 0}, {messages, 0}]).

row(Load, Title, #{name := Way, title := What}, Why) when is_list(Why) ->
    bench_lib:row("compare", [{load, atom_to_list(Load)}, {title, Title}, {way, atom_to_list(Way)},
                              {what, What}, {missing, Why}]),
    [];
row(Load, Title, #{name := Way, title := What}, {Bare, Traced}) ->
    #{cpu := Cpu0, wall := Wall0, p99 := P0, kb := Kb0, events := Events} = Bare,
    #{cpu := Cpu, wall := Wall, p99 := P, kb := Kb, messages := Messages} = Traced,
    Ns = max(0.0, (Cpu - Cpu0) / Events),
    bench_lib:row("compare",
                  [{load, atom_to_list(Load)}, {title, Title}, {way, atom_to_list(Way)},
                   {what, What}, {ns, Ns}, {kept, 100 * Wall0 / Wall},
                   {p99, max(0.0, (P - P0) / 1000)}, {kb, max(0, Kb - Kb0)},
                   {messages, round(1000 * Messages / Events)}]),
    [{Way, Ns}].

%% How many times dearer others should be, at least: than what the script does unless told otherwise.
goals(Load, Ns) ->
    [bench_lib:goal("compare", lists:concat([Load, ": ", Title, ", times dearer", Than]),
                    maps:get(Way, Ns), "ns", max(1.0, maps:get(Ours, Ns)),
                    maps:get(Way, Ns) / max(1.0, maps:get(Ours, Ns)), '>=', Goal)
     || {L, Way, Ours, Goal} <- [{calls, process, counters, 8}, {calls, dbg, counters, 8},
                                 {times, process, erltrace, 8}, {times, dbg, erltrace, 8},
                                 {times, dbg, fast, 20}, {messages, usdt, erltrace, 8}],
        L =:= Load, is_map_key(Way, Ns), is_map_key(Ours, Ns),
        #{title := Title} <- [bench_ways:way(Way)],
        Than <- [case Ours of fast -> " than calls=fast"; _ -> "" end]].
