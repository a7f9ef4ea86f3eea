%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The process behind a handle: it compiles a script, arms what the script needs, monitors the
%% owner, and takes everything back at the end. erltrace_handle_sup is its supervisor, and that of
%% the processes that it needs besides.
%%
%% A handle runs one script once:
%%
%%   open      options are set and scripts compiled, until `go'
%%   running   probes are armed, until `stop', exit() in the script, or the limiter
%%   stopped   nothing is armed; what was gathered can be read; END runs when it is
%%   done      END has run; its output is kept until it is read
%%
%% A script that names probes of the kernel runs in a helper program (erltrace_helper), which this
%% process asks for what was gathered whenever somebody reads; from there on all is the same.
%%
%% The state is what this process knows. That a script has called exit() is known by asking the
%% library (is_over/1), which the next check does at the latest.
-module(erltrace_handle).
-behaviour(gen_statem).
-export([start/1, call/2, calls/2, close/1]).
-export([init/1, callback_mode/0, handle_event/4, terminate/3, code_change/4, format_status/1]).

-define(SNAPSHOTS, 100). % ms between two looks whether a script wants a snapshot
-define(KEPT, 1000). % items that are kept of scripts that record, until somebody reads them
-define(CALM, 1000). % ms between two polls of any kind, of a script that is deployed
-define(CHECK, 1000). % ms between two checks whether a script has ended by itself

-type state() :: open | running | stopped | done.

-record(data, {nif :: reference() | closed,
               number :: pos_integer(),        % of the handle, in the library
               owner :: {pid(), reference()},  % and its monitor
               sup :: pid(),
               limiter :: pid() | undefined,  % the supervisor says who it is
               % loaded when the first script was compiled; []: none was
               known = [] :: [module()],
               arming :: erltrace_arming:arming() | undefined, % from go on
               % from the first script that names the kernel on
               kernel :: erltrace_helper:helper() | undefined,
               options = [] :: [{binary(), binary()}], % as they were set, the last one first
               scripts = [] :: [erltrace_helper:script()], % as they were compiled, the same
               kept = [] :: [tuple()],         % the output of END, for consume and output
               sub :: erltrace_sub:sub() | undefined,
               calm = false :: boolean(),      % it is deployed: polls are rare
               aborted :: erltrace_compile:error() | undefined}).

%% @doc Open a handle. All that belongs to it has ended when Sup has.
-spec start(Owner :: pid()) -> {ok, pid(), Sup :: pid()} | {error, term()}.
start(Owner) ->
    case code:ensure_loaded(erltrace_nif) of
        {module, _} ->
            erltrace_vm:load(),
            erltrace_handle_sup:start(Owner);
        {error, Reason} ->
            {error, {library, Reason}}
    end.

-spec call(pid(), term()) -> term().
call(Pid, Request) ->
    try gen_statem:call(Pid, Request)
    catch exit:{_, {gen_statem, call, _}} -> {error, closed}
    end.

%% Requests that are answered ok, one after the other, up to the first that is not.
-spec calls(pid(), [term()]) -> term().
calls(_, []) -> ok;
calls(Pid, [Request | Rest]) ->
    case call(Pid, Request) of
        ok -> calls(Pid, Rest);
        Error -> Error
    end.

-spec close(pid()) -> ok.
close(Pid) ->
    case call(Pid, close) of
        {closed, Sup} ->
            Mon = erlang:monitor(process, Sup),
            receive {'DOWN', Mon, process, Sup, _} -> ok end;
        _ ->
            ok
    end.

%% ---- the state machine -----------------------------------------------------------------------

-spec callback_mode() -> gen_statem:callback_mode_result().
callback_mode() ->
    [handle_event_function, state_enter].

-spec init({Sup :: pid(), {Owner :: pid(), reference(), pos_integer()}}) -> {ok, state(), #data{}}.
init({Sup, {Owner, Nif, Number}}) ->
    process_flag(sensitive, true),
    process_flag(trap_exit, true),
    erltrace_room:make(),
    erltrace_limiter:is_harmless() andalso erltrace_nif:forbid(Nif),
    erltrace_limiter:is_payload() orelse erltrace_nif:no_payload(Nif),
    {ok, open, #data{nif = Nif, number = Number, sup = Sup,
                     owner = {Owner, erlang:monitor(process, Owner)}}}.

