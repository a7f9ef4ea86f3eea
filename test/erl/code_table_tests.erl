%% SPDX-License-Identifier: Apache-2.0
%% The table of loaded code, and stacks with lines: all functions are found, lines are those that the
%% VM itself gives, code that is loaded and purged meanwhile is never taken for other code, and what
%% is not as known is refused.
-module(code_table_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2, in_process/1]).

-define(HERE, "erlang*:stack_shapes:here:").

%% Without knowledge of the VM's internals there is no table.
code_table_test_() ->
    {setup, fun start/0, fun stop/1,
     fun({ok, _}) ->
             {inorder, tests()};
        ({{refused, Why}, _}) ->
             ?_assertEqual({false, <<"the setting vm_internals forbids it">>},
                           {application:get_env(erltrace, vm_internals, true), Why})
     end}.

-define(T(F), {timeout, 600, {??F, fun F/0}}).
tests() ->
    [?T(all_exports), ?T(shapes), ?T(shapes_are_the_vms), ?T(shapes_in_stack_traces),
     ?T(shapes_at_events), ?T(shapes_at_exceptions), ?T(return_values_between), ?T(functions_alone),
     ?T(depth_and_caller), ?T(loaded_again), ?T(deleted), ?T(loaded_while_it_runs), ?T(never_wrong),
     ?T(every_word), ?T(no_room), ?T(refused_by_the_check), ?T(tables_are_freed)].

start() ->
    {ok, _} = application:ensure_all_started(erltrace),
    {module, _} = code:ensure_loaded(stack_shapes),
    Depth = erlang:system_flag(backtrace_depth, 50),
    {erltrace_code:prepare(), Depth}.

stop({_, Depth}) ->
    erlang:system_flag(backtrace_depth, Depth).

%% ---- functions -------------------------------------------------------------------------------

%% Each export of each module leads to code that is its own, says the table.
all_exports() ->
    {_, _, 0, <<>>} = erltrace_code:refresh(),
    Exports = [{M, F, A} || M <- erlang:loaded(), {F, A} <- M:module_info(exports)],
    ?assert(length(Exports) > 1000),
    %% of code that was just loaded not all of the VM's three addresses have it
    ?assertEqual([], [{MFA, Got} || {M, F, A} = MFA <- Exports,
                                    Got <- [lists:usort([function(at(Address)) ||
                                                            Address <- addresses(M, F, A)])],
                                    Got -- [undefined] =/= [MFA]]),
    %% what lies in front of a function is none
    [First | _] = addresses(lists, map, 2),
    ?assertEqual([undefined], lists:usort([at(First - N) || N <- lists:seq(1, 40)])).

addresses(M, F, A) ->
    erltrace_nif:code_ask({entries, erlang:make_fun(M, F, A)}).

%% The one that the table knows.
address(M, F, A) ->
    hd([Address || Address <- addresses(M, F, A), at(Address) =/= undefined]).

at(Address) -> erltrace_nif:code_ask({at, Address, true}).

function({M, F, A, _, _}) -> {M, F, A};
function(Other) -> Other.

%% ---- lines -----------------------------------------------------------------------------------

own_stack() -> erltrace_nif:code_ask(stack).

%% As stack_shapes has them; from there down.
below_here(Frames) ->
    [_ | Below] = lists:dropwhile(fun(F) -> element(2, F) =/= here end, Frames),
    Below.

listed({M, F, A}) -> {M, F, A, "", 0};
listed({M, F, A, File, Line}) -> {M, F, A, binary_to_list(File), Line}.

shape(Shape, At) ->
    Me = self(),
    {_, normal} = in_process(fun() ->
                                     {ok, _} = stack_shapes:run(Shape, fun() -> Me ! {at, At()} end)
                             end),
    receive {at, Got} -> Got end.

shapes() ->
    [?assertEqual({Shape, true}, {Shape, stack_shapes:is_as_expected(Shape, Frames)}) ||
        Shape <- stack_shapes:shapes(),
        Frames <- [[listed(F) || F <- below_here(shape(Shape, fun own_stack/0))]]].

%% All frames down to the last: the VM shows a recursion once.
shapes_are_the_vms() ->
    [begin
         Vm = [{M, F, A, filename:basename(File), Line} ||
                  {M, F, A, File, Line} <-
                      below_here(shape(Shape, fun() -> stack_shapes:lines_at(self()) end))],
         Table = [listed(F) || F <- below_here(shape(Shape, fun own_stack/0))],
         ?assertEqual({Shape, Vm}, {Shape, once(Table)})
     end || Shape <- stack_shapes:shapes()].

