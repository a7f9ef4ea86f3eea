%% SPDX-License-Identifier: Apache-2.0
%% The golden set of stacks: of known shapes, in Erlang (stack_shapes) and in Elixir (elixir_shapes.ex),
%% each frame with its file and line, the same on every release: at function and user probes, and in
%% samples, while a process runs Erlang code, a BIF, one that traps, a NIF, a dirty NIF, or collects
%% garbage. (code_table_tests: the table behind them; test/kernel/stack_shapes.sh: the same shapes at
%% probes of the kernel.)
-module(stack_golden_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2, in_process/1]).

-define(ELIXIR, 'Elixir.ElixirShapes').
-define(T(F), {timeout, 300, {??F, F}}).

%% Without knowledge of the VM's internals there are no stacks.
golden_test_() ->
    {setup, fun start/0, fun(_) -> ok end,
     fun(ok) ->
             Erlang = stack_shapes,
             [?T(fun() -> at_user_probes(Erlang) end), ?T(fun() -> sampled(Erlang) end), ?T(fun sampled_work/0),
              {setup, fun elixir/0, fun elixir_gone/1, fun elixir_tests/1}];
        ({refused, _}) ->
             ?_assertEqual(false, application:get_env(erltrace, vm_internals, true))
     end}.

start() ->
    {ok, _} = application:ensure_all_started(erltrace),
    {module, _} = code:ensure_loaded(stack_shapes),
    erltrace_code:prepare().

%% ---- what is expected ------------------------------------------------------------------------

%% [{Module, Function, Arity, File, Line} | '..'], from the caller of here/1 to run/2.
expected(stack_shapes, Shape) ->
    [case F of
         '..' -> '..';
         {Name, Arity, File, Line} -> {stack_shapes, Name, Arity, File, Line}
     end || F <- stack_shapes:expected(Shape)];
expected(?ELIXIR, Shape) ->
    [case F of
         '..' -> '..';
         {Mod, Name, Arity, Line} -> {Mod, Name, Arity, "elixir_shapes.ex", Line}
     end || F <- ?ELIXIR:expected(Shape)].

%% Are these texts of frames, the newest first, so? Whatever is newer than here/1, and older than
%% run/2, is not looked at. none: here/1 is not there.
is_right(Mod, Shape, Frames) ->
    case lists:dropwhile(fun(F) -> not is_here(Mod, F) end, lists:append([unfolded(F) || F <- Frames])) of
        [] -> none;
        [_ | Below] ->
            Text = [[F, $\n] || F <- Below],
            re:run(Text, ["^", [pattern(E) || E <- expected(Mod, Shape)]], [unicode]) =/= nomatch
    end.

