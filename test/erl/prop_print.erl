%% SPDX-License-Identifier: Apache-2.0
%% Terms as text: what a script sees of a random term is what io_lib:format("~0tp") writes in a node
%% started with +pc unicode, cut to the size; but for what doc/d.md says is different: large integers,
%% references of resources, depth, and texts that are not printable beyond the cut.
-module(prop_print).
-include_lib("proper/include/proper.hrl").
-export([few/1, improper/2, bits/0, term_of/1, want/1]). % for other properties
-export([prop_terms/0, prop_atoms/0, prop_floats/0, prop_cut/0]).

-define(SIZE, 4096).

%% ---- terms -----------------------------------------------------------------------------------

%% Some parts on each level, so that all of it stays small.
term_of(0) -> resize(20, leaf());
term_of(N) ->
    Part = ?LAZY(term_of(N - 1)),
    frequency([{2, term_of(0)},
               {2, few(Part)},
               {2, ?LET(L, few(Part), list_to_tuple(L))},
               {2, ?LET(L, few({Part, Part}), maps:from_list(L))},
               {1, ?LET(L, many({term_of(0), integer()}), maps:from_list(L))},
               {1, ?LET({L, T}, {few(Part), term_of(0)}, improper(L, T))}]).

many(Type) -> ?LET(N, integer(20, 60), vector(N, Type)).

few(Type) -> ?LET(N, integer(0, 4), vector(N, Type)).

improper([], T) -> T;
improper(L, T) -> L ++ T.

