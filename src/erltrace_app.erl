%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The application: while it runs, handles are children of its supervisor, so that stopping it
%% ends them all. Handles work without it too.
-module(erltrace_app).
-behaviour(application).
-export([start/2, stop/1, setting/1]).

-spec start(application:start_type(), term()) -> {ok, pid()} | {error, term()}.
start(_Type, _Args) ->
    erltrace_sup:start_link().

-spec stop(term()) -> ok.
stop(_State) ->
    ok.

%% @doc The values of a setting of the application. If it is not loaded, as in a node to which the
%% command has brought the modules, settings come from erl's command line (`-erltrace destructive
%% false'); if it is, they may come from both.
-spec setting(atom()) -> [term()].
setting(Name) ->
    [V || {ok, V} <- [application:get_env(erltrace, Name)]] ++
        [word(V) || {erltrace, Words} <- arguments(), V <- values(atom_to_list(Name), Words)].

%% The loader has asked for them: `init' may not answer.
arguments() ->
    try ets:lookup_element(erltrace_loader, arguments, 2)
    catch error:badarg -> init:get_arguments()
    end.

values(Name, [Name, Value | Rest]) -> [Value | values(Name, Rest)];
values(Name, [_, _ | Rest]) -> values(Name, Rest);
values(_, _) -> [].

word("true") -> true;
word("false") -> false;
word(Other) -> Other.
