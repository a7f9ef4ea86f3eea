%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The process behind a handle: it arms what a script needs (erltrace_vm), watches the owner, and
%% takes everything back at the end.
-module(erltrace_handle).
-export([start/1, call/2, close/1, functions/1]).

-record(st, {nif, number, owner, armed, watch, late, seen = [], layout = undefined,
             running = false, watchdog, aborted = undefined}).

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
            erltrace_watchdog:is_harmless() andalso erltrace_nif:forbid(Nif),
            loop(#st{nif = Nif, number = Number, owner = Owner,
                     watchdog = erltrace_watchdog:start(self(), Owner, Nif, Number)});
        Error ->
            Parent ! {Ref, reply(Error)}
    end.

loop(#st{owner = Owner, watchdog = {Dog, DogMon}} = St) ->
    receive
        {call, From, Tag, close} ->
            finish(St),
            From ! {Tag, ok};
        {call, From, Tag, Request} ->
            {Reply, St1} = attempt(Request, St),
            From ! {Tag, Reply},
            loop(St1);
        {'DOWN', _, process, Owner, _} ->
            finish(St);
        look ->
            loop(look_again(St));
        {watchdog, Dog, What} ->
            loop(ended(What, St));
        clean ->
            loop(clean(St));
        {'DOWN', DogMon, process, Dog, _} -> % killed: another one
            New = erltrace_watchdog:start(self(), Owner, St#st.nif, St#st.number),
            St#st.armed =/= undefined andalso erltrace_watchdog:watch(New),
            loop(St#st{watchdog = New});
        _ ->
            loop(St)
    end.

%% Another library has taken the place of ours: this handle is none of its own, and ends. The
%% watchdog takes back what it armed.
attempt(Request, #st{nif = Nif} = St) ->
    try handle(Request, St)
    catch error:badarg ->
            case is_ours(Nif) of
                true -> {{error, badarg}, St};
                false -> exit(normal)
            end
    end.

is_ours(Nif) ->
    try is_tuple(erltrace_nif:watch(Nif, 1))
    catch error:badarg -> false
    end.

finish(St) ->
    disarm(St),
    _ = is_ours(St#st.nif) andalso erltrace_nif:close(St#st.nif),
    erltrace_watchdog:stop(St#st.watchdog).

%% The script has ended by itself, or the watchdog ends it: what was gathered can still be read.
ended(done, St) ->
    disarm(St);
ended({aborted, Text}, St) ->
    St1 = disarm(St),
    _ = is_ours(St#st.nif) orelse exit(normal),
    _ = erltrace_nif:stop(St#st.nif),
    St1#st{aborted = {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, Text}}}.

%% Deleted variables give their room back, whether somebody reads records or not.
clean(#st{armed = undefined} = St) ->
    St;
clean(St) ->
    erlang:send_after(erltrace_nif:clean(St#st.nif), self(), clean),
    St.

%% After an abort: first what there is, then why there is no more.
aborted({Status, []}, #st{aborted = {error, _} = Error}) when Status =:= ok; Status =:= done ->
    Error;
aborted({done, Items}, #st{aborted = {error, _}}) ->
    {ok, Items};
aborted(Reply, _) ->
    Reply.

handle({setopt, Name, Value}, St) ->
    {reply(erltrace_nif:setopt(St#st.nif, Name, Value)), St};
handle({target, OsPid}, St) ->
    {erltrace_nif:set_target(St#st.nif, OsPid), St};
handle({compile, Source, Args}, St) ->
    handle({compile, Source, Args, []}, St);
handle({compile, _, _, _}, #st{running = true} = St) ->
    {{error, already_running}, St};
handle({compile, Source, Args, Opts}, St) ->
    Seen = case St#st.seen of
               [] -> erlang:loaded();
               First -> First
           end,
    {compile(Source, Args, Opts, St), St#st{seen = Seen}};
handle(place, St) ->
    {erltrace_nif:place(St#st.nif), St};
handle(code, St) ->
    {erltrace_nif:code(St#st.nif), St};
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
handle(look, St) -> % at once: modules loaded by now are armed when it returns
    {ok, look(St)};
handle(status, St) ->
    {erltrace_nif:status(St#st.nif), St};
handle(counts, St) ->
    {{ok, counts(St)}, St};
handle(_, #st{running = false} = St) ->
    {{error, no_prog}, St};
handle({walk, Clear}, St) ->
    {aborted(reply(erltrace_nif:walk(St#st.nif, Clear)), St), St};
handle({role, Role}, St) ->
    {erltrace_nif:role(St#st.nif, Role), St};
handle({hold, Hold}, St) ->
    {erltrace_nif:hold(St#st.nif, Hold), St};
handle({export, Keep}, St) ->
    {reply(erltrace_nif:export(St#st.nif, Keep)), St};
handle({import, Part}, St) ->
    {reply(erltrace_nif:import(St#st.nif, Part)), St};
handle({preview, Form}, St) ->
    {erltrace_nif:preview(St#st.nif, Form), St};
handle({work, Form}, St) ->
    Reply = aborted(reply(erltrace_nif:work(St#st.nif, Form)), St),
    case Reply of
        {done, _} -> {Reply, disarm(St)};
        _ -> {Reply, St}
    end;
handle(stop, St) ->
    St1 = disarm(St),
    {reply(erltrace_nif:stop(St#st.nif)), St1}.

counts(#st{nif = Nif, running = Running, armed = Armed, layout = Layout}) ->
    {Fired, Lost} = erltrace_nif:counts(Nif),
    {State, Permille, Why} = erltrace_nif:watch(Nif, erlang:system_info(schedulers_online)),
    #{running => Running, fired => Fired, lost => Lost, cost => Permille / 10,
      aborted => case State of aborted -> Why; _ -> undefined end,
      armed => case Armed of undefined -> []; _ -> erltrace_vm:about(Armed) end,
      skipped => case Armed of undefined -> 0; _ -> erltrace_vm:skipped(Armed) end,
      left => case Armed of undefined -> 0; _ -> erltrace_vm:left(Armed) end,
      returns_by => case Layout of ok -> stack; Other -> Other end}.

%% ---- compiling -------------------------------------------------------------------------------

compile(Source, Args, Opts, #st{nif = Nif} = St) ->
    case erltrace_nif:compile(Nif, Source, Args, Opts) of
        functions ->
            case add_functions(Nif) of
                ok -> compile(Source, Args, Opts, St);
                Error -> Error
            end;
        {ok, functions} ->
            add_functions(Nif);
        {error, {<<"D_PDESC_ZERO">> = Tag, Line, Column, Text}} ->
            {error, {dtrace, Tag, Line, Column, iolist_to_binary([Text, not_loaded(Text)])}};
        Result ->
            reply(Result)
    end.

%% A description that names a module which is not loaded: what to do.
not_loaded(Text) ->
    case re:run(Text, "description [^:]*:([^:*?\\[\\\\]+):[^:]*:[^:]*-(entry|return) ",
                [{capture, [1], list}]) of
        {match, [Name]} ->
            case lists:member(Name, [atom_to_list(M) || M <- erlang:loaded()]) of
                true -> [];
                false -> ["; module ", Name, " is not loaded: load it first, or with -Z (option "
                          "zdefs) its functions are traced as soon as it is"]
            end;
        nomatch ->
            []
    end.

probes(What, #st{nif = Nif} = St) ->
    case erltrace_nif:probes(Nif, What) of
        functions ->
            case add_functions(Nif) of
                ok -> probes(What, St);
                Error -> Error
            end;
        {ok, []} when What =/= script, What =/= <<>>, What =/= "" ->
            {error, {dtrace, <<"D_PDESC_ZERO">>, 0, 0,
                     iolist_to_binary(["failed to match ", What,
                                       ": no probe matches the description"])}};
        Result ->
            reply(Result)
    end.

add_functions(Nif) ->
    Results = [erltrace_nif:add_functions(Nif, M, functions(M)) ||
                  {M, _} <- code:all_loaded(), M =/= erltrace_nif, erltrace_nif:wants(Nif, M)],
    case [E || E <- Results, E =/= ok] of
        [] -> ok;
        [Error | _] -> reply(Error)
    end.

%% @doc All functions of a loaded module, and what they are.
-spec functions(module()) -> [{atom(), arity(), erlang | bif | nif}].
functions(Module) ->
    try
        Nifs = maps:from_keys(nifs(Module), true),
        [{F, A, kind(Module, F, A, Nifs)} || {F, A} <- erlang:get_module_info(Module, functions)]
    catch _:_ -> [] % it is not loaded, or not any more
    end.

nifs(Module) ->
    try erlang:get_module_info(Module, nifs)
    catch _:_ -> []
    end.

kind(M, F, A, Nifs) ->
    case erlang:is_builtin(M, F, A) of
        true -> bif;
        false when is_map_key({F, A}, Nifs) -> nif;
        false -> erlang
    end.

reply({error, {Tag, Line, Column, Text}}) -> {error, {dtrace, Tag, Line, Column, Text}};
reply({error, enomem}) -> {error, {dtrace, <<"ET_NOMEM">>, 0, 0, <<"out of memory">>}};
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
                    case watch(Needs, St#st{armed = Armed, layout = Layout}) of
                        {ok, St1} ->
                            erltrace_watchdog:watch(St1#st.watchdog),
                            {ok, clean(St1)};
                        Failed ->
                            Failed
                    end;
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

watch(Needs, #st{number = Number} = St) ->
    case erltrace_watch:start(Number, self(), Needs) of
        {ok, Watch} -> {ok, late(Needs, St#st{watch = Watch})};
        {error, Tag, Text} -> failed(Tag, Text, disarm(St))
    end.

%% Modules that come while it runs.
late(Needs, St) ->
    case lists:member(modules, Needs) of
        true ->
            Patterns = [N || {_, _, _, _} = N <- Needs],
            look_again(St#st{late = erltrace_late:new(St#st.seen, Patterns, St#st.armed)});
        false ->
            St
    end.

look_again(#st{late = undefined} = St) ->
    St;
look_again(St) ->
    _ = erlang:send_after(erltrace_late:every(), self(), look),
    look(St).

look(#st{late = undefined} = St) ->
    St;
look(#st{nif = Nif, late = Late, armed = Armed} = St) ->
    {Late1, Armed1} = erltrace_late:look(Nif, Late, Armed),
    St#st{late = Late1, armed = Armed1}.

failed(Tag, Text, St) ->
    _ = erltrace_nif:stop(St#st.nif),
    {{error, {dtrace, Tag, 0, 0, Text}}, St}.

prepare(Needs, #st{nif = Nif}) ->
    [code:ensure_loaded(M) || M <- [dyntrace, erl_ddll], lists:member(M, Needs)],
    lists:member(ports, Needs) andalso erltrace_nif:add_ports(Nif, ports(), drivers()),
    case lists:member(layout, Needs) orelse lists:member('receive', Needs) of
        true ->
            Layout = erltrace_vm:layout(),
            lists:member(stacks, Needs) andalso erltrace_nif:has_stacks(Nif),
            Layout;
        false ->
            undefined
    end.

ports() ->
    [{P, Owner, Name} || P <- erlang:ports(),
                         {connected, Owner} <- [erlang:port_info(P, connected)],
                         {name, Name} <- [erlang:port_info(P, name)]].

drivers() ->
    {ok, Names} = erl_ddll:loaded_drivers(),
    Names.

disarm(#st{armed = undefined} = St) ->
    St;
disarm(#st{armed = Armed} = St) ->
    erltrace_watch:stop(St#st.watch),
    erltrace_vm:disarm(Armed),
    St#st{armed = undefined, watch = undefined, late = undefined}.
