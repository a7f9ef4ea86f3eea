%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What there is in the node, for the provider state (c_src/state.def): lists of processes, tables,
%% sockets and the like, and what the VM says about one of them. Only what a script reads is asked for:
%% a plan says what, row/3 asks. A row is a tuple of the process that it is about and the members that
%% were asked for; undefined: the thing has gone, or is none.
%%
%% What some members are compared with, such as the reductions of the last round, is kept in a table of
%% the process that asks, outside of its heap.
-module(erltrace_things).
-export([plan/2, list/1, new_pass/0, row/3, forget/2]).
-export([hold/1, release/1]).
-export([owner/1, owner_name/1, name_text/1]). % for erltrace_waits, erltrace_vm
-export_type([kind/0, plan/0, thing/0]).

-type kind() :: process | wait | table | port | socket | scheduler | memory | node.
-type thing() :: term().

-record(plan, {kind :: kind(),
               members :: [atom()],
               items = [] :: [term()],           % of process_info/2
               makers = [] :: [fun((tuple()) -> term())],
               keeps = false :: boolean()}).     % something until the next round
-opaque plan() :: #plan{}.

-define(DEPTH, 12). % of a label that is shown
-define(INET, ["tcp_inet", "udp_inet", "sctp_inet"]).

%% ---- plans -----------------------------------------------------------------------------------

%% @doc How to find out these members.
-spec plan(kind(), Members :: [atom()]) -> plan().
plan(process, Members) ->
    Items = lists:usort(lists:append([items(M) || M <- Members])),
    #plan{kind = process, members = Members, items = Items,
          makers = [maker(M, Items) || M <- Members],
          keeps = lists:any(fun(M) -> lists:member(M, [name, age, new_reductions, mailbox_growth,
                                                       memory_growth]) end, Members)};
plan(Kind, Members) ->
    #plan{kind = Kind, members = Members}.

%% Of process_info/2.
items(pid) -> [];
items(age) -> [];
items(name) -> name_items();
items(registered) -> [registered_name];
items(mailbox) -> [message_queue_len];
items(mailbox_growth) -> [message_queue_len];
items(memory_growth) -> [memory];
items(heap) -> [total_heap_size];
items(stack) -> [stack_size];
items(new_reductions) -> [reductions];
items(binaries) -> [binary];
items(binary_bytes) -> [binary];
items(suspended) -> [status];
items(function) -> [current_function];
items(initial) -> [initial_call];
items(offheap) -> [message_queue_data];
items(Same) -> [Same]. % memory, reductions, links, monitors, monitored_by, status, parent, priority

%% From OTP 27 on a process is asked for single keys of its dictionary; before that for all of it, which
%% is done once for a process without a registered name.
name_items() ->
    case erltrace_vm:has_sessions() of
        true -> [registered_name, initial_call, {dictionary, '$initial_call'},
                 {dictionary, '$process_label'}];
        false -> [registered_name, initial_call]
    end.

%% Of the tuple {Pid, Kept, Answer ...}, the answers in the order of the items.
maker(pid, _) -> fun(T) -> element(1, T) end;
maker(age, _) -> fun age/1;
maker(name, Items) -> name_maker(Items);
maker(registered, Items) ->
    fun_of(registered_name, Items, fun([]) -> <<>>; (Name) -> Name end);
maker(new_reductions, Items) -> growth_maker(reductions, 2, Items);
maker(mailbox_growth, Items) -> growth_maker(message_queue_len, 3, Items);
maker(memory_growth, Items) -> growth_maker(memory, 4, Items);
maker(binary_bytes, Items) -> fun_of(binary, Items, fun binary_bytes/1);
maker(M, Items) when M =:= links; M =:= monitors; M =:= monitored_by ->
    fun_of(M, Items, fun erlang:length/1);
maker(binaries, Items) -> fun_of(binary, Items, fun erlang:length/1);
maker(suspended, Items) -> fun_of(status, Items, fun(S) -> one(S =:= suspended) end);
maker(offheap, Items) -> fun_of(message_queue_data, Items, fun(D) -> one(D =:= off_heap) end);
maker(parent, Items) -> fun_of(parent, Items, fun(undefined) -> <<>>; (P) -> P end);
maker(M, Items) ->
    [Item] = items(M),
    I = position(Item, Items),
    fun(T) -> element(I, T) end.

fun_of(Item, Items, Fun) ->
    I = position(Item, Items),
    fun(T) -> Fun(element(I, T)) end.

position(Item, Items) ->
    position(Item, Items, 3).

