%% SPDX-License-Identifier: Apache-2.0
%% The journal: lines go out through a port and come back; who wrote one is told then.
-module(demo_journal).
-behaviour(gen_server).
-export([start_link/0, write/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-record(state, {port :: port(), waiting = queue:new() :: queue:queue(gen_server:from())}).

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

-spec write(iolist()) -> ok.
write(Line) -> gen_server:call(?MODULE, {write, [Line, $\n]}).

-spec init([]) -> {ok, #state{}}.
init([]) -> {ok, #state{port = open_port({spawn, "cat"}, [{line, 200}])}}.

-spec handle_call(term(), gen_server:from(), #state{}) -> {noreply, #state{}}.
handle_call({write, Line}, From, #state{port = Port, waiting = Q} = State) ->
    true = port_command(Port, Line),
    {noreply, State#state{waiting = queue:in(From, Q)}}.

-spec handle_cast(term(), #state{}) -> {noreply, #state{}}.
handle_cast(_, State) -> {noreply, State}.

-spec handle_info(term(), #state{}) -> {noreply, #state{}}.
handle_info({Port, {data, {eol, _}}}, #state{port = Port, waiting = Q} = State) ->
    {{value, From}, Rest} = queue:out(Q),
    gen_server:reply(From, ok),
    {noreply, State#state{waiting = Rest}};
handle_info(_, State) -> {noreply, State}.
