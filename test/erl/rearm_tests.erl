%% SPDX-License-Identifier: Apache-2.0
%% Functions of modules that are loaded, or loaded again, while a script runs; names that need
%% quotes. The modules are made here.
-module(rearm_tests).
-include_lib("eunit/include/eunit.hrl").

%% A module whose f/1 gives Result, with g/1 besides if there is one to give.
make(Module, Functions) ->
    Forms = [{attribute, 1, module, Module},
             {attribute, 1, export, [{F, 1} || {F, _} <- Functions]} |
             [{function, 1, F, 1, [{clause, 1, [{var, 1, '_'}], [], [Body]}]}
              || {F, Body} <- Functions]],
    {ok, Module, Code} = compile:forms(Forms, []),
    Code.

int(N) -> {integer, 1, N}.

load(Module, Functions) ->
    {module, Module} = code:load_binary(Module, "made", make(Module, Functions)).

gone(Module) ->
    code:purge(Module),
    code:delete(Module),
    code:purge(Module).

open(Script) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "zdefs", ""),
    ok = erltrace:setopt(H, "counters", "0"), % those of the VM: counters_tests
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    H.

counts(H) ->
    {ok, Aggs} = erltrace:aggregations(H),
    lists:sort([{[case K of _ when is_binary(K) -> binary_to_list(K); _ -> K end || K <- Ks], V}
                || {_, _, Ks, V} <- Aggs]).

call(M, F, N) ->
    {P, Mon} = spawn_monitor(fun() -> [M:F(I) || I <- lists:seq(1, N)] end),
    receive {'DOWN', Mon, process, P, normal} -> ok end.

%% Nothing matches when it starts; then the module comes, by itself as soon as it is seen.
load_later_test() ->
    gone(late_one),
    H = open("erlang*:late_one:f:function-entry { @[probemod, probefunc, probename] = count(); }"
             "erlang*:late_*:f:function-return { @r[probemod, copyinstr(arg1)] = count(); }"),
    load(late_one, [{f, int(1)}, {g, int(2)}]),
    armed(H),
    call(late_one, f, 10),
    call(late_one, g, 10),
    load(late_two, [{f, int(1)}]),
    armed(H),
    call(late_two, f, 5),
    Got = counts(H),
    ok = erltrace:close(H),
    gone(late_one),
    gone(late_two),
    ?assertEqual([{["late_one", "f/1", "function-entry"], 10}, {["late_one", "late_one:f/1"], 10},
                  {["late_two", "late_two:f/1"], 5}], Got).

armed(H) -> ok = erltrace_handle:call(H, rearm).

%% Without being asked to rearm.
load_later_by_itself_test() ->
    gone(late_one),
    H = open("erlang*:late_one:f:function-entry { @ = count(); }"),
    load(late_one, [{f, int(1)}]),
    (fun Wait() ->
             call(late_one, f, 1),
             case counts(H) of
                 [] -> receive after 10 -> Wait() end;
                 [{[], N}] -> ?assert(N >= 1)
             end
     end)(),
    ok = erltrace:close(H),
    ?assertNot(is_traced({late_one, f, 1})),
    gone(late_one).

is_traced(MFA) -> {traced, false} =/= erlang:trace_info(MFA, traced).

%% Loaded again, the same and changed: tracing goes on, with the functions that came.
reload_test() ->
    load(late_one, [{f, int(1)}]),
    H = open("erlang*:late_one::function-entry { @[probefunc] = count(); }"),
    call(late_one, f, 7),
    code:purge(late_one),
    load(late_one, [{f, int(1)}]),
    armed(H),
    call(late_one, f, 7),
    code:purge(late_one),
    load(late_one, [{f, int(3)}, {g, int(4)}]),
    armed(H),
    call(late_one, f, 7),
    call(late_one, g, 3),
    gone(late_one),
    armed(H),
    load(late_one, [{h, int(4)}]),
    armed(H),
    call(late_one, h, 2),
    Got = [C || {[F], _} = C <- counts(H), F =/= "module_info/1", F =/= "module_info/0"],
    ok = erltrace:close(H),
    gone(late_one),
    ?assertEqual([{["f/1"], 21}, {["g/1"], 3}, {["h/1"], 2}], Got).

%% Loaded again and again, also while it is being armed: when that ends it is armed.
restless_test_() ->
    [{atom_to_list(Way), {timeout, 60, fun() -> restless(atom_to_list(Way)) end}}
     || Way <- calls_mix_tests:ways()].

restless(Way) ->
    Code = make(late_one, [{f, int(1)}, {g, int(2)}]),
    {module, late_one} = code:load_binary(late_one, "made", Code),
    H = open("#pragma D option calls=" ++ Way ++ "\n"
             "erlang*:late_one:[fg]:function-entry { @[probefunc] = count(); }"),
    {P, M} = spawn_monitor(fun() -> load_until_stop(late_one, Code) end),
    [armed(H) || _ <- lists:seq(1, 30)],
    P ! stop,
    receive {'DOWN', M, process, P, normal} -> ok end,
    armed(H), % if it was loaded again during the last one
    armed(H),
    Before = counts(H),
    call(late_one, f, 7),
    call(late_one, g, 3),
    After = counts(H),
    ok = erltrace:close(H),
    gone(late_one),
    Of = fun(F, Counts) -> proplists:get_value([F], Counts, 0) end,
    ?assertEqual({7, 3}, {Of("f/1", After) - Of("f/1", Before), Of("g/1", After) - Of("g/1", Before)}).

