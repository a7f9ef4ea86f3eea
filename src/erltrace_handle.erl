%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The process behind a handle: it arms what a script needs, watches the owner, and takes
%% everything back at the end.
%%
%% Before OTP 27 a process has one tracer and a function one pattern in the whole node: processes
%% that somebody else traces are left alone. Processes are armed one by one: tracing all of them
%% in one call can crash a node of OTP 25 whose dirty schedulers are at work.
-module(erltrace_handle).
-export([start/1, call/2, close/1]).

-record(st, {nif, number, owner, flags = [], patterns = [], running = false}).

start(Owner) ->
    Ref = make_ref(),
    Self = self(),
    {Pid, Mon} = spawn_monitor(fun() -> init(Self, Ref, Owner) end),
    receive
        {Ref, ok} -> erlang:demonitor(Mon, [flush]), {ok, Pid};
        {Ref, Error} -> erlang:demonitor(Mon, [flush]), Error;
        {'DOWN', Mon, process, Pid, Reason} -> {error, Reason}
    end.

call(Pid, Request) ->
    Mon = erlang:monitor(process, Pid),
    Pid ! {call, self(), Mon, Request},
    receive
        {Mon, Reply} -> erlang:demonitor(Mon, [flush]), Reply;
        {'DOWN', Mon, process, Pid, _} -> {error, closed}
    end.

close(Pid) ->
    _ = call(Pid, close),
    ok.

init(Parent, Ref, Owner) ->
    process_flag(priority, high),
    case erltrace_nif:open() of
        {ok, Nif, Number} ->
            erlang:monitor(process, Owner),
            Parent ! {Ref, ok},
            loop(#st{nif = Nif, number = Number, owner = Owner});
        Error ->
            Parent ! {Ref, Error}
    end.

loop(#st{owner = Owner} = St) ->
    receive
        {call, From, Tag, close} ->
            finish(St),
            From ! {Tag, ok};
        {call, From, Tag, Request} ->
            {Reply, St1} = handle(Request, St),
            From ! {Tag, Reply},
            loop(St1);
        {'DOWN', _, process, Owner, _} ->
            finish(St)
    end.

finish(St) ->
    disarm(St),
    erltrace_nif:close(St#st.nif).

handle({setopt, Name, Value}, St) ->
    {reply(erltrace_nif:setopt(St#st.nif, Name, Value)), St};
handle({compile, _, _}, #st{running = true} = St) ->
    {{error, already_running}, St};
handle({compile, Source, Args}, St) ->
    {compile(Source, Args, St), St};
handle(go, #st{running = true} = St) ->
    {{error, already_running}, St};
handle(go, St) ->
    case reply(erltrace_nif:go(St#st.nif)) of
        ok -> {ok, arm(St#st{running = true})};
        Error -> {Error, St}
    end;
handle(_, #st{running = false} = St) ->
    {{error, no_prog}, St};
handle({walk, Clear}, St) ->
    {reply(erltrace_nif:walk(St#st.nif, Clear)), St};
handle({work, Form}, St) ->
    Reply = reply(erltrace_nif:work(St#st.nif, Form)),
    case Reply of
        {done, _} -> {Reply, disarm(St)};
        _ -> {Reply, St}
    end;
handle(stop, St) ->
    St1 = disarm(St),
    {reply(erltrace_nif:stop(St#st.nif)), St1}.

compile(Source, Args, #st{nif = Nif} = St) ->
    case erltrace_nif:compile(Nif, Source, Args) of
        functions ->
            [ok = erltrace_nif:add_functions(Nif, M, functions(M)) || {M, _} <- code:all_loaded()],
            compile(Source, Args, St);
        Result ->
            reply(Result)
    end.

functions(Module) ->
    try Module:module_info(functions)
    catch _:_ -> []
    end.

reply({error, {Tag, Line, Column, Text}}) -> {error, {dtrace, Tag, Line, Column, Text}};
reply(Other) -> Other.

%% ---- arming ---------------------------------------------------------------------------------

arm(#st{nif = Nif, number = Number} = St) ->
    Needs = erltrace_nif:needs(Nif),
    Patterns = lists:usort([{{M, F, A}, [Kind]} || {Kind, M, F, A} <- Needs]),
    Flags = lists:usort([N || N <- Needs, is_atom(N)] ++
                            [call || Patterns =/= []] ++ [arity || Patterns =/= []]),
    [erlang:trace_pattern(MFA, true, Kind) || {MFA, Kind} <- Patterns],
    Tracer = {tracer, erltrace_nif, Number},
    case Flags of
        [] -> ok;
        _ ->
            erlang:trace(new_processes, true, [Tracer | Flags]),
            [catch erlang:trace(P, true, [Tracer | Flags]) || P <- processes(), P =/= self()]
    end,
    St#st{flags = Flags, patterns = Patterns}.

disarm(#st{flags = Flags, patterns = Patterns, number = Number} = St) ->
    case Flags of
        [] -> ok;
        _ ->
            erlang:trace(new_processes, false, Flags),
            [catch erlang:trace(P, false, Flags) ||
                P <- processes(), erlang:trace_info(P, tracer) =:= {tracer, {erltrace_nif, Number}}]
    end,
    [catch erlang:trace_pattern(MFA, false, Kind) || {MFA, Kind} <- Patterns],
    St#st{flags = [], patterns = []}.
