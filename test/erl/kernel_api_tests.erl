%% SPDX-License-Identifier: Apache-2.0
%% Probes of the kernel through the Erlang API, by the helper program (erltrace_kernel): the same
%% calls, shapes and errors as of scripts inside the node. What other users may: kernel_api.sh.
-module(kernel_api_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1, why_not/0]).

-define(DD, "kapi_dd"). % a name that nobody else's program has

kernel_test_() ->
    {setup, fun dd/0, fun(File) -> file:delete(File) end,
     fun(Dd) ->
             [{timeout, 60, {atom_to_list(Name), fun() -> Test(Dd) end}} ||
                 {Name, Test} <- [
                     {readme, fun readme/1}, {heat_map, fun heat_map/1},
                     {counts, fun counts/1},
                     {buckets, fun buckets/1}, {records, fun records/1},
                     {keeps_records, fun walk_leaves_records/1},
                     {output, fun output/1}, {aggregations, fun aggregations/1},
                     {subscription, fun subscription/1}, {exits, fun exits/1},
                     {errors, fun errors/1}, {options, fun options/1},
                     {shared, fun scripts_share_variables/1}, {mixed, fun mixed/1},
                     {processes, fun processes/1}, {moves, fun moves/1},
                     {only_inside, fun only_inside/1}, {disarmed, fun disarmed/1},
                     {target, fun target/1}, {functions, fun functions/1},
                     {samples, fun samples/1},
                     {cpus, fun samples_of_cpus/1},
                     {handle_killed, fun handle_killed/1}, {snapshot, fun snapshot/1},
                     {recorder, fun recorder/1}, {costs, fun costs/1},
                     {watchdog, fun watchdog/1}, {no_watchdog, fun no_watchdog/1},
                     {silence, fun silence/1},
                     {stopped, fun helper_stopped/1}, {owner, fun owner/1},
                     {together, fun together/1}, {killed, fun helper_killed/1},
                     {process_killed, fun process_killed/1},
                     {forbidden, fun forbidden/1}, {system, fun system_actions/1}, {agent, fun agents_have_none/1},
                     {probes, fun probes/1}]]
     end}.

why_not() ->
    {ok, H} = erltrace:open(),
    Result = case erltrace:compile(H, "syscall::getpid:entry { }") of
                 ok -> erltrace:go(H);
                 Error -> Error
             end,
    erltrace:close(H),
    case Result of
        ok -> none;
        _ -> erltrace:format_error(Result)
    end.

