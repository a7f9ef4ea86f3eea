%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Of the objects of a node (erltrace_objects), those that are not many: schedulers, kinds of
%% memory and allocators, nodes.
-module(erltrace_system).
-export([schedulers/0, scheduler/3, memories/0, sizes/2, memory/3, all_nodes/0, node/2]).

%% A kind of memory with its bytes, or an allocator.
-type memory() :: {memory, {atom(), non_neg_integer()}} | {allocator, atom()}.
-type sizes() :: {
    Bytes :: non_neg_integer(), Carriers :: non_neg_integer(), Size :: non_neg_integer()
}.

%% ---- schedulers ------------------------------------------------------------------------------

%% @doc All at once: their times and queues.
-spec schedulers() -> [map()].
schedulers() ->
    Wall = case erlang:statistics(scheduler_wall_time_all) of undefined -> []; W -> W end,
    Times = maps:from_list([{{T, I}, C} || #{type := T, id := I, counters := C} <-
                                               states(erlang:statistics(microstate_accounting))]),
    Normal = erlang:system_info(schedulers),
    Cpu = erlang:system_info(dirty_cpu_schedulers),
    Io = erlang:system_info(dirty_io_schedulers),
    {Queues, Dirty} = lists:split(Normal, erlang:statistics(run_queue_lengths_all)),
    [CpuQueue, IoQueue] = lists:sublist(Dirty ++ [0, 0], 2),
    [#{id => First + I, type => Type, queue => Queue,
       wall => wall(First + I, Wall), times => maps:get({State, I}, Times, #{})} ||
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

%% @doc A member, by what is now and what was in the last round.
-spec scheduler(erltrace_objects:scheduler_member(), Now :: map(), Old :: map()) -> term().
scheduler(utilization, #{wall := {A, T}}, #{wall := {OldA, OldT}}) -> permille(A - OldA, T - OldT);
scheduler(M, Now, _) when M =:= id; M =:= type; M =:= queue -> maps:get(M, Now);
scheduler(M, #{times := Now}, #{times := Old}) ->
    Spent = maps:map(fun(K, V) -> max(0, V - maps:get(K, Old, 0)) end, Now),
    permille(maps:get(M, Spent, 0), lists:sum(maps:values(Spent))).

permille(Part, All) when All > 0 -> min(1000, max(0, (1000 * Part + All div 2) div All));
permille(_, _) -> 0.

%% ---- memory ----------------------------------------------------------------------------------

-spec memories() -> [memory()].
memories() ->
    [{memory, Kind} || Kind <- erlang:memory()] ++
        [{allocator, A} || A <- erlang:system_info(alloc_util_allocators)].

%% @doc What these members need.
-spec sizes(memory(), Members :: [erltrace_objects:memory_member()]) -> sizes().
sizes({memory, {_, Bytes}}, _) -> {Bytes, 0, 0};
sizes({allocator, A}, Members) ->
    case Members -- [kind, is_allocator, count, limit] of
        [] -> {0, 0, 0};
        _ -> allocator(erlang:system_info({allocator, A}))
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

-spec memory(erltrace_objects:memory_member(), memory(), sizes()) -> term().
memory(kind, {memory, {K, _}}, _) -> K;
memory(kind, {allocator, A}, _) -> A;
memory(is_allocator, {allocator, _}, _) -> 1;
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

-spec all_nodes() -> [node()].
all_nodes() -> [node() | nodes(connected)].

-spec node(erltrace_objects:node_member(), node()) -> term().
node(name, Node) -> Node;
node(type, Node) when Node =:= node() -> this;
node(type, Node) ->
    case lists:member(Node, nodes(hidden)) of
        true -> hidden;
        false -> visible
    end;
node(processes, Node) when Node =:= node() -> erlang:system_info(process_count);
node(ports, Node) when Node =:= node() -> erlang:system_info(port_count);
node(uptime, Node) when Node =:= node() -> element(1, erlang:statistics(wall_clock));
node(queue, Node) when Node =:= node() -> erlang:statistics(total_run_queue_lengths_all);
node(dirty_io, Node) when Node =:= node() -> lists:last(erlang:statistics(active_tasks_all));
node(dirty_io_schedulers, Node) when Node =:= node() -> erlang:system_info(dirty_io_schedulers);
node(_, Node) when Node =:= node() -> 0;
node(received, Node) -> connection(recv_oct, Node);
node(sent, Node) -> connection(send_oct, Node);
node(queue, Node) -> waiting(Node) + connection(send_pend, Node);
node(busy, Node) ->
    case is_busy(waiting(Node), Node) of true -> 1; false -> 0 end;
node(_, _) -> 0.

connection(Stat, Node) ->
    case lists:keyfind(Node, 1, erlang:system_info(dist_ctrl)) of
        {_, Port} when is_port(Port) ->
            case inet:getstat(Port, [Stat]) of
                {ok, [{_, N}]} -> N;
                _ -> 0
            end;
        _ -> 0
    end.

%% Once its own queue is longer than +zdbbl permits, the VM suspends processes that send to the
%% node, and lets them wait until that is shorter and the driver takes data again.
is_busy(0, _) -> false;
is_busy(Bytes, Node) ->
    Bytes >= erlang:system_info(dist_buf_busy_limit) orelse connection(send_pend, Node) > 0.

%% Bytes in the VM's own queue, before the driver's.
waiting(Node) ->
    try
        {ok, _, _, Bytes} = erlang:dist_get_stat(dist_handle(Node)),
        Bytes
    catch error:_ -> % it has disconnected, and perhaps connected again
            _ = erase({dist_handle, Node}),
            0
    end.

%% The VM makes a new handle for a node that is not connected, and expects somebody to connect then.
%% So this is asked once for a connection, just after the node was seen in the list.
dist_handle(Node) ->
    case get({dist_handle, Node}) of
        undefined ->
            true = lists:member(Node, nodes(connected)),
            Handle = erts_internal:new_connection(Node),
            _ = put({dist_handle, Node}, Handle),
            Handle;
        Handle ->
            Handle
    end.
