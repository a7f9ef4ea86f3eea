%% SPDX-License-Identifier: Apache-2.0
%% Deep recursion does not cut its callers: a run of equal frames of ustack() is one frame, with how often
%% it is there, at events and in samples. A stack that is cut says so.
-module(recursion_tests).
-include_lib("eunit/include/eunit.hrl").
-export([outer/1, down/1, leaf/0, spin/1, twice/1]).

%% ---- the load ----------------------------------------------------------------------------------

outer(N) -> X = down(N), {X}.

down(0) -> X = ?MODULE:leaf(), {X};
down(N) -> X = down(N - 1), {X}.

leaf() -> ok.

%% The body of a comprehension: the deeper, the later the element.
spin(N) -> L = [lists:sum(lists:seq(X, X + 200)) || X <- lists:seq(1, N)], {L}.

%% Many different frames.
twice(0) -> X = ?MODULE:leaf(), {X};
twice(N) when N rem 2 =:= 0 -> X = other(N - 1), {X};
twice(N) -> X = other(N - 1), {X, X}.

other(0) -> X = ?MODULE:leaf(), {X};
other(N) -> X = twice(N - 1), {X}.

%% ---- events ------------------------------------------------------------------------------------

%% The stack at leaf/0, as the keys of an aggregation have it.
at_leaf(What, Fun, Options) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- [{"stacklines", "0"} | Options]],
    ok = erltrace:compile(H, "erlang*:recursion_tests:leaf/0:function-entry { @[" ++ What ++ "] = count(); }"),
    ok = erltrace:go(H),
    _ = Fun(),
    ok = erltrace:stop(H),
    {ok, [{_, count, [Key], 1}]} = erltrace:aggregations(H),
    erltrace:close(H),
    Key.

-define(NAME(F), <<"recursion_tests:", F>>).

folded_test() ->
    ?assertMatch([?NAME("leaf/0"), ?NAME("down/1 (x 12)"), ?NAME("outer/1") | _],
                 at_leaf("ustack()", fun() -> outer(11) end, [])).

%% Keys have a power of two: else each depth would be a stack of its own.
rounded_test() ->
    ?assertMatch([?NAME("leaf/0"), ?NAME("down/1 (x 512+)"), ?NAME("outer/1") | _],
                 at_leaf("ustack()", fun() -> outer(997) end, [])).

%% Records are exact.
exact_test() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "stacklines", "0"),
    ok = erltrace:compile(H, "erlang*:recursion_tests:leaf/0:function-entry { ustack(); }"),
    ok = erltrace:go(H),
    _ = outer(997),
    ok = erltrace:stop(H),
    {done, Text} = erltrace:output(H),
    erltrace:close(H),
    ?assertMatch({match, _}, re:run(Text, "down/1 \\(x 998\\)\\s+recursion_tests:outer/1\\s")).

%% So many frames as the script asks for: what repeats is one.
asked_test() ->
    ?assertEqual([?NAME("leaf/0"), ?NAME("down/1 (x 10)"), ?NAME("outer/1")],
                 at_leaf("ustack(3)", fun() -> outer(9) end, [])).

depth_test() ->
    Few = at_leaf("ustackdepth", fun() -> outer(1) end, []),
    ?assertEqual(Few + 996, at_leaf("ustackdepth", fun() -> outer(997) end, [])).

%% More words than are looked at: the callers are there, and that something is left out.
large_test() ->
    Frames = at_leaf("ustack()", fun() -> outer(100000) end, []),
    ?assertMatch([?NAME("leaf/0"), <<"recursion_tests:down/1 (x ", _/binary>>, <<"(more frames)">>,
                  <<"recursion_tests:down/1 (x ", _/binary>>, ?NAME("outer/1") | _], Frames).

cut_test() ->
    Whole = at_leaf("ustack()", fun() -> twice(20) end, []),
    ?assertNot(lists:member(<<"(more frames)">>, Whole)),
    Cut = at_leaf("ustack()", fun() -> twice(200) end, []),
    ?assertEqual({101, <<"(more frames)">>}, {length(Cut), lists:last(Cut)}),
    Asked = at_leaf("ustack(10)", fun() -> twice(200) end, []),
    ?assertNot(lists:member(<<"(more frames)">>, Asked)).

%% ---- samples -----------------------------------------------------------------------------------

samples_test_() ->
    {timeout, 120, fun samples/0}.

samples() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "stacklines", "0"),
    P = spawn(fun Again() -> _ = spin(1000), Again() end),
    ok = erltrace:compile(H, "profile-997 /erlpid == \"" ++ pid_to_list(P) ++ "\"/ { @[ustack()] = count(); }"),
    ok = erltrace:go(H),
    Stacks = sampled(H),
    ok = erltrace:stop(H),
    erltrace:close(H),
    exit(P, kill),
    Deep = [S || S <- Stacks, lists:any(fun(F) -> binary:match(F, <<"lc$^0/1-0-'/1 (x ">>) =/= nomatch end, S)],
    ?assert(length(Deep) > 3),
    ?assertEqual([], [S || S <- Deep, not lists:member(?NAME("spin/1"), S)]).

%% Until there are some of a deep recursion.
sampled(H) ->
    {ok, Aggs} = erltrace:aggregations(H),
    case [S || {_, count, [S], _} <- Aggs] of
        Stacks when length(Stacks) >= 12 -> Stacks;
        _ -> receive after 20 -> sampled(H) end
    end.
