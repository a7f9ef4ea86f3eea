%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What there is to know of the scripts that are always on (erltrace_script), and their totals:
%% what their ticks bring, added up, so that a counter does not go back when a script is paused or
%% starts again. The totals are those of `erltrace serve' (c_src/metrics/), in the library. Handles
%% feed them by themselves (erltrace_nif:feed/3), so nothing is lost with a process that is killed.
%%
%% The table is owned by erltrace_sup, and so it and the totals outlive this process. Whoever asks
%% for the metrics reads them, and waits for nobody. This process knows which aggregations have
%% metrics, and tells others what ticks bring besides. The rows:
%%
%%   {{count | gauge, Script, What}, Value}         about the script
%%   {{times, Script}, Armed, Paused, Until, Is}    ms; up to when they are known; is it armed since
%%                                                  then?
%%   {{own, Script, What}, Value}                   likewise, for erltrace alone
%%   {{told, Script, What}, {When, Others}}         what was logged
%%   {{setting, What}, Value}                       `totals' among them
%%   {{shape, Script, Aggregation}, Shape | Why}    why it has no metric
-module(erltrace_metrics).
-behaviour(gen_server).
-export([
    new_table/0,
    start_link/0,
    attach/4,
    writers/2,
    save/2,
    changed/1,
    forget/1,
    settings/1,
    set/2,
    setting/2,
    totals/0,
    telemetry_runs/0,
    count/3,
    gauge/3,
    passed/2,
    armed_again/1,
    disarmed/1,
    keep/3,
    kept/2,
    failed/1, failed/2,
    about/1,
    scripts/0,
    exposition/1
]).
-export([execute/3, text/1, line/1, with_totals/2]). % for erltrace_alerts, erltrace_script
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, format_status/1]).
-export_type([shape/0, part/0, family/0, own_family/0]).

-define(TABLE, ?MODULE).
-define(MAX_LABELS, 1000). % series of a metric, besides `other'
-define(LONGEST_END, 10000). % ms: a writer that takes longer to end is killed
-define(MOST_TOLD, 100).   % warnings of a script
-define(QUIET, 60000).     % ms: of one level one message of a script is logged

-type shape() :: #{function := atom(),
                   type := counter | gauge | summary | histogram,
                   name := binary(), % without _total
                   decimals := 0..9,
                   labels := [binary()]}.
-type part() :: {Aggregation :: binary(), Keys :: [term()], Value :: term()}.
-type labels() :: binary(). % as they are printed, without braces
-type sample() :: {labels(), number()}
                | {labels(), Count :: non_neg_integer(), Sum :: number() | undefined}
                | {labels(), Count :: non_neg_integer(), Sum :: number() | undefined,
                   [{Quantile :: number(), number() | undefined}]}
                | {labels(), [{Le :: number() | infinity, non_neg_integer()}], non_neg_integer(),
                   undefined}.
-type family() :: {Name :: binary(), counter | gauge | summary | histogram, Help :: binary(),
                   [sample()]}.
%% Of erltrace itself: the name without _total, labels as they are.
-type own_family() :: {Name :: string(), counter | gauge, Help :: string(),
                       [{[{Label :: string(), binary()}], number()}]}.

-record(st, {subs = #{} :: #{reference() => {Script :: binary(), pid()}}}).

%% @doc By the process that is to own it.
-spec new_table() -> ok.
new_table() ->
    ?TABLE = ets:new(?TABLE, [ordered_set, public, named_table, {read_concurrency, true}]),
    ok.

-spec start_link() -> gen_server:start_ret().
start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% @doc Ticks with this reference are a script's, whose process is told when it has ended.
-spec attach(reference(), pid(), Script :: binary(), [
    {Aggregation :: binary(), shape() | Why :: binary()}
]) ->
    ok.
attach(Ref, Pid, Script, Shapes) ->
    gen_server:call(?MODULE, {attach, Ref, Pid, Script, Shapes}, infinity).

%% @doc Its file has changed: what was told of it may be told again.
-spec changed(Script :: binary()) -> ok.
changed(Script) ->
    gen_server:cast(?MODULE, {changed, Script}).

%% @doc The script has been removed, and so are its metrics.
-spec forget(Script :: binary()) -> ok.
forget(Script) ->
    gen_server:call(?MODULE, {forget, Script}, infinity).

-spec settings(#{max_labels => pos_integer()}) -> ok.
settings(Settings) ->
    gen_server:call(?MODULE, {settings, Settings}, infinity).

%% @doc Of all scripts: it outlives the processes too.
-spec set(What :: atom() | {started, atom()}, term()) -> ok.
set(What, Value) ->
    true = ets:insert(?TABLE, {{setting, What}, Value}),
    ok.

-spec setting(What :: atom() | {started, atom()}, Default :: term()) -> term().
setting(What, Default) ->
    row({setting, What}, Default).

%% @doc For the handles of scripts, which feed them.
-spec totals() -> reference().
totals() ->
    gen_server:call(?MODULE, totals, infinity).

%% ---- about scripts ---------------------------------------------------------------------------

%% @doc More of something: starts, errors, events, pauses; ns `spent'.
-spec count(Script :: binary(), What :: atom() | {drops, binary()}, N :: integer()) -> ok.
count(_, _, 0) ->
    ok;
