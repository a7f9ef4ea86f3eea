%% SPDX-License-Identifier: Apache-2.0
%% state:::wait: who waits for whom. Calls in progress are shown with the process that was called, chains
%% of them, and deadlocks; and no deadlock where there is none.
-module(waits_tests).
-include_lib("eunit/include/eunit.hrl").
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

-define(SCRIPT, "state:::wait { @w[args[0]->pid, args[0]->name, args[0]->callee, args[0]->callee_name,
    args[0]->callee_function, args[0]->node, args[0]->chain, args[0]->calls, args[0]->deadlock,
    args[0]->mailbox] = count(); } state:::round { @rounds = max(arg0); }").

%% ---- gen_servers that call each other --------------------------------------------------------

init(Monitored) ->
    _ = [monitor(process, M) || M <- Monitored],
    {ok, []}.

handle_call({call, Other}, _, St) -> {reply, gen_server:call(Other, answer, infinity), St};
handle_call({call_to, Fun}, _, St) -> {reply, Fun(), St};
handle_call(stay, _, St) -> {reply, receive go_on -> ok end, St};
handle_call(answer, _, St) -> {reply, ok, St}.

%% It says when it is there, and goes on when all are.
handle_cast({call, Other, Owner}, St) ->
    Owner ! {self(), ready},
    receive {Owner, go} -> ok end,
    ok = gen_server:call(Other, answer, infinity),
    {noreply, St}.

server() -> server([]).
server(Monitored) ->
    {ok, S} = gen_server:start(?MODULE, Monitored, []),
    S.

ring(N) -> ring_of([server() || _ <- lists:seq(1, N)]).

ring_of(Servers) ->
    [First | Rest] = Servers,
    [gen_server:cast(S, {call, Next, self()}) || {S, Next} <- lists:zip(Servers, Rest ++ [First])],
    [receive {S, ready} -> ok end || S <- Servers],
    [S ! {self(), go} || S <- Servers],
    [in_call(S) || S <- Servers],
    Servers.

%% A process that calls.
client(Fun) ->
    P = spawn(Fun),
    in_call(P),
    P.

in_call(P) ->
    case process_info(P, [current_function, status]) of
        [{_, {gen, do_call, 4}}, {_, waiting}] -> ok;
        _ -> erlang:yield(), in_call(P)
    end.

stop(Ps) ->
    Monitors = [monitor(process, P) || P <- Ps],
    [exit(P, kill) || P <- Ps],
    [receive {'DOWN', M, _, _, _} -> ok end || M <- Monitors],
    ok.

%% What a script says of these processes, once.
rows() ->
    Aggs = script_run:run(?SCRIPT, fun await_round/1),
    maps:from_list([{Pid, Row} || {"w", [Pid | Row]} <- maps:keys(Aggs)]).

await_round(H) ->
    case script_run:aggregations(H) of
        #{{"rounds", []} := _} -> ok;
        _ -> receive after 5 -> ok end, await_round(H)
    end.

text(Pid) -> pid_to_list(Pid).

%% ---- calls -----------------------------------------------------------------------------------

nobody_waits_test() ->
    S = server(),
    ok = gen_server:call(S, answer),
    ?assertEqual(error, maps:find(text(S), rows())),
    stop([S]).

chain_test() ->
    [A, B] = [server(), server()],
    register(waits_b, B),
    C = client(fun() -> gen_server:call(A, {call_to, fun() -> gen_server:call(waits_b, stay) end}) end),
    in_call(A),
    Rows = rows(),
    [_, CalleeA, _, _, Node, ChainC, 2, 0, 0] = maps:get(text(C), Rows),
    ?assertEqual(text(A), CalleeA),
    ?assertEqual(atom_to_list(node()), unquoted(Node)),
    ?assertMatch({match, _}, re:run(ChainC, " -> waits_tests:init/1 -> waits_b$")),
    ["waits_tests:init/1", CalleeB, "waits_b", "waits_tests:handle_call/3", _, ChainA, 1, 0, 0] =
        maps:get(text(A), Rows),
    ?assertEqual(text(B), CalleeB),
    ?assertEqual("waits_tests:init/1 -> waits_b", ChainA),
    ?assertNot(maps:is_key(text(B), Rows)),
    stop([A, B, C]).

unquoted(Text) -> lists:flatten(string:replace(Text, "'", "", all)).

