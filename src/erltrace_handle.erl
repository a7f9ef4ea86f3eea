%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The process behind a handle: it arms what a script needs (erltrace_vm), watches the owner,
%% and takes everything back at the end. While the application runs it is a child of erltrace_sup;
%% without it, nobody's.
-module(erltrace_handle).
-export([start/1, start_link/1, call/2, close/1, functions/1]).
-export([init/2]).

-define(TOGETHER, 50). % modules told to the library at once
-define(COUNT, 10). % ms between two looks whether counted functions are to be read
-define(CHECK, 1000). % ms between two looks whether a script has ended by itself

-record(st, {nif, number, owner, parent,
             armed, others = {0, 0}, % and what is left to other tracers: processes, functions
             counters, counting = false, % functions that the VM counts; a timer runs for them
             watch, missing = <<>>, late, seen = [], layout = undefined,
             running = false,   % go has been called
             done = false,      % it has ended, and END has run
             kept = [],         % what was read on the way to that, for consume and output
             sub,               % erltrace_sub
             watchdog, aborted = undefined}).

-spec start(pid()) -> {ok, pid()} | {error, term()}.
start(Owner) ->
    case code:ensure_loaded(erltrace_nif) of
        {module, _} ->
            erltrace_vm:load(),
            case erltrace_sup:start_handle(Owner) of
                none -> proc_lib:start(?MODULE, init, [none, Owner]);
                Result -> Result
            end;
        {error, Reason} ->
            {error, {library, Reason}}
    end.

-spec start_link(pid()) -> {ok, pid()} | {error, term()}.
start_link(Owner) ->
    proc_lib:start_link(?MODULE, init, [self(), Owner]).

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
-spec init(pid() | none, pid()) -> term().
init(Parent, Owner) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    process_flag(trap_exit, Parent =/= none),
    case erltrace_nif:open() of
        {ok, Nif, Number} ->
            Mon = erlang:monitor(process, Owner),
            proc_lib:init_ack({ok, self()}),
            erltrace_watchdog:is_harmless() andalso erltrace_nif:forbid(Nif),
            loop(#st{nif = Nif, number = Number, owner = {Owner, Mon}, parent = Parent,
                     watchdog = erltrace_watchdog:start(self(), Owner, Nif, Number)});
        Error ->
            proc_lib:init_ack(reply(Error))
    end.

