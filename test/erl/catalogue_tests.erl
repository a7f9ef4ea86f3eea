%% SPDX-License-Identifier: Apache-2.0
%% The rest of the catalogue: messages to other nodes, sequential trace tokens, nodes, busy ports,
%% drivers. For each probe a known number of events, exactly that number, with the right arguments.
%% What needs a node of its own runs in one that ends with the test.
-module(catalogue_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2, quoted/1]).
-compile(export_all).
-compile(nowarn_export_all).

%% ---- helpers ---------------------------------------------------------------------------------

%% Until the script has counted that much: for events that come when they like.
counted(H, Name, N) ->
    {ok, Aggs} = erltrace:aggregations(H),
    case lists:sum([V || {A, _, _, V} <- Aggs, A =:= Name]) of
        Sum when Sum >= N -> ok;
        _ -> receive after 5 -> counted(H, Name, N) end
    end.

%% As the VM writes it: with quotes if it needs them.
name(Node) -> lists:flatten(io_lib:format("~w", [Node])).

%% A node of its own, for as long as Fun takes.
with_node(Fun) -> with_node([], Fun).

with_node(Args, Fun) ->
    {ok, Peer, Node} = peer:start(#{name => peer:random_name("probes"),
                                    connection => standard_io, wait_boot => 60000,
                                    args => Args ++ ["-pa" | code:get_path()]}),
    try Fun(Peer, Node)
    after peer:stop(Peer)
    end.

%% Fun(Arg) of this module there; what it returns.
there(Peer, Function, Args) ->
    peer:call(Peer, ?MODULE, Function, Args, 60000).

echo() ->
    receive
        {From, X} -> From ! {echo, X}, echo();
        stop -> ok
    end.

sink() -> receive stop -> ok end.

%% ---- messages to other nodes -----------------------------------------------------------------

send_remote_test_() ->
    {timeout, 60, fun() ->
        with_node(fun(_, Other) ->
            with_node(fun(Peer, _) -> ok = there(Peer, send_remote_there, [Other]) end)
        end)
    end}.

send_remote_there(Other) ->
    pong = net_adm:ping(Other),
    P = spawn(Other, ?MODULE, echo, []),
    Self = self(),
    Got = run(["erlang*:::message-send-remote /copyinstr(arg0) == ", quoted(Self), "/"
               "{ @r[copyinstr(arg1), copyinstr(arg2), arg3, arg4, arg5, arg6] = count(); }"
               "erlang*:::message-send /copyinstr(arg0) == ", quoted(Self), "/"
               "{ @s[copyinstr(arg1)] = count(); }"],
              fun(_) ->
                      [P ! {Self, {}} || _ <- lists:seq(1, 7)],
                      [receive {echo, {}} -> ok end || _ <- lists:seq(1, 7)],
                      [{no_one_there, Other} ! [1, 2] || _ <- lists:seq(1, 5)],
                      seq_trace:set_token(label, 23),
                      P ! {Self, token},
                      seq_trace:set_token([]),
                      receive {echo, token} -> ok end
              end),
    N = name(Other),
    Named = lists:flatten(["{no_one_there,", N, "}"]),
    Text = pid_to_list(P),
    Remote = maps:filter(fun({A, [_, To | _]}, _) when A =:= "r" ->
                                 lists:member(To, [Text, Named]);
                            (_, _) -> false
                         end, Got),
    Want = #{{"r", [N, Text, 3, 0, 0, 0]} => 7,
             {"r", [N, Named, 4, 0, 0, 0]} => 5,
             {"r", [N, Text, 3, 23, 0, 1]} => 1},
    Want = Remote,
    8 = maps:get({"s", [Text]}, Got),
    5 = maps:get({"s", [Named]}, Got),
    ok.

%% A reply to an alias is a message too.
send_to_alias_test() ->
    Self = self(),
    Alias = erlang:alias(),
    Got = run(["erlang*:::message-send /copyinstr(arg0) == ", quoted(Self), "/"
               "{ @[copyinstr(arg1), arg2] = count(); }"],
              fun(_) -> [Alias ! {a, I} || I <- lists:seq(1, 9)] end),
    [receive {a, I} -> ok end || I <- lists:seq(1, 9)],
    erlang:unalias(Alias),
    ?assertEqual(9, maps:get({"_", [erlang:ref_to_list(Alias), 3]}, Got)).

%% ---- the sequential trace token --------------------------------------------------------------