dd() ->
    File = filename:join(os:getenv("TMPDIR", "/tmp"), ?DD),
    {ok, _} = file:copy(os:find_executable("dd"), File),
    ok = file:change_mode(File, 8#755),
    File.

%% So many calls of write(), of so many bytes each.
writes(Dd, N, Bytes) ->
    "" = os:cmd(io_lib:format("~s if=/dev/zero of=/dev/null status=none count=~b bs=~b",
                              [Dd, N, Bytes])).

on(Script) ->
    {ok, H} = erltrace:script(Script),
    H.

%% ---- results ---------------------------------------------------------------------------------

%% The first session of the erltrace of 2013.
readme(Dd) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:compile(H, "dtrace:::BEGIN { trace(\"Hello World\"); } "
                             "syscall:::entry { @num[execname] = count(); }"),
    ok = erltrace:go(H),
    writes(Dd, 100, 1),
    {ok, [{probe, {"dtrace", "", "", "BEGIN"}, "Hello World"}]} = erltrace:consume(H),
    {ok, Counts} = erltrace:walk(H),
    [?assertMatch({count, [[_ | _]], N} when N > 0, C) || C <- Counts],
    [{count, _, N}] = [C || {count, [?DD], _} = C <- Counts],
    ?assert(N >= 200), % reads too
    ok = erltrace:stop(H),
    ok = erltrace:close(H).

%% The heat map of system calls: the first script of its author's article.
heat_map(Dd) ->
    H = on("syscall:::entry\n{\n  self->syscall_entry_ts[probefunc] = vtimestamp;\n}\n"
           "syscall:::return\n/self->syscall_entry_ts[probefunc]/\n{\n"
           "  @time[probefunc] = lquantize((vtimestamp - self->syscall_entry_ts[probefunc]) / 1000, "
           "0, 63, 2);\n  self->syscall_entry_ts[probefunc] = 0;\n}\n"),
    writes(Dd, 3000, 1),
    {ok, R} = erltrace:walk(H),
    JSON = [{list_to_binary(Call), [[[S, E], V] || {{S, E}, V} <- Vs]} || {lquantize, [Call], Vs} <- R],
    {_, Write} = lists:keyfind(<<"write">>, 1, JSON),
    ?assert(lists:sum([V || [_, V] <- Write]) >= 3000),
    ok = erltrace:close(H).

counts(Dd) ->
    H = on("syscall::write:entry /execname == \"" ?DD "\"/ { @[probefunc, arg2] = count(); }"),
    ok = erltrace:walk(H),
    writes(Dd, 20000, 3),
    {ok, [{count, ["write", 3], 20000}]} = erltrace:walk(H),
    ok = erltrace:walk(H), % only what is new
    writes(Dd, 7, 3),
    {ok, [{count, ["write", 3], 7}]} = erltrace:walk(H),
    {ok, #{state := running, running := true, fired := Fired}} = erltrace:status(H),
    ?assert(Fired >= 20007),
    ok = erltrace:close(H).

buckets(Dd) ->
    H = on("syscall::write:entry /execname == \"" ?DD "\"/ { @q = quantize(arg2); @a = avg(arg2);"
           " @l = lquantize(arg2, 0, 100, 10); @s = sum(arg2); @m = max(arg2); }"),
    writes(Dd, 10, 50),
    writes(Dd, 30, 10),
    {ok, Aggs} = erltrace:walk(H),
    ?assertEqual([{avg, [], 20.0}, {lquantize, [], [{{10, 19}, 30}, {{50, 59}, 10}]},
                  {max, [], 50}, {quantize, [], [{{8, 15}, 30}, {{32, 63}, 10}]},
                  {sum, [], 800}], lists:sort(Aggs)),
    ok = erltrace:close(H).

records(Dd) ->
    H = on("syscall::write:entry /execname == \"" ?DD "\"/ { n++; printf(\"%d:%d\", n, arg2); trace(pid); }"
           "END { trace(n); }"),
    writes(Dd, 500, 2),
    {ok, Items} = erltrace:consume(H),
    Printed = [T || {printf, {"syscall", "vmlinux", "write", "entry"}, T} <- Items],
    ?assertEqual([integer_to_list(N) ++ ":2" || N <- lists:seq(1, 500)], Printed),
    ?assertEqual(500, length([P || {probe, {"syscall", _, _, _}, P} <- Items, is_integer(P)])),
    ok = erltrace:stop(H),
    {ok, [{probe, {"dtrace", "", "", "END"}, 500}]} = erltrace:consume(H),
    {error, stopped} = erltrace:consume(H),
    {error, stopped} = erltrace:go(H),
    ok = erltrace:close(H).

%% What nobody consumes stays in the helper's buffers, which are bounded, and not in the node.
walk_leaves_records(Dd) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "bufsize", "16k"),
    ok = erltrace:compile(H, "syscall::write:entry /execname == \"" ?DD "\"/ "
                             "{ printf(\"%d\", arg2); @ = count(); }"),
    ok = erltrace:go(H),
    writes(Dd, 10, 1),
    {ok, [{count, [], 10}]} = erltrace:walk(H),
    {ok, Ten} = erltrace:consume(H),
    10 = length([T || {printf, _, T} <- Ten]),
    writes(Dd, 20000, 1),
    {ok, [{count, [], 20000}]} = erltrace:walk(H),
    ok = erltrace:stop(H),
    {ok, Items} = erltrace:consume(H),
    Dropped = lists:sum([N || {drop, "PRINCIPAL", N, _} <- Items]),
    Printed = length([T || {printf, _, T} <- Items]),
    ?assert(Dropped > 0),
    ?assertEqual(20000, Printed + Dropped),
    ok = erltrace:close(H).

output(Dd) ->
    H = on("#pragma D option quiet\nsyscall::write:entry /execname == \"" ?DD "\"/ { printf(\"%d\\n\", arg2); "
           "@[execname] = count(); }"),
    writes(Dd, 2, 9),
    {ok, Text} = erltrace:output(H),
    ?assertEqual(<<"9\n9\n">>, iolist_to_binary(Text)),
    ok = erltrace:stop(H),
    {done, Last} = erltrace:output(H),
    ?assertMatch({match, _}, re:run(Last, ?DD " +2\n")),
    ok = erltrace:close(H).

aggregations(Dd) ->
    H = on("syscall::write:entry /execname == \"" ?DD "\"/ { @writes[execname] = count(); }"),
    [begin
         writes(Dd, 5, 1),
         Total = 5 * I,
         {ok, [{<<"writes">>, count, [<<?DD>>], Total}]} = erltrace:aggregations(H)
     end || I <- [1, 2, 3]],
    ok = erltrace:close(H).

subscription(Dd) ->
    H = on("syscall::write:entry /execname == \"" ?DD "\"/ { @[execname] = count(); n++; } "
           "syscall::write:entry /execname == \"" ?DD "\" && n == 40/ { trace(n); exit(7); }"),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 50}),
    writes(Dd, 40, 1),
    {Ticks, Done} = collect(Ref, []),
    #{status := {exited, 7}, records := Records} = Done,
    ?assertEqual([40], [N || #{records := Rs} <- [#{records => Records} | Ticks],
                             {probe, {<<"syscall">>, _, _, _}, N} <- Rs]),
    ?assertEqual(40, lists:sum([N || #{aggregations := As} <- [Done | Ticks],
                                     {_, count, [<<?DD>>], N} <- As])),
    ok = erltrace:close(H).

