%% SPDX-License-Identifier: Apache-2.0
%% The depth of entries, where nothing else asks for returns.
-module(depth_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1, g/1]).

f(X) -> X.

g(0) -> 0;
g(N) -> 1 + ?MODULE:g(N - 1).

%% Nobody traces this one: its stack grows from call to call of f.
grow(0) -> 0;
grow(N) ->
    1 = f(1),
    1 + grow(N - 1).

run(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, normal} -> ok end.

%% It was taken for a call inside of the last one.
depth_of_a_caller_that_grows_test() ->
    {ok, H} = erltrace:script("erlang*:depth_tests:f:function-entry { @[arg2] = count(); }"),
    run(fun() -> 50 = grow(50) end),
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertMatch([{_, count, [1], 50}], Aggs).

depth_of_recursion_test() ->
    {ok, H} = erltrace:script("erlang*:depth_tests:g:function-entry { @[arg2] = count(); }"),
    run(fun() -> 9 = ?MODULE:g(9), 9 = ?MODULE:g(9) end),
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual([{[D], 2} || D <- lists:seq(1, 10)],
                 lists:sort([{K, V} || {_, count, K, V} <- Aggs])).
