%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Compiling a script and listing probes, for a handle. Probes of functions are created when a
%% description names them: the library replies that it needs `functions', and gets those of the
%% modules that the description can match.
-module(erltrace_compile).
-export([compile/4, unmatched/1, probes/3, functions/1, reply/1]).

-define(BATCH, 10). % modules passed to the library at once

-type error() :: {error, {dtrace, Tag :: binary(), Line :: non_neg_integer(),
                          Column :: non_neg_integer(), Text :: binary()} | term()}.
-export_type([error/0]).

%% @doc Opts: those of the library; `{headers, [{Name, Text}]}', where records may be defined;
%% `later': the script goes on without functions that there are not, as those of modules that are
%% not loaded yet (unmatched/1).
-spec compile(reference(), Source :: binary(), Args :: [binary()], Opts :: [term()]) ->
    ok | error().
compile(Nif, Source, Args, Opts) ->
    case erltrace_nif:compile(Nif, Source, Args, lists:keydelete(headers, 1, Opts) -- [later]) of
        functions ->
            case add_functions(Nif) of
                ok -> compile(Nif, Source, Args, Opts);
                Error -> Error
            end;
        {record, Name, Error} ->
            case add_record(Nif, Name, Opts) of
                ok -> compile(Nif, Source, Args, Opts);
                {error, Why} -> with_reason(Why, reply(Error))
            end;
        {ok, functions} ->
            add_functions(Nif);
        {no_probe, D, Error} ->
            case lists:member(later, Opts) andalso erltrace_suggest:names_functions(D) of
                true ->
                    ok = erltrace_nif:setopt(Nif, "zdefs", ""),
                    only_functions(Nif, compile(Nif, Source, Args, Opts -- [later]));
                false ->
                    no_probe(D, reply(Error))
            end;
        Result ->
            reply(Result)
    end.

%% What else matches nothing never will.
only_functions(Nif, ok) ->
    case
        [
            U
         || {_, _, D} = U <- erltrace_nif:unmatched(Nif), not erltrace_suggest:names_functions(D)
        ]
    of
        [] ->
            ok;
        [{Line, Column, D} | _] ->
            Text = no_probe_text(D, "-l lists all probes"),
            no_probe(D, {error, {dtrace, <<"D_PDESC_ZERO">>, Line, Column, Text}})
    end;
only_functions(_, Error) ->
    Error.

%% The modules that descriptions of the script name, as far as it has been read.
add_record(Nif, Name, Opts) ->
    Modules = [M || M <- erlang:loaded(), erltrace_nif:wants(Nif, M)],
    Headers = proplists:get_value(headers, Opts, []),
    case erltrace_records:find(binary_to_atom(Name), Modules, Headers) of
        {ok, Fields} ->
            erltrace_nif:set_record(Nif, Name, [atom_to_binary(F) || F <- Fields]);
        Error ->
            Error
    end.

with_reason(Why, {error, {dtrace, Tag, Line, Column, Text}}) ->
    {error, {dtrace, Tag, Line, Column, iolist_to_binary([Text, ": ", Why])}};
with_reason(_, Error) ->
    Error.

%% @doc Which descriptions of the script match nothing so far, where the first of each is, and why,
%% as sentences.
-spec unmatched(reference()) -> [{Line :: integer(), Column :: integer(), binary()}].
unmatched(Nif) ->
    case erltrace_nif:unmatched(Nif) of
        Unmatched when is_list(Unmatched) ->
            [{Line, Column, unicode:characters_to_binary([D, " matches nothing", why_nothing(D)])}
             || {Line, Column, D} <- lists:ukeysort(3, Unmatched)];
        _ ->
            [] % it is closed
    end.

why_nothing(Description) ->
    case {erltrace_suggest:not_loaded(Description), erltrace_suggest:hint(Description)} of
        {{ok, Module}, {also, _}} ->
            [" yet: module ", Module, " is not loaded; its functions are traced as soon as it is"];
        {_, {_, Hint}} -> [" yet: ", Hint];
        {_, none} -> " yet"
    end.

%% Add a hint to the error about a description that matches nothing.
no_probe(D, {error, {dtrace, Tag, Line, Column, Text}}) ->
    Better =
        case erltrace_suggest:hint(D) of
            {also, Hint} -> iolist_to_binary([Text, "; ", Hint]);
            {instead, Hint} -> no_probe_text(D, Hint);
            none -> Text
        end,
    {error, {dtrace, Tag, Line, Column, Better}}.

no_probe_text(D, Hint) ->
    iolist_to_binary(["probe description ", D, " does not match any probes: ", Hint]).

%% @doc What: a description, or `script' for the probes of the compiled script. Form: `full', or
%% `brief': binaries that have many probes each (c_src/beam/nif/results.c).
-spec probes(reference(), script | binary() | string(), full | brief) -> {ok, [term()]} | error().
probes(Nif, What, Form) ->
    case erltrace_nif:probes(Nif, What, Form) of
        functions ->
            case add_functions(Nif) of
                ok -> probes(Nif, What, Form);
                Error -> Error
            end;
        {ok, []} when What =/= script, What =/= <<>>, What =/= "" ->
            {error, {dtrace, <<"D_PDESC_ZERO">>, 0, 0,
                     iolist_to_binary(["no probe matches the description",
                                       case erltrace_suggest:hint(What) of
                                           {_, Hint} -> [": ", Hint];
                                           none -> []
                                       end])}};
        Result ->
            reply(Result)
    end.

add_functions(Nif) ->
    add_functions(Nif, [M || M <- erlang:loaded(), M =/= erltrace_nif, erltrace_nif:wants(Nif, M)]).

%% Some modules at a time: each call goes to another thread and back.
add_functions(_, []) ->
    ok;
add_functions(Nif, Modules) ->
    {Some, Rest} = lists:split(min(?BATCH, length(Modules)), Modules),
    case erltrace_nif:add_functions(Nif, [{M, functions(M)} || M <- Some]) of
        ok -> add_functions(Nif, Rest);
        Error -> reply(Error)
    end.

%% @doc All functions of a loaded module, with their kinds.
-spec functions(module()) -> [{atom(), arity(), erlang | bif | nif}].
functions(Module) ->
    erltrace_loader:turn(),
    try
        Nifs = maps:from_keys(nifs(Module), true),
        [{F, A, kind(Module, F, A, Nifs)} || {F, A} <- erlang:get_module_info(Module, functions)]
    catch _:_ -> [] % it is not loaded
    end.

nifs(Module) ->
    try erlang:get_module_info(Module, nifs)
    catch _:_ -> []
    end.

kind(M, F, A, Nifs) ->
    case erlang:is_builtin(M, F, A) of
        true -> bif;
        false when is_map_key({F, A}, Nifs) -> nif;
        false -> erlang
    end.

%% @doc An error of the library as the API has it; anything else as it is.
-spec reply(term()) -> term().
reply({error, {Tag, Line, Column, Text}}) -> {error, {dtrace, Tag, Line, Column, Text}};
reply({error, enomem}) -> {error, {dtrace, <<"ET_NOMEM">>, 0, 0, <<"out of memory">>}};
reply(Other) -> Other.
