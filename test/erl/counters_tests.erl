%% SPDX-License-Identifier: Apache-2.0
%% Functions that the VM counts for a script: the results are those of the tracer. Both ways run at
%% the same time on the same calls; which way a script goes is looked at too.
-module(counters_tests).
-include_lib("eunit/include/eunit.hrl").
-export([do_f/1, do_outer/1, do_inner/2, do_fac/1, do_loop/1, do_throws/1]).

%% ---- the work --------------------------------------------------------------------------------

do_f(X) -> X.

do_outer(X) -> do_inner(X, 1).

do_inner(X, Y) -> X + Y.

do_fac(0) -> 1;
do_fac(N) -> N * do_fac(N - 1).

do_loop(0) -> ok;
do_loop(N) -> do_loop(N - 1).

do_throws(X) -> throw({X}).

%% Local and external calls, by tail and not, by apply and spawn, in several processes.
work(N) ->
    Calls = fun() ->
                    [begin
                         1 = do_f(1),
                         1 = ?MODULE:do_f(1),
                         3 = apply(?MODULE, do_outer, [2]),
                         6 = do_fac(3),
                         ok = do_loop(5),
                         {I} = try do_throws(I) catch Thrown -> Thrown end
                     end || I <- lists:seq(1, N)]
            end,
    Ps = [spawn_monitor(Calls) || _ <- lists:seq(1, 4)] ++
        [spawn_monitor(?MODULE, do_loop, [N]) || _ <- [1, 2]],
    [receive {'DOWN', Mon, process, P, normal} -> ok end || {P, Mon} <- Ps],
    ok.

% ---- the tests -------------------------------------------------------------------------------

one_by_one_test_() ->
    [{Name, {timeout, 60, fun() -> alone(Fun) end}} ||
        {Name, Fun} <- [{"exact", fun exact/0},
                        {"printa_clear", fun printa_clear/0},
                        {"stop", fun stop/0},
                        {"read_unasked", fun read_unasked/0},
                        {"subscribe", fun subscribe/0},
                        {"which_options", fun which_options/0},
                        {"ours", fun ours/0},
                        {"nobody_is_traced", fun nobody_is_traced/0},
                        {"somebody_counts", fun somebody_counts/0},
                        {"two_handles", fun two_handles/0},
                        {"global", fun global/0},
                        {"taken_away", fun taken_away/0},
                        {"begun_anew", fun begun_anew/0},
                        {"reload", fun reload/0},
                        {"many", fun many/0},
                        {"traced_later", fun traced_later/0}]].

-define(ALL, "erlang*:counters_tests:do_*:function-entry").

%% ---- helpers ---------------------------------------------------------------------------------

open(Script, Counters) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "counters", Counters),
    ok = erltrace:setopt(H, "zdefs", ""),
    ok = erltrace:setopt(H, "quiet", ""),
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    put(handles, [H | hs()]),
    H.

hs() -> case get(handles) of undefined -> []; Hs -> Hs end.

%% A test that fails leaves no handle open for the next.
alone(Fun) ->
    put(handles, []),
    try Fun()
    after [erltrace:close(H) || H <- hs()]
    end.