leaf() ->
    frequency([{4, an_atom()}, {3, number_()}, {2, a_float()}, {2, bits()}, {2, text()},
               {1, identity()}, {1, elements([[], {}, #{}, <<>>])}]).

%% Of all letters up to 255, words of the language and names of nodes among them; of some beyond.
an_atom() ->
    frequency([{3, elements([ok, error, undefined, 'it\'s', '%2F_bills', 'Elixir.My.Mod', '', ' ',
                             demo@nohost, 'my-app@10.0.0.5', '@', '_', a1_@, 'maybe', 'else',
                             'query', '1a', '\\', '\n', '\x{e9}t\x{e9}', '\x{c9}', '\x{f7}',
                             '\x{d7}a'])},
               {2, elements(['after', 'and', 'andalso', 'band', 'begin', 'bnot', 'bor', 'bsl',
                             'bsr', 'bxor', 'case', 'catch', 'cond', 'div', 'end', 'fun', 'if',
                             'let', 'not', 'of', 'or', 'orelse', 'receive', 'rem', 'try', 'when',
                             'xor'])},
               {3, ?LET(L, list(integer(0, 255)), to_atom(L))},
               {2, ?LET(L, list(integer($a, $z)), to_atom(L))},
               {1, ?LET(L, non_empty(list(oneof([integer(16#100, 16#2000), integer($a, $z)]))),
                        to_atom(L))}]).

to_atom(L) -> list_to_atom(lists:sublist(L, 255)).

%% Longer ones than 1,024 bits are hexadecimal.
number_() ->
    frequency([{3, integer()},
               {2, ?LET({N, D}, {integer(0, 1023), integer(-2, 2)}, (1 bsl N) + D - 2)},
               {1, ?LET({N, D}, {integer(0, 1023), integer(-2, 2)}, D + 2 - (1 bsl N))},
               {1, ?LET(B, binary(100), binary:decode_unsigned(B))}]).

%% Any bits that are a number; decimal ones; the edges.
a_float() ->
    frequency([{3, ?LET(B, binary(8), of_bits(B))},
               {3, ?LET({M, E}, {integer(-100000, 100000), integer(-30, 30)}, M * math:pow(10, E))},
               {2, ?LET({M, E}, {integer(-99999, 99999), integer(-8, 8)},
                        element(1, string:to_float(integer_to_list(M) ++ ".0e"
                                                   ++ integer_to_list(E))))},
               {1, ?LET(N, integer(-1074, 1023), math:pow(2, N))},
               {1, elements([0.0, -0.0, 1.0, 5.0e-324, 2.2250738585072014e-308,
                             2.2250738585072011e-308, 1.7976931348623157e308, 9007199254740991.0,
                             9007199254740992.0, -9007199254740993.0, 0.1, 1.0e22, 1.0e23])}]).

of_bits(<<F/float>>) -> F;
of_bits(_) -> 1.0.

%% Also some that begin in the midst of a byte.
bits() ->
    ?LET({B, Skip, Cut}, {bitstring(), integer(0, 9), integer(0, 9)},
         begin
             S = min(Skip, bit_size(B)),
             <<_:S, R/bitstring>> = B,
             C = max(0, bit_size(R) - Cut),
             <<Part:C/bitstring, _/bitstring>> = R,
             Part
         end).

%% As a list, as UTF-8, as bytes if they are; some of it is not printable.
text() ->
    ?LET({L, Form}, {list(char_()), integer(1, 3)},
         case Form of
             1 -> L;
             2 -> unicode:characters_to_binary(L);
             3 -> << <<C>> || C <- L >>
         end).

char_() ->
    frequency([{20, integer($\s, $~)}, {2, elements([$\n, $\t, $\r, $", $\\, $\e, $\b, $\v, $\f])},
               {5, integer(16#a0, 16#ff)}, {2, elements([16#7f, 16#80, 16#9f, 0])},
               {5, integer(16#100, 16#2fff)},
               {1, elements([16#d7ff, 16#e000, 16#fffd, 16#fffe, 16#ffff, 16#10000, 16#10ffff])}]).

identity() ->
    ?LET(K, integer(1, 8), identity(K)).

identity(1) -> self();
identity(2) -> make_ref();
identity(3) -> hd(erlang:ports());
identity(4) -> fun lists:seq/2;
identity(5) -> fun identity/1;
identity(6) -> K = self(), fun() -> K end;
identity(7) -> fun 'a b':'end'/3;
identity(8) -> alias().

%% ---- what is wanted --------------------------------------------------------------------------

want(T) -> unicode:characters_to_binary(io_lib:format("~0tp", [T])).

%% The first bytes of it, without a character that is cut off, and dots if there is room.
cut(Text, Size) when byte_size(Text) < Size -> Text;
cut(Text, Size) when Size - 1 < 8 -> whole(binary:part(Text, 0, Size - 1), Size - 1);
cut(Text, Size) -> <<(whole(binary:part(Text, 0, Size - 4), Size - 4))/binary, "...">>.

whole(Text, Size) ->
    case unicode:characters_to_binary(Text) of
        Text -> Text;
        _ -> whole(binary:part(Text, 0, Size - 1), Size - 1)
    end.

%% Does it have a list or a binary that begins like a text, but is none, or one of another encoding?
is_mixed([C | _] = L) when is_integer(C) ->
    is_char(C) andalso not io_lib:printable_unicode_list(L) orelse parts_mixed(L);
is_mixed([_ | _] = L) -> parts_mixed(L);
is_mixed(T) when is_tuple(T) -> parts_mixed(tuple_to_list(T));
is_mixed(M) when is_map(M) -> parts_mixed(maps:keys(M) ++ maps:values(M));
is_mixed(B) when is_binary(B) ->
    binary:part(want(B), 0, min(3, byte_size(want(B)))) =/= <<"<<\"">> orelse begins_as_utf8(B);
is_mixed(_) -> false.

%% Latin-1, but the first character that is not ASCII is one of UTF-8, too.
begins_as_utf8(B) ->
    case unicode:characters_to_list(B) of
        {_, Begin, _} -> lists:any(fun(C) -> C > 127 end, Begin);
        _ -> false
    end.

parts_mixed([E | T]) -> is_mixed(E) orelse parts_mixed(T);
parts_mixed([]) -> false;
parts_mixed(T) -> is_mixed(T).

is_char(C) -> io_lib:printable_unicode_list([C]).

%% ---- properties ------------------------------------------------------------------------------

prop_terms() -> is_as_wanted(any_term()).
prop_atoms() -> is_as_wanted(an_atom()).
prop_floats() -> is_as_wanted(a_float()).

any_term() -> ?LET(N, integer(0, 4), term_of(N)).

is_as_wanted(Terms) ->
    prepare(),
    ?FORALL(T, Terms, is_same(T, ?SIZE, want(T))).

prop_cut() ->
    prepare(),
    ?FORALL({T, Size}, {any_term(), integer(1, 300)},
            is_mixed(T) orelse is_same(T, Size, want(T))).

prepare() ->
    unicode = io:printable_range(), % +pc unicode: tools/run-tests.sh
    ok = erltrace:close(element(2, {ok, _} = erltrace:open())). % finds the layout of terms

is_same(T, Size, Text) ->
    {Got, _} = erltrace_nif:print(T, Size, false),
    Want = cut(Text, Size),
    ?WHENFAIL(io:format("wanted ~ts~ngot    ~ts~n", [Want, Got]),
              (Size =:= ?SIZE andalso byte_size(Text) >= Size) orelse Got =:= Want).
