%% SPDX-License-Identifier: Apache-2.0
%% One order: a process that lives for a moment.
-module(demo_order).
-export([start/1, run/1, total/2]).

-spec start(pos_integer()) -> pid().
start(Number) -> proc_lib:spawn(?MODULE, run, [Number]).

-spec run(pos_integer()) -> ok.
run(Number) ->
    Items = [Number * I || I <- lists:seq(1, 1 + Number rem 5)],
    Sum = total(Items, 0),
    Left = lists:min([demo_store:reserve(I, 1) || I <- Items]),
    ok = demo_journal:write(io_lib:format("order ~b: ~b, ~b left", [Number, Sum, Left])),
    demo_desk ! {done, Number, Sum},
    case Number rem 50 of
        0 -> exit(cancelled);
        _ -> ok
    end.

-spec total([pos_integer()], integer()) -> integer().
total([], Sum) -> Sum;
total([Item | Rest], Sum) -> total(Rest, Sum + demo_store:price(Item)).
