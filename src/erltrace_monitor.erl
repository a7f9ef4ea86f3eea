%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Probes whose events the VM tells by messages: nodes that come and go (net_kernel), processes that
%% wait for a busy port (the system monitor). A process of its own for each handle that has such a
%% probe takes them and fires; it ends with its handle.
%%
%% A node has one system monitor. If somebody else has set one, it is left alone, and the probes that
%% need it do not fire: to stand between it and the VM would lose it, should this process be killed.
%% Handles share ours: the process that holds it fires the probes of all of them, and when it ends,
%% another that needs it takes its place.
-module(erltrace_monitor).
-behaviour(gen_server).
-export([start/3, stop/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3,
         format_status/1]).

-define(BLOCKED, 1). % ms between two looks whether a process waits still, at least
-define(SHARE, 20).  % looking takes a 20th of the time: thousands may wait for one port

-record(st, {number :: pos_integer(),
             handle :: pid(),
             busy = [] :: [busy_port | busy_dist_port],
             holder :: pid() | undefined,    % of the system monitor
             taken = [] :: [pid() | port()], % somebody else who has it
             blocked = #{} :: #{pid() => port()},             % who waits for which port
             ports = #{} :: #{port() => pos_integer()},       % how many do for each
             pause = ?BLOCKED :: pos_integer(),
             looking = false :: boolean()}).

