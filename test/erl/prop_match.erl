%% SPDX-License-Identifier: Apache-2.0
%% Patterns: a random term, and the text of a pattern that is made of it by leaving out, changing
%% and binding parts, so that many match. What Erlang itself makes of that text (erl_eval) is what
%% the matcher must say: whether it matches, and what each variable is.
%% (PROP_TESTS=100000 make test-erlang ONLY=prop_match: more of them.)
-module(prop_match).
-include_lib("proper/include/proper.hrl").
-import(prop_print, [few/1, improper/2, bits/0]).
-export([prop_match/0, prop_same/0, prop_chars/0]).
-export([term_of/1, pattern_of/2, want/2, text/2, is_writable/1, pick/1, one_of/1]). % for others

%% ---- terms -----------------------------------------------------------------------------------

term_of(0) -> resize(12, leaf());
term_of(N) ->
    Part = ?LAZY(term_of(N - 1)),
    frequency([{2, term_of(0)},
               {3, few(Part)},
               {3, ?LET(L, few(Part), list_to_tuple(L))},
               {3, ?LET(L, few({Part, Part}), maps:from_list(L))},
               {1, ?LET({L, T}, {few(Part), term_of(0)}, improper(L, T))},
               {2, ?LET(T, Part, {T, copied(T)})},
               {1, ?LET({L, T}, {few({term_of(0), term_of(0)}), term_of(0)}, large_map(L, T))}]).

%% The same, elsewhere in memory.
copied(T) -> binary_to_term(term_to_binary(T)).

large_map(L, T) -> maps:merge(maps:from_list([{I, T} || I <- lists:seq(1, 40)]), maps:from_list(L)).

