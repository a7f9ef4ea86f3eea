%% SPDX-License-Identifier: Apache-2.0
%% Scripts of a release: they start with the application, and what they count is what happened, whatever
%% ends their processes; budgets are kept; bad files and settings harm nobody else; prometheus.erl and
%% telemetry get it all.
-module(deploy_tests).
-include_lib("eunit/include/eunit.hrl").
-export([execute/3]). % as the module telemetry
-export([log/2]). % as a handler of logger
-export([with/3, logged/1, log_lines/0, log_lines/1, lines_of/2, write/3, wait/1, armed/1, state/1, about/1, fire/1, value/1,
         shows/2]). % for deploy_attack_tests

-define(COUNT, "erlang*:::user_trace-n12 { @calls[\"k\"] = count(); @sum = sum(arg2); @mean = avg(3); }\n").

%% ---- the application with scripts ------------------------------------------------------------

with(Scripts, Fun) -> with(Scripts, [], Fun).

%% Scripts: {Name, Text} are files of a folder.
with(Scripts, Settings, Fun) ->
    Dir = string:trim(os:cmd("mktemp -d")),
    [write(Dir, Name, Text) || {Name, Text} <- Scripts],
    _ = application:load(erltrace),
    All = [{scripts, [Dir]}, {budget, 100}, {budget_all, 100} | Settings],
    Last = maps:to_list(maps:from_list(All)),
    [application:set_env(erltrace, K, V) || {K, V} <- Last],
    ok = application:start(erltrace),
    try Fun(Dir)
    after
        ok = application:stop(erltrace),
        [application:unset_env(erltrace, K) || {K, _} <- Last],
        os:cmd("rm -r " ++ Dir)
    end.

