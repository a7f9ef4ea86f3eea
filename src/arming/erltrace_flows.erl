%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The node's sequential system tracer, for scripts that follow requests (c_src/beam/flow/flows.c).
%% A node has one: if somebody else has set it, the script does not start. A process of this module
%% holds it for the script and ends flows that are over.
%%
%% Where several nodes run the script, each tells the node in which a flow has begun when its own
%% part of it is over (c_src/beam/flow/flow_nodes.c). After a node stood still such reports may wait
%% to be received, and flows look as if nothing had happened in them for long: so the first look
%% after that is left out. The time line of all is the clock of the first. The others ask it for the
%% time, several times before they begin and now and then afterwards (c_src/beam/flow/flow_clock.c).
%%
%% Tokens end with the script too. The VM can take the tokens of all processes and of all messages
%% away in one call, which stops the schedulers for as long as that takes. It is made unless
%% somebody else uses tokens in this node: those are never touched. Then processes lose ours one by
%% one, each at an event of its own, and messages lose theirs as they are received. What still waits
%% in a mailbox when that is over is left, which is told.
%%
%% Others may take the system tracer, or remove it, while the script runs. That is told, also to the
%% other nodes of the script. Nothing is followed from then on in any of them, and our tokens are
%% taken away: whoever has the tracer now would be told of them.
-module(erltrace_flows).
-behaviour(gen_server).
-export([start/4, stop/1]).
-export([
    init/1,
    handle_continue/2,
    handle_call/3,
    handle_cast/2,
    handle_info/2,
    terminate/2,
    code_change/3,
    format_status/1
]).

-define(LABEL, erltrace_flow). % of our tokens
-define(OURS, 58).             % the highest bit of a label that is a number, of any script's run
-define(EVERY, 50).            % ms between two looks at which flows are over
-define(STILL, 250).           % ms: if a look comes this much later, the node stood still
-define(ASK, 8).               % so often a node asks for the time before it begins
-define(ANSWER, 100).          % ms that it waits for each answer
-define(AGAIN, 20).            % so many looks before it asks again
-define(TOGETHER, 3000).       % ms that the nodes which run a script have to take their tokens away
-define(ROUNDS, 30).           % so often, at most,
-define(CLEAN, 2).             % or until so many times in a row none of them has seen one
-define(PAUSE, 5).             % ms between two rounds
-define(ALONE, 25).            % the same of a node that is alone
-define(CHECK, 200).           % processes asked for their tokens, before others run
-define(ASKED, 300).           % ms that processes have to answer, so that they lose their tokens

-record(st, {sup :: pid(), number :: pos_integer(), handle :: pid(), foreign = false :: boolean(),
             claim :: ok | {taken, By :: term()} | undefined, % of the system tracer
             nodes = [] :: [node()],       % that run the script
             looks = 0 :: non_neg_integer(),
             looked :: integer() | undefined, % ms; undefined: a look was left out
             % the system tracer, in this node or another one
             lost = false :: false | here | elsewhere,
             told = [] :: [tuple()]}).     % by those of them that take their tokens away already

%% @doc Hold the system tracer for the handle of this number, if it follows; Handle is its process.
-spec start(Sup :: pid(), pos_integer(), pid(), erltrace_needs:needs()) ->
          {ok, pid() | undefined} | {error, Tag :: binary(), Text :: binary()} | gone.
start(Sup, Number, Handle, Needs) ->
    case erltrace_needs:has(flows, Needs) andalso erltrace_find:known(token) of
        false ->
            case erltrace_needs:has(too_many_flow_nodes, Needs) of
                false ->
                    {ok, undefined};
                true ->
                    {error, <<"ET_FLOW">>,
                        <<"requests can be followed through 127 nodes at most: name fewer of "
                          "them">>}
            end;
        ok ->
            start(Sup, Number, Handle);
        {refused, _} ->
            {error, <<"ET_FLOW">>, <<
                "requests cannot be followed here: where this VM keeps the token of a process is "
                "not "
                "known"
            >>}
    end.

start(Sup, Number, Handle) ->
    case erltrace_handle_sup:start_helper(Sup, ?MODULE, {Number, Handle}) of
        {ok, Pid} -> claimed(Pid);
        {error, shutdown} -> gone
    end.

