%% SPDX-License-Identifier: Apache-2.0
%% A workload that knows how often each of its functions is entered and how each call ends. Programs
%% of calls, made from a seed, run in many processes at once, through everything that may happen to a
%% call: exceptions, collections, hibernation, kills, code that is replaced. A model that knows the
%% programs and not the VM says what is to be counted.
%%
%% The armed functions are those of calls_mix_code. A mix has several kinds of processes:
%%
%%   worker     runs its program again and again; it catches what the program raises
%%   dying      the same, each time in a process of its own that catches nothing
%%   victim     is killed, or has an exit signal, or exceeds max_heap_size, inside of its calls
%%   sensitive  a worker whose calls are not told
%%   foreign    a worker that another tool traces
%%   parked     waits inside of its calls while the module is loaded again, and goes on in old code
%%   purged     waits likewise, and is killed by the purge of the old code
%%
%% Counts are maps of {What, Function}: e a call, t a tail call, r a return, x an end by exception, k one
%% with its process, which is killed, l one by a tail call, o never ended, as the process has hibernated
%% inside of it. For each function e + t = r + x + k + l + o; over all functions t = l, so that
%% e = r + x + k + o.
-module(calls_mix).
-export([plan/2, kinds/0, model/1, expected/2, told/2, total/2, sum/1]).
-export([script/0, script/1, counts/1, run/2, foreign/1, tool/2, tools/0, quiet/0]).
-export([load/3, count_loads/0, loads/0]).
-export([ops/1, finish/1, resume/1, id/1, term/1, hop/1]). % what the programs run
-export_type([plan/0, counts/0]).

-type what() :: e | t | r | x | k | l | o.
-type counts() :: #{{what(), atom()} => pos_integer()}.
-type op() :: term(). % a call is {Function, [op()], End}
-type kind() :: worker | dying | victim | sensitive | foreign | parked | purged.
-type plan() :: [{kind(), [op()]}].

-define(CODE, calls_mix_code).

%% ---- what the programs run -----------------------------------------------------------------------

-spec id(T) -> T.
id(X) -> X.

-spec term(non_neg_integer()) -> list().
term(0) -> [];
term(N) -> [N | term(N - 1)].

-spec hop(non_neg_integer()) -> ok.
hop(N) -> ?CODE:hop(N).

-spec ops([op()]) -> ok.
ops([]) -> ok;
ops([Op | Rest]) ->
    ok = op(Op),
    ops(Rest).

op({call, How, Call}) -> call(How, Call);
op({caught, Ops}) -> try ops(Ops) catch _:_ -> ok end;
op({old_catch, Ops}) -> _ = id(catch ops(Ops)), ok;
op({handler, Ops, Then}) -> try ops(Ops) catch _:_ -> ops(Then) end;
op({rethrown, Ops}) -> try ops(Ops) catch C:R:S -> erlang:raise(C, R, S) end;
op({'after', Ops, Then}) -> try ops(Ops) after ops(Then) end;
op({below, 0, Ops}) -> ops(Ops);
op({below, N, Ops}) -> ok = id(op({below, N - 1, Ops}));
op({deep, N, Size, Ops}) -> ?CODE:deep(N, Size, Ops);
op({loop, N}) -> ?CODE:loop(N);
op({ping, N}) -> ?CODE:ping(N);
op({hop, N}) -> ok = id(?CODE:hop(N));
op({fib, N}) -> _ = ?CODE:fib(N), ok;
op({raise, Kind}) -> ?CODE:raise(Kind);
op({fail, Kind}) -> finish({raise, Kind});
op(leaf) -> ?CODE:leaf(1);
op({bif, Data}) -> _ = erlang:adler32(Data), ok;
op(trap) -> _ = erlang:adler32(persistent_term:get({?MODULE, big})), ok;
op(dirty) -> {error, _} = prim_file:read_link("/"), ok;
op(term) ->
    T = binary_to_term(term_to_binary(lists:seq(1, 2000))),
    2000 = length(lists:reverse(T, [])),
    ok;
