%% SPDX-License-Identifier: Apache-2.0
%% What samples cost: the work that a node does for the same processor time while profile-N samples its
%% schedulers, by the work that it does without, in turns; the middle of all rounds.
-module(bench_samples).
-export([main/0, run/1]).

-define(MS, 300). % of a round

-spec main() -> ok.
main() ->
    Peer = bench_lib:peer([]),
    try [one(Peer, Hz) || Hz <- [97, 997]], ok
    after peer:stop(Peer)
    end.

one(Peer, Hz) ->
    Kept = peer:call(Peer, ?MODULE, run, [Hz], 600000),
    Name = lists:concat(["work for the same processor time, sampled at ", Hz, " Hz, percent"]),
    io:format("~-62s ~9.2f >=99~n", [Name, Kept]),
    bench_lib:goal("samples", Name, Kept, "%", 0, Kept, '>=', 99).

-spec run(pos_integer()) -> float().
run(Hz) ->
    _ = rate(),
    Rounds = case bench_lib:quick() of true -> 9; false -> 41 end,
    100 * bench_lib:percentile(50, [with(Hz) / rate() || _ <- lists:seq(1, Rounds)]).

with(Hz) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:compile(H, io_lib:format("profile-~b { @[ustack()] = count(); }", [Hz])),
    ok = erltrace:go(H),
    Rate = rate(),
    ok = erltrace:stop(H),
    ok = erltrace:close(H),
    Rate.

%% Rounds of work for a ns of processor time, on all schedulers.
rate() ->
    Before = bench_lib:cpu_ns(),
    Until = erlang:monotonic_time(millisecond) + ?MS,
    Self = self(),
    Pids = [spawn_link(fun() -> Self ! {self(), work(Until, 0)} end) ||
               _ <- lists:seq(1, bench_lib:schedulers())],
    Work = lists:sum([receive {P, N} -> N end || P <- Pids]),
    Work / (bench_lib:cpu_ns() - Before).

work(Until, N) ->
    _ = work(lists:seq(1, 300)),
    case erlang:monotonic_time(millisecond) < Until of
        true -> work(Until, N + 1);
        false -> N + 1
    end.

%% Erlang code, BIFs, garbage.
work(List) ->
    Sorted = lists:sort([erlang:phash2(X) || X <- List]),
    Map = maps:from_list([{X, [X]} || X <- Sorted]),
    {maps:size(Map), binary_to_term(term_to_binary(Sorted))}.
