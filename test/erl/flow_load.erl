%% SPDX-License-Identifier: Apache-2.0
%% Requests of a known shape, for tests of what follows them. Every message of a request holds
%% {req, Id, Step}. A request is
%%
%%   call     a gen_server:call to a worker of a pool, every other one with a timeout, so that its reply
%%            goes to an alias; the worker casts
%%   log      to a process that all share, and sends the
%%   reply;
%%   child    three processes are spawned, each of which sends a message back;
%%            another one is spawned that crashes; the VM does not tell of its 'DOWN';
%%   exit     yet another one, which is linked;
%%            a receive times out;
%%   late     a message to the shared process.
-module(flow_load).
-behaviour(gen_server).
-export([start/1, stop/1, run/3, request/3, handled/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

start(Workers) ->
    {ok, Sink} = gen_server:start(?MODULE, sink, []),
    {Sink, list_to_tuple([begin {ok, W} = gen_server:start(?MODULE, Sink, []), W end ||
                             _ <- lists:seq(1, Workers)])}.

stop({Sink, Workers}) ->
    [gen_server:stop(P) || P <- [Sink | tuple_to_list(Workers)]],
    ok.

%% So many requests by each of so many clients at once, with numbers from 1 on. A client of an odd
%% number has a process for each request.
run(Pool, Clients, Each) ->
    Ps = [spawn_monitor(fun() -> client(Pool, C, Each) end) || C <- lists:seq(1, Clients)],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps],
    {Sink, _} = Pool,
    handled = gen_server:call(Sink, handled),
    ok.

client(Pool, C, Each) ->
    [one(Pool, C, (C - 1) * Each + N) || N <- lists:seq(1, Each)].

one({Sink, Workers}, C, Id) when C rem 2 =:= 0 ->
    request(Id, element(1 + Id rem tuple_size(Workers), Workers), Sink);
one({Sink, Workers}, _, Id) ->
    {P, M} = spawn_monitor(fun() ->
                                   request(Id, element(1 + Id rem tuple_size(Workers), Workers), Sink)
                           end),
    receive {'DOWN', M, process, P, normal} -> ok end.

request(Id, Worker, Sink) ->
    Timeout = case Id rem 2 of 0 -> infinity; 1 -> 600000 end,
    {req, Id, reply} = gen_server:call(Worker, {req, Id, call}, Timeout),
    Me = self(),
    [spawn(fun() -> Me ! {req, Id, {child, N}} end) || N <- [1, 2, 3]],
    [receive {req, Id, {child, _}} -> ok end || _ <- [1, 2, 3]],
    {P, M} = spawn_monitor(fun() -> exit(crash) end),
    receive {'DOWN', M, process, P, crash} -> ok end,
    process_flag(trap_exit, true),
    L = spawn_link(fun() -> exit({req, Id, exit}) end),
    receive {'EXIT', L, {req, Id, exit}} -> ok end,
    receive {req, Id, never} -> ok after 0 -> ok end,
    Sink ! {req, Id, late},
    ok.

init(State) -> {ok, State}.

handle_call(handled, _, sink) ->
    {reply, handled, sink};
handle_call({req, Id, call}, _, Sink) ->
    handled(Id),
    gen_server:cast(Sink, {req, Id, log}),
    {reply, {req, Id, reply}, Sink}.

handle_cast({req, Id, log}, sink) ->
    handled(Id),
    {noreply, sink};
handle_cast(_, St) ->
    {noreply, St}.

handle_info({req, Id, late}, sink) ->
    handled(Id),
    {noreply, sink}.

handled(Id) -> Id.
