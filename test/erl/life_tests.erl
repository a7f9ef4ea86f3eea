%% SPDX-License-Identifier: Apache-2.0
%% The life of handles under blows: their processes are killed at any moment, tracing is switched
%% on and off while dirty schedulers work and processes come and go by the thousand. Afterwards
%% nothing is left: no flag, pattern, process, table, file, thread.
%%
%% ERLTRACE_LONG=1 in the environment: ten times as long. ERLTRACE_SEED=N: the run with that seed.
-module(life_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1, deep/1]).
-export([look/0, same/1, warm_up/0]). % for test/promises

f(X) -> X + 1.
deep(0) -> 0;
deep({0, exit}) -> exit(normal);
deep({N, exit}) -> 1 + ?MODULE:deep({N - 1, exit});
deep(N) -> 1 + ?MODULE:deep(N - 1).

factor() -> case os:getenv("ERLTRACE_LONG") of false -> 1; _ -> 10 end.

%% ---- what there is ---------------------------------------------------------------------------

%% All that a handle could leave in the node.
look() ->
    #{flags => [P || P <- [new_processes | processes()],
                     {flags, [_ | _]} <- [erlang:trace_info(P, flags)]],
      port_flags => [P || P <- [new_ports | erlang:ports()],
                          {flags, [_ | _]} <- [erlang:trace_info(P, flags)]],
      patterns => [MFA || M <- [lists, ?MODULE, erltrace_vm, erltrace_handle, dyntrace, proc_lib],
                          {F, A} <- functions(M), MFA <- [{M, F, A}],
                          {traced, K} <- [erlang:trace_info(MFA, traced)],
                          K =/= false, K =/= undefined],
      sessions => sessions(),
      settings => [E || {K, _} = E <- application:get_all_env(erltrace),
                        lists:member(K, [armed, patterns, gc_server])],
      processes => [P || P <- processes(), is_ours(P)],
      registered => [N || N <- registered(), lists:prefix("erltrace", atom_to_list(N))],
      tables => length(ets:all()),
      terms => maps:get(count, persistent_term:info()),
      monitor => erlang:system_monitor(),
      files => entries("/proc/self/fd"),
      threads => entries("/proc/self/task")}.

functions(M) ->
    case code:ensure_loaded(M) of
        {module, M} -> M:module_info(functions);
        _ -> []
    end.

sessions() ->
    case erlang:function_exported(trace, session_info, 1) of
        true -> length(apply(trace, session_info, [all]));
        false -> 0
    end.

%% Processes of erltrace are sensitive: nobody sees the dictionary that proc_lib gave them. Those of
%% a moment are told by what they do.
is_ours(P) ->
    case process_info(P, [current_stacktrace, initial_call, dictionary]) of
        undefined -> false;
        [_, {_, {proc_lib, _, _}}, {_, []}] -> true;
        [{_, Stack}, {_, {M0, _, _}}, _] ->
            lists:any(fun(M) -> lists:prefix("erltrace_", atom_to_list(M)) andalso
                                    not lists:suffix("_tests", atom_to_list(M))
                      end, [M0 | [M || {M, _, _, _} <- Stack]])
    end.

entries(Dir) -> length(filelib:wildcard("*", Dir)).

%% As it was, within a minute: what ends does so at once, but by itself.
same(Before) -> same(Before, more(Before, look()), 6000).

same(_, [], _) -> ok;
same(_, More, 0) -> ?assertEqual([], More);
same(Before, _, N) -> receive after 10 -> same(Before, more(Before, look()), N - 1) end.

%% What is there that was not, as {What, Was, Is}. A process or a thread that was just ending when it was looked
%% for the first time is not there any more.
more(Before, Now) ->
    [{What, Was, Is} || {What, Is} <- maps:to_list(Now), Was <- [maps:get(What, Before)], is_more(Was, Is)].

is_more(Was, Is) when is_integer(Was), is_integer(Is) -> Is > Was;
is_more(Was, Is) when is_list(Was), is_list(Is) -> Is -- Was =/= [];
is_more(Was, Is) -> Is =/= Was.

