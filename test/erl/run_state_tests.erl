%% SPDX-License-Identifier: Apache-2.0
%% What process-unscheduled says of a process: whether it waits, and where; states of a process over
%% time, which add up; and the option processes, by which no other process is traced.
-module(run_state_tests).
-include_lib("eunit/include/eunit.hrl").
-export([yields/1, waits/0, writes/1, loop/0]).

outs(Pid) ->
    ["erlang*:::process-unscheduled /erlpid == ", script_run:quoted(Pid),
     "/ { @outs[copyinstr(arg1), arg2] = count(); }"].

count(Function, Runnable, Aggs) ->
    maps:get({"outs", [Function, Runnable]}, Aggs, 0).

%% ---- waiting or not --------------------------------------------------------------------------

known_test() ->
    ?assert(erltrace_find:is_known(run_state)).

yields(0) -> ok;
yields(N) ->
    erlang:yield(),
    yields(N - 1).

yield_is_runnable_test() ->
    P = spawn(fun() -> receive go -> ok end, yields(200) end),
    Aggs = script_run:run(outs(P), fun() -> finish(P, go) end),
    Runnable = lists:sum([N || {{"outs", [_, 1]}, N} <- maps:to_list(Aggs)]),
    ?assert(Runnable >= 200),
    ?assertEqual([], [K || {"outs", [_, -1]} = K <- maps:keys(Aggs)]),
    ?assertEqual(0, count("run_state_tests:yields/1", 0, Aggs)).

finish(P, Message) ->
    M = monitor(process, P),
    P ! Message,
    receive {'DOWN', M, process, P, _} -> ok end.

%% It has ended when this returns: the next test has processes of the same name.
kill(P) ->
    M = monitor(process, P),
    exit(P, kill),
    receive {'DOWN', M, process, P, _} -> ok end.

waits() ->
    receive
        stop -> ok;
        _ -> waits()
    end.

wait_test() ->
    P = spawn(?MODULE, waits, []),
    Aggs = script_run:run(outs(P), fun(H) ->
                                           [begin P ! x, has_waited(H, I) end || I <- lists:seq(1, 100)]
                                   end),
    ?assert(count("run_state_tests:waits/0", 0, Aggs) >= 100),
    finish(P, stop).

%% So many times, as the script says: a process that is asked may take the next message before it is out.
has_waited(H, N) ->
    count("run_state_tests:waits/0", 0, script_run:aggregations(H)) >= N orelse
        receive after 1 -> has_waited(H, N) end.

%% A busy port: the process has something to run, but may not.
writes(Port) ->
    port_command(Port, binary:copy(<<"x">>, 1000000)),
    writes(Port).

suspended_is_waiting_test() ->
    P = spawn(fun() ->
                      Port = open_port({spawn, "sleep 30"}, [binary]),
                      receive go -> ok end,
                      writes(Port)
              end),
    Aggs = script_run:run(outs(P), fun() -> P ! go, is_suspended(P) end),
    ?assert(count("erts_internal:port_command/3", 0, Aggs) > 0),
    ?assertEqual(0, count("erts_internal:port_command/3", 1, Aggs)),
    kill(P).

is_suspended(P) ->
    case process_info(P, status) of
        {status, suspended} -> ok;
        _ -> receive after 1 -> ok end, is_suspended(P)
    end.

%% ---- states add up ---------------------------------------------------------------------------

