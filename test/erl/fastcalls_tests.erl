%% SPDX-License-Identifier: Apache-2.0
%% The fast way to function probes: what it looks for, and that it refuses what it does not know; the
%% same results as the tracer's way; nothing left behind.
-module(fastcalls_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1, down/1, loop/1, bits/1, map/2, each/1, raise/1, deep/2]). % what is traced

-define(ALL, "erlang*:fastcalls_tests:").

%% Before anything is installed.
finder_test_() ->
    {setup, fun start/0, fun(_) -> ok end, {inorder,
      [{timeout, 600, fun every_byte/0}, {timeout, 600, fun every_word/0},
       fun a_mapping_is_another/0, {timeout, 60, fun it_is_traced_then/0}]}}.

start() ->
    {ok, _} = application:ensure_all_started(erltrace),
    ok.

%% Without the hooks that may be there already.
find() ->
    ok = erltrace_nif:find(fast, start),
    case erltrace_fastcalls:observe_code() of
        ok -> erltrace_nif:find(fast, conclude);
        Refused -> Refused
    end.

%% Whichever byte of the VM's code is another: refused, or it did not matter, and the same was found.
every_byte() -> every(flip, bytes, 60).

%% The same for words of processes, their stacks, what lies in front of functions, and addresses that
%% the JIT calls: each is that of something else.
every_word() -> every(spoil, words_read, 28).

every(Change, Number, AtLeast) ->
    ok = erltrace_nif:find(fast, {Change, 0}),
    ?assertEqual(ok, find()),
    N = erltrace_nif:find(fast, Number),
    Facts = erltrace_nif:find(fast, facts),
    Refused = [K || K <- lists:seq(1, N), refused(Change, K, Facts)],
    ok = erltrace_nif:find(fast, {Change, 0}),
    ?assert(length(Refused) >= AtLeast),
    ?assertEqual(ok, find()).

refused(Change, K, Facts) ->
    ok = erltrace_nif:find(fast, {Change, K}),
    case find() of
        ok -> ?assertEqual({K, Facts}, {K, erltrace_nif:find(fast, facts)}), false;
        {refused, Why} -> ?assert(byte_size(Why) > 0), true
    end.

%% It is not there, belongs to another file, or is another part of it.
a_mapping_is_another() ->
    [begin
         ok = erltrace_nif:find(fast, {Fault, Perms}),
         ?assertMatch({Fault, Perms, {refused, _}}, {Fault, Perms, find()})
     end || {Fault, All} <- [{missing, ['rw-s', 'r-xs', 'r-xp']}, {other_file, ['rw-s', 'r-xs']},
                             {elsewhere, ['rw-s', 'r-xs']}],
            Perms <- All],
    ok = erltrace_nif:find(fast, {missing, none}),
    ?assertEqual(ok, find()).

