%% SPDX-License-Identifier: Apache-2.0
%% Exact workloads: each function makes the events it names, so many and no more, and returns when
%% the last of them has happened. What is traced runs in processes of its own; the pid of the one
%% that counts is returned as text, as a script prints it.
-module(demo_exact).
-export([spawns/1, exits/2, sends/2, sends/3, pairs/2, fan_in/2, calls/1, burns/1, nested/1,
         body/1, tail/1, throws/1, raises/3, naps/2, naps/3, server/1, slow_server/2, requests/2, port/2, gcs/1,
         grow/1, queue/1, stuck/2, wakes/1, hibernates/1, timers/1, ets/1, user/1, dyntrace/1, remote/2, load/1, write/2,
         deadlock/1]).
-export([child/1, leaf/1, burn/1, outer/1, inner/1, down/1, round/1, thrower/1, catcher/2, raiser/2,
         nap/1, request/2, deep/2, sink/1, sleeper/1, worker/1]).
-export([init/1, handle_call/3, handle_cast/2]).

-type text() :: string(). % a pid's

%% ---- helpers --------------------------------------------------------------------------------

%% Run in a process of its own; wait for its end.
in_process(Fun) ->
    {P, M} = spawn_monitor(?MODULE, worker, [Fun]),
    receive {'DOWN', M, process, P, _} -> pid_to_list(P) end.

-spec worker(fun(() -> term())) -> term().
worker(Fun) -> Fun().

times(0, _) -> ok;
times(N, Fun) -> _ = Fun(), times(N - 1, Fun).

%% The process waits in a receive, with nothing in its mailbox.
await_idle(P) ->
    case process_info(P, [status, message_queue_len]) of
        [{_, waiting}, {_, 0}] -> ok;
        undefined -> ok;
        _ -> erlang:yield(), await_idle(P)
    end.

ask(P) ->
    P ! {done, self()},
    receive {P, ok} -> ok end.

%% ---- processes ------------------------------------------------------------------------------

%% @doc N processes of child/1 that end normally.
-spec spawns(non_neg_integer()) -> ok.
spawns(N) -> exits(N, normal).

%% @doc N processes of child/1 that end for this reason.
-spec exits(non_neg_integer(), term()) -> ok.
exits(N, Reason) ->
    times(N, fun() ->
                     {P, M} = spawn_monitor(?MODULE, child, [Reason]),
                     receive {'DOWN', M, process, P, _} -> ok end
             end).

-spec child(term()) -> no_return().
child(Reason) -> exit(Reason).

%% @doc A process that is woken by a message N times, and waits again each time.
-spec wakes(non_neg_integer()) -> text().
wakes(N) ->
    {P, M} = spawn_monitor(?MODULE, sink, [self()]),
    await_idle(P),
    times(N, fun() -> P ! x, await_idle(P) end),
    exit(P, kill),
    receive {'DOWN', M, process, P, _} -> pid_to_list(P) end.

%% @doc A process that hibernates N times.
-spec hibernates(pos_integer()) -> text().
hibernates(N) ->
    {P, M} = spawn_monitor(?MODULE, worker, [fun() -> proc_lib:hibernate(?MODULE, sleeper, [N - 1]) end]),
    times(N, fun() -> asleep(P), P ! again end),
    receive {'DOWN', M, process, P, _} -> pid_to_list(P) end.

-spec sleeper(non_neg_integer()) -> ok.
sleeper(N) ->
    receive again -> ok end,
    case N of
        0 -> ok;
        _ -> proc_lib:hibernate(?MODULE, sleeper, [N - 1])
    end.

asleep(P) ->
    case process_info(P, [current_function, message_queue_len, status]) of
        [{_, {erlang, hibernate, _}}, {_, 0}, {_, waiting}] -> ok;
        _ -> erlang:yield(), asleep(P)
    end.

%% ---- messages -------------------------------------------------------------------------------

%% @doc One process sends N messages of so many words to another, and waits until it has them.
%% Returned are sender and receiver.
-spec sends(non_neg_integer(), non_neg_integer()) -> {text(), text()}.
sends(N, Words) -> sends(N, Words, 1).

%% @doc The same to each of so many receivers; the first is returned.
-spec sends(non_neg_integer(), non_neg_integer(), pos_integer()) -> {text(), text()}.
sends(N, Words, Receivers) ->
    Term = term(Words),
    Sinks = [spawn_link(?MODULE, sink, [self()]) || _ <- lists:seq(1, Receivers)],
    Sender = in_process(fun() -> [times(N, fun() -> S ! Term end) || S <- Sinks] end),
    [ask(S) || S <- Sinks],
    {Sender, pid_to_list(hd(Sinks))}.