%% What seq_trace itself shows of the same messages.
token_test() ->
    P = spawn(?MODULE, echo, []),
    Self = self(),
    Tracer = spawn(?MODULE, forward, [Self]), % what it is sent has no token
    Old = seq_trace:set_system_tracer(Tracer),
    Got = run(["erlang*:::message-send /arg3/"
               "{ @[copyinstr(arg0), copyinstr(arg1), arg3, arg4, arg5] = count(); }"],
              fun(_) ->
                      seq_trace:set_token(label, 17),
                      seq_trace:set_token(send, true),
                      [begin
                           P ! {Self, I},
                           receive {echo, I} -> ok end
                       end || I <- [1, 2, 3]],
                      seq_trace:set_token([])
              end),
    P ! stop,
    seq_trace:set_system_tracer(Old),
    Tracer ! stop,
    Shown = seq_events(6),
    Want = maps:from_list([{{"_", [pid_to_list(From), pid_to_list(To), 17, Prev, Cur]}, 1} ||
                              {From, To, Prev, Cur} <- Shown]),
    ?assertEqual(6, map_size(Want)),
    ?assertEqual(Want, Got),
    ?assertEqual({match_spec, true}, erlang:trace_info(send, match_spec)).

forward(To) -> receive stop -> ok; X -> To ! X, forward(To) end.

seq_events(0) -> [];
seq_events(N) ->
    receive {seq_trace, 17, {send, {Prev, Cur}, From, To, _}} ->
            [{From, To, Prev, Cur} | seq_events(N - 1)]
    end.

%% A label that is no small number is the least int, as OTP has it.
token_label_test() ->
    Self = self(),
    Got = run(["erlang*:::message-send /copyinstr(arg0) == ", quoted(Self), " && arg3/"
               "{ @[(int)arg3] = count(); }"],
              fun(_) -> seq_trace:set_token(label, {a, tuple}),
                        Self ! x,
                        seq_trace:set_token([])
              end),
    receive x -> ok end,
    seq_trace:set_token([]), % it came with the message
    ?assertEqual(#{{"_", [-(1 bsl 31)]} => 1}, Got).

%% Two scripts with it, one without: each as it is, and the pattern goes with the last.
token_shared_test() ->
    Self = self(),
    Script = ["erlang*:::message-send /copyinstr(arg0) == ", quoted(Self),
              " && arg3 == 5/ { @ = count(); }"],
    {ok, A} = erltrace:script(Script),
    {ok, B} = erltrace:script(Script),
    {ok, C} = erltrace:script("erlang*:::message-send { @ = count(); }"),
    ok = erltrace:close(A),
    seq_trace:set_token(label, 5),
    Self ! x,
    receive x -> ok end,
    seq_trace:set_token([]),
    ?assertMatch({ok, [{_, count, [], 1}]}, erltrace:aggregations(B)),
    ok = erltrace:close(B),
    ?assertEqual({match_spec, true}, erlang:trace_info(send, match_spec)),
    ok = erltrace:close(C).

%% Somebody else's match specification stays; what needs the place says so.
token_refused_test() ->
    case erlang:function_exported(trace, session_create, 3) of
        true -> ok; % a session has its own
        false ->
            Theirs = [{[self(), '_'], [], []}],
            erlang:trace_pattern(send, Theirs, []),
            {error, {dtrace, <<"ET_SEND_PATTERN">>, _, _, _}} =
                erltrace:script("erlang*:::message-send { @[arg3] = count(); }"),
            ?assertEqual({match_spec, Theirs}, erlang:trace_info(send, match_spec)),
            erlang:trace_pattern(send, true, [])
    end.

%% ---- nodes -----------------------------------------------------------------------------------

%% Nobody else connects these two, or parts them: global does when one comes back too soon.
dist_monitor_test_() ->
    Alone = ["-connect_all", "false", "-kernel", "prevent_overlapping_partitions", "false"],
    {timeout, 60, fun() ->
        with_node(Alone, fun(_, Other) ->
            with_node(Alone, fun(Peer, _) ->
                ok = there(Peer, dist_monitor_there, [Other])
            end)
        end)
    end}.

%% The other side may not have noticed yet that the last connection has gone: it refuses until then.
connect(Node) ->
    net_kernel:connect_node(Node) orelse receive after 5 -> connect(Node) end.

dist_monitor_there(Other) ->
    Got = run("erlang*:::dist-monitor"
              "{ @[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), copyinstr(arg3),"
              " copyinstr(arg4)] = count(); @n = count(); }",
              fun(H) ->
                      [begin
                           true = connect(Other),
                           counted(H, <<"n">>, 2 * I + 1),
                           true = erlang:disconnect_node(Other),
                           counted(H, <<"n">>, 2 * I + 2)
                       end || I <- [0, 1, 2]]
              end),
    Here = name(node()),
    There = name(Other),
    Want = #{{"_", [Here, "nodeup", There, "visible", "undefined"]} => 3,
             {"_", [Here, "nodedown", There, "visible", "disconnect"]} => 3,
             {"n", []} => 6},
    Want = Got,
    ok.

