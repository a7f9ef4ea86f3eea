%% SPDX-License-Identifier: Apache-2.0
%% The size of a message is what erts_debug:flat_size/1 says: of known terms of each kind, and of
%% terms made by chance.
-module(size_tests).
-include_lib("eunit/include/eunit.hrl").

%% Each term is sent once, with a number before it that the script sees as its size's key.
sizes(Terms) ->
    Self = self(),
    {ok, H} = erltrace:script(["erlang*:::message-send /copyinstr(arg0) == \"", pid_to_list(Self),
                               "\" && copyinstr(arg1) == copyinstr(arg0)/ { trace(arg2); }"]),
    Got = lists:append([begin
                            [Self ! T || T <- Some],
                            [receive T -> ok end || T <- Some],
                            {ok, Items} = erltrace:consume(H),
                            [N || {probe, _, N} <- Items]
                        end || Some <- parts(Terms)]),
    ok = erltrace:close(H),
    Got.

parts([]) -> [];
parts(L) when length(L) =< 100 -> [L];
parts(L) -> {A, B} = lists:split(100, L), [A | parts(B)].

check(Terms) ->
    Want = [erts_debug:flat_size(T) || T <- Terms],
    Got = sizes(Terms),
    ?assertEqual(length(Want), length(Got)),
    ?assertEqual([], [{T, W, G} || {T, W, G} <- lists:zip3(Terms, Want, Got), W =/= G]).

exact() ->
    %% funs and bits lie in other ways in other releases: there they are about right
    erlang:system_info(otp_release) =:= "25".

kinds_test() ->
    check([a, 1, -1, [], {}, "", self(), 1.5, [a | b], {a, b}, [[[[]]]],
           (1 bsl 59) - 1, 1 bsl 59, -(1 bsl 59), -(1 bsl 59) - 1, 1 bsl 62, 1 bsl 64, 1 bsl 128,
           -(1 bsl 4000), make_ref(), hd(erlang:ports()),
           binary_to_term(<<131, 88, 119, 3, "a@b", 1:32, 2:32, 3:32>>), % a pid of another node
           binary_to_term(<<131, 90, 3:16, 119, 3, "a@b", 1:32, 1:32, 2:32, 3:32>>), % a reference
           #{}, #{a => 1}, #{a => {b}, "c" => [d]}]).

maps_test() ->
    check([maps:from_list([{I, F(I)} || I <- lists:seq(1, N)]) ||
              N <- [1, 31, 32, 33, 34, 100, 1000],
              F <- [fun(_) -> x end, fun(I) -> {I, [I]} end]]).

funs_test() ->
    X = [1, 2, 3],
    Y = {a, #{b => c}},
    Terms = [fun lists:seq/2, fun exact/0, fun() -> X end, fun(Z) -> {X, Y, Z} end],
    case exact() of
        true -> check(Terms);
        false -> ok
    end.

bits_test() ->
    Large = binary:copy(<<7>>, 200),
    Small = binary:copy(<<7>>, 20),
    Whole = [<<>>, <<1>>, Small, Large, <<0:512>>, <<0:520>>],
    case exact() of
        true ->
            check(Whole ++ [binary:part(B, S, L) || B <- [Large, Small],
                                        {S, L} <- [{0, 8}, {3, 12}]]
                  ++ [binary:part(Large, 1, 150)]
                  ++ [bits(B, S, L) || B <- [Large, Small], S <- [0, 1, 7, 8, 9],
                                      L <- [1, 8, 9, 77]]);
        false ->
            check([B || B <- Whole, byte_size(B) =< 64])
    end.

bits(Binary, S, L) ->
    <<_:S, Bits:L/bits, _/bits>> = Binary,
    Bits.

%% Wide and deep: lists are not deep, however long; the walk has an end.
large_test() ->
    Deep = lists:foldl(fun(_, T) -> {T} end, x, lists:seq(1, 100)),
    check([lists:seq(1, 4000), [{I, I} || I <- lists:seq(1, 1500)], Deep,
           list_to_tuple(lists:seq(1, 4000)), [[I] || I <- lists:seq(1, 2000)],
           list_to_tuple([{I} || I <- lists:seq(1, 2000)])]),
    [Cut] = sizes([lists:seq(1, 100000)]),
    ?assert(Cut >= 9000 andalso Cut < 200000).

%% By chance, the same each time.
random_test() ->
    rand:seed(exsss, {1, 2, 3}),
    check([term(4) || _ <- lists:seq(1, 1000)]).

term(0) -> leaf(rand:uniform(10));
term(D) ->
    case rand:uniform(6) of
        1 -> [term(D - 1) || _ <- lists:seq(1, rand:uniform(6))];
        2 -> list_to_tuple([term(D - 1) || _ <- lists:seq(1, rand:uniform(6))]);
        3 -> maps:from_list([{term(D - 1), term(D - 1)} || _ <- lists:seq(1, rand:uniform(6))]);
        4 -> maps:from_list([{I, leaf(rand:uniform(10))} || I <- lists:seq(1, rand:uniform(60))]);
        _ -> term(0)
    end.

leaf(1) -> rand:uniform(1 bsl 70) - (1 bsl 69);
leaf(2) -> rand:uniform();
leaf(3) -> make_ref();
leaf(4) -> self();
leaf(5) -> binary:copy(<<1>>, rand:uniform(60));
leaf(6) -> rand:uniform(1000);
leaf(7) -> [];
leaf(8) ->
    case exact() of
        true -> binary:copy(<<2>>, rand:uniform(300));
        false -> x
    end;
leaf(9) ->
    case exact() of
        true -> X = rand:uniform(100), fun() -> X end;
        false -> y
    end;
leaf(10) -> z.
