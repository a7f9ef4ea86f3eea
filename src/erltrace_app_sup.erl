%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The supervisors of the application.
%%
%%   erltrace_app_sup
%%     erltrace_sup          handles
%%     erltrace_deploy_sup   scripts that run as long as the application does
%%       erltrace_metrics      what they gather, added up
%%       erltrace_alerts       those that go on
%%       erltrace_new_modules        modules that are loaded later: tells their handles
%%       erltrace_script_sup   erltrace_script, one each
%%       erltrace_deploy       which there are; starts them again
%%     erltrace_restarter    starts both supervisors again, after a pause
%%
%% Whatever happens to scripts does not end the application, which would end the node of a release: the top
%% supervisor itself restarts nothing but the restarter, whose start cannot fail. It owns the table of totals,
%% which outlives the processes that write to it.
-module(erltrace_app_sup).
-behaviour(supervisor).
-export([start_link/0, start_deploy/0, start_scripts/0, start_script/1, init/1]).

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() ->
    started(supervisor:start_link({local, ?MODULE}, ?MODULE, top)).

%% @private
-spec start_deploy() -> {ok, pid()} | {error, term()}.
start_deploy() ->
    started(supervisor:start_link({local, erltrace_deploy_sup}, ?MODULE, deploy)).

%% @private
-spec start_scripts() -> {ok, pid()} | {error, term()}.
start_scripts() ->
    started(supervisor:start_link({local, erltrace_script_sup}, ?MODULE, scripts)).

started(ignore) -> {error, ignore};
started(Result) -> Result.

%% @doc Start a script; erltrace_deploy does, and starts it again.
-spec start_script(erltrace_script:spec()) -> {ok, pid()} | {error, term()}.
start_script(Spec) ->
    case supervisor:start_child(erltrace_script_sup, [Spec]) of
        {ok, Pid} when is_pid(Pid) -> {ok, Pid};
        {error, Reason} -> {error, Reason}
    end.

-spec init(top | deploy | scripts) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init(Which) ->
    process_flag(sensitive, true),
    {ok, sup(Which)}.

sup(top) ->
    erltrace_metrics:new_table(),
    Restarted = [{erltrace_sup, #{id => handles, start => {erltrace_sup, start_link, []}, type => supervisor,
                                  restart => temporary}, "all scripts of this node have ended"},
                 {erltrace_deploy_sup, #{id => deploy, start => {?MODULE, start_deploy, []}, type => supervisor,
                                         restart => temporary}, "deployed scripts do not run"}],
    %% However often somebody kills the restarter: the application stays.
    {#{strategy => one_for_one, intensity => 1000000, period => 1},
     [Spec || {_, Spec, _} <- Restarted] ++
         [#{id => restarter, start => {erltrace_restarter, start_link, [Restarted]}}]};
sup(deploy) ->
    {#{strategy => rest_for_one, intensity => 10, period => 60},
     [#{id => metrics, start => {erltrace_metrics, start_link, []}},
      #{id => alerts, start => {erltrace_alerts, start_link, []}},
      #{id => loads, start => {erltrace_new_modules, start_link, []}},
      #{id => scripts, start => {?MODULE, start_scripts, []}, type => supervisor},
      #{id => deploy, start => {erltrace_deploy, start_link, []}}]};
sup(scripts) ->
    {#{strategy => simple_one_for_one},
     [#{id => script, start => {erltrace_script, start_link, []}, restart => temporary,
        shutdown => 10000}]}.
