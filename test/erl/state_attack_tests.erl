%% SPDX-License-Identifier: Apache-2.0
%% The provider state while things come and go: what ends during a round, names that are as long as they can be,
%% many processes and a small budget.
-module(state_attack_tests).
-include_lib("eunit/include/eunit.hrl").

%% Everything of all kinds that may end, ten times a second.
-define(ALL,
        "state:::process-100ms { @p[args[0]->name, args[0]->status, args[0]->function] = "
        "sum(args[0]->memory + args[0]->binary_bytes + args[0]->links + args[0]->memory_growth); }"
        "state:::wait-100ms { @w[args[0]->chain, args[0]->callee_name] = sum(args[0]->mailbox); }"
        "state:::table-100ms { @t[args[0]->name, args[0]->owner, args[0]->type] = "
        "sum(args[0]->size + args[0]->growth + args[0]->memory); }"
        "state:::port-100ms { @o[args[0]->name, args[0]->owner] = sum(args[0]->queue + args[0]->links + "
        "args[0]->os_pid + args[0]->memory + args[0]->input); }"
        "state:::socket-100ms { @s[args[0]->driver, args[0]->owner, args[0]->local, args[0]->remote] = "
        "sum(args[0]->received + args[0]->new_sent + args[0]->queue); }").

%% ---- what ends meanwhile ---------------------------------------------------------------------

churn_test_() ->
    {timeout, 60, fun churn/0}.

churn() ->
    Churners = [spawn_link(fun() -> churn_loop(F) end) ||
                   F <- [fun processes/0, fun tables/0, fun ports/0, fun sockets/0, fun nif_sockets/0,
                         fun programs/0, fun calls/0]],
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "statebudget", "50"),
    ok = erltrace:compile(H, ?ALL),
    ok = erltrace:go(H),
    Before = rounds(H),
    receive after 4000 -> ok end,
    More = fun Wait(Than) -> rounds(H) > Than orelse begin receive after 50 -> ok end, Wait(Than) end end,
    More(Before),
    ?assertMatch({ok, #{state := running}}, erltrace:status(H)),
    More(rounds(H)),
    [begin unlink(C), exit(C, kill) end || C <- Churners],
    ok = erltrace:close(H).

rounds(H) ->
    {ok, #{things := #{rounds := N}}} = erltrace:status(H),
    N.

churn_loop(F) ->
    F(),
    erlang:yield(),
    churn_loop(F).

processes() ->
    [P ! stop || P <- [spawn(fun() -> receive stop -> exit(normal) end end) || _ <- lists:seq(1, 200)]].

tables() ->
    Tabs = [ets:new(churn, [Type, public]) || Type <- [set, ordered_set, bag], _ <- lists:seq(1, 20)],
    [ets:insert(T, {1, 2}) || T <- Tabs],
    erlang:yield(),
    [ets:delete(T) || T <- Tabs].

ports() ->
    Ports = [open_port({spawn_driver, "tcp_inet"}, [binary]) || _ <- lists:seq(1, 20)],
    erlang:yield(),
    [port_close(P) || P <- Ports].

sockets() ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, No} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, No, []),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, "hello"),
    erlang:yield(),
    [gen_tcp:close(X) || X <- [C, S, L]].

nif_sockets() ->
    Ss = [begin {ok, S} = socket:open(inet, stream), S end || _ <- lists:seq(1, 5)],
    erlang:yield(),
    [ok = socket:close(S) || S <- Ss].

programs() ->
    P = open_port({spawn, "cat"}, [binary]),
    receive after 5 -> ok end,
    port_close(P).

%% A process that is called ends.
calls() ->
    P = spawn(fun() -> receive after 2 -> exit(normal) end end),
    catch gen_server:call(P, hello).

%% ---- names -----------------------------------------------------------------------------------

