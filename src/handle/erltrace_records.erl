%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The fields of records that a script names: from the debug information of modules, and from
%% the text of headers. Headers are read token by token: no file that they include is read, and
%% macros are not expanded, which matters to the names of fields only.
-module(erltrace_records).
-export([find/3, from_header/2]).

-define(MOST, 100). % modules whose debug information is read

-type fields() :: [atom()].

%% @doc In the modules; if none has it, in the headers.
-spec find(atom(), [module()], Headers :: [{Name :: binary(), Text :: binary()}]) ->
          {ok, fields()} | {error, Why :: iolist()}.
find(Name, Modules, Headers) ->
    In = case length(Modules) > ?MOST of
             true -> [];
             false -> [{atom_to_list(M), Fs} || M <- Modules, Fs <- in_module(Name, M)]
         end,
    case In of
        [] ->
            case [{H, Fs} || {H, Text} <- Headers, Fs <- from_header(Name, Text)] of
                [] -> {error, not_found(Name, Modules, Headers)};
                Found -> same(Found)
            end;
        _ -> same(In)
    end.

same([{Where, Fields} | Rest]) ->
    case [Other || {Other, Fs} <- Rest, Fs =/= Fields] of
        [] ->
            {ok, Fields};
        [Other | _] ->
            {error, [
                "it is defined in ",
                Where,
                " and differently in ",
                Other,
                ": name one of them in the probe description, or take erlelement()"
            ]}
    end.

not_found(Name, Modules, Headers) ->
    TooMany = length(Modules) > ?MOST,
    Forms = [{M, forms(M)} || not TooMany, M <- Modules],
    Texts = [Text || {_, Text} <- Headers],
    [
        case Modules of
            [] ->
                "the script's probes name no module up to here";
            _ when TooMany ->
                [
                    "the script's probes name ",
                    integer_to_list(length(Modules)),
                    " modules, which are too many to look into"
                ];
            _ ->
                [
                    [
                        ["it is not defined in ", some([M || {M, [_ | _]} <- Forms])]
                     || lists:any(fun({_, Fs}) -> Fs =/= [] end, Forms)
                    ],
                    case [M || {M, []} <- Forms] of
                        [] ->
                            [];
                        Without when length(Without) =:= length(Forms) ->
                            ["there is no debug information of ", some(Without)];
                        Without ->
                            [" (there is no debug information of ", some(Without), ")"]
                    end
                ]
        end,
        [
            [
                ", and it is not in ",
                lists:join(", ", [H || {H, _} <- Headers]),
                " (files that a header includes are not read)"
            ]
         || Headers =/= []
        ],
        near(
            Name, lists:append([names(Fs) || {_, Fs} <- Forms] ++ [header_names(T) || T <- Texts])
        ),
        " Name the header that defines it, -I FILE.hrl (-I FOLDER is for the preprocessor), or "
        "further "
        "up in the script a module that uses it: erlang*:MODULE:FUNCTION:function-entry /0/ { }"
    ].

some(Modules) ->
    [lists:join(", ", [atom_to_list(M) || M <- lists:sublist(Modules, 5)]),
     [" and others" || length(Modules) > 5]].

near(Name, Known) ->
    case erltrace_suggest:nearest(atom_to_list(Name), [atom_to_list(K) || K <- Known]) of
        none -> ".";
        Similar -> [": did you mean #", Similar, "?"]
    end.

%% ---- debug information -----------------------------------------------------------------------

in_module(Name, Module) ->
    [[field(F) || F <- Fields] ||
        {attribute, _, record, {N, Fields}} <- forms(Module), N =:= Name].

names(Forms) -> [N || {attribute, _, record, {N, _}} <- Forms].

field({typed_record_field, Field, _}) -> field(Field);
field({record_field, _, {atom, _, Name}}) -> Name;
field({record_field, _, {atom, _, Name}, _}) -> Name.

forms(Module) ->
    try
        {Module, Binary, _} = code:get_object_code(Module),
        {ok, {Module, [{debug_info, {debug_info_v1, Backend, Data}}]}} =
            beam_lib:chunks(Binary, [debug_info]),
        {ok, Forms} = Backend:debug_info(erlang_v1, Module, Data, []),
        Forms
    catch _:_ -> [] % it has none
    end.

%% ---- headers ---------------------------------------------------------------------------------

%% @doc What the text has of this record: [] or [Fields], or more than one.
-spec from_header(atom(), binary() | string()) -> [fields()].
from_header(Name, Text) -> lists:usort(records(Name, tokens(Text))).

tokens(Text) ->
    case erl_scan:string(unicode:characters_to_list(Text)) of
        {ok, Tokens, _} -> Tokens;
        _ -> []
    end.

header_names(Text) -> declared(tokens(Text)).

declared([{'-', _}, {atom, _, record}, {'(', _}, {atom, _, Name} | Rest]) ->
    [Name | declared(Rest)];
declared([_ | Rest]) -> declared(Rest);
declared([]) -> [].

records(
    Name, [{'-', _}, {atom, _, record}, {'(', _}, {atom, _, Name}, {',', _}, {'{', _} | Rest]
) ->
    {Fields, Rest1} = fields(Rest, []),
    [Fields | records(Name, Rest1)];
records(Name, [_ | Rest]) -> records(Name, Rest);
records(_, []) -> [].

%% The name, then all that may be behind it up to the next comma of the same level.
fields([{'}', _} | Rest], Fields) -> {lists:reverse(Fields), Rest};
fields([{',', _} | Rest], Fields) -> fields(Rest, Fields);
fields([{atom, _, Name} | Rest], Fields) -> fields(skip(Rest, 0), [Name | Fields]);
fields([_ | Rest], Fields) -> fields(skip(Rest, 0), Fields);
fields([], Fields) -> {lists:reverse(Fields), []}.

skip([{T, _} | _] = Rest, 0) when T =:= ','; T =:= '}' -> Rest;
skip([{'fun', At}, {var, _, _} | Rest], N) -> skip([{'fun', At} | Rest], N);
skip([{'fun', _}, {'(', _} | Rest], N) ->
    case close(Rest, 1) of
        [{T, _} | _] = Body when T =:= '->'; T =:= 'when' -> skip(Body, N + 1); % up to its `end'
        Type -> skip(Type, N)
    end;
skip([Token | Rest], N) -> skip(Rest, N + level(Token));
skip([], _) -> [].

%% What is behind the parenthesis that closes.
close(Rest, 0) -> Rest;
close([{T, _} | Rest], N) when T =:= '(' -> close(Rest, N + 1);
close([{T, _} | Rest], N) when T =:= ')' -> close(Rest, N - 1);
close([_ | Rest], N) -> close(Rest, N);
close([], _) -> [].

level({T, _}) ->
    Opens = ['(', '[', '{', '<<', 'begin', 'case', 'if', 'receive', 'try'],
    case {lists:member(T, Opens), lists:member(T, [')', ']', '}', '>>', 'end'])} of
        {true, _} -> 1;
        {_, true} -> -1;
        _ -> 0
    end;
level(_) ->
    0.
