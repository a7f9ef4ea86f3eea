%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Which scripts are always on: those of the setting `scripts', files and folders. New, changed
%% and removed files are noticed; a process of a script that has crashed is started again, after a
%% while that grows. What all scripts may spend together is divided here (erltrace_budget:level/2).
-module(erltrace_deploy).
-behaviour(gen_server).
-export([start_link/0, reload/0, scripts/0]).
-export([
    init/1,
    handle_continue/2,
    handle_call/3,
    handle_cast/2,
    handle_info/2,
    terminate/2,
    format_status/1
]).
-include_lib("kernel/include/file.hrl").

-define(LOOK, 5000).          % ms between two looks at files, and for prometheus
-define(LEVEL, 1000).         % ms until the budget is divided again
-define(BUDGET, 1).           % percent of the schedulers' time, of each
-define(BUDGET_ALL, 2).       % and of all together
-define(SETTINGS, [
    alerts,
    budget,
    budget_all,
    counters_most,
    destructive,
    exit_events,
    fast_calls,
    library,
    metrics,
    payload,
    sampling,
    scripts,
    vm_internals
]).
-define(LARGEST, 4000000).     % bytes of a script
-define(FIRST_WAIT, 500).
-define(LONGEST_WAIT, 30000).

-record(script, {spec :: erltrace_script:spec(),
                 stamp :: term(),                     % of its file and its settings
                 pid :: pid() | undefined,
                 mon :: reference() | undefined,
                 wait = ?FIRST_WAIT :: pos_integer()}).
-record(st, {scripts = #{} :: #{binary() => #script{}},
             level :: atomics:atomics_ref(),
             registry = default :: atom()}).

-spec start_link() -> gen_server:start_ret().
start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% @doc Look at the settings and the files at once.
-spec reload() -> ok | {error, not_running}.
reload() ->
    try gen_server:call(?MODULE, reload, infinity)
    catch exit:{_, {gen_server, call, _}} -> {error, not_running}
    end.

-spec scripts() -> [{Name :: binary(), map()}].
scripts() ->
    case ets:whereis(erltrace_metrics) of
        undefined -> [];
        _ -> [{Name, erltrace_metrics:about(Name)} || Name <- erltrace_metrics:scripts()]
    end.

%% ---- the process -----------------------------------------------------------------------------

-spec init([]) -> {ok, #st{}, {continue, look}}.
init([]) ->
    process_flag(sensitive, true),
    process_flag(trap_exit, true), % for terminate
    {ok, #st{level = atomics:new(1, [])}, {continue, look}}.

-spec handle_continue(look, #st{}) -> {noreply, #st{}}.
handle_continue(look, St) ->
    end_orphans(),
    _ = erltrace_timer:send_after(?LEVEL, level),
    _ = erltrace_timer:send_after(?LOOK, look),
    {noreply, look(St)}.

-spec handle_call(term(), gen_server:from(), #st{}) -> {reply, term(), #st{}}.
handle_call(reload, _, St) ->
    tell([]), % what is wrong still is told again
    {reply, ok, look(St)};
handle_call(_, _, St) ->
    {reply, {error, unknown}, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}}.
handle_info(look, St) ->
    _ = erltrace_timer:send_after(?LOOK, look),
    {noreply, look(St)};
handle_info(level, St) ->
    _ = erltrace_timer:send_after(?LEVEL, level),
    set_level(St),
    {noreply, St};
handle_info({again, Name}, #st{scripts = Scripts} = St) ->
    case Scripts of
        #{Name := #script{pid = undefined} = S} ->
            {noreply, St#st{scripts = Scripts#{Name := start(S)}}};
        _ ->
            {noreply, St}
    end;
handle_info({'DOWN', Mon, process, _, Why}, #st{scripts = Scripts} = St) ->
    case [{Name, S} || {Name, #script{mon = M} = S} <- maps:to_list(Scripts), M =:= Mon] of
        [{Name, S}] -> {noreply, St#st{scripts = Scripts#{Name := again(Name, Why, S)}}};
        [] -> {noreply, St}
    end;
handle_info(_, St) ->
    {noreply, St}.

-spec terminate(term(), #st{}) -> term().
terminate(_, #st{registry = Registry}) ->
    erltrace_prometheus:deregister(Registry).

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{scripts = Scripts, level = Level, registry = Registry}} = Status) ->
    Status#{state := #{scripts => maps:map(fun(_, #script{pid = Pid}) -> Pid end, Scripts),
                       level => atomics:get(Level, 1) / 1000000, registry => Registry}}.

%% ---- processes of scripts --------------------------------------------------------------------

%% Those of a process of this name that was here before: it was killed, they were not.
end_orphans() ->
    lists:foreach(fun erltrace_scripts_sup:stop_script/1, erltrace_scripts_sup:scripts()).

start(#script{spec = #{name := Name} = Spec} = S) ->
    case erltrace_scripts_sup:start_script(Spec) of
        {ok, Pid} -> S#script{pid = Pid, mon = erlang:monitor(process, Pid)};
        {error, Why} -> again(Name, Why, S)
    end.

again(Name, Why, #script{wait = Wait} = S) ->
    logger:error("erltrace: the process of ~ts.d has ended or does not start; again in ~b ms: ~0P",
                 [Name, Wait, Why, 30]),
    erltrace_metrics:failed(Name, <<"its process has ended">>),
    _ = erlang:send_after(Wait, self(), {again, Name}),
    S#script{pid = undefined, mon = undefined, wait = min(?LONGEST_WAIT, 2 * Wait)}.

stop(#script{pid = Pid, mon = Mon}) when is_pid(Pid) ->
    erlang:demonitor(Mon, [flush]),
    erltrace_scripts_sup:stop_script(Pid);
stop(_) ->
    ok.

forget(Name) ->
    erltrace_alerts:forget(Name),
    erltrace_metrics:forget(Name).

%% ---- what they may spend ---------------------------------------------------------------------

set_level(#st{scripts = Scripts, level = Level}) ->
    {Total, _} = percent(budget_all, ?BUDGET_ALL),
    Wants = [
        {Own, maps:get(demand, erltrace_metrics:about(Name), undefined)}
     || {Name, #script{spec = #{budget := Own}}} <- maps:to_list(Scripts)
    ],
    atomics:put(
        Level,
        1,
        round(1000000 * erltrace_budget:level(erltrace_budget:keep(Total, length(Wants)), Wants))
    ).

%% A setting in percent, as a part; what is wrong with it.
percent(Name, Default) ->
    case application:get_env(erltrace, Name, Default) of
        P when is_number(P), P > 0, P =< 100 -> {P / 100, []};
        Other ->
            {Default / 100, [
                io_lib:format("~p must be more than 0 and at most 100 percent, not ~0P", [
                    Name, Other, 20
                ])
            ]}
    end.

%% ---- settings and files ----------------------------------------------------------------------

look(#st{level = Level, scripts = Old} = St) ->
    {Own, Bad1} = percent(budget, ?BUDGET),
    {_, Bad2} = percent(budget_all, ?BUDGET_ALL),
    {Registry, Bad3} = metrics(),
    Bad6 = alerts() ++ unknown(),
    {Files, Bad4} = files(Own),
    {Named, Bad5} = by_name(Files),
    tell(Bad1 ++ Bad2 ++ Bad3 ++ Bad4 ++ Bad5 ++ Bad6),
    % maybe of before this process was started again
    Known = maps:keys(Old) ++ erltrace_metrics:scripts(),
    Gone = [Name || Name <- lists:usort(Known), not is_map_key(Name, Named)],
    lists:foreach(
        fun(Name) ->
            stop(maps:get(Name, Old, none)),
            forget(Name)
        end,
        Gone
    ),
    _ = map_size(Old) =:= 0 andalso first_level(Level, Own, map_size(Named)),
    _ = Registry =:= St#st.registry orelse erltrace_prometheus:deregister(St#st.registry),
    _ = erltrace_prometheus:register(Registry),
    St#st{
        registry = Registry,
        scripts = maps:map(
            fun(Name, Entry) -> look_at(Name, Entry, maps:get(Name, Old, none), Level) end,
            Named
        )
    }.

%% What they want is not known yet.
first_level(Level, Own, N) ->
    {Total, _} = percent(budget_all, ?BUDGET_ALL),
    Each = erltrace_budget:level(
        erltrace_budget:keep(Total, N), lists:duplicate(N, {Own, undefined})
    ),
    atomics:put(Level, 1, round(1000000 * Each)).

%% Bad settings, once: also if this process is another one.
tell(Bad) ->
    Told = erltrace_metrics:setting(told, []),
    _ = [logger:error("erltrace: ~ts", [B]) || B <- Bad, not lists:member(B, Told)],
    erltrace_metrics:set(told, Bad).

metrics() ->
    case proper(application:get_env(erltrace, metrics, [])) of
        {ok, Settings} ->
            Known = maps:from_list([S || {K, V} = S <- Settings, is_metric_setting(K, V)]),
            ok = erltrace_metrics:settings(maps:with([max_labels], Known)),
            {maps:get(registry, Known, default), [
                io_lib:format(
                    "metrics: ~0P is not a setting, which are {max_labels, N} and {registry, Name}",
                    [S, 20]
                )
             || S <- Settings, not is_metric_setting(S)
            ]};
        {error, Other} ->
            {default, [io_lib:format("metrics must be a list, not ~0P", [Other, 20])]}
    end.

alerts() ->
    case proper(application:get_env(erltrace, alerts, [])) of
        {ok, Settings} ->
            ok = erltrace_alerts:settings(
                maps:from_list([S || S <- Settings, is_alert_setting(S)])
            ),
            [
                io_lib:format(
                    "alerts: ~0P is not a setting, which are {hold, Seconds} and {per_minute, N}",
                    [S, 20]
                )
             || S <- Settings, not is_alert_setting(S)
            ];
        {error, Other} ->
            [io_lib:format("alerts must be a list, not ~0P", [Other, 20])]
    end.

unknown() ->
    [
        io_lib:format("~0P is not a setting of erltrace: they are ~ts", [
            K, 20, lists:join(", ", [atom_to_list(S) || S <- ?SETTINGS])
        ])
     || {K, _} <- lists:sort(application:get_all_env(erltrace)),
        not lists:member(K, [included_applications | ?SETTINGS])
    ].

is_alert_setting({K, V}) when K =:= hold; K =:= per_minute -> is_integer(V) andalso V > 0;
is_alert_setting(_) -> false.

is_metric_setting({K, V}) -> is_metric_setting(K, V);
is_metric_setting(_) -> false.

is_metric_setting(max_labels, V) -> is_integer(V) andalso V > 0;
is_metric_setting(registry, V) -> is_atom(V);
is_metric_setting(_, _) -> false.

%% A list that has an end.
proper(Term) ->
    case is_list(Term) andalso is_integer(catch length(Term)) of
        true -> {ok, Term};
        false -> {error, Term}
    end.

%% [{File, Settings}], and what is wrong with the settings. One path alone is as good as a list of
%% it.
files(Own) ->
    Setting = application:get_env(erltrace, scripts, []),
    Scripts = case is_path(Setting) of
                  true -> {ok, [Setting]};
                  false -> proper(Setting)
              end,
    case Scripts of
        {ok, List} ->
            {Files, Bad} = lists:unzip([entry(S, Own) || S <- List]),
            {lists:append(Files), lists:append(Bad)};
        {error, Other} ->
            {[], [io_lib:format("scripts must be a list, not ~0P", [Other, 20])]}
    end.

is_path(Path) -> is_binary(Path) orelse (Path =/= [] andalso io_lib:char_list(Path)).

entry({Path, Settings}, Own) ->
    case proper(Settings) of
        {ok, List} ->
            entry(Path, List, Own);
        {error, _} ->
            {[], [io_lib:format("scripts: the settings of ~0P must be a list", [Path, 20])]}
    end;
entry(Path, Own) ->
    entry(Path, [], Own).

entry(Path, Settings, Own) ->
    Bad = [S || S <- Settings, not is_setting(S)],
    Text = [
        io_lib:format(
            "scripts: ~0p: ~0P is not a setting, which are {budget, Percent}, {args, [Text]} and "
            "{options, [{Name, Value}]}",
            [Path, S, 20]
        )
     || S <- Bad
    ],
    {Files, More} = paths(Path),
    All = #{
        budget => proplists:get_value(budget, Settings -- Bad, Own * 100) / 100,
        args => proplists:get_value(args, Settings -- Bad, []),
        options => proplists:get_value(options, Settings -- Bad, [])
    },
    {[{F, All} || F <- Files], Text ++ More}.

is_setting({budget, P}) -> is_number(P) andalso P > 0 andalso P =< 100;
is_setting({args, A}) -> proper(A) =:= {ok, A} andalso lists:all(fun is_text/1, A);
is_setting({options, O}) ->
    proper(O) =:= {ok, O} andalso
        lists:all(
            fun
                ({K, V}) -> is_text(K) andalso is_text(V);
                (_) -> false
            end,
            O
        );
is_setting(_) -> false.

is_text(T) -> is_binary(T) orelse (is_list(T) andalso io_lib:latin1_char_list(T)).

%% A folder: its files that end with .d. A name without a folder: beside the application's own
%% scripts too.
paths(Path) ->
    case is_path(Path) andalso type(Path) of
        false -> {[], [io_lib:format("scripts: ~0P is neither a file nor a folder", [Path, 20])]};
        directory -> folder(Path);
        none -> {[library(Path)], []};
        _ -> {[Path], []}
    end.

folder(Path) ->
    case file:list_dir_all(Path) of
        {ok, All} ->
            {Files, Odd} = lists:partition(fun is_list/1, [F || F <- All, is_script(F)]),
            {lists:sort([filename:join(Path, F) || F <- Files]), [
                io_lib:format("scripts: ~ts: ~0p is left out: it has no name that is text", [
                    Path, F
                ])
             || F <- lists:sort(Odd)
            ]};
        {error, Why} ->
            {[], [io_lib:format("scripts: ~ts: ~ts", [Path, file:format_error(Why)])]}
    end.

type(Path) ->
    case file:read_file_info(Path, [raw]) of
        {ok, #file_info{type = Type}} -> Type;
        {error, _} -> none
    end.

%% (A binary is not matched here: what older compilers make of that, OTP 29 does not load.)
is_script([$. | _]) -> false;
is_script(File) when is_list(File) -> filename:extension(File) =:= ".d";
is_script(File) -> binary:first(File) =/= $. andalso filename:extension(File) =:= <<".d">>.

library(Path) ->
    Dir = case code:lib_dir(erltrace) of
              {error, _} -> filename:dirname(filename:dirname(code:which(?MODULE)));
              Lib -> Lib
          end,
    Own = filename:join([Dir, "scripts", Path]),
    case filename:basename(Path) =:= Path andalso type(Own) =/= none of
        true -> Own;
        false -> Path
    end.

%% The name of a script is that of its metrics: no two have the same.
by_name(Files) ->
    lists:foldl(
        fun({File, All}, {Named, Bad}) ->
            Name = unicode:characters_to_binary(filename:basename(File, ".d")),
            case Named of
                _ when not is_binary(Name); Name =:= <<>> ->
                    {Named, [
                        io_lib:format("scripts: ~0p is left out: it has no name that is text", [
                            File
                        ])
                        | Bad
                    ]};
                #{Name := {File, _}} ->
                    {Named, Bad};
                #{Name := {Other, _}} ->
                    {Named, [
                        io_lib:format("scripts: ~ts is left out: ~ts has the same name", [
                            File, Other
                        ])
                        | Bad
                    ]};
                _ ->
                    {Named#{Name => {File, All}}, Bad}
            end
        end,
        {#{}, []},
        Files
    ).

look_at(Name, {File, All}, Old, Level) ->
    Stamp = {stamp(File), File, All},
    case Old of
        #script{stamp = Stamp} -> Old;
        _ ->
            Spec = All#{name => Name, file => File, source => read(File), level => Level},
            changed(Spec, Stamp, Old)
    end.

changed(Spec, Stamp, #script{pid = Pid} = Old) when is_pid(Pid) ->
    erltrace_script:change(Pid, Spec),
    Old#script{spec = Spec, stamp = Stamp, wait = ?FIRST_WAIT};
changed(Spec, Stamp, #script{} = Old) ->
    Old#script{spec = Spec, stamp = Stamp};
changed(Spec, Stamp, none) ->
    start(#script{spec = Spec, stamp = Stamp}).

stamp(File) ->
    case file:read_file_info(File, [raw, {time, posix}]) of
        {ok, #file_info{size = Size, mtime = Time, inode = Inode}} -> {Size, Time, Inode};
        {error, Why} -> Why
    end.

%% Nothing that has no end, or that waits for somebody.
read(File) ->
    case file:read_file_info(File, [raw]) of
        {ok, #file_info{type = regular, size = Size}} when Size =< ?LARGEST ->
            case file:read_file(File) of
                {ok, Source} -> {ok, Source};
                {error, Why} -> {error, file:format_error(Why)}
            end;
        {ok, #file_info{type = regular}} -> {error, "is too large for a script"};
        {ok, _} -> {error, "is not a regular file"};
        {error, Why} -> {error, file:format_error(Why)}
    end.
