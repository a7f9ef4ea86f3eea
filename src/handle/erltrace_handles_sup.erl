%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The supervisor of the handles that are opened while the application runs. They are never
%% restarted: it is up to the owner to open another handle.
-module(erltrace_handles_sup).
-behaviour(supervisor).
-export([start_link/0, start_handle/1, init/1]).

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() ->
    erltrace_backoff:wait(?MODULE, "all scripts of this node have ended", fun(_) -> ok end),
    case supervisor:start_link({local, ?MODULE}, ?MODULE, []) of
        ignore -> {error, ignore};
        Result -> Result
    end.

%% @doc Start a handle under the supervisor; `none' where the application does not run.
-spec start_handle(pid()) -> {ok, pid()} | {error, term()} | none.
start_handle(Owner) ->
    case whereis(?MODULE) of
        undefined ->
            none;
        Sup ->
            try supervisor:start_child(Sup, [Owner]) of
                {ok, Pid} when is_pid(Pid) -> {ok, Pid};
                {error, Reason} -> {error, Reason}
            catch
                exit:{_, {gen_server, call, _}} -> none % it has ended meanwhile
            end
    end.

%% Sensitive, like the handles: scripts do not see what erltrace itself does.
-spec init([]) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init([]) ->
    process_flag(sensitive, true),
    {ok, {#{strategy => simple_one_for_one},
          [#{id => handle, start => {erltrace_handle_sup, start_link, []}, restart => temporary,
             type => supervisor}]}}.
