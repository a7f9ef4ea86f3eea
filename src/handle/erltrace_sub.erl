%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc A subscription: what a script gathers, sent to a process each tick. It is a value that the
%% handle's process keeps; this module decides when a message is due and what is in it.
%%
%% The subscriber acknowledges each message (erltrace:ack/1). There are never more than `window'
%% unacknowledged messages. While there are that many, ticks are skipped (and counted), and what the
%% script gathers stays in its buffers, which are bounded and count what they drop. The last message
%% is always sent.
-module(erltrace_sub).
-export([options/1, new/2, free/1, ref/1, form/1, aggregations/1, is_down/2, saves/1]).
-export([due/1, tick/1, send/4, ack/1]).
-export_type([sub/0, opts/0]).

-type opts() :: #{to => pid(), interval => pos_integer(), window => pos_integer(),
                  output => records | text | alerts, aggregations => new | all | ticks,
                  save => save()}. % not an option of users
%% called with the message too, by the handle's process
-type save() :: {module(), Function :: atom(), [term()]}.

-record(sub, {ref :: reference(),
              to :: pid(),
              mon :: reference(),
              interval :: pos_integer(),
              window :: pos_integer(),
              output :: records | text | alerts,
              aggregations :: new | all | ticks,
              save :: save() | undefined,
              next :: integer(),
              timer :: reference(),
              count = 0 :: non_neg_integer(),
              unacked = 0 :: non_neg_integer(),
              missed = 0 :: non_neg_integer()}).
-opaque sub() :: #sub{}.

%% @doc The options, checked and completed with the defaults.
-spec options(map()) -> {ok, opts()} | {error, {badopt, term()}}.
options(Opts) ->
    Default = #{interval => 1000, window => 1, output => records, aggregations => new},
    case [Opt || {K, V} = Opt <- maps:to_list(Opts), not valid(K, V)] of
        [] -> {ok, maps:merge(Default, Opts)};
        [Bad | _] -> {error, {badopt, Bad}}
    end.

valid(to, V) -> is_pid(V);
valid(interval, V) -> is_integer(V) andalso V > 0 andalso V =< 86400000;
valid(window, V) -> is_integer(V) andalso V > 0;
valid(output, V) -> lists:member(V, [records, text, alerts]);
valid(aggregations, V) -> lists:member(V, [new, all, ticks]);
valid(_, _) -> false.

%% @doc Called by the process that will get the timer's messages. The reference is an alias of that
%% process: acknowledgements are sent to it, and are dropped once it is freed. The first tick may
%% come sooner than the others: then they come together with those of other scripts.
-spec new(pid(), opts()) -> sub().
new(To, #{interval := Interval, window := Window, output := Output, aggregations := Aggs} = Opts) ->
    Ref = erlang:alias(),
    Next = erltrace_timer:next(Interval),
    #sub{
        ref = Ref,
        to = To,
        mon = erlang:monitor(process, To),
        interval = Interval,
        window = Window,
        output = Output,
        aggregations = Aggs,
        save = maps:get(save, Opts, undefined),
        next = Next,
        timer = timer(Next, Ref)
    }.

timer(Next, Ref) ->
    erlang:send_after(Next, self(), {tick, Ref}, [{abs, true}]).

-spec ref(sub()) -> reference().
ref(#sub{ref = Ref}) -> Ref.

%% @doc `alerts': nothing of what actions print.
-spec form(sub()) -> records | text | alerts.
form(#sub{output = Form}) -> Form.

%% @doc `new': aggregations are cleared when they are sent; `ticks': the library adds them to the
%% totals that the handle feeds, whatever the script itself clears (erltrace_metrics).
-spec aggregations(sub()) -> new | all | ticks.
aggregations(#sub{aggregations = Aggs}) -> Aggs.

%% @doc May another message be sent?
-spec due(sub()) -> boolean().
due(#sub{unacked = N, window = Window}) -> N < Window.

%% @doc A tick has come: set the timer for the next one. Ticks that are overdue are skipped.
-spec tick(sub()) -> sub().
tick(#sub{next = Next0, interval = Interval} = Sub) ->
    Overdue = max(0, erlang:monotonic_time(millisecond) - Next0) div Interval,
    Next = Next0 + (Overdue + 1) * Interval,
    Missed = case due(Sub) of true -> 0; false -> 1 end,
    Sub#sub{next = Next, timer = timer(Next, Sub#sub.ref),
            missed = Sub#sub.missed + Missed + Overdue}.

%% @doc Send a message: `tick', or `done' for the last one.
-spec send(tick | done, Status :: term(), {Items :: [tuple()], Aggs :: [tuple()]}, sub()) -> sub().
send(Kind, Status, {Items, Aggs}, #sub{count = N} = Sub) ->
    Output = case Sub#sub.output of
                 text -> #{output => iolist_to_binary([T || {text, T} <- Items])};
                 _ -> #{records => [I || I <- Items, is_result(I)]}
             end,
    Message = Output#{tick => N + 1, status => Status, aggregations => Aggs,
                      drops => [{Drop, Count, Text} || {drop, Drop, Count, Text} <- Items],
                      faults => [Text || {fault, Text} <- Items],
                      warnings => [Text || {warning, Text} <- Items],
                      missed => Sub#sub.missed},
    save(Message, Sub),
    Sub#sub.to ! {erltrace, Sub#sub.ref, Kind, Message},
    Sub#sub{count = N + 1, unacked = Sub#sub.unacked + 1, missed = 0}.

save(_, #sub{save = undefined}) -> ok;
save(Message, #sub{save = {M, F, Args}}) -> apply(M, F, Args ++ [Message]).

is_result(Item) ->
    not lists:member(element(1, Item), [text, drop, fault, warning]).

-spec ack(sub()) -> sub().
ack(#sub{unacked = N} = Sub) -> Sub#sub{unacked = max(0, N - 1)}.

-spec is_down(reference(), sub()) -> boolean().
is_down(Mon, #sub{mon = Mine}) -> Mon =:= Mine.

%% @doc Are messages of use also when the subscriber has ended?
-spec saves(sub()) -> boolean().
saves(#sub{save = Save}) -> Save =/= undefined.

-spec free(sub()) -> ok.
free(#sub{ref = Ref, mon = Mon, timer = Timer}) ->
    _ = erlang:cancel_timer(Timer),
    _ = erlang:unalias(Ref),
    _ = erlang:demonitor(Mon, [flush]),
    ok.
