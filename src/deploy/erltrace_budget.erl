%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What a script that is always on may spend (erltrace_script). A bucket is filled with a share
%% of the schedulers' time, and what the script costs is taken out of it: its events with the VM's
%% part of them, reading its results, arming and disarming it. While the bucket is not empty the
%% script is armed. Then it is paused until the bucket is full again, unless it costs less than what
%% comes in: it is not paused for what it took to arm it.
%%
%% The schedulers' time is the wall clock's, times the schedulers that are online, whether they are
%% busy or not: a script that keeps within its share of that is not paused on a node that has little
%% to do. But no more than ten times what they are busy: where one of many schedulers has work,
%% events slow down that one, not all. Busy is what processor time the node used, half of one
%% scheduler at least (c_src/beam/handle/watchdog.c has the same).
%%
%% A bucket holds the share of R seconds, 1 to 12, so that arming the script pays. Arming is paid
%% for, and so a script then stays armed for some seconds at least, unless it spends another bucket
%% in them, and more than arming it takes: else one that costs little could be paused for what it
%% took to start it, and nobody would ever know how little. The bucket is filled with 1 - 2R/60 of
%% the share: so in any minute no more than the share of that minute is spent. What is overdrawn is
%% paid back before the script is armed again.
-module(erltrace_budget).
-export([
    new/2,
    pass/4,
    pay/3,
    is_empty/1,
    is_full/1,
    next/2,
    demand/1,
    share/1,
    level/2,
    keep/2,
    base/3
]).
-export_type([budget/0, clock/0]).

-define(SECOND, 1000000000).
-define(MINUTE, 60).     % seconds in which no more than the share is spent
-define(MOST, 12).       % what the bucket holds at most, in seconds of the share
-define(USUAL, 1).       % what it holds if that is enough to arm the script many times
-define(ARMINGS, 2).     % this many times
-define(STAYS, 3).       % seconds that it stays armed, unless it costs much
-define(SETTLES, 1).     % seconds after it is armed until what it costs is what it will
-define(MEMORY, 5).      % seconds over which what it costs is smoothed
-define(TIMES, 8).       % armings that are remembered
-define(SOON, 20).       % ms between two looks, at least
-define(FIRST, 50).      % while it is not known what it costs
-define(LATE, 1000).     % and at most
-define(IDLE, 0.5).      % schedulers: so many are busy at least
-define(KEEP, 300000).   % ns a second, to look after a script that rests (bench/first_bench.sh)
-define(TIMES_BUSY, 10). % of the busy time counts at most

-type clock() :: {Wall :: integer(), Cpu :: non_neg_integer()}. % both in ns

-record(budget, {own :: float(),                   % its share at most
                 share :: float(),                 % what it has now
                 clock :: clock(),
                 rate :: float(),                  % schedulers whose time counts, as it was last
                 left :: float(),                  % ns in the bucket
                 falls = false :: boolean(),       % it was more at the last look
                 % ns since it was armed, and what it spent in them
                 armed = 0 :: number(),
                 used = 0 :: number(),
                 %% ns, the last times. At first what is usual: on a busy machine one may seem to
                 %% take long.
                 arming = [{arm, [10000000]}, {disarm, [3000000]}] :: [{arm | disarm, [number()]}],
                 %% What it spent while it was armed, and the schedulers' time in which it did: the
                 %% last seconds count most.
                 demand = {0.0, 0.0} :: {float(), float()}}).
-opaque budget() :: #budget{}.

-spec new(Own :: float(), clock()) -> budget().
new(Own, Clock) ->
    B = #budget{
        own = Own,
        share = Own,
        clock = Clock,
        rate = base(schedulers(), ?SECOND, 0) / ?SECOND,
        left = 0.0
    },
    B#budget{left = room(B)}.

%% @doc The time of so many schedulers that counts, in ns, after so many ns in which the node used
%% so many of processor time.
-spec base(Schedulers :: pos_integer(), Wall :: number(), Cpu :: number()) -> float().
base(Schedulers, Wall, Cpu) ->
    All = Wall * Schedulers,
    min(float(All), float(?TIMES_BUSY * max(?IDLE * Wall, min(Cpu, All)))).

schedulers() -> erlang:system_info(schedulers_online).

%% @doc Until now it has spent so much. Level: what each may have at most if all are to stay within
%% what they have together.
-spec pass(clock(), Level :: float(), {armed | paused, Spent :: number()}, budget()) -> budget().
pass({Wall, Cpu} = Clock, Level, {State, Spent}, #budget{clock = {Wall0, Cpu0}} = B) ->
    Time = max(0, Wall - Wall0),
    Base = base(schedulers(), Time, max(0, Cpu - Cpu0)),
    B1 = B#budget{clock = Clock, share = min(B#budget.own, Level), rate = rate(Base, Time, B)},
    More = fill(B1) * B1#budget.share * Base - Spent,
    B2 = B1#budget{left = min(room(B1), B#budget.left + More), falls = More < 0},
    case State of
        armed ->
            learn(Time, Spent, Base, B2#budget{
                armed = B#budget.armed + Time, used = B#budget.used + Spent
            });
        paused ->
            B2
    end.

