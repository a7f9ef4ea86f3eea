%% SPDX-License-Identifier: Apache-2.0
%% The stock: an ETS table that anybody reads and only this gen_server writes.
-module(demo_store).
-behaviour(gen_server).
-export([start_link/0, price/1, reserve/2, count/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(ITEMS, 200).

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% @doc Read from the table, without a message.
-spec price(pos_integer()) -> pos_integer().
price(Item) ->
    [{_, Price, _}] = ets:lookup(?MODULE, 1 + Item rem ?ITEMS),
    Price.

%% @doc How many are left.
-spec reserve(pos_integer(), pos_integer()) -> integer().
reserve(Item, N) -> gen_server:call(?MODULE, {reserve, 1 + Item rem ?ITEMS, N}).

%% @doc The worth of all the stock: the slow one.
-spec count() -> integer().
count() -> gen_server:call(?MODULE, count).

-spec init([]) -> {ok, []}.
init([]) ->
    ?MODULE = ets:new(?MODULE, [named_table, protected, {read_concurrency, true}]),
    true = ets:insert(?MODULE, [{I, I * 7 rem 90 + 10, 1000} || I <- lists:seq(1, ?ITEMS)]),
    {ok, []}.

-spec handle_call(term(), gen_server:from(), []) -> {reply, integer(), []}.
handle_call({reserve, Item, N}, _From, State) ->
    {reply, ets:update_counter(?MODULE, Item, {3, -N, 0, 1000}), State};
handle_call(count, _From, State) ->
    {reply, worth(lists:sort(ets:tab2list(?MODULE))), State}.

-spec handle_cast(term(), []) -> {noreply, []}.
handle_cast(_, State) -> {noreply, State}.

-spec handle_info(term(), []) -> {noreply, []}.
handle_info(_, State) -> {noreply, State}.

worth(Items) -> worth(Items, 0).

worth([], Sum) -> Sum;
worth([{_, Price, N} | Items], Sum) -> worth(Items, Sum + interest(Price * N, 50)).

%% Work for the sake of it.
interest(Sum, 0) -> Sum;
interest(Sum, Days) -> interest(Sum + Sum div 1000, Days - 1).
