%% SPDX-License-Identifier: Apache-2.0
%% @private
%% What the VM is asked for: trace flags of processes and ports, patterns of functions. From OTP 27
%% on in a trace session of our own, so that other tracers are not touched at all. Before that a
%% process has one tracer and a function one pattern in the whole node: processes that somebody
%% else traces are left alone, and counted.
%%
%% Processes and ports are armed one by one, never by `all' or `existing': tracing all of them in
%% one call can crash a node of OTP 25 whose dirty schedulers are at work.
-module(erltrace_vm).
-export([arm/2, disarm/1, skipped/1, layout/2]).
-export([layout_body/1, layout_tail/1]). % traced by the layout check
-export_type([armed/0]).

-record(armed, {number, session, flags = [], port_flags = [], patterns = [], skipped = 0}).
-opaque armed() :: #armed{}.
-type need() :: atom() | {local | global, module(), atom(), arity()}.

%% @doc Arm what the enabled probes need.
-spec arm(non_neg_integer(), [need()]) -> {ok, armed()} | {error, Tag :: binary(), Text :: binary()}.
arm(Number, Needs) ->
    Patterns = lists:usort([{{M, F, A}, [Kind]} || {Kind, M, F, A} <- Needs, M =/= erltrace_nif]),
    Flags = [N || N <- [call, arity, return_to, procs, running_procs, send, 'receive',
                        garbage_collection], lists:member(N, Needs)],
    PortFlags = [ports || lists:member(ports, Needs)] ++
        ['receive' || lists:member(port_receive, Needs)],
    case lists:member(garbage_collection, Flags) andalso other_gc_session() of
        true ->
            {error, <<"ET_GC_SESSION">>,
             <<"another trace session traces garbage_collection: two of them crash this release">>};
        false ->
            Armed = #armed{number = Number, session = session(Number, Flags ++ PortFlags),
                           flags = Flags, port_flags = PortFlags, patterns = Patterns},
            [pattern(Armed, MFA, true, Kind) || {MFA, Kind} <- Patterns],
            [enable_messages(Armed, F) || F <- [send, 'receive'],
                                          lists:member(F, Flags ++ PortFlags)],
            {ok, arm_ports(arm_processes(Armed))}
    end.

