%% SPDX-License-Identifier: Apache-2.0
%% @doc Suggestions for a probe description that matches nothing: a module or function with a
%% similar name, another arity, an Elixir module without its prefix.
-module(erltrace_suggest).

-export([hint/1, nearest/2, names_functions/1, not_loaded/1]).

-define(LONGEST, 100). % characters: longer names are not compared

%% @doc A hint for a description: `{instead, Hint}' replaces the advice to list all probes,
%% `{also, Hint}' follows it; or `none'.
-spec hint(unicode:chardata()) -> {instead | also, iolist()} | none.
hint(Description) ->
    case fields(Description) of
        ["erlang" | _] ->
            {instead, "the provider is erlang and a node's process id: write erlang*"};
        [_, Module, Function, Name] ->
            case is_function_probe(Name) andalso is_literal(Module) of
                true -> hint(Module, Function);
                false -> none
            end
    end.

%% @doc Does a description name functions of a module? They may be there later.
-spec names_functions(unicode:chardata()) -> boolean().
names_functions(Description) -> module_of(Description) =/= none.

%% @doc That module, if it is not loaded.
-spec not_loaded(unicode:chardata()) -> {ok, string()} | none.
not_loaded(Description) ->
    case module_of(Description) of
        {ok, Module} = Named ->
            case is_loaded(Module) of
                true -> none;
                false -> Named
            end;
        none -> none
    end.

module_of(Description) ->
    case fields(Description) of
        ["erlang" | _] -> none;
        [_, Module, _, Name] ->
            case is_function_probe(Name) andalso is_literal(Module) of
                true -> {ok, Module};
                false -> none
            end
    end.

is_loaded(Module) ->
    lists:member(Module, [atom_to_list(M) || M <- erlang:loaded()]).

fields(Text) ->
    %% A colon may be inside quotes.
    Fields = re:split(Text, ":(?=(?:[^']*'[^']*')*[^']*$)", [{return, list}]),
    Names = [string:trim(F, both, "'") || F <- Fields],
    lists:nthtail(length(Names) - 1, ["", "", "" | Names]).

is_function_probe("") -> true;
is_function_probe(Name) ->
    lists:any(fun(End) -> lists:suffix(End, Name) end, ["-entry", "-return", "-exception"]).

%% A name without wildcards.
is_literal(Name) ->
    Name =/= "" andalso re:run(Name, "[*?\\[\\\\]", [{capture, none}]) =:= nomatch.

hint(Module, Function) ->
    Loaded = [atom_to_list(M) || M <- erlang:loaded()],
    case lists:member(Module, Loaded) of
        true -> function(Module, Function);
        false -> module(Module, Loaded)
    end.

module(Module, Loaded) ->
    Elixir = "Elixir." ++ Module,
    Is = ["module ", Module, " is not loaded: "],
    case lists:member(Elixir, Loaded) of
        true ->
            {instead, [Is, "did you mean '", Elixir, "'?"]};
        false ->
            case nearest(Module, Loaded) of
                none -> {also, [Is, "load it first, or with -Z (option zdefs) its functions are "
                                "traced as soon as it is"]};
                Similar -> {instead, [Is, "did you mean '", Similar, "'?"]}
            end
    end.

function(Module, Function) ->
    Existing = [{atom_to_list(F), A} || {F, A, _} <- erltrace_compile:functions(
                                                       list_to_existing_atom(Module))],
    Name = case string:split(Function, "/", trailing) of
               [N, _] -> N;
               [N] -> N
           end,
    case is_literal(Name) andalso nearest(Name, [F || {F, _} <- Existing]) of
        Similar when is_list(Similar) ->
            Arities = [["'", F, "/", integer_to_list(A), "'"]
                       || {F, A} <- lists:usort(Existing), F =:= Similar],
            {instead, ["module ", Module, " has no such function: did you mean ",
                       lists:join(" or ", Arities), "?"]};
        _ ->
            {also, ["module ", Module, " is loaded, and has no such function"]}
    end.

%% @doc The name with the smallest distance: at most 1, or 2 in a longer name. The first of several.
-spec nearest(string(), [string()]) -> string() | none.
nearest(Name, All) when length(Name) =< ?LONGEST ->
    Most = case length(Name) of
               N when N < 2 -> 0;
               N when N < 6 -> 1;
               _ -> 2
           end,
    Similar = [{distance(Name, Other), Other}
               || Other <- All, abs(length(Other) - length(Name)) =< Most],
    case [Found || {D, _} = Found <- lists:sort(Similar), D =< Most] of
        [] -> none;
        [{_, Best} | _] -> Best
    end;
nearest(_, _) ->
    none.

%% The Damerau-Levenshtein distance: how many letters must be replaced, inserted, deleted, or
%% swapped with the next one. Each row of the table is computed from the two before it.
distance(As, Bs) ->
    First = lists:seq(0, length(Bs)),
    rows(As, none, Bs, First, First, 1).

rows([], _, _, Row, _, _) ->
    lists:last(Row);
rows([A | As], Before, Bs, [R0 | Rest] = Row, Older, I) ->
    rows(As, A, Bs, [I | row(A, Before, none, Bs, R0, Rest, I, [none | Older])], Row, I + 1).

%% Corner and [Above | Old]: the row before, from the column to the left on. Left: the number to the
%% left in this row. Swap: two rows up and two columns to the left.
row(_, _, _, [], _, [], _, _) ->
    [];
row(A, A0, B0, [B | Bs], Corner, [Above | Old], Left, [Swap | Older]) ->
    Change = case A of B -> Corner; _ -> Corner + 1 end,
    Swapped = case {A, A0} of
                  {B0, B} when is_integer(Swap) -> Swap + 1;
                  _ -> Change
              end,
    Least = lists:min([Change, Above + 1, Left + 1, Swapped]),
    [Least | row(A, A0, B, Bs, Above, Old, Least, Older)].
