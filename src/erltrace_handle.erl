%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The process behind a handle: it arms what a script needs (erltrace_vm), watches the owner, and
%% takes everything back at the end.
-module(erltrace_handle).
-export([start/1, call/2, close/1]).

-record(st, {nif, number, owner, armed, layout = undefined, running = false}).

-spec start(pid()) -> {ok, pid()} | {error, term()}.
start(Owner) ->
    Ref = make_ref(),
    Self = self(),
    {Pid, Mon} = spawn_monitor(fun() -> init(Self, Ref, Owner) end),
    receive
        {Ref, ok} -> erlang:demonitor(Mon, [flush]), {ok, Pid};
        {Ref, Error} -> erlang:demonitor(Mon, [flush]), Error;
        {'DOWN', Mon, process, Pid, Reason} -> {error, Reason}
    end.

-spec call(pid(), term()) -> term().
call(Pid, Request) ->
    Mon = erlang:monitor(process, Pid),
    Pid ! {call, self(), Mon, Request},
    receive
        {Mon, Reply} -> erlang:demonitor(Mon, [flush]), Reply;
        {'DOWN', Mon, process, Pid, _} -> {error, closed}
    end.

-spec close(pid()) -> ok.
close(Pid) ->
    _ = call(Pid, close),
    ok.

%% Sensitive: no script traces the process that works for it, or for another.
init(Parent, Ref, Owner) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    case erltrace_nif:open() of
        {ok, Nif, Number} ->
            erlang:monitor(process, Owner),
            Parent ! {Ref, ok},
            loop(#st{nif = Nif, number = Number, owner = Owner});
        Error ->
            Parent ! {Ref, reply(Error)}
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
            finish(St);
        _ ->
            loop(St)
    end.

finish(St) ->
    disarm(St),
    erltrace_nif:close(St#st.nif).

handle({setopt, Name, Value}, St) ->
    {reply(erltrace_nif:setopt(St#st.nif, Name, Value)), St};
handle({target, OsPid}, St) ->
    {erltrace_nif:set_target(St#st.nif, OsPid), St};
handle({compile, Source, Args}, St) ->
    handle({compile, Source, Args, []}, St);
handle({compile, _, _, _}, #st{running = true} = St) ->
    {{error, already_running}, St};
handle({compile, Source, Args, Opts}, St) ->
    {compile(Source, Args, Opts, St), St};
handle(info, St) ->
    {erltrace_nif:info(St#st.nif), St};
handle({probes, What}, St) ->
    {probes(What, St), St};
handle(go, #st{running = true} = St) ->
    {{error, already_running}, St};
handle(go, St) ->
    _ = erltrace_nif:set_node(St#st.nif, node()),
    case reply(erltrace_nif:go(St#st.nif)) of
        ok -> arm(St#st{running = true});
        Error -> {Error, St}
    end;
handle(status, St) ->
    {erltrace_nif:status(St#st.nif), St};
handle(counts, St) ->
    {{ok, counts(St)}, St};
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

counts(#st{nif = Nif, running = Running, armed = Armed, layout = Layout}) ->
    {Fired, Lost} = erltrace_nif:counts(Nif),
    #{running => Running, fired => Fired, lost => Lost,
      skipped => case Armed of undefined -> 0; _ -> erltrace_vm:skipped(Armed) end,
      returns_by => case Layout of ok -> stack; Other -> Other end}.

%% ---- compiling -------------------------------------------------------------------------------

compile(Source, Args, Opts, #st{nif = Nif} = St) ->
    case erltrace_nif:compile(Nif, Source, Args, Opts) of
        functions ->
            add_functions(Nif),
            compile(Source, Args, Opts, St);
        {ok, functions} ->
            add_functions(Nif);
        Result ->
            reply(Result)
    end.

probes(What, #st{nif = Nif} = St) ->
    case erltrace_nif:probes(Nif, What) of
        functions ->
            add_functions(Nif),
            probes(What, St);
        {ok, []} when What =/= script, What =/= <<>>, What =/= "" ->
            {error, {dtrace, <<"D_PDESC_ZERO">>, 0, 0,
                     iolist_to_binary(["failed to match ", What,
                                       ": no probe matches the description"])}};
        Result ->
            reply(Result)
    end.

add_functions(Nif) ->
    [ok = erltrace_nif:add_functions(Nif, M, functions(M)) ||
        {M, _} <- code:all_loaded(), M =/= erltrace_nif, erltrace_nif:wants(Nif, M)],
    ok.

functions(Module) ->
    try
        Nifs = maps:from_keys(nifs(Module), true),
        [{F, A, kind(Module, F, A, Nifs)} || {F, A} <- Module:module_info(functions)]
    catch _:_ -> [] % it has been deleted meanwhile
    end.

nifs(Module) ->
    try Module:module_info(nifs)
    catch _:_ -> []
    end.

kind(M, F, A, Nifs) ->
    case erlang:is_builtin(M, F, A) of
        true -> bif;
        false when is_map_key({F, A}, Nifs) -> nif;
        false -> erlang
    end.

reply({error, {Tag, Line, Column, Text}}) -> {error, {dtrace, Tag, Line, Column, Text}};
reply(Other) -> Other.

%% ---- arming ----------------------------------------------------------------------------------

arm(#st{nif = Nif, number = Number} = St) ->
    Needs = erltrace_nif:needs(Nif, node(), erlang:system_info(process_limit)),
    case is_list(Needs) andalso prepare(Needs, St) of
        false ->
            failed(<<"ET_NOMEM">>, <<"out of memory">>, St);
        Layout ->
            Names = [add_name(Nif, N) || lists:member(names, Needs), N <- registered()],
            case erltrace_vm:arm(Number, Needs) of
                {ok, Armed} ->
                    renew_names(Nif, Names),
                    {ok, St#st{armed = Armed, layout = Layout}};
                {error, Tag, Text} -> failed(Tag, Text, St)
            end
    end.

add_name(Nif, Name) ->
    Pid = whereis(Name),
    is_pid(Pid) andalso erltrace_nif:set_name(Nif, Pid, Name, true),
    {Name, Pid}.

%% From now on events tell of names: what has changed since they were noted.
renew_names(_, []) ->
    ok;
renew_names(Nif, Names) ->
    [erltrace_nif:set_name(Nif, Pid, Name, false) ||
        {Name, Pid} <- Names, is_pid(Pid), whereis(Name) =/= Pid],
    [add_name(Nif, Name) || Name <- registered()],
    ok.

failed(Tag, Text, St) ->
    _ = erltrace_nif:stop(St#st.nif),
    {{error, {dtrace, Tag, 0, 0, Text}}, St}.

prepare(Needs, #st{nif = Nif}) ->
    lists:member(dyntrace, Needs) andalso code:ensure_loaded(dyntrace),
    lists:member(ports, Needs) andalso erltrace_nif:add_ports(Nif, ports()),
    case lists:member(layout, Needs) orelse lists:member('receive', Needs) of
        true -> erltrace_vm:layout();
        false -> undefined
    end.

ports() ->
    [{P, Owner, Name} || P <- erlang:ports(),
                         {connected, Owner} <- [erlang:port_info(P, connected)],
                         {name, Name} <- [erlang:port_info(P, name)]].

disarm(#st{armed = undefined} = St) ->
    St;
disarm(#st{armed = Armed} = St) ->
    erltrace_vm:disarm(Armed),
    St#st{armed = undefined}.
