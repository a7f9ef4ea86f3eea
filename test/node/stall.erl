%% SPDX-License-Identifier: Apache-2.0
%% @doc A planted stall: run(N, At) does N steps, one after the other; that of number At waits 200 ms
%% for a lock. Each step is two events of stall.d, the slow one three.
-module(stall).
-export([run/2, step/2, wait_for_lock/1]).

run(N, At) ->
    run(1, N, At).

run(I, N, _) when I > N -> N;
run(I, N, At) ->
    I = ?MODULE:step(I, At),
    run(I + 1, N, At).

step(At, At) -> 0 + ?MODULE:wait_for_lock(At); % no tail call: it has a return
step(I, _) -> I.

wait_for_lock(I) ->
    receive after 200 -> I end.
