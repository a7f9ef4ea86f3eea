%% SPDX-License-Identifier: Apache-2.0
%% Scripts of a release with probes of the kernel, by the helper: what they count is exact, what they cost is
%% theirs, and they keep within their budget.
-module(deploy_kernel_tests).
-include_lib("eunit/include/eunit.hrl").
-export([called/1, why_not/0]).

-define(DD, "kdeploy_dd"). % a name that nobody else's program has
-define(OURS, "execname == \"" ?DD "\"").
-define(HERE, "/" ?OURS "/").

kernel_test_() ->
    {setup, fun dd/0, fun(File) -> file:delete(File) end,
     fun(Dd) ->
             [{timeout, 120, {atom_to_list(Name), fun() -> Test(Dd) end}} ||
                 {Name, Test} <- [{counted, fun counted/1}, {node_too, fun node_too/1},
                                  {alerts, fun alerts/1}, {again, fun again/1},
                                  {no_such_probe, fun no_such_probe/1},
                                  {budget, fun budget/1}, {ends, fun ends/1}]]
     end}.

why_not() ->
    case erltrace:script("syscall::getpid:entry { n++; }") of
        {ok, H} -> erltrace:close(H), none;
        Error -> erltrace:format_error(Error)
    end.

dd() ->
    File = filename:join(os:getenv("TMPDIR", "/tmp"), ?DD),
    {ok, _} = file:copy(os:find_executable("dd"), File),
    ok = file:change_mode(File, 8#755),
    File.

writes(Dd, N) ->
    "" = os:cmd(io_lib:format("~s if=/dev/zero of=/dev/null status=none count=~b bs=1", [Dd, N])).

about(Name) -> deploy_tests:about(Name).

counted(Dd) ->
    Script = "#pragma D metric @calls name=kdeploy_calls_total labels=program\n"
             "syscall::write:entry " ?HERE " { @calls[execname] = count(); @bytes = sum(arg2); }",
    deploy_tests:with([{"a.d", Script}], [], fun(_) ->
        deploy_tests:armed(<<"a">>),
        writes(Dd, 1000),
        deploy_tests:shows(<<"kdeploy_calls_total">>, 1000),
        deploy_tests:shows(<<"erltrace_a_bytes_total">>, 1000),
        writes(Dd, 234),
        deploy_tests:shows(<<"kdeploy_calls_total">>, 1234),
        {_, counter, _, [{Labels, 1234}]} = lists:keyfind(<<"kdeploy_calls_total">>, 1, erltrace:metrics()),
        ?assertMatch({match, _}, re:run(Labels, "program=\"" ?DD "\"")),
        #{state := armed, spent := Spent, events := Events} = about(<<"a">>),
        ?assert(Events >= 1234),
        ?assert(Spent > 1000000) % a program was loaded into the kernel for it
    end),
    no_helpers().

called(X) -> X.

%% With probes of the node besides: one script, in the kernel.
node_too(Dd) ->
    Script = "erlang*:" ?MODULE_STRING ":called/1:function-entry { @called = count(); }\n"
             "syscall::write:entry " ?HERE " { @written = count(); }",
    deploy_tests:with([{"a.d", Script}], [], fun(_) ->
        deploy_tests:armed(<<"a">>),
        [?MODULE:called(I) || I <- lists:seq(1, 500)],
        writes(Dd, 700),
        deploy_tests:shows(<<"erltrace_a_called_total">>, 500),
        deploy_tests:shows(<<"erltrace_a_written_total">>, 700)
    end),
    {flags, []} = erlang:trace_info(self(), flags).

alerts(Dd) ->
    Script = "syscall::write:entry " ?HERE " { alert(\"written\", \"%d bytes\", arg2); }",
    deploy_tests:with([{"a.d", Script}], [], fun(_) ->
        deploy_tests:armed(<<"a">>),
        writes(Dd, 5),
        deploy_tests:shows(<<"erltrace_alert">>, 1),
        deploy_tests:shows(<<"erltrace_alert_calls_total">>, 5)
    end).

%% A helper that is killed: the script is tried again, and goes on where it was.
again(Dd) ->
    Script = "syscall::write:entry " ?HERE " { @calls = count(); }",
    deploy_tests:with([{"a.d", Script}], [], fun(_) ->
        deploy_tests:armed(<<"a">>),
        writes(Dd, 10),
        deploy_tests:shows(<<"erltrace_a_calls_total">>, 10),
        [Helper] = helpers(),
        "" = os:cmd("kill -9 " ++ Helper),
        deploy_tests:wait(fun() -> maps:get(errors, about(<<"a">>), 0) > 0 end),
        #{why := Why} = about(<<"a">>),
        ?assertMatch({match, _}, re:run(Why, "signal 9")),
        deploy_tests:wait(fun() -> length(helpers() -- [Helper]) =:= 1 end),
        deploy_tests:armed(<<"a">>),
        writes(Dd, 20),
        deploy_tests:shows(<<"erltrace_a_calls_total">>, 30)
    end),
    no_helpers().

no_such_probe(_) ->
    deploy_tests:with([{"a.d", "syscall::raed:entry { @ = count(); }"}], [], fun(_) ->
        deploy_tests:wait(fun() -> deploy_tests:state(<<"a">>) =:= failed end),
        #{why := Why} = about(<<"a">>),
        ?assertMatch({match, _}, re:run(Why, "D_PDESC_ZERO"))
    end),
    no_helpers().

%% What it costs in the kernel counts: one that would take more than it may is paused.
budget(Dd) ->
    Script = "syscall:::entry { @q[probefunc] = quantize(timestamp); }",
    Busy = spawn_link(fun Again() -> writes(Dd, 100000), Again() end),
    deploy_tests:with([{"a.d", Script}], [{budget, 1}], fun(_) ->
        deploy_tests:wait(fun() -> maps:get(pauses, about(<<"a">>), 0) >= 1 end),
        deploy_tests:wait(fun() -> % the helper ends soon after
            deploy_tests:state(<<"a">>) =:= paused andalso helpers() =:= []
        end),
        #{demand := Demand} = about(<<"a">>),
        ?assert(Demand > 0.01)
    end),
    unlink(Busy),
    exit(Busy, kill).

%% By exit(): tried again after a while, as any script.
ends(Dd) ->
    Script = "syscall::write:entry /" ?OURS " && n++ == 0/ { @n = count(); exit(0); }",
    deploy_tests:with([{"a.d", Script}], [], fun(_) ->
        deploy_tests:armed(<<"a">>),
        writes(Dd, 3),
        deploy_tests:shows(<<"erltrace_a_n_total">>, 1),
        deploy_tests:wait(fun() -> maps:get(errors, about(<<"a">>), 0) > 0 end)
    end).

%% They end soon after the script has.
no_helpers() ->
    deploy_tests:wait(fun() -> helpers() =:= [] end).

%% Of this node: their numbers.
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
