%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc A script that is always on: it runs as long as the application does, within its budget.
%%
%%   armed    it runs (a handle)
%%   paused   its budget is spent: nothing of it is armed
%%   failed   it did not compile, or has ended: it is tried again after a while, which grows
%%
%% Each time it is armed it runs anew, with a handle of its own, so that nothing of before a pause
%% is taken together with what comes after it: a time that began before the pause is not measured.
%% What it has gathered its handle adds to the totals (erltrace_metrics), the last of it when it is
%% paused. How long it was armed is a metric.
-module(erltrace_script).
-behaviour(gen_statem).
-export([start_link/1, change/2, done/3]).
-export([init/1, callback_mode/0, handle_event/4, terminate/3, code_change/4, format_status/1]).
-export_type([spec/0]).

-define(TICK, 1000).         % ms between two messages to erltrace_metrics
-define(FIRST_WAIT, 500).    % ms until a script that failed is tried again; doubles ...
-define(LONGEST_WAIT, 30000). % ... up to this,
-define(LONGEST_REST, 600000). % or, if it ends by itself, to this
-define(HOUR, 3600000).      % ms: that it has ended is told once in so long
-define(HEALTHY, 10000).     % ms: one that ran for so long begins anew with that

-type spec() :: #{name := binary(),              % of its metrics: the file's, without .d
                  source := {ok, binary()} | {error, Why :: iodata()},
                  file := file:filename_all(),
                  budget := float(),             % of the schedulers' time: 0.01
                  args := [iodata()],
                  options := [{iodata(), iodata()}],
                  level := atomics:atomics_ref()}. % erltrace_deploy: parts per million

-record(run, {handle :: pid(),
              mon :: reference(),
              nif :: reference(),
              ref :: reference(),                % of the subscription
              since :: integer(),                % ms
              spent :: non_neg_integer(),        % as they were at the last look
              starting = 0 :: non_neg_integer(), % ns that a helper took until then
              fired = 0 :: non_neg_integer(),
              loaded :: [module()],              % at that time
              unmatched = [] :: [binary()]}).    % descriptions that match nothing yet, and why
%% why it did not start: once, until its file changes
-record(told, {start = <<>> :: binary(),
               unmatched = [] :: [binary()],     % likewise: which descriptions match nothing
               paused = false :: boolean(),      % likewise: that it is paused
               ended :: integer() | undefined}). % ms: when it was told last that it has ended