claimed(Pid) ->
    try gen_server:call(Pid, claimed, infinity) of
        ok -> {ok, Pid};
        {taken, By} ->
            {error, <<"ET_FLOW">>,
             unicode:characters_to_binary(
               io_lib:format("requests cannot be followed: this needs the node's only sequential "
                             "system tracer, and ~ts has it", [name(By)]))}
    catch
        exit:_ -> gone % it was killed
    end.

name({erltrace_nif, _}) -> "another script of erltrace";
name({Module, _}) -> io_lib:format("the tracer module ~tp", [Module]);
name(By) ->
    case is_pid(By) andalso process_info(By, registered_name) of
        {registered_name, Name} -> io_lib:format("~0p (~tp)", [By, Name]);
        _ -> io_lib:format("~0p", [By])
    end.

%% @doc When this returns nothing is followed any more, and no process has a token of ours.
%% The answer may be a warning: of those in messages.
-spec stop(pid() | undefined) -> ok | {warning, binary()}.
stop(undefined) ->
    ok;
stop(Pid) ->
    try gen_server:stop(Pid)
    catch exit:_ -> ok % it has ended already
    end,
    receive {?MODULE, left, Pid, Text} -> {warning, Text}
    after 0 -> ok
    end.

-spec init({Sup :: pid(), {pos_integer(), pid()}}) -> {ok, #st{}, {continue, claim}}.
init({Sup, {Number, Handle}}) ->
    process_flag(sensitive, true),
    process_flag(trap_exit, true),
    erltrace_vm:leave_application(),
    {ok, #st{sup = Sup, number = Number, handle = Handle}, {continue, claim}}.

-spec handle_continue(claim, #st{}) -> {noreply, #st{}}.
handle_continue(claim, #st{number = Number} = St) ->
    case erltrace_vm:locked(fun() -> claim(Number) end) of
        ok ->
            _ = (catch register(?MODULE, self())), % for the other nodes
            St1 = agree(look(St#st{claim = ok})),
            {noreply, look_again(St1#st{looked = erlang:monotonic_time(millisecond)})};
        {taken, By} ->
            {noreply, St#st{claim = {taken, By}}}
    end.

-spec handle_call(term(), gen_server:from(), #st{}) ->
          {reply, term(), #st{}} | {stop, normal, term(), #st{}}.
handle_call(claimed, _, #st{claim = {taken, By}} = St) ->
    {stop, normal, {taken, By}, St};
handle_call(_, _, St) ->
    {reply, ok, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, shutdown, #st{}}.
handle_info({'EXIT', Sup, _}, #st{sup = Sup} = St) ->
    {stop, shutdown, St};
handle_info(look, #st{looked = Looked} = St) ->
    Now = erlang:monotonic_time(millisecond),
    case is_integer(Looked) andalso Now - Looked > ?EVERY + ?STILL of
        true -> {noreply, look_again(St#st{looked = undefined})};
        false -> {noreply, look_again(ask_again(look(watch(St#st{looked = Now}))))}
    end;
handle_info({?MODULE, clock, ask, From, Asked}, St) ->
    answer(From, Asked, St),
    {noreply, St};
handle_info({?MODULE, clock, answer, Asked, At}, #st{number = Number} = St) ->
    set_clock(bounds(Asked, At, St), erltrace_nif:flow_clock(Number, get), Number),
    {noreply, St};
handle_info({?MODULE, round, _, _, _} = Round, #st{told = Told} = St) ->
    {noreply, St#st{told = [Round | Told]}};
handle_info({?MODULE, lost, Node, Nodes, Text}, #st{lost = false, nodes = Nodes} = St) ->
    {noreply, give_up(elsewhere, [Text, " in the node ", atom_to_binary(Node)], St)};
handle_info({?MODULE, reports, Reports}, #st{number = Number} = St) ->
    ok = erltrace_nif:flow_reports(Number, Reports),
    {noreply, St};
handle_info(_, St) ->
    {noreply, St}.

-spec terminate(term(), #st{}) -> term().
terminate(_, #st{claim = Claim}) when Claim =/= ok ->
    ok;
terminate(_, #st{number = Number} = St) ->
    #st{foreign = Foreign, nodes = Nodes, told = Told, lost = Lost} =
        try
            look(St)
        catch
            _:_ -> St
        end,
    _ = erltrace_nif:drain_flows(Number),
    {Others, Ours} = tokens(),
    Whose =
        case Foreign orelse Lost =:= here orelse Others of
            true -> ours;
            false -> all
        end,
    take_away(Whose, Ours),
    [self() ! Round || Round <- Told],
    _ = (Whose =:= ours orelse length(Nodes) > 1) andalso rounds('end', Nodes -- [node()], Whose),
    erltrace_vm:locked(fun() -> release(Number) end),
    case Whose of
        ours -> tell_left(Lost, St);
        % what was in mailboxes
        all -> seq_trace:reset_trace()
    end.

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{} = St} = Status) ->
    Status#{state := #{handle => St#st.handle, number => St#st.number,
                       foreign_tokens => St#st.foreign, lost => St#st.lost}};
format_status(Status) ->
    Status.

%% End flows that are over.
look(#st{number = Number, foreign = Foreign} = St) ->
    case erltrace_nif:end_flows(Number) of
        {Tokens, Nodes, Reports} ->
            report(Reports),
            St#st{foreign = Foreign orelse Tokens =:= foreign, nodes = Nodes};
        gone ->
            St
    end.

report(Reports) ->
    Nodes = maps:groups_from_list(fun(R) -> element(1, R) end, Reports),
    maps:foreach(
        fun(Node, Rs) ->
            erlang:send({?MODULE, Node}, {?MODULE, reports, Rs}, [noconnect, nosuspend])
        end,
        Nodes
    ).

look_again(St) ->
    _ = erlang:send_after(?EVERY, self(), look),
    St.

%% ---- the time ----------------------------------------------------------------------------------

%% Before anything is followed. The other node may begin a moment later: it is asked again.
agree(#st{number = Number, nodes = Nodes} = St) ->
    case first(Nodes) of
        none -> ok;
        self -> erltrace_nif:flow_clock(Number, 0);
        First ->
            case lists:append([ask_and_wait(First, St) || _ <- lists:seq(1, ?ASK)]) of
                [] -> ok;
                Answers ->
                    {_, Narrowest} = lists:min([{Hi - Lo, {Lo, Hi}} || {Lo, Hi} <- Answers]),
                    set_clock(Narrowest, erltrace_nif:flow_clock(Number, get), Number)
            end
    end,
    St.

first([]) -> none;
first([Node | _]) when Node =:= node() -> self;
first([Node | _]) -> case lists:member(Node, nodes()) of true -> Node; false -> none end.

ask_again(#st{looks = N, nodes = Nodes} = St) ->
    First = first(Nodes),
    case First =/= none andalso First =/= self andalso is_due(St) of
        true -> ask(First, St), St#st{looks = 0};
        false -> St#st{looks = min(N + 1, ?AGAIN)}
    end.

%% At once where nothing is known yet: the nodes may have been connected just now.
is_due(#st{looks = ?AGAIN}) -> true;
is_due(#st{number = Number}) ->
    case erltrace_nif:flow_clock(Number, get) of
        {_, _, Known} -> not Known;
        gone -> false
    end.

ask(First, #st{number = Number}) ->
    case erltrace_nif:flow_clock(Number, get) of
        {Now, _, _} ->
            erlang:send({?MODULE, First}, {?MODULE, clock, ask, self(), Now}, [
                noconnect, nosuspend
            ]);
        gone ->
            ok
    end.

ask_and_wait(First, St) ->
    ask(First, St),
    receive {?MODULE, clock, answer, Asked, At} -> [bounds(Asked, At, St)]
    after ?ANSWER -> []
    end.

answer(From, Asked, #st{number = Number}) ->
    case erltrace_nif:flow_clock(Number, get) of
        {Now, Offset, true} ->
            erlang:send(From, {?MODULE, clock, answer, Asked, Now + Offset}, [
                noconnect, nosuspend
            ]);
        _ ->
            ok
    end.

%% What this clock is behind: the answer was given after the question, and before it came.
bounds(Asked, At, #st{number = Number}) ->
    case erltrace_nif:flow_clock(Number, get) of
        {Now, _, _} -> {At - Now, At - Asked};
        gone -> {0, 0}
    end.

%% Clocks that agree, those of one machine, are left as they are. Later it moves as little as it
%% must.
set_clock({Lo, Hi}, {_, Offset, true}, _) when Lo =< Offset, Offset =< Hi -> ok;
set_clock({Lo, Hi}, {_, _, false}, Number) when Lo =< 0, 0 =< Hi ->
    erltrace_nif:flow_clock(Number, 0);
set_clock({Lo, Hi}, {_, _, false}, Number) -> erltrace_nif:flow_clock(Number, (Lo + Hi) div 2);
set_clock({Lo, _}, {_, Offset, true}, Number) when Offset < Lo ->
    erltrace_nif:flow_clock(Number, Lo);
set_clock({_, Hi}, {_, _, true}, Number) -> erltrace_nif:flow_clock(Number, Hi);
set_clock(_, gone, _) -> ok.

%% ---- the system tracer -----------------------------------------------------------------------

claim(Number) ->
    case seq_trace:get_system_tracer() of
        false ->
            _ = seq_trace:set_system_tracer({erltrace_nif, Number}),
            ok;
        By ->
            {taken, By}
    end.

%% A tracer may be a module: the type of erlang:system_info(sequential_tracer), which is that of
%% seq_trace:get_system_tracer/0, leaves these out.
-dialyzer({no_match, [release/1, watch/1]}).
release(Number) ->
    case seq_trace:get_system_tracer() of
        {erltrace_nif, Number} -> seq_trace:set_system_tracer(false);
        _ -> ok % the VM has removed it, since the handle is closed; somebody else may have it now
    end.

%% Does somebody else have it now? Nobody fights about it.
watch(#st{lost = here} = St) ->
    St;
watch(#st{number = Number, nodes = Nodes, lost = Lost} = St) ->
    case seq_trace:get_system_tracer() of
        {erltrace_nif, Number} ->
            St;
        _ when Lost =:= elsewhere ->
            St#st{lost = here};
        By ->
            Text = lost(By),
            [
                erlang:send({?MODULE, Node}, {?MODULE, lost, node(), Nodes, Text}, [
                    noconnect, nosuspend
                ])
             || Node <- Nodes -- [node()]
            ],
            give_up(here, Text, St)
    end.

%% In all nodes together: tokens are on their way from one to the other.
give_up(Where, Text, #st{number = Number, handle = Handle, nodes = Nodes, told = Told} = St) ->
    Handle ! {?MODULE, lost, unicode:characters_to_binary(Text)},
    _ = erltrace_nif:drain_flows(Number),
    {Now, Later} = lists:partition(fun({_, _, {Why, _}, _, _}) -> Why =:= lost end, Told),
    [self() ! Round || Round <- Now],
    _ = rounds(lost, Nodes -- [node()], ours),
    St#st{lost = Where, told = Later}.

lost(false) ->
    <<"requests are not followed any more: somebody has removed this script as the node's "
      "sequential system tracer">>;
lost(By) ->
    unicode:characters_to_binary(
        io_lib:format(
            "requests are not followed any more: ~ts has taken the node's sequential system tracer",
            [name(By)]
        )
    ).

%% Tokens in messages can be taken away only together with those of others.
tell_left(Lost, #st{handle = Handle}) ->
    case length([P || P <- processes(), P =/= self(), P =/= Handle,
                      {_, N} <- [process_info(P, message_queue_len)], N > 0]) of
        0 -> ok;
        N -> Handle ! {?MODULE, left, self(), unicode:characters_to_binary(left(N, Lost))}
    end.

left(N, Lost) ->
    Why =
        case Lost of
            here -> "somebody else has the sequential system tracer";
            _ -> "the application has sequential trace tokens of its own"
        end,
    io_lib:format(
        "tokens of this script may be left in messages that wait in the mailboxes of ~b "
        "process~s, since ~s",
        [
            N,
            case N of
                1 -> "";
                _ -> "es"
            end,
            Why
        ]
    ).

%% ---- tokens ----------------------------------------------------------------------------------

%% The nodes that run a script end it at about the same time. From then on a process that sends or
%% receives a token loses it (drain_flows/1): none is sent on. Each node takes its tokens away and
%% tells the others, in rounds. What another one has sent before has come by then, as it comes the
%% same way. They are through when no node has seen a token in the last rounds. Who is left alone,
%% as others are late or have gone, goes on alone.
rounds(Why, Others, Whose) ->
    Alarm = erlang:send_after(?TOGETHER, self(), {?MODULE, enough}),
    Monitors = [
        {erlang:monitor(process, {?MODULE, Node}), Node}
     || Node <- Others, lists:member(Node, nodes())
    ],
    round({Why, 0}, 0, Monitors, Whose),
    erlang:cancel_timer(Alarm).

round({_, K}, Clean, _, _) when K =:= ?ROUNDS; Clean =:= ?CLEAN ->
    ok;
round({Why, N} = K, Clean, Others, Whose0) ->
    {Foreign, Ours} = tokens(),
    Whose = case Foreign of true -> ours; false -> Whose0 end,
    take_away(Whose, Ours),
    Found = case Ours of [] -> none; _ -> ours end,
    [erlang:send({?MODULE, Node}, {?MODULE, round, K, Node0, Found}, [noconnect, nosuspend]) ||
        {_, Node} <- Others, Node0 <- [node()]],
    {Left, AllFound} = others(K, Others, [], Found),
    timer:sleep(case Left of [] -> ?ALONE; _ -> ?PAUSE end),
    round({Why, N + 1}, case AllFound of none -> Clean + 1; ours -> 0 end, Left, Whose).

%% What the others have found in this round; those that have gone are left out from now on.
others(_, [], Left, Found) ->
    {Left, Found};
others(K, [{Monitor, Node} = Other | Others], Left, Found) ->
    receive
        {?MODULE, round, K, Node, none} -> others(K, Others, [Other | Left], Found);
        {?MODULE, round, K, Node, ours} -> others(K, Others, [Other | Left], ours);
        {'DOWN', Monitor, process, _, _} -> others(K, Others, Left, Found);
        {?MODULE, enough} -> {[], ours}
    end.

%% Does a process have a token that is not ours? Which have one of ours?
tokens() ->
    tokens(processes(), {false, []}, 0).

tokens([], Found, _) ->
    Found;
tokens(Pids, Found, ?CHECK) ->
    erlang:yield(),
    tokens(Pids, Found, 0);
tokens([P | Pids], {Foreign, Ours} = Found, N) ->
    case process_info(P, sequential_trace_token) of
        {_, Token} when tuple_size(Token) =:= 5 ->
            case is_ours(element(2, Token)) of
                true -> tokens(Pids, {Foreign, [P | Ours]}, N + 1);
                false -> tokens(Pids, {true, Ours}, N + 1)
            end;
        _ -> tokens(Pids, Found, N + 1)
    end.

take_away(all, _) -> seq_trace:reset_trace();
take_away(ours, []) -> ok;
take_away(ours, Pids) -> erltrace_vm:locked(fun() -> take_each(Pids) end).

%% Each of them is traced for a moment, with a tracer state of its own, and asked something, for
%% which it is scheduled in: at that event it loses its token, if that is one of ours still
%% (c_src/beam/events/tracer.c). Before OTP 27 this cannot be where somebody else traces it. One
%% that does not answer, as it runs something long, is left for the next round.
take_each(Pids) ->
    Off = trace_on(Pids),
    {Asker, Mon} = spawn_opt(fun() ->
                                     process_flag(sensitive, true),
                                     [process_info(P, monitors) || P <- Pids]
                             end, [monitor, {priority, high}]),
    receive {'DOWN', Mon, process, Asker, _} -> ok
    after ?ASKED ->
            exit(Asker, kill),
            receive {'DOWN', Mon, process, Asker, _} -> ok end
    end,
    Off().

trace_on(Pids) ->
    case erltrace_vm:has_sessions() of
        true ->
            S = apply(trace, session_create, [erltrace, {erltrace_nif, flow_tokens}, []]),
            [erltrace_vm:attempt(trace, process, [S, P, true, [running_procs]]) || P <- Pids],
            fun() -> erltrace_vm:end_session(S) end;
        false ->
            Flags = [running_procs, {tracer, erltrace_nif, flow_tokens}],
            Free = [P || P <- Pids, process_info(P, trace) =:= {trace, 0}],
            [erltrace_vm:attempt(erlang, trace, [P, true, Flags]) || P <- Free],
            fun() -> [erltrace_vm:attempt(erlang, trace, [P, false, Flags]) || P <- Free] end
    end.

is_ours(?LABEL) -> true;
is_ours(Label) -> is_integer(Label) andalso Label bsr ?OURS =:= 1.
