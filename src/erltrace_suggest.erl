%% SPDX-License-Identifier: Apache-2.0
%% @doc What somebody may have meant whose description of probes matches none: a module or a
%% function that is nearly spelt like it, another arity, a module of Elixir without its prefix.
-module(erltrace_suggest).

-export([hint/1]).

-define(LONGEST, 100). % characters of a name that is compared

%% @doc What to say of a description: `{instead, Hint}' if that is all there is to say,
%% `{also, Hint}' beside how to list what there is, or `none'.
-spec hint(unicode:chardata()) -> {instead | also, iolist()} | none.
hint(Description) ->
    case fields(Description) of
        ["erlang" | _] ->
            {instead, "the provider is erlang and a node's process id: write erlang*"};
        [_, Module, Function, Name] ->
            case is_of_functions(Name) andalso is_plain(Module) of
                true -> hint(Module, Function);
                false -> none
            end
    end.

fields(Text) ->
    %% A colon may be inside quotes.
    Fields = re:split(Text, ":(?=(?:[^']*'[^']*')*[^']*$)", [{return, list}]),
    Names = [string:trim(F, both, "'") || F <- Fields],
    lists:nthtail(length(Names) - 1, ["", "", "" | Names]).

is_of_functions("") -> true;
is_of_functions(Name) ->
    lists:any(fun(End) -> lists:suffix(End, Name) end, ["-entry", "-return"]).

is_plain(Name) -> Name =/= "" andalso string:find(Name, "*") =:= nomatch andalso
                      re:run(Name, "[?\\[\\\\]", [{capture, none}]) =:= nomatch.

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
                Near -> {instead, [Is, "did you mean '", Near, "'?"]}
            end
    end.

function(Module, Function) ->
    There = [{atom_to_list(F), A} || {F, A, _} <- erltrace_compile:functions(
                                                      list_to_existing_atom(Module))],
    Name = case string:split(Function, "/", trailing) of
               [N, _] -> N;
               [N] -> N
           end,
    case is_plain(Name) andalso nearest(Name, [F || {F, _} <- There]) of
        Near when is_list(Near) ->
            Arities = [["'", F, "/", integer_to_list(A), "'"]
                       || {F, A} <- lists:usort(There), F =:= Near],
            {instead, ["module ", Module, " has no such function: did you mean ",
                       lists:join(" or ", Arities), "?"]};
        _ ->
            {also, ["module ", Module, " is loaded, and has no such function"]}
    end.

%% The one with the fewest letters wrong: one, or two in a longer name. Of several, the first.
nearest(Name, All) when length(Name) =< ?LONGEST ->
    Most = case length(Name) of
               N when N < 2 -> 0;
               N when N < 6 -> 1;
               _ -> 2
           end,
    Near = [{distance(Name, Other), Other}
            || Other <- All, abs(length(Other) - length(Name)) =< Most],
    case [Found || {D, _} = Found <- lists:sort(Near), D =< Most] of
        [] -> none;
        [{_, Best} | _] -> Best
    end;
nearest(_, _) ->
    none.

%% How many letters are to be changed, put in, left out, or swapped with the next one. A row of the
%% table for each letter of the one, from that of the letter before and the one before that.
distance(As, Bs) ->
    First = lists:seq(0, length(Bs)),
    rows(As, none, Bs, First, First, 1).

rows([], _, _, Row, _, _) ->
    lists:last(Row);
rows([A | As], Before, Bs, [R0 | Rest] = Row, Older, I) ->
    rows(As, A, Bs, [I | row(A, Before, none, Bs, R0, Rest, I, [none | Older])], Row, I + 1).

%% Old: the row before, from here on, and its number to the left; Left: this row's. Older has the
%% number two to the left in the row before that one first.
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
