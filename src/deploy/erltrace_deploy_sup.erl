%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The supervisor of deployed scripts, and of the processes that serve them.
-module(erltrace_deploy_sup).
-behaviour(supervisor).
-export([start_link/0, init/1]).

-define(LONGEST_END, 15000). % ms: as long as scripts may take to end, and a little more

%% If the one before was killed its children may still be ending, and have their names.
-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() ->
    erltrace_backoff:wait(?MODULE, "deployed scripts do not run", fun erltrace_metrics:failed/1),
    lists:foreach(fun wait_for_end/1, [Id || #{id := Id} <- children()]),
    case supervisor:start_link({local, ?MODULE}, ?MODULE, []) of
        ignore -> {error, ignore};
        Result -> Result
    end.

wait_for_end(Name) ->
    Mon = erlang:monitor(process, Name),
    receive {'DOWN', Mon, process, _, _} -> ok
    after ?LONGEST_END ->
            Pid = whereis(Name),
            is_pid(Pid) andalso exit(Pid, kill),
            receive {'DOWN', Mon, process, _, _} -> ok end
    end.

-spec init([]) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init([]) ->
    process_flag(sensitive, true),
    {ok, {#{strategy => rest_for_one, intensity => 10, period => 60}, children()}}.

children() ->
    [
        child(erltrace_metrics, worker),
        child(erltrace_alerts, worker),
        child(erltrace_new_modules, worker),
        child(erltrace_scripts_sup, supervisor),
        child(erltrace_deploy, worker)
    ].

child(Module, Type) ->
    #{id => Module, start => {Module, start_link, []}, type => Type}.
