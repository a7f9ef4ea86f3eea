%% SPDX-License-Identifier: Apache-2.0
%% What it costs to follow a request: a gen_server:call without a script; in a node where a script follows
%% others; inside a flow that nobody looks at; and inside a flow whose messages are counted.
-module(bench_flows).
-behaviour(gen_server).
-export([main/0, run/0, begins/1, init/1, handle_call/3, handle_cast/2]).

-define(CALLS, 20000). % of a round: one flow

-spec main() -> ok.
main() ->
    Peer = bench_lib:peer([]),
    try peer:call(Peer, ?MODULE, run, [], 600000) of
        Rows ->
            [row(R) || R <- Rows],
            ok
    after peer:stop(Peer)
    end.

row({Name, Value, Unit, Base, Ratio, Goal}) ->
    io:format("~-62s ~9.1f ~9.1f ~6.2f <=~w~n", [Name, Value, Base, Ratio, Goal]),
    bench_lib:goal("flows", Name, Value, Unit, Base, Ratio, '<=', Goal).

-spec run() -> [{string(), float(), string(), float(), float(), number()}].
run() ->
    {ok, Server} = gen_server:start(?MODULE, [], []),
    Rounds = case bench_lib:quick() of true -> 9; false -> 41 end,
    Follow = "erlang*:bench_flows:begins:function-entry { follow(); }",
    Count = Follow ++ " erlang*:::flow-send, erlang*:::flow-receive { @ = count(); }",
    Times = [{calls(Server, 0), with(Follow, Server, 0), with(Follow, Server, 1), with(Count, Server, 1)} ||
                _ <- lists:seq(1, Rounds)],
    gen_server:stop(Server),
    Middle = fun(N) -> bench_lib:percentile(50, [element(N, T) || T <- Times]) end,
    Ratio = fun(N) -> bench_lib:percentile(50, [element(N, T) / element(1, T) || T <- Times]) end,
    [{Name, Middle(N), "ns", Middle(1), Ratio(N), Goal} ||
        {Name, N, Goal} <- [{"gen_server:call inside a flow", 3, 6},
                            {"gen_server:call inside a flow, its messages counted", 4, 7},
                            {"gen_server:call outside of flows while others are followed", 2, 1.2}]].

with(Script, Server, Follow) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, Name, Value) ||
        {Name, Value} <- [{"maxrate", "0"}, {"watchdog", "0"}, {"flowhops", "1000000"}]],
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    Ns = calls(Server, Follow),
    ok = erltrace:close(H),
    Ns.

%% ns of processor time of one, in a process of its own
calls(Server, Follow) ->
    {P, M} = spawn_monitor(fun() ->
                                   _ = Follow =:= 1 andalso begins(1),
                                   T0 = bench_lib:cpu_ns(),
                                   [ok = gen_server:call(Server, x, infinity) || _ <- lists:seq(1, ?CALLS)],
                                   exit({took, bench_lib:cpu_ns() - T0})
                           end),
    receive {'DOWN', M, process, P, {took, Ns}} -> Ns / ?CALLS end.

-spec begins(integer()) -> integer().
begins(N) -> N.

-spec init(term()) -> {ok, term()}.
init(St) -> {ok, St}.

-spec handle_call(x, term(), term()) -> {reply, ok, term()}.
handle_call(x, _, St) -> {reply, ok, St}.

-spec handle_cast(term(), term()) -> {noreply, term()}.
handle_cast(_, St) -> {noreply, St}.
