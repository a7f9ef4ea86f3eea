%% SPDX-License-Identifier: Apache-2.0
%% The fast way beside other tools, and on loops that never end: others' results stay right, stacks do
%% not grow.
-module(fastcalls_attack_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1, caller/1, loop/2, other/2, secret/0, secret_error/0, big/1]). % what is traced

-define(ALL, "erlang*:fastcalls_attack_tests:").

attack_test_() ->
    {setup, fun() -> {ok, _} = application:ensure_all_started(erltrace), erltrace_find:known(fast) end,
     fun(_) -> ok end,
     fun(ok) -> [{timeout, 60, {Name, Test}} || {Name, Test} <- tests()];
        ({refused, Why}) -> io:format(user, "skipped: the fast way: ~s~n", [Why]), []
     end}.

tests() ->
    [{"call_time of others: a caller's time is its own", fun call_time_of_others/0},
     {"two scripts on a loop: its stack is bounded", fun two_scripts_on_a_loop/0},
     {"what a loop returns: its stack is bounded", fun what_a_loop_returns/0},
     {"a process that becomes sensitive", fun becomes_sensitive/0},
     {"another tool takes the breakpoint of one function", fun one_breakpoint_is_taken/0},
     {"cprof, started meanwhile, goes on counting when the script ends", fun cprof_goes_on/0},
     {"many scripts begin and end at once", fun many_at_once/0},
     {"a frame needs a collection where the heap may not grow", fun max_heap_size/0}].

%% f/1 is both ours and theirs, caller/1 theirs alone: after f/1 has returned, caller/1 is timed.
call_time_of_others() ->
    H = open(?ALL "f:function-return { @[args[1]] = count(); }"),
    MFAs = [{?MODULE, f, 1}, {?MODULE, caller, 1}],
    [1 = erlang:trace_pattern(MFA, true, [call_time]) || MFA <- MFAs],
    {P, M} = spawn_monitor(fun() -> receive go -> ok end, id(caller(20)) end),
    1 = erlang:trace(P, true, [call]),
    P ! go,
    receive {'DOWN', M, process, P, normal} -> ok end,
    [F, Caller] = [{N, S * 1000000 + Us} || MFA <- MFAs, {call_time, [{_, N, S, Us}]} <- [erlang:trace_info(MFA, call_time)]],
    [erlang:trace_pattern(MFA, false, [call_time]) || MFA <- MFAs],
    ?assertMatch({20, _}, F),
    ?assertMatch({21, _}, Caller),
    ?assert(element(2, Caller) > element(2, F)),
    ?assertMatch([{count, [_], 20}], rows(H)).

%% One takes the functions of a loop, another one of them: neither frame can take the other's place.
two_scripts_on_a_loop() ->
    Hs = [open(?ALL "loop:function-return, " ?ALL "other:function-return { @ = count(); }"),
          open(?ALL "loop:function-return { @ = count(); }")],
    ?assert(stack_after_loop() < 1000),
    [ok = erltrace:close(H) || H <- Hs].

what_a_loop_returns() ->
    H = open(?ALL "loop:function-return { @[erlret] = count(); }"),
    ?assert(stack_after_loop() < 50000),
    ok = erltrace:close(H).

stack_after_loop() ->
    {P, M} = spawn_monitor(fun() -> loop(100000, self()) end),
    receive {'DOWN', M, process, P, {stack, N}} -> N end.

becomes_sensitive() ->
    H = open(?ALL "secret:function-return { @r[erlret] = count(); } "
             ?ALL "secret_error:function-exception { @x[erlreason] = count(); } "
             ?ALL "f:function-return { @f = count(); }"),
    f(1),
    in(fun() -> secret() end),
    in(fun() -> catch secret_error() end),
    ?assertMatch([{count, [], 1}], rows(H)).

%% Not that of the function which is looked at for its module, whichever that is.
one_breakpoint_is_taken() ->
    H = open(?ALL "f:function-entry, " ?ALL "other:function-entry, " ?ALL "big:function-entry { @ = count(); }"),
    MFAs = [{?MODULE, f, 1}, {?MODULE, other, 2}, {?MODULE, big, 1}],
    [begin
         erlang:trace_pattern(MFA, true, Kind),
         erlang:trace_pattern(MFA, false, Kind),
         until(fun() -> erltrace_vm:has_sessions() orelse
                            erlang:trace_info(MFA, call_count) =/= {call_count, false} end)
     end || MFA <- MFAs, Kind <- [[global], [call_count]]],
    f(1),
    ?assertMatch([{count, [], 1}], rows(H)).