%% The other node is stopped and nothing more goes to it: whoever sends now has to wait, once.
dist_port_busy_test_() ->
    {timeout, 60, fun() ->
        with_node(fun(OtherPeer, Other) ->
            OsPid = peer:call(OtherPeer, os, getpid, []),
            with_node(["+zdbbl", "1"], fun(Peer, _) ->
                ok = there(Peer, dist_port_busy_there, [Other, OsPid])
            end)
        end)
    end}.

dist_port_busy_there(Other, OsPid) ->
    pong = net_adm:ping(Other),
    P = spawn(Other, ?MODULE, sink, []),
    Got = run("erlang*:::dist-port_busy"
              "{ @[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), copyinstr(arg3)] = count();"
              "  @n = count(); }",
              fun(H) ->
                      "" = os:cmd("kill -STOP " ++ OsPid),
                      try
                          fill(P, 0),
                          Ps = [spawn_monitor(fun() -> P ! x end) || _ <- [1, 2, 3]],
                          [suspended(F) || {F, _} <- Ps],
                          counted(H, <<"n">>, 3),
                          put(pids, Ps)
                      after
                          os:cmd("kill -CONT " ++ OsPid)
                      end,
                      [receive {'DOWN', M, process, F, _} -> ok end || {F, M} <- get(pids)]
              end),
    [Port] = [C || {N, C} <- erlang:system_info(dist_ctrl), N =:= Other],
    Here = name(node()),
    Pids = [pid_to_list(F) || {F, _} <- get(pids)],
    Want = maps:from_list([{{"_", [Here, erlang:port_to_list(Port), name(Other), F]}, 1}
                           || F <- Pids]),
    Want = maps:filter(fun({"_", [_, _, _, F]}, _) -> lists:member(F, Pids); (_, _) -> false end,
                       Got), % processes of the node itself may have to wait as well
    ok.

%% Until it has been busy for a while.
fill(_, 100) -> ok;
fill(P, N) ->
    case erlang:send(P, binary:copy(<<0>>, 100000), [nosuspend]) of
        ok -> fill(P, 0);
        nosuspend -> receive after 2 -> fill(P, N + 1) end
    end.

%% ---- busy ports ------------------------------------------------------------------------------

%% A program that does not read until it may: three processes wait, and go on.
busy_port_test_() ->
    {timeout, 60, fun() ->
        File = lists:flatten(io_lib:format("/tmp/erltrace_probes_~s_~b",
                                           [os:getpid(), erlang:unique_integer([positive])])),
        Script = "while [ ! -e " ++ File ++ " ]; do sleep 0.05; done; cat >/dev/null",
        Got = run("erlang*:::port-busy { @b[copyinstr(arg0)] = count(); @nb = count(); }"
                  "erlang*:::process-port_unblocked"
                  "{ @u[copyinstr(arg0), copyinstr(arg1)] = count(); @nu = count(); }",
                  fun(H) ->
                          Port = open_port({spawn_executable, "/bin/sh"},
                                           [{args, ["-c", Script]}, binary]),
                          true = port_command(Port, binary:copy(<<0>>, 1000000)),
                          Ps = [spawn_monitor(fun() -> port_command(Port, <<"x">>) end)
                                || _ <- [1, 2, 3]],
                          [suspended(P) || {P, _} <- Ps],
                          counted(H, <<"nb">>, 1),
                          ok = file:write_file(File, <<>>),
                          [receive {'DOWN', M, process, P, R} -> normal = R end || {P, M} <- Ps],
                          counted(H, <<"nu">>, 3),
                          put(seen, {erlang:port_to_list(Port), [pid_to_list(P) || {P, _} <- Ps]}),
                          port_close(Port)
                  end),
        file:delete(File),
        {Port, Pids} = get(seen),
        ?assertEqual(maps:from_list([{{"b", [Port]}, 1}, {{"nb", []}, 1}, {{"nu", []}, 3} |
                                     [{{"u", [P, Port]}, 1} || P <- Pids]]), Got),
        ?assertEqual(undefined, erlang:system_monitor()),
        ?assertEqual(undefined, application:get_env(erltrace, watched))
    end}.