%% A list takes two words an element.
term(0) -> message;
term(Words) when Words rem 2 =:= 0 -> lists:seq(1, Words div 2).

-spec sink(pid()) -> ok.
sink(Owner) ->
    receive
        {done, Owner} -> Owner ! {self(), ok};
        _ -> sink(Owner)
    end.

%% @doc N rounds of ping and pong between two processes: both.
-spec pairs(non_neg_integer(), term()) -> {text(), text()}.
pairs(N, Ball) ->
    Pong = spawn_link(fun Loop() ->
                              receive {From, B} -> From ! B, Loop();
                                      stop -> ok
                              end
                      end),
    Ping = in_process(fun() -> times(N, fun() -> Pong ! {self(), Ball}, receive Ball -> ok end end)
                      end),
    Pong ! stop,
    {Ping, pid_to_list(Pong)}.

%% @doc So many senders, N messages each, one receiver: it.
-spec fan_in(pos_integer(), non_neg_integer()) -> text().
fan_in(Senders, N) ->
    Sink = spawn_link(?MODULE, sink, [self()]),
    times(Senders, fun() -> in_process(fun() -> times(N, fun() -> Sink ! message end) end) end),
    ask(Sink),
    pid_to_list(Sink).

%% @doc A process that does not look at its mailbox until N messages are in it.
-spec queue(non_neg_integer()) -> text().
queue(N) ->
    Self = self(),
    {P, M} = spawn_monitor(?MODULE, worker, [fun() -> receive {go, Self} -> times(N, fun() -> receive x -> ok end end) end end]),
    times(N, fun() -> P ! x end),
    P ! {go, Self},
    receive {'DOWN', M, process, P, _} -> pid_to_list(P) end.

%% @doc A process that does not get to its mailbox: it takes one message when N have come, and looks
%% for another when so many More have. Then it has N - 1 + More messages, and takes them in.
-spec stuck(pos_integer(), non_neg_integer()) -> text().
stuck(N, More) ->
    Sent = atomics:new(1, []),
    {P, M} = spawn_monitor(?MODULE, worker, [fun() ->
                                                     await(Sent, N),
                                                     receive x -> ok end,
                                                     atomics:put(Sent, 1, -1),
                                                     await(Sent, More),
                                                     receive nothing -> ok after 0 -> ok end
                                             end]),
    times(N, fun() -> P ! x end),
    atomics:put(Sent, 1, N),
    await(Sent, -1),
    times(More, fun() -> P ! x end),
    atomics:put(Sent, 1, More),
    receive {'DOWN', M, process, P, _} -> pid_to_list(P) end.

await(Sent, N) ->
    case atomics:get(Sent, 1) of
        N -> ok;
        _ -> erlang:yield(), await(Sent, N)
    end.

%% @doc N timers, of a process that waits for each.
-spec timers(non_neg_integer()) -> text().
timers(N) ->
    in_process(fun() ->
                       times(N, fun() ->
                                        R = erlang:start_timer(1, self(), x),
                                        receive {timeout, R, x} -> ok end
                                end)
               end).

%% @doc N messages to a process registered as demo_remote, or to nobody, of another node.
-spec remote(node(), non_neg_integer()) -> text().
remote(Node, N) ->
    true = net_kernel:connect_node(Node),
    in_process(fun() -> times(N, fun() -> {demo_remote, Node} ! message end) end).

%% ---- functions ------------------------------------------------------------------------------

%% @doc N calls of leaf/1.
-spec calls(non_neg_integer()) -> text().
calls(N) -> in_process(fun() -> times(N, fun() -> [?MODULE:leaf(N)] end) end).

-spec leaf(X) -> X.
leaf(X) -> X.

%% @doc N calls of burn/1, each of which is at work for much more than 64 us.
-spec burns(non_neg_integer()) -> text().
burns(N) ->
    Data = binary:copy(<<"x">>, 1 bsl 19),
    in_process(fun() -> times(N, fun() -> [?MODULE:burn(Data)] end) end).

-spec burn(binary()) -> binary().
burn(Data) -> erlang:md5(Data).

%% @doc N calls of outer/1, each of which calls inner/1 twice.
-spec nested(non_neg_integer()) -> text().
nested(N) -> in_process(fun() -> times(N, fun() -> [?MODULE:outer(N)] end) end).

-spec outer(integer()) -> {integer(), integer()}.
outer(X) -> {?MODULE:inner(X), ?MODULE:inner(X)}.

-spec inner(integer()) -> integer().
inner(X) -> X + 1.