collect(Ref, Ticks) ->
    receive
        {erltrace, Ref, done, Map} -> {Ticks, Map};
        {erltrace, Ref, tick, Map} -> erltrace:ack(Ref), collect(Ref, [Map | Ticks])
    after 20000 -> error(no_end)
    end.

%% By itself: seen without anybody reading.
exits(_) ->
    H = on("syscall::getpid:entry { n++; } tick-50ms { trace(1); exit(3); } END { trace(2); @ = count(); }"),
    until(fun() -> {ok, #{state := S}} = erltrace:status(H), S =:= {exited, 3} end),
    {ok, [{count, [], 1}]} = erltrace:walk(H),
    {ok, Items} = erltrace:consume(H),
    ?assertEqual([1, 2], [V || {probe, _, V} <- Items]),
    {error, exited} = erltrace:walk(H),
    {error, exited} = erltrace:consume(H),
    ok = erltrace:close(H).

until(Fun) -> until(Fun, 400).
until(Fun, N) ->
    case Fun() of
        true -> ok;
        false when N > 0 -> timer:sleep(25), until(Fun, N - 1)
    end.

%% ---- errors ----------------------------------------------------------------------------------

errors(_) ->
    {ok, H} = erltrace:open(),
    {error, no_prog} = erltrace:go(H),
    {error, {dtrace, <<"D_FUNC_UNDEF">>, 2, 3, _}} =
        erltrace:compile(H, "syscall::read:entry {\n  cuont(); }"),
    {error, {dtrace, <<"D_PDESC_ZERO">>, 1, 1, _}} =
        erltrace:compile(H, "syscall::raed:entry { }"),
    {error, {dtrace, <<"D_SYNTAX">>, 1, _, _}} = erltrace:compile(H, "syscall::read:entry {"),
    {error, no_prog} = erltrace:go(H),
    %% What has failed is as if it had never been.
    ok = erltrace:compile(H, "syscall::read:entry { x = $1; }", ["42"]),
    {error, {dtrace, <<"D_MACRO_UNDEF">>, 1, _, _}} =
        erltrace:compile(H, "syscall::read:entry { y = $1; }", []),
    ok = erltrace:go(H),
    {error, already_running} = erltrace:go(H),
    {error, already_running} = erltrace:compile(H, "syscall::read:entry { }"),
    ok = erltrace:close(H),
    {error, closed} = erltrace:walk(H).

options(Dd) ->
    {ok, H} = erltrace:open(),
    {error, {dtrace, <<"ET_OPTION">>, _, _, _}} = erltrace:setopt(H, "nosuch", "1"),
    ok = erltrace:setopt(H, "strsize", "5"),
    ok = erltrace:compile(H, "syscall::write:entry /execname == \"kapi_\"/ { @[execname] = count(); }"),
    ok = erltrace:setopt(H, "aggsize", "64k"),
    ok = erltrace:go(H),
    writes(Dd, 4, 1),
    %% execname has its own length, and strings of the script theirs
    _ = erltrace:walk(H),
    ok = erltrace:close(H),
    %% One that is set between two scripts holds for the second one.
    {ok, Two} = erltrace:open(),
    Tightens = "#pragma D option watchdog=50\nsyscall::read:entry { n++; }",
    {error, {dtrace, <<"D_PRAGMA_OPTSET">>, 1, 0, _}} = erltrace:compile(Two, Tightens),
    ok = erltrace:setopt(Two, "watchdog", "0"),
    ok = erltrace:compile(Two, Tightens),
    ok = erltrace:close(Two),
    {ok, Off} = erltrace:open(),
    ok = erltrace:setopt(Off, "kernel", "off"),
    ok = erltrace:compile(Off, "syscall::write:entry { }"),
    {error, {dtrace, <<"ET_PERMISSION">>, _, _, _}} = erltrace:go(Off),
    ok = erltrace:close(Off).

scripts_share_variables(Dd) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:compile(H, "BEGIN { base = 1000; }"),
    ok = erltrace:compile(H, "syscall::write:entry /execname == \"" ?DD "\"/ { @ = sum(base + arg2); }"),
    ok = erltrace:compile(H, "END { trace(base); }"),
    ok = erltrace:go(H),
    writes(Dd, 3, 5),
    {ok, [{sum, [], 3015}]} = erltrace:walk(H),
    ok = erltrace:stop(H),
    {ok, [{probe, _, 1000}]} = erltrace:consume(H),
    ok = erltrace:close(H).

%% ---- probes of the node besides ---------------------------------------------------------------

f(X) -> X + 1.

%% Both in one handle, exactly counted; self-> is of the Erlang process, at system calls too.
mixed(_) ->
    H = on("erlang*:" ?MODULE_STRING ":f/1:function-entry { @f[copyinstr(arg1)] = count(); self->in = arg2 + 1; n++; }"
           "syscall::openat:entry /self->in/ { @opened[erlpid, copyinstr(arg1)] = count(); }"
           "erlang*:" ?MODULE_STRING ":f/1:function-return { self->in = 0; }"
           "END { printf(\"%d calls\", n); }"),
    _ = [?MODULE:f(I) || I <- lists:seq(1, 1000)],
    ok = erltrace:stop(H),
    {ok, Aggs} = erltrace:walk(H),
    {ok, [{printf, _, "1000 calls"}]} = erltrace:consume(H),
    ?assertEqual([{count, [?MODULE_STRING ":f/1"], 1000}], [A || {count, [_], _} = A <- Aggs]),
    ok = erltrace:close(H),
    {flags, []} = erlang:trace_info(self(), flags).

%% Which Erlang process makes a system call.
processes(_) ->
    H = on("syscall::openat:entry /pid == $target && erlpid != \"\"/ { @[erlpid] = count(); }"),
    {Pid, Mon} = spawn_monitor(fun() -> [prim_file:read_file("/no/such/file") || _ <- [1, 2, 3]] end),
    receive {'DOWN', Mon, _, _, _} -> ok end,
    {ok, Aggs} = erltrace:walk(H),
    ?assert(lists:member({count, [pid_to_list(Pid)], 3}, Aggs)),
    ok = erltrace:close(H).

%% What was compiled for the node moves to the kernel with the first script that names it.
moves(_) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:compile(H, "BEGIN { base = 100; }"),
    ok = erltrace:compile(H, "erlang*:" ?MODULE_STRING ":f/1:function-entry { @ = sum(base); }"),
    ok = erltrace:compile(H, "syscall::getpid:entry { n++; }"),
    ok = erltrace:go(H),
    _ = [?MODULE:f(I) || I <- lists:seq(1, 5)],
    {ok, [{sum, [], 500}]} = erltrace:walk(H),
    ok = erltrace:close(H).

%% What only a node has, beside the kernel: an error that says so, and nothing is left armed.
only_inside(_) ->
    [begin
         {ok, H} = erltrace:open(),
         ok = erltrace:compile(H, "syscall::read:entry { n++; }"),
         Result = case erltrace:compile(H, Script) of
                      ok -> erltrace:go(H);
                      Error -> Error
                  end,
         ?assertMatch({Script, {error, {dtrace, <<_, _/binary>>, _, _, _}}}, {Script, Result}),
         ok = erltrace:close(H)
     end || Script <- ["state:::process-1s { n++; }",
                       "erlang*:no_such_module:f:function-entry { n++; }",
                       "erlang*:" ?MODULE_STRING ":f/1:function-entry /erlmatch(erlarg(0), \"{_}\")/ { n++; }"]],
    {flags, []} = erlang:trace_info(self(), flags),
    [] = helpers().

%% The helper dies: the node is disarmed.
disarmed(_) ->
    H = on("erlang*:" ?MODULE_STRING ":f/1:function-entry { @ = count(); } syscall::getpid:entry { n++; }"),
    ?MODULE:f(1),
    {ok, [{count, [], 1}]} = erltrace:walk(H),
    Before = length(processes()),
    [Helper] = helpers(),
    "" = os:cmd("kill -9 " ++ Helper),
    until(fun() -> length(processes()) =< Before - 3 end), % of the script inside the node
    {error, {dtrace, <<"ET_KERNEL">>, _, _, _}} = erltrace:consume(H),
    ok = erltrace:close(H).

%% ---- probes ----------------------------------------------------------------------------------

%% $target is this node.
target(_) ->
    H = on("syscall::openat:entry /pid == $target/ { trace(copyinstr(arg1)); }"),
    _ = file:read_file("/no/such/file/of/kernel_api"),
    {ok, Items} = erltrace:consume(H),
    ?assert(lists:member("/no/such/file/of/kernel_api", [V || {probe, _, V} <- Items])),
    ok = erltrace:close(H).

functions(_) ->
    H = on("pid$target:libc.so.6:getenv:entry { @ = count(); }"),
    ok = erltrace:walk(H),
    ok = erltrace:close(H),
    {ok, H2} = erltrace:open(),
    {error, {dtrace, <<"D_PDESC_ZERO">>, 1, 1, _}} =
        erltrace:compile(H2, "pid$target:libc.so.6:no_such_function:entry { }"),
    ok = erltrace:close(H2).

samples(Dd) ->
    H = on("profile-997 /execname == \"" ?DD "\"/ { @[execname, ustack(1)] = count(); } "
           "syscall::write:entry { n++; }"),
    writes(Dd, 2000000, 1),
    {ok, Samples} = erltrace:walk(H),
    ?assertMatch([{count, [?DD, _], _} | _], Samples),
    [?assertMatch({count, [?DD, Stack], _} when is_list(Stack), S) || S <- Samples],
    ok = erltrace:close(H).

%% Of a script that names nothing else of the kernel: by the option, whoever runs on the CPUs.
samples_of_cpus(Dd) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "kernel", "on"),
    ok = erltrace:compile(H, "profile-1997 { @[execname, cpu] = count(); @k[stack(3)] = count(); }"),
    ok = erltrace:go(H),
    writes(Dd, 300000, 1),
    {ok, Aggs} = erltrace:walk(H),
    ok = erltrace:close(H),
    [_ | _] = [N || {count, [?DD, _], N} <- Aggs],
    [_ | _] = [F || {count, [[_ | _] = F], _} <- Aggs]. % frames of the kernel

%% ---- a flight recorder -----------------------------------------------------------------------

in_folder(Fun) ->
    Dir = string:trim(os:cmd("mktemp -d")),
    try Fun(Dir)
    after _ = os:cmd("rm -r " ++ Dir)
    end.

recording(Options, Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, Name, Value) || {Name, Value} <- Options],
    ok = erltrace:compile(H, ["#pragma D option bufpolicy=ring\n", Script]),
    ok = erltrace:go(H),
    H.

