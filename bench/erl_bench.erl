%% SPDX-License-Identifier: Apache-2.0
%% What a probe costs inside a node, against the floor: a tracer that does nothing, with the same
%% flags. Rounds of each take turns, each of several short samples, the best sample of each counts:
%% what else the machine does falls between them. What the work itself costs is taken off both sides
%% for the nanoseconds, not for the ratio.
-module(erl_bench).
-export([main/0, f/1, work/1]).

-define(ROUNDS, 12).
-define(SAMPLES, 25).

%% The results are added to the file that BENCH_RESULTS names, if it does.
main() ->
    Never = best(10000, fun calls/1),
    io:format("~-38s ~9s ~9s ~9s ~7s ~7s~n",
              ["in a node", "bare ns", "floor ns", "ours ns", "ratio", "goal"]),
    M = "erlang*:erl_bench:f:",
    Heat = heat_map("timestamp"),
    Entry = [bench("function-entry, count by function", 10000, fun calls/1, {[call, arity], [local]},
                   M ++ "function-entry { @[copyinstr(arg1)] = count(); }", 1.20)],
    HeatRow = bench("entry and return, heat map", 10000, fun calls/1,
                    {[call, arity, return_to], [local]}, Heat, 1.35),
    Rows = [bench("the same by running time", 10000, fun calls/1,
                  {[call, arity, return_to], [local]}, heat_map("vtimestamp"), 1.35),
            bench("message-send, count by sender", 5000, fun sends/1, {[send], none},
                  "erlang*:::message-send { @[copyinstr(arg0)] = count(); }", 1.25),
            bench("process-spawn, count by function", 1000, fun spawns/1, {[procs], none},
                  "erlang*:::process-spawn { @[copyinstr(arg1)] = count(); }", 1.25),
            bench("process-scheduled, count", 5000, fun yields/1, {[running_procs], none},
                  "erlang*:::process-scheduled { @[copyinstr(arg0)] = count(); }", 1.25),
            bench("gc_major-start, sum", 300, fun collections/1, {[garbage_collection], none},
                  "erlang*:::gc_major-start { @ = sum(arg1); }", 1.25),
            process_tracer(HeatRow),
            user_probe(),
            armed(),
            snapshot(),
            off(Never)],
    save(os:getenv("BENCH_RESULTS"), Entry ++ [HeatRow | Rows]).

heat_map(Clock) ->
    M = "erlang*:erl_bench:f:",
    M ++ "function-entry { self->_t[copyinstr(arg1)] = " ++ Clock ++ "; }" ++
        M ++ "function-return /self->_t[copyinstr(arg1)] != 0/"
        "{ @t[copyinstr(arg1)] = lquantize((" ++ Clock ++ " - self->_t[copyinstr(arg1)]) / 1000,"
        " 0, 63, 2); self->_t[copyinstr(arg1)] = 0; }".

bench(Name, N, Work, {Flags, Pattern}, Script, Goal) ->
    {Bare, Floor, Ours} =
        lists:foldl(fun(_, {A, B, C}) ->
                            {min(A, time(N, Work)),
                             min(B, with_null(Flags, Pattern, fun() -> time(N, Work) end)),
                             min(C, with_script(Script, fun() -> time(N, Work) end))}
                    end, {infinity, infinity, infinity}, lists:seq(1, ?ROUNDS)),
    io:format("~-38s ~9.1f ~9.1f ~9.1f ~7.2f ~7s~n",
              [Name, Bare / N, (Floor - Bare) / N, (Ours - Bare) / N, Ours / Floor,
               "<=" ++ float_to_list(Goal, [{decimals, 2}])]),
    {Name, Ours / N, "ns", Floor / N, Ours / Floor, '<=', Goal, (Ours - Bare) / N}.

best(N, Work) ->
    lists:min([time(N, Work) || _ <- lists:seq(1, ?ROUNDS)]).

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

%% ---- the work --------------------------------------------------------------------------------

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

%% ---- other figures ---------------------------------------------------------------------------

row(Name, Value, Unit, Base, Ratio, Op, Goal) ->
    io:format("~-38s ~29.1f ~7.2f ~7s  ~s~n", [Name, Value * 1.0, Ratio * 1.0,
                                               io_lib:format("~s~p", [Op, Goal]), Unit]),
    {Name, Value, Unit, Base, Ratio, Op, Goal, Value}.

