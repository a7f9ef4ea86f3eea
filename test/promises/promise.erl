%% SPDX-License-Identifier: Apache-2.0
%% Promises that are shown inside a node, each with its figure: erl -run promise main NAME. What is
%% here takes longer than fits into make test, or asserts times; promises.tab has the list.
%% Scripts that are to have events, and not the VM's counters instead, ask for the process.
%% A figure is a line "promise N: TEXT"; the last line is "N passed, N failed".
-module(promise).
-export([main/1, end_with/1, f/1, alone/1]).

f(X) -> X.

main([Name]) -> end_with(fun_of(Name)).

%% Whether the promise holds is the last line, and the exit code.
end_with(Fun) ->
    Bad = try Fun() of
              true -> 0;
              false -> 1
          catch
              C:R:S -> io:format("~p~n", [{C, R, S}]), 1
          end,
    io:format("~b passed, ~b failed~n", [1 - Bad, Bad]),
    halt(Bad).

fun_of("matching") -> fun matching/0;
fun_of("keys") -> fun keys/0;
fun_of("lives") -> fun lives/0;
fun_of("events") -> fun events/0;
fun_of("off") -> fun off/0;
fun_of("off_cost") -> fun off_cost/0;
fun_of("cost") -> fun cost/0;
fun_of("long_schedule") -> fun long_schedule/0;
fun_of("watchdog") -> fun watchdog/0;
fun_of("owner") -> fun owner/0;
fun_of("dbg") -> fun dbg_beside/0;
fun_of("spawns") -> fun spawns/0;
fun_of("hard_terms") -> fun hard_terms/0.

%% ---- helpers ---------------------------------------------------------------------------------

say(N, Format, Args) -> io:format("promise ~b: " ++ Format ++ "~n", [N | Args]).

with_opts(Opts, Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- Opts],
    ok = erltrace:compile(H, iolist_to_binary(Script)),
    ok = erltrace:go(H),
    H.

until(Cond, Ms) -> until1(Cond, now_ms() + Ms).

until1(Cond, End) ->
    Cond() orelse (now_ms() < End andalso receive after 5 -> until1(Cond, End) end).

now_ms() -> erlang:monotonic_time(millisecond).

busy(Fun) -> spawn_monitor(fun() -> busy_loop(Fun) end).

busy_loop(Fun) -> Fun(), receive stop -> ok after 0 -> busy_loop(Fun) end.

end_all(Ps) ->
    [P ! stop || {P, _} <- Ps],
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ps].

calls(0) -> ok;
calls(N) -> ?MODULE:f(N), calls(N - 1).

%% Of /proc/self/status, kB.
kb(What) ->
    {ok, B} = file:read_file("/proc/self/status"),
    {match, [K]} = re:run(B, What ++ ":\\s+(\\d+)", [{capture, [1], list}]),
    list_to_integer(K).

mb(Kb) -> Kb / 1024.

collect() -> [garbage_collect(P) || P <- processes()], ok.

%% ---- 2: loading ------------------------------------------------------------------------------

%% A hundred thousand functions: CPU time of the whole VM, the best of five.
matching() ->
    [make(I) || I <- lists:seq(1, 1000)],
    Times = [begin
                 {ok, H} = erltrace:open(),
                 Match = cpu(fun() -> erltrace:compile(
                     H, "erlang*:promise_m*::function-entry { @[probefunc] = count(); }") end),
                 Arm = cpu(fun() -> erltrace:go(H) end),
                 ok = erltrace:close(H),
                 {Match, Arm}
             end || _ <- lists:seq(1, 5)],
    {Match, Arm} = {lists:min([M || {M, _} <- Times]), lists:min([A || {_, A} <- Times])},
    say(2, "100,000 functions matched in ~b ms of CPU, bound 1000 (and armed in ~b ms)", [Match, Arm]),
    Match < 1000.

cpu(Fun) ->
    {T0, _} = statistics(runtime),
    ok = Fun(),
    {T, _} = statistics(runtime),
    T - T0.

