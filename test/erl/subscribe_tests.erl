%% SPDX-License-Identifier: Apache-2.0
%% Results that are sent: nothing lost, nothing twice, never more than the window, and the end.
-module(subscribe_tests).
-include_lib("eunit/include/eunit.hrl").

-define(COUNT, "erlang*:::user_trace-n11 { @[\"k\"] = count(); trace(arg2); }").

next(Ref) ->
    receive {erltrace, Ref, Kind, Map} -> {Kind, Map} after 60000 -> timeout end.

%% All messages until the last, answered one by one.
all(Ref) ->
    case next(Ref) of
        {tick, Map} -> erltrace:ack(Ref), [Map | all(Ref)];
        {done, Map} -> [Map]
    end.

total(Maps) -> lists:sum([V || #{aggregations := As} <- Maps, {_, count, _, V} <- As]).
values(Maps) -> [V || #{records := Rs} <- Maps, {probe, _, V} <- Rs].

%% Fired in between, everything comes once: as counts and as records.
everything_once_test() ->
    {ok, H} = erltrace:script([?COUNT, "END { trace(-1); @[\"end\"] = count(); }"]),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 5}),
    ?assertEqual({error, subscribed}, erltrace:subscribe(H)),
    ?assertEqual({error, subscribed}, erltrace:walk(H)),
    ?assertEqual({error, subscribed}, erltrace:consume(H)),
    First = [begin
                 [true = dtrace:pn(11, I) || I <- lists:seq(N * 100 + 1, N * 100 + 100)],
                 {tick, Map} = next(Ref),
                 erltrace:ack(Ref),
                 Map
             end || N <- lists:seq(0, 9)],
    ok = erltrace:stop(H),
    Maps = First ++ all(Ref),
    ?assertEqual(1001, total(Maps)),
    ?assertEqual(lists:seq(1, 1000) ++ [-1], values(Maps)),
    ?assertEqual(lists:seq(1, length(Maps)), [N || #{tick := N} <- Maps]),
    ?assertMatch(#{status := stopped, drops := [], faults := []}, lists:last(Maps)),
    erltrace:close(H).

%% A subscriber that does not answer gets one message, and then the last.
back_pressure_test() ->
    {ok, H} = erltrace:script(?COUNT),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 1}),
    {tick, #{tick := 1} = First} = next(Ref),
    [true = dtrace:pn(11, I) || I <- lists:seq(1, 500)],
    wait_for_ticks(H, 20),
    ?assertEqual([], messages(Ref)),
    Later = until_missed(H, Ref, 2),
    ok = erltrace:stop(H),
    {done, Last} = next(Ref),
    ?assertEqual(500, total([First | Later] ++ [Last])),
    ?assertEqual([], messages(Ref)),
    erltrace:close(H).

%% Answered, it gets the next one, which tells how many there were not. A timer of the handle may be late where
%% ours are not, by a scheduler that does not run just now: then a later one tells it.
until_missed(H, Ref, N) ->
    erltrace:ack(Ref),
    {tick, #{tick := N, missed := Missed} = Map} = next(Ref),
    case Missed of
        0 ->
            wait_for_ticks(H, 20),
            ?assertEqual([], messages(Ref)),
            [Map | until_missed(H, Ref, N + 1)];
        _ ->
            [Map]
    end.

%% Of a window of three, three.
window_test() ->
    {ok, H} = erltrace:script(?COUNT),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 1, window => 3}),
    [{tick, #{tick := I}} = next(Ref) || I <- [1, 2, 3]],
    wait_for_ticks(H, 20),
    ?assertEqual([], messages(Ref)),
    ok = erltrace:unsubscribe(H, Ref),
    ?assertEqual({error, not_subscribed}, erltrace:unsubscribe(H, Ref)),
    ?assertEqual(ok, erltrace:walk(H)),
    erltrace:close(H).

%% The script ends itself.
exit_test() ->
    {ok, H} = erltrace:script("tick-1ms /n++ == 5/ { exit(4); } END { printf(\"bye\"); }"),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 2, output => text}),
    Maps = all(Ref),
    #{status := {exited, 4}} = lists:last(Maps),
    Text = iolist_to_binary([T || #{output := T} <- Maps]),
    ?assertNotEqual(nomatch, string:find(Text, "bye")),
    ?assertEqual({error, exited}, erltrace:consume(H)),
    erltrace:close(H).

%% Closed, or its owner gone: the last message comes, with what END gave.
close_test() ->
    {ok, H} = erltrace:script([?COUNT, "END { trace(7); }"]),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 60000}),
    true = dtrace:pn(11, 1),
    ok = erltrace:close(H),
    {done, Map} = next(Ref),
    ?assertEqual({1, [1, 7]}, {total([Map]), values([Map])}).

owner_gone_test() ->
    Self = self(),
    {Owner, Mon} = spawn_monitor(fun() ->
                                         {ok, H} = erltrace:script([?COUNT, "END { trace(7); }"]),
                                         {ok, R} = erltrace:subscribe(H, #{interval => 60000,
                                                                           to => Self}),
                                         Self ! {ref, R},
                                         receive after infinity -> ok end
                                 end),
    Ref = receive {ref, R} -> R end,
    [true = dtrace:pn(11, I) || I <- [1, 2, 3]],
    exit(Owner, kill),
    receive {'DOWN', Mon, process, Owner, killed} -> ok end,
    {done, Map} = next(Ref),
    ?assertEqual({3, [1, 2, 3, 7]}, {total([Map]), values([Map])}).

%% The subscriber goes: the handle stays, and may be read again.
subscriber_gone_test() ->
    {ok, H} = erltrace:script(?COUNT),
    {P, Mon} = spawn_monitor(fun() -> receive {erltrace, _, tick, _} -> ok end end),
    {ok, _} = erltrace:subscribe(H, #{interval => 1, to => P}),
    receive {'DOWN', Mon, process, P, _} -> ok end,
    true = dtrace:pn(11, 1),
    {ok, New} = subscribe_again(H),
    {tick, Map} = next(New),
    ?assertEqual(1, total([Map])),
    ok = erltrace:unsubscribe(H, New),
    true = dtrace:pn(11, 2),
    ?assertMatch({ok, [{count, ["k"], 1}]}, erltrace:walk(H)),
    erltrace:close(H).

subscribe_again(H) ->
    case erltrace:subscribe(H, #{interval => 1}) of
        {error, subscribed} -> erlang:yield(), subscribe_again(H);
        Result -> Result
    end.

%% Aggregations as a whole, each time.
all_test() ->
    {ok, H} = erltrace:script(?COUNT),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 1, aggregations => all}),
    [true = dtrace:pn(11, I) || I <- lists:seq(1, 10)],
    wait_for_total(Ref, 10),
    [true = dtrace:pn(11, I) || I <- lists:seq(1, 10)],
    wait_for_total(Ref, 20),
    erltrace:close(H).

wait_for_total(Ref, N) ->
    {tick, Map} = next(Ref),
    erltrace:ack(Ref),
    case total([Map]) of
        N -> ok;
        Less when Less < N -> wait_for_total(Ref, N)
    end.

%% Subscribed before go: the first message comes after it.
before_go_test() ->
    {ok, H} = erltrace:open(),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 1}),
    ok = erltrace:compile(H, "BEGIN { trace(1); exit(0); }"),
    ok = erltrace:go(H),
    Maps = all(Ref),
    ?assertEqual([1], values(Maps)),
    erltrace:close(H).

%% ---- helpers ---------------------------------------------------------------------------------

messages(Ref) ->
    receive {erltrace, Ref, _, _} = M -> [M | messages(Ref)] after 0 -> [] end.

%% The handle has served so many timers of a millisecond: a timer of ours, and a call, follow each.
wait_for_ticks(_, 0) -> ok;
wait_for_ticks(H, N) ->
    receive after 2 -> ok end,
    {ok, _} = erltrace:status(H),
    wait_for_ticks(H, N - 1).
