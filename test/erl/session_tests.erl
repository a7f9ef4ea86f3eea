%% SPDX-License-Identifier: Apache-2.0
%% What is asked of the VM, and taken back: trace sessions from OTP 27 on, and what all releases
%% must hold. Also what other tests look at tracing by: flags/1, pattern/1.
-module(session_tests).
-include_lib("eunit/include/eunit.hrl").
-export([flags/1, pattern/1, counter/1, sessions/0, info/3]).
-export([one/1, body/1, tail/1, outer/1, first/1, second/1, third/1, turns/1, remote/0]).

%% ---- what is set in the VM -------------------------------------------------------------------

has_sessions() ->
    _ = code:ensure_loaded(trace),
    erlang:function_exported(trace, session_create, 3).

%% Our sessions: of events, of counters, of calls that go the fast way.
sessions() ->
    case has_sessions() of
        true -> [S || {Name, _} = S <- trace:session_info(all),
                      lists:member(Name, [erltrace, erltrace_counters, erltrace_calls])];
        false -> []
    end.

%% A session may end while it is asked.
info(Session, What, Item) ->
    try trace:info(Session, What, Item)
    catch error:badarg -> ended
    end.

%% The flags that we have set for a process, a port, new_processes or new_ports, by any way.
flags(Who) ->
    {flags, Legacy} = erlang:trace_info(Who, flags),
    lists:usort(Legacy ++ lists:append([Fs || S <- sessions(),
                                              {flags, Fs} <- [info(S, Who, flags)]])).

pattern(MFA) ->
    {traced, Legacy} = erlang:trace_info(MFA, traced),
    lists:usort([P || P <- [Legacy | [K || S <- sessions(),
                                           {traced, K} <- [info(S, MFA, traced)]]],
                      P =/= false, P =/= undefined]).

%% Does the VM count this function, for anybody? [false]: no.
counter(MFA) ->
    {call_count, N} = erlang:trace_info(MFA, call_count),
    lists:usort([N | [K || {Name, _} = S <- sessions(), Name =/= erltrace,
                           {call_count, K} <- [info(S, MFA, call_count)]]]).

clean() ->
    ?assertEqual([], sessions()),
    ?assertEqual([false], counter({?MODULE, one, 1})),
    ?assertEqual([], flags(self())),
    ?assertEqual([], flags(new_processes)),
    ?assertEqual([], flags(new_ports)),
    ?assertEqual([], pattern({?MODULE, one, 1})),
    ?assertEqual([], application:get_all_env(erltrace) -- [{vm_internals, false}]).

%% ---- helpers ---------------------------------------------------------------------------------

in_process(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, Reason} -> {P, Reason} end.

gone(P) ->
    M = erlang:monitor(process, P),
    receive {'DOWN', M, process, P, _} -> ok end.

%% By name and keys.
aggs(H) ->
    {ok, Aggs} = erltrace:aggregations(H),
    maps:from_list([{{binary_to_list(N), Ks}, V} || {N, _, Ks, V} <- Aggs]).

one(X) -> X.

body(0) -> 0;
body(N) -> 1 + body(N - 1).

tail(0) -> done;
tail(N) -> tail(N - 1).

%% A chain of tail calls inside a call.
outer(N) -> 1 + first(N).
first(N) -> second(N).
second(N) -> third(N).
third(N) -> N.

%% One turn for each message: a chain without end.
turns(To) ->
    To ! {self(), turn},
    receive go -> turns(To); stop -> ok end.

-define(EVERYTHING, "erlang*:session_tests:one:function-entry,"
        "erlang*:session_tests:one:function-return, erlang*:::message-*, erlang*:::process-*,"
        "erlang*:::gc*, erlang*:::port-* { @ = count(); }").

%% ---- nothing is left -------------------------------------------------------------------------

