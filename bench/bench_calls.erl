%% SPDX-License-Identifier: Apache-2.0
%% What a call costs by each way to function probes, beside what others cost: one function in a loop,
%% and 400 functions in turn, as then the tables of a tracer do not stay in the nearest cache. In a
%% node with one scheduler; rounds of all ways take turns, each of short samples, and the best sample
%% counts. Figures are nanoseconds over a call that nobody traces; those of dbg have the time of its
%% process in them.
-module(bench_calls).
-export([main/0, work/1, threads/2, alone/1]).

-define(MANY, 400).
-define(CALLS, 20000). % of a sample
-define(SAMPLES, 15).

-spec main() -> ok.
main() ->
    make(),
    {module, _} = code:ensure_loaded(null_tracer),
    {ok, H} = erltrace:open(),
    ok = erltrace:close(H),
    Ways = [{W, here(W)} || W <- ways()],
    Here = [W || {W, ok} <- Ways],
    Rounds = case bench_lib:quick() of true -> 2; false -> 8 end,
    Figures = lists:foldl(fun(_, Best) -> turn(Here, Best) end, #{}, lists:seq(1, Rounds)),
    io:format("~-46s ~9s ~9s~n", ["ns over a call that is not traced", "one", "400"]),
    [row(W, What, Figures) || {W, What} <- Ways],
    goals(Figures),
    arming(),
    schedulers(),
    off().

%% ---- ways -------------------------------------------------------------------------------------

%% In the order of the table; count: each function's calls; heat: the time of each function.
ways() ->
    [nothing, null, null_return, call_count, call_time, count_counters, count_traced, count_fast,
     heat_traced, heat_fast, dbg].

title(nothing) -> "nothing (ns of a call)";
title(null) -> "a tracer NIF that does nothing: entry";
title(null_return) -> "the same: entry and return_to";
title(call_count) -> "call_count";
title(call_time) -> "call_time";
title(count_counters) -> "erltrace, count: the VM's counters";
title(count_traced) -> "erltrace, count: traced";
title(count_fast) -> "erltrace, count: calls=fast";
title(heat_traced) -> "erltrace, heat map: traced";
title(heat_fast) -> "erltrace, heat map: calls=fast";
title(dbg) -> "dbg, heat map".

here(W) when W =:= count_fast; W =:= heat_fast -> bench_ways:here(fast, calls);
here(dbg) -> bench_ways:here(dbg, calls);
here(_) -> ok.

script(count) -> "erlang*:bench_many:f*:function-entry { @[probefunc] = count(); }";
script(heat) ->
    "erlang*:bench_many:f*:function-entry { self->ts = timestamp; }"
        "erlang*:bench_many:f*:function-return /self->ts/"
        "{ @[probefunc] = quantize(timestamp - self->ts); self->ts = 0; }".

%% Around Fun.
with(nothing, Fun) -> Fun();
with(null, Fun) -> traced(true, [local], [{tracer, null_tracer, 1}, call, arity], Fun);
with(null_return, Fun) ->
    traced(true, [local], [{tracer, null_tracer, 1}, call, arity, return_to], Fun);
with(call_count, Fun) -> traced(true, [call_count], [], Fun);
with(call_time, Fun) -> traced(true, [call_time], [{tracer, null_tracer, 1}, call], Fun);
with(count_counters, Fun) -> scripted([{"counters", "1"}], script(count), Fun);
with(count_traced, Fun) -> scripted([{"counters", "0"}, {"calls", "traced"}], script(count), Fun);
with(count_fast, Fun) -> scripted([{"counters", "0"}, {"calls", "fast"}], script(count), Fun);
with(heat_traced, Fun) -> scripted([{"calls", "traced"}], script(heat), Fun);
with(heat_fast, Fun) -> scripted([{"calls", "fast"}], script(heat), Fun);
with(dbg, Fun) ->
    {ok, _} = dbg:tracer(process, {fun seen/2, #{}}),
    {ok, _} = dbg:tpl(bench_many, [{'_', [], [{return_trace}]}]),
    {ok, _} = dbg:p(new_processes, [call, timestamp]),
    try Fun() after dbg:stop_clear() end.

traced(Spec, Flags, Trace, Fun) ->
    _ = erlang:trace_pattern({bench_many, '_', '_'}, Spec, Flags),
    [erlang:trace(new_processes, true, Trace) || Trace =/= []],
    try Fun()
    after
        [erlang:trace(new_processes, false, [F || F <- Trace, is_atom(F)]) || Trace =/= []],
        erlang:trace_pattern({bench_many, '_', '_'}, false, Flags)
    end.

scripted(Options, Script, Fun) ->
    H = open(Options, Script),
    try Fun() after erltrace:close(H) end.

open(Options, Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- [{"watchdog", "0"} | Options]],
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    H.

%% As the script's, by dbg's process.
seen({trace_ts, Pid, call, {_, F, _}, T}, S) -> S#{{Pid, F} => T};
seen({trace_ts, Pid, return_from, {_, F, _}, _, T}, S) ->
    {T0, Rest} = maps:take({Pid, F}, S),
    maps:update_with({F, timer:now_diff(T, T0)}, fun(N) -> N + 1 end, 1, Rest);
seen(_, S) -> S.

%% ---- the work ---------------------------------------------------------------------------------

%% bench_many: 400 functions of one argument; bench_in_turn: all/1 that calls them in turn, one/1 that
%% calls the first of them so many times.
make() ->
    Fs = [list_to_atom("f" ++ integer_to_list(I)) || I <- lists:seq(1, ?MANY)],
    X = {var, 1, 'X'},
    Call = fun(F) -> {match, 1, {var, 1, '_'},
                      {call, 1, {remote, 1, {atom, 1, bench_many}, {atom, 1, F}}, [X]}} end,
    Less = {call, 1, {atom, 1, one}, [{op, 1, '-', X, {integer, 1, 1}}]},
    load(bench_many, [{F, [{X, [{tuple, 1, [{atom, 1, F}, X]}]}]} || F <- Fs]),
    load(bench_in_turn, [{all, [{X, [Call(F) || F <- Fs] ++ [{atom, 1, ok}]}]},
                         {one, [{{integer, 1, 0}, [{atom, 1, ok}]}, {X, [Call(hd(Fs)), Less]}]}]).

load(Module, Functions) ->
    Forms = [{attribute, 1, module, Module}, {attribute, 1, export, [{F, 1} || {F, _} <- Functions]} |
             [{function, 1, F, 1, [{clause, 1, [Arg], [], Body} || {Arg, Body} <- Clauses]}
              || {F, Clauses} <- Functions]],
    {ok, Module, Code} = compile:forms(Forms, []),
    {module, Module} = code:load_binary(Module, "made", Code),
    ok.

calls(one, N) -> apply(bench_in_turn, one, [N]);
calls(many, N) when N =< 0 -> ok;
calls(many, N) -> apply(bench_in_turn, all, [N]), calls(many, N - ?MANY).

turn(Ways, Best) ->
    lists:foldl(fun({W, Work}, B) ->
                        Ns = with(W, fun() -> time(W, Work) end),
                        maps:update_with({W, Work}, fun(N) -> min(N, Ns) end, Ns, B)
                end, Best, [{W, Work} || W <- Ways, Work <- [one, many]]).

%% ns of a call, in a new process, as null_tracer and dbg have new ones.
time(dbg, Work) ->
    N = ?MANY * 10,
    {ok, Tracer} = dbg:get_tracer(),
    T0 = erlang:monotonic_time(nanosecond),
    {P, M} = spawn_monitor(fun() -> calls(Work, N) end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    bench_ways:done({dbg, {Tracer, none}}),
    (erlang:monotonic_time(nanosecond) - T0) / N;
time(_, Work) ->
    {P, M} = spawn_opt(?MODULE, work, [{Work, self()}], [monitor, {min_heap_size, 100000}]),
    receive
        {P, Ns} -> receive {'DOWN', M, process, P, _} -> Ns / ?CALLS end;
        {'DOWN', M, process, P, Reason} -> exit(Reason)
    end.

work({Work, Parent}) ->
    Parent ! {self(), lists:min([sample(Work) || _ <- lists:seq(1, ?SAMPLES)])}.

sample(Work) ->
    T0 = erlang:monotonic_time(nanosecond),
    calls(Work, ?CALLS),
    erlang:monotonic_time(nanosecond) - T0.

%% ---- rows -------------------------------------------------------------------------------------

over(nothing, Work, Figures) -> maps:get({nothing, Work}, Figures);
over(W, Work, Figures) -> maps:get({W, Work}, Figures) - maps:get({nothing, Work}, Figures).

row(W, ok, Figures) ->
    [One, Many] = [over(W, Work, Figures) || Work <- [one, many]],
    io:format("~-46s ~9.1f ~9.1f~n", [title(W), One, Many]),
    bench_lib:row("calls", [{what, title(W)}, {one, One}, {many, Many}]);
row(W, {no, Why}, _) ->
    io:format("~-46s - ~ts~n", [title(W), Why]),
    bench_lib:row("calls", [{what, title(W)}, {missing, Why}]).

goals(#{{count_fast, one} := _, {heat_fast, one} := _} = Figures) ->
    [begin
         Of = case Work of one -> "one function"; many -> "400 functions" end,
         Over = fun(W) -> over(W, Work, Figures) end,
         goal(["count by function, fast: ", Of], Over(count_fast), "ns", 0, '<=', 35),
         goal(["heat map, fast: ", Of], Over(heat_fast), "ns", 0, '<=', 80),
         goal(["the same, against a tracer NIF with return_to: ", Of], Over(heat_fast), "ns",
              Over(null_return), '<=', 0.35),
         [goal(["heat map by dbg, times dearer: ", Of], Over(dbg), "ns", Over(heat_fast), '>=', 20)
          || is_map_key({dbg, Work}, Figures)]
     end || Work <- [one, many]],
    ok;
goals(_) -> ok.

%% Of a value, or of its ratio to a base.
goal(Name, Value, Unit, Base, Op, Goal) ->
    Against = case Base == 0 of true -> Value; false -> Value / Base end,
    io:format("~-62s ~9.2f ~s~p~n", [Name, Against * 1.0, Op, Goal]),
    bench_lib:goal("calls", lists:flatten(Name), Value, Unit, Base, Against, Op, Goal).

%% ---- other figures ----------------------------------------------------------------------------

fast_ways() -> [traced] ++ [fast || bench_ways:here(fast, calls) =:= ok].

options(Way) -> [{"calls", atom_to_list(Way)}].

%% From go to armed, entry and return of 10,000 functions.
arming() ->
    arming_bench:make_modules(100),
    Script = "erlang*:bench_m[0-9]*::function-entry { self->ts = timestamp; }"
        "erlang*:bench_m[0-9]*::function-return { @[probefunc] = quantize(timestamp - self->ts); }",
    [begin
         Ms = lists:min([armed(options(Way), Script) || _ <- [1, 2, 3]]),
         goal(["10,000 functions armed, ms, ", atom_to_list(Way)], Ms, "ms", 0, '<=', 500)
     end || Way <- fast_ways()].

armed(Options, Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- Options],
    ok = erltrace:compile(H, Script),
    {Us, ok} = timer:tc(erltrace, go, [H]),
    ok = erltrace:close(H),
    Us / 1000.

%% Processor time of a call with two schedulers busy, against one.
schedulers() ->
    [begin
         [One, Two] = [threads_of(N, Way) || N <- [1, 2]],
         goal(["two schedulers against one, heat map, ", atom_to_list(Way)], Two, "ns", One, '<=', 1.15)
     end || erlang:system_info(logical_processors) > 1, Way <- fast_ways()].

threads_of(N, Way) ->
    Peer = bench_lib:peer(["+S", integer_to_list(N)]),
    Ns = peer:call(Peer, ?MODULE, threads, [N, Way], 60000),
    peer:stop(Peer),
    Ns.

-spec threads(pos_integer(), traced | fast) -> float().
threads(N, Way) ->
    make(),
    Calls = 200 * ?MANY,
    H = open(options(Way), script(heat)),
    Ns = lists:min([begin
                        Cpu = bench_lib:cpu_ns(),
                        Ps = [spawn_monitor(fun() -> calls(many, Calls) end) || _ <- lists:seq(1, N)],
                        [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps],
                        (bench_lib:cpu_ns() - Cpu) / (N * Calls)
                    end || _ <- lists:seq(1, 20)]),
    ok = erltrace:close(H),
    Ns.

%% Nothing armed, in nodes of their own that take turns: what one has loaded it has for good.
off() ->
    [begin
         Turns = [{off_in(never), off_in(Way)} || _ <- lists:seq(1, 4)],
         {Never, After} = {lists:min([N || {N, _} <- Turns]), lists:min([A || {_, A} <- Turns])},
         goal(["nothing armed, after the heat map, ", atom_to_list(Way)], After, "ns", Never, '<=', 1.01)
     end || Way <- fast_ways()],
    ok.

off_in(What) ->
    Peer = bench_lib:peer(["+S", "1"]),
    Ns = peer:call(Peer, ?MODULE, alone, [What], 60000),
    peer:stop(Peer),
    Ns.

-spec alone(never | traced | fast) -> float().
alone(What) ->
    make(),
    [scripted(options(What), script(heat), fun() -> time(What, many) end) || What =/= never],
    lists:min([begin timer:sleep(10), time(nothing, many) end || _ <- lists:seq(1, 20)]).
