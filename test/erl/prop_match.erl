%% SPDX-License-Identifier: Apache-2.0
%% Patterns: a random term, and the text of a pattern that is made of it by leaving out, changing
%% and binding parts, so that many match. What Erlang itself makes of that text (erl_eval) is what
%% the matcher must say: whether it matches, and what each variable is.
%% (PROP_TESTS=100000 make test-erlang ONLY=prop_match: more of them.)
-module(prop_match).
-include_lib("proper/include/proper.hrl").
-export([prop_match/0, prop_same/0, prop_chars/0]).

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
               {1, ?LET({L, T}, {few({Part, Part}), Part}, large_map(L, T))}]).

few(Type) -> ?LET(N, integer(0, 4), vector(N, Type)).

improper([], T) -> T;
improper(L, T) -> L ++ T.

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

bits() ->
    ?LET({B, Skip, Cut}, {bitstring(), integer(0, 9), integer(0, 9)},
         begin
             S = min(Skip, bit_size(B)),
             <<_:S, R/bitstring>> = B,
             C = max(0, bit_size(R) - Cut),
             <<Part:C/bitstring, _/bitstring>> = R,
             Part
         end).

identity() -> ?LET(K, integer(1, 4), identity(K)).

identity(1) -> self();
identity(2) -> make_ref();
identity(3) -> hd(erlang:ports());
identity(4) -> fun lists:seq/2.

%% ---- patterns --------------------------------------------------------------------------------

variable() -> elements(["A", "B", "C", "X1", "_Name", "_", "_", "_"]).

pattern(T, 0) -> frequency([{2, variable()}, {3, literal(T)}]);
pattern(T, N) ->
    frequency([{3, variable()},
               {2, literal(T)},
               {1, ?LET(Other, near(T), literal(Other))},
               {8, parts(T, N - 1)},
               {1, ?LET({P, Q}, {pattern(T, N - 1), pattern(T, N - 1)}, ["(", P, " = ", Q, ")"])}]).

