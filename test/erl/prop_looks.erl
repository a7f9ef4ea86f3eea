%% SPDX-License-Identifier: Apache-2.0
%% Random expressions of D that look into random terms: parts of parts, their types, sizes, numbers
%% and texts, comparisons and patterns, of erlarg() and of this-> variables. Machine code and the
%% interpreter must both say what Erlang says; what it has no answer for is a fault of that clause.
%% At a return the arguments are a copy: they say the same, unless the script is told that parts of
%% them were not kept.
-module(prop_looks).
-include_lib("proper/include/proper.hrl").
-import(prop_match, [term_of/1, pick/1, one_of/1]).
-export([prop_looks/0, prop_returns/0, traced/2]).
-export([path/3, question/2, string/1, is_refused/1]). % for others

-define(QUESTIONS, 12).
-define(AT_RETURN, 3).

traced(_, _) -> ok.

%% ---- parts -----------------------------------------------------------------------------------

%% {Expression, {ok, Term} | none}: a way into the term, mostly one that there is.
path(Text, Term, 0) -> {Text, {ok, Term}};
path(Text, Term, N) ->
    {Call, Part} = one_of([fun() -> step(Term) end || _ <- "123"] ++ [fun wrong_step/0]),
    Next = [Call, Text, ")"],
    case part(Part, Term) of
        {ok, T} -> path(Next, T, N - 1);
        none -> {pick([Next, ["erlhd(", Next, ")"], ["erlelement(1, ", Next, ")"]]), none}
    end.

step(T) when is_tuple(T) -> element_step(rand:uniform(tuple_size(T) + 1));
step([_ | _]) -> pick([{"erlhd(", hd}, {"erltl(", tl}]);
step(M) when is_map(M) -> key_step([K || K <- maps:keys(M), prop_match:is_writable(K)]);
step(_) -> wrong_step().

wrong_step() ->
    pick([{"erlhd(", hd}, {"erltl(", tl}, element_step(1), key_step([ok, 1, <<"a">>, {}])]).

element_step(N) -> {["erlelement(", integer_to_list(N), ", "], {element, N}}.

key_step([]) -> key_step([undefined, 0]);
key_step(Keys) ->
    K = pick(Keys),
    {["erlget(", string(prop_match:text(K, "=>")), ", "], {key, K}}.

part(hd, [H | _]) -> {ok, H};
part(tl, [_ | T]) -> {ok, T};
part({element, N}, T) when is_tuple(T), N =< tuple_size(T) -> {ok, element(N, T)};
part({key, K}, M) when is_map(M), is_map_key(K, M) -> {ok, maps:get(K, M)};
part(_, _) -> none.

%% A string of D.
string(Text) ->
    ["\"", [escape(C) || C <- unicode:characters_to_list(Text)], "\""].

escape($\n) -> "\\n";
escape(C) when C =:= $"; C =:= $\\ -> [$\\, C];
escape(C) -> unicode:characters_to_binary([C]).

%% ---- questions -------------------------------------------------------------------------------

%% {Format, Expression, Answer}; the answer is text, or none: a fault.
question(A, B) ->
    {Text, T} = path("erlarg(0)", A, rand:uniform(4) - 1),
    one_of([fun() -> {"%s", ["erltype(", Text, ")"], type(T)} end,
            fun() -> {"%d", ["erlsize(", Text, ")"], size_of(T)} end,
            fun() -> {"%d", ["(int64_t)", Text], number(T)} end,
            fun() -> {"%d", [Text, " * 2 + 1"], twice(number(T))} end,
            fun() -> scaled(Text, T, pick([0, 1, -1, 10, 1000, -7, 1 bsl 40])) end,
            fun() -> compared(Text, T) end,
            fun() -> compared(Text, T) end,
            fun() -> equal(Text, T) end,
            fun() -> same(Text, T, A, B) end,
            fun() -> chosen(Text, T) end,
            fun() -> matched(Text, T) end,
            fun() -> matched(Text, T) end]).

type(none) -> "none";
type({ok, T}) ->
    Tests = [{fun is_integer/1, "integer"}, {fun is_float/1, "float"}, {fun is_atom/1, "atom"},
             {fun is_list/1, "list"}, {fun is_tuple/1, "tuple"}, {fun is_map/1, "map"},
             {fun is_binary/1, "binary"}, {fun is_bitstring/1, "bitstring"}, {fun is_pid/1, "pid"},
             {fun is_port/1, "port"}, {fun is_reference/1, "reference"}, {fun is_function/1, "fun"}],
    hd([Name || {Is, Name} <- Tests, Is(T)]).

size_of({ok, T}) when is_tuple(T) -> integer_to_list(tuple_size(T));
size_of({ok, T}) when is_map(T) -> integer_to_list(map_size(T));
size_of({ok, T}) when is_bitstring(T) -> integer_to_list(byte_size(T));
size_of({ok, T}) when is_atom(T) -> integer_to_list(length(atom_to_list(T)));
size_of({ok, T}) when is_list(T) -> try integer_to_list(length(T)) catch error:badarg -> none end;
size_of(_) -> none.