rate(_, 0, #budget{rate = Rate}) -> Rate;
rate(Base, Time, #budget{rate = Rate}) ->
    Rate + (Base / Time - Rate) * weight(Time).

%% What starting it takes is not what it costs, unless that is a bucket.
learn(Time, Spent, Base, #budget{armed = Armed, used = Used, demand = {Sum, Of}} = B) ->
    Keeps = 1 - weight(Time),
    case Armed - Time >= ?SETTLES * ?SECOND of
        true -> B#budget{demand = {Sum * Keeps + Spent, Of * Keeps + Base}};
        false ->
            case spends(B) of
                true -> B#budget{demand = {float(Used), Armed * B#budget.rate}};
                false -> B
            end
    end.

%% More than a bucket since it was armed, and more than arming it again would take?
spends(#budget{used = Used} = B) -> Used > max(room(B), ?ARMINGS * arming(B)).

weight(Time) -> min(1.0, Time / (?MEMORY * ?SECOND)).

%% @doc It has been armed, or disarmed, and that took no more than so many ns. Of the last times the
%% least is right: others were at work too.
-spec pay(arm | disarm, number(), budget()) -> {Paid :: number(), budget()}.
pay(How, Ns, #budget{left = Left, arming = Old} = B) ->
    Times = lists:sublist([Ns | proplists:get_value(How, Old, [])], ?TIMES),
    Least = lists:min(Times),
    {Least, B#budget{
        left = Left - Least,
        armed = 0,
        used = 0,
        arming = lists:keystore(How, 1, Old, {How, Times})
    }}.

arming(#budget{arming = Arming}) ->
    lists:sum([lists:min(Times) || {_, Times} <- Arming]).

%% ns of its share in a second.
per_second(#budget{share = Share, rate = Rate}) -> max(1.0, Share * Rate * ?SECOND).

%% Seconds of its share that the bucket holds.
seconds(B) -> max(?USUAL, min(?MOST, ?ARMINGS * arming(B) / per_second(B))).

room(B) -> seconds(B) * per_second(B).

fill(B) -> 1 - 2 * seconds(B) / ?MINUTE.

%% @doc Must it be paused?
-spec is_empty(budget()) -> boolean().
is_empty(#budget{left = Left, falls = Falls, armed = Armed} = B) ->
    Left =< 0 andalso Falls andalso (Armed >= ?STAYS * ?SECOND orelse spends(B)).

%% @doc May it be armed?
-spec is_full(budget()) -> boolean().
is_full(#budget{left = Left} = B) -> Left >= 0.99 * room(B).

%% @doc ms until it should be looked at again.
-spec next(armed | paused, budget()) -> pos_integer().
next(armed, #budget{left = Left, rate = Rate} = B) ->
    case demand(B) of
        undefined -> ?FIRST;
        Demand -> within(max(Left, room(B) / 4) / (4 * max(1.0, Demand * Rate * ?SECOND)) * 1000)
    end;
next(paused, #budget{left = Left} = B) ->
    within((room(B) - Left) / (fill(B) * per_second(B)) * 1000).

within(Ms) -> max(?SOON, min(?LATE, ceil(Ms))).

%% @doc The part of the schedulers' time that it takes while it is armed.
-spec demand(budget()) -> float() | undefined.
demand(#budget{demand = {_, Of}}) when Of == 0 -> undefined;
demand(#budget{demand = {Sum, Of}, rate = Rate}) -> Sum / max(Of, Rate * ?SECOND).

-spec share(budget()) -> float().
share(#budget{share = Share}) -> Share.

%% @doc What is left of Total when so many scripts are looked after: timers, watchdogs, metrics.
%% Half of it at least.
-spec keep(Total :: float(), Scripts :: non_neg_integer()) -> float().
keep(Total, N) ->
    max(Total / 2, Total - N * ?KEEP / (schedulers() * ?SECOND)).

%% @doc What each may have at most, so that all together have no more than Total: those that want
%% less leave the rest to the others. Of one that was never armed it is not known what it wants.
-spec level(Total :: float(), [{Own :: float(), Demand :: float() | undefined}]) -> float().
level(Total, Scripts) ->
    Wants = [
        case Demand of
            undefined -> Own;
            _ -> min(Own, Demand)
        end
     || {Own, Demand} <- Scripts
    ],
    level(Total, lists:sort(Wants), length(Wants)).

level(_, [], _) -> 1.0;
level(Left, [Want | Wants], N) when Want =< Left / N -> level(Left - Want, Wants, N - 1);
level(Left, _, N) -> Left / N.
