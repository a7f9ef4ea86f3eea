%% SPDX-License-Identifier: Apache-2.0
%% The work that is traced: a table of loads, and what one operation of each does. Workers, one for
%% each scheduler, do operations one after the other and note what each took.
-module(bench_loads).
-export([all/0, load/1, run/2]).
-export([request/1, parse/1, lookup/1, render/1, cut/2]). % those that are traced
-export([worker/3, init/1, handle_call/3, handle_cast/2]).
-behaviour(gen_server).

%% op: what a worker does again and again, with what begin gave it; ops: how often, for all workers
%% together; events: of one operation, as the script counts them (0: to be counted).
-type load() :: #{name := atom(), title := string(), op := fun((term(), pos_integer()) -> term()),
                  start := fun(() -> term()), stop := fun((term()) -> term()),
                  ops := pos_integer(), events := non_neg_integer()}.
-export_type([load/0]).

-spec all() -> [load()].
all() ->
    [#{name => calls, title => "calls: count each function",
       start => fun none/0, stop => fun none/1, op => fun calls/2, ops => 12000, events => 100},
     #{name => times, title => "calls: a heat map of the time of each function",
       start => fun none/0, stop => fun none/1, op => fun calls/2, ops => 12000, events => 100},
     #{name => messages, title => "messages: count by sender",
       start => fun sink/0, stop => fun kill/1, op => fun messages/2, ops => 12000, events => 50},
     #{name => spawns, title => "spawns: count spawns by function, exits by reason",
       start => fun none/0, stop => fun none/1, op => fun spawns/2, ops => 60000, events => 2},
     #{name => gc, title => "gc: a distribution of the time of collections",
       start => fun none/0, stop => fun none/1, op => fun collect/2, ops => 60000, events => 2},
     #{name => web, title => "web: calls, messages, spawns and gc of a service",
       start => fun web/0, stop => fun web_stop/1, op => fun get/2, ops => 12000, events => 0}].

-spec load(atom()) -> load().
load(Name) ->
    [Load] = [L || #{name := N} = L <- all(), N =:= Name],
    Load.

%% All of it, once: Ready is called with the workers before they start. What each operation took in
%% ns, and how long the whole took.
-spec run(load(), #{ops := pos_integer(), ready := fun(([pid()]) -> term()),
                    done := fun(() -> term())}) ->
          #{wall := integer(), latencies := [integer()]}.