once([F, F | Fs]) -> once([F | Fs]);
once([F | Fs]) -> [F | once(Fs)];
once([]) -> [].

%% The stack trace of an exception has the same lines.
shapes_in_stack_traces() ->
    [begin
         {_, {raised, St}} =
             in_process(fun() ->
                                try stack_shapes:run(Shape, fun() -> error(raised) end)
                                catch error:raised:St -> exit({raised, St})
                                end
                        end),
         Frames = [{M, F, A, proplists:get_value(file, W, ""), proplists:get_value(line, W, 0)} ||
                      {M, F, A, W} <- St],
         ?assertEqual({Shape, true},
                      {Shape, stack_shapes:is_as_expected(Shape, below_here(Frames))})
     end || Shape <- stack_shapes:shapes(), Shape =/= 'catch', Shape =/= 'try']. % caught there

%% ---- events ----------------------------------------------------------------------------------

%% Both ways to function probes, at entries and returns.
shapes_at_events() ->
    [events(Shape, Calls, Probe) || Calls <- ways(), Probe <- ["function-entry", "function-return"],
                                    Shape <- stack_shapes:shapes()].

ways() -> ["traced"] ++ ["fast" || erltrace_find:known(fast) =:= ok].

events(Shape, Calls, Probe) ->
    [[This | Stack]] = stacks(["#pragma D option calls=", Calls, "\n", ?HERE, Probe,
                               " { @[ustack()] = count(); }"],
                              fun() -> {ok, _} = stack_shapes:run(Shape, fun() -> ok end) end),
    ?assertEqual({Shape, Calls, Probe, "stack_shapes:here/1"}, {Shape, Calls, Probe, This}),
    ?assertEqual({Shape, Calls, Probe, true},
                 {Shape, Calls, Probe, stack_shapes:is_as_expected(Shape, [parse(F) || F <- Stack])}).

stacks(Script, Fun) ->
    Got = run(Script, fun() -> in_process(Fun) end),
    [lists:append([unfold(binary_to_list(iolist_to_binary(F))) || F <- Stack]) ||
        {{"_", [Stack]}, 1} <- maps:to_list(Got)].

%% A recursion, mod:fun/1 (file.erl:12) (x 3), is so many frames.
unfold(Frame) ->
    case re:run(Frame, "^(.*) \\(x ([0-9]+)\\)$", [{capture, all_but_first, list}]) of
        {match, [Once, Times]} -> lists:duplicate(list_to_integer(Times), Once);
        nomatch -> [Frame]
    end.

%% mod:fun/1 (file.erl:12)
parse(Text) ->
    {match, [M, F, A, File, Line]} =
        re:run(Text, "^(.*?):'?(.*?)'?/([0-9]+)(?: \\((.*):([0-9]+)\\))?$",
               [{capture, all_but_first, list}]),
    {list_to_atom(M), list_to_atom(F), list_to_integer(A), File, list_to_integer("0" ++ Line)}.

%% At the end of here/1 by an exception: who called it, not what it was in.
shapes_at_exceptions() ->
    [begin
         [[_ | Stack]] = stacks(["#pragma D option calls=", Calls, "\n", ?HERE,
                                 "function-exception { @[ustack()] = count(); }"],
                                fun() ->
                                        try stack_shapes:run(Shape, fun() -> error(no) end)
                                        catch error:no -> ok
                                        end
                                end),
         ?assertEqual({Shape, Calls, true},
                      {Shape, Calls, stack_shapes:is_as_expected(Shape, [parse(F) || F <- Stack])})
     end || Calls <- ways(), Shape <- [plain, recursion, tail_call, map, variables]].

%% Frames of return_trace, with the address of a function's name in them, are not shown.
return_values_between() ->
    Down = "erlang*:stack_shapes:",
    [begin
         [[_ | Stack]] = stacks(["#pragma D option calls=", Calls, "\n",
                                 Down, ":function-return { @r[probefunc, erlret] = count(); }",
                                 ?HERE, "function-entry { @[ustack()] = count(); }"],
                                fun() -> {ok, _} = stack_shapes:run(Shape, fun() -> ok end) end),
         ?assertEqual({Shape, Calls, true},
                      {Shape, Calls, stack_shapes:is_as_expected(Shape, [parse(F) || F <- Stack])}),
         ?assertEqual([], [F || F <- Stack, hd(F) =:= $0])
     end || Calls <- ways(), Shape <- [plain, recursion, mutual, tail_chain, map, binary]].

