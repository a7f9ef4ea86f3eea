%% SPDX-License-Identifier: Apache-2.0
%% Each probe of the erlang provider: a known number of events, exactly that number, with the right
%% arguments. Tests wait for events, they do not sleep.
-module(erltrace_probe_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2, in_process/1, quoted/1]).
-export([init/1, callback_mode/0, handle_call/3, handle_cast/2, handle_event/4]).
-export([body/1, tail/1, even/1, odd/1, outer/1, inner/1, thrower/1, catcher/1, idle/0, loop/1,
         two/1, one/1, untraced/1, sleeper/1]).

%% ---- helpers ---------------------------------------------------------------------------------

%% ---- what is traced --------------------------------------------------------------------------

body(0) -> 0;
body(N) -> 1 + body(N - 1).

tail(0) -> done;
tail(N) -> tail(N - 1).

even(0) -> true;
even(N) -> odd(N - 1).

odd(0) -> false;
odd(N) -> even(N - 1).

outer(X) -> {outer, inner(X)}.
inner(X) -> untraced(X) + 1.
untraced(X) -> {ok, Y} = {ok, X}, Y.

%% A tail call after a nested one.
two(X) -> _ = one(X), one(X).
one(X) -> X.

thrower(-1) -> never;
thrower(0) -> throw(up);
thrower(N) -> [thrower(N - 1)].

catcher(N) ->
    try thrower(N) catch throw:up -> caught end.

idle() -> receive stop -> ok end.

loop(State) ->
    receive
        {add, N} -> ?MODULE:loop(State + N);
        {get, From} -> From ! {sum, State}, ?MODULE:loop(State);
        stop -> ok
    end.

%% ---- messages --------------------------------------------------------------------------------

send_size_test() ->
    Terms = [a, 1, [], {}, {a}, [1, 2, 3], {[1], {2}}, 1.5, 1 bsl 62, #{}, #{a => 1},
             #{a => {1}, b => [2], c => 3}, <<"abc">>, <<0:1024>>, "text", self(),
             {deep, [{list, [with, {tuples}]}]}],
    Self = self(),
    Sizes = lists:sort([erts_debug:flat_size(T) || T <- Terms]),
    Got = run(["erlang*:::message-send /copyinstr(arg0) == ", quoted(Self),
               " && copyinstr(arg1) == copyinstr(arg0)/ { @[arg2] = count(); @t = sum(arg3); }"],
              fun() -> [Self ! T || T <- Terms] end),
    [receive T -> ok end || T <- Terms],
    ?assertEqual(Sizes, lists:append([lists:duplicate(N, S)
                                      || {{"_", [S]}, N} <- lists:sort(maps:to_list(Got))])),
    ?assertEqual(0, maps:get({"t", []}, Got)).