make(I) ->
    Module = list_to_atom("promise_m" ++ integer_to_list(I)),
    Names = [list_to_atom("f" ++ integer_to_list(J)) || J <- lists:seq(1, 98)],
    X = {var, 1, 'X'},
    Forms = [{attribute, 1, module, Module}, {attribute, 1, export, [{F, 1} || F <- Names]} |
             [{function, 1, F, 1, [{clause, 1, [X], [], [X]}]} || F <- Names]],
    {ok, Module, Code} = compile:forms(Forms, [no_ssa_opt, no_copt, no_postopt]),
    {module, Module} = code:load_binary(Module, "made", Code).

%% ---- 3: memory -------------------------------------------------------------------------------

%% Ten million keys. What is configured: two tables and a buffer of each scheduler, and the merged
%% table. Then a million that are read, as the VM keeps the memory of so many terms for a while.
keys() ->
    N = 10000000,
    {Agg, Buf, Max} = {4, 4, 64}, % MB; what they are by default, said so that it holds
    Bound = erlang:system_info(schedulers) * (2 * Agg + Buf) + Max,
    Opts = [{"aggsize", "4m"}, {"bufsize", "4m"}, {"aggmax", "64m"}, {"watchdog", "0"}],
    Script = "erlang*:::user_trace-i4s4 { @[arg2] = count(); }",
    warm(),
    collect(),
    Before = kb("VmRSS"),
    H = with_opts(Opts, Script),
    {Most, _} = fire_keys(H, 1, N, 0, 0),
    ok = erltrace:stop(H),
    Grown = max(Most, kb("VmRSS")) - Before,
    ok = erltrace:close(H),
    Left = settled(Before),
    say(3, "in a node ~b distinct keys: ~.1f MB more, bound ~b + 5 %; after close ~.1f MB more",
        [N, mb(Grown), Bound, mb(Left)]),
    H2 = with_opts([{"aggmax", "8m"} | Opts -- [{"aggmax", "64m"}]], Script),
    {_, Drops} = fire_keys(H2, 1, N div 10, 0, 0),
    ok = erltrace:stop(H2),
    More = drops(H2),
    {ok, Aggs} = erltrace:aggregations(H2),
    Counted = lists:sum([V || {_, count, _, V} <- Aggs]),
    ok = erltrace:close(H2),
    say(4, "in a node ~b keys: ~b counted + ~b dropped", [N div 10, Counted, Drops + More]),
    Counted + Drops + More =:= N div 10 andalso mb(Grown) =< 1.05 * Bound andalso
        mb(Left) < 0.05 * Bound.

%% The VM gives memory back by and by.
settled(Before) ->
    until(fun() -> collect(), kb("VmRSS") - Before < 2048 end, 5000),
    max(0, kb("VmRSS") - Before).

fire_keys(_, I, N, Most, Drops) when I > N -> {Most, Drops};
fire_keys(H, I, N, Most, Drops) ->
    fire_some(I, I + 49999),
    fire_keys(H, I + 50000, N, max(Most, kb("VmRSS")), Drops + drops(H)).

fire_some(I, To) when I > To -> ok;
fire_some(I, To) -> true = dtrace:p(I), fire_some(I + 1, To).

%% Those told since the last time.
drops(H) ->
    case erltrace:consume(H) of
        {ok, Items} -> lists:sum([D || {drop, _, D, _} <- Items]);
        _ -> 0
    end.

%% What the VM and the library set up once.
warm() ->
    [begin
         H = with_opts([], "erlang*:::user_trace-i4s4 { @[arg2] = count(); trace(arg2); }"),
         fire_some(1, 20000),
         _ = erltrace:consume(H),
         {ok, _} = erltrace:aggregations(H),
         ok = erltrace:close(H)
     end || _ <- lists:seq(1, 20)],
    ok.

