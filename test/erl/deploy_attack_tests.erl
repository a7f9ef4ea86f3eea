%% SPDX-License-Identifier: Apache-2.0
%% Scripts of a release and people who make mistakes, or mean harm: terms of sys.config that make no sense,
%% files that are none, applications that come and go. Each is told or ignored; the good script goes on.
-module(deploy_attack_tests).
-include_lib("eunit/include/eunit.hrl").
-import(deploy_tests, [with/3, logged/1, log_lines/0, log_lines/1, lines_of/2, write/3, wait/1, armed/1, state/1, about/1, fire/1,
                       value/1, shows/2]).

-define(COUNT, "erlang*:::user_trace-n12 { @calls = count(); }\n").

%% It may just be started again.
counts() ->
    armed(<<"a">>),
    Before = value(<<"erltrace_a_calls_total">>),
    wait(fun() -> dtrace:pn(12, 1), value(<<"erltrace_a_calls_total">>) > Before end).

%% Terms that make no sense, one by one.
settings_test_() ->
    {timeout, 120,
     [{lists:flatten(io_lib:format("~0p", [Bad])), fun() -> settings(Bad, Told) end}
      || {Bad, Told} <- [{{budget, x}, "budget must be"}, {{budget, -1}, "budget must be"}, {{budget_all, 1000}, "budget_all must be"},
                         {{metrics, x}, "metrics must be"}, {{metrics, [a | b]}, "metrics must be"},
                         {{metrics, [{max_labels, 0}, x]}, "is not a setting"}, {{alerts, #{}}, "alerts must be"},
                         {{alerts, [{hold, 0}]}, "alerts: {hold,0} is not a setting"},
                         {{budget_al, 2}, "budget_al is not a setting of erltrace: they are alerts, budget, "}]]}.

settings(Bad, Told) ->
    logged(fun() -> with([{"a.d", ?COUNT}], [Bad], fun(_) ->
        counts(),
        _ = log_lines([list_to_binary(Told)])
    end) end).

%% The same for the list of scripts; a good one among them.
scripts_test() ->
    logged(fun() -> with([{"a.d", ?COUNT}], [], fun(Dir) ->
        Good = filename:join(Dir, "a.d"),
        [begin
             application:set_env(erltrace, scripts, Scripts),
             ok = erltrace:reload(),
             lists:member(Good, [Scripts | case Scripts of [_ | T] when is_list(T) -> Scripts; _ -> [] end]) andalso counts(),
             Told =:= none orelse log_lines([list_to_binary(Told)])
         end || {Scripts, Told} <-
                    [{x, "scripts must be a list"}, {[Good | x], "scripts must be a list"}, {Good, none},
                     {list_to_binary(Good), none}, {[Good, x], "x is neither"}, {[Good, {x, [{budget, 1}]}], "x is neither"},
                     {[Good, {Good, x}], "must be a list"}, {[Good, {Good, [a | b]}], "must be a list"},
                     {[Good, {Dir, [{args, [1]}]}], "is not a setting"}, {[Good, {Dir, [{options, [a | b]}]}], "is not a setting"},
                     {[Good, {Dir, [{args, ["x" | "y"]}]}], none}, {[Good, [[$a], b]], "neither"}, {[Good, ""], "neither"},
                     {[Good, <<255, 254>>], "no name that is text"}, {[Good, [0]], none}, {[Good, #{}], "neither"},
                     {[Good, "/nowhere/at/all.d"], "no such file"}, {[Good, "gc.d"], none}]],
        counts()
    end) end).

%% Files that are none.
files_test() ->
    with([{"a.d", ?COUNT}, {".hidden.d", "x"}, {"editor.d~", "x"}, {"nul.d", <<0, 1, 255>>}, {"empty.d", ""}], [], fun(Dir) ->
        "" = os:cmd("cd " ++ Dir ++ " && mkfifo pipe.d && mkdir folder.d && ln -s nowhere dangling.d && ln -s /dev/zero zero.d "
                    "&& truncate -s 1G large.d"),
        ok = erltrace:reload(),
        [wait(fun() -> state(N) =:= failed end) || N <- [<<"pipe">>, <<"folder">>, <<"dangling">>, <<"zero">>, <<"large">>, <<"nul">>]],
        ?assertEqual(<<"is not a regular file">>, maps:get(why, about(<<"pipe">>))),
        ?assertEqual(<<"is not a regular file">>, maps:get(why, about(<<"zero">>))),
        ?assertEqual(<<"is too large for a script">>, maps:get(why, about(<<"large">>))),
        ?assertEqual(none, state(<<".hidden">>)),
        counts(),
        os:cmd("rm -r " ++ filename:join(Dir, "*.d")),
        ok = erltrace:reload(),
        ?assertEqual([], erltrace:scripts()),
        write(Dir, "a.d", ?COUNT),
        ok = erltrace:reload(),
        counts()
    end).

%% A file whose name is no text is told once, as left out.
file_name_that_is_no_text_test() ->
    logged(fun() -> with([{"a.d", ?COUNT}], [], fun(Dir) ->
        Odd = <<(list_to_binary(Dir))/binary, "/x", 254, ".d">>,
        ok = file:write_file(Odd, ?COUNT),
        [erltrace_deploy ! look || _ <- [1, 2, 3]], % as it does by itself
        counts(),
        _ = sys:get_state(erltrace_deploy),
        Lines = log_lines(),
        ?assertMatch([_], lines_of(<<" is left out: it has no name that is text">>, Lines)),
        ?assertEqual([], lines_of(<<"Non-unicode">>, Lines)),
        ok = file:delete(Odd)
    end) end).

%% Whatever is sent to them.
garbage_test() ->
    with([{"a.d", ?COUNT}], [], fun(_) ->
        armed(<<"a">>),
        Servers = [erltrace_deploy, erltrace_metrics, erltrace_alerts, erltrace_new_modules],
        Scripts = [P || {_, P, _, _} <- supervisor:which_children(erltrace_scripts_sup)],
        Handles = [P || {_, Sup, _, _} <- supervisor:which_children(erltrace_handles_sup),
                        {_, P, _, _} <- supervisor:which_children(Sup)],
        Pids = [whereis(S) || S <- Servers] ++ Scripts ++ Handles,
        [begin
             P ! garbage,
             P ! {erltrace, make_ref(), tick, #{}},
             P ! {'DOWN', make_ref(), process, self(), x},
             gen_server:cast(P, garbage),
             ok = sys:suspend(P),
             _ = sys:change_code(P, ?MODULE, undefined, []), % refused where there is nothing to change
             ok = sys:resume(P)
         end || P <- Pids],
        counts(),
        [?assert(is_process_alive(P)) || P <- Pids]
    end).

%% Stopped and started at any moment: nothing is left, and it works again.
restarts_test() ->
    with([{"a.d", ?COUNT}, {"f.d", "erlang*:lists::function-entry { @[probefunc] = count(); }"}], [], fun(_) ->
        [begin
             timer:sleep(N),
             ok = application:stop(erltrace),
             ?assertEqual([], [P || P <- erlang:processes(), {dictionary, D} <- [process_info(P, dictionary)],
                                    {'$initial_call', {M, _, _}} <- D,
                                    lists:member(M, [erltrace_script, erltrace_handle, erltrace_limiter])]),
             ?assertNot(dtrace:pn(12, 1)),
             ok = application:start(erltrace)
         end || N <- [0, 5, 20, 100, 700]],
        counts()
    end).

%% Counters of an application that is stopped and started begin at 0.
counters_begin_anew_with_the_application_test() ->
    with([{"a.d", ?COUNT}], [], fun(_) ->
        armed(<<"a">>),
        fire(1000),
        shows(<<"erltrace_a_calls_total">>, 1000),
        ok = application:stop(erltrace),
        ok = application:start(erltrace),
        armed(<<"a">>),
        ?assertEqual(1, fire(1)),
        shows(<<"erltrace_a_calls_total">>, 1)
    end).

%% Its processes are killed, one by one.
killed_test() ->
    with([{"a.d", ?COUNT}], [], fun(_) ->
        [begin
             counts(),
             Old = whereis(Name),
             exit(Old, kill),
             wait(fun() -> is_pid(whereis(Name)) andalso whereis(Name) =/= Old end),
             wait(fun() -> is_pid(whereis(erltrace_deploy)) end),
             ok = wait(fun() -> case erltrace:reload() of ok -> ok; _ -> false end end)
         end || Name <- [erltrace_alerts, erltrace_new_modules, erltrace_deploy, erltrace_scripts_sup]],
        Handle = process(handle),
        exit(Handle, kill),
        wait(fun() -> not is_process_alive(Handle) andalso state(<<"a">>) =:= armed end),
        wait(fun() -> dtrace:pn(12, 1) end)
    end).

%% The one that looks after scripts was killed, they were not: each runs once all the same.
deploy_killed_runs_scripts_once_test() ->
    with([{"a.d", ?COUNT}], [], fun(Dir) ->
        counts(),
        write(Dir, "b.d", ?COUNT),
        ok = erltrace:reload(),
        armed(<<"b">>),
        Old = whereis(erltrace_deploy),
        ok = sys:suspend(erltrace_deploy_sup),
        exit(Old, kill),
        ok = file:delete(filename:join(Dir, "b.d")), % meanwhile
        ok = sys:resume(erltrace_deploy_sup),
        wait(fun() -> is_pid(whereis(erltrace_deploy)) andalso whereis(erltrace_deploy) =/= Old end),
        ok = erltrace:reload(),
        ?assertMatch([_], supervisor:which_children(erltrace_scripts_sup)),
        ?assertMatch([{<<"a">>, _}], erltrace:scripts())
    end).

%% What was counted until a process was killed is in the totals, whichever it was: it may be read by the
%% process that ends, and nothing is sent to one that has ended.
killed_after_calls_test_() ->
    {timeout, 240, [{atom_to_list(Name), fun() -> killed_after_calls(Name) end}
                    || Name <- [erltrace_metrics, erltrace_deploy_sup, erltrace_handles_sup, erltrace_deploy,
                                erltrace_scripts_sup, erltrace_new_modules, erltrace_alerts]]}.

killed_after_calls(Name) ->
    with([{"a.d", ?COUNT}], [], fun(_) ->
        armed(<<"a">>),
        ?assertEqual(1000, fire(1000)),
        Old = whereis(Name),
        exit(Old, kill),
        wait(fun() -> New = whereis(Name), is_pid(New) andalso New =/= Old end),
        shows(<<"erltrace_a_calls_total">>, 1000)
    end).

%% An alert goes on, whoever is killed: it is told once that it begins, and once that it is over.
alert_outlives_the_process_that_tells_it_test_() ->
    {timeout, 120, [{atom_to_list(Name), fun() -> alert_outlives(Name) end} || Name <- [erltrace_alerts, erltrace_metrics]]}.

alert_outlives(Name) ->
    Script = "erlang*:::user_trace-n12 { alert(\"slow\", \"%d\", arg2); }",
    logged(fun() -> with([{"a.d", Script}], [{alerts, [{hold, 5}]}], fun(_) ->
        armed(<<"a">>),
        fire(1),
        shows(<<"erltrace_alert">>, 1),
        Old = whereis(Name),
        exit(Old, kill),
        wait(fun() -> New = whereis(Name), is_pid(New) andalso New =/= Old end),
        ?assertEqual(1, value(<<"erltrace_alert">>)),
        Lines = log_lines([<<"alert slow is over">>]),
        ?assertMatch([_], lines_of(<<"alert slow: 1">>, Lines)),
        ?assertMatch([_], lines_of(<<"alert slow is over">>, Lines)),
        ?assertEqual(0, value(<<"erltrace_alert">>))
    end) end).

%% Nor is a tick lost that was sent to one that is killed before it has read it.
killed_before_it_reads_test() ->
    with([{"a.d", ?COUNT}], [], fun(_) ->
        armed(<<"a">>),
        ok = sys:suspend(erltrace_metrics),
        ?assertEqual(1000, fire(1000)),
        wait(fun() -> process_info(whereis(erltrace_metrics), message_queue_len) =/= {message_queue_len, 0} end),
        ?assertEqual(500, fire(500)),
        exit(whereis(erltrace_metrics), kill),
        shows(<<"erltrace_a_calls_total">>, 1500)
    end).

%% While a script is not armed calls are missed: whichever process was killed, the ratio is below 1 from then on.
missed_calls_are_told_test_() ->
    {timeout, 240, [{atom_to_list(Name), fun() -> missed_calls_are_told(Name) end}
                    || Name <- [script, handle, erltrace_metrics, erltrace_deploy_sup, erltrace_handles_sup, erltrace_deploy,
                                erltrace_scripts_sup, erltrace_new_modules, erltrace_alerts]]}.

missed_calls_are_told(Name) ->
    with([{"a.d", ?COUNT}], [], fun(_) ->
        armed(<<"a">>),
        wait(fun() -> value(<<"erltrace_script_armed_seconds_total">>) > 0 end),
        ?assertEqual(1, value(<<"erltrace_script_armed_ratio">>)),
        exit(process(Name), kill),
        wait(fun() -> value(<<"erltrace_script_paused_seconds_total">>) > 0 end), % once it is armed again
        armed(<<"a">>),
        Ratio = value(<<"erltrace_script_armed_ratio">>),
        ?assert(Ratio > 0 andalso Ratio < 1)
    end).

process(script) -> child(erltrace_scripts_sup);
process(handle) ->
    {_, Pid, _, _} = lists:keyfind(erltrace_handle, 1, supervisor:which_children(child(erltrace_handles_sup))),
    Pid;
process(Name) -> whereis(Name).

%% The one before it may still be ending.
child(Sup) ->
    wait(fun() ->
        case supervisor:which_children(Sup) of
            [{_, Pid, _, _}] when is_pid(Pid) -> Pid;
            _ -> false
        end
    end).

%% One that has ended and waits is not armed either, and one that never was has counted nothing.
not_armed_ratio_test() ->
    with([{"bad.d", "BEGIN { @x = count(; }"}], [], fun(_) ->
        wait(fun() -> state(<<"bad">>) =:= failed end),
        ?assertEqual(0, value(<<"erltrace_script_armed_ratio">>)),
        ?assertEqual(0.0, value(<<"erltrace_script_armed_seconds_total">>))
    end),
    with([{"ends.d", "erlang*:::user_trace-n12 { exit(0); }"}], [], fun(_) ->
        armed(<<"ends">>),
        wait(fun() -> dtrace:pn(12, 1) end),
        wait(fun() -> state(<<"ends">>) =:= failed andalso value(<<"erltrace_script_armed_ratio">>) < 1 end)
    end).

%% What is wrong with files and settings was told: it is not told again because a process was killed, but when
%% the file changes.
killed_tells_nothing_twice_test_() ->
    {timeout, 240, [{atom_to_list(Name), fun() -> killed_tells_nothing_twice(Name) end}
                    || Name <- [erltrace_metrics, erltrace_deploy_sup, erltrace_deploy, erltrace_scripts_sup, erltrace_new_modules]]}.

killed_tells_nothing_twice(Name) ->
    Scripts = [{"a.d", ?COUNT}, {"bad.d", "BEGIN { @x = count(; }"}, {"misspelt.d", "erlang*:::proces-spawn { @ = count(); }"},
               {"fails.d", "erlang*:::user_trace-n12 { x = *(int *)0; }"}],
    logged(fun() -> with(Scripts, [{budget_all, 1000}], fun(Dir) ->
        counts(),
        armed(<<"fails">>),
        wait(fun() -> dtrace:pn(12, 1), errors(<<"fails">>) > 0 end),
        [wait(fun() -> errors(N) > 0 end) || N <- [<<"bad">>, <<"misspelt">>]],
        Told = [<<"bad.d: ">>, <<"misspelt.d: ">>, <<"fails.d: ">>, <<"budget_all must be">>],
        Before = log_lines(Told),
        [?assertMatch([_], lines_of(Text, Before)) || Text <- Told],
        Starts = [{N, starts(N)} || N <- [<<"bad">>, <<"misspelt">>, <<"fails">>]],
        exit(whereis(Name), kill),
        [wait(fun() -> starts(N) > S end) || {N, S} <- Starts],
        Errors = [{N, errors(N)} || {N, _} <- Starts],
        [wait(fun() -> dtrace:pn(12, 1), errors(N) > E end) || {N, E} <- Errors],
        counts(),
        After = log_lines(),
        [?assertEqual([], lines_of(Text, After)) || Text <- Told],
        write(Dir, "bad.d", "BEGIN { @x = count(;; }"),
        wait(fun() -> erltrace:reload() =:= ok andalso lines_of(<<"bad.d">>, log_lines()) =/= [] end)
    end) end).

errors(Name) -> maps:get(errors, about(Name), 0).
starts(Name) -> maps:get(starts, about(Name), 0).

%% Processes that are killed over and over: their supervisor gives up. That is told, the application goes on, the
%% scripts come back by themselves, and so do their totals.
killed_often_test_() ->
    {timeout, 240, [fun() -> killed_often(Name) end || Name <- [erltrace_deploy, erltrace_deploy_sup]]}.

killed_often(Name) ->
    logged(fun() -> with([{"a.d", ?COUNT}], [], fun(_) ->
        counts(),
        Before = value(<<"erltrace_a_calls_total">>),
        kill_often(Name, none, erlang:monitor(process, erltrace_deploy_sup), 60),
        wait(fun() -> binary:match(maps:get(why, about(<<"a">>)), <<"deployed scripts do not run">>) =/= nomatch end),
        ?assertEqual(failed, state(<<"a">>)),
        ?assertEqual(0, value(<<"erltrace_script_up">>)),
        ?assertMatch([_], lines_of(<<"deployed scripts do not run: erltrace_deploy_sup ">>, log_lines())),
        counts(),
        ?assert(value(<<"erltrace_a_calls_total">>) > Before),
        _ = log_lines([<<"erltrace_deploy_sup runs again">>]) % which is told when it has started
    end), ?assertEqual([], lines_of(<<"scripts do not run">>, log_lines())) end). % nor is the application's end told

%% Until the supervisor has ended. Each is killed once: it may take a while to end.
kill_often(Name, Last, Mon, N) when N > 0 ->
    receive {'DOWN', Mon, process, _, _} -> ok
    after 1 ->
        case whereis(Name) of
            Pid when Pid =:= undefined; Pid =:= Last -> kill_often(Name, Last, Mon, N);
            Pid -> exit(Pid, kill), kill_often(Name, Pid, Mon, N - 1)
        end
    end.

%% As often as they are there to be killed: the supervisor above them does not give up.
supervisors_killed_often_test_() -> {timeout, 300, fun supervisors_killed_often/0}.

supervisors_killed_often() ->
    with([{"a.d", ?COUNT}], [], fun(_) ->
        counts(),
        Top = whereis(erltrace_sup),
        [kill_when_there(Name, 4) || Name <- [erltrace_handles_sup, erltrace_deploy_sup]],
        counts(),
        ?assertEqual(Top, whereis(erltrace_sup))
    end).

kill_when_there(_, 0) -> ok;
kill_when_there(Name, N) ->
    Pid = wait(fun() -> P = whereis(Name), is_pid(P) andalso P end),
    exit(Pid, kill),
    wait(fun() -> whereis(Name) =/= Pid end),
    kill_when_there(Name, N - 1).

%% prometheus.erl comes later, goes, comes back; another registry; nobody scrapes in vain.
prometheus_test() ->
    case filelib:wildcard("/usr/lib/rabbitmq/lib/*/plugins/{prometheus,quantile_estimator}-*/ebin") of
        [] -> io:format(user, "skipped: no prometheus.erl here~n", []);
        Paths ->
            ok = code:add_pathsa(Paths),
            try with([{"a.d", ?COUNT}], [], fun(_) -> counts(), prometheus() end)
            after
                application:stop(prometheus),
                application:stop(quantile_estimator),
                [code:del_path(P) || P <- Paths]
            end
    end.

prometheus() ->
    [begin
         {ok, _} = application:ensure_all_started(prometheus),
         ok = erltrace:reload(),
         ?assertMatch({_, _}, scraped(default)),
         ok = application:stop(prometheus),
         ok = erltrace:reload()
     end || _ <- [1, 2]],
    {ok, _} = application:ensure_all_started(prometheus),
    application:set_env(erltrace, metrics, [{registry, other}]),
    ok = erltrace:reload(),
    ?assertEqual(nomatch, scraped(default)),
    ?assertMatch({_, _}, scraped(other)),
    application:set_env(erltrace, metrics, []),
    ok = erltrace:reload(),
    ?assertMatch({_, _}, scraped(default)),
    Self = self(),
    Scraper = spawn_link(fun() -> scrape(Self) end),
    ok = application:stop(erltrace),
    timer:sleep(200),
    ok = application:start(erltrace),
    timer:sleep(200),
    unlink(Scraper),
    ?assert(is_process_alive(Scraper)),
    exit(Scraper, kill).

scraped(Registry) ->
    binary:match(iolist_to_binary(apply(prometheus_text_format, format, [Registry])), <<"erltrace_a_calls_total">>).

scrape(To) ->
    _ = scraped(default),
    scrape(To).
