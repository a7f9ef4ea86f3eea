%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Probes whose events arrive as messages: nodes that come and go (net_kernel), and what the system
%% monitor sees: processes that wait for a busy port, long garbage collections and the like. Each
%% handle with such a probe has a process of this module, which receives the messages and fires the
%% probes.
%%
%% From OTP 28 on it has a trace session of its own for the system monitor's messages
%% (trace:system/3), which ends with it. Before, a node has one system monitor. If somebody else has
%% set it, we leave it alone, and the probes that need it do not fire. (Forwarding its messages
%% would not be safe: if our process were killed, the other monitor would be lost.) Our handles
%% share one: the process that is the system monitor fires the probes of all of them. When it ends,
%% another process that needs it takes over.
-module(erltrace_sysmon).
-behaviour(gen_server).
-export([start/3, stop/1]).
-export([
    init/1,
    handle_continue/2,
    handle_call/3,
    handle_cast/2,
    handle_info/2,
    terminate/2,
    code_change/3,
    format_status/1
]).

-define(BLOCKED, 1). % ms: the shortest interval for polling blocked processes
-define(SHARE, 20).  % polling takes a 20th of the time: thousands may wait for one port

-define(KINDS, [busy_port, busy_dist_port, long_gc, long_schedule, large_heap, long_message_queue]).

-type event() :: busy_port | busy_dist_port |
                 {long_gc | long_schedule | large_heap | long_message_queue, From :: pos_integer()}.
-record(st, {sup :: pid(),
             number :: pos_integer(),
             busy = [] :: [event()],
             session :: term(),              % from OTP 28 on
             monitor :: pid() | undefined,   % which of our processes is the system monitor
             taken = [] :: [pid() | port()], % the system monitor if it is not ours
             blocked = #{} :: #{pid() => port()},             % which process waits for which port
             ports = #{} :: #{port() => pos_integer()},       % how many processes wait for each
             interval = ?BLOCKED :: pos_integer(),
             polling = false :: boolean()}).

