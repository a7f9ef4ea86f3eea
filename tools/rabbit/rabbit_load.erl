%% SPDX-License-Identifier: Apache-2.0
%% A load for a RabbitMQ server on this machine, by its own AMQP 0-9-1 client: so many messages are
%% published with confirms and consumed with acknowledgements, each has its number, and in the end
%% every number must have been confirmed once and consumed once.
%%
%%	erl -noshell -pa PLUGINS -run rabbit_load main PORT MESSAGES BYTES PRODUCERS CONSUMERS [RATE]
%%	erl -noshell -pa PLUGINS -run rabbit_load fill PORT MESSAGES BYTES
%%
%% RATE: so many a second at most, of all producers together. For each line that it reads then it says
%% how many messages were consumed so far; "stop" ends it, with what was published until then.
-module(rabbit_load).
-export([main/1, fill/1]).
-include_lib("amqp_client/include/amqp_client.hrl").

-define(WINDOW, 200). % messages of a producer that are not confirmed yet, at most

-spec main([string()]) -> no_return().
main(Args) ->
    logger:set_primary_config(level, error),
    ok = application:set_env(amqp_client, gen_server_call_timeout, 600000),
    [Port, Most, Bytes, Producers, Consumers | Rate] = [list_to_integer(A) || A <- Args],
    {ok, _} = application:ensure_all_started(amqp_client),
    Seen = counters:new(Most + 1, []), % of each number, from the second on; the first: of all
    Queue = list_to_binary(io_lib:format("load-~s", [os:getpid()])),
    {Conn, Ch} = channel(Port),
    #'queue.declare_ok'{} = amqp_channel:call(Ch, #'queue.declare'{queue = Queue}),
    Self = self(),
    Cs = [spawn_link(fun() -> consumer(Self, Port, Queue, Seen) end)
          || _ <- lists:seq(1, Consumers)],
    [receive {C, ready} -> ok end || C <- Cs],
    T0 = erlang:monotonic_time(microsecond),
    Pace = pace(Rate),
    Ps = [spawn_link(fun() -> producer(Self, Port, Queue, Bytes, I, {Most, Pace}, Producers) end)
          || I <- lists:seq(1, Producers)],
    _ = Rate =/= [] andalso spawn_link(fun() -> answer(Seen, Pace) end),
    {Confirmed, Nacked} = lists:foldl(fun(P, {A, B}) ->
                                              receive {P, confirmed, C, F} -> {A + C, B + F} end
                                      end, {0, 0}, Ps),
    T1 = erlang:monotonic_time(microsecond),
    N = Confirmed + Nacked,
    Consumed = wait_consumed(Seen, N, erlang:monotonic_time(second) + 60),
    T2 = erlang:monotonic_time(microsecond),
    [begin C ! stop, receive {C, stopped} -> ok end end || C <- Cs],
    #'queue.delete_ok'{message_count = Left} =
        amqp_channel:call(Ch, #'queue.delete'{queue = Queue}),
    amqp_connection:close(Conn),
    Twice = length([I || I <- lists:seq(2, Most + 1), counters:get(Seen, I) > 1]),
    io:format("published ~b confirmed ~b refused ~b consumed ~b twice ~b left ~b "
              "confirmed_per_s ~b per_s ~b~n",
              [N, Confirmed, Nacked, Consumed, Twice, Left, N * 1000000 div (T1 - T0),
               N * 1000000 div (T2 - T0)]),
    halt(case {Confirmed, Consumed, Twice, Left} of {N, N, 0, 0} -> 0; _ -> 1 end).

%% Publishes messages that nobody consumes.
-spec fill([string()]) -> no_return().
fill(Args) ->
    logger:set_primary_config(level, error),
    [Port, Most, Bytes] = [list_to_integer(A) || A <- Args],
    {ok, _} = application:ensure_all_started(amqp_client),
    {_, Ch} = channel(Port),
    #'queue.declare_ok'{} = amqp_channel:call(Ch, #'queue.declare'{queue = <<"full">>}),
    #'confirm.select_ok'{} = amqp_channel:call(Ch, #'confirm.select'{}),
    Body = binary:copy(<<"x">>, Bytes),
    [begin
         ok = amqp_channel:call(Ch, #'basic.publish'{routing_key = <<"full">>}, #amqp_msg{payload = Body}),
         N rem 5000 =:= 0 andalso amqp_channel:wait_for_confirms(Ch, 600)
     end || N <- lists:seq(1, Most)],
    true = amqp_channel:wait_for_confirms(Ch, 600),
    io:format("filled ~b~n", [Most]),
    halt(0).

%% No heartbeats: on a busy machine they come late, and we would be disconnected. There the server may
%% find that we take too long to log in, too: then again.
channel(Port) -> channel(Port, 60).

channel(Port, Tries) ->
    case amqp_connection:start(#amqp_params_network{host = "127.0.0.1", port = Port, heartbeat = 0}) of
        {ok, Conn} ->
            {ok, Ch} = amqp_connection:open_channel(Conn),
            {Conn, Ch};
        {error, _} when Tries > 1 ->
            channel(Port, Tries - 1)
    end.

%% {When it began, nanoseconds for a message, has it been stopped?}
pace([]) -> none;
pace([Rate]) -> {erlang:monotonic_time(nanosecond), 1000000000 div Rate, atomics:new(1, [])}.

answer(Seen, {_, _, Stopped} = Pace) ->
    case io:get_line("") of
        Line when Line =:= eof; Line =:= "stop\n" -> atomics:put(Stopped, 1, 1);
        _ ->
            io:format("consumed ~b~n", [counters:get(Seen, 1)]),
            answer(Seen, Pace)
    end.

%% How many different numbers have come, once all have or time is up.
wait_consumed(Seen, N, Until) ->
    #{size := Size} = counters:info(Seen),
    case lists:sum([min(1, counters:get(Seen, I)) || I <- lists:seq(2, Size)]) of
        N -> N;
        Less ->
            case erlang:monotonic_time(second) > Until of
                true -> Less;
                false -> timer:sleep(20), wait_consumed(Seen, N, Until)
            end
    end.

%% ---- producers --------------------------------------------------------------------------------

%% The numbers I, I + Step, .. up to N.
producer(Parent, Port, Queue, Bytes, I, {N, Pace}, Step) ->
    {Conn, Ch} = channel(Port),
    #'confirm.select_ok'{} = amqp_channel:call(Ch, #'confirm.select'{}),
    ok = amqp_channel:register_confirm_handler(Ch, self()),
    Fill = binary:copy(<<"x">>, max(0, Bytes - 8)),
    Send = fun(J) ->
                   amqp_channel:cast(Ch, #'basic.publish'{routing_key = Queue},
                                     #amqp_msg{payload = <<J:64, Fill/binary>>})
           end,
    {C, F} = publish(Send, Pace, I, N, Step, 0, {0, 0, 0}),
    amqp_connection:close(Conn),
    Parent ! {self(), confirmed, C, F}.

%% Sent so far; and of these {confirmed, refused, highest number of the channel's confirmed}.
publish(_, _, I, N, _, Sent, {C, F, Sent}) when I > N -> {C, F};
publish(Send, Pace, I, N, Step, Sent, {_, _, Done} = Acks) when I > N; Sent - Done >= ?WINDOW ->
    publish(Send, Pace, I, N, Step, Sent, confirms(Acks));
publish(Send, Pace, I, N, Step, Sent, Acks) ->
    case is_due(I, Pace) of
        true ->
            ok = Send(I),
            publish(Send, Pace, I + Step, N, Step, Sent + 1, Acks);
        stopped ->
            publish(Send, Pace, I, 0, Step, Sent, Acks);
        Ms ->
            receive after Ms -> publish(Send, Pace, I, N, Step, Sent, Acks) end
    end.

%% May the number I be sent? Or in so many ms.
is_due(_, none) -> true;
is_due(I, {Began, Each, Stopped}) ->
    case {atomics:get(Stopped, 1), Began + I * Each - erlang:monotonic_time(nanosecond)} of
        {1, _} -> stopped;
        {0, Left} when Left =< 0 -> true;
        {0, Left} -> 1 + Left div 1000000
    end.

%% Confirms come in any order, one by one or up to a number: each counts for those it adds.
confirms({C, F, Done}) ->
    receive
        #'basic.ack'{delivery_tag = T, multiple = M} -> confirmed(T, M, C, F, Done, ack);
        #'basic.nack'{delivery_tag = T, multiple = M} -> confirmed(T, M, C, F, Done, nack)
    end.

confirmed(Tag, true, C, F, Done, Kind) ->
    Single = [T || T <- take(confirmed), T > Tag],
    New = Tag - Done - (length(take(confirmed)) - length(Single)),
    put(confirmed, Single),
    advance(add(Kind, New, C, F), Tag);
confirmed(Tag, false, C, F, Done, Kind) ->
    put(confirmed, ordsets:add_element(Tag, take(confirmed))),
    advance(add(Kind, 1, C, F), Done).

take(Key) -> case get(Key) of undefined -> []; V -> V end.

add(ack, N, C, F) -> {C + N, F};
add(nack, N, C, F) -> {C, F + N}.

%% Those confirmed one by one that follow what is done without a gap.
advance({C, F}, Done) ->
    case take(confirmed) of
        [T | Rest] when T =:= Done + 1 -> put(confirmed, Rest), advance({C, F}, T);
        _ -> {C, F, Done}
    end.

%% ---- consumers --------------------------------------------------------------------------------

consumer(Parent, Port, Queue, Seen) ->
    {Conn, Ch} = channel(Port),
    #'basic.qos_ok'{} = amqp_channel:call(Ch, #'basic.qos'{prefetch_count = 200}),
    #'basic.consume_ok'{} = amqp_channel:subscribe(Ch, #'basic.consume'{queue = Queue}, self()),
    receive #'basic.consume_ok'{} -> ok end,
    Parent ! {self(), ready},
    consume(Ch, Seen),
    amqp_connection:close(Conn),
    Parent ! {self(), stopped}.

consume(Ch, Seen) ->
    receive
        {#'basic.deliver'{delivery_tag = T}, #amqp_msg{payload = <<I:64, _/binary>>}} ->
            ok = amqp_channel:cast(Ch, #'basic.ack'{delivery_tag = T}),
            counters:add(Seen, I + 1, 1),
            counters:add(Seen, 1, 1),
            consume(Ch, Seen);
        stop -> ok
    end.