lives() ->
    N = 10000,
    life_tests:warm_up(),
    [life(I) || I <- lists:seq(1, 1000)],
    collect(),
    Before = {kb("VmRSS"), erlang:memory(total)},
    Look = life_tests:look(),
    Atoms = erlang:system_info(atom_count),
    [life(I) || I <- lists:seq(1, N)],
    ok = life_tests:same(Look),
    collect(),
    Rss = kb("VmRSS") - element(1, Before),
    Memory = (erlang:memory(total) - element(2, Before)) div 1024,
    New = erlang:system_info(atom_count) - Atoms,
    say(3, "in a node ~b x open, go, stop, close: ~b kB more resident, ~b kB more of the VM's, no "
        "process, table, file, thread more", [N, Rss, Memory]),
    say(14, "~b x open, go, stop, close: ~b atoms more", [N, New]),
    Rss < 4096 andalso Memory < 1024 andalso New =:= 0.

life(I) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:compile(H, "erlang*:promise:f:function-entry, erlang*:promise:f:function-return"
                             "{ self->a[arg2] = timestamp; @[copyinstr(arg1)] = count(); trace(1); }"
                             "erlang*:::message-send { @q = quantize(arg2); }"),
    ok = erltrace:go(H),
    ?MODULE:f(I),
    I rem 2 =:= 0 andalso erltrace:stop(H),
    ok = erltrace:close(H).

%% ---- 4: loss ---------------------------------------------------------------------------------

%% Ten million events of four processes, a buffer that is too small, a reader.
events() ->
    N = 10000000,
    H = with_opts([{"bufsize", "64k"}, {"watchdog", "0"}],
                  "erlang*:::user_trace-i4s4 { trace(arg2); @ = count(); }"),
    Ps = [spawn_monitor(fun() -> fire_some(1, N div 4) end) || _ <- lists:seq(1, 4)],
    {R, D} = read(H, Ps, 0, 0),
    ok = erltrace:stop(H),
    {R1, D1} = read_out(H, R, D),
    {ok, [{_, count, [], Counted}]} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    say(4, "in a node ~b events: ~b read + ~b dropped, ~b counted", [N, R1, D1, Counted]),
    R1 + D1 =:= N andalso Counted =:= N.

read(_, [], R, D) -> {R, D};
read(H, Ps, R, D) ->
    {R1, D1} = items(erltrace:consume(H), R, D),
    receive
        {'DOWN', M, process, P, normal} -> read(H, Ps -- [{P, M}], R1, D1)
    after 20 -> read(H, Ps, R1, D1)
    end.

read_out(H, R, D) ->
    case erltrace:consume(H) of
        {ok, _} = Items -> {R1, D1} = items(Items, R, D), read_out(H, R1, D1);
        _ -> {R, D}
    end.

items({ok, Items}, R, D) ->
    {R + length([x || {probe, _, _} <- Items]), D + lists:sum([N || {drop, _, N, _} <- Items])};
items(_, R, D) -> {R, D}.

%% ---- 5: off ----------------------------------------------------------------------------------

-define(MANY, "erlang*:promise:f:function-entry, erlang*:promise:f:function-return,"
        "erlang*:::message-send, erlang*:::message-queued, erlang*:::process-spawn,"
        "erlang*:::process-scheduled, erlang*:::gc_minor-start, erlang*:::port-open,"
        "erlang*:::user_trace-i4s4, tick-10ms { @[probename] = count(); }").

%% Every way a script can end, and what is there afterwards.
off() ->
    {ok, _} = application:ensure_all_started(erltrace),
    ok = application:stop(erltrace),
    life_tests:warm_up(),
    Ways = [{W, way(W)} || W <- [stop, close, exit, owner_ends, owner_killed, handle_killed,
                                 limiter_killed, watchdog, refused, application, module_purged,
                                 node_setting]],
    Bad = [W || {W, R} <- Ways, R =/= ok],
    say(5, "~b ways to end, nothing left after ~b of them~s: flags, patterns, sessions, processes, "
        "tables, terms, files, threads", [length(Ways), length(Ways) - length(Bad),
                                          [io_lib:format(" (not ~p)", [W]) || W <- Bad]]),
    Bad =:= [].

