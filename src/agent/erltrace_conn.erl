%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The connection of a command that traces this node. This process monitors the connection and
%% the worker (erltrace_agent). When the command goes away, in whatever way, it kills the worker,
%% and the handle ends with it. When worker and handle have ended it tells the command that all is
%% done, and ends. (The modules that the command brought stay until then: erltrace_loader.) It
%% starts the handle, for the worker: so there is none that it does not know of.
%%
%% This process also ends the tracing when the command is silent: suspended, or blocked because
%% nobody reads its output. The command sends `alive' each second.
%%
%% A network may be cut without a word. The kernel closes a connection on which nothing is
%% acknowledged for ?CUT ms. A script whose calls go the fast way, inside the VM, is to be off
%% within a second: its erltrace_conn asks the kernel itself, ten times a second.
%%
%% The command's messages come here first; all but `alive' are passed to the worker.
-module(erltrace_conn).
-behaviour(gen_server).
-export([start/3]).
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2, handle_info/2, format_status/1]).

-define(BEAT, 1000).        % ms between two checks of the command
-define(SILENCE, 30000).    % ms without a message: the command does not read any more
-define(CUT, 3500).         % ms without an acknowledgement: its machine is unreachable
-define(FAST_BEAT, 100).    % the same where calls go the fast way; and to the time without an
-define(FAST_CUT, 500).     % acknowledgement three round trips are added

-record(st, {command :: pid(),
             connection :: port() | pid(),
             up :: reference(),                   % its monitor
             worker :: pid(),
             mon :: reference(),
             % the monitor of its supervisor, while there is a handle
             handle :: reference() | undefined,
             timer :: reference(),                % of the next beat
             heard :: integer(),                  % ms: when the command's last message came
             silence :: pos_integer(),
             fast = false :: boolean(),           % calls go the fast way
             silent = false :: false | command | network, % which of them
             gone = false :: boolean(),
             pinged :: integer() | undefined,     % ms: the first ping that is not acknowledged
             suspended = false :: boolean()}).    % its machine acknowledges, but it does not read

%% @doc The command's pid, its connection (a port, with some carriers a process), and what to do.
-spec start(pid(), port() | pid(), erltrace_agent:spec()) ->
          {ok, {pid(), Monitor :: reference()}} | {error, term()}.
start(Command, Connection, Spec) ->
    gen_server:start_monitor(?MODULE, {Command, Connection, Spec}, [
        {spawn_opt, [{priority, high}]}
    ]).

-spec init({pid(), port() | pid(), erltrace_agent:spec()}) -> {ok, #st{}, {continue, handle}}.
init({Command, Connection, Spec}) ->
    process_flag(sensitive, true),
    %% Not by the node's name: the next command may have the same one.
    Up = erlang:monitor(case is_port(Connection) of true -> port; false -> process end, Connection),
    cut_after(Connection, ?CUT),
    {ok, {Worker, Mon}} = erltrace_agent:start_worker(Command, self(), Spec),
    Timer = erlang:send_after(?BEAT, self(), beat),
    {ok, #st{command = Command, connection = Connection, up = Up, worker = Worker, mon = Mon,
             timer = Timer, heard = now_ms(),
             silence = proplists:get_value(silence, Spec, ?SILENCE)},
     {continue, handle}}.