%% @doc down/1 called N + 1 times, each inside the other.
-spec body(non_neg_integer()) -> text().
body(N) -> in_process(fun() -> [?MODULE:down(N)] end).

-spec down(non_neg_integer()) -> non_neg_integer().
down(0) -> 0;
down(N) -> 1 + ?MODULE:down(N - 1).

%% @doc round/1 called N + 1 times, each in place of the one before.
-spec tail(non_neg_integer()) -> text().
tail(N) -> in_process(fun() -> [?MODULE:round(N)] end).

-spec round(non_neg_integer()) -> done.
round(0) -> done;
round(N) -> ?MODULE:round(N - 1).

%% @doc N calls of thrower/1 that do not return.
-spec throws(non_neg_integer()) -> text().
throws(N) ->
    Throw = fun() -> try ?MODULE:thrower(N) catch throw:N -> ok end end,
    in_process(fun() -> times(N, Throw) end).

-spec thrower(term()) -> no_return().
thrower(X) -> throw(X).

%% @doc For each of these classes N calls of catcher/2, which calls raiser/2, and N more of raiser/2
%% that another function catches further out. What raiser/2 does takes so many ms (0: it is at work
%% for much more than 64 us); then it ends by an exception. Each time leaf/1 is called afterwards, as
%% deep as raiser/2 was, and returns at once.
-spec raises(non_neg_integer(), non_neg_integer(), [throw | error | exit]) -> text().
raises(N, Ms, Whys) ->
    Data = binary:copy(<<"x">>, 1 bsl 19),
    Work = fun() -> case Ms of 0 -> erlang:md5(Data); _ -> receive after Ms -> ok end end end,
    Untraced = fun(Fun) -> try [[Fun()]] catch _:_ -> [[[]]] end end,
    in_process(fun() ->
                       times(N, fun() ->
                                        [begin
                                             [caught] = [?MODULE:catcher(Work, Why)],
                                             Untraced(fun() -> [?MODULE:raiser(Work, Why)] end),
                                             [[?MODULE:leaf(N)]]
                                         end || Why <- Whys]
                                end)
               end).

-spec catcher(fun(() -> term()), throw | error | exit) -> caught.
catcher(Work, Why) ->
    try ?MODULE:raiser(Work, Why)
    catch Why:_ ->
            _ = [?MODULE:leaf(Why)],
            caught
    end.

-spec raiser(fun(() -> term()), throw | error | exit) -> no_return().
raiser(Work, throw) -> throw(Work());
raiser(Work, error) -> error(Work());
raiser(Work, exit) -> exit(Work()).

%% @doc N calls of nap/1 that take at least so many ms.
-spec naps(non_neg_integer(), non_neg_integer()) -> text().
naps(N, Ms) -> in_process(fun() -> times(N, fun() -> [?MODULE:nap(Ms)] end) end).

-spec nap(non_neg_integer()) -> ok.
nap(Ms) -> receive after Ms -> ok end.

%% @doc N calls of deep/2, which naps so many ms that many levels down.
-spec naps(non_neg_integer(), non_neg_integer(), non_neg_integer()) -> text().
naps(N, Ms, Levels) -> in_process(fun() -> times(N, fun() -> [?MODULE:deep(Levels, Ms)] end) end).

-spec deep(non_neg_integer(), non_neg_integer()) -> non_neg_integer().
deep(0, Ms) ->
    ok = nap(Ms),
    0;
deep(Levels, Ms) ->
    1 + deep(Levels - 1, Ms).

%% ---- a gen_server ---------------------------------------------------------------------------

%% @doc N calls of a gen_server: the caller.
-spec server(non_neg_integer()) -> text().
server(N) -> slow_server(N, 0).

%% @doc N calls that the server takes at least so many ms for.
-spec slow_server(non_neg_integer(), non_neg_integer()) -> text().
slow_server(N, Ms) ->
    {ok, S} = gen_server:start(?MODULE, [], []),
    Caller = in_process(fun() -> times(N, fun() -> gen_server:call(S, {nap, Ms}) end) end),
    gen_server:stop(S),
    Caller.

%% @doc N requests: each a call that the server takes at least so many ms for, then a spawn.
-spec requests(non_neg_integer(), non_neg_integer()) -> text().
requests(N, Ms) ->
    {ok, S} = gen_server:start(?MODULE, [], []),
    Caller = in_process(fun() -> times(N, fun() -> request(S, Ms) end) end),
    gen_server:stop(S),
    Caller.

-spec request(pid(), non_neg_integer()) -> pid().
request(S, Ms) ->
    _ = gen_server:call(S, {nap, Ms}, 60000),
    spawn(?MODULE, child, [normal]).

