%% SPDX-License-Identifier: Apache-2.0
%% Scripts whose processes are not traced for exits and registrations: a sweep frees what is kept of
%% those that have ended, the process that runs says its name, and the others are asked. So it is where
%% calls come by the fast way. The same tests run by the tracer's way, with the setting exit_events.
-module(unflagged_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [aggregations/1]).
-export([act/1, deep/2, held/1, loop/1, loop_before/1, unknown_vm/0, refused/0]).

act(X) -> X.

deep(0, Fun) -> Fun(), 0;
deep(N, Fun) -> 1 + deep(N - 1, Fun).

%% Does not return before it is killed.
held(Parent) -> Parent ! {self(), held}, receive never -> ok end, act(1).

loop_before(Parent) -> loop(Parent).

loop(Parent) ->
    receive
        {do, Ref, Fun} -> Fun(), Parent ! Ref, loop(Parent);
        stop -> ok
    end.

ask(P, Fun) -> R = make_ref(), P ! {do, R, Fun}, receive R -> ok end.

%% ---- a script without exit events ------------------------------------------------------------

run(Script, Fun) -> run([], Script, Fun).

%% By the way of the test.
run(Opts, Script, Fun) ->
    Settings = way(),
    [application:set_env(erltrace, Setting, Value) || {Setting, Value} <- Settings],
    try
        {ok, H} = erltrace:open(),
        [ok = erltrace:setopt(H, O, V) || {O, V} <- Opts],
        ok = erltrace:compile(H, Script),
        ok = erltrace:go(H),
        try Fun(H)
        after erltrace:close(H)
        end
    after [application:unset_env(erltrace, Setting) || {Setting, _} <- Settings]
    end.

way() ->
    case get(way) of
        fast -> [{fast_calls, true}, {exit_events, false}];
        _ -> [{exit_events, false}]
    end.

%% Each test by both ways, if this node has the fast one.
all_test_() ->
    [{lists:concat([Name, ", ", Way]),
      {timeout, 120, fun() -> put(way, Way), try Test() after erase(way) end end}} ||
        Way <- ways(), {Name, Test} <- tests() ++ others_are_told_of()].

tests() ->
    [{no_process_is_traced, fun no_process_is_traced/0}, {storm, fun storm/0},
     {by_itself, fun by_itself/0}, {stacks, fun stacks/0}, {arguments, fun arguments/0},
     {beside_another, fun beside_another/0},
     {names, fun names/0}, {changing_names, fun changing_names/0}, {asked, fun asked/0},
     {asked_storm, fun asked_storm/0}].

%% From OTP 27 on calls of proc_lib:set_label/1 are traced for erlproc, so that it goes by events too.
labels() -> get(way) =:= fast andalso erltrace_vm:has_sessions().

ways() ->
    {ok, _} = application:ensure_all_started(erltrace),
    case erltrace_find:known(fast) of
        ok -> [traced, fast];
        {refused, Why} -> io:format(user, "skipped: the fast way: ~s~n", [Why]), [traced]
    end.

%% A whole pass of the sweep, and what the cleaner does after it.
sweep(H) ->
    {_, Data} = sys:get_state(H),
    Nif = element(2, Data),
    [sweep_pass(Nif) || _ <- [1, 2]], % the first may have begun before
    [erltrace_nif:clean(Nif) || _ <- lists:seq(1, 6)],
    ok.

sweep_pass(Nif) ->
    case erltrace_nif:sweep(Nif) of
        0 -> sweep_pass(Nif);
        Ms when is_integer(Ms) -> ok
    end.

%% kB
rss() ->
    {ok, B} = file:read_file("/proc/self/status"),
    {match, [N]} = re:run(B, "VmRSS:\\s+(\\d+)", [{capture, all_but_first, list}]),
    list_to_integer(N).

drops(H) ->
    case erltrace:consume(H) of
        ok -> [];
        {ok, Items} -> [I || I <- Items, element(1, I) =:= drop]
    end.

status(H) -> {ok, Status} = erltrace:status(H), Status.