op(gc) -> erlang:garbage_collect(), ok;
op(minor) -> erlang:garbage_collect(self(), [{type, minor}]), ok;
op(heap) -> 1 = hd(lists:sort(lists:seq(1, 300))), ok;
op(yield) -> erlang:yield(), ok;
op(park) -> get(?MODULE) ! {parked, self()}, receive go -> ok end;
op(stop) -> get(?MODULE) ! {stopped, self()}, receive never -> ok end;
op(bomb) ->
    _ = process_flag(max_heap_size, #{size => 100000, kill => true, error_logger => false}),
    get(?MODULE) ! {bomb, self()},
    _ = id(term(10000000)), % it does not get that far
    receive never -> ok end.

call(remote, {a, _, _} = Call) -> ok = ?CODE:a(Call);
call(remote, {b, _, _} = Call) -> ok = ?CODE:b(Call);
call(remote, {F, _, _} = Call) -> ok = ?CODE:F(Call);
call(apply, {F, _, _} = Call) -> ok = apply(?CODE, F, id([Call]));
call('fun', {F, _, _} = Call) ->
    Fun = fun ?CODE:F/1,
    ok = Fun(Call).

%% How a call ends, in a tail call of its function.
-spec finish(term()) -> ok.
finish(return) -> ok;
finish({unarmed, {F, _, _} = Call}) -> ?CODE:F(Call);
finish({raise, throw}) -> throw(calls_mix);
finish({raise, error}) -> error(calls_mix);
finish({raise, exit}) -> exit(calls_mix);
finish({raise, badmatch}) -> never = id(calls_mix);
finish({raise, badarg}) -> list_to_atom(id(calls_mix));
finish({hibernate, Rest}) ->
    self() ! awake,
    erlang:hibernate(?MODULE, resume, [Rest]).

%% All that was on the stack is gone: a worker goes on with its next round.
-spec resume([op()]) -> ok.
resume(Rest) ->
    receive awake -> ok end,
    try ops(Rest) catch _:_ -> ok end,
    case get(left) of
        undefined -> ok;
        {Program, N} -> worker(Program, N)
    end.

worker(_, 0) -> ok;
worker(Program, N) ->
    put(left, {Program, N - 1}),
    try ops(Program) catch _:_ -> ok end,
    worker(Program, N - 1).

%% ---- the model --------------------------------------------------------------------------------

%% What the calls of a program count to, and how it ends: ok, raised, killed, or gone where
%% hibernation has taken its stack away.
-spec model([op()]) -> {ok | raised | killed | gone, counts()}.
model(Program) -> model(Program, #{}).

model([], C) -> {ok, C};
model([Op | Rest], C) ->
    case model_op(Op, C) of
        {ok, C1} -> model(Rest, C1);
        Other -> Other
    end.

model_op({call, _, Call}, C) -> model_call(e, Call, C);
model_op({Caught, Ops}, C) when Caught =:= caught; Caught =:= old_catch -> caught(model(Ops, C));
model_op({handler, Ops, Then}, C) ->
    case model(Ops, C) of
        {raised, C1} -> model(Then, C1);
        Other -> Other
    end;
model_op({rethrown, Ops}, C) -> model(Ops, C);
model_op({'after', Ops, Then}, C) -> finally(model(Ops, C), fun(C1) -> model(Then, C1) end);
model_op({below, _, Ops}, C) -> model(Ops, C);
model_op({deep, N, _, Ops}, C) ->
    {End, C1} = model(Ops, add(e, deep, N + 1, C)),
    {End, add(ended(End), deep, N + 1, C1)};
model_op({loop, N}, C) -> {ok, tails([{loop, N + 1}], loop, N, C)};
model_op({hop, N}, C) -> {ok, tails([{hop, N + 1}], hop, N, C)};
model_op({ping, N}, C) ->
    Last = case N rem 2 of 0 -> ping; 1 -> pong end,
    {ok, tails([{ping, N div 2 + 1}, {pong, (N + 1) div 2}], {ping, Last}, N, C)};
model_op({fib, N}, C) ->
    Calls = fib_calls(N),
    {ok, add(r, fib, Calls, add(e, fib, Calls, C))};
model_op({raise, _}, C) -> {raised, add(x, raise, 1, add(e, raise, 1, C))};
model_op({fail, _}, C) -> {raised, C};
model_op(leaf, C) -> {ok, leaf(C)};
model_op({bif, Data}, C) ->
    case is_binary(Data) of
        true -> {ok, bif(r, adler32, C)};
        false -> {raised, bif(x, adler32, C)}
    end;
model_op(trap, C) -> {ok, bif(r, adler32, C)};
model_op(dirty, C) -> {ok, bif(r, read_link_nif, C)};
model_op(Op, C) when Op =:= stop; Op =:= bomb -> {killed, C};
model_op(_, C) -> {ok, C}.

caught({raised, C}) -> {ok, C};
caught(Other) -> Other.

%% After what was ok or raised something is done; if that is ok, it goes on as it was.
finally({How, C}, _) when How =:= gone; How =:= killed -> {How, C};
finally({How, C}, Then) ->
    case Then(C) of
        {ok, C1} -> {How, C1};
        Other -> Other
    end.

%% The call of a chain whose function F is the last until it calls another in the end.
model_call(Kind, {F, Ops, End}, C) ->
    case {body(F, model(Ops, add(Kind, F, 1, C))), End} of
        {{ok, C1}, return} -> {ok, add(r, F, 1, C1)};
        {{ok, C1}, {raise, _}} -> {raised, add(x, F, 1, C1)};
        {{ok, C1}, {tail, _, Call}} -> model_call(t, Call, add(l, F, 1, C1));
        {{ok, C1}, {unarmed, Call}} -> model_call(t, Call, add(l, F, 1, C1));
        {{ok, C1}, {hibernate, Rest}} ->
            {_, C2} = model(Rest, add(o, F, 1, C1)),
            {gone, C2};
        {{How, C1}, _} -> {How, add(ended(How), F, 1, C1)}
    end.

body(own, Result) -> caught(Result);
body(aft, Result) -> finally(Result, fun(C) -> {ok, leaf(C)} end);
body(_, Result) -> Result.

ended(ok) -> r;
ended(raised) -> x;
ended(killed) -> k;
ended(gone) -> o.

leaf(C) -> add(r, leaf, 1, add(e, leaf, 1, C)).
bif(End, F, C) -> add(End, F, 1, add(e, F, 1, C)).

%% Functions that call each other in the end, each so many times in all, N of them in tail calls.
tails(Entries, {First, Last}, _, C) ->
    C1 = lists:foldl(fun({F, K}, Acc) ->
                             E = case F of First -> 1; _ -> 0 end,
                             R = case F of Last -> 1; _ -> 0 end,
                             add(l, F, K - R, add(t, F, K - E, Acc))
                     end, C, Entries),
    add(r, Last, 1, add(e, First, 1, C1));
tails(Entries, F, N, C) -> tails(Entries, {F, F}, N, C).

fib_calls(N) when N < 2 -> 1;
fib_calls(N) -> 1 + fib_calls(N - 1) + fib_calls(N - 2).

add(_, _, 0, C) -> C;
add(What, F, N, C) -> maps:update_with({What, F}, fun(K) -> K + N end, N, C).

%% ---- programs from a seed ---------------------------------------------------------------------

-spec kinds() -> [kind()].
kinds() -> [worker, dying, victim, sensitive, foreign, parked, purged].

%% So many processes of each kind.
-spec plan(Seed :: integer(), #{kind() => non_neg_integer()}) -> plan().
plan(Seed, Sizes) ->
    {module, ?CODE} = code:ensure_loaded(?CODE),
    lists:append([[{Kind, P} || P <- programs(Seed, Kind, maps:get(Kind, Sizes, 0))] || Kind <- kinds()]).

programs(Seed, Kind, N) ->
    rand:seed(exsss, {Seed, erlang:phash2(Kind), 17}),
    [program(Kind) || _ <- lists:seq(1, N)].

program(dying) -> ops_of(6, all);
program(victim) -> [{caught, ops_of(4, still)} | path(4, pick([stop, stop, bomb]))];
program(Kind) when Kind =:= parked; Kind =:= purged ->
    Last = case Kind of parked -> park; purged -> stop end,
    [{caught, ops_of(3, old)} | path(5, Last)];
program(foreign) -> [{caught, ops_of(Size, still)} || Size <- [4, 6, 8]] ++ many(8);
program(_) -> [{caught, ops_of(Size, all)} || Size <- [4, 6, 8, 9]] ++ many(14).

%% Calls without number: most of them are here.
many(Fib) ->
    [{fib, Fib + rand:uniform(4)}, {loop, rand:uniform(100 * Fib)}, {ping, rand:uniform(100)},
     {hop, rand:uniform(100)}, {deep, rand:uniform(200), rand:uniform(20), [leaf, minor]},
     {caught, [{deep, rand:uniform(50), 2, [{raise, kind()}]}]}].

%% Down to where it stays, with things done on the way. What is raised before is caught; that which
%% waits is in calls that have no tail calls within the module.
path(0, Last) -> [{call, how(), {fn(), [Last], return}}];
path(N, Last) ->
    Rest = path(N - 1, Last),
    [pick([{call, how(), {fn(), [{caught, ops_of(2, old)} | Rest], pick([return, return, {raise, throw}])}},
           {caught, Rest}, {'after', Rest, [leaf]}, {below, rand:uniform(4), Rest},
           {deep, rand:uniform(20), rand:uniform(10), Rest}])].

%% Of what a program is made: all there is; still, without hibernation; old, without tail calls
%% within the module too, as these are not armed in old code.
ops_of(Size, What) -> [op_of(Size - 1, What) || _ <- lists:seq(1, rand:uniform(3))].

op_of(Size, _) when Size =< 0 ->
    pick([gc, minor, heap, yield, heap, yield, leaf, term, trap, dirty, {bif, <<"mix">>}]);
op_of(Size, What) ->
    case rand:uniform(16) of
        N when N =< 5 -> {call, how(), call_of(Size, What)};
        6 -> {caught, ops_of(Size, What)};
        7 -> {old_catch, ops_of(Size, What)};
        8 -> {handler, ops_of(Size, What), ops_of(Size - 3, What)};
        9 -> {rethrown, ops_of(Size, What)};
        10 -> {'after', ops_of(Size, What), ops_of(Size - 3, What)};
        11 -> {below, rand:uniform(6), ops_of(Size, What)};
        12 -> {deep, rand:uniform(30), rand:uniform(30), ops_of(Size - 2, What)};
        13 -> {pick([loop, ping, hop]), rand:uniform(20) - 1};
        14 -> pick([{raise, kind()}, {raise, kind()}, {fail, end_kind()}, {caught, [{bif, mix}]}]);
        _ -> op_of(0, What)
    end.

call_of(Size, What) ->
    Ops = case Size =< 0 of true -> []; false -> ops_of(Size, What) end,
    {fn(), Ops, end_of(Size, What)}.

end_of(Size, What) ->
    case rand:uniform(100) of
        N when N =< 58 -> return;
        N when N =< 76, Size > 0 ->
            Call = call_of(Size - 1, What),
            case rand:uniform(4) of
                1 -> {unarmed, Call};
                2 when What =/= old -> {tail, local, Call};
                3 when What =/= old -> {tail, local, Call};
                _ -> {tail, remote, Call}
            end;
        N when N =< 96 -> {raise, end_kind()};
        N when N >= 99, Size > 0, What =:= all -> {hibernate, ops_of(Size - 1, What)};
        _ -> return
    end.

how() -> pick([remote, remote, apply, 'fun']).
fn() -> pick([a, b, c, own, again, other, aft]).
end_kind() -> pick([throw, error, exit, badmatch, badarg]).
kind() -> pick([throw, error, exit, badmatch, function_clause, badarg]).
pick(List) -> lists:nth(rand:uniform(length(List)), List).

%% ---- what is to be counted --------------------------------------------------------------------

%% Rounds of a worker; those that take a process each time are fewer, those that wait are one.
times(Kind, _) when Kind =:= parked; Kind =:= purged -> 1;
times(Kind, Rounds) when Kind =:= dying; Kind =:= victim -> max(1, Rounds div 10);
times(_, Rounds) -> Rounds.

%% Of the kinds of processes that are seen.
-spec expected(plan(), #{rounds := pos_integer(), seen := [kind()]}) -> counts().
expected(Plan, #{rounds := Rounds, seen := Seen}) ->
    sum([maps:map(fun(_, N) -> N * times(Kind, Rounds) end, element(2, model(P)))
         || {Kind, P} <- Plan, lists:member(Kind, Seen)]).

%% The events of that: that a call is open, or was left by a tail call, is none. For the VM a kill is an
%% exception that nobody can catch, which may be told or not.
-spec told(counts(), KillsAre :: told | untold) -> counts().
told(Counts, KillsAre) ->
    sum([case What of
             k when KillsAre =:= told -> #{{x, F} => N};
             _ when What =:= e; What =:= t; What =:= r; What =:= x -> #{{What, F} => N};
             _ -> #{}
         end || {{What, F}, N} <- maps:to_list(Counts)]).

%% The sum of these, over all functions.
-spec total([what()], counts()) -> non_neg_integer().
total(Whats, Counts) ->
    lists:sum([N || {{What, _}, N} <- maps:to_list(Counts), lists:member(What, Whats)]).

-spec sum([counts()]) -> counts().
sum(All) ->
    lists:foldl(fun(C, Acc) ->
                        maps:fold(fun(K, N, A) -> maps:update_with(K, fun(V) -> V + N end, N, A) end, Acc, C)
                end, #{}, All).

%% A script that counts all of it; or without exceptions, for which a tracer needs patterns of its own.
-spec script() -> string().
script() ->
    script(plain) ++
        "erlang*:calls_mix_code::function-exception, erlang*:erlang:adler32/1:function-exception,"
        "erlang*:prim_file:read_link_nif/1:function-exception { @[\"x\", probefunc] = count(); }".

-spec script(plain) -> string().
script(plain) ->
    "erlang*:calls_mix_code::function-entry { @[arg3 ? \"t\" : \"e\", probefunc] = count(); }"
    "erlang*:erlang:adler32/1:bif-entry, erlang*:prim_file:read_link_nif/1:nif-entry"
    "{ @[\"e\", probefunc] = count(); }"
    "erlang*:calls_mix_code::function-return, erlang*:erlang:adler32/1:bif-return,"
    "erlang*:prim_file:read_link_nif/1:nif-return { @[\"r\", probefunc] = count(); }".

%% What such a script has counted.
-spec counts(erltrace:handle()) -> counts().
counts(H) ->
    {ok, Aggs} = erltrace:aggregations(H),
    sum([#{{binary_to_atom(What), binary_to_atom(hd(binary:split(F, <<"/">>)))} => N}
         || {<<"_">>, count, [What, F], N} <- Aggs]).

%% ---- running ----------------------------------------------------------------------------------

%% All processes of a plan at once, until all have ended. foreign: processes of foreign/1, which wait;
%% rearm: called when the module has been loaded again, which is so where processes wait for that, so
%% that what follows is seen; beside: whether other modules are loaded and processes are looked into
%% all the while.
-spec run(plan(), #{rounds := pos_integer(), rearm := fun(() -> term()), foreign => [pid()],
                    beside => boolean()}) -> ok.
run(Plan, #{rounds := Rounds, rearm := Rearm} = Options) ->
    persistent_term:put({?MODULE, big}, lists:duplicate(20, binary:copy(<<"mix">>, 3000))),
    Of = fun(Kind) -> [P || {K, P} <- Plan, K =:= Kind] end,
    Parked = [start(parked, P, 1) || P <- Of(parked)],
    Purged = [start(purged, P, 1) || P <- Of(purged)],
    [receive {parked, P} -> ok; {'DOWN', M, _, _, Why} -> exit(Why) end || {P, M} <- Parked],
    [receive {stopped, P} -> ok; {'DOWN', M, _, _, Why} -> exit(Why) end || {P, M} <- Purged],
    [begin reload(), Rearm() end || Parked ++ Purged =/= []],
    Foreign = [{P, monitor(process, P)} || P <- maps:get(foreign, Options, [])],
    [P ! {go, Rounds} || {P, _} <- Foreign],
    Runners = [start(Kind, P, times(Kind, Rounds))
               || {Kind, P} <- Plan, lists:member(Kind, [worker, dying, victim, sensitive])],
    Beside = [spawn_monitor(fun() -> F([P || {P, _} <- Runners ++ Parked]) end)
              || maps:get(beside, Options, true), F <- [fun load/1, fun look_into/1]],
    ended(normal, Runners ++ Foreign),
    [P ! go || {P, _} <- Parked],
    ended(normal, Parked),
    [P ! stop || {P, _} <- Beside],
    ended(normal, Beside),
    _ = code:purge(?CODE),
    ended(killed, Purged).

ended(How, Ps) ->
    [receive {'DOWN', M, process, P, How} -> ok;
             {'DOWN', M, process, P, Why} -> exit({P, Why}) end || {P, M} <- Ps],
    ok.

%% The code that was current is old then: nothing of it may be older.
reload() ->
    {?CODE, Code, File} = code:get_object_code(?CODE),
    true = code:soft_purge(?CODE),
    load(?CODE, File, Code).

%% What has been loaded since count_loads/0, and how often.
-spec count_loads() -> ok.
count_loads() -> persistent_term:put({?MODULE, loads}, ets:new(?MODULE, [public])).

-spec loads() -> [{module(), pos_integer(), file:filename(), Code :: binary()}].
loads() -> lists:sort(ets:tab2list(persistent_term:get({?MODULE, loads}))).

-spec load(module(), file:filename(), Code :: binary()) -> ok.
load(Module, File, Code) ->
    {module, Module} = code:load_binary(Module, File, Code),
    case persistent_term:get({?MODULE, loads}, none) of
        none -> ok;
        Table -> _ = ets:update_counter(Table, Module, 1, {Module, 0, File, Code}), ok
    end.

start(Kind, Program, Times) ->
    Me = self(),
    spawn_opt(fun() ->
                      put(?MODULE, Me),
                      by_kind(Kind, Program, Times)
              end, [monitor | heap(Program)]).

%% Small heaps, so that they grow; many full collections, or few.
heap(Program) ->
    lists:nth(1 + erlang:phash2(Program, 3),
              [[{min_heap_size, 10}, {fullsweep_after, 0}],
               [{min_heap_size, 10}, {fullsweep_after, 3}],
               [{message_queue_data, off_heap}]]).

by_kind(worker, Program, Times) -> worker(Program, Times);
by_kind(sensitive, Program, Times) ->
    _ = process_flag(sensitive, true),
    worker(Program, Times);
by_kind(dying, Program, Times) ->
    one_by_one(Times, fun(_) -> start(once, Program, 1) end, fun(_, _) -> ok end);
by_kind(victim, Program, Times) ->
    one_by_one(Times, fun(_) -> start(once, Program, 1) end,
               fun(P, I) -> exit(P, case I rem 3 of 0 -> crash; _ -> kill end) end);
by_kind(parked, Program, _) -> try ops(Program) catch _:_ -> ok end;
by_kind(_, Program, _) -> ops(Program).

one_by_one(0, _, _) -> ok;
one_by_one(N, Start, End) ->
    {P, M} = Start(N),
    receive
        {stopped, P} ->
            End(P, N),
            receive {'DOWN', M, process, P, _} -> ok end;
        {bomb, P} -> receive {'DOWN', M, process, P, killed} -> ok end;
        {'DOWN', M, process, P, _} -> ok
    end,
    one_by_one(N - 1, Start, End).

%% ---- beside it --------------------------------------------------------------------------------

%% A module that has nothing to do with it is loaded and purged again and again.
load(_) ->
    Code = [begin
                {ok, calls_mix_other, C} =
                    compile:forms([{attribute, 1, module, calls_mix_other}, {attribute, 1, export, [{f, 0}]},
                                   {function, 1, f, 0, [{clause, 1, [], [], [{integer, 1, N}]}]}]),
                C
            end || N <- [1, 2]],
    load_again(Code, 0).

load_again(Codes, N) ->
    Code = lists:nth(1 + N rem 2, Codes),
    ok = load(calls_mix_other, "made", Code),
    _ = apply(calls_mix_other, f, []),
    N rem 3 =:= 0 andalso code:delete(calls_mix_other),
    code:purge(calls_mix_other),
    receive stop -> ok after 5 -> load_again(Codes, N + 1) end.

%% What others do to processes: collections, stacks, whether they run old code.
look_into(Pids) -> look_into(list_to_tuple([self() | Pids]), 0).

look_into(Pids, N) ->
    P = element(1 + N rem tuple_size(Pids), Pids),
    _ = case N rem 5 of
            0 -> erlang:garbage_collect(P);
            1 -> process_info(P, backtrace);
            2 -> erlang:check_process_code(P, ?CODE);
            3 -> process_info(P, [current_stacktrace, current_function, memory, stack_size]);
            4 -> process_info(P, [messages, links, total_heap_size])
        end,
    receive stop -> ok after N rem 2 -> look_into(Pids, N + 1) end.

%% ---- other tools ------------------------------------------------------------------------------

%% Workers that wait for run/2, so that a tool can have them first.
-spec foreign(plan()) -> [pid()].
foreign(Plan) ->
    [spawn(fun() -> receive {go, Rounds} -> worker(P, Rounds) end end) || {foreign, P} <- Plan].

%% What may be beside us on the same functions.
-spec tools() -> [atom()].
tools() -> [dbg, eprof, cprof, call_count, call_time, return_to, return_trace, exception_trace].

%% Before our script starts; the result ends it, after our script.
-spec tool(atom(), [pid()]) -> fun(() -> term()).
tool(dbg, Pids) ->
    {ok, _} = dbg:tracer(process, {fun(_, N) -> N + 1 end, 0}),
    [{ok, _} = dbg:p(P, [c]) || P <- Pids],
    {ok, _} = dbg:tpl(?CODE, []),
    fun() -> dbg:stop_clear() end;
tool(eprof, Pids) ->
    {ok, _} = eprof:start(),
    profiling = eprof:start_profiling(Pids, {?CODE, '_', '_'}),
    fun() -> [eprof:stop() || whereis(eprof) =/= undefined] end; % it ends with its processes
tool(cprof, _) ->
    true = cprof:start(?CODE) > 0,
    fun() -> cprof:stop() end;
tool(call_count, _) -> pattern(true, [call_count]);
tool(call_time, Pids) -> traced(Pids, [call], pattern(true, [call_time]));
tool(return_to, Pids) -> traced(Pids, [call, return_to], pattern(true, [local]));
tool(return_trace, Pids) ->
    traced(Pids, [call], pattern([{'_', [], [{return_trace}]}], [local]));
tool(exception_trace, Pids) ->
    traced(Pids, [call], pattern([{'_', [], [{exception_trace}]}], [local])).

pattern(Spec, Flags) ->
    true = erlang:trace_pattern({?CODE, '_', '_'}, Spec, Flags) > 0,
    fun() -> erlang:trace_pattern({?CODE, '_', '_'}, false, Flags) end.

traced(Pids, Flags, End) ->
    Tracer = spawn(fun Sink() -> receive _ -> Sink() end end),
    [1 = erlang:trace(P, true, [{tracer, Tracer} | Flags]) || P <- Pids],
    fun() -> End(), exit(Tracer, kill) end.

%% The logger has something to say of each process that dies; it does so later.
-spec quiet() -> ok.
quiet() -> logger:set_primary_config(level, none).
