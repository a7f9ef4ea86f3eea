%% SPDX-License-Identifier: Apache-2.0
%% Requests of a known shape through three nodes, and a driver that runs them while the command follows them
%% and checks each tree as it comes (trio.sh). Every message of a request holds {req, Id, Step}:
%%
%%   call     a gen_server:call to a worker of a pool, every other one with a timeout, so that its reply goes
%%            to an alias; the worker casts
%%   log      to a process that all share, and sends the
%%   reply;
%%   child    three processes are spawned, each of which sends a message back;
%%   hop      a gen_server:call to the second node, which casts
%%   relay    to the third one, which casts
%%   back     to the shared process of the first; the second node sends the
%%   hopped   reply;
%%   far      a process is spawned in the third node, which sends a message back;
%%   mute     a gen_server:call that gets no reply, and times out;
%%            a process is spawned that crashes;
%%   late     a message to the shared process.
-module(flow_trio).
-behaviour(gen_server).
-export([start/1, run/3, request/2, child/3, far/2, crash/0, handled/1, drive/5]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(WORKERS, 4).
-define(LINES, 42). % of each request
-define(BATCH, 500).
-define(HELD, 50). % servers are in the flow of their last request until the next one comes

%% Nodes: the first is that of the requests.
start(Nodes) ->
    {ok, _} = gen_server:start({local, ?MODULE}, ?MODULE, {sink, Nodes, 0}, []),
    [{ok, _} = gen_server:start({local, worker(N)}, ?MODULE, {worker, Nodes, 0}, []) ||
        N <- lists:seq(0, ?WORKERS - 1)],
    ok.

worker(N) -> list_to_atom("flow_trio_" ++ integer_to_list(N)).

%% Requests with the numbers from First on, so many by each of so many clients.
run(First, Clients, Each) ->
    [Nodes | _] = [Ns || {_, Ns, _} <- [sys:get_state(?MODULE)]],
    Ps = [spawn_monitor(fun() -> client(First + (C - 1) * Each, C, Each, Nodes) end) || C <- lists:seq(1, Clients)],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps],
    ok.

%% A client of an odd number has a process for each request.
client(First, C, Each, Nodes) when C rem 2 =:= 0 ->
    [request(Id, Nodes) || Id <- lists:seq(First, First + Each - 1)];
client(First, _, Each, Nodes) ->
    [begin
         {P, M} = spawn_monitor(?MODULE, request, [Id, Nodes]),
         receive {'DOWN', M, process, P, normal} -> ok end
     end || Id <- lists:seq(First, First + Each - 1)].

request(Id, [_, Second, Third]) ->
    Timeout = case Id rem 2 of 0 -> infinity; 1 -> 600000 end,
    {req, Id, reply} = gen_server:call(worker(Id rem ?WORKERS), {req, Id, call}, Timeout),
    [spawn(?MODULE, child, [self(), Id, N]) || N <- [1, 2, 3]],
    [receive {req, Id, child} -> ok end || _ <- [1, 2, 3]],
    {req, Id, hopped} = gen_server:call({?MODULE, Second}, {req, Id, hop}, Timeout),
    _ = spawn(Third, ?MODULE, far, [self(), Id]),
    receive {req, Id, far} -> ok end,
    timeout = try gen_server:call(?MODULE, {req, Id, mute}, 1) catch exit:{timeout, _} -> timeout end,
    {P, M} = spawn_monitor(?MODULE, crash, []),
    receive {'DOWN', M, process, P, crash} -> ok end,
    ?MODULE ! {req, Id, late},
    ok.

child(To, Id, _) -> To ! {req, Id, child}.

far(To, Id) ->
    handled(Id),
    To ! {req, Id, far}.

crash() -> exit(crash).

handled(Id) -> Id.

init(State) -> {ok, State}.

handle_call({req, Id, call}, _, St) ->
    handled(Id),
    gen_server:cast(?MODULE, {req, Id, log}),
    {reply, {req, Id, reply}, St};
handle_call({req, Id, hop}, _, {_, [_, _, Third], _} = St) ->
    handled(Id),
    gen_server:cast({?MODULE, Third}, {req, Id, relay}),
    {reply, {req, Id, hopped}, St};
handle_call({req, Id, mute}, _, St) ->
    handled(Id),
    {noreply, St}.

