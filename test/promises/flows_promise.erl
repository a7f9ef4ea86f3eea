%% SPDX-License-Identifier: Apache-2.0
%% Promise 22: flow->t, set where a request comes in and read in the fourth process after it, is what the
%% requests themselves measure.
%%
%%   erl -run flows_promise main time
%%
%% A figure is a line "promise 22: TEXT"; the last line is "N passed, N failed".
-module(flows_promise).
-export([main/1, request/1, answered/2]).

-define(REQUESTS, 500).
-define(PROCESSES, 4).

main(["time"]) ->
    promise:end_with(fun time/0).

time() ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, Name, Value) || {Name, Value} <- [{"maxrate", "0"}, {"watchdog", "0"}, {"quiet", ""}]],
    ok = erltrace:compile(H, "erlang*:flows_promise:request:function-entry { follow(); flow->t = timestamp; }
                              erlang*:flows_promise:answered:function-entry /flowid/ {
                                  @us = sum((timestamp - flow->t) / 1000); @n = count(); }"),
    ok = erltrace:go(H),
    Chain = chain(?PROCESSES - 1, self()),
    Own = lists:sum([begin Chain ! request(N), receive {took, Ns} -> Ns end end || N <- lists:seq(1, ?REQUESTS)]),
    ok = erltrace:stop(H),
    {ok, Aggs} = erltrace:aggregations(H),
    erltrace:close(H),
    {Us, N} = {value(<<"us">>, Aggs), value(<<"n">>, Aggs)},
    Off = 100 * abs(Us * 1000 - Own) / Own,
    io:format("promise 22: flow->t through ~b processes, ~b requests of ~.2f ms: off by ~.2f % of what they measure themselves~n",
              [?PROCESSES, N, Own / ?REQUESTS / 1000000, Off]),
    N =:= ?REQUESTS andalso Off =< 5.

value(Name, Aggs) ->
    [V] = [V || {N, _, [], V} <- Aggs, N =:= Name],
    V.

%% The message with which a request begins.
request(N) -> {req, N, erlang:monotonic_time(nanosecond)}.

chain(0, To) ->
    spawn_link(fun Loop() -> receive {req, N, T} -> work(), To ! {took, answered(N, T)}, Loop() end end);
chain(K, To) ->
    Next = chain(K - 1, To),
    spawn_link(fun Loop() -> receive {req, _, _} = R -> work(), Next ! R, Loop() end end).

answered(_, T) -> erlang:monotonic_time(nanosecond) - T.

work() -> lists:sum([erlang:phash2(N) || N <- lists:seq(1, 4000)]).
