%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Totals of the scripts that are always on (erltrace_script): what their ticks bring is added
%% up, so that a counter does not go back when a script is paused or starts again. A metric is one
%% aggregation of one script; a series is one combination of keys. Names, help and units are those
%% of `erltrace serve' (c_src/metrics/metric_name.c).
%%
%% The number of series of a metric is bounded: when it is reached, further keys are added to a
%% series whose keys are all `other', and counted.
%%
%% The table is owned by erltrace_sup, and so outlives this process. Whoever asks for the metrics
%% reads it, and waits for nobody. The handle of a script adds its ticks itself (save/2), all of a
%% tick by one insert: nothing is lost with a message to a process that is killed, and nothing is
%% added twice. Series and #grown{} have one writer, the handle; the next one of the script begins
%% when it has ended (writers/2). This process knows which metrics there are, and tells others what
%% ticks bring besides. The rows:
%%
%%   {{count | gauge, Script, What}, Value}         about the script
%%   {{times, Script}, Armed, Paused, Until, Is}    ms; up to when they are known; is it armed since
%%                                                  then?
%%   {{own, Script, What}, Value}                   likewise, for erltrace alone
%%   {{told, Script, What}, {When, Others}}         what was logged
%%   {{setting, What}, Value}
%%   {{metric, Script, Aggregation}, #metric{}}
%%   {{grown, Script, Aggregation}, #grown{}}
%%   {{series, {Script, Aggregation}, Labels}, Value}
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
    families/0
]).
-export([execute/3, text/1, line/1]). % for erltrace_alerts, erltrace_script
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, format_status/1]).
-export_type([shape/0, part/0, family/0]).

