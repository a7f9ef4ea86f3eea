%% SPDX-License-Identifier: Apache-2.0
%% Runs one Erlang test module and ends with a line "N passed, N failed": an EUnit module
%% (*_tests), a Common Test suite (*_SUITE) or a module of PropEr properties (prop_*). Called by
%% tools/run-tests.sh: erl -s erl_run main MODULE LOGDIR.
-module(erl_run).
-export([main/1]).
-export([start/1, terminate/2, init/1, handle_begin/3, handle_end/3, handle_cancel/3]).

-spec main([atom()]) -> no_return().
main([Module, Dir]) ->
    {Passed, Failed} = try why_not(Module) of
                           none -> all(Module, Dir);
                           Why -> io:format("skipped: ~ts~n", [Why]), {0, 0}
                       catch
                           C:R:St -> io:format("~p~n", [{C, R, St}]), {0, 1}
                       end,
    io:format("~b passed, ~b failed~n", [Passed, Failed]),
    halt(case Failed of 0 -> 0; _ -> 1 end).

%% A module that cannot be run everywhere says so itself: none, or the reason.
why_not(Module) ->
    {module, Module} = code:ensure_loaded(Module),
    case erlang:function_exported(Module, why_not, 0) of
        true -> Module:why_not();
        false -> none
    end.

all(Module, Dir) ->
    case run(kind(atom_to_list(Module)), Module, atom_to_list(Dir)) of
        {0, 0} -> io:format("no tests in ~s~n", [Module]), {0, 1};
        Counts -> Counts
    end.

kind("prop_" ++ _) -> proper;
kind(Name) ->
    case lists:suffix("_SUITE", Name) of
        true -> common_test;
        false -> eunit
    end.

run(eunit, Module, _) ->
    _ = eunit:test({"module '" ++ atom_to_list(Module) ++ "'", tests(Module)},
                   [verbose, {report, {?MODULE, self()}}]),
    receive {eunit, Passed, Failed} -> {Passed, Failed} after 60000 -> {0, 1} end;
run(common_test, Suite, Dir) ->
    Logs = filename:join(Dir, "ct"),
    ok = filelib:ensure_dir(filename:join(Logs, "x")),
    case ct:run_test([{dir, filename:dirname(code:which(Suite))}, {suite, Suite}, {logdir, Logs},
                      {auto_compile, false}, {abort_if_missing_suites, true}]) of
        {Passed, Failed, {Skipped, NotRun}} ->
            Skipped > 0 andalso io:format("~b skipped~n", [Skipped]),
            Failed + NotRun > 0 andalso io:format("see ~s/index.html~n", [Logs]),
            {Passed, Failed + NotRun};
        Other ->
            io:format("~p~n", [Other]),
            {0, 1}
    end;
run(proper, Module, _) ->
    Results = [property(Module, F) || {F, 0} <- Module:module_info(exports),
                                      lists:prefix("prop_", atom_to_list(F))],
    {length([x || true <- Results]), length([x || false <- Results])}.

%% EUnit's five seconds for a test that names no time of its own are not enough on a machine that is
%% busy with other things; nor are some of those that tests name.
-define(PATIENCE, 120).

tests(Module) ->
    lists:append([test(Module, F, atom_to_list(F)) || {F, 0} <- Module:module_info(exports)]).

test(Module, F, Name) ->
    case {lists:suffix("_test", Name), lists:suffix("_test_", Name)} of
        {true, _} -> [{timeout, ?PATIENCE, {Module, F}}];
        {_, true} -> [{generator, fun() -> patient(Module:F()) end}];
        _ -> []
    end.

patient(Tests) when is_list(Tests) -> [patient(T) || T <- Tests];
patient(Test) when is_function(Test, 0) -> {timeout, ?PATIENCE, Test};
patient({timeout, N, Test}) when is_function(Test, 0) -> {timeout, max(N, ?PATIENCE), Test};
patient({timeout, _, Tests}) -> patient(Tests); % a group has all the time there is
patient({Line, Test}) when is_integer(Line) -> {timeout, ?PATIENCE, {Line, Test}};
patient({Title, Test}) when is_list(Title); is_binary(Title) -> {Title, patient(Test)};
patient({setup, Setup, Tests}) -> {setup, Setup, given(Tests)};
patient({setup, Setup, Cleanup, Tests}) -> {setup, Setup, Cleanup, given(Tests)};
patient(Other) -> Other.

%% What a setup has made is given to a function that makes tests of it.
given(Test) when is_function(Test, 1) -> fun(X) -> patient(Test(X)) end;
given(Test) -> patient(Test).

%% A counterexample is printed by PropEr: it is the seed to begin with.
property(Module, F) ->
    io:format("~s:~s~n", [Module, F]),
    apply(proper, quickcheck, [Module:F(), [{numtests, how_many()}, nocolors]]) =:= true.

how_many() ->
    case os:getenv("PROP_TESTS") of
        false -> 300;
        N -> list_to_integer(N)
    end.

%% ---- a listener of EUnit's, for the counts ---------------------------------------------------

start(To) -> eunit_listener:start(?MODULE, [{to, To}]).
init(Options) -> proplists:get_value(to, Options).
handle_begin(_, _, St) -> St.
handle_end(_, _, St) -> St.
handle_cancel(_, _, St) -> St.

%% What is cancelled (a setup that failed, a test that took too long) has failed.
terminate({ok, Data}, To) ->
    Count = fun(K) -> proplists:get_value(K, Data, 0) end,
    To ! {eunit, Count(pass), Count(fail) + Count(cancel)};
terminate({error, Reason}, To) ->
    io:format("~p~n", [Reason]),
    To ! {eunit, 0, 1}.
