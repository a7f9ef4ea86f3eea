%% SPDX-License-Identifier: Apache-2.0
%% @private
%% What the VM is asked for: trace flags of processes and ports, patterns of functions.
%%
%% From OTP 27 on each handle has a trace session of its own, and other tracers are not touched at
%% all. Before that a process has one tracer and a function one pattern in the whole node: all our
%% handles share one tracer, whose flags and patterns are what any of them needs, and processes that
%% somebody else traces are left alone, and counted. What each handle needs is in the environment of
%% the application, changed under a lock.
%%
%% Processes and ports are armed one by one, never by `all' or `existing': tracing all of them in
%% one call can crash a node of OTP 25 whose dirty schedulers are at work.
-module(erltrace_vm).
-export([arm/2, disarm/1, skipped/1, layout/0]).
-export([layout_body/1, layout_tail/1]). % traced by the layout check
-export_type([armed/0]).

-define(APP, erltrace).
-define(ALL, 0). % the tracer's state that stands for every handle: BEAM_ALL

-record(want, {number, flags = [], port_flags = [], patterns = #{}}).
-record(armed, {want, session, skipped = 0}).
-opaque armed() :: #armed{}.
-type need() :: atom() | {local | global, module(), atom(), arity()}.

%% @doc Arm what the enabled probes need.
-spec arm(pos_integer(), [need()]) -> {ok, armed()} | {error, Tag :: binary(), Text :: binary()}.
arm(Number, Needs) ->
    Want = #want{number = Number,
                 flags = [N || N <- [call, arity, return_to, procs, running_procs, send, 'receive',
                                     garbage_collection], lists:member(N, Needs)],
                 port_flags = [ports || lists:member(ports, Needs)] ++
                     ['receive' || lists:member(port_receive, Needs)],
                 patterns = maps:from_list([{{M, F, A}, Kind} || {Kind, M, F, A} <- Needs])},
    case {Want, has_sessions()} of
        {#want{flags = [], port_flags = []}, _} -> {ok, #armed{want = Want}};
        {_, true} -> arm_session(Want);
        {_, false} -> {ok, #armed{want = Want, skipped = share(Number, [Want])}}
    end.

%% @doc Take everything back.
-spec disarm(armed()) -> ok.
disarm(#armed{want = #want{flags = [], port_flags = []}}) ->
    ok;
disarm(#armed{session = undefined, want = #want{number = Number}}) ->
    _ = share(Number, []),
    ok;
disarm(#armed{session = Session}) ->
    _ = apply(trace, session_destroy, [Session]),
    ok.

%% @doc How many processes were left to the tracer that they have.
-spec skipped(armed()) -> non_neg_integer().
skipped(#armed{skipped = N}) -> N.

%% ---- one tracer for all handles: before OTP 27 -----------------------------------------------

%% Replace what handle Number needs; returns how many processes are somebody else's.
share(Number, Wants) ->
    locked(fun() ->
                   Old = application:get_env(?APP, armed, []),
                   New = Wants ++ [W || #want{number = N} = W <- Old, N =/= Number,
                                        erltrace_nif:alive(N)],
                   case New of
                       [] -> application:unset_env(?APP, armed);
                       _ -> application:set_env(?APP, armed, New)
                   end,
                   change(union(Old), union(New))
           end).

locked(Fun) ->
    global:trans({?MODULE, self()}, Fun, [node()]).

union(Wants) ->
    Flags = lists:usort(lists:append([W#want.flags || W <- Wants])),
    %% One that reads arguments gets them; the others take calls in either shape.
    Args = lists:any(fun(#want{flags = Fs}) ->
                             lists:member(call, Fs) andalso not lists:member(arity, Fs)
                     end, Wants),
    #want{flags = case Args of true -> Flags -- [arity]; false -> Flags end,
          port_flags = lists:usort(lists:append([W#want.port_flags || W <- Wants])),
          patterns = lists:foldl(fun(#want{patterns = New}, Ps) ->
                                         maps:fold(fun add_pattern/3, Ps, New)
                                 end, #{}, Wants)}.

%% A function has one pattern; [local] sees external calls too.
add_pattern(MFA, Kind, Ps) ->
    case Ps of
        #{MFA := local} -> Ps;
        _ -> Ps#{MFA => Kind}
    end.

change(#want{patterns = P0} = Old, #want{patterns = P1} = New) ->
    [catch erlang:trace_pattern(MFA, false, [K]) || {MFA, K} <- maps:to_list(P0),
                                                    maps:get(MFA, P1, none) =/= K],
    [catch erlang:trace_pattern(MFA, true, [K]) || {MFA, K} <- maps:to_list(P1),
                                                   maps:get(MFA, P0, none) =/= K],
    N = change(new_processes, fun erlang:processes/0, Old#want.flags, New#want.flags),
    _ = change(new_ports, fun erlang:ports/0, Old#want.port_flags, New#want.port_flags),
    N.

change(_, _, [], []) ->
    0;
change(Coming, Existing, Old, New) ->
    Results = [change_one(Who, Old, New) || Who <- [Coming | Existing()], Who =/= self()],
    length([x || others <- Results]).

%% Asked first whose it is: to try and fail is written into the node's log.
change_one(Who, Old, New) ->
    Tracer = {tracer, erltrace_nif, ?ALL},
    try erlang:trace_info(Who, tracer) of
        {tracer, []} when New =:= [] -> ok;
        {tracer, []} -> erlang:trace(Who, true, [Tracer | New]);
        {tracer, {erltrace_nif, ?ALL}} ->
            Old -- New =/= [] andalso erlang:trace(Who, false, Old -- New),
            New -- Old =/= [] andalso erlang:trace(Who, true, [Tracer | New -- Old]);
        {tracer, _} when New =/= [] -> others;
        _ -> ok % it has ended
    catch
        error:badarg -> ok % it has ended, just now
    end.

%% ---- a session for each: OTP 27 and later ----------------------------------------------------

has_sessions() ->
    _ = code:ensure_loaded(trace),
    erlang:function_exported(trace, session_create, 3).

arm_session(#want{number = Number, flags = Flags, port_flags = PortFlags} = Want) ->
    case lists:member(garbage_collection, Flags) andalso gc_is_traced() of
        true ->
            {error, <<"ET_GC_SESSION">>,
             <<"another trace session traces garbage_collection: two of them crash this release">>};
        false ->
            S = apply(trace, session_create, [erltrace, {erltrace_nif, Number}, []]),
            [catch apply(trace, function, [S, MFA, true, [Kind]]) ||
                {MFA, Kind} <- maps:to_list(Want#want.patterns)],
            lists:member(send, Flags) andalso apply(trace, send, [S, true, []]),
            lists:member('receive', Flags ++ PortFlags) andalso
                apply(trace, recv, [S, true, []]),
            [catch apply(trace, process, [S, P, true, Flags]) ||
                Flags =/= [], P <- [new_processes | processes()], P =/= self()],
            [catch apply(trace, port, [S, P, true, PortFlags]) ||
                PortFlags =/= [], P <- [new_ports | erlang:ports()]],
            {ok, #armed{want = Want, session = S}}
    end.

%% Two sessions that trace the garbage collections of one process crash OTP 27 to 29.
gc_is_traced() ->
    lists:any(fun(S) -> lists:any(fun(P) -> traces_gc(S, P) end, [new_processes | processes()]) end,
              apply(trace, session_info, [all])).

traces_gc(Session, Pid) ->
    case catch apply(trace, info, [Session, Pid, flags]) of
        {flags, Fs} when is_list(Fs) -> lists:member(garbage_collection, Fs);
        _ -> false
    end.

%% ---- the layout check ------------------------------------------------------------------------

%% @doc Find out, once in a node's life, where the VM keeps the stack pointer (c_src/beam/layout.c).
-spec layout() -> ok | names.
layout() ->
    case erltrace_nif:layout(get) of
        undefined ->
            case erltrace_nif:layout(start) of
                true ->
                    try check()
                    after erltrace_nif:layout(done)
                    end;
                false -> % another handle is at it
                    receive after 5 -> layout() end
            end;
        Known ->
            Known
    end.

check() ->
    {P, M} = spawn_monitor(fun() -> samples(3) end),
    receive {'DOWN', M, process, P, _} -> ok end,
    case erltrace_nif:layout(words) of
        true -> events();
        false -> erltrace_nif:layout(names)
    end.

%% At each depth the stack is larger and more messages wait.
samples(0) ->
    0;
samples(N) ->
    [self() ! N || _ <- lists:seq(1, 7 + N)],
    [{_, Size}, {_, Queue}] = process_info(self(), [stack_size, message_queue_len]),
    ok = erltrace_nif:layout({Size, Queue}),
    1 + samples(N - 1).

events() ->
    {P, M} = spawn_monitor(fun() ->
                                   receive go -> ok end,
                                   4 = 1 + ?MODULE:layout_body(3),
                                   0 = id(?MODULE:layout_tail(3)),
                                   ok
                           end),
    Flags = [call, arity, return_to],
    Fns = [{?MODULE, F, 1} || F <- [layout_body, layout_tail]],
    Off = case has_sessions() of
              true ->
                  S = apply(trace, session_create, [erltrace, {erltrace_nif, layout}, []]),
                  [apply(trace, function, [S, Fn, true, [local]]) || Fn <- Fns],
                  apply(trace, process, [S, P, true, Flags]),
                  fun() -> apply(trace, session_destroy, [S]) end;
              false ->
                  [erlang:trace_pattern(Fn, true, [local]) || Fn <- Fns],
                  catch erlang:trace(P, false, [all]), % as a new process, by somebody else
                  catch erlang:trace(P, true, [{tracer, erltrace_nif, layout} | Flags]),
                  fun() -> [erlang:trace_pattern(Fn, false, [local]) || Fn <- Fns] end
          end,
    P ! go,
    receive {'DOWN', M, process, P, _} -> ok end,
    _ = Off(),
    erltrace_nif:layout(check).

id(X) -> X.

-spec layout_body(non_neg_integer()) -> non_neg_integer().
layout_body(0) -> 0;
layout_body(N) -> 1 + layout_body(N - 1).

-spec layout_tail(non_neg_integer()) -> 0.
layout_tail(0) -> 0;
layout_tail(N) -> layout_tail(N - 1).
