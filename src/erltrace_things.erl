%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What there is in the node, for the provider state (c_src/state.def): lists of processes, tables,
%% sockets and the like, and what the VM says about one of them. Only what a script reads is asked for:
%% a plan says what, rows/3 asks. A row is a tuple of the process that it is about and the members that
%% were asked for; undefined: the thing has gone, or is none.
%%
%% What some members are compared with, such as the reductions of the last round, is kept in a table of
%% the process that asks, outside of its heap.
-module(erltrace_things).
-export([plan/2, plan/3, compares/1, list/1, gate/4, rows/3, asked/0, new_kept/0, forget/3]).
-export([wants_ranks/1, rank/1, rank/2, ranks/2, set_ranks/1]).
-export([answer/2]). % for erltrace_askers
-export([hide_labels/0, has_labels/0]).
-export([hold/1, release/1]).
-export_type([kind/0, plan/0, thing/0, ranked/0, ranks/0]).

-type kind() :: process | wait | table | port | socket | scheduler | memory | node.
-type thing() :: term().

%% What is kept of a process, a row of the table.
-record(kept, {pid :: pid(),
               pass :: pos_integer(),            % when it was written
               first :: integer(),               % ns: when it was seen for the first time
               reductions :: integer(),
               mailbox :: non_neg_integer(),
               memory :: non_neg_integer(),
               rests :: boolean(),               % it was waiting
               dear :: [term()]}).               % answers

%% What is known of a process: rows are made of it.
-record(answer, {pid :: pid(),
                 old :: #kept{} | first | new | undefined, % what was kept of it
                 values :: tuple()}).            % in the order of the items

%% What a process is asked for, and what of that its answer is made of.
-record(asking, {items :: [term()],              % of process_info/2
                 cheap :: non_neg_integer(),     % so many of them are handed on as they are
                 dear :: [term()],
                 modest :: [term()]}).           % the items for a process with a large heap,
                                                 % []: they are the same
