%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The second process behind a handle. It never waits for a dirty scheduler, so it can act
%% when the handle's process cannot:
%%
%% - it checks the script (c_src/beam/handle/watchdog.c), ten times a second if there are many
%%   events, and tells the handle's process when the script must end or has ended by itself;
%% - if the owner dies while the handle's process is inside a long call, the watchdog turns the
%%   probes off;
%% - if the handle's process is killed, the watchdog takes back what it armed.
-module(erltrace_limiter).
-behaviour(gen_server).
-export([start/4, stop/1, watch/2, is_harmless/0, is_payload/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, code_change/3, format_status/1]).

-define(PATIENCE, 300). % ms for the handle's process to end after its owner

-record(st, {handle :: pid(),
             owner :: pid(),
             nif :: reference(),
             number :: pos_integer(),
             rest = 0 :: non_neg_integer(), % ms between two checks, if that is not too seldom
             watching = false :: boolean()}).

%% @doc Started by the handle's process.
-spec start(pid(), pid(), reference(), pos_integer()) -> {pid(), Monitor :: reference()}.
start(Handle, Owner, Nif, Number) ->
    St = #st{handle = Handle, owner = Owner, nif = Nif, number = Number},
    {ok, PidAndMonitor} = gen_server:start_monitor(?MODULE, St, []),
    PidAndMonitor.

%% @doc The handle has ended normally; returns when this process has ended too.
-spec stop({pid(), reference()}) -> ok.
stop({Pid, Mon}) ->
    gen_server:cast(Pid, done),
    receive {'DOWN', Mon, process, Pid, _} -> ok end.

%% @doc The script runs: start checking it, so many ms apart, unless it has to be more often.
-spec watch({pid(), reference()}, Rest :: non_neg_integer()) -> ok.
watch({Pid, _}, Rest) ->
    gen_server:cast(Pid, {watch, Rest}).

%% @doc Does this node forbid destructive actions? By erltrace's setting `destructive' = false.
-spec is_harmless() -> boolean().
is_harmless() ->
    lists:member(false, erltrace_app:setting(destructive)).

%% @doc May scripts show contents of messages, arguments and memory in this node? Not with erltrace's
%% setting `payload' = off.
-spec is_payload() -> boolean().
is_payload() ->
    not lists:any(fun(V) -> lists:member(V, [off, false, "off"]) end, erltrace_app:setting(payload)).

-spec init(#st{}) -> {ok, #st{}}.
init(#st{handle = Handle, owner = Owner} = St) ->
    erltrace_vm:leave_application(),
    process_flag(sensitive, true),
    process_flag(priority, high),
    _ = erlang:monitor(process, Handle),
    _ = erlang:monitor(process, Owner),
    {ok, St}.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, {error, unknown}, #st{}}.
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(done | {watch, non_neg_integer()}, #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_cast(done, St) ->
    {stop, normal, St};
handle_cast({watch, Rest}, St) ->
    {noreply, tick(St#st{rest = Rest, watching = true})}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_info(tick, #st{watching = true} = St) ->
    {noreply, tick(St)};
handle_info({'DOWN', _, process, Handle, _}, #st{handle = Handle} = St) ->
    clean_up(St),
    {stop, normal, St};
handle_info({'DOWN', _, process, Owner, _}, #st{owner = Owner} = St) ->
    _ = erlang:send_after(?PATIENCE, self(), owner_gone),
    {noreply, St};
handle_info(owner_gone, St) ->
    off(St),
    {noreply, St};
handle_info(_, St) ->
    {noreply, St}.

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{} = St} = Status) ->
    Status#{state := #{handle => St#st.handle, owner => St#st.owner, number => St#st.number,
                       watching => St#st.watching}};
format_status(Status) ->
    Status.

tick(St) ->
    case check(St) of
        {running, _, Ms} ->
            _ = erltrace_timer:send_after(Ms, tick),
            St;
        {done, _, _} ->
            tell(done, St);
        {aborted, _, Text} ->
            tell({aborted, Text}, St);
        {error, _} ->
            St#st{watching = false}
    end.

tell(What, #st{handle = Handle} = St) ->
    Handle ! {watchdog, self(), What},
    St#st{watching = false}.

check(#st{nif = Nif, rest = Rest}) ->
    try erltrace_nif:watch(Nif, erlang:system_info(schedulers_online), Rest)
    catch error:_ -> {aborted, 0, <<"erltrace's library has been replaced by another one">>}
    end.

clean_up(#st{nif = Nif} = St) ->
    off(St),
    try erltrace_nif:close(Nif)
    catch error:_ -> ok % another library is loaded: the handle ends with the last reference
    end.

off(#st{nif = Nif, number = Number}) ->
    try erltrace_nif:halt(Nif)
    catch error:_ -> ok
    end,
    erltrace_vm:forget(Number).