-define(STATES, "
uint64_t since; string what;
BEGIN { what = \"first\"; }
erlang*:::process-scheduled, erlang*:::process-unscheduled, erlang*:::gc_minor-start,
erlang*:::gc_major-start, erlang*:::gc_minor-end, erlang*:::gc_major-end
{ @times[what] = count(); @ns[what] = sum(since ? timestamp - since : 0); @first = min(timestamp);
  @last = max(timestamp); since = timestamp; what = \"running\"; }
erlang*:::process-unscheduled { what = arg2 == 1 ? \"runnable\" : \"waiting\"; }
erlang*:::gc_minor-start, erlang*:::gc_major-start { what = \"collecting\"; }").

states_add_up_test_() ->
    {timeout, 60, fun states_add_up/0}.

states_add_up() ->
    P = spawn(?MODULE, loop, []),
    register(run_state_loop, P),
    Aggs = script_run:run(["#pragma D option processes=run_state_loop\n", ?STATES],
                          fun() -> [ask(P, {What, 20}) || What <- [wait, collect, run, yield, wait]] end),
    [First, Last] = [maps:get({K, []}, Aggs) || K <- ["first", "last"]],
    Wall = Last - First,
    Sum = lists:sum([Ns || {{"ns", _}, Ns} <- maps:to_list(Aggs)]),
    ?assert(abs(Wall - Sum) * 100 =< Wall),
    [?assert(maps:get({"ns", [State]}, Aggs, 0) > 0)
     || State <- ["running", "runnable", "collecting", "waiting"]],
    ?assert(maps:get({"ns", ["waiting"]}, Aggs) >= 40 * 1000000), % of 40 naps of a millisecond
    ?assert(maps:get({"times", ["collecting"]}, Aggs) >= 20),
    kill(P).

ask(P, What) ->
    P ! {self(), What},
    receive {P, done} -> ok end.

loop() ->
    receive
        {From, {What, N}} ->
            [do(What) || _ <- lists:seq(1, N)],
            From ! {self(), done},
            loop()
    end.

do(wait) -> receive never -> ok after 1 -> ok end;
do(collect) -> erlang:garbage_collect();
do(run) -> erlang:md5(binary:copy(<<"x">>, 100000));
do(yield) -> erlang:yield().

%% ---- the option processes --------------------------------------------------------------------

only(Name) ->
    ["#pragma D option processes=", Name, "\nerlang*:::process-scheduled { @n[erlpid] = count(); }
     erlang*:::gc_major-start { @gc[erlpid] = count(); }"].

named_process_is_traced_alone_test() ->
    [A, B] = [spawn(?MODULE, loop, []) || _ <- [1, 2]],
    register(run_state_loop, A),
    Text = pid_to_list(A),
    [begin
         Aggs = script_run:run(only(Name),
                               fun() ->
                                       ?assertMatch([_ | _], flags(A)),
                                       ?assertEqual([], flags(B)),
                                       ?assertEqual([], flags(new)),
                                       [ask(P, {collect, 3}) || P <- [A, B]]
                               end),
         ?assertEqual([[Text]], lists:usort([Ks || {"n", Ks} <- maps:keys(Aggs)])),
         ?assertEqual(3, maps:get({"gc", [Text]}, Aggs))
     end || Name <- ["run_state_loop", Text]],
    ?assertEqual([[], []], [flags(P) || P <- [A, B]]),
    [kill(P) || P <- [A, B]].

flags(Who) -> session_tests:flags(Who).

%% Those that began with it, all of them.
named_by_first_function_test() ->
    Ps = [spawn(?MODULE, loop, []) || _ <- [1, 2, 3]],
    Aggs = script_run:run(only("run_state_tests:loop/0"), fun() -> [ask(P, {yield, 1}) || P <- Ps] end),
    ?assertEqual(lists:sort([pid_to_list(P) || P <- Ps]),
                 lists:sort([Pid || {"n", [Pid]} <- maps:keys(Aggs)])),
    [kill(P) || P <- Ps].

%% Another process takes the name.
name_is_followed_test() ->
    A = spawn(?MODULE, loop, []),
    register(run_state_loop, A),
    B = spawn(?MODULE, loop, []),
    Aggs = script_run:run(only("run_state_loop"),
                          fun() ->
                                  unregister(run_state_loop),
                                  register(run_state_loop, B),
                                  is_flagged(B),
                                  ask(B, {collect, 2})
                          end),
    ?assertEqual(2, maps:get({"gc", [pid_to_list(B)]}, Aggs)),
    [kill(P) || P <- [A, B]].

is_flagged(P) ->
    lists:member(garbage_collection, flags(P)) orelse begin receive after 5 -> ok end, is_flagged(P) end.

%% Beside a script that traces all.
beside_a_script_of_all_test() ->
    [A, B] = [spawn(?MODULE, loop, []) || _ <- [1, 2]],
    register(run_state_loop, A),
    Aggs = script_run:run("erlang*:::process-scheduled { @n[erlpid] = count(); }",
                          fun() ->
                                  _ = script_run:run(only("run_state_loop"), fun() -> ask(A, {yield, 1}) end),
                                  [ask(P, {yield, 1}) || P <- [A, B]]
                          end),
    [?assert(maps:get({"n", [pid_to_list(P)]}, Aggs) > 0) || P <- [A, B]],
    ?assertEqual([[], []], [flags(P) || P <- [A, B]]),
    [kill(P) || P <- [A, B]].

no_such_process_test() ->
    {error, Why} = erltrace:script(only("run_state_nobody")),
    ?assertMatch({match, _}, re:run(io_lib:format("~p", [Why]), "ET_NO_PROCESS")).
