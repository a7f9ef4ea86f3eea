%% SPDX-License-Identifier: Apache-2.0
%% How the cost grows: ns of processor time that an event costs, and ms until a script is armed,
%% with more and more of one thing; each thing in a fresh node, without tracer and with it in turns.
%% A row has n, ns, floor (ns of a tracer that does nothing, where that makes sense), arm and off (ms
%% of processor time until all scripts are armed, and to end them). For functions spread_ns is where
%% all of them are called, ns where one is.
-module(bench_growth).
-export([main/0, f/1, run/2]).

%% What grows, its steps, arguments of the node, and how an event's cost should grow.
things() ->
    Big = not bench_lib:quick(),
    [{threads, "scheduler threads", [1, 2, 4, 8], [], "flat"},
     {functions, "functions armed", [1, 10, 100, 1000, 10000] ++ [100000 || Big], [], "flat"},
     {keys, "distinct keys", [10, 1000, 100000] ++ [N || Big, N <- [1000000, 10000000]], [], "flat"},
     {clauses, "clauses at a probe", [1, 3, 10, 30, 100], [], "linear"},
     {handles, "handles at once", [1, 2, 5, 10, 20, 50], [], "linear"},
     {processes, "processes", [10, 1000, 100000] ++ [1000000 || Big, room()], ["+P", "2000000"],
      "flat"}].

%% A million processes take 3 GB.
room() ->
    {ok, Text} = file:read_file("/proc/meminfo"),
    {match, [Kb]} = re:run(Text, "MemAvailable: *([0-9]+)", [{capture, [1], list}]),
    list_to_integer(Kb) > 6000000.

-spec main() -> ok.
main() ->
    Only = [list_to_atom(N) || N <- string:lexemes(os:getenv("BENCH_THINGS", ""), " ")],
    [grow(T) || T <- things(), Only =:= [] orelse lists:member(element(1, T), Only)],
    ok.

grow({threads, Title, Steps, _, Should}) ->
    say(Title),
    [in_node(["+S", integer_to_list(N)], threads, [N], Title, Should) || N <- Steps];
grow({Thing, Title, Steps, Args, Should}) ->
    say(Title),
    in_node(["+S", "1" | Args], Thing, Steps, Title, Should).

say(Title) -> io:format(standard_error, "bench: how the cost grows with ~s~n", [Title]).

in_node(Args, Thing, Steps, Title, Should) ->
    Peer = bench_lib:peer(Args),
    Rows = peer:call(Peer, ?MODULE, run, [Thing, Steps], 600000),
    peer:stop(Peer),
    [bench_lib:row("growth", [{with, atom_to_list(Thing)}, {title, Title}, {should, Should} | Row])
     || Row <- Rows],
    [goal(Arm) || Thing =:= functions, [{n, 100000}, {arm, Arm} | _] <- Rows],
    ok.

goal(Arm) ->
    bench_lib:goal("node", "100,000 functions: compiled, armed (processor time)", Arm, "ms", 0, Arm,
                   '<=', 1000).

%% ---- in the node ------------------------------------------------------------------------------

-spec run(atom(), [pos_integer()]) -> [[{atom(), term()}]].
run(Thing, Steps) ->
    {module, _} = code:ensure_loaded(null_tracer),
    {ok, H} = erltrace:open(),
    ok = erltrace:close(H),
    [step(Thing, N) || N <- Steps].

step(threads, N) ->
    Work = fun() -> workers(N, fun() -> calls(100000) end) end,
    [{n, N} | against(N * 100000, Work, [count_of_f()], true)];
step(functions, N) ->
    Funs = functions(N),
    One = hd(Funs),
    Events = 100000,
    Spread = spread(Funs, Events),
    Script = "erlang*:bench_f*::function-entry { @ = count(); }",
    Null = fun(On) -> patterns(On) end,
    Rounds = case N >= 10000 of true -> 2; false -> 4 end, % arming takes long
    [{arm, Arm}, {off, Off}, {ns, Ns}, {floor, Floor}] =
        against(Events, fun() -> workers(1, fun() -> apply_one(One, Events) end) end, [Script], Null,
                Rounds),
    [_, _, {ns, SpreadNs}, {floor, SpreadFloor}] =
        against(Events, fun() -> workers(1, fun() -> apply_all(Spread) end) end, [Script], Null,
                Rounds),
    [{n, N}, {arm, Arm}, {off, Off}, {ns, Ns}, {floor, Floor}, {spread_ns, SpreadNs}, {spread_floor, SpreadFloor}];