count(Script, What, N) ->
    Key = {count, Script, What},
    _ = ets:update_counter(?TABLE, Key, N, {Key, 0}),
    ok.

-spec gauge(Script :: binary(), What :: atom() | {left_out, binary()}, term()) -> ok.
gauge(Script, What, Value) ->
    true = ets:insert(?TABLE, {{gauge, Script, What}, Value}),
    ok.

%% @doc It was armed, or paused, until now, since the last time that was said. The times are in the
%% table: whatever ends the script's process, what is between is known.
-spec passed(Script :: binary(), armed | paused) -> ok.
passed(Script, State) ->
    Now = now_ms(),
    case {times(Script), State} of
        {none, _} ->
            ok;
        {{Armed, Paused, Until, _}, armed} ->
            times(Script, {Armed + Now - Until, Paused, Now, true});
        {{Armed, Paused, Until, _}, paused} ->
            times(Script, {Armed, Paused + Now - Until, Now, false})
    end.

%% @doc It is armed, and was not since the last time that was said.
-spec armed_again(Script :: binary()) -> ok.
armed_again(Script) ->
    Now = now_ms(),
    case times(Script) of
        none -> times(Script, {0, 0, Now, true});
        {Armed, Paused, Until, _} -> times(Script, {Armed, Paused + gap(Now, Until), Now, true})
    end.

%% @doc It is not armed any more.
-spec disarmed(Script :: binary()) -> ok.
disarmed(Script) ->
    _ = ets:update_element(?TABLE, {times, Script}, {5, false}),
    ok.

times(Script) ->
    case ets:lookup(?TABLE, {times, Script}) of
        [{_, Armed, Paused, Until, Is}] -> {Armed, Paused, Until, Is};
        [] -> none
    end.

times(Script, {Armed, Paused, Until, Is}) ->
    true = ets:insert(?TABLE, {{times, Script}, Armed, Paused, Until, Is}),
    ok.

%% Calls may be missed in less than a millisecond.
gap(Now, Until) -> max(1, Now - Until).

%% @doc Of a script, for erltrace itself: it outlives the processes, until the script is removed.
-spec keep(Script :: binary(), What :: atom(), term()) -> ok.
keep(Script, What, Value) ->
    true = ets:insert(?TABLE, {{own, Script, What}, Value}),
    ok.

-spec kept(Script :: binary(), What :: atom()) -> term() | undefined.
kept(Script, What) ->
    row({own, Script, What}, undefined).

%% @doc A script does not run, or none does, and why.
-spec failed(Script :: binary(), Why :: binary()) -> ok.
failed(Script, Why) ->
    disarmed(Script),
    gauge(Script, state, failed),
    gauge(Script, why, Why).

