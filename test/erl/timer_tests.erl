%% SPDX-License-Identifier: Apache-2.0
%% timer-expire: which timers have expired, how late, started by whom; by both ways to function probes.
-module(timer_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [aggregations/1, quoted/1]).

-define(MS(N), (N * 1000000)).

timers_test_() ->
    {setup, fun ways/0, fun(_) -> ok end,
     fun(Ways) -> [{lists:concat([Name, " ", Way]), {timeout, 60, fun() -> Test(Way) end}} ||
                      Way <- Ways, {Name, Test} <- [{expired, fun expired/1}, {before, fun before/1},
                                                    {late, fun late/1}, {alike, fun alike/1},
                                                    {thirty_alike, fun thirty_alike/1}, {many, fun many/1},
                                                    {storm_alike, fun storm_alike/1},
                                                    {long_alike, fun long_alike/1},
                                                    {dropped, fun dropped/1}]]
     end}.

ways() ->
    {ok, _} = application:ensure_all_started(erltrace),
    [traced | [fast || erltrace_find:known(fast) =:= ok]].

%% The timers of one receiver.
start(Way, Receiver, Clause) ->
    {ok, H} = erltrace:script(["#pragma D option calls=", atom_to_list(Way), "\n"
                               "erlang*:::timer-expire /erlpid == ", quoted(Receiver), "/", Clause]),
    H.

%% A process that receives what it is told to, in that order.
receiver() ->
    spawn_link(fun Loop() ->
                       receive
                           {take, From, Msgs} ->
                               [receive M -> ok end || M <- Msgs],
                               From ! {self(), taken, ns()},
                               Loop();
                           stop -> ok
                       end
               end).

take(P, Msgs) ->
    P ! {take, self(), Msgs},
    receive {P, taken, At} -> At end.

%% Each timer once, with who has started it. Neither those that were cancelled, nor messages that are like
%% those of timers, nor receives that time out.
expired(Way) ->
    P = receiver(),
    register(timer_tests_receiver, P),
    H = start(Way, P, "{ @[erlmsg, arg1 >= 0, copyinstr(arg2), erlpeer] = count(); }"),
    Self = pid_to_list(self()),
    Big = {big, lists:seq(1, 2000)},
    %% so long that they cannot expire before that
    Cancelled = [erlang:send_after(600000, P, cancelled), erlang:start_timer(600000, P, cancelled)],
    [erlang:cancel_timer(R) || R <- Cancelled],
    _ = [erlang:send_after(2, P, one), erlang:send_after(1, timer_tests_receiver, two),
         erlang:send_after(1, P, {three, self()}, []), erlang:send_after(1, P, timeout),
         erlang:send_after(1, P, Big)],
    P ! four,
    Absolute = erlang:monotonic_time(millisecond) + 1,
    _ = erlang:send_after(Absolute, P, five, [{abs, true}]),
    R = erlang:start_timer(1, P, six),
    take(P, [one, two, {three, self()}, timeout, Big, four, five, {timeout, R, six}]),
    Got = aggregations(H),
    erltrace:close(H),
    unlink(P), exit(P, kill),
    Text = fun(T) -> lists:flatten(io_lib:format("~0p", [T])) end,
    Known = [{[Text(M), 1, Self, Self], 1} || M <- [one, two, {three, self()}, timeout, {timeout, R, six}]],
    ?assertEqual(maps:from_list(Known ++ [{["five", 0, Self, Self], 1}]),
                 maps:from_list([{K, N} || {{_, [M | _] = K}, N} <- maps:to_list(Got),
                                           not lists:prefix("{big", M)])),
    ?assertMatch([{[_, 1, Self, Self], 1}],
                 [{K, N} || {{_, [M | _] = K}, N} <- maps:to_list(Got), lists:prefix("{big", M)]).

%% One that was started before the script is not known, but seen.
before(Way) ->
    before(Way, 50).

