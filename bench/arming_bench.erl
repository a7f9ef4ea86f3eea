%% SPDX-License-Identifier: Apache-2.0
%% How long it takes to compile, arm and disarm a script for very many functions: `make
%% bench-arming', MODULES=1000 of 100 functions. Wall time and the VM's CPU time.
-module(arming_bench).
-export([main/1, make_modules/1]).

main([N]) ->
    make_modules(list_to_integer(N)),
    io:format("~-46s ~-8s ~9s ~9s~n", ["script", "step", "wall ms", "cpu ms"]),
    [script(S) || S <- ["erlang*:bench_m*::function-entry { @ = count(); }",
                        "erlang*:bench_m*:f*:function-entry { @ = count(); }",
                        "erlang*:bench_m*:f7:function-entry { @ = count(); }",
                        "erlang*:bench_m1*:f[1-4]*:function-entry { @ = count(); }", % a call each
                        "erlang*:::function-entry { @ = count(); }"]],
    step("", "list", fun() -> _ = erltrace:probes("erlang*:bench_m*::"), ok end).

script(Script) ->
    {ok, H} = erltrace:open(),
    step(Script, "compile", fun() -> erltrace:compile(H, Script) end),
    step("", "go", fun() -> erltrace:go(H) end),
    step("", "stop", fun() -> erltrace:stop(H) end),
    step("", "close", fun() -> erltrace:close(H) end).

step(Script, Name, Fun) ->
    {Cpu0, _} = statistics(runtime),
    {Us, ok} = timer:tc(Fun),
    {Cpu1, _} = statistics(runtime),
    io:format("~-46s ~-8s ~9b ~9b~n", [string:slice(Script, 0, 46), Name, Us div 1000, Cpu1 - Cpu0]).

%% bench_m1 and so on, of a hundred functions each, with the two that the compiler adds.
-spec make_modules(pos_integer()) -> term().
make_modules(N) -> [make(I) || I <- lists:seq(1, N)].

make(I) ->
    Module = list_to_atom("bench_m" ++ integer_to_list(I)),
    Names = [list_to_atom("f" ++ integer_to_list(J)) || J <- lists:seq(1, 98)],
    X = {var, 1, 'X'},
    Forms = [{attribute, 1, module, Module}, {attribute, 1, export, [{F, 1} || F <- Names]} |
             [{function, 1, F, 1, [{clause, 1, [X], [], [X]}]} || F <- Names]],
    {ok, Module, Code} = compile:forms(Forms, [no_ssa_opt, no_copt, no_postopt]),
    {module, Module} = code:load_binary(Module, "made", Code).
