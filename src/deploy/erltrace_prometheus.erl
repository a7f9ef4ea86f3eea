%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc A collector for the application `prometheus': the metrics of the scripts that are always on,
%% in a registry beside those of others. It is registered while both applications run
%% (erltrace_deploy).
%%
%% Distributions and percentile() have no sum: D does not keep it, so that it is NaN there.
-module(erltrace_prometheus).
-export([register/1, deregister/1, deregister_cleanup/1, collect_mf/2]).

%% @doc Register it, unless it is, or the other application does not run.
-spec register(Registry :: atom()) -> registered | not_running.
register(Registry) ->
    case whereis(prometheus_sup) of
        undefined -> not_running;
        _ ->
            _ = call(collector_registeredp, [Registry, ?MODULE]) orelse
                call(register_collector, [Registry, ?MODULE]),
            registered
    end.

-spec deregister(Registry :: atom()) -> ok.
deregister(Registry) ->
    _ =
        whereis(prometheus_sup) =/= undefined andalso
            call(deregister_collector, [Registry, ?MODULE]),
    ok.

%% It may end meanwhile.
call(Function, Args) ->
    try apply(prometheus_registry, Function, Args)
    catch _:_ -> true
    end.

-spec deregister_cleanup(atom()) -> ok.
deregister_cleanup(_) ->
    ok.

-spec collect_mf(atom(), fun((term()) -> term())) -> ok.
collect_mf(_, Callback) ->
    Families =
        try
            erltrace_metrics:exposition(terms)
            % the application does not run, or is just ending
        catch
            error:badarg -> []
        end,
    lists:foreach(
        fun({Name, Type, Help, Samples}) ->
            Callback(apply(prometheus_model_helpers, create_mf, [Name, Help, Type, Samples]))
        end,
        Families
    ).
