%% SPDX-License-Identifier: Apache-2.0
%% What a probe costs inside a node, against the floor: a tracer that does nothing, with the same
%% flags. Rounds of each take turns, each of several short samples, the best sample of each counts:
%% what else the machine does falls between them. What the work itself costs is taken off both sides
%% for the nanoseconds, not for the ratio.
-module(erl_bench).
-export([main/0, f/1, work/1, alone/1]).

-define(ROUNDS, (case bench_lib:quick() of true -> 3; false -> 12 end)).
-define(SAMPLES, 25).

%% The results are rows of bench/run.sh's too.
main() ->
    io:format("~-38s ~9s ~9s ~9s ~7s ~7s~n",
              ["in a node", "bare ns", "floor ns", "ours ns", "ratio", "goal"]),
    M = "erlang*:erl_bench:f:",
    Heat = heat_map("timestamp"),
    Entry = [bench("function-entry, count by function", 10000, fun calls/1,
                   {[call, arity], [local]},
                   "#pragma D option counters=0\n" ++
                       M ++ "function-entry { @[copyinstr(arg1)] = count(); }", 1.20),
             bench("entry count by counters (call_count)", 10000, fun calls/1,
                   {[call, arity], [local]},
                   M ++ "function-entry { @[copyinstr(arg1)] = count(); }", 0.25)],
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
            over("a map looked into, two levels deep", fun map_sends/1,
                 "/erlmatch(erlmsg, \"#{user := #{plan := gold}}\")/", 50),
            over("the same by erlget()", fun map_sends/1,
                 "/erlget(\"plan\", erlget(\"user\", erlmsg)) == \"gold\"/", 50),
            over("a pattern that fails at once", fun tuple_sends/1,
                 "/!erlmatch(erlmsg, \"{error, Id, _}\")/", 15),
            by_dbg(HeatRow),
            by_process(HeatRow),
            user_probe(),
            armed(),
            snapshot(),
            off()],
    [save(R) || os:getenv("BENCH_ROWS") =/= false, R <- Entry ++ [HeatRow | Rows]].

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

%% What a predicate adds to an event that is counted: a small difference of two times, so many rounds.
over(Name, Work, Predicate, Goal) ->
    N = 2000,
    Script = fun(P) -> "erlang*:::message-send " ++ P ++ "{ @ = count(); }" end,
    {Base, With} =
        lists:foldl(fun(_, {A, B}) ->
                            {min(A, with_script(Script(""), fun() -> time(N, Work) end)),
                             min(B, with_script(Script(Predicate), fun() -> time(N, Work) end))}
                    end, {infinity, infinity}, lists:seq(1, 4 * ?ROUNDS)),
    row(Name, (With - Base) / N, "ns", Base / N, (With - Base) / N, '<=', Goal).

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