arm_processes(#armed{flags = []} = Armed) ->
    Armed;
arm_processes(#armed{flags = Flags} = Armed) ->
    New = set(Armed, process, new_processes, true, Flags),
    Skipped = [P || P <- processes(), P =/= self(), not set(Armed, process, P, true, Flags),
                    is_process_alive(P)],
    Armed#armed{skipped = length(Skipped) + case New of true -> 0; false -> 1 end}.

arm_ports(#armed{port_flags = []} = Armed) ->
    Armed;
arm_ports(#armed{port_flags = Flags} = Armed) ->
    set(Armed, port, new_ports, true, Flags),
    [set(Armed, port, P, true, Flags) || P <- erlang:ports()],
    Armed.

%% @doc Take everything back.
-spec disarm(armed()) -> ok.
disarm(#armed{session = undefined, flags = Flags, port_flags = PortFlags} = Armed) ->
    case Flags of
        [] -> ok;
        _ ->
            ours(Armed, new_processes) andalso set(Armed, process, new_processes, false, Flags),
            [set(Armed, process, P, false, Flags) || P <- processes(), ours(Armed, P)]
    end,
    case PortFlags of
        [] -> ok;
        _ ->
            ours(Armed, new_ports) andalso set(Armed, port, new_ports, false, PortFlags),
            [set(Armed, port, P, false, PortFlags) || P <- erlang:ports(), ours(Armed, P)]
    end,
    [pattern(Armed, MFA, false, Kind) || {MFA, Kind} <- Armed#armed.patterns],
    ok;
disarm(#armed{session = Session}) ->
    _ = apply(trace, session_destroy, [Session]),
    ok.

%% @doc How many processes were left to the tracer that they have.
-spec skipped(armed()) -> non_neg_integer().
skipped(#armed{skipped = N}) -> N.

%% ---- the VM's calls --------------------------------------------------------------------------

session(Number, [_ | _]) ->
    case has_sessions() of
        true -> apply(trace, session_create, [erltrace, {erltrace_nif, Number}, []]);
        false -> undefined
    end;
session(_, []) ->
    undefined.

has_sessions() ->
    _ = code:ensure_loaded(trace),
    erlang:function_exported(trace, session_create, 3).

%% Two sessions that trace the garbage collections of one process crash OTP 27 to 29.
other_gc_session() ->
    has_sessions() andalso
        lists:any(fun(S) ->
                          case catch apply(trace, info, [S, new_processes, flags]) of
                              {flags, Fs} -> lists:member(garbage_collection, Fs);
                              _ -> false
                          end
                              orelse lists:any(fun(P) -> traces_gc(S, P) end, processes())
                  end, apply(trace, session_info, [all])).

traces_gc(Session, Pid) ->
    case catch apply(trace, info, [Session, Pid, flags]) of
        {flags, Fs} -> lists:member(garbage_collection, Fs);
        _ -> false
    end.

%% true: done; false: somebody else's, or gone.
set(#armed{session = undefined, number = Number}, _, Who, true, Flags) ->
    %% Asked first: to try and fail is written into the node's log.
    try erlang:trace_info(Who, tracer) =:= {tracer, []} andalso
             erlang:trace(Who, true, [{tracer, erltrace_nif, Number} | Flags]) of
        Done -> Done =/= false
    catch
        error:badarg -> false
    end;
set(#armed{session = undefined}, _, Who, false, Flags) ->
    try erlang:trace(Who, false, Flags) of
        _ -> true
    catch
        error:badarg -> false
    end;
set(#armed{session = Session}, Kind, Who, How, Flags) ->
    try apply(trace, Kind, [Session, Who, How, Flags]) of
        _ -> true
    catch
        error:badarg -> false
    end.

pattern(#armed{session = undefined}, MFA, How, Kind) ->
    catch erlang:trace_pattern(MFA, How, Kind);
pattern(#armed{session = Session}, MFA, How, Kind) ->
    catch apply(trace, function, [Session, MFA, How, Kind]).

%% In a session nothing is sent or received until it is asked for; before, both are on.
enable_messages(#armed{session = undefined}, _) -> ok;
enable_messages(#armed{session = Session}, send) -> apply(trace, send, [Session, true, []]);
enable_messages(#armed{session = Session}, 'receive') -> apply(trace, recv, [Session, true, []]).

ours(#armed{number = Number}, Who) ->
    erlang:trace_info(Who, tracer) =:= {tracer, {erltrace_nif, Number}}.

%% ---- the layout check ------------------------------------------------------------------------

%% @doc Find out, once in a node's life, where the VM keeps the stack pointer (c_src/beam/layout.c).
-spec layout(term(), non_neg_integer()) -> ok | names.
layout(Nif, Number) ->
    case erltrace_nif:layout(get) of
        undefined ->
            case erltrace_nif:layout(start) of
                true ->
                    try check(Nif, Number)
                    after erltrace_nif:layout(done)
                    end;
                false -> % another handle is at it
                    receive after 5 -> layout(Nif, Number) end
            end;
        Known ->
            Known
    end.

check(Nif, Number) ->
    {P, M} = spawn_monitor(fun() -> samples(3) end),
    receive {'DOWN', M, process, P, _} -> ok end,
    case erltrace_nif:layout(words) of
        true ->
            ok = erltrace_nif:layout_events(Nif, true),
            Result = try events(Number) after erltrace_nif:layout_events(Nif, false) end,
            Result;
        false ->
            erltrace_nif:layout(names)
    end.

%% At each depth the stack is larger and more messages wait.
samples(0) ->
    0;
samples(N) ->
    [self() ! N || _ <- lists:seq(1, 7 + N)],
    [{_, Size}, {_, Queue}] = process_info(self(), [stack_size, message_queue_len]),
    ok = erltrace_nif:layout({Size, Queue}),
    1 + samples(N - 1).

events(Number) ->
    Fns = [{{?MODULE, F, 1}, [local]} || F <- [layout_body, layout_tail]],
    {P, M} = spawn_monitor(fun() ->
                                   receive go -> ok end,
                                   4 = 1 + ?MODULE:layout_body(3),
                                   0 = id(?MODULE:layout_tail(3)),
                                   ok
                           end),
    Flags = [call, arity, return_to],
    Armed = #armed{number = Number, session = session(Number, Flags), flags = Flags,
                   patterns = Fns},
    [pattern(Armed, MFA, true, Kind) || {MFA, Kind} <- Fns],
    set(Armed, process, P, true, Flags),
    P ! go,
    receive {'DOWN', M, process, P, _} -> ok end,
    case Armed#armed.session of
        undefined -> [pattern(Armed, MFA, false, Kind) || {MFA, Kind} <- Fns];
        Session -> apply(trace, session_destroy, [Session])
    end,
    erltrace_nif:layout(check).

id(X) -> X.

-spec layout_body(non_neg_integer()) -> non_neg_integer().
layout_body(0) -> 0;
layout_body(N) -> 1 + layout_body(N - 1).

-spec layout_tail(non_neg_integer()) -> 0.
layout_tail(0) -> 0;
layout_tail(N) -> layout_tail(N - 1).