armed() ->
    {ok, H} = erltrace:script(?EVERYTHING),
    ?assert(length(flags(self())) >= 6),
    ?assert(lists:member(garbage_collection, flags(self()))),
    ?assert(lists:member(garbage_collection, flags(new_processes))),
    ?assertEqual([ports, 'receive'], flags(new_ports)),
    ?assertEqual([local], pattern({?MODULE, one, 1})),
    H.

stop_test() ->
    H = armed(),
    ok = erltrace:stop(H),
    clean(),
    ok = erltrace:close(H),
    clean().

close_test() ->
    ok = erltrace:close(armed()),
    clean().

close_fast_test() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "calls", "fast"),
    ok = erltrace:compile(H, ?EVERYTHING),
    ok = erltrace:go(H),
    {ok, #{calls := #{way := Way}}} = erltrace:status(H),
    Way =:= fast andalso ?assertNotEqual([false], counter({?MODULE, one, 1})),
    ok = erltrace:close(H),
    clean().

owner_dies_test() ->
    {Self, Ref} = {self(), make_ref()},
    in_process(fun() -> Self ! {Ref, armed()}, exit(because) end),
    receive {Ref, H} -> gone(H) end,
    clean().

%% Killed itself, it takes nothing back: its session goes with it. The one for garbage collections
%% has a keeper, which is told. Before OTP 27 the tracer removes itself at each process's next
%% event, and what is left goes with the next script.
handle_killed_test() ->
    H = armed(),
    {ok, #{running := true}} = erltrace:status(H),
    exit(H, kill),
    gone(H),
    case has_sessions() of
        true -> wait(fun() -> sessions() =:= [] end);
        false -> ok = erltrace:close(armed())
    end,
    wait(fun() -> application:get_env(erltrace, gc_server) =:= undefined end),
    clean().

wait(Fun) ->
    case Fun() of
        true -> ok;
        false -> receive after 1 -> wait(Fun) end
    end.

%% ---- two at once -----------------------------------------------------------------------------

%% One function, global in one script and local in another. Sessions keep them apart; before them
%% a function has one pattern, and the [local] one sees all calls.
two_patterns_test() ->
    Entry = fun(Kind) -> ["erlang*:session_tests:one:", Kind, "-function-entry { @ = count(); }"] end,
    {ok, A} = erltrace:script(Entry("global")),
    {ok, B} = erltrace:script(Entry("local")),
    [begin ?MODULE:one(I), one(I) end || I <- lists:seq(1, 100)],
    ?assertEqual(#{{"_", []} => case has_sessions() of true -> 100; false -> 200 end}, aggs(A)),
    ?assertEqual(#{{"_", []} => 200}, aggs(B)),
    ok = erltrace:close(B),
    [begin ?MODULE:one(I), one(I) end || I <- lists:seq(1, 100)],
    ?assertEqual(#{{"_", []} => case has_sessions() of true -> 200; false -> 300 end}, aggs(A)),
    ok = erltrace:close(A),
    clean().

%% Two scripts that both want returns: frames of one on the stack do not confuse the other.
two_returns_test() ->
    Script = "erlang*:session_tests:body:function-entry { @e[probefunc, arg2] = count(); }"
        "erlang*:session_tests:body:function-return { @r[probefunc, arg2] = count(); }",
    Work = fun() -> 9 = body(9), 9 = body(9) end,
    Want = maps:from_list([{{N, [<<"body/1">>, D]}, 2} || N <- ["e", "r"], D <- lists:seq(1, 10)]),
    {ok, A} = erltrace:script(Script),
    {ok, B} = erltrace:script(Script),
    in_process(Work),
    {GotA, GotB} = {aggs(A), aggs(B)},
    ok = erltrace:close(A),
    in_process(Work),
    GotB2 = aggs(B),
    ok = erltrace:close(B),
    ?assertEqual(Want, GotA),
    ?assertEqual(Want, GotB),
    ?assertEqual(maps:map(fun(_, N) -> 2 * N end, Want), GotB2),
    clean().

%% The same for chains of tail calls: one return each, of the last function in it. Each session has
%% a frame of its own on the stack where a chain begins.
two_returns_of_chains_test() ->
    Fns = [{outer, 1}, {first, 2}, {second, 2}, {third, 2}],
    Script = [["erlang*:session_tests:", atom_to_list(F), ":function-entry"
               "{ @e[probefunc, arg2] = count(); }"
               "erlang*:session_tests:", atom_to_list(F), ":function-return"
               "{ @r[probefunc, arg2] = count(); }"] || {F, _} <- [{tail, 1} | Fns]],
    Work = fun() -> [begin 2 = outer(1), done = tail(4) end || _ <- lists:seq(1, 10)] end,
    Key = fun(A, F, D) -> {A, [list_to_binary([atom_to_list(F), "/1"]), D]} end,
    Want = maps:from_list([{Key("e", F, D), 10} || {F, D} <- Fns] ++
                              [{Key("r", F, D), 10} || {F, D} <- [{outer, 1}, {third, 2}]] ++
                              [{Key("e", tail, 1), 50}, {Key("r", tail, 1), 10}]),
    {ok, A} = erltrace:script(Script),
    {ok, B} = erltrace:script(Script),
    {ok, C} = erltrace:script(Script),
    in_process(Work),
    Got = [aggs(H) || H <- [A, B, C]],
    ok = erltrace:close(A),
    in_process(Work),
    Got2 = [aggs(H) || H <- [B, C]],
    ok = erltrace:close(B),
    ok = erltrace:close(C),
    ?assertEqual([Want, Want, Want], Got),
    Twice = maps:map(fun(_, N) -> 2 * N end, Want),
    ?assertEqual([Twice, Twice], Got2),
    clean().

%% A chain that is under way while scripts end beside one: their frames stay on its stack.
ended_beside_a_chain_test_() ->
    [{timeout, 60, fun() -> ended_beside_a_chain(Nth) end} || Nth <- [1, 2, 3]].

ended_beside_a_chain(Nth) ->
    Script = "erlang*:session_tests:turns:function-entry { @e[arg2] = count(); }"
        "erlang*:session_tests:turns:function-return { @r[arg2] = count(); }",
    Handles = [begin {ok, H} = erltrace:script(Script), H end || _ <- [1, 2, 3]],
    Self = self(),
    {P, M} = spawn_monitor(fun() -> ok = turns(Self) end),
    Turn = fun() -> receive {P, turn} -> ok end end,
    Turn(),
    P ! go,
    Turn(),
    One = lists:nth(Nth, Handles),
    [ok = erltrace:close(H) || H <- Handles, H =/= One],
    [begin P ! go, Turn() end || _ <- lists:seq(1, 8)],
    P ! stop,
    receive {'DOWN', M, process, P, normal} -> ok end,
    Got = aggs(One),
    ok = erltrace:close(One),
    ?assertEqual(#{{"e", [1]} => 10, {"r", [1]} => 1}, Got),
    clean().

%% A script without returns that asks for the depth, beside one with returns.
depth_beside_returns_test() ->
    {ok, A} = erltrace:script("erlang*:session_tests:outer:function-return,"
                              "erlang*:session_tests:first:function-return,"
                              "erlang*:session_tests:second:function-return,"
                              "erlang*:session_tests:third:function-return { @ = count(); }"),
    {ok, B} = erltrace:script("erlang*:session_tests:outer:function-entry,"
                              "erlang*:session_tests:first:function-entry,"
                              "erlang*:session_tests:second:function-entry,"
                              "erlang*:session_tests:third:function-entry"
                              "{ @[probefunc, arg2] = count(); }"),
    in_process(fun() -> lists:foreach(fun(_) -> 2 = outer(1) end, lists:seq(1, 10)) end),
    Got = {aggs(A), aggs(B)},
    ok = erltrace:close(A),
    ok = erltrace:close(B),
    Want = maps:from_list([{{"_", [F, D]}, 10} || {F, D} <- [{<<"outer/1">>, 1}, {<<"first/1">>, 2},
                                                             {<<"second/1">>, 2},
                                                             {<<"third/1">>, 2}]]),
    ?assertEqual({#{{"_", []} => 20}, Want}, Got),
    clean().

%% ---- garbage collections ---------------------------------------------------------------------

gc_script() ->
    ["erlang*:::gc_major-start, erlang*:::gc_major-end /copyinstr(arg0) == \"",
     pid_to_list(self()), "\"/ { @[probename] = count(); }"].

majors(H) ->
    [{binary_to_list(Name), N} || {{_, [Name]}, N} <- lists:sort(maps:to_list(aggs(H)))].

collect(N) ->
    [erlang:garbage_collect() || _ <- lists:seq(1, N)],
    ok.

%% Two sessions that both trace them crash OTP 27 to 29: ours share one.
gc_twice_test() ->
    {ok, A} = erltrace:script(gc_script()),
    collect(10),
    {ok, B} = erltrace:script(gc_script()),
    collect(10),
    ?assertEqual([{"gc_major-end", 20}, {"gc_major-start", 20}], majors(A)),
    ?assertEqual([{"gc_major-end", 10}, {"gc_major-start", 10}], majors(B)),
    ok = erltrace:close(A),
    collect(10),
    ?assertEqual([{"gc_major-end", 20}, {"gc_major-start", 20}], majors(B)),
    ok = erltrace:close(B),
    clean().

gc_again_test() ->
    [begin
         {ok, H} = erltrace:script(gc_script()),
         collect(3),
         ?assertEqual([{"gc_major-end", 3}, {"gc_major-start", 3}], majors(H)),
         ok = erltrace:close(H)
     end || _ <- lists:seq(1, 50)],
    clean().

%% Somebody else has them: a clear refusal, and as soon as he has not, they can be had.
gc_refused_test_() ->
    [{Name, fun() -> gc_refused(On, Off) end} ||
        {Name, On, Off} <-
            [{"a session",
              fun(P) ->
                      S = trace:session_create(other, self(), []),
                      1 = trace:process(S, P, true, [garbage_collection]),
                      S
              end, fun(S) -> trace:session_destroy(S) end},
             {"a session, for processes to come",
              fun(_) ->
                      S = trace:session_create(other, self(), []),
                      trace:process(S, new, true, [garbage_collection, send]),
                      S
              end, fun(S) -> trace:session_destroy(S) end},
             {"erlang:trace/3",
              fun(P) -> 1 = erlang:trace(P, true, [garbage_collection]), P end,
              fun(P) -> erlang:trace(P, false, [garbage_collection]) end}],
        has_sessions()].

gc_refused(On, Off) ->
    P = spawn(fun() -> receive stop -> ok end end),
    Other = On(P),
    {error, {dtrace, <<"ET_GC_SESSION">>, 0, 0, Text}} = erltrace:script(gc_script()),
    ?assertNotEqual(nomatch, string:find(Text, "garbage_collection")),
    {ok, H0} = erltrace:script("erlang*:session_tests:one:function-entry { @ = count(); }"),
    ok = erltrace:close(H0),
    Off(Other),
    {ok, H} = erltrace:script(gc_script()),
    collect(2),
    ?assertEqual([{"gc_major-end", 2}, {"gc_major-start", 2}], majors(H)),
    ok = erltrace:close(H),
    P ! stop,
    clean().

%% ---- other sessions --------------------------------------------------------------------------

%% Another session traces the same process and function: both get what is theirs.
beside_test_() ->
    [fun() ->
             Tracer = self(),
             S = trace:session_create(other, Tracer, []),
             {ok, H} = erltrace:script("erlang*:session_tests:body:function-entry,"
                                       "erlang*:session_tests:body:function-return"
                                       "{ @[probename, arg2] = count(); }"),
             1 = trace:function(S, {?MODULE, body, 1}, [{'_', [], [{return_trace}]}], [local]),
             {P, normal} =
                 in_process(fun() ->
                                    1 = trace:process(S, self(), true, [call]),
                                    [3 = body(3) || _ <- lists:seq(1, 10)]
                            end),
             Want = maps:from_list([{{"_", [N, D]}, 10} ||
                                       N <- [<<"function-entry">>, <<"function-return">>],
                                       D <- [1, 2, 3, 4]]),
             ?assertEqual(Want, aggs(H)),
             [begin
                  [receive {trace, P, call, {?MODULE, body, [N]}} -> ok end || N <- [3, 2, 1, 0]],
                  [receive {trace, P, return_from, {?MODULE, body, 1}, N} -> ok end
                   || N <- [0, 1, 2, 3]]
              end || _ <- lists:seq(1, 10)],
             ok = erltrace:close(H),
             ?assertEqual({traced, local}, trace:info(S, {?MODULE, body, 1}, traced)),
             trace:session_destroy(S),
             clean()
     end || has_sessions()].

%% ---- without knowing the VM's insides --------------------------------------------------------

%% The same numbers where none of our assumptions holds (vm_facts.c, layout.c): in a node of its own,
%% for they are made when the library is loaded.
no_insides_test_() ->
    {timeout, 60, fun() ->
        Pa = lists:append([["-pa", filename:dirname(code:which(M))] || M <- [erltrace, ?MODULE]]),
        {ok, Peer, _} = peer:start_link(#{wait_boot => 120000, connection => standard_io,
                                          args => Pa}),
        Result = peer:call(Peer, ?MODULE, remote, [], 50000),
        peer:stop(Peer),
        ?assertEqual(ok, Result)
    end}.

remote() ->
    application:set_env(erltrace, vm_internals, false),
    Self = self(),
    Terms = [a, 1, -1, 1 bsl 59 - 1, 1 bsl 59, -(1 bsl 59), -(1 bsl 59) - 1, [], {a}, [1, 2],
             1.5, self(), hd(erlang:ports()), #{a => {1}}, <<0:1024>>, make_ref()],
    {ok, H} = erltrace:script(
                ["erlang*:session_tests:body:function-entry, erlang*:session_tests:body:function-return"
                 "{ self->n++; @f[probename, arg2] = count(); @v[copyinstr(arg0)] = max(vtimestamp); }"
                 "erlang*:::message-send /copyinstr(arg0) == \"", pid_to_list(Self),
                 "\" && arg1 && copyinstr(arg1) == copyinstr(arg0)/ { @s[arg2] = count(); }"]),
    [Self ! T || T <- Terms],
    [receive T -> ok end || T <- Terms],
    Ps = [spawn_monitor(fun() -> [9 = body(9) || _ <- lists:seq(1, 10)] end)
          || _ <- lists:seq(1, 100)],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps],
    Got = aggs(H),
    {ok, #{lost := Lost, returns_by := By}} = erltrace:status(H),
    ok = erltrace:close(H),
    Sizes = lists:foldl(fun(T, Acc) ->
                                maps:update_with({"s", [erts_debug:flat_size(T)]},
                                                 fun(N) -> N + 1 end, 1, Acc)
                        end, #{}, Terms),
    ?assertEqual(Sizes, maps:filter(fun({N, _}, _) -> N =:= "s" end, Got)),
    ?assertEqual(maps:from_list([{{"f", [N, D]}, 1000} ||
                                    N <- [<<"function-entry">>, <<"function-return">>],
                                    D <- lists:seq(1, 10)]),
                 maps:filter(fun({N, _}, _) -> N =:= "f" end, Got)),
    ?assertEqual(100, length([V || {{"v", _}, V} <- maps:to_list(Got), V > 0])),
    ?assertEqual({0, names}, {Lost, By}),
    clean().