-spec handle_event(gen_statem:event_type() | enter, term(), state(), #data{}) ->
          gen_statem:event_handler_result(state()) | gen_statem:state_enter_result(state()).
handle_event(enter, _, running, #data{kernel = Kernel}) when Kernel =/= undefined ->
    keep_state_and_data; % the helper does what is due
handle_event(enter, _, running, Data) ->
    {keep_state_and_data, [
        {{timeout, clean}, 0, []}
        | check_timer(Data) ++ code_timer(Data) ++ sweep_timer(Data) ++ snapshot_timer(Data) ++
            timers(Data)
    ]};
handle_event(enter, _, _, _) ->
    {keep_state_and_data, [
        {{timeout, T}, cancel}
     || T <- [check, clean, code, snapshots, sweep, rearm, counts]
    ]};
handle_event({call, From}, close, State, Data) ->
    {stop_and_reply, normal, {reply, From, {closed, Data#data.sup}}, finish(State, Data)};
handle_event({call, From}, Request, State, Data) ->
    try request(Request, State, Data) of
        {Reply, State1, Data1} -> {next_state, State1, Data1, {reply, From, Reply}}
    catch
        error:badarg -> refused(From, State, Data)
    end;
handle_event(info, {'DOWN', Mon, process, _, _}, _, #data{owner = {_, Mon}}) ->
    stop;
handle_event(info, {'EXIT', Sup, _}, _, #data{sup = Sup}) ->
    {stop, shutdown};
handle_event(Type, Content, State, Data) ->
    case is_ours(Data) of
        true -> event(Type, Content, State, Data);
        false -> stop
    end.

-spec terminate(term(), state(), #data{}) -> term().
terminate(_, State, Data) ->
    finish(State, Data).

-spec code_change(term(), state(), #data{}, term()) -> {ok, state(), #data{}}.
code_change(_, State, Data, _) ->
    {ok, State, Data}.

%% For sys:get_status/1 and reports of a crash: what a person can read.
-spec format_status(gen_statem:format_status()) -> gen_statem:format_status().
format_status(#{data := #data{owner = {Owner, _}} = Data} = Status) ->
    Status#{data := #{number => Data#data.number, owner => Owner,
                      subscribed => Data#data.sub =/= undefined, aborted => Data#data.aborted,
                      arming => case Data#data.arming of
                                    undefined -> undefined;
                                    Arming -> erltrace_arming:about(Arming)
                                end}};
format_status(Status) ->
    Status.

%% Either the library refuses an argument, or erltrace_nif was loaded again with another library,
%% which does not know this handle. In that case everything is off before the caller is told.
refused(From, State, Data) ->
    case is_ours(Data) of
        true -> {keep_state_and_data, {reply, From, {error, badarg}}};
        false -> {stop_and_reply, normal, {reply, From, {error, upgraded}}, finish(State, Data)}
    end.

is_ours(#data{nif = Nif}) ->
    try erltrace_nif:status(Nif) of
        _ -> true
    catch
        error:badarg -> false
    end.

%% Has a script that was started ended, by exit(), a full buffer or stop?
is_over(Data) ->
    status(Data) =/= running.

status(#data{nif = Nif, kernel = undefined}) -> erltrace_nif:status(Nif);
status(#data{kernel = Kernel}) -> erltrace_helper:state(Kernel).

%% The end, however it comes; once. A subscriber gets what there is, the output of END included.
%% Should this fail, the limiter does the rest.
finish(_, #data{nif = closed} = Data) ->
    Data;
finish(State, #data{nif = Nif} = Data) ->
    Data1 = disarm(Data),
    _ = case State of
            _ when Data#data.sub =:= undefined -> ok;
            _ when State =:= running; State =:= stopped ->
                _ = erltrace_nif:stop(Nif),
                send(State, Data1);
            _ -> ok
        end,
    _ = is_ours(Data) andalso erltrace_nif:close(Nif),
    _ = [erltrace_helper:close(Kernel) || Kernel <- [Data#data.kernel], Kernel =/= undefined],
    Data#data{nif = closed}.

%% ---- requests --------------------------------------------------------------------------------

%% In any state.
request({setopt, Name, Value}, State, Data) ->
    setopt(Name, Value, State, Data);
request({target, OsPid}, State, Data) ->
    {erltrace_nif:set_target(Data#data.nif, OsPid), State, Data};
request({owner, Owner}, State, #data{owner = {_, Mon}} = Data) ->
    erlang:demonitor(Mon, [flush]),
    Data1 = Data#data{owner = {Owner, erlang:monitor(process, Owner)}},
    tell_owner(Data1),
    {ok, State, Data1};
request(position, State, Data) ->
    {erltrace_nif:place(Data#data.nif), State, Data};
request(code, State, Data) ->
    {erltrace_nif:code(Data#data.nif), State, Data};
request(info, State, #data{kernel = Kernel} = Data) when Kernel =/= undefined ->
    {erltrace_helper:matches(Kernel), State, Data};
request(info, State, Data) ->
    {erltrace_nif:info(Data#data.nif), State, Data};
request({probes, What}, State, Data) ->
    request({probes, What, full}, State, Data);
request({probes, What, Form}, State, Data) ->
    {erltrace_compile:probes(Data#data.nif, What, Form), State, Data};
request({probes, What, full, [kernel]}, State, Data) ->
    case names([What, " { }"], [], [kernel], Data) of
        [kernel] -> {erltrace_helper:probes(Data#data.sup, What), State, Data};
        _ -> request({probes, What, full}, State, Data)
    end;
request(status, State, Data) ->
    {status(Data), State, Data};
request(in_kernel, State, #data{kernel = Kernel} = Data) ->
    {Kernel =/= undefined, State, Data};
request(counts, State, Data) ->
    {{ok, about(Data)}, State, Data};
request({feed, Totals, Script}, State, Data) ->
    {erltrace_nif:feed(Data#data.nif, Totals, Script), State, Data};
request(nif, State, Data) -> % for erltrace_nif:spent/1, which waits for nobody
    {Data#data.nif, State, Data};
request({subscribe, _, _}, State, #data{sub = Sub} = Data) when Sub =/= undefined ->
    {{error, subscribed}, State, Data};
request({subscribe, To, Opts}, State, Data) ->
    Sub = erltrace_sub:new(To, Opts),
    {{ok, erltrace_sub:ref(Sub)}, State, Data#data{sub = Sub}};
%% It is deployed: nobody waits for what it does, and it rests most of the time (before go).
request(calm, State, Data) ->
    {ok, State, Data#data{calm = true}};
request({unsubscribe, Ref}, State, Data) ->
    case is_sub(Ref, Data) of
        true -> {ok, State, unsubscribe(Data)};
        false -> {{error, not_subscribed}, State, Data}
    end;
%% Before go.
request({compile, Source, Args}, State, Data) ->
    request({compile, Source, Args, []}, State, Data);
request({compile, Source, Args, Opts}, open, Data) ->
    compile({Source, Args, Opts, names(Source, Args, Opts, Data)}, Data);
request({set_record, Name, Fields}, open, Data) ->
    {erltrace_compile:reply(erltrace_nif:set_record(Data#data.nif, Name, Fields)), open, Data};
request(go, open, #data{kernel = Kernel, scripts = [_ | _]} = Data) when Kernel =/= undefined ->
    case erltrace_helper:go(Kernel) of
        {ok, Kernel1} -> {ok, running, in_kernel(Kernel1, Data)};
        Error -> {Error, open, Data}
    end;
request(go, open, #data{known = [_ | _]} = Data) ->
    go(Data);
request(_, open, Data) ->
    {{error, no_prog}, open, Data};
%% From go on.
request(Early, State, Data) when element(1, Early) =:= compile; element(1, Early) =:= set_record ->
    {{error, why_not(Data)}, State, Data};
request(go, State, Data) ->
    {{error, why_not(Data)}, State, Data};
request(rearm, State, Data) -> % at once: modules loaded by now are armed when it returns
    {ok, State, rearm(State, Data)};
request(unmatched, State, Data) ->
    Data1 = rearm(State, Data),
    {erltrace_compile:unmatched(Data#data.nif), State, Data1};
request({key, Key}, running, #data{arming = Arming, kernel = undefined} = Data) ->
    {erltrace_arming:key(Key, Arming), running, Data};
request({key, _}, State, Data) ->
    {ok, State, Data};
request({walk, false}, State, Data) ->
    {Reply, State1, Data1} = walk(false, State, Data),
    {aborted(Reply, Data1), State1, Data1};
%% Nothing fires any more, but the script has not ended: the first of several nodes, until all have.
request(disarm, State, Data) ->
    {ok, stopped(State), disarm(Data)};
request({snapshot, Why, _}, State, #data{kernel = Kernel} = Data) when Kernel =/= undefined ->
    {erltrace_helper:snapshot(Why, Kernel), State, Data};
request({snapshot, Why, Form}, State, Data) ->
    {erltrace_compile:reply(erltrace_nif:snapshot(Data#data.nif, Why, Form)), State, Data};
request(stop, State, Data) ->
    Data1 = disarm(Data),
    Reply = case Data1#data.kernel of
                undefined -> erltrace_compile:reply(erltrace_nif:stop(Data#data.nif));
                _ -> ok
            end,
    {State2, Data2} = last(stopped(State), Data1),
    {Reply, State2, Data2};
%% Reading. A subscriber gets everything: nobody else may read.
request(_, State, #data{sub = Sub} = Data) when Sub =/= undefined ->
    {{error, subscribed}, State, Data};
request({walk, true}, State, Data) ->
    {Reply, State1, Data1} = walk(true, State, Data),
    case aborted(Reply, Data1) of
        {ok, []} when State1 =:= done -> {{error, why_not(Data1)}, State1, Data1};
        Reply1 -> {Reply1, State1, Data1}
    end;
request({work, {stream, Ms, Beat, _}}, State, #data{kernel = Kernel} = Data)
  when Kernel =/= undefined, State =/= open ->
    forward(Ms, Beat, State, Data);
request({work, Form}, State, Data) ->
    {State1, Data1} = gather(how(Form), [], State, Data),
    {Kept, Data2} = take_kept(Form, Data1),
    case erltrace_compile:reply(erltrace_nif:work(Data#data.nif, Form)) of
        {done, Items} -> {aborted({done, Kept ++ Items}, Data2), done, disarm(Data2)};
        {ok, Items} -> {{ok, Kept ++ Items}, State1, Data2};
        Error -> {Error, State1, Data2}
    end.

%% Why it cannot be started, or has no more results.
why_not(Data) ->
    case status(Data) of
        {exited, _} -> exited;
        running -> already_running;
        Other -> Other
    end.

%% The command asks a hundred times a second.
how({stream, _, _, _}) -> if_due;
how(_) -> now.

%% After an abort, what there is can be read first; then comes the reason as an error.
aborted({Status, []}, #data{aborted = {error, _} = Error}) when Status =:= ok; Status =:= done ->
    Error;
aborted({done, Items}, #data{aborted = {error, _}}) ->
    {ok, Items};
aborted(Reply, _) ->
    Reply.

about(#data{nif = Nif, arming = Arming} = Data) ->
    {Fired, Lost, Unnamed, NoArgs, Cut, BufSize, Prints} = erltrace_nif:counts(Nif),
    {Watched, Permille, Why} = erltrace_nif:watch(Nif, erlang:system_info(schedulers_online), 0),
    State = status(Data),
    Armed =
        case Arming of
            undefined ->
                #{
                    armed => [],
                    counted => [],
                    skipped => 0,
                    left => 0,
                    missing => <<>>,
                    returns_by => undefined,
                    stacks => undefined,
                    things => undefined,
                    calls => erltrace_calls:none()
                };
            _ ->
                erltrace_arming:about(Arming)
        end,
    Armed#{
        samples => samples(Nif),
        state => State,
        running => State =:= running,
        kernel => Data#data.kernel =/= undefined,
        fired => case Data#data.kernel of
                     undefined -> Fired;
                     Kernel -> erltrace_helper:fired(Kernel)
                 end,
        lost => Lost,
        unnamed => Unnamed,
        no_args => NoArgs,
        cut_args => Cut,
        bufsize => BufSize,
        prints => Prints,
        cost => case Data#data.kernel of
                    undefined -> Permille / 10;
                    Kernel -> erltrace_helper:permille(Kernel) / 10
                end,
        aborted =>
            case Data#data.aborted of
                {error, {dtrace, _, _, _, Text}} -> Text;
                _ when Watched =:= aborted -> Why;
                _ -> undefined
            end
    }.

%% Of a script that samples: what interrupts the schedulers, and how many there are.
samples(Nif) ->
    case erltrace_nif:samples(Nif) of
        true -> erltrace_nif:find(sampling, about);
        _ -> undefined
    end.

%% ---- starting and ending ---------------------------------------------------------------------

go(#data{nif = Nif, number = Number, owner = {Owner, _}, known = Known, sup = Sup} = Data) ->
    _ = erltrace_nif:set_node(Nif, node()),
    _ = erltrace_nif:samples(Nif) =:= true andalso erltrace_sampling:available(),
    case erltrace_compile:reply(erltrace_nif:go(Nif)) of
        ok ->
            case erltrace_arming:arm(Nif, Number, Owner, Known, Sup) of
                {ok, Arming} ->
                    watch(Data),
                    follow_loads(Arming, Data),
                    {ok, running, Data#data{arming = Arming}};
                {error, Tag, Text} ->
                    _ = erltrace_nif:stop(Nif),
                    {{error, {dtrace, Tag, 0, 0, Text}}, stopped, Data};
                gone -> % the owner has ended; its 'DOWN' message comes next
                    {{error, closed}, stopped, Data}
            end;
        Error ->
            {Error, open, Data}
    end.

disarm(#data{kernel = Kernel} = Data) when Kernel =/= undefined ->
    in_kernel(erltrace_helper:stop(Kernel), Data);
disarm(#data{arming = undefined} = Data) ->
    Data;
disarm(#data{arming = Arming} = Data) ->
    Data#data{arming = erltrace_arming:disarm(Arming)}.

stopped(done) -> done;
stopped(_) -> stopped.

%% Bring the VM's counts, or what the helper has, into the results; disarm a script that has ended.
gather(_, What, State, #data{kernel = Kernel} = Data) when Kernel =/= undefined, State =/= open ->
    Data1 = in_kernel(erltrace_helper:pull(What, Kernel), Data),
    {over(State, Data1), Data1};
gather(How, _, running, #data{arming = Arming} = Data) ->
    case is_over(Data) of
        true -> {stopped, disarm(Data)};
        false -> {running, Data#data{arming = erltrace_arming:counts(How, Arming)}}
    end;
gather(_, _, State, Data) ->
    {State, Data}.

%% If the script has ended, END runs before aggregations are read; its output is kept.
walk(Clear, State, #data{nif = Nif} = Data) ->
    {State2, Data2} =
        case gather(now, [now, no_records], State, Data) of
            {stopped, Data1} ->
                {_, Items} = erltrace_nif:work(Nif, both),
                {done, keep(Items, Data1)};
            Other ->
                Other
        end,
    {erltrace_compile:reply(erltrace_nif:walk(Nif, Clear)), State2, Data2}.

%% The output of END is kept both as text and as records; drops, faults and warnings belong to both.
take_kept(Form, #data{kept = Kept} = Data) ->
    Told = [drop, fault, warning],
    Other = fun(Item) when Form =:= records -> element(1, Item) =:= text;
               (Item) when Form =:= alerts -> not lists:member(element(1, Item), [alert | Told]);
               (Item) -> not lists:member(element(1, Item), [text | Told])
            end,
    {[I || I <- Kept, not Other(I)], Data#data{kept = []}}.

%% ---- probes of the kernel --------------------------------------------------------------------

setopt(Name, Value, State, #data{kernel = Kernel, options = Options} = Data) ->
    Option = {iolist_to_binary(Name), iolist_to_binary(Value)},
    Set = Data#data{options = [Option | Options]},
    case erltrace_compile:reply(erltrace_nif:setopt(Data#data.nif, Name, Value)) of
        ok when Kernel =:= undefined -> {ok, State, Set};
        ok -> {erltrace_helper:set(Option, Kernel), State, Set};
        Error -> {Error, State, Data}
    end.

%% Whose probes a script names. Where the kernel is not permitted, it is the node's to say that it
%% has no such probes.
names(Source, Args, Opts, #data{nif = Nif}) ->
    Text = iolist_to_binary(Source),
    case lists:member(kernel, Opts) andalso erltrace_nif:scan(Nif, Text, Args) of
        Names when is_list(Names) -> Names;
        _ -> []
    end.

%% By the option kernel: for samples of CPUs, which a node has of its schedulers too.
is_asked_for(Opts, #data{options = Options}) ->
    lists:member(kernel, Opts) andalso
        lists:member(proplists:get_value(<<"kernel">>, Options), [<<>>, <<"on">>]).

%% All scripts of a handle run in one place, and share their variables there. Where the helper does
%% not take the first one that is for it, the handle is as before.
compile({_, _, Opts, New} = Script, #data{kernel = undefined, scripts = Scripts} = Data) ->
    #data{sup = Sup, nif = Nif, options = Options} = Data,
    case lists:member(kernel, New) orelse is_asked_for(Opts, Data) of
        true ->
            All = lists:reverse([Script | Scripts]),
            Started = erltrace_helper:start(Sup, Nif, lists:reverse(Options), All),
            compiled_there(Started, Script, Data);
        false ->
            compiled(compile_here(Script, Data), Script, Data)
    end;
compile(Script, #data{kernel = Kernel} = Data) ->
    compiled_there(erltrace_helper:compile(Script, Kernel), Script, Data).

compiled_there({ok, Kernel}, Script, Data) -> compiled(ok, Script, Data#data{kernel = Kernel});
compiled_there(Error, Script, Data) -> compiled(Error, Script, Data).

compile_here({Source, Args, Opts, _}, #data{nif = Nif}) ->
    erltrace_compile:compile(Nif, Source, Args, Opts -- [kernel]).

compiled(ok, Script, #data{known = Known, scripts = Scripts} = Data) ->
    Loaded = case Known of [] -> erlang:loaded(); _ -> Known end,
    {ok, open, Data#data{known = Loaded, scripts = [Script | Scripts]}};
compiled(Error, _, Data) ->
    {Error, open, Data}.

%% One that has gone without having ended aborts the script, and so does its watchdog.
in_kernel(Kernel, #data{nif = Nif, aborted = Aborted} = Data) ->
    _ = erltrace_nif:helped(Nif, erltrace_helper:spent(Kernel), erltrace_helper:fired(Kernel)),
    Data#data{kernel = Kernel,
              aborted = case erltrace_helper:failure(Kernel) of
                            undefined -> Aborted;
                            Error -> Error
                        end}.

%% The helper's stream as it is, for the command.
forward(Ms, Beat, State, #data{kernel = Kernel} = Data) ->
    {Status, Bytes, Kernel1} = erltrace_helper:forward(Ms, Beat, Kernel),
    Data1 = in_kernel(Kernel1, Data),
    State1 = case Status of
                 done -> done;
                 ok -> over(State, Data1)
             end,
    {Kept, Data2} = take_kept(text, Data1),
    {aborted({Status, [{stream, Bytes} || Bytes =/= <<>>] ++ Kept}, Data2), State1, Data2}.

over(running, Data) ->
    case is_over(Data) of
        true -> stopped;
        false -> running
    end;
over(State, _) ->
    State.

%% What erltrace_kernel says of its own accord. Before go whoever orders something is told.
kernel_event(_, open, _) ->
    keep_state_and_data;
kernel_event({said, Item}, _, Data) ->
    {keep_state, keep([Item], Data)};
kernel_event(What, State, #data{kernel = Kernel} = Data) ->
    Data1 = in_kernel(erltrace_helper:told(What, Kernel), Data),
    {next_state, over(State, Data1), Data1}.

is_helper(_, #data{kernel = undefined}) -> false;
is_helper(Pid, #data{kernel = Kernel}) -> erltrace_helper:pid(Kernel) =:= Pid.

%% ---- other events ----------------------------------------------------------------------------

event({timeout, check}, _, running, Data) ->
    case is_over(Data) of
        true -> {next_state, stopped, disarm(Data)};
        false -> {keep_state_and_data, check_timer(Data)}
    end;
event({timeout, clean}, _, running, #data{nif = Nif}) ->
    %% Deleted variables give their memory back, whether somebody reads records or not.
    {keep_state_and_data, beat(clean, erltrace_nif:clean(Nif))};
event({timeout, snapshots}, _, running, Data) ->
    snapshots(Data);
event({timeout, sweep}, _, running, #data{nif = Nif}) ->
    {keep_state_and_data, beat(sweep, max(1, erltrace_nif:sweep(Nif)))};
event({timeout, code}, _, running, Data) ->
    erltrace_code:poll(),
    {keep_state_and_data, code_timer(Data)};
event(info, loaded, running, Data) -> % erltrace_new_modules
    {keep_state, rearm(running, Data)};
event({timeout, rearm}, _, running, Data) ->
    Data1 = rearm(running, Data),
    {keep_state, Data1, timers(Data1)};
event({timeout, counts}, _, running, Data) ->
    {State1, #data{arming = Arming} = Data1} = gather(background, [], running, Data),
    {next_state, State1, Data1, counts_timer(Arming, Data1)};
event(info, {limiter, Limiter}, State, Data) -> % the first, or the next one if that was killed
    Data1 = Data#data{limiter = Limiter},
    tell_owner(Data1),
    _ = State =:= running andalso watch(Data1),
    {keep_state, Data1};
event(info, {limiter, Limiter, What}, State, #data{limiter = Limiter} = Data) ->
    ended(What, State, Data);
event(info, {kernel, Pid, What}, State, Data) ->
    case is_helper(Pid, Data) of
        true -> kernel_event(What, State, Data);
        false -> keep_state_and_data % one that did not take the script
    end;
event(info, {erltrace_flows, lost, Text}, _, #data{nif = Nif}) ->
    _ = erltrace_nif:warn(Nif, Text),
    keep_state_and_data;
event(info, {tick, Ref}, State, Data) ->
    case is_sub(Ref, Data) of
        true -> tick(State, Data#data{sub = erltrace_sub:tick(Data#data.sub)});
        false -> keep_state_and_data
    end;
event(info, {ack, Ref}, _, Data) ->
    case is_sub(Ref, Data) of
        true -> {keep_state, Data#data{sub = erltrace_sub:ack(Data#data.sub)}};
        false -> keep_state_and_data
    end;
event(info, {'DOWN', Mon, process, Pid, _}, State, #data{sub = Sub} = Data) ->
    case is_helper(Pid, Data) of
        true ->
            kernel_event(killed, State, Data);
        false when Sub =/= undefined ->
            case erltrace_sub:is_down(Mon, Sub) andalso not erltrace_sub:saves(Sub) of
                true -> {keep_state, unsubscribe(Data)};
                false -> keep_state_and_data
            end;
        false ->
            keep_state_and_data
    end;
event(_, _, _, _) ->
    keep_state_and_data.

timers(#data{arming = Arming} = Data) ->
    [beat(rearm, calm(erltrace_arming:rearm_interval(Arming), Data)) | counts_timer(Arming, Data)].

calm(Every, #data{calm = true}) when is_integer(Every) -> max(?CALM, Every);
calm(Every, _) -> Every.

beat(Name, infinity) -> {{timeout, Name}, infinity, []};
beat(Name, Every) -> {{timeout, Name}, erltrace_timer:next(Every), [], {abs, true}}.

%% A script that records and writes snapshots itself does so whether somebody reads or not. What it
%% says besides is kept, the latest of it.
snapshot_timer(#data{nif = Nif}) ->
    [beat(snapshots, ?SNAPSHOTS) || erltrace_nif:recorder(Nif)].

snapshots(#data{nif = Nif, kept = Kept, sub = Sub} = Data) ->
    case erltrace_nif:work(Nif, case Sub of undefined -> both; _ -> erltrace_sub:form(Sub) end) of
        {ok, []} ->
            {keep_state_and_data, snapshot_timer(Data)};
        {ok, Items} ->
            {keep_state, keep(Items, Data), snapshot_timer(Data)};
        {done, Items} when Sub =:= undefined ->
            {next_state, done, disarm(Data#data{kept = Kept ++ Items})};
        {done, Items} ->
            {State1, Data1} = send(stopped, disarm(Data#data{kept = Kept ++ Items})),
            {next_state, State1, Data1};
        _ ->
            {keep_state_and_data, snapshot_timer(Data)} % out of memory: try again
    end.

keep(Items, #data{kept = Kept} = Data) ->
    All = Kept ++ Items,
    Data#data{kept = lists:nthtail(max(0, length(All) - ?KEPT), All)}.

%% What is kept of processes is freed by a sweep where their exits are not traced.
sweep_timer(#data{arming = Arming}) ->
    [{{timeout, sweep}, 0, []} || erltrace_arming:sweeps(Arming)].

%% The code that stacks are looked up in is loaded and purged while the script runs.
code_timer(#data{arming = Arming} = Data) ->
    [beat(code, calm(erltrace_code:interval(), Data)) || erltrace_arming:stacks(Arming)].

%% Each tick reads the counters too: that is enough where nobody looks on.
counts_timer(_, #data{calm = true}) ->
    [];
counts_timer(Arming, _) ->
    [beat(counts, erltrace_arming:counts_interval(Arming))].

%% A tick finds out that a script has ended.
check_timer(#data{calm = true, sub = Sub}) when Sub =/= undefined -> [];
check_timer(_) -> [beat(check, ?CHECK)].

rearm(running, #data{arming = Arming, kernel = undefined} = Data) ->
    Data#data{arming = erltrace_arming:rearm(Arming)};
rearm(_, Data) ->
    Data.

%% The limiter says that the script has ended by itself or must end. What was gathered stays.
ended(done, State, Data) ->
    {next_state, stopped(State), disarm(Data)};
ended({aborted, Text}, State, #data{nif = Nif} = Data) ->
    Data1 = disarm(Data),
    _ = erltrace_nif:stop(Nif),
    Error = {error, {dtrace, <<"ET_WATCHDOG">>, 0, 0, Text}},
    {next_state, stopped(State), Data1#data{aborted = Error}}.

tell_owner(#data{limiter = undefined}) -> ok;
tell_owner(#data{limiter = Limiter, owner = {Owner, _}}) -> erltrace_limiter:owner(Limiter, Owner).

watch(#data{limiter = undefined}) -> ok; % when it comes
watch(#data{limiter = Limiter, calm = Calm}) ->
    erltrace_limiter:watch(Limiter, case Calm of true -> ?CALM; false -> 0 end).

%% Where polls are rare, one process looks for new modules for all.
follow_loads(Arming, #data{calm = true}) ->
    erltrace_arming:rearm_interval(Arming) =:= infinity orelse erltrace_new_modules:follow(self());
follow_loads(_, _) ->
    ok.

%% ---- a subscription --------------------------------------------------------------------------

is_sub(_, #data{sub = undefined}) -> false;
is_sub(Ref, #data{sub = Sub}) -> erltrace_sub:ref(Sub) =:= Ref.

unsubscribe(#data{sub = Sub} = Data) ->
    erltrace_sub:free(Sub),
    Data#data{sub = undefined}.

tick(open, Data) ->
    {keep_state, Data};
tick(State, #data{sub = Sub} = Data) ->
    case is_over(Data) orelse erltrace_sub:due(Sub) of
        true ->
            {State1, Data1} = send(State, Data),
            {next_state, State1, Data1};
        false ->
            {keep_state, Data}
    end.

%% The script has ended: send the last message, if there is a subscriber.
last(State, #data{sub = undefined} = Data) -> {State, Data};
last(State, Data) -> send(State, Data).

send(State, #data{nif = Nif, sub = Sub} = Data) ->
    {State1, Data1} = gather(now, [now], State, Data),
    {Kept, Data2} = take_kept(erltrace_sub:form(Sub), Data1),
    case read(Nif, erltrace_sub:form(Sub), erltrace_sub:aggregations(Sub)) of
        {ok, Items, Aggs} ->
            Sub1 = erltrace_sub:send(tick, status(Data2), {Kept ++ Items, Aggs}, Sub),
            {State1, Data2#data{sub = Sub1}};
        {done, Items, Aggs} ->
            Sub1 = erltrace_sub:send(done, status(Data2), {Kept ++ Items, Aggs}, Sub),
            {done, unsubscribe(disarm(Data2#data{sub = Sub1}))};
        _ -> % out of memory: try again at the next tick
            {State1, Data1}
    end.

read(Nif, Form, ticks) ->
    Parts = erltrace_metrics:telemetry_runs(),
    erltrace_nif:ticks(Nif, Form, atom_to_binary(node()), Parts);
read(Nif, Form, Which) ->
    case {erltrace_nif:work(Nif, Form), erltrace_nif:walk(Nif, Which =:= new)} of
        {{Status, Items}, {ok, Aggs}} when is_list(Items) -> {Status, Items, Aggs};
        _ -> error
    end.