way(How) ->
    Before = life_tests:look(),
    _ = off(How),
    try life_tests:same(Before) catch _:R -> io:format("~p: ~p~n", [How, R]), R end.

off(stop) ->
    {ok, H} = erltrace:script(?MANY),
    ?MODULE:f(1),
    ok = erltrace:stop(H),
    off_only(H);
off(close) ->
    {ok, H} = erltrace:script(?MANY),
    ?MODULE:f(1),
    ok = erltrace:close(H);
off(exit) ->
    {ok, H} = erltrace:script(?MANY "erlang*:promise:f:function-entry { exit(0); }"),
    ?MODULE:f(1),
    true = until(fun() -> erlang:trace_info({?MODULE, f, 1}, traced) =:= {traced, false} end, 10000),
    off_only(H);
off(owner_ends) -> owned(fun() -> ok end, fun(_) -> ok end);
off(owner_killed) ->
    owned(fun() -> receive never -> ok end end, fun(P) -> exit(P, kill) end);
off(handle_killed) ->
    {ok, H} = erltrace:script(?MANY),
    exit(H, kill);
off(limiter_killed) ->
    {ok, H} = erltrace:script(?MANY),
    {links, [Sup]} = process_info(H, links),
    [exit(P, kill) || {erltrace_limiter, P, _, _} <- supervisor:which_children(Sup)],
    ok = erltrace:close(H);
off(watchdog) ->
    H = with_opts([{"watchtime", "200ms"}, {"watchdog", "1"}], ?MANY),
    Ps = [busy(fun() -> calls(100) end) || _ <- [1, 2]],
    true = until(fun() -> {ok, #{aborted := A}} = erltrace:status(H), A =/= undefined end, 20000),
    end_all(Ps),
    off_only(H);
off(refused) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:compile(H, ?MANY "BEGIN { system(\"true\"); }"),
    {error, _} = erltrace:go(H),
    ok = erltrace:close(H);
off(application) ->
    ok = application:start(erltrace),
    {ok, _} = erltrace:script(?MANY),
    ok = application:stop(erltrace);
off(module_purged) ->
    {ok, H} = erltrace:script(?MANY),
    true = code:delete(erltrace_nif),
    code:purge(erltrace_nif),
    ?MODULE:f(1),
    _ = erltrace:close(H);
off(node_setting) ->
    application:set_env(erltrace, destructive, false),
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "destructive", ""),
    ok = erltrace:compile(H, ?MANY "BEGIN { chill(10); }"),
    {error, _} = erltrace:go(H),
    ok = erltrace:close(H),
    application:unset_env(erltrace, destructive).

%% The handle is there, with what was gathered; its probes are not.
off_only(H) ->
    true = until(fun() -> [] =:= [P || P <- [new_processes, new_ports | processes()],
                                       {flags, [_ | _]} <- [erlang:trace_info(P, flags)]]
                 end, 10000),
    ok = erltrace:close(H).

owned(Fun, End) ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> {ok, _} = erltrace:script(?MANY), Me ! armed, Fun() end),
    receive armed -> ok end,
    End(P),
    receive {'DOWN', M, process, P, _} -> ok end.

%% In nodes of their own that take turns, each the best of many short samples.
off_cost() -> off_cost(1, infinity, infinity).

off_cost(Turn, Never, After) ->
    N = min(Never, other("never")),
    A = min(After, other("after")),
    if
        Turn >= 4, A =< 1.01 * N; Turn =:= 12 ->
            say(5, "run time after tracing / never traced: ~.3f, bound 1.010 (~.2f ns a call)",
                [A / N, A]),
            A =< 1.01 * N;
        true ->
            off_cost(Turn + 1, N, A)
    end.