%% What OTP's own handler of logs lets through: it drops events of a domain that it does not know.
log(#{msg := Msg}, #{config := To}) -> To ! {logged, Msg}, ok.

logged(Fun) ->
    {ok, #{filters := Filters, filter_default := Default}} = logger:get_handler_config(default),
    ok = logger:add_handler(?MODULE, ?MODULE, #{config => self(), filters => Filters, filter_default => Default}),
    try Fun()
    after ok = logger:remove_handler(?MODULE), log_lines()
    end.

%% What was logged since the last call.
log_lines() ->
    receive
        {logged, {string, Text}} -> [unicode:characters_to_binary(Text) | log_lines()];
        {logged, {Format, Args}} when is_list(Args) -> [unicode:characters_to_binary(io_lib:format(Format, Args)) | log_lines()];
        {logged, _} -> log_lines()
    after 0 -> []
    end.

%% The same, when each of these is among it: what a script's state says may be seen a moment before the line
%% that tells of it is logged.
log_lines(Whats) -> log_lines(Whats, [], erlang:monotonic_time(second) + 60).

log_lines(Whats, Had, Until) ->
    Lines = Had ++ log_lines(),
    case [What || What <- Whats, lines_of(What, Lines) =:= []] of
        [] -> Lines;
        Missing ->
            ?assert(erlang:monotonic_time(second) < Until, {Missing, Lines}),
            timer:sleep(10),
            log_lines(Whats, Lines, Until)
    end.

lines_of(What, Lines) -> [L || L <- Lines, binary:match(L, What) =/= nomatch].

bad_scripts_are_in_the_node_s_log_test() ->
    logged(fun() -> with([{"bad.d", "erlang*:::no-such-probe { x = 1; }"}], fun(_) ->
        receive {logged, {"erltrace: ~ts: ~ts", [File, _]}} -> ?assertEqual("bad.d", filename:basename(File))
        after 60000 -> error(not_logged)
        end
    end) end).

%% Each once, until the file changes, however often it is tried; one that ends at once is tried less and less
%% often. Clauses that fail over and over are told once a minute, and counted.
told_once_test_() -> {timeout, 60, fun told_once/0}.

told_once() ->
    Scripts = [{"bad.d", "BEGIN { @x = count(; }"}, {"ends.d", "BEGIN { @begun = count(); exit(0); }"},
               {"fails.d", "tick-10hz { x = *(int *)0; }"}],
    Names = [<<"bad.d">>, <<"ends.d">>, <<"fails.d">>],
    From = erlang:monotonic_time(millisecond),
    logged(fun() -> with(Scripts, fun(Dir) ->
        wait(fun() -> maps:get(errors, about(<<"bad">>), 0) >= 4 end),
        wait(fun() -> value(<<"erltrace_ends_begun_total">>) >= 3 end),
        wait(fun() -> maps:get(errors, about(<<"fails">>), 0) > 10 end),
        Begun = value(<<"erltrace_ends_begun_total">>),
        ?assert(waits(Begun - 1) =< erlang:monotonic_time(millisecond) - From),
        Lines = log_lines(Names),
        [?assertMatch([_], lines_of(Name, Lines)) || Name <- Names],
        write(Dir, "bad.d", "BEGIN { @x = count(;; }"),
        ok = erltrace:reload(),
        wait(fun() -> lines_of(<<"bad.d">>, log_lines()) =/= [] end)
    end) end).

%% ms until it has been tried so many times again: 0.5, 1, 2 s.
waits(Times) -> 500 * ((1 bsl Times) - 1).

%% Once for what goes on, and when it is over; no more than so many a minute; what is left out is counted and
%% told.
alerts_test_() -> {timeout, 60, fun alerts/0}.

alerts() ->
    Script = "erlang*:::user_trace-n12 { alert(arg2 < 1000 ? \"slow\" : lltostr(arg2), \"it took %d ms\", arg2); }",
    logged(fun() -> with([{"a.d", Script}], [{alerts, [{hold, 6}, {per_minute, 5}]}], fun(Dir) ->
        armed(<<"a">>),
        fire(200),
        shows(<<"erltrace_alert">>, 1),
        shows(<<"erltrace_alert_calls_total">>, 200),
        fire(100),
        shows(<<"erltrace_alert_calls_total">>, 300),
        wait(fun() -> samples(<<"erltrace_alert">>) =:= [] end),
        Lines = log_lines([<<"alert slow is over">>]),
        ?assertMatch([_], lines_of(<<"alert slow: it took ">>, Lines)),
        ?assertMatch([_], lines_of(<<"alert slow is over">>, Lines)),
        [dtrace:pn(12, I) || I <- lists:seq(1001, 1100)],
        shows(<<"erltrace_alerts_dropped_total">>, 96), % one has begun in this minute already
        ?assertEqual(4, value(<<"erltrace_alert">>)),
        ?assertMatch([_], lines_of(<<"too many alerts">>, log_lines())),
        ok = file:delete(filename:join(Dir, "a.d")),
        ok = erltrace:reload(),
        ?assertEqual([], samples(<<"erltrace_alert">>)),
        ?assertEqual(4, length(lines_of(<<" is over">>, log_lines())))
    end) end).

%% What was traced may be what somebody has sent: in the log it begins no line of its own, and draws nothing.
alert_of_others_test_() -> {timeout, 60, fun alert_of_others/0}.

alert_of_others() ->
    Script = "erlang*:::message-send /erlmatch(erlmsg, \"{of_others, T}\")/ { alert(erltext(this->T), \"%s\", erltext(this->T)); }",
    logged(fun() -> with([{"o.d", Script}], [{alerts, [{hold, 1}]}], fun(_) ->
        armed(<<"o">>),
        self() ! {of_others, <<"a\nERROR b\e[2J\d", 16#9b/utf8, "2Jc">>},
        Lines = log_lines([<<"alert a ERROR b [2J  2Jc: a ERROR b [2J  2Jc">>, <<"2Jc is over">>]),
        ?assertEqual([], [L || L <- Lines, C <- unicode:characters_to_list(L), C < $\s orelse (C >= 16#7f andalso C < 16#a0)])
    end) end).

%% What a ring holds at the end is for nobody; what has been told is not told again.
ring_test() ->
    {ok, H, _} = erltrace_handle:start(self()),
    Script = "#pragma D option bufpolicy=ring\n"
        "erlang*:::user_trace-n12 { printf(\"%d\", arg2); } erlang*:::user_trace-n12 /arg2 == 7/ { alert(\"seven\", \"x\"); }",
    ok = erltrace_handle:call(H, {compile, iolist_to_binary(Script), []}),
    {ok, Opts} = erltrace_sub:options(#{interval => 100, output => alerts, aggregations => ticks}),
    {ok, Ref} = erltrace_handle:call(H, {subscribe, self(), Opts}),
    ok = erltrace_handle:call(H, go),
    1000 = fire(1000),
    timer:sleep(300),
    ok = erltrace_handle:call(H, stop),
    ok = erltrace_handle:close(H),
    ?assertMatch([{alert, _, {<<"seven">>, <<"x">>}}], records(Ref)).

%% The folder is a setting of the script's options.
snapshotdir_test() ->
    Script = "#pragma D option bufpolicy=ring\n"
        "erlang*:::user_trace-n12 { printf(\"%d\", arg2); } erlang*:::user_trace-n12 /arg2 == 7/ { snapshot(\"seven\"); }",
    with([{"r.d", Script}], fun(Dir) ->
        Path = filename:join(Dir, "r.d"),
        application:set_env(erltrace, scripts, [{Path, [{options, [{"snapshotdir", Dir}, {"snapshotmax", "20"}]}]}]),
        ok = erltrace:reload(),
        wait(fun() -> dtrace:pn(12, 7), filelib:wildcard(filename:join(Dir, "*-r-*seven.txt")) =/= [] end)
    end).

records(Ref) ->
    receive
        {erltrace, Ref, tick, #{records := Records}} -> erltrace:ack(Ref), Records ++ records(Ref);
        {erltrace, Ref, done, #{records := Records}} -> Records
    after 60000 -> error(no_end)
    end.

write(Dir, Name, Text) -> ok = file:write_file(filename:join(Dir, Name), Text).

state(Name) -> maps:get(state, about(Name), none).
about(Name) -> proplists:get_value(Name, erltrace:scripts(), #{}).

%% Waits for what happens, a minute at most.
wait(Fun) -> wait(Fun, erlang:monotonic_time(second) + 60).

wait(Fun, Until) ->
    case Fun() of
        false ->
            ?assert(erlang:monotonic_time(second) < Until),
            timer:sleep(10),
            wait(Fun, Until);
        Result -> Result
    end.

armed(Name) -> wait(fun() -> state(Name) =:= armed end).

%% How many of so many events a script took.
fire(N) -> length([true || I <- lists:seq(1, N), dtrace:pn(12, I)]).

samples(Name) ->
    case lists:keyfind(Name, 1, erltrace:metrics()) of
        {_, _, _, Samples} -> Samples;
        false -> []
    end.

value(Name) -> lists:sum([V || {_, V} <- samples(Name)]).

shows(Name, Value) -> wait(fun() -> value(Name) =:= Value end).

pid(Name) -> % of a script's process
    #{scripts := Pids} = proplists:get_value("State", lists:append([D || {data, D} <- misc(erltrace_deploy)])),
    maps:get(Name, Pids).

misc(Server) ->
    {status, _, _, [_, _, _, _, Misc]} = sys:get_status(Server),
    Misc.

%% ---- counted to the event --------------------------------------------------------------------

counted_test() ->
    with([{"a.d", ?COUNT}], fun(_) ->
        armed(<<"a">>),
        ?assertEqual(1000, fire(1000)),
        shows(<<"erltrace_a_calls_total">>, 1000),
        Node = atom_to_binary(node()),
        ?assertEqual([{<<"node=\"", Node/binary, "\",key0=\"k\"">>, 1000}], samples(<<"erltrace_a_calls_total">>)),
        ?assertEqual(500500, value(<<"erltrace_a_sum_total">>)),
        ?assertMatch([{_, 1000, 3000}], samples(<<"erltrace_a_mean">>)),
        wait(fun() -> maps:get(events, about(<<"a">>)) =:= 1000 end)
    end).

%% Events go on while the script's process is killed and started again, three times.
killed_test() ->
    with([{"a.d", ?COUNT}], fun(_) ->
        armed(<<"a">>),
        Fired = worked(fun work/1, fun() -> kill(3) end),
        ?assert(Fired > 0),
        wait(fun() -> taken(Fired, 3) end),
        ?assertEqual(3, value(<<"erltrace_script_restarts_total">>))
    end).

kill(Times) ->
    [begin
         Pid = wait(fun() -> is_pid(pid(<<"a">>)) andalso state(<<"a">>) =:= armed andalso pid(<<"a">>) end),
         timer:sleep(100),
         exit(Pid, kill),
         wait(fun() -> New = pid(<<"a">>), is_pid(New) andalso New =/= Pid end),
         armed(<<"a">>)
     end || _ <- lists:seq(1, Times)].

%% All were counted, but for one at each end of a script: dtrace:pn() may just have seen it running.
taken(Fired, Ends) ->
    N = value(<<"erltrace_a_calls_total">>),
    N =< Fired andalso N >= Fired - Ends.

%% How many events a script took while Fun ran.
worked(Work, Fun) ->
    Self = self(),
    Worker = spawn(fun() -> Self ! {fired, Work(0)} end),
    try Fun() of
        _ -> Worker ! stop, receive {fired, N} -> N end
    after
        exit(Worker, kill)
    end.

work(N) ->
    receive stop -> N
    after 0 -> timer:sleep(1), work(N + fire(20))
    end.

%% The totals outlive the process that adds them up.
totals_test() ->
    with([{"a.d", ?COUNT}], fun(_) ->
        armed(<<"a">>),
        First = fire(100),
        shows(<<"erltrace_a_calls_total">>, First),
        Old = whereis(erltrace_metrics),
        exit(Old, kill),
        wait(fun() -> is_pid(whereis(erltrace_metrics)) andalso whereis(erltrace_metrics) =/= Old end),
        wait(fun() -> is_pid(whereis(erltrace_deploy)) andalso dtrace:pn(12, 1) end),
        Second = fire(100),
        shows(<<"erltrace_a_calls_total">>, First + 1 + Second)
    end).

%% ---- files -----------------------------------------------------------------------------------

files_test() ->
    Bad = {"bad.d", "BEGIN\n{\n\t@x = count(;\n}\n"},
    with([Bad, {"a.d", ?COUNT}], fun(Dir) ->
        armed(<<"a">>),
        wait(fun() -> state(<<"bad">>) =:= failed end),
        ?assertMatch({match, _}, re:run(maps:get(why, about(<<"bad">>)), "^line 3, ")),
        fire(10),
        write(Dir, "bad.d", "erlang*:::user_trace-n12 { @fine = count(); }"),
        write(Dir, "new.d", "BEGIN { @begun = count(); }"),
        ok = erltrace:reload(),
        armed(<<"bad">>),
        shows(<<"erltrace_new_begun_total">>, 1),
        fire(10),
        shows(<<"erltrace_bad_fine_total">>, 10),
        shows(<<"erltrace_a_calls_total">>, 20),
        ok = file:delete(filename:join(Dir, "bad.d")),
        ok = erltrace:reload(),
        ?assertEqual([], samples(<<"erltrace_bad_fine_total">>)),
        ?assertEqual([<<"a">>, <<"new">>], [Name || {Name, _} <- erltrace:scripts()])
    end).

%% A module that is not loaded yet: the script waits for it, and counts from when it is armed.
later_test() ->
    Script = "erlang*:deploy_later:f:function-entry { @f = count(); } erlang*:lists:seq:function-entry { @seq = count(); }",
    logged(fun() -> with([{"l.d", Script}], fun(_) ->
        armed(<<"l">>),
        Text = <<"erlang*:deploy_later:f:function-entry matches nothing yet: module deploy_later is not loaded; "
                 "its functions are traced as soon as it is">>,
        wait(fun() -> maps:get(unmatched, about(<<"l">>)) =:= [Text] end),
        ?assertEqual(1, value(<<"erltrace_script_unmatched">>)),
        ?assertMatch([_], lines_of(<<"l.d: ", Text/binary>>, log_lines([Text]))),
        load_later(),
        wait(fun() -> apply(deploy_later, f, [1]), value(<<"erltrace_l_f_total">>) > 0 end),
        Before = settled(<<"erltrace_l_f_total">>),
        [apply(deploy_later, f, [I]) || I <- [1, 2, 3]],
        shows(<<"erltrace_l_f_total">>, Before + 3),
        shows(<<"erltrace_script_unmatched">>, 0)
    end) end),
    unload_later().

%% A function that there is not may come with the next version of its module, in whatever order they are named;
%% another name never will.
misspelt_names_in_any_order_test() ->
    Function = "erlang*:lists:seqq:function-entry { @f = count(); }\n",
    Probe = "erlang*:::proces-spawn { @p = count(); }\n",
    with([{"f.d", [Function, ?COUNT]}, {"fp.d", [Function, Probe]}, {"pf.d", [Probe, Function]}], fun(_) ->
        armed(<<"f">>),
        [wait(fun() -> state(N) =:= failed end) || N <- [<<"fp">>, <<"pf">>]],
        [?assertMatch({match, _}, re:run(maps:get(why, about(N)),
                                         [Line, ".*erlang\\*:::proces-spawn does not match any probes"]))
         || {N, Line} <- [{<<"fp">>, "line 2"}, {<<"pf">>, "line 1"}]],
        ?assertMatch([<<"erlang*:lists:seqq:function-entry matches nothing yet", _/binary>>], maps:get(unmatched, about(<<"f">>)))
    end).

%% Names that are misspelt, of a module that is loaded later, and of one that is there: each is told, and the
%% rest runs, also after a pause.
misspelt_function_test() ->
    Script = ["erlang*:deploy_later:ff:function-entry, erlang*:lists:seqq/2:function-entry { @never = count(); }", ?COUNT],
    logged(fun() -> with([{"m.d", Script}], fun(_) ->
        armed(<<"m">>),
        shows(<<"erltrace_script_unmatched">>, 2),
        Lines = log_lines([<<"deploy_later:ff:">>, <<"lists:seqq/2:">>]),
        ?assertMatch([_], lines_of(<<"deploy_later:ff:function-entry matches nothing yet: module deploy_later is not loaded">>, Lines)),
        ?assertMatch([_], lines_of(<<"lists:seqq/2:function-entry matches nothing yet: module lists has no such function: "
                                     "did you mean 'seq/2' or 'seq/3'?">>, Lines)),
        load_later(),
        wait(fun() -> lines_of(<<"module deploy_later has no such function: did you mean 'f/1'?">>, log_lines()) =/= [] end),
        ?assertEqual(2, value(<<"erltrace_script_unmatched">>)),
        ?assertEqual(1, value(<<"erltrace_script_up">>)),
        Old = handle(<<"m">>),
        exit(Old, kill),
        wait(fun() -> New = handle(<<"m">>), is_pid(New) andalso New =/= Old end), % it has failed for a moment
        ?assertEqual(armed, state(<<"m">>)),
        10 = fire(10),
        shows(<<"erltrace_m_calls_total">>, 10),
        ?assertEqual(1, length(lines_of(<<"m.d: ">>, log_lines()))) % that its handle has ended
    end) end),
    unload_later().

handle(Name) ->
    {status, _, _, [_, _, _, _, Misc]} = sys:get_status(pid(Name)),
    {_, #{handle := Handle}} = proplists:get_value("State", lists:append([D || {data, D} <- Misc])),
    Handle.

load_later() ->
    {ok, deploy_later, Code} = compile:forms([{attribute, 1, module, deploy_later}, {attribute, 1, export, [{f, 1}]},
        {function, 1, f, 1, [{clause, 1, [{var, 1, 'X'}], [], [{var, 1, 'X'}]}]}]),
    {module, deploy_later} = code:load_binary(deploy_later, "deploy_later.erl", Code).

unload_later() ->
    true = code:delete(deploy_later),
    code:purge(deploy_later).

%% The value when the last ticks have come.
settled(Name) ->
    Value = value(Name),
    timer:sleep(2500),
    case value(Name) of
        Value -> Value;
        _ -> settled(Name)
    end.

%% One that ends by itself is started again; its totals go on.
ended_test() ->
    with([{"e.d", "BEGIN { @begun = count(); exit(0); }"}], fun(_) ->
        wait(fun() -> value(<<"erltrace_e_begun_total">>) >= 2 end),
        ?assert(maps:get(errors, about(<<"e">>)) >= 1)
    end).

settings_test() ->
    Settings = [{scripts, ["/nowhere/x.d", {"y.d", [{bugdet, 1}]}, 17]}, {budget, a_lot}, {metrics, [{max_label, 3}]}],
    with([], Settings, fun(_) ->
        [wait(fun() -> state(Name) =:= failed end) || Name <- [<<"x">>, <<"y">>]],
        ?assertEqual(<<"no such file or directory">>, maps:get(why, about(<<"x">>))),
        ?assertEqual(<<"no such file or directory">>, maps:get(why, about(<<"y">>)))
    end).

%% ---- names -----------------------------------------------------------------------------------

names_test() ->
    Script = "#pragma D metric @lat name=store_latency help=\"How long the store took.\" unit=ns labels=op\n"
        "#pragma D metric @p unit=us\n"
        "BEGIN { @lat[\"get\"] = lquantize(1500, 0, 3000, 1000); @p = percentile(17, 50, 99.9);\n"
        "        @a = avg(1); @a_sum = max(5); @down = sum(-1); @sd = stddev(1); @[\"a\\\\b\\\"c\\nd\"] = count(); }",
    with([{"named.d", Script}, {"script.d", "BEGIN { @up = max(1); @fine = max(1); }"}], fun(_) ->
        shows(<<"erltrace_script_fine">>, 1),
        wait(fun() -> samples(<<"store_latency_seconds">>) =/= [] end),
        Node = <<"node=\"", (atom_to_binary(node()))/binary, "\"">>,
        ?assertMatch({_, histogram, <<"How long the store took.">>, _},
                     lists:keyfind(<<"store_latency_seconds">>, 1, erltrace:metrics())),
        Labels = <<Node/binary, ",op=\"get\"">>,
        ?assertEqual([{Labels, [{0.000000999, 0}, {0.000001999, 1}, {infinity, 1}], 1, undefined}],
                     samples(<<"store_latency_seconds">>)),
        ?assertEqual([{Node, 1, undefined, [{0.5, 0.000017}, {0.999, 0.000017}]}],
                     [{L, C, S, [{Q, V} || {Q, V} <- Qs]} || {L, C, S, Qs} <- samples(<<"erltrace_named_p_seconds">>)]),
        ?assertEqual([{Node, -1}], samples(<<"erltrace_named_down">>)),
        ?assertEqual([{<<Node/binary, ",key0=\"a\\\\b\\\"c\\nd\"">>, 1}], samples(<<"erltrace_named_total">>)),
        ?assertMatch([{Node, 1, 1}], samples(<<"erltrace_named_a">>)),
        ?assertEqual(<<"erltrace_named_a_sum has samples of the same names as erltrace_named_a, of @a in named.d">>,
                     maps:get({left_out, <<"a_sum">>}, about(<<"named">>))),
        ?assertEqual(<<"erltrace itself has a metric erltrace_script_up">>,
                     maps:get({left_out, <<"up">>}, about(<<"script">>)))
    end).

%% Two scripts with a metric of one name: one has it, the other is said to be left out, and has it with all that
%% it has counted when the first goes.
same_name_test_() -> {timeout, 60, fun same_name/0}.

same_name() ->
    Script = "#pragma D metric @x name=shared\nerlang*:::user_trace-n12 { @x = count(); @own = count(); }",
    with([{"a.d", Script}], fun(Dir) ->
        armed(<<"a">>),
        write(Dir, "b.d", Script),
        ok = erltrace:reload(),
        armed(<<"b">>),
        fire(10),
        shows(<<"shared_total">>, 10),
        ?assertMatch([_], samples(<<"shared_total">>)),
        ?assertMatch(<<"@x in a.d has the same name, shared">>,
                     maps:get({left_out, <<"x">>}, about(<<"b">>))),
        ?assertEqual(1, value(<<"erltrace_script_left_out">>)),
        shows(<<"erltrace_b_own_total">>, 10),
        write(Dir, "a.d", "erlang*:::user_trace-n12 { @own = count(); }"), % which has no @x any more
        ok = erltrace:reload(),
        shows(<<"erltrace_script_left_out">>, 0),
        shows(<<"shared_total">>, 10),
        write(Dir, "a.d", Script),
        ok = erltrace:reload(),
        wait(fun() -> is_map_key({left_out, <<"x">>}, about(<<"a">>)) end),
        ok = file:delete(filename:join(Dir, "b.d")),
        ok = erltrace:reload(),
        armed(<<"a">>),
        fire(5),
        shows(<<"shared_total">>, 5)
    end).

%% 100,000 keys: the bound, and `other'; none is lost without being counted.
keys_test() ->
    Script = "erlang*:::user_trace-n12 { @k[arg2] = count(); @all = count(); }",
    with([{"k.d", Script}], [{metrics, [{max_labels, 100}]}], fun(_) ->
        armed(<<"k">>),
        ?assertEqual(100000, fire(100000)),
        shows(<<"erltrace_k_all_total">>, 100000),
        wait(fun() -> value(<<"erltrace_k_k_total">>) + drops(<<"k">>) =:= 100000 end),
        ?assertEqual(101, length(samples(<<"erltrace_k_k_total">>))),
        Node = atom_to_binary(node()),
        {_, Other} = lists:keyfind(<<"node=\"", Node/binary, "\",key0=\"other\"">>, 1, samples(<<"erltrace_k_k_total">>)),
        ?assert(Other > 0),
        ?assert(value(<<"erltrace_labels_dropped_total">>) > 0)
    end).

drops(Name) -> lists:sum([N || {{drops, _}, N} <- maps:to_list(about(Name))]).

%% ---- budgets ---------------------------------------------------------------------------------

%% A script that would take much more than it may: it is paused, the result says so, and what it counts is
%% what happened while it was armed.
paused_test() ->
    logged(fun() -> with([{"a.d", ?COUNT}], [{budget, 1}], fun(_) -> % on a busy machine it may not take 5 %
        Fired = worked(fun hard_work/1, fun() -> wait(fun() -> maps:get(pauses, about(<<"a">>), 0) >= 1 end) end),
        wait(fun() -> taken(Fired, maps:get(pauses, about(<<"a">>)) + 1) end),
        wait(fun() -> value(<<"erltrace_a_calls_total">>) =:= maps:get(events, about(<<"a">>)) end),
        wait(fun() -> value(<<"erltrace_script_armed_ratio">>) < 1 end),
        ?assert(value(<<"erltrace_script_paused_seconds_total">>) > 0),
        Told = <<"a.d: it would take more than it may spend">>,
        ?assertMatch([_], lines_of(Told, log_lines([Told])))
    end) end).

hard_work(N) ->
    receive stop -> N
    after 0 -> hard_work(N + fire(1000))
    end.

%% In no minute it spends more than its share of that minute, whatever it would cost, whatever arming it takes
%% and however busy the node is, but for what is spent between two looks. One that takes less than its share is
%% never paused, on a node that rests either.
budget_test_() ->
    [{lists:flatten(io_lib:format("cost ~p, arming ~p ms, busy ~p", [Cost, Arming, Busy])),
      fun() -> budget(Cost, Arming, Busy) end}
     || Cost <- [0.001, 0.009, 0.02, 0.3], Arming <- [1, 30, 200], Busy <- [0.01, 1.0]].

-define(S, 1000000000).
-record(sim, {wall = 0, cpu = 0, state = paused, spent = [], b}).

budget(Cost, Arming, Busy) ->
    B = erltrace_budget:new(0.01, {0, 0}),
    S = erlang:system_info(schedulers_online),
    Base = erltrace_budget:base(S, 1, S * Busy),
    #sim{spent = Spent} = simulate({Cost * Base, S * Busy}, Arming * 1000000, #sim{b = B}),
    [begin
         Sum = lists:sum([Ns || {At, Ns} <- Spent, At >= From, At < From + 60 * ?S]),
         %% the first armings, whose cost is not known yet, are besides, and so is one look too many
         Look = Base * ?S * Cost,
         First = case From < 60 * ?S of true -> 8; false -> 1 end,
         ?assert(Sum =< 0.01 * Base * 60 * ?S + First * Arming * 1000000 + Look)
     end || From <- [I * ?S || I <- lists:seq(0, 240, 7)]],
    Cost < 0.01 andalso Arming < 100 andalso
        ?assertEqual(1, length([x || {_, Ns} <- Spent, Ns =:= Arming * 1000000])).

%% Five minutes. Rates: what it costs and what the node uses, in schedulers.
simulate(_, _, #sim{wall = Wall} = S) when Wall > 300 * ?S -> S;
simulate({Cost, Busy} = Rates, Arming, #sim{wall = Wall, cpu = Cpu, state = State, spent = Spent, b = B} = S) ->
    Step = erltrace_budget:next(State, B) * 1000000,
    Now = {Wall + Step, Cpu + round(Busy * Step)},
    Ns = case State of armed -> Step * Cost; paused -> 0 end,
    B1 = erltrace_budget:pass(Now, 1.0, {State, Ns}, B),
    S1 = S#sim{wall = Wall + Step, cpu = element(2, Now), spent = [{Wall, Ns} | Spent], b = B1},
    simulate(Rates, Arming, next(State, Arming, S1)).

next(paused, Arming, #sim{wall = Wall, spent = Spent, b = B} = S) ->
    case erltrace_budget:is_full(B) of
        true ->
            {_, B1} = erltrace_budget:pay(arm, Arming, B),
            S#sim{state = armed, spent = [{Wall, Arming} | Spent], b = B1};
        false -> S
    end;
next(armed, _, #sim{b = B} = S) ->
    case erltrace_budget:is_empty(B) of
        true -> S#sim{state = paused};
        false -> S
    end.

%% The time of all schedulers counts, whether they are busy or not; where only a few of many are, ten times
%% theirs.
base_test() ->
    ?assertEqual(2.0e9, erltrace_budget:base(2, ?S, 0)),
    ?assertEqual(2.0e9, erltrace_budget:base(2, ?S, 2 * ?S)),
    ?assertEqual(2.0e9, erltrace_budget:base(2, ?S, 3 * ?S)),
    ?assertEqual(5.0e9, erltrace_budget:base(64, ?S, 0)),
    ?assertEqual(10.0e9, erltrace_budget:base(64, ?S, ?S)),
    ?assertEqual(64.0e9, erltrace_budget:base(64, ?S, 7 * ?S)).

%% What looks after them is paid for by the budget of all, but for half of it at most.
keep_test() ->
    S = erlang:system_info(schedulers_online),
    ?assertEqual(0.02, erltrace_budget:keep(0.02, 0)),
    ?assertEqual(0.02 - 0.0003 / S, erltrace_budget:keep(0.02, 1)),
    ?assertEqual(0.01, erltrace_budget:keep(0.02, 1000 * S)).

%% Those that want little have it, the others share the rest.
level_test() ->
    ?assertEqual(1.0, erltrace_budget:level(0.02, [])),
    ?assertEqual(1.0, erltrace_budget:level(0.02, [{0.01, 0.001}, {0.01, 0.5}])),
    ?assertEqual(0.005, erltrace_budget:level(0.02, [{0.01, undefined} || _ <- [1, 2, 3, 4]])),
    ?assertEqual(0.0095, erltrace_budget:level(0.02, [{0.01, 0.001}, {0.01, 0.5}, {0.01, 0.5}])).

%% ---- prometheus.erl, telemetry, sys ----------------------------------------------------------

%% The one that RabbitMQ ships.
prometheus_test() ->
    case filelib:wildcard("/usr/lib/rabbitmq/lib/*/plugins/{prometheus,quantile_estimator}-*/ebin") of
        [] -> io:format(user, "skipped: no prometheus.erl here~n", []);
        Paths ->
            ok = code:add_pathsa(Paths),
            {ok, Started} = application:ensure_all_started(prometheus),
            try with([{"a.d", [?COUNT, "BEGIN { @q = quantize(5); @p = percentile(17, 50); }"]}],
                     fun(_) -> prometheus() end)
            after
                [application:stop(A) || A <- lists:reverse(Started)],
                [code:del_path(P) || P <- Paths]
            end
    end.

prometheus() ->
    armed(<<"a">>),
    fire(70),
    shows(<<"erltrace_a_calls_total">>, 70),
    Text = apply(prometheus_text_format, format, []),
    Node = <<"node=\"", (atom_to_binary(node()))/binary, "\"">>,
    [?assertMatch({_, _}, binary:match(Text, <<Line/binary, "\n">>)) ||
        Line <- [<<"# TYPE erltrace_a_calls_total counter">>,
                 <<"# HELP erltrace_a_calls_total count() of @calls in a.d">>,
                 <<"erltrace_a_calls_total{", Node/binary, ",key0=\"k\"} 70">>,
                 <<"erltrace_a_mean_sum{", Node/binary, "} 210">>,
                 <<"erltrace_a_q_bucket{", Node/binary, ",le=\"7\"} 1">>,
                 <<"erltrace_a_q_bucket{", Node/binary, ",le=\"+Inf\"} 1">>,
                 <<"erltrace_a_p{", Node/binary, ",quantile=\"0.5\"} 17">>,
                 <<"erltrace_script_up{", Node/binary, ",script=\"a\"} 1">>]].

%% The calls are telemetry's; there is no package of it to be had.
telemetry_test() ->
    Self = self(),
    {ok, telemetry, Code} = compile:forms([{attribute, 1, module, telemetry}, {attribute, 1, export, [{execute, 3}]},
        {function, 1, execute, 3, [{clause, 1, [{var, 1, 'E'}, {var, 1, 'M'}, {var, 1, 'D'}], [],
            [{call, 1, {remote, 1, {atom, 1, ?MODULE}, {atom, 1, execute}},
              [{var, 1, 'E'}, {var, 1, 'M'}, {var, 1, 'D'}]}]}]}]),
    {module, telemetry} = code:load_binary(telemetry, "telemetry.erl", Code),
    Table = spawn_link(fun() -> register(telemetry_handler_table, self()), Self ! up, forward(Self) end),
    receive up -> ok end,
    with([{"a.d", [?COUNT, "BEGIN { alert(\"slow\", \"%d\", 5); }"]}], fun(_) ->
        armed(<<"a">>),
        fire(30),
        measured(<<"calls">>, #{value => 30}),
        measured(<<"mean">>, #{sum => 90, count => 30}),
        receive {[erltrace, alert], _, Alert} ->
            ?assertMatch(#{script := <<"a">>, name := <<"slow">>, text := <<"5">>}, Alert) after 60000 -> error(none) end,
        ?assertEqual(1, value(<<"erltrace_alert_calls_total">>))
    end),
    unlink(Table),
    exit(Table, kill),
    true = code:delete(telemetry).

forward(To) -> receive M -> To ! M, forward(To) end.
execute(Event, Measurements, Metadata) -> telemetry_handler_table ! {Event, Measurements, Metadata}, ok.

%% Of one tick, or of more of them if the events came in more than one: the sum is what they are.
measured(Aggregation, Wanted) -> measured(Aggregation, Wanted, #{}).

measured(Aggregation, Wanted, Had) ->
    receive {[erltrace, metric], M, #{aggregation := Aggregation}} ->
        case maps:fold(fun(K, V, Sum) -> Sum#{K => V + maps:get(K, Sum, 0)} end, Had, M) of
            Wanted -> ok;
            Sum -> measured(Aggregation, Wanted, Sum)
        end
    after 60000 -> ?assertEqual(Wanted, Had) end.

sys_test() ->
    with([{"a.d", ?COUNT}], fun(_) ->
        armed(<<"a">>),
        [begin
             ?assertMatch({status, P, _, _}, sys:get_status(P)),
             ok = sys:suspend(P),
             ok = sys:resume(P)
         end || P <- [whereis(erltrace_deploy), whereis(erltrace_metrics), pid(<<"a">>)]],
        ?assertEqual({error, unknown}, gen_server:call(erltrace_deploy, what)),
        fire(5),
        shows(<<"erltrace_a_calls_total">>, 5)
    end),
    ?assertEqual({error, not_running}, erltrace:reload()),
    ?assertEqual([], erltrace:scripts()),
    ?assertEqual([], erltrace:metrics()).
