%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What a script that is always on may spend (erltrace_script). A bucket is filled with a share of
%% the time that the schedulers are busy, and what the script costs is taken out of it: its events with
%% the VM's part of them, reading its results, arming and disarming it. While the bucket is not empty the
%% script is armed. Then it is paused until the bucket is full again, unless it costs less than what
%% comes in: it is not paused for what it took to arm it.
%%
%% Busy is what processor time the node used, half of one scheduler at least (c_src/beam/watchdog.c has
%% the same). The bucket is filled with four fifths of the share, and never holds more than the share of
%% 12 seconds: so in any minute no more than the share of that minute is spent. What is overdrawn between
%% two looks is paid back before the script is armed again. The processes that look after a script are not
%% paid for: they take about a millisecond a second.
-module(erltrace_budget).
-export([new/2, pass/4, pay/3, is_empty/1, is_full/1, next/2, demand/1, share/1, level/2]).
-export_type([budget/0, clock/0]).

-define(SECOND, 1000000000).
-define(FILL, 0.8).      % of the share ...
-define(MOST, 12).       % ... and what the bucket holds at most, in seconds of it: 0.8 * 60 + 12 = 60
-define(USUAL, 2).       % what it holds if that is enough to arm the script many times
-define(ARMINGS, 4).     % this many times
-define(MEMORY, 5).      % seconds over which what it costs is smoothed
-define(TIMES, 8).       % armings that are remembered
-define(SOON, 20).       % ms between two looks, at least
-define(LATE, 250).      % and at most

-type clock() :: {Wall :: integer(), Cpu :: non_neg_integer()}. % both in ns

-record(budget, {own :: float(),                   % its share at most
                 share :: float(),                 % what it has now
                 clock :: clock(),
                 busy = 0.5 :: float(),            % schedulers, as it was last
                 left :: float(),                  % ns in the bucket
                 falls = false :: boolean(),       % it was more at the last look
                 %% ns, the last times. At first what is usual: on a busy machine one may seem to take long.
                 arming = [{arm, [10000000]}, {disarm, [3000000]}] :: [{arm | disarm, [number()]}],
                 demand :: float() | undefined}).  % of the busy time, while it is armed
-opaque budget() :: #budget{}.

-spec new(Own :: float(), clock()) -> budget().
new(Own, Clock) ->
    B = #budget{own = Own, share = Own, clock = Clock, left = 0.0, demand = undefined},
    B#budget{left = room(B)}.

%% @doc Until now it has spent so much. Level: what each may have at most if all are to stay within
%% what they have together.
-spec pass(clock(), Level :: float(), {armed | paused, Spent :: number()}, budget()) -> budget().
pass({Wall, Cpu} = Clock, Level, {State, Spent}, #budget{clock = {Wall0, Cpu0}} = B) ->
    Time = max(0, Wall - Wall0),
    Busy = busy(Time, max(0, Cpu - Cpu0)),
    B1 = B#budget{clock = Clock, share = min(B#budget.own, Level), busy = busy_rate(Busy, Time, B),
                  demand = demand(State, Spent, Busy, B)},
    More = ?FILL * B1#budget.share * Busy - Spent,
    B1#budget{left = min(room(B1), B#budget.left + More), falls = More < 0}.

busy(Time, Cpu) ->
    max(Time / 2, min(Cpu, Time * erlang:system_info(schedulers_online))).

busy_rate(_, 0, #budget{busy = Rate}) -> Rate;
busy_rate(Busy, Time, #budget{busy = Rate}) ->
    Rate + (Busy / Time - Rate) * weight(Time).

demand(armed, Spent, Busy, #budget{demand = undefined}) when Busy > 0 -> Spent / Busy;
demand(armed, Spent, Busy, #budget{demand = Old}) when Busy > 0 ->
    Old + (Spent / Busy - Old) * weight(Busy);
demand(_, _, _, #budget{demand = Old}) -> Old.

weight(Time) -> min(1.0, Time / (?MEMORY * ?SECOND)).

%% @doc It has been armed, or disarmed, and that took no more than so many ns. Of the last times the least
%% is right: others were at work too.
-spec pay(arm | disarm, number(), budget()) -> {Paid :: number(), budget()}.
pay(How, Ns, #budget{left = Left, arming = Old} = B) ->
    Times = lists:sublist([Ns | proplists:get_value(How, Old, [])], ?TIMES),
    Least = lists:min(Times),
    {Least, B#budget{left = Left - Least, arming = lists:keystore(How, 1, Old, {How, Times})}}.

arming(#budget{arming = Arming}) ->
    lists:sum([lists:min(Times) || {_, Times} <- Arming]).

room(#budget{share = Share, busy = Busy} = B) ->
    Second = Share * Busy * ?SECOND,
    min(?MOST * Second, max(?USUAL * Second, ?ARMINGS * arming(B))).

%% @doc Must it be paused?
-spec is_empty(budget()) -> boolean().
is_empty(#budget{left = Left, falls = Falls}) -> Left =< 0 andalso Falls.

%% @doc May it be armed?
-spec is_full(budget()) -> boolean().
is_full(#budget{left = Left} = B) -> Left >= 0.99 * room(B).

%% @doc ms until it should be looked at again.
-spec next(armed | paused, budget()) -> pos_integer().
next(armed, #budget{demand = undefined}) ->
    ?SOON;
next(armed, #budget{left = Left, demand = Demand, busy = Busy}) ->
    within(Left / (4 * max(1.0, Demand * Busy * ?SECOND)) * 1000, ?LATE);
next(paused, #budget{left = Left, share = Share, busy = Busy} = B) ->
    within((room(B) - Left) / max(1.0, ?FILL * Share * Busy * ?SECOND) * 1000, 4 * ?LATE).

within(Ms, Most) -> max(?SOON, min(Most, ceil(Ms))).

%% @doc The part of the busy time that it takes while it is armed.
-spec demand(budget()) -> float() | undefined.
demand(#budget{demand = Demand}) -> Demand.

-spec share(budget()) -> float().
share(#budget{share = Share}) -> Share.

%% @doc What each may have at most, so that all together have no more than Total: those that want less
%% leave the rest to the others. Of one that was never armed it is not known what it wants.
-spec level(Total :: float(), [{Own :: float(), Demand :: float() | undefined}]) -> float().
level(Total, Scripts) ->
    Wants = [case Demand of undefined -> Own; _ -> min(Own, Demand) end || {Own, Demand} <- Scripts],
    level(Total, lists:sort(Wants), length(Wants)).

level(_, [], _) -> 1.0;
level(Left, [Want | Wants], N) when Want =< Left / N -> level(Left - Want, Wants, N - 1);
level(Left, _, N) -> Left / N.
