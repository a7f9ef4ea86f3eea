%% SPDX-License-Identifier: Apache-2.0
%% @doc A planted stall: run(N, At) does N steps, one after the other; that of number At waits 200 ms
%% for a lock. Each step is two events of stall.d, the slow one three. There are 500 steps every 10 ms,
%% 100,000 events a second, so that how far a buffer reaches back does not depend on the machine. Time
%% that is lost is not made up for: a slow machine does fewer, none does more.
-module(stall).
-export([run/2, step/2, wait_for_lock/1]).

-define(BATCH, 500).
-define(EVERY, 10). % ms

run(N, At) ->
    run(1, N, At, now_ms()).

run(I, N, _, _) when I > N -> N;
run(I, N, At, Time) ->
    Last = min(N, I + ?BATCH - 1),
    ok = steps(I, Last, At),
    Next = max(Time + ?EVERY, now_ms()),
    erlang:send_after(Next, self(), next_batch, [{abs, true}]),
    receive next_batch -> run(Last + 1, N, At, Next) end.

steps(I, Last, _) when I > Last -> ok;
steps(I, Last, At) ->
    I = ?MODULE:step(I, At),
    steps(I + 1, Last, At).

now_ms() ->
    erlang:monotonic_time(millisecond).

step(At, At) -> 0 + ?MODULE:wait_for_lock(At); % no tail call: it has a return
step(I, _) -> I.

wait_for_lock(I) ->
    receive after 200 -> I end.