%% @doc So many gen_servers, demo_ring_1 and so on, each of which calls the next one, and the last one
%% the first: a deadlock.
-spec deadlock(pos_integer()) -> [pid()].
deadlock(N) ->
    Servers = [begin
                   Name = list_to_atom("demo_ring_" ++ integer_to_list(I)),
                   {ok, S} = gen_server:start({local, Name}, ?MODULE, [], []),
                   S
               end || I <- lists:seq(1, N)],
    [First | Rest] = Servers,
    [gen_server:cast(S, {call, Next, self()}) || {S, Next} <- lists:zip(Servers, Rest ++ [First])],
    [receive {S, ready} -> ok end || S <- Servers],
    [S ! {self(), go} || S <- Servers],
    [await_call(S) || S <- Servers],
    Servers.

%% The process waits for an answer.
await_call(P) ->
    case process_info(P, [current_function, status, message_queue_len]) of
        [{_, {gen, do_call, 4}}, {_, waiting}, {_, 1}] -> ok; % of the one before
        _ -> erlang:yield(), await_call(P)
    end.

-spec init([]) -> {ok, []}.
init([]) -> {ok, []}.

-spec handle_call({nap, non_neg_integer()} | {other, gen_server:server_ref(), term()}, gen_server:from(), []) ->
          {reply, term(), []}.
handle_call({other, Server, Request}, _From, State) ->
    {reply, gen_server:call(Server, Request, infinity), State};
handle_call({nap, 0}, _From, State) -> {reply, ok, State};
handle_call({nap, Ms}, _From, State) -> {reply, nap(Ms), State}.

-spec handle_cast(term(), []) -> {noreply, []}.
handle_cast({call, Other, Owner}, State) ->
    Owner ! {self(), ready},
    receive {Owner, go} -> ok end,
    ok = gen_server:call(Other, {nap, 0}, infinity),
    {noreply, State};
handle_cast(_, State) -> {noreply, State}.

%% ---- memory ---------------------------------------------------------------------------------

%% @doc A process that collects its garbage N times, each time all of it.
-spec gcs(non_neg_integer()) -> text().
gcs(N) -> in_process(fun() -> times(N, fun() -> erlang:garbage_collect() end) end).

%% @doc A process whose heap must grow to hold a list of so many elements.
-spec grow(non_neg_integer()) -> text().
grow(N) -> in_process(fun() -> put(list, lists:seq(1, N)), get(list) end).

%% @doc N times an insert and a lookup.
-spec ets(non_neg_integer()) -> text().
ets(N) ->
    in_process(fun() ->
                       T = ets:new(?MODULE, []),
                       times(N, fun() -> ets:insert(T, {N, x}), ets:lookup(T, N) end)
               end).

%% ---- ports ----------------------------------------------------------------------------------

%% @doc A port of cat's that is written to N times, so many bytes, and closed.
-spec port(non_neg_integer(), pos_integer()) -> text().
port(N, Bytes) ->
    in_process(fun() ->
                       P = open_port({spawn, "cat"}, [binary, stream]),
                       times(N, fun() ->
                                        port_command(P, binary:copy(<<"x">>, Bytes)),
                                        echo(P, Bytes)
                                end),
                       port_close(P)
               end).

echo(_, 0) -> ok;
echo(P, Bytes) -> receive {P, {data, B}} -> echo(P, Bytes - byte_size(B)) end.

%% ---- user probes ----------------------------------------------------------------------------

%% @doc N user probes of each kind; what they returned, each once.
-spec user(non_neg_integer()) -> [term()].
user(N) ->
    lists:usort(lists:append([[dtrace:p(I, 2, "text", <<"more">>), dtrace:pn(7, I, "seven"),
                               dtrace:s("hello")] || I <- lists:seq(1, N)])).

%% @doc The same by the module that OTP has.
-spec dyntrace(non_neg_integer()) -> [term()].
dyntrace(N) ->
    lists:usort(lists:append([[dyntrace:p(I, 2, "text"), dyntrace:pn(7, I, "seven")]
                              || I <- lists:seq(1, N)])).

%% ---- without end ----------------------------------------------------------------------------

%% @doc So many rounds of everything, for a load: some hundred events each.
-spec load(non_neg_integer()) -> ok.
load(N) ->
    times(N, fun() ->
                     spawns(5), pairs(20, ball), nested(10), server(10), ets(10), gcs(1)
             end).

%% ---- system calls ---------------------------------------------------------------------------

%% @doc One write to a file that was opened raw.
-spec write(file:fd(), iodata()) -> ok.
write(File, Data) ->
    Result = file:write(File, Data),
    _ = leaf(1), % so that the call above is none in tail position
    Result.
