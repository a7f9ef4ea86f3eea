%% SPDX-License-Identifier: Apache-2.0
%% function-return keeps tail calls: what loops for ever in a tail call, as every server does, must
%% not grow under it.
-module(heap_tests).
-behaviour(gen_server).
-include_lib("eunit/include/eunit.hrl").
-export([init/1, handle_call/3, handle_cast/2]).

init(N) -> {ok, N}.
handle_call(add, _, N) -> {reply, N + 1, N + 1}.
handle_cast(_, N) -> {noreply, N}.

server_under_every_return_test_() ->
    {timeout, 120, fun server_under_every_return/0}.

server_under_every_return() ->
    {ok, Server} = gen_server:start(?MODULE, 0, []),
    calls(Server, 1000),
    Before = sizes(Server),
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "watchdog", "0"), % most of what runs is events
    ok = erltrace:compile(H, "erlang*:::function-return { @[probemod] = count(); }"),
    ok = erltrace:go(H),
    calls(Server, 30000),
    {stack_size, Stack} = process_info(Server, stack_size),
    During = sizes(Server),
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    [Returns] = [N || {_, count, [<<"heap_tests">>], N} <- Aggs],
    gen_server:stop(Server),
    ?assert(Returns >= 30000),
    ?assert(Stack < 100),
    ?assertEqual(lists:keydelete(stack_size, 1, Before), lists:keydelete(stack_size, 1, During)),
    %% the one frame of return_to
    ?assert(size(stack_size, During) =< size(stack_size, Before) + 2).

size(Which, Sizes) -> proplists:get_value(Which, Sizes).

calls(Server, N) ->
    [_ = gen_server:call(Server, add) || _ <- lists:seq(1, N)],
    ok.

sizes(Server) ->
    true = erlang:garbage_collect(Server),
    process_info(Server, [total_heap_size, heap_size, stack_size]).