%% What the library sets up once in the life of a node is there before we look.
warm_up() ->
    {ok, H} = erltrace:script("erlang*:life_tests:f:function-return { self->a = 1; @ = count(); }"
                              "tick-1s {}"),
    f(1),
    _ = erltrace:walk(H),
    ok = erltrace:close(H),
    _ = [code:ensure_loaded(M) || M <- [dyntrace, dtrace, lists, proc_lib]],
    garbage_collect(),
    ok.

%% ---- blows -----------------------------------------------------------------------------------

scripts() ->
    ["erlang*:life_tests:f:function-entry { @[copyinstr(arg0)] = count(); }",
     "erlang*:life_tests::function-return { self->n++; @[probefunc] = max(self->n); }",
     "erlang*:::process-spawn, erlang*:::process-exit { @[probename] = count(); }",
     "erlang*:::message-send { @ = quantize(arg2); trace(arg2); }",
     "erlang*:::message-queued { @[arg2] = count(); }",
     "erlang*:::process-scheduled { self->t = timestamp; }"
     "erlang*:::process-unscheduled { @ = sum(timestamp - self->t); self->t = 0; }",
     "erlang*:::gc_minor-start, erlang*:::process-heap_grow { @[probename] = count(); }",
     "erlang*:::port-command, erlang*:::port-open { @[probename] = count(); }",
     "erlang*:::user_trace-i4s4 { @ = count(); }",
     "tick-10ms { @ = count(); trace(1); } erlang*:lists::function-entry { @f = count(); }",
     "BEGIN { exit(0); }",
     "erlang*:life_tests:f:function-entry { exit(1); }",
     "BEGIN { nosuch"].

pick(L) -> lists:nth(rand:uniform(length(L)), L).

%% A worker opens handles and does with them what comes to its mind.
worker(0) -> ok;
worker(N) ->
    case erltrace:open() of
        {ok, H} ->
            [_ = act(H, pick([setopt, compile, compile, go, go, walk, consume, output, status, f,
                              stop, close, wait])) || _ <- lists:seq(1, 3 + rand:uniform(15))],
            rand:uniform(3) > 1 andalso erltrace:close(H);
        {error, _} -> % all places are taken: some end with their owners, soon
            receive after 10 -> ok end
    end,
    worker(N - 1).

act(H, setopt) -> erltrace:setopt(H, "bufsize", pick(["64k", "1m", "x"]));
act(H, compile) -> erltrace:compile(H, pick(scripts()));
act(H, go) -> erltrace:go(H);
act(H, walk) -> erltrace:walk(H);
act(H, consume) -> erltrace:consume(H);
act(H, output) -> erltrace:output(H);
act(H, status) -> erltrace:status(H);
act(_, f) -> [f(I) || I <- lists:seq(1, 100)], deep(50);
act(H, stop) -> erltrace:stop(H);
act(H, close) -> erltrace:close(H);
act(_, wait) -> receive after rand:uniform(5) -> ok end.

%% Owners are killed by the way, and processes of handles, or their limiters.
killer(Victims, Seed) ->
    rand:seed(exsss, Seed),
    killer_loop(Victims).

killer_loop(Victims) ->
    receive stop -> ok
    after rand:uniform(8) ->
            case rand:uniform(4) of
                1 -> exit(pick(Victims), kill);
                2 ->
                    case [P || P <- processes(), is_ours(P)] of
                        [] -> ok;
                        Ours -> exit(pick(Ours), kill)
                    end;
                _ -> ok
            end,
            killer_loop(Victims)
    end.

%% Several owners at once, each killed and started again some times.
owner(Parent, Seed, Rounds) ->
    spawn_monitor(fun() ->
                          process_flag(trap_exit, true),
                          owner_rounds(Parent, Seed, Rounds)
                  end).

owner_rounds(_, _, 0) -> ok;
owner_rounds(Parent, Seed, N) ->
    {P, M} = spawn_monitor(fun() -> rand:seed(exsss, {Seed, N, 1}), worker(5) end),
    Parent ! {victim, P},
    receive {'DOWN', M, process, P, _} -> ok end,
    owner_rounds(Parent, Seed, N - 1).