%% -x stacklines=off: keys are functions alone.
functions_alone() ->
    [Stack] = stacks(["#pragma D option stacklines=off\n", ?HERE,
                      "function-entry { @[ustack()] = count(); }"],
                     fun() -> {ok, _} = stack_shapes:run(mutual, fun() -> ok end) end),
    ?assertEqual(["stack_shapes:" ++ F || F <- ["here/1", "odd/2", "even/2", "odd/2", "even/2",
                                                "shape/2", "run/2"]],
                 lists:sublist(Stack, 7)).

%% Who called is a function, whatever the line.
depth_and_caller() ->
    Got = run([?HERE, "function-entry { @[ufunc(ucaller), ustackdepth] = count(); }"],
              fun() -> in_process(fun() ->
                                          {ok, _} = stack_shapes:run(plain, fun() -> ok end),
                                          {ok, _} = stack_shapes:run('catch', fun() -> ok end)
                                  end) end),
    ?assertMatch([{{"_", ["stack_shapes:shape/2", 4]}, 2}], maps:to_list(Got)).

%% ---- code that is loaded and purged ----------------------------------------------------------

-define(MOD, code_table_made).

%% A module whose lines and files are those of a version, and nothing else: its code is as large each
%% time, and takes the place of the one before the last.
make(Mod, Version) ->
    Line = 10 * Version,
    File = lists:flatten(io_lib:format("lib/made_~4..0b.ex", [Version])),
    Source = [{attribute, 1, file, {File, Line}}, {attribute, Line, module, Mod},
              {attribute, Line, export, [{run, 1}, {at, 1}]} |
              [parse_form(T, Line) || T <- ["run(F) -> R = at(F), {R}.", "at(F) -> R = F(), {R}."]]],
    {ok, Mod, Code} = compile:forms(Source, [binary]),
    {lists:last(filename:split(File)), Line, Code}.

parse_form(Text, Line) ->
    {ok, Tokens, _} = erl_scan:string(Text, Line),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

load(Mod, Code) ->
    code:purge(Mod),
    {module, Mod} = code:load_binary(Mod, "made", Code).

%% What there is of it on the stack.
made(Mod, Frames) -> [F || F <- Frames, is_tuple(F), element(1, F) =:= Mod].

expected(Mod, {File, Line, _}) ->
    [{Mod, F, 1, list_to_binary(File), Line} || F <- [at, run]].

%% In a process that stays in this version of the code, and says its stack when it is asked.
resident(Mod) ->
    Me = self(),
    spawn_link(fun() -> Mod:run(fun() -> resident_loop(Me) end) end).

resident_loop(Me) ->
    receive
        ask ->
            {current_stacktrace, Vm} = process_info(self(), current_stacktrace),
            Me ! {stack, self(), own_stack(), Vm},
            resident_loop(Me);
        stop -> ok
    end.

ask(Pid) ->
    Pid ! ask,
    receive {stack, Pid, Table, Vm} ->
            [?assertEqual(Line, proplists:get_value(line, W)) ||
                {{M, F, A, _, Line}, {M1, F1, A1, W}} <-
                    lists:zip(made(?MOD, Table), [V || V <- Vm, element(1, V) =:= ?MOD]),
                {M, F, A} =:= {M1, F1, A1}],
            made(?MOD, Table)
    end.

loaded_again() ->
    Versions = [V1, V2, V3] = [make(?MOD, V) || V <- [1, 2, 3]],
    [{_, _, Code1}, {_, _, Code2}, {_, _, Code3}] = Versions,
    load(?MOD, Code1),
    {_, _, 0, _} = erltrace_code:refresh(),
    Old = resident(?MOD),
    ?assertEqual(expected(?MOD, V1), ask(Old)),
    load(?MOD, Code2),
    New = resident(?MOD),
    _ = erltrace_code:refresh(),
    ?assertEqual({expected(?MOD, V1), expected(?MOD, V2)}, {ask(Old), ask(New)}),
    stop_resident(Old),
    load(?MOD, Code3), % in the place of the first, mostly
    Newest = resident(?MOD),
    %% before the table knows: not as the first one; its name may be known, its file is not
    ?assert(lists:member(ask(Newest), [[], [{?MOD, at, 1}, {?MOD, run, 1}]])),
    _ = erltrace_code:refresh(),
    ?assertEqual({expected(?MOD, V2), expected(?MOD, V3)}, {ask(New), ask(Newest)}),
    stop_resident(New),
    stop_resident(Newest).

