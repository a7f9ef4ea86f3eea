%% SPDX-License-Identifier: Apache-2.0
%% It cannot harm the node: the watchdog, other tracers beside us, code that is loaded, purged and
%% upgraded under us, destructive actions.
-module(safety_tests).
-include_lib("eunit/include/eunit.hrl").

%% By events, not by the VM's counters: those need no watchdog, and do not care who is traced.
-define(COUNT_F, "#pragma D option counters=0\n"
        "erlang*:safety_tests:f:function-entry { @ = count(); }").
-export([f/1, g/1, work/1]).

-define(ABORT, "Abort due to systemic unresponsiveness").

f(X) -> X + 1.
g(X) -> X + 2.
work(0) -> ok;
work(N) -> ?MODULE:f(N), work(N - 1).

%% A script whose function nobody calls is not charged for the calls that others trace.
neighbours_are_not_paid_for_test_() ->
    {timeout, 120, fun neighbours_are_not_paid_for/0}.

neighbours_are_not_paid_for() ->
    Idle = with_opts([{"counters", "0"}, {"calls", "traced"}], "erlang*:safety_tests:g:function-entry { @[erlpid] = count(); }"),
    Busy = with_opts([{"counters", "0"}, {"calls", "traced"}], "erlang*:safety_tests:f:function-entry { @[erlpid] = count(); }"),
    P = spawn(fun() -> work(300000), receive stop -> ok end end),
    until(fun() -> {ok, #{fired := N}} = erltrace:status(Busy), N >= 300000 end),
    exit(P, kill),
    [A, B] = [spent(H) || H <- [Idle, Busy]],
    [ok = erltrace:close(H) || H <- [Idle, Busy]],
    ?assert(B > 0),
    ?assert(A * 20 < B, {A, B}).

spent(H) ->
    {Spent, _, _} = erltrace_nif:spent(erltrace_handle:call(H, nif)),
    Spent.

%% ---- helpers ---------------------------------------------------------------------------------

%% Waits for a condition, fifty seconds at most.
until(Cond) -> until(Cond, 5000).

until(Cond, 0) -> Cond();
until(Cond, N) ->
    case Cond() of
        true -> true;
        false -> receive after 10 -> until(Cond, N - 1) end
    end.

shared() -> list_to_integer(erlang:system_info(otp_release)) < 27.

%% Nothing of ours in the node.
nothing_left() ->
    Pids = [new_processes | processes()],
    [] = [P || P <- Pids, {flags, [_ | _]} <- [erlang:trace_info(P, flags)]],
    [] = [P || P <- [new_ports | erlang:ports()],
               {flags, [_ | _]} <- [erlang:trace_info(P, flags)]],
    [] = [MFA || MFA <- [{lists, seq, 2}, {?MODULE, f, 1}, {?MODULE, g, 1}, {?MODULE, work, 1}],
                 {traced, K} <- [erlang:trace_info(MFA, traced)], K =/= false, K =/= undefined],
    undefined = application:get_env(erltrace, armed),
    undefined = application:get_env(erltrace, patterns),
    ok.

with_opts(Opts, Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- Opts],
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    H.

busy(Fun) -> spawn_monitor(fun() -> busy_loop(Fun) end).

busy_loop(Fun) -> Fun(), receive stop -> ok after 0 -> busy_loop(Fun) end.

end_all(Ps) ->
    [P ! stop || {P, _} <- Ps],
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ps].

aborted(H) -> {ok, #{aborted := A}} = erltrace:status(H), A.
cost(H) -> {ok, #{cost := C}} = erltrace:status(H), C.

%% ---- the watchdog ----------------------------------------------------------------------------

%% Every scheduler is in probes nearly all of the time: the script is ended, everything is off.
watchdog_ends_dear_script_test_() ->
    {timeout, 60, fun() ->
        Ps = [busy(fun() -> work(100) end) || _ <- lists:seq(1, erlang:system_info(schedulers))],
        H = with_opts([{"watchtime", "200ms"}, {"watchdog", "5"}],
                      "erlang*:safety_tests:f:function-entry"
                      "{ @[copyinstr(arg0), strjoin(copyinstr(arg1), copyinstr(arg0))] = count(); }"),
        ?assert(until(fun() -> aborted(H) =/= undefined end)),
        ?assertMatch(<<?ABORT, _/binary>>, aborted(H)),
        ?assert(until(fun() -> erlang:trace_info({?MODULE, f, 1}, traced) =:= {traced, false} end)),
        ?assert(until(fun() -> {ok, #{running := R}} = erltrace:status(H), not R end)),
        ?assert(until(fun() -> (catch nothing_left()) =:= ok end)), % flags go one by one
        {ok, [_ | _]} = erltrace:walk(H), % what was gathered
        {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, <<?ABORT, _/binary>>}} = E = erltrace:walk(H),
        ?assertNotEqual(nomatch, string:find(erltrace:format_error(E), ?ABORT)),
        end_all(Ps),
        ok = erltrace:close(H)
    end}.

%% The same load under the default limits, or with none: it is left to run.
watchdog_leaves_cheap_script_test_() ->
    {timeout, 60, fun() ->
        P = busy(fun() -> work(100), receive after 1 -> ok end end),
        %% long enough for the handle's process to run on a machine that is busy with other things
        H = with_opts([{"watchtime", "3s"}], ?COUNT_F),
        Off = with_opts([{"watchtime", "3s"}, {"watchdog", "0"}],
                        ?COUNT_F),
        ?assert(until(fun() -> cost(H) > 0 end)),
        receive after 3500 -> ok end, % a whole watchtime was looked at
        Aborted = {aborted(H), aborted(Off)},
        Cost = cost(H),
        end_all([P]), % whatever comes: else its calls are counted in the tests that follow
        ?assertEqual({undefined, undefined}, Aborted),
        ?assert(is_float(Cost) andalso Cost < 30.0),
        ok = erltrace:close(H),
        ok = erltrace:close(Off),
        ok = nothing_left()
    end}.

%% Who looks after a script that is deployed comes by once a second, but sooner if its patience is less.
watchdog_of_deployed_script_comes_in_time_test_() ->
    {timeout, 120, fun() -> comes_in_time(10) end}.

%% On a busy machine it may not run for as long, now and then: again. One that comes too late does so each time.
comes_in_time(Tries) ->
    P = busy(fun() -> work(100), receive after 1 -> ok end end),
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- [{"watchtime", "700ms"}, {"watchdog", "0"}]],
    ok = erltrace:compile(H, ?COUNT_F),
    ok = erltrace_handle:call(H, calm),
    ok = erltrace:go(H),
    receive after 3000 -> ok end,
    Aborted = aborted(H),
    end_all([P]),
    ok = erltrace:close(H),
    case Aborted of
        _ when Aborted =/= undefined, Tries > 1 -> comes_in_time(Tries - 1);
        _ -> ?assertEqual(undefined, Aborted)
    end.

%% Records are dropped and nobody reads any: ended. One who reads is not.
watchdog_ends_silent_consumer_test_() ->
    {timeout, 120, fun() -> silent_consumer(300) end}.

%% A reader that could not run for as long, on a busy machine, was silent too: again, with more time.
silent_consumer(Ms) ->
    Opts = [{"bufsize", "4k"}, {"silence", integer_to_list(Ms) ++ "ms"}, {"watchdog", "0"}],
    Script = "erlang*:safety_tests:f:function-entry { trace(arg2); }",
    P = busy(fun() -> work(100) end),
    Silent = with_opts(Opts, Script),
    Began = now_ms(),
    Reader = with_opts(Opts, Script),
    {Last, Gap} = read_until(Reader, fun() -> aborted(Silent) =/= undefined end, Began, 0),
    Aborted = {aborted(Silent), aborted(Reader)},
    Longest = max(Gap, now_ms() - Last),
    end_all([P]), % whatever comes: else its calls are counted in the tests that follow
    case Aborted of
        {_, Text} when Text =/= undefined, Longest >= Ms, Ms < 10000 ->
            [ok = erltrace:close(H) || H <- [Silent, Reader]],
            silent_consumer(2 * Ms);
        _ ->
            ?assertMatch({<<?ABORT, _/binary>>, undefined}, Aborted),
            {ok, [_ | _]} = erltrace:consume(Silent), % what was gathered
            ?assert(until(fun() ->
                                  case erltrace:consume(Silent) of
                                      {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, _}} -> true;
                                      _ -> false
                                  end
                          end)),
            [ok = erltrace:close(H) || H <- [Silent, Reader]],
            ok = nothing_left()
    end.

now_ms() -> erlang:monotonic_time(millisecond).

%% When it read last, and the longest time, in ms, from one reading to the next.
read_until(Reader, Cond, Last, Gap) ->
    _ = erltrace:consume(Reader),
    Now = now_ms(),
    Longest = max(Gap, Now - Last),
    case Cond() of
        true -> {Now, Longest};
        false -> receive after 10 -> read_until(Reader, Cond, Now, Longest) end
    end.

%% The processes behind the handle do not get to run, while events go on.
watchdog_ends_stall_test_() ->
    {timeout, 60, fun() ->
        P = busy(fun() -> work(100) end),
        Before = processes(),
        H = with_opts([{"watchtime", "1s"}, {"watchdog", "0"}],
                      ?COUNT_F),
        %% of the handle, its supervisor, its limiter; what helped them to begin may be ending
        ?assert(until(fun() -> length(processes() -- Before) =:= 3 end)),
        Ours = processes() -- Before,
        ?assertEqual(3, length(Ours)),
        {ok, [{_, _, _, _}]} = begin until(fun() -> {ok, A} = erltrace:aggregations(H), A =/= [] end),
                                     erltrace:aggregations(H) end,
        ?assert(until(fun() -> cost(H) > 0 end)), % the watchdog has come by
        [true = erlang:suspend_process(Q) || Q <- Ours],
        ?assert(until(fun() -> quiet() end)),
        [true = erlang:resume_process(Q) || Q <- Ours],
        ?assert(until(fun() -> aborted(H) =/= undefined end)),
        ?assertMatch(<<?ABORT, _/binary>>, aborted(H)),
        ?assert(until(fun() -> erlang:trace_info({?MODULE, f, 1}, traced) =:= {traced, false} end)),
        end_all([P]),
        ok = erltrace:close(H),
        ok = nothing_left()
    end}.

%% No handle has events any more: a tracer's call would be for nothing.
quiet() -> erltrace_nif:enabled(trace, 0, self()) =/= trace.

%% exit() in the script: the probes are off although nobody reads.
off_after_exit_unread_test() ->
    {ok, H} = erltrace:script("erlang*:safety_tests:f:function-entry { exit(3); }"),
    ?MODULE:f(1),
    ?assert(until(fun() -> (catch nothing_left()) =:= ok end)), % flags go one by one
    ok = erltrace:close(H).

%% ---- other tracers beside us (before OTP 27; later ones have sessions) -----------------------

%% A collector of what dbg traces.
dbg_start() ->
    Self = self(),
    {ok, _} = dbg:tracer(process, {fun(M, N) -> Self ! {by_dbg, M}, N + 1 end, 0}).

%% Until this one has come. (What is left is not taken for an answer of dbg's, which is {dbg, _}.)
dbg_events(Last) ->
    receive {by_dbg, Last} -> [Last]; {by_dbg, M} -> [M | dbg_events(Last)] after 60000 -> [] end.

%% dbg's patterns are there after we have come and gone, and its processes' events go to it.
dbg_pattern_stays_test() ->
    shared() andalso begin
        {P, M} = busy(fun() -> receive {do, From} -> ?MODULE:f(1), ?MODULE:g(1), From ! did end end),
        dbg_start(),
        {ok, _} = dbg:p(P, [c]),
        {ok, _} = dbg:tpl(?MODULE, f, 1, [{[1], [], [{return_trace}]}]),
        Spec = erlang:trace_info({?MODULE, f, 1}, match_spec),
        {ok, H} = erltrace:script("#pragma D option counters=0\n"
                                  "erlang*:safety_tests:f:function-entry,"
                                  "erlang*:safety_tests:g:function-entry { @[probefunc] = count(); }"),
        {ok, #{skipped := 1, left := 1}} = erltrace:status(H),
        ?assertEqual(Spec, erlang:trace_info({?MODULE, f, 1}, match_spec)),
        P ! {do, self()},
        receive did -> ok end,
        Events = dbg_events({trace, P, return_from, {?MODULE, f, 1}, 2}),
        ?assert(lists:member({trace, P, call, {?MODULE, f, [1]}}, Events)),
        ?assert(lists:member({trace, P, return_from, {?MODULE, f, 1}, 2}, Events)),
        ?assertEqual({ok, []}, erltrace:aggregations(H)), % P is dbg's
        ok = erltrace:close(H),
        ?assertEqual(Spec, erlang:trace_info({?MODULE, f, 1}, match_spec)),
        ?assertEqual({traced, local}, erlang:trace_info({?MODULE, f, 1}, traced)),
        ?assertEqual({traced, false}, erlang:trace_info({?MODULE, g, 1}, traced)),
        dbg:stop_clear(),
        P ! {do, self()},
        end_all([{P, M}]),
        receive did -> ok end,
        ok = nothing_left()
    end.

%% dbg sets a pattern of its own on a function that we trace: it is not taken back with ours.
dbg_pattern_after_us_stays_test() ->
    shared() andalso begin
        {ok, H} = erltrace:script(?COUNT_F),
        1 = erlang:trace_pattern({?MODULE, f, 1}, [{'_', [], [{return_trace}]}], [local]),
        ok = erltrace:close(H),
        ?assertEqual({match_spec, [{'_', [], [{return_trace}]}]},
                     erlang:trace_info({?MODULE, f, 1}, match_spec)),
        1 = erlang:trace_pattern({?MODULE, f, 1}, false, [local]),
        ok = nothing_left()
    end.

%% dbg asks for a process that is ours: it is told so, nothing breaks, and it can have it later.
dbg_after_us_test() ->
    shared() andalso begin
        {P, M} = busy(fun() -> receive {do, From} -> ?MODULE:f(1), From ! did end end),
        {ok, H} = erltrace:script(?COUNT_F),
        dbg_start(),
        {ok, [{matched, _, 0, _}]} = dbg:p(P, [c]),
        P ! {do, self()},
        receive did -> ok end,
        ?assertMatch({ok, [{_, count, [], 1}]}, erltrace:aggregations(H)),
        ok = erltrace:close(H),
        {ok, [{matched, _, 1}]} = dbg:p(P, [c]),
        dbg:stop_clear(),
        P ! {do, self()},
        end_all([{P, M}]),
        receive did -> ok end,
        ok = nothing_left()
    end.

%% ---- code under us ---------------------------------------------------------------------------

%% A module of the test's own; returns its binary.
make(Module, Value) ->
    {ok, Module, Bin} = compile:forms(
        [{attribute, 1, module, Module}, {attribute, 1, export, [{v, 0}]},
         {function, 1, v, 0, [{clause, 1, [], [], [{integer, 1, Value}]}]}]),
    Bin.

load(Module, Value) ->
    {module, Module} = code:load_binary(Module, "none", make(Module, Value)).

%% A traced module is loaded anew, deleted, purged, while a process calls it.
traced_module_reloaded_and_purged_test_() ->
    {timeout, 60, fun() ->
        load(safety_code, 0),
        P = busy(fun() -> catch safety_code:v() end),
        Script = "erlang*:safety_code::function-entry, erlang*:safety_code::function-return"
                 "{ @[probefunc, copyinstr(arg1)] = count(); }",
        [begin
             {ok, H} = erltrace:script(Script),
             load(safety_code, I),
             code:soft_purge(safety_code),
             {ok, _} = erltrace:aggregations(H),
             code:delete(safety_code),
             code:purge(safety_code),
             load(safety_code, I),
             ok = erltrace:close(H)
         end || I <- lists:seq(1, 30)],
        end_all([P]),
        ?assertEqual({traced, false}, erlang:trace_info({safety_code, v, 0}, traced)),
        code:delete(safety_code), code:purge(safety_code),
        ok = nothing_left()
    end}.

%% The library has every function of c_src/beam/nifs.def, as a NIF or as a job, and nothing else is exported.
nifs_are_the_exports_test() ->
    Nifs = erltrace_nif:module_info(nifs),
    Erlang = [{keep_large, 2}, {probes, 2}, {module_info, 0}, {module_info, 1}],
    Jobs = [F || F <- erltrace_nif:module_info(exports), not lists:member(F, Nifs ++ Erlang)],
    [?assertError(badarg, erltrace_nif:job(make_ref(), Name, lists:duplicate(Arity + 1, x))) ||
        {Name, Arity} <- Jobs],
    [?assertError(badarg, apply(erltrace_nif, F, [x || _ <- lists:seq(1, A)])) ||
        {F, A} <- [{go, 1}, {compile, 4}, {close, 1}]],
    ?assertEqual(lists:sort(erltrace_nif:module_info(exports)), lists:sort(Nifs ++ Jobs ++ Erlang)),
    ?assertError(badarg, erltrace_nif:job(make_ref(), status, [x])).

%% The library's own module is loaded once more: the handle goes on. (code:purge/1 would kill it if
%% it is inside a call of the library at that moment, as it is some times a second.)
nif_reloaded_while_tracing_test() ->
    {ok, H} = erltrace:script("erlang*:safety_tests:f:function-entry { @ = count(); }"),
    ?MODULE:f(1),
    {module, erltrace_nif} = code:load_file(erltrace_nif),
    ?MODULE:f(1),
    ?assert(until(fun() -> code:soft_purge(erltrace_nif) end)),
    ?MODULE:f(1),
    {ok, [{_, count, [], N}]} = erltrace:aggregations(H),
    ?assert(N >= 1),
    ok = erltrace:close(H),
    ok = nothing_left(),
    {ok, H2} = erltrace:script("erlang*:safety_tests:f:function-entry { @ = count(); }"),
    ?MODULE:f(1),
    ?assertMatch({ok, [{_, count, [], 1}]}, erltrace:aggregations(H2)),
    ok = erltrace:close(H2).

%% It is deleted and purged under a running handle: no crash, nothing left, and it can be used
%% again.
nif_purged_while_tracing_test() ->
    {ok, H} = erltrace:script("erlang*:safety_tests:f:function-entry { @ = count(); }"),
    M = erlang:monitor(process, H),
    P = busy(fun() -> work(10) end),
    true = code:delete(erltrace_nif),
    code:purge(erltrace_nif),
    _ = erltrace:aggregations(H),
    _ = erltrace:close(H),
    receive {'DOWN', M, process, H, _} -> ok end,
    end_all([P]),
    ?assert(until(fun() -> try nothing_left() =:= ok catch _:_ -> false end end)),
    {ok, H2} = erltrace:script("erlang*:safety_tests:f:function-entry { @ = count(); }"),
    ?MODULE:f(1),
    ?assertMatch({ok, [{_, count, [], 1}]}, erltrace:aggregations(H2)),
    ok = erltrace:close(H2),
    ok = nothing_left().

%% Another library takes the place of the one that traces: in a node of its own, as what is loaded
%% stays loaded.
nif_upgraded_while_tracing_test_() ->
    {timeout, 60, fun() ->
        Copy = filename:join(tmp_dir(), "erltrace_copy"),
        Lib = filename:join(lib_dir(), "priv/erltrace.so"),
        {ok, _} = file:copy(Lib, Copy ++ ".so"),
        ?assertMatch("upgraded" ++ _, node_says(
            "{ok, H} = erltrace:script(\"erlang*:lists:seq:function-entry { @ = count(); }\"),"
            "lists:seq(1, 2), M = erlang:monitor(process, H),"
            "application:set_env(erltrace, library, \"" ++ Copy ++ "\"),"
            "{module, erltrace_nif} = code:load_file(erltrace_nif),"
            "lists:seq(1, 2), code:purge(erltrace_nif), lists:seq(1, 2),"
            "_ = erltrace:walk(H), ok = erltrace:close(H),"
            "receive {'DOWN', M, process, H, _} -> ok end,"
            "F = fun F() -> case {erlang:trace_info({lists, seq, 2}, traced),"
            "                     erlang:trace_info(new_processes, flags),"
            "                     erlang:trace_info(self(), flags)} of"
            "  {{traced, false}, {flags, []}, {flags, []}} -> ok;"
            "  _ -> receive after 10 -> F() end end end, F(),"
            "{ok, H2} = erltrace:script(\"erlang*:lists:seq:function-entry { @ = count(); }\"),"
            "lists:seq(1, 2), {ok, [{count, [], 1}]} = erltrace:walk(H2), ok = erltrace:close(H2),"
            "io:put_chars(\"upgraded\")")),
        file:delete(Copy ++ ".so")
    end}.

lib_dir() -> filename:join(filename:dirname(code:which(erltrace_nif)), "..").

tmp_dir() ->
    Dir = filename:join(["/tmp", "erltrace_safety." ++ os:getpid()]),
    ok = filelib:ensure_dir(filename:join(Dir, "x")),
    Dir.

%% What another VM writes that evaluates this; its exit status behind it.
node_says(Code) -> node_says(Code, "").

node_says(Code, Flags) ->
    Ebin = filename:dirname(code:which(erltrace_nif)),
    os:cmd("ERL_CRASH_DUMP=/dev/null timeout 50 erl -noinput -boot start_clean " ++ Flags ++ " -pa " ++
               Ebin ++ " -eval '" ++ lists:flatten(string:replace(Code, "'", "'\\''", all)) ++
               ", halt(0).' 2>&1; echo \" status $?\"").

%% ---- signals ---------------------------------------------------------------------------------

%% A segmentation fault that is not ours kills the node as it does without us.
real_segv_still_kills_test_() ->
    {timeout, 60, fun() ->
        Kill = "os:cmd(\"kill -SEGV \" ++ os:getpid()), receive after 30000 -> io:put_chars(alive) end",
        Trace = "{ok, _} = erltrace:script(\"erlang*:lists:seq:function-entry { @ = count(); }\"),"
                "lists:seq(1, 2),",
        Without = node_says(Kill),
        ?assertEqual(nomatch, string:find(Without, "alive")),
        ?assertEqual(nomatch, string:find(Without, "status 0")),
        ?assertEqual(status(Without), status(node_says(Trace ++ Kill)))
    end}.

status(Text) -> string:trim(lists:last(string:split(Text, "status ", all))).

%% A script that reads what is not there gets a fault, the node goes on.
bad_address_is_a_fault_test() ->
    {ok, H} = erltrace:script("erlang*:safety_tests:f:function-entry"
                              "{ @[copyinstr(8)] = count(); }"
                              "erlang*:safety_tests:f:function-entry"
                              "{ @n = sum(*(int64_t *)0x123456789000); }"
                              "ERROR { @errors = count(); }"),
    [?MODULE:f(I) || I <- lists:seq(1, 100)],
    {ok, Aggs} = erltrace:aggregations(H),
    ?assertEqual([200], [V || {<<"errors">>, count, [], V} <- Aggs]),
    ok = erltrace:close(H).

%% ---- terms without bounds --------------------------------------------------------------------

%% What an event takes does not grow with the terms that come with it: an exit reason of many
%% megabytes is not walked to its end, nor an iolist of empty elements.
exit_reason_is_cut_test() ->
    {ok, H} = erltrace:script("erlang*:::process-exit { @[copyinstr(arg1)] = count(); }"),
    Bin = binary:copy(<<"a">>, 5000000),
    {P, M} = spawn_monitor(fun() -> exit({reason, Bin}) end),
    receive {'DOWN', M, process, P, _} -> ok end,
    {ok, Aggs} = erltrace:aggregations(H),
    [Text] = [T || {_, count, [<<"{reason,<<\"aaa", _/binary>> = T], 1} <- Aggs],
    ?assert(byte_size(Text) < 256),
    ok = erltrace:close(H).

iolist_of_nothing_is_cut_test() ->
    {ok, H} = erltrace:script("erlang*:::user_trace-i4s4 { @[copyinstr(arg6)] = count(); }"),
    true = dtrace:p(lists:duplicate(1000000, [])),
    ?assertMatch({ok, [{_, count, [<<>>], 1}]}, erltrace:aggregations(H)),
    ok = erltrace:close(H).

%% ---- destructive actions ---------------------------------------------------------------------

destructive(Script) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "destructive", ""),
    ok = erltrace:compile(H, Script),
    Result = erltrace:go(H),
    ok = erltrace:close(H),
    Result.

%% They would stop or kill the whole node.
signals_are_refused_in_a_node_test() ->
    [?assertMatch({error, {dtrace, <<"ET_DESTRUCTIVE">>, _, _, _}},
                  destructive("erlang*:safety_tests:f:function-entry { " ++ Action ++ "; }"))
     || Action <- ["stop()", "raise(9)", "panic()", "breakpoint()"]],
    ok = destructive("BEGIN { chill(1000); }").

chill_is_bounded_in_a_node_test() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "destructive", ""),
    ok = erltrace:compile(H, "erlang*:safety_tests:f:function-entry { chill(100000000); }"
                             "ERROR { @ = count(); }"),
    ok = erltrace:go(H),
    ?MODULE:f(1),
    ?assertMatch({ok, [{_, count, [], 1}]}, erltrace:aggregations(H)),
    ok = erltrace:close(H).

%% The node's setting holds whatever a script says.
destructive_forbidden_by_node_test() ->
    application:set_env(erltrace, destructive, false),
    try
        {error, {dtrace, <<"ET_DESTRUCTIVE">>, _, _, Text}} =
            destructive("#pragma D option destructive\nBEGIN { system(\"true\"); }"),
        ?assertNotEqual(nomatch, string:find(Text, "this node"))
    after
        application:unset_env(erltrace, destructive)
    end,
    ok = destructive("BEGIN { chill(10); }").
