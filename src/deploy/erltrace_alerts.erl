%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What alert() of deployed scripts says. An alert is known by its script and its name. It
%% begins with the first call and is over when there was none for `hold' seconds, or its script has
%% been removed: both are logged and told to telemetry, once, as `erltrace serve' does. At most
%% `per_minute' begin in a minute, and ?MOST are kept; what is left out is counted, and told once a
%% minute.
%%
%% Those that go on are rows `{{alert, Script, Name}, Text}' of the table of metrics.
-module(erltrace_alerts).
-behaviour(gen_server).
-export([start_link/0, fire/2, forget/1, settings/1, all/0, dropped/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, format_status/1]).
-export_type([settings/0]).

-define(TABLE, erltrace_metrics).
-define(DROPPED, {alerts, dropped}).
-define(MOST, 1000).
-define(LOOK, 1000). % ms

-type settings() :: #{hold => pos_integer(), per_minute => pos_integer()}.

-record(st, {hold = 60 :: pos_integer(),          % seconds
             per_minute = 60 :: pos_integer(),
             on = #{} :: #{{Script :: binary(), Name :: binary()} => Last :: integer()}, % ms
             since = 0 :: integer(),              % ms: when this minute began
             begun = 0 :: non_neg_integer(),      % in this minute
             left_out = 0 :: non_neg_integer(),   % likewise
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

%% @doc Those that go on.
-spec all() -> [{Script :: binary(), Name :: binary(), Text :: binary()}].
all() ->
    [
        {Script, Name, Text}
     || [Script, Name, Text] <- ets:match(?TABLE, {{alert, '$1', '$2'}, '$3'})
    ].

%% @doc How many were left out so far.
-spec dropped() -> non_neg_integer().
dropped() ->
    case ets:lookup(?TABLE, ?DROPPED) of
        [{_, N}] -> N;
        [] -> 0
    end.

%% ---- the process -----------------------------------------------------------------------------

-spec init([]) -> {ok, #st{}}.
init([]) ->
    process_flag(sensitive, true),
    ets:match_delete(?TABLE, {{alert, '_', '_'}, '_'}), % of one that was here before
    {ok, #st{since = now_ms()}}.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, term(), #st{}}.
handle_call({forget, Script}, _, #st{on = On} = St) ->
    {reply, ok, lists:foldl(fun over/2, St, [Id || {S, _} = Id <- maps:keys(On), S =:= Script])};
handle_call({settings, Settings}, _, St) ->
    Default = #st{},
    {reply, ok, St#st{hold = maps:get(hold, Settings, Default#st.hold),
                      per_minute = maps:get(per_minute, Settings, Default#st.per_minute)}};
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast({fire, Script, Calls}, St) ->
    {noreply,
        look_later(
            lists:foldl(
                fun({Name, Text}, S) -> fired({Script, Name}, Text, S) end, minute(St), Calls
            )
        )};
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}}.
handle_info(look, #st{on = On, hold = Hold} = St) ->
    Now = now_ms(),
    Over = [Id || {Id, Last} <- maps:to_list(On), Now - Last >= 1000 * Hold],
    {noreply, look_later(minute(lists:foldl(fun over/2, St#st{looks = false}, Over)))};
handle_info(_, St) ->
    {noreply, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{on = On, hold = Hold, per_minute = Most, left_out = Left}} = Status) ->
    Status#{
        state := #{alerts => maps:keys(On), hold => Hold, per_minute => Most, left_out => Left}
    }.

%% As long as there is something to end or to tell.
look_later(#st{looks = false, on = On, left_out = Left} = St) when map_size(On) > 0; Left > 0 ->
    _ = erltrace_timer:send_after(?LOOK, look),
    St#st{looks = true};
look_later(St) ->
    St.

minute(#st{since = Since, left_out = Left} = St) ->
    case now_ms() - Since >= 60000 of
        true ->
            Left > 0 andalso
                logger:warning(
                    "erltrace: ~b alerts of scripts were left out in the last minute", [Left]
                ),
            St#st{since = now_ms(), begun = 0, left_out = 0};
        false ->
            St
    end.

fired(Id, Text, #st{on = On} = St) when is_map_key(Id, On) ->
    goes_on(Id, Text, St);
fired({Script, Name} = Id, Text, #st{on = On, begun = Begun, per_minute = Most} = St)
  when Begun < Most, map_size(On) < ?MOST ->
    logger:warning("erltrace: ~ts.d: alert ~ts: ~ts", [line(Script), line(Name), line(Text)]),
    telemetry(firing, Id, Text),
    goes_on(Id, Text, St#st{begun = Begun + 1});
fired(_, _, #st{left_out = Left} = St) ->
    _ = ets:update_counter(?TABLE, ?DROPPED, 1, {?DROPPED, 0}),
    Left =:= 0 andalso
        logger:warning("erltrace: too many alerts: others are left out, and counted"),
    St#st{left_out = Left + 1}.

goes_on({Script, Name} = Id, Text, #st{on = On} = St) ->
    ets:insert(?TABLE, {{alert, Script, Name}, Text}),
    St#st{on = On#{Id => now_ms()}}.

over({Script, Name} = Id, #st{on = On} = St) ->
    Text = case ets:take(?TABLE, {alert, Script, Name}) of
               [{_, T}] -> T;
               [] -> <<>>
           end,
    logger:notice("erltrace: ~ts.d: alert ~ts is over", [line(Script), line(Name)]),
    telemetry(resolved, Id, Text),
    St#st{on = maps:remove(Id, On)}.

line(Text) -> erltrace_metrics:line(Text).

telemetry(State, {Script, Name}, Text) ->
    erltrace_metrics:execute([erltrace, alert], #{count => 1},
                             #{script => Script, name => Name, text => Text, state => State}).

now_ms() ->
    erlang:monotonic_time(millisecond).
