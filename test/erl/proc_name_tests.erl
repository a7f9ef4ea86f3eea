%% SPDX-License-Identifier: Apache-2.0
%% What a process is called, erlproc: src/arming/erltrace_process_name.erl has the order. Names are known before the
%% script starts, and learned while it runs.
-module(proc_name_tests).
-behaviour(gen_server).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2]).
-export([act/1, loop/1, init/1, handle_call/3, handle_cast/2, started/2]).

%% ---- processes of all kinds ------------------------------------------------------------------

act(X) -> X.

loop(Parent) ->
    receive
        {do, Ref, Fun} -> Fun(), act(1), Parent ! Ref, loop(Parent);
        stop -> ok
    end.

init(sup) -> {ok, {#{}, []}};
init(x) -> {ok, x}.
handle_call({do, Fun}, _, S) -> Fun(), act(1), {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.

started(Parent, x) -> proc_lib:init_ack({ok, self()}), loop(Parent).

ask(P) -> ask(P, fun() -> ok end).
ask(P, Fun) -> R = make_ref(), P ! {do, R, Fun}, receive R -> ok end.

stop(P) ->
    M = erlang:monitor(process, P),
    unlink(P),
    exit(P, kill),
    receive {'DOWN', M, process, P, _} -> ok end.

%% How a process is started, how it is made to call act/1, what it is called then.
kinds() ->
    S = self(),
    Call = fun(P) -> gen_server:call(P, {do, fun() -> ok end}) end,
    Ask = fun(P) -> ask(P) end,
    [{fun() -> spawn(?MODULE, loop, [S]) end, Ask, "proc_name_tests:loop/1"},
     {fun() -> proc_lib:spawn(?MODULE, loop, [S]) end, Ask, "proc_name_tests:loop/1"},
     {fun() -> {ok, P} = proc_lib:start(?MODULE, started, [S, x]), P end, Ask,
      "proc_name_tests:started/2"},
     {fun() -> {ok, P} = gen_server:start(?MODULE, x, []), P end, Call, "proc_name_tests:init/1"},
     {fun() -> {ok, P} = gen_server:start({local, proc_name_one}, ?MODULE, x, []), P end, Call,
      "proc_name_one"}].

counts(Entries) -> maps:from_list([{{"_", [K]}, V} || {K, V} <- Entries]).

by_name(Kinds) ->
    counts(maps:to_list(lists:foldl(fun({_, _, Name}, M) ->
                                            maps:update_with(Name, fun(N) -> N + 1 end, 1, M)
                                    end, #{}, Kinds))).

-define(SCRIPT, "erlang*:proc_name_tests:act:function-entry { @[erlproc] = count(); }").

%% ---- tests -----------------------------------------------------------------------------------

%% Processes that are there when the script starts.
before_test() ->
    Started = [{P, Do} || {Start, Do, _} <- kinds(), P <- [Start()]],
    ?assertEqual(by_name(kinds()),
                 run(?SCRIPT, fun() -> [Do(P) || {P, Do} <- Started] end)),
    [stop(P) || {P, _} <- Started].

%% An event has the name from the library; a process that is asked, from erltrace_process_name: for the provider
%% state, for calls in progress, for the option `processes'. One process, one name.
one_name_test() ->
    S = self(),
    Garbage = fun(X) -> fun() -> put('$initial_call', X), loop(S) end end,
    Ps = [{P, Do} || {Start, Do, _} <- kinds(), P <- [Start()]] ++
        [{P, fun(X) -> ask(X) end} ||
            Fun <- [fun() -> loop(S) end, Garbage(no_call), Garbage({a, b, [c | d]}), Garbage({a, b, [1, 2]}),
                    Garbage({a, b, -1}), Garbage({"a", b, 1}), Garbage({erlang, apply, 2})] ++
                [fun() -> apply(proc_lib, set_label, [Label]), loop(S) end ||
                    labels(), Label <- [{one, "label"}, registered, undefined]],
            P <- [proc_lib:spawn(Fun), spawn(Fun)]],
    [Do(P) || {P, Do} <- Ps],
    Got = run(["erlang*:proc_name_tests:act:function-entry { @event[erlpid, erlproc] = count(); }"
               "state:::process { @process[erlpid, erlproc] = count(); @member[erlpid, args[0]->name] = count(); }"
               "state:::round { @rounds = count(); }"],
              fun(H) -> [Do(P) || {P, Do} <- Ps], rounds(H, 1) end),
    Of = fun(Name, Pid) -> [N || {Agg, [P, N]} <- maps:keys(Got), Agg =:= Name, P =:= Pid] end,
    [begin
         Pid = pid_to_list(P),
         Asked = binary_to_list(erltrace_process_name:text(erltrace_process_name:ask(P, labels()))),
         ?assertEqual([[Asked], [Asked], [Asked]], [Of(Agg, Pid) || Agg <- ["event", "process", "member"]])
     end || {P, _} <- Ps],
    [stop(P) || {P, _} <- Ps].

%% Processes that are started while it runs.
during_test() ->
    ?assertEqual(by_name(kinds()),
                 run(?SCRIPT, fun() ->
                                      [begin P = Start(), Do(P), stop(P) end ||
                                          {Start, Do, _} <- kinds()]
                              end)).

%% A fun has no name: its text, or if the process was there before, the pid.
fun_test() ->
    S = self(),
    P = spawn(fun() -> loop(S) end),
    Got = run(?SCRIPT, fun() ->
                               ask(P),
                               Q = spawn(fun() -> loop(S) end),
                               R = proc_lib:spawn(fun() -> loop(S) end),
                               [begin ask(X), stop(X) end || X <- [Q, R]]
                       end),
    Pid = pid_to_list(P),
    ?assertMatch([{{"_", ["#Fun<proc_name_tests." ++ _]}, 1},
                  {{"_", ["#Fun<proc_name_tests." ++ _]}, 1},
                  {{"_", [Pid]}, 1}], lists:sort(maps:to_list(Got))),
    stop(P).

%% Of the behaviours that proc_lib knows: as it tells them.
behaviours_test() ->
    Start = [fun() -> supervisor:start_link(?MODULE, sup) end,
             fun() -> gen_event:start_link() end,
             fun() -> gen_event:start_link({local, proc_name_events}) end,
             fun() -> gen_server:start_link(?MODULE, x, []) end],
    Script = "erlang*:::process-exit { @[erlproc] = count(); }",
    All = fun() -> [P || F <- Start, {ok, P} <- [F()]] end,
    Expected = fun(Ps) -> lists:sort([expected(P) || P <- Ps]) end,
    Old = All(),
    Want1 = Expected(Old),
    Got1 = run(Script, fun() -> [stop(P) || P <- Old] end),
    ?assertEqual(Want1, shown(Want1, Got1)),
    Got2 = run(Script, fun() -> New = All(), put(want, Expected(New)), [stop(P) || P <- New] end),
    ?assertEqual(get(want), shown(get(want), Got2)).

expected(P) ->
    case process_info(P, registered_name) of
        {_, Name} -> atom_to_list(Name);
        [] ->
            {M, F, A} = proc_lib:translate_initial_call(P),
            lists:flatten(io_lib:format("~p:~p/~b", [M, F, A]))
    end.

shown(Want, Got) -> [K || K <- Want, is_map_key({"_", [K]}, Got)].

%% A name that comes and goes; the name of before is back then.
registered_test() ->
    P = spawn(?MODULE, loop, [self()]),
    Got = run(?SCRIPT, fun() ->
                               ask(P),
                               register(proc_name_for_now, P),
                               ask(P),
                               ask(P),
                               unregister(proc_name_for_now),
                               ask(P)
                       end),
    ?assertEqual(counts([{"proc_name_tests:loop/1", 2}, {"proc_name_for_now", 2}]), Got),
    stop(P).

%% The other process, by what it is called.
peer_test() ->
    P = spawn(?MODULE, loop, [self()]),
    Got = run(["erlang*:::message-send /erlpid == ", script_run:quoted(self()), "/"
               "{ @[erlpeerproc] = count(); }"
               "erlang*:::process-spawn /erlproc == \"proc_name_tests:loop/1\"/"
               "{ @spawn[erlpeerproc] = count(); }"],
              fun() ->
                      ask(P),
                      Q = spawn(?MODULE, loop, [self()]),
                      [ask(Q) || _ <- [1, 2]],
                      stop(Q)
              end),
    ?assertEqual(3, maps:get({"_", ["proc_name_tests:loop/1"]}, Got)),
    ?assertMatch([{{"spawn", [_]}, 1}], [E || {{"spawn", _}, _} = E <- maps:to_list(Got)]),
    stop(P).

%% Many processes that come and go while the table is filled: no name of another process, no crash.
%% One that is born after the first round of questions and fires before the second has its pid.
churn_test_() ->
    {timeout, 60, fun churn/0}.

churn() ->
    Self = self(),
    Born = counters:new(1, []),
    Churn = fun Churn(N) ->
                    receive stop -> Self ! {self(), N}
                    after 0 ->
                            {P, M} = spawn_monitor(?MODULE, act, [N]),
                            counters:add(Born, 1, 1),
                            receive {'DOWN', M, process, P, _} -> Churn(N + 1) end
                    end
            end,
    Churners = [spawn_link(fun() -> Churn(0) end) || _ <- [1, 2, 3]],
    Got = [run(?SCRIPT, fun(H) -> born(Born, counters:get(Born, 1) + 1000), named(H) end) || _ <- lists:seq(1, 5)],
    [begin C ! stop, receive {C, _} -> ok end end || C <- Churners],
    [?assertEqual([{"_", ["proc_name_tests:act/1"]}], names(G)) || G <- Got].

names(Got) -> [K || {_, [Name]} = K <- maps:keys(Got), hd(Name) =/= $<].

%% Some time after the second round all have names.
named(H) ->
    names(script_run:aggregations(H)) =/= [] orelse receive after 10 -> named(H) end.

born(Born, N) ->
    case counters:get(Born, 1) >= N of
        true -> ok;
        false -> receive after 1 -> born(Born, N) end
    end.

%% ---- labels ----------------------------------------------------------------------------------

labels() -> list_to_integer(erlang:system_info(otp_release)) >= 27.

label_test_() -> [fun label/0 || labels()].

label() ->
    Set = fun(L) -> fun() -> apply(proc_lib, set_label, [L]) end end,
    Old = spawn(?MODULE, loop, [self()]),
    ask(Old, Set({channel, 1})),
    Got = run(?SCRIPT, fun() ->
                               ask(Old),
                               ask(Old, Set(other)),
                               ask(Old, Set(undefined)),
                               New = spawn(?MODULE, loop, [self()]),
                               ask(New),
                               ask(New, Set({channel, 2})),
                               register(proc_name_labelled, New),
                               ask(New),
                               unregister(proc_name_labelled),
                               ask(New),
                               stop(New)
                       end),
    ?assertEqual(counts([{"{channel,1}", 1}, {"other", 1}, {"proc_name_tests:loop/1", 2},
                         {"{channel,2}", 2}, {"proc_name_labelled", 1}]), Got),
    stop(Old).

%% The script's own probes of proc_lib:set_label/1 fire as well, with what it returns.
traced_label_test_() -> [fun traced_label/0 || labels()].

traced_label() ->
    Old = spawn(?MODULE, loop, [self()]),
    Got = run(["erlang*:proc_lib:set_label:function-return { @[erlproc, erlret] = count(); }"
               "erlang*:proc_lib:set_label:function-entry { @in[erlproc] = count(); }"],
              fun() -> [ask(Old, fun() -> apply(proc_lib, set_label, [L]) end) || L <- [a, b]] end),
    ?assertEqual(#{{"_", ["a", "ok"]} => 1, {"_", ["b", "ok"]} => 1,
                   {"in", ["a"]} => 1, {"in", ["b"]} => 1}, Got),
    stop(Old).

%% A label may hold what users sent: with payload=off nothing shows it, nor finds a process by it.
payload_off_hides_labels_test_() -> [fun payload_off_hides_labels/0 || labels()].

payload_off_hides_labels() ->
    Set = fun() -> apply(proc_lib, set_label, [secret_word]) end,
    Off = "#pragma D option payload=off\n",
    Old = spawn(?MODULE, loop, [self()]),
    ask(Old, Set),
    Called = fun() ->
                     ask(Old),
                     New = spawn(?MODULE, loop, [self()]),
                     ask(New, Set),
                     ask(New),
                     stop(New)
             end,
    ?assertEqual(counts([{"secret_word", 3}]), run(?SCRIPT, Called)),
    ?assertEqual(counts([{"proc_name_tests:loop/1", 3}]), run([Off, ?SCRIPT], Called)),
    {ok, Server} = gen_server:start(?MODULE, x, []),
    ok = gen_server:call(Server, {do, Set}),
    ok = sys:suspend(Server),
    Caller = spawn(fun() -> Set(), gen_server:call(Server, {do, Set}, infinity) end),
    Table = ets:new(?MODULE, []),
    true = ets:give_away(Table, Old, x),
    Looks = "state:::process-100ms { @[erlproc, \"\"] = count(); }"
        "state:::table-100ms { @[args[0]->owner, \"\"] = count(); }"
        "state:::wait-100ms { @[args[0]->callee_name, args[0]->chain] = count(); }"
        "state:::round-100ms { @rounds = count(); }",
    Rounds = fun(H) -> rounds(H, 5) end,
    ?assertMatch([_ | _], shows_secret(run(Looks, Rounds))),
    ?assertEqual([], shows_secret(run([Off, Looks], Rounds))),
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "processes", "secret_word"),
    ok = erltrace:compile(H, [Off, ?SCRIPT]),
    ?assertMatch({error, {dtrace, <<"ET_NO_PROCESS">>, _, _, _}}, erltrace:go(H)),
    ok = erltrace:close(H),
    [stop(P) || P <- [Old, Server, Caller]].

rounds(H, N) ->
    case script_run:aggregations(H) of
        #{{"rounds", []} := R} when R >= N -> ok;
        _ -> receive after 10 -> rounds(H, N) end
    end.

shows_secret(Got) -> [K || {_, Keys} = K <- maps:keys(Got), Text <- Keys, string:find(Text, "secret") =/= nomatch].

%% A long one is cut; one after the other in many processes; none is another's.
many_labels_test_() -> [fun many_labels/0 || labels()].

many_labels() ->
    Long = lists:duplicate(100, abc),
    Ps = [spawn(?MODULE, loop, [self()]) || _ <- lists:seq(1, 200)],
    Set = fun(P, L) -> ask(P, fun() -> apply(proc_lib, set_label, [L]) end) end,
    Got = run(?SCRIPT, fun() ->
                               [Set(P, {N, I}) || I <- [1, 2, 3], {N, P} <- lists:enumerate(Ps)],
                               Set(hd(Ps), Long)
                       end),
    ?assertEqual(601, map_size(Got)),
    ?assertEqual(119, lists:max([length(K) || {"_", [K]} <- maps:keys(Got)])),
    [stop(P) || P <- Ps].