load_until_stop(Module, Code) ->
    code:purge(Module),
    {module, Module} = code:load_binary(Module, "made", Code),
    receive stop -> ok after 0 -> load_until_stop(Module, Code) end.

%% Exceptions of a module that comes later.
exceptions_test() ->
    gone(late_one),
    H = open("erlang*:late_one:f:function-entry { @[probename] = count(); }"
             "erlang*:late_one:f:function-exception { @[erlclass] = count(); }"),
    load(late_one, [{f, {call, 1, {atom, 1, throw}, [int(1)]}}]),
    armed(H),
    {P, Mon} = spawn_monitor(fun() -> [catch late_one:f(I) || I <- lists:seq(1, 10)] end),
    receive {'DOWN', Mon, process, P, normal} -> ok end,
    Got = counts(H),
    ok = erltrace:close(H),
    gone(late_one),
    ?assertEqual([{["function-entry"], 10}, {["throw"], 10}], Got).

%% Two scripts have the same function of a module that comes later, one of them by [global].
shared_test() ->
    gone(late_one),
    A = open("erlang*:late_one:f:global-function-entry { @ = count(); }"),
    B = open("erlang*:late_one:f:function-entry { @ = count(); }"),
    load(late_one, [{f, int(1)}]),
    armed(A),
    armed(B),
    call(late_one, f, 4),
    ?assertEqual([{[], 4}], counts(B)),
    ok = erltrace:close(B),
    call(late_one, f, 4),
    ?assertEqual([{[], 8}], counts(A)),
    ok = erltrace:close(A),
    ?assertNot(is_traced({late_one, f, 1})),
    ?assertEqual(undefined, application:get_env(erltrace, armed)),
    gone(late_one).

%% Many functions come while events look up those there are.
many_test_() ->
    {timeout, 60, fun many/0}.

many() ->
    gone(late_many),
    load(late_one, [{f, int(1)}]),
    H = open("erlang*:late_*:f*:function-entry { @[probemod] = count(); }"),
    Busy = spawn_monitor(fun() -> [late_one:f(I) || I <- lists:seq(1, 50000)] end),
    Fs = [{list_to_atom("f" ++ integer_to_list(I)), int(I)} || I <- lists:seq(1, 500)],
    load(late_many, Fs),
    armed(H),
    [late_many:F(x) || {F, _} <- Fs],
    receive {'DOWN', _, process, P, R} when {P, x} =:= {element(1, Busy), x} -> normal = R end,
    Got = counts(H),
    ok = erltrace:close(H),
    gone(late_many),
    gone(late_one),
    ?assertEqual([{["late_many"], 500}, {["late_one"], 50000}], Got).

%% Without -Z it is an error that says how.
zero_test() ->
    gone(late_one),
    {error, {dtrace, <<"D_PDESC_ZERO">>, _, _, Text}} =
        erltrace:script("erlang*:late_one:f:function-entry { @ = count(); }"),
    ?assertNotEqual(nomatch, string:find(Text, "late_one is not loaded")),
    {error, {dtrace, <<"D_PDESC_ZERO">>, _, _, Text2}} =
        erltrace:script("erlang*:lists:no_such:function-entry { @ = count(); }"),
    ?assertEqual(nomatch, string:find(Text2, "not loaded")).

%% ---- names -----------------------------------------------------------------------------------

elixir_test() ->
    M = 'Elixir.Late.Server',
    load(M, [{f, int(1)}, {'valid?', int(1)}, {'-f/1-fun-0-', int(1)}, {'strange name!', int(2)}]),
    Got = [begin
               H = open([Desc, " { @[probemod, probefunc, copyinstr(arg1)] = count(); }"]),
               [call(M, F, 3) || F <- [f, 'valid?', '-f/1-fun-0-', 'strange name!']],
               C = counts(H),
               ok = erltrace:close(H),
               C
           end || Desc <- ["erlang*:Elixir.Late.Server:f:function-entry",
                           "erlang*:'Elixir.Late.Server':f/1:function-entry",
                           "erlang*:Elixir.Late.*:'valid?':function-entry",
                           "erlang*:Elixir.*:'-f/1-fun-0-':function-entry",
                           "erlang*:Elixir.*:-f*fun*:function-entry",
                           "erlang*:Elixir.*:'strange name!':function-entry"]],
    gone(M),
    Mod = "Elixir.Late.Server",
    F = {[Mod, "f/1", "'Elixir.Late.Server':f/1"], 3},
    Fun = {[Mod, "-f/1-fun-0-/1", "'Elixir.Late.Server':'-f/1-fun-0-'/1"], 3},
    ?assertEqual([[F], [F], [{[Mod, "valid?/1", "'Elixir.Late.Server':'valid?'/1"], 3}],
                  [Fun], [Fun],
                  [{[Mod, "strange name!/1", "'Elixir.Late.Server':'strange name!'/1"], 3}]], Got).
