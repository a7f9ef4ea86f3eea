%% SPDX-License-Identifier: Apache-2.0
%% Patterns and terms as scripts have them: each rule, then terms that are made to be hard.
-module(match_tests).
-include_lib("eunit/include/eunit.hrl").
-export([hard_terms/0, answers/0, answer/2, no_insides/0]).

-define(RECORDS, [{order, [id, item, n]}]).

match(Term, Pattern) -> erltrace_nif:match(Term, unicode:characters_to_binary(Pattern), ?RECORDS).
look(Term, What) -> look(Term, What, 0).
look(Term, What, Arg) -> erltrace_nif:look(Term, What, Arg).

is(Want, Term, Pattern) -> ?_assertEqual({Pattern, Want}, {Pattern, match(Term, Pattern)}).
binds(Bindings, Term, Pattern) -> is({match, Bindings}, Term, Pattern).
no(Term, Pattern) -> is(nomatch, Term, Pattern).

%% As reading the layout of terms is what handles do first.
with_layout(Tests) -> {setup, fun() -> {ok, H} = erltrace:open(), H end, fun erltrace:close/1, Tests}.

%% ---- each rule -------------------------------------------------------------------------------

rules_test_() ->
    with_layout(
      [binds([], ok, "ok"), no(ok, "error"), no("ok", "ok"), no(<<"ok">>, "ok"),
       binds([], 'it\'s', "'it\\'s'"), binds([], 'zo\x{eb}', "'zo\x{eb}'"),
       binds([], '\x{3a9}', "'\x{3a9}'"), binds([], 'end', "'end'"), binds([], '', "''"),
       binds([], 5, "5"), no(5.0, "5"), no(5, "5.0"), binds([], 5.0, "5.0"), binds([], -5, "-5"),
       binds([], 255, "16#ff"), binds([], $a, "$a"), binds([], 1000000, "1_000_000"),
       binds([], (1 bsl 59) - 1, integer_to_list((1 bsl 59) - 1)),
       binds([], 1 bsl 59, integer_to_list(1 bsl 59)),
       binds([], -(1 bsl 59), integer_to_list(-(1 bsl 59))),
       binds([], -(1 bsl 59) - 1, integer_to_list(-(1 bsl 59) - 1)),
       binds([], 1 bsl 63, integer_to_list(1 bsl 63)),
       binds([], -(1 bsl 63), integer_to_list(-(1 bsl 63))),
       binds([], 1 bsl 64, integer_to_list(1 bsl 64)), no(-(1 bsl 64), integer_to_list(1 bsl 64)),
       no(1 bsl 64, integer_to_list((1 bsl 64) + 1)), no((1 bsl 64) + 1, integer_to_list(1 bsl 64)),
       no(0, integer_to_list(1 bsl 64)), no(1 bsl 64, "0"),
       binds([{"X", ok}], ok, "X"), binds([], ok, "_"), binds([{"_Name", ok}], ok, "_Name"),
       binds([{"X", a}], {a, a}, "{X, X}"), no({a, b}, "{X, X}"), no({1, 1.0}, "{X, X}"),
       binds([{"X", [1, {b}]}], {[1, {b}], [1, {b}]}, "{X, X}"), binds([], {a, b}, "{_, _}"),
       binds([{"X", {a, b}}, {"Y", b}], {a, b}, "X = {a, _} = {_, Y}"), no({a, b}, "{a, _} = {b, _}"),
       binds([], {}, "{}"), no({a}, "{}"), no({a, b}, "{a}"), no({a}, "{a, _}"), no([a], "{a}"),
       binds([{"N", 7}], {'$gen_call', x, {reserve, 1, 7}}, "{'$gen_call', _, {reserve, _, N}}"),
       binds([], [], "[]"), no([a], "[]"), binds([], "", "\"\""), binds([], [a, b], "[a, b]"),
       no([a, b, c], "[a, b]"), no([a], "[a, b]"), binds([{"T", [c]}], [a, b, c], "[a, b | T]"),
       binds([{"T", []}], [a], "[a | T]"), binds([{"T", b}], [a | b], "[a | T]"), no([a | b], "[a]"),
       binds([{"R", "def"}], "abcdef", "\"abc\" ++ R"), no("abdef", "\"abc\" ++ R"),
       binds([], [235], "\"\x{eb}\""), binds([{"T", x}], [$a | x], "\"a\" ++ T"),
       binds([], #{}, "#{}"), binds([], #{a => 1}, "#{}"), no([], "#{}"), no({}, "#{}"),
       binds([{"V", 1}], #{a => 1, b => 2}, "#{a := V}"), no(#{b => 2}, "#{a := _}"),
       binds([{"Id", 7}], #{plan => gold, user => #{id => 7}}, "#{plan := gold, user := #{id := Id}}"),
       no(#{plan => tin, user => #{id => 7}}, "#{plan := gold, user := #{id := Id}}"),
       no(#{1 => a}, "#{1.0 := a}"), binds([{"V", a}], #{1.0 => a}, "#{1.0 := V}"),
       binds([{"V", a}], #{{k, [1]} => a}, "#{{k, [1]} := V}"),
       binds([{"V", a}], #{<<"k">> => a}, "#{<<\"k\">> := V}"),
       binds([{"V", a}], #{"k" => a}, "#{\"k\" := V}"),
       binds([{"V", a}], #{(1 bsl 70) => a}, ["#{", integer_to_list(1 bsl 70), " := V}"]),
       binds([{"V", a}], #{#{x => 1} => a}, "#{#{x => 1} := V}"),
       no(#{#{x => 1, y => 2} => a}, "#{#{x => 1} := V}"),
       binds([{"Id", 1}], {order, 1, 2, 3}, "#order{id = Id}"), no({order, 1, 2}, "#order{}"),
       binds([{"V", 2}], {order, 2, 2, 3}, "#order{n = 3, _ = V}")]).

large_map_test_() ->
    M = maps:from_list([{I, {I}} || I <- lists:seq(1, 1000)] ++ [{atom, 1}, {{t, 1}, 2}, {<<"b">>, 3}]),
    with_layout([binds([{"X", 500}], M, "#{500 := {X}}"), no(M, "#{5000 := _}"),
                 binds([{"A", 1}, {"B", 2}, {"C", 3}], M, "#{atom := A, {t, 1} := B, <<\"b\">> := C}")]).

binaries_test_() ->
    with_layout(
      [binds([], <<>>, "<<>>"), no(<<1>>, "<<>>"), binds([], <<"text">>, "<<\"text\">>"),
       binds([{"R", <<"world">>}], <<"hello world">>, "<<\"hello \", R/binary>>"),
       binds([{"R", <<>>}], <<"hello ">>, "<<\"hello \", R/binary>>"),
       no(<<"hell">>, "<<\"hello \", R/binary>>"), no(<<"help me">>, "<<\"hello \", R/binary>>"),
       binds([{"Len", 5}, {"Type", 1}], <<0, 5, 1, 2, 3>>, "<<Len:16, Type, _/binary>>"),
       binds([], <<"zo\x{eb}"/utf8>>, "<<\"zo\x{eb}\"/utf8>>"),
       binds([], <<"zo\x{eb}">>, "<<\"zo\x{eb}\">>"), no(<<"zo\x{eb}">>, "<<\"zo\x{eb}\"/utf8>>"),
       binds([{"A", 1}, {"B", 2}], <<16#12>>, "<<A:4, B:4>>"),
       no(<<1, 2, 3:4>>, "<<1, R/binary>>"), binds([{"R", <<16#23>>}], <<16#1, 16#23>>, "<<_, R/binary>>"),
       binds([{"X", -2}], <<-2:16>>, "<<X:16/signed>>"),
       binds([{"X", 513}], <<1, 2>>, "<<X:16/little>>"),
       binds([{"X", (1 bsl 64) - 1}], <<-1:64>>, "<<X:64>>"),
       binds([{"X", (1 bsl 64) - 1}], {<<-1:64>>, (1 bsl 64) - 1}, "{<<X:64>>, X}"),
       no({<<-1:64>>, -1}, "{<<X:64>>, X}"),
       binds([{"P", <<1, 2>>}, {"X", 772}], <<1, 2, 3, 4>>, "<<P:2/binary, X:16>>"),
       binds([{"X", 5}], {5, <<5>>}, "{X, <<X>>}"), binds([{"X", 5}], {<<5>>, 5}, "{<<X>>, X}"),
       binds([{"X", <<"ab">>}], {<<"ab">>, <<"xab">>}, "{X, <<\"x\", X/binary>>}"),
       no({<<"ab">>, <<"xac">>}, "{X, <<\"x\", X/binary>>}"),
       no("ab", "<<\"ab\">>"), no(ab, "<<_/binary>>"), no({}, "<<_/bits>>")]).

%% Those that are no whole number of bytes.
odd_bits_test_() ->
    with_layout(
      [binds([{"R", <<2, 3:4>>}], <<1, 2, 3:4>>, "<<1, R/bits>>"),
       binds([{"R", <<16#23>>}], <<16#12, 16#3:4>>, "<<1:4, R/binary>>"),
       told(2, <<1, 1:1>>, size), told(1, {<<1, 5:3>>, copied(<<1, 5:3>>)}, same),
       told(0, {<<1, 5:3>>, <<1, 4:3>>}, same), told(0, {<<1, 5:3>>, <<1>>}, same),
       told(<<"<<1,5:3>>">>, <<1, 5:3>>, printed)]).

%% A binary that begins in the midst of a byte, or of another; one that is being appended to.
sub_binaries_test_() ->
    Large = <<0:3, "hello world", 0:5>>,
    <<_:3, Odd:11/binary, _/bits>> = Large,
    Appended = lists:foldl(fun(I, B) -> <<B/binary, I>> end, <<"begin">>, lists:seq(1, 100)),
    Part = binary:part(binary:copy(<<"abc">>, 1000), 300, 300),
    with_layout([binds([{"R", <<"world">>}], Odd, "<<\"hello \", R/binary>>"),
                 binds([{"X", Odd}], {Odd, <<"hello world">>}, "{X, X}"),
                 binds([{"X", $w}], Odd, "<<_:6/binary, X, _/binary>>"),
                 binds([{"A", 1}], Appended, "<<\"begin\", A, _/binary>>"),
                 binds([{"R", binary:part(Part, 3, 297)}], Part, "<<\"abc\", R/binary>>")]).

%% As =:= has it, which OTP 27 has changed.
zeros_test_() ->
    Same = id(0.0) =:= id(-0.0),
    Want = case Same of true -> {match, []}; false -> nomatch end,
    with_layout([is({match, []}, 0.0, "0.0"), is({match, []}, -0.0, "-0.0"), is(Want, -0.0, "0.0"),
                 is(Want, 0.0, "-0.0")]).

id(X) -> X.

%% ---- atoms -----------------------------------------------------------------------------------

%% No pattern makes an atom; one that comes later matches.
atoms_test() ->
    {ok, H} = erltrace:open(),
    Name = "not_there_" ++ integer_to_list(erlang:unique_integer([positive])),
    Text = ["{", Name, ", '", [16#3a9 | Name], "', #{", Name, "_key := 1}}"],
    nomatch = match({}, Text),
    N = erlang:system_info(atom_count),
    ?assertEqual(nomatch, match({a, b, #{}}, Text)),
    ?assertEqual(N, erlang:system_info(atom_count)),
    Term = {list_to_atom(Name), list_to_atom([16#3a9 | Name]), #{list_to_atom(Name ++ "_key") => 1}},
    ?assertEqual({match, []}, match(Term, Text)),
    ok = erltrace:close(H).

%% What is looked for again and again until all its atoms are there is not made again each time.
missing_atoms_take_no_memory_test() ->
    {ok, Nif, _} = erltrace_nif:open(),
    Text = lists:duplicate(1000, $x),
    Key = ["{\\\"", Text, "\\\", atom_that_is_", "nowhere}"],
    ok = erltrace_nif:compile(Nif, ["BEGIN { trace(erlget(\"", Key, "\", erlmsg)); }"], [], []),
    ok = erltrace_nif:go(Nif),
    _ = erltrace_nif:clean(Nif),
    Before = erlang:memory(total),
    [erltrace_nif:clean(Nif) || _ <- lists:seq(1, 10000)],
    ?assert(erlang:memory(total) - Before < 10000000),
    erltrace_nif:close(Nif).

%% The same while a script runs: in a small map at once, in a large one some time after.
atoms_that_come_later_test_() ->
    {timeout, 60, fun() ->
        Name = "comes_later_" ++ integer_to_list(erlang:unique_integer([positive])),
        {ok, H} = erltrace:script(["erlang*:::message-send /erlmatch(erlmsg, \"#{", Name, " := V}\")/"
                                   "{ @small = sum(this->V); }"
                                   "erlang*:::message-send /erlget(\"", Name, "\", erlmsg) == 2/"
                                   "{ @large = count(); }"]),
        N = erlang:system_info(atom_count),
        self() ! #{other => 5},
        Key = list_to_atom(Name),
        ?assertEqual(N + 1, erlang:system_info(atom_count)),
        self() ! #{Key => 1},
        until_renewed(H, maps:put(Key, 2, maps:from_list([{I, I} || I <- lists:seq(1, 100)]))),
        ok = erltrace:close(H)
    end}.

until_renewed(H, Map) ->
    self() ! Map,
    case script_run:aggregations(H) of
        #{{"large", []} := _, {"small", []} := Sum} -> ?assertEqual(1, Sum rem 2);
        _ -> timer:sleep(10), until_renewed(H, Map)
    end.

%% ---- what scripts are told of a term ---------------------------------------------------------

told(Want, Term, What) -> told(Want, Term, What, 0).
told(Want, Term, What, Arg) -> ?_assertEqual({Term, What, Want}, {Term, What, look(Term, What, Arg)}).

numbers_test_() ->
    with_layout(
      [told(5, 5, integer), told(-5, -5, integer), told(5, 5.9, integer), told(-5, -5.9, integer),
       told((1 bsl 63) - 1, (1 bsl 63) - 1, integer), told(undefined, 1 bsl 63, integer),
       told(undefined, 1.0e30, integer), told(undefined, a, integer), told(undefined, "5", integer),
       told(2, {a, b}, size), told(3, [a, b, c], size), told(undefined, [a | b], size),
       told(0, [], size), told(0, {}, size), told(2, #{a => 1, b => 2}, size), told(3, <<"abc">>, size),
       told(3, abc, size), told(3, 'zo\x{eb}', size),
       told(1, '\x{3a9}', size), told(undefined, 5, size),
       told(-1, 4, compare, 5), told(0, 5, compare, 5), told(1, 6, compare, 5),
       told(0, 5.0, compare, 5), told(1, 5.5, compare, 5), told(-1, -5.5, compare, -5),
       told(1, 1 bsl 100, compare, 5), told(-1, -(1 bsl 100), compare, 5), told(1, 1.0e300, compare, 5),
       told(-1, -1.0e300, compare, 5), told(2, a, compare, 5), told(2, <<"5">>, compare, 5),
       told(1, 9007199254740993.0, compare, 9007199254740991),
       told(1, {1 bsl 70, 1 bsl 70}, same), told(0, {1, 1.0}, same), told(1, {{a, "b"}, {a, "b"}}, same),
       told(0, {{a, "b"}, {a, "c"}}, same)]).

same_maps_test_() ->
    M = #{a => 1, "b" => {2}, 3 => #{c => [d]}},
    L = maps:from_list([{I, {I}} || I <- lists:seq(1, 32)]),
    with_layout(
      [told(1, {#{}, copied(#{})}, same), told(1, {M, copied(M)}, same), told(1, {L, copied(L)}, same),
       told(0, {M, #{}}, same), told(0, {M, M#{a => 1.0}}, same), told(0, {M, M#{e => 1}}, same),
       told(0, {M, maps:remove(a, M#{e => 1})}, same), told(0, {M, M#{3 => #{c => [e]}}}, same),
       told(0, {L, L#{32 => {}}}, same), told(0, {M, L}, same), told(0, {M, [M]}, same),
       binds([{"X", M}], {M, copied(M)}, "{X, X}"), no({M, M#{a => 2}}, "{X, X}")]).

%% Funs of a module's functions are told apart; what others hold is not looked into.
funs_test() ->
    {ok, H} = erltrace:open(),
    F = fun(X) -> fun(Y) -> {X, Y} end end,
    G = F(1),
    ?assertEqual(1, look({fun lists:seq/2, copied(fun lists:seq/2)}, same)),
    ?assertEqual(0, look({fun lists:seq/2, fun lists:seq/3}, same)),
    ?assertEqual(0, look({G, F}, same)),
    ?assertEqual(1, look({G, G}, same)),
    ?assertEqual(-1, look({G, F(1)}, same)),
    ?assertEqual({match, [{"X", G}]}, match({G, G}, "{X, X}")),
    ?assertEqual(nomatch, match({G, F(1)}, "{X, X}")),
    ok = erltrace:close(H).

texts_test_() ->
    Utf8 = <<"zo\x{eb}"/utf8>>,
    with_layout(
      [told(Utf8, 'zo\x{eb}', chars), told(Utf8, Utf8, chars), told(Utf8, <<"zo\x{eb}">>, chars),
       told(Utf8, "zo\x{eb}", chars), told(<<"abcd">>, [<<"a">>, ["bc" | <<"d">>]], chars),
       told(<<"a b">>, 'a b', chars), told(<<"\x{3a9}'"/utf8>>, '\x{3a9}\'', chars),
       told(<<>>, "", chars), told(<<>>, <<>>, chars), told(undefined, {a}, chars),
       told(undefined, 5, chars), told(undefined, [a], chars), told(undefined, <<1:3>>, chars),
       told(<<"zo">>, Utf8, chars, 4), told(Utf8, Utf8, chars, 5), told(<<"zo">>, 'zo\x{eb}', chars, 4),
       told(<<"integer">>, 5, type), told(<<"integer">>, 1 bsl 70, type), told(<<"float">>, 5.0, type),
       told(<<"atom">>, a, type), told(<<"list">>, [], type), told(<<"list">>, [a], type),
       told(<<"tuple">>, {}, type), told(<<"map">>, #{}, type), told(<<"binary">>, <<>>, type),
       told(<<"bitstring">>, <<1:3>>, type), told(<<"pid">>, self(), type),
       told(<<"reference">>, make_ref(), type), told(<<"fun">>, fun id/1, type),
       told(<<"port">>, hd(erlang:ports()), type),
       told(<<"{a,1}">>, {a, 1}, printed), told(<<"'a b'">>, 'a b', printed),
       told(true, gold, equals, <<"gold">>), told(true, <<"gold">>, equals, <<"gold">>),
       told(true, "gold", equals, <<"gold">>), told(false, goldy, equals, <<"gold">>),
       told(false, <<128>>, equals, <<>>), told(false, <<"ab", 128>>, equals, <<"ab">>),
       told(false, [<<"ab", 128>>, $c], equals, <<"ab">>),
       told(true, <<"ab", 128>>, equals, <<"ab\x{80}"/utf8>>), told(true, <<>>, equals, <<>>),
       told(false, gol, equals, <<"gold">>), told(true, {a, 1}, equals, <<"{a,1}">>),
       told(true, 5, equals, <<"5">>), told(true, 'a b', equals, <<"'a b'">>),
       told(true, 'a b', equals, <<"a b">>), told(false, {a, 12}, equals, <<"{a,1}">>),
       told(<<"2">>, {1, 2}, element, 2), told(undefined, {1, 2}, element, 3),
       told(undefined, {1, 2}, element, 0), told(undefined, [1], element, 1),
       told(<<"1">>, [1, 2], hd), told(<<"[2]">>, [1, 2], tl), told(<<"2">>, [1 | 2], tl),
       told(undefined, [], hd), told(<<"x">>, #{a => x}, key, "a"), told(undefined, #{a => x}, key, "b"),
       told(<<"x">>, #{{a, 1} => x}, key, "{a, 1}"), told(undefined, x, key, "a")]).

%% The usual way to gather output, [Acc, X], is as deep as it has parts.
deep_iolists_test_() ->
    Acc = fun(N) -> lists:foldl(fun(I, A) -> [A, $a + I rem 7] end, [], lists:seq(1, N)) end,
    Wrapped = fun(N) -> nested(N, "tea", fun(T) -> [T] end) end,
    with_layout(
      [told(iolist_to_binary(Acc(N)), Acc(N), chars) || N <- [24, 25, 26, 200]] ++
      [told(true, Acc(N), equals, iolist_to_binary(Acc(N))) || N <- [24, 25, 26, 1000]] ++
      [told(false, Acc(N), equals, <<"tea">>) || N <- [25, 900]] ++
      [told(true, Wrapped(N), equals, <<"tea">>) || N <- [25, 3000]] ++
      [told(undefined, Acc(2000), chars), told(undefined, Acc(2000), equals, <<"tea">>),
       told(undefined, Wrapped(10000), equals, <<"tea">>)]).

%% With unsigned numbers that are no int64_t.
huge_numbers_test_() ->
    Max = 1 bsl 64 - 1,
    Half = 1 bsl 63,
    with_layout(
      [told(Order, T, compare, N) || {Order, T, N} <-
          [{0, Max, Max}, {-1, Max - 1, Max}, {1, Max, Max - 1}, {0, Half, Half}, {-1, Half - 1, Half},
           {1, 1 bsl 64, Max}, {-1, -(1 bsl 64), Half}, {-1, 5, Half}, {-1, -1, Max}, {0, 9.223372036854775808e18, Half},
           {1, 1.8446744073709551616e19, Max}, {-1, -1.5, Half}, {-1, 1.5, Half}, {2, a, Max}, {2, <<1>>, Half}]]).

%% ---- terms that are made to be hard ----------------------------------------------------------

%% There is an answer for each; how long it takes: hard_terms of test/promises/promise.erl.
nested(0, T, _) -> T;
nested(N, T, F) -> nested(N - 1, F(T), F).

hard_terms() ->
    Huge = binary:copy(<<"a">>, 100000000),
    Deep = nested(10000, x, fun(T) -> {T} end),
    DeepList = nested(10000, x, fun(T) -> [T] end),
    DeepMap = nested(10000, x, fun(T) -> #{a => T} end),
    Remote = binary_to_term(<<131, 88, 119, 5, "a@b.c", 1:32, 2:32, 3:32>>),
    RemoteRef = binary_to_term(<<131, 90, 3:16, 119, 5, "a@b.c", 1:32, 1:32, 2:32, 3:32>>),
    RemotePort = binary_to_term(<<131, 89, 119, 5, "a@b.c", 7:32, 1:32>>),
    Big = 1 bsl 3000000,
    <<_, Part/binary>> = Huge,
    <<_:3, Odd/bits>> = Huge,
    [Huge, Part, Odd, lists:duplicate(5000000, $a), Deep, DeepList, DeepMap, Big, -Big,
     lists:seq(1, 100000) ++ improper, maps:from_list([{I, Deep} || I <- lists:seq(1, 10000)]),
     list_to_tuple(lists:seq(1, 1000000)), Remote, RemoteRef, RemotePort, fun(X) -> {X, Huge} end,
     fun lists:map/2, make_ref(), [Huge, Huge], [[[[Huge]]]], <<Huge/binary, 1:3>>].

patterns() ->
    ["{X, X}", "[X, X | _]", "[_ | T]", "#{a := #{a := #{a := V}}}", "#{5 := X, 6 := X}", "<<\"aaa\", R/binary>>",
     "<<X:64, R/bits>>", "<<_:3, R/bits>>", "\"aaa\" ++ R", "{{{{{{{{X}}}}}}}}", "1.0", "0",
     integer_to_list(1 bsl 1000), "[A, B, C, D | _] = [A, B | _]", "_", "X", "not_an_atom_that_is_there"].

answers() ->
    [{match, P} || P <- patterns()] ++
        [{What, 0} || What <- [integer, size, type, chars, printed, pretty, compare, hd, tl]] ++
        [{equals, binary:copy(<<"a">>, 300)}, {key, "a"}, {same, 0}].

answer({match, Pattern}, T) -> match(T, Pattern);
answer({same, _}, T) -> look({T, T}, same);
answer({What, Arg}, T) -> look(T, What, Arg).

hard_terms_test_() ->
    {timeout, 120, fun() ->
        {ok, H} = erltrace:open(),
        Terms = hard_terms(),
        [answer(A, T) || T <- Terms, A <- answers()],
        [look({T, U}, same) || T <- Terms, U <- Terms],
        ok = erltrace:close(H)
    end}.

%% Equal, but not at the same place: as far as the steps go, and then not known.
too_large_to_tell_test_() ->
    {timeout, 60, fun() ->
        {ok, H} = erltrace:open(),
        L = lists:seq(1, 100000),
        ?assertEqual(-1, look({L, copied(L)}, same)),
        B = binary:copy(<<1>>, 100000000),
        ?assertEqual(-1, look({B, binary:copy(B)}, same)),
        ?assertEqual(0, look({[1 | L], L}, same)),
        ?assertEqual(1, look({L, L}, same)),
        ?assertEqual(nomatch, match({L, copied(L)}, "{X, X}")),
        ?assertEqual({match, [{"X", L}]}, match({L, L}, "{X, X}")),
        ok = erltrace:close(H)
    end}.

copied(T) -> binary_to_term(term_to_binary(T)).

%% ---- without knowing the VM's insides --------------------------------------------------------

%% All answers are the same but for those that the VM does not give without allocating: then there
%% is none. In a node of its own, for what is known is found out when the library is loaded.
no_insides_test_() ->
    {timeout, 300, fun() ->
        {ok, Peer, _} = peer:start(#{connection => standard_io, wait_boot => 60000,
                                     args => ["-pa" | code:get_path()]}),
        try ?assertEqual(ok, peer:call(Peer, ?MODULE, no_insides, [], 240000))
        after peer:stop(Peer)
        end
    end}.

no_insides() ->
    application:set_env(erltrace, vm_internals, false),
    eunit:test([{generator, ?MODULE, G} ||
                   G <- [rules_test_, large_map_test_, binaries_test_, sub_binaries_test_, zeros_test_,
                         numbers_test_, same_maps_test_, texts_test_, hard_terms_test_]] ++
                   [{?MODULE, T} || T <- [atoms_test, funs_test]] ++ [no_answers()]).

%% The bits of what is no whole number of bytes; the keys of a map of more than 32.
no_answers() ->
    Odd = <<1, 5:3>>,
    Large = maps:from_list([{I, I} || I <- lists:seq(1, 33)]),
    with_layout([no(Odd, "<<1, _/bits>>"), told(undefined, Odd, size), told(undefined, Odd, chars),
                 told(<<"<<...>>">>, Odd, printed), told(<<"bitstring">>, Odd, type),
                 told(-1, {Odd, copied(Odd)}, same), told(-1, {Large, copied(Large)}, same),
                 told(0, {Large, Large#{34 => 34}}, same)]).
