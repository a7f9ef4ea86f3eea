%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The second process behind a handle. It never waits for a dirty scheduler, so it can act
%% when the handle's process cannot:
%%
%% - it checks the script (c_src/beam/handle/watchdog.c), ten times a second if there are many
%%   events, and tells the handle's process when the script must end or has ended by itself;
%% - if the owner dies while the handle's process is inside a long call, it turns the probes off;
%% - it ends after the handle's process (erltrace_handle_sup), and takes back what that one has left
%%   armed if it was killed.
-module(erltrace_limiter).
-behaviour(gen_server).
-export([owner/2, watch/2, is_harmless/0, is_payload/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3,
         format_status/1]).

-define(PATIENCE, 300). % ms for the handle's process to end after its owner

-record(st, {sup :: pid(),
             handle :: pid(),
             mon :: reference(),            % of the handle's process
             owner :: {pid(), reference()} | undefined, % and its monitor
             nif :: reference(),
             number :: pos_integer(),
             rest = 0 :: non_neg_integer(), % ms between two checks, if that is not too seldom
             watching = false :: boolean()}).

%% @doc Whose handle it is, from now on.
-spec owner(pid(), Owner :: pid()) -> ok.
owner(Limiter, Owner) ->
    gen_server:cast(Limiter, {owner, Owner}).

%% @doc The script runs: start checking it, so many ms apart, unless it has to be more often.
-spec watch(pid(), Rest :: non_neg_integer()) -> ok.
watch(Limiter, Rest) ->
    gen_server:cast(Limiter, {watch, Rest}).

%% @doc Does this node forbid destructive actions? By erltrace's setting `destructive' = false.
-spec is_harmless() -> boolean().
is_harmless() ->
    lists:member(false, erltrace_app:setting(destructive)).

%% @doc May scripts show contents of messages, arguments and memory in this node? Not with
%% erltrace's setting `payload' = off.
-spec is_payload() -> boolean().
is_payload() ->
    not lists:any(
        fun(V) -> lists:member(V, [off, false, "off"]) end, erltrace_app:setting(payload)
    ).

-spec init({Sup :: pid(), {Handle :: pid(), reference(), pos_integer()}}) -> {ok, #st{}}.
init({Sup, {Handle, Nif, Number}}) ->
    erltrace_vm:leave_application(),
    process_flag(sensitive, true),
    process_flag(trap_exit, true),
    {ok, #st{
        sup = Sup,
        handle = Handle,
        mon = erlang:monitor(process, Handle),
        nif = Nif,
        number = Number
    }}.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, {error, unknown}, #st{}}.
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast({owner, Owner}, #st{owner = Before} = St) ->
    _ = case Before of
            {_, Mon} -> erlang:demonitor(Mon, [flush]);
            undefined -> ok
        end,
    {noreply, St#st{owner = {Owner, erlang:monitor(process, Owner)}}};
handle_cast({watch, Rest}, St) ->
    {noreply, tick(St#st{rest = Rest, watching = true})};
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, shutdown, #st{}}.
handle_info({'EXIT', Sup, _}, #st{sup = Sup} = St) ->
    {stop, shutdown, St};
handle_info(tick, #st{watching = true} = St) ->
    {noreply, tick(St)};
handle_info({'DOWN', Mon, process, _, _}, #st{mon = Mon} = St) ->
    _ = off(St), % the supervisor has seen it too: this process ends next
    {noreply, St#st{watching = false}};
handle_info({'DOWN', Mon, process, _, _}, #st{owner = {_, Mon}} = St) ->
    _ = erlang:send_after(?PATIENCE, self(), owner_gone),
    {noreply, St};
handle_info(owner_gone, St) ->
    _ = off(St),
    {noreply, St};
handle_info(_, St) ->
    {noreply, St}.

%% If the supervisor was killed, the handle's process is ending at the same time.
-spec terminate(term(), #st{}) -> ok.
terminate(_, #st{handle = Handle, nif = Nif} = St) ->
    Mon = erlang:monitor(process, Handle),
    receive {'DOWN', Mon, process, Handle, _} -> ok
    after ?PATIENCE -> ok
    end,
    _ = off(St) andalso erltrace_nif:close(Nif),
    ok.

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{} = St} = Status) ->
    Owner = case St#st.owner of
                {Pid, _} -> Pid;
                undefined -> undefined
            end,
    Status#{state := #{handle => St#st.handle, owner => Owner, number => St#st.number,
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
    Handle ! {limiter, self(), What},
    St#st{watching = false}.

check(#st{nif = Nif, rest = Rest}) ->
    try erltrace_nif:watch(Nif, erlang:system_info(schedulers_online), Rest)
    catch error:_ -> {aborted, 0, <<"erltrace's library has been replaced by another one">>}
    end.

%% False if it has been closed; or with the last reference, if another library is loaded.
off(#st{nif = Nif, number = Number}) ->
    try erltrace_nif:alive(Number) andalso erltrace_nif:halt(Nif) of
        ok -> erltrace_vm:forget(Number), true;
        false -> false
    catch
        error:_ -> false
    end.