-spec failed(Why :: binary()) -> ok.
failed(Why) ->
    lists:foreach(fun(Script) -> failed(Script, Why) end, scripts()).

%% @doc All of a script.
-spec about(Script :: binary()) -> #{atom() | {drops | left_out, binary()} => term()}.
about(Script) ->
    Rows = maps:from_list([
        {What, V}
     || Kind <- [count, gauge],
        [What, V] <- ets:match(?TABLE, {{Kind, Script, '$1'}, '$2'})
    ]),
    case times(Script) of
        none ->
            Rows;
        {Armed, Paused, _, true} ->
            Rows#{armed => Armed, paused => Paused};
        {Armed, Paused, Until, false} ->
            Rows#{armed => Armed, paused => Paused + gap(now_ms(), Until)}
    end.

-spec scripts() -> [binary()].
scripts() ->
    lists:append(ets:match(?TABLE, {{count, '$1', starts}, '_'})).

%% ---- the process -----------------------------------------------------------------------------

-spec init([]) -> {ok, #st{}}.
init([]) ->
    process_flag(sensitive, true),
    {ok, #st{}}.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, term(), #st{}}.
handle_call({attach, Ref, Pid, Script, Shapes}, _, #st{subs = Subs} = St) ->
    ets:match_delete(?TABLE, {{shape, Script, '_'}, '_'}),
    true = ets:insert(?TABLE, [{{shape, Script, A}, Shape} || {A, Shape} <- Shapes]),
    tell_left_out(),
    {reply, ok, St#st{subs = Subs#{Ref => {Script, Pid}}}};
handle_call({forget, Script}, _, St) ->
    [
        ets:match_delete(?TABLE, {{Kind, Script, '_'}, '_'})
     || Kind <- [count, gauge, own, told, shape]
    ],
    ets:delete(?TABLE, {times, Script}),
    with_totals(fun(Totals) -> erltrace_nif:totals_forget(Totals, Script) end, ok),
    tell_left_out(),
    {reply, ok, St};
handle_call({settings, Settings}, _, St) ->
    set(max_labels, maps:get(max_labels, Settings, ?MAX_LABELS)),
    with_totals(fun limit/1, ok),
    {reply, ok, St};
handle_call(totals, _, St) ->
    {reply, known_totals(), St};
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast({changed, Script}, St) ->
    ets:match_delete(?TABLE, {{told, Script, '_'}, '_'}),
    {noreply, St};
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}}.
handle_info({erltrace, Ref, Kind, Tick}, #st{subs = Subs} = St) ->
    case Subs of
        #{Ref := {Script, Pid}} ->
            pass_on(Script, Tick),
            {noreply, next(Kind, Ref, Pid, Tick, St)};
        _ ->
            {noreply, St}
    end;
handle_info(_, St) ->
    {noreply, St}.

next(tick, Ref, _, _, St) ->
    erltrace:ack(Ref),
    St;
next(done, Ref, Pid, #{status := Status}, #st{subs = Subs} = St) ->
    erltrace_script:done(Pid, Ref, Status),
    St#st{subs = maps:remove(Ref, Subs)}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{subs = Subs}} = Status) ->
    Status#{
        state := #{
            scripts => [Script || {Script, _} <- maps:values(Subs)], max_labels => max_labels()
        }
    }.

%% ---- totals ----------------------------------------------------------------------------------

%% They begin anew if the library that had them was replaced by one that cannot take them over.
known_totals() ->
    Limited = fun(Totals) ->
        ok = limit(Totals),
        Totals
    end,
    case with_totals(Limited, none) of
        none ->
            {ok, New} = erltrace_nif:totals(max_labels()),
            set(totals, New),
            New;
        Known ->
            Known
    end.

limit(Totals) ->
    erltrace_nif:totals_limit(Totals, max_labels()).

max_labels() ->
    setting(max_labels, ?MAX_LABELS).

%% @doc Otherwise: there are none yet, or they are not of this library.
-spec with_totals(fun((reference()) -> T), Otherwise) -> T | Otherwise.
with_totals(Fun, Otherwise) ->
    case setting(totals, none) of
        none ->
            Otherwise;
        Totals ->
            try Fun(Totals)
            catch error:badarg -> Otherwise
            end
    end.

%% Aggregations without a metric: because of their functions, or because another one has the name.
tell_left_out() ->
    NotShown = [{S, A, Why} || {S, A, Why, _} <- about_totals(), Why =/= undefined],
    NoMetric = [{S, A, Why} || [S, A, Why] <- ets:match(?TABLE, {{shape, '$1', '$2'}, '$3'}),
                               is_binary(Why)],
    Now = [{{gauge, S, {left_out, A}}, Why} || {S, A, Why} <- NotShown ++ NoMetric],
    Before = ets:match_object(?TABLE, {{gauge, '_', {left_out, '_'}}, '_'}),
    [ets:delete(?TABLE, Key) || {Key, _} <- Before, not lists:keymember(Key, 1, Now)],
    true = ets:insert(?TABLE, Now),
    lists:foreach(fun log_left_out/1, Now -- Before).

log_left_out({{gauge, Script, {left_out, Aggregation}}, Why}) ->
    logger:warning("erltrace: ~ts.d: @~ts is left out: ~ts", [
        line(Script), bare(Aggregation), Why
    ]).

bare(<<"_">>) -> <<>>;
bare(Name) -> Name.

about_totals() ->
    with_totals(fun erltrace_nif:totals_about/1, []).

%% ---- ticks -----------------------------------------------------------------------------------

%% @doc The processes, a script's own and its handle, that write its rows from now on. Those before
%% them have ended: if their supervisor was killed they may still be at it.
-spec writers(Script :: binary(), [pid()]) -> ok.
writers(Script, Pids) ->
    lists:foreach(fun wait_for_end/1, row({own, Script, writers}, []) -- Pids),
    keep(Script, writers, Pids).

wait_for_end(Pid) ->
    Mon = erlang:monitor(process, Pid),
    receive {'DOWN', Mon, process, _, _} -> ok
    after ?LONGEST_END ->
            exit(Pid, kill),
            receive {'DOWN', Mon, process, _, _} -> ok end
    end.

%% @doc By the handle of a script: count what a tick brings besides its aggregations. The table is
%% gone only if the application is.
-spec save(Script :: binary(), Tick :: map()) -> ok.
save(Script, Tick) ->
    case ets:whereis(?TABLE) of
        undefined -> ok;
        _ -> add_tick(Script, Tick)
    end.

add_tick(Script, #{drops := Drops, faults := Faults} = Tick) ->
    lists:foreach(fun({Kind, N, _}) -> count(Script, {drops, Kind}, N) end, Drops),
    count(Script, alerts, length(alerts(Tick))),
    count(Script, errors, length(Faults)).

alerts(Tick) ->
    [
        {text(Name), text(Text)}
     || {alert, _, {Name, Text}} <- maps:get(records, Tick, []), is_binary(Name), Name =/= <<>>
    ].

pass_on(Script, Tick) ->
    erltrace_alerts:fire(Script, alerts(Tick)),
    telemetry(Script, Tick),
    tell_faults(Script, maps:get(faults, Tick)),
    tell_warnings(Script, maps:get(warnings, Tick)).

%% They repeat themselves: one a minute.
tell_faults(_, []) ->
    ok;
tell_faults(Script, [Text | More]) ->
    Key = {told, Script, error},
    Now = now_ms(),
    case row(Key, none) of
        {At, Others} when Now - At < ?QUIET ->
            told(Key, {At, Others + 1 + length(More)});
        Last ->
            N =
                length(More) +
                    case Last of
                        none -> 0;
                        {_, Others} -> Others
                    end,
            logger:error("erltrace: ~ts.d: ~ts~ts", [
                line(Script),
                line(Text),
                case N of
                    0 -> "";
                    _ -> [" (and ", integer_to_list(N), " more)"]
                end
            ]),
            told(Key, {Now, 0})
    end.

%% What starting finds is the same each time.
tell_warnings(Script, Texts) ->
    lists:foreach(fun(Text) -> tell_warning(Script, Text) end, Texts).

tell_warning(Script, Text) ->
    Key = {told, Script, Text},
    case
        ets:member(?TABLE, Key) orelse
            length(ets:match(?TABLE, {{told, Script, '$1'}, '_'})) > ?MOST_TOLD
    of
        true ->
            ok;
        false ->
            logger:warning("erltrace: ~ts.d: ~ts", [line(Script), line(Text)]),
            told(Key, {0, 0})
    end.

told(Key, Value) ->
    true = ets:insert(?TABLE, {Key, Value}),
    ok.

row(Key, Default) ->
    case ets:lookup(?TABLE, Key) of
        [{_, Value}] -> Value;
        [] -> Default
    end.

%% ---- texts -----------------------------------------------------------------------------------

%% @doc Bytes as text: what is not UTF-8 is replaced.
-spec text(binary()) -> binary().
text(Bytes) -> unicode:characters_to_binary(utf8(Bytes)).

%% @doc Text of scripts, and of what they have traced, for a line of the log: nothing in it begins
%% another line, or acts on a terminal.
-spec line(binary() | string()) -> string().
line(Text) ->
    Chars = if is_binary(Text) -> utf8(Text); true -> Text end,
    [if C < $\s; C >= 16#7f, C < 16#a0 -> $\s; true -> C end || C <- Chars].

utf8(Bytes) ->
    case unicode:characters_to_list(Bytes) of
        Chars when is_list(Chars) -> Chars;
        {_, Good, <<_, Rest/binary>>} -> Good ++ [16#fffd | utf8(Rest)]
    end.

%% ---- all of them -----------------------------------------------------------------------------

%% @doc Every metric, and what there is to say about the scripts: as terms, or as text.
-spec exposition(terms) -> [family()];
                (text | openmetrics) -> binary().
exposition(Form) ->
    case code:ensure_loaded(erltrace_nif) of
        {module, _} -> exposition(Form, own_families());
        {error, _} when Form =:= terms -> [];
        {error, _} -> <<>>
    end.

exposition(Form, Own) ->
    case with_totals(fun(Totals) -> erltrace_nif:exposition(Totals, Own, Form) end, none) of
        none ->
            {ok, Empty} = erltrace_nif:totals(0),
            erltrace_nif:exposition(Empty, Own, Form);
        Metrics ->
            Metrics
    end.

%% Name, type, help, and the value of a script.
own() ->
    Of = fun(What) -> fun(S) -> maps:get(What, S, 0) end end,
    [
        {"erltrace_script_up", gauge,
            "1: the script runs, or is paused to stay within its budget.", fun
                (#{state := State}) when State =/= failed -> 1;
                (_) -> 0
            end},
        {"erltrace_script_armed_ratio", gauge,
            "The part of the time since its start that the script was armed: below 1, its counts "
            "are of that part only.",
            fun armed_ratio/1},
        {"erltrace_script_armed_seconds", counter, "How long the script was armed.", fun(S) ->
            maps:get(armed, S, 0) / 1000
        end},
        {"erltrace_script_paused_seconds", counter,
            "How long the script was not armed, paused to stay within its budget or ended: "
            "nothing was counted meanwhile.",
            fun(S) -> maps:get(paused, S, 0) / 1000 end},
        {"erltrace_script_pauses", counter, "How often the script was paused.", Of(pauses)},
        {"erltrace_script_spent_seconds", counter,
            "Processor time that the script took: its events, reading and arming it.", fun(S) ->
                maps:get(spent, S, 0) / 1000000000
            end},
        {"erltrace_script_restarts", counter, "How often the script was started again.", fun(S) ->
            max(0, maps:get(starts, S, 0) - 1)
        end},
        {"erltrace_errors", counter,
            "Errors of the script: it did not compile, or a clause failed.", Of(errors)},
        {"erltrace_events", counter, "Probes that fired.", Of(events)},
        {"erltrace_cost_ratio", gauge,
            "The part of the schedulers' time that the script takes while it is armed.", fun
                (#{demand := D}) when is_float(D) -> D;
                (_) -> 0
            end},
        {"erltrace_script_left_out", gauge,
            "Aggregations of the script that have no metric, as erltrace:scripts() says.", fun(S) ->
                length([x || {left_out, _} <- maps:keys(S)])
            end},
        {"erltrace_script_unmatched", gauge,
            "Probe descriptions of the script that match nothing so far, as erltrace:scripts() "
            "says.",
            fun(S) -> length(maps:get(unmatched, S, [])) end},
        {"erltrace_alert_calls", counter, "Calls of alert() by the script.", Of(alerts)}
    ].

%% One that was never armed has counted nothing.
armed_ratio(#{armed := Armed, paused := Paused}) -> ratio(Armed, Paused);
armed_ratio(_) -> 0.

ratio(_, 0) -> 1;
ratio(A, B) -> A / (A + B).

%% No script may have their names: c_src/metrics/naming.c lists them.
-spec own_families() -> [own_family()].
own_families() ->
    All = [{Script, about(Script)} || Script <- scripts()],
    {Alerts, Dropped} = erltrace_alerts:all(),
    [
        {Name, Type, Help, [{of_script(Script, []), Value(About)} || {Script, About} <- All]}
     || {Name, Type, Help, Value} <- own()
    ] ++
        [
            {"erltrace_drops", counter, "What was lost because a buffer was full.", [
                {of_script(Script, [{"kind", Kind}]), N}
             || {Script, About} <- All,
                {{drops, Kind}, N} <- maps:to_list(About)
            ]},
            {"erltrace_labels_dropped", counter,
                "Updates of keys beyond max_labels, which were added to the labels other.", [
                    {of_script(Script, [{"aggregation", Aggregation}]), ToOther}
                 || {Script, Aggregation, _, ToOther} <- about_totals()
                ]},
            {"erltrace_alert", gauge, "1: the alert goes on.", [
                {of_script(Script, [{"alertname", Name}]), 1}
             || {Script, Name} <- Alerts
            ]},
            {"erltrace_alerts_dropped", counter, "Alerts that were left out: too many.", [
                {[of_node()], Dropped}
            ]}
        ].

of_script(Script, More) ->
    [of_node(), {"script", Script} | More].

of_node() ->
    {"node", atom_to_binary(node())}.

%% ---- telemetry -------------------------------------------------------------------------------

%% @doc Its application runs, or nobody listens: only then ticks have their parts as terms.
-spec telemetry_runs() -> boolean().
telemetry_runs() ->
    whereis(telemetry_handler_table) =/= undefined.

telemetry(Script, #{aggregations := Parts}) ->
    case telemetry_runs() of
        false ->
            ok;
        true ->
            execute([erltrace, tick], #{parts => length(Parts)}, #{
                script => Script, about => about(Script)
            }),
            lists:foreach(fun(Part) -> telemetry_part(Script, Part) end, Parts)
    end.

telemetry_part(Script, {Aggregation, Keys, Value}) ->
    case row({shape, Script, Aggregation}, none) of
        #{function := Function} = Shape ->
            execute([erltrace, metric], measured(Function, Value),
                    Shape#{script => Script, aggregation => Aggregation, keys => Keys});
        _ ->
            ok
    end.

measured(avg, {Sum, Count}) -> #{sum => Sum, count => Count};
measured(_, Buckets) when is_list(Buckets) ->
    #{buckets => Buckets, count => lists:sum([N || {_, N} <- Buckets])};
measured(_, Value) -> #{value => Value}.

%% @doc An event of telemetry, where that runs. A handler that fails is telemetry's to deal with.
-spec execute([atom()], map(), map()) -> ok.
execute(Event, Measurements, Metadata) ->
    case telemetry_runs() of
        false -> ok;
        true ->
            try apply(telemetry, execute, [Event, Measurements, Metadata]) of
                _ -> ok
            catch _:_ -> ok % it has ended meanwhile
            end
    end.

now_ms() ->
    erlang:monotonic_time(millisecond).