step(keys, N) ->
    Events = max(N, 300000),
    Work = fun() -> workers(1, fun() -> keys(0, N, Events) end) end,
    [{n, N} | against(Events, Work,
                      ["erlang*:::user_trace-i4s4 { @[arg2] = count(); }"], false)];
step(clauses, N) ->
    Clauses = [["erlang*:bench_growth:f:function-entry { @c", integer_to_list(I), " = count(); }"]
               || I <- lists:seq(1, N)],
    Events = max(10000, 200000 div N),
    [{n, N} | against(Events, fun() -> workers(1, fun() -> calls(Events) end) end,
                      [lists:flatten(Clauses)], false)];
step(handles, N) ->
    Events = max(10000, 200000 div N),
    [{n, N} | against(Events, fun() -> workers(1, fun() -> calls(Events) end) end,
                      lists:duplicate(N, count_of_f()), false)];
step(processes, N) ->
    Pids = [spawn(fun answer/0) || _ <- lists:seq(1, N)],
    Rounds = max(1, 100000 div N),
    Work = fun() -> workers(1, fun() -> [ask(Pids) || _ <- lists:seq(1, Rounds)] end) end,
    Row = against(2 * N * Rounds, Work, ["erlang*:::message-send { @ = count(); }"], false),
    [exit(P, kill) || P <- Pids],
    [{n, N} | Row].

count_of_f() -> "erlang*:bench_growth:f:function-entry { @[copyinstr(arg1)] = count(); }".

%% The work alone, with a tracer that does nothing (Null: for f/1, or what arms it), and with the
%% scripts, in turns: ms until all are armed, ns an event.
against(Events, Work, Scripts, Null) ->
    Rounds = case {Events > 1000000, bench_lib:quick()} of
                 {true, _} -> 2;
                 {_, true} -> 3;
                 _ -> 7
             end,
    against(Events, Work, Scripts, Null, Rounds).

against(Events, Work, Scripts, Null, Rounds) ->
    Turns = [{spent(Work), nulled(Null, Work), scripted(Scripts, Work)}
             || _ <- lists:seq(1, Rounds)],
    Bare = lists:min([B || {B, _, _} <- Turns]),
    Floor = lists:min([F || {_, F, _} <- Turns]),
    Arm = lists:min([A || {_, _, {A, _, _}} <- Turns]),
    Ours = lists:min([O || {_, _, {_, O, _}} <- Turns]),
    Off = lists:min([O || {_, _, {_, _, O}} <- Turns]),
    [{arm, Arm / 1.0e6}, {off, Off / 1.0e6}, {ns, (Ours - Bare) / Events}] ++
        [{floor, (Floor - Bare) / Events} || Floor =/= none].

spent(Work) ->
    Cpu = bench_lib:cpu_ns(),
    Work(),
    bench_lib:cpu_ns() - Cpu.

nulled(false, _) -> none;
nulled(true, Work) ->
    nulled(fun(On) -> erlang:trace_pattern({?MODULE, f, 1}, On, [local]) end, Work);
nulled(Arm, Work) ->
    Flags = [call, arity],
    _ = Arm(true),
    _ = erlang:trace(new_processes, true, [{tracer, null_tracer, 1} | Flags]),
    Ns = spent(Work),
    _ = erlang:trace(new_processes, false, Flags),
    _ = Arm(false),
    Ns.