handle_cast({req, Id, relay}, {_, [First | _], _} = St) ->
    handled(Id),
    gen_server:cast({?MODULE, First}, {req, Id, back}),
    {noreply, St};
handle_cast({req, Id, _}, St) ->
    handled(Id),
    {noreply, St}.

handle_info({req, Id, late}, St) ->
    handled(Id),
    {noreply, St}.

%% ---- the driver --------------------------------------------------------------------------------

%% In a node of its own. Prints what was found, and ends.
drive(Command, Nodes, Script, N, Say) ->
    First = hd(Nodes),
    Began = erlang:monotonic_time(millisecond),
    Port = open_port({spawn_executable, Command},
                     [{args, lists:append([["-N", atom_to_list(Node)] || Node <- Nodes]) ++
                           ["-q", "-xbufsize=32m", "-xmaxrate=0", "-xflowtime=10s", "-xwatchdog=0", "-n", Script]},
                      {line, 4096}, exit_status, stderr_to_stdout, binary]),
    [receive {Port, {data, {eol, <<"armed">>}}} -> ok;
             {Port, {data, {eol, Other}}} -> fail(["not armed: ", Other])
     after 120000 -> fail("not armed")
     end || _ <- Nodes],
    St = batches(Port, First, 1, N, #{flows => #{}, done => 0, ids => 0, wait => infinity}),
    {os_pid, Os} = erlang:port_info(Port, os_pid),
    _ = os:cmd("kill -TERM " ++ integer_to_list(Os)),
    Rest = finish(Port, St#{status => running}),
    Releases = [erpc:call(Node, erlang, system_info, [otp_release]) || Node <- Nodes],
    Ids = N * (N + 1) div 2,
    case Rest of
        #{done := N, ids := Ids, flows := Left, status := 0, wait := Wait} when map_size(Left) =:= 0 ->
            io:format("~s~b requests through OTP ~s: every tree exact, none mixed, ~b hops, nothing received before "
                      "it was sent (nearest ~b us); ~b s~n", [Say, N, lists:join(" + ", Releases), 18 * N, Wait div 1000,
                                                (erlang:monotonic_time(millisecond) - Began) div 1000]),
            io:format("1 passed, 0 failed~n"),
            halt(0);
        #{done := Done, flows := Left} ->
            fail(io_lib:format("~b whole trees; left: ~0p; ~0p",
                               [Done, lists:sublist(maps:to_list(Left), 2), maps:without([flows], Rest)]))
    end.

fail(Text) ->
    io:format("FAILED ~ts~n0 passed, 1 failed~n", [Text]),
    halt(1).

batches(Port, _, From, N, St) when From > N ->
    read(Port, N, St);
batches(Port, First, From, N, St) ->
    Size = min(?BATCH, N - From + 1),
    Clients = min(20, Size),
    Me = self(),
    Each = Size div Clients,
    Batch = Clients * Each,
    spawn(fun() -> Me ! {ran, erpc:call(First, ?MODULE, run, [From, Clients, Each], 600000)} end),
    St1 = read(Port, From + Batch - 1 - ?HELD, St),
    receive {ran, ok} -> ok after 60000 -> fail("the requests have not ended") end,
    (From div 10000) =/= ((From + Batch) div 10000) andalso io:format(standard_error, "~b~n", [From + Batch - 1]),
    batches(Port, First, From + Batch, N, St1).

read(_, Until, #{done := Done} = St) when Done >= Until ->
    St;
read(Port, Until, #{done := Done, flows := Flows} = St) ->
    receive
        {Port, {data, {eol, Line}}} -> read(Port, Until, take(Line, St));
        {Port, {exit_status, S}} -> fail(io_lib:format("the command has ended: ~b", [S]))
    after 120000 ->
        fail(io_lib:format("~b of ~b; waiting for ~0p", [Done, Until, lists:sublist(maps:to_list(Flows), 1)]))
    end.

finish(Port, St) ->
    receive
        {Port, {data, {eol, Line}}} -> finish(Port, take(Line, St));
        {Port, {exit_status, S}} -> St#{status => S}
    after 120000 -> fail("the command does not end")
    end.

take(<<>>, St) -> St;
take(Line, #{flows := Flows, done := Done, ids := Ids, wait := Wait} = St) ->
    case binary:split(Line, <<" ">>, [global]) of
        [Kind, Flow | Rest] when byte_size(Kind) =:= 1 ->
            case maps:get(Flow, Flows, []) of
                Ls when length(Ls) =:= ?LINES - 1 ->
                    {Id, W} = tree([{Kind, Rest} | Ls]),
                    St#{flows := maps:remove(Flow, Flows), done := Done + 1, ids := Ids + Id, wait := min(W, Wait)};
                Ls ->
                    St#{flows := Flows#{Flow => [{Kind, Rest} | Ls]}}
            end;
        _ ->
            case is_map_key(status, St) andalso string:find(Line, "has not ended the script yet") of
                Found when is_binary(Found) -> St; % a busy machine
                _ -> fail(Line)
            end
    end.

%% The number of the request whose tree this is, and the shortest time that a message was under way.
tree(Lines) ->
    [Id] = [Id || {<<"b">>, [Id]} <- Lines],
    Hops = [{Hop, Cause, Depth, step(Text, Id, Lines), At} || {<<"s">>, [Hop, Cause, Depth, At, Text]} <- Lines] ++
        [{Hop, Cause, Depth, Function, At} || {<<"p">>, [Hop, Cause, Depth, At, Function]} <- Lines],
    Steps = maps:from_list([{Hop, {Step, Depth, binary_to_integer(At)}} || {Hop, _, Depth, Step, At} <- Hops]),
    Edges = lists:sort([{Step, case Steps of #{Cause := {S, _, _}} -> S; _ -> Cause end, Depth} ||
                           {_, Cause, Depth, Step, _} <- Hops]),
    Waits = [begin
                 #{Hop := {_, Depth, Sent}} = Steps,
                 binary_to_integer(At) - Sent
             end || {<<"r">>, [Hop, Depth, At]} <- Lines],
    Handled = lists:sort([Depth || {<<"h">>, [Depth, I]} <- Lines, I =:= Id]),
    Ends = [E || {<<"e">>, E} <- Lines],
    Checks = [{edges, Edges =:= edges()},
              {received, length(Waits) =:= 14}, % and the child in the other node
              {order, lists:min(Waits) >= 0},
              {functions, Handled =:= [<<"1">>, <<"2">>, <<"5">>, <<"6">>, <<"7">>, <<"7">>, <<"9">>, <<"9">>]},
              {the_end, Ends =:= [[<<"9">>, <<"13">>, <<"5">>]]}],
    case [What || {What, false} <- Checks] of
        [] -> {binary_to_integer(Id), lists:min(Waits)};
        Wrong -> fail(io_lib:format("~0p of ~s: ~0p ~0p ~0p ~0p~n~p", [Wrong, Id, Edges, Waits, Handled, Ends,
                                                                  lists:reverse(Lines)]))
    end.

edges() ->
    Child = <<"flow_trio:child/3">>,
    Far = <<"flow_trio:far/2">>,
    lists:sort([{<<"call">>, <<"0">>, <<"1">>}, {<<"log">>, <<"call">>, <<"2">>}, {<<"reply">>, <<"call">>, <<"2">>},
                {Child, <<"reply">>, <<"3">>}, {Child, <<"reply">>, <<"3">>}, {Child, <<"reply">>, <<"3">>},
                {<<"child">>, Child, <<"4">>}, {<<"child">>, Child, <<"4">>}, {<<"child">>, Child, <<"4">>},
                {<<"hop">>, <<"child">>, <<"5">>}, {<<"relay">>, <<"hop">>, <<"6">>},
                {<<"hopped">>, <<"hop">>, <<"6">>}, {<<"back">>, <<"relay">>, <<"7">>},
                {Far, <<"hopped">>, <<"7">>}, {<<"far">>, Far, <<"8">>}, {<<"mute">>, <<"far">>, <<"9">>},
                {<<"flow_trio:crash/0">>, <<"far">>, <<"9">>}, {<<"late">>, <<"far">>, <<"9">>}]).

step(Text, Id, Lines) ->
    Size = byte_size(Id),
    case binary:split(Text, <<"{req,">>) of
        [_, <<Id:Size/binary, ",", Rest/binary>>] -> hd(binary:split(Rest, <<"}">>));
        _ -> fail(io_lib:format("mixed with ~s: ~s~n~0p", [Id, Text, Lines]))
    end.
