%% SPDX-License-Identifier: Apache-2.0
%% The provider state: what its probes say of processes, tables, ports, sockets, schedulers, memory and
%% nodes at rest is what the VM says; rounds; what it asks for; how it ends.
-module(state_tests).
-include_lib("eunit/include/eunit.hrl").
-export([wait_for/1]).

%% ---- running scripts -------------------------------------------------------------------------

%% The script, until so many rounds are over that have seen everything.
run(Rounds, Script) ->
    script_run:run(Script, fun(H) -> wait(H, Rounds) end).

%% The function runs after the first round, and a whole round after it: the one that is under way by then may have
%% begun before.
run(Rounds, Script, Fun) ->
    script_run:run(Script, fun(H) ->
                                   wait(H, 1),
                                   _ = Fun(),
                                   wait(H, max(Rounds, whole(H) + 2))
                           end).

wait(H, Rounds) ->
    whole(H) >= Rounds orelse begin receive after 5 -> ok end, wait(H, Rounds) end.

whole(H) ->
    {ok, #{things := #{rounds := N, partial := Partial}}} = erltrace:status(H),
    N - Partial.

%% An aggregation for each member, by its name; those of a text have it as a key.
script(Kind, Where, Numbers, Texts) ->
    ["state:::", Kind, " ", Where, "{\n",
     [["@", M, " = max(args[0]->", M, ");\n"] || M <- Numbers],
     [["@", M, "[args[0]->", M, "] = count();\n"] || M <- Texts], "}\n"].

number(Name, Aggs) ->
    maps:get({Name, []}, Aggs).

text(Name, Aggs) ->
    [Text] = [T || {N, [T]} <- maps:keys(Aggs), N =:= Name],
    Text.

quiet(Fun) ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> Fun(), Me ! {ready, self()}, receive stop -> ok end end),
    receive {ready, P} -> ok end,
    is_quiet(P),
    {P, M}.

is_quiet(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> erlang:yield(), is_quiet(P)
    end.

stop({P, M}) ->
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end.

printed(Format, X) ->
    lists:flatten(io_lib:format(Format, [X])).

%% ---- processes -------------------------------------------------------------------------------

process_test() ->
    Bin = binary:copy(<<"x">>, 100000),
    Other = spawn(fun() -> receive stop -> ok end end),
    {P, _} = Q = quiet(fun() ->
                               register(state_test, self()),
                               link(Other),
                               erlang:monitor(process, Other),
                               put(bin, Bin),
                               put(sub, binary:part(Bin, 10, 1000)),
                               process_flag(message_queue_data, off_heap),
                               process_flag(priority, low)
                       end),
    [P ! N || N <- lists:seq(1, 17)],
    Same = [{"mailbox", message_queue_len}, {"memory", memory}, {"heap", total_heap_size},
            {"stack", stack_size}, {"reductions", reductions}],
    Lengths = [{"links", links}, {"monitors", monitors}, {"monitored_by", monitored_by},
               {"binaries", binary}],
    Before = reductions(P),
    A = run(1, script("process", ["/erlpid == ", script_run:quoted(P), "/"],
                      [N || {N, _} <- Same ++ Lengths] ++
                          ["binary_bytes", "offheap", "suspended", "new_reductions", "age"],
                      ["pid", "name", "registered", "status", "function", "initial", "parent",
                       "priority"])),
    [?assertEqual({N, element(2, process_info(P, I))}, {N, number(N, A)}) ||
        {N, I} <- Same, I =/= reductions],
    After = reductions(P),
    ?assert(number("reductions", A) >= Before andalso number("reductions", A) =< After),
    [?assertEqual({N, length(element(2, process_info(P, I)))}, {N, number(N, A)}) ||
        {N, I} <- Lengths],
    ?assertEqual(17, number("mailbox", A)),
    ?assertEqual(100000, number("binary_bytes", A)),
    ?assertEqual(1, number("offheap", A)),
    ?assertEqual(0, number("suspended", A)),
    ?assertEqual(0, number("new_reductions", A)),
    ?assertEqual(0, number("age", A)),
    ?assertEqual(pid_to_list(P), text("pid", A)),
    ?assertEqual("state_test", text("name", A)),
    ?assertEqual("state_test", text("registered", A)),
    ?assertEqual("waiting", text("status", A)),
    {_, {M, F, Ar}} = process_info(P, current_function),
    ?assertEqual(lists:flatten(io_lib:format("~w:~w/~w", [M, F, Ar])), text("function", A)),
    ?assertEqual("erlang:apply/2", text("initial", A)),
    ?assertEqual(pid_to_list(self()), text("parent", A)),
    ?assertEqual("low", text("priority", A)),
    Other ! stop,
    stop(Q).

%% It may run to answer.
reductions(P) ->
    element(2, process_info(P, reductions)).

%% Of all processes one has the largest heap and mailbox, and one the largest binaries.
ranks_test_() ->
    {timeout, 60, [fun ranks/0 || erltrace_find:is_known(numbers)]}.

ranks() ->
    {P, _} = Q1 = quiet(fun() -> put(list, lists:seq(1, 4000000)) end),
    {B, _} = Q2 = quiet(fun() -> put(binary, binary:copy(<<"x">>, 200000000)) end),
    A = run(1, "state:::process /args[0]->memory_rank == 1/ { @memory[args[0]->pid] = count(); }"
               "state:::process /args[0]->binary_rank == 1/ { @binary[args[0]->pid] = count(); }"
               "state:::process { @last = max(args[0]->memory_rank); }"),
    ?assertEqual(pid_to_list(P), text("memory", A)),
    ?assertEqual(pid_to_list(B), text("binary", A)),
    ?assert(number("last", A) > 1),
    stop(Q1),
    stop(Q2).

suspended_test() ->
    {P, _} = Q = quiet(fun() -> ok end),
    true = erlang:suspend_process(P),
    A = run(1, script("process", ["/erlpid == ", script_run:quoted(P), "/"], ["suspended"],
                      ["status"])),
    ?assertEqual(1, number("suspended", A)),
    ?assertEqual("suspended", text("status", A)),
    true = erlang:resume_process(P),
    stop(Q).

%% In a function of the VM's own, the one that has called it; else that.
within_test() ->
    Ref = make_ref(),
    {P, M} = spawn_monitor(fun() -> held(Ref) end),
    {Q, _} = Quiet = quiet(fun() -> ok end),
    until_in({erts_internal, await_result, 1}, P),
    A = run(1, ["state:::process /erlpid == ", script_run:quoted(P), " || erlpid == ", script_run:quoted(Q),
                "/ { @[args[0]->pid, args[0]->within] = count(); }"]),
    {_, {QM, QF, QA}} = process_info(Q, current_function),
    ?assertEqual(#{{"_", [pid_to_list(P), "state_tests:held/1"]} => 1,
                   {"_", [pid_to_list(Q), lists:flatten(io_lib:format("~w:~w/~w", [QM, QF, QA]))]} => 1}, A),
    P ! {Ref, over},
    receive {'DOWN', M, process, P, normal} -> ok end,
    stop(Quiet).

