%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Arms the VM: trace flags of processes and ports, trace patterns of functions.
%%
%% From OTP 27 on each handle has a trace session of its own, and other tracers are not affected.
%% Garbage collections are the exception: two sessions that trace them in one process crash OTP 27
%% to 29 (erlang/otp#11624). All our handles get them from one additional session (erltrace_gc).
%%
%% Before OTP 27 a process has one tracer, and a function has one pattern in the whole node. All our
%% handles share one tracer, with the union of the flags and patterns that they need. Processes that
%% somebody else traces are left alone, and counted. The library keeps what each handle needs
%% (c_src/beam/nif/store.c); it is changed under a lock.
%%
%% Processes and ports are armed one by one, never by `all' or `existing': on OTP 25, tracing all of
%% them in one call can crash a node whose dirty schedulers are busy.
-module(erltrace_vm).
-export([
    load/0,
    arm/3,
    disarm/1,
    forget/1,
    rearm/2,
    follow/1,
    is_selective/1,
    is_traced/2,
    skipped/1,
    left/1,
    about/1,
    leave_application/0
]).
-export([has_sessions/0, locked/1, alive/1, renew/0]). % for erltrace_counters
-export([trace_search/2]). % for erltrace_find
-export([gc_session/1, gc_trace/2, attempt/3]). % for erltrace_gc
-export([end_session/1, sessions/0]). % for erltrace_rearm
-export([change_of/2]). % for erltrace_askers
-export_type([armed/0]).

-define(APP, erltrace).
-define(OWNER, {?MODULE, owner}). % the handle's owner, while arming
-define(MANY, 2000).  % functions: copying more than this takes long
-define(BATCH, 256). % processes whose flags change before others have a turn
-define(HELPERS, 128). % that change them
-define(LOCK, erltrace_vm_lock). % the registered name of the process that holds the lock
-define(ENDED, ended_session). % which session of ours was the last to end
-define(ALL, 0). % the tracer state that stands for every handle: BEAM_ALL

%% With every send event comes the sender's sequential trace token.
-define(TOKEN, [{'_', [], [{message, {get_seq_token}}]}]).

%% With every message of a timer comes clock_service, which the VM has it sent by.
-define(CLOCK, {[clock_service, '_', '_'], [], [{message, clock_service}]}).
-define(CLOCK_TOO, [?CLOCK, {'_', [], []}]). % and all other messages

%% name: no other processes than those of this name are traced, pids.
-record(want, {number, flags = [], port_flags = [], patterns = #{}, token = false, clock = false,
               name, pids = all}).
-record(armed, {want, session, gc, skipped = 0, left = 0}). % gc: the process of erltrace_gc
-opaque armed() :: #armed{}.

%% @doc Load the modules that arming calls: later the node may have no file descriptor left for it.
-spec load() -> ok.
load() ->
    _ = has_sessions() andalso code:ensure_loaded(trace),
    ok.

%% @doc Arm what the enabled probes need. Tens of thousands of functions may take many seconds. If
%% the owner ends meanwhile we stop half way, and forget/1 takes back what has been armed.
-spec arm(pos_integer(), erltrace_needs:needs(), Owner :: pid()) ->
          {ok, armed()} | {error, Tag :: binary(), Text :: binary()} | gone.
arm(Number, Needs, Owner) ->
    put(?OWNER, Owner),
    try arm(Number, Needs)
    catch throw:owner_gone -> gone
    after erase(?OWNER)
    end.

arm(Number, Needs) ->
    Name = erltrace_needs:value(processes, Needs),
    case called(Name, has_sessions() andalso not erltrace_needs:has(no_labels, Needs)) of
        [] ->
            {error, <<"ET_NO_PROCESS">>,
             <<"option processes: there is no process called ", Name/binary>>};
        Pids ->
            arm(Number, Needs, Name, Pids)
    end.

arm(Number, Needs, Name, Pids) ->
    Want = #want{number = Number, name = Name, pids = Pids,
                 flags = [N || N <- [call, arity, return_to, procs, running_procs, send, 'receive',
                                     garbage_collection], erltrace_needs:has(N, Needs)],
                 port_flags = [ports || erltrace_needs:has(ports, Needs)] ++
                     ['receive' || erltrace_needs:has(port_receive, Needs)] ++
                     [running_ports || erltrace_needs:has(port_running, Needs)],
                 token = erltrace_needs:has(seq_token, Needs), clock = clock(Needs),
                 patterns = erltrace_patterns:from_needs(Needs)},
    case {Want, has_sessions()} of
        {#want{flags = [], port_flags = []}, _} -> {ok, #armed{want = Want}};
        {_, true} -> arm_session(Want);
        {_, false} ->
            case taken(Want) of
                false -> arm_shared(Want);
                Error -> Error
            end
    end.

%% Which messages are timers': of these only, or of all.
clock(Needs) ->
    case {erltrace_needs:has(timers, Needs), erltrace_needs:has(timers_too, Needs)} of
        {true, _} -> [?CLOCK];
        {_, true} -> ?CLOCK_TOO;
        _ -> false
    end.

%% Has somebody else set the node's one match specification for send or receive?
taken(#want{token = Token, clock = Clock}) ->
    {match_spec, Send} = erlang:trace_info(send, match_spec),
    {match_spec, Receive} = erlang:trace_info('receive', match_spec),
    if
        Token, Send =/= true, Send =/= ?TOKEN ->
            {error, <<"ET_SEND_PATTERN">>,
             <<"somebody has set a match specification for send, and this release has one "
               "only: leave out the arguments of message-send that show the sequential "
               "trace token">>};
        Clock =/= false, Receive =/= true, Receive =/= ?CLOCK_TOO ->
            {error, <<"ET_RECEIVE_PATTERN">>,
             <<"somebody has set a match specification for receive, and this release has one "
               "only: timer-expire needs it">>};
        true ->
            false
    end.

%% Processes of a name, or a pid; all, if there is none.
called(undefined, _) ->
    all;
called(Name, Labels) ->
    case as_pid(Name) ++ registered_as(Name) of
        [] -> [P || P <- processes(), P =/= self(),
                    erltrace_process_name:text(erltrace_process_name:ask(P, Labels)) =:= Name];
        Pids -> Pids
    end.

as_pid(Name) ->
    try list_to_pid(binary_to_list(Name)) of
        Pid -> [Pid || node(Pid) =:= node(), is_process_alive(Pid)]
    catch error:badarg -> []
    end.

%% With the quotes that Erlang writes, or without them.
registered_as(Name) ->
    try whereis(binary_to_existing_atom(string:trim(Name, both, "'"), utf8)) of
        Pid when is_pid(Pid) -> [Pid];
        _ -> []
    catch error:_ -> []
    end.

%% @doc Are there processes that it does not trace, because the script has named those it is about?
-spec is_selective(armed()) -> boolean().
is_selective(#armed{want = #want{name = Name}}) -> Name =/= undefined.

%% @doc Does another process have the registered name by now that the script has asked for? It is
%% the one then.
-spec follow(armed() | undefined) -> none | {pid(), armed()}.
follow(undefined) ->
    none;
follow(#armed{want = #want{name = undefined}}) ->
    none;
follow(#armed{session = Session, gc = Gc, want = #want{name = Name, pids = Pids} = Want} = Armed) ->
    case registered_as(Name) of
        [Pid] when Pids =/= [Pid] ->
            Want1 = Want#want{pids = [Pid]},
            _ = case Session of
                    undefined -> share(Want#want.number, [Want1]);
                    _ ->
                        Gc =:= false orelse erltrace_gc:add(Gc, [Pid]),
                        trace_processes(Session, Want#want.flags -- [garbage_collection], [Pid])
                end,
            {Pid, Armed#armed{want = Want1}};
        _ ->
            none
    end.

arm_shared(#want{number = Number} = Want) ->
    {Skipped, Left} = share(Number, [Want]),
    {ok, #armed{want = Want, skipped = Skipped, left = Left}}.

%% @doc Take everything back.
-spec disarm(armed()) -> ok.
disarm(#armed{want = #want{flags = [], port_flags = []}}) ->
    ok;
disarm(#armed{session = undefined, want = #want{number = Number}}) ->
    _ = share(Number, []),
    ok;
disarm(#armed{session = Session, gc = Gc}) ->
    Gc =:= false orelse erltrace_gc:leave(Gc),
    end_session(Session).

%% @doc Ends a trace session, and notes that one has ended (erltrace_rearm).
-spec end_session(term()) -> ok.
end_session(Session) ->
    _ = apply(trace, session_destroy, [Session]),
    erltrace_nif:keep(?ENDED, erlang:unique_integer()).

%% @doc Which trace sessions there are, and which of ours was the last to end.
-spec sessions() -> {Last :: integer(), [term()]}.
sessions() -> {erltrace_nif:kept(?ENDED, 0), apply(trace, session_info, [all])}.

%% @doc Arm more functions, or functions whose code has been loaded again.
-spec rearm(armed(), erltrace_needs:needs()) -> armed().
rearm(#armed{want = #want{flags = Flags}} = Armed, Needs) ->
    case lists:member(call, Flags) of
        true -> rearm_calls(Armed, Needs);
        false -> arm_calls(Armed, erltrace_patterns:from_needs(Needs))
    end.

%% So far the VM counted all functions (erltrace_counters), and no process was traced for calls.
arm_calls(#armed{session = Session, want = #want{flags = Flags, patterns = Ps} = Want} = Armed,
          New) ->
    Want1 = Want#want{flags = [call, arity | Flags], patterns = erltrace_patterns:merge(Ps, New)},
    Armed1 = case {has_sessions(), Session} of
                 {true, undefined} ->
                     {ok, A} = arm_session(Want1),
                     A;
                 {true, _} ->
                     set_patterns(Session, New),
                     trace_processes(Session, [call, arity], Want#want.pids),
                     Armed;
                 {false, _} ->
                     {ok, A} = arm_shared(Want1),
                     A
             end,
    Armed1#armed{want = Want1}.

rearm_calls(#armed{session = undefined, want = Want} = Armed, Needs) ->
    #want{number = Number, patterns = Ps} = Want,
    Want1 = Want#want{patterns = erltrace_patterns:merge(Ps, erltrace_patterns:from_needs(Needs))},
    locked(fun() ->
                   Old = erltrace_nif:kept(armed, []),
                   %% If it is not there, the watchdog has taken everything back.
                   lists:keymember(Number, #want.number, Old) andalso begin
                       New = lists:keyreplace(Number, #want.number, Old, Want1),
                       keep_wants(New),
                       #want{patterns = Wanted} = union(New),
                       change_patterns(Wanted)
                   end
           end),
    Armed#armed{want = Want1};
rearm_calls(#armed{session = Session} = Armed, Needs) ->
    set_patterns(Session, erltrace_patterns:from_needs(Needs)),
    Armed.

%% A session has no patterns but ours.
set_patterns(Session, Patterns) ->
    erltrace_patterns:on(Patterns, #{}, {fun(_) -> true end, fun(_) -> ok end},
                         fun(MFA, Pattern, Opts) ->
                                 check_owner(),
                                 attempt(trace, function, [Session, MFA, Pattern, Opts])
                         end).

%% @doc Is this function armed in the code that is loaded now?
-spec is_traced(armed(), mfa()) -> boolean().
is_traced(#armed{session = undefined}, MFA) ->
    is_traced(erlang:trace_info(MFA, traced));
is_traced(#armed{session = Session}, MFA) ->
    is_traced(apply(trace, info, [Session, MFA, traced])).

is_traced({traced, Kind}) -> Kind =:= local orelse Kind =:= global.

%% @doc Take back everything that handle Number has armed, when its process cannot.
-spec forget(pos_integer()) -> ok.
forget(Number) ->
    case has_sessions() of
        true -> ok; % a session ends with the process that holds it
        false ->
            _ = share(Number, []),
            erltrace_counters:forget(Number)
    end.

%% @doc How many processes were left to another tracer.
-spec skipped(armed()) -> non_neg_integer().
skipped(#armed{skipped = N}) -> N.

%% @doc How many functions were left with somebody else's pattern.
-spec left(armed()) -> non_neg_integer().
left(#armed{left = N}) -> N.

%% @doc What is armed: trace flags, and how many functions.
-spec about(armed()) -> [atom() | {functions, pos_integer()}].
about(#armed{want = #want{flags = Flags, port_flags = PortFlags, patterns = Patterns}}) ->
    ((Flags ++ (PortFlags -- Flags)) -- [arity]) ++
        [{functions, N} || N <- [erltrace_patterns:count(Patterns)], N > 0].

%% @doc Leave the application: for a process that must survive when others of ours are killed. When
%% an application ends, for example because its supervisor was killed, all processes with its group
%% leader are killed.
-spec leave_application() -> true.
leave_application() ->
    group_leader(whereis(init), self()).

%% ---- one tracer for all handles: before OTP 27 -----------------------------------------------

%% Replace what handle Number needs. Returns how many processes and functions are somebody else's.
%% During the change both the old and the new state are kept: if this process is killed, the next
%% one takes back everything that may have been armed.
share(Number, Wants) ->
    locked(fun() ->
                   Old = erltrace_nif:kept(armed, []),
                   New = Wants ++ [W || #want{number = N} = W <- Old, N =/= Number, alive(N)],
                   case Old =:= New of
                       true -> {0, 0};
                       false -> share_changed(Old, New, Wants ++ Old)
                   end
           end).

share_changed(Old, New, Both) ->
    keep_wants(Both),
    N = change(Old, New),
    case New of
        [] ->
            erltrace_nif:drop(armed),
            erltrace_nif:drop(patterns);
        _ ->
            keep_wants(New)
    end,
    N.

keep_wants(Wants) ->
    keep(armed, Wants, lists:sum([erltrace_patterns:count(W#want.patterns) || W <- Wants])).

keep_patterns(Patterns) ->
    keep(patterns, Patterns, erltrace_patterns:count(Patterns)).

keep(Key, Term, N) when N > ?MANY -> erltrace_nif:keep_large(Key, Term);
keep(Key, Term, _) -> erltrace_nif:keep(Key, Term).

%% @doc Is there a handle of this number?
-spec alive(pos_integer()) -> boolean().
alive(Number) ->
    try erltrace_nif:alive(Number)
    catch error:_ -> false % the library is not loaded
    end.

%% @doc A lock, which is a registered name: it is free again when its holder ends, in whatever way.
-spec locked(fun(() -> Result)) -> Result.
locked(Fun) ->
    Lock = lock(),
    try Fun()
    after unlock(Lock)
    end.

lock() ->
    try register(?LOCK, self())
    catch
        error:badarg ->
            case process_info(self(), registered_name) of
                {registered_name, _} -> lock_by_helper();
                [] -> receive after 2 -> ok end, lock()
            end
    end.

%% A process has at most one name, and this one already has another. A helper process holds the lock
%% for it while both live.
lock_by_helper() ->
    Me = self(),
    {Pid, Mon} = spawn_monitor(fun() ->
                                       process_flag(sensitive, true),
                                       Mine = erlang:monitor(process, Me),
                                       true = lock(),
                                       Me ! {self(), locked},
                                       receive
                                           {'DOWN', Mine, process, Me, _} -> ok;
                                           {unlock, Me} -> ok
                                       end
                               end),
    receive
        {Pid, locked} -> {Pid, Mon};
        {'DOWN', Mon, process, Pid, _} -> lock()
    end.

unlock(true) ->
    unregister(?LOCK);
unlock({Pid, Mon}) ->
    Pid ! {unlock, self()},
    receive {'DOWN', Mon, process, Pid, _} -> true end.

union([#want{} = Want]) ->
    Want;
union(Wants) ->
    #want{token = lists:any(fun(W) -> W#want.token end, Wants),
          clock = lists:any(fun(W) -> W#want.clock =/= false end, Wants),
          flags = flags(Wants),
          port_flags = lists:usort(lists:append([W#want.port_flags || W <- Wants])),
          patterns = lists:foldl(fun(#want{patterns = New}, Ps) ->
                                         maps:fold(fun add_patterns/3, Ps, New)
                                 end, #{}, Wants)}.

flags(Wants) ->
    Flags = lists:usort(lists:append([W#want.flags || W <- Wants])),
    %% If one handle reads arguments, all get them: a call may have arguments or just the arity.
    Args = lists:any(fun(#want{flags = Fs}) ->
                             lists:member(call, Fs) andalso not lists:member(arity, Fs)
                     end, Wants),
    case Args of
        true -> Flags -- [arity];
        false -> Flags
    end.

add_patterns(Module, New, Ps) ->
    case Ps of
        #{Module := Fs} -> Ps#{Module := maps:fold(fun add_pattern/3, Fs, New)};
        _ -> Ps#{Module => New}
    end.

%% A function has one pattern, and each of these reports what the one before it does, and more:
%% [local] all calls, with the match specification of `return' values, of `exception' exceptions.
%% `follow' goes with any of them.
add_pattern(F, Kind, Fs) ->
    case Fs of
        #{F := Had} -> Fs#{F := stronger(Had, Kind)};
        _ -> Fs#{F => Kind}
    end.

stronger(A, B) ->
    {FollowsA, KindA} = follows(A),
    {FollowsB, KindB} = follows(B),
    Most = lists:last([
        K
     || K <- [global, local, return, exception], K =:= KindA orelse K =:= KindB
    ]),
    case {FollowsA orelse FollowsB, Most} of
        {false, _} -> Most;
        {true, return} -> follow_return;
        {true, exception} -> follow_exception;
        {true, _} -> follow
    end.

follows(follow) -> {true, local};
follows(follow_return) -> {true, return};
follows(follow_exception) -> {true, exception};
follows(Kind) -> {false, Kind}.

scope(Kind) -> erltrace_patterns:scope(Kind).

change(OldWants, NewWants) ->
    Old = union(OldWants),
    New = union(NewWants),
    Left = change_patterns(New#want.patterns),
    case {Old#want.token, New#want.token} of
        {Same, Same} -> ok;
        {_, true} -> attempt(erlang, trace_pattern, [send, ?TOKEN, []]);
        {_, false} -> attempt(erlang, trace_pattern, [send, true, []])
    end,
    case {Old#want.clock =/= false, New#want.clock =/= false} of
        {Is, Is} -> ok;
        {_, true} -> attempt(erlang, trace_pattern, ['receive', ?CLOCK_TOO, []]);
        {_, false} -> attempt(erlang, trace_pattern, ['receive', true, []])
    end,
    N = change_processes(OldWants, NewWants),
    _ = change(new_ports, fun erlang:ports/0, Old#want.port_flags, New#want.port_flags),
    {N, Left}.

%% Processes that scripts have named, and all others.
change_processes(Old, New) ->
    Named = lists:usort(lists:append([Ps || #want{pids = Ps} <- Old ++ New, is_list(Ps)])),
    N = change(new_processes, fun() -> processes() -- Named end, flags(any, Old), flags(any, New)),
    N + length([x || P <- Named, others <- [change_one(P, flags(P, Old), flags(P, New))]]).

flags(Who, Wants) ->
    flags([W || #want{pids = Ps} = W <- Wants, Ps =:= all orelse lists:member(Who, Ps)]).

%% Patterns apply to the whole node. One that somebody else has set (dbg, for example) stays. We
%% record our own, and take one back only if it still looks like ours. Returns how many functions
%% have somebody else's pattern, which may report fewer events than ours would.
change_patterns(Wanted) ->
    set_wanted(beside_counters(Wanted)).

%% A [global] pattern would remove the counter of a function, which may be a breakpoint of the fast
%% way.
beside_counters(Wanted) ->
    case erltrace_counters:kept() ++ erltrace_fastcalls:breakpoints() of
        [] -> Wanted;
        Kept ->
            Counted = fun(MFA) -> lists:any(fun({_, Ps}) ->
                                                    erltrace_patterns:get(MFA, Ps) =/= none
                                            end, Kept) end,
            erltrace_patterns:map(fun(MFA, global) ->
                                          case Counted(MFA) of true -> local; false -> global end;
                                     (_, Kind) -> Kind
                                  end, Wanted)
    end.

%% @doc Counters have been removed, under the lock: set the patterns as they are without them.
-spec renew() -> ok.
renew() ->
    case erltrace_nif:kept(armed, []) of
        [] -> ok;
        Wants ->
            #want{patterns = Wanted} = union(Wants),
            IsGlobal = fun(_, Kind, Any) -> Any orelse Kind =:= global end,
            _ = erltrace_patterns:fold(IsGlobal, false, Wanted) andalso change_patterns(Wanted),
            ok
    end.

set_wanted(Wanted) ->
    Have = erltrace_nif:kept(patterns, #{}),
    %% A module that was reloaded has lost its patterns.
    Ours = erltrace_patterns:filter(fun(MFA, Kind) -> current(MFA) =:= shown(Kind) end, Have),
    Off = erltrace_patterns:filter(fun(MFA, Kind) ->
                                           Kind1 = erltrace_patterns:get(MFA, Wanted),
                                           Kind1 =:= none orelse scope(Kind1) =/= scope(Kind)
                                   end, Ours),
    IsBare = fun(MFA) -> lists:member(current(MFA), [none, undefined]) andalso
                             not is_counted(MFA) end,
    erltrace_patterns:off(Off, IsBare, fun set_pattern/3),
    On = erltrace_patterns:filter(fun(MFA, Kind) ->
                                          case erltrace_patterns:get(MFA, Ours) of
                                              none -> current(MFA) =:= none;
                                              Kind1 -> Kind1 =/= Kind
                                          end
                                  end, Wanted),
    Stay = erltrace_patterns:without(Off, Ours),
    Kept = erltrace_patterns:merge(Stay, On),
    keep_patterns(Kept),
    Touch = fun(More) when map_size(More) =:= 0 -> ok;
               (More) -> % they are ours for a moment
                    keep_patterns(erltrace_patterns:merge(More, Kept))
            end,
    erltrace_patterns:on(On, erltrace_patterns:without(On, Stay), {IsBare, Touch},
                         fun set_pattern_on/3),
    keep_patterns(Kept),
    Other = erltrace_patterns:without(On, erltrace_patterns:without(Ours, Wanted)),
    erltrace_patterns:fold(fun(MFA, Kind, N) ->
                                   case lists:member(current(MFA), [undefined, shown(Kind)]) of
                                       true -> N;
                                       false -> N + 1
                                   end
                           end, 0, Other).

set_pattern_on(MFA, Pattern, Opts) ->
    check_owner(),
    set_pattern(MFA, Pattern, Opts).

check_owner() ->
    case get(?OWNER) of
        Owner when is_pid(Owner), node(Owner) =:= node() ->
            is_process_alive(Owner) orelse throw(owner_gone);
        _ ->
            true
    end.

set_pattern(MFA, Pattern, Opts) ->
    attempt(erlang, trace_pattern, [MFA, Pattern, Opts]).

%% {local | global, MatchSpec}, none, or undefined if there is no such function. One by one: asking
%% for everything at once (`all') blocks the whole node.
current(MFA) ->
    case erlang:trace_info(MFA, traced) of
        {traced, false} -> none;
        {traced, undefined} -> undefined;
        {traced, Scope} ->
            {match_spec, Spec} = erlang:trace_info(MFA, match_spec),
            {Scope, Spec}
    end.

%% By us or by others: setting and removing [global] would remove the counter.
is_counted(MFA) ->
    {call_count, N} = erlang:trace_info(MFA, call_count),
    is_integer(N).

%% How the VM shows what we set.
shown(Kind) ->
    case erltrace_patterns:pattern(Kind) of
        true -> {Kind, []};
        Spec -> {local, Spec}
    end.

change(_, _, [], []) ->
    0;
change(Coming, Existing, Old, New) ->
    %% New processes first: one that exists afterwards is in the list, or had the flags from birth.
    First = change_one(Coming, Old, New),
    Results = [First | change_each(Existing() -- [self()], Old, New)],
    length([x || others <- Results]).

%% A process that is traced answers for its tracer when it is scheduled. In a busy node that takes a
%% time slice of somebody else: one after the other, 100,000 took minutes. So helpers ask many at
%% once.
change_each(Whos, [_ | _] = Old, New) when length(Whos) > ?BATCH, is_pid(hd(Whos)) ->
    erltrace_askers:open(?HELPERS),
    try change_batches(Whos, {Old, New})
    after erltrace_askers:close()
    end;
change_each(Whos, Old, New) ->
    [change_one(Who, Old, New) || Who <- Whos].

change_batches(Pids, Change) when length(Pids) =< ?BATCH ->
    change_batch(Pids, Change);
change_batches(Pids, Change) ->
    {Batch, Rest} = lists:split(?BATCH, Pids),
    change_batch(Batch, Change) ++ change_batches(Rest, Change).

change_batch(Pids, {Old, New} = Change) ->
    erltrace_loader:turn(),
    Answers = erltrace_askers:ask(Pids, {?MODULE, change_of, Change}, ?BATCH div ?HELPERS),
    [case Answer of
         silent -> change_one(Pid, Old, New); % in a NIF, say: it must answer
         _ -> Answer
     end || {Pid, Answer} <- Answers].

%% @doc A helper of erltrace_askers changes the flags of a process.
-spec change_of(pid(), {Old :: [atom()], New :: [atom()]}) -> term().
change_of(Pid, {Old, New}) ->
    change_one(Pid, Old, New, tracer_of(Pid)).

%% Ask for the tracer first: trying and failing would be logged by the node.
change_one(Who, Old, New) ->
    erltrace_loader:turn(),
    try change_one(Who, Old, New, tracer_of(Who))
    catch error:badarg -> ok % it has just ended
    end.

%% A process is woken up to answer for its tracer. Whether it has one at all the VM answers itself,
%% in a fifth of the time.
tracer_of(Who) when is_pid(Who) ->
    case process_info(Who, trace) of
        {trace, 0} -> {tracer, []};
        _ -> erlang:trace_info(Who, tracer)
    end;
tracer_of(Who) ->
    erlang:trace_info(Who, tracer).

%% OTP's types do not have tracers that are modules.
-dialyzer([{no_match, change_one/4}, {no_unused, trace_off/2}]).
change_one(_, _, [], {tracer, []}) -> ok;
change_one(Who, _, New, {tracer, []}) -> trace_on(Who, New);
change_one(Who, Old, New, {tracer, {erltrace_nif, ?ALL}}) ->
    Old -- New =/= [] andalso trace_off(Who, Old -- New),
    New -- Old =/= [] andalso trace_on(Who, New -- Old);
change_one(_, _, New, {tracer, _}) when New =/= [] -> others;
change_one(_, _, _, _) -> ok. % it has ended, or is somebody else's

%% The tracer is named: otherwise the VM would remove it from new processes, and all flags with it.
trace_off(Who, Flags) ->
    erlang:trace(Who, false, [{tracer, erltrace_nif, ?ALL} | Flags]).

trace_on(Who, Flags) ->
    erlang:trace(Who, true, [{tracer, erltrace_nif, ?ALL} | Flags]).

%% ---- a session for each: OTP 27 and later ----------------------------------------------------

%% @doc By the release: looking for a missing module would read the whole code path.
-spec has_sessions() -> boolean().
has_sessions() ->
    list_to_integer(erlang:system_info(otp_release)) >= 27.

arm_session(#want{flags = Flags} = Want) ->
    case lists:member(garbage_collection, Flags) andalso erltrace_gc:join(Want#want.pids) of
        {error, Tag, Text} -> {error, Tag, Text};
        Gc ->
            S = session(Want#want.number, Want#want.patterns, Flags -- [garbage_collection],
                        Want#want.port_flags, Want#want.pids),
            Want#want.token andalso apply(trace, send, [S, ?TOKEN, []]),
            Want#want.clock =:= false orelse apply(trace, recv, [S, Want#want.clock, []]),
            {ok, #armed{want = Want, session = S, gc = Gc}}
    end.

%% The session lives as long as a process holds this term.
session(State, Patterns, Flags, PortFlags, Pids) ->
    S = apply(trace, session_create, [?APP, {erltrace_nif, State}, []]),
    lists:member(return_to, Flags) andalso erltrace_nif:session(State, session_number(S)),
    set_patterns(S, Patterns),
    trace_processes(S, Flags, Pids),
    PortFlags =/= [] andalso attempt(trace, port, [S, new, true, PortFlags]),
    [attempt(trace, port, [S, P, true, PortFlags]) || PortFlags =/= [], P <- erlang:ports()],
    S.

%% As it is found on the stacks of processes (c_src/beam/vm/layout.c); if unknown, a number of none.
session_number({_, {_, Number}}) when is_integer(Number) -> Number;
session_number(_) -> 1 bsl 59 - 1.

%% New processes first: one that exists afterwards is in the list, or was traced from birth.
trace_processes(_, [], _) ->
    ok;
trace_processes(Session, Flags, Pids) when is_list(Pids) ->
    [attempt(trace, process, [Session, P, true, Flags]) || P <- Pids],
    ok;
trace_processes(Session, Flags, all) ->
    attempt(trace, process, [Session, new, true, Flags]),
    [attempt(trace, process, [Session, P, true, Flags]) || P <- processes(), P =/= self()],
    ok.

%% @doc For erltrace_gc: a session that traces the garbage collections of processes.
-spec gc_session(all | [pid()]) -> term().
gc_session(Pids) ->
    session(?ALL, #{}, [garbage_collection], [], Pids).

%% @doc Trace more processes, or the same again: while no handle is alive the tracer removes itself.
-spec gc_trace(term(), all | [pid()]) -> ok.
gc_trace(Session, Pids) ->
    trace_processes(Session, [garbage_collection], Pids).

%% @doc The process, port or function may have gone meanwhile.
-spec attempt(module(), atom(), [term()]) -> term().
attempt(M, F, Args) ->
    erltrace_loader:turn(),
    try apply(M, F, Args)
    catch error:badarg -> 0
    end.

%% ---- for searches (erltrace_find) ------------------------------------------------------------

%% @doc Trace this process, and its calls of these functions, for the search for its stack. What is
%% returned ends it.
-spec trace_search(pid(), [mfa()]) -> fun(() -> term()).
trace_search(P, Fns) ->
    Flags = [call, arity, return_to, 'receive'],
    case has_sessions() of
        true ->
            S = session(
                layout,
                erltrace_patterns:from_needs([{local, M, F, A} || {M, F, A} <- Fns]),
                [],
                [],
                all
            ),
            ok = erltrace_nif:find(stack, {session, session_number(S)}),
            apply(trace, process, [S, P, true, Flags]),
            fun() -> end_session(S) end;
        false ->
            [erlang:trace_pattern(Fn, true, [local]) || Fn <- Fns],
            % others may trace new processes
            attempt(erlang, trace, [P, false, [all]]),
            attempt(erlang, trace, [P, true, [{tracer, erltrace_nif, layout} | Flags]]),
            fun() -> [erlang:trace_pattern(Fn, false, [local]) || Fn <- Fns] end
    end.