about(H) ->
    {ok, #{counted := Counted}} = erltrace_handle:call(H, counts),
    Counted.

counted(H) -> proplists:get_value(counted, about(H), 0).

aggs(H) ->
    {ok, Aggs} = erltrace:aggregations(H),
    lists:sort(Aggs).

text(H) ->
    {Status, Texts} = erltrace:output(H),
    ?assert(lists:member(Status, [ok, done])),
    iolist_to_binary(Texts).

has_sessions() -> erltrace_vm:has_sessions().

counter(MFA) -> session_tests:counter(MFA).

clean() ->
    ?assertEqual([false], counter({?MODULE, do_f, 1})),
    ?assertEqual([], session_tests:flags(self())),
    ?assertEqual([], session_tests:pattern({?MODULE, do_f, 1})).

gone(P) ->
    Mon = erlang:monitor(process, P),
    receive {'DOWN', Mon, process, P, _} -> ok end.

%% ---- the same results ------------------------------------------------------------------------

%% What the VM counts, and what the tracer counts at the same time.
same(Script) ->
    Counters = open(Script, "1"),
    Tracer = open(Script, "0"),
    ?assertEqual({Script, true}, {Script, counted(Counters) > 0}),
    ?assertEqual(0, counted(Tracer)),
    work(100),
    First = aggs(Tracer),
    ?assertEqual(First, aggs(Counters)),
    work(10),
    Second = aggs(Tracer),
    ?assertEqual(Second, aggs(Counters)),
    ?assertNotEqual(First, Second),
    [Walked, Walked] = [begin {ok, W} = erltrace:walk(H), lists:sort(W) end || H <- [Tracer, Counters]],
    work(3),
    ?assertEqual(aggs(Tracer), aggs(Counters)),
    {ok, #{fired := Fired}} = erltrace_handle:call(Tracer, counts),
    ?assertMatch({ok, #{fired := Fired}}, erltrace_handle:call(Counters, counts)),
    [ok = erltrace:close(H) || H <- [Counters, Tracer]],
    clean().

same_test_() ->
    [{Script, {timeout, 60, fun() -> alone(fun() -> same(Script) end) end}} ||
        Script <- [?ALL " { @[copyinstr(arg1)] = count(); }",
                   ?ALL " { @[args[1]] = count(); }",
                   ?ALL " { @[probefunc, probemod, probename, probeprov, 7, \"x\", pid, id] = count(); }",
                   ?ALL " { @ = count(); }",
                   ?ALL " { @[probefunc] = sum(3); @n[probefunc] = sum(-1); }",
                   ?ALL " { @a = min(3); @b = max(4); @c[probefunc] = quantize(5); @d = lquantize(6, 0, 10, 2);"
                   " @e = quantize(-5, 3); @f = llquantize(70, 10, 0, 3, 10); }",
                   ?ALL " { @n = count(); @g[probefunc] = percentile(7000, 50); @h = percentile(strlen(probefunc), 50, 75, 99.9); }",
                   ?ALL " { @[strjoin(probemod, probefunc), strlen(probefunc)] = count(); }",
                   ?ALL " /probefunc != \"do_f/1\"/ { @[probefunc == \"do_fac/1\" ? \"fac\" : \"no\"] = count(); }",
                   ?ALL " /1/ { @ = count(); }",
                   "erlang*:counters_tests:do_f:function-entry, erlang*:counters_tests:do_loop:function-entry"
                   " { @[probefunc] = count(); }"
                   "erlang*:counters_tests:do_f*:function-entry { @x[probefunc] = sum(2); }"
                   "erlang*:counters_tests:do_f:local-function-entry { @x[probename] = sum(1); }"]].

%% The number itself, so that both are not wrong in the same way.
exact() ->
    H = open(?ALL " { @[probefunc] = count(); }", "1"),
    work(100),
    Got = [{K, N} || {_, count, [K], N} <- aggs(H)],
    ok = erltrace:close(H),
    ?assertEqual([{<<"do_f/1">>, 800}, {<<"do_fac/1">>, 1600}, {<<"do_inner/2">>, 400},
                  {<<"do_loop/1">>, 4 * 600 + 2 * 101}, {<<"do_outer/1">>, 400}, {<<"do_throws/1">>, 400}],
                 Got).

%% One aggregation of counted functions and of events; printed and emptied when we say so.
printa_clear() ->
    Script = ?ALL " { @a[probefunc] = count(); @b[probefunc] = sum(2); }"
        "erlang*:::user_trace-i4s4 /arg2 == 1/"
        " { @a[\"event\"] = count(); printa(\"%s %@d\\n\", @a); clear(@a); }"
        "erlang*:::user_trace-i4s4 /arg2 == 2/ { trunc(@b, 2); printa(\"%s %@d\\n\", @b); }"
        "erlang*:::user_trace-i4s4 /arg2 == 3/ { normalize(@b, 2); printa(\"%s %@d\\n\", @b); trunc(@a); }"
        "END { printf(\"end\\n\"); }",
    Hs = [open(Script, C) || C <- ["1", "0"]],
    ?assertMatch([6, 0], [counted(H) || H <- Hs]),
    Steps = [begin
                 work(N),
                 dtrace:p(What),
                 Texts = [text(H) || H <- Hs],
                 [Text, Text] = Texts,
                 Text
             end || {N, What} <- [{10, 1}, {20, 1}, {0, 1}, {5, 2}, {7, 3}, {9, 1}, {1, 2}]],
    ?assertMatch([_, _, _, _, _, _, _], [T || T <- Steps, T =/= <<>>]),
    [ok = erltrace:stop(H) || H <- Hs],
    [Last, Last] = [text(H) || H <- Hs],
    ?assertMatch({match, _}, re:run(Last, "end")),
    [ok = erltrace:close(H) || H <- Hs],
    clean().

%% What was counted up to exit() is there when END prints it, whoever asks first.
exit_test_() ->
    [fun() -> alone(fun() -> exits(How) end) end || How <- [ask, wait]].

exits(How) ->
    H = open(?ALL " { @[probefunc] = count(); }"
             "erlang*:::user_trace-i4s4 { exit(3); } END { printa(\"%s %@d\\n\", @); }", "1"),
    work(50),
    dtrace:p(1),
    case How of
        wait -> % by nobody: the handle's process sees it
            (fun Wait() ->
                     case counter({?MODULE, do_f, 1}) of
                         [false] -> ok;
                         _ -> receive after 5 -> Wait() end
                     end
             end)();
        ask -> ok
    end,
    Text = text(H),
    ?assertMatch({match, _}, re:run(Text, "do_f/1 400\\n")),
    ?assertEqual({exited, 3}, erltrace_handle:call(H, status)),
    ok = erltrace:close(H),
    clean().

%% Stopped: what was counted can be read, what comes after is not counted.
stop() ->
    H = open(?ALL " { @[probefunc] = count(); }", "1"),
    work(5),
    ok = erltrace:stop(H),
    clean(),
    work(5),
    ?assertMatch([{_, count, [<<"do_f/1">>], 40} | _], aggs(H)),
    ok = erltrace:close(H).

%% Nobody asks for results: read all the same, now and then.
read_unasked() ->
    H = open(?ALL " { @[probefunc] = count(); }", "1"),
    work(5),
    All = 5 * 4 * 15 + 2 * 6,
    (fun Wait() ->
             case erltrace_handle:call(H, counts) of
                 {ok, #{fired := N}} when N < All -> receive after 5 -> Wait() end;
                 {ok, #{fired := N}} -> ?assertEqual(All, N)
             end
     end)(),
    ok = erltrace:close(H).

subscribe() ->
    H = open(?ALL " { @[probefunc] = count(); }", "1"),
    work(5),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 10}),
    Wait = fun Wait(Sum) when Sum < 40 ->
                   receive
                       {erltrace, Ref, tick, #{aggregations := Aggs}} ->
                           ok = erltrace:ack(Ref),
                           Wait(Sum + lists:sum([N || {_, _, [<<"do_f/1">>], N} <- Aggs]))
                   end;
               Wait(Sum) ->
                   Sum
           end,
    ?assertEqual(40, Wait(0)),
    work(5),
    ?assertEqual(40, Wait(0)),
    ok = erltrace:close(H).

%% ---- which clauses ---------------------------------------------------------------------------

which_test_() ->
    M = "erlang*:counters_tests:do_f:",
    Not = [M ++ "function-entry { @[copyinstr(arg0)] = count(); }",
           M ++ "function-entry { @[erlpid] = count(); }",
           M ++ "function-entry { @[erlarg(0)] = count(); }",
           M ++ "function-entry { @[erltype(erlarg(0))] = count(); }",
           M ++ "function-entry /erlarg(0) == 5/ { @ = count(); }",
           M ++ "function-entry /erlarg(0) == \"x\"/ { @ = count(); }",
           M ++ "function-entry /erlmatch(erlarg(0), \"{_, _}\")/ { @ = count(); }",
           M ++ "function-entry { @[arg2] = count(); }",
           M ++ "function-entry { @ = sum(arg2); }",
           M ++ "function-entry { @ = avg(1); }",
           M ++ "function-entry { @[timestamp] = count(); }",
           M ++ "function-entry { @[cpu] = count(); }",
           M ++ "function-entry { @[ustack(2)] = count(); }",
           M ++ "function-entry { @[rand()] = count(); }",
           M ++ "function-entry { @ = count(); trace(1); }",
           M ++ "function-entry { n++; @ = count(); }",
           M ++ "function-entry { this->x = 1; @[this->x] = count(); }",
           "BEGIN { n = 1; } " ++ M ++ "function-entry { @[n] = count(); }",
           "BEGIN { n = 1; } " ++ M ++ "function-entry /n/ { @ = count(); }",
           M ++ "function-entry /arg0 != 0/ { @ = count(); }",
           M ++ "function-entry /erlname == \"x\"/ { @ = count(); }",
           M ++ "function-entry { @ = count(); } " ++ M ++ "function-entry { trace(1); }",
           M ++ "function-entry { @ = count(); } " ++ M ++ "function-return { @r = count(); }",
           M ++ "function-entry { @ = count(); } " ++ M ++ "global-function-entry { @g = count(); }",
           M ++ "global-function-entry { @ = count(); }",
           M ++ "function-return { @ = count(); }",
           %% the stacks that are kept for the others would be without it
           M ++ "function-entry { @ = count(); } erlang*:counters_tests:do_fac:function-return { @r = count(); }",
           M ++ "function-entry { @ = count(); } erlang*:counters_tests:do_fac:function-entry { @r[arg2] = count(); }",
           %% called by processes of ours
           "erlang*:lists:seq:function-entry { @ = count(); }",
           "erlang*:erlang:abs:function-entry { @ = count(); }",
           "erlang*:erltrace_handle:call:function-entry { @ = count(); }"],
    Yes = [{1, M ++ "function-entry { @ = count(); }"},
           {1, M ++ "local-function-entry { @ = count(); }"},
           {1, M ++ "function-entry { @ = count(); } tick-1s { printa(@); clear(@); }"},
           {1, M ++ "function-entry { @ = count(); } erlang*:::message-send { @s[copyinstr(arg0)] = count(); }"},
           %% the others of the script are traced
           {1, M ++ "function-entry { @ = count(); } erlang*:counters_tests:do_fac:function-entry { @p[erlpid] = count(); }"},
           {6, ?ALL " { @[probefunc] = count(); }"}],
    [{S, ?_assertEqual(0, which(S))} || S <- Not] ++ [{S, ?_assertEqual(N, which(S))} || {N, S} <- Yes].

which(Script) ->
    H = open(Script, "1"),
    N = counted(H),
    ok = erltrace:close(H),
    N.

which_options() ->
    [begin
         {ok, H} = erltrace:open(),
         ok = erltrace:setopt(H, Option, Value),
         ok = erltrace:compile(H, ?ALL " { @ = count(); }"),
         ok = erltrace:go(H),
         ?assertEqual([], about(H)),
         ok = erltrace:close(H)
     end || {Option, Value} <- [{"counters", "0"}, {"cpu", "0"}, {"aggpercpu", ""}]].

%% Processes of ours call these; the list in erltrace_counters is that of the application.
ours() ->
    {ok, [{application, erltrace, Keys}]} =
        file:consult(filename:join(filename:dirname(code:which(erltrace)), "erltrace.app")),
    {modules, Modules} = lists:keyfind(modules, 1, Keys),
    H = open("erlang*:erltrace*::function-entry, erlang*:dtrace::function-entry { @ = count(); }", "1"),
    All = lists:sum([length(erlang:get_module_info(M, functions)) ||
                        M <- Modules, M =/= erltrace_nif, erlang:module_loaded(M)]),
    Tests = [M || M <- erlang:loaded(), lists:prefix("erltrace", atom_to_list(M)),
                  not lists:member(M, Modules)],
    ?assertEqual([{called_by_us, All}],
                 [A || {called_by_us, _} = A <- about(H)]),
    ?assertEqual(lists:sum([length(erlang:get_module_info(M, functions)) || M <- Tests]), counted(H)),
    ok = erltrace:close(H).

%% Where a script only counts, no process is traced for it.
nobody_is_traced() ->
    H = open(?ALL " { @ = count(); }", "1"),
    ?assertEqual([], session_tests:flags(self())),
    ?assertEqual([], session_tests:flags(new_processes)),
    ?assertEqual([], session_tests:pattern({?MODULE, do_f, 1})),
    ok = erltrace:close(H).

%% ---- with others -----------------------------------------------------------------------------

%% Somebody counts already: theirs stays as it is, and we have our number all the same.
somebody_counts() ->
    1 = erlang:trace_pattern({?MODULE, do_f, 1}, true, [call_count]),
    [do_f(I) || I <- lists:seq(1, 5)],
    H = open(?ALL " { @[probefunc] = count(); }", "1"),
    ?assertEqual(case has_sessions() of
                     true -> [{counted, 6}];
                     false -> [{counted, 5}, {counted_by_others, 1}]
                 end, about(H)),
    [do_f(I) || I <- lists:seq(1, 7)],
    ?assertMatch([{_, count, [<<"do_f/1">>], 7} | _], aggs(H)),
    ok = erltrace:close(H),
    ?assertEqual({call_count, 12}, erlang:trace_info({?MODULE, do_f, 1}, call_count)),
    erlang:trace_pattern({?MODULE, do_f, 1}, false, [call_count]),
    clean().

two_handles() ->
    A = open(?ALL " { @[probefunc] = count(); }", "1"),
    do_f(1),
    B = open(?ALL " { @[probefunc] = count(); }", "1"),
    do_f(1),
    ?assertMatch([{_, count, [<<"do_f/1">>], 2}], aggs(A)),
    ?assertMatch([{_, count, [<<"do_f/1">>], 1}], aggs(B)),
    ok = erltrace:close(A),
    do_f(1),
    ?assertMatch([{_, count, [<<"do_f/1">>], 2}], aggs(B)),
    ok = erltrace:close(B),
    %% the second had nothing to count, and yet an entry that nobody took back
    ?assertEqual(none, erltrace_nif:kept(counters, none)),
    clean().

%% Another handle's [global] pattern does not go together with a counter, in one session.
global() ->
    A = open(?ALL " { @[probefunc] = count(); }", "1"),
    do_f(1),
    B = open("erlang*:counters_tests:do_f:global-function-entry { @[probefunc] = count(); }", "1"),
    ?MODULE:do_f(1),
    ?assertMatch([{_, count, [<<"do_f/1">>], 2}], aggs(A)),
    ?assertMatch([{_, count, [<<"do_f/1">>], 1}], aggs(B)),
    ok = erltrace:close(A),
    ?assertEqual([global], session_tests:pattern({?MODULE, do_f, 1})),
    do_f(1),
    ?MODULE:do_f(1),
    ?assertMatch([{_, count, [<<"do_f/1">>], 2}], aggs(B)),
    C = open(?ALL " { @[probefunc] = count(); }", "1"),
    do_f(1),
    ?assertMatch([{_, count, [<<"do_f/1">>], 1}], aggs(C)),
    [ok = erltrace:close(H) || H <- [B, C]],
    clean().

%% One counter is taken away: that is told, and what comes is seen again.
taken_away() ->
    case has_sessions() of
        true -> ok; % nobody can
        false ->
            H = open(?ALL " { @[probefunc] = count(); }", "1"),
            work(1),
            [{_, count, [<<"do_f/1">>], 8} | _] = Rest = aggs(H),
            erlang:trace_pattern({?MODULE, do_f, 1}, false, [call_count]),
            _ = aggs(H), % finds it
            ok = erltrace_handle:call(H, rearm),
            work(1),
            ?assertEqual([{N, F, K, V * 2} || {N, F, K, V} <- Rest], aggs(H)),
            {ok, Items} = erltrace:consume(H),
            ?assertMatch([{warning, "module counters_tests was loaded again, or" ++ _}], Items),
            ok = erltrace:close(H),
            clean()
    end.

%% Begun anew by somebody: told.
begun_anew() ->
    case has_sessions() of
        true -> ok;
        false ->
            H = open(?ALL " { @[probefunc] = count(); }", "1"),
            work(2),
            _ = aggs(H),
            erlang:trace_pattern({?MODULE, do_f, 1}, true, [call_count]),
            do_f(1),
            ?assertMatch([{_, count, [<<"do_f/1">>], 17} | _], aggs(H)),
            {ok, [{warning, "somebody else has begun to count" ++ _}]} = erltrace:consume(H),
            ok = erltrace:close(H),
            clean()
    end.

%% ---- ends ------------------------------------------------------------------------------------

%% The handle's process is killed, or its owner: the VM counts nothing for nobody.
killed_test_() ->
    [fun() -> killed(Who) end || Who <- [handle, owner]].

killed(Who) ->
    Me = self(),
    Owner = spawn(fun() -> Me ! {h, open(?ALL " { @ = count(); }", "1")},
                           receive stop -> ok end end),
    H = receive {h, Pid} -> Pid end,
    ?assertEqual(1, length([N || N <- counter({?MODULE, do_f, 1}), is_integer(N)])),
    exit(case Who of handle -> H; owner -> Owner end, kill),
    gone(H),
    (fun Wait() ->
             case counter({?MODULE, do_f, 1}) of
                 [false] -> ok;
                 _ -> receive after 5 -> Wait() end
             end
     end)(),
    Owner ! stop,
    clean().

%% ---- code that changes -----------------------------------------------------------------------

load(Module, Functions) ->
    Forms = [{attribute, 1, module, Module},
             {attribute, 1, export, [{F, 1} || F <- Functions]} |
             [{function, 1, F, 1, [{clause, 1, [{var, 1, 'X'}], [], [{var, 1, 'X'}]}]}
              || F <- Functions]],
    {ok, Module, Code} = compile:forms(Forms, [no_ssa_opt, no_copt, no_postopt]),
    code:purge(Module),
    {module, Module} = code:load_binary(Module, "made", Code).

%% Loaded again: counted on, with the functions that came; loaded for the first time: counted.
reload() ->
    M = counters_made,
    N = counters_new,
    load(M, [a]),
    H = open("erlang*:counters_made:[ab]:function-entry, erlang*:counters_new:a:function-entry"
             " { @[probemod, probefunc] = count(); }", "1"),
    ?assertEqual(1, counted(H)),
    [M:a(1) || _ <- lists:seq(1, 7)],
    ?assertMatch([{_, count, _, 7}], aggs(H)),
    load(M, [a, b]),
    load(N, [a]),
    ok = erltrace_handle:call(H, rearm),
    ?assertEqual(3, counted(H)),
    [begin M:a(1), M:b(1), N:a(1) end || _ <- lists:seq(1, 5)],
    Got = [{K, V} || {_, count, K, V} <- aggs(H)],
    ?assertEqual([{[<<"counters_made">>, <<"a/1">>], 12}, {[<<"counters_made">>, <<"b/1">>], 5},
                  {[<<"counters_new">>, <<"a/1">>], 5}], Got),
    {ok, [{warning, "module counters_made was loaded again" ++ _}]} = erltrace:consume(H),
    code:purge(M),
    code:delete(M), % no function of it is left
    ok = erltrace_handle:call(H, rearm),
    ?assertEqual(1, counted(H)),
    ?assertEqual(Got, [{K, V} || {_, count, K, V} <- aggs(H)]),
    ok = erltrace:close(H),
    [begin code:purge(X), code:delete(X), code:purge(X) end || X <- [M, N]].

%% Many, with a module of which one function is not meant, and one more than can be read.
many() ->
    Ms = [list_to_atom("counters_many" ++ integer_to_list(I)) || I <- lists:seq(1, 25)],
    Fs = [list_to_atom("f" ++ integer_to_list(I)) || I <- lists:seq(1, 18)],
    [load(M, Fs) || M <- Ms],
    All = [{M, F, A} || M <- Ms, {F, A} <- erlang:get_module_info(M, functions)],
    ?assertEqual(500, length(All)),
    Script = "erlang*:counters_many*::function-entry { @[probemod, probefunc] = count(); }",
    H = open(Script, "1"),
    ?assertEqual([{counted, 500}], about(H)),
    [begin M:f1(1), M:f2(1), M:f2(1) end || M <- Ms],
    Got = [{K, V} || {_, count, K, V} <- aggs(H)],
    ?assertEqual(lists:sort([{[atom_to_binary(M), <<"f", F, "/1">>], F - $0} || M <- Ms, F <- "12"]), Got),
    ok = erltrace:close(H),
    ?assertEqual([], [F || F <- All, counter(F) =/= [false]]),
    H1 = open("erlang*:counters_many*:f*:function-entry { @ = count(); }", "1"),
    ?assertEqual([{counted, 450}], about(H1)),
    ?assertEqual([], [F || {_, N, _} = F <- All, (N =:= module_info) =/= (counter(F) =:= [false])]),
    ok = erltrace:close(H1),
    ?assertEqual([], [F || F <- All, counter(F) =/= [false]]),
    load(counters_many26, [f1]),
    ok = application:set_env(erltrace, counters_most, 502),
    H2 = open(Script, "1"),
    ok = application:unset_env(erltrace, counters_most),
    ?assertEqual([{too_many, 503}], about(H2)),
    [M:f1(1) || M <- [counters_many26 | Ms]],
    ?assertEqual(26, length(aggs(H2))),
    ok = erltrace:close(H2),
    [begin code:purge(X), code:delete(X), code:purge(X) end || X <- [counters_many26 | Ms]].

%% A function that has to be traced comes when no process is: from then on they are.
traced_later() ->
    M = counters_made,
    load(M, [a]),
    H = open("erlang*:counters_made:a:function-entry, erlang*:counters_new:a:function-entry"
             " { @[probemod, probefunc] = count(); }", "1"),
    ?assertEqual([], session_tests:flags(new_processes)),
    code:purge(M),
    load(counters_new, [a]),
    1 = erlang:trace_pattern({counters_new, a, 1}, true, [call_count]),
    ok = erltrace_handle:call(H, rearm),
    [begin M:a(1), counters_new:a(1) end || _ <- lists:seq(1, 5)],
    ?assertMatch([{_, count, _, 5}, {_, count, _, 5}], aggs(H)),
    ?assertEqual(has_sessions(), [] =:= session_tests:flags(new_processes)),
    ok = erltrace:close(H),
    ?assertEqual([], session_tests:flags(new_processes)),
    [begin code:purge(X), code:delete(X), code:purge(X) end || X <- [M, counters_new]],
    clean().
