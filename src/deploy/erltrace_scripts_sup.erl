%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The supervisor of the processes of deployed scripts. erltrace_deploy starts them, and
%% restarts them with a backoff.
-module(erltrace_scripts_sup).
-behaviour(supervisor).
-export([start_link/0, start_script/1, stop_script/1, scripts/0, init/1]).

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() ->
    case supervisor:start_link({local, ?MODULE}, ?MODULE, []) of
        ignore -> {error, ignore};
        Result -> Result
    end.

-spec start_script(erltrace_script:spec()) -> {ok, pid()} | {error, term()}.
start_script(Spec) ->
    case supervisor:start_child(?MODULE, [Spec]) of
        {ok, Pid} when is_pid(Pid) -> {ok, Pid};
        {error, Reason} -> {error, Reason}
    end.

-spec stop_script(pid()) -> ok.
stop_script(Pid) ->
    _ = supervisor:terminate_child(?MODULE, Pid),
    ok.

-spec scripts() -> [pid()].
scripts() ->
    [Pid || {_, Pid, _, _} <- supervisor:which_children(?MODULE), is_pid(Pid)].

-spec init([]) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init([]) ->
    process_flag(sensitive, true),
    {ok, {#{strategy => simple_one_for_one},
          [#{id => script, start => {erltrace_script, start_link, []}, restart => temporary,
             shutdown => 10000}]}}.