%% @doc Receive what the handle of this number needs. Missing says which probes do not fire and why;
%% `<<>>' if all of them do. It is an error if the script has no other Erlang probes.
-spec start(Sup :: pid(), pos_integer(), erltrace_needs:needs()) ->
          {ok, pid() | undefined, Missing :: binary()} | {error, Tag :: binary(), Text :: binary()}.
start(Sup, Number, Needs) ->
    case lists:partition(fun is_possible/1, [N || N <- Needs, is_ours(N)]) of
        {[], []} ->
            {ok, undefined, <<>>};
        {What, Impossible} ->
            case erltrace_handle_sup:start_helper(Sup, ?MODULE, {Number, What}) of
                {ok, Pid} -> started(Pid, What, Impossible, Needs);
                {error, Reason} -> failed(Reason)
            end
    end.

started(Pid, What, Impossible, Needs) ->
    try gen_server:call(Pid, taken, infinity) of
        Taken -> started(Pid, missing(Taken, What, Impossible), Needs)
    catch
        exit:{Reason, _} -> failed(Reason) % it was killed
    end.

failed(Reason) ->
    {error, <<"ET_WATCH">>, unicode:characters_to_binary(io_lib:format("~0P", [Reason, 30]))}.

is_ours(Need) ->
    lists:member(kind(Need), [monitor_nodes | ?KINDS]).

kind({Kind, _}) -> Kind;
kind(Kind) -> Kind.

%% Long message queues are seen from OTP 27 on.
is_possible({long_message_queue, _}) -> erltrace_vm:has_sessions();
is_possible(_) -> true.

started(Pid, <<>>, _) ->
    {ok, Pid, <<>>};
started(Pid, Missing, Needs) ->
    case [N || N <- Needs, not is_event(N), not erltrace_needs:serves(N)] of
        [] ->
            stop(Pid),
            {error, <<"ET_SYSTEM_MONITOR">>, <<Missing/binary, "; the script has no others">>};
        _ ->
            {ok, Pid, Missing}
    end.

is_event(Need) -> lists:member(kind(Need), ?KINDS).

missing(Taken, What, Impossible) ->
    unicode:characters_to_binary(
        lists:join(
            "; ",
            [
                [probes(Impossible), " cannot fire: this needs OTP 27 or later"]
             || Impossible =/= []
            ] ++
                [
                    [
                        probes([W || W <- What, is_event(W)]),
                        " cannot fire: this needs the node's only system monitor, and ",
                        name(By),
                        " has it"
                    ]
                 || By <- Taken
                ]
        )
    ).

probes(What) ->
    lists:join(", ", lists:append([probes_of(kind(W)) || W <- What])).

probes_of(busy_port) -> ["port-busy", "process-port_unblocked"];
probes_of(busy_dist_port) -> ["dist-port_busy"];
probes_of(long_gc) -> ["process-long_gc"];
probes_of(long_schedule) -> ["process-long_schedule", "port-long_schedule"];
probes_of(large_heap) -> ["process-large_heap"];
probes_of(long_message_queue) -> ["process-long_queue"].

name(By) ->
    case is_pid(By) andalso process_info(By, registered_name) of
        {registered_name, Name} -> io_lib:format("~0p (~tp)", [By, Name]);
        _ -> io_lib:format("~0p", [By])
    end.

%% @doc When this returns the process has ended and nothing of it is left.
-spec stop(pid() | undefined) -> ok.
stop(undefined) ->
    ok;
stop(Pid) ->
    try gen_server:stop(Pid)
    catch exit:_ -> ok % it has ended already
    end.

-spec init({Sup :: pid(), {pos_integer(), [term()]}}) -> {ok, #st{}, {continue, {claim, [term()]}}}.
init({Sup, {Number, What}}) ->
    process_flag(sensitive, true),
    process_flag(trap_exit, true),
    {ok, #st{sup = Sup, number = Number}, {continue, {claim, What}}}.

-spec handle_continue({claim, [term()]}, #st{}) -> {noreply, #st{}}.
handle_continue({claim, What}, St) ->
    lists:member(monitor_nodes, What) andalso
        net_kernel:monitor_nodes(true, [{node_type, all}, nodedown_reason]),
    {noreply, claim(St#st{busy = What -- [monitor_nodes]})}.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, term(), #st{}}.
handle_call(taken, _, St) ->
    {reply, St#st.taken, St};
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, shutdown, #st{}}.
handle_info({'EXIT', Sup, _}, #st{sup = Sup} = St) ->
    {stop, shutdown, St};
handle_info({monitor, Pid, busy_port, Port}, St) ->
    {noreply, busy_port(Pid, Port, St)};
handle_info({monitor, Pid, busy_dist_port, Port}, St) ->
    fire('dist-port_busy', Pid, [node(), Port, remote(Port), Pid], St),
    {noreply, St};
handle_info({monitor, Pid, Kind, Info}, St) ->
    event(Kind, Pid, Info, St),
    {noreply, St};
handle_info({nodeup, Node, Info}, St) ->
    node_event(nodeup, Node, Info, undefined, St),
    {noreply, St};
handle_info({nodedown, Node, Info}, St) ->
    node_event(nodedown, Node, Info, proplists:get_value(nodedown_reason, Info), St),
    {noreply, St};
handle_info(poll, St) ->
    {noreply, poll(St#st{polling = false})};
handle_info({'DOWN', _, process, Monitor, _}, #st{monitor = Monitor} = St) ->
    {noreply, claim(St)};
handle_info(_, St) ->
    {noreply, St}.

-spec terminate(term(), #st{}) -> term().
terminate(_, St) ->
    release(St).

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{} = St} = Status) ->
    Status#{state := #{number => St#st.number, needs => St#st.busy,
                       holds_system_monitor => St#st.monitor =:= self(),
                       has_session => St#st.session =/= undefined, taken_by => St#st.taken,
                       blocked => map_size(St#st.blocked)}};
format_status(Status) ->
    Status.

node_event(What, Node, Info, Reason, #st{number = Number}) ->
    Type = proplists:get_value(node_type, Info),
    erltrace_nif:fire(Number, 'dist-monitor', self(), [node(), What, Node, Type, Reason]).

%% For all handles: one that did not ask for this probe does not have it enabled.
fire(Probe, Pid, Args, St) ->
    [erltrace_nif:fire(N, Probe, Pid, Args) || {N, _} <- sharers(St)].

%% Of this size: for those that want to know of it.
fire(Probe, Kind, Size, Pid, Args, St) ->
    [erltrace_nif:fire(N, Probe, Pid, Args) || {N, What} <- sharers(St),
                                                {K, From} <- What, K =:= Kind, Size >= From].

remote(Port) ->
    case lists:keyfind(Port, 2, erlang:system_info(dist_ctrl)) of
        {Node, _} -> Node;
        false -> <<>>
    end.

%% ---- what takes long or much -------------------------------------------------------------------

event(long_gc, Pid, Info, St) ->
    Ms = value(timeout, Info),
    fire('process-long_gc', long_gc, Ms, Pid, [Pid, Ms, heap(Info)], St);
event(large_heap, Pid, Info, St) ->
    Words = heap(Info),
    fire('process-large_heap', large_heap, Words, Pid, [Pid, Words], St);
event(long_schedule, Pid, Info, St) when is_pid(Pid) ->
    Ms = value(timeout, Info),
    fire('process-long_schedule', long_schedule, Ms, Pid,
         [Pid, Ms, function(in, Info), function(out, Info)], St);
event(long_schedule, Port, Info, St) ->
    Ms = value(timeout, Info),
    fire('port-long_schedule', long_schedule, Ms, Port,
         [Port, Ms, proplists:get_value(port_op, Info, <<>>)], St);
event(long_message_queue, Pid, Long, St) ->
    fire('process-long_queue', Pid, [Pid, case Long of true -> 1; false -> 0 end], St);
event(_, _, _, _) ->
    ok.

value(Key, Info) -> proplists:get_value(Key, Info, 0).

%% What is compared with large_heap.
heap(Info) ->
    value(heap_block_size, Info) + value(old_heap_block_size, Info) + value(mbuf_size, Info).

function(Key, Info) ->
    case proplists:get_value(Key, Info) of
        {M, F, A} -> unicode:characters_to_binary(io_lib:format("~tw:~tw/~b", [M, F, A]));
        _ -> <<>>
    end.

%% ---- busy ports ------------------------------------------------------------------------------

%% A port becomes busy when the first process waits for it. A process that waits again was unblocked
%% in between.
busy_port(Pid, Port, St0) ->
    St = #st{blocked = Blocked, ports = Ports} =
        case St0 of
            #st{blocked = #{Pid := Before}} -> unblock(Pid, Before, St0);
            _ -> St0
        end,
    is_map_key(Port, Ports) orelse fire('port-busy', Pid, [Port], St),
    schedule_poll(St#st{blocked = Blocked#{Pid => Port},
                        ports = Ports#{Port => maps:get(Port, Ports, 0) + 1}}).

unblock(Pid, Port, #st{blocked = Blocked, ports = Ports} = St) ->
    fire('process-port_unblocked', Pid, [Pid, Port], St),
    St#st{blocked = maps:remove(Pid, Blocked),
          ports = case Ports of
                      #{Port := 1} -> maps:remove(Port, Ports);
                      #{Port := N} -> Ports#{Port := N - 1}
                  end}.

%% The VM does not tell when a process may go on, so we poll.
poll(#st{blocked = Blocked} = St) ->
    Began = erlang:monotonic_time(millisecond),
    St1 = maps:fold(fun(Pid, Port, S) ->
                            case process_info(Pid, status) of
                                {status, suspended} -> S;
                                _ -> unblock(Pid, Port, S)
                            end
                    end, St, Blocked),
    Took = erlang:monotonic_time(millisecond) - Began,
    schedule_poll(St1#st{interval = max(?BLOCKED, Took * ?SHARE)}).

schedule_poll(#st{blocked = Blocked, interval = Interval, polling = false} = St)
  when map_size(Blocked) > 0 ->
    _ = erltrace_timer:send_after(Interval, poll),
    St#st{polling = true};
schedule_poll(St) ->
    St.

%% ---- the system monitor ----------------------------------------------------------------------

%% Become the system monitor, or add what we need to the one that another process of ours is.
claim(#st{busy = []} = St) ->
    St;
claim(#st{busy = Busy, number = Number} = St) ->
    case has_system() andalso session(Busy) of
        false ->
            case locked(fun() -> claim(Number, Busy) end) of
                {taken, By} ->
                    St#st{busy = [], monitor = undefined, taken = [By]};
                Monitor ->
                    Monitor =:= self() orelse erlang:monitor(process, Monitor),
                    St#st{monitor = Monitor}
            end;
        Session ->
            St#st{session = Session}
    end.

has_system() ->
    erltrace_vm:has_sessions() andalso
        (erlang:function_exported(trace, system, 3) orelse
         (code:ensure_loaded(trace) =:= {module, trace} andalso
          erlang:function_exported(trace, system, 3))).

%% Whoever has another, or is the node's system monitor, is not affected.
session(Busy) ->
    Session = apply(trace, session_create, [?MODULE, self(), []]),
    [apply(trace, system, [Session, Kind, Value]) || {Kind, Value} <- options(Busy, pairs)],
    Session.

claim(Number, Busy) ->
    set_sharers([{Number, Busy} | lists:keydelete(Number, 1, sharers())]),
    case {erlang:system_monitor(), erltrace_nif:kept(system_monitor, undefined)} of
        {undefined, _} -> set_monitor(self());
        {{Ours, _}, Ours} -> set_monitor(Ours);
        {{Other, _}, _} -> set_sharers(lists:keydelete(Number, 1, sharers())),
                           {taken, Other}
    end.

set_monitor(Pid) ->
    _ = erlang:system_monitor(Pid, options(lists:append([B || {_, B} <- sharers()]), monitor)),
    erltrace_nif:keep(system_monitor, Pid),
    Pid.

%% What the VM is told: of each kind the lowest that is asked for.
options(Busy, Form) ->
    lists:append([option(K, lists:sort([B || B <- Busy, kind(B) =:= K]), Form) || K <- ?KINDS]).

option(_, [], _) -> [];
option(Kind, [Kind | _], monitor) -> [Kind];
option(Kind, [Kind | _], pairs) -> [{Kind, true}];
option(long_message_queue, [{_, N} | _], _) -> [{long_message_queue, {N div 2, N}}];
option(_, [Lowest | _], _) -> [Lowest].

release(#st{busy = []}) ->
    ok;
release(#st{session = Session}) when Session =/= undefined ->
    erltrace_vm:end_session(Session);
release(#st{number = Number}) ->
    locked(fun() ->
                   set_sharers(lists:keydelete(Number, 1, sharers())),
                   case erlang:system_monitor() of
                       {Pid, _} when Pid =:= self() ->
                           _ = erlang:system_monitor(undefined),
                           erltrace_nif:drop(system_monitor);
                       _ ->
                           ok
                   end
           end),
    ok.

%% The handles that an event is for; those that share our system monitor, and what they want.
sharers(#st{session = undefined}) -> sharers();
sharers(#st{number = Number, busy = Busy}) -> [{Number, Busy}].

sharers() ->
    [S || {N, _} = S <- erltrace_nif:kept(monitored, []), erltrace_nif:alive(N)].

set_sharers([]) -> erltrace_nif:drop(monitored);
set_sharers(Sharers) -> erltrace_nif:keep(monitored, Sharers).

locked(Fun) ->
    global:trans({?MODULE, self()}, Fun, [node()]).