snapshot(Dd) ->
    in_folder(fun(Dir) ->
        H = recording([{"snapshotdir", Dir}],
                      "syscall::write:entry /execname == \"" ?DD "\"/ { trace(arg2); }"),
        writes(Dd, 50, 7),
        {ok, [File]} = erltrace:snapshot(H, "why not"),
        Dir = filename:dirname(File),
        {ok, Text} = file:read_file(File),
        ?assertMatch(<<"# why not\n", _/binary>>, Text),
        {match, Lines} = re:run(Text, "syscall:vmlinux:write:entry +7\n", [global]),
        ?assertEqual(50, length(Lines)),
        ok = erltrace:close(H)
    end),
    None = recording([], "syscall::read:entry { trace(arg0); }"),
    {error, {dtrace, <<"ET_SNAPSHOT">>, 0, 0, _}} = erltrace:snapshot(None, "why"),
    ok = erltrace:close(None).

%% It tells its alerts and writes its own snapshots, whether somebody reads or not.
recorder(Dd) ->
    in_folder(fun(Dir) ->
        H = recording([{"snapshotdir", Dir}],
                      "syscall::write:entry /execname == \"" ?DD "\" && arg2 == 7/ "
                      "{ n++; } syscall::write:entry /execname == \"" ?DD "\" && n == 20/ "
                      "{ alert(\"many\", \"%d writes\", n); n = 0; }"),
        writes(Dd, 20, 7),
        until(fun() -> filelib:wildcard(filename:join(Dir, "*alert_many*")) =/= [] end),
        {ok, Items} = erltrace:consume(H),
        ?assertMatch([{"many", "20 writes"}],
                     [A || {alert, {"syscall", "vmlinux", "write", "entry"}, A} <- Items]),
        ok = erltrace:close(H)
    end).

