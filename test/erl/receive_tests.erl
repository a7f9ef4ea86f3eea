%% SPDX-License-Identifier: Apache-2.0
%% message-queued, and receives that time out: the VM tells of these as of a message `timeout'.
-module(receive_tests).
-include_lib("eunit/include/eunit.hrl").

%% How often message-queued fired for a process that runs Fun when the script has begun.
queued(Fun) ->
    {P, M} = spawn_monitor(fun() -> receive go -> Fun() end end),
    {ok, H} = erltrace:script(["erlang*:::message-queued /copyinstr(arg0) == \"", pid_to_list(P),
                               "\"/ { @ = count(); }"]),
    P ! go,
    receive {'DOWN', M, process, P, Reason} -> ?assertEqual(normal, Reason) end,
    {ok, [{_, count, [], N}]} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    N - 1. % without go

times(N, Fun) -> [Fun() || _ <- lists:seq(1, N)].

no_timeout() -> receive nothing -> ok after 0 -> ok end.

%% With an empty queue.
timeouts_are_no_messages_test() ->
    ?assertEqual(0, queued(fun() ->
                                   times(20, fun no_timeout/0),
                                   times(5, fun() -> receive after 1 -> ok end end)
                           end)).

%% While messages wait that no clause takes.
timeouts_beside_waiting_messages_are_none_test() ->
    ?assertEqual(3, queued(fun() ->
                                   times(3, fun() -> self() ! waits end),
                                   times(20, fun no_timeout/0),
                                   times(5, fun() -> receive after 1 -> ok end end)
                           end)).

%% A message can be this very atom: one is as good as any other.
a_message_timeout_is_one_test() ->
    ?assertEqual(31, queued(fun() ->
                                    times(10, fun() ->
                                                      self() ! timeout,
                                                      receive timeout -> ok end,
                                                      no_timeout()
                                              end),
                                    times(20, fun() -> self() ! timeout end),
                                    no_timeout(),
                                    times(20, fun() -> receive timeout -> ok end end),
                                    _ = erlang:send_after(1, self(), timeout),
                                    receive timeout -> ok end
                            end)).

%% Before OTP 27 there is one pattern for receives in a node. Ours is gone afterwards.
pattern_is_taken_back_test() ->
    0 = queued(fun no_timeout/0),
    ?assertEqual({match_spec, true}, erlang:trace_info('receive', match_spec)).

%% Somebody else's stays; timeouts with an empty queue are told from messages all the same.
pattern_of_another_stays_test() ->
    Other = [{['_', '_', '_'], [], []}],
    _ = erlang:trace_pattern('receive', Other, []),
    try
        ?assertEqual(2, queued(fun() ->
                                       times(20, fun no_timeout/0),
                                       times(2, fun() -> self() ! x, receive x -> ok end end)
                               end)),
        ?assertEqual({match_spec, Other}, erlang:trace_info('receive', match_spec))
    after
        _ = erlang:trace_pattern('receive', true, [])
    end.

%% Somebody sets one after us: it is not taken back with ours.
pattern_set_after_us_stays_test() ->
    Other = [{['_', '_', '_'], [], []}],
    {ok, H} = erltrace:script("erlang*:::message-queued { @ = count(); }"),
    _ = erlang:trace_pattern('receive', Other, []),
    ok = erltrace:close(H),
    Left = erlang:trace_info('receive', match_spec),
    _ = erlang:trace_pattern('receive', true, []),
    ?assertEqual({match_spec, Other}, Left).

%% ---- the queue's length ----------------------------------------------------------------------

await(Flag, N) ->
    atomics:get(Flag, 1) =:= N orelse begin erlang:yield(), await(Flag, N) end.

%% The lengths at the events of a process that runs Fun when the script has begun, in their order.
lengths(P, Fun) ->
    {ok, H} = erltrace:script(["int n; erlang*:::message-queued /copyinstr(arg0) == \"",
                               pid_to_list(P), "\"/ { @[n++] = max(arg2); }"]),
    Fun(),
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    [V || {_, V} <- lists:sort([{K, V} || {_, max, [K], V} <- Aggs])].

%% The process takes one message of many, and is at work while more come: none of the lengths is
%% less than what waits, and none falls but by the one that was taken. It sends itself the first
%% ones, without a garbage collection: there, and when a traced process has been scheduled out eight
%% times, the VM takes messages in too, from OTP 27 on.
length_of_a_queue_that_is_not_emptied_test() ->
    {N, More} = {1000, 700},
    Flag = atomics:new(1, []),
    {P, M} = spawn_opt(fun() ->
                               await(Flag, 1),
                               times(N, fun() -> self() ! x end),
                               receive x -> ok end,
                               atomics:put(Flag, 1, 2),
                               await(Flag, 3),
                               receive nothing -> ok after 0 -> ok end
                       end, [monitor, {min_heap_size, 100000}]),
    Lens = lengths(P, fun() ->
                              atomics:put(Flag, 1, 1),
                              await(Flag, 2),
                              times(More, fun() -> P ! x end),
                              atomics:put(Flag, 1, 3),
                              receive {'DOWN', M, process, P, normal} -> ok end
                      end),
    ?assertEqual(N + More, length(Lens)),
    {First, Rest} = lists:splitwith(fun(L) -> L =:= N end, Lens),
    ?assertNotEqual([], First),
    ?assertEqual(Rest, lists:sort(Rest)),
    ?assert(Rest =:= [] orelse hd(Rest) >= N - 1),
    ?assertEqual(N - 1 + More, lists:last(Lens)).

%% Never more than there are, whoever asks for it.
length_is_a_lower_bound_test() ->
    {P, M} = spawn_monitor(fun() -> receive done -> ok end end),
    Lens = lengths(P, fun() ->
                              [begin
                                   P ! x,
                                   I rem 7 =:= 0 andalso process_info(P, message_queue_len)
                               end || I <- lists:seq(1, 999)],
                              P ! done,
                              receive {'DOWN', M, process, P, normal} -> ok end
                      end),
    ?assertEqual(1000, length(Lens)),
    ?assertEqual([], [L || L <- Lens, L < 1 orelse L > 1000]).