%% As long as an atom can be, of characters of one byte, and of four: a text has at most 255 bytes, and is
%% truncated at a whole character.
long_names_test() ->
    [begin
         Name = binary_to_atom(unicode:characters_to_binary(lists:duplicate(255, Char))),
         Tab = ets:new(Name, [public]),
         {P, M} = spawn_monitor(fun() -> register(Name, self()), receive stop -> ok end end),
         registered(Name),
         ets:insert(Tab, [{1}, {2}, {3}]),
         [P ! N || N <- [1, 2, 3]],
         A = script_run:run(
               ["#pragma D option strsize=2048\n"
                "state:::table /args[0]->size == 3/ { @t[args[0]->name] = count(); }"
                "state:::process /args[0]->mailbox == 3/ { @p[args[0]->registered, args[0]->name, erlname] = "
                "count(); }"],
               fun(H) -> whole(H, 1) end),
         Text = binary_to_list(unicode:characters_to_binary([Quote, lists:duplicate(Most, Char)])),
         ?assertEqual(1, count("t", Text, A)),
         ?assertEqual(1, count("p", Text, A)),
         ets:delete(Tab),
         P ! stop,
         receive {'DOWN', M, process, P, _} -> ok end
     end || {Char, Quote, Most} <- [{$x, "", 255}, {16#1f600, "'", 63}]].

registered(Name) ->
    whereis(Name) =/= undefined orelse begin erlang:yield(), registered(Name) end.

count(Agg, Text, A) ->
    lists:sum([N || {{Name, [T | _]}, N} <- maps:to_list(A), Name =:= Agg, T =:= Text]).

whole(H, Rounds) ->
    {ok, #{things := #{rounds := N, partial := Partial}}} = erltrace:status(H),
    N - Partial >= Rounds orelse begin receive after 5 -> ok end, whole(H, Rounds) end.

%% ---- sockets without a file ------------------------------------------------------------------

unopened_test() ->
    P = open_port({spawn_driver, "tcp_inet"}, [binary]),
    Id = erlang:port_to_list(P),
    A = script_run:run(["state:::socket /args[0]->id == \"", Id, "\"/ { @[args[0]->driver, args[0]->local, "
                        "args[0]->remote] = sum(args[0]->received + args[0]->sent + args[0]->queue); "
                        "@n = count(); }"], fun(H) -> whole(H, 1) end),
    ?assertEqual(0, maps:get({"_", ["tcp_inet", "", ""]}, A)),
    ?assertEqual(1, maps:get({"n", []}, A)),
    port_close(P).

%% ---- a small budget --------------------------------------------------------------------------

%% The first two passes may take more; then one takes many rounds, and sees every process once.
small_budget_test_() ->
    {timeout, 120, fun small_budget/0}.

small_budget() ->
    Pids = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 2000)],
    A = script_run:run("#pragma D option statebudget=1\n#pragma D option aggsize=16m\n"
                       "int passes;"
                       "state:::process-100ms /passes == 2/ { @seen[args[0]->pid, args[0]->memory] = count(); }"
                       "state:::round-100ms /passes == 2/ { @partial = sum(!arg2); }"
                       "state:::round-100ms /arg3 && ++passes == 3/ { @over = count(); }", fun is_over/1),
    ?assert(maps:get({"partial", []}, A) > 1),
    Seen = [{P, M, N} || {{"seen", [P, M]}, N} <- maps:to_list(A)],
    ByPid = maps:from_list([{P, {M, N}} || {P, M, N} <- Seen]),
    ?assertEqual(length(Seen), map_size(ByPid)),
    [begin
         {memory, Memory} = process_info(P, memory),
         ?assertEqual({Memory, 1}, maps:get(pid_to_list(P), ByPid))
     end || P <- Pids],
    [P ! stop || P <- Pids].

is_over(H) ->
    is_map_key({"over", []}, script_run:aggregations(H)) orelse
        begin receive after 500 -> ok end, is_over(H) end.