%% ---- what it costs ---------------------------------------------------------------------------

%% So much that a limit of one percent is passed, until it is stopped.
busy(Dd) ->
    spawn_link(fun() -> busy_loop(Dd) end).

busy_loop(Dd) ->
    writes(Dd, 100000, 1),
    receive stop -> ok
    after 0 -> busy_loop(Dd)
    end.

%% When this returns nothing of it runs.
idle(Pid) ->
    Mon = erlang:monitor(process, Pid),
    Pid ! stop,
    receive {'DOWN', Mon, _, _, normal} -> ok end.

limited(Options, Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, Name, Value) || {Name, Value} <- Options],
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    H.

-define(COSTLY, "syscall:::entry { @[execname] = count(); @q[probefunc] = quantize(timestamp); }").

%% ns of processor time, of its firings too, which are not its helper's.
costs(Dd) ->
    H = on("syscall::write:entry /execname == \"" ?DD "\"/ { @[execname] = count(); @q = quantize(arg2); }"),
    Nif = erltrace_handle:call(H, nif),
    ok = erltrace:walk(H),
    {Before, _, _} = erltrace_nif:spent(Nif),
    N = 400000,
    writes(Dd, N, 1),
    {ok, [_, _]} = erltrace:walk(H),
    {After, _, Fired} = erltrace_nif:spent(Nif),
    ?assert(Fired >= N),
    ?assertMatch(Ns when Ns > 50 andalso Ns < 5000, (After - Before) div N),
    ok = erltrace:close(H).