%% What dbg, recon and redbug do: a message for each event, and a process that reads them; here it
%% makes of them what the heat map's script makes. It is done when that has read the last one.
process_tracer({_, _, _, _, _, _, _, Ours}) ->
    N = 10000,
    Tracer = spawn(fun() -> reader(#{}, #{}) end),
    Work = fun(K) -> calls(K), Tracer ! {sync, self()}, receive Tracer -> ok end end,
    Bare = best(N, fun calls/1),
    erlang:trace_pattern({?MODULE, f, 1}, [{'_', [], [{return_trace}]}], [local]),
    erlang:trace(new_processes, true, [call, arity, monotonic_timestamp, {tracer, Tracer}]),
    T = lists:min([time(N, Work) || _ <- lists:seq(1, 5)]),
    erlang:trace(new_processes, false, [call, arity, monotonic_timestamp]),
    erlang:trace_pattern({?MODULE, f, 1}, false, [local]),
    exit(Tracer, kill),
    Theirs = (T - Bare) / N,
    row("the heat map by a process tracer", Theirs, "ns", Ours, Theirs / Ours, '>=', 8).

reader(Began, Map) ->
    receive
        {trace_ts, Pid, call, MFA, T} ->
            reader(Began#{{Pid, MFA} => T}, Map);
        {trace_ts, Pid, return_from, MFA, _, T} ->
            {T0, Rest} = maps:take({Pid, MFA}, Began),
            Bucket = min((T - T0) div 2000, 32),
            reader(Rest, maps:update_with({MFA, Bucket}, fun(N) -> N + 1 end, 1, Map));
        {sync, From} ->
            From ! self(),
            reader(Began, Map)
    end.

user_probe() ->
    N = 20000,
    Loop = fun L(0) -> ok; L(K) -> dtrace:p(1, "x"), L(K - 1) end,
    row("dtrace:p/2, not enabled", best(N, Loop) / N, "ns", 0, 0, '<=', 50).

armed() ->
    {ok, H0} = erltrace:open(),
    ok = erltrace:close(H0),
    Ns = lists:min([begin
                        T0 = erlang:monotonic_time(nanosecond),
                        {ok, H} = erltrace:script(heat_map("timestamp")),
                        T = erlang:monotonic_time(nanosecond) - T0,
                        ok = erltrace:close(H),
                        T
                    end || _ <- lists:seq(1, 10)]),
    row("open, compile, go: armed", Ns / 1.0e6, "ms", 0, 0, '<=', 20).

snapshot() ->
    {ok, H} = erltrace:script("erlang*:::user_trace-i4s4 { @[arg2] = count(); }"),
    [dtrace:p(K) || K <- lists:seq(1, 10000)],
    Ns = lists:min([sample(10000, fun(N) ->
                                          {ok, Keys} = erltrace:aggregations(H),
                                          N = length(Keys)
                                  end) || _ <- lists:seq(1, 10)]),
    ok = erltrace:close(H),
    row("snapshot of 10,000 keys, as terms", Ns / 1.0e6, "ms", 0, 0, '<=', 5).

off(Never) ->
    After = best(10000, fun calls/1),
    row("off, against never loaded", After / 10000, "ns", Never / 10000, After / Never, '<=', 1.01).

save(false, _) ->
    ok;
save(File, Rows) ->
    {ok, Text} = file:read_file(File),
    Open = string:trim(string:trim(binary_to_list(Text)), trailing, "]\n"),
    ok = file:write_file(File, [Open, [[",\n", json(R)] || R <- Rows], "\n]\n"]).

json({Name, Value, Unit, Base, Ratio, Op, Goal, _}) ->
    Against = case Ratio == 0 of true -> Value; false -> Ratio end,
    Ok = case Op of '<=' -> Against =< Goal; '>=' -> Against >= Goal end,
    io_lib:format("  {\"name\": \"~s\", \"value\": ~.3f, \"unit\": \"~s\", \"baseline\": ~.3f, "
                  "\"ratio\": ~.3f, \"goal\": \"~s~p\", \"ok\": ~s}",
                  [Name, Value * 1.0, Unit, Base * 1.0, Ratio * 1.0, Op, Goal, Ok]).