number({ok, T}) when is_number(T), trunc(T) >= -(1 bsl 63), trunc(T) < 1 bsl 63 ->
    integer_to_list(trunc(T));
number(_) -> none.

twice(none) -> none;
twice(Text) -> % in 64 bits
    <<N:64/signed>> = <<(list_to_integer(Text) * 2 + 1):64>>,
    integer_to_list(N).

scaled(Text, T, N) ->
    {"%d", ["erlscaled(", Text, ", ", number_text(N), ")"], product(T, N)}.

product({ok, T}, N) when is_integer(T), T >= -(1 bsl 63), T < 1 bsl 63 -> number({ok, T * N});
product({ok, T}, N) when is_float(T) -> try number({ok, round(T * N)}) catch error:badarith -> none end;
product(_, _) -> none.

compared(Text, T) ->
    N = pick([0, 1, -1, 5, -7, trunc_of(T)]),
    {Op, Is} = pick([{"<", fun(X, Y) -> X < Y end}, {"<=", fun(X, Y) -> X =< Y end},
                     {">", fun(X, Y) -> X > Y end}, {">=", fun(X, Y) -> X >= Y end},
                     {"==", fun(X, Y) -> X == Y end}]),
    Wanted = case T of
                 {ok, V} when is_number(V) -> Is(V, N);
                 _ -> false
             end,
    one_of([fun() -> {"%d", [Text, " ", Op, " ", number_text(N)], truth(Wanted)} end,
            fun() -> {"%d", ["!(", Text, " ", Op, " ", number_text(N), ")"], truth(not Wanted)} end]).

trunc_of({ok, T}) when is_number(T), abs(T) < 1 bsl 62 -> trunc(T);
trunc_of(_) -> 3.

number_text(N) -> ["(", integer_to_list(N), "LL)"].

truth(true) -> "1";
truth(false) -> "0".

%% With its own text or characters, those of others, a part of them.
equal(Text, T) ->
    Candidates = [S || S <- ["ok", "1", "[]", "{}", "" | texts(T)], is_plain(S)],
    S = pick(Candidates),
    Wanted = lists:member(S, texts(T)),
    one_of([fun() -> {"%d", [Text, " == ", string(S)], truth(Wanted)} end,
            fun() -> {"%d", [string(S), " != ", Text], truth(not Wanted)} end]).

texts(none) -> [""];
texts({ok, T}) -> [unicode:characters_to_list(prop_print:want(T)) | characters(T)].

characters(T) when is_atom(T) -> [atom_to_list(T)];
characters(T) when is_binary(T) ->
    case unicode:characters_to_list(T) of
        L when is_list(L) -> [L];
        _ -> [binary_to_list(T)]
    end;
characters(T) when is_list(T) ->
    try unicode:characters_to_list(T) of
        L when is_list(L) -> [L];
        _ -> [mixed]
    catch error:badarg -> []
    end;
characters(_) -> [].

is_plain(mixed) -> false;
is_plain(S) -> length(S) < 60 andalso lists:all(fun(C) -> C >= $\s andalso C < 127 end, S).

same(Text, T, A, B) ->
    {Other, U} = one_of([fun() -> path("erlarg(0)", A, rand:uniform(3)) end,
                         fun() -> path("erlarg(1)", B, rand:uniform(3) - 1) end,
                         fun() -> {Text, T} end]),
    Wanted = case {T, U} of
                 {{ok, X}, {ok, Y}} -> X =:= Y;
                 _ -> false
             end,
    {"%d", [Text, " == ", Other], truth(Wanted)}.

chosen(Text, T) ->
    C = pick(["erlarg(0) == erlarg(0)", "erlarg(0) != erlarg(0)"]),
    Yes = C =:= "erlarg(0) == erlarg(0)",
    one_of([fun() -> {"%d", ["(", C, ") ? ", Text, " : -7"], choose(Yes, number(T), "-7")} end,
            fun() -> {"%s", ["erltype((", C, ") ? ", Text, " : erlarg(1))"],
                      choose(Yes, type(T), "binary")} end]).

choose(true, Text, _) -> Text;
choose(false, _, Text) -> Text.

%% The pattern, and what type one of its variables has.
matched(Text, none) -> {"%d", ["erlmatch(", Text, ", \"_\")"], "0"};
matched(Text, {ok, T}) ->
    P = prop_match:pattern_of(T, rand:uniform(1 bsl 30)),
    Call = ["erlmatch(", Text, ", ", string(P), ")"],
    case try prop_match:want(T, P) catch error:illegal_bin_pattern -> refused end of
        refused -> {"%d", ["erlmatch(", Text, ", \"_\")"], "1"};
        nomatch -> {"%d", Call, "0"};
        {match, []} -> {"%d", Call, "1"};
        {match, Vars} ->
            {Name, V} = pick(Vars),
            {"%s", ["(", Call, ") ? erltype(this->", Name, ") : \"no match\""], type({ok, V})}
    end.