killed_at_any_moment_test_() ->
    {timeout, 120 * factor(), fun() ->
        warm_up(),
        Before = look(),
        Seed = case os:getenv("ERLTRACE_SEED") of
                   false -> erlang:system_time() rem 1000000;
                   S -> list_to_integer(S)
               end,
        io:format(user, "seed ~b ", [Seed]),
        [round_of_kills(Seed + I) || I <- lists:seq(1, 8 * factor())],
        same(Before)
    end}.

round_of_kills(Seed) ->
    Self = self(),
    Owners = [owner(Self, Seed * 10 + I, 3) || I <- lists:seq(1, 6)],
    First = [receive {victim, P} -> P end || _ <- Owners],
    Killer = spawn_link(fun() -> killer(First, {Seed, 2, 3}) end),
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Owners],
    Killer ! stop,
    flush().

flush() -> receive {victim, _} -> flush() after 0 -> ok end.

%% The process of a handle is killed, not its owner: what it armed is taken back.
handle_process_killed_test() ->
    warm_up(),
    Before = look(),
    {ok, H} = erltrace:script("erlang*:life_tests:f:function-entry, erlang*:::message-send"
                              "{ @ = count(); }"),
    exit(H, kill),
    same(Before),
    ?assertEqual({error, closed}, erltrace:walk(H)).

%% Its limiter is killed: another one takes its place.
limiter_killed_test() ->
    warm_up(),
    Before = look(),
    {ok, H} = erltrace:script("erlang*:life_tests:f:function-entry { @ = count(); }"),
    Limiter = limiter(H),
    exit(Limiter, kill),
    f(1),
    ?assertMatch({ok, [{_, count, [], 1}]}, erltrace:aggregations(H)),
    ?assertNotEqual(Limiter, limiter(H)),
    ok = erltrace:close(H),
    same(Before).

%% Over and over: the script ends, as one that nobody limits.
limiter_killed_often_test() ->
    warm_up(),
    Before = look(),
    {ok, H} = erltrace:script("erlang*:life_tests:f:function-entry { @ = count(); }"),
    Mon = erlang:monitor(process, H),
    kill_limiters(sup(H)),
    receive {'DOWN', Mon, process, H, _} -> ok end,
    same(Before).

kill_limiters(Sup) ->
    try supervisor:which_children(Sup) of
        Children ->
            [exit(P, kill) || {erltrace_limiter, P, _, _} <- Children],
            kill_limiters(Sup)
    catch exit:_ -> ok
    end.

%% Its supervisor is killed: what it armed is taken back.
supervisor_killed_test() ->
    warm_up(),
    Before = look(),
    {ok, H} = erltrace:script("erlang*:life_tests:f:function-entry, erlang*:::message-send"
                              "{ @ = count(); }"),
    exit(sup(H), kill),
    same(Before).

sup(H) ->
    {links, [Sup]} = process_info(H, links),
    Sup.

limiter(H) ->
    {_, Pid, _, _} = lists:keyfind(erltrace_limiter, 1, supervisor:which_children(sup(H))),
    Pid.

%% The owner is killed while the handle's process is in a long call: off all the same.
owner_killed_during_long_call_test_() ->
    {timeout, 60, fun() ->
        warm_up(),
        Before = look(),
        Self = self(),
        Owner = spawn(fun() ->
                              {ok, H} = erltrace:open(),
                              ok = erltrace:setopt(H, "destructive", ""),
                              ok = erltrace:compile(H, "erlang*:life_tests:f:function-entry"
                                                       "{ system(\"sleep 12\"); }"),
                              ok = erltrace:go(H),
                              f(1),
                              Self ! go,
                              erltrace:consume(H)
                      end),
        receive go -> ok end,
        receive after 100 -> ok end, % it is in there, most likely; if not, the test is too easy
        T0 = erlang:monotonic_time(millisecond),
        exit(Owner, kill),
        off_soon(T0),
        same(Before)
    end}.