%% Which of its monitors is that of the call, is on the stack.
several_monitors_test() ->
    Others = [server() || _ <- [1, 2, 3]],
    B = server(),
    register(waits_several, B),
    yes = global:register_name(waits_global, B),
    ok = gen_server:cast(B, {call, hd(Others), self()}), % it does not answer
    Calls = [fun() -> gen_server:call(B, answer, infinity) end,
             fun() -> gen_server:call(waits_several, answer, infinity) end,
             fun() -> gen_server:call({waits_several, node()}, answer, infinity) end,
             fun() -> gen_server:call({global, waits_global}, answer, infinity) end,
             fun() -> gen_statem:call(B, answer, infinity) end,
             fun() -> gen_server:call(B, answer, 60000) end,
             fun() -> sys:get_status(B, 60000) end],
    Clients = [client(fun() -> [monitor(process, O) || O <- Others], Call() end) || Call <- Calls],
    Rows = rows(),
    ?assertEqual([text(B) || _ <- Calls], [lists:nth(2, maps:get(text(C), Rows)) || C <- Clients]),
    ?assertEqual([{flags, []} || _ <- Clients], [flags(C) || C <- Clients]),
    stop([B | Others] ++ Clients).

flags(Pid) -> erlang:trace_info(Pid, flags).

%% ---- deadlocks -------------------------------------------------------------------------------

deadlock_test_() ->
    {timeout, 60, [fun() -> deadlock(N) end || N <- [2, 3, 7]]}.

deadlock(N) ->
    Ring = ring(N),
    [register(name(I), S) || {I, S} <- lists:zip(lists:seq(1, N), Ring)],
    Behind = client(fun() -> gen_server:call(hd(Ring), answer, infinity) end),
    Rows = rows(),
    Cycle = string:join([atom_to_list(name(I)) || I <- lists:seq(1, N) ++ [1]], " -> "),
    [?assertMatch([_, _, _, _, _, Cycle, N, 1, _], maps:get(text(S), Rows)) || S <- Ring],
    [_, _, _, _, _, Chain, Calls, 2, _] = maps:get(text(Behind), Rows),
    ?assertEqual(N + 1, Calls),
    ?assert(lists:suffix(Cycle, Chain)),
    stop([Behind | Ring]).

name(I) -> list_to_atom("waits_ring_" ++ integer_to_list(I)).

deadlock_of_those_with_several_monitors_test() ->
    Others = [server() || _ <- [1, 2, 3]],
    Ring = ring_of([server(Others) || _ <- [1, 2, 3]]),
    Rows = rows(),
    ?assertEqual([1, 1, 1], [lists:nth(8, maps:get(text(S), Rows)) || S <- Ring]),
    stop(Others ++ Ring).

%% Two servers that call each other all the time, but never both at once: what is seen of one is often
%% no longer true when the other is asked.
no_cycle_where_calls_proceed_test_() ->
    {timeout, 60, fun() ->
                          [A, B] = [server(), server()],
                          Driver = spawn_link(fun() -> drive(A, B) end),
                          ?assertEqual(0, look(A, 20000, 0)),
                          unlink(Driver),
                          stop([Driver, A, B])
                  end}.

drive(A, B) ->
    ok = gen_server:call(A, {call, B}, infinity),
    ok = gen_server:call(B, {call, A}, infinity),
    drive(A, B).

look(_, 0, Found) ->
    Found;
look(A, N, Found) ->
    erltrace_waits:new_pass(make_ref()),
    case erltrace_waits:call(A) of
        none -> look(A, N - 1, Found);
        Call ->
            [Deadlock] = erltrace_waits:members([deadlock], A, Call, 0),
            look(A, N - 1, Found + Deadlock)
    end.

%% As if B had been in a call of A when it was asked.
cycle_that_has_gone_is_no_deadlock_test() ->
    [A, B] = [server(), server()],
    C = client(fun() -> gen_server:call(A, {call_to, fun() -> gen_server:call(B, stay) end}) end),
    in_call(A),
    Call = erltrace_waits:call(A),
    ?assertEqual(B, erltrace_waits:callee(Call)),
    erltrace_waits:new_pass(make_ref()),
    put({erltrace_waits, B}, {A, 0}),
    ?assertEqual([0], erltrace_waits:members([deadlock], A, Call, 0)),
    erltrace_waits:new_pass(make_ref()),
    stop([A, B, C]).