position(Item, [Item | _], I) -> I;
position(Item, [_ | Items], I) -> position(Item, Items, I + 1).

one(true) -> 1;
one(false) -> 0.

%% Several references to one binary are one binary.
binary_bytes(Binaries) ->
    lists:sum([Size || {_, Size} <- lists:usort([{Id, Size} || {Id, Size, _} <- Binaries])]).

%% ---- lists -----------------------------------------------------------------------------------

%% @doc All things of a kind. One that ends meanwhile has no row.
-spec list(kind()) -> [thing()].
list(process) -> processes();
list(wait) -> processes();
list(table) -> ets:all();
list(port) -> erlang:ports();
list(socket) -> erlang:ports() ++ sockets();
list(scheduler) -> schedulers();
list(memory) -> [{memory, Kind} || Kind <- erlang:memory()] ++
                    [{allocator, A} || A <- erlang:system_info(alloc_util_allocators)];
list(node) -> [node() | nodes(connected)].

%% Those of the module socket, if anybody uses it.
sockets() ->
    case erlang:module_loaded(socket) of
        true -> try socket:which_sockets() catch _:_ -> [] end;
        false -> []
    end.

%% @doc What a plan of this kind needs of the VM while it is used: times of schedulers. Answers what
%% release/1 takes back.
-spec hold(kind()) -> [atom()].
hold(scheduler) ->
    _ = erlang:system_flag(scheduler_wall_time, true), % as long as this process lives
    [microstate_accounting || not erlang:system_flag(microstate_accounting, true)];
hold(wait) ->
    _ = erltrace_vm:layout(), % where stacks are
    [];
hold(_) ->
    [].

-spec release([atom()]) -> ok.
release(Held) ->
    [erlang:system_flag(Flag, false) || Flag <- lists:usort(Held)],
    ok.

%% ---- rows ------------------------------------------------------------------------------------

%% @doc A pass begins: what owners are called is asked anew.
-spec new_pass() -> ok.
new_pass() ->
    erltrace_waits:new_pass(),
    _ = [erase(K) || {owner, _} = K <- get_keys()],
    ok.

