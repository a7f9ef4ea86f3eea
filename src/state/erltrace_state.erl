%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The walker of the provider state (c_src/beam/state/state_fire.c): it iterates over the
%% objects of the node, a round every so often, asks the VM about each (erltrace_objects) and fires
%% its probe.
%%
%% It works in slices, and pauses after each, so that it takes no more than its budget of the
%% schedulers' time (option statebudget). A slice is as long as pauses of a twentieth of a second
%% permit, because each wakes threads that sleep, and that costs as much as asking a hundred
%% processes; but it yields several times in it, so that nobody waits for a scheduler for long. All
%% probes of one rate make a round. A round that is not over when the next one is due ends there: it
%% is partial, which its probe round-N says and erltrace:status/1 counts. The next one goes on where
%% it ended, and is partial too: what is too much for one round is spread over several, a pass, so
%% that all objects have their turn. round-N says also when a pass is over.
%%
%% Who looks at a node in trouble needs an answer now, so the first two passes (one to see what
%% there is, one to see what changes) are not held to the budget: each may take three quarters of
%% one scheduler, for a second and a half of CPU time. If processes are compared, the second one
%% begins a second after the first at most.
%%
%% It runs at high priority, and so do the processes that ask for it (erltrace_askers): in a node
%% with more to run than schedulers it would wait for a turn of everybody else after each of its
%% own. Only CPU time counts: what it waits for costs nothing.
%%
%% Objects are listed by a process that lives for that only, with room for the list on its heap from
%% the start, and are kept in a table in chunks: this process has a small heap, and nowhere does a
%% garbage collection of a long list hold up a scheduler.
-module(erltrace_state).
-behaviour(gen_server).
-export([start/3, stop/1, key/2, about/1]).
-export([lister/3]). % spawned
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
-export_type([walker/0, about/0]).

-define(SLICE_MIN, 300000). % ns that a slice should take
-define(SLICE_MAX, 2000000).
-define(HURRIED, 2).      % so many passes, at first, need not keep to the budget,
-define(HURRY, 1500000000). % for so many ns of CPU time each,
%% in slices of so many ns: longer would be felt, shorter would sleep too often,
-define(HURRIED_SLICE, 4000000).
-define(REST, 3).         % each with a pause a third as long as it took
-define(SHOWN, 5000000000). % ns after which there is something to see, if not all of it
-define(SOON, 1000000000). % ns from the first pass to the second, if processes are compared
-define(PAUSE, 50000000). % ns from one slice to the next, if that makes it no longer
-define(CHUNK, 64).       % objects in a row of the table: a slice looks at the clock after these
-define(BURST, 250000000). % ns: what was not used earlier than that is lost
%% ns that listing takes at most, and for each object: else it was interrupted
-define(LISTING, 100000).
-define(LISTED, 1000).
-define(TURN, 3000).      % reductions, of 4000 that the VM gives, after which this process yields
-define(TURN_NS, 300000). % or after so long
-define(ASKED, 5000).     % ns for a process that had to run to answer,
-define(LOOKED, 1000).    % and for one that had not, where the node is too busy to measure it
%% while the node takes more than this many times what it takes in pauses, it is ours
-define(ALONE, 4).
-define(PAUSE_MIN, 1000000). % ns: a shorter pause does not show what the node takes

%% Counters, for status/1.
-define(ROUNDS, 1).
-define(PARTIAL, 2).
-define(SEEN, 3).
-define(COST, 4). % ns
-define(LONGEST, 5). % ns: turn
-define(SILENT, 6). % processes that did not answer in time
-define(FIRST, 7). % ns: what the first passes cost
-define(LAST, 8). % objects in the last whole round; in the largest that was not
-define(LARGEST, 9).

-record(probe, {number :: non_neg_integer(), % in the library
                kind :: erltrace_objects:kind(),
                plan :: erltrace_objects:plan(),
                kept :: ets:tid()}).