leaf() ->
    frequency([{5, elements([ok, error, undefined, 'it\'s', '', 'a b', 'Elixir.My', '\x{e9}t\x{e9}',
                             '\x{3a9}', 'end', true, false, '_', '\n'])},
               {5, number_()}, {2, a_float()}, {3, bits()}, {2, binary()},
               {2, list(integer($\s, $~))}, {1, list(integer(0, 16#2000))},
               {1, elements([[], {}, #{}, <<>>])}, {1, identity()}]).

number_() ->
    frequency([{4, integer()},
               {1, ?LET({N, D}, {integer(0, 300), integer(-2, 2)}, (1 bsl N) + D)},
               {1, ?LET({N, D}, {integer(0, 300), integer(-2, 2)}, D - (1 bsl N))}]).

a_float() ->
    frequency([{2, ?LET(N, integer(-3, 3), float(N))}, {2, float()}, {1, elements([0.0, -0.0])}]).

identity() -> ?LET(K, integer(1, 4), identity(K)).

identity(1) -> self();
identity(2) -> make_ref();
identity(3) -> hd(erlang:ports());
identity(4) -> fun lists:seq/2.

%% ---- patterns --------------------------------------------------------------------------------

%% Made by plain functions from a seed: types of PropEr for each part would take most of the time.

pick(L) -> lists:nth(rand:uniform(length(L)), L).
one_of(Funs) -> (pick(Funs))().
upto(N) -> rand:uniform(N + 1) - 1.

variable() -> pick(["A", "B", "C", "X1", "_Name", "_", "_", "_"]).

pattern(T, 0) -> one_of([fun variable/0, fun() -> literal(T) end]);
pattern(T, N) ->
    case rand:uniform(15) of
        K when K =< 3 -> variable();
        K when K =< 5 -> literal(T);
        6 -> literal(near(T));
        7 -> ["(", pattern(T, N - 1), " = ", pattern(T, N - 1), ")"];
        _ -> parts(T, N - 1)
    end.

%% What is like it, but mostly not the same.
near(T) when is_integer(T) -> pick([T + 1, -T, as_float(T), T bsl 64, <<T>>]);
near(T) when is_float(T) -> pick([-T, T + 1.0, trunc(T), 0.0, -0.0]);
near(T) when is_binary(T) -> pick([binary_to_list(T), <<T/binary, 0>>, <<T/binary, 1:3>>, <<>>]);
near(T) when is_tuple(T) -> pick([tuple_to_list(T), erlang:append_element(T, x), {}]);
near(T) when is_map(T) -> pick([#{}, T#{x => y}, #{x => y}]);
near(T) when is_list(T) -> pick([[T], [x | T], []]);
near(T) when is_atom(T) -> pick([atom_to_list(T), {T}, error, <<"ok">>, 'OK']);
near(_) -> pick([[], {}, 1]).

as_float(T) when abs(T) < 1 bsl 1000 -> float(T);
as_float(T) -> T.

parts([], _) -> "[]";
parts([H | T] = L, N) ->
    one_of([fun() -> ["[", pattern(H, N), " | ", pattern(T, N), "]"] end,
            fun() -> ["[", pattern(H, N), "|", parts(T, N), "]"] end,
            fun() -> text_and_rest(L, N) end]);
parts(T, N) when is_tuple(T) ->
    ["{", lists:join(", ", [pattern(E, N) || E <- tuple_to_list(T)]), "}"];
parts(T, N) when is_map(T) ->
    Pairs = [KV || {K, _} = KV <- maps:to_list(T), is_writable(K)],
    Kept = [KV || KV <- Pairs, rand:uniform(length(Pairs)) =< 3],
    More = [["other := _"] || rand:uniform(8) =:= 1],
    ["#{", lists:join(",", [[text(K, "=>"), " := ", pattern(V, N)] || {K, V} <- Kept] ++ More), "}"];
parts(T, _) when is_bitstring(T) -> ["<<", lists:join(", ", segments(T, 4)), ">>"];
parts(T, _) -> literal(T).

%% "abc" ++ Rest
text_and_rest(L, N) ->
    {Text, Rest} = split_text(L),
    {Begin, More} = lists:split(upto(length(Text)), Text),
    [quoted(Begin), " ++ ", pattern(improper(More, Rest), N)].

split_text([C | T]) when is_integer(C), C >= 0, C < 16#d800 ->
    {Text, Rest} = split_text(T),
    {[C | Text], Rest};
split_text(T) -> {[], T}.

quoted(Chars) ->
    ["\"", [if C =:= $"; C =:= $\\ -> [$\\, C];
               C < $\s; C =:= 127 -> io_lib:format("\\x{~.16b}", [C]);
               true -> C
            end || C <- Chars], "\""].

%% Of a binary: integers and bytes as they are, or a little off; variables; the rest.
segments(<<>>, _) -> [];
segments(Bits, 0) -> last_segment(Bits);
segments(Bits, N) ->
    Size = bit_size(Bits),
    one_of([fun() -> last_segment(Bits) end,
            fun() -> int_segment(Bits, min(rand:uniform(64), Size), N) end,
            fun() -> part_segment(Bits, min(upto(4), Size div 8), N) end,
            fun() -> bytes_segment(Bits, min(upto(4), Size div 8), N) end]).

last_segment(Bits) ->
    one_of([fun() -> [[variable(), "/binary"]] end, fun() -> [[variable(), "/bits"]] end,
            fun() -> [inside(Bits)] end, fun() -> [] end]).

%% What literal/1 writes between << and >>.
inside(Bits) ->
    Text = lists:flatten(io_lib:format("~w", [Bits])),
    lists:sublist(Text, 3, length(Text) - 4).

int_segment(Bits, Size, N) ->
    Endian = case Size rem 8 of 0 -> pick([big, little]); _ -> big end,
    Sign = pick([signed, unsigned]),
    {V, Rest} = take_int(Bits, Size, Endian, Sign),
    Value = pick([variable(), integer_to_list(V), integer_to_list(V bxor 1)]),
    [[Value, io_lib:format(":~b/~s-~s", [Size, Endian, Sign])] | segments(Rest, N - 1)].

take_int(Bits, Size, big, unsigned) -> <<V:Size, R/bits>> = Bits, {V, R};
take_int(Bits, Size, big, signed) -> <<V:Size/signed, R/bits>> = Bits, {V, R};
take_int(Bits, Size, little, unsigned) -> <<V:Size/little, R/bits>> = Bits, {V, R};
take_int(Bits, Size, little, signed) -> <<V:Size/little-signed, R/bits>> = Bits, {V, R}.

part_segment(Bits, Bytes, N) ->
    <<_:Bytes/binary, Rest/bits>> = Bits,
    [[variable(), ":", integer_to_list(Bytes), "/binary"] | segments(Rest, N - 1)].

bytes_segment(Bits, Bytes, N) ->
    <<B:Bytes/binary, Rest/bits>> = Bits,
    Segment = case unicode:characters_to_list(B) of
                  Chars when is_list(Chars) -> [quoted(Chars), "/utf8"];
                  _ -> quoted(binary_to_list(B))
              end,
    [Segment | segments(Rest, N - 1)].

%% ---- the text of a term ----------------------------------------------------------------------

is_writable(T) when is_pid(T); is_port(T); is_reference(T); is_function(T) -> false;
is_writable([H | T]) -> is_writable(H) andalso is_writable(T);
is_writable(T) when is_tuple(T) -> is_writable(tuple_to_list(T));
is_writable(T) when is_map(T) -> is_writable(maps:to_list(T)) andalso map_size(T) < 10;
is_writable(T) when is_bitstring(T) -> bit_size(T) rem 8 =:= 0; % as a key, that is
is_writable(_) -> true.

%% A map is written with := where it is a pattern: as a key it is made.
literal(T) -> text(T, ":=").

text(T, _) when is_pid(T); is_port(T); is_reference(T); is_function(T) -> "_";
text([], _) -> "[]";
text([H | T], Sign) when is_list(T) -> ["[", text(H, Sign), [[", ", text(E, Sign)] || E <- proper(T)],
                                        tail(T, Sign), "]"];
text([H | T], Sign) -> ["[", text(H, Sign), " | ", text(T, Sign), "]"];
text(T, Sign) when is_tuple(T) ->
    ["{", lists:join(", ", [text(E, Sign) || E <- tuple_to_list(T)]), "}"];
text(T, Sign) when is_map(T) ->
    ["#{", lists:join(", ", [[text(K, "=>"), " ", Sign, " ", text(V, Sign)]
                             || {K, V} <- maps:to_list(T), is_writable(K)]), "}"];
text(T, _) -> io_lib:format("~tw", [T]).

proper([H | T]) -> [H | proper(T)];
proper(_) -> [].

tail([_ | T], Sign) -> tail(T, Sign);
tail([], _) -> [];
tail(T, Sign) -> [" | ", text(T, Sign)].

%% ---- what Erlang says ------------------------------------------------------------------------

want(Term, Pattern) ->
    Text = unicode:characters_to_list(["case Term__ of ", Pattern, " -> match; _ -> nomatch end."]),
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Exprs} = erl_parse:parse_exprs(Tokens),
    {value, Is, Bindings} = erl_eval:exprs(Exprs, #{'Term__' => Term}),
    case Is of
        nomatch -> nomatch;
        match -> {match, lists:sort([{atom_to_list(V), T} || {V, T} <- maps:to_list(Bindings),
                                                             V =/= 'Term__'])}
    end.

got(Term, Pattern) ->
    case erltrace_nif:match(Term, unicode:characters_to_binary(Pattern), []) of
        {match, Bindings} -> {match, lists:sort(Bindings)};
        {error, {_, Text}} = Error -> % what never matches is an error here
            case string:find(Text, "never match") of nomatch -> Error; _ -> nomatch end;
        nomatch -> nomatch
    end.

open() -> ok = erltrace:close(element(2, {ok, _} = erltrace:open())). % finds the layout of terms

pattern_of(T, Seed) ->
    _ = rand:seed(exsss, Seed),
    pattern(T, 3).

prop_match() ->
    open(),
    ?FORALL({T, Seed}, {?LET(N, integer(0, 3), term_of(N)), pos_integer()},
            begin
                P = pattern_of(T, Seed),
                Got = got(T, P),
                Want = try want(T, P)
                       catch
                           error:illegal_bin_pattern -> Got; % <<1>> = <<1>>: Erlang takes none
                           C:R:St -> {C, R, St}
                       end,
                ?WHENFAIL(io:format("~tp~n~ts~nwanted ~tp~ngot    ~tp~n", [T, P, Want, Got]),
                          aggregate([kind(Want)], Got =:= Want))
            end).

kind(nomatch) -> nomatch;
kind({match, []}) -> match;
kind(_) -> match_with_variables.

%% Two terms, one of which is a copy of the other, or nearly so.
prop_same() ->
    open(),
    ?FORALL({A, Seed}, {?LET(N, integer(0, 3), term_of(N)), pos_integer()},
            begin
                _ = rand:seed(exsss, Seed),
                B = one_of([fun() -> copied(A) end, fun() -> A end, fun() -> near(A) end]),
                case erltrace_nif:look({A, B}, same, 0) of
                    -1 -> erts_debug:flat_size(A) > 5000; % all others are told
                    Is -> Is =:= case A =:= B of true -> 1; false -> 0 end
                end
            end).

%% The characters of what unicode takes.
prop_chars() ->
    open(),
    Char = frequency([{5, integer($\s, $~)}, {2, integer(1, 16#d7ff)}, {1, integer(16#e000, 16#10ffff)}]),
    Chars = ?LET(L, list(Char), oneof([L, unicode:characters_to_binary(L)])),
    ?FORALL(T, oneof([Chars, list(Chars), ?LET({A, B}, {list(Chars), list(Char)},
                                               [A | unicode:characters_to_binary(B)])]),
            begin
                Want = unicode:characters_to_binary(T),
                Got = erltrace_nif:look(T, chars, 0),
                ?WHENFAIL(io:format("wanted ~tp~ngot    ~tp~n", [Want, Got]),
                          byte_size(Want) >= 4096 orelse Got =:= Want)
            end).