%% Well before the command has ended.
off_soon(T0) ->
    case erlang:trace_info({?MODULE, f, 1}, traced) of
        {traced, false} -> ok;
        _ ->
            ?assert(erlang:monotonic_time(millisecond) - T0 < 10000),
            receive after 10 -> off_soon(T0) end
    end.

%% More handles than there are places: an error, and all is well afterwards.
too_many_handles_test() ->
    warm_up(),
    Before = look(),
    Hs = [erltrace:open() || _ <- lists:seq(1, 70)],
    ?assertEqual(63, length([H || {ok, H} <- Hs])),
    [?assertMatch({error, {dtrace, <<"ET_HANDLES">>, _, _, _}}, E) || {error, _} = E <- Hs],
    [ok = erltrace:close(H) || {ok, H} <- Hs],
    same(Before),
    {ok, H} = erltrace:open(),
    ok = erltrace:close(H).

%% ---- on and off under load -------------------------------------------------------------------

%% Files read and written on the dirty schedulers, messages, spawns, garbage: and tracing is
%% switched on and off all the time. (erlang:trace(all, ..) crashes OTP 25 at this.)
toggled_while_dirty_schedulers_work_test_() ->
    {timeout, 60 * factor(), fun() ->
        warm_up(),
        Before = look(),
        Dir = filename:join("/tmp", "erltrace_life." ++ os:getpid()),
        ok = filelib:ensure_dir(filename:join(Dir, "x")),
        Load = [loop(fun() -> files(filename:join(Dir, integer_to_list(I))) end)
                || I <- lists:seq(1, 6)] ++
            [loop(fun messages/0), loop(fun spawns/0), loop(fun garbage/0),
             loop(fun() -> deep(200), f(1) end)],
        N = toggle(0, 2000 * factor(), erlang:monotonic_time(millisecond) + 10000 * factor()),
        io:format(user, "~b toggles ", [N]),
        [P ! stop || {P, _} <- Load],
        [receive {'DOWN', M, process, P, R} -> ?assertEqual(normal, R) end || {P, M} <- Load],
        file:del_dir_r(Dir),
        same(Before)
    end}.

toggle(N, N, _) -> N;
toggle(N, Most, Until) ->
    case erlang:monotonic_time(millisecond) > Until of
        true -> N;
        false ->
            case erltrace:script(pick(scripts())) of
                {ok, H} ->
                    _ = erltrace:walk(H),
                    ok = erltrace:close(H);
                {error, {dtrace, <<"D_", _/binary>>, _, _, _}} -> ok % the one with a mistake
            end,
            toggle(N + 1, Most, Until)
    end.

loop(Fun) -> spawn_monitor(fun() -> loop_on(Fun) end).

loop_on(Fun) -> Fun(), receive stop -> ok after 0 -> loop_on(Fun) end.

files(Name) ->
    ok = file:write_file(Name, binary:copy(<<"x">>, 10000)),
    {ok, B} = file:read_file(Name),
    10000 = byte_size(B),
    ok = file:delete(Name).

messages() ->
    {P, M} = spawn_monitor(fun() -> echo() end),
    [begin P ! {self(), I}, receive {P, I} -> ok end end || I <- lists:seq(1, 50)],
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end.

echo() -> receive {From, I} -> From ! {self(), I}, echo(); stop -> ok end.

spawns() ->
    Ms = [spawn_monitor(fun() -> deep(rand:uniform(40)) end) || _ <- lists:seq(1, 20)],
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ms].

garbage() ->
    _ = lists:sum([X * 2 || X <- lists:seq(1, 2000)]),
    garbage_collect().

%% Processes end between two steps of arming: no harm to the handle.
process_ends_while_arming_test_() ->
    {timeout, 60, fun() ->
        Load = [loop(fun spawns/0) || _ <- lists:seq(1, 8)],
        on_and_off(50, erlang:monotonic_time(millisecond) + 5000),
        [P ! stop || {P, _} <- Load],
        [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Load]
    end}.