%% Before any message of the command is read.
-spec handle_continue(handle, #st{}) -> {noreply, #st{}}.
handle_continue(handle, #st{worker = Worker} = St) ->
    case erltrace_handle:start(Worker) of
        {ok, Handle, Sup} ->
            Worker ! {handle, {ok, Handle}},
            {noreply, St#st{handle = erlang:monitor(process, Sup)}};
        {error, _} = Error ->
            Worker ! {handle, Error},
            {noreply, St}
    end.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, {error, unknown}, #st{}}.
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_info({calls, fast}, #st{timer = Timer} = St) ->
    _ = erlang:cancel_timer(Timer),
    receive beat -> ok after 0 -> ok end,
    {noreply, beat(St#st{fast = true})};
handle_info({calls, _}, St) ->
    {noreply, St#st{fast = false}};
handle_info({'DOWN', Up, _, _, _}, #st{up = Up} = St) ->
    exit(St#st.worker, kill),
    {noreply, St#st{gone = true}};
handle_info({'DOWN', Mon, process, _, Reason}, #st{mon = Mon} = St) ->
    handle_gone(St#st.handle),
    leave(St, ended(Reason, St)),
    {stop, normal, St};
handle_info({'DOWN', Handle, process, _, _}, #st{handle = Handle} = St) ->
    {noreply, St#st{handle = undefined}};
handle_info(beat, St) ->
    {noreply, beat(St)};
handle_info(alive, St) ->
    {noreply, St#st{heard = now_ms()}};
handle_info(Word, St) when is_atom(Word); element(1, Word) =:= key;
                           element(1, Word) =:= go_stream ->
    St#st.worker ! Word,
    {noreply, St#st{heard = now_ms()}};
handle_info(_, St) ->
    {noreply, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{} = St} = Status) ->
    Status#{state := #{command => St#st.command, worker => St#st.worker,
                       silent_ms => now_ms() - St#st.heard, suspended => St#st.suspended,
                       gone => St#st.gone}}.

%% The kernel closes the connection when what we sent is not acknowledged (TCP_USER_TIMEOUT).
cut_after(Connection, Ms) when is_port(Connection) ->
    catch inet:setopts(Connection, [{raw, 6, 18, <<Ms:32/native>>}]);
cut_after(_, _) ->
    ok.

%% What the kernel knows of the connection (struct tcp_info): segments that are not acknowledged; ms
%% since the last acknowledgement; the round trip in us.
tcp_info(Connection) when is_port(Connection) ->
    case catch inet:getopts(Connection, [{raw, 6, 11, 72}]) of
        {ok, [{raw, 6, 11, <<_:24/binary, Unacked:32/native, _:28/binary, Ago:32/native,
                             _:8/binary, Rtt:32/native>>}]} -> {Unacked, Ago, Rtt};
        _ -> unknown
    end;
tcp_info(_) ->
    unknown.

%% The machine of a suspended command still acknowledges, with a window of zero, and the kernel's
%% timeout would run out as well. As long as acknowledgements come such a command gets the longer
%% timeout of a silent one.
check_suspended(
    Silent, Info, #st{connection = Connection, suspended = Suspended, silence = Silence} = St
) when
    Silent > ?BEAT
->
    case Info of
        {_, Ago, _} when not Suspended, Ago + ?BEAT + ?BEAT div 5 < Silent ->
            cut_after(Connection, max(Silence, ?CUT)),
            St#st{suspended = true};
        _ ->
            St
    end;
check_suspended(_, _, #st{connection = Connection, suspended = true} = St) ->
    cut_after(Connection, ?CUT),
    St#st{suspended = false};
check_suspended(_, _, St) ->
    St.

%% There is always something to be acknowledged, a ping. (To a window of zero none is sent.) The
%% time counts from the first ping on that is not acknowledged, not from the last acknowledgement:
%% the worker may have sent something just now, after nothing was sent for a while.
is_cut({Unacked, _, Rtt}, Now, #st{fast = true, pinged = Since}) when is_integer(Since) ->
    Unacked > 0 andalso Now - Since > ?FAST_CUT + 3 * Rtt div 1000;
is_cut(_, _, _) ->
    false.

acknowledged({Unacked, Ago, _}, Now, #st{pinged = Since} = St) when
    is_integer(Since), Unacked > 0, Now - Ago < Since
->
    St;
acknowledged(_, _, St) ->
    St#st{pinged = undefined}.

beat(#st{silence = Silence, fast = Fast} = St) ->
    Beat = case Fast of true -> ?FAST_BEAT; false -> ?BEAT end,
    Timer = erltrace_timer:send_after(min(Beat, max(Silence div 4, 10)), beat),
    Now = now_ms(),
    Info = tcp_info(St#st.connection),
    check(Now, Info, acknowledged(Info, Now, St#st{timer = Timer})).

check(Now, Info, #st{heard = Heard, silence = Silence} = St) ->
    case {Now - Heard, is_cut(Info, Now, St)} of
        {Silent, _} when Silent > Silence ->
            exit(St#st.worker, kill),
            St#st{silent = command};
        {_, true} ->
            exit(St#st.worker, kill),
            St#st{silent = network};
        {Silent, false} ->
            check_suspended(Silent, Info, ping(Now, St))
    end.

ping(Now, #st{command = Command, pinged = Since} = St) ->
    _ = erlang:send(Command, {ping, 0}, [noconnect, nosuspend]),
    St#st{pinged = case Since of undefined -> Now; _ -> Since end}.

%% The command has gone: send nothing, the next command may have the same name by now.
ended(_, #st{gone = true}) ->
    [];
ended(_, #st{silent = command}) ->
    silence(<<"Abort due to systemic unresponsiveness">>);
ended(_, #st{silent = network}) -> % what it is told if the network comes back
    silence(<<"the network was cut for a moment: calls by the fast way end then">>);
ended({shutdown, {done, Code}}, _) -> [{done, Code}];
ended(killed, _) -> [erltrace_agent:killed(erltrace_agent), {done, 1}];
ended(Reason, _) ->
    Text = unicode:characters_to_binary(io_lib:format("the agent failed: ~0P", [Reason, 30])),
    [erltrace_agent:failure({<<"ET_AGENT">>, 0, 0, Text}), {done, 1}].

silence(Text) ->
    [erltrace_agent:failure({<<"ET_SILENCE">>, 0, 0, Text}), {done, 1}].

now_ms() ->
    erlang:monotonic_time(millisecond).

%% The handle ends with its owner, and disarms everything before it ends.
handle_gone(undefined) -> ok;
handle_gone(Mon) -> receive {'DOWN', Mon, process, _, _} -> ok after 10000 -> ok end.

leave(#st{command = Command, silent = Silent} = St, Messages) when Silent =/= false ->
    %% Nobody reads: neither block on sending, nor wait for the command to say `leave'.
    Sent = [erlang:send(Command, M, [noconnect, nosuspend]) || M <- Messages],
    lists:member(nosuspend, Sent) andalso erlang:disconnect_node(node(Command)),
    Loader = whereis(erltrace_loader),
    Loader =/= undefined andalso (Loader ! {left, St#st.connection});
leave(#st{command = Command}, Messages) ->
    [erlang:send(Command, M, [noconnect]) || M <- Messages].