%% Processes that do something and have ended when this returns.
many(N, Fun) ->
    Ms = [spawn_monitor(Fun) || _ <- lists:seq(1, N)],
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ms].

killed(N, Fun) ->
    Self = self(),
    Ms = [spawn_monitor(fun() -> Fun(Self) end) || _ <- lists:seq(1, N)],
    [receive {P, held} -> exit(P, kill) end || {P, _} <- Ms],
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ms].

%% ---- what is armed ---------------------------------------------------------------------------

-define(SELF, "erlang*:unflagged_tests:act:function-entry { self->n++; @[erlpid] = max(self->n); }").

no_process_is_traced() ->
    Flags = case get(way) of fast -> []; traced -> [arity, call] end,
    run(?SELF, fun(_) -> ?assertEqual(Flags, session_tests:flags(self())) end),
    {ok, H} = erltrace:script(?SELF),
    ?assert(lists:member(procs, session_tests:flags(self()))),
    ok = erltrace:close(H).

%% What is not known without events has them.
others_are_told_of() ->
    [{others_are_told_of,
      fun() -> run(Script, fun(_) -> ?assert(lists:member(procs, session_tests:flags(self()))) end) end} ||
        Script <- [[?SELF, "erlang*:::process-exit { @x = count(); }"],
                   [?SELF, "erlang*:::message-send { @x = count(); }"],
                   [?SELF, "erlang*:unflagged_tests:act:function-return { @v = max(vtimestamp); }"],
                   "erlang*:unflagged_tests:act:function-entry { @[erlpeer] = count(); }",
                   "erlang*:unflagged_tests:act:function-entry { @[erlpeerproc] = count(); }"]].

%% ---- self-> ----------------------------------------------------------------------------------

