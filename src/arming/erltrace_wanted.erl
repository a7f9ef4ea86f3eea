%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The names of processes that are not traced: those that are spawned while a script runs are
%% asked what they are called once they have fired (erltrace_names). The library limits how many are
%% asked at a time (BEAM_WANTED).
-module(erltrace_wanted).
-behaviour(gen_server).
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2, handle_info/2, code_change/3,
         format_status/1]).

-define(EVERY, 100). % ms

-record(st, {nif :: reference(),
             keys :: erltrace_names:keys()}).

-spec init({Sup :: pid(), {reference(), erltrace_names:keys()}}) -> {ok, #st{}, {continue, ask}}.
init({_, {Nif, Keys}}) ->
    process_flag(sensitive, true),
    {ok, #st{nif = Nif, keys = Keys}, {continue, ask}}.

-spec handle_continue(ask, #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_continue(ask, St) ->
    process_flag(priority, normal),
    ask(St).

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, {error, unknown}, #st{}}.
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_info(ask, St) ->
    ask(St);
handle_info(_, St) ->
    {noreply, St}.

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{keys = Keys}} = Status) ->
    Status#{state := #{asks_for => Keys}};
format_status(Status) ->
    Status.

%% Until the script has ended.
ask(#st{nif = Nif, keys = Keys} = St) ->
    case wanted(Nif) of
        Wanted when is_list(Wanted) ->
            _ = Wanted =/= [] andalso
                erltrace_nif:fill_names(Nif, [erltrace_names:answer(P, T, process_info(P, Keys)) ||
                                                 {P, T} <- Wanted]),
            _ = erlang:send_after(?EVERY, self(), ask),
            {noreply, St};
        _ ->
            {stop, normal, St}
    end.

wanted(Nif) ->
    try erltrace_nif:wanted_names(Nif)
    catch error:badarg -> done % another library has been loaded
    end.
