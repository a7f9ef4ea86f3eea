%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Has the library find out, once per node, how to tell a process that waits from one that is only
%% not its turn (c_src/beam/vm/run_state.c): by a process of ours that does the one and the other.
-module(erltrace_run_state).
-export([find/0]).

-define(TIMES, 4).
-define(TRIES, 3). % a process may be interrupted before it does what it has announced

%% @doc Can they be told from each other in this node?
-spec find() -> boolean().
find() ->
    case erltrace_nif:run_state(get) of
        undefined ->
            _ = erltrace_vm:locked_apart(fun() -> try_to(?TRIES) end),
            erltrace_nif:run_state(get) =:= true;
        IsKnown ->
            IsKnown
    end.

try_to(0) ->
    false;
try_to(N) ->
    erltrace_nif:run_state(get) =:= true orelse begin
        samples(),
        erltrace_nif:run_state(find) orelse try_to(N - 1)
    end.

samples() ->
    erltrace_nif:run_state(start),
    Me = self(),
    {P, M} = spawn_monitor(fun() -> receive go -> ok end, sampled(Me, ?TIMES) end),
    Off = trace(P),
    P ! go,
    serve(P, M),
    Off().

trace(P) ->
    _ = erltrace_vm:attempt(erlang, trace, [P, false, [all]]), % others may trace new processes
    case erltrace_vm:has_sessions() of
        true ->
            S = apply(trace, session_create, [erltrace, {erltrace_nif, run_state}, []]),
            apply(trace, process, [S, P, true, [running_procs]]),
            fun() -> erltrace_vm:end_session(S) end;
        false ->
            Flags = [running_procs, {tracer, erltrace_nif, run_state}],
            _ = erltrace_vm:attempt(erlang, trace, [P, true, Flags]),
            fun() -> ok end
    end.

sampled(_, 0) ->
    ok;
sampled(Parent, N) ->
    erlang:yield(), % with a whole time slice
    erltrace_nif:run_state(yields),
    erlang:yield(),
    Parent ! {self(), wake},
    erltrace_nif:run_state(waits),
    receive go -> ok end,
    erlang:yield(),
    erltrace_nif:run_state(yields),
    work(20000, N, []),
    erlang:yield(),
    erltrace_nif:run_state(waits),
    receive never -> ok after 1 -> ok end,
    erltrace_nif:run_state(none),
    sampled(Parent, N - 1).

%% More than a time slice.
work(0, A, B) -> {A, B};
work(N, A, B) -> work(N - 1, A, B).

serve(P, M) ->
    receive
        {P, wake} ->
            waits(P),
            P ! go,
            serve(P, M);
        {'DOWN', M, process, P, _} ->
            ok
    end.

waits(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        undefined -> ok;
        _ -> erlang:yield(), waits(P)
    end.
