%% SPDX-License-Identifier: Apache-2.0
%% Probes of certain functions, which tell of the VM's insides: ETS tables, timers, restarts, crashes, atoms.
%% Each on a known workload, with exact numbers, by both ways to function probes.
-module(insides_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [in_process/1]).
-behaviour(supervisor).
-export([init/1, child/1]).

insides_test_() ->
    {setup, fun ways/0, fun(_) -> ok end,
     fun(Ways) -> [{lists:concat([Name, " ", Way]), {timeout, 60, fun() -> Test(Way) end}} ||
                      Way <- Ways, {Name, Test} <- tests()]
     end}.

ways() ->
    {ok, _} = application:ensure_all_started(erltrace),
    [traced | [fast || erltrace_find:known(fast) =:= ok]].

tests() ->
    [{ets_names, fun ets_names/1}, {ets_returns, fun ets_returns/1}, {ets_alone, fun ets_alone/1}, {ets_new, fun ets_new/1},
     {ets_fails, fun ets_fails/1}, {timers, fun timers/1}, {restarts, fun restarts/1},
     {crashes, fun crashes/1}, {atoms, fun atoms/1}].

run(Way, Script, Fun) ->
    script_run:run(["#pragma D option calls=", atom_to_list(Way), "\n", Script], Fun).

%% ---- ETS -------------------------------------------------------------------------------------

%% Tables with and without a name, made before and after the script began; and by ets:whereis/1.
ets_names(Way) ->
    Before = ets:new(insides_before, [public]),
    insides_named = ets:new(insides_named, [public, named_table]),
    Got = run(Way, "erlang*:::ets-entry /strstr(copyinstr(arg1), \"insides\") != NULL/"
                   "{ @[copyinstr(arg1), probefunc] = count(); }",
              fun() -> in_process(fun() -> use(Before) end) end),
    ets:delete(Before),
    ets:delete(insides_named),
    ?assertEqual(#{{"_", ["insides_before", "insert/2"]} => 3,
                   {"_", ["insides_before", "lookup/2"]} => 2,
                   {"_", ["insides_before", "select/3"]} => 1,
                   {"_", ["insides_before", "select/1"]} => 1,
                   {"_", ["insides_named", "insert/2"]} => 5,
                   {"_", ["insides_named", "lookup/2"]} => 4,
                   {"_", ["insides_named", "whereis/1"]} => 1,
                   {"_", ["insides_after", "new/2"]} => 1,
                   {"_", ["insides_after", "insert/2"]} => 7,
                   {"_", ["insides_after", "lookup/2"]} => 6,
                   {"_", ["insides_after", "delete/1"]} => 1},
                 maps:map(fun(_, N) -> N end, Got)).

use(Before) ->
    After = ets:new(insides_after, []),
    Ref = ets:whereis(insides_named),
    [begin [ets:insert(T, {I, x}) || I <- lists:seq(1, N)], [ets:lookup(T, I) || I <- lists:seq(2, N)] end
     || {T, N} <- [{Before, 3}, {insides_named, 2}, {Ref, 3}, {After, 7}]],
    _ = ets:lookup(insides_named, x),
    {_, More} = ets:select(Before, [{'_', [], ['$_']}], 1),
    _ = ets:select(More),
    ets:delete(After).

