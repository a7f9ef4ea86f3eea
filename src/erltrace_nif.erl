%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The NIF library (c_src/beam). enabled/3 and trace/5 are the tracer that the VM calls.
-module(erltrace_nif).
-export([open/0, close/1, setopt/3, add_functions/3, compile/3, needs/1, go/1, stop/1, work/2,
         walk/2, enabled/3, trace/5]).
-on_load(init/0).
-nifs([open/0, close/1, setopt/3, add_functions/3, compile/3, needs/1, go/1, stop/1, work/2,
       walk/2, enabled/3, trace/5]).

init() ->
    Path = case code:priv_dir(erltrace) of
               {error, _} ->
                   filename:join([filename:dirname(code:which(?MODULE)), "..", "priv"]);
               Dir ->
                   Dir
           end,
    erlang:load_nif(filename:join(Path, "erltrace"), 0).

open() -> erlang:nif_error(not_loaded).
close(_) -> erlang:nif_error(not_loaded).
setopt(_, _, _) -> erlang:nif_error(not_loaded).
add_functions(_, _, _) -> erlang:nif_error(not_loaded).
compile(_, _, _) -> erlang:nif_error(not_loaded).
needs(_) -> erlang:nif_error(not_loaded).
go(_) -> erlang:nif_error(not_loaded).
stop(_) -> erlang:nif_error(not_loaded).
work(_, _) -> erlang:nif_error(not_loaded).
walk(_, _) -> erlang:nif_error(not_loaded).
enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
