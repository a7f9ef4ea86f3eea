%% SPDX-License-Identifier: Apache-2.0
%% What goes on in a node while random scripts run in it: calls, messages, exceptions, crashes, hibernation, kills,
%% tables, timers, ports, collections; modules that are loaded, upgraded and purged with processes in them; and a
%% file with what there is, twice a second, by which it is seen that the node lives and that nothing is left behind.
-module(random_load).
-export([start/2, restart/0]).
-export([init/1]). % supervisor
-export([kid/0]).
-behaviour(supervisor).

-spec start(file:filename(), [binary()]) -> ok.
start(Health, Codes) ->
    logger:set_primary_config(level, none),
    lists:foreach(fun (F) -> spawn(fun () -> again(F, 0) end) end,
                  [fun calls/1, fun messages/1, fun deaths/1, fun tables/1, fun timers/1, fun ports/1, fun heaps/1,
                   fun hops/1, fun names/1, fun foreign/1]),
    spawn(fun () -> code(Codes, 0) end),
    spawn(fun () -> {ok, _} = supervisor:start_link({local, random_sup}, ?MODULE, []), kill_kids() end),
    register(random_load, spawn(fun () -> health(Health, 0) end)),
    ok.

-spec restart() -> ok.
restart() -> ok.

again(F, N) ->
    try F(N) catch _:_ -> ok end,
    timer:sleep(5 + N rem 17),
    again(F, N + 1).

calls(N) ->
    [random_code:work(N + I) || I <- lists:seq(1, 5)],
    random_code:loops(50, N),
    catch dtrace:pn(3, N, "text").

messages(N) ->
    S = spawn(random_code, server, [N]),
    [begin
         Ref = make_ref(),
         S ! {call, self(), Ref, I},
         receive {Ref, _} -> ok after 100 -> ok end
     end || I <- lists:seq(1, 10)],
    S ! hibernate,
    S ! {N, [N, "text"], #{a => N}},
    nobody_here ! N,
    S ! stop.

%% Crashes, exit signals, max_heap_size, kills in the middle of calls and of hibernation.
deaths(N) ->
    S = spawn(random_code, server, [N]),
    case N rem 6 of
        0 -> S ! {crash, {because, N}};
        1 -> exit(S, kill);
        2 -> S ! hibernate, erlang:yield(), exit(S, reason);
        3 -> proc_lib:spawn(fun () -> random_code:raises(1) end), S ! stop;
        4 -> spawn_opt(fun () -> grow([]) end, [{max_heap_size, #{size => 20000, error_logger => false}}]), S ! stop;
        5 ->
            P = spawn(fun () -> random_code:loops(1000000, 10) end),
            timer:sleep(1),
            exit(P, kill),
            S ! stop
    end.

grow(L) -> grow([random_code:map(60) | L]).

tables(N) ->
    T = ets:new(random_table, [public, lists:nth(1 + N rem 2, [set, ordered_set])]),
    [ets:insert(T, {I, {N, "value"}}) || I <- lists:seq(1, 20)],
    _ = ets:lookup(T, 1),
    _ = ets:select(T, [{{'$1', '_'}, [{'>', '$1', 10}], ['$1']}]),
    ets:delete(T).

timers(N) ->
    R = erlang:send_after(N rem 5, self(), {late, N}),
    _ = erlang:start_timer(1000, self(), never),
    _ = N rem 3 =:= 0 andalso erlang:cancel_timer(R),
    receive {late, _} -> ok after 3 -> ok end.

ports(N) when N rem 20 =:= 0 ->
    P = open_port({spawn, "cat"}, [binary]),
    port_command(P, <<"hello">>),
    receive {P, {data, _}} -> ok after 200 -> ok end,
    port_close(P);
ports(N) when N rem 20 =:= 10 ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, binary]),
    {ok, {_, Port}} = inet:sockname(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary]),
    gen_tcp:send(C, <<"x">>),
    gen_tcp:close(C),
    gen_tcp:close(L);
ports(_) ->
    ok.

heaps(N) ->
    L = lists:seq(1, 500 * (1 + N rem 20)),
    _ = lists:reverse([{X, X} || X <- L]),
    N rem 10 =:= 0 andalso erlang:garbage_collect().

hops(N) ->
    random_code:hop(1 + N rem 5, self()),
    receive {done, _} -> ok after 100 -> ok end.

names(N) ->
    P = spawn(random_code, server, [N]),
    register(list_to_atom("random_name_" ++ integer_to_list(N rem 50)), P),
    timer:sleep(2),
    P ! stop.

%% Somebody else who traces, now and then.
foreign(N) when N rem 100 =:= 50 ->
    Tracer = spawn(fun () -> timer:sleep(20) end),
    P = spawn(random_code, server, [N]),
    _ = erlang:trace(P, true, [{tracer, Tracer}, 'receive', call]),
    P ! a_message,
    timer:sleep(5),
    process_flag(sensitive, N rem 200 =:= 50),
    P ! stop;
foreign(_) ->
    ok.

%% Upgrades: as a release does it, as a developer does it, and a delete.
code(Codes, N) ->
    {ok, _} = {ok, code:load_binary(random_code, "random_code.erl", lists:nth(1 + N rem length(Codes), Codes))},
    Stays = [spawn(random_code, server, [I]) || I <- [1, 2, 3]],
    timer:sleep(37),
    [S ! stay || S <- Stays],
    case N rem 4 of
        0 -> code:purge(random_code);
        1 -> code:soft_purge(random_code);
        2 -> code:delete(random_code), timer:sleep(3), code:purge(random_code);
        3 -> code:purge(random_code), code:delete(random_code)
    end,
    [S ! stop || S <- Stays],
    timer:sleep(61),
    code:purge(random_code),
    code(Codes, N + 1).

%% ---- a supervisor whose children are killed ------------------------------------------------------

init([]) ->
    {ok, {#{strategy => one_for_one, intensity => 1000000, period => 1},
          [#{id => kid, start => {?MODULE, kid, []}}]}}.

kid() ->
    {ok, proc_lib:spawn_link(fun () -> receive stop -> ok end end)}.

kill_kids() ->
    timer:sleep(100),
    [exit(P, kill) || {_, P, _, _} <- supervisor:which_children(random_sup), is_pid(P)],
    kill_kids().

%% ---- health -------------------------------------------------------------------------------------

health(File, N) ->
    Traced = [P || P <- processes(), {tracer, T} <- [erlang:trace_info(P, tracer)], T =/= [], not is_pid(T)],
    Ours = [P || P <- processes(), {initial_call, {M, _, _}} <- [process_info(P, initial_call)],
                 lists:prefix("erltrace", atom_to_list(M))],
    Line = io_lib:format("~b ~b ~b ~b ~b ~b ~b~n",
                         [N, length(processes()), length(Ours), length(Traced), length(ets:all()),
                          erlang:memory(total) div 1024, erlang:system_info(atom_count)]),
    ok = file:write_file(File ++ ".new", Line),
    ok = file:rename(File ++ ".new", File),
    case file:delete(File ++ ".ask") of
        ok -> file:write_file(File ++ ".who", [who(P) || P <- processes()]);
        _ -> ok
    end,
    timer:sleep(500),
    health(File, N + 1).

%% For the report of a script that hangs: who is where.
who(P) ->
    case process_info(P, [registered_name, initial_call, status, message_queue_len, messages, current_stacktrace]) of
        undefined -> "";
        [_, {_, {random_code, _, _}} | _] -> "";
        Info -> io_lib:format("~p ~P~n", [P, Info, 60])
    end.