-define(TABLE, ?MODULE).
-define(MAX_LABELS, 1000). % series of a metric, besides `other'
-define(LONGEST_END, 10000). % ms: a writer that takes longer to end is killed
-define(MOST_TOLD, 100).   % warnings of a script
-define(QUIET, 60000).     % ms: of one level one message of a script is logged
-define(PART, 10).         % seconds: percentile() is of the last minute, in parts ...
-define(PARTS, 6).         % ... that go one by one

-type shape() :: #{function := atom(),
                   type := counter | gauge | summary | histogram,
                   name := binary(),
                   help := binary(),
                   decimals := 0..9,
                   keys := non_neg_integer(), % how many
                   labels := [binary()],
                   percents := [float()],     % of percentile()
                   samples := [binary()]}.    % the names of all that it has
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

-record(metric, {shape :: shape(),
                 hidden = false :: false | binary()}).     % another one has its name: which
-record(grown, {series = 0 :: non_neg_integer(),
                bounds = [] :: ordsets:ordset(integer()), % of the buckets of all series
                goes_down = false :: boolean(),           % a sum that had negative values: a gauge
                to_other = 0 :: non_neg_integer()}).
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
    {Aggregation :: binary(), shape() | undefined}
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
    row({setting, What}, Default, #{}).

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
    row({own, Script, What}, undefined, #{}).

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
    remove(Script, [
        A
     || [A] <- ets:match(?TABLE, {{metric, Script, '$1'}, '_'}), not lists:keymember(A, 1, Shapes)
    ]),
    remove(Script, [
        A
     || [A] <- ets:match(?TABLE, {{gauge, Script, {left_out, '$1'}}, '_'}),
        not lists:keymember(A, 1, Shapes)
    ]),
    lists:foreach(
        fun({Aggregation, Shape}) -> set_metric(Script, Aggregation, Shape) end, Shapes
    ),
    show_hidden(),
    {reply, ok, St#st{subs = Subs#{Ref => {Script, Pid}}}};
handle_call({forget, Script}, _, St) ->
    [
        ets:match_delete(?TABLE, {{Kind, Script, '_'}, '_'})
     || Kind <- [count, gauge, own, told, metric, grown]
    ],
    ets:match_delete(?TABLE, {{series, {Script, '_'}, '_'}, '_'}),
    ets:delete(?TABLE, {times, Script}),
    show_hidden(),
    {reply, ok, St};
handle_call({settings, Settings}, _, St) ->
    set(max_labels, maps:get(max_labels, Settings, ?MAX_LABELS)),
    {reply, ok, St};
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

%% ---- metrics ---------------------------------------------------------------------------------

%% What the script was before it changed does not add up with what it is now. One whose name another
%% has is kept too, hidden until that one goes.
set_metric(Script, Aggregation, undefined) ->
    no_metric(Script, Aggregation, <<"this aggregating function has no metric">>);
set_metric(Script, Aggregation, #{samples := Samples} = Shape) ->
    Id = {Script, Aggregation},
    case [S || S <- Samples, lists:member(S, own_samples())] of
        [] ->
            M = case find(Id) of
                    #metric{shape = Old} = Known ->
                        case same(Old, Shape) of
                            true -> Known#metric{shape = Shape};
                            false -> clear(Id), #metric{shape = Shape}
                        end;
                    undefined -> #metric{shape = Shape}
                end,
            set_hidden(Id, M);
        [Name | _] ->
            no_metric(Script, Aggregation, <<"erltrace itself has a metric ", Name/binary>>)
    end.

no_metric(Script, Aggregation, Why) ->
    clear({Script, Aggregation}),
    ets:delete(?TABLE, {metric, Script, Aggregation}),
    left_out(Script, Aggregation, Why).

set_hidden({Script, Aggregation} = Id, #metric{shape = Shape} = M) ->
    case conflict(Id, Shape) of
        false ->
            ets:delete(?TABLE, {gauge, Script, {left_out, Aggregation}}),
            put_metric(Id, M#metric{hidden = false});
        {true, Why} ->
            put_metric(Id, M#metric{hidden = Why}),
            left_out(Script, Aggregation, Why)
    end.

%% One may have gone that had the name of others: the first of them has it now.
show_hidden() ->
    [
        set_hidden({Script, Aggregation}, M)
     || {{metric, Script, Aggregation}, #metric{hidden = Why} = M} <- ets:match_object(?TABLE, {
            {metric, '_', '_'}, '_'
        }),
        Why =/= false
    ],
    ok.

remove(Script, Aggregations) ->
    [begin
         clear({Script, A}),
         ets:delete(?TABLE, {metric, Script, A}),
         ets:delete(?TABLE, {gauge, Script, {left_out, A}})
     end || A <- Aggregations].

left_out(Script, Aggregation, Why) ->
    Key = {gauge, Script, {left_out, Aggregation}},
    _ =
        ets:lookup(?TABLE, Key) =:= [{Key, Why}] orelse
            logger:warning("erltrace: ~ts.d: @~ts is left out: ~ts", [
                line(Script), bare(Aggregation), Why
            ]),
    gauge(Script, {left_out, Aggregation}, Why).

bare(<<"_">>) -> <<>>;
bare(Name) -> Name.

%% Do their values add up?
same(Old, New) ->
    Alike = [function, type, decimals, keys, labels],
    maps:with(Alike, Old) =:= maps:with(Alike, New).

clear({Script, Aggregation} = Id) ->
    ets:delete(?TABLE, {grown, Script, Aggregation}),
    ets:match_delete(?TABLE, {{series, Id, '_'}, '_'}).

%% No two may have a sample of one name: Prometheus would take neither.
conflict(Id, #{name := Own, samples := Samples}) ->
    Others = [{Name, Script, Aggregation} ||
                 {{metric, Script, Aggregation},
                  #metric{shape = #{name := Name, samples := Other}, hidden = false}} <-
                     ets:match_object(?TABLE, {{metric, '_', '_'}, '_'}),
                 {Script, Aggregation} =/= Id, Samples -- Other =/= Samples],
    case Others of
        [] ->
            false;
        [{Own, Script, Aggregation} | _] ->
            {true, <<"@", (bare(Aggregation))/binary, " in ", Script/binary,
                     ".d has the same name, ", Own/binary>>};
        [{Name, Script, Aggregation} | _] ->
            {true, <<Own/binary, " has samples of the same names as ", Name/binary, ", of @",
                     (bare(Aggregation))/binary, " in ", Script/binary, ".d">>}
    end.

find({Script, Aggregation}) ->
    case ets:lookup(?TABLE, {metric, Script, Aggregation}) of
        [{_, Metric}] -> Metric;
        [] -> undefined
    end.

put_metric({Script, Aggregation}, Metric) ->
    ets:insert(?TABLE, {{metric, Script, Aggregation}, Metric}).

%% ---- ticks -----------------------------------------------------------------------------------

%% @doc The processes, a script's own and its handle, that write its rows from now on. Those before
%% them have ended: if their supervisor was killed they may still be at it.
-spec writers(Script :: binary(), [pid()]) -> ok.
writers(Script, Pids) ->
    lists:foreach(fun wait_for_end/1, row({own, Script, writers}, [], #{}) -- Pids),
    keep(Script, writers, Pids).

wait_for_end(Pid) ->
    Mon = erlang:monitor(process, Pid),
    receive {'DOWN', Mon, process, _, _} -> ok
    after ?LONGEST_END ->
            exit(Pid, kill),
            receive {'DOWN', Mon, process, _, _} -> ok end
    end.

%% @doc By the handle of a script: add what a tick brings to the totals. They are gone only if the
%% application is.
-spec save(Script :: binary(), Tick :: map()) -> ok.
save(Script, Tick) ->
    case ets:whereis(?TABLE) of
        undefined -> ok;
        _ -> add_tick(Script, Tick)
    end.

add_tick(Script, #{aggregations := Parts, drops := Drops, faults := Faults} = Tick) ->
    Max = max_labels(),
    Rows = lists:foldl(fun(Part, Rows) -> add_part(Script, Part, Max, Rows) end, #{}, Parts),
    true = ets:insert(?TABLE, maps:to_list(Rows)),
    lists:foreach(fun({Kind, N, _}) -> count(Script, {drops, Kind}, N) end, Drops),
    count(Script, alerts, length(alerts(Tick))),
    count(Script, errors, length(Faults)).

alerts(Tick) ->
    [
        {text(Name), text(Text)}
     || {alert, _, {Name, Text}} <- maps:get(records, Tick, []), is_binary(Name), Name =/= <<>>
    ].

max_labels() ->
    setting(max_labels, ?MAX_LABELS).

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
    case row(Key, none, #{}) of
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

%% Rows: those that this tick changes.
add_part(Script, {Aggregation, Keys, Value}, Max, Rows) ->
    Id = {Script, Aggregation},
    case find(Id) of
        undefined -> Rows;
        #metric{shape = Shape} -> add(Id, Keys, Value, Shape, Max, Rows)
    end.

add({Script, Aggregation} = Id, Keys, Value, #{function := Function, labels := Names}, Max, Rows) ->
    Growth = {grown, Script, Aggregation},
    #grown{series = N, to_other = Others} = Grown = row(Growth, #grown{}, Rows),
    Key = {series, Id, labels(Names, Keys)},
    {Key1, Old, Grown1} =
        case row(Key, none, Rows) of
            none when N >= Max, Keys =/= [] ->
                Other = {series, Id, labels(Names, [<<"other">> || _ <- Keys])},
                {Other, row(Other, none, Rows), Grown#grown{to_other = Others + 1}};
            none -> {Key, none, Grown#grown{series = N + 1}};
            Known -> {Key, Known, Grown}
        end,
    Rows#{Key1 => sum(Function, Old, Value), Growth => bounds(Function, Value, Grown1)}.

row(Key, _, Rows) when is_map_key(Key, Rows) -> map_get(Key, Rows);
row(Key, Default, _) ->
    case ets:lookup(?TABLE, Key) of
        [{_, Value}] -> Value;
        [] -> Default
    end.

sum(F, Old, New) when F =:= count; F =:= sum -> number(Old) + New;
sum(min, none, New) -> New;
sum(min, Old, New) -> min(Old, New);
sum(max, none, New) -> New;
sum(max, Old, New) -> max(Old, New);
sum(avg, none, New) -> New;
sum(avg, {Sum, N}, {Sum1, N1}) -> {Sum + Sum1, N + N1};
sum(percentile, Old, Buckets) -> ranks(Old, Buckets);
sum(_, none, Buckets) -> sum(quantize, {0, #{}}, Buckets);
sum(_, Old, Buckets) ->
    lists:foldl(fun({{_, Max}, N}, {Count, Les}) ->
                        {Count + N, maps:update_with(le(Max), fun(M) -> M + N end, N, Les)}
                end, Old, Buckets).

number(none) -> 0;
number(N) -> N.

%% A bucket holds the integers from Min to Max.
le(Max) when Max =:= (1 bsl 63) - 1 -> infinity;
le(Max) -> Max.

%% The bounds of a metric are those of all its series: else sums over series would be wrong.
bounds(sum, Value, G) when Value < 0 -> G#grown{goes_down = true};
bounds(F, Buckets, #grown{bounds = Bounds} = G) when
    F =:= quantize; F =:= lquantize; F =:= llquantize
->
    New =
        [Min - 1 || {{Min, _}, _} <- Buckets, Min > -(1 bsl 63)] ++
            [Max || {{_, Max}, _} <- Buckets, le(Max) =/= infinity],
    G#grown{bounds = ordsets:union(Bounds, ordsets:from_list(New))};
bounds(_, _, G) -> G.

%% ---- quantiles of the last minute ------------------------------------------------------------

ranks(none, Buckets) ->
    ranks({0, []}, Buckets);
ranks({Count, Parts}, Buckets) ->
    Now = part_now(),
    {Ranks, Old} =
        case Parts of
            [{Now, R} | Rest] -> {R, Rest};
            _ -> {#{}, Parts}
        end,
    New = lists:foldl(
        fun({Bucket, N}, R) -> maps:update_with(middle(Bucket), fun(M) -> M + N end, N, R) end,
        Ranks,
        Buckets
    ),
    {Count + lists:sum([N || {_, N} <- Buckets]), [{Now, New} | recent(Now, Old)]}.

part_now() -> erlang:monotonic_time(second) div ?PART.

recent(Now, Parts) -> [P || {Number, _} = P <- Parts, Number > Now - ?PARTS].

%% What percentile() itself prints.
middle({Min, Max}) -> Min + (Max - Min) div 2.

quantile(Percent, Ranks, Count) ->
    rank(ceil(Percent / 100 * Count), Ranks, 0).

rank(_, [{V, _}], _) -> V;
rank(Rank, [{V, N} | _], Below) when Below + N >= Rank -> V;
rank(Rank, [{_, N} | Rest], Below) -> rank(Rank, Rest, Below + N).

%% ---- labels ----------------------------------------------------------------------------------

%% An integer in decimal, a string as it is, a stack as its frames with semicolons between.
labels(Names, Keys) ->
    iolist_to_binary(
        lists:join($,, [label(<<"node">>, atom_to_binary(node())) | keys(Names, Keys, 0)])
    ).

keys(_, [], _) -> [];
keys([Name | Names], [Key | Keys], I) -> [label(Name, Key) | keys(Names, Keys, I + 1)];
keys([], [Key | Keys], I) -> [label(["key", integer_to_list(I)], Key) | keys([], Keys, I + 1)].

label(Name, Value) -> [Name, "=\"", label_text(Value), $"].

label_text(N) when is_integer(N) -> integer_to_list(N);
label_text(F) when is_float(F) -> io_lib:format("~p", [F]);
label_text(undefined) -> "";
label_text(Frames) when is_list(Frames) -> lists:join($;, [label_text(F) || F <- Frames]);
label_text(Bytes) -> << <<(char(C))/binary>> || C <- utf8(Bytes) >>.

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

char($\n) -> <<"\\n">>;
char($\\) -> <<"\\\\">>;
char($") -> <<"\\\"">>;
char(0) -> <<16#fffd/utf8>>;
char(C) -> <<C/utf8>>.

%% ---- all of them -----------------------------------------------------------------------------

%% @doc Every metric, in the order of their scripts, and what there is to say about these.
-spec families() -> [family()].
families() ->
    Metrics = ets:match_object(?TABLE, {{metric, '_', '_'}, '_'}),
    [Family || {{metric, Script, Aggregation}, #metric{hidden = false} = M} <- Metrics,
               {_, _, _, [_ | _]} = Family <- [family(Script, Aggregation, M)]] ++
        about_scripts() ++ [labels_dropped(Metrics) | about_alerts()].

family(Script, Aggregation, #metric{shape = Shape}) ->
    #{function := Function, type := Type0, name := Name, help := Help, decimals := Decimals} =
        Shape,
    Series = ets:match(?TABLE, {{series, {Script, Aggregation}, '$1'}, '$2'}),
    % all of these, or more
    #grown{goes_down = GoesDown} = Grown = row({grown, Script, Aggregation}, #grown{}, #{}),
    Type =
        case GoesDown of
            true -> gauge;
            false -> Type0
        end,
    {full_name(Type, Name), Type, Help, [
        sample(Function, Labels, Value, {fun(V) -> in_unit(V, Decimals) end, Shape, Grown})
     || [Labels, Value] <- Series
    ]}.

full_name(counter, Name) -> <<Name/binary, "_total">>;
full_name(_, Name) -> Name.

sample(avg, Labels, {Sum, Count}, {Unit, _, _}) -> {Labels, Count, Unit(Sum)};
sample(percentile, Labels, {Count, Parts}, {Unit, #{percents := Percents}, _}) ->
    All = lists:foldl(
        fun({_, R}, Sum) ->
            maps:fold(
                fun(V, N, S) -> maps:update_with(V, fun(O) -> O + N end, N, S) end,
                Sum,
                R
            )
        end,
        #{},
        recent(part_now(), Parts)
    ),
    Ranks = lists:sort(maps:to_list(All)),
    Recent = lists:sum(maps:values(All)),
    {Labels, Count, undefined, [
        {
            P / 100,
            case Ranks of
                [] -> undefined;
                _ -> Unit(quantile(P, Ranks, Recent))
            end
        }
     || P <- Percents
    ]};
sample(_, Labels, {Count, Les}, {Unit, _, #grown{bounds = Bounds}}) ->
    {Below, _} = lists:mapfoldl(fun(Le, Sum) ->
                                        Sum1 = Sum + maps:get(Le, Les, 0),
                                        {{Unit(Le), Sum1}, Sum1}
                                end, 0, Bounds),
    {Labels, Below ++ [{infinity, Count}], Count, undefined};
sample(_, Labels, Value, {Unit, _, _}) -> {Labels, Unit(Value)}.

in_unit(V, 0) -> V;
in_unit(V, Decimals) ->
    Unit = list_to_integer([$1 | lists:duplicate(Decimals, $0)]),
    case V rem Unit of
        0 -> V div Unit;
        _ -> V / Unit
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

%% All that erltrace itself may have a sample of, here or in `erltrace serve'.
own_samples() ->
    Names = [{Type, iolist_to_binary(Name)} || {Name, Type, _, _} <- own()] ++
        [{gauge, <<"erltrace_alert">>}, {counter, <<"erltrace_alerts_dropped">>},
         {counter, <<"erltrace_drops">>}, {counter, <<"erltrace_labels_dropped">>}],
    lists:append([case Type of
                      counter -> [Name, <<Name/binary, "_total">>, <<Name/binary, "_created">>];
                      gauge -> [Name]
                  end || {Type, Name} <- Names]).

