%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc When the timers of running scripts expire: at whole multiples of a second, or of a part of
%% it, so that those of all scripts and of all processes behind them expire together. A scheduler
%% that has been woken up spins for a while before it sleeps again, which costs much more than what
%% a timer is for.
-module(erltrace_timer).
-export([next/1, send_after/2]).

-define(GRIDS, [1000, 500, 100, 50, 10, 1]).

%% @doc When something is to be done that is done every so many ms, for a timer with the option
%% `{abs, true}': never later than that, but maybe sooner.
-spec next(pos_integer()) -> integer().
next(Every) ->
    [Grid | _] = [G || G <- ?GRIDS, G =< Every],
    At = erlang:monotonic_time(millisecond) + Every, % may be below 0
    At - ((At rem Grid + Grid) rem Grid).

%% @doc Send this process a message then.
-spec send_after(pos_integer(), term()) -> reference().
send_after(Every, Message) ->
    erlang:send_after(next(Every), self(), Message, [{abs, true}]).