on_and_off(0, _) -> ok;
on_and_off(N, Until) ->
    {ok, H} = erltrace:script("erlang*:::message-send { @ = count(); }"),
    ok = erltrace:close(H),
    erlang:monotonic_time(millisecond) < Until andalso on_and_off(N - 1, Until).

%% ---- a million processes ---------------------------------------------------------------------

%% Each has a variable of its own and a shadow stack with frames beyond the inline ones; some end
%% in the midst of it. Every one is counted, and their room is used again.
many_processes_test_() ->
    {timeout, 120 * factor(), fun() ->
        warm_up(),
        N = 100000 * factor(),
        {ok, H} = erltrace:open(),
        ok = erltrace:setopt(H, "dynvarsize", "16m"), % schedulers may be busy: cleaned up late
        ok = erltrace:setopt(H, "watchdog", "0"), % most of what they do is events, for more than ten seconds there
        ok = erltrace:compile(
            H, "erlang*:life_tests:deep:function-entry /arg2 == 1/ { self->t = timestamp; }"
            "erlang*:life_tests:deep:function-entry { @entries = count(); }"
            "erlang*:life_tests:deep:function-return /arg2 == 1 && self->t/"
            "{ @returns = count(); }"
            "erlang*:::process-exit /self->t/ { @exits = count(); self->t = 0; }"),
        ok = erltrace:go(H),
        spawn_many(N div 10, 100), % the tables have grown to what they need
        _ = erltrace:walk(H),
        Rss = rss(),
        spawn_many(N, 100),
        {ok, Aggs} = erltrace:aggregations(H),
        {ok, #{lost := Lost}} = erltrace:status(H),
        Grown = rss() - Rss,
        ok = erltrace:close(H),
        Count = fun(Name) -> lists:sum([V || {A, _, _, V} <- Aggs, A =:= Name]) end,
        io:format(user, "~b processes, ~b kB more ", [N, Grown]),
        ?assertEqual(0, Lost),
        ?assertEqual(25 * N - 4 * (N div 10), Count(<<"entries">>)),
        ?assertEqual(N, Count(<<"exits">>)),
        ?assertEqual(N - N div 10, Count(<<"returns">>)),
        ?assert(Grown < 30000)
    end}.

spawn_many(0, _) -> ok;
spawn_many(N, At) ->
    Ms = [spawn_monitor(fun() -> one(I) end) || I <- lists:seq(1, min(N, At))],
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ms],
    spawn_many(max(0, N - At), At).

%% Every tenth is at its end when its stack is not.
one(I) when I rem 10 =:= 0 -> deep({20, exit});
one(_) -> 24 = deep(24).

rss() ->
    {ok, B} = file:read_file("/proc/self/status"),
    {match, [K]} = re:run(B, "VmRSS:\\s+(\\d+)", [{capture, [1], list}]),
    list_to_integer(K).

%% Timers begin when all is armed, not at go: a script whose seconds are counted sees events all the while. Two
%% scripts with the same tick: the one that began first, but is not armed, has not fired when the other one has.
ticks_begin_when_armed_test() ->
    {ok, _} = application:ensure_all_started(erltrace),
    {ok, Nif, _} = erltrace_nif:open(),
    ok = erltrace_nif:compile(Nif, "tick-1ms { @ = count(); }", [], []),
    ok = erltrace_nif:go(Nif),
    {ok, H} = erltrace:script("tick-1ms { @ = count(); }"),
    until(fun() -> {ok, Aggs} = erltrace:aggregations(H), [x || {_, count, [], N} <- Aggs, N >= 20] end),
    ?assertMatch({ok, []}, erltrace_nif:walk(Nif, false)),
    ok = erltrace_nif:armed(Nif),
    until(fun() -> {ok, Aggs} = erltrace_nif:walk(Nif, false), Aggs end),
    ok = erltrace:close(H),
    erltrace_nif:close(Nif).

until(Fun) ->
    case Fun() of
        [] -> receive after 1 -> until(Fun) end;
        _ -> ok
    end.