%% Processes come and go, each with variables; others live all the time, and theirs are counted up.
storm() ->
    Script = ["erlang*:unflagged_tests:act:function-entry { self->n++; self->a[probefunc] = 1;"
              " self->b[args[0]] = timestamp; }"
              "erlang*:unflagged_tests:act:function-entry /erlint(0) > 0/"
              " { @[erlpid, erlint(0)] = max(self->n); @least[erlpid, erlint(0)] = min(self->n); }"],
    Living = [spawn_link(?MODULE, loop, [self()]) || _ <- lists:seq(1, 20)],
    Rounds = 200,
    Got = run([{"dynvarsize", "64k"}], Script,
              fun(H) ->
                      Round = fun(R) ->
                                      many(100, fun() -> act(0), act(0) end),
                                      [ask(P, fun() -> act(R) end) || P <- Living],
                                      sweep(H)
                              end,
                      [Round(R) || R <- lists:seq(1, Rounds div 4)],
                      Rss = rss(),
                      [Round(R) || R <- lists:seq(Rounds div 4 + 1, Rounds)],
                      ?assert(rss() - Rss < 20000),
                      ?assertEqual([], drops(H)),
                      ?assertMatch(#{lost := 0}, status(H)),
                      aggregations(H)
              end),
    [P ! stop || P <- Living],
    ?assertEqual(maps:from_list([{{A, [pid_to_list(P), R]}, R} || A <- ["_", "least"], P <- Living,
                                                                 R <- lists:seq(1, Rounds)]),
                 Got).

%% The script's own sweep makes room, while nobody reads anything.
by_itself() ->
    Script = "erlang*:unflagged_tests:act:function-entry { self->n = 1; }"
        "erlang*:unflagged_tests:act:function-entry /self->n/ { @room = count(); }",
    run([{"dynvarsize", "64k"}], Script,
        fun(H) ->
                killed(3000, fun(Parent) -> act(0), held(Parent) end), % all are there at once
                ?assert(room(H) < 3000),
                wait_for_room(H, room(H), 1000)
        end).

room(H) -> #{{"room", []} := N} = aggregations(H), N.

wait_for_room(_, _, 0) ->
    error(no_room);
wait_for_room(H, Before, N) ->
    many(100, fun() -> act(0) end),
    case room(H) of
        Now when Now =:= Before + 100 -> ok;
        Now -> receive after 10 -> wait_for_room(H, Now, N - 1) end
    end.

%% Neither what is left of stacks nor kept arguments run out: there is room for a million frames, and
%% for the arguments of 8192 calls.
stacks() ->
    Script = "erlang*:unflagged_tests:deep:function-entry { @deep = max(arg2); }"
        "erlang*:unflagged_tests:deep:function-return { @r = count(); }",
    run(Script,
        fun(H) ->
                Held = fun(Parent) -> deep(300, fun() -> held(Parent) end) end,
                [begin killed(100, Held), sweep(H) end || _ <- lists:seq(1, 50)],
                300 = deep(300, fun() -> ok end),
                ?assertMatch(#{lost := 0}, status(H)),
                ?assertEqual(#{{"deep", []} => 301, {"r", []} => 301}, aggregations(H))
        end).

arguments() ->
    Script = "erlang*:unflagged_tests:held:function-return,erlang*:unflagged_tests:act:function-return"
        "{ @[probefunc, erlarg(0)] = count(); }",
    run(Script,
        fun(H) ->
                [begin killed(300, fun held/1), sweep(H) end || _ <- lists:seq(1, 40)],
                7 = act(7),
                ?assertMatch(#{lost := 0, no_args := 0}, status(H)),
                ?assertEqual(#{{"_", ["act/1", "7"]} => 1}, aggregations(H))
        end).

%% Beside a script that has exits traced: before OTP 27 its events come to the other one too, while the
%% sweep is at work.
beside_another() ->
    Script = "erlang*:unflagged_tests:deep:function-entry { self->n++; @deep = max(self->n); }"
        "erlang*:unflagged_tests:deep:function-return { @r = max(arg2); }",
    run(Script,
        fun(H) ->
                {ok, Other} = erltrace:script("erlang*:::process-exit { self->x = 1; @ = count(); }"),
                Held = fun(Parent) -> deep(60, fun() -> held(Parent) end) end,
                Ended = fun() -> 60 = deep(60, fun() -> ok end) end,
                Grown = fun() -> % runs on for a moment when the VM takes it for dead
                                process_flag(max_heap_size, #{size => 3000, kill => true,
                                                              error_logger => false}),
                                grow([])
                        end,
                Sweeper = spawn_link(fun Sweeper() -> sweep(H), Sweeper() end),
                [begin killed(50, Held), many(50, Ended), many(50, Grown) end ||
                    _ <- lists:seq(1, 40)],
                unlink(Sweeper),
                exit(Sweeper, kill),
                60 = deep(60, fun() -> ok end),
                #{{"_", []} := Exits} = aggregations(Other),
                ok = erltrace:close(Other),
                ?assert(Exits >= 6000),
                ?assertMatch(#{lost := 0}, status(H)),
                ?assertMatch(#{{"deep", []} := N, {"r", []} := 61} when N >= 61, aggregations(H))
        end).

grow(List) ->
    20 = deep(20, fun() -> ok end),
    grow([List, lists:seq(1, 50) | List]).

%% ---- names -----------------------------------------------------------------------------------

-define(NAMES, "erlang*:unflagged_tests:act:function-entry { @[erlname, erlarg(0)] = count(); }").

%% The name is that of the moment, whoever has given it.
names() ->
    P = spawn_link(?MODULE, loop, [self()]),
    Act = fun(What) -> ask(P, fun() -> act(What) end) end,
    Got = run(?NAMES,
              fun(H) ->
                      Act(before),
                      register(unflagged_one, P), Act(one), Act(one),
                      unregister(unflagged_one), Act(none),
                      ask(P, fun() -> register(unflagged_two, self()), act(two) end),
                      ask(P, fun() -> unregister(unflagged_two), act(none) end),
                      register(unflagged_one, P), Act(one),
                      aggregations(H)
              end),
    P ! stop,
    ?assertEqual(#{{"_", ["", "before"]} => 1, {"_", ["unflagged_one", "one"]} => 3,
                   {"_", ["", "none"]} => 2, {"_", ["unflagged_two", "two"]} => 1}, Got).

%% Processes take and give up names all the time, and somebody else names them in between: each event
%% has the name that the process had then.
changing_names() ->
    Meddled = atomics:new(1, []),
    {Calls, Got} =
        run(["erlang*:unflagged_tests:act:function-entry /erlname == erlarg(0)/ { @same = count(); }"
             "erlang*:unflagged_tests:act:function-entry /erlname != erlarg(0)/"
             "{ @other[erlname, erlarg(0)] = count(); }"],
            fun(H) ->
                    Ps = [spawn_monitor(fun() -> exit({calls, rename(Name, Meddled, 0)}) end) ||
                             Name <- [unflagged_a, unflagged_b, unflagged_c]],
                    Meddler = spawn_link(fun() -> meddle(Meddled, [P || {P, _} <- Ps]) end),
                    Ns = [receive {'DOWN', M, process, P, {calls, N}} -> N end || {P, M} <- Ps],
                    unlink(Meddler),
                    exit(Meddler, kill),
                    {lists:sum(Ns), aggregations(H)}
            end),
    ?assertEqual(#{{"same", []} => Calls}, Got).

%% Until it has been named often enough by the other.
rename(Name, Meddled, N) ->
    Enough = N >= 1000 andalso atomics:get(Meddled, 1) >= 100,
    try register(Name, self()) of
        true ->
            act(Name),
            true = unregister(Name),
            case Enough of
                true -> N + 1;
                false -> rename(Name, Meddled, N + 1)
            end
    catch
        error:badarg ->
            _ = (catch unregister(unflagged_meddled)),
            rename(Name, Meddled, N)
    end.

meddle(Meddled, Ps) ->
    [try register(unflagged_meddled, P) of
         true ->
             atomics:add(Meddled, 1, 1),
             catch unregister(unflagged_meddled)
     catch error:badarg -> ok
     end || P <- Ps],
    meddle(Meddled, Ps).

%% What a process without a name is called is asked when the script starts, or, if it is spawned after
%% that, when it has fired; until then it is its pid.
asked() ->
    labels() orelse do_asked().

do_asked() ->
    Script = "erlang*:unflagged_tests:act:function-entry { @[erlproc] = count(); }",
    Before = spawn_link(?MODULE, loop_before, [self()]),
    run(Script,
        fun(H) ->
                ask(Before, fun() -> act(1) end),
                ?assertEqual(#{{"_", ["unflagged_tests:loop_before/1"]} => 1}, aggregations(H)),
                Before ! stop,
                P = spawn_link(?MODULE, loop, [self()]),
                Pid = pid_to_list(P),
                Act = fun() -> ask(P, fun() -> act(1) end) end,
                Act(),
                ?assertMatch(#{{"_", [Pid]} := 1}, aggregations(H)),
                Until = fun Until(0) -> error(not_asked);
                            Until(N) ->
                                Act(),
                                is_map_key({"_", ["unflagged_tests:loop/1"]}, aggregations(H))
                                    orelse begin receive after 20 -> ok end, Until(N - 1) end
                        end,
                Until(1000),
                register(unflagged_one, P),
                Act(),
                ?assertMatch(#{{"_", ["unflagged_one"]} := 1}, aggregations(H)),
                unregister(unflagged_one),
                sweep(H),
                #{{"_", ["unflagged_tests:loop/1"]} := N} = aggregations(H),
                Act(),
                ?assertMatch(#{{"_", ["unflagged_tests:loop/1"]} := M} when M =:= N + 1,
                             aggregations(H)),
                ?assertMatch(#{unnamed := 0}, status(H)),
                P ! stop
        end).

%% Of many that end, none is left in the table.
asked_storm() ->
    Script = "erlang*:unflagged_tests:act:function-entry { @[erlproc != \"\"] = count(); }",
    run(Script,
        fun(H) ->
                [begin
                     many(500, fun() -> act(1) end),
                     labels() orelse sweep(H)
                 end || _ <- lists:seq(1, 20)],
                ?assertMatch(#{unnamed := 0, lost := 0}, status(H)),
                ?assertEqual(#{{"_", [1]} => 10000}, aggregations(H))
        end).

%% ---- a VM that is not known ------------------------------------------------------------------

%% Slots go by a hash of the pid, and there are few: a dead process must leave its own. Names come by
%% events, as it is not known where the VM keeps them.
unknown_vm_test_() -> {timeout, 60, fun() -> in_peer(unknown_vm) end}.

in_peer(Function) ->
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, wait_boot => 60000,
                                      args => ["+P", "1024", "-pa" | code:get_path()]}),
    try ok = peer:call(Peer, ?MODULE, Function, [], 50000)
    after peer:stop(Peer)
    end.

unknown_vm() ->
    application:set_env(erltrace, vm_internals, false),
    run("erlang*:unflagged_tests:act:function-return { self->n++; @ = count(); }",
        fun(H) ->
                [begin many(100, fun() -> act(1) end), sweep(H) end || _ <- lists:seq(1, 60)],
                ?assertEqual([], [F || F <- session_tests:flags(self()), F =:= procs]),
                ?assertMatch(#{lost := 0}, status(H)),
                ?assertEqual(#{{"_", []} => 6000}, aggregations(H))
        end),
    ?assertMatch({refused, _}, erltrace_find:known(name)),
    register(unflagged_one, self()),
    run(?NAMES, fun(H) ->
                        ?assert(lists:member(procs, session_tests:flags(self()))),
                        act(x),
                        ?assertEqual(#{{"_", ["unflagged_one", "x"]} => 1}, aggregations(H))
                end),
    ok.

%% Where it is known, the check finds it.
known_test() -> ?assertEqual(ok, erltrace_find:known(name)).

%% The check refuses whatever is not certain: here the same steps, with something wrong in each.
refused_test_() -> {timeout, 60, fun() -> in_peer(refused) end}.

refused() ->
    {ok, _} = application:ensure_all_started(erltrace),
    ok = erltrace_find:known(stack),
    Names = [unflagged_1, unflagged_2, unflagged_3],
    Sample = fun(Name) -> with_name(process, Name, Name) end,
    Look = fun(Name) -> with_name(entry, Name, Name) end,
    Words = fun() -> erltrace_nif:find(name, words) end,
    Wrong = [{"too few samples", fun() -> Sample(unflagged_1), Words(), lists:foreach(Look, Names) end},
             {"too few looks", fun() -> lists:foreach(Sample, Names), Words(), Look(unflagged_1) end},
             {"a sample without a name had one",
              fun() ->
                      lists:foreach(Sample, Names), Words(), lists:foreach(Look, Names),
                      true = register(unflagged_1, self()),
                      erltrace_nif:find(name, {process, undefined})
              end},
             {"a sample with a name had none",
              fun() ->
                      lists:foreach(Sample, Names),
                      erltrace_nif:find(name, {process, unflagged_1}),
                      Words(), lists:foreach(Look, Names)
              end},
             {"the entry has another name",
              fun() ->
                      lists:foreach(Sample, Names), Words(), lists:foreach(Look, Names),
                      with_name(entry, unflagged_1, unflagged_2)
              end},
             {"the process has no entry",
              fun() ->
                      lists:foreach(Sample, Names), Words(), lists:foreach(Look, Names),
                      erltrace_nif:find(name, {entry, unflagged_1})
              end},
             {"another process",
              fun() ->
                      lists:foreach(Sample, Names), Words(), lists:foreach(Look, Names),
                      script_run:in_process(fun() -> Sample(unflagged_1) end)
              end}],
    [?assertMatch({What, {refused, _}}, {What, checked(Steps)}) || {What, Steps} <- Wrong],
    ?assertEqual(ok, checked(fun() ->
                                     lists:foreach(Sample, Names), Words(), lists:foreach(Look, Names)
                             end)),
    ok.

checked(Steps) ->
    erltrace_nif:find(name, start),
    {_, normal} = script_run:in_process(Steps),
    erltrace_nif:find(name, conclude).

with_name(What, Name, Told) ->
    ok = erltrace_nif:find(name, {process, undefined}),
    true = register(Name, self()),
    ok = erltrace_nif:find(name, {What, Told}),
    true = unregister(Name).