other(What) ->
    Paths = lists:append([["-pa", filename:dirname(code:which(M))] || M <- [?MODULE, erltrace]]),
    Port = open_port({spawn_executable, filename:join([code:root_dir(), "bin", "erl"])},
                     [{args, ["+S", "1", "-noshell"] ++ Paths ++ ["-run", "promise", "alone", What]},
                      exit_status, {line, 100}]),
    receive
        {Port, {data, {eol, Text}}} ->
            receive {Port, {exit_status, 0}} -> list_to_float(Text) end;
        {Port, {exit_status, Status}} -> exit({What, Status})
    end.

alone([What]) ->
    [begin
         {ok, H} = erltrace:script(?MANY),
         calls(1000),
         ok = erltrace:close(H)
     end || What =:= "after"],
    Best = lists:min([begin
                          timer:sleep(10),
                          lists:min([sample(20000) || _ <- lists:seq(1, 25)])
                      end || _ <- lists:seq(1, 40)]),
    io:format("~.4f~n", [Best / 20000]),
    halt().

sample(N) ->
    T0 = erlang:monotonic_time(nanosecond),
    calls(N),
    erlang:monotonic_time(nanosecond) - T0.

%% ---- 6: what it costs ------------------------------------------------------------------------

%% ns an event of each kind: work of so many events with a script and without, in turns, the best
%% of each. make bench has more of them.
cost() ->
    Kinds = [{"function-entry", "erlang*:promise:f:function-entry", fun calls/1, 20000},
             {"entry and return", "erlang*:promise:f:function-entry,"
              "erlang*:promise:f:function-return", fun calls/1, 20000},
             {"message-send", "erlang*:::message-send", fun sends/1, 5000},
             {"process-spawn", "erlang*:::process-spawn", fun spawn_some/1, 500},
             {"process-scheduled", "erlang*:::process-scheduled", fun yields/1, 5000},
             {"gc_major-start", "erlang*:::gc_major-start", fun collections/1, 300},
             {"dtrace:p", "erlang*:::user_trace-i4s4", fun users/1, 20000}],
    Costs = [{Name, ns(Desc ++ " { @[copyinstr(arg0)] = count(); }", Work, N)} || {Name, Desc, Work, N} <- Kinds],
    say(6, "ns an event: ~s", [lists:join(", ", [io_lib:format("~s ~b", [K, round(Ns)])
                                                 || {K, Ns} <- Costs])]),
    H = with_opts([{"watchtime", "1s"}, {"watchdog", "0"}],
                  "erlang*:promise:f:function-entry { @[copyinstr(arg0)] = count(); }"),
    Ps = [busy(fun() -> calls(1000) end)],
    Live = until(fun() -> {ok, #{cost := C}} = erltrace:status(H), C > 0.5 end, 20000),
    {ok, #{cost := C}} = erltrace:status(H),
    end_all(Ps),
    ok = erltrace:close(H),
    say(6, "live, one process that does nothing but calls: ~.1f % of the schedulers' time", [C]),
    Live andalso lists:all(fun({_, Ns}) -> Ns > 0 andalso Ns < 5000 end, Costs).

ns(Script, Work, N) ->
    Turns = [begin
                 Without = in_process(Work, N),
                 H = with_opts([{"watchdog", "0"}], Script),
                 With = in_process(Work, N),
                 ok = erltrace:close(H),
                 {Without, With}
             end || _ <- lists:seq(1, 15)],
    (lists:min([W || {_, W} <- Turns]) - lists:min([W || {W, _} <- Turns])) / N.

in_process(Work, N) ->
    Me = self(),
    {P, M} = spawn_monitor(fun() ->
                                   Ts = [begin
                                             T0 = erlang:monotonic_time(nanosecond),
                                             Work(N),
                                             erlang:monotonic_time(nanosecond) - T0
                                         end || _ <- lists:seq(1, 10)],
                                   Me ! {self(), lists:min(Ts)}
                           end),
    receive {P, T} -> receive {'DOWN', M, process, P, _} -> T end end.

sends(N) ->
    P = spawn_opt(fun() -> receive stop -> ok end end, [{message_queue_data, off_heap}]),
    send_some(P, N),
    exit(P, kill).

send_some(_, 0) -> ok;
send_some(P, N) -> P ! x, send_some(P, N - 1).

spawn_some(0) -> ok;
spawn_some(N) ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, P, _} -> ok end,
    spawn_some(N - 1).

yields(0) -> ok;
yields(N) -> erlang:yield(), yields(N - 1).

collections(0) -> ok;
collections(N) -> garbage_collect(), collections(N - 1).

users(0) -> ok;
users(N) -> dtrace:p(N), users(N - 1).

%% ---- 7: schedulers ---------------------------------------------------------------------------

%% As many events as there can be, and what the system monitor has to say of it. Where the machine
%% has put a scheduler's thread aside for other programs it has something to say too, with a script
%% or without: so both take turns, for a short time each, and the quiet ones are counted.
long_schedule() ->
    Load = fun() -> [busy(fun() -> calls(1000) end)
                     || _ <- lists:seq(1, erlang:system_info(schedulers))] end,
    Turns = [begin
                 Without = told(10, 300, Load),
                 H = with_opts([{"watchdog", "0"}], "erlang*:promise:f:function-entry"
                                                    "{ @[copyinstr(arg0)] = count(); }"),
                 With = told(10, 300, Load),
                 {ok, #{fired := Fired}} = erltrace:status(H),
                 ok = erltrace:close(H),
                 {With, Without, Fired * 10 div 3}
             end || _ <- lists:seq(1, 20)],
    Silent = [F || {0, _, F} <- Turns],
    Rate = lists:max([0 | Silent]),
    say(7, "long_schedule (10 ms) silent in ~b of 20 turns with a script, ~b of 20 without; "
        "in the best of them ~b events a second", [length(Silent), length([x || {_, 0, _} <- Turns]),
                                                   Rate]),
    Rate > 1000000.

told(Limit, Ms, Load) ->
    receive after Ms -> ok end, % others want to run too
    Ps = Load(),
    erlang:system_monitor(self(), [{long_schedule, Limit}]),
    receive after Ms -> ok end,
    erlang:system_monitor(undefined),
    end_all(Ps),
    count_told(0).

count_told(N) ->
    receive {monitor, _, long_schedule, _} -> count_told(N + 1) after 0 -> N end.

%% ---- 8: the watchdog, by its defaults --------------------------------------------------------

-define(ABORT, "Abort due to systemic unresponsiveness").

watchdog() ->
    Ps = [busy(fun() -> calls(100) end) || _ <- lists:seq(1, erlang:system_info(schedulers))],
    %% So dear that nothing else is done. Where other programs have most of the machine, schedulers
    %% cannot come to 30 % of their time.
    Share = share(),
    Percent = case Share > 0.6 of true -> 30; false -> max(1, trunc(30 * Share)) end,
    Dear = with_opts([{"watchdog", integer_to_list(Percent)}], ["erlang*:promise:f:function-entry { this->s = copyinstr(arg1);",
                          lists:duplicate(100, "this->s = strjoin(copyinstr(arg0), copyinstr(arg1));"),
                          "@[this->s] = count(); }"]),
    {T1, Text1} = aborted(Dear, now_ms()),
    say(8, "a dear script was off after ~.1f s (~b % for 10 s): ~s", [T1 / 1000, Percent, Text1]),
    ok = erltrace:close(Dear),
    Began = now_ms(),
    Silent = with_opts([{"bufsize", "4k"}, {"watchdog", "0"}],
                       "erlang*:promise:f:function-entry { trace(arg2); }"),
    Old = processes(),
    Stalled = with_opts([{"watchdog", "0"}],
                        "erlang*:promise:f:function-entry { @[copyinstr(arg0)] = count(); }"),
    Ours = processes() -- Old,
    true = until(fun() -> {ok, #{cost := C}} = erltrace:status(Stalled), C > 0 end, 10000),
    Held = now_ms(),
    [true = erlang:suspend_process(P) || P <- Ours],
    receive after 12000 -> ok end,
    [true = erlang:resume_process(P) || P <- Ours],
    {_, Text2} = aborted(Stalled, Held),
    say(8, "one whose processes did not run for 12 s (10 s): ~s", [Text2]),
    {T3, Text3} = aborted(Silent, Began),
    say(8, "one that nobody read after ~.1f s (30 s): ~s", [T3 / 1000, Text3]),
    end_all(Ps),
    [ok = erltrace:close(H) || H <- [Silent, Stalled]],
    lists:all(fun(T) -> string:prefix(T, ?ABORT) =/= nomatch end, [Text1, Text2, Text3]) andalso
        T1 >= 10000 andalso T1 < 15000 andalso T3 >= 30000 andalso T3 < 35000.

%% What part of the schedulers' time they are on a CPU, if they are busy.
share() ->
    {_, _} = statistics(runtime),
    receive after 2000 -> ok end,
    {_, Ms} = statistics(runtime),
    Ms / (2000 * erlang:system_info(schedulers)).

aborted(H, Began) ->
    until(fun() -> {ok, #{aborted := A}} = erltrace:status(H), A =/= undefined end, 60000),
    T = now_ms() - Began,
    {ok, #{aborted := Text}} = erltrace:status(H),
    {T, case Text of undefined -> <<"NOT off">>; _ -> Text end}.

%% ---- 9: owners -------------------------------------------------------------------------------

%% From the death of the owner to the last flag's being off, a hundred times.
owner() ->
    life_tests:warm_up(),
    Times = lists:sort([death() || _ <- lists:seq(1, 100)]),
    say(9, "owner killed: off after ~b ms (median of 100), ~b ms at most, bound 1000",
        [lists:nth(50, Times), lists:last(Times)]),
    lists:last(Times) < 1000.

death() ->
    Me = self(),
    {P, M} = spawn_monitor(fun() ->
                                   {ok, H} = erltrace:script(?MANY),
                                   Me ! {armed, H},
                                   receive never -> ok end
                           end),
    H = receive {armed, H1} -> H1 end,
    MH = monitor(process, H),
    T0 = now_ms(),
    exit(P, kill),
    receive {'DOWN', M, process, P, _} -> ok end,
    true = until(fun() ->
                         erlang:trace_info({?MODULE, f, 1}, traced) =:= {traced, false} andalso
                             erlang:trace_info(new_processes, flags) =:= {flags, []} andalso
                             erlang:trace_info(Me, flags) =:= {flags, []}
                 end, 20000),
    T = now_ms() - T0,
    receive {'DOWN', MH, process, H, _} -> T end.

%% ---- 10: dbg beside us -----------------------------------------------------------------------

%% Before OTP 27 a process is dbg's or ours, later it is both's. Both get all of their events.
dbg_beside() ->
    N = 20000,
    Me = self(),
    Both = list_to_integer(erlang:system_info(otp_release)) >= 27,
    Work = fun() -> receive go -> calls(N) end end,
    {P1, M1} = spawn_monitor(Work),
    {P2, M2} = spawn_monitor(Work),
    {ok, _} = dbg:tracer(process, {fun(T, K) -> Me ! {dbg, T}, K end, 0}),
    {ok, _} = dbg:p(P1, [c]),
    {ok, _} = dbg:tpl(?MODULE, f, 1, []),
    {ok, H} = erltrace:script("erlang*:promise:f:function-entry { @[copyinstr(arg0)] = count(); }"),
    {ok, #{skipped := Skipped}} = erltrace:status(H),
    [P ! go || P <- [P1, P2]],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- [{P1, M1}, {P2, M2}]],
    Seen = dbg_events(N, 0),
    {ok, Aggs} = erltrace:aggregations(H),
    Ours = lists:sum([V || {_, count, _, V} <- Aggs]),
    ok = erltrace:close(H),
    Pattern = both_pattern(),
    dbg:stop(),
    say(10, "dbg beside us: ~b of its ~b events, ~b of our ~b; ~b process left to it and counted; "
        "its pattern stays", [Seen, N, Ours, if Both -> 2 * N; true -> N end, Skipped]),
    Seen =:= N andalso Pattern andalso
        (if Both -> Ours =:= 2 * N; true -> Ours =:= N andalso Skipped =:= 1 end).

both_pattern() ->
    case erlang:function_exported(trace, session_info, 1) of
        true -> true; % dbg's is in a session of its own
        false -> erlang:trace_info({?MODULE, f, 1}, traced) =:= {traced, local}
    end.

dbg_events(N, N) ->
    receive {dbg, _} -> N + 1 after 500 -> N end;
dbg_events(N, K) ->
    receive
        {dbg, {trace, _, call, {?MODULE, f, _}}} -> dbg_events(N, K + 1);
        {dbg, _} -> dbg_events(N, K)
    after 10000 -> K
    end.

%% ---- 12: churn -------------------------------------------------------------------------------

%% A million processes, each with a variable of its own; where they end quicker than they are
%% cleaned up, those without one are counted.
spawns() ->
    N = 1000000,
    H = with_opts([{"watchdog", "0"}],
                  "erlang*:::process-spawn { @s = count(); }"
                  "erlang*:promise:f:function-entry { self->t = timestamp; }"
                  "erlang*:::process-exit /self->t/ { @e = count(); }"),
    spawn_many(N div 10),
    {ok, Aggs0} = erltrace:aggregations(H),
    Drops0 = drops(H),
    Before = kb("VmRSS"),
    spawn_many(N),
    Drops = drops(H),
    {ok, Aggs} = erltrace:aggregations(H),
    Grown = kb("VmRSS") - Before,
    ok = erltrace:close(H),
    [S, E] = [count(A, Aggs) - count(A, Aggs0) || A <- [<<"s">>, <<"e">>]],
    say(12, "a million processes: ~b spawns, ~b exits with their variable + ~b dropped, ~b kB more",
        [S, E, Drops, Grown]),
    is_integer(Drops0) andalso S >= N andalso E + Drops =:= N andalso Grown < 8192.

count(Name, Aggs) -> lists:sum([V || {A, _, _, V} <- Aggs, A =:= Name]).

spawn_many(0) -> ok;
spawn_many(N) ->
    Ms = [spawn_monitor(fun() -> ?MODULE:f(1) end) || _ <- lists:seq(1, 100)],
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ms],
    spawn_many(N - 100).

%% ---- 20 --------------------------------------------------------------------------------------

%% What scripts ask of the terms that match_tests has: the longest of the answers, each the best of
%% some, since building their results may collect garbage. What would walk all of such a term takes
%% longer by far.
hard_terms() ->
    {ok, H} = erltrace:open(),
    Terms = match_tests:hard_terms(),
    Asked = [{A, longest(A, Terms)} || A <- match_tests:answers()],
    {Slowest, Us} = lists:last(lists:keysort(2, Asked)),
    ok = erltrace:close(H),
    say(20, "~b questions about terms of 100 MB, 10,000 levels and the like: at most ~b us (~ts)",
        [length(Asked) * length(Terms), Us, name_of(Slowest)]),
    Us < 1000.

longest(Answer, Terms) -> lists:max([soonest(Answer, T, 5) || T <- Terms]).

soonest(Answer, T, N) ->
    lists:min([element(1, timer:tc(fun match_tests:answer/2, [Answer, T])) || _ <- lists:seq(1, N)]).

name_of({match, Pattern}) -> Pattern;
name_of({What, _}) -> atom_to_list(What).
