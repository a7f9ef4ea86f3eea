%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What there is in the node, for the provider state (c_src/state.def): lists of processes,
%% tables, sockets and the like, and what the VM says about one of them. Only what a script reads is
%% asked for: a plan says what, rows/3 asks. A row is a tuple of the process that it is about and
%% the members that were asked for; undefined: the object has gone, or is none.
%%
%% What some members are compared with, such as the reductions of the last round, is kept in a table
%% of the process that asks, outside of its heap.
-module(erltrace_objects).
-export([plan/2, plan/3, compares/1, list/1, gate/4, rows/3, asked/0, new_kept/0, forget/3]).
-export([wants_ranks/1]).
-export([answer/2]). % for erltrace_askers
-export([hold/1, release/1]).
-export_type([kind/0, member/0, plan/0, object/0]).
-export_type([wait_member/0, scheduler_member/0, memory_member/0, node_member/0]).
-include("build/erltrace_state.hrl").

-type object() :: term().

%% What is kept of a process, a row of the table.
-record(kept, {pid :: pid(),
               pass :: pos_integer(),            % when it was written
               first :: integer(),               % ns: when it was seen for the first time
               reductions :: integer(),
               mailbox :: non_neg_integer(),
               memory :: non_neg_integer(),
               rests :: boolean(),               % it was waiting
               expensive :: [term()]}).          % answers

%% What is known of a process: rows are made of it.
-record(answer, {pid :: pid(),
                 old :: #kept{} | first | new | undefined, % what was kept of it
                 values :: tuple()}).            % in the order of the items

%% What a process is asked for, and what of that its answer is made of.
-record(asking, {items :: [term()],              % of process_info/2
                 cheap :: non_neg_integer(),     % so many of them are handed on as they are
                 expensive :: [term()],
                 modest :: [term()]}).           % the items for a process with a large heap,
                                                 % []: they are the same