held(Ref) ->
    over = erts_internal:await_result(Ref),
    ok.

until_in(Function, P) ->
    process_info(P, [current_function, status]) =:= [{current_function, Function}, {status, waiting}] orelse
        begin erlang:yield(), until_in(Function, P) end.

%% The same as erlproc at other probes: registered name, label, first function, pid.
names_test() ->
    {P1, _} = Q1 = quiet(fun() -> ok end),
    P2 = proc_lib:spawn(?MODULE, wait_for, [stop]),
    A = run(1, "state:::process { @[erlpid, erlname, erlproc, args[0]->name] = count(); }"),
    Sup = pid_to_list(whereis(kernel_sup)),
    ?assertMatch(#{{"_", [Sup, "kernel_sup", "kernel_sup", "kernel_sup"]} := 1}, A),
    T1 = pid_to_list(P1),
    ?assertMatch(#{{"_", [T1, "", T1, T1]} := 1}, A),
    T2 = pid_to_list(P2),
    ?assertMatch(#{{"_", [T2, "", "state_tests:wait_for/1", "state_tests:wait_for/1"]} := 1}, A),
    P2 ! stop,
    stop(Q1).

label_test() ->
    case erlang:function_exported(proc_lib, set_label, 1) of
        true ->
            {P, _} = Q = quiet(fun() -> apply(proc_lib, set_label, [{order, 7}]) end),
            A = run(1, "state:::process { @[erlpid, args[0]->name] = count(); }"),
            Text = pid_to_list(P),
            ?assertMatch(#{{"_", [Text, "{order,7}"]} := 1}, A),
            stop(Q);
        false ->
            ok
    end.

wait_for(X) -> receive X -> ok end.

%% Each once: as many as there are, but for those that come and go meanwhile.
every_process_test_() ->
    {timeout, 60, fun every_process/0}.

every_process() ->
    Ps = [quiet(fun() -> ok end) || _ <- lists:seq(1, 500)],
    A = run(1, "state:::process { @all = count(); @[erlpid] = count(); }"),
    ?assertEqual([1], lists:usort([maps:get({"_", [pid_to_list(P)]}, A) || {P, _} <- Ps])),
    ?assert(number("all", A) >= 500),
    [stop(P) || P <- Ps].

%% What is compared with the last round.
growth_test_() ->
    {timeout, 60, fun growth/0}.

growth() ->
    {P, _} = Q = quiet(fun() -> ok end),
    Script = ["state:::process-1s /erlpid == ", script_run:quoted(P), "/",
              "{ @more[args[0]->mailbox, args[0]->mailbox_growth] = count();",
              "  @done = sum(args[0]->new_reductions); }"],
    A = run(2, Script, fun() -> [P ! N || N <- [1, 2, 3]] end),
    ?assertMatch(#{{"more", [0, 0]} := _, {"more", [3, 3]} := 1}, A),
    ?assert(number("done", A) > 0),
    stop(Q).

%% What is compared is there soon, also if the period is long: of a mailbox that was empty, and is long enough for
%% the predicate now, all is new.
soon_test_() ->
    {timeout, 60, fun soon/0}.

soon() ->
    {P, _} = Q = quiet(fun() -> ok end),
    Script = ["state:::process-1h /args[0]->mailbox >= 7/ { @[args[0]->pid, args[0]->mailbox_growth] = count(); }"],
    A = script_run:run(Script, fun(H) -> wait(H, 1), [P ! N || N <- lists:seq(1, 7)], wait(H, 2) end),
    ?assertEqual([7], [More || {_, [Pid, More]} <- maps:keys(A), Pid =:= pid_to_list(P)]),
    stop(Q).

%% A process that waits is asked once; then it is seen to be at rest, and does not run any more.
rests_test_() ->
    {timeout, 60, fun rests/0}.

rests() ->
    {P, _} = Q = quiet(fun() -> ok end),
    A = run(4, ["state:::process-200ms /erlpid == ", script_run:quoted(P), "/",
                "{ @[args[0]->reductions, args[0]->memory, args[0]->function, args[0]->links,",
                "    args[0]->new_reductions] = count(); }"]),
    Keys = lists:sort([K || {"_", K} <- maps:keys(A)]),
    {memory, Memory} = process_info(P, memory),
    ?assertMatch([[_, Memory, _, 0, 0], [_, Memory, _, 0, 0]], Keys),
    [[R1 | _], [R2 | _]] = Keys,
    ?assertEqual(1, R2 - R1), % for the answer
    stop(Q).

%% Whatever happens to it is seen in the next round.
changes_test_() ->
    {timeout, 120, fun changes/0}.

changes() ->
    {P, M} = spawn_monitor(fun idle/0),
    Script = ["state:::process-100ms /erlpid == ", script_run:quoted(P), "/",
              "{ @[args[0]->memory, args[0]->heap, args[0]->links, args[0]->monitors, ",
              "args[0]->monitored_by, args[0]->mailbox, args[0]->binaries, args[0]->status, ",
              "args[0]->name] = count(); }"],
    {ok, H} = erltrace:script(Script),
    [begin
         _ = Fun(P),
         seen(H, P)
     end || Fun <- [fun(_) -> ok end,
                    fun(_) -> P ! {keep, lists:seq(1, 5000)} end,
                    fun(_) -> P ! {keep, binary:copy(<<"x">>, 1000)} end,
                    fun(_) -> P ! unknown end,
                    fun(_) -> [P ! unknown || _ <- lists:seq(1, 1000)] end,
                    fun(_) -> link(P) end,
                    fun(_) -> erlang:monitor(process, P) end,
                    fun(_) -> unlink(P) end,
                    fun(_) -> P ! {keep, []} end,
                    fun(_) -> erlang:garbage_collect(P) end,
                    fun(_) -> erlang:suspend_process(P) end,
                    fun(_) -> erlang:resume_process(P) end,
                    fun(_) -> register(state_changes, P) end,
                    fun(_) -> unregister(state_changes) end,
                    fun(_) -> P ! {monitor, self()} end]],
    erltrace:close(H),
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end.

idle() -> idle([]).

idle(Kept) ->
    receive
        {keep, X} -> idle(X);
        {monitor, P} -> erlang:monitor(process, P), idle(Kept);
        stop -> Kept
    end.

%% Until the script says what the process itself says.
seen(H, P) ->
    [{_, Memory}, {_, Heap}, {_, Links}, {_, Monitors}, {_, By}, {_, N}, {_, Bins}, {_, Status},
     {_, Name}] =
        process_info(P, [memory, total_heap_size, links, monitors, monitored_by, message_queue_len,
                         binary, status, registered_name]),
    Key = [Memory, Heap, length(Links), length(Monitors), length(By), N, length(Bins),
           atom_to_list(Status), case Name of [] -> pid_to_list(P); _ -> atom_to_list(Name) end],
    case maps:get({"_", Key}, script_run:aggregations(H), 0) of
        0 -> receive after 20 -> ok end, seen(H, P);
        _ -> ok
    end.

%% If a predicate is enough to see that nothing is done, a process is not asked for the rest: it does not
%% run. All firings are counted once.
predicate_first_test_() ->
    {timeout, 60, fun predicate_first/0}.

predicate_first() ->
    {P1, _} = Q1 = quiet(fun() -> ok end),
    {P2, _} = Q2 = quiet(fun() -> ok end),
    [P2 ! N || N <- lists:seq(1, 7)],
    Before = reductions(P1),
    Script = "state:::process /args[0]->mailbox > 6 && args[0]->status != \"running\"/ "
        "{ @[args[0]->pid, args[0]->memory, args[0]->mailbox, args[0]->function] = count(); }"
        "state:::process /args[0]->mailbox > 1000000/ { @never[args[0]->links] = count(); }"
        "state:::round { @seen = sum(arg1); }",
    {ok, H} = erltrace:script(Script),
    wait(H, 1),
    {ok, #{fired := Fired}} = erltrace:status(H),
    A = script_run:aggregations(H),
    erltrace:close(H),
    ?assertEqual(Before, reductions(P1)),
    Pid = pid_to_list(P2),
    {memory, Memory} = process_info(P2, memory),
    {_, {Mod, F, Arity}} = process_info(P2, current_function),
    Function = printed("~w", Mod) ++ ":" ++ printed("~w", F) ++ "/" ++ integer_to_list(Arity),
    ?assertMatch(#{{"_", [Pid, Memory, 7, Function]} := 1}, A),
    ?assertEqual([], [K || {"never", _} = K <- maps:keys(A)]),
    ?assertEqual(number("seen", A) + 1, Fired), % and round
    stop(Q1),
    stop(Q2).

%% One that has an effect, or might fault, is computed once.
predicate_effects_test() ->
    A = run(1, "int n; state:::process /n++ >= 0/ { @n = max(n); @all = count(); @m = max(args[0]->memory); }"),
    ?assertEqual(number("all", A), number("n", A)).

%% ---- rounds ----------------------------------------------------------------------------------

%% Without a rate there is one round; round tells its number, what it has seen, that it was whole.
one_round_test() ->
    A = script_run:run("state:::process { @n = count(); } state:::round { @[arg0, arg2] = max(arg1); }",
                       fun(H) -> wait(H, 1), receive after 300 -> ok end end),
    N = number("n", A),
    ?assertMatch(#{{"_", [1, 1]} := N}, A).

rounds_test_() ->
    {timeout, 60, fun rounds/0}.

rounds() ->
    A = run(2, "state:::process-500ms, state:::table-500ms { @n = count(); }"
               "state:::round-500ms { @sum = sum(arg1); @[arg0] = count(); @whole[arg2] = count();"
               "@over[arg2, arg3] = count(); }"),
    Numbers = lists:sort([N || {"_", [N]} <- maps:keys(A)]),
    ?assertEqual(lists:seq(1, length(Numbers)), Numbers),
    ?assertEqual([1], lists:usort([V || {{"_", [_]}, V} <- maps:to_list(A)])),
    ?assert(maps:get({"whole", [1]}, A) >= 2),
    ?assert(maps:get({"over", [1, 1]}, A) >= 2), % each of these is a pass of its own
    ?assertNot(maps:is_key({"over", [1, 0]}, A)),
    ?assert(number("sum", A) =< number("n", A)).

%% Different rates do not wait for each other.
two_rates_test_() ->
    {timeout, 60, fun two_rates/0}.

two_rates() ->
    A = run(4, "state:::node { @once = count(); } state:::node-500ms { @often = count(); }"),
    ?assertEqual(1, number("once", A)),
    ?assert(number("often", A) >= 3).

%% A round that does not end in time is told, counted, and goes on where it stopped.
partial_test_() ->
    {timeout, 120, fun partial/0}.

partial() ->
    Ps = [quiet(fun() -> ok end) || _ <- lists:seq(1, 5000)],
    Script = "#pragma D option statebudget=1\n#pragma D option aggsize=16m\n"
        "state:::process-100ms { @[erlpid] = count(); @b = sum(args[0]->binaries); }"
        "state:::round-100ms { @whole[arg2] = count(); @over[arg2, arg3] = count(); }",
    {ok, H} = erltrace:script(Script),
    seen_all(H, maps:from_list([{{"_", [pid_to_list(P)]}, P} || {P, _} <- Ps])),
    over(H), % not the first two passes, but later ones are partial
    {ok, #{things := #{partial := Partial, cost := Cost}}} = erltrace:status(H),
    ?assert(Partial > 0),
    ?assert(Cost < 2),
    erltrace:close(H),
    [stop(P) || P <- Ps].

%% What a script is said to cost has its rounds in it, though its clause never runs; they have a budget of their
%% own, so the watchdog does not end it for them.
cost_of_rounds_test_() ->
    {timeout, 120, fun cost_of_rounds/0}.

cost_of_rounds() ->
    Ps = [quiet(fun() -> ok end) || _ <- lists:seq(1, 5000)],
    {ok, H} = erltrace:script("#pragma D option watchdog=1\n#pragma D option watchtime=1s\n"
                              "state:::process-100ms /args[0]->memory < 0/ { @n = count(); }"),
    wait(H, 2),
    Now = now_ms(),
    costs(H, Now + 3000),
    {ok, #{aborted := Aborted, running := true}} = erltrace:status(H),
    ?assertEqual(undefined, Aborted),
    erltrace:close(H),
    [stop(P) || P <- Ps].

now_ms() -> erlang:monotonic_time(millisecond).

%% For some watchtimes, and until it is at least what the rounds take of all schedulers: of the busy ones it is more.
costs(H, Until) ->
    {ok, #{cost := Cost, things := #{cost := Rounds}}} = erltrace:status(H),
    case Rounds > 0 andalso Cost >= Rounds andalso now_ms() > Until of
        true -> ok;
        false -> receive after 100 -> ok end, costs(H, Until)
    end.

%% The first rounds are whole, however small the budget is: all processes are asked, and the round says of how many.
first_rounds_test_() ->
    {timeout, 120, fun first_rounds/0}.

first_rounds() ->
    Ps = [quiet(fun() -> ok end) || _ <- lists:seq(1, 5000)],
    A = script_run:run("#pragma D option statebudget=1\n#pragma D option aggsize=16m\n"
                       "state:::process-100ms { @b = sum(args[0]->links); }"
                       "state:::round-100ms /arg0 < 3/ { @[arg2, arg3, arg4 == arg5, arg5 >= 5000, arg6] = count(); }",
                       fun(H) -> wait(H, 2) end),
    ?assertMatch(#{{"_", [1, 1, 1, 1, 0]} := 2}, A),
    [stop(P) || P <- Ps].

%% The last round of a pass of several says that it is over, and none of these was whole.
over(H) ->
    Over = [K || {"over", K} <- maps:keys(script_run:aggregations(H))],
    ?assertEqual([], Over -- [[0, 0], [0, 1], [1, 1]]),
    lists:member([0, 0], Over) andalso lists:member([0, 1], Over) orelse
        begin receive after 50 -> ok end, over(H) end.

seen_all(_, Left) when map_size(Left) =:= 0 ->
    ok;
seen_all(H, Left) ->
    Seen = maps:keys(script_run:aggregations(H)),
    receive after 200 -> ok end,
    seen_all(H, maps:without(Seen, Left)).

%% A key is told, and the next round begins at once: here it would be in an hour.
key_test_() ->
    {timeout, 60, fun key/0}.

key() ->
    {ok, H} = erltrace:script("state:::key { @key[arg0, arg1, arg2] = count(); }"
                              "state:::node-1h { @n = count(); } state:::round-1h { @r = max(arg0); }"),
    wait(H, 1),
    ok = erltrace_handle:call(H, {key, {0, 24, 80}}),
    ok = erltrace_handle:call(H, {key, {$a, 25, 81}}),
    wait(H, 2),
    A = script_run:aggregations(H),
    ?assertMatch(#{{"key", [0, 24, 80]} := 1, {"key", [$a, 25, 81]} := 1, {"r", []} := 2, {"n", []} := 2}, A),
    ok = erltrace_handle:call(H, {key, {0, 25, 82}}), % no key: nothing begins
    ok = erltrace:stop(H),
    ?assertMatch(#{{"r", []} := 2}, script_run:aggregations(H)),
    ok = erltrace_handle:call(H, {key, {$a, 25, 81}}),
    erltrace:close(H).

%% ---- the other kinds -------------------------------------------------------------------------

table_test() ->
    T = ets:new(state_table, [named_table, ordered_set, public, compressed]),
    U = ets:new(state_unnamed, [bag, private]),
    [ets:insert(T, {N, N}) || N <- lists:seq(1, 100)],
    A = run(1, script("table", "/args[0]->id == \"state_table\"/",
                      ["size", "memory", "named", "compressed"],
                      ["name", "owner", "type", "protection"])),
    ?assertEqual(ets:info(T, size), number("size", A)),
    ?assertEqual(ets:info(T, memory), number("memory", A)),
    ?assertEqual(1, number("named", A)),
    ?assertEqual(1, number("compressed", A)),
    ?assertEqual("state_table", text("name", A)),
    ?assertEqual("ordered_set", text("type", A)),
    ?assertEqual("public", text("protection", A)),
    B = run(1, "state:::table { @[args[0]->name, args[0]->id, erlpid, args[0]->type] = "
               "max(args[0]->size); }"),
    Key = ["state_unnamed", printed("~w", U), pid_to_list(self()), "bag"],
    ?assertMatch(#{{"_", Key} := 0}, B),
    ets:delete(T),
    ets:delete(U).

every_table_test_() ->
    {timeout, 60, fun every_table/0}.

every_table() ->
    Ts = [ets:new(many, []) || _ <- lists:seq(1, 300)],
    A = run(1, "state:::table /args[0]->name == \"many\"/ { @n = count(); @[args[0]->id] = count(); }"),
    ?assertEqual(300, number("n", A)),
    [?assertEqual(1, maps:get({"_", [printed("~w", T)]}, A)) || T <- Ts],
    [ets:delete(T) || T <- Ts].

table_growth_test_() ->
    {timeout, 60, fun table_growth/0}.

table_growth() ->
    T = ets:new(state_grows, [public]),
    A = run(2, "state:::table-1s /args[0]->name == \"state_grows\"/"
               "{ @more = sum(args[0]->growth); @words = sum(args[0]->memory_growth); }",
            fun() -> [ets:insert(T, {N}) || N <- lists:seq(1, 50)] end),
    ?assertEqual(50, number("more", A)),
    ?assert(number("words", A) > 0),
    ets:delete(T).

port_test() ->
    Port = open_port({spawn, "cat"}, [binary]),
    Port ! {self(), {command, <<"hello">>}},
    receive {Port, {data, <<"hello">>}} -> ok end,
    A = run(1, script("port", ["/args[0]->id == \"", erlang:port_to_list(Port), "\"/"],
                      ["input", "output", "queue", "memory", "links", "os_pid"],
                      ["name", "owner"])),
    [?assertEqual({I, element(2, erlang:port_info(Port, I))}, {I, number(atom_to_list(I), A)}) ||
        I <- [input, output, memory, os_pid]],
    ?assertEqual(0, number("queue", A)),
    ?assertEqual(1, number("links", A)),
    ?assertEqual("cat", text("name", A)),
    ?assertEqual(5, number("input", A)),
    port_close(Port).

socket_test() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, No} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, No, [binary, {active, false}]),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, binary:copy(<<"x">>, 1234)),
    {ok, _} = gen_tcp:recv(S, 1234),
    ok = gen_tcp:send(S, <<"ok">>),
    {ok, _} = gen_tcp:recv(C, 2),
    A = run(1, script("socket", ["/args[0]->id == \"", erlang:port_to_list(C), "\"/"],
                      ["received", "sent", "packets_received", "packets_sent", "queue"],
                      ["driver", "local", "remote"])),
    {ok, Stats} = inet:getstat(C),
    [?assertEqual({M, proplists:get_value(I, Stats)}, {M, number(M, A)}) ||
        {M, I} <- [{"received", recv_oct}, {"sent", send_oct}, {"packets_received", recv_cnt},
                   {"packets_sent", send_cnt}, {"queue", send_pend}]],
    ?assertEqual(1234, number("sent", A)),
    {ok, {_, Local}} = inet:sockname(C),
    ?assertEqual("tcp_inet", text("driver", A)),
    ?assertEqual("127.0.0.1:" ++ integer_to_list(Local), text("local", A)),
    ?assertEqual("127.0.0.1:" ++ integer_to_list(No), text("remote", A)),
    [gen_tcp:close(X) || X <- [C, S, L]].

%% Sockets of the module socket.
nif_socket_test() ->
    {ok, S} = socket:open(inet, dgram, udp),
    ok = socket:bind(S, #{family => inet, addr => {127, 0, 0, 1}, port => 0}),
    {ok, #{port := No} = Addr} = socket:sockname(S),
    ok = socket:sendto(S, <<"12345">>, Addr),
    A = run(1, ["state:::socket /args[0]->local == \"127.0.0.1:", integer_to_list(No), "\"/",
                "{ @[args[0]->driver, erlpid, args[0]->packets_sent] = max(args[0]->sent); }"]),
    #{counters := Counters} = socket:info(S),
    Key = ["socket", pid_to_list(self()), maps:get(write_pkg, Counters)],
    ?assertEqual(maps:get(write_byte, Counters), maps:get({"_", Key}, A)),
    ok = socket:close(S).

scheduler_test_() ->
    {timeout, 60, fun schedulers/0}.

schedulers() ->
    A = run(1, "state:::scheduler { @[args[0]->type] = count(); @id[args[0]->id] = count(); }"),
    Kinds = [{"normal", schedulers}, {"dirty_cpu", dirty_cpu_schedulers},
             {"dirty_io", dirty_io_schedulers}],
    [?assertEqual({T, erlang:system_info(I)}, {T, maps:get({"_", [T]}, A)}) || {T, I} <- Kinds],
    ?assertEqual(lists:sum([erlang:system_info(I) || {_, I} <- Kinds]),
                 length([I || {"id", [I]} <- maps:keys(A)])),
    B = run(2, "state:::scheduler-500ms { @q = min(args[0]->queue); @u = max(args[0]->utilization);"
               "@t = max(args[0]->emulator + args[0]->gc + args[0]->port + args[0]->check_io +"
               "args[0]->aux + args[0]->other + args[0]->sleep); }"),
    ?assertEqual(0, number("q", B)),
    ?assert(number("u", B) =< 1000),
    ?assert(abs(number("t", B) - 1000) =< 7). % each is rounded

%% The flag is as it was when the script has ended.
accounting_test_() ->
    {timeout, 60, fun accounting/0}.

accounting() ->
    _ = erlang:system_flag(microstate_accounting, false),
    _ = run(2, "state:::scheduler-500ms { @ = count(); }",
            fun() -> ?assert(erlang:system_flag(microstate_accounting, true)) end),
    ?assertNot(erlang:system_flag(microstate_accounting, false)),
    _ = erlang:system_flag(microstate_accounting, true),
    _ = run(1, "state:::scheduler-500ms { @ = count(); }"),
    ?assert(erlang:system_flag(microstate_accounting, false)).

memory_test_() ->
    {timeout, 60, fun memory_equals/0}.

memory_equals() ->
    _ = memory(), % makes atoms
    A = memory(),
    [?assertEqual({K, B}, {K, maps:get({"_", [atom_to_list(K), 0]}, A)}) ||
        {K, B} <- erlang:memory([atom, atom_used, code])],
    [?assert(maps:get({"_", [K, 0]}, A) > 0) || K <- ["total", "processes", "ets", "binary"]],
    ?assertEqual(erlang:system_info(atom_count), maps:get({"count", ["atom"]}, A)),
    ?assertEqual(erlang:system_info(atom_limit), maps:get({"limit", ["atom"]}, A)),
    ?assertEqual(erlang:system_info(process_limit), maps:get({"limit", ["processes"]}, A)),
    [?assertMatch({Al, true}, {Al, maps:is_key({"_", [atom_to_list(Al), 1]}, A)}) ||
        Al <- erlang:system_info(alloc_util_allocators)],
    ?assert(maps:get({"c", ["binary_alloc"]}, A) > 0),
    ?assert(maps:get({"u", ["ets_alloc"]}, A) =< 1000).

memory() ->
    run(1, "state:::memory { @[args[0]->kind, args[0]->is_allocator] = max(args[0]->bytes);"
               "@count[args[0]->kind] = max(args[0]->count);"
               "@limit[args[0]->kind] = max(args[0]->limit);"
               "@c[args[0]->kind] = max(args[0]->carriers);"
               "@u[args[0]->kind] = max(args[0]->utilization); }").

node_test() ->
    A = run(1, "state:::node { @[args[0]->name, args[0]->type] = max(args[0]->ports);"
               "@up = max(args[0]->uptime); }"),
    ?assertEqual(#{["this"] => erlang:system_info(port_count)},
                 maps:from_list([{[T], V} || {{"_", [_, T]}, V} <- maps:to_list(A)])),
    ?assert(number("up", A) =< element(1, erlang:statistics(wall_clock))).

%% ---- all members -----------------------------------------------------------------------------

%% Each member of state.def is fetched, whatever else a script reads: the notes of the probes name them.
every_member_test_() ->
    {timeout, 60, fun every_member/0}.

every_member() ->
    {ok, S} = socket:open(inet, dgram, udp),
    {ok, L} = gen_tcp:listen(0, []),
    {Callee, _} = Q = quiet(fun() -> ok end),
    Caller = spawn(fun() -> gen_server:call(Callee, hello, infinity) end),
    is_quiet(Caller),
    Kinds = members(),
    ?assertEqual(8, length(Kinds)),
    A = run(1, [["state:::", Kind, " {", [["@", Kind, "_", M, "[args[0]->", M, "] = count();"] || M <- Members], "}\n"] ||
                   {Kind, Members} <- Kinds]),
    Fetched = lists:usort([Name || {Name, _} <- maps:keys(A)]),
    ?assertEqual([], lists:sort([Kind ++ "_" ++ M || {Kind, Members} <- Kinds, M <- Members]) -- Fetched),
    exit(Caller, kill),
    stop(Q),
    ok = gen_tcp:close(L),
    ok = socket:close(S).

members() ->
    {ok, H} = erltrace:open(),
    {ok, Probes} = erltrace_handle:call(H, {probes, <<"state:::">>}),
    ok = erltrace:close(H),
    [{binary_to_list(element(5, P)), string:lexemes(Members, " ")} ||
        P <- Probes, "members of args[0]:" ++ Members <- [binary_to_list(element(tuple_size(P), P))]].

%% ---- mistakes --------------------------------------------------------------------------------

mistakes_test() ->
    ?assertMatch({error, {dtrace, <<"D_TYPE_MEMBER">>, _, _, _}},
                 erltrace:script("state:::process-1s { @ = max(args[0]->size); }")),
    ?assertMatch({error, {dtrace, <<"D_BUILTIN_NONE">>, _, _, _}},
                 erltrace:script("state:::memory { @[erlpid] = count(); }")),
    ?assertMatch({error, {dtrace, <<"D_BUILTIN_NONE">>, _, _, _}},
                 erltrace:script("state:::process { @[erlmsg] = count(); }")),
    {error, {dtrace, <<"D_PDESC_ZERO">>, _, _, Often}} =
        erltrace:script("state:::process-10ms { @ = count(); }"),
    ?assertNotEqual(nomatch, string:find(Often, "100 milliseconds")),
    {error, {dtrace, <<"D_PDESC_ZERO">>, _, _, None}} =
        erltrace:script("state:::thread-1s { @ = count(); }"),
    ?assertNotEqual(nomatch, string:find(None, "scheduler")),
    ?assertMatch({error, _}, erltrace:script("state:::process { @[ustack()] = count(); }")).

%% ---- erltrace itself --------------------------------------------------------------------------

%% Its own processes hide what they began with; another that does is not taken for one.
own_test() ->
    Me = self(),
    Other = proc_lib:spawn(fun() ->
                                   process_flag(sensitive, true),
                                   Me ! {ready, self()},
                                   receive stop -> ok end
                           end),
    receive {ready, Other} -> ok end,
    A = run(1, "state:::process-100ms { @[args[0]->name, args[0]->pid] = count(); }
                state:::table-100ms /args[0]->name == \"erltrace_state\"/ { @owners[args[0]->owner] = count(); }"),
    Names = maps:from_list([{Pid, Name} || {_, [Name, Pid]} <- maps:keys(A)]),
    ?assertEqual("proc_lib:init_p/3", maps:get(pid_to_list(Other), Names)),
    ?assertEqual([pid_to_list(Other)], [Pid || {Pid, "proc_lib:" ++ _} <- maps:to_list(Names)]),
    ?assert(lists:member("(erltrace)", maps:values(Names))),
    ?assertEqual([["(erltrace)"]], [Key || {"owners", Key} <- maps:keys(A)]),
    Other ! stop.

%% ---- the end ---------------------------------------------------------------------------------

walkers() ->
    [P || P <- processes(), {_, {erltrace_state, _, _}} <- [process_info(P, current_function)]] ++
        [P || P <- processes(), {_, {gen_server, loop, _}} <- [process_info(P, current_function)],
              T <- ets:all(), ets:info(T, name) =:= erltrace_state, ets:info(T, owner) =:= P].

gone() ->
    case walkers() of
        [] -> ok;
        _ -> receive after 10 -> ok end, gone()
    end.

%% With the script, its owner, the handle's process.
ends_test_() ->
    {timeout, 60, fun ends/0}.

ends() ->
    Script = "state:::process-100ms { @ = count(); }",
    {ok, H} = erltrace:script(Script),
    wait(H, 1),
    ?assertMatch([_ | _], walkers()),
    ok = erltrace:close(H),
    ?assertEqual([], walkers()),
    {Owner, M} = spawn_monitor(fun() -> {ok, H2} = erltrace:script(Script), wait(H2, 1) end),
    receive {'DOWN', M, process, Owner, _} -> ok end,
    gone(),
    {ok, H3} = erltrace:script(["BEGIN { i = 0; } state:::round-100ms /++i == 2/ { exit(0); } ", Script]),
    gone(),
    erltrace:close(H3).
