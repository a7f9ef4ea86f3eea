%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The supervisor of a handle. Its children:
%%
%%   erltrace_handle    the handle's process: where it ends, all end
%%   erltrace_limiter   enforces its limits; restarted if it is killed
%%   helpers            of what is armed: erltrace_flows, erltrace_names, erltrace_state,
%%                      erltrace_sysmon, erltrace_wall, erltrace_wanted; not restarted
%%
%% They end in this order, the helpers and the limiter at the same time: whatever has happened to
%% the handle's process, the limiter takes back what is still armed. While the application runs this
%% process is a child of erltrace_handles_sup; otherwise it has no parent. If it is killed, all of
%% them see that.
%%
%% It is a supervisor by what it does, as ranch_conns_sup is, and answers what
%% supervisor:which_children/1 asks. It is not one by its behaviour, because it also runs in nodes
%% of others, when they are in trouble: it and its children run at high priority from their first
%% moment, and nothing is written to the log. The children are linked, but it is not their parent in
%% the sense of OTP, whose end as by a kill makes a report of a crash: they end when they receive
%% its exit signal.
-module(erltrace_handle_sup).
-behaviour(gen_server).
-export([start/1, start_link/1, start_helper/3]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3,
         format_status/1]).

-define(INTENSITY, 10). % restarts of the limiter
-define(PERIOD, 10).    % in so many seconds
-define(SHUTDOWN, 10000). % ms for the handle's process, and for helpers, to end

-record(st, {handle :: pid() | undefined, % both: until they have been started
             limiter :: pid() | undefined,
             nif :: reference(),
             number :: pos_integer(),        % of the handle, in the library
             helpers = #{} :: #{pid() => module()},
             restarts = [] :: [integer()]}). % s: when, of those in the last period

%% @doc Open a handle: under the supervisor of all, or alone where the application does not run.
-spec start(Owner :: pid()) -> {ok, Handle :: pid(), Sup :: pid()} | {error, term()}.
start(Owner) ->
    Started = case erltrace_handles_sup:start_handle(Owner) of
                  none -> gen_server:start(?MODULE, Owner, options());
                  Result -> Result
              end,
    case Started of
        {ok, Sup} -> opened(Sup);
        {error, {shutdown, Reason}} -> {error, Reason};
        {error, Reason} -> {error, Reason}
    end.

opened(Sup) ->
    try {ok, gen_server:call(Sup, handle, infinity), Sup}
    catch exit:_ -> {error, closed} % it was killed
    end.

-spec start_link(Owner :: pid()) -> gen_server:start_ret().
start_link(Owner) ->
    gen_server:start_link(?MODULE, Owner, options()).

%% In a busy node it would wait for a turn of all others before its first.
options() ->
    [{spawn_opt, [{priority, high}]}].

linked() ->
    [{spawn_opt, [link, {priority, high}]}].

%% @doc Called by the handle's process: start a helper, a gen_server, which gets {Sup, Args}. Its
%% init may not wait for anybody, because this supervisor does meanwhile: what takes long is for
%% handle_continue.
-spec start_helper(Sup :: pid(), module(), Args :: term()) -> {ok, pid()} | {error, shutdown}.
start_helper(Sup, Module, Args) ->
    try gen_server:call(Sup, {start, Module, Args}, infinity)
    catch exit:{_, {gen_server, call, _}} -> {error, shutdown}
    end.