%% A run of equal frames is one: `m:f/1 (m.erl:7) (x 3)'.
unfolded(Frame) ->
    case re:run(Frame, "^(.*) [(]x ([0-9]+)[)]$", [{capture, all_but_first, list}, unicode]) of
        {match, [Once, Times]} -> lists:duplicate(list_to_integer(Times), Once);
        nomatch -> [Frame]
    end.

is_here(Mod, Frame) -> string:prefix(Frame, io_lib:format("~p:here/1", [Mod])) =/= nomatch.

pattern('..') -> "(?:[^\n]*\n)+?";
pattern({M, F, A, File, Line}) ->
    Name = case atom_to_list(F) of
               [$- | _] = Begins -> ["'", quoted(Begins), "[^\n]*'"]; % the compiler made it up
               _ -> quoted(io_lib:format("~p", [F]))
           end,
    [quoted(io_lib:format("~p:", [M])), Name, "/", integer_to_list(A), " [(]", quoted(File), ":",
     integer_to_list(Line), "[)]\n"].

quoted(Text) -> re:replace(Text, "[.?$^]", "\\\\&", [global]).

%% ---- events ----------------------------------------------------------------------------------

at_function_probes(Mod) ->
    Here = ["erlang*:", atom_to_list(Mod), ":here:function-entry { @[ustack()] = count(); }"],
    [?assertEqual({Shape, Calls, [true]}, {Shape, Calls, stacks(Mod, Shape, Script, fun() -> ok end)}) ||
        Calls <- ["traced"] ++ ["fast" || erltrace_find:known(fast) =:= ok],
        Script <- [["#pragma D option calls=", Calls, "\n", Here]],
        Shape <- Mod:shapes()].

at_user_probes(Mod) ->
    Script = "erlang*:::user_trace-i4s4 { @[ustack()] = count(); }",
    [?assertEqual({Shape, [true]}, {Shape, stacks(Mod, Shape, Script, fun() -> dtrace:p(1) end)}) ||
        Shape <- Mod:shapes()].

stacks(Mod, Shape, Script, At) ->
    Got = run(Script, fun() -> in_process(fun() -> {ok, _} = Mod:run(Shape, At) end) end),
    [is_right(Mod, Shape, Stack) || {{"_", [Stack]}, 1} <- maps:to_list(Got)].

%% ---- samples ---------------------------------------------------------------------------------

%% A process of each shape; 95 of 100 samples are whole, as in sampler_tests: of ten times as many, if
%% those of one that weighs a lot are not.
sampled(Mod) -> sampled(Mod, [{Shape, erlang, []} || Shape <- Mod:shapes()]).

%% What runs on top: its state, and the newest Erlang function.
sampled_work() ->
    sampled(stack_shapes,
            [{recursion, Kind, {State, Function}} ||
                {Kind, State, Function} <-
                    [{erlang, <<"erlang">>, "stack_shapes:spin/1 [(]stack_shapes.erl:[0-9]+[)]"},
                     {bif, <<"bif">>, "(erlang:md5|binary:copy)(_trap)?/[12]"},
                     {trap, <<"bif">>, "erlang:(binary_to_term|term_to_binary)(_trap)?/[12]"},
                     {nif, <<"nif">>, "zlib:deflate_nif/4"},
                     {dirty, <<"dirty">>, "prim_file:get_cwd_nif/0"},
                     {gc, <<"gc">>, "(stack_shapes:garbage/2|lists:seq[a-z_]*/[34]) [(][a-z_]*.erl:[0-9]+[)]"}]]).

sampled(Mod, Jobs) ->
    case erltrace_sampling:available() of
        ok ->
            Samples = samples(Mod, Jobs),
            ?assert(are_whole(Samples), [S || {_, _, Right, _, _} = S <- Samples, Right =/= true]);
        Why -> skipped("samples", Why)
    end.

are_whole(Samples) ->
    Sum = fun(Rights) -> lists:sum([N || {_, N, Right, _, _} <- Samples, lists:member(Right, Rights)]) end,
    Sum([true]) >= 0.95 * Sum([true, false, none]).

%% [{Job, Count, IsRight, State, Frames}], when all have been seen as they should be.
samples(Mod, Jobs) ->
    Pids = maps:from_list([{list_to_binary(pid_to_list(begin_work(Mod, Job))), Job} || Job <- Jobs]),
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "ustackframes", "100"),
    ok = erltrace:compile(H, "profile-997 { @[erlpid, erlstate, ustack()] = count(); }"),
    ok = erltrace:go(H),
    First = all_seen(H, Mod, Pids, 500),
    Got = case are_whole(First) of
              true -> First;
              false -> all_seen(H, Mod, Pids, 5000)
          end,
    ok = erltrace:close(H),
    [exit(list_to_pid(binary_to_list(P)), kill) || P <- maps:keys(Pids)],
    Got.

begin_work(Mod, {Shape, Kind, _}) ->
    Me = self(),
    P = spawn(fun() -> Mod:run(Shape, fun() -> stack_shapes:work(Kind, Me), done end) end),
    receive {P, ready} -> P end.

all_seen(H, Mod, Pids, Least) ->
    {ok, Aggs} = erltrace:aggregations(H),
    Got = [{Job, N, is_right(Mod, element(1, Job), Frames), State, Frames} ||
              {_, _, [P, State, Frames], N} <- Aggs, Job <- [maps:get(P, Pids, none)], Job =/= none],
    Enough = lists:sum([N || {_, N, _, _, _} <- Got]) >= Least,
    case Enough andalso maps:values(Pids) -- [Job || {Job, _, true, State, Frames} <- Got, is_at(Job, State, Frames)] of
        [] -> Got;
        _ -> receive after 50 -> all_seen(H, Mod, Pids, Least) end
    end.

is_at({_, _, []}, _, _) -> true;
is_at({_, _, {State, Function}}, State, Frames) ->
    [Newest | _] = [F || F <- Frames, re:run(F, "^[a-z_']+:") =/= nomatch],
    re:run(Newest, ["^", Function, "$"]) =/= nomatch;
is_at(_, _, _) -> false.

skipped(What, Why) -> io:format(user, "~nskipped: ~s: ~0p~n", [What, Why]).

%% ---- Elixir ----------------------------------------------------------------------------------

%% The module is compiled by the Elixir that is installed, if one is.
elixir() ->
    case os:find_executable("elixirc") of
        false ->
            {none, "no Elixir here (elixirc)"};
        Elixirc ->
            Lib = os:cmd("elixir -e 'IO.write(:code.lib_dir(:elixir))'"),
            Dir = filename:join("/tmp", "elixir_shapes_" ++ os:getpid()),
            ok = filelib:ensure_dir(filename:join(Dir, "x")),
            Source = filename:join(filename:dirname(proplists:get_value(source, ?MODULE:module_info(compile))),
                                   "elixir_shapes.ex"),
            Said = os:cmd(lists:join(" ", [Elixirc, "-o", Dir, Source])),
            [true = code:add_pathz(D) || D <- [filename:join(Lib, "ebin"), Dir]],
            case code:ensure_loaded(?ELIXIR) of
                {module, _} ->
                    [?ELIXIR:run(S, fun() -> ok end) || S <- ?ELIXIR:shapes()], % all that it calls is loaded
                    {Dir, Lib};
                _ -> {none, Said}
            end
    end.

elixir_gone({none, _}) -> ok;
elixir_gone({Dir, Lib}) ->
    [code:del_path(D) || D <- [filename:join(Lib, "ebin"), Dir]],
    file:del_dir_r(Dir).

elixir_tests({none, Why}) -> fun() -> skipped("stacks of Elixir code", Why) end;
elixir_tests(_) ->
    [?T(fun() -> at_function_probes(?ELIXIR) end), ?T(fun() -> at_user_probes(?ELIXIR) end),
     ?T(fun() -> sampled(?ELIXIR) end)].