%% @doc Ask. Kept: the table of what is kept; Pass: how often all things have been gone over, from 1.
-spec row(thing(), plan(), {Kept :: ets:tid(), Pass :: pos_integer()}) -> tuple() | undefined.
row(Pid, #plan{kind = process, items = Items, makers = Makers} = Plan, Kept) ->
    case process_info(Pid, Items) of
        undefined ->
            undefined;
        Info ->
            Old = kept(Pid, Plan, Kept),
            T = list_to_tuple([Pid, Old | [V || {_, V} <- Info]]),
            Values = [Make(T) || Make <- Makers],
            keep_process(Pid, Plan, Old, Info, Values, Kept),
            list_to_tuple([Pid | Values])
    end;
row(Thing, #plan{kind = Kind, members = Members}, Kept) ->
    try about(Kind, Thing, Members, Kept)
    catch
        throw:gone -> undefined;
        error:badarg -> undefined;
        error:{badmatch, {error, _}} -> undefined
    end.

%% @doc What is kept of things that only earlier passes have seen is not needed any more.
-spec forget(ets:tid(), Pass :: pos_integer()) -> ok.
forget(Tab, Pass) ->
    _ = ets:select_delete(Tab, [{{'_', '$1', '_'}, [{'<', '$1', Pass}], [true]}]),
    ok.

%% {First seen, Reductions, Mailbox, Memory, Name}; the last for one without a registered name.
kept(_, #plan{keeps = false}, _) ->
    undefined;
kept(Pid, _, {Tab, Pass}) ->
    case ets:lookup(Tab, Pid) of
        [{_, _, Old}] -> Old;
        [] when Pass =< 1 -> first;
        [] -> new
    end.

keep_process(_, #plan{keeps = false}, _, _, _, _) ->
    ok;
keep_process(Pid, #plan{members = Members}, Old, Info, Values, {Tab, Pass}) ->
    First = case Old of {F, _, _, _, _} -> F; _ -> erlang:monotonic_time(nanosecond) end,
    ets:insert(Tab, {Pid, Pass, {First, info(reductions, Info), info(message_queue_len, Info),
                                  info(memory, Info), name_of(Members, Values)}}).

info(Key, Info) ->
    case lists:keyfind(Key, 1, Info) of
        {_, V} -> V;
        false -> 0
    end.

name_of([name | _], [Name | _]) -> Name;
name_of([_ | Ms], [_ | Vs]) -> name_of(Ms, Vs);
name_of([], []) -> undefined.

age(T) ->
    case element(2, T) of
        {First, _, _, _, _} -> erlang:monotonic_time(nanosecond) - First;
        _ -> 0
    end.

%% In the first round nothing is new; afterwards, all of what a new process has.
growth_maker(Item, Which, Items) ->
    I = position(Item, Items),
    fun(T) ->
            case element(2, T) of
                first -> 0;
                new -> element(I, T);
                Old -> element(I, T) - element(Which, Old)
            end
    end.

%% ---- what processes are called ---------------------------------------------------------------

%% As erlproc: registered name, label, the function that it began with, else its pid.
name_maker(Items) ->
    R = position(registered_name, Items),
    I = position(initial_call, Items),
    case lists:member({dictionary, '$process_label'}, Items) of
        true ->
            C = position({dictionary, '$initial_call'}, Items),
            L = position({dictionary, '$process_label'}, Items),
            fun(T) -> called(element(1, T), element(R, T), element(L, T), element(C, T),
                             element(I, T)) end;
        false ->
            fun(T) -> called_before_27(element(1, T), element(R, T), element(2, T),
                                       element(I, T)) end
    end.

called(_, Name, _, _, _) when is_atom(Name) -> Name;
called(Pid, [], undefined, Call, Initial) -> call(Call, Initial, Pid);
called(_, [], Label, _, _) -> {label, Label}.

called_before_27(_, Name, _, _) when is_atom(Name) -> Name;
called_before_27(_, [], {_, _, _, _, Name}, _) when not is_atom(Name) -> Name;
called_before_27(Pid, [], _, Initial) ->
    case process_info(Pid, dictionary) of
        {dictionary, Dict} -> call(proplists:get_value('$initial_call', Dict), Initial, Pid);
        undefined -> Pid
    end.

call({M, F, A}, _, _) when is_atom(M), is_atom(F), is_integer(A) -> {M, F, A};
call({M, F, A}, _, _) when is_atom(M), is_atom(F), is_list(A) -> {M, F, length(A)};
call(_, {erlang, apply, 2}, Pid) -> Pid;
call(_, Initial, _) -> Initial.

%% @doc What the owner of something is called; in a pass it is asked once.
-spec owner(pid()) -> term().
owner(Pid) when is_pid(Pid) ->
    case get({owner, Pid}) of
        undefined ->
            Name = owner_name(Pid),
            _ = put({owner, Pid}, Name),
            Name;
        Name ->
            Name
    end;
owner(_) ->
    throw(gone).

%% @doc The same, asked now.
-spec owner_name(pid()) -> term().
owner_name(Pid) ->
    Items = name_items(),
    try process_info(Pid, Items) of
        undefined -> Pid;
        Info -> (name_maker(Items))(list_to_tuple([Pid, undefined | [V || {_, V} <- Info]]))
    catch error:badarg -> Pid % of another node
    end.

%% @doc What processes are called, as text.
-spec name_text(term()) -> binary().
name_text({M, F, A}) ->
    unicode:characters_to_binary([printed(M), ":", printed(F), "/", integer_to_list(A)]);
name_text({label, Label}) -> printed(Label);
name_text(Pid) when is_pid(Pid) -> list_to_binary(pid_to_list(Pid));
name_text(Text) when is_binary(Text) -> Text;
name_text(Name) -> printed(Name).

printed(Term) ->
    unicode:characters_to_binary(io_lib:format("~0tP", [Term, ?DEPTH])).

%% ---- the other kinds -------------------------------------------------------------------------

about(wait, Pid, Members, {Tab, Pass}) ->
    case erltrace_waits:call(Pid) of
        none ->
            throw(gone);
        Call ->
            Callee = erltrace_waits:callee(Call),
            Now = erlang:monotonic_time(nanosecond),
            Since = case ets:lookup(Tab, Pid) of [{_, _, {Callee, S}}] -> S; _ -> Now end,
            ets:insert(Tab, {Pid, Pass, {Callee, Since}}),
            list_to_tuple([Pid | erltrace_waits:members(Members, Pid, Call, Now - Since)])
    end;
about(table, Tab, Members, Kept) ->
    Owner = ets:info(Tab, owner),
    is_pid(Owner) orelse throw(gone),
    Old = last(Tab, Members, [growth, memory_growth], Kept),
    Row = [table(M, Tab, Owner, Old) || M <- Members],
    keep(Tab, Members, [growth, memory_growth], Kept,
         fun() -> {info_of(Tab, size), info_of(Tab, memory)} end),
    list_to_tuple([Owner | Row]);
about(port, Port, Members, _) ->
    Owner = port(connected, Port),
    list_to_tuple([Owner | [port_member(M, Port, Owner) || M <- Members]]);
about(socket, Port, Members, Kept) when is_port(Port) ->
    lists:member(port(name, Port), ?INET) orelse throw(gone),
    Owner = port(connected, Port),
    Old = last(Port, Members, [new_received, new_sent], Kept),
    Stats = stats(Port, Members),
    keep(Port, Members, [new_received, new_sent], Kept,
         fun() -> {stat(recv_oct, Stats), stat(send_oct, Stats)} end),
    list_to_tuple([Owner | [inet_member(M, Port, Owner, Stats, Old) || M <- Members]]);
about(socket, Socket, Members, Kept) ->
    #{owner := Owner, counters := Counters} = socket:info(Socket),
    Old = last(Socket, Members, [new_received, new_sent], Kept),
    keep(Socket, Members, [new_received, new_sent], Kept,
         fun() -> {maps:get(read_byte, Counters, 0), maps:get(write_byte, Counters, 0)} end),
    list_to_tuple([Owner | [socket_member(M, Socket, Owner, Counters, Old) || M <- Members]]);
about(scheduler, {scheduler, Now}, Members, {Tab, _} = Kept) ->
    #{id := Id} = Now,
    Old = case ets:lookup(Tab, {scheduler, Id}) of [{_, _, O}] -> O; [] -> Now end,
    keep({scheduler, Id}, [], all, Kept, fun() -> Now end),
    list_to_tuple([self() | [scheduler(M, Now, Old) || M <- Members]]);
about(memory, Thing, Members, _) ->
    Sizes = sizes(Thing, Members),
    list_to_tuple([self() | [memory(M, Thing, Sizes) || M <- Members]]);
about(node, Node, Members, _) ->
    list_to_tuple([self() | [node_member(M, Node) || M <- Members]]).

%% What was kept of a thing; `first' in the first pass.
last(Thing, Members, For, {Tab, Pass}) ->
    case is_asked(Members, For) andalso ets:lookup(Tab, Thing) of
        [{_, _, Old}] -> Old;
        _ when Pass =< 1 -> first;
        _ -> {0, 0}
    end.

keep(Thing, Members, For, {Tab, Pass}, Fun) ->
    is_asked(Members, For) andalso ets:insert(Tab, {Thing, Pass, Fun()}).

is_asked(_, all) -> true;
is_asked(Members, For) -> lists:any(fun(M) -> lists:member(M, For) end, Members).

more(_, _, first) -> 0;
more(Now, Which, Old) -> Now - element(Which, Old).

info_of(Tab, Item) ->
    case ets:info(Tab, Item) of
        undefined -> throw(gone);
        V -> V
    end.

table(id, Tab, _, _) -> Tab;
table(owner, _, Owner, _) -> owner(Owner);
table(growth, Tab, _, Old) -> more(info_of(Tab, size), 1, Old);
table(memory_growth, Tab, _, Old) -> more(info_of(Tab, memory), 2, Old);
table(named, Tab, _, _) -> one(info_of(Tab, named_table));
table(compressed, Tab, _, _) -> one(info_of(Tab, compressed));
table(M, Tab, _, _) -> info_of(Tab, M). % name, size, memory, type, protection

port(Item, Port) ->
    case erlang:port_info(Port, Item) of
        {_, V} -> V;
        [] -> [];
        undefined -> throw(gone)
    end.

port_member(id, Port, _) -> Port;
port_member(name, Port, _) -> unicode:characters_to_binary(port(name, Port));
port_member(owner, _, Owner) -> owner(Owner);
port_member(queue, Port, _) -> port(queue_size, Port);
port_member(links, Port, _) -> length(port(links, Port));
port_member(os_pid, Port, _) -> case port(os_pid, Port) of N when is_integer(N) -> N; _ -> 0 end;
port_member(M, Port, _) -> port(M, Port). % input, output, memory

%% One question for all of them.
stats(Port, Members) ->
    case lists:usort([S || M <- Members, S <- stat_of(M)]) of
        [] -> [];
        Options -> {ok, Stats} = inet:getstat(Port, Options), Stats
    end.

stat_of(received) -> [recv_oct];
stat_of(sent) -> [send_oct];
stat_of(packets_received) -> [recv_cnt];
stat_of(packets_sent) -> [send_cnt];
stat_of(new_received) -> [recv_oct, send_oct];
stat_of(new_sent) -> [recv_oct, send_oct];
stat_of(queue) -> [send_pend];
stat_of(_) -> [].

stat(Key, Stats) ->
    case lists:keyfind(Key, 1, Stats) of
        {_, V} -> V;
        false -> 0
    end.

inet_member(id, Port, _, _, _) -> Port;
inet_member(driver, Port, _, _, _) -> list_to_binary(port(name, Port));
inet_member(owner, _, Owner, _, _) -> owner(Owner);
inet_member(local, Port, _, _, _) -> address(inet:sockname(Port));
inet_member(remote, Port, _, _, _) -> address(inet:peername(Port));
inet_member(new_received, _, _, Stats, Old) -> more(stat(recv_oct, Stats), 1, Old);
inet_member(new_sent, _, _, Stats, Old) -> more(stat(send_oct, Stats), 2, Old);
inet_member(M, _, _, Stats, _) -> [S] = stat_of(M), stat(S, Stats).

socket_member(id, {'$socket', Ref}, _, _, _) -> Ref;
socket_member(driver, _, _, _, _) -> socket;
socket_member(owner, _, Owner, _, _) -> owner(Owner);
socket_member(local, S, _, _, _) -> address(socket:sockname(S));
socket_member(remote, S, _, _, _) -> address(socket:peername(S));
socket_member(received, _, _, C, _) -> maps:get(read_byte, C, 0);
socket_member(sent, _, _, C, _) -> maps:get(write_byte, C, 0);
socket_member(packets_received, _, _, C, _) -> maps:get(read_pkg, C, 0);
socket_member(packets_sent, _, _, C, _) -> maps:get(write_pkg, C, 0);
socket_member(new_received, _, _, C, Old) -> more(maps:get(read_byte, C, 0), 1, Old);
socket_member(new_sent, _, _, C, Old) -> more(maps:get(write_byte, C, 0), 2, Old);
socket_member(queue, _, _, _, _) -> 0. % what waits there is in the processes that send

address({ok, {local, Path}}) -> iolist_to_binary(Path);
address({ok, {Ip, Port}}) -> iolist_to_binary([ip(Ip), $:, integer_to_binary(Port)]);
address({ok, #{family := local, path := Path}}) -> iolist_to_binary(Path);
address({ok, #{addr := Ip, port := Port}}) -> address({ok, {Ip, Port}});
address(_) -> <<>>.

ip(Ip) when tuple_size(Ip) =:= 8 -> [$[, inet:ntoa(Ip), $]];
ip(Ip) when is_tuple(Ip) -> inet:ntoa(Ip);
ip(Ip) -> io_lib:format("~0p", [Ip]).

%% ---- schedulers ------------------------------------------------------------------------------

%% All at once: their times and queues.
schedulers() ->
    Wall = case erlang:statistics(scheduler_wall_time_all) of undefined -> []; W -> W end,
    Times = maps:from_list([{{T, I}, C} || #{type := T, id := I, counters := C} <-
                                               states(erlang:statistics(microstate_accounting))]),
    Normal = erlang:system_info(schedulers),
    Cpu = erlang:system_info(dirty_cpu_schedulers),
    Io = erlang:system_info(dirty_io_schedulers),
    {Queues, Dirty} = lists:split(Normal, erlang:statistics(run_queue_lengths_all)),
    [CpuQueue, IoQueue] = lists:sublist(Dirty ++ [0, 0], 2),
    [{scheduler, #{id => First + I, type => Type, queue => Queue,
                   wall => wall(First + I, Wall), times => maps:get({State, I}, Times, #{})}} ||
        {Type, State, First, N, Q} <- [{normal, scheduler, 0, Normal, Queues},
                                       {dirty_cpu, dirty_cpu_scheduler, Normal, Cpu, CpuQueue},
                                       {dirty_io, dirty_io_scheduler, Normal + Cpu, Io, IoQueue}],
        I <- lists:seq(1, N),
        Queue <- [case Q of _ when is_list(Q) -> lists:nth(I, Q); _ -> Q end]].

states(undefined) -> [];
states(States) -> States.

wall(Id, Wall) ->
    case lists:keyfind(Id, 1, Wall) of
        {_, Active, Total} -> {Active, Total};
        false -> {0, 0}
    end.

scheduler(utilization, #{wall := {A, T}}, #{wall := {OldA, OldT}}) -> permille(A - OldA, T - OldT);
scheduler(M, Now, _) when M =:= id; M =:= type; M =:= queue -> maps:get(M, Now);
scheduler(M, #{times := Now}, #{times := Old}) ->
    Spent = maps:map(fun(K, V) -> max(0, V - maps:get(K, Old, 0)) end, Now),
    permille(maps:get(M, Spent, 0), lists:sum(maps:values(Spent))).

permille(Part, All) when All > 0 -> min(1000, max(0, (1000 * Part + All div 2) div All));
permille(_, _) -> 0.

%% ---- memory ----------------------------------------------------------------------------------

sizes({memory, {_, Bytes}}, _) -> {Bytes, 0, 0};
sizes({allocator, A}, Members) ->
    case is_asked(Members, [bytes, carriers, carrier_bytes, utilization]) of
        true -> allocator(erlang:system_info({allocator, A}));
        false -> {0, 0, 0}
    end.

%% {Bytes of blocks, carriers, their bytes}, over all instances; single- and multiblock carriers.
allocator(Instances) when is_list(Instances) ->
    Sets = [S || {instance, _, Props} <- Instances, {Key, S} <- Props, is_list(S),
                 lists:member(Key, [mbcs, mbcs_pool, sbcs])],
    {lists:sum([blocks(S) || S <- Sets]), lists:sum([first(carriers, S) || S <- Sets]),
     lists:sum([first(carriers_size, S) || S <- Sets])};
allocator(_) ->
    {0, 0, 0}.

blocks(Set) ->
    case lists:keyfind(blocks, 1, Set) of
        {_, ByType} -> lists:sum([first(size, B) || {_, B} <- ByType]);
        false -> 0
    end.

%% {Key, Now} or {Key, Now, Last max, Max}
first(Key, List) ->
    case lists:keyfind(Key, 1, List) of
        false -> 0;
        Found -> element(2, Found)
    end.

memory(kind, {memory, {K, _}}, _) -> K;
memory(kind, {allocator, A}, _) -> A;
memory(is_allocator, {What, _}, _) -> one(What =:= allocator);
memory(bytes, _, {Bytes, _, _}) -> Bytes;
memory(carriers, _, {_, N, _}) -> N;
memory(carrier_bytes, _, {_, _, Size}) -> Size;
memory(utilization, _, {Bytes, _, Size}) -> permille(Bytes, Size);
memory(count, {memory, {K, _}}, _) -> count(K);
memory(limit, {memory, {K, _}}, _) -> limit(K);
memory(_, _, _) -> 0.

count(atom) -> erlang:system_info(atom_count);
count(processes) -> erlang:system_info(process_count);
count(ets) -> erlang:system_info(ets_count);
count(_) -> 0.

limit(atom) -> erlang:system_info(atom_limit);
limit(processes) -> erlang:system_info(process_limit);
limit(_) -> 0. % tables have none any more

%% ---- nodes -----------------------------------------------------------------------------------

node_member(name, Node) -> Node;
node_member(type, Node) when Node =:= node() -> this;
node_member(type, Node) ->
    case lists:member(Node, nodes(hidden)) of
        true -> hidden;
        false -> visible
    end;
node_member(processes, Node) when Node =:= node() -> erlang:system_info(process_count);
node_member(ports, Node) when Node =:= node() -> erlang:system_info(port_count);
node_member(uptime, Node) when Node =:= node() -> element(1, erlang:statistics(wall_clock));
node_member(queue, Node) when Node =:= node() -> erlang:statistics(total_run_queue_lengths_all);
node_member(_, Node) when Node =:= node() -> 0;
node_member(received, Node) -> connection(recv_oct, Node);
node_member(sent, Node) -> connection(send_oct, Node);
node_member(queue, Node) -> waiting(Node);
node_member(busy, Node) -> one(waiting(Node) >= erlang:system_info(dist_buf_busy_limit));
node_member(_, _) -> 0.

connection(Stat, Node) ->
    case lists:keyfind(Node, 1, erlang:system_info(dist_ctrl)) of
        {_, Port} when is_port(Port) ->
            case inet:getstat(Port, [Stat]) of
                {ok, [{_, N}]} -> N;
                _ -> 0
            end;
        _ -> 0
    end.

waiting(Node) ->
    case lists:keyfind(Node, 1, erlang:system_info(dist_ctrl)) of
        {_, Port} when is_port(Port) ->
            case erlang:port_info(Port, queue_size) of
                {_, N} -> N;
                undefined -> 0
            end;
        _ -> 0
    end.