%% ---- what takes long or much -----------------------------------------------------------------

%% Each collection of a process whose heap is large, as long as the option says.
long_gc_test_() ->
    {timeout, 60, fun() ->
        Got = run("#pragma D option longgc=1\n#pragma D option largeheap=1000000\n"
                  "erlang*:::process-long_gc { @g[copyinstr(arg0)] = count(); @ms = min(arg1); @w = max(arg2); }"
                  "erlang*:::process-large_heap { @h[copyinstr(arg0)] = count(); @hw = min(arg1); }",
                  fun(H) ->
                          {P, M} = spawn_monitor(fun() ->
                                                         L = lists:seq(1, 3000000),
                                                         [garbage_collect() || _ <- [1, 2, 3]],
                                                         receive go -> length(L) end
                                                 end),
                          put(pid, pid_to_list(P)),
                          at_least(H, <<"g">>, list_to_binary(pid_to_list(P)), 3),
                          at_least(H, <<"h">>, list_to_binary(pid_to_list(P)), 3),
                          P ! go,
                          receive {'DOWN', M, process, P, _} -> ok end
                  end),
        #{{"ms", []} := Ms, {"w", []} := Words, {"hw", []} := Heap} = Got,
        ?assert(Ms >= 1),
        ?assert(Words >= 6000000),
        ?assert(Heap >= 1000000),
        ?assertEqual(undefined, erlang:system_monitor())
    end}.