-record(group, {period :: non_neg_integer(),      % ns; 0: one round
                probes = [] :: [#probe{}],
                rounds = [] :: [non_neg_integer()], % numbers of the probes round-N
                due :: integer() | never,         % ns
                round = 0 :: non_neg_integer(),
                pass = 0 :: non_neg_integer(),
                fresh = true :: boolean(),        % this round began with the pass
                began = 0 :: integer(),           % ns: the pass
                took = 0 :: non_neg_integer(),    % ns of CPU time, in this pass
                seen = 0 :: non_neg_integer(),    % in this round
                looked = 0 :: non_neg_integer(),  % in this round: processes that were asked,
                silent = 0 :: non_neg_integer(),  % those of them that did not answer,
                there = 0 :: non_neg_integer(),   % and of how many
                todo = [] :: [#probe{}],          % of this round; [] between rounds
                chunks :: ets:tid(),              % of the first of them
                listing :: reference() | undefined, % a monitor, while its objects are listed
                at = 0 :: non_neg_integer(),      % the next chunk
                n = 0 :: non_neg_integer()}).     % of so many

-record(st, {sup :: pid(),
             number :: pos_integer(),
             groups :: [#group{}],
             budget :: float(),                   % of one scheduler's time
             slice :: pos_integer(),              % ns
             counters :: counters:counters_ref(),
             keys :: [non_neg_integer()],         % numbers of the probe key
             held :: [atom()],
             until = 0 :: integer(),              % ns: when what was spent is earned
             % the clock and the node's CPU time after the last slice
             paused :: {integer(), integer()},
             % CPU time of the node for each ns of the last pause
             others = 0.0 :: float(),
             timer :: reference() | undefined}).

-type about() :: #{
    rounds := non_neg_integer(),
    partial := non_neg_integer(),
    seen := non_neg_integer(),
    silent := non_neg_integer(),
    first := non_neg_integer(),
    cost := float(),
    longest := non_neg_integer()
}.
-opaque walker() :: {pid(), counters:counters_ref(), Began :: integer()}.

%% @doc For the handle of this number. undefined: the script has no probe of the provider.
-spec start(Sup :: pid(), pos_integer(), erltrace_needs:needs()) -> walker() | undefined.
start(Sup, Number, Needs) ->
    case [N || {state, _, _, _, _, _} = N <- Needs] of
        [] ->
            undefined;
        Probes ->
            Percent = erltrace_needs:value(state_budget, Needs),
            Counters = counters:new(9, []),
            NoLabels = erltrace_needs:has(no_labels, Needs),
            Args = {Number, Probes, Percent, Counters, NoLabels},
            case erltrace_handle_sup:start_helper(Sup, ?MODULE, Args) of
                {ok, Pid} -> {Pid, Counters, now_ns()};
                {error, shutdown} -> undefined
            end
    end.

-type args() :: {
    pos_integer(), [tuple()], pos_integer(), counters:counters_ref(), NoLabels :: boolean()
}.

%% @doc When this returns it asks nobody any more.
-spec stop(walker() | undefined) -> ok.
stop(undefined) ->
    ok;
stop({Pid, _, _}) ->
    M = erlang:monitor(process, Pid),
    gen_server:cast(Pid, stop),
    receive {'DOWN', M, process, Pid, _} -> ok
    after 1000 -> % it waits for a process that does not answer
            exit(Pid, kill),
            receive {'DOWN', M, process, Pid, _} -> ok end
    end.

%% @doc A key is pressed where the script has its terminal: its byte, the terminal's rows and
%% columns.
-spec key({byte(), integer(), integer()}, walker() | undefined) -> ok.
key(_, undefined) -> ok;
key(Key, {Pid, _, _}) -> gen_server:cast(Pid, {key, Key}).

%% @doc For erltrace:status/1: rounds, of these partial ones, objects seen, how often a process did
%% not answer in time, the CPU time of the first passes in ns, what the others cost in percent of
%% the schedulers' time, and the longest time that it had a scheduler, in ns.
-spec about(walker() | undefined) -> about() | undefined.
about(undefined) ->
    undefined;
about({_, C, Began}) ->
    Time = max(1, now_ns() - Began) * erlang:system_info(schedulers_online),
    #{rounds => counters:get(C, ?ROUNDS), partial => counters:get(C, ?PARTIAL),
      seen => counters:get(C, ?SEEN), silent => counters:get(C, ?SILENT),
      first => counters:get(C, ?FIRST), cost => 100 * counters:get(C, ?COST) / Time,
      longest => counters:get(C, ?LONGEST)}.

%% ---- the process -----------------------------------------------------------------------------

-spec init({Sup :: pid(), args()}) -> {ok, {starting, pid()}, {continue, args()}}.
init({Sup, Args}) ->
    process_flag(sensitive, true),
    process_flag(trap_exit, true),
    {ok, {starting, Sup}, {continue, Args}}.

-spec handle_continue(args(), {starting, pid()}) -> {noreply, #st{}}.
handle_continue({Number, All, Percent, Counters, NoLabels}, {starting, Sup}) ->
    erltrace_askers:open(),
    _ = NoLabels andalso erltrace_process_name:hide_labels(),
    {Keys, Probes} = lists:partition(fun({state, _, Kind, _, _, _}) -> Kind =:= key end, All),
    Kinds = lists:usort([K || {state, _, K, _, _, _} <- Probes, K =/= round]),
    Periods = lists:usort([P || {state, _, _, P, _, _} <- Probes]),
    Budget = Percent / 100 * erlang:system_info(schedulers_online),
    self() ! slice,
    {noreply, #st{
        sup = Sup,
        number = Number,
        counters = Counters,
        groups = [group(P, [T || {state, _, _, Q, _, _} = T <- Probes, Q =:= P]) || P <- Periods],
        budget = Budget,
        slice = min(?SLICE_MAX, max(?SLICE_MIN, round(Budget * ?PAUSE))),
        keys = [N || {state, N, _, _, _, _} <- Keys],
        held = lists:append([erltrace_objects:hold(K) || K <- Kinds]),
        until = now_ns() - ?BURST,
        paused = node_stamp()
    }}.

group(Period, Probes) ->
    #group{
        period = Period,
        due = now_ns(),
        chunks = ets:new(erltrace_state, [public]),
        rounds = [N || {state, N, round, _, _, _} <- Probes],
        probes = [
            #probe{
                number = N,
                kind = Kind,
                plan = erltrace_objects:plan(Kind, Members, First),
                kept = erltrace_objects:new_kept()
            }
         || {state, N, Kind, _, Members, First} <- lists:sort(Probes), Kind =/= round
        ]
    }.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, {error, unknown}, #st{}}.
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_cast(stop, St) ->
    {stop, normal, St};