-record(plan, {kind :: kind(),
               members :: [atom()],
               items = [] :: [term()],           % of process_info/2, those that cost little
               dear = [] :: [term()],            % for which a process has to run
               all :: #asking{} | undefined,     % both: what a process is asked for the first time
               again :: #asking{} | undefined,   % and later
               reductions = 0 :: non_neg_integer(), % where the value is in an #answer{}; 0: nowhere
               mailbox = 0 :: non_neg_integer(),
               status = 0 :: non_neg_integer(),
               memory = 0 :: non_neg_integer(),
               makers = [] :: [fun((#answer{}) -> term())] | [fun((tuple()) -> term())],
               keeps = false :: boolean(),       % something until the next round
               sparse = false :: boolean(),      % only of those with messages: a process that is not known has had none
               words = false :: boolean(),       % the library reads the items in the VM
               gate = none :: #plan{} | none}).  % what is asked first, to see who is asked for all
-opaque plan() :: #plan{}.

%% The places of those that have most; the others are last.
-record(ranks, {memory = #{} :: #{pid() => pos_integer()},
                binary = #{} :: #{pid() => pos_integer()},
                last = 1 :: pos_integer()}).
-opaque ranks() :: #ranks{}.
-type most() :: {Least :: non_neg_integer(), N :: non_neg_integer(), [{pos_integer(), pid()}]}.
-opaque ranked() :: {Memory :: most(), Binary :: most()} | none.

%% What is kept of a port that is a socket.
-record(inet, {driver :: binary(),
               ends :: {Local :: binary(), Remote :: binary()} | undefined,
               moved :: {Received :: integer(), Sent :: integer()} | first}).

%% Members for which something is kept of every process.
-define(COMPARED, [age, new_reductions, mailbox_growth, memory_growth]).
%% A row that stays as it is is written again after so many passes, and is forgotten after twice as many.
-define(FRESH, 4).

%% Processes that one helper asks, for what costs little and for all.
-define(LOOKS, 64).
-define(ASKS, 4).
%% Words of a process's heaps from which on it is not asked for its binaries, and its dictionary.
-define(LARGE, 1000000).
-define(HUGE, 32000000).

%% So many processes have a place of their own by what they have.
-define(RANKS, 1000).
%% Words that a message takes, about.
-define(MESSAGE, 10).

-define(INITIAL, {dictionary, '$initial_call'}).
-define(LABEL, {dictionary, '$process_label'}).
-define(INET, ["tcp_inet", "udp_inet", "sctp_inet"]).

%% ---- plans -----------------------------------------------------------------------------------

%% @doc How to find out these members; the second ones are enough to see whether the others are needed.
-spec plan(kind(), Members :: [atom()], First :: [atom()] | none) -> plan().
plan(process, Members, First) when First =/= none ->
    Plan = plan(process, Members),
    Gate = plan(process, First ++ [M || M <- Members, lists:member(M, ?COMPARED),
                                        not lists:member(M, First)]),
    case Plan#plan.dear =/= [] andalso Gate#plan.dear =:= [] of
        true -> Plan#plan{gate = Gate#plan{makers = lists:sublist(Gate#plan.makers, length(First))}};
        false -> Plan
    end;
plan(Kind, Members, _) ->
    plan(Kind, Members).

-spec plan(kind(), Members :: [atom()]) -> plan().
plan(process, Members) ->
    Asked = lists:usort(lists:append([items(M) || M <- Members])),
    {Dear, Cheap} = lists:partition(fun is_dear/1, Asked),
    Items = case Dear of
                [] -> Cheap;
                _ -> lists:usort([message_queue_len, reductions, status | Cheap])
            end,
    #plan{kind = process, members = Members, items = Items, dear = Dear,
          all = asking(Items, first(Dear), Dear), again = asking(Items, again(Dear), Dear),
          reductions = find(reductions, Items), mailbox = find(message_queue_len, Items),
          status = find(status, Items), memory = find(memory, Items ++ Dear),
          makers = [maker(M, Items ++ Dear) || M <- Members],
          words = Items -- [message_queue_len, reductions] =:= [] andalso erltrace_find:is_known(numbers),
          keeps = Dear =/= [] orelse is_asked(Members, ?COMPARED),
          sparse = Dear =:= [] andalso [M || M <- Members, lists:member(M, ?COMPARED)] =:= [mailbox_growth]};
plan(socket, Members) ->
    Stats = lists:usort(lists:append([stats_of(M) || M <- Members])),
    #plan{kind = socket, members = Members, items = Stats, dear = [ends || is_asked(Members, [local, remote])],
          makers = [inet_maker(M) || M <- Members]};
plan(wait, Members) ->
    #plan{kind = wait, members = Members, dear = [plan(process, [function])], words = erltrace_find:is_known(numbers)};
plan(Kind, Members) ->
    #plan{kind = Kind, members = Members}.

asking(Items, Asked, Dear) ->
    Modest = case lists:member(binary, Asked) orelse lists:member(dictionary, Asked) of
                 true -> Items ++ (Asked -- [binary]);
                 false -> []
             end,
    #asking{items = Items ++ Asked, cheap = length(Items), dear = Dear, modest = Modest}.

%% Of process_info/2.
items(pid) -> [];
items(age) -> [];
items(memory_rank) -> [];
items(binary_rank) -> [];
items(name) -> [registered_name, initial_call, ?INITIAL | [?LABEL || has_labels()]];
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
items(within) -> [current_stacktrace];
items(initial) -> [initial_call];
items(offheap) -> [message_queue_data];
items(Same) -> [Same]. % memory, reductions, links, monitors, monitored_by, status, parent, priority

%% The VM reads other items of a process that does not run there and then, in a fraction of a
%% microsecond; for these it sends a signal, and the process has to run to answer.
is_dear({dictionary, _}) -> true;
is_dear(Item) ->
    lists:member(Item, [binary, current_function, current_stacktrace, links, memory, monitored_by, monitors,
                        total_heap_size]).

%% From OTP 27 on a process is asked for single keys of its dictionary; before that for all of it, which
%% is done once, for the function that it began with.
first(Dear) ->
    Single = erltrace_vm:has_sessions(),
    [case D of ?INITIAL when not Single -> dictionary; _ -> D end || D <- Dear].

again(Dear) ->
    case erltrace_vm:has_sessions() of
        true -> Dear;
        false -> Dear -- [?INITIAL]
    end.

%% Functions of an #answer{} to these items.
maker(pid, _) -> fun(#answer{pid = Pid}) -> Pid end;
maker(age, _) -> fun age/1;
maker(memory_rank, _) -> fun(#answer{pid = Pid}) -> place(Pid, fun(#ranks{memory = M}) -> M end) end;
maker(binary_rank, _) -> fun(#answer{pid = Pid}) -> place(Pid, fun(#ranks{binary = B}) -> B end) end;
maker(name, Items) -> name_maker(Items);
maker(registered, Items) ->
    fun_of(registered_name, Items, fun([]) -> <<>>; (Name) -> Name end);
maker(new_reductions, Items) -> growth_maker(reductions, fun(#kept{reductions = N}) -> N end, Items);
maker(mailbox_growth, Items) -> growth_maker(message_queue_len, fun(#kept{mailbox = N}) -> N end, Items);
maker(memory_growth, Items) -> growth_maker(memory, fun(#kept{memory = N}) -> N end, Items);
maker(binaries, Items) -> fun_of(binary, Items, fun({N, _}) -> N end);
maker(binary_bytes, Items) -> fun_of(binary, Items, fun({_, Bytes}) -> Bytes end);
maker(suspended, Items) -> fun_of(status, Items, fun(S) -> one(S =:= suspended) end);
maker(within, Items) -> fun_of(current_stacktrace, Items, fun within/1);
maker(offheap, Items) -> fun_of(message_queue_data, Items, fun(D) -> one(D =:= off_heap) end);
maker(parent, Items) -> fun_of(parent, Items, fun(undefined) -> <<>>; (P) -> P end);
maker(M, Items) ->
    [Item] = items(M),
    value(position(Item, Items)).

within(Stack) ->
    case [{M, F, A} || {M, F, A, _} <- Stack, M =/= erlang, M =/= erts_internal] of
        [MFA | _] -> MFA;
        [] -> <<>>
    end.

fun_of(Item, Items, Fun) ->
    I = position(Item, Items),
    fun(#answer{values = Values}) -> Fun(element(I, Values)) end.

value(I) ->
    fun(#answer{values = Values}) -> element(I, Values) end.

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

%% @doc All things of a kind. One that ends meanwhile has no row.
-spec list(kind()) -> [thing()].
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

%% @doc Does a plan need ranks/2?
-spec wants_ranks(plan()) -> boolean().
wants_ranks(#plan{kind = process, members = Members}) -> is_asked(Members, [memory_rank, binary_rank]);
wants_ranks(_) -> false.

%% @doc Who of all processes has most is seen while they are listed, some at a time: rank/2. Where the library
%% cannot read that, or it is not wanted, all are the first.
-spec rank(Wanted :: boolean()) -> ranked().
rank(true) ->
    case erltrace_find:is_known(numbers) of
        true -> {{0, 0, []}, {0, 0, []}};
        false -> none
    end;
rank(false) ->
    none.

-spec rank([thing()], ranked()) -> ranked().
rank(_, none) ->
    none;
rank(Pids, Ranked) ->
    lists:foldl(fun({P, Mailbox, _, Heap, Bin, _}, {M, B}) ->
                        {add(Heap + ?MESSAGE * Mailbox, P, M), add(Bin, P, B)}
                end, Ranked, erltrace_words:look(lists:delete(self(), Pids))). % it ends with its list

%% @doc Of so many processes.
-spec ranks(non_neg_integer(), ranked()) -> ranks().
ranks(_, none) -> #ranks{};
ranks(N, {Memory, Binary}) -> #ranks{memory = places(Memory), binary = places(Binary), last = max(1, N)}.

%% {The least that counts, how many there are, these}: cut to the first ones each time there are twice as many.
add(Value, _, {Least, _, _} = Most) when Value =< Least ->
    Most;
add(Value, Pid, {_, N, List}) when N >= 2 * ?RANKS ->
    First = lists:sublist(lists:reverse(lists:sort([{Value, Pid} | List])), ?RANKS),
    {Least, _} = lists:last(First),
    {Least, ?RANKS, First};
add(Value, Pid, {Least, N, List}) ->
    {Least, N + 1, [{Value, Pid} | List]}.

places({_, _, List}) ->
    First = lists:sublist(lists:reverse(lists:sort(List)), ?RANKS),
    maps:from_list(lists:zip([P || {_, P} <- First], lists:seq(1, length(First)))).

%% @doc For the rows that this process asks for from now on.
-spec set_ranks(ranks()) -> ok.
set_ranks(Ranks) ->
    _ = put(ranks, Ranks),
    ok.

place(Pid, Which) ->
    #ranks{last = Last} = Ranks = get(ranks),
    maps:get(Pid, Which(Ranks), Last).

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

%% @doc Ask. Kept: the table of what is kept; Pass: how often all things have been gone over, from 1. How
%% many processes did not answer in time?
-spec rows([thing()], plan(), {Kept :: ets:tid(), Pass :: pos_integer()}) ->
          {[tuple()], Silent :: non_neg_integer()}.
rows(Pids, #plan{kind = process, dear = []} = Plan, {Tab, _} = Kept) ->
    {As, Silent} = cheap(Pids, Plan, Kept),
    Plan#plan.keeps andalso ets:insert(Tab, [to_keep(A, 0, [], Plan, Kept) || A <- As]),
    {[made(Plan#plan.makers, A) || A <- As], Silent};
rows(Pids, #plan{kind = process} = Plan, Kept) ->
    {Rest, Ran} = lists:partition(fun({_, Old}) -> is_record(Old, kept) andalso Old#kept.rests end,
                                  [{P, kept(P, Kept)} || P <- Pids]),
    {Same, Changed, Silent} = perhaps_same(Rest, Plan, Kept),
    {Asked, MoreSilent} = ask(Changed ++ Ran, Plan, Kept),
    {Same ++ Asked, Silent + MoreSilent};
rows(Pids, #plan{kind = wait, dear = [Where]} = Plan, Kept) ->
    {Rows, Silent} = rows(may_call(Pids, Plan), Where, Kept),
    {[Row || {Pid, Function} <- Rows, erltrace_waits:may_call(Function), Row <- one_row(Pid, Plan, Kept)], Silent};
rows(Things, Plan, Kept) ->
    {[Row || T <- Things, Row <- one_row(T, Plan, Kept)], 0}.

%% Who waits for the answer to a call has a monitor.
may_call(Pids, #plan{words = true}) -> [P || {P, _, _, _, _, true} <- erltrace_words:look(Pids)];
may_call(Pids, _) -> Pids.

%% Of a thing that is no process.
one_row(Thing, #plan{kind = Kind, members = Members} = Plan, Kept) ->
    try
        case Kind =:= socket andalso is_port(Thing) of
            true -> [inet_row(Thing, Plan, Kept)];
            false -> [about(Kind, Thing, Members, Kept)]
        end
    catch
        throw:gone -> [];
        error:badarg -> [];
        error:{badmatch, {error, _}} -> []
    end.

%% @doc Ask for what predicates read. The function has these computed for rows of that. How many there
%% are of the things, those for which one is true, which are to be asked for all, and how many processes did
%% not answer in time.
-spec gate([thing()], plan(), {Kept :: ets:tid(), Pass :: pos_integer()},
           fun(([tuple()]) -> [pid()] | false)) ->
          {non_neg_integer(), [thing()], Silent :: non_neg_integer()} | false.
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
gate(Things, _, _, _) ->
    {length(Things), Things, 0}.

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
        #kept{dear = Dear} ->
            [to_keep(A, 0, Dear, Gate, Kept) | others(As, True, Gate, Kept)];
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

%% @doc A table for what is kept: rows of #kept{}, or {other, Thing, Pass, Old}.
-spec new_kept() -> ets:tid().
new_kept() ->
    ets:new(erltrace_state, [private, {keypos, 2}]).

%% @doc A pass is over: what is kept of things that it has not seen is not needed any more. Of processes
%% and sockets it may be kept a little longer.
-spec forget(ets:tid(), kind(), Pass :: pos_integer()) -> ok.
forget(Tab, Kind, Pass) ->
    Since = case Kind of socket -> Pass - ?FRESH; _ -> Pass end,
    Things = [{{other, '_', '$1', '_'}, [{'<', '$1', Since}], [true]} || Kind =/= process],
    Process = erlang:make_tuple(record_info(size, kept), '_', [{1, kept}, {#kept.pass, '$1'}]),
    Processes = [{Process, [{'<', '$1', Pass - ?FRESH}], [true]} ||
                    Pass rem (2 * ?FRESH) =:= 0],
    _ = Things ++ Processes =/= [] andalso ets:select_delete(Tab, Things ++ Processes),
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
    As = [#answer{pid = P, old = Old, values = list_to_tuple(values(Info) ++ Old#kept.dear)} ||
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
    put(asked, length(Processes) + case get(asked) of undefined -> 0; N -> N end),
    {Again, First} = lists:partition(fun({_, #kept{dear = [_ | _]}}) -> true; (_) -> false end, Processes),
    {Rows1, Silent1} = ask(First, Plan#plan.all, Plan, Kept),
    {Rows2, Silent2} = ask(Again, Plan#plan.again, Plan, Kept),
    {Rows1 ++ Rows2, Silent1 + Silent2}.

ask([], _, _, _) ->
    {[], 0};
ask(Processes, Asking, Plan, {Tab, _} = Kept) ->
    Olds = maps:from_list(Processes),
    Answers = erltrace_askers:ask([P || {P, _} <- Processes], {?MODULE, answer, Asking}, ?ASKS),
    Answered = [answered(P, map_get(P, Olds), Answer) || {P, Answer} <- Answers, is_tuple(Answer)],
    Keep = [to_keep(A, 1, Dear, Plan, Kept) || {A, Dear} <- Answered], % the answer takes a reduction
    true = ets:insert(Tab, Keep),
    Silent = [P || {P, silent} <- Answers],
    As = [A || {A, _} <- Answered] ++ unasked(Silent, Olds, Plan),
    {[made(Plan#plan.makers, A) || A <- As], length(Silent)}.

%% Of processes that do not answer: what the library reads, what they have said before, who they are.
unasked([], _, _) ->
    [];
unasked(Silent, Olds, #plan{items = Items, dear = Dear}) ->
    Looks = case erltrace_find:is_known(numbers) of true -> erltrace_words:look(Silent); false -> [] end,
    [#answer{pid = P, old = Old,
             values = list_to_tuple([unasked(I, Look) || I <- Items] ++ unasked_dear(Dear, Old, Look))} ||
        {P, _, _, _, _, _} = Look <- Looks, Old <- [map_get(P, Olds)]].

unasked_dear(_, #kept{dear = [_ | _] = Known}, _) -> Known;
unasked_dear(Dear, _, Look) -> [unasked(D, Look) || D <- Dear].

unasked(message_queue_len, {_, Mailbox, _, _, _, _}) -> Mailbox;
unasked(reductions, {_, _, Reductions, _, _, _}) -> Reductions;
unasked(memory, {_, Mailbox, _, Heap, _, _}) -> 8 * (Heap + ?MESSAGE * Mailbox);
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
    Dear = case Old of
               #kept{dear = [_ | _] = Known} ->
                   [case N of known -> K; _ -> N end || {N, K} <- lists:zip(New, Known)];
               _ -> New
           end,
    {#answer{pid = Pid, old = Old, values = list_to_tuple(Cheap ++ Dear)}, Dear}.

%% @doc A process's answer, digested: a helper of erltrace_askers asks. What costs as much as the process has
%% on its heap, or has in its dictionary, is not asked of one with a large heap.
-spec answer(pid(), #asking{}) -> {Cheap :: [term()], Dear :: [term()]} | undefined.
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

answer(Pid, Items, #asking{cheap = N, dear = Dear}, Binaries) ->
    case process_info(Pid, Items) of
        undefined ->
            undefined;
        Info ->
            {Cheap, Rest} = lists:split(N, Info),
            {values(Cheap), digest(Dear, Rest, Binaries)}
    end.

gc(Key, Gc) ->
    case lists:keyfind(Key, 1, Gc) of
        {_, N} -> N;
        false -> 0
    end.

%% Of what may be long, what members need of it. Several references to one binary are one binary. `known':
%% it was not asked for.
digest([Item | Dear], [{Item, V} | Answers], Binaries) ->
    [digest(Item, V) | digest(Dear, Answers, Binaries)];
digest([?INITIAL | Dear], [{dictionary, Dict} | Answers], Binaries) ->
    [proplists:get_value('$initial_call', Dict) | digest(Dear, Answers, Binaries)];
digest([binary | Dear], Answers, Binaries) ->
    [Binaries | digest(Dear, Answers, Binaries)];
digest([?INITIAL | Dear], Answers, Binaries) ->
    [known | digest(Dear, Answers, Binaries)];
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

%% What the plan does not ask for stays unknown. After an answer (Took: reductions) it is as it says; a
%% plan without dear items has none.
to_keep(#answer{pid = Pid, old = Old, values = Values}, Took, Dear, Plan, {_, Pass}) ->
    First = case Old of
                #kept{first = F} -> F;
                _ -> erlang:monotonic_time(nanosecond)
            end,
    #kept{pid = Pid, pass = Pass, first = First,
          reductions = at(Plan#plan.reductions, Values) + Took,
          mailbox = at(Plan#plan.mailbox, Values), memory = at(Plan#plan.memory, Values),
          rests = Took > 0 andalso element(Plan#plan.status, Values) =:= waiting, dear = Dear}.

refresh(#kept{pid = Pid, pass = Written}, {Tab, Pass}) when Pass - Written >= ?FRESH ->
    ets:update_element(Tab, Pid, {#kept.pass, Pass});
refresh(_, _) ->
    true.

at(0, _) -> 0;
at(I, Values) -> element(I, Values).

age(#answer{old = #kept{first = First}}) -> erlang:monotonic_time(nanosecond) - First;
age(_) -> 0.

%% In the first round nothing is new; afterwards, all of what a new process has.
growth_maker(Item, Which, Items) ->
    I = position(Item, Items),
    fun(#answer{old = first}) -> 0;
       (#answer{old = new, values = Values}) -> element(I, Values);
       (#answer{old = Old, values = Values}) -> element(I, Values) - Which(Old)
    end.

%% ---- what processes are called ---------------------------------------------------------------

%% As erlproc: registered name, label, the function that it began with, else its pid.
name_maker(Items) ->
    R = position(registered_name, Items),
    I = position(initial_call, Items),
    C = position(?INITIAL, Items),
    L = find(?LABEL, Items),
    fun(#answer{pid = Pid, values = Values}) ->
            called(Pid, element(R, Values), label(L, Values), element(C, Values), element(I, Values))
    end.

%% @doc This process is to show no labels (payload=off).
-spec hide_labels() -> ok.
hide_labels() ->
    _ = put(no_labels, true),
    ok.

-spec has_labels() -> boolean().
has_labels() ->
    erltrace_vm:has_sessions() andalso get(no_labels) =/= true. % OTP 27 and later

label(0, _) -> undefined;
label(I, Values) -> element(I, Values).

called(_, Name, _, _, _) when is_atom(Name) -> Name;
called(Pid, [], undefined, Call, Initial) -> call(Call, Initial, Pid);
called(_, [], Label, _, _) -> {label, Label}.

call({M, F, A}, _, _) when is_atom(M), is_atom(F), is_integer(A) -> {M, F, A};
call({M, F, A}, _, _) when is_atom(M), is_atom(F), is_list(A) -> {M, F, length(A)};
call(undefined, {proc_lib, init_p, _} = Initial, Pid) -> % it hides its dictionary
    case is_own(Pid) of
        true -> <<"(erltrace)">>;
        false -> Initial
    end;
call(_, {erlang, apply, 2}, Pid) -> Pid;
call(_, Initial, _) -> Initial.

%% Processes of erltrace are sensitive, but so may others be. Those of erltrace are linked with each other, or
%% monitor each other; this one, which asks, is one of them.
is_own(Pid) ->
    case get(own) of
        #{Pid := Is} -> Is;
        _ ->
            Own = own([self()], #{}),
            put(own, Own#{Pid => map_get(Pid, maps:merge(#{Pid => false}, Own))}),
            is_own(Pid)
    end.

own([P | Rest], Own) when is_map_key(P, Own) -> own(Rest, Own);
own([P | Rest], Own) ->
    case P =:= self() orelse is_like_own(P) of
        true -> own(related(P) ++ Rest, Own#{P => true});
        false -> own(Rest, Own#{P => false})
    end;
own([], Own) -> Own.

is_like_own(P) ->
    case process_info(P, [registered_name, initial_call]) of
        [{_, Name}, _] when is_atom(Name) -> lists:prefix("erltrace", atom_to_list(Name));
        [_, {_, {proc_lib, init_p, _}}] ->
            case process_info(P, hd(first([?INITIAL]))) of
                {dictionary, []} -> true;
                {_, undefined} -> true;
                _ -> false
            end;
        _ -> false
    end.

related(P) ->
    case process_info(P, [links, monitors, monitored_by]) of
        [{_, Links}, {_, Monitors}, {_, By}] ->
            [Q || Q <- Links ++ [Q || {process, Q} <- Monitors] ++ By, is_pid(Q), node(Q) =:= node()];
        undefined -> []
    end.

%% Of the owner of something. It is asked as other processes are, so that one that rests is asked once.
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
about(memory, Thing, Members, _) ->
    Sizes = erltrace_system:sizes(Thing, Members),
    list_to_tuple([self() | [erltrace_system:memory(M, Thing, Sizes) || M <- Members]]);
about(node, Node, Members, _) ->
    list_to_tuple([self() | [erltrace_system:node(M, Node) || M <- Members]]).

%% What was kept of a thing; `first' in the first pass.
last(Thing, Members, For, {Tab, Pass}) ->
    case is_asked(Members, For) andalso ets:lookup(Tab, Thing) of
        [{_, _, _, Old}] -> Old;
        _ when Pass =< 1 -> first;
        _ -> {0, 0}
    end.

keep(Thing, Members, For, {Tab, Pass}, Fun) ->
    is_asked(Members, For) andalso ets:insert(Tab, {other, Thing, Pass, Fun()}).

is_asked(_, all) -> true;
is_asked(Members, For) -> lists:any(fun(M) -> lists:member(M, For) end, Members).

more(_, _, first) -> 0;
more(Now, Which, Old) -> Now - element(Which, Old).

info_of(Tab, Item) ->
    case ets:info(Tab, Item) of
        undefined -> throw(gone);
        V -> V
    end.

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

port_member(id, Port, _, _) -> Port;
port_member(name, Port, _, _) -> unicode:characters_to_binary(port(name, Port));
port_member(owner, _, Owner, Kept) -> owner(Owner, Kept);
port_member(queue, Port, _, _) -> port(queue_size, Port);
port_member(links, Port, _, _) -> length(port(links, Port));
port_member(os_pid, Port, _, _) -> case port(os_pid, Port) of N when is_integer(N) -> N; _ -> 0 end;
port_member(M, Port, _, _) -> port(M, Port). % input, output, memory

%% ---- sockets that are ports ------------------------------------------------------------------

inet_row(Port, #plan{items = Asked, makers = Makers, dear = Ends}, {Tab, _} = Kept) ->
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

%% One question for all of them.
stats_of(received) -> [recv_oct];
stats_of(sent) -> [send_oct];
stats_of(packets_received) -> [recv_cnt];
stats_of(packets_sent) -> [send_cnt];
stats_of(new_received) -> [recv_oct, send_oct];
stats_of(new_sent) -> [recv_oct, send_oct];
stats_of(queue) -> [send_pend];
stats_of(_) -> [].

stat(Key, Stats) ->
    case lists:keyfind(Key, 1, Stats) of
        {_, V} -> V;
        false -> 0
    end.

%% Of the tuple {Port, Owner, #inet{}, Stats, Kept}.
inet_maker(id) -> fun(T) -> element(1, T) end;
inet_maker(driver) -> fun({_, _, #inet{driver = Driver}, _, _}) -> Driver end;
inet_maker(owner) -> fun({_, Owner, _, _, Kept}) -> owner(Owner, Kept) end;
inet_maker(local) -> fun({_, _, #inet{ends = {Local, _}}, _, _}) -> Local end;
inet_maker(remote) -> fun({_, _, #inet{ends = {_, Remote}}, _, _}) -> Remote end;
inet_maker(new_received) ->
    fun({_, _, #inet{moved = Old}, Stats, _}) -> more(stat(recv_oct, Stats), 1, Old) end;
inet_maker(new_sent) ->
    fun({_, _, #inet{moved = Old}, Stats, _}) -> more(stat(send_oct, Stats), 2, Old) end;
inet_maker(M) -> [Key] = stats_of(M), fun({_, _, _, Stats, _}) -> stat(Key, Stats) end.

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
