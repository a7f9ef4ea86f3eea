%% SPDX-License-Identifier: Apache-2.0
%% Counts the stock twice a second; asleep in between, with a small heap.
-module(demo_report).
-behaviour(gen_server).
-export([start_link/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(EVERY, 500). % ms

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

-spec init([]) -> {ok, integer(), hibernate}.
init([]) ->
    _ = erlang:send_after(?EVERY, self(), count),
    {ok, 0, hibernate}.

-spec handle_call(term(), gen_server:from(), integer()) -> {reply, integer(), integer(), hibernate}.
handle_call(last, _From, Last) -> {reply, Last, Last, hibernate}.

-spec handle_cast(term(), integer()) -> {noreply, integer(), hibernate}.
handle_cast(_, Last) -> {noreply, Last, hibernate}.

-spec handle_info(term(), integer()) -> {noreply, integer(), hibernate}.
handle_info(count, _) ->
    _ = erlang:send_after(?EVERY, self(), count),
    {noreply, demo_store:count(), hibernate};
handle_info(_, Last) -> {noreply, Last, hibernate}.