%% ---- scripts ---------------------------------------------------------------------------------

script(Questions, Probe, Jit) ->
    ["#pragma D option quiet\n#pragma D option strsize=1k\n#pragma D option jit=", Jit, "\n",
     [["erlang*:prop_looks:traced:", Probe, " { printf(\"", integer_to_list(I), " ", Format,
       "\\n\", ", Text, "); }\n"] || {I, {Format, Text, _}} <- Questions]].

%% What goes wrong here is told as a result: not all releases of PropEr show it.
run(Questions, Probe, Jit, A, B) ->
    try run_script(Questions, Probe, Jit, A, B)
    catch Class:Reason:Stack -> {Class, Reason, Stack}
    end.

run_script(Questions, Probe, Jit, A, B) ->
    case erltrace:script(script(Questions, Probe, Jit)) of
        {ok, H} ->
            ok = traced(A, B),
            {ok, Out} = erltrace:output(H),
            {ok, #{cut_args := Cut}} = erltrace:status(H),
            ok = erltrace:close(H),
            {Cut, maps:from_list([split(L) || L <- string:lexemes(unicode:characters_to_list(Out), "\n"),
                                             hd(L) >= $0, hd(L) =< $9])};
        Error -> Error
    end.

split(Line) ->
    [I, Text] = string:split(Line, " "),
    {list_to_integer(I), Text}.

%% What would never match is refused: such scripts are left out.
prop_looks() ->
    ok = erltrace:close(element(2, {ok, _} = erltrace:open())), % finds the layout of terms
    ?FORALL({A, Seed}, {?LET(N, integer(0, 3), term_of(N)), pos_integer()},
            begin
                _ = rand:seed(exsss, Seed),
                B = <<"binary">>,
                {Questions, Wanted} = questions(?QUESTIONS, A, B),
                case [run(Questions, "function-entry", Jit, A, B) || Jit <- ["on", "off"]] of
                    [{0, Wanted}, {0, Wanted}] -> true;
                    [{error, _} = E, _] -> is_refused(E) orelse differs(A, "", Wanted, E);
                    Got -> differs(A, script(Questions, "function-entry", "on"), Wanted, Got)
                end
            end).

questions(N, A, B) ->
    Questions = lists:enumerate([question(A, B) || _ <- lists:seq(1, N)]),
    {Questions, maps:from_list([{I, T} || {I, {_, _, T}} <- Questions, T =/= none])}.

differs(A, Script, Wanted, Got) ->
    ?WHENFAIL(io:format("~tp~n~ts~nwanted ~tp~ngot    ~tp~n", [A, Script, Wanted, Got]), false).

%% Terms with something large in them: what comes after it does not fit.
large() ->
    ?LET({T, U, Kind, N, At}, {term_of(2), term_of(2), integer(1, 4), integer(1, 1500), integer(1, 3)},
         begin
             Large = case Kind of
                         1 -> lists:duplicate(N, x);
                         2 -> binary:copy(<<"text ">>, N);
                         3 -> erlang:make_tuple(N div 10, T);
                         4 -> maps:from_list([{{I, T}, U} || I <- lists:seq(1, min(N, 32))])
                     end,
             case At of 1 -> {Large, T, U}; 2 -> [T, Large | U]; 3 -> #{ok => T, 1 => U, 2 => Large} end
         end).

prop_returns() ->
    ok = erltrace:close(element(2, {ok, _} = erltrace:open())),
    ?FORALL({A, Seed}, {oneof([term_of(3), large()]), pos_integer()},
            begin
                _ = rand:seed(exsss, Seed),
                B = <<"binary">>,
                {Questions, Wanted} = questions(?AT_RETURN, A, B),
                case run(Questions, "function-return", "on", A, B) of
                    {0, Wanted} -> aggregate([whole], true);
                    {1, Got} -> aggregate([case Got of Wanted -> same; _ -> cut end], true);
                    {error, _} = E -> is_refused(E) orelse differs(A, "", Wanted, E);
                    Got -> differs(A, script(Questions, "function-return", "on"), Wanted, Got)
                end
            end).

is_refused({error, {dtrace, <<"D_PATTERN">>, _, _, Text}}) ->
    re:run(Text, "never match|nested deeper|too large|more than") =/= nomatch;
is_refused({error, {dtrace, <<"D_SYNTAX">>, _, _, Text}}) ->
    re:run(Text, "string constant of more than") =/= nomatch;
is_refused({error, {dtrace, <<"D_TERM_SLOTS">>, _, _, _}}) -> true;
is_refused(_) -> false.