%% All functions, a module, one function, whether they have been called by then or not. What nobody else
%% counts is off. (From OTP 27 on nobody is in another's way.)
cprof_goes_on() ->
    Script = ?ALL "f:function-entry, " ?ALL "caller:function-entry { self->n++; @[probefunc] = count(); }",
    Whole = ?ALL ":function-entry { self->n++; @[probefunc] = count(); }",
    Counted = ?ALL "f:function-entry { @[probefunc] = count(); }", % by the VM
    [begin
         H = open(S),
         f(0),
         _ = apply(cprof, start, Args),
         [f(1) || _ <- [1, 2, 3]],
         ok = erltrace:close(H),
         [f(1) || _ <- [1, 2]],
         caller(0),
         Counts = [counted(F, 1) || F <- [f, caller]],
         _ = apply(cprof, stop, Args),
         ?assertEqual({Args, S, Wanted}, {Args, S, Counts}),
         ?assertEqual([], [{F, A} || {F, A} <- module_info(functions), counted(F, A) =/= false])
     end || {Args, Wanted} <- [{[], [5, 1]}, {[?MODULE], [5, 1]}, {[?MODULE, f], [5, false]}],
            S <- [Script] ++ [Part || Part <- [Whole, Counted], length(Args) < 2]].

counted(F, A) ->
    {call_count, N} = erlang:trace_info({?MODULE, F, A}, call_count),
    N.

many_at_once() ->
    Scripts = [?ALL ":function-return { @[args[1]] = count(); }", ?ALL "f:function-entry { @ = count(); }",
               ?ALL "loop:function-return { @[erlret] = count(); }"],
    Load = spawn_link(fun Loop() -> f(1), id(loop(10, none)), Loop() end),
    Ps = [spawn_monitor(fun() -> [ok = erltrace:close(open(S)) || _ <- [1, 2], S <- Scripts] end)
          || _ <- lists:seq(1, 4)],
    [receive {'DOWN', M, process, P, Why} -> ?assertEqual(normal, Why) end || {P, M} <- Ps],
    unlink(Load), exit(Load, kill),
    ?assertMatch([1, 0, 0 | _], erltrace_nif:find(fast, state)).

%% The collection for room on the stack ends the process: it yields at once, and is gone.
max_heap_size() ->
    H = open(?ALL "big:function-return { @ = count(); }"),
    Max = #{size => 5000, kill => true, error_logger => false},
    [begin
         {P, M} = spawn_opt(fun() -> big([]) end, [monitor, {max_heap_size, Max}]),
         receive {'DOWN', M, process, P, Why} -> ?assertEqual(killed, Why) end
     end || _ <- lists:seq(1, 20)],
    ok = erltrace:close(H).

%% ---- what is traced --------------------------------------------------------------------------

f(X) -> {X}.

caller(0) -> ok;
caller(N) ->
    _ = f(N),
    lists:foldl(fun(X, S) -> X + S end, 0, lists:seq(1, 200000)), % much longer than f/1 is put aside, on a busy machine
    caller(N - 1).

loop(0, none) -> ok;
loop(0, _) ->
    {stack_size, N} = process_info(self(), stack_size),
    exit({stack, N});
loop(N, P) -> other(N - 1, P).

other(N, P) -> loop(N, P).

secret() -> process_flag(sensitive, true), {id(secret)}.

secret_error() -> process_flag(sensitive, true), error({id(secret)}).

big(L) -> [big([L | L]) | L].

id(X) -> X.

%% ---- helpers ---------------------------------------------------------------------------------

open(Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- [{"calls", "fast"}, {"watchdog", "0"}]],
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    ?assertMatch({ok, #{calls := #{way := fast, traced := []}}}, erltrace:status(H)),
    H.

rows(H) ->
    ok = erltrace:stop(H),
    {ok, Rows} = erltrace:walk(H),
    ok = erltrace:close(H),
    Rows.

in(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, normal} -> ok end.

until(Fun) -> until(Fun, 6000).

until(Fun, 0) -> ?assert(Fun());
until(Fun, N) -> Fun() orelse begin timer:sleep(10), until(Fun, N - 1) end.