about_scripts() ->
    All = [{Script, about(Script)} || Script <- scripts()],
    [
        {full_name(Type, iolist_to_binary(Name)), Type, iolist_to_binary(Help), [
            {script_labels(Script, []), Value(About)}
         || {Script, About} <- All
        ]}
     || {Name, Type, Help, Value} <- own()
    ] ++
        [
            {<<"erltrace_drops_total">>, counter, <<"What was lost because a buffer was full.">>,
                [
                    {script_labels(Script, [{"kind", Kind}]), N}
                 || {Script, About} <- All,
                    {{drops, Kind}, N} <- maps:to_list(About)
                ]}
        ].

about_alerts() ->
    [
        {<<"erltrace_alert">>, gauge, <<"1: the alert goes on.">>, [
            {script_labels(Script, [{"alertname", Name}]), 1}
         || {Script, Name, _} <- erltrace_alerts:all()
        ]},
        {<<"erltrace_alerts_dropped_total">>, counter, <<"Alerts that were left out: too many.">>,
            [
                {
                    iolist_to_binary(label("node", atom_to_binary(node()))),
                    erltrace_alerts:dropped()
                }
            ]}
    ].

labels_dropped(Metrics) ->
    {<<"erltrace_labels_dropped_total">>, counter,
        <<"Updates of keys beyond max_labels, which were added to the labels other.">>, [
            {
                script_labels(Script, [{"aggregation", Aggregation}]),
                (row({grown, Script, Aggregation}, #grown{}, #{}))#grown.to_other
            }
         || {{metric, Script, Aggregation}, _} <- Metrics
        ]}.

script_labels(Script, More) ->
    iolist_to_binary(
        lists:join($,, [
            label(N, V)
         || {N, V} <- [{"node", atom_to_binary(node())}, {"script", Script} | More]
        ])
    ).

%% ---- telemetry -------------------------------------------------------------------------------

%% Its application runs, or nobody listens.
telemetry(Script, #{aggregations := Parts}) ->
    case whereis(telemetry_handler_table) of
        undefined ->
            ok;
        _ ->
            execute([erltrace, tick], #{parts => length(Parts)}, #{
                script => Script, about => about(Script)
            }),
            lists:foreach(fun(Part) -> telemetry_part(Script, Part) end, Parts)
    end.

telemetry_part(Script, {Aggregation, Keys, Value}) ->
    case find({Script, Aggregation}) of
        undefined -> ok;
        #metric{shape = #{function := Function} = Shape} ->
            About = maps:with([function, name, type, decimals, labels], Shape),
            execute([erltrace, metric], measured(Function, Value),
                    About#{script => Script, aggregation => Aggregation, keys => Keys})
    end.

measured(avg, {Sum, Count}) -> #{sum => Sum, count => Count};
measured(_, Buckets) when is_list(Buckets) ->
    #{buckets => Buckets, count => lists:sum([N || {_, N} <- Buckets])};
measured(_, Value) -> #{value => Value}.

%% @doc An event of telemetry, where that runs. A handler that fails is telemetry's to deal with.
-spec execute([atom()], map(), map()) -> ok.
execute(Event, Measurements, Metadata) ->
    case whereis(telemetry_handler_table) of
        undefined -> ok;
        _ ->
            try apply(telemetry, execute, [Event, Measurements, Metadata]) of
                _ -> ok
            catch _:_ -> ok % it has ended meanwhile
            end
    end.

now_ms() ->
    erlang:monotonic_time(millisecond).
