%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Starts the supervisors of the application again when they have ended, after a pause that doubles each
%% time. A supervisor restarts a child at once, and when that has happened too often it gives up: so would the
%% top supervisor, which ends the application, and with it the node of a release. So its other children are
%% temporary, and this process restarts them. It says so in the log, and in the state of each deployed script.
-module(erltrace_restarter).
-behaviour(gen_server).
-export([start_link/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, format_status/1]).
-export_type([child/0]).

-define(FIRST_PAUSE, 1000).    % ms
-define(LONGEST_PAUSE, 60000).
-define(HEALTHY, 60000).       % ms: after one that ran for so long, pauses begin anew

-type child() :: {Name :: atom(), supervisor:child_spec(), Lost :: string()}. % registered; what does not work without it

-record(child, {spec :: supervisor:child_spec(),
                lost :: string(),
                since :: integer(),                % ms: when it was started
                pause = ?FIRST_PAUSE :: pos_integer()}).
-type st() :: #{Name :: atom() => #child{}}.

-spec start_link([child()]) -> gen_server:start_ret().
start_link(Children) ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, Children, []).

%% One that is not there is `DOWN' at once.
-spec init([child()]) -> {ok, st()}.
init(Children) ->
    process_flag(sensitive, true),
    _ = [erlang:monitor(process, Name) || {Name, _, _} <- Children],
    {ok, maps:from_list([{Name, #child{spec = Spec, lost = Lost, since = now_ms()}} || {Name, Spec, Lost} <- Children])}.

-spec handle_call(term(), gen_server:from(), st()) -> {reply, {error, unknown}, st()}.
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), st()) -> {noreply, st()}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), st()) -> {noreply, st()}.
handle_info({'DOWN', _, process, {Name, _}, Why}, St) when is_map_key(Name, St) ->
    {noreply, maps:update_with(Name, fun(C) -> ended(Name, Why, C) end, St)};
handle_info({start, Name}, St) when is_map_key(Name, St) ->
    {noreply, maps:update_with(Name, fun(C) -> start(Name, C) end, St)};
handle_info(_, St) ->
    {noreply, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := St} = Status) ->
    Status#{state := maps:map(fun(Name, #child{pause = Pause}) -> {whereis(Name), Pause} end, St)}.

ended(Name, Why, #child{lost = Lost, since = Since, pause = Pause0} = C) ->
    Pause = case now_ms() - Since > ?HEALTHY of
                true -> ?FIRST_PAUSE;
                false -> Pause0
            end,
    Text = text(Name, Lost, Why, Pause),
    logger:error("erltrace: ~ts", [Text]),
    _ = Name =:= erltrace_deploy_sup andalso erltrace_metrics:failed(Text),
    _ = erlang:send_after(Pause, self(), {start, Name}),
    C#child{pause = min(?LONGEST_PAUSE, 2 * Pause)}.

text(Name, Lost, Why, Pause) ->
    unicode:characters_to_binary(
      io_lib:format("~ts: ~ts ~ts. It starts again in ~b s, or by application:stop(erltrace), "
                    "application:start(erltrace)", [Lost, Name, reason(Why), Pause div 1000])).

reason(shutdown) -> "has ended, as its processes ended too often";
reason(killed) -> "was killed";
reason(noproc) -> "has ended"; % before this process was there to see why
reason(Why) -> io_lib:format("has ended: ~0P", [Why, 20]).

%% Processes of the one before may still be ending, and have their names.
start(Name, #child{spec = Spec} = C) ->
    case supervisor:start_child(erltrace_app_sup, Spec) of
        {error, Why} when element(1, Why) =/= already_started ->
            ended(Name, Why, C);
        _ ->
            _ = erlang:monitor(process, Name),
            logger:notice("erltrace: ~ts runs again", [Name]),
            C#child{since = now_ms()}
    end.

now_ms() ->
    erlang:monotonic_time(millisecond).