stop_resident(Pid) ->
    Mon = erlang:monitor(process, Pid),
    Pid ! stop,
    receive {'DOWN', Mon, process, Pid, _} -> ok end.

%% What is purged is dropped, and an address that is found again by itself is code without an export.
deleted() ->
    {_, _, Code} = make(?MOD, 4),
    load(?MOD, Code),
    _ = erltrace_code:refresh(),
    Address = address(?MOD, run, 1),
    ?assertMatch({?MOD, run, 1, _, _}, at(Address + 20)),
    Old = resident(?MOD),
    code:purge(?MOD),
    true = code:delete(?MOD),
    _ = erltrace_code:refresh(),
    ?assertMatch({[_, _], {?MOD, run, 1, _, _}}, {ask(Old), at(Address + 20)}),
    stop_resident(Old),
    {N, _, 0, _} = erltrace_code:refresh(),
    true = code:soft_purge(?MOD),
    ?assertMatch({M, _, 0, _} when M < N, erltrace_code:refresh()),
    ?assertEqual(undefined, at(Address + 20)).

%% A script runs, and stacks have code that was loaded since: known within a moment.
loaded_while_it_runs() ->
    {_, _, Code} = Made = make(?MOD, 5),
    Frames = [lists:flatten(io_lib:format("~s:~s/1 (~s:~b)", [M, F, File, L])) ||
                 {M, F, _, File, L} <- expected(?MOD, Made)],
    Got = run([?HERE, "function-entry { @[ustack()] = count(); }"],
              fun(H) ->
                      load(?MOD, Code),
                      until(fun() ->
                                    in_process(fun() -> ?MOD:run(fun() -> stack_shapes:here(fun() -> ok end) end) end),
                                    {ok, Aggs} = erltrace:aggregations(H),
                                    lists:any(fun({_, _, [Stack], _}) ->
                                                      Frames -- [binary_to_list(F) || F <- Stack] =:= []
                                              end, Aggs)
                            end)
              end),
    %% before that they were addresses, or functions without lines
    [?assertEqual([], [F || F <- Stack, string:find(F, "made") =/= nomatch,
                            not lists:member(binary_to_list(F), Frames),
                            string:find(F, "(") =/= nomatch]) ||
        {{"_", [Stack]}, _} <- maps:to_list(Got)].

until(Fun) ->
    case Fun() of
        true -> ok;
        false -> receive after 1 -> until(Fun) end
    end.

%% Modules are loaded all the while, one version in the place of another, while processes in them look
%% at their own stacks: each frame is known as what it is, or not known.
never_wrong() ->
    Mods = [list_to_atom("code_table_made_" ++ integer_to_list(I)) || I <- lists:seq(1, 4)],
    Versions = maps:from_list([{{M, V}, make(M, V)} || M <- Mods, V <- lists:seq(1, 8)]),
    [load(M, Code) || M <- Mods, {_, _, Code} <- [maps:get({M, 8}, Versions)]],
    Count = counters:new(4, []),
    Stop = counters:new(1, []),
    Lookers = [spawn_monitor(fun() -> look(M, Versions, Count, Stop) end) || M <- Mods],
    Fresh = spawn_monitor(fun() -> refresh_until(Stop) end),
    Loader = spawn_monitor(fun() ->
                                   process_flag(priority, high),
                                   [begin
                                        {_, _, Code} = maps:get({M, V}, Versions),
                                        until(fun() -> code:soft_purge(M) end),
                                        {module, M} = code:load_binary(M, "made", Code)
                                    end || _ <- lists:seq(1, 3), V <- lists:seq(1, 8), M <- Mods]
                           end),
    wait(Loader),
    counters:put(Stop, 1, 1),
    [wait(L) || L <- [Fresh | Lookers]],
    [Right, Unknown, Alone, Wrong] = [counters:get(Count, I) || I <- [1, 2, 3, 4]],
    ?assertEqual(0, Wrong),
    ?assert(Right > 100),
    io:format(user, "~b frames right, ~b without a line, ~b not known: ", [Right, Alone, Unknown]),
    [begin code:purge(M), code:delete(M), code:purge(M) end || M <- Mods].