-record(plan, {kind :: kind(),
               members :: [member()],
               items = [] :: [term()],           % of process_info/2, those that cost little
               expensive = [] :: [term()],       % for which a process has to run
               all :: #asking{} | undefined,     % both: what a process is asked for the first time
               again :: #asking{} | undefined,   % and later
               reductions = 0 :: non_neg_integer(), % where the value is in an #answer{}; 0: nowhere
               mailbox = 0 :: non_neg_integer(),
               status = 0 :: non_neg_integer(),
               memory = 0 :: non_neg_integer(),
               makers = [] :: [fun((#answer{}) -> term())] | [fun((tuple()) -> term())],
               keeps = false :: boolean(),       % something until the next round
               % only of those with messages: a process that is not known has had none
               sparse = false :: boolean(),
               words = false :: boolean(),       % the library reads the items in the VM
               gate = none :: #plan{} | none}).  % what is asked first, to see who is asked for all
-opaque plan() :: #plan{}.


%% What is kept of a port that is a socket.
-record(inet, {driver :: binary(),
               ends :: {Local :: binary(), Remote :: binary()} | undefined,
               moved :: {Received :: integer(), Sent :: integer()} | first}).

%% Members for which something is kept of every process.
-define(COMPARED, [age, new_reductions, mailbox_growth, memory_growth]).
%% A row that stays as it is is written again after so many passes, and is forgotten after twice as
%% many.
-define(FRESH, 4).

%% Processes that one helper asks, for what costs little and for all.
-define(LOOKS, 64).
-define(ASKS, 4).
%% Words of a process's heaps from which on it is not asked for its binaries, and its dictionary.
-define(LARGE, 1000000).
-define(HUGE, 32000000).

-define(INITIAL, {dictionary, '$initial_call'}).
-define(INET, ["tcp_inet", "udp_inet", "sctp_inet"]).

%% ---- plans -----------------------------------------------------------------------------------

%% @doc How to find out these members; the second ones are enough to see whether the others are
%% needed.
-spec plan(kind(), Members :: [member()], First :: [member()] | none) -> plan().
plan(process, Members, First) when First =/= none ->
    Plan = plan(process, Members),
    Gate = plan(
        process,
        First ++
            [
                M
             || M <- Members,
                lists:member(M, ?COMPARED),
                not lists:member(M, First)
            ]
    ),
    case Plan#plan.expensive =/= [] andalso Gate#plan.expensive =:= [] of
        true ->
            Plan#plan{gate = Gate#plan{makers = lists:sublist(Gate#plan.makers, length(First))}};
        false ->
            Plan
    end;
plan(Kind, Members, _) ->
    plan(Kind, Members).

-spec plan(kind(), Members :: [member()]) -> plan().
plan(process, Members) ->
    Asked = lists:usort(lists:append([items(M) || M <- Members])),
    {Expensive, Cheap} = lists:partition(fun is_expensive/1, Asked),
    Items =
        case Expensive of
            [] -> Cheap;
            _ -> lists:usort([message_queue_len, reductions, status | Cheap])
        end,
    #plan{
        kind = process,
        members = Members,
        items = Items,
        expensive = Expensive,
        all = asking(Items, first(Expensive), Expensive),
        again = asking(Items, again(Expensive), Expensive),
        reductions = find(reductions, Items),
        mailbox = find(message_queue_len, Items),
        status = find(status, Items),
        memory = find(memory, Items ++ Expensive),
        makers = [maker(M, Items ++ Expensive) || M <- Members],
        words =
            Items -- [message_queue_len, reductions] =:= [] andalso
                erltrace_find:is_known(numbers),
        keeps = Expensive =/= [] orelse is_asked(Members, ?COMPARED),
        sparse =
            Expensive =:= [] andalso
                [M || M <- Members, lists:member(M, ?COMPARED)] =:= [mailbox_growth]
    };
plan(socket, Members) ->
    {Stats, Makers} = lists:unzip([inet_member(M) || M <- Members]),
    #plan{kind = socket, members = Members, items = lists:usort(lists:append(Stats)),
          expensive = [ends || is_asked(Members, [local, remote])], makers = Makers};
plan(wait, Members) ->
    #plan{
        kind = wait,
        members = Members,
        expensive = [plan(process, [function])],
        words = erltrace_find:is_known(numbers)
    };
plan(Kind, Members) ->
    #plan{kind = Kind, members = Members}.

asking(Items, Asked, Expensive) ->
    Modest = case lists:member(binary, Asked) orelse lists:member(dictionary, Asked) of
                 true -> Items ++ (Asked -- [binary]);
                 false -> []
             end,
    #asking{items = Items ++ Asked, cheap = length(Items), expensive = Expensive, modest = Modest}.

%% How a member of a process is fetched: the items of process_info/2 that it is made of, and what
%% makes it of an #answer{}, given the positions of these items in its values.
-spec process_member(process_member()) ->
    {[Item :: term()], fun(([pos_integer()]) -> fun((tuple()) -> term()))}.
process_member(pid) -> {[], fun([]) -> fun(#answer{pid = Pid}) -> Pid end end};
process_member(age) -> {[], fun([]) -> fun age/1 end};
process_member(memory_rank) ->
    {[], fun([]) -> fun(#answer{pid = Pid}) -> erltrace_ranks:place(Pid, memory) end end};
process_member(binary_rank) ->
    {[], fun([]) -> fun(#answer{pid = Pid}) -> erltrace_ranks:place(Pid, binary) end end};
process_member(name) ->
    {erltrace_process_name:items(erltrace_process_name:has_labels()), fun called_maker/1};
process_member(registered) -> item(registered_name, fun([]) -> <<>>; (Name) -> Name end);
process_member(mailbox) -> item(message_queue_len);
process_member(mailbox_growth) -> growth(message_queue_len, #kept.mailbox);
process_member(memory_growth) -> growth(memory, #kept.memory);
process_member(new_reductions) -> growth(reductions, #kept.reductions);
process_member(heap) -> item(total_heap_size);
process_member(stack) -> item(stack_size);
process_member(binaries) -> item(binary, fun({N, _}) -> N end);
process_member(binary_bytes) -> item(binary, fun({_, Bytes}) -> Bytes end);
process_member(suspended) -> item(status, fun(S) -> one(S =:= suspended) end);
process_member(function) -> item(current_function);
process_member(within) -> item(current_stacktrace, fun within/1);
process_member(initial) -> item(initial_call);
process_member(parent) -> item(parent, fun(undefined) -> <<>>; (P) -> P end);
process_member(offheap) -> item(message_queue_data, fun(D) -> one(D =:= off_heap) end);
% memory, reductions, links, monitors, monitored_by, status, priority
process_member(Same) -> item(Same).

item(Item) ->
    {[Item], fun([I]) -> fun(#answer{values = Values}) -> element(I, Values) end end}.

item(Item, Fun) ->
    {[Item], fun([I]) -> fun(#answer{values = Values}) -> Fun(element(I, Values)) end end}.

%% In the first round nothing is new; afterwards, all of what a new process has.
growth(Item, Which) ->
    {[Item], fun([I]) ->
        fun(#answer{old = Old, values = Values}) -> grown(Old, Which, element(I, Values)) end
    end}.

grown(first, _, _) -> 0;
grown(new, _, Now) -> Now;
grown(Old, Which, Now) -> Now - element(Which, Old).

within(Stack) ->
    case [{M, F, A} || {M, F, A, _} <- Stack, M =/= erlang, M =/= erts_internal] of
        [MFA | _] -> MFA;
        [] -> <<>>
    end.

called_maker([R, I, C | Label]) ->
    fun(#answer{pid = Pid, values = Values}) ->
            L = case Label of [] -> undefined; [At] -> element(At, Values) end,
            [Registered, Initial, Call] = [element(N, Values) || N <- [R, I, C]],
            erltrace_process_name:shown(
              Pid, erltrace_process_name:name(Pid, Registered, Initial, Call, L))
    end.

items(Member) ->
    element(1, process_member(Member)).

maker(Member, Items) ->
    {Asked, Make} = process_member(Member),
    Make([position(A, Items) || A <- Asked]).

%% The VM reads other items of a process that does not run there and then, in a fraction of a
%% microsecond; for these it sends a signal, and the process has to run to answer.
is_expensive({dictionary, _}) -> true;
is_expensive(Item) ->
    lists:member(Item, [
        binary,
        current_function,
        current_stacktrace,
        links,
        memory,
        monitored_by,
        monitors,
        total_heap_size
    ]).

%% From OTP 27 on a process is asked for single keys of its dictionary; before that for all of it,
%% which is done once, for the function that it began with.
first(Expensive) ->
    Single = erltrace_vm:has_sessions(),
    [case D of ?INITIAL when not Single -> dictionary; _ -> D end || D <- Expensive].

again(Expensive) ->
    case erltrace_vm:has_sessions() of
        true -> Expensive;
        false -> Expensive -- [?INITIAL]
    end.

position(Item, Items) ->
    position(Item, Items, 1).

position(Item, [Item | _], I) -> I;
position(Item, [_ | Items], I) -> position(Item, Items, I + 1).

find(Item, Items) ->
    case lists:member(Item, Items) of
        true -> position(Item, Items);
        false -> 0
    end.

one(true) -> 1;
one(false) -> 0.

%% ---- lists -----------------------------------------------------------------------------------

%% @doc All objects of a kind. One that ends meanwhile has no row.
-spec list(kind()) -> [object()].
list(process) -> processes();
list(wait) -> processes();
list(table) -> ets:all();
list(port) -> erlang:ports();
list(socket) -> erlang:ports() ++ sockets();
list(scheduler) -> erltrace_system:schedulers();
list(memory) -> erltrace_system:memories();
list(node) -> erltrace_system:all_nodes().

%% @doc Does a plan say what has become of processes since the last pass?
-spec compares(plan()) -> boolean().
compares(#plan{kind = process, members = Members}) -> is_asked(Members, ?COMPARED -- [age]);
compares(_) -> false.

%% @doc Does a plan need the places of processes (erltrace_ranks)?
-spec wants_ranks(plan()) -> boolean().
wants_ranks(#plan{kind = process, members = Members}) ->
    is_asked(Members, [memory_rank, binary_rank]);
wants_ranks(_) -> false.

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
    _ = erltrace_find:known(stack), % where stacks are
    [];
hold(_) ->
    [].

-spec release([atom()]) -> ok.
release(Held) ->
    [erlang:system_flag(Flag, false) || Flag <- lists:usort(Held)],
    ok.

%% ---- rows ------------------------------------------------------------------------------------

%% @doc Ask. Kept: the table of what is kept; Pass: how often all objects have been gone over, from
%% 1. How many processes did not answer in time?
-spec rows([object()], plan(), {Kept :: ets:tid(), Pass :: pos_integer()}) ->
          {[tuple()], Silent :: non_neg_integer()}.
rows(Pids, #plan{kind = process, expensive = []} = Plan, {Tab, _} = Kept) ->
    {As, Silent} = cheap(Pids, Plan, Kept),
    Plan#plan.keeps andalso ets:insert(Tab, [to_keep(A, 0, [], Plan, Kept) || A <- As]),
    {[made(Plan#plan.makers, A) || A <- As], Silent};
rows(Pids, #plan{kind = process} = Plan, Kept) ->
    {Rest, Ran} = lists:partition(fun({_, Old}) -> is_record(Old, kept) andalso Old#kept.rests end,
                                  [{P, kept(P, Kept)} || P <- Pids]),
    {Same, Changed, Silent} = perhaps_same(Rest, Plan, Kept),
    {Asked, MoreSilent} = ask(Changed ++ Ran, Plan, Kept),
    {Same ++ Asked, Silent + MoreSilent};
rows(Pids, #plan{kind = wait, expensive = [Where]} = Plan, Kept) ->
    {Rows, Silent} = rows(may_call(Pids, Plan), Where, Kept),
    {
        [
            Row
         || {Pid, Function} <- Rows,
            erltrace_waits:may_call(Function),
            Row <- one_row(Pid, Plan, Kept)
        ],
        Silent
    };
rows(Objects, Plan, Kept) ->
    {[Row || T <- Objects, Row <- one_row(T, Plan, Kept)], 0}.

%% Who waits for the answer to a call has a monitor.
may_call(Pids, #plan{words = true}) -> [P || {P, _, _, _, _, true} <- erltrace_words:look(Pids)];
may_call(Pids, _) -> Pids.

%% Of an object that is no process.
one_row(Object, #plan{kind = Kind, members = Members} = Plan, Kept) ->
    try
        case Kind =:= socket andalso is_port(Object) of
            true -> [inet_row(Object, Plan, Kept)];
            false -> [about(Kind, Object, Members, Kept)]
        end
    catch
        throw:gone -> [];
        error:badarg -> [];
        error:{badmatch, {error, _}} -> []
    end.

%% @doc Ask for what predicates read. The function has these computed for rows of that. How many
%% there are of the objects, those for which one is true, which are to be asked for all, and how
%% many processes did not answer in time.
-spec gate([object()], plan(), {Kept :: ets:tid(), Pass :: pos_integer()},
           fun(([tuple()]) -> [pid()] | false)) ->
          {non_neg_integer(), [object()], Silent :: non_neg_integer()} | false.
gate(Pids, #plan{gate = #plan{makers = Makers} = Gate}, {Tab, _} = Kept, Fun) ->
    {As, Silent} = cheap(Pids, Gate, Kept),
    case Fun([made(Makers, A) || A <- As]) of
        false ->
            false;
        True ->
            Gate#plan.keeps andalso
                ets:insert(Tab, others(As, lists:reverse(True), Gate, Kept)),
            {length(As), True, Silent}
    end;
gate(Objects, _, _, _) ->
    {length(Objects), Objects, 0}.

%% What costs little.
cheap(Pids, #plan{words = true, items = Items, keeps = Keeps}, Kept) ->
    {[#answer{pid = P, old = old(Keeps, P, Kept), values = words(Items, Mailbox, Reductions)} ||
         {P, Mailbox, Reductions, _, _, _} <- erltrace_words:look(Pids)], 0};
cheap(Pids, #plan{items = Items, keeps = Keeps}, Kept) ->
    Answers = looks(Pids, Items),
    {[#answer{pid = P, old = old(Keeps, P, Kept), values = list_to_tuple(values(Info))} ||
         {P, Info} <- Answers, is_list(Info)],
     silent(Answers)}.

words([], _, _) -> {};
words([message_queue_len], Mailbox, _) -> {Mailbox};
words([reductions], _, Reductions) -> {Reductions};
words([message_queue_len, reductions], Mailbox, Reductions) -> {Mailbox, Reductions}.

looks(Pids, Items) ->
    erltrace_askers:ask(Pids, {erlang, process_info, Items}, ?LOOKS).

silent(Answers) ->
    length([P || {P, silent} <- Answers]).

old(false, _, _) -> undefined;
old(true, _, {_, 1}) -> first;
old(true, Pid, Kept) -> kept(Pid, Kept).

%% What is to be kept of those that are not asked for more, if something is new.
others([#answer{pid = Pid} | As], [Pid | True], Gate, Kept) ->
    others(As, True, Gate, Kept);
others([#answer{old = Old, values = Values} = A | As], True, Gate, Kept) ->
    #plan{reductions = R, mailbox = M} = Gate,
    case Old of
        #kept{reductions = Reds, mailbox = N} when R =:= 0 orelse element(R, Values) =:= Reds,
                                                   M =:= 0 orelse element(M, Values) =:= N ->
            refresh(Old, Kept),
            others(As, True, Gate, Kept);
        #kept{expensive = Expensive} ->
            [to_keep(A, 0, Expensive, Gate, Kept) | others(As, True, Gate, Kept)];
        _ when Gate#plan.sparse, element(M, Values) =:= 0 ->
            others(As, True, Gate, Kept);
        _ ->
            [to_keep(A, 0, [], Gate, Kept) | others(As, True, Gate, Kept)]
    end;
others([], [], _, _) ->
    [].

%% @doc How many processes had to run to answer since it was asked last.
-spec asked() -> non_neg_integer().
asked() ->
    case erase(asked) of
        undefined -> 0;
        N -> N
    end.

%% @doc A table for what is kept: rows of #kept{}, or {other, Object, Pass, Old}.
-spec new_kept() -> ets:tid().
new_kept() ->
    ets:new(erltrace_state, [private, {keypos, 2}]).

%% @doc A pass is over: what is kept of objects that it has not seen is not needed any more. Of
%% processes and sockets it may be kept a little longer.
-spec forget(ets:tid(), kind(), Pass :: pos_integer()) -> ok.
forget(Tab, Kind, Pass) ->
    Since = case Kind of socket -> Pass - ?FRESH; _ -> Pass end,
    Objects = [{{other, '_', '$1', '_'}, [{'<', '$1', Since}], [true]} || Kind =/= process],
    Process = erlang:make_tuple(record_info(size, kept), '_', [{1, kept}, {#kept.pass, '$1'}]),
    Processes = [{Process, [{'<', '$1', Pass - ?FRESH}], [true]} ||
                    Pass rem (2 * ?FRESH) =:= 0],
    _ = Objects ++ Processes =/= [] andalso ets:select_delete(Tab, Objects ++ Processes),
    ok.

values(Info) ->
    [V || {_, V} <- Info].

made(Makers, #answer{pid = Pid} = A) ->
    list_to_tuple([Pid | [Make(A) || Make <- Makers]]).

%% A process that was waiting, and has run no more since, nor got a message, is as it was: all that
%% happens to a process, be it a link or a garbage collection that another one asks for, is a signal
%% that it handles, which takes a reduction at least. Rows of these, and who else is to be asked.
perhaps_same(Rest, #plan{reductions = R, mailbox = M} = Plan, Kept) ->
    Olds = maps:from_list(Rest),
    Answers = looks([P || {P, _} <- Rest], Plan#plan.items),
    As = [#answer{pid = P, old = Old, values = list_to_tuple(values(Info) ++ Old#kept.expensive)} ||
             {P, Info} <- Answers, is_list(Info), Old <- [map_get(P, Olds)]],
    IsSame = fun(#answer{old = #kept{reductions = Reds, mailbox = N}, values = Values}) ->
                     element(R, Values) =:= Reds andalso element(M, Values) =:= N
             end,
    {Same, Changed} = lists:partition(IsSame, As),
    [refresh(Old, Kept) || #answer{old = Old} <- Same],
    {[made(Plan#plan.makers, A) || A <- Same],
     [{P, Old} || #answer{pid = P, old = Old} <- Changed],
     silent(Answers)}.

%% Processes that have to run to answer. One that has answered before is not asked for all again.
ask(Processes, Plan, Kept) ->
    put(
        asked,
        length(Processes) +
            case get(asked) of
                undefined -> 0;
                N -> N
            end
    ),
    {Again, First} = lists:partition(
        fun
            ({_, #kept{expensive = [_ | _]}}) -> true;
            (_) -> false
        end,
        Processes
    ),
    {Rows1, Silent1} = ask(First, Plan#plan.all, Plan, Kept),
    {Rows2, Silent2} = ask(Again, Plan#plan.again, Plan, Kept),
    {Rows1 ++ Rows2, Silent1 + Silent2}.

ask([], _, _, _) ->
    {[], 0};
ask(Processes, Asking, Plan, {Tab, _} = Kept) ->
    Olds = maps:from_list(Processes),
    Answers = erltrace_askers:ask([P || {P, _} <- Processes], {?MODULE, answer, Asking}, ?ASKS),
    Answered = [answered(P, map_get(P, Olds), Answer) || {P, Answer} <- Answers, is_tuple(Answer)],
    % the answer takes a reduction
    Keep = [to_keep(A, 1, Expensive, Plan, Kept) || {A, Expensive} <- Answered],
    true = ets:insert(Tab, Keep),
    Silent = [P || {P, silent} <- Answers],
    As = [A || {A, _} <- Answered] ++ unasked(Silent, Olds, Plan),
    {[made(Plan#plan.makers, A) || A <- As], length(Silent)}.

%% Of processes that do not answer: what the library reads, what they have said before, who they
%% are.
unasked([], _, _) ->
    [];
unasked(Silent, Olds, #plan{items = Items, expensive = Expensive}) ->
    Looks =
        case erltrace_find:is_known(numbers) of
            true -> erltrace_words:look(Silent);
            false -> []
        end,
    [
        #answer{
            pid = P,
            old = Old,
            values = list_to_tuple(
                [unasked(I, Look) || I <- Items] ++ unasked_expensive(Expensive, Old, Look)
            )
        }
     || {P, _, _, _, _, _} = Look <- Looks, Old <- [map_get(P, Olds)]
    ].

unasked_expensive(_, #kept{expensive = [_ | _] = Known}, _) -> Known;
unasked_expensive(Expensive, _, Look) -> [unasked(D, Look) || D <- Expensive].

unasked(message_queue_len, {_, Mailbox, _, _, _, _}) -> Mailbox;
unasked(reductions, {_, _, Reductions, _, _, _}) -> Reductions;
unasked(memory, {_, Mailbox, _, Heap, _, _}) -> erltrace_ranks:memory(bytes, Heap, Mailbox);
unasked(total_heap_size, {_, _, _, Heap, _, _}) -> Heap;
unasked(binary, {_, _, _, _, Words, _}) -> {-1, 8 * Words};
unasked(registered_name, {Pid, _, _, _, _, _}) ->
    case [N || N <- registered(), whereis(N) =:= Pid] of [Name | _] -> Name; [] -> [] end;
unasked(initial_call, _) -> {erlang, apply, 2};
unasked(status, _) -> running;
unasked(current_function, _) -> <<"(does not answer)">>;
unasked(message_queue_data, _) -> on_heap;
unasked({dictionary, _}, _) -> undefined;
unasked(parent, _) -> undefined;
unasked(priority, _) -> <<>>;
unasked(_, _) -> 0.

answered(Pid, Old, {Cheap, New}) ->
    Expensive = case Old of
               #kept{expensive = [_ | _] = Known} ->
                   [case N of known -> K; _ -> N end || {N, K} <- lists:zip(New, Known)];
               _ -> New
           end,
    {#answer{pid = Pid, old = Old, values = list_to_tuple(Cheap ++ Expensive)}, Expensive}.

%% @doc A process's answer, digested: a helper of erltrace_askers asks. What costs as much as the
%% process has on its heap, or has in its dictionary, is not asked of one with a large heap.
-spec answer(pid(), #asking{}) -> {Cheap :: [term()], Expensive :: [term()]} | undefined.
answer(Pid, #asking{modest = []} = Asking) ->
    answer(Pid, Asking#asking.items, Asking, undefined);
answer(Pid, #asking{modest = Modest, items = Items} = Asking) ->
    case process_info(Pid, garbage_collection_info) of
        {_, Gc} ->
            Words = gc(heap_block_size, Gc) + gc(old_heap_block_size, Gc) + gc(mbuf_size, Gc),
            Binaries = {-1, 8 * (gc(bin_vheap_size, Gc) + gc(bin_old_vheap_size, Gc))},
            if Words < ?LARGE -> answer(Pid, Items, Asking, undefined);
               Words < ?HUGE -> answer(Pid, Modest, Asking, Binaries);
               true -> answer(Pid, Modest -- [dictionary], Asking, Binaries)
            end;
        undefined ->
            undefined
    end.

answer(Pid, Items, #asking{cheap = N, expensive = Expensive}, Binaries) ->
    case process_info(Pid, Items) of
        undefined ->
            undefined;
        Info ->
            {Cheap, Rest} = lists:split(N, Info),
            {values(Cheap), digest(Expensive, Rest, Binaries)}
    end.

gc(Key, Gc) ->
    case lists:keyfind(Key, 1, Gc) of
        {_, N} -> N;
        false -> 0
    end.

%% Of what may be long, what members need of it. Several references to one binary are one binary.
%% `known': it was not asked for.
digest([Item | Expensive], [{Item, V} | Answers], Binaries) ->
    [digest(Item, V) | digest(Expensive, Answers, Binaries)];
digest([?INITIAL | Expensive], [{dictionary, Dict} | Answers], Binaries) ->
    [proplists:get_value('$initial_call', Dict) | digest(Expensive, Answers, Binaries)];
digest([binary | Expensive], Answers, Binaries) ->
    [Binaries | digest(Expensive, Answers, Binaries)];
digest([?INITIAL | Expensive], Answers, Binaries) ->
    [known | digest(Expensive, Answers, Binaries)];
digest([], [], _) ->
    [].

digest(binary, Binaries) ->
    {length(Binaries),
     lists:sum([Size || {_, Size} <- lists:usort([{Id, Size} || {Id, Size, _} <- Binaries])])};
digest(Item, List) when Item =:= links; Item =:= monitors; Item =:= monitored_by ->
    length(List);
digest(_, V) ->
    V.

%% `first': nothing has been kept yet of anything.
kept(Pid, {Tab, Pass}) ->
    case ets:lookup(Tab, Pid) of
        [Old] -> Old;
        [] when Pass =< 1 -> first;
        [] -> new
    end.

%% What the plan does not ask for stays unknown. After an answer (Took: reductions) it is as it
%% says; a plan without expensive items has none.
to_keep(#answer{pid = Pid, old = Old, values = Values}, Took, Expensive, Plan, {_, Pass}) ->
    First =
        case Old of
            #kept{first = F} -> F;
            _ -> erlang:monotonic_time(nanosecond)
        end,
    #kept{
        pid = Pid,
        pass = Pass,
        first = First,
        reductions = at(Plan#plan.reductions, Values) + Took,
        mailbox = at(Plan#plan.mailbox, Values),
        memory = at(Plan#plan.memory, Values),
        rests = Took > 0 andalso element(Plan#plan.status, Values) =:= waiting,
        expensive = Expensive
    }.

refresh(#kept{pid = Pid, pass = Written}, {Tab, Pass}) when Pass - Written >= ?FRESH ->
    ets:update_element(Tab, Pid, {#kept.pass, Pass});
refresh(_, _) ->
    true.

at(0, _) -> 0;
at(I, Values) -> element(I, Values).

age(#answer{old = #kept{first = First}}) -> erlang:monotonic_time(nanosecond) - First;
age(_) -> 0.

%% ---- owners
%% --------------------------------------------------------------------------------------

%% Of the owner of something. It is asked as other processes are, so that one that rests is asked
%% once.
owner(Pid, {_, Pass} = Kept) when is_pid(Pid) ->
    case get(owner) of
        {Pid, Pass, Name} -> % one after the other
            Name;
        _ ->
            Name = owner_name(Pid, Kept),
            _ = put(owner, {Pid, Pass, Name}),
            Name
    end;
owner(_, _) ->
    throw(gone).

owner_name(Pid, Kept) ->
    case rows([Pid], name_plan(), Kept) of
        {[{_, Name}], _} -> Name;
        _ -> Pid % of another node, or it does not answer
    end.

name_plan() ->
    case get(name_plan) of
        undefined ->
            Plan = plan(process, [name]),
            _ = put(name_plan, Plan),
            Plan;
        Plan ->
            Plan
    end.

%% ---- the other kinds -------------------------------------------------------------------------

about(wait, Pid, Members, {Tab, Pass} = Kept) ->
    erltrace_waits:new_pass(Pass),
    case erltrace_waits:call(Pid) of
        none ->
            throw(gone);
        Call ->
            Now = erlang:monotonic_time(nanosecond),
            Since = case ets:lookup(Tab, {wait, Pid}) of
                        [{_, _, _, {Old, S}}] ->
                            case erltrace_waits:is_same(Old, Call) of true -> S; false -> Now end;
                        _ ->
                            Now
                    end,
            keep({wait, Pid}, [], all, Kept, fun() -> {Call, Since} end),
            list_to_tuple([Pid | erltrace_waits:members(Members, Pid, Call, Now - Since)])
    end;
about(table, Tab, Members, Kept) ->
    Owner = ets:info(Tab, owner),
    is_pid(Owner) orelse throw(gone),
    Old = last(Tab, Members, [growth, memory_growth], Kept),
    Row = [table(M, Tab, Owner, Old, Kept) || M <- Members],
    keep(Tab, Members, [growth, memory_growth], Kept,
         fun() -> {info_of(Tab, size), info_of(Tab, memory)} end),
    list_to_tuple([Owner | Row]);
about(port, Port, Members, Kept) ->
    Owner = port(connected, Port),
    list_to_tuple([Owner | [port_member(M, Port, Owner, Kept) || M <- Members]]);
about(socket, Socket, Members, Kept) ->
    #{owner := Owner, counters := Counters} = socket:info(Socket),
    Old = last(Socket, Members, [new_received, new_sent], Kept),
    keep(Socket, Members, [new_received, new_sent], Kept,
         fun() -> {maps:get(read_byte, Counters, 0), maps:get(write_byte, Counters, 0)} end),
    list_to_tuple([Owner | [socket_member(M, Socket, Owner, Counters, Old, Kept) || M <- Members]]);
about(scheduler, #{id := Id} = Now, Members, {Tab, _} = Kept) ->
    Old = case ets:lookup(Tab, {scheduler, Id}) of [{_, _, _, O}] -> O; [] -> Now end,
    keep({scheduler, Id}, [], all, Kept, fun() -> Now end),
    list_to_tuple([self() | [erltrace_system:scheduler(M, Now, Old) || M <- Members]]);
about(memory, Object, Members, _) ->
    Sizes = erltrace_system:sizes(Object, Members),
    list_to_tuple([self() | [erltrace_system:memory(M, Object, Sizes) || M <- Members]]);
about(node, Node, Members, _) ->
    list_to_tuple([self() | [erltrace_system:node(M, Node) || M <- Members]]).

%% What was kept of an object; `first' in the first pass.
last(Object, Members, For, {Tab, Pass}) ->
    case is_asked(Members, For) andalso ets:lookup(Tab, Object) of
        [{_, _, _, Old}] -> Old;
        _ when Pass =< 1 -> first;
        _ -> {0, 0}
    end.

keep(Object, Members, For, {Tab, Pass}, Fun) ->
    is_asked(Members, For) andalso ets:insert(Tab, {other, Object, Pass, Fun()}).

is_asked(_, all) -> true;
is_asked(Members, For) -> lists:any(fun(M) -> lists:member(M, For) end, Members).

more(_, _, first) -> 0;
more(Now, Which, Old) -> Now - element(Which, Old).

info_of(Tab, Item) ->
    case ets:info(Tab, Item) of
        undefined -> throw(gone);
        V -> V
    end.

-spec table(table_member(), ets:table(), pid(), term(), {ets:tid(), pos_integer()}) -> term().
table(id, Tab, _, _, _) -> Tab;
table(owner, _, Owner, _, Kept) -> owner(Owner, Kept);
table(growth, Tab, _, Old, _) -> more(info_of(Tab, size), 1, Old);
table(memory_growth, Tab, _, Old, _) -> more(info_of(Tab, memory), 2, Old);
table(named, Tab, _, _, _) -> one(info_of(Tab, named_table));
table(compressed, Tab, _, _, _) -> one(info_of(Tab, compressed));
table(M, Tab, _, _, _) -> info_of(Tab, M). % name, size, memory, type, protection

port(Item, Port) ->
    case erlang:port_info(Port, Item) of
        {_, V} -> V;
        [] -> [];
        undefined -> throw(gone)
    end.

-spec port_member(port_member(), port(), pid(), {ets:tid(), pos_integer()}) -> term().
port_member(id, Port, _, _) -> Port;
port_member(name, Port, _, _) -> unicode:characters_to_binary(port(name, Port));
port_member(owner, _, Owner, Kept) -> owner(Owner, Kept);
port_member(queue, Port, _, _) -> port(queue_size, Port);
port_member(links, Port, _, _) -> length(port(links, Port));
port_member(os_pid, Port, _, _) -> case port(os_pid, Port) of N when is_integer(N) -> N; _ -> 0 end;
port_member(M, Port, _, _) -> port(M, Port). % input, output, memory

%% ---- sockets that are ports ------------------------------------------------------------------

inet_row(Port, #plan{items = Asked, makers = Makers, expensive = Ends}, {Tab, _} = Kept) ->
    {Written, Old} = case ets:lookup(Tab, Port) of
                         [{_, _, _, none}] -> throw(gone); % another driver's
                         [{_, _, W, O}] -> {W, O};
                         [] -> {0, inet(Port, Kept)}
                     end,
    Owner = port(connected, Port),
    {ok, Stats} = case Asked of [] -> {ok, []}; _ -> inet:getstat(Port, Asked) end,
    Inet = case Ends of [] -> Old; [ends] -> Old#inet{ends = ends(Port, Old)} end,
    keep_inet(Port, Stats, Inet, Old, Written, Kept),
    T = {Port, Owner, Inet, Stats, Kept},
    list_to_tuple([Owner | [Make(T) || Make <- Makers]]).

%% What is as it was is written now and then, so that it is not forgotten.
keep_inet(Port, Stats, Inet, Old, Written, {Tab, Pass}) ->
    Inet1 = Inet#inet{moved = {stat(recv_oct, Stats), stat(send_oct, Stats)}},
    (Inet1 =:= Old andalso Pass - Written < ?FRESH) orelse
        ets:insert(Tab, {other, Port, Pass, Inet1}).

%% A port that is seen for the first time.
inet(Port, {Tab, Pass}) ->
    Name = port(name, Port),
    case lists:member(Name, ?INET) of
        true ->
            #inet{driver = list_to_binary(Name),
                  moved = case Pass of 1 -> first; _ -> {0, 0} end};
        false ->
            true = ets:insert(Tab, {other, Port, Pass, none}),
            throw(gone)
    end.

%% Addresses of a connection do not change.
ends(_, #inet{driver = <<"tcp_inet">>, ends = {_, Remote} = Ends}) when Remote =/= <<>> ->
    Ends;
ends(Port, _) ->
    {address(inet:sockname(Port)), address(inet:peername(Port))}.

%% How a member of a port is fetched: the statistics of inet:getstat/2 that it is made of, and what
%% makes it of the tuple {Port, Owner, #inet{}, Stats, Kept}.
-spec inet_member(socket_member()) -> {[inet:stat_option()], fun((tuple()) -> term())}.
inet_member(id) -> {[], fun(T) -> element(1, T) end};
inet_member(driver) -> {[], fun({_, _, #inet{driver = Driver}, _, _}) -> Driver end};
inet_member(owner) -> {[], fun({_, Owner, _, _, Kept}) -> owner(Owner, Kept) end};
inet_member(local) -> {[], fun({_, _, #inet{ends = {Local, _}}, _, _}) -> Local end};
inet_member(remote) -> {[], fun({_, _, #inet{ends = {_, Remote}}, _, _}) -> Remote end};
inet_member(received) -> stat(recv_oct);
inet_member(sent) -> stat(send_oct);
inet_member(packets_received) -> stat(recv_cnt);
inet_member(packets_sent) -> stat(send_cnt);
inet_member(queue) -> stat(send_pend);
inet_member(new_received) -> moved(recv_oct, 1);
inet_member(new_sent) -> moved(send_oct, 2).

stat(Key) ->
    {[Key], fun({_, _, _, Stats, _}) -> stat(Key, Stats) end}.

%% Both are kept, so both are asked for.
moved(Key, Which) ->
    {[recv_oct, send_oct], fun({_, _, #inet{moved = Old}, Stats, _}) ->
        more(stat(Key, Stats), Which, Old)
    end}.

stat(Key, Stats) ->
    case lists:keyfind(Key, 1, Stats) of
        {_, V} -> V;
        false -> 0
    end.

-spec socket_member(socket_member(), socket:socket(), pid(), map(), term(), {
    ets:tid(), pos_integer()
}) -> term().
socket_member(id, {'$socket', Ref}, _, _, _, _) -> Ref;
socket_member(driver, _, _, _, _, _) -> socket;
socket_member(owner, _, Owner, _, _, Kept) -> owner(Owner, Kept);
socket_member(local, S, _, _, _, _) -> address(socket:sockname(S));
socket_member(remote, S, _, _, _, _) -> address(socket:peername(S));
socket_member(received, _, _, C, _, _) -> maps:get(read_byte, C, 0);
socket_member(sent, _, _, C, _, _) -> maps:get(write_byte, C, 0);
socket_member(packets_received, _, _, C, _, _) -> maps:get(read_pkg, C, 0);
socket_member(packets_sent, _, _, C, _, _) -> maps:get(write_pkg, C, 0);
socket_member(new_received, _, _, C, Old, _) -> more(maps:get(read_byte, C, 0), 1, Old);
socket_member(new_sent, _, _, C, Old, _) -> more(maps:get(write_byte, C, 0), 2, Old);
socket_member(queue, _, _, _, _, _) -> 0. % what waits there is in the processes that send

address({ok, {local, Path}}) -> iolist_to_binary(Path);
address({ok, {Ip, Port}}) -> iolist_to_binary([ip(Ip), $:, integer_to_binary(Port)]);
address({ok, #{family := local, path := Path}}) -> iolist_to_binary(Path);
address({ok, #{addr := Ip, port := Port}}) -> address({ok, {Ip, Port}});
address(_) -> <<>>.

ip(Ip) when tuple_size(Ip) =:= 8 -> [$[, inet:ntoa(Ip), $]];
ip(Ip) when is_tuple(Ip) -> inet:ntoa(Ip);
ip(Ip) -> io_lib:format("~0p", [Ip]).