watchdog(Dd) ->
    Busy = busy(Dd),
    H = limited([{"watchdog", "1"}, {"watchtime", "500ms"}], ?COSTLY),
    until(fun() -> {ok, #{running := R}} = erltrace:status(H), not R end),
    {ok, #{state := stopped, aborted := <<_/binary>>}} = erltrace:status(H),
    {ok, [_ | _]} = erltrace:walk(H), % what was gathered can be read
    {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, Text}} = erltrace:walk(H),
    ?assertMatch({match, _}, re:run(Text, "^Abort due to systemic unresponsiveness: probes took [0-9]+ % of the "
                                          "processors' busy time for 0\\.5 s, more than watchdog=1 allows$")),
    {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, _}} = erltrace:consume(H),
    idle(Busy),
    ok = erltrace:close(H),
    [] = helpers().

%% The same load, and no limit.
no_watchdog(Dd) ->
    Busy = busy(Dd),
    H = limited([{"watchdog", "0"}, {"watchtime", "100ms"}], ?COSTLY),
    until(fun() -> {ok, #{cost := Cost}} = erltrace:status(H), Cost > 1.0 end),
    until(fun() -> {ok, #{fired := N}} = erltrace:status(H), N > 400000 end),
    {ok, #{running := true, aborted := undefined}} = erltrace:status(H),
    idle(Busy),
    ok = erltrace:close(H).

%% Who would end the script cannot: the firings themselves find that. They end, and the rest is told when it can be.
helper_stopped(Dd) ->
    Busy = busy(Dd),
    H = limited([{"watchtime", "500ms"}, {"watchdog", "0"}],
                "syscall::write:entry /execname == \"" ?DD "\"/ { @ = max(walltimestamp); @n = count(); }"),
    until(fun() -> {ok, #{fired := N}} = erltrace:status(H), N > 1000 end),
    [Helper] = helpers(),
    "" = os:cmd("kill -STOP " ++ Helper),
    From = erlang:system_time(millisecond),
    timer:sleep(3000),
    "" = os:cmd("kill -CONT " ++ Helper),
    until(fun() -> {ok, #{running := R}} = erltrace:status(H), not R end),
    idle(Busy),
    {ok, Aggs} = erltrace:walk(H),
    [Last] = [T || {max, [], T} <- Aggs],
    Ms = Last div 1000000 - From,
    ?assertMatch(M when M > 500 andalso M < 2500, Ms),
    {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, Text}} = erltrace:walk(H),
    ?assertMatch({match, _}, re:run(Text, "did not get to run for 1 s")),
    ok = erltrace:close(H).

%% Records were dropped, and nobody reads any.
silence(Dd) ->
    H = limited([{"silence", "300ms"}, {"bufsize", "4k"}],
                "syscall::write:entry /execname == \"" ?DD "\"/ { trace(arg2); }"),
    writes(Dd, 20000, 1),
    until(fun() -> {ok, #{running := R}} = erltrace:status(H), not R end),
    {ok, [_ | _]} = erltrace:consume(H),
    {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, Text}} = erltrace:consume(H),
    ?assertMatch({match, _}, re:run(Text, "nobody read any for 0\\.3 s")),
    ok = erltrace:close(H).

probes(_) ->
    {ok, [_ | _] = Probes} = erltrace:probes("syscall::read*:entry"),
    [#{function := <<"read">>, provider := <<"syscall">>, name := <<"entry">>, args := [_ | _]}] =
        [P || #{function := <<"read">>} = P <- Probes],
    {error, {dtrace, <<"D_PDESC_ZERO">>, _, _, _}} = erltrace:probes("syscall::nosuchcall:entry").

%% ---- the end ---------------------------------------------------------------------------------

%% Of our helpers: their numbers.
helpers() ->
    Self = os:getpid(),
    [Pid || Dir <- filelib:wildcard("/proc/[0-9]*"),
            Pid <- [filename:basename(Dir)],
            {ok, Stat} <- [file:read_file(filename:join(Dir, "status"))],
            match =:= re:run(Stat, "Name:\\s*erltrace-kernel\n", [{capture, none}]),
            is_below(Pid, Self, 5)].

is_below(Pid, Pid, _) -> true;
is_below(_, _, 0) -> false;
is_below(Pid, Of, N) ->
    case file:read_file("/proc/" ++ Pid ++ "/status") of
        {ok, Stat} ->
            {match, [Parent]} = re:run(Stat, "PPid:\\s*(\\d+)", [{capture, [1], list}]),
            is_below(Parent, Of, N - 1);
        _ -> false
    end.

owner(_) ->
    Self = self(),
    {Pid, Mon} = spawn_monitor(fun() ->
                                       Self ! {handle, on("syscall::read:entry { @ = count(); }")},
                                       receive stop -> ok end
                               end),
    H = receive {handle, Handle} -> Handle end,
    [_] = helpers(),
    exit(Pid, kill),
    receive {'DOWN', Mon, _, _, _} -> ok end,
    until(fun() -> helpers() =:= [] end),
    {error, closed} = erltrace:walk(H).

together(Dd) ->
    Script = "syscall::write:entry /execname == \"" ?DD "\"/ { @ = count(); }",
    Hs = [on(Script) || _ <- [1, 2, 3]],
    3 = length(helpers()),
    writes(Dd, 11, 1),
    [{ok, [{count, [], 11}]} = erltrace:walk(H) || H <- Hs],
    [ok = erltrace:close(H) || H <- Hs],
    [] = helpers(). % when close returns it has ended

%% What was read can still be read; then comes the reason.
helper_killed(Dd) ->
    H = on("syscall::write:entry /execname == \"" ?DD "\"/ { @ = count(); trace(1); }"),
    writes(Dd, 3, 1),
    {ok, [{count, [], 3}]} = erltrace:walk(H),
    [Helper] = helpers(),
    "" = os:cmd("kill -9 " ++ Helper),
    until(fun() -> {ok, #{running := R}} = erltrace:status(H), not R end),
    {error, {dtrace, <<"ET_KERNEL">>, 0, 0, Text}} = erltrace:consume(H),
    ?assertMatch({match, _}, re:run(Text, "signal 9")),
    {ok, #{state := stopped, aborted := <<_/binary>>}} = erltrace:status(H),
    ok = erltrace:close(H).

handle_killed(_) ->
    H = on("syscall::write:entry { @ = count(); }"),
    [_] = helpers(),
    exit(H, kill),
    until(fun() -> helpers() =:= [] end).

process_killed(_) ->
    H = on("syscall::write:entry { @ = count(); }"),
    Sup = element(2, hd([{P, S} || {links, Ls} <- [process_info(H, links)], P <- Ls, is_pid(P),
                                   S <- [P]])),
    Kernel = hd([P || {erltrace_kernel, P, _, _} <- gen_server:call(Sup, which_children)]),
    exit(Kernel, kill),
    until(fun() -> helpers() =:= [] end),
    until(fun() -> {ok, #{running := R}} = erltrace:status(H), not R end),
    {error, {dtrace, <<"ET_KERNEL">>, 0, 0, _}} = erltrace:consume(H),
    ok = erltrace:close(H).

%% ---- who may ---------------------------------------------------------------------------------

%% The settings of the node hold for the helper too.
forbidden(_) ->
    ok = application:set_env(erltrace, destructive, false),
    try
        {ok, H} = erltrace:open(),
        Result = case erltrace:compile(H, "#pragma D option destructive\n"
                                          "syscall::read:entry { raise(9); }") of
                     ok -> erltrace:go(H);
                     Error -> Error
                 end,
        ?assertMatch({error, {dtrace, _, _, _, _}}, Result),
        ok = erltrace:close(H)
    after
        application:unset_env(erltrace, destructive)
    end.

%% What a script does where its results are read, it does in the node, and only as the script has it.
system_actions(_) ->
    File = filename:join(os:getenv("TMPDIR", "/tmp"), "kapi_" ++ os:getpid()),
    H = on(["#pragma D option destructive\nsyscall::getpid:entry { n++; } "
            "BEGIN { system(\"echo %d > ", File, "\", 42); }"]),
    _ = erltrace:consume(H),
    ok = erltrace:close(H),
    {ok, <<"42\n">>} = file:read_file(File),
    ok = file:delete(File).

%% A script that a command or the live page brings into the node has no helper.
agents_have_none(_) ->
    {ok, H, _} = erltrace_handle:start(self()),
    {error, {dtrace, <<"D_PDESC_ZERO">>, 1, 1, _}} =
        erltrace_handle:call(H, {compile, <<"syscall::read:entry { }">>, [], []}),
    erltrace_handle:close(H).