%% A script that asks for the fast way is told why not, and counts the same.
it_is_traced_then() ->
    [begin
         ok = erltrace_nif:find(fast, Change),
         {ok, H} = open(?ALL "f:function-entry { @e = count(); } " ?ALL "f:function-return { @r = count(); }"),
         {ok, #{calls := #{way := Way, why := Why}}} = erltrace:status(H),
         ?assertEqual({Change, traced}, {Change, Way}),
         ?assert(byte_size(iolist_to_binary([Why])) > 0),
         in(fun() -> [f(I) || I <- lists:seq(1, 10)] end),
         ok = erltrace:stop(H),
         ?assertMatch({ok, [{count, [], 10}, {count, [], 10}]}, erltrace:walk(H)),
         ok = erltrace:close(H),
         ?assertMatch([0, 0, 0, 0], state()),
         ok = erltrace_nif:find(fast, Back),
         ok = erltrace_nif:find(fast, start) % what was found out is kept
     end || {Change, Back} <- [{{flip, 1}, {flip, 0}}, {{spoil, 1}, {spoil, 0}},
                               {{missing, 'rw-s'}, {missing, none}}]].

%% ---- the same by either way ------------------------------------------------------------------

same_test_() ->
    {setup, fun() -> start(), available() end, fun(_) -> ok end,
     fun(ok) -> [{Name, {timeout, 60, fun() -> same(Script, Work) end}} || {Name, Script, Work} <- cases()];
        ({refused, Why}) -> io:format(user, "skipped: the fast way: ~s~n", [Why]), []
     end}.

available() -> erltrace_find:known(fast).

%% Functions of OTP are called by others as well, by who writes the names of the tests for one.
-define(OURS, "/erlname == \"fastcalls_work\"/ ").

named(Work) -> fun() -> true = register(fastcalls_work, self()), Work() end.

cases() ->
    [{"counts", ?ALL ":function-entry { @e[args[1]] = count(); } "
      ?ALL ":function-return { @r[args[1]] = count(); }", fun everything/0},
     {"arguments and depth", ?ALL "f:function-entry, " ?ALL "down:function-entry, "
      ?ALL "loop:function-entry { @e[args[1], erlargs, arg2, arg3] = count(); } "
      ?ALL "down:function-return { @r[args[1], arg2] = count(); }", fun calls/0},
     {"what is returned", ?ALL ":function-return { @r[args[1], erlret] = count(); }", fun calls/0},
     {"arguments at the return",
      ?ALL "f:function-return, " ?ALL "map:function-return { @r[args[1], erlargs, erlret] = count(); }",
      fun() -> calls(), [map(fun f/1, [{I, <<I>>}]) || I <- [1, 2]] end},
     {"variables of the process", ?ALL "down:function-entry /!self->n/ { self->n = erlint(0); } "
      ?ALL "down:function-return /self->n == 3/ { @[self->n, args[1]] = count(); self->n = 0; }",
      fun() -> [down(3) || _ <- lists:seq(1, 10)] end},
     {"a binary that is being matched",
      ?ALL "bits:function-entry { @[erlarg(0)] = count(); }",
      fun() -> bits(<<"abcdefgh">>), bits(<<1:4, "xyz">>) end},
     {"the stack", ?ALL "f:function-entry { @[ustack()] = count(); }", fun calls/0},
     {"BIFs", "erlang*:erlang:atom_to_list:bif-entry, erlang*:erlang:binary_to_term:bif-entry "
      ?OURS "{ @e[args[1], erlargs] = count(); } "
      "erlang*:erlang:atom_to_list:bif-return, erlang*:erlang:binary_to_term:bif-return "
      ?OURS "{ @r[args[1]] = count(); } "
      "erlang*:erlang:atom_to_list:function-exception "
      ?OURS "{ @x[args[1], erlclass, erlreason] = count(); }",
      named(fun bifs/0)},
     {"what BIFs return, those that are interrupted too",
      "erlang*:erlang:atom_to_list:bif-return, erlang*:lists:reverse:function-return, "
      "erlang*:erlang:binary_to_term:bif-return " ?OURS "{ @r[probefunc, erltype(erlret)] = count(); }",
      named(fun bifs/0)},
     {"NIFs", "erlang*:zlib::nif-entry " ?OURS "{ @e[args[1]] = sum(1 + !arg0); } "
      "erlang*:zlib::nif-return " ?OURS "{ @r[args[1], erltype(erlret)] = count(); }",
      named(fun() -> [zlib:uncompress(zlib:compress(bytes(N))) || N <- [1, 100, 10000]] end)},
     {"exceptions", ?ALL ":function-entry { @e[args[1]] = count(); } "
      ?ALL ":function-return { @r[args[1]] = count(); } "
      ?ALL ":function-exception { @x[args[1], erlclass, erlreason] = count(); }", fun exceptions/0},
     {"exceptions with depth and arguments",
      ?ALL "deep:function-exception { @x[args[1], arg2, args[3], erlargs, erlreason] = count(); }",
      fun exceptions/0},
     {"exceptions that nobody catches",
      ?ALL ":function-exception { @x[args[1], erlclass, erlreason] = count(); }", fun uncaught/0},
     {"the stack of an exception", ?ALL "raise:function-exception, " ?ALL "deep:function-exception "
      "{ @[probefunc, ustack(6), erlreason] = count(); }", fun exceptions/0},
     {"the stack at a return", ?ALL "f:function-return { @[ustack(4)] = count(); }", fun calls/0},
     {"what a process is called", ?ALL "f:function-entry { @[erlproc] = count(); }",
      fun() -> [in(fun() -> f(N) end) || N <- [1, 2, 3]], f(4) end},
     {"a pattern", ?ALL "map:function-entry /erlmatch(erlarg(1), \"[{A, <<B>>}]\")/ "
      "{ @[this->A, this->B] = count(); }", fun() -> map(fun f/1, [{7, <<8>>}]) end}].

same(Script, Work) ->
    Traced = results(traced, Script, Work),
    ?assert(length(Traced) > 0),
    ?assertEqual(Traced, results(fast, Script, Work)).

results(Way, Script, Work) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "calls", atom_to_list(Way)),
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    ?assertMatch({ok, #{calls := #{way := Way}}}, erltrace:status(H)),
    {P, M} = spawn_monitor(Work),
    receive {'DOWN', M, process, P, normal} -> ok end,
    ok = erltrace:stop(H),
    {ok, Rows} = erltrace:walk(H),
    ok = erltrace:close(H),
    lists:sort(Rows).

%% Beside a script that has the same functions traced: before OTP 27 the tracer's events are told to
%% both, and those of the other are not counted here. From then on each has a session of its own. Two of
%% these that are told of exceptions hide from the VM which calls are tail calls: it tells of the end of
%% each. So there it is one.
beside_traced_test_() ->
    {setup, fun() -> start(), available() end, fun(_) -> ok end,
     fun(ok) -> {timeout, 60, fun beside_traced/0};
        (_) -> []
     end}.

beside_traced() ->
    Script = ?ALL "down:function-entry, " ?ALL "down:function-return, " ?ALL "deep:function-entry, "
        ?ALL "deep:function-exception { @[copyinstr(arg1), probename] = count(); }",
    Ways = [traced, fast] ++ [traced || list_to_integer(erlang:system_info(otp_release)) < 27],
    Hs = [begin
              {ok, H} = erltrace:open(),
              ok = erltrace:setopt(H, "calls", atom_to_list(Way)),
              ok = erltrace:compile(H, Script),
              ok = erltrace:go(H),
              H
          end || Way <- Ways],
    {P, M} = spawn_monitor(fun() -> [down(3) || _ <- lists:seq(1, 10)], exceptions() end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    [First | Others] = walked_alike([{H, []} || H <- Hs], 2500),
    [ok = erltrace:close(H) || H <- Hs],
    ?assertEqual([First], lists:usort(Others)),
    ?assert(length(First) >= 4).

%% What a scheduler is inside of when it is read comes the next time; ok: nothing has come since.
walked_alike(Had, Tries) ->
    Has = [{H, case erltrace:walk(H) of {ok, Rows} -> lists:sort(Rows); ok -> Old end} || {H, Old} <- Had],
    case lists:usort([Rows || {_, Rows} <- Has]) of
        [_, _ | _] when Tries > 0 -> timer:sleep(20), walked_alike(Has, Tries - 1);
        _ -> [Rows || {_, Rows} <- Has]
    end.

everything() ->
    calls(), [bits(<<"abc">>) || _ <- [1, 2]], map(fun f/1, [1, 2, 3]).

calls() ->
    [f(X) || X <- [1, {2}, [3]]],
    3 = down(3),
    ok = loop(4),
    [each(I) || I <- [1, 2, 3]].

-define(HOWS, [throw, error, exit, raise, badmatch, case_clause, function_clause, badarg, badarith,
               if_clause, badfun, badarity, undef, error_args, none]).

exceptions() ->
    [catch_(How, N) || How <- ?HOWS, N <- [0, 1, 3]],
    [catch catch_again(How) || How <- ?HOWS],
    calls().

catch_(How, N) ->
    try deep(N, How) of X -> X catch C:R -> {C, R} end.

%% Caught, and raised again.
catch_again(How) ->
    try deep(1, How) catch C:R:S -> erlang:raise(C, R, S) after f(1) end.

%% The logger would be told of most of these.
uncaught() ->
    #{level := Level} = logger:get_primary_config(),
    ok = logger:set_primary_config(level, none),
    [begin
         {P, M} = spawn_monitor(fun() -> deep(2, How) end),
         receive {'DOWN', M, process, P, _} -> ok end
     end || How <- ?HOWS],
    ok = logger:set_primary_config(level, Level).

deep(0, How) -> raise(How);
deep(N, How) -> {deep(N - 1, How)}.

raise(throw) -> throw({thrown, 1});
raise(error) -> error(my_error);
raise(exit) -> exit({my, "exit"});
raise(raise) -> erlang:raise(throw, raised, []);
raise(badmatch) -> {} = id(17);
raise(case_clause) -> case id(17) of {} -> ok end;
raise(badarg) -> {atom_to_list(id({}))};
raise(badarith) -> {1 + id(a)};
raise(if_clause) -> X = id(17), if X =:= {} -> ok end;
raise(badfun) -> (id(17))();
raise(badarity) -> (id(fun(_) -> ok end))();
raise(undef) -> fastcalls_tests:no_such_function(1);
raise(error_args) -> error(with_args, [1, 2]);
raise(none) -> none.

id(X) -> X.

bytes(N) -> << <<(I * I)>> || I <- lists:seq(1, N) >>.

%% By apply, too: a call in the code itself may be inlined.
bifs() ->
    [id(atom_to_list(A)) || A <- [a, b]],
    [id(apply(erlang, F, [A])) || {F, A} <- [{atom_to_list, c}, {length, lists:seq(1, 100000)}]],
    [catch id(atom_to_list(X)) || X <- [id(1), id({})]],
    L = id(lists:seq(1, 200000)),
    200000 = length(id(lists:reverse(L))),
    L = id(binary_to_term(term_to_binary(L))),
    ok.

f(X) -> {X}.

down(0) -> 0;
down(N) -> 1 + down(N - 1).

loop(0) -> ok;
loop(N) -> loop(N - 1).

each(N) -> X = f(N), {X, loop(N)}.

bits(<<C, Rest/bits>>) -> [C | bits(Rest)];
bits(Rest) -> [Rest].

map(F, [H | T]) -> [F(H) | map(F, T)];
map(_, []) -> [].

%% ---- nothing is left -------------------------------------------------------------------------

left_test_() ->
    {setup, fun() -> start(), available() end, fun(_) -> ok end,
     fun(ok) -> {inorder, [{timeout, 60, fun a_handle_ends/0}, {timeout, 60, fun an_owner_is_killed/0},
                           fun sensitive_processes_are_not_seen/0, fun no_process_is_traced/0,
                           fun beside_a_script_of_external_calls/0, fun it_is_found_once/0]};
        (_) -> []
     end}.

a_handle_ends() ->
    ?assertMatch([1, 0, 0, _], state()),
    {ok, H} = open(?ALL "f:function-entry { @ = count(); } " ?ALL "f:function-return { @r = count(); }"),
    ?assertMatch([1, 1, 1, _], state()),
    ?assertMatch({call_count, N} when is_integer(N), counter({?MODULE, f, 1})),
    ok = erltrace:close(H),
    ?assertMatch([1, 0, 0, _], state()),
    ?assertEqual({call_count, false}, counter({?MODULE, f, 1})).

an_owner_is_killed() ->
    Me = self(),
    P = spawn(fun() -> {ok, H} = open(?ALL "f:function-entry { @ = count(); }"),
                       Me ! {up, H}, receive never -> ok end end),
    receive {up, _} -> ok end,
    ?assertMatch([1, 1, 1, _], state()),
    exit(P, kill),
    until(fun() -> [1, 0, 0] =:= lists:sublist(state(), 3) end),
    until(fun() -> {call_count, false} =:= counter({?MODULE, f, 1}) end).

sensitive_processes_are_not_seen() ->
    {ok, H} = open(?ALL "f:function-entry { @[erlint(0)] = count(); }"),
    in(fun() -> process_flag(sensitive, true), f(1) end),
    in(fun() -> f(1) end),
    ok = erltrace:stop(H),
    ?assertMatch({ok, [{count, [1], 1}]}, erltrace:walk(H)),
    ok = erltrace:close(H).

no_process_is_traced() ->
    {ok, H} = open(?ALL "f:function-entry { self->t = timestamp; } " ?ALL "f:function-return { self->t = 0; }"),
    ?assertEqual([], [P || P <- processes(), traced(P)]),
    ok = erltrace:close(H).

%% Before OTP 27 a pattern for external calls only would take the breakpoint away.
beside_a_script_of_external_calls() ->
    {ok, H} = open(?ALL "each:function-entry { @[erlint(0)] = count(); }"),
    {ok, G} = erltrace:open(),
    ok = erltrace:setopt(G, "calls", "traced"),
    ok = erltrace:compile(G, ?ALL "each:global-function-entry { @[erlint(0)] = count(); }"),
    ok = erltrace:go(G),
    in(fun() -> ?MODULE:each(7), each(8) end),
    ok = erltrace:stop(H),
    ok = erltrace:close(H),
    in(fun() -> ?MODULE:each(9) end),
    ok = erltrace:stop(G),
    {ok, Global} = erltrace:walk(G),
    ok = erltrace:close(G),
    ?assertEqual({count, [9], 1}, lists:last(lists:sort(Global))),
    ?assertEqual({call_count, false}, counter({?MODULE, each, 1})).

%% A process that has been looked for has our words: they are nobody else's then.
it_is_found_once() ->
    ?assertMatch({refused, _}, find()),
    ok = erltrace_nif:find(fast, {try_again, <<>>}),
    ?assertEqual(ok, available()).

open(Script) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "calls", "fast"),
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    {ok, H}.

state() -> erltrace_nif:find(fast, state).

counter(MFA) ->
    case erltrace_vm:has_sessions() of
        false -> erlang:trace_info(MFA, call_count);
        true ->
            Counts = [N || {erltrace_calls, _} = S <- apply(trace, session_info, [all]),
                           {call_count, N} <- [session_tests:info(S, MFA, call_count)], is_integer(N)],
            {call_count, case Counts of [N | _] -> N; [] -> false end}
    end.

traced(P) ->
    case process_info(P, trace) of
        {trace, N} -> N =/= 0;
        undefined -> false
    end.

in(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, normal} -> ok end.

until(Fun) -> until(Fun, 5000).

until(Fun, 0) -> ?assert(Fun());
until(Fun, N) -> Fun() orelse begin timer:sleep(10), until(Fun, N - 1) end.