before(Way, Ms) ->
    P = receiver(),
    T = erlang:send_after(Ms, P, old),
    H = start(Way, P, "{ @[arg1, copyinstr(arg2), erlpeer] = count(); }"),
    Left = erlang:read_timer(T),
    take(P, [old]),
    Got = aggregations(H),
    erltrace:close(H),
    unlink(P), exit(P, kill),
    case Left of
        false -> before(Way, 2 * Ms); % it did not run early enough
        _ -> ?assertEqual(#{{"_", [-1, "", ""]} => 1}, Got)
    end.

%% Between when it is due and when the process is let go on, and until it has taken the message.
late(Way) ->
    P = receiver(),
    H = start(Way, P, "{ @[copyinstr(arg2)] = max(arg1); }"),
    [Before, After, Message] =
        hold(P, fun() ->
                        T0 = ns(),
                        T = erlang:start_timer(7, P, x),
                        T1 = ns(),
                        until_expired(T),
                        receive after 50 -> ok end,
                        [T0, T1, {timeout, T, x}]
                end),
    Released = get(released),
    Taken = take(P, [Message]),
    Self = pid_to_list(self()),
    #{{"_", [Self]} := Late} = aggregations(H),
    erltrace:close(H),
    unlink(P), exit(P, kill),
    between(Released - (After + ?MS(7)), Late, Taken - (Before + ?MS(7))),
    ?assert(Late >= ?MS(49)).

%% Of several alike the one that is due first comes first: both are late by what they are late. One of them
%% that is cancelled does not count, one that is cancelled when it has expired does.
alike(Way) ->
    P = receiver(),
    H = start(Way, P, "{ @[++n] = max(arg1); }"),
    true = is_integer(erlang:cancel_timer(erlang:send_after(60000, P, same))),
    [T0, T1, T2] = hold(P, fun() ->
                                   At0 = ns(),
                                   A = erlang:send_after(100, P, same),
                                   At1 = ns(),
                                   B = erlang:send_after(5, P, same),
                                   At2 = ns(),
                                   [begin until_expired(T), false = erlang:cancel_timer(T) end || T <- [A, B]],
                                   [At0, At1, At2]
                           end),
    Released = get(released),
    Taken = take(P, [same, same]),
    Got = aggregations(H),
    erltrace:close(H),
    unlink(P), exit(P, kill),
    case T2 + ?MS(5) < T0 + ?MS(100) of
        true ->
            #{{"_", [1]} := First, {"_", [2]} := Second} = Got,
            between(Released - (T2 + ?MS(5)), First, Taken - (T1 + ?MS(5))),
            between(Released - (T1 + ?MS(100)), Second, Taken - (T0 + ?MS(100))),
            ?assertEqual(2, map_size(Got));
        false -> % this machine was so slow that it was not the first one to be due
            alike(Way)
    end.

%% Only sixteen of them were known.
thirty_alike(Way) ->
    P = receiver(),
    H = start(Way, P, "{ @[arg1 >= 0, copyinstr(arg2)] = count(); }"),
    Msgs = [begin _ = erlang:send_after(1, P, same), same end || _ <- lists:seq(1, 30)],
    take(P, Msgs),
    Got = aggregations(H),
    erltrace:close(H),
    unlink(P), exit(P, kill),
    ?assertEqual(#{{"_", [1, pid_to_list(self())]} => 30}, Got).

%% Times are by the VM's clock, which is another one: a ms more or less.
between(Least, N, Most) ->
    ?assert(N >= Least - ?MS(1), {Least, N, Most}),
    ?assert(N =< Most + ?MS(1), {Least, N, Most}).

%% Many at once, of many processes on all schedulers, five of each alike, others of them cancelled: all are known.
many(Way) ->
    Alike = [spawn(fun() -> receive go -> many_timers(1000) end end) || _ <- lists:seq(1, 8)],
    {ok, H} = erltrace:script(["#pragma D option calls=", atom_to_list(Way), "\n"
                               "erlang*:::timer-expire /strstr(erlmsg, \"{many,\") != NULL/"
                               "{ @[arg1 >= 0, copyinstr(arg2) == erlpid] = count(); }"]),
    Ms = [monitor(process, P) || P <- Alike],
    [P ! go || P <- Alike],
    [receive {'DOWN', M, _, _, Reason} -> ?assertEqual(normal, Reason) end || M <- Ms],
    Got = aggregations(H),
    erltrace:close(H),
    ?assertEqual(#{{"_", [1, 1]} => 8 * 2 * 1000}, Got).

many_timers(N) ->
    Refs = [begin
                Msg = {many, I rem (N div 5)},
                erlang:cancel_timer(erlang:send_after(60000, self(), Msg)),
                erlang:send_after(I rem 4, self(), Msg),
                erlang:start_timer(I rem 4, self(), Msg)
            end || I <- lists:seq(1, N)],
    [receive {timeout, R, _} -> ok end || R <- Refs],
    [receive {many, _} -> ok end || _ <- Refs],
    ok.

%% Far more of one message than were known of it once, of several processes, among others of it that are cancelled:
%% of an instant, of minutes and of hours. All that expire are known, and none is later than it can be.
storm_alike(Way) ->
    P = receiver(),
    H = start(Way, P, "{ @n[arg1 >= 0] = count(); @most = max(arg1); }"),
    Began = ns(),
    Starters = [spawn_monitor(fun() -> storm(P, 5000) end) || _ <- lists:seq(1, 4)],
    [receive {'DOWN', M, _, _, Reason} -> ?assertEqual(normal, Reason) end || {_, M} <- Starters],
    Taken = take(P, lists:duplicate(20000, same)),
    #{{"most", []} := Most} = Got = aggregations(H),
    Dropped = lists:sum([N || {drop, "TIMERS", N, _} <- items(H)]),
    erltrace:close(H),
    unlink(P), exit(P, kill),
    %% While one of the starters makes the crowd, the others drop theirs.
    ?assertEqual(20000, maps:get({"n", [1]}, Got) + maps:get({"n", [0]}, Got, 0)),
    ?assert(maps:get({"n", [0]}, Got, 0) =< Dropped),
    ?assert(Dropped < 10000),
    ?assert(Most =< Taken - Began + ?MS(1)).

storm(P, N) ->
    Long = [erlang:send_after(Ms, P, same) || Ms <- [60000, 600000, 36000000], _ <- lists:seq(1, 50)],
    [erlang:send_after(I rem 10, P, same) || I <- lists:seq(1, N)],
    [true = is_integer(erlang:cancel_timer(T)) || T <- Long].

%% Those that are left of such a crowd are not taken for others that come after them.
long_alike(Way) ->
    P = receiver(),
    H = start(Way, P, "{ @n[arg1 >= 0, copyinstr(arg2)] = count(); @most = max(arg1); }"),
    Long = [erlang:send_after(600000, P, same) || _ <- lists:seq(1, 100)],
    Began = ns(),
    [begin _ = erlang:send_after(1, P, same), take(P, [same]) end || _ <- lists:seq(1, 50)],
    #{{"most", []} := Most} = Got = aggregations(H),
    Over = ns(),
    [erlang:cancel_timer(T) || T <- Long],
    erltrace:close(H),
    unlink(P), exit(P, kill),
    ?assertEqual(#{{"n", [1, pid_to_list(self())]} => 50}, maps:remove({"most", []}, Got)),
    ?assert(Most =< Over - Began).

%% What cannot be known is counted, and told: alike, and due in more days than there is room for. (Some more may
%% be near the place of their key.)
dropped(Way) ->
    P = receiver(),
    H = start(Way, P, "{ @ = count(); }"),
    Days = [erlang:send_after(300000000, P, same) || _ <- lists:seq(1, 100)],
    {N, Text} = drops(H, 68),
    [erlang:cancel_timer(T) || T <- Days],
    erltrace:close(H),
    unlink(P), exit(P, kill),
    ?assert(N < 75),
    ?assertMatch({match, _}, re:run(Text, "timers without room: how late they were is not known")).

items(H) ->
    case erltrace:consume(H) of
        ok -> [];
        {ok, Items} -> Items
    end.

%% Until at least so many are told.
drops(H, Least) ->
    timer:sleep(20),
    case [{Count, Text} || {drop, "TIMERS", Count, Text} <- items(H)] of
        [] -> drops(H, Least);
        Told ->
            case lists:sum([Count || {Count, _} <- Told]) of
                N when N >= Least -> {N, element(2, lists:last(Told))};
                N ->
                    {More, Text} = drops(H, Least - N),
                    {N + More, Text}
            end
    end.

%% Before OTP 27 there is one match specification in the node: it goes with the last script that needs it,
%% and somebody else's stays.
shared_test() ->
    {ok, _} = application:ensure_all_started(erltrace),
    case erlang:function_exported(trace, session_create, 3) of
        true -> ok;
        false ->
            P = receiver(),
            A = start(traced, P, "{ @ = count(); }"),
            B = start(traced, P, "{ @ = count(); }"),
            {ok, C} = erltrace:script(["erlang*:::message-queued /erlpid == ", quoted(P), "/ { @ = count(); }"]),
            ok = erltrace:close(A),
            _ = erlang:send_after(1, P, x),
            take(P, [x]),
            ?assertEqual(#{{"_", []} => 1}, aggregations(B)),
            ?assertEqual(#{{"_", []} => 2}, aggregations(C)),
            ok = erltrace:close(B),
            ?assertEqual({match_spec, true}, erlang:trace_info('receive', match_spec)),
            ok = erltrace:close(C),
            Theirs = [{['_', self(), '_'], [], []}],
            erlang:trace_pattern('receive', Theirs, []),
            {error, {dtrace, <<"ET_RECEIVE_PATTERN">>, _, _, _}} =
                erltrace:script("erlang*:::timer-expire { @ = count(); }"),
            ?assertEqual({match_spec, Theirs}, erlang:trace_info('receive', match_spec)),
            erlang:trace_pattern('receive', true, []),
            unlink(P), exit(P, kill)
    end.

%% While the process is suspended, and fetches no message; `released': when it no longer was to be. (From OTP 29 on
%% its timers wait meanwhile, and can be neither read nor cancelled.)
hold(P, Fun) ->
    erlang:suspend_process(P),
    Value = Fun(),
    put(released, ns()),
    erlang:resume_process(P),
    Value.

until_expired(T) ->
    case erlang:read_timer(T) of
        false -> ok;
        Ms -> receive after Ms -> until_expired(T) end
    end.

ns() -> erlang:monotonic_time(nanosecond).