run(#{start := Start, stop := Stop} = Load, #{ops := Ops, ready := Ready, done := Done}) ->
    State = Start(),
    N = bench_lib:schedulers(),
    Workers = [spawn_opt(?MODULE, worker, [Load, State, Ops div N],
                         [monitor, {min_heap_size, 20000}]) || _ <- lists:seq(1, N)],
    _ = Ready([P || {P, _} <- Workers]),
    T0 = erlang:monotonic_time(nanosecond),
    [P ! {go, self()} || {P, _} <- Workers],
    Latencies = [receive {P, L} -> L; {'DOWN', M, _, _, Why} -> exit(Why) end || {P, M} <- Workers],
    [receive {'DOWN', M, _, _, _} -> ok end || {_, M} <- Workers],
    _ = Done(),
    Wall = erlang:monotonic_time(nanosecond) - T0,
    _ = Stop(State),
    #{wall => Wall, latencies => lists:append(Latencies)}.

worker(#{op := Op}, State, N) ->
    receive {go, From} -> From ! {self(), operate(Op, State, N, [])} end.

operate(_, _, 0, Times) -> Times;
operate(Op, State, N, Times) ->
    T0 = erlang:monotonic_time(nanosecond),
    _ = Op(State, N),
    operate(Op, State, N - 1, [erlang:monotonic_time(nanosecond) - T0 | Times]).

none() -> none.
none(_) -> ok.

kill(P) -> exit(P, kill).

%% ---- calls ------------------------------------------------------------------------------------

%% 25 times four functions, that do as much as small functions do.
calls(_, N) -> calls_of(25, N).

calls_of(0, _) -> ok;
calls_of(K, N) -> _ = request(N + K), calls_of(K - 1, N).

-spec request(integer()) -> integer().
request(N) ->
    Id = parse(<<"/item/", (N band 1023):16>>),
    {_, Price} = lookup(Id),
    length(render([Id, Price | [N]])).

-spec parse(binary()) -> integer().
parse(<<"/", Rest/binary>>) -> parse_id(Rest).

parse_id(<<"/", Id:16>>) -> Id;
parse_id(<<_, Rest/binary>>) -> parse_id(Rest).

-spec lookup(integer()) -> {atom(), integer()}.
lookup(Id) ->
    #{a := A, b := B} = maps:put(b, Id, #{a => 1, c => 3, d => 4}),
    {item, A * 3 + B div 7}.

-spec render([integer()]) -> [integer()].
render(Numbers) -> lists:reverse([N rem 10 + $0 || N <- Numbers], "</li>").

%% ---- messages ---------------------------------------------------------------------------------

%% 49 messages to one who takes them; it answers the last.
sink() -> spawn(fun sink_loop/0).

sink_loop() ->
    receive
        {answer, To} -> To ! answer, sink_loop();
        _ -> sink_loop()
    end.

messages(Sink, N) ->
    send(Sink, N, 48),
    Sink ! {answer, self()},
    receive answer -> ok end.

send(_, _, 0) -> ok;
send(Sink, N, K) -> Sink ! {a_message, N, K}, send(Sink, N, K - 1).

%% ---- spawns -----------------------------------------------------------------------------------

spawns(_, _) ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, P, _} -> ok end.

%% ---- garbage collection -----------------------------------------------------------------------

%% Some garbage and a collection of it.
collect(_, N) ->
    _ = lists:seq(1, N band 15 + 20),
    erlang:garbage_collect(self(), [{type, minor}]).

%% ---- a web service ----------------------------------------------------------------------------

%% An acceptor, a process for each request, a table, a server that counts, binaries, a timer.
web() ->
    Table = ets:new(web, [public, {read_concurrency, true}]),
    true = ets:insert(Table, [{I, integer_to_binary(I * 7919), lists:seq(1, 10)}
                              || I <- lists:seq(0, 1023)]),
    {ok, Counter} = gen_server:start(?MODULE, 0, []),
    Acceptor = spawn(fun() -> acceptor(Table, Counter) end),
    {Table, Counter, Acceptor}.

web_stop({Table, Counter, Acceptor}) ->
    exit(Acceptor, kill),
    exit(Counter, kill),
    ets:delete(Table).

get({_, _, Acceptor}, N) ->
    Ref = make_ref(),
    Acceptor ! {request, self(), Ref, iolist_to_binary(["GET /item/", integer_to_list(N band 1023),
                                                        " HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n"])},
    receive {Ref, <<"HTTP", _/binary>>} -> ok end.

acceptor(Table, Counter) ->
    receive
        {request, From, Ref, Text} ->
            _ = spawn(fun() -> handle(Table, Counter, From, Ref, Text) end),
            acceptor(Table, Counter)
    end.

handle(Table, Counter, From, Ref, Text) ->
    Timer = erlang:start_timer(5000, self(), late),
    [<<"GET">>, <<"/item/", Id/binary>> | _] = cut(Text, <<" ">>),
    _ = [cut(L, <<": ">>) || L <- tl(cut(Text, <<"\r\n">>)), L =/= <<>>],
    [{_, Name, List}] = ets:lookup(Table, lookup_id(Id)),
    N = gen_server:call(Counter, count),
    Body = page(Name, List, N),
    _ = erlang:cancel_timer(Timer),
    From ! {Ref, iolist_to_binary(["HTTP/1.1 200 OK\r\nContent-Length: ",
                                   integer_to_list(iolist_size(Body)), "\r\n\r\n", Body])}.

lookup_id(Id) -> {item, _} = lookup(1), binary_to_integer(Id).

-spec cut(binary(), binary()) -> [binary()].
cut(Text, At) -> binary:split(Text, At, [global]).

page(Name, List, N) ->
    ["<h1>", Name, "</h1><ul>", [["<li>", render([I])] || I <- List], "</ul>",
     integer_to_list(N)].

%% The server that counts requests.
-spec init(integer()) -> {ok, integer()}.
init(N) -> {ok, N}.

-spec handle_call(count, term(), integer()) -> {reply, integer(), integer()}.
handle_call(count, _, N) -> {reply, N, N + 1}.

-spec handle_cast(term(), integer()) -> {noreply, integer()}.
handle_cast(_, N) -> {noreply, N}.