scripted(Scripts, Work) ->
    Cpu = bench_lib:cpu_ns(),
    Handles = [begin
                   {ok, H} = erltrace:open(),
                   ok = erltrace:setopt(H, "watchdog", "0"),
                   ok = erltrace:setopt(H, "counters", "off"), % events are to be measured
                   ok = erltrace:compile(H, S),
                   ok = erltrace:go(H),
                   H
               end || S <- Scripts],
    Arm = bench_lib:cpu_ns() - Cpu,
    Ns = spent(Work),
    {Arm, Ns, spent(fun() -> [ok = erltrace:close(H) || H <- Handles] end)}.

%% ---- the work ---------------------------------------------------------------------------------

%% In processes made now, as new ones are traced by the null tracer.
workers(N, Fun) ->
    Ps = [spawn_opt(Fun, [monitor, {min_heap_size, 20000}]) || _ <- lists:seq(1, N)],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps],
    ok.

-spec f(integer()) -> integer().
f(X) -> X.

calls(0) -> ok;
calls(N) -> _ = id(f(1)), calls(N - 1).

id(X) -> X.

keys(_, _, 0) -> ok;
keys(K, N, Left) when K < N -> _ = dtrace:p(K), keys(K + 1, N, Left - 1);
keys(_, N, Left) -> keys(0, N, Left).

answer() -> receive {ask, From} -> From ! answer, answer() end.

%% A thousand at a time.
ask(Pids) -> ask(Pids, 0).

ask([P | Rest], N) when N < 1000 -> P ! {ask, self()}, ask(Rest, N + 1);
ask(Pids, N) ->
    answers(N),
    case Pids of
        [] -> ok;
        _ -> ask(Pids, 0)
    end.

answers(0) -> ok;
answers(N) -> receive answer -> answers(N - 1) end.

%% ---- many functions ---------------------------------------------------------------------------

%% N functions at all, in modules bench_f* of a hundred each at most: those that are missing are
%% made. Of one module that the compiler makes, others are made by changing its name.
functions(N) ->
    Have = length([ok || M <- modules(), _ <- exports(M)]),
    more(N - Have, length(modules()) + 1),
    [{M, F} || M <- modules(), F <- exports(M)].

more(N, _) when N =< 0 -> ok;
more(N, I) ->
    Size = min(N, 100),
    load(I, Size),
    more(N - Size, I + 1).

modules() -> lists:sort([M || {M, _} <- code:all_loaded(), lists:prefix("bench_f", atom_to_list(M))]).

exports(M) -> [F || {F, 1} <- M:module_info(exports), F =/= module_info].

load(I, Size) ->
    Name = io_lib:format("bench_f~5..0b", [I]),
    Code = binary:replace(code(Size), <<"bench_f00000">>, iolist_to_binary(Name), [global]),
    Module = list_to_atom(lists:flatten(Name)),
    {module, Module} = code:load_binary(Module, "made", Code).

code(Size) ->
    case get({code, Size}) of
        undefined ->
            Names = [list_to_atom("f" ++ integer_to_list(J)) || J <- lists:seq(1, Size)],
            X = {var, 1, 'X'},
            Forms = [{attribute, 1, module, bench_f00000},
                     {attribute, 1, export, [{F, 1} || F <- Names]} |
                     [{function, 1, F, 1, [{clause, 1, [X], [], [X]}]} || F <- Names]],
            {ok, _, Code} = compile:forms(Forms, [no_line_info]),
            put({code, Size}, Code),
            Code;
        Code -> Code
    end.

patterns(On) ->
    [erlang:trace_pattern({M, '_', '_'}, On, [local]) || M <- modules()].

apply_one(_, 0) -> ok;
apply_one({M, F} = One, N) -> _ = M:F(N), apply_one(One, N - 1).

apply_all(Funs) -> [M:F(1) || {M, F} <- Funs], ok.

%% Of all of them, in no order.
spread(Funs, Events) ->
    Tuple = list_to_tuple(Funs),
    Rand = rand:seed_s(exsss, {1, 2, 3}),
    element(1, lists:mapfoldl(fun(_, S) ->
                                      {I, S1} = rand:uniform_s(tuple_size(Tuple), S),
                                      {element(I, Tuple), S1}
                              end, Rand, lists:seq(1, Events))).