send_to_name_test() ->
    {P, M} = spawn_monitor(fun idle/0),
    register(erltrace_idle, P),
    Self = self(),
    Got = run(["erlang*:::message-send /copyinstr(arg0) == ", quoted(Self),
               " && (copyinstr(arg1) == \"erltrace_idle\")/ { @ = count(); }"],
              fun() ->
                      [erltrace_idle ! x || _ <- lists:seq(1, 10)],
                      [{erltrace_idle, node()} ! x || _ <- lists:seq(1, 5)]
              end),
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end,
    ?assertEqual(#{{"_", []} => 15}, Got).

queued_test() ->
    {P, M} = spawn_monitor(fun() -> loop(0) end),
    Self = self(),
    Got = run(["erlang*:::message-queued /copyinstr(arg0) == ", quoted(P),
               "/ { @[arg1] = count(); @least = min(arg2); }"],
              fun() ->
                      [P ! {add, I} || I <- lists:seq(1, 100)],
                      P ! {get, Self},
                      receive {sum, 5050} -> ok end
              end),
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end,
    ?assertEqual(101, maps:get({"_", [3]}, Got)),
    ?assert(maps:get({"least", []}, Got) >= 1).

%% ---- processes -------------------------------------------------------------------------------

spawn_exit_arguments_test() ->
    Got = run("erlang*:::process-spawn { @s[copyinstr(arg0), copyinstr(arg1)] = count(); }"
              "erlang*:::process-exit { @e[copyinstr(arg0), copyinstr(arg1)] = count(); }",
              fun() ->
                      P = spawn(?MODULE, idle, []),
                      M = erlang:monitor(process, P),
                      exit(P, {because, 7}),
                      receive {'DOWN', M, process, P, _} -> ok end,
                      put(pid, pid_to_list(P))
              end),
    ?assertEqual(1, maps:get({"s", [get(pid), "erltrace_probe_tests:idle/0"]}, Got)),
    ?assertEqual(1, maps:get({"e", [get(pid), "{because,7}"]}, Got)).

%% To processes that have ended, and to names that nobody has, or no longer has: they are not sent but undelivered.
%% A name that was there before, one that is new, and a port's are somebody's.
undelivered_test() ->
    Old = spawn(fun() -> register(undelivered_old, self()), receive stop -> ok end end),
    registered_as(undelivered_old, Old),
    Port = open_port({spawn, "cat"}, []),
    register(undelivered_port, Port),
    {Gone, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, Gone, _} -> ok end,
    Got = run("erlang*:::message-undelivered /erlpeer == \"undelivered_port\"/ { @port = count(); }"
              "erlang*:::message-undelivered /erlmsg == \"{undelivered,7}\"/ { @u[erlpeer, copyinstr(arg1), arg2] = count(); }"
              "erlang*:::message-send /erlmsg == \"{undelivered,7}\"/ { @s[copyinstr(arg1)] = count(); }",
              fun() ->
                      undelivered_port ! {self(), {command, "x"}},
                      New = spawn(fun() -> register(undelivered_new, self()), receive stop -> ok end end),
                      registered_as(undelivered_new, New),
                      in_process(fun() -> undelivered(Gone, 3) end),
                      [begin
                           Mon = monitor(process, P),
                           P ! stop,
                           receive {'DOWN', Mon, process, P, _} -> ok end
                       end || P <- [Old, New]],
                      in_process(fun() -> undelivered(Gone, 4) end)
              end),
    port_close(Port),
    Pid = pid_to_list(Gone),
    ?assertEqual(#{{"u", [Pid, Pid, 3]} => 14, {"u", ["undelivered_no", "undelivered_no", 3]} => 7,
                   {"u", ["undelivered_old", "undelivered_old", 3]} => 4,
                   {"u", ["undelivered_new", "undelivered_new", 3]} => 4,
                   {"s", ["undelivered_old"]} => 3, {"s", ["undelivered_new"]} => 3}, Got).

undelivered(Gone, N) ->
    Msg = {undelivered, 7},
    [begin
         Gone ! Msg,
         erlang:send(Gone, Msg, [nosuspend]),
         [{Name, node()} ! Msg || Name <- [undelivered_no, undelivered_old, undelivered_new]]
     end || _ <- lists:seq(1, N)].

registered_as(Name, Pid) -> whereis(Name) =:= Pid orelse begin erlang:yield(), registered_as(Name, Pid) end.

%% Ten rounds: out at the receive, in again for the message. (To be asked for its status might let it in once
%% more: so the script itself says when it is out.)
scheduled_test() ->
    {P, M} = spawn_monitor(fun() -> loop(0) end),
    Wait = fun Wait() ->
                   case process_info(P, status) of
                       {status, waiting} -> ok;
                       _ -> erlang:yield(), Wait()
                   end
           end,
    Wait(),
    Self = self(),
    Got = run(["erlang*:::process-scheduled /copyinstr(arg0) == ", quoted(P),
               "/ { @i[copyinstr(arg1)] = count(); }"
               "erlang*:::process-unscheduled /copyinstr(arg0) == ", quoted(P),
               "/ { @o = count(); }"],
              fun(H) ->
                      [begin
                           P ! {get, Self},
                           receive {sum, 0} -> ok end,
                           is_out(H, I)
                       end || I <- lists:seq(1, 10)]
              end),
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end,
    ?assertEqual(10, maps:get({"i", ["erltrace_probe_tests:loop/1"]}, Got)),
    ?assertEqual(10, maps:get({"o", []}, Got)).

