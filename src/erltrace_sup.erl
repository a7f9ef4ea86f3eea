%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The top supervisor of the application.
%%
%%   erltrace_sup
%%     erltrace_handles_sup   handles
%%       erltrace_handle_sup    one each, with its helpers
%%     erltrace_deploy_sup    scripts that run as long as the application does
%%       erltrace_metrics       what they gather, added up
%%       erltrace_alerts        those that go on
%%       erltrace_new_modules   modules that are loaded later: sends them to their handles
%%       erltrace_scripts_sup   erltrace_script, one each
%%       erltrace_deploy        which there are; restarts them
%%
%% The application is permanent in a release: were this supervisor to give up, the node would end.
%% Its children wait before they start again (erltrace_backoff), which keeps them below its
%% intensity. The table of totals belongs to this process, and so outlives those that write to it.
-module(erltrace_sup).
-behaviour(supervisor).
-export([start_link/0, init/1]).

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() ->
    case supervisor:start_link({local, ?MODULE}, ?MODULE, []) of
        ignore -> {error, ignore};
        Result -> Result
    end.

%% Sensitive, like all of ours: scripts do not see what erltrace itself does.
-spec init([]) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init([]) ->
    process_flag(sensitive, true),
    erltrace_metrics:new_table(),
    {ok, {#{strategy => one_for_one, intensity => 15, period => 60},
          [#{id => Sup, start => {Sup, start_link, []}, type => supervisor}
           || Sup <- [erltrace_handles_sup, erltrace_deploy_sup]]}}.
