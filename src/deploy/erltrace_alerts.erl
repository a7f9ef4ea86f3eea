%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What alert() of deployed scripts says. An alert is known by its script and its name. It
%% begins with the first call and is over when there was none for `hold' seconds, or its script has
%% been removed: both are logged and told to telemetry, once. At most `per_minute' begin in a
%% minute; what is left out is counted, and told once a minute.
%%
%% Which begin, go on and are over the library knows, as in `erltrace serve' (c_src/metrics/
%% alert_set.c), beside the totals: a process that is killed takes none of it along.
-module(erltrace_alerts).
-behaviour(gen_server).
-export([start_link/0, fire/2, forget/1, settings/1, all/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, format_status/1]).
-export_type([settings/0]).

-define(LOOK, 1000). % ms

-type settings() :: #{hold => pos_integer(), per_minute => pos_integer()}.

-record(st, {hold = 60 :: pos_integer(),          % seconds
             per_minute = 60 :: pos_integer(),
             looks = false :: boolean()}).        % a timer is set

-spec start_link() -> gen_server:start_ret().
start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% @doc Calls of a tick, in their order.
-spec fire(Script :: binary(), [{Name :: binary(), Text :: binary()}]) -> ok.
fire(_, []) ->
    ok;
fire(Script, Calls) ->
    % the last of each name
    gen_server:cast(?MODULE, {fire, Script, maps:to_list(maps:from_list(Calls))}).

%% @doc The script has been removed.
-spec forget(Script :: binary()) -> ok.
forget(Script) ->
    gen_server:call(?MODULE, {forget, Script}, infinity).

-spec settings(settings()) -> ok.
settings(Settings) ->
    gen_server:call(?MODULE, {settings, Settings}, infinity).

%% @doc Those that go on, and how many were left out so far.
-spec all() -> {[{Script :: binary(), Name :: binary()}], Dropped :: non_neg_integer()}.
all() ->
    erltrace_metrics:with_totals(fun erltrace_nif:alerts/1, {[], 0}).

%% ---- the process -----------------------------------------------------------------------------

-spec init([]) -> {ok, #st{}}.
init([]) ->
    process_flag(sensitive, true),
    {ok, look_later(#st{})}. % there may be some of one that was here before

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, term(), #st{}}.
handle_call({forget, Script}, _, St) ->
    _ = over(Script),
    {reply, ok, St};
handle_call({settings, Settings}, _, St) ->
    Default = #st{},
    {reply, ok, St#st{hold = maps:get(hold, Settings, Default#st.hold),
                      per_minute = maps:get(per_minute, Settings, Default#st.per_minute)}};
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast({fire, Script, Calls}, #st{per_minute = Most} = St) ->
    {Begun, LeftOut} = erltrace_metrics:with_totals(
        fun(Totals) -> erltrace_nif:alerts_call(Totals, Script, Calls, Most) end, {[], false}
    ),
    lists:foreach(fun({Name, Text}) -> begins(Script, Name, Text) end, Begun),
    LeftOut andalso
        logger:warning("erltrace: too many alerts: others are left out, and counted"),
    {noreply, look_later(St)};
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}}.
handle_info(look, #st{hold = Hold} = St) ->
    case over(Hold) of
        true -> {noreply, St#st{looks = false}};
        false -> {noreply, look_later(St#st{looks = false})}
    end;
handle_info(_, St) ->
    {noreply, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{hold = Hold, per_minute = Most}} = Status) ->
    {Alerts, LeftOut} = all(),
    Status#{
        state := #{alerts => Alerts, hold => Hold, per_minute => Most, left_out => LeftOut}
    }.

%% As long as there is something to end or to tell.
look_later(#st{looks = false} = St) ->
    _ = erltrace_timer:send_after(?LOOK, look),
    St#st{looks = true};
look_later(St) ->
    St.

begins(Script, Name, Text) ->
    logger:warning("erltrace: ~ts.d: alert ~ts: ~ts", [line(Script), line(Name), line(Text)]),
    telemetry(firing, Script, Name, Text).

%% Those that were not called for so many seconds, or are of this script. Is there none left?
over(Which) ->
    {Over, LeftOut, Rests} = erltrace_metrics:with_totals(
        fun(Totals) -> erltrace_nif:alerts_over(Totals, Which) end, {[], 0, true}
    ),
    LeftOut > 0 andalso
        logger:warning(
            "erltrace: ~b alerts of scripts were left out in the last minute", [LeftOut]
        ),
    lists:foreach(fun ends/1, Over),
    Rests.

ends({Script, Name, Text}) ->
    logger:notice("erltrace: ~ts.d: alert ~ts is over", [line(Script), line(Name)]),
    telemetry(resolved, Script, Name, Text).

line(Text) -> erltrace_metrics:line(Text).

telemetry(State, Script, Name, Text) ->
    erltrace_metrics:execute([erltrace, alert], #{count => 1},
                             #{script => Script, name => Name, text => Text, state => State}).