loop(#st{owner = {_, OwnerMon}, parent = Parent} = St) ->
    receive
        {call, From, Tag, close} ->
            finish(St),
            From ! {Tag, ok};
        {call, From, Tag, Request} ->
            try handle(Request, St) of
                {Reply, St1} ->
                    From ! {Tag, Reply},
                    loop(St1)
            catch
                error:badarg -> refused(From, Tag, St)
            end;
        {'DOWN', OwnerMon, process, _, _} ->
            finish(St);
        {'EXIT', Parent, Reason} when is_pid(Parent) ->
            finish(St),
            exit(Reason);
        Message ->
            case is_ours(St) of
                true -> loop(info(Message, St));
                false -> finish(St)
            end
    end.

%% An argument that the library does not take; or its module has been loaded anew, with another
%% library, to which this handle means nothing.
refused(From, Tag, St) ->
    case is_ours(St) of
        true ->
            From ! {Tag, {error, badarg}},
            loop(St);
        false ->
            finish(St),
            From ! {Tag, {error, upgraded}}
    end.

is_ours(#st{nif = Nif}) ->
    try erltrace_nif:status(Nif) of
        _ -> true
    catch
        error:badarg -> false
    end.

%% Who subscribed gets what there is, the output of END with it.
finish(St) ->
    try
        St1 = disarm(St),
        case St of
            #st{running = true, done = false, sub = Sub} when Sub =/= undefined ->
                _ = erltrace_nif:stop(St1#st.nif),
                last(St1);
            _ ->
                ok
        end
    after
        _ = is_ours(St) andalso erltrace_nif:close(St#st.nif),
        erltrace_watchdog:stop(St#st.watchdog)
    end.

%% The script has ended by itself, or the watchdog ends it: what was gathered can still be read.
ended(done, St) ->
    disarm(St);
ended({aborted, Text}, St) ->
    St1 = disarm(St),
    _ = is_ours(St) orelse exit(normal),
    _ = erltrace_nif:stop(St#st.nif),
    St1#st{aborted = {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, Text}}}.

%% Deleted variables give their room back, whether somebody reads records or not.
clean(#st{armed = undefined} = St) ->
    St;
clean(St) ->
    erlang:send_after(erltrace_nif:clean(St#st.nif), self(), clean),
    St.

new_watchdog(#st{owner = {Owner, _}} = St) ->
    New = erltrace_watchdog:start(self(), Owner, St#st.nif, St#st.number),
    St#st.armed =/= undefined andalso erltrace_watchdog:watch(New),
    St#st{watchdog = New}.

%% After an abort: first what there is, then why there is no more.
aborted({Status, []}, #st{aborted = {error, _} = Error}) when Status =:= ok; Status =:= done ->
    Error;
aborted({done, Items}, #st{aborted = {error, _}}) ->
    {ok, Items};
aborted(Reply, _) ->
    Reply.

%% ---- calls -----------------------------------------------------------------------------------

handle({setopt, Name, Value}, St) ->
    {reply(erltrace_nif:setopt(St#st.nif, Name, Value)), St};
handle({target, OsPid}, St) ->
    {erltrace_nif:set_target(St#st.nif, OsPid), St};
handle({owner, Owner}, #st{owner = {_, Mon}} = St) ->
    erlang:demonitor(Mon, [flush]),
    erltrace_watchdog:stop(St#st.watchdog),
    {ok, new_watchdog(St#st{owner = {Owner, erlang:monitor(process, Owner)}})};
handle({compile, Source, Args}, St) ->
    handle({compile, Source, Args, []}, St);
handle({compile, _, _, _}, #st{running = true} = St) ->
    {{error, has_run(St)}, St};
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
    {probes(What, full, St), St};
handle({probes, What, Form}, St) ->
    {probes(What, Form, St), St};
handle(go, #st{running = true} = St) ->
    {{error, has_run(St)}, St};
handle(go, St) ->
    _ = erltrace_nif:set_node(St#st.nif, node()),
    case reply(erltrace_nif:go(St#st.nif)) of
        ok ->
            _ = erlang:send_after(?CHECK, self(), check),
            arm(St#st{running = true});
        Error ->
            {Error, St}
    end;
handle(look, St) -> % at once: modules loaded by now are armed when it returns
    {ok, look(St)};
handle(status, St) ->
    {erltrace_nif:status(St#st.nif), St};
handle(counts, St) ->
    {{ok, counts(St)}, St};
handle({subscribe, _, _}, #st{sub = Sub} = St) when Sub =/= undefined ->
    {{error, subscribed}, St};
handle({subscribe, To, Opts}, St) ->
    Sub = erltrace_sub:new(To, Opts),
    {{ok, erltrace_sub:ref(Sub)}, St#st{sub = Sub}};
handle({unsubscribe, Ref}, St) ->
    case is_sub(Ref, St) of
        true -> {ok, unsubscribe(St)};
        false -> {{error, not_subscribed}, St}
    end;
handle(_, #st{running = false} = St) ->
    {{error, no_prog}, St};
handle(tick, St) ->
    {erltrace_nif:tick(St#st.nif, atom_to_binary(node())), St};
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
handle({walk, false}, St) ->
    St1 = settle(count(now, St)),
    {aborted(reply(erltrace_nif:walk(St#st.nif, false)), St1), St1};
handle(stop, St) ->
    St1 = disarm(St),
    Reply = reply(erltrace_nif:stop(St#st.nif)),
    {Reply, last(St1)};
handle(_, #st{sub = Sub} = St) when Sub =/= undefined ->
    {{error, subscribed}, St};
handle({walk, true}, St) ->
    St1 = settle(count(now, St)),
    case aborted(reply(erltrace_nif:walk(St#st.nif, true)), St1) of
        {ok, []} when St1#st.done -> {{error, has_run(St1)}, St1};
        Reply -> {Reply, St1}
    end;
handle({work, Form}, St0) ->
    St = count(Form, St0),
    {Kept, St1} = take_kept(Form, St),
    case reply(erltrace_nif:work(St#st.nif, Form)) of
        {done, Items} -> {aborted({done, Kept ++ Items}, St1), disarm(St1#st{done = true})};
        {ok, Items} -> {{ok, Kept ++ Items}, St1};
        Error -> {Error, St1}
    end.

%% Why it cannot be started, or gives nothing more.
has_run(#st{nif = Nif}) ->
    case erltrace_nif:status(Nif) of
        {exited, _} -> exited;
        running -> already_running;
        Other -> Other
    end.

%% If the script has ended by itself, or was stopped: END runs, and what it gave is kept.
settle(#st{done = true} = St) ->
    St;
settle(#st{nif = Nif} = St) ->
    case erltrace_nif:status(Nif) of
        running ->
            St;
        _ ->
            St1 = uncount(St),
            {_, Items} = erltrace_nif:work(Nif, both),
            disarm(St1#st{done = true, kept = Items})
    end.

%% What the VM has counted is to be in the results: now, or, for the command, which asks a hundred
%% times a second, if it is not too much. At the end for the last time.
count(_, #st{counters = undefined} = St) ->
    St;
count(How, #st{nif = Nif, counters = Counters} = St) ->
    case erltrace_nif:status(Nif) of
        running when How =:= look -> St#st{counters = erltrace_counters:look(Counters)};
        running when How =:= cmd_text; How =:= cmd_terminal; How =:= cmd_json ->
            St#st{counters = erltrace_counters:read_if_due(Counters)};
        running -> St#st{counters = erltrace_counters:read(Counters)};
        _ -> uncount(St)
    end.

%% Look at them in a while.
count_on(#st{counters = Counters, counting = false} = St) when Counters =/= undefined ->
    case erltrace_counters:any(Counters) of
        true ->
            _ = erlang:send_after(?COUNT, self(), count),
            St#st{counting = true};
        false ->
            St
    end;
count_on(St) ->
    St.

uncount(#st{counters = undefined} = St) ->
    St;
uncount(#st{counters = Counters} = St) ->
    _ = erltrace_counters:off(Counters),
    St#st{counters = undefined}.

%% Kept as text and as records; drops, faults and warnings are in both.
take_kept(Form, #st{kept = Kept} = St) ->
    Told = [drop, fault, warning],
    Other = fun(Item) when Form =:= records -> element(1, Item) =:= text;
               (Item) -> not lists:member(element(1, Item), [text | Told])
            end,
    {[I || I <- Kept, not Other(I)], St#st{kept = []}}.

%% ---- messages --------------------------------------------------------------------------------

info(check, #st{done = true} = St) ->
    St;
info(check, #st{nif = Nif} = St) ->
    _ = erlang:send_after(?CHECK, self(), check),
    case erltrace_nif:status(Nif) of
        running -> St;
        _ -> disarm(St)
    end;
info(look, St) ->
    look_again(St);
info(clean, St) ->
    clean(St);
info(count, St) ->
    count_on(count(look, St#st{counting = false}));
info({watchdog, Dog, What}, #st{watchdog = {Dog, _}} = St) ->
    ended(What, St);
info({'DOWN', Mon, process, _, _}, #st{watchdog = {_, Mon}} = St) -> % killed: another one
    new_watchdog(St);
info({tick, Ref}, St) ->
    case is_sub(Ref, St) of
        true -> tick(St#st{sub = erltrace_sub:tick(St#st.sub)});
        false -> St
    end;
info({ack, Ref}, St) ->
    case is_sub(Ref, St) of
        true -> St#st{sub = erltrace_sub:ack(St#st.sub)};
        false -> St
    end;
info({'DOWN', Mon, process, _, _}, #st{sub = Sub} = St) when Sub =/= undefined ->
    case erltrace_sub:is_down(Mon, Sub) of
        true -> unsubscribe(St);
        false -> St
    end;
info(_, St) ->
    St.

%% ---- a subscription --------------------------------------------------------------------------

is_sub(_, #st{sub = undefined}) -> false;
is_sub(Ref, #st{sub = Sub}) -> erltrace_sub:ref(Sub) =:= Ref.

unsubscribe(#st{sub = Sub} = St) ->
    erltrace_sub:free(Sub),
    St#st{sub = undefined}.

tick(#st{running = false} = St) ->
    St;
tick(#st{nif = Nif, sub = Sub} = St) ->
    case erltrace_nif:status(Nif) of
        running ->
            case erltrace_sub:due(Sub) of
                true -> send(St);
                false -> St
            end;
        _ ->
            last(St)
    end.

send(#st{nif = Nif, sub = Sub} = St0) ->
    St = count(now, St0),
    {Kept, St1} = take_kept(erltrace_sub:form(Sub), St),
    case {erltrace_nif:work(Nif, erltrace_sub:form(Sub)),
          erltrace_nif:walk(Nif, erltrace_sub:clear(Sub))} of
        {{Status, Items}, {ok, Aggs}} when Status =:= ok; Status =:= done ->
            Kind = case Status of ok -> tick; done -> done end,
            Sub1 = erltrace_sub:send(Kind, erltrace_nif:status(Nif), {Kept ++ Items, Aggs}, Sub),
            case Kind of
                tick -> St1#st{sub = Sub1};
                done -> unsubscribe(disarm(St1#st{sub = Sub1, done = true}))
            end;
        _ -> % memory is out: at the next tick
            St
    end.

%% It has ended: the last message, if somebody has subscribed.
last(#st{sub = undefined} = St) -> St;
last(St) -> send(St).

counts(#st{nif = Nif, armed = Armed, others = {Skipped, Left}, layout = Layout} = St) ->
    {Fired, Lost} = erltrace_nif:counts(Nif),
    {Watched, Permille, Why} = erltrace_nif:watch(Nif, erlang:system_info(schedulers_online)),
    State = erltrace_nif:status(Nif),
    #{state => State, running => State =:= running, fired => Fired, lost => Lost,
      cost => Permille / 10, aborted => case Watched of aborted -> Why; _ -> undefined end,
      armed => case Armed of undefined -> []; _ -> erltrace_vm:about(Armed) end,
      counted => case St#st.counters of
                     undefined -> [];
                     Counters -> erltrace_counters:about(Counters)
                 end,
      skipped => Skipped, left => Left, missing => St#st.missing,
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
            {error, {dtrace, Tag, Line, Column, with_hint(Text)}};
        Result ->
            reply(Result)
    end.

%% A description that matches nothing: what may have been meant, what to do.
with_hint(Text) ->
    case re:run(Text, "description (.*) does not match any probes: -l",
                [{capture, [1], binary}]) of
        {match, [Description]} -> with_hint(Text, erltrace_near:hint(Description));
        nomatch -> Text
    end.

with_hint(Text, {also, Hint}) ->
    iolist_to_binary([Text, "; ", Hint]);
with_hint(Text, {instead, Hint}) ->
    iolist_to_binary([hd(binary:split(Text, <<": -l lists">>)), ": ", Hint]);
with_hint(Text, none) ->
    Text.

%% Form: full, or brief: binaries with very many of them each (c_src/beam/results.c).
probes(What, Form, #st{nif = Nif} = St) ->
    case erltrace_nif:probes(Nif, What, Form) of
        functions ->
            case add_functions(Nif) of
                ok -> probes(What, Form, St);
                Error -> Error
            end;
        {ok, []} when What =/= script, What =/= <<>>, What =/= "" ->
            {error, {dtrace, <<"D_PDESC_ZERO">>, 0, 0,
                     iolist_to_binary(["failed to match ", What,
                                       ": no probe matches the description",
                                       case erltrace_near:hint(What) of
                                           {_, Hint} -> [": ", Hint];
                                           none -> []
                                       end])}};
        Result ->
            reply(Result)
    end.

add_functions(Nif) ->
    add_functions(Nif, [M || M <- erlang:loaded(), M =/= erltrace_nif, erltrace_nif:wants(Nif, M)]).

%% Some modules at a time: each call goes to another thread and back.
add_functions(_, []) ->
    ok;
add_functions(Nif, Modules) ->
    {Some, Rest} = lists:split(min(?TOGETHER, length(Modules)), Modules),
    case erltrace_nif:add_functions(Nif, [{M, functions(M)} || M <- Some]) of
        ok -> add_functions(Nif, Rest);
        Error -> reply(Error)
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

arm(#st{nif = Nif, number = Number, owner = {Owner, _}} = St) ->
    Counters = erltrace_counters:new(Nif, Number, Owner),
    case arm_rest(St#st{counters = Counters}) of
        {ok, St1} -> {ok, count_on(St1)};
        {Error, St1} -> {Error, uncount(St1)}
    end.

arm_rest(#st{nif = Nif, number = Number, owner = {Owner, _}} = St) ->
    Needs = erltrace_nif:needs(Nif, node(), erlang:system_info(process_limit)),
    case is_list(Needs) andalso prepare(Needs, St) of
        false ->
            failed(<<"ET_NOMEM">>, <<"out of memory">>, St);
        Layout ->
            Names = [add_name(Nif, N) || lists:member(names, Needs), N <- registered()],
            case erltrace_vm:arm(Number, Needs, Owner) of
                {ok, Armed} ->
                    renew_names(Nif, Names),
                    Others = {erltrace_vm:skipped(Armed), erltrace_vm:left(Armed)},
                    case watch(Needs, St#st{armed = Armed, others = Others, layout = Layout}) of
                        {ok, St1} ->
                            erltrace_watchdog:watch(St1#st.watchdog),
                            {ok, clean(St1)};
                        Failed ->
                            Failed
                    end;
                {error, Tag, Text} ->
                    failed(Tag, Text, St);
                gone -> % nobody waits for it; the message that says so comes next
                    erltrace_vm:forget(Number),
                    {{error, closed}, St}
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
        {ok, Watch, Missing} -> {ok, late(Needs, St#st{watch = Watch, missing = Missing})};
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
look(#st{counters = undefined} = St) ->
    St; % it has ended
look(#st{nif = Nif, late = Late, armed = Armed, counters = Counters} = St) ->
    {Late1, Armed1, Counters1} = erltrace_late:look(Nif, Late, Armed, Counters),
    count_on(St#st{late = Late1, armed = Armed1, counters = Counters1}).

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
    uncount(St);
disarm(#st{armed = Armed} = St0) ->
    St = uncount(St0),
    erltrace_watch:stop(St#st.watch),
    erltrace_vm:disarm(Armed),
    St#st{armed = undefined, watch = undefined, late = undefined}.