%% @doc Watch what the handle of this number needs; Handle is its process. Missing says which probes
%% do not fire and why, `<<>>' if all do. It is an error if the script has no other Erlang probes.
-spec start(pos_integer(), pid(), [term()]) ->
          {ok, pid() | undefined, Missing :: binary()} | {error, Tag :: binary(), Text :: binary()}.
start(Number, Handle, Needs) ->
    case [N || N <- [busy_port, busy_dist_port, monitor_nodes], lists:member(N, Needs)] of
        [] ->
            {ok, undefined, <<>>};
        What ->
            {ok, Pid} = gen_server:start(?MODULE, {Number, Handle, What}, []),
            try gen_server:call(Pid, taken, infinity) of
                Taken -> watching(Pid, missing(Taken, What), Needs)
            catch
                exit:{Reason, _} -> % it was killed
                    {error, <<"ET_WATCH">>,
                     unicode:characters_to_binary(io_lib:format("~0P", [Reason, 30]))}
            end
    end.

watching(Pid, <<>>, _) ->
    {ok, Pid, <<>>};
watching(Pid, Missing, Needs) ->
    %% Names and stacks are told with events; they are none.
    case Needs -- [busy_port, busy_dist_port, names, layout, stacks] of
        [] ->
            stop(Pid),
            {error, <<"ET_SYSTEM_MONITOR">>, <<Missing/binary, "; the script has no others">>};
        _ ->
            {ok, Pid, Missing}
    end.

missing([], _) ->
    <<>>;
missing([By], What) ->
    Probes = lists:append([case N of
                               busy_port -> ["port-busy", "process-port_unblocked"];
                               busy_dist_port -> ["dist-port_busy"];
                               monitor_nodes -> []
                           end || N <- What]),
    unicode:characters_to_binary(
      io_lib:format("~ts cannot fire: this takes the node's system monitor, of which there is one, "
                    "and ~ts has it", [lists:join(", ", Probes), name(By)])).

name(By) ->
    case is_pid(By) andalso process_info(By, registered_name) of
        {registered_name, Name} -> io_lib:format("~0p (~tp)", [By, Name]);
        _ -> io_lib:format("~0p", [By])
    end.

%% @doc It has ended, and nothing of it is left, when this returns.
-spec stop(pid() | undefined) -> ok.
stop(undefined) ->
    ok;
stop(Pid) ->
    try gen_server:stop(Pid)
    catch exit:_ -> ok % it has ended already
    end.

-spec init({pos_integer(), pid(), [atom()]}) -> {ok, #st{}}.
init({Number, Handle, What}) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    _ = erlang:monitor(process, Handle),
    lists:member(monitor_nodes, What) andalso
        net_kernel:monitor_nodes(true, [{node_type, all}, nodedown_reason]),
    {ok, take(#st{number = Number, handle = Handle, busy = What -- [monitor_nodes]})}.

-spec handle_call(taken, gen_server:from(), #st{}) -> {reply, [pid() | port()], #st{}}.
handle_call(taken, _, St) ->
    {reply, St#st.taken, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_info({monitor, Pid, busy_port, Port}, St) ->
    {noreply, busy_port(Pid, Port, St)};
handle_info({monitor, Pid, busy_dist_port, Port}, St) ->
    fire('dist-port_busy', Pid, [node(), Port, remote(Port), Pid]),
    {noreply, St};
handle_info({nodeup, Node, Info}, St) ->
    node_event(nodeup, Node, Info, undefined, St),
    {noreply, St};
handle_info({nodedown, Node, Info}, St) ->
    node_event(nodedown, Node, Info, proplists:get_value(nodedown_reason, Info), St),
    {noreply, St};
handle_info(look, St) ->
    {noreply, look(St#st{looking = false})};
handle_info({'DOWN', _, process, Handle, _}, #st{handle = Handle} = St) ->
    {stop, normal, St};
handle_info({'DOWN', _, process, Holder, _}, #st{holder = Holder} = St) ->
    {noreply, take(St)};
handle_info(_, St) ->
    {noreply, St}.

-spec terminate(term(), #st{}) -> term().
terminate(_, St) ->
    leave(St).

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(map()) -> map().
format_status(#{state := #st{} = St} = Status) ->
    Status#{state := #{handle => St#st.handle, number => St#st.number, needs => St#st.busy,
                       holds_system_monitor => St#st.holder =:= self(), taken_by => St#st.taken,
                       blocked => map_size(St#st.blocked)}};
format_status(Status) ->
    Status.

node_event(What, Node, Info, Reason, #st{number = Number}) ->
    Type = proplists:get_value(node_type, Info),
    erltrace_nif:fire(Number, 'dist-monitor', self(), [node(), What, Node, Type, Reason]).

%% Of all handles: who has not asked for this probe has it not enabled.
fire(Probe, Pid, Args) ->
    [erltrace_nif:fire(N, Probe, Pid, Args) || N <- numbers()].

remote(Port) ->
    case lists:keyfind(Port, 2, erlang:system_info(dist_ctrl)) of
        {Node, _} -> Node;
        false -> <<>>
    end.

%% ---- busy ports ------------------------------------------------------------------------------

%% A port becomes busy when the first process waits for it. Who waits again has been let go before.
busy_port(Pid, Port, St0) ->
    St = #st{blocked = Blocked, ports = Ports} =
        case St0 of
            #st{blocked = #{Pid := Before}} -> let_go(Pid, Before, St0);
            _ -> St0
        end,
    is_map_key(Port, Ports) orelse fire('port-busy', Pid, [Port]),
    again(St#st{blocked = Blocked#{Pid => Port},
                ports = Ports#{Port => maps:get(Port, Ports, 0) + 1}}).

let_go(Pid, Port, #st{blocked = Blocked, ports = Ports} = St) ->
    unblocked(Pid, Port),
    St#st{blocked = maps:remove(Pid, Blocked),
          ports = case Ports of
                      #{Port := 1} -> maps:remove(Port, Ports);
                      #{Port := N} -> Ports#{Port := N - 1}
                  end}.

%% The VM tells nobody that a process may go on.
look(#st{blocked = Blocked} = St) ->
    Began = erlang:monotonic_time(millisecond),
    St1 = maps:fold(fun(Pid, Port, S) ->
                            case process_info(Pid, status) of
                                {status, suspended} -> S;
                                _ -> let_go(Pid, Port, S)
                            end
                    end, St, Blocked),
    Took = erlang:monotonic_time(millisecond) - Began,
    again(St1#st{pause = max(?BLOCKED, Took * ?SHARE)}).

unblocked(Pid, Port) ->
    fire('process-port_unblocked', Pid, [Pid, Port]).

again(#st{blocked = Blocked, pause = Pause, looking = false} = St) when map_size(Blocked) > 0 ->
    _ = erlang:send_after(Pause, self(), look),
    St#st{looking = true};
again(St) ->
    St.

%% ---- the system monitor ----------------------------------------------------------------------

%% Be it, or have the one of ours that is know what is needed here.
take(#st{busy = []} = St) ->
    St;
take(#st{busy = Busy, number = Number} = St) ->
    Holder = locked(fun() ->
                            set_numbers([Number | numbers() -- [Number]]),
                            case {erlang:system_monitor(), holder()} of
                                {undefined, _} -> hold(self(), Busy);
                                {{Pid, Options}, Pid} -> hold(Pid, lists:usort(Busy ++ Options));
                                {{Other, _}, _} -> set_numbers(numbers() -- [Number]),
                                                   {taken, Other}
                            end
                    end),
    case Holder of
        {taken, By} ->
            St#st{busy = [], holder = undefined, taken = [By]};
        _ ->
            Holder =:= self() orelse erlang:monitor(process, Holder),
            St#st{holder = Holder}
    end.

hold(Pid, Options) ->
    _ = erlang:system_monitor(Pid, Options),
    erltrace_nif:keep(system_monitor, Pid),
    Pid.

leave(#st{busy = []}) ->
    ok;
leave(#st{number = Number}) ->
    locked(fun() ->
                   set_numbers(numbers() -- [Number]),
                   case erlang:system_monitor() of
                       {Pid, _} when Pid =:= self() ->
                           _ = erlang:system_monitor(undefined),
                           erltrace_nif:drop(system_monitor);
                       _ ->
                           ok
                   end
           end),
    ok.

holder() ->
    erltrace_nif:kept(system_monitor, undefined).

numbers() ->
    [N || N <- erltrace_nif:kept(watched, []), erltrace_nif:alive(N)].

set_numbers([]) -> erltrace_nif:drop(watched);
set_numbers(Numbers) -> erltrace_nif:keep(watched, Numbers).

locked(Fun) ->
    global:trans({?MODULE, self()}, Fun, [node()]).
