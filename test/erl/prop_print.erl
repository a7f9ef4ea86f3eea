%% SPDX-License-Identifier: Apache-2.0
%% Terms as text: what a script sees of a random term is what io:format("~tw") writes, but for what
%% doc/d.md says is different: texts, large maps and integers, references of resources, depth.
-module(prop_print).
-include_lib("proper/include/proper.hrl").
-export([prop_terms/0, prop_atoms/0, prop_floats/0]).

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
               {1, ?LET({L, T}, {few(Part), term_of(0)}, improper(L, T))}]).

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

bits() ->
    ?LET({B, Skip, Cut}, {bitstring(), integer(0, 9), integer(0, 9)},
         begin % also one that begins in the midst of a byte
             S = min(Skip, bit_size(B)),
             <<_:S, R/bitstring>> = B,
             C = max(0, bit_size(R) - Cut),
             <<Part:C/bitstring, _/bitstring>> = R,
             Part
         end).

text() ->
    ?LET(L, list(frequency([{9, integer($\s, $~)}, {1, elements([$\n, $\t, $\r, $", $\\, $\e])}])),
         elements([L, list_to_binary(L)])).

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

want([]) -> "[]";
want(L) when is_list(L) ->
    case is_text(L) of
        true -> [$", [escaped(C) || C <- L], $"];
        false -> [$[, elements_of(L), $]]
    end;
want(T) when is_tuple(T) -> [${, lists:join($,, [want(E) || E <- tuple_to_list(T)]), $}];
want(M) when is_map(M) ->
    ["#{", lists:join($,, [[want(K), " => ", want(V)] || {K, V} <- pairs(M)]), $}];
want(B) when is_binary(B), B =/= <<>> ->
    case is_text(binary_to_list(B)) of
        true -> ["<<\"", [escaped(C) || <<C>> <= B], "\">>"];
        false -> io_lib:format("~tw", [B])
    end;
want(T) -> io_lib:format("~tw", [T]).

elements_of([E]) -> want(E);
elements_of([E | T]) when is_list(T) -> [want(E), $, | elements_of(T)];
elements_of([E | T]) -> [want(E), $|, want(T)].

%% In the order in which ~w has them.
pairs(M) -> pairs_of(maps:next(maps:iterator(M))).

pairs_of(none) -> [];
pairs_of({K, V, Next}) -> [{K, V} | pairs_of(maps:next(Next))].

is_text([]) -> true;
is_text([C | T]) when is_integer(C), C >= $\s, C =< $~; C =:= $\n; C =:= $\t; C =:= $\r ->
    is_text(T);
is_text(_) -> false.

escaped($\n) -> "\\n";
escaped($\t) -> "\\t";
escaped($\r) -> "\\r";
escaped(C) when C =:= $"; C =:= $\\ -> [$\\, C];
escaped(C) -> C.

%% ---- properties ------------------------------------------------------------------------------

prop_terms() -> is_as_wanted(?LET(N, integer(0, 4), term_of(N))).
prop_atoms() -> is_as_wanted(an_atom()).
prop_floats() -> is_as_wanted(a_float()).

is_as_wanted(Terms) ->
    ok = erltrace:close(element(2, {ok, _} = erltrace:open())), % finds the layout of terms
    ?FORALL(T, Terms,
            begin
                {Got, _} = erltrace_nif:print(T, ?SIZE, false),
                Want = unicode:characters_to_binary(want(T)),
                ?WHENFAIL(io:format("wanted ~ts~ngot    ~ts~n", [Want, Got]),
                          byte_size(Want) >= ?SIZE - 64 orelse Got =:= Want)
            end).