%% Sensitive, as are all of ours: no script traces a process that works for it or for another
%% script.
-spec init(pid()) -> {ok, #st{}} | {stop, {shutdown, term()}}.
init(Owner) ->
    process_flag(sensitive, true),
    process_flag(trap_exit, true),
    case erltrace_nif:open() of
        {ok, Nif, Number} ->
            start_children(Owner, #st{nif = Nif, number = Number});
        Error ->
            {error, Reason} = erltrace_compile:reply(Error),
            {stop, {shutdown, Reason}}
    end.

start_children(Owner, #st{nif = Nif, number = Number} = St) ->
    case gen_statem:start(erltrace_handle, {self(), {Owner, Nif, Number}}, linked()) of
        {ok, Handle} ->
            case start_limiter(St#st{handle = Handle}) of
                {ok, St1} -> {ok, St1};
                killed -> {stop, {shutdown, closed}}
            end;
        {error, _} -> % it was killed
            _ = erltrace_nif:close(Nif),
            {stop, {shutdown, closed}}
    end.

start_limiter(#st{handle = Handle, nif = Nif, number = Number} = St) ->
    case gen_server:start(erltrace_limiter, {self(), {Handle, Nif, Number}}, linked()) of
        {ok, Limiter} ->
            Handle ! {limiter, Limiter},
            {ok, St#st{limiter = Limiter}};
        {error, _} ->
            killed
    end.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, term(), #st{}}.
handle_call(handle, _, #st{handle = Handle} = St) ->
    {reply, Handle, St};
handle_call({start, Module, Args}, _, #st{helpers = Helpers} = St) ->
    case gen_server:start(Module, {self(), Args}, linked()) of
        {ok, Pid} -> {reply, {ok, Pid}, St#st{helpers = Helpers#{Pid => Module}}};
        {error, _} -> {reply, {error, shutdown}, St} % it was killed
    end;
handle_call(which_children, _, St) ->
    {reply, [{Module, Pid, worker, [Module]} || {Module, Pid} <- children(St)], St};
handle_call(count_children, _, St) ->
    N = length(children(St)),
    {reply, [{specs, N}, {active, N}, {supervisors, 0}, {workers, N}], St};
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, shutdown, #st{}}.
handle_info({'EXIT', Handle, _}, #st{handle = Handle} = St) ->
    {stop, shutdown, St};
handle_info({'EXIT', Limiter, _}, #st{limiter = Limiter, restarts = Restarts} = St) ->
    Now = erlang:monotonic_time(second),
    case [R || R <- Restarts, Now - R < ?PERIOD] of
        Recent when length(Recent) < ?INTENSITY ->
            case start_limiter(St#st{restarts = [Now | Recent]}) of
                {ok, St1} -> {noreply, St1};
                killed -> {stop, shutdown, St}
            end;
        _ ->
            {stop, shutdown, St}
    end;
handle_info({'EXIT', Pid, _}, #st{helpers = Helpers} = St) ->
    {noreply, St#st{helpers = maps:remove(Pid, Helpers)}};
handle_info(_, St) ->
    {noreply, St}.

-spec terminate(term(), #st{}) -> ok.
terminate(_, #st{handle = Handle, limiter = Limiter, helpers = Helpers}) ->
    Others = [{P, monitor_of(P)} || P <- [Limiter | maps:keys(Helpers)]],
    shutdown([{Handle, monitor_of(Handle)}]),
    shutdown(Others).

monitor_of(Pid) ->
    erlang:monitor(process, Pid).

shutdown(Children) ->
    _ = [exit(Pid, shutdown) || {Pid, _} <- Children],
    Alarm = erlang:start_timer(?SHUTDOWN, self(), shutdown),
    lists:foreach(fun(Child) -> wait_for_end(Child, Alarm) end, Children),
    _ = erlang:cancel_timer(Alarm),
    ok.

%% The handle's process may be asking for a helper just now.
wait_for_end({Pid, Mon} = Child, Alarm) ->
    receive
        {'DOWN', Mon, process, Pid, _} ->
            ok;
        {'$gen_call', From, {start, _, _}} ->
            gen_server:reply(From, {error, shutdown}),
            wait_for_end(Child, Alarm);
        {timeout, Alarm, shutdown} ->
            self() ! {timeout, Alarm, shutdown}, % for the others
            exit(Pid, kill),
            receive {'DOWN', Mon, process, Pid, _} -> ok end
    end.

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{number = Number} = St} = Status) ->
    Status#{state := #{number => Number, children => children(St)}};
format_status(Status) ->
    Status.

children(#st{handle = Handle, limiter = Limiter, helpers = Helpers}) ->
    [{erltrace_handle, Handle}, {erltrace_limiter, Limiter}
     | [{Module, Pid} || {Pid, Module} <- maps:to_list(Helpers)]].
