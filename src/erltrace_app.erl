%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The application: while it runs, handles are children of its supervisor, so that stopping it
%% ends them all. Handles work without it too.
-module(erltrace_app).
-behaviour(application).
-export([start/2, stop/1]).

-spec start(application:start_type(), term()) -> {ok, pid()} | {error, term()}.
start(_Type, _Args) ->
    erltrace_sup:start_link().

-spec stop(term()) -> ok.
stop(_State) ->
    ok.
