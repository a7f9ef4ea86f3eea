%% SPDX-License-Identifier: Apache-2.0
%% Thousands of functions: exactly those are armed that the script's descriptions name, whichever
%% way they are set, and none afterwards. The modules are made here.
-module(arming_tests).
-include_lib("eunit/include/eunit.hrl").

-define(MODULES, 50).
-define(FUNCTIONS, 100). % in each, with module_info/0 and /1

modules() ->
    [list_to_atom("arming_m" ++ integer_to_list(I)) || I <- lists:seq(1, ?MODULES)].

%% f1/1, f2/1 .., the last of them not exported; g/1 and g/2.
make(Module) ->
    Names = [list_to_atom("f" ++ integer_to_list(I)) || I <- lists:seq(1, ?FUNCTIONS - 4)],
    Call = {call, 1, {atom, 1, lists:last(Names)}, [{var, 1, 'X'}]},
    Body = fun(N) -> case N =:= lists:last(Names) of true -> {var, 1, 'X'}; false -> Call end end,
    Forms = [{attribute, 1, module, Module},
             {attribute, 1, export, [{g, 1}, {g, 2} | [{N, 1} || N <- lists:droplast(Names)]]},
             {function, 1, g, 1, [{clause, 1, [{var, 1, 'X'}], [], [{var, 1, 'X'}]}]},
             {function, 1, g, 2, [{clause, 1, [{var, 1, 'X'}, {var, 1, '_'}], [], [{var, 1, 'X'}]}]} |
             [{function, 1, N, 1, [{clause, 1, [{var, 1, 'X'}], [], [Body(N)]}]} || N <- Names]],
    {ok, Module, Code} = compile:forms(Forms, [no_ssa_opt, no_copt]),
    {module, Module} = code:load_binary(Module, "made", Code).

gone(Module) ->
    code:purge(Module),
    code:delete(Module),
    code:purge(Module).

arming_test_() ->
    {timeout, 120,
     {setup, fun() -> [make(M) || M <- modules()] end,
      fun(_) -> [gone(M) || M <- modules()] end,
      [{timeout, 120, fun all/0}, {timeout, 120, fun whole_node/0},
       {timeout, 120, fun most/0}, {timeout, 120, fun few/0},
       {timeout, 120, fun names/0}, {timeout, 120, fun global/0}, {timeout, 120, fun kinds/0},
       {timeout, 120, fun two_handles/0}, {timeout, 120, fun others_pattern_stays/0},
       {timeout, 120, fun half/0}, {timeout, 120, fun owner_gone_before/0},
       {timeout, 120, fun owner_killed_while_arming/0}]}}.

functions() ->
    [{M, F, A} || M <- modules(), {F, A} <- erlang:get_module_info(M, functions)].

%% By patterns: without the option the VM would count these (counters_tests).
open(Script) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "counters", "0"),
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    H.

%% What is armed, of these modules and of two others.
armed() ->
    armed(functions() ++ [{lists, seq, 2}, {erltrace_nif, trace, 5}]).

armed(Functions) ->
    Infos = [fun(F) -> session_tests:info(S, F, traced) end || S <- session_tests:sessions()] ++
        [fun(F) -> erlang:trace_info(F, traced) end],
    lists:usort([{F, P} || F <- Functions, Info <- Infos, {traced, P} <- [Info(F)],
                           P =:= local orelse P =:= global]).

wanted(Kind, Is) ->
    lists:sort([{F, Kind} || F <- functions(), Is(F)]).

check(Script, Wanted) ->
    H = open(Script),
    Armed = armed(),
    ok = erltrace:close(H),
    ?assertEqual(length(Wanted), length(Armed)),
    ?assertEqual(Wanted, Armed),
    ?assertEqual([], armed()).

is_f({_, F, _}) -> hd(atom_to_list(F)) =:= $f.

all() ->
    H = open("erlang*:arming_m*::function-entry { @[probemod, probefunc] = count(); }"),
    Armed = armed(),
    {P, Mon} = spawn_monitor(fun() -> [M:f1(1) || M <- modules()] end),
    receive {'DOWN', Mon, process, P, normal} -> ok end,
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual(?MODULES * ?FUNCTIONS, length(Armed)),
    ?assertEqual(wanted(local, fun(_) -> true end), Armed),
    ?assertEqual(lists:sort([{[atom_to_binary(M), F], 1} ||
                                M <- modules(), F <- [<<"f1/1">>, <<"f96/1">>]]),
                 lists:sort([{Ks, V} || {_, _, Ks, V} <- Aggs])),
    ?assertEqual([], armed()).

%% Most modules of the node: none of the others.
whole_node() ->
    All = [{M, F, A} || M <- erlang:loaded(), {F, A} <- erlang:get_module_info(M, functions)],
    H = open("erlang*:[!e]*::function-entry { @ = count(); }"),
    Armed = armed(All),
    ok = erltrace:close(H),
    Others = [M || M <- erlang:loaded(), hd(atom_to_list(M)) =:= $e],
    ?assertEqual([], [F || {{M, _, _} = F, _} <- Armed, lists:member(M, Others)]),
    ?assertEqual([], [F || {M, _, _} = F <- All, not lists:member(M, Others)] --
                     [F || {F, local} <- Armed]),
    ?assertEqual([], armed(All)).

%% All but a few: these are not armed.
most() ->
    check("erlang*:arming_m*:f*:function-entry { @ = count(); }", wanted(local, fun is_f/1)).