%% So many times.
is_out(H, N) ->
    maps:get({"o", []}, script_run:aggregations(H), 0) >= N orelse receive after 1 -> is_out(H, N) end.

%% Three times asleep, woken by a message twice, and by signals for a moment in between.
hibernate_test() ->
    Got = run("erlang*:::process-hibernate { @[copyinstr(arg0), copyinstr(arg1)] = count(); }",
              fun() ->
                      P = spawn(fun() -> proc_lib:hibernate(?MODULE, sleeper, [2]) end),
                      M = erlang:monitor(process, P),
                      asleep(P),
                      P ! again,
                      asleep(P),
                      P ! again,
                      asleep(P),
                      P ! again,
                      receive {'DOWN', M, process, P, _} -> ok end,
                      put(pid, pid_to_list(P))
              end),
    %% processes of OTP's own may hibernate too
    ?assertEqual([{"erltrace_probe_tests:sleeper/1", 3}],
                 [{F, N} || {{"_", [P, F]}, N} <- maps:to_list(Got), P =:= get(pid)]).

%% Servers of both kinds: after each of ten requests, whatever signals wake them in between.
hibernating_servers_test() ->
    [begin
         {ok, P} = Behaviour:start(?MODULE, Behaviour, []),
         Got = run(["erlang*:::process-hibernate /copyinstr(arg0) == ", quoted(P), "/ { @[copyinstr(arg1)] = count(); }"],
                   fun(H) ->
                           [begin
                                ok = Behaviour:call(P, sleep),
                                hibernated(H, N),
                                _ = process_info(P, dictionary), % a signal
                                ok = sleeps(P)
                            end || N <- lists:seq(1, 10)]
                   end),
         ok = Behaviour:stop(P),
         ?assertMatch({_, [{{"_", [_]}, 10}]}, {Behaviour, maps:to_list(Got)})
     end || Behaviour <- [gen_server, gen_statem]].

hibernated(H, N) ->
    lists:sum(maps:values(script_run:aggregations(H))) >= N orelse receive after 1 -> hibernated(H, N) end.