handle_cast(
    {key, {Byte, Rows, Columns}}, #st{number = Number, groups = Groups, keys = Keys} = St
) ->
    [erltrace_nif:state(Number, K, [{self(), Byte, Rows, Columns}]) || K <- Keys],
    next(
        case Byte of
            0 -> St;
            _ -> St#st{groups = [at_once(G, now_ns()) || G <- Groups]}
        end
    );
handle_cast(_, St) ->
    {noreply, St}.

%% Whoever presses a key wants to see the answer now: a round begins, if none is under way.
at_once(#group{todo = [], due = Due} = G, Now) when is_integer(Due) -> G#group{due = Now};
at_once(G, _) -> G.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, normal | shutdown, #st{}}.
handle_info({'EXIT', Sup, _}, #st{sup = Sup} = St) ->
    {stop, shutdown, St};
handle_info(slice, St) ->
    slice(St#st{timer = undefined});
handle_info({'DOWN', M, process, _, Why}, #st{groups = Groups} = St) ->
    {Cost, N, Chunks} = case Why of
                            {listed, C, L} ->
                                Full = (L + ?CHUNK - 1) div ?CHUNK,
                                {min(C, ?LISTING + L * ?LISTED), L, Full};
                            _ -> {0, 0, 0}
                        end,
    {Listed, Others} = lists:partition(fun(#group{listing = L}) -> L =:= M end, Groups),
    next(lists:foldl(fun(G, #st{groups = Gs} = S) ->
                             spend(Cost, G, S#st{groups = [took(Cost, listed(N, Chunks, G)) | Gs]})
                     end, St#st{groups = Others}, Listed));
handle_info(Message, St) ->
    _ = erltrace_askers:late(Message),
    {noreply, St}.

-spec terminate(term(), #st{}) -> ok.
terminate(_, #st{held = Held}) ->
    erltrace_askers:close(),
    erltrace_objects:release(Held).

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{groups = Groups} = St} = Status) ->
    Status#{state := #{number => St#st.number,
                       groups => [#{period => G#group.period, round => G#group.round,
                                    seen => G#group.seen} || G <- Groups]}};
format_status(Status) ->
    Status.

%% ---- rounds ----------------------------------------------------------------------------------

%% Rounds that are due begin; one that has begun goes on, those of other rates in turn.
slice(#st{groups = Groups, number = Number} = St0) ->
    St = pause_over(node_stamp(), St0),
    Now = now_ns(),
    erltrace_askers:clock_in(),
    Groups1 = [begin_round(G, Now, St) || G <- Groups],
    {Busy, Idle} = lists:partition(fun is_busy/1, Groups1),
    case Busy of
        [] ->
            next(St#st{groups = Idle});
        [G | Rest] ->
            Slice = case is_hurried(G) of true -> ?HURRIED_SLICE; false -> St#st.slice end,
            {IsOn, N, G0} = work(Now + Slice, 0, reductions(), Now, G, St),
            erltrace_askers:clock_out(),
            looked(G0, St),
            G1 = in_time(last(G0, St), St),
            Pause = node_stamp(),
            {Spent, Longest} = erltrace_askers:worked(),
            Cost = cost(Pause, Spent, erltrace_objects:asked(), N, St),
            longest(Longest, St),
            St1 = spend(Cost, G, St#st{paused = Pause}),
            case IsOn andalso erltrace_nif:alive(Number) of
                true -> next(St1#st{groups = Rest ++ Idle ++ [took(Cost, G1)]});
                false -> {stop, normal, St1}
            end
    end.

is_busy(#group{todo = Todo, listing = Listing}) ->
    Todo =/= [] andalso Listing =:= undefined.

begin_round(#group{due = Due} = G, Now, _) when Due =:= never; Due > Now ->
    G;
% late, as on a busy machine
begin_round(#group{todo = [_ | _], seen = 0, looked = 0} = G, Now, _) ->
    next_due(G, Now);
begin_round(#group{todo = [_ | _]} = G, Now, St) -> % the last one was partial
    case is_hurried(G) of
        true -> next_due(G, Now); % it will be whole
        false -> next_due(partial(G, St), Now)
    end;
begin_round(#group{probes = Probes, pass = Pass} = G, Now, St) ->
    G1 = next_due(
        next_round(G#group{pass = Pass + 1, began = Now, took = 0, todo = Probes, fresh = true}),
        Now
    ),
    case Probes of
        [] ->
            end_round(last, G1, St),
            G1;
        _ ->
            list(G1)
    end.

partial(G, St) ->
    end_round(partial, G, St),
    (next_round(G))#group{fresh = false}.

next_round(#group{round = Round} = G) ->
    G#group{round = Round + 1, seen = 0, looked = 0, silent = 0}.

%% The first passes go on without regard to the budget.
is_hurried(#group{pass = Pass, took = Took}) ->
    Pass =< ?HURRIED andalso Took < ?HURRY.

took(Cost, #group{took = Took} = G) ->
    G#group{took = Took + Cost}.

%% If that was not enough, or takes long, what there is is shown, before the next round is due.
in_time(
    #group{
        todo = [_ | _], fresh = true, pass = Pass, began = Began, period = Period, looked = Looked
    } = G,
    St
) when
    Pass =< ?HURRIED, Period > 0, Looked > 0
->
    case not is_hurried(G) orelse now_ns() - Began >= ?SHOWN of
        true -> partial(G, St);
        false -> G
    end;
in_time(G, _) ->
    G.

next_due(#group{period = 0} = G, _) ->
    G#group{due = never};
next_due(#group{period = Period, pass = 1, round = 1, probes = Probes} = G, Now) ->
    G#group{
        due =
            Now +
                case
                    lists:any(
                        fun(#probe{plan = Plan}) -> erltrace_objects:compares(Plan) end, Probes
                    )
                of
                    true -> min(Period, ?SOON);
                    false -> Period
                end
    };
next_due(#group{period = Period, due = Due} = G, Now) ->
    G#group{due = Due + Period * (1 + (Now - Due) div Period)}.

%% The objects of the first probe.
list(#group{todo = [#probe{kind = Kind, plan = Plan} | _], chunks = Chunks} = G) ->
    true = ets:delete_all_objects(Chunks),
    Ranks = erltrace_objects:wants_ranks(Plan),
    {_, M} = spawn_opt(?MODULE, lister, [Kind, Ranks, Chunks],
                       [monitor, {priority, high}, {min_heap_size, 10000 + 5 * room(Kind)}]),
    G#group{listing = M}.

room(Kind) when Kind =:= process; Kind =:= wait -> erlang:system_info(process_count);
room(table) -> erlang:system_info(ets_count);
room(Kind) when Kind =:= port; Kind =:= socket -> 2 * erlang:system_info(port_count);
room(_) -> 0.

-spec lister(erltrace_objects:kind(), Ranks :: boolean(), ets:tid()) -> no_return().
lister(Kind, Ranks, Chunks) ->
    process_flag(sensitive, true),
    erltrace_askers:open(),
    erltrace_askers:clock_in(),
    try
        erltrace_loader:turn(),
        Objects = erltrace_objects:list(Kind),
        {Length, Ranked} = put_chunks(Objects, 0, 0, erltrace_ranks:new(Ranks), Chunks),
        _ = Ranks andalso ets:insert(Chunks, {ranks, erltrace_ranks:places(Length, Ranked)}),
        Length
    of
        N ->
            erltrace_askers:clock_out(),
            {Cost, _} = erltrace_askers:worked(),
            exit({listed, Cost, N})
    catch
        error:badarg -> exit(normal) % the walker has ended, and its tables with it
    end.

put_chunks([], _, N, Ranked, _) ->
    {N, Ranked};
put_chunks(Objects, At, N, Ranked, Chunks) ->
    {Chunk, Length, Rest} = chunk(Objects, 0, []),
    ets:insert(Chunks, {At, Chunk}),
    erltrace_loader:turn(),
    put_chunks(Rest, At + 1, N + Length, erltrace_ranks:add(Chunk, Ranked), Chunks).

chunk([T | Rest], N, Chunk) when N < ?CHUNK -> chunk(Rest, N + 1, [T | Chunk]);
chunk(Rest, N, Chunk) -> {Chunk, N, Rest}.

listed(
    Objects, Chunks, #group{todo = [#probe{kind = Kind} | _], there = There, chunks = Tab} = G
) ->
    [erltrace_ranks:set(Ranks) || {_, Ranks} <- ets:lookup(Tab, ranks)],
    G#group{
        listing = undefined,
        n = Chunks,
        at = 0,
        there =
            case is_process(Kind) of
                true -> max(There, Objects);
                false -> There
            end
    }.

is_process(Kind) -> Kind =:= process orelse Kind =:= wait.

%% Objects of the first probe, a chunk at a time, until the slice is over. Does the script run, how
%% many were they?
work(End, N, Before, Began, #group{todo = [Probe | _], at = At, n = Chunks, chunks = Tab} = G, St)
  when At < Chunks ->
    [{_, Objects}] = ets:lookup(Tab, At),
    {IsOn, Seen, Silent} = about(Objects, Probe, G, St),
    counters:add(St#st.counters, ?SEEN, Seen),
    counters:add(St#st.counters, ?SILENT, Silent),
    N1 = N + length(Objects),
    Looked = case is_process(Probe#probe.kind) of true -> length(Objects); false -> 0 end,
    G1 = G#group{at = At + 1, seen = G#group.seen + Seen, silent = G#group.silent + Silent,
                 looked = G#group.looked + Looked},
    case IsOn andalso now_ns() < End of
        true ->
            {Before1, Began1} = turn(Before, Began),
            work(End, N1, Before1, Began1, G1, St);
        false ->
            {IsOn, N1, G1}
    end;
work(_, N, _, _, G, _) ->
    {true, N, G}.

about(Objects, #probe{number = P, plan = Plan, kept = Tab}, #group{pass = Pass}, #st{
    number = Number
}) ->
    Kept = {Tab, Pass},
    case
        erltrace_objects:gate(Objects, Plan, Kept, fun(Rows) ->
            erltrace_nif:gate(Number, P, Rows)
        end)
    of
        {N, Asked, Silent} ->
            {Rows, MoreSilent} = erltrace_objects:rows(Asked, Plan, Kept),
            {fire(Number, P, Rows), N - length(Asked) + length(Rows), Silent + MoreSilent};
        false ->
            {false, 0, 0}
    end.

%% The library answers rows that it had no time for.
fire(Number, Probe, Rows) ->
    case erltrace_nif:state(Number, Probe, Rows) of
        Rest when is_list(Rest) ->
            let_others_run(),
            fire(Number, Probe, Rest);
        IsOn ->
            IsOn
    end.

%% After the last object, those of the next probe are listed, or the round is over.
last(
    #group{at = N, n = N, todo = [#probe{kind = Kind, kept = Kept} | Rest], pass = Pass} = G, St
) ->
    erltrace_objects:forget(Kept, Kind, Pass),
    G1 = G#group{todo = Rest},
    case Rest of
        [] ->
            end_round(last, G1, St),
            G1;
        _ ->
            list(G1)
    end;
last(G, _) ->
    G.

%% The last of a pass is whole if it is the only one.
end_round(Which, #group{rounds = Rounds, round = Round, seen = Seen, fresh = Fresh} = G, St) ->
    Over = case Which of last -> 1; partial -> 0 end,
    Whole = case Fresh of true -> Over; false -> 0 end,
    counters:add(St#st.counters, ?ROUNDS, 1),
    counters:add(St#st.counters, ?PARTIAL, 1 - Whole),
    _ = Whole =:= 1 andalso counters:put(St#st.counters, ?LAST, objects(G)),
    looked(G, St), % before the probe fires: it may end the script
    Row = {self(), Round, Seen, Whole, Over, G#group.looked, there(G), G#group.silent},
    [erltrace_nif:state(St#st.number, R, [Row]) || R <- Rounds],
    ok.

%% For a script that ends with nothing to show: what it has seen.
looked(G, #st{number = Number, counters = C}) ->
    counters:put(C, ?LARGEST, max(objects(G), counters:get(C, ?LARGEST))),
    Rounds = counters:get(C, ?ROUNDS),
    erltrace_nif:looked(Number, {Rounds, Rounds - counters:get(C, ?PARTIAL), counters:get(C, ?LAST),
                                 counters:get(C, ?LARGEST), there(G)}).

objects(#group{looked = 0, seen = Seen}) -> Seen;
objects(#group{looked = Looked}) -> Looked.

%% Processes that are to be asked: none of them may have been listed yet.
there(#group{probes = Probes, there = There}) ->
    case There =:= 0 andalso lists:any(fun(#probe{kind = K}) -> is_process(K) end, Probes) of
        true -> erlang:system_info(process_count);
        false -> There
    end.

%% ---- the budget ------------------------------------------------------------------------------

node_stamp() ->
    {now_ns(), erltrace_nif:node_time()}.

pause_over({Now, Cpu}, #st{paused = {Then, Cpu0}} = St) when Now - Then >= ?PAUSE_MIN ->
    St#st{paused = {Now, Cpu}, others = (Cpu - Cpu0) / (Now - Then)};
pause_over(Stamp, St) ->
    St#st{paused = Stamp}.

%% A slice has cost what the node took meanwhile, but for what it takes anyway: processes that have
%% to run to answer wake other schedulers, and these may spin for longer than all of it takes. In a
%% busy node that cannot be told: there it is this process's own time, and what each of those that
%% it asked is known to take.
cost({Now, Cpu}, Spent, Asked, N, #st{paused = {Began, Cpu0}, others = Others}) ->
    Passed = Now - Began,
    Used = Cpu - Cpu0,
    case Used > ?ALONE * Others * Passed of
        true -> max(0, round(Used - Others * Passed));
        false -> min(Used, Spent + ?ASKED * Asked + ?LOOKED * N)
    end.

%% The VM lets others run after 4000 reductions. By yielding a little earlier, what they take is not
%% taken for ours.
turn(Before, Began) ->
    case reductions() - Before > ?TURN orelse now_ns() - Began > ?TURN_NS of
        true ->
            let_others_run(),
            {reductions(), now_ns()};
        false ->
            {Before, Began}
    end.

let_others_run() ->
    erltrace_askers:clock_out(),
    true = erlang:yield(),
    erltrace_askers:clock_in().

reductions() ->
    {reductions, N} = process_info(self(), reductions),
    N.

longest(Ns, #st{counters = C}) ->
    Ns =< counters:get(C, ?LONGEST) orelse counters:put(C, ?LONGEST, Ns).

%% What is spent has to be earned. To wake up, to be scheduled, and what the consumer does with the
%% results is more, by 5 to 20 % as measured, but where slices are short, or waking threads is dear,
%% by 40.
spend(Took, G, #st{number = Number, until = Until, budget = Budget, counters = C} = St) ->
    Cost = Took + 2 * Took div 5,
    ok = erltrace_nif:took(Number, Cost),
    Now = now_ns(),
    case is_hurried(G) of
        true ->
            counters:add(C, ?FIRST, Cost),
            St#st{until = Now + Took div ?REST};
        false ->
            counters:add(C, ?COST, Cost),
            St#st{until = max(Until, Now - ?BURST) + round(Cost / Budget)}
    end.

%% When to go on: at once, when it is earned, when the next round is due; or never.
next(#st{groups = Groups, until = Until, timer = Timer} = St) ->
    _ = Timer =/= undefined andalso erlang:cancel_timer(Timer),
    Now = now_ns(),
    Dues = [Due || #group{due = Due} <- Groups, Due =/= never],
    At =
        case lists:any(fun is_busy/1, Groups) of
            true -> Until;
            % an atom is greater than any number
            false -> lists:min([never | Dues])
        end,
    {noreply, St#st{
        timer =
            if
                At =:= never ->
                    undefined;
                At =< Now ->
                    self() ! slice,
                    undefined;
                true ->
                    erlang:send_after((At - Now + 999999) div 1000000, self(), slice)
            end
    }}.

now_ns() ->
    erlang:monotonic_time(nanosecond).
