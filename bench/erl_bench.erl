%% SPDX-License-Identifier: Apache-2.0
%% What a probe costs inside a node, against the floor: a tracer that does nothing, with the same
%% flags. Rounds of each take turns, each of several short samples, the best sample of each counts:
%% what else the machine does falls between them. What the work itself costs is taken off both sides
%% for the nanoseconds, not for the ratio.
-module(erl_bench).
-export([main/0, f/1, work/1]).

-define(ROUNDS, 12).
-define(SAMPLES, 25).

main() ->
    io:format("~-34s ~9s ~9s ~9s ~7s ~6s~n",
              ["probe", "bare ns", "floor ns", "ours ns", "ratio", "goal"]),
    M = "erlang*:erl_bench:f:",
    bench("function-entry, count by function", 10000, fun calls/1,
          {[call, arity], [local]}, M ++ "function-entry { @[copyinstr(arg1)] = count(); }", 1.20),
    bench("entry and return, heat map", 10000, fun calls/1, {[call, arity, return_to], [local]},
          M ++ "function-entry { self->_t[copyinstr(arg1)] = timestamp; }" ++
              M ++ "function-return /self->_t[copyinstr(arg1)] != 0/"
          "{ @t[copyinstr(arg1)] = lquantize((timestamp - self->_t[copyinstr(arg1)]) / 1000,"
          " 0, 63, 2); self->_t[copyinstr(arg1)] = 0; }", 1.35),
    bench("message-send, count by sender", 5000, fun sends/1, {[send], none},
          "erlang*:::message-send { @[copyinstr(arg0)] = count(); }", 1.25),
    bench("process-spawn, count by function", 1000, fun spawns/1, {[procs], none},
          "erlang*:::process-spawn { @[copyinstr(arg1)] = count(); }", 1.25),
    bench("process-scheduled, count", 5000, fun yields/1, {[running_procs], none},
          "erlang*:::process-scheduled { @[copyinstr(arg0)] = count(); }", 1.25),
    bench("gc_major-start, sum", 300, fun collections/1, {[garbage_collection], none},
          "erlang*:::gc_major-start { @ = sum(arg1); }", 1.25),
    process_tracer(),
    user_probe().

bench(Name, N, Work, {Flags, Pattern}, Script, Goal) ->
    {Bare, Floor, Ours} =
        lists:foldl(fun(_, {A, B, C}) ->
                            {min(A, time(N, Work)),
                             min(B, with_null(Flags, Pattern, fun() -> time(N, Work) end)),
                             min(C, with_script(Script, fun() -> time(N, Work) end))}
                    end, {infinity, infinity, infinity}, lists:seq(1, ?ROUNDS)),
    io:format("~-34s ~9.1f ~9.1f ~9.1f ~7.2f ~6.2f~n",
              [Name, Bare / N, (Floor - Bare) / N, (Ours - Bare) / N, Ours / Floor, Goal]).

%% In a process of its own, as new ones are traced too.
time(N, Work) ->
    {P, M} = spawn_opt(?MODULE, work, [{N, Work, self()}], [monitor, {min_heap_size, 100000}]),
    receive
        {P, Ns} -> receive {'DOWN', M, process, P, _} -> Ns end;
        {'DOWN', M, process, P, Reason} -> exit(Reason)
    end.

work({N, Work, Parent}) ->
    Parent ! {self(), lists:min([sample(N, Work) || _ <- lists:seq(0, ?SAMPLES)])}.

sample(N, Work) ->
    T0 = erlang:monotonic_time(nanosecond),
    Work(N),
    erlang:monotonic_time(nanosecond) - T0.

with_null(Flags, Pattern, Fun) ->
    [erlang:trace_pattern({?MODULE, f, 1}, true, Pattern) || Pattern =/= none],
    erlang:trace(new_processes, true, [{tracer, null_tracer, 1} | Flags]),
    try Fun()
    after
        erlang:trace(new_processes, false, Flags),
        [erlang:trace_pattern({?MODULE, f, 1}, false, Pattern) || Pattern =/= none]
    end.

with_script(Script, Fun) ->
    {ok, H} = erltrace:script(Script),
    try Fun()
    after erltrace:close(H)
    end.

f(X) -> X.

calls(0) -> ok;
calls(N) -> 1 = id(f(1)), calls(N - 1).

id(X) -> X.

sends(N) ->
    P = spawn_opt(fun() -> receive stop -> ok end end, [{message_queue_data, off_heap}]),
    sends(P, N),
    exit(P, kill).

sends(_, 0) -> ok;
sends(P, N) -> P ! x, sends(P, N - 1).

spawns(0) -> ok;
spawns(N) ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, P, _} -> ok end,
    spawns(N - 1).

yields(0) -> ok;
yields(N) -> erlang:yield(), yields(N - 1).

collections(0) -> ok;
collections(N) -> erlang:garbage_collect(), collections(N - 1).

%% What dbg, recon and redbug do: a message for each event.
process_tracer() ->
    N = 5000,
    Bare = lists:min([time(N, fun calls/1) || _ <- [1, 2, 3]]),
    Tracer = spawn(fun Loop() -> receive _ -> Loop() end end),
    erlang:trace_pattern({?MODULE, f, 1}, [{'_', [], [{return_trace}]}], [local]),
    erlang:trace(new_processes, true, [call, {tracer, Tracer}]),
    T = lists:min([time(N, fun calls/1) || _ <- [1, 2, 3]]),
    erlang:trace(new_processes, false, [call]),
    erlang:trace_pattern({?MODULE, f, 1}, false, [local]),
    exit(Tracer, kill),
    io:format("~-34s ~9.1f ~9s ~9.1f~n", ["a process tracer, entry and return", Bare / N, "-",
                                          (T - Bare) / N]).

user_probe() ->
    N = 20000,
    Loop = fun L(0) -> ok; L(K) -> dtrace:p(1, "x"), L(K - 1) end,
    T = lists:min([time(N, Loop) || _ <- [1, 2, 3]]),
    io:format("~-34s ~9s ~9s ~9.1f~n", ["dtrace:p/2, not enabled", "-", "-", T / N]).