few() ->
    check("erlang*:arming_m*:f7:function-entry { @ = count(); }",
          wanted(local, fun({_, F, _}) -> F =:= f7 end)).

%% Half of each: a call each.
half() ->
    check("erlang*:arming_m*:f[1-4]*:function-entry { @ = count(); }", wanted(local, fun is_half/1)).

is_half({_, F, _} = MFA) -> is_f(MFA) andalso lists:member(lists:nth(2, atom_to_list(F)), "1234").

%% Nobody waits for it: what takes many seconds is not done to its end.
owner_gone_before() ->
    {Owner, Mon} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Mon, process, Owner, normal} -> ok end,
    Needs = [call, arity | [{local, M, F, A} || {M, F, A} <- functions()]],
    ?assertEqual(gone, erltrace_vm:arm(1000000, Needs, Owner)),
    ok = erltrace_vm:forget(1000000),
    ?assertEqual([], armed()).

owner_killed_while_arming() ->
    Me = self(),
    {Owner, OwnerMon} =
        spawn_monitor(fun() ->
                              {ok, H} = erltrace:open(),
                              ok = erltrace:compile(H, "erlang*:arming_m*:f[1-4]*:function-entry "
                                                    "{ @[erlpid] = count(); }"),
                              Me ! {handle, H},
                              erltrace:go(H),
                              receive never -> ok end
                      end),
    Handle = receive {handle, Pid} -> Pid end,
    Mon = erlang:monitor(process, Handle),
    some_armed(),
    exit(Owner, kill),
    receive {'DOWN', OwnerMon, process, Owner, killed} -> ok end,
    receive {'DOWN', Mon, process, Handle, _} -> ok end,
    ?assertEqual([], armed()).

some_armed() ->
    case armed() of
        [] -> some_armed();
        _ -> ok
    end.

%% One of several with the same name, and all of them.
names() ->
    check("erlang*:arming_m*:g:function-entry { @ = count(); }",
          wanted(local, fun({_, F, _}) -> F =:= g end)),
    check("erlang*:arming_m*:g/1:function-entry { @ = count(); }",
          wanted(local, fun({_, F, A}) -> F =:= g andalso A =:= 1 end)).

%% Calls from elsewhere: only what is exported can have them.
global() ->
    check("erlang*:arming_m*:f*:global-function-entry { @ = count(); }",
          wanted(global, fun({_, F, _} = MFA) -> is_f(MFA) andalso F =/= f96 end)).

%% Most by [global], some by [local].
kinds() ->
    check("erlang*:arming_m*:f*:global-function-entry { @ = count(); }"
          "erlang*:arming_m*:f2*:function-return { @ = count(); }",
          lists:sort([{F, case lists:prefix("f2", atom_to_list(N)) of
                              true -> local;
                              false -> global
                          end} || {_, N, _} = F <- functions(), is_f(F), N =/= f96])),
    check("erlang*:arming_m*:f*:function-exception { @ = count(); }", wanted(local, fun is_f/1)).

%% What one has stays when the other comes, and when it goes.
two_handles() ->
    H1 = open("erlang*:arming_m*:f1*:function-return { @[erlret] = count(); }"),
    First = armed(),
    H2 = open("erlang*:arming_m*:f*:function-entry { @ = count(); }"),
    Both = lists:usort([F || {F, _} <- armed()]),
    ok = erltrace:close(H2),
    Left = armed(),
    ok = erltrace:close(H1),
    ?assertEqual(wanted(local, fun({_, F, _}) -> lists:prefix("f1", atom_to_list(F)) end), First),
    ?assertEqual(First, Left),
    ?assertEqual([F || {F, _} <- wanted(local, fun is_f/1)], Both),
    ?assertEqual([], armed()).

%% Before OTP 27 there is one pattern: somebody else's is neither changed nor taken back.
others_pattern_stays() ->
    Theirs = {arming_m3, module_info, 0},
    Spec = [{'_', [], [{message, theirs}]}],
    1 = erlang:trace_pattern(Theirs, Spec, [local]),
    H = open("erlang*:arming_m*:f*:function-entry { @ = count(); }"),
    During = erlang:trace_info(Theirs, match_spec),
    ok = erltrace:close(H),
    After = erlang:trace_info(Theirs, match_spec),
    1 = erlang:trace_pattern(Theirs, false, [local]),
    ?assertEqual({{match_spec, Spec}, {match_spec, Spec}}, {During, After}),
    ?assertEqual([], armed()).

%% To ask a deleted module for its functions would load it again, where it is in the code path.
deleted_module_is_not_loaded_test() ->
    Dir = filename:join("/tmp", "arming_tests." ++ os:getpid()),
    Forms = [{attribute, 1, module, arming_gone}, {attribute, 1, export, [{f, 0}, {g, 0}]} |
             [{function, 1, F, 0, [{clause, 1, [], [], [{integer, 1, 1}]}]} || F <- [f, g]]],
    {ok, arming_gone, Code} = compile:forms(Forms, []),
    File = filename:join(Dir, "arming_gone.beam"),
    ok = filelib:ensure_dir(File),
    ok = file:write_file(File, Code),
    true = code:add_patha(Dir),
    try
        {module, arming_gone} = code:load_file(arming_gone),
        H = open("erlang*:arming_gone::function-entry { @ = count(); }"),
        gone(arming_gone),
        ok = erltrace:close(H),
        ?assertNot(erlang:module_loaded(arming_gone))
    after
        code:del_path(Dir),
        gone(arming_gone),
        file:delete(File),
        file:del_dir(Dir)
    end.
