%% SPDX-License-Identifier: Apache-2.0
%% follow(), flowid, flowdepth, flow-> and the probes flow-*.
-module(flow_tests).
-include_lib("eunit/include/eunit.hrl").
-export([traced/0, other/1, exact/2, woken/1]).

-define(CLIENTS, 20).
-define(EACH, 100).

%% ---- exactness -------------------------------------------------------------------------------

%% Every tree is as the workload has it, none is mixed with another.
every_tree_is_exact_test_() ->
    {timeout, 120, fun() -> exact(?CLIENTS, ?EACH) end}.

exact(Clients, Each) ->
    {module, _} = code:ensure_loaded(flow_load),
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, Name, Value) ||
        {Name, Value} <- [{"maxrate", "0"}, {"bufsize", "32m"}, {"dynvarsize", "16m"}, {"quiet", ""},
                          {"flowtime", "10s"}, {"watchdog", "0"}]],
    ok = erltrace:compile(
           H, "erlang*:flow_load:request:function-entry { follow(); flow->id = erlint(0); }
               erlang*:flow_load:handled:function-entry {
                   printf(\"handled %d %d %d %d\\n\", flowid, flowdepth, flow->id, erlint(0)); }
               erlang*:::flow-begin { printf(\"begin %d %d\\n\", args[0], flow->id); }
               erlang*:::flow-send { printf(\"send %d %d %d %d %s\\n\", args[0], args[1], args[2],
                   args[5], erlmsg); }
               erlang*:::flow-receive { printf(\"receive %d %d %d %d %s\\n\", args[0], args[1],
                   args[2], args[5], erlmsg); }
               erlang*:::flow-spawn { printf(\"spawn %d %d %d %d -\\n\", args[0], args[1], args[2],
                   args[5]); }
               erlang*:::flow-end { printf(\"end %d %d %d %d %d %d\\n\", args[0], flow->id, args[1],
                   args[4], args[5], args[3] > 0); }"),
    ok = erltrace:go(H),
    Pool = flow_load:start(4),
    ok = flow_load:run(Pool, Clients, Each),
    flow_load:stop(Pool),
    N = Clients * Each,
    Lines = read(H, N, []),
    erltrace:close(H),
    ?assertEqual([], [L || [Count, "flow", "drop" ++ _] = L <- Lines, Count =/= "0"]),
    Flows = lists:foldl(fun(["end" | _], Fs) -> Fs;
                           ([_, Flow | _] = L, Fs) ->
                                maps:update_with(Flow, fun(Ls) -> [L | Ls] end, [L], Fs)
                        end, #{}, Lines),
    ?assertEqual(N, map_size(Flows)),
    Ids = [tree(lists:reverse(Ls)) || Ls <- maps:values(Flows)],
    ?assertEqual(lists:seq(1, N), lists:sort(Ids)),
    %% the end tells the same: depth, messages, spawns
    Ends = [E || ["end" | E] <- Lines],
    ?assertEqual(N, length(lists:usort([F || [F | _] <- Ends]))),
    ?assertEqual([], [E || [F, Id, Depth, "8", "5", "1"] = E <- Ends,
                           Id =/= integer_to_list(id(maps:get(F, Flows))) orelse Depth =/= "7"]),
    ?assertEqual(N, length([E || [_, _, "7", "8", "5", "1"] = E <- Ends])).

id(Lines) -> hd([list_to_integer(Id) || ["begin", _, Id] <- Lines]).

%% All events of a flow until N flows have ended.
read(H, N, Got) ->
    {ok, Texts} = erltrace:output(H),
    Lines = [string:lexemes(L, " ") ||
                L <- string:lexemes(unicode:characters_to_list(Texts), "\n")],
    All = Got ++ Lines,
    case length([x || ["end" | _] <- All]) >= N of
        true -> All;
        false -> timer:sleep(20), read(H, N, All)
    end.

%% The id of the request whose tree this is.
tree([["begin", _, Id] | Events]) ->
    ?assertEqual([], [E || E <- Events, not is_of(E, Id)]),
    Hops = maps:from_list([{Hop, {Cause, Depth, step(Kind, Text)}} ||
                              [Kind, _, Hop, Cause, Depth | Text] <- Events,
                              Kind =:= "send" orelse Kind =:= "spawn"]),
    ?assertEqual([integer_to_list(I) || I <- lists:seq(1, 13)],
                 lists:sort(fun(A, B) -> list_to_integer(A) =< list_to_integer(B) end,
                            maps:keys(Hops))),
    %% each message is received once, as it was sent
    Received = [{Hop, {Cause, Depth, step("send", Text)}} ||
                   ["receive", _, Hop, Cause, Depth | Text] <- Events],
    ?assertEqual([], [R || {Hop, Is} = R <- Received, maps:get(Hop, Hops) =/= Is]),
    ?assertEqual(8, length(Received)),
    ?assertEqual(8, length(lists:usort(Received))),
    Edges = lists:sort([{Step, cause(Cause, Hops), Depth} || {Cause, Depth, Step} <- maps:values(Hops)]),
    ?assertEqual([{"call", "begin", "1"},
                  {"child", "spawn", "4"}, {"child", "spawn", "4"}, {"child", "spawn", "4"},
                  {"exit", "spawn", "6"}, {"late", "exit", "7"}, {"log", "call", "2"}, {"reply", "call", "2"},
                  {"spawn", "child", "5"}, {"spawn", "child", "5"},
                  {"spawn", "reply", "3"}, {"spawn", "reply", "3"}, {"spawn", "reply", "3"}], Edges),
    %% what functions see: in the worker, and twice in the process that all share
    ?assertEqual([["1", Id, Id], ["2", Id, Id], ["7", Id, Id]],
                 lists:sort([[Depth, Has, Is] || ["handled", _, Depth, Has, Is] <- Events])),
    list_to_integer(Id).

is_of(["spawn" | _], _) -> true;
is_of(["handled", _, _, Id, Id], Id) -> true;
is_of([Kind, _, _, _, _, Text], Id) when Kind =:= "send"; Kind =:= "receive" ->
    re:run(Text, "{req," ++ Id ++ ",", [{capture, none}]) =:= match;
is_of(_, _) -> false.

step("spawn", _) -> "spawn";
step("send", [Text]) ->
    {match, [Step]} = re:run(Text, "{req,[0-9]+,{?([a-z]+)", [{capture, all_but_first, list}]),
    Step.

cause("0", _) -> "begin";
cause(Hop, Hops) -> element(3, maps:get(Hop, Hops)).

%% ---- rules -----------------------------------------------------------------------------------

traced() -> ok.
other(X) -> X.

%% A predicate chooses; the others get a token, but no flow.
predicate_chooses_test() ->
    Aggs = script_run:run(
             "erlang*:flow_tests:other:function-entry /erlint(0) % 2/ { follow(); }
              erlang*:flow_tests:traced:function-entry { @[flowid != 0] = count(); }
              erlang*:::flow-send { @sent = count(); }",
             fun() ->
                     P = spawn(fun Loop() -> receive F -> F ! ok, Loop() end end),
                     [script_run:in_process(fun() ->
                                                    other(N), traced(), P ! self(),
                                                    receive ok -> traced() end
                                            end) || N <- lists:seq(1, 10)],
                     exit(P, kill)
             end),
    ?assertEqual(#{{"_", [0]} => 10, {"_", [1]} => 10, {"sent", []} => 10}, Aggs).

%% Where a process spawns, its serial numbers repeat: messages of many requests that wait for one receiver are told apart.
waiting_messages_test() ->
    N = 100,
    Aggs = script_run:run(
             "erlang*:flow_tests:other:function-entry { follow(); }
              erlang*:::flow-receive { @[args[0]] = count(); }",
             fun() ->
                     Me = self(),
                     P = spawn(fun() ->
                                       receive go -> ok end,
                                       [receive {sent, I} -> ok end || I <- lists:seq(1, N)],
                                       Me ! received
                               end),
                     script_run:in_process(fun() -> [spawn_and_send(I, P) || I <- lists:seq(1, N)] end),
                     P ! go,
                     receive received -> ok end
             end),
    ?assertEqual(N, map_size(Aggs)). % flows, each with what it has sent

spawn_and_send(I, To) ->
    other(I),
    [spawn(fun() -> ok end) || _ <- lists:seq(1, 16)],
    To ! {sent, I}.

%% A message without a token ends it for its receiver; so flowid is right between two requests.
plain_message_leaves_test() ->
    Me = self(),
    Aggs = script_run:run(
             "erlang*:flow_tests:other:function-entry { follow(); }
              erlang*:flow_tests:traced:function-entry { @[flowid] = count(); }",
             fun() ->
                     P = spawn(fun Loop() -> receive go -> traced(), Me ! ok, Loop() end end),
                     script_run:in_process(fun() -> other(1), P ! go end),
                     receive ok -> ok end,
                     seq_trace:set_token([]), % this process is in the flow now
                     P ! go,
                     receive ok -> ok end,
                     exit(P, kill)
             end),
    ?assertEqual(#{{"_", [1]} => 1, {"_", [0]} => 1}, Aggs).

%% Outside of a flow its variables are 0, and stay so.
variable_outside_is_zero_test() ->
    Aggs = script_run:run(
             "erlang*:flow_tests:traced:function-entry { flow->x = 7; @[flow->x] = count();
                  flow->s = \"a\"; @s[flow->s == NULL] = count(); }",
             fun() -> traced(), traced() end),
    ?assertEqual(#{{"_", [0]} => 2, {"s", [1]} => 2}, Aggs).

%% They are gone when it has ended: of a thousand flows, room for a few is enough.
variables_end_with_flow_test_() ->
    {timeout, 60, fun() ->
        {ok, H} = erltrace:script(
                    "#pragma D option dynvarsize=128k\n#pragma D option flowtime=100ms
                     erlang*:flow_tests:other:function-entry { follow(); flow->x = 1; flow->s = \"s\"; }
                     erlang*:::flow-end { @[flow->x, flow->s] = count(); }"),
        [begin
             [script_run:in_process(fun() -> other(1) end) || _ <- lists:seq(1, 50)],
             wait_for({"_", [1, "s"]}, 50 * N, H)
         end || N <- lists:seq(1, 20)],
        {ok, Text} = erltrace:output(H),
        erltrace:close(H),
        ?assertEqual(nomatch, string:find(unicode:characters_to_list(Text), "drop"))
    end}.

wait_for(Key, N, H) ->
    case script_run:aggregations(H) of
        #{Key := N} -> ok;
        _ -> timer:sleep(10), wait_for(Key, N, H)
    end.

%% The VM tells the sender of a reply to a call with a timeout the alias, the receiver the process.
reply_to_an_alias_test() ->
    {ok, Server} = gen_server:start(flow_load, sink, []),
    Aggs = script_run:run(
             "erlang*:flow_tests:other:function-entry { follow(); }
              erlang*:flow_tests:traced:function-entry { @[flowdepth] = count(); }
              erlang*:::flow-receive { @received = count(); }",
             fun() ->
                     script_run:in_process(fun() ->
                                                   other(1),
                                                   handled = gen_server:call(Server, handled, 60000),
                                                   traced(),
                                                   handled = gen_server:call(Server, handled, 60000),
                                                   traced()
                                           end)
             end),
    gen_server:stop(Server),
    ?assertEqual(#{{"_", [2]} => 1, {"_", [4]} => 1, {"received", []} => 4}, Aggs).

%% A flow that time has ended begins no second one: whoever then receives a message of it, or is asked
%% for it, is in none. It fires no probe, and what it sends is not followed.
late_message_of_an_ended_flow_test() ->
    Me = self(),
    {ok, H} = erltrace:script(
                "#pragma D option flowtime=500ms
                 erlang*:flow_tests:other:function-entry { follow(); }
                 erlang*:flow_tests:traced:function-entry { @in[flowid] = count(); }
                 erlang*:::flow-begin,erlang*:::flow-send,erlang*:::flow-receive { @[probename] = count(); }
                 erlang*:::flow-end { @[probename] = count(); @end[args[6]] = count(); }"),
    P = spawn(fun() -> receive go -> traced(), Me ! {seen, seq_trace:get_token(label)} end end),
    erlang:suspend_process(P),
    Q = spawn(fun() -> other(1), P ! go, receive stop -> traced(), Me ! stopped end end),
    wait_for({"end", ["waits"]}, 1, H),
    erlang:resume_process(P),
    receive {seen, []} -> ok end, % its token was taken away
    Q ! stop,
    receive stopped -> ok end,
    wait_for({"in", [0]}, 2, H),
    Aggs = script_run:aggregations(H),
    erltrace:close(H),
    ?assertEqual(#{{"_", ["flow-begin"]} => 1, {"_", ["flow-send"]} => 1, {"_", ["flow-end"]} => 1,
                   {"end", ["waits"]} => 1, {"in", [0]} => 2}, Aggs).

%% The VM tells of an exit signal as of a message. Who does not trap exits never receives it: the flow ends, and does
%% not wait for that until flowtime.
exit_signal_holds_no_flow_test() ->
    {ok, H} = erltrace:script(
                "#pragma D option flowtime=30s
                 erlang*:flow_tests:other:function-entry { follow(); }
                 erlang*:::flow-end { @ = count(); @end[args[6]] = count(); }"),
    [script_run:in_process(fun() -> other(1), linked(Reason) end) || Reason <- [normal, shutdown]],
    wait_for({"_", []}, 2, H),
    Aggs = script_run:aggregations(H),
    erltrace:close(H),
    ?assertEqual(#{{"_", []} => 2, {"end", ["done"]} => 2}, Aggs).

linked(Reason) ->
    {P, M} = spawn_opt(fun() -> exit(Reason) end, [link, monitor]),
    receive {'DOWN', M, process, P, _} -> ok end.

%% Who traps exits does receive it, and is in the flow then; also where nobody else is in it any more.
trapped_exit_signal_belongs_to_its_flow_test() ->
    Me = self(),
    {ok, H} = erltrace:script(
                "erlang*:flow_tests:other:function-entry { follow(); }
                 erlang*:flow_tests:traced:function-entry { @in[flowid, flowdepth] = count(); }
                 erlang*:::flow-receive { @received = count(); }
                 erlang*:::flow-end { @end[args[6]] = count(); }"),
    P = spawn(fun() ->
                      process_flag(trap_exit, true),
                      Q = spawn_link(fun() -> receive go -> other(1) end end),
                      Me ! {child, Q},
                      receive take -> ok end,
                      receive {'EXIT', Q, normal} -> traced() end
              end),
    Q = receive {child, Q0} -> Q0 end,
    M = erlang:monitor(process, Q),
    Q ! go,
    receive {'DOWN', M, _, _, _} -> ok end,
    timer:sleep(300), % longer than a flow is waited for that nobody refers to
    ?assertEqual(#{}, script_run:aggregations(H)),
    P ! take,
    wait_for({"end", ["done"]}, 1, H),
    ?assertEqual(#{{"in", [1, 1]} => 1, {"received", []} => 1, {"end", ["done"]} => 1}, script_run:aggregations(H)),
    erltrace:close(H).

%% A process that hibernates is woken by a message of a flow, and belongs to it.
hibernating_process_test() ->
    Me = self(),
    {ok, H} = erltrace:script("erlang*:flow_tests:other:function-entry { follow(); }
                               erlang*:flow_tests:traced:function-entry { @[flowid, flowdepth] = count(); }"),
    P = spawn(fun() -> proc_lib:hibernate(?MODULE, woken, [Me]) end),
    wait_until(fun() -> process_info(P, current_function) =:= {current_function, {erlang, hibernate, 3}} end),
    Q = spawn(fun() -> process_flag(trap_exit, true), other(1), P ! wake, receive stop -> ok end end),
    receive woken -> ok end,
    wait_for({"_", [1, 1]}, 1, H),
    erltrace:close(H),
    ?assertEqual([], ours()),
    exit(Q, kill).

woken(Me) -> receive wake -> traced(), Me ! woken end.

%% flowhops bounds messages and spawns of a flow; what is beyond is dropped and counted. The message names the
%% option, and flow-end says so.
hops_are_bounded_test() ->
    {ok, H} = erltrace:script(
                "#pragma D option flowhops=10
                 erlang*:flow_tests:other:function-entry { follow(); }
                 erlang*:::flow-send { @sent = max(args[1]); @ = count(); }
                 erlang*:::flow-end { @end[args[6]] = count(); }"),
    script_run:in_process(fun() -> other(1), [self() ! N || N <- lists:seq(1, 46)] end),
    wait_for({"_", []}, 10, H),
    wait_for({"end", ["cut"]}, 1, H),
    ?assertMatch({match, _}, re:run(drops(H, "FLOWHOPS", 36), "-x flowhops=N")),
    ?assertMatch(#{{"sent", []} := 10}, script_run:aggregations(H)),
    erltrace:close(H).

%% More flows than there is room for are dropped, and counted. There is room for as many as the option says.
too_many_are_dropped_test() ->
    {ok, H} = erltrace:script("#pragma D option flows=50
                               erlang*:flow_tests:other:function-entry { @[follow() != 0] = count(); }"),
    Ps = [spawn(fun() -> other(1), receive stop -> ok end end) || _ <- lists:seq(1, 100)],
    wait_for({"_", [1]}, 50, H),
    wait_for({"_", [0]}, 50, H),
    [P ! stop || P <- Ps],
    ?assertMatch({match, _}, re:run(drops(H, "FLOWS", 50), "-x flows=N")),
    erltrace:close(H).

%% A call in a process that has a token of the application is not followed, and counted.
calls_that_are_not_followed_are_counted_test() ->
    {ok, H} = erltrace:script("erlang*:flow_tests:other:function-entry { follow(); }"),
    [script_run:in_process(fun() -> seq_trace:set_token(label, mine), other(1) end) || _ <- lists:seq(1, 3)],
    ?assertMatch({match, _}, re:run(drops(H, "FLOWTOKENS", 3), "a sequential trace token of its own")),
    erltrace:close(H).

%% The message that tells of these drops: the last one, if they are told in several.
drops(H, Kind, N) ->
    timer:sleep(20),
    Told = [{Count, Text} || {drop, K, Count, Text} <- items(H), K =:= Kind],
    case lists:sum([Count || {Count, _} <- Told]) of
        N -> element(2, lists:last(Told));
        Less when Less < N -> drops(H, Kind, N - Less)
    end.

%% A call that the predicate leaves out is not part of the flow of the call before it, in the process itself and
%% in what it sends.
left_out_call_ends_the_flow_before_test() ->
    Aggs = script_run:run(
             "erlang*:flow_tests:other:function-entry /erlint(0) == 1/ { follow(); }
              erlang*:flow_tests:traced:function-entry { @[flowid != 0] = count(); }
              erlang*:::flow-send { @sent = count(); }",
             fun() ->
                     P = spawn(fun Loop() -> receive F -> traced(), F ! ok, Loop() end end),
                     Ask = fun(N) -> other(N), P ! self(), receive ok -> traced() end end,
                     script_run:in_process(fun() ->
                                                   Ask(1), Ask(2), [] = seq_trace:get_token(), Ask(1), Ask(3)
                                           end),
                     exit(P, kill)
             end),
    ?assertEqual(#{{"_", [0]} => 4, {"_", [1]} => 4, {"sent", []} => 4}, Aggs).

%% A clause that asks whether there is a flow decides itself: a call inside of a request stays in it.
nested_call_stays_in_its_flow_test() ->
    Aggs = script_run:run(
             "erlang*:flow_tests:other:function-entry /flowid == 0/ { follow(); @ = count(); }
              erlang*:flow_tests:traced:function-entry { @in[flowid] = count(); }",
             fun() ->
                     script_run:in_process(fun() -> other(1), traced(), other(2), traced() end)
             end),
    ?assertEqual(#{{"_", []} => 1, {"in", [1]} => 2}, Aggs).

%% The messages of a timer leave a server in the flow of its last request. The flow ends nevertheless, for good, and
%% so does the token.
server_with_a_tick_leaves_test() ->
    {ok, H} = erltrace:script(
                "#pragma D option flowlife=1s
                 erlang*:flow_tests:other:function-entry { follow(); }
                 erlang*:flow_tests:traced:function-entry { @in[flowid != 0] = count(); }
                 erlang*:::flow-send { @sent = count(); }
                 erlang*:::flow-end { @end[args[6]] = count(); }"),
    Sink = spawn(fun Loop() -> receive {From, tick} -> From ! {Loop, ticked}, Loop(); _ -> Loop() end end),
    Server = spawn(fun() -> receive start -> ticks(Sink) end end),
    script_run:in_process(fun() -> other(1), Server ! start end),
    wait_for({"end", ["aged"]}, 1, H),
    wait_until(fun() -> ours() =:= [] end),
    #{{"sent", []} := Sent} = script_run:aggregations(H),
    true = Sent > 3,
    wait_until(fun() -> maps:get({"in", [0]}, script_run:aggregations(H), 0) >= 10 end), % it ticks on, in no flow
    ?assertMatch(#{{"sent", []} := Sent, {"end", ["aged"]} := 1}, script_run:aggregations(H)),
    [exit(P, kill) || P <- [Server, Sink]],
    erltrace:close(H).

ticks(Sink) ->
    erlang:send_after(10, self(), tick),
    receive tick -> traced(), Sink ! {self(), tick} end,
    receive {_, ticked} -> ok end,
    ticks(Sink).

%% ---- tokens ----------------------------------------------------------------------------------

%% Those of the application stay as they are before, during and after.
tokens_of_others_stay_test() ->
    Me = self(),
    Keeper = spawn(fun() ->
                           seq_trace:set_token(label, mine),
                           seq_trace:set_token(send, true),
                           Loop = fun Loop() ->
                                          Me ! {token, seq_trace:get_token()},
                                          receive again -> seq_trace:set_token(label, mine),
                                                           seq_trace:set_token(send, true), Loop() end
                                  end,
                           Loop()
                   end),
    T = receive {token, T0} -> T0 end,
    ?assertMatch({_, mine, _, _, _}, T),
    _ = seq_trace:set_token([]),
    Aggs = script_run:run(
             "erlang*:flow_tests:other:function-entry { @[follow()] = count(); }",
             fun() ->
                     script_run:in_process(fun() ->
                                                   seq_trace:set_token(label, mine), other(1),
                                                   {label, mine} = seq_trace:get_token(label)
                                           end)
             end),
    ?assertEqual(#{{"_", [0]} => 1}, Aggs),
    ?assertMatch({_, {_, mine, _, _, _}}, process_info(Keeper, sequential_trace_token)),
    exit(Keeper, kill).

%% Where the application has tokens of its own ours end too: in a process that waits, in those that go on sending
%% to each other, in a message that is received. Its own tracer is not told of ours afterwards.
ours_end_beside_a_token_of_others_test() ->
    Me = self(),
    Keeper = spawn(fun() -> seq_trace:set_token(label, mine), Me ! set, receive stop -> ok end end),
    receive set -> ok end,
    seq_trace:set_token([]),
    {_, Token} = process_info(Keeper, sequential_trace_token),
    {ok, H} = erltrace:script("erlang*:flow_tests:other:function-entry { follow(); }"),
    Waits = spawn(fun() -> receive go -> ok end, receive stop -> ok end end),
    Busy = spawn(fun Loop() -> receive {ball, From} -> From ! {ball, self()}, Loop() end end),
    First = spawn(fun() -> other(1), Waits ! go, Busy ! {ball, self()}, bounce() end),
    wait_until(fun() -> lists:sort(ours()) =:= lists:sort([Waits, Busy, First]) end),
    erltrace:close(H),
    ?assertEqual([], ours()),
    ?assertEqual({sequential_trace_token, Token}, process_info(Keeper, sequential_trace_token)),
    seq_trace:set_system_tracer(spawn(fun() -> receive M -> Me ! {told, M} end end)),
    timer:sleep(50),
    ?assertEqual([], [M || M <- [receive {told, M0} -> M0 after 0 -> none end], M =/= none]),
    seq_trace:set_system_tracer(false),
    [exit(P, kill) || P <- [Keeper, Waits, Busy, First]].

%% Those in messages that nobody has received cannot be taken away then: that is told when the script ends.
tokens_left_in_messages_are_told_test() ->
    Me = self(),
    Keeper = spawn(fun() -> seq_trace:set_token(label, mine), Me ! set, receive stop -> ok end end),
    receive set -> ok end,
    seq_trace:set_token([]),
    {ok, H} = erltrace:script("erlang*:flow_tests:other:function-entry { follow(); }"),
    Waits = spawn(fun() -> receive stop -> ok end end),
    script_run:in_process(fun() -> other(1), Waits ! unwanted end),
    ok = erltrace:stop(H),
    Items = items(H),
    erltrace:close(H),
    [exit(P, kill) || P <- [Keeper, Waits]],
    ?assertMatch([{match, _}],
                 [re:run(T, "tokens of this script may be left in messages .* tokens of its own") ||
                     {warning, T} <- Items]).

bounce() -> receive {ball, From} -> From ! {ball, self()}, bounce() end.

%% A token of a script that ran in another node, and did not run here: follow() takes it over, and a process that
%% sends it on loses it.
token_of_another_run_test() ->
    Stray = (1 bsl 58) bor (77 bsl 40) bor 5,
    Set = fun() -> seq_trace:set_token(label, Stray), seq_trace:set_token(send, true),
                   seq_trace:set_token('receive', true) end,
    Aggs = script_run:run(
             "erlang*:flow_tests:other:function-entry { @[follow() != 0] = count(); }
              erlang*:::flow-send { @sent = count(); }",
             fun() ->
                     Me = self(),
                     script_run:in_process(fun() -> Set(), other(1), self() ! m end),
                     P = spawn(fun() -> receive m -> Me ! {received, seq_trace:get_token()} end end),
                     script_run:in_process(fun() -> Set(), P ! m, Me ! {sent, seq_trace:get_token()} end),
                     [] = receive {received, R} -> R end,
                     [] = receive {sent, S} -> S end
             end),
    ?assertEqual(#{{"_", [1]} => 1, {"sent", []} => 1}, Aggs).

%% Somebody takes the system tracer while the script runs: that is told, the tracer is theirs, and they are not told of
%% our tokens.
taken_away_tracer_is_told_test() ->
    Me = self(),
    {ok, H} = erltrace:script("erlang*:flow_tests:other:function-entry { @[follow() != 0] = count(); }"),
    Loop = fun Loop() -> other(1), self() ! m, receive m -> ok end, receive stop -> ok after 5 -> Loop() end end,
    P = spawn(fun() -> Loop() end),
    wait_until(fun() -> ours() =:= [P] end),
    Taker = spawn(fun() -> register(flow_tests_taker, self()), Me ! ready, receive stop -> ok end end),
    receive ready -> ok end,
    seq_trace:set_token([]),
    {erltrace_nif, _} = seq_trace:set_system_tracer(Taker),
    Text = warning(H),
    ?assertMatch({match, _}, re:run(Text, "not followed any more: .*flow_tests_taker.* has taken")),
    wait_until(fun() -> ours() =:= [] end),
    ?assertEqual(Taker, seq_trace:get_system_tracer()),
    {messages, Before} = process_info(Taker, messages),
    wait_until(fun() -> maps:is_key({"_", [0]}, script_run:aggregations(H)) end),
    ?assertEqual({messages, Before}, process_info(Taker, messages)),
    erltrace:close(H),
    ?assertEqual(Taker, seq_trace:get_system_tracer()),
    seq_trace:set_system_tracer(false),
    [exit(X, kill) || X <- [P, Taker]].

warning(H) ->
    case [T || {warning, T} <- items(H)] of
        [Text] -> Text;
        [] -> timer:sleep(10), warning(H)
    end.

items(H) ->
    case erltrace:consume(H) of
        ok -> [];
        {_, Items} -> Items % ok, or done
    end.

%% Hops have room for the numbers of 127 nodes.
too_many_nodes_are_refused_test() ->
    Names = [[$,, "n", integer_to_list(N), "@h"] || N <- lists:seq(1, 127)],
    Go = fun(Peers) ->
                 {ok, H} = erltrace:open(),
                 ok = erltrace:setopt(H, "flowpeers", lists:flatten(["77", Peers])),
                 ok = erltrace:compile(H, "erlang*:flow_tests:other:function-entry { follow(); }"),
                 R = erltrace:go(H),
                 erltrace:close(H),
                 R
         end,
    ?assertEqual(ok, Go(Names)),
    {error, {dtrace, Tag, _, _, Text}} = Go(Names ++ ",n128@h"),
    ?assertMatch({<<"ET_FLOW">>, {match, _}}, {Tag, re:run(Text, "127 nodes")}).

%% The system tracer is given back, and no token is left, in processes and mailboxes.
nothing_is_left_test() ->
    {ok, H} = erltrace:script("erlang*:flow_tests:other:function-entry { follow(); }"),
    ?assertMatch({erltrace_nif, _}, seq_trace:get_system_tracer()),
    Me = self(),
    P = spawn(fun() -> receive stop -> ok end, Me ! seq_trace:get_token() end),
    Q = spawn(fun() -> other(1), P ! stop, receive stop -> ok end end),
    [timer:sleep(5) || _ <- lists:seq(1, 2)],
    wait_until(fun() -> ours() =/= [] end),
    receive _ -> ok end,
    R = spawn(fun() -> receive stop -> Me ! {left, seq_trace:get_token()} end end),
    erlang:suspend_process(R),
    S = spawn(fun() -> other(1), R ! stop, Me ! sent, receive stop -> ok end end),
    receive sent -> ok end,
    erltrace:close(H),
    ?assertEqual(false, seq_trace:get_system_tracer()),
    ?assertEqual([], ours()),
    erlang:resume_process(R),
    ?assertEqual([], receive {left, Token} -> Token end),
    [exit(X, kill) || X <- [Q, S]].

ours() ->
    [P || P <- processes(), {_, T} <- [process_info(P, sequential_trace_token)],
          is_tuple(T) andalso is_ours(element(2, T))].

is_ours(Label) -> Label =:= erltrace_flow orelse (is_integer(Label) andalso Label >= 1 bsl 58).

%% Also when the process of the script is killed.
killed_leaves_nothing_test() ->
    Me = self(),
    {P, M} = spawn_monitor(fun() ->
                  {ok, H} = erltrace:script("erlang*:flow_tests:other:function-entry { follow(); }"),
                  Me ! {started, H},
                  receive stop -> ok end
          end),
    receive {started, _} -> ok end,
    Q = spawn(fun() -> other(1), Me ! called, receive stop -> ok end end),
    receive called -> ok end,
    exit(P, kill),
    receive {'DOWN', M, _, _, _} -> ok end,
    wait_until(fun() -> seq_trace:get_system_tracer() =:= false andalso ours() =:= [] end),
    exit(Q, kill).

wait_until(Fun) ->
    case Fun() of
        true -> ok;
        false -> timer:sleep(5), wait_until(Fun)
    end.

%% Where the system tracer is taken the script does not start, and says by whom.
taken_tracer_test() ->
    P = spawn(fun() -> register(flow_tests_tracer, self()), receive stop -> ok end end),
    wait_until(fun() -> whereis(flow_tests_tracer) =:= P end),
    false = seq_trace:set_system_tracer(P),
    {error, {dtrace, Tag, _, _, Text}} =
        erltrace:script("erlang*:flow_tests:other:function-entry { follow(); }"),
    ?assertEqual(P, seq_trace:get_system_tracer()),
    seq_trace:set_system_tracer(false),
    P ! stop,
    ?assertMatch({<<"ET_FLOW">>, true},
                 {Tag, string:find(Text, "flow_tests_tracer") =/= nomatch}).

%% One script at a time.
second_script_is_refused_test() ->
    Script = "erlang*:flow_tests:other:function-entry { follow(); }",
    {ok, H} = erltrace:script(Script),
    ?assertMatch({error, {dtrace, <<"ET_FLOW">>, _, _, _}}, erltrace:script(Script)),
    erltrace:close(H),
    {ok, H2} = erltrace:script(Script),
    erltrace:close(H2).

%% A script that follows nobody leaves the system tracer alone.
others_pay_nothing_test() ->
    {ok, H} = erltrace:script("erlang*:flow_tests:other:function-entry { @ = count(); }"),
    ?assertEqual(false, seq_trace:get_system_tracer()),
    erltrace:close(H).