sleeps(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> erlang:yield(), sleeps(P)
    end.

init(gen_server) -> {ok, none};
init(gen_statem) -> {ok, idle, none}.

callback_mode() -> handle_event_function.

handle_call(sleep, _, State) -> {reply, ok, State, hibernate}.

handle_cast(_, State) -> {noreply, State}.

handle_event({call, From}, sleep, _, _) -> {keep_state_and_data, [{reply, From, ok}, hibernate]}.

sleeper(N) ->
    receive again -> ok end,
    case N of
        0 -> ok;
        _ -> proc_lib:hibernate(?MODULE, sleeper, [N - 1])
    end.

%% It has handled its messages and hibernates.
asleep(P) ->
    case process_info(P, [current_function, message_queue_len, status]) of
        [{_, {erlang, hibernate, 3}}, {_, 0}, {_, waiting}] -> ok;
        _ -> erlang:yield(), asleep(P)
    end.

%% A major collection that is asked for; a heap that must grow.
gc_test() ->
    Self = self(),
    Got = run(["erlang*:::gc_major-start /copyinstr(arg0) == ", quoted(Self),
               "/ { @s = count(); @need = sum(arg1); }"
               "erlang*:::gc_major-end /copyinstr(arg0) == ", quoted(Self),
               "/ { @e = count(); }"],
              fun() -> [erlang:garbage_collect() || _ <- lists:seq(1, 20)] end),
    ?assertEqual(20, maps:get({"s", []}, Got)),
    ?assertEqual(20, maps:get({"e", []}, Got)).

heap_test() ->
    Got = run("erlang*:::process-heap_grow { @g[copyinstr(arg0)] = max(arg2); "
              "@bad = sum(arg2 <= arg1); }"
              "erlang*:::process-heap_shrink { @s[copyinstr(arg0)] = count(); }",
              fun() ->
                      {P, _} = in_process(fun() ->
                                                  L = lists:seq(1, 100000),
                                                  put(n, length(L)),
                                                  erlang:garbage_collect()
                                          end),
                      put(pid, pid_to_list(P))
              end),
    ?assert(maps:get({"g", [get(pid)]}, Got) > 10000),
    ?assertEqual(0, maps:get({"bad", []}, Got)),
    ?assertEqual(1, maps:get({"s", [get(pid)]}, Got)).

%% ---- functions -------------------------------------------------------------------------------

returns(Functions, Fun) ->
    Descs = fun(Name) ->
                    lists:join(",", [["erlang*:erltrace_probe_tests:", F, ":", Name]
                                     || F <- Functions])
            end,
    Got = run([Descs("function-entry"), "{ @e[probefunc, arg2] = count(); }",
               Descs("function-return"), "{ @r[probefunc, arg2] = count(); }"],
              fun() -> in_process(Fun) end),
    {[{F, D, N} || {{"e", [F, D]}, N} <- lists:sort(maps:to_list(Got))],
     [{F, D, N} || {{"r", [F, D]}, N} <- lists:sort(maps:to_list(Got))]}.

return_body_test() ->
    {E, R} = returns(["body"], fun() -> 9 = body(9) end),
    Want = [{"body/1", D, 1} || D <- lists:seq(1, 10)],
    ?assertEqual(Want, E),
    ?assertEqual(Want, R).

%% Deeper than any chunk of the shadow stack, and through garbage collections, which move the stack.
return_deep_test_() ->
    {timeout, 60, fun() ->
        {E, R} = returns(["body"], fun() -> 20000 = body(20000) end),
        ?assertEqual(20001, length(E)),
        ?assertEqual(E, R)
    end}.

%% One return for a chain of tail calls: of the last function, at the depth of the first.
return_tail_test() ->
    {E, R} = returns(["tail"], fun() -> done = tail(1000) end),
    ?assertEqual([{"tail/1", 1, 1001}], E),
    ?assertEqual([{"tail/1", 1, 1}], R).

return_mutual_test() ->
    {E, R} = returns(["even", "odd"], fun() -> true = even(10), false = even(11) end),
    ?assertEqual([{"even/1", 1, 12}, {"odd/1", 1, 11}], E),
    ?assertEqual([{"even/1", 1, 1}, {"odd/1", 1, 1}], R).

return_nested_test() ->
    {E, R} = returns(["outer", "inner"],
                     fun() -> [{outer, _} = outer(I) || I <- lists:seq(1, 100)] end),
    ?assertEqual([{"inner/1", 2, 100}, {"outer/1", 1, 100}], E),
    ?assertEqual(E, R).

return_nested_then_tail_test() ->
    {E, R} = returns(["one", "two"], fun() -> [two(I) || I <- lists:seq(1, 100)] end),
    ?assertEqual([{"one/1", 1, 100}, {"one/1", 2, 100}, {"two/1", 1, 100}], E),
    ?assertEqual([{"one/1", 1, 100}, {"one/1", 2, 100}], R).

%% Thrown past three frames: these do not return, what comes after is right.
return_throw_test() ->
    {E, R} = returns(["thrower", "catcher", "one"],
                     fun() ->
                             [begin caught = catcher(2), 1 = id(one(1)) end
                              || _ <- lists:seq(1, 50)]
                     end),
    ?assertEqual([{"catcher/1", 1, 50}, {"one/1", 1, 50}] ++
                     [{"thrower/1", D, 50} || D <- [2, 3, 4]], E),
    ?assertEqual([{"catcher/1", 1, 50}, {"one/1", 1, 50}], R).

id(X) -> X.

%% A server loop under function-return has the heap it had before, and nothing is kept of it.
return_loop_test() ->
    {P, M} = spawn_monitor(?MODULE, loop, [0]),
    Self = self(),
    {ok, H} = erltrace:script("erlang*:erltrace_probe_tests:loop:function-entry,"
                              "erlang*:erltrace_probe_tests:loop:function-return"
                              "{ @[probename, arg2] = count(); }"),
    Ask = fun() -> P ! {get, Self}, receive {sum, _} -> ok end end,
    Ask(),
    {_, Stack} = process_info(P, stack_size),
    [P ! {add, 1} || _ <- lists:seq(1, 10000)],
    Ask(),
    {_, Stack1} = process_info(P, stack_size),
    ?assert(Stack1 =< Stack + 2),
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end,
    {ok, Aggs} = erltrace:aggregations(H),
    {ok, #{lost := 0, returns_by := stack}} = erltrace:status(H),
    erltrace:close(H),
    ?assertEqual([10002], [N || {_, _, [<<"function-entry">>, 1], N} <- Aggs]),
    ?assertEqual([], [N || {_, _, [<<"function-entry">>, D], N} <- Aggs, D =/= 1]).

%% Times by self-> around a call that does a known piece of work.
return_time_test() ->
    Got = run("erlang*:erltrace_probe_tests:body:function-entry /arg2 == 1/"
              "{ self->t = timestamp; }"
              "erlang*:erltrace_probe_tests:body:function-return /self->t && arg2 == 1/"
              "{ @ = max(timestamp - self->t); @n = count(); self->t = 0; }",
              fun() -> in_process(fun() -> [body(100) || _ <- lists:seq(1, 30)] end) end),
    ?assertEqual(30, maps:get({"n", []}, Got)),
    ?assert(maps:get({"_", []}, Got) > 0).

%% External calls only; local ones are not counted.
global_test() ->
    Got = run("erlang*:erltrace_probe_tests:one*:global-function-entry"
              "{ @[copyinstr(arg1)] = count(); }",
              fun() -> [begin ?MODULE:one(I), one(I) end || I <- lists:seq(1, 100)] end),
    ?assertEqual(#{{"_", ["erltrace_probe_tests:one/1"]} => 100}, Got).

local_test() ->
    Got = run("erlang*:erltrace_probe_tests:one*:local-function-entry"
              "{ @[copyinstr(arg1)] = count(); }",
              fun() -> [begin ?MODULE:one(I), one(I) end || I <- lists:seq(1, 100)] end),
    ?assertEqual(#{{"_", ["erltrace_probe_tests:one/1"]} => 200}, Got).

%% In a process of ours: who writes the names of tests calls it as well.
bif_test() ->
    Got = run("erlang*:lists:reverse/2:bif-entry /erlname == \"probe_bif\"/ { @e[copyinstr(arg1)] = count(); }"
              "erlang*:lists:reverse/2:bif-return /erlname == \"probe_bif\"/ { @r[copyinstr(arg1)] = count(); }",
              fun() ->
                      in_process(fun() ->
                                         true = register(probe_bif, self()),
                                         [lists:reverse([I], [x]) || I <- lists:seq(1, 100)]
                                 end)
              end),
    ?assertEqual(#{{"e", ["lists:reverse/2"]} => 100, {"r", ["lists:reverse/2"]} => 100}, Got).

nif_test() ->
    Got = run("erlang*:prim_file:get_cwd_nif:nif-entry { @e[copyinstr(arg1)] = count(); }"
              "erlang*:prim_file:get_cwd_nif:nif-return { @r[copyinstr(arg1)] = count(); }",
              fun() ->
                      in_process(fun() -> [prim_file:get_cwd() || _ <- lists:seq(1, 50)] end)
              end),
    Fn = "prim_file:get_cwd_nif/0",
    ?assertEqual(#{{"e", [Fn]} => 50, {"r", [Fn]} => 50}, Got).

%% ---- running time ----------------------------------------------------------------------------

vtimestamp_test() ->
    Got = run("self uint64_t v; erlang*:erltrace_probe_tests:one:function-entry"
              "{ this->v = vtimestamp; @back = sum(self->v > this->v); self->v = this->v;"
              "  @n = count(); @v[copyinstr(arg0)] = max(this->v); }",
              fun() ->
                      Ps = [spawn_monitor(fun() ->
                                                  [begin one(I), erlang:yield() end
                                                   || I <- lists:seq(1, 1000)]
                                          end) || _ <- [1, 2, 3]],
                      [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ps]
              end),
    ?assertEqual(3000, maps:get({"n", []}, Got)),
    ?assertEqual(0, maps:get({"back", []}, Got)),
    [?assert(V > 0 andalso V < 10000000000) || {{"v", _}, V} <- maps:to_list(Got)].

%% Waiting is not running.
vtimestamp_waits_test() ->
    Got = run("erlang*:erltrace_probe_tests:one:function-entry"
              "{ @v[probefunc] = max(vtimestamp); }",
              fun() ->
                      in_process(fun() -> one(1), receive after 1000 -> ok end, one(2) end)
              end),
    ?assert(maps:get({"v", ["one/1"]}, Got) < 500000000).

%% ---- self-> ends with its process ------------------------------------------------------------

%% More processes than there is room for variables: those of the dead are used again.
self_freed_test() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "dynvarsize", "64k"),
    ok = erltrace:setopt(H, "cleanrate", "1ms"),
    ok = erltrace:compile(H, "erlang*:erltrace_probe_tests:one:function-entry"
                          "{ self->a = 1; self->b = 2; @ = count(); }"),
    ok = erltrace:go(H),
    [begin
         [in_process(fun() -> one(1) end) || _ <- lists:seq(1, 50)],
         erltrace:consume(H)
     end || _ <- lists:seq(1, 100)],
    {ok, [{_, count, [], N}]} = erltrace:aggregations(H),
    {ok, Items} = case erltrace:consume(H) of ok -> {ok, []}; R -> R end,
    erltrace:close(H),
    ?assertEqual(5000, N),
    ?assertEqual([], [I || I <- Items, element(1, I) =:= drop]).

%% ---- ports -----------------------------------------------------------------------------------

port_test() ->
    Got = run("erlang*:::port-open { @o[copyinstr(arg0)] = count(); }"
              "erlang*:::port-exit { @x[copyinstr(arg1), copyinstr(arg3)] = count(); }"
              "erlang*:::port-command { @c[copyinstr(arg1), copyinstr(arg3)] = count(); }"
              "erlang*:::driver-output, erlang*:::driver-outputv"
              "{ @b[copyinstr(arg1)] = sum(arg3); }",
              fun() ->
                      P = open_port({spawn, "cat"}, [binary]),
                      [begin
                           port_command(P, <<"hello">>),
                           receive {P, {data, _}} -> ok end
                       end || _ <- lists:seq(1, 5)],
                      port_close(P),
                      put(port, erlang:port_to_list(P))
              end),
    Port = get(port),
    ?assertEqual(1, maps:get({"o", [pid_to_list(self())]}, Got)),
    ?assertEqual(1, maps:get({"x", [Port, "normal"]}, Got)),
    ?assertEqual(5, maps:get({"c", [Port, "command"]}, Got)),
    ?assertEqual(25, maps:get({"b", [Port]}, Got)).

%% ---- what cannot be given --------------------------------------------------------------------

absent_test() ->
    {error, {dtrace, <<"D_PDESC_INVAL">>, _, _, Text}} =
        erltrace:script("erlang*:::message-receive { @ = count(); }"),
    ?assertNotEqual(nomatch, string:find(Text, "beam_jit_remove_message")),
    %% among others by a pattern: the others work
    {ok, H} = erltrace:script("erlang*:::message-* { @ = count(); }"),
    erltrace:close(H).

%% ---- a busy node -----------------------------------------------------------------------------

%% Dirty schedulers at work while tracing goes on and off: what crashed OTP 25 when all processes
%% were traced by one call. Every process here is ours to end.
dirty_test_() ->
    {timeout, 60, fun() ->
        File = code:which(?MODULE),
        Busy = [spawn_monitor(fun Busy() -> {ok, _} = file:read_file(File), Busy() end)
                || _ <- [1, 2, 3, 4]],
        [begin
             {ok, H} = erltrace:script("self int n; erlang*:::message-*, erlang*:::process-*,"
                                       "erlang*:::gc*, erlang*:file:*:function-*"
                                       "{ self->n++; @[probename] = count(); }"),
             {ok, _} = erltrace:aggregations(H),
             ok = erltrace:close(H)
         end || _ <- lists:seq(1, 40)],
        [begin exit(P, kill), receive {'DOWN', M, process, P, _} -> ok end end || {P, M} <- Busy],
        ?assertEqual([], session_tests:flags(self())),
        ?assertEqual([], session_tests:pattern({file, read_file, 1}))
    end}.

%% ---- other tracers ---------------------------------------------------------------------------

other_tracer_test() ->
    {P, M} = spawn_monitor(fun() -> loop(0) end),
    Self = self(),
    1 = erlang:trace(P, true, [send]),
    {ok, H} = erltrace:script("erlang*:::message-send { @[copyinstr(arg0)] = count(); }"),
    {ok, #{skipped := Skipped}} = erltrace:status(H),
    P ! {get, Self},
    receive {sum, 0} -> ok end,
    receive {trace, P, send, {sum, 0}, Self} -> ok end,
    {ok, Aggs} = erltrace:aggregations(H),
    erltrace:close(H),
    ?assertEqual({flags, [send]}, erlang:trace_info(P, flags)),
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end,
    %% From OTP 27 on both see it.
    ?assertEqual(case erlang:function_exported(trace, session_create, 3) of
                     true -> {0, [1]};
                     false -> {1, []}
                 end,
                 {Skipped, [N || {_, _, [K], N} <- Aggs, K =:= list_to_binary(pid_to_list(P))]}).

%% Where there are many processes, helpers change their flags: two scripts and somebody else's tracer on a
%% few of them, while a process on each scheduler keeps it busy. One process is in a NIF and cannot answer.
flags_of_many_processes_test_() ->
    {timeout, 120, fun flags_of_many_processes/0}.

flags_of_many_processes() ->
    Many = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 2000)],
    Theirs = lists:sublist(Many, 700, 3),
    [1 = erlang:trace(P, true, [send]) || P <- Theirs],
    Busy = [spawn_opt(fun Spin() -> _ = erlang:system_time(), Spin() end, [{scheduler, I}])
            || I <- lists:seq(1, erlang:system_info(schedulers))],
    Table = ets:new(many, [public]),
    true = ets:insert(Table, [{I} || I <- lists:seq(1, 300000)]),
    Stuck = spawn(fun Sort() -> _ = lists:usort(ets:tab2list(Table)), Sort() end),
    {ok, A} = erltrace:script("erlang*:::message-send { @ = count(); }"),
    {ok, B} = erltrace:script("erlang*:::process-exit { @ = count(); }"),
    Shared = not erlang:function_exported(trace, session_create, 3),
    Flags = fun() -> lists:usort([lists:sort(Fs) || P <- [Stuck | Many -- Theirs],
                                                    {flags, Fs} <- [erlang:trace_info(P, flags)]]) end,
    Both = Flags(),
    ok = erltrace:close(A),
    One = Flags(),
    {ok, #{skipped := Skipped}} = erltrace:status(B),
    ok = erltrace:close(B),
    None = Flags(),
    Left = [P || P <- Theirs, erlang:trace_info(P, flags) =/= {flags, [send]}],
    [exit(P, kill) || P <- [Stuck | Busy] ++ Many],
    ?assertEqual({[], []}, {None -- [[]], Left}),
    Shared andalso begin
        ?assertEqual(length(Theirs), Skipped),
        ?assertMatch([_], Both),
        ?assertMatch([_], One),
        ?assert(lists:member(send, hd(Both))),
        ?assertNot(lists:member(send, hd(One)))
    end.

%% Two scripts at once: each counts its own, and the end of one leaves the other.
two_handles_test() ->
    Entry = "erlang*:erltrace_probe_tests:one:function-entry { @ = count(); }",
    {ok, A} = erltrace:script(Entry),
    {ok, B} = erltrace:script([Entry, "erlang*:erltrace_probe_tests:two:function-return"
                               "{ @r = count(); } erlang*:::process-exit { @x[copyinstr(arg0)] = count(); }"]),
    Work = fun() -> in_process(fun() -> [id(two(I)) || I <- lists:seq(1, 10)] end) end,
    {P1, _} = Work(),
    {ok, [{<<"_">>, count, [], 20}]} = erltrace:aggregations(A),
    erltrace:close(A),
    {P2, _} = Work(),
    {ok, Aggs} = erltrace:aggregations(B),
    erltrace:close(B),
    ?assertEqual([40], [N || {<<"_">>, _, _, N} <- Aggs]),
    ?assertEqual([[1], [1]], [[N || {<<"x">>, _, [K], N} <- Aggs, K =:= list_to_binary(pid_to_list(P))]
                              || P <- [P1, P2]]), % others may end meanwhile
    ?assertEqual([], session_tests:flags(self())),
    ?assertEqual([], session_tests:flags(new_processes)),
    ?assertEqual([], session_tests:pattern({?MODULE, one, 1})),
    ?assertEqual(undefined, application:get_env(erltrace, armed)).

%% A script ends that had a flag which no other has: processes and ports to come stay traced for
%% the others (before OTP 27 the VM took all of their flags).
flag_of_one_script_gone_test() ->
    {ok, A} = erltrace:script("erlang*:erltrace_probe_tests:one:function-entry { @ = count(); }"
                              "erlang*:::port-open { @ports = count(); }"),
    [begin
         {ok, B} = erltrace:script(["erlang*:::", Probe, " { @ = count(); }"]),
         ok = erltrace:close(B),
         in_process(fun() -> one(1) end),
         Port = open_port({spawn, "true"}, []),
         catch port_close(Port)
     end || Probe <- ["message-send", "gc_minor-start", "process-scheduled", "port-command"]],
    {ok, Aggs} = erltrace:aggregations(A),
    erltrace:close(A),
    ?assertEqual([4], [N || {<<"_">>, _, _, N} <- Aggs]),
    ?assertEqual([4], [N || {<<"ports">>, _, _, N} <- Aggs]).

%% ---- user probes -----------------------------------------------------------------------------

user_test() ->
    ?assertEqual(false, dtrace:p(7, "x")),
    Got = run("erlang*:::user_trace-i4s4"
              "{ @i[arg2, arg3, arg4, arg5] = count();"
              "  @s[copyinstr(arg0), copyinstr(arg6), copyinstr(arg7), copyinstr(arg8),"
              "     copyinstr(arg9)] = count(); @t[copyinstr(arg1)] = count(); }"
              "erlang*:::user_trace-n7 { @n[arg2, copyinstr(arg6)] = count(); }"
              "erlang*:::user_trace-s1 { @one[copyinstr(arg0)] = count(); }",
              fun() ->
                      true = dtrace:p(),
                      true = dtrace:p(1),
                      true = dtrace:p(1, -2, 3, 4, "a", <<"b">>, [$c, ["d"]], []),
                      true = dtrace:p("only", "texts"),
                      badarg = dtrace:p(1, {no}),
                      undefined = dtrace:put_tag("tagged"),
                      true = dtrace:p(5),
                      <<"tagged">> = dtrace:put_tag(undefined),
                      true = dtrace:pn(7, 8, "nine"),
                      false = dtrace:pn(8, 8, "nine"),
                      badarg = dtrace:pn(951, 8, "nine"),
                      true = dtrace:s("message")
              end),
    Pid = pid_to_list(self()),
    ?assertEqual(2, maps:get({"i", [0, 0, 0, 0]}, Got)),
    ?assertEqual(1, maps:get({"i", [1, 0, 0, 0]}, Got)),
    ?assertEqual(1, maps:get({"i", [1, -2, 3, 4]}, Got)),
    ?assertEqual(1, maps:get({"s", [Pid, "a", "b", "cd", ""]}, Got)),
    ?assertEqual(1, maps:get({"s", [Pid, "only", "texts", "", ""]}, Got)),
    ?assertEqual(1, maps:get({"t", ["tagged"]}, Got)),
    ?assertEqual(1, maps:get({"n", [8, "nine"]}, Got)),
    ?assertEqual(1, maps:get({"one", ["message"]}, Got)),
    ?assertEqual(false, dtrace:p(7, "x")).

%% Code that was written for OTP's own probes.
dyntrace_test() ->
    Got = run("erlang*:::user_trace-i4s4 { @[arg2, copyinstr(arg6)] = count(); }"
              "erlang*:::user_trace-n3 { @n[arg2, copyinstr(arg6)] = count(); }",
              fun() ->
                      [dyntrace:p(7, "text") || _ <- lists:seq(1, 10)],
                      dyntrace:pn(3, 1, "x")
              end),
    ?assertEqual(#{{"_", [7, "text"]} => 10, {"n", [1, "x"]} => 1}, Got).