-record(data, {spec :: spec(),
               budget :: erltrace_budget:budget(),
               run :: #run{} | undefined,
               wait = ?FIRST_WAIT :: pos_integer(),
               ran = false :: boolean(),         % since its file changed
               told = #told{} :: #told{}}).

-spec start_link(spec()) -> {ok, pid()} | {error, term()}.
start_link(Spec) ->
    case gen_statem:start_link(?MODULE, Spec, []) of
        ignore -> {error, ignore};
        Result -> Result
    end.

%% @doc Its file or its settings have changed.
-spec change(pid(), spec()) -> ok.
change(Pid, Spec) ->
    gen_statem:cast(Pid, {change, Spec}).

%% @doc Its handle has sent the last results.
-spec done(pid(), reference(), erltrace:state()) -> ok.
done(Pid, Ref, State) ->
    gen_statem:cast(Pid, {done, Ref, State}).

%% ---- the state machine -----------------------------------------------------------------------

-spec callback_mode() -> gen_statem:callback_mode_result().
callback_mode() ->
    handle_event_function.

-spec init(spec()) -> {ok, paused, #data{}, [gen_statem:action()]} | {stop, {shutdown, term()}}.
init(Spec) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    process_flag(trap_exit, true),
    case code:ensure_loaded(erltrace_nif) of
        {module, _} ->
            Data = #data{spec = Spec, budget = new_budget(Spec), told = told(Spec)},
            count(starts, 1, Data),
            {ok, paused, Data, [{state_timeout, 0, arm}]};
        {error, Reason} ->
            {stop, {shutdown, {library, Reason}}}
    end.

-spec handle_event(gen_statem:event_type(), term(), atom(), #data{}) ->
          gen_statem:event_handler_result(atom()).
handle_event(state_timeout, arm, _, Data) ->
    arm(Data);
handle_event(state_timeout, look, paused, Data) ->
    Data1 = look(paused, Data),
    case erltrace_budget:is_full(Data1#data.budget) of
        true -> arm(Data1);
        false -> {keep_state, Data1, look_again(paused, Data1)}
    end;
handle_event(state_timeout, look, armed, Data) ->
    Data1 = look(armed, Data),
    case erltrace_budget:is_empty(Data1#data.budget) of
        true -> pause(Data1);
        false -> {keep_state, Data1, look_again(armed, Data1)}
    end;
handle_event(cast, {change, Spec}, _, #data{spec = Old} = Data) ->
    Data1 = disarm(Data),
    Budget = case Spec of
                 #{budget := B} when B =:= map_get(budget, Old) -> Data1#data.budget;
                 _ -> new_budget(Spec)
             end,
    count(starts, 1, Data1),
    erltrace_metrics:changed(maps:get(name, Spec)),
    gauge(unmatched, [], Data1),
    {next_state, paused, Data1#data{spec = Spec, budget = Budget, wait = ?FIRST_WAIT, ran = false,
                                    told = #told{}},
     [{state_timeout, 0, arm}]};
handle_event(cast, {done, Ref, State}, armed, #data{run = #run{ref = Ref}} = Data) ->
    ended(State, Data);
handle_event(info, {'DOWN', Mon, process, _, Why}, armed, #data{run = #run{mon = Mon}} = Data) ->
    rest(io_lib:format("its handle has ended: ~0P", [Why, 20]), Data#data{run = undefined});
handle_event(_, _, _, _) ->
    keep_state_and_data.

-spec terminate(term(), atom(), #data{}) -> term().
terminate(_, _, Data) ->
    _ = disarm(Data),
    gauge(state, failed, Data).

-spec code_change(term(), atom(), #data{}, term()) -> {ok, atom(), #data{}}.
code_change(_, State, Data, _) ->
    {ok, State, Data}.

-spec format_status(gen_statem:format_status()) -> gen_statem:format_status().
format_status(#{data := #data{spec = #{name := Name, file := File}, run = Run} = Data} = Status) ->
    Status#{
        data := #{
            script => Name,
            file => File,
            budget => Data#data.budget,
            told => Data#data.told#told.start,
            handle =>
                case Run of
                    undefined -> undefined;
                    _ -> Run#run.handle
                end
        }
    };
format_status(Status) ->
    Status.

%% ---- arming and pausing ----------------------------------------------------------------------

arm(#data{spec = #{source := {error, Why}}} = Data) ->
    failed(Why, Data);
arm(#data{spec = Spec, ran = Ran} = Data) ->
    {Took, Result} = timed(fun() -> start(Spec, Ran) end),
    Data1 = paid(arm, Took + starting(Result), Data),
    case Result of
        {ok, Run} ->
            erltrace_metrics:armed_again(maps:get(name, Spec)),
            gauge(state, armed, Data1),
            gauge(why, <<>>, Data1),
            Data2 = tell_unmatched(Data1#data{run = Run, ran = true}),
            {next_state, armed, Data2, look_again(armed, Data2)};
        {error, Why} ->
            failed(Why, Data1)
    end.

%% The node's own processor time has not that of a helper.
starting({ok, #run{starting = Ns}}) -> Ns;
starting({error, _}) -> 0.

start(#{name := Name} = Spec, Ran) ->
    case erltrace_handle:start(self()) of
        {ok, H, _} ->
            try
                ok = erltrace_metrics:writers(Name, [self(), H]),
                Loaded = erlang:loaded(),
                compile(H, Spec, Ran),
                ok = erltrace_handle:call(H, calm),
                InKernel = erltrace_handle:call(H, in_kernel),
                Ref = go(InKernel, H, Name),
                Nif = erltrace_handle:call(H, nif),
                {Spent, _, _} = erltrace_nif:spent(Nif),
                {ok, #run{
                    starting = case InKernel of true -> Spent; false -> 0 end,
                    handle = H,
                    mon = erlang:monitor(process, H),
                    nif = Nif,
                    ref = Ref,
                    since = now_ms(),
                    spent = Spent,
                    loaded = Loaded,
                    unmatched = unmatched(H)
                }}
            catch
                throw:{error, _} = Error ->
                    erltrace_handle:close(H),
                    {error, why(Error, Spec)};
                % the handle has been closed meanwhile
                error:{badmatch, Other} ->
                    erltrace_handle:close(H),
                    {error, io_lib:format("~0P", [Other, 20])}
            end;
        Error ->
            {error, erltrace:format_error(Error)}
    end.

%% A helper tells what a script gathers when that has started.
go(true, H, Name) ->
    done(erltrace_handle:call(H, go)),
    feed(H, Name);
go(false, H, Name) ->
    Ref = feed(H, Name),
    done(erltrace_handle:call(H, go)),
    Ref.

feed(H, Name) ->
    Shapes = case erltrace_handle:call(H, {feed, erltrace_metrics:totals(), Name}) of
                 List when is_list(List) -> List;
                 Error -> throw(Error)
             end,
    {ok, Sub} = erltrace_sub:options(#{
        interval => ?TICK, output => alerts, aggregations => ticks
    }),
    Save = {erltrace_metrics, save, [Name]},
    {ok, Ref} = erltrace_handle:call(
        H, {subscribe, whereis(erltrace_metrics), Sub#{save => Save}}
    ),
    ok = erltrace_metrics:attach(Ref, self(), Name, Shapes),
    Ref.

%% One that ran before starts again after a pause, whatever of the node's code has gone meanwhile.
compile(
    H,
    #{source := {ok, Source}, args := Args, options := Options, file := File} = Spec,
    Ran
) ->
    All = defaults(Spec) ++ Options ++ [{"zdefs", ""} || Ran],
    [done(erltrace_handle:call(H, {setopt, Option, Value})) || {Option, Value} <- All],
    done(erltrace_handle:call(H, {compile, Source, Args, [{file, File}, later, kernel]})).

%% The totals are in erltrace_metrics: the library keeps no key besides. Deleted variables are
%% cleaned up less often than where somebody looks on: that is not paid for by the budget.
defaults(#{budget := Share}) ->
    [{"aggkeep", "off"}, {"quiet", "on"}, {"cleanrate", "2hz"},
     {"statebudget", integer_to_list(max(1, min(100, floor(Share * 100))))}].

done(ok) -> ok;
done(Error) -> throw(Error).

why({error, {dtrace, _, _, _, _} = Reason}, #{source := {ok, Source}}) ->
    erltrace:format_error(Reason, Source);
why(Error, _) ->
    erltrace:format_error(Error).

pause(Data) ->
    gauge(state, paused, Data),
    count(pauses, 1, Data),
    Data1 = tell_paused(disarm(Data)),
    {next_state, paused, Data1, look_again(paused, Data1)}.

tell_paused(#data{told = #told{paused = true}} = Data) ->
    Data;
tell_paused(#data{spec = #{file := File}, told = Told} = Data) ->
    logger:notice(
        "erltrace: ~ts: it would take more than it may spend, and so is paused now and then: "
        "erltrace_script_armed_ratio says how much of the time it counts",
        [File]
    ),
    keep_told(Told#told{paused = true}, Data).

%% When this returns nothing is armed, and the last results are in the totals.
disarm(#data{run = undefined} = Data) ->
    Data;
disarm(#data{spec = #{name := Name}, run = #run{handle = H, mon = Mon}} = Data) ->
    erlang:demonitor(Mon, [flush]),
    {Took, _} = timed(fun() -> erltrace_handle:call(H, stop) end),
    Data1 = look(armed, Data), % of the last event too
    erltrace_metrics:disarmed(Name),
    erltrace_handle:close(H),
    paid(disarm, Took, Data1#data{run = undefined}).

%% By exit(), a full buffer, or the watchdog.
ended(State, #data{run = #run{handle = H}} = Data) ->
    Why = case erltrace_handle:call(H, counts) of
              {ok, #{aborted := Text}} when is_binary(Text) -> Text;
              _ -> io_lib:format("it has ended by itself: ~0p", [State])
          end,
    rest(Why, disarm(Data)).

%% It has run, and ended. Why may have other numbers each time: it is told once in a while.
rest(Why, #data{told = #told{ended = Last} = Told} = Data) ->
    Now = now_ms(),
    case Last =:= undefined orelse Now - Last >= ?HOUR of
        true -> wait(text(Why), ?LONGEST_REST, tell(text(Why), Told#told{ended = Now}, Data));
        false -> wait(text(Why), ?LONGEST_REST, Data)
    end.

%% It has not started.
failed(Why, #data{told = #told{start = Last} = Told} = Data) ->
    case text(Why) of
        Last -> wait(Last, ?LONGEST_WAIT, Data);
        Text -> wait(Text, ?LONGEST_WAIT, tell(Text, Told#told{start = Text}, Data))
    end.

wait(Why, Longest, #data{spec = #{name := Name}, wait = Wait} = Data) ->
    count(errors, 1, Data),
    erltrace_metrics:failed(Name, Why),
    {next_state, failed, Data#data{run = undefined, wait = min(Longest, 2 * Wait)}, [
        {state_timeout, Wait, arm}
    ]}.

%% The line of a script that an error shows may be no text at all.
text(Why) ->
    try unicode:characters_to_binary(Why) of
        Text when is_binary(Text) -> Text;
        {_, _, _} -> erltrace_metrics:text(iolist_to_binary(Why))
    catch error:badarg -> iolist_to_binary(io_lib:format("~0P", [Why, 50]))
    end.

tell(Text, Told, #data{spec = #{file := File}} = Data) ->
    logger:error("erltrace: ~ts: ~ts", [File, Text]),
    keep_told(Told, Data).

%% What was told outlives this process, and is of use to the next one if that has the same script.
keep_told(Told, #data{spec = #{name := Name} = Spec} = Data) ->
    erltrace_metrics:keep(Name, told, {same(Spec), Told}),
    Data#data{told = Told}.

told(#{name := Name} = Spec) ->
    Same = same(Spec),
    case erltrace_metrics:kept(Name, told) of
        {Same, Told} -> Told;
        _ -> #told{}
    end.

same(Spec) ->
    erlang:md5(term_to_binary(maps:with([source, file, budget, args, options], Spec))).

%% Descriptions that match nothing: a module is not loaded yet, and erltrace_new_modules tells the
%% handle when it is, or a name is misspelt. The script runs without them.
unmatched(H) ->
    case erltrace_handle:call(H, unmatched) of
        Unmatched when is_list(Unmatched) -> [Text || {_, _, Text} <- Unmatched];
        {error, _} -> [] % it has ended
    end.

tell_unmatched(
    #data{
        spec = #{file := File},
        run = #run{unmatched = Texts},
        told = #told{unmatched = Before} = Told
    } = Data
) ->
    gauge(unmatched, Texts, Data),
    case Texts -- Before of
        [] ->
            Data;
        New ->
            _ = [logger:warning("erltrace: ~ts: ~ts", [File, Text]) || Text <- New],
            keep_told(Told#told{unmatched = New ++ Before}, Data)
    end.

match_again(#data{run = #run{handle = H, loaded = Loaded, unmatched = [_ | _]} = Run} = Data) ->
    case erlang:loaded() of
        Loaded -> Data;
        Now -> tell_unmatched(Data#data{run = Run#run{loaded = Now, unmatched = unmatched(H)}})
    end;
match_again(Data) ->
    Data.

%% ---- what it costs ---------------------------------------------------------------------------

new_budget(#{budget := Share}) ->
    erltrace_budget:new(Share, clock()).

clock() ->
    {_, Cpu, _} = erltrace_nif:spent(none),
    {erlang:monotonic_time(nanosecond), Cpu}.

%% ns that it took: no longer than it lasted, and no more than the whole node used.
timed(Fun) ->
    {Wall0, Cpu0} = clock(),
    Result = Fun(),
    {Wall, Cpu} = clock(),
    {min(Wall - Wall0, Cpu - Cpu0), Result}.

paid(How, Ns, #data{budget = Budget} = Data) ->
    {Paid, Budget1} = erltrace_budget:pay(How, Ns, Budget),
    count(spent, Paid, Data),
    Data#data{budget = Budget1}.

look_again(State, #data{budget = Budget}) ->
    [{state_timeout, erltrace_timer:next(erltrace_budget:next(State, Budget)), look, {abs, true}}].

look(State, #data{spec = #{name := Name, level := Level}, budget = Budget} = Data) ->
    {Cost, Data1} = spent(Data),
    Part = atomics:get(Level, 1) / 1000000,
    Budget1 = erltrace_budget:pass(clock(), Part, {State, Cost}, Budget),
    erltrace_metrics:passed(Name, State),
    count(spent, Cost, Data),
    gauge(demand, erltrace_budget:demand(Budget1), Data),
    healthy(now_ms(), (match_again(Data1))#data{budget = Budget1}).

spent(#data{run = #run{nif = Nif, spent = Spent0, fired = Fired0} = Run} = Data) ->
    case erltrace_nif:spent(Nif) of
        {Spent, _, Fired} ->
            count(events, max(0, Fired - Fired0), Data),
            {max(0, Spent - Spent0), Data#data{run = Run#run{spent = Spent, fired = Fired}}};
        closed ->
            {0, Data}
    end;
spent(Data) ->
    {0, Data}.

healthy(Now, #data{run = #run{since = Since}} = Data) when Now - Since > ?HEALTHY ->
    Data#data{wait = ?FIRST_WAIT};
healthy(_, Data) ->
    Data.

count(What, N, #data{spec = #{name := Name}}) ->
    erltrace_metrics:count(Name, What, N).

gauge(What, Value, #data{spec = #{name := Name}}) ->
    erltrace_metrics:gauge(Name, What, Value).

now_ms() ->
    erlang:monotonic_time(millisecond).