%% Their time, the caller, what a script reads besides.
ets_returns(Way) ->
    Got = run(Way, "erlang*:ets:insert/2:ets-return /copyinstr(arg1) == \"insides_time\"/"
                   "{ @n[copyinstr(arg0), erlarg(1), erlret] = count(); @min = min(arg2); @max = max(arg2); }",
              fun() -> {P, _} = in_process(fun() ->
                                                   T = ets:new(insides_time, []),
                                                   [ets:insert(T, {a, 1}) || _ <- lists:seq(1, 9)]
                                           end),
                       put(pid, pid_to_list(P))
              end),
    Pid = get(pid),
    ?assertMatch(#{{"n", [Pid, "{a,1}", "true"]} := 9}, Got),
    #{{"min", []} := Min, {"max", []} := Max} = Got,
    ?assert(Min > 0 andalso Min =< Max andalso Max < 10_000_000_000).

%% Nothing is known but how often: no arguments are asked for.
ets_alone(Way) ->
    Got = run(Way, "erlang*:ets:take/2:ets-entry, erlang*:ets:take/2:ets-return { @[probename] = count(); }",
              fun() -> in_process(fun() ->
                                          T = ets:new(insides_alone, []),
                                          [ets:take(T, I) || I <- lists:seq(1, 12)]
                                  end) end),
    ?assertEqual(#{{"_", ["ets-entry"]} => 12, {"_", ["ets-return"]} => 12}, Got).

%% Their results are looked at by erltrace itself: they return all the same.
ets_new(Way) ->
    Got = run(Way, "erlang*:ets:new/2:ets-return, erlang*:ets:whereis/1:ets-return, erlang*:ets:new/2:bif-return "
                   "/copyinstr(arg1) == \"insides_new\" || probename == \"bif-return\"/ { @[probename, probefunc] = count(); }",
              fun() -> in_process(fun() ->
                                          [ets:new(insides_new, []) || _ <- [1, 2, 3]],
                                          [ets:whereis(insides_new) || _ <- [1, 2]]
                                  end) end),
    ?assertEqual(#{{"_", ["ets-return", "new/2"]} => 3, {"_", ["bif-return", "new/2"]} => 3,
                   {"_", ["ets-return", "whereis/1"]} => 2}, Got).

ets_fails(Way) ->
    Got = run(Way, "erlang*:ets:lookup/2:ets-entry, erlang*:ets:lookup/2:ets-return "
                   "/copyinstr(arg1) == \"insides_none\"/ { @[probename] = count(); }",
              fun() -> in_process(fun() ->
                                          [catch ets:lookup(insides_none, x) || _ <- lists:seq(1, 4)]
                                  end) end),
    ?assertEqual(#{{"_", ["ets-entry"]} => 4}, Got).

%% ---- timers ----------------------------------------------------------------------------------

timers(Way) ->
    Got = run(Way, "erlang*:::timer-start /arg2 == 765432/ { @s[probefunc, copyinstr(arg1)] = count(); }"
                   "erlang*:::timer-cancel /arg1 > 700000/ { @c = count(); }"
                   "erlang*:::timer-cancel /arg1 == -1/ { @late[copyinstr(arg0)] = count(); }",
              fun() ->
                      {P, _} = in_process(fun set_timers/0),
                      put(pid, pid_to_list(P))
              end),
    Pid = get(pid),
    ?assertEqual(#{{"s", ["send_after/3", Pid]} => 5, {"s", ["start_timer/3", "insides_nobody"]} => 4,
                   {"s", ["send_after/4", Pid]} => 2, {"c", []} => 6, {"late", [Pid]} => 3}, Got).

set_timers() ->
    T = 765432,
    A = [erlang:send_after(T, self(), x) || _ <- lists:seq(1, 5)],
    B = [erlang:start_timer(T, insides_nobody, x) || _ <- lists:seq(1, 4)],
    C = [erlang:send_after(T, self(), x, []) || _ <- [1, 2]],
    [erlang:cancel_timer(R) || R <- A ++ [hd(B)]],
    [erlang:cancel_timer(R) || R <- [hd(A), hd(B)]], % once more
    erlang:cancel_timer(hd(C), [{info, false}]).

%% ---- supervisors and crashes -----------------------------------------------------------------

init(Restart) ->
    {ok, {#{strategy => one_for_one, intensity => 1000, period => 1},
          [#{id => {my, Restart}, start => {?MODULE, child, [self()]}, restart => Restart}]}}.

child(Parent) ->
    proc_lib:start_link(erlang, apply, [fun() ->
                                                proc_lib:init_ack({ok, self()}),
                                                Parent =/= self() andalso receive {stop, Why} -> exit(Why) end
                                        end, []]).

restarts(Way) ->
    logger:set_primary_config(level, emergency),
    Got = run(Way, "erlang*:::supervisor-restart { @[copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)] = count(); }",
              fun() ->
                      put(sups, [begin
                                     {ok, Sup} = supervisor:start_link(?MODULE, Type),
                                     [stop_child(Sup, Why) || Why <- [oops, oops, {bad, 1}, shutdown, normal]],
                                     unlink(Sup),
                                     exit(Sup, kill),
                                     pid_to_list(Sup)
                                 end || Type <- [permanent, transient, temporary]])
              end),
    logger:set_primary_config(level, notice),
    [P, T, _] = get(sups),
    ?assertEqual(#{{"_", [P, "{my,permanent}", "oops"]} => 2, {"_", [P, "{my,permanent}", "{bad,1}"]} => 1,
                   {"_", [P, "{my,permanent}", "shutdown"]} => 1, {"_", [P, "{my,permanent}", "normal"]} => 1,
                   {"_", [T, "{my,transient}", "oops"]} => 2, {"_", [T, "{my,transient}", "{bad,1}"]} => 1}, Got).

%% The child has ended, and the supervisor has seen it, when this returns.
stop_child(Sup, Why) ->
    case [P || {_, P, _, _} <- supervisor:which_children(Sup), is_pid(P)] of
        [Pid] ->
            M = monitor(process, Pid),
            Pid ! {stop, Why},
            receive {'DOWN', M, process, Pid, _} -> ok end,
            is_seen(Sup, Pid),
            case lists:keymember({my, transient}, 1, supervisor:which_children(Sup)) andalso
                lists:member(Why, [shutdown, normal]) of
                true -> _ = supervisor:restart_child(Sup, {my, transient});
                false -> ok
            end;
        [] ->
            ok
    end.

%% We may be told before the supervisor is.
is_seen(Sup, Pid) ->
    lists:keymember(Pid, 2, supervisor:which_children(Sup)) andalso is_seen(Sup, Pid).

crashes(Way) ->
    logger:set_primary_config(level, emergency),
    Got = run(Way, "erlang*:::process-crash { @[copyinstr(arg1), copyinstr(arg2)] = count(); }",
              fun() ->
                      [begin
                           {P, M} = proc_lib:spawn_opt(fun() -> erlang:Class(Why) end, [monitor]),
                           receive {'DOWN', M, process, P, _} -> ok end
                       end || {Class, Why, N} <- [{error, e1, 3}, {exit, {e2, x}, 2}, {throw, e3, 1}, {exit, normal, 5},
                                                  {exit, shutdown, 5}, {exit, {shutdown, x}, 5}],
                              _ <- lists:seq(1, N)]
              end),
    logger:set_primary_config(level, notice),
    ?assertEqual(#{{"_", ["error", "e1"]} => 3, {"_", ["exit", "{e2,x}"]} => 2,
                   {"_", ["throw", "e3"]} => 1}, Got).

%% ---- atoms -----------------------------------------------------------------------------------

%% Only those that are new, each once, however often it is asked for.
atoms(Way) ->
    Texts = [lists:concat(["insides_", Way, "_", erlang:unique_integer([positive])]) || _ <- lists:seq(1, 20)],
    Unseen = [binary:encode_hex(rand:bytes(5)) || _ <- [1, 2, 3]],
    Script = "erlang*:::atom-new /strstr(copyinstr(arg1), \"insides_\") != NULL/"
             "{ @n[probefunc] = count(); @each[copyinstr(arg1)] = count(); @others = max(arg3); @top = max(arg2); }",
    Got = run(Way, Script,
              fun() ->
                      in_process(fun() ->
                                         {A, B} = lists:split(8, Texts),
                                         _ = [binary_to_term(<<131, 119, 17, "insides", T/binary>>) || T <- Unseen],
                                         _ = [list_to_atom(T) || _ <- [1, 2, 3], T <- A],
                                         _ = [binary_to_atom(list_to_binary(T)) || T <- Texts],
                                         _ = [binary_to_atom(list_to_binary(T), utf8) || T <- B ++ ["ok"]]
                                 end)
              end),
    ?assertMatch(#{{"n", ["list_to_atom/1"]} := 8, {"n", ["binary_to_atom/2"]} := 12, {"others", []} := 3}, Got),
    ?assertEqual(lists:sort(Texts), lists:sort([T || {{"each", [T]}, 1} <- maps:to_list(Got)])),
    #{{"top", []} := Top} = Got,
    ?assertEqual(Top, erlang:system_info(atom_count)).