wait({Pid, Mon}) -> receive {'DOWN', Mon, process, Pid, normal} -> ok end.

refresh_until(Stop) ->
    _ = erltrace_code:refresh(),
    case counters:get(Stop, 1) of
        0 -> refresh_until(Stop);
        _ -> ok
    end.

%% Which version the process is in says the VM, before and after: it is the same.
look(Mod, Versions, Count, Stop) ->
    _ = try Mod:run(fun() -> look_around(Mod, Versions, Count, 5) end)
        catch error:undef -> ok % for a moment
        end,
    case counters:get(Stop, 1) of
        0 -> look(Mod, Versions, Count, Stop);
        _ -> ok
    end.

look_around(_, _, _, 0) -> ok;
look_around(Mod, Versions, Count, N) ->
    Vm = version(stack_shapes:lines_at(self())),
    Table = own_stack(),
    {File, Line, _} = maps:get({Mod, Vm div 10}, Versions),
    Want = expected(Mod, {File, Line, none}),
    [counters:add(Count, case lists:member(F, Want) of
                             true -> 1;
                             false when is_integer(F) -> 2;
                             false when tuple_size(F) =:= 3 -> 3;
                             false -> 4
                         end, 1) ||
        F <- Table, is_integer(F) orelse element(1, F) =:= Mod],
    erlang:yield(),
    look_around(Mod, Versions, Count, N - 1).

version(Frames) ->
    hd([Line || {M, at, 1, _, Line} <- Frames, lists:prefix("code_table_made", atom_to_list(M))]).

%% ---- what is refused -------------------------------------------------------------------------

%% Whichever word of a module's code is another: refused, or it did not matter.
every_word() ->
    Mod = code_table_made_once,
    {_, _, Code} = make(Mod, 6),
    load(Mod, Code),
    Read = fun(N) ->
                   ok = erltrace_nif:code_ask({flip, N}),
                   erltrace_nif:code_ask({read, Mod, fun Mod:module_info/0})
           end,
    Sum = Read(0),
    Words = erltrace_nif:code_ask(words),
    Got = [Read(N) || N <- lists:seq(1, Words)],
    ok = erltrace_nif:code_ask({flip, 0}),
    Refused = [Why || {refused, Why} <- Got],
    ?assertEqual([], [S || S <- Got, is_integer(S), S =/= Sum]),
    ?assert(length(Refused) > 50),
    ?assert(length(lists:usort(Refused)) >= 3).

%% Where there is no room for names a frame has no line, and is right all the same.
no_room() ->
    {_, _, Code} = Made = make(code_table_no_room, 7),
    ok = erltrace_nif:code_ask({room, 0, 0}),
    load(code_table_no_room, Code),
    _ = erltrace_code:refresh(),
    Address = address(code_table_no_room, run, 1),
    ?assertEqual({code_table_no_room, run, 1}, at(Address + 20)),
    ok = erltrace_nif:code_ask({room, 1 bsl 30, 1 bsl 30}),
    true = code:delete(code_table_no_room),
    code:purge(code_table_no_room),
    load(code_table_no_room, Code),
    _ = erltrace_code:refresh(),
    {File, Line, _} = Made,
    Again = address(code_table_no_room, run, 1),
    ?assertEqual({code_table_no_room, run, 1, list_to_binary(File), Line}, at(Again + 20)).

%% If it is refused a stack is as good as the VM's symbols make it, and the script is told.
refused_by_the_check() ->
    ok = erltrace_nif:find(code, {refuse, <<"a test">>}),
    try
        {ok, H} = erltrace:script([?HERE, "function-entry { @[ustack()] = count(); }"]),
        in_process(fun() -> stack_shapes:run(plain, fun() -> ok end) end),
        {ok, [{_, _, [Stack], 1}]} = erltrace:aggregations(H),
        ?assertEqual(nomatch, string:find(Stack, "(")),
        ?assertMatch({ok, #{stacks := #{table := {refused, <<"a test">>}}}}, erltrace:status(H)),
        erltrace:close(H)
    after
        [ok = erltrace_nif:find(code, Step) || Step <- [start, conclude, publish]]
    end.

tables_are_freed() ->
    _ = erltrace_code:refresh(),
    ?assertMatch({_, _, 0}, erltrace_nif:code_ask(counts)).
