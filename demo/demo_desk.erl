%% SPDX-License-Identifier: Apache-2.0
%% The desk: a timer, an order at each of its ticks.
-module(demo_desk).
-behaviour(gen_server).
-export([start_link/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(EVERY, 25). % ms

-record(state, {number = 0 :: non_neg_integer(), sum = 0 :: non_neg_integer()}).

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

-spec init([]) -> {ok, #state{}}.
init([]) ->
    {ok, _} = timer:send_interval(?EVERY, tick),
    {ok, #state{}}.

-spec handle_call(term(), gen_server:from(), #state{}) -> {reply, term(), #state{}}.
handle_call(sum, _From, State) -> {reply, {State#state.number, State#state.sum}, State}.

-spec handle_cast(term(), #state{}) -> {noreply, #state{}}.
handle_cast(_, State) -> {noreply, State}.

-spec handle_info(term(), #state{}) -> {noreply, #state{}}.
handle_info(tick, #state{number = N} = State) ->
    _ = demo_order:start(N + 1),
    {noreply, State#state{number = N + 1}};
handle_info({done, _, Sum}, State) ->
    {noreply, State#state{sum = State#state.sum + Sum}};
handle_info(_, State) -> {noreply, State}.