long_schedule_test_() ->
    {timeout, 60, fun() ->
        Got = run("#pragma D option longschedule=5\n"
                  "erlang*:::process-long_schedule { @s[copyinstr(arg0)] = count(); @ms = min(arg1); @f[copyinstr(arg3)] = count(); }"
                  "erlang*:::port-long_schedule { @p = min(arg1); }",
                  fun(H) ->
                          P = spawn(fun() -> hog(lists:seq(1, 3000000)) end),
                          at_least(H, <<"s">>, list_to_binary(pid_to_list(P)), 1),
                          exit(P, kill)
                  end),
        ?assertMatch(#{{"ms", []} := Ms} when Ms >= 5, Got),
        ?assert(maps:get({"p", []}, Got, 5) >= 5),
        ?assertEqual(undefined, erlang:system_monitor())
    end}.

%% A built-in function that does not yield.
hog(L) -> _ = list_to_tuple(L), erlang:yield(), hog(L).

%% From OTP 27 on; before, the script is told.
long_queue_test() ->
    Script = "#pragma D option longqueue=100\n"
             "erlang*:::process-long_queue { @[copyinstr(arg0), arg1] = count(); @n[arg1] = count(); }",
    case erltrace_vm:has_sessions() of
        false ->
            ?assertMatch({error, {dtrace, <<"ET_SYSTEM_MONITOR">>, _, _,
                                  <<"process-long_queue cannot fire: this needs OTP 27", _/binary>>}},
                         erltrace:script(Script));
        true ->
            Got = run(Script, fun(H) ->
                                      P = spawn(fun() -> receive go -> drain() end end),
                                      [P ! x || _ <- lists:seq(1, 150)],
                                      at_least(H, <<"n">>, 1, 1),
                                      P ! go,
                                      at_least(H, <<"n">>, 0, 1),
                                      put(pid, pid_to_list(P)),
                                      P ! stop
                              end),
            Pid = get(pid),
            ?assertMatch(#{{"_", [Pid, 1]} := 1, {"_", [Pid, 0]} := 1}, Got)
    end.

drain() -> receive x -> drain(); stop -> ok end.

at_least(H, Name, Key, N) ->
    {ok, Aggs} = erltrace:aggregations(H),
    case [V || {A, _, [K], V} <- Aggs, A =:= Name, K =:= Key, V >= N] of
        [] -> receive after 5 -> at_least(H, Name, Key, N) end;
        _ -> ok
    end.

suspended(P) ->
    case process_info(P, status) of
        {status, suspended} -> ok;
        _ -> receive after 1 -> suspended(P) end
    end.

%% Somebody else's system monitor stays: a script goes on without the probes that need it, and says
%% so; one that has no others does not start.
system_monitor_test() ->
    case has_system() of
        true -> system_monitor_beside();
        false -> system_monitor_taken()
    end.

has_system() ->
    code:ensure_loaded(trace) =:= {module, trace} andalso erlang:function_exported(trace, system, 3).

%% From OTP 28 on both have theirs.
system_monitor_beside() ->
    P = spawn(?MODULE, sink, []),
    undefined = erlang:system_monitor(P, [{long_gc, 100000}]),
    {ok, H} = erltrace:script("erlang*:::port-busy, erlang*:::process-long_gc { @ = count(); }"),
    {ok, #{missing := <<>>}} = erltrace:status(H),
    ?assertEqual({P, [{long_gc, 100000}]}, erlang:system_monitor()),
    ok = erltrace:close(H),
    ?assertEqual({P, [{long_gc, 100000}]}, erlang:system_monitor()),
    erlang:system_monitor(undefined),
    P ! stop.

system_monitor_taken() ->
    P = spawn(?MODULE, sink, []),
    register(somebodys_monitor, P),
    undefined = erlang:system_monitor(P, [{long_gc, 100000}]),
    {error, {dtrace, <<"ET_SYSTEM_MONITOR">>, _, _, Text}} =
        erltrace:script("erlang*:::port-busy { @ = count(); }"),
    ?assertNotEqual(nomatch, string:find(Text, pid_to_list(P) ++ " (somebodys_monitor) has it")),
    {ok, H} = erltrace:script("erlang*:::dist-port_busy { @b = count(); }"
                              "erlang*:::process-spawn /args[1] == \"catalogue_tests:sink/0\"/ { @s = count(); }"),
    {ok, #{missing := Missing, running := true}} = erltrace:status(H),
    ?assertMatch(<<"dist-port_busy cannot fire: ", _/binary>>, Missing),
    Q = spawn(?MODULE, sink, []),
    counted(H, <<"s">>, 1),
    ok = erltrace:close(H),
    {ok, N} = erltrace:script("erlang*:::dist-port_busy { @b = count(); } erlang*:::dist-monitor {}"),
    {ok, #{missing := Missing}} = erltrace:status(N),
    ok = erltrace:close(N),
    ?assertEqual({P, [{long_gc, 100000}]}, erlang:system_monitor()),
    erlang:system_monitor(undefined),
    {ok, Free} = erltrace:script("erlang*:::dist-port_busy { @b = count(); }"),
    {ok, #{missing := <<>>}} = erltrace:status(Free),
    ok = erltrace:close(Free),
    P ! stop,
    Q ! stop.

%% Two handles have it: the end of the first, by any death of its owner, leaves it to the second.
system_monitor_shared_test() ->
    has_system() orelse system_monitor_shared().

system_monitor_shared() ->
    Self = self(),
    Owner = spawn(fun() ->
                          {ok, H} = erltrace:script("erlang*:::port-busy { @ = count(); }"),
                          Self ! {handle, H},
                          sink()
                  end),
    A = receive {handle, H} -> H end,
    {First, [busy_port]} = erlang:system_monitor(),
    {ok, B} = erltrace:script("erlang*:::dist-port_busy { @ = count(); }"),
    {First, [_, _]} = erlang:system_monitor(),
    M = erlang:monitor(process, A),
    exit(Owner, kill),
    receive {'DOWN', M, process, A, _} -> ok end,
    Second = (fun Wait() ->
                      case erlang:system_monitor() of
                          undefined -> receive after 1 -> Wait() end;
                          {Pid, [busy_dist_port]} -> Pid
                      end
              end)(),
    ?assertNotEqual(First, Second),
    ok = erltrace:close(B),
    ?assertEqual(undefined, erlang:system_monitor()),
    ?assertEqual(false, is_process_alive(Second)).

%% ---- ports and drivers -----------------------------------------------------------------------

drv_dir() -> filename:dirname(code:which(?MODULE)).

driver_test() ->
    Got = run("erlang*:::driver-init { @i[copyinstr(arg0), arg1] = count(); }"
              "erlang*:::driver-finish { @f[copyinstr(arg0), arg1] = count(); }"
              "erlang*:::driver-start, erlang*:::driver-stop"
              "{ @d[probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); }"
              "erlang*:::driver-flush"
              "{ @l[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); }"
              "erlang*:::port-open"
              "{ @o[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); }"
              "erlang*:::port-exit"
              "{ @x[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), copyinstr(arg3)]"
              " = count(); }"
              "erlang*:::port-connect"
              "{ @c[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), copyinstr(arg3)]"
              " = count(); }"
              "erlang*:::port-command"
              "{ @m[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), copyinstr(arg3)]"
              " = count(); }"
              "erlang*:::port-control"
              "{ @k[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), arg3] = count(); }"
              "erlang*:::driver-outputv, erlang*:::driver-output"
              "{ @v[probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), arg3]"
              " = count(); }"
              "erlang*:::driver-control, erlang*:::driver-call"
              "{ @q[probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), arg3, arg4]"
              " = count(); }",
              fun(_) ->
                      ok = erl_ddll:load_driver(drv_dir(), "probe_drv"),
                      P = open_port({spawn_driver, "probe_drv now"}, [binary]),
                      New = spawn(?MODULE, sink, []),
                      [port_command(P, [<<"ab">>, "cde"]) || _ <- lists:seq(1, 4)],
                      [port_control(P, 3, <<"xyz">>) || _ <- lists:seq(1, 3)],
                      [{five} = erlang:port_call(P, 5, {five}) || _ <- [1, 2]],
                      port_control(P, 1, []),
                      erlang:port_connect(P, New),
                      unlink(P),
                      port_close(P),
                      ok = erl_ddll:unload_driver("probe_drv"),
                      put(seen, {erlang:port_to_list(P), pid_to_list(New)}),
                      New ! stop
              end),
    {P, New} = get(seen),
    Me = pid_to_list(self()),
    Name = "probe_drv now",
    Want = #{{"i", ["probe_drv", 3]} => 1,
             {"f", ["probe_drv", 0]} => 1,
             {"d", ["driver-start", Me, "probe_drv", P]} => 1,
             {"d", ["driver-stop", New, "probe_drv", P]} => 1,
             {"l", [New, P, Name]} => 1,
             {"o", [Me, Name, P]} => 1,
             {"x", [New, P, Name, "normal"]} => 1,
             {"c", [Me, P, Name, New]} => 1,
             {"m", [Me, P, Name, "command"]} => 4,
             {"m", [Me, P, Name, "close"]} => 1,
             {"k", [Me, P, Name, 3]} => 3,
             {"k", [Me, P, Name, 1]} => 1,
             {"v", ["driver-outputv", Me, P, Name, 5]} => 4,
             {"q", ["driver-control", Me, P, Name, 3, 3]} => 3,
             {"q", ["driver-control", Me, P, Name, 1, 0]} => 1,
             {"q", ["driver-call", Me, P, Name, 5, byte_size(term_to_binary({five}))]} => 2},
    ?assertEqual([], maps:to_list(Want) -- maps:to_list(Got)),
    ?assertEqual([], [E || {{_, Ks}, _} = E <- maps:to_list(Got) -- maps:to_list(Want),
                           lists:member(P, Ks)]).

%% A program's port: the first run is for the VM's own start of it; then one for each answer. (What
%% is ready while the port runs for a signal is not told: so one after the other.)
ready_test() ->
    Got = run("erlang*:::driver-ready_input"
              "{ @r[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); @n = count(); }"
              "erlang*:::driver-ready_output { @w[copyinstr(arg0), copyinstr(arg1)] = count(); }"
              "erlang*:::driver-start { @s[copyinstr(arg1), copyinstr(arg2)] = count(); }"
              "erlang*:::driver-output { @o[copyinstr(arg1), copyinstr(arg2), arg3] = count(); }",
              fun(H) ->
                      P = open_port({spawn, "cat"}, [binary]),
                      counted(H, <<"n">>, 1),
                      [begin
                           port_command(P, <<"hello">>),
                           receive {P, {data, <<"hello">>}} -> ok end,
                           counted(H, <<"n">>, 1 + I)
                       end || I <- lists:seq(1, 10)],
                      put(port, erlang:port_to_list(P)),
                      port_close(P)
              end),
    P = get(port),
    ?assertEqual(11, maps:get({"r", [pid_to_list(self()), P, "cat"]}, Got)),
    ?assertEqual(11, maps:get({"w", [pid_to_list(self()), P]}, Got)), % the VM does not tell which
    ?assertEqual(1, maps:get({"s", ["spawn", P]}, Got)),
    ?assertEqual(10, maps:get({"o", [P, "cat", 5]}, Got)).

%% The name of a port that needs quotes as an atom has none.
port_name_test() ->
    Command = "sh -c 'exit 0' # " ++ lists:duplicate(100, $x),
    Got = run("erlang*:::port-open { @[copyinstr(arg1)] = count(); }",
              fun(_) ->
                      P = open_port({spawn, Command}, [exit_status]),
                      receive {P, {exit_status, 0}} -> ok end
              end),
    ?assertEqual(1, maps:get({"_", [Command]}, Got)).