%% What is like it, but mostly not the same.
near(T) when is_integer(T) -> elements([T + 1, -T, catch_float(T), T bsl 64, <<T>>]);
near(T) when is_float(T) -> elements([-T, T + 1.0, trunc(T), 0.0, -0.0]);
near(T) when is_binary(T) -> elements([binary_to_list(T), <<T/binary, 0>>, <<T/binary, 1:3>>, <<>>]);
near(T) when is_tuple(T) -> elements([tuple_to_list(T), erlang:append_element(T, x), {}]);
near(T) when is_map(T) -> elements([#{}, T#{x => y}, #{x => y}]);
near(T) when is_list(T) -> elements([[T], [x | T], []]);
near(_) -> leaf().

catch_float(T) when abs(T) < 1 bsl 1000 -> float(T);
catch_float(T) -> T.

parts([], _) -> "[]";
parts([H | T] = L, N) ->
    oneof([?LET({P, Q}, {pattern(H, N), pattern(T, N)}, ["[", P, " | ", Q, "]"]),
           ?LET({P, Q}, {pattern(H, N), parts(T, N)}, ["[", P, "|", Q, "]"]),
           text_and_rest(L, N)]);
parts(T, N) when is_tuple(T) ->
    ?LET(Ps, [pattern(E, N) || E <- tuple_to_list(T)], ["{", lists:join(", ", Ps), "}"]);
parts(T, N) when is_map(T) ->
    Pairs = [KV || {K, _} = KV <- lists:sublist(maps:to_list(T), 35), is_writable(K)],
    ?LET(Kept, some(Pairs),
         ?LET(Ps, [{literal(K), pattern(V, N)} || {K, V} <- Kept],
              ?LET(More, frequency([{5, []}, {1, [{"other", "_"}]}]),
                   ["#{", lists:join(",", [[K, " := ", P] || {K, P} <- Ps ++ More]), "}"])));
parts(T, _) when is_bitstring(T) ->
    ?LET(Segs, segments(T, 4), ["<<", lists:join(", ", Segs), ">>"]);
parts(T, _) -> literal(T).

some([]) -> [];
some(L) -> ?LET(Keep, vector(length(L), frequency([{1, true}, {length(L) div 2, false}])),
                [E || {E, true} <- lists:zip(L, Keep)]).

%% "abc" ++ Rest
text_and_rest(L, N) ->
    {Text, Rest} = split_text(L),
    ?LET(Cut, integer(0, length(Text)),
         begin
             {Begin, More} = lists:split(Cut, Text),
             ?LET(P, pattern(improper(More, Rest), N), [quoted(Begin), " ++ ", P])
         end).

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
    oneof([last_segment(Bits),
           ?LET({Want, Order, Sign}, {integer(1, 64), elements([big, little]),
                                      elements([signed, unsigned])},
                int_segment(Bits, min(Want, Size), Order, Sign, N)),
           ?LET(Want, integer(0, 4), part_segment(Bits, min(Want, Size div 8), N)),
           ?LET(Want, integer(0, 4), bytes_segment(Bits, min(Want, Size div 8), N))]).

last_segment(Bits) ->
    oneof([?LET(V, variable(), [[V, "/binary"]]), ?LET(V, variable(), [[V, "/bits"]]),
           [inside(Bits)], []]).

%% What literal/1 writes between << and >>.
inside(Bits) ->
    Text = lists:flatten(io_lib:format("~w", [Bits])),
    lists:sublist(Text, 3, length(Text) - 4).

int_segment(Bits, Size, Order, Sign, N) ->
    Endian = case Size rem 8 of 0 -> Order; _ -> big end,
    {V, Rest} = take_int(Bits, Size, Endian, Sign),
    Type = io_lib:format(":~b/~s-~s", [Size, Endian, Sign]),
    ?LET({First, More}, {oneof([variable(), integer_to_list(V), integer_to_list(V bxor 1)]),
                         segments(Rest, N - 1)},
         [[First, Type] | More]).

take_int(Bits, Size, big, unsigned) -> <<V:Size, R/bits>> = Bits, {V, R};
take_int(Bits, Size, big, signed) -> <<V:Size/signed, R/bits>> = Bits, {V, R};
take_int(Bits, Size, little, unsigned) -> <<V:Size/little, R/bits>> = Bits, {V, R};
take_int(Bits, Size, little, signed) -> <<V:Size/little-signed, R/bits>> = Bits, {V, R}.

part_segment(Bits, Bytes, N) ->
    <<_:Bytes/binary, Rest/bits>> = Bits,
    ?LET({V, More}, {variable(), segments(Rest, N - 1)},
         [[V, ":", integer_to_list(Bytes), "/binary"] | More]).

bytes_segment(Bits, Bytes, N) ->
    <<B:Bytes/binary, Rest/bits>> = Bits,
    ?LET(More, segments(Rest, N - 1),
         case unicode:characters_to_list(B) of
             Chars when is_list(Chars) -> [[quoted(Chars), "/utf8"] | More];
             _ -> [quoted(binary_to_list(B)) | More]
         end).

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
        Other -> Other
    end.

open() -> ok = erltrace:close(element(2, {ok, _} = erltrace:open())). % finds the layout of terms

prop_match() ->
    open(),
    ?FORALL({T, P}, ?LET(T, ?LET(N, integer(0, 4), term_of(N)), {T, pattern(T, 3)}),
            begin
                Want = want(T, P),
                Got = got(T, P),
                ?WHENFAIL(io:format("~tp~n~ts~nwanted ~tp~ngot    ~tp~n", [T, P, Want, Got]),
                          aggregate([kind(Want)], Got =:= Want))
            end).

kind(nomatch) -> nomatch;
kind({match, []}) -> match;
kind({match, _}) -> match_with_variables.

%% Two terms, one of which is a copy of the other, or nearly so.
prop_same() ->
    open(),
    ?FORALL({A, B}, ?LET(T, ?LET(N, integer(0, 4), term_of(N)), {T, oneof([copied(T), T, near(T)])}),
            case erltrace_nif:look({A, B}, same, 0) of
                -1 -> has_fun(A); % only those are not looked into
                Is -> Is =:= case A =:= B of true -> 1; false -> 0 end
            end).

has_fun(T) when is_function(T) -> true;
has_fun([H | T]) -> has_fun(H) orelse has_fun(T);
has_fun(T) when is_tuple(T) -> has_fun(tuple_to_list(T));
has_fun(T) when is_map(T) -> has_fun(maps:to_list(T));
has_fun(_) -> false.

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
