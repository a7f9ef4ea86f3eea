%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Modules that are loaded while deployed scripts run. A handle polls for them
%% (erltrace_rearm); that of a deployed script does so once a second only, as there may be many.
%% This one process looks more often, for all of them, and tells them when there is a new module.
-module(erltrace_new_modules).
-behaviour(gen_server).
-export([start_link/0, follow/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, format_status/1]).

-define(POLL, 200). % ms

-record(st, {polls = false :: boolean(),                  % a timer is set
             known = [] :: [module()],                    % as the VM lists them
             handles = #{} :: #{reference() => pid()}}).  % by their monitors

-spec start_link() -> gen_server:start_ret().
start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% @doc From now on this process is sent `loaded' when a module is, until it ends.
-spec follow(pid()) -> ok.
follow(Handle) ->
    gen_server:cast(?MODULE, {follow, Handle}).

-spec init([]) -> {ok, #st{}}.
init([]) ->
    process_flag(sensitive, true),
    {ok, #st{}}.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, {error, unknown}, #st{}}.
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast({follow, Handle}, #st{handles = Handles} = St) ->
    {noreply, poll(St#st{handles = Handles#{erlang:monitor(process, Handle) => Handle}})};
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}}.
handle_info(poll, #st{handles = Handles} = St) when map_size(Handles) =:= 0 ->
    {noreply, St#st{polls = false}};
handle_info(poll, #st{handles = Handles, known = Known} = St) ->
    Loaded = erlang:loaded(),
    _ = Loaded =:= Known orelse [Handle ! loaded || Handle <- maps:values(Handles)],
    {noreply, poll(St#st{polls = false, known = Loaded})};
handle_info({'DOWN', Mon, process, _, _}, #st{handles = Handles} = St) ->
    {noreply, St#st{handles = maps:remove(Mon, Handles)}};
handle_info(_, St) ->
    {noreply, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{known = Known, handles = Handles}} = Status) ->
    Status#{state := #{modules => length(Known), handles => maps:values(Handles)}}.

poll(#st{polls = true} = St) ->
    St;
poll(St) ->
    _ = erltrace_timer:send_after(?POLL, poll),
    St#st{polls = true}.
