%% SPDX-License-Identifier: Apache-2.0
%% Requests of a known shape that go to another node and back, and the check of what was seen of them
%% (follow.sh). Every message of a request holds {req, Id, Step}:
%%
%%   call     a gen_server:call to the server of the other node, which casts
%%   log      to the server of this node, and sends the
%%   reply;
%%   spawn    a process is spawned in the other node, which sends
%%   child    a message back;
%%   late     a message to the server of the other node by its name, which sends
%%   echo     one to that of this node.
-module(flow_pair).
-behaviour(gen_server).
-export([start/0, run/3, slow/2, queued/0, load/2, stop/1, request/2, ask/2, child/2, handled/1, check/2]).
-export([tokens/0, ended/0, keep_token/0, kept_token/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    {ok, _} = gen_server:start({local, ?MODULE}, ?MODULE, 0, []),
    ok.

%% So many requests by each of so many clients. The answer comes when all is done in both nodes.
run(Node, Clients, Each) ->
    Ps = [spawn_monitor(fun() -> [request((C - 1) * Each + N, Node) || N <- lists:seq(1, Each)] end) ||
             C <- lists:seq(1, Clients)],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps],
    wait_until(fun() -> gen_server:call(?MODULE, count) =:= 2 * Clients * Each end),
    done.

%% One request, which takes so many ms at least: the other node's server has it, and does not take it.
slow(Node, Ms) ->
    ok = sys:suspend({?MODULE, Node}),
    {P, M} = spawn_monitor(fun() -> request(1, Node) end),
    wait_until(fun() -> erpc:call(Node, ?MODULE, queued, []) =:= 1 end),
    timer:sleep(Ms),
    ok = sys:resume({?MODULE, Node}),
    receive {'DOWN', M, process, P, normal} -> ok end.

queued() ->
    {_, N} = process_info(whereis(?MODULE), message_queue_len),
    N.

wait_until(F) -> F() orelse begin timer:sleep(10), wait_until(F) end.

%% Requests without an end, by so many clients.
load(Node, Clients) ->
    [spawn(fun Loop() -> request(1, Node), Loop() end) || _ <- lists:seq(1, Clients)].

stop(Clients) ->
    [exit(C, kill) || C <- Clients],
    ok.

%% How many processes have a token that is not the application's, and who has the system tracer.
tokens() ->
    {length([P || P <- processes(), {_, T} <- [process_info(P, sequential_trace_token)],
                  is_tuple(T) andalso element(2, T) =/= mine]),
     seq_trace:get_system_tracer()}.

%% When the last of them had gone, in ms of the wall clock: none for a quarter of a second.
ended() -> ended(0, wall()).

ended(250, Since) ->
    Since;
ended(N, Since) ->
    receive after 1 -> ok end,
    case tokens() of
        {0, false} -> ended(N + 1, Since);
        _ -> ended(0, wall())
    end.

wall() -> os:system_time(millisecond).

%% A process of the application that has a token of its own.
keep_token() ->
    register(kept, spawn(fun() ->
                                 seq_trace:set_token(label, mine),
                                 seq_trace:set_token(send, true),
                                 receive stop -> ok end
                         end)),
    ok.

kept_token() ->
    {_, Token} = process_info(whereis(kept), sequential_trace_token),
    Token.

request(Id, Node) ->
    {req, Id, reply} = gen_server:call({?MODULE, Node}, {req, Id, call}, infinity),
    _ = spawn(Node, ?MODULE, child, [self(), Id]),
    receive {req, Id, child} -> ok end,
    {?MODULE, Node} ! {req, Id, late},
    ok.

%% By erpc.
ask(Id, Node) ->
    ok = erpc:cast(Node, ?MODULE, handled, [Id]),
    Id = erpc:call(Node, ?MODULE, handled, [Id]),
    handled(Id).

child(To, Id) ->
    handled(Id),
    To ! {req, Id, child}.

handled(Id) -> Id.

init(N) -> {ok, N}.

handle_call(count, _, N) ->
    {reply, N, N};
handle_call({req, Id, call}, {Pid, _}, N) ->
    handled(Id),
    gen_server:cast({?MODULE, node(Pid)}, {req, Id, log}),
    {reply, {req, Id, reply}, N}.

handle_cast({req, Id, log}, N) ->
    handled(Id),
    {noreply, N + 1}.

handle_info({req, Id, late}, N) ->
    handled(Id),
    [Other] = nodes(),
    {?MODULE, Other} ! {req, Id, echo},
    {noreply, N};
handle_info({req, Id, echo}, N) ->
    handled(Id),
    {noreply, N + 1}.

%% ---- the check -------------------------------------------------------------------------------

%% The file has what follow.sh prints of N requests: ok, or what is wrong.
check(File, N) ->
    {ok, Text} = file:read_file(File),
    Lines = [string:lexemes(L, " ") || L <- string:lexemes(binary_to_list(Text), "\n")],
    Flows = lists:foldl(fun([Kind, Flow | _] = L, Fs) when Kind =/= "armed" ->
                                maps:update_with(Flow, fun(Ls) -> [L | Ls] end, [L], Fs);
                           (_, Fs) -> Fs
                        end, #{}, Lines),
    Wrong = [{Flow, Why, lists:reverse(Ls)} || {Flow, Ls} <- maps:to_list(Flows),
                                               Why <- [tree(Ls)], Why =/= ok],
    case {map_size(Flows), Wrong} of
        {N, []} -> ok;
        {Size, _} -> {Size, length(Wrong), lists:sublist(Wrong, 1)}
    end.

tree(Lines) ->
    Begins = [Id || ["begin", _, Id] <- Lines],
    Ends = [E || ["end", _ | E] <- Lines],
    Hops = [{Hop, Cause, Depth, step(Text)} || ["send", _, Hop, Cause, Depth, _, Text] <- Lines] ++
        [{Hop, Cause, Depth, "spawn"} || ["spawn", _, Hop, Cause, Depth, _] <- Lines],
    Received = lists:sort([{Hop, Depth, step(Text)} ||
                              ["receive", _, Hop, _, Depth, _, Text] <- Lines]),
    Steps = maps:from_list([{Hop, Step} || {Hop, _, _, Step} <- Hops]),
    Edges = lists:sort([{Step, maps:get(Cause, Steps, Cause), Depth} ||
                           {_, Cause, Depth, Step} <- Hops]),
    Ids = lists:usort([Id || [_, _, _, _, _, _, Text] <- Lines, Id <- id(Text)]),
    Handled = [Depth || ["handled", _, Depth, _] <- Lines],
    HandledIds = [Id || ["handled", _, _, Id] <- Lines],
    Sent = maps:from_list([{Hop, list_to_integer(At)} || [Kind, _, Hop, _, _, At | _] <- Lines,
                                                         Kind =:= "send" orelse Kind =:= "spawn"]),
    Waits = [list_to_integer(At) - maps:get(Hop, Sent, 0) || ["receive", _, Hop, _, _, At, _] <- Lines],
    Checks = [{one_beginning, length(Begins) =:= 1},
              {edges, Edges =:= [{"call", "0", "1"}, {"child", "spawn", "4"}, {"echo", "late", "6"},
                                 {"late", "child", "5"}, {"log", "call", "2"},
                                 {"reply", "call", "2"}, {"spawn", "reply", "3"}]},
              {received, Received =:= lists:sort([{H, D, S} || {H, _, D, S} <- Hops])},
              {not_mixed, Ids =:= Begins andalso lists:usort(HandledIds) =:= Begins},
              {functions, lists:sort(Handled) =:= ["1", "2", "3", "5", "6"]},
              {order, lists:all(fun(W) -> W >= 0 andalso W < 60000000000 end, Waits)},
              {the_end, [[D, M, S] || [D, M, S, _] <- Ends] =:= [["6", "6", "1"]]}],
    case [What || {What, false} <- Checks] of
        [] -> ok;
        Wrong -> {Wrong, Edges, Ends, Waits}
    end.

id(Text) ->
    case re:run(Text, "{req,([0-9]+),", [{capture, all_but_first, list}]) of
        {match, [Id]} -> [Id];
        nomatch -> []
    end.

step(Text) ->
    case re:run(Text, "{req,[0-9]+,([a-z]+)", [{capture, all_but_first, list}]) of
        {match, [Step]} -> Step;
        nomatch -> "spawn" % its request
    end.