map_sends(N) -> sends_of(#{time => 1, user => #{id => 7, name => <<"zoe">>, plan => gold}}, N).
tuple_sends(N) -> sends_of({ok, 7, x}, N).

sends_of(Message, N) ->
    P = spawn_opt(fun() -> receive stop -> ok end end, [{message_queue_data, off_heap}]),
    sends_of(P, Message, N),
    exit(P, kill).

sends_of(_, _, 0) -> ok;
sends_of(P, Message, N) -> P ! Message, sends_of(P, Message, N - 1).

%% ---- other figures ---------------------------------------------------------------------------

row(Name, Value, Unit, Base, Ratio, Op, Goal) ->
    io:format("~-38s ~29.1f ~7.2f ~7s  ~s~n", [Name, Value * 1.0, Ratio * 1.0,
                                               io_lib:format("~s~p", [Op, Goal]), Unit]),
    {Name, Value, Unit, Base, Ratio, Op, Goal, Value}.

%% The heat map as it is made with dbg: a message for each event to dbg's process, which gives them
%% to a function that makes of them what the script makes. There is one scheduler, so that the time
%% is that of both processes; it ends when the last event has been looked at. What recon and redbug
%% do is the same, and they make text of each event too.
by_dbg(HeatRow) ->
    case code:ensure_loaded(dbg) of
        {module, dbg} ->
            Me = self(),
            Bare = best(10000, fun calls/1),
            {ok, _} = dbg:tracer(process, {fun(E, S) -> seen(E, S, Me) end, {0, #{}, #{}}}),
            {ok, _} = dbg:tpl(?MODULE, f, 1, [{'_', [], [{return_trace}]}]),
            {ok, _} = dbg:p(new_processes, [call, timestamp]),
            Row = dearer("the heat map by dbg", Bare, HeatRow, '>=', 8),
            dbg:stop(),
            Row;
        _ ->
            row("the heat map by dbg, which is not here", 0, "ns", 0, 0, '>=', 0)
    end.

%% The same without dbg, without arguments, with the cheapest time stamps; and without the priority
%% that dbg gives its process, so that messages pile up.
by_process(HeatRow) ->
    Me = self(),
    Tracer = spawn(fun() -> reader({0, #{}, #{}}, Me) end),
    Flags = [call, arity, monotonic_timestamp],
    Bare = best(10000, fun calls/1),
    erlang:trace_pattern({?MODULE, f, 1}, [{'_', [], [{return_trace}]}], [local]),
    erlang:trace(new_processes, true, [{tracer, Tracer} | Flags]),
    Row = dearer("the same by a process without dbg", Bare, HeatRow, '>=', 1),
    erlang:trace(new_processes, false, Flags),
    erlang:trace_pattern({?MODULE, f, 1}, false, [local]),
    exit(Tracer, kill),
    Row.

reader(S, To) ->
    receive E -> reader(seen(E, S, To), To) end.

dearer(Name, Bare, {_, _, _, _, _, _, _, Ours}, Op, Goal) ->
    N = 10000,
    T = lists:min([all_seen(N) || _ <- lists:seq(1, 12)]),
    Theirs = (T - Bare) / N,
    row(Name, Theirs, "ns", Ours, Theirs / Ours, Op, Goal).

all_seen(N) ->
    Me = self(),
    {P, M} = spawn_opt(fun() -> Me ! {began, erlang:monotonic_time(nanosecond)}, calls(N) end,
                       [monitor, {min_heap_size, 100000}]),
    T0 = receive {began, At} -> At end,
    T = receive {seen, N, End} -> End - T0 end,
    receive {'DOWN', M, process, P, _} -> T end.

%% An event, by dbg's time stamps or monotonic ones; the last of 10,000 is told.
seen({trace_ts, Pid, call, MFA, T}, {N, Began, Map}, _) ->
    {N, Began#{{Pid, key(MFA)} => T}, Map};
seen({trace_ts, Pid, return_from, MFA, _, T}, {N, Began, Map}, To) ->
    Key = key(MFA),
    {T0, Rest} = maps:take({Pid, Key}, Began),
    Bucket = min(micros(T, T0) div 2, 32),
    New = maps:update_with({Key, Bucket}, fun(C) -> C + 1 end, 1, Map),
    case N + 1 of
        10000 ->
            To ! {seen, 10000, erlang:monotonic_time(nanosecond)},
            {0, Rest, New};
        More ->
            {More, Rest, New}
    end;
seen(_, S, _) ->
    S.

key({M, F, A}) when is_list(A) -> {M, F, length(A)};
key(MFA) -> MFA.

micros({_, _, _} = T, T0) -> timer:now_diff(T, T0);
micros(T, T0) -> (T - T0) div 1000.

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

%% In nodes of their own, which take turns: what one has loaded it has for good. Each measures in
%% short rounds over half a second, as what disturbs one round does not last that long; of the
%% rounds and of the nodes the best counts.
off() ->
    Turns = [{other(never), other('after')} || _ <- lists:seq(1, 5)],
    Never = lists:min([N || {N, _} <- Turns]),
    After = lists:min([A || {_, A} <- Turns]),
    row("off, against never loaded", After, "ns", Never, After / Never, '<=', 1.01).

other(What) ->
    Erl = filename:join([code:root_dir(), "bin", "erl"]),
    Paths = lists:append([["-pa", filename:dirname(code:which(M))] || M <- [?MODULE, erltrace]]),
    Args = ["+S", "1", "-noshell"] ++ Paths ++
        ["-run", atom_to_list(?MODULE), "alone", atom_to_list(What)],
    Port = open_port({spawn_executable, Erl}, [{args, Args}, exit_status, {line, 100}]),
    receive
        {Port, {data, {eol, Text}}} ->
            receive {Port, {exit_status, 0}} -> list_to_float(Text) end;
        {Port, {exit_status, Status}} ->
            exit({off, What, Status})
    end.

alone([What]) ->
    [with_script(heat_map("timestamp"), fun() -> time(10000, fun calls/1) end)
     || What =:= "after"],
    Ns = lists:min([begin timer:sleep(10), time(10000, fun calls/1) end || _ <- lists:seq(1, 40)]),
    io:format("~.4f~n", [Ns / 10000]),
    halt().

save({Name, Value, Unit, Base, Ratio, Op, Goal, _}) ->
    Against = case Ratio == 0 of true -> Value; false -> Ratio end,
    bench_lib:goal("node", Name, Value, Unit, Base, Against, Op, Goal).
