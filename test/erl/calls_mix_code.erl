%% SPDX-License-Identifier: Apache-2.0
%% What calls_mix has armed: every function here, and nothing else of it. This module is loaded again
%% while it runs. What lies between the armed calls is in calls_mix.
-module(calls_mix_code).
-export([a/1, b/1, c/1, own/1, again/1, other/1, aft/1]). % what a call of a program names
-export([leaf/1, deep/3, loop/1, ping/1, pong/1, hop/1, fib/1, raise/1]).

%% The end of a call, always in the last position: a tail call within the module, one with its name,
%% or what a function that is not armed does.
-define(END(End),
        case End of
            {tail, local, {a, _, _} = Call} -> a(Call);
            {tail, local, {b, _, _} = Call} -> b(Call);
            {tail, local, {c, _, _} = Call} -> c(Call);
            {tail, local, {own, _, _} = Call} -> own(Call);
            {tail, local, {again, _, _} = Call} -> again(Call);
            {tail, local, {other, _, _} = Call} -> other(Call);
            {tail, local, {aft, _, _} = Call} -> aft(Call);
            {tail, remote, {F, _, _} = Call} -> ?MODULE:F(Call);
            _ -> calls_mix:finish(End)
        end).

a({_, Ops, End}) ->
    ok = calls_mix:ops(Ops),
    ?END(End).

%% With terms on its stack, which a collection moves.
b({_, Ops, End} = Me) ->
    {X, Y} = {calls_mix:id([Ops]), calls_mix:id({End})},
    ok = calls_mix:ops(Ops),
    {[Ops], {End}} = {calls_mix:id(X), calls_mix:id(Y)},
    {b, _, _} = calls_mix:id(Me),
    ?END(End).

%% With a catch tag on its stack, that catches nothing.
c({_, Ops, End}) ->
    ok = try calls_mix:ops(Ops) catch throw:never -> never end,
    ?END(End).

%% It catches what is raised inside of it, and goes on.
own({_, Ops, End}) ->
    ok = try calls_mix:ops(Ops) catch _:_ -> ok end,
    ?END(End).

%% It raises the same once more.
again({_, Ops, End}) ->
    ok = try calls_mix:ops(Ops) catch C:R:S -> erlang:raise(C, R, S) end,
    ?END(End).

%% It raises something else, while it handles the first.
other({_, Ops, End}) ->
    ok = try calls_mix:ops(Ops) catch throw:R -> error({other, R}); _:R -> throw({other, R}) end,
    ?END(End).

aft({_, Ops, End}) ->
    ok = try calls_mix:ops(Ops) after ok = ?MODULE:leaf(1) end,
    ?END(End).

leaf(_) -> ok.

%% Deep recursion: each level keeps a term of Size words.
deep(0, _, Ops) ->
    calls_mix:ops(Ops);
deep(N, Size, Ops) ->
    Term = calls_mix:term(Size),
    ok = deep(N - 1, Size, Ops),
    Size = length(Term),
    ok.

loop(0) -> ok;
loop(N) -> loop(calls_mix:id(N) - 1).

ping(0) -> ok;
ping(N) -> pong(N - 1).

pong(0) -> ok;
pong(N) -> ?MODULE:ping(N - 1).

%% Between its calls of itself is a function that is not armed.
hop(0) -> ok;
hop(N) -> calls_mix:hop(N - 1).

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

%% Six kinds of exceptions; function_clause has no clause.
raise(throw) -> throw(calls_mix);
raise(error) -> error(calls_mix);
raise(exit) -> exit(calls_mix);
raise(badmatch) -> ok = calls_mix:id(calls_mix);
raise(badarg) -> list_to_atom(calls_mix:id(calls_mix)).
