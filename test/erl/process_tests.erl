%% SPDX-License-Identifier: Apache-2.0
%% Our processes as OTP's own tools find them: each answers sys:get_status/1 with what a person can
%% read, is suspended, upgraded and resumed; whichever is killed, nothing is left, and the node's log
%% has nothing of it.
-module(process_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1, log/2]).

f(X) -> X + 1.

-define(SCRIPT, "#pragma D option counters=0\n"
        "erlang*:process_tests:f:function-entry { @ = count(); }").

%% ---- helpers ---------------------------------------------------------------------------------

until(Cond) -> until(Cond, 6000).

until(Cond, 0) -> Cond();
until(Cond, N) -> Cond() orelse receive after 10 -> until(Cond, N - 1) end.

%% Whose callbacks it runs. Ours are sensitive: their dictionary is told by themselves alone.
module(Pid) ->
    case process_info(Pid, [initial_call, dictionary]) of
        [{initial_call, {proc_lib, _, _}}, {dictionary, []}] ->
            try sys:get_status(Pid, 60000) of
                {status, _, _, [Dictionary | _]} ->
                    case proplists:get_value('$initial_call', Dictionary) of
                        {Module, init, _} -> Module;
                        {supervisor, Module, _} -> Module
                    end
            catch exit:_ -> none % it has ended
            end;
        _ ->
            none
    end.

ours() ->
    [{M, P} || P <- processes(), M <- [module(P)], lists:prefix("erltrace_", atom_to_list(M)),
               M =/= erltrace_handles_sup].

pid(Module) ->
    {Module, Pid} = lists:keyfind(Module, 1, ours()),
    Pid.

none_left() ->
    ?assert(until(fun() -> ours() =:= [] end)),
    ?assertEqual([], session_tests:sessions()),
    ?assertEqual({traced, false}, erlang:trace_info({?MODULE, f, 1}, traced)),
    ?assertEqual({flags, []}, erlang:trace_info(new_processes, flags)),
    ?assertEqual(none, erltrace_nif:kept(armed, none)).

%% What the node's log gets while this runs.
logged(Fun) ->
    logged(notice, Fun).

logged(Level, Fun) ->
    Me = self(),
    ok = logger:add_handler(?MODULE, ?MODULE, #{level => Level, to => Me}),
    try Fun()
    after ok = logger:remove_handler(?MODULE)
    end,
    (fun Take() -> receive {logged, Event} -> [Event | Take()] after 0 -> [] end end)().

log(#{msg := {report, #{label := {supervisor, child_terminated}}}}, _) -> ok; % it is OTP's to say
log(Event, #{to := To}) -> To ! {logged, Event}.

script(Text) ->
    {ok, H} = erltrace:script(Text),
    H.

%% A command that is a process here, which takes what it is sent.
command(Script) -> command(Script, fun(_, _) -> ok end).

command(Script, Fun) ->
    Me = self(),
    {error, {protocol, Protocol}} = erltrace_agent:start(self(), Me, []), % it says which one it has
    Spec = [{protocol, Protocol}, {scripts, [{clause, <<>>, Script}]}],
    {Pid, Mon} = spawn_monitor(fun() ->
                                       {ok, Conn} = erltrace_agent:start(self(), Me, Spec),
                                       taking(Conn, Fun)
                               end),
    {Pid, Mon}.

taking(Conn, Fun) ->
    receive
        {matched, _} -> Conn ! {go_stream, 1}, taking(Conn, Fun);
        {batch, _} -> Conn ! more, taking(Conn, Fun);
        {done, Code} -> exit({done, Code});
        Message -> Fun(Conn, Message), taking(Conn, Fun)
    end.

%% ---- what they say ---------------------------------------------------------------------------

%% Of each: a status with a map that a person can read, and a state.
says(Module, Keys) ->
    Pid = pid(Module),
    {status, Pid, {module, _}, Items} = sys:get_status(Pid),
    Text = lists:flatten(io_lib:format("~tp", [lists:last(Items)])),
    [?assertMatch({Module, Key, {match, _}},
                  {Module, Key, re:run(Text, "\\b" ++ atom_to_list(Key) ++ " =>")}) || Key <- Keys],
    ?assertEqual({Module, nomatch}, {Module, re:run(Text, "#Ref<")}),
    ?assert(length(Text) < 4000),
    _ = sys:get_state(Pid),
    ok.

status_test_() ->
    {timeout, 60, fun status/0}.

status() ->
    H = script("erlang*:::dist-monitor, erlang*:::gc_minor-start,"
               "erlang*:process_tests:f:function-entry { @[probename] = count(); }"),
    ok = says(erltrace_handle, [number, owner, subscribed, arming]),
    ok = says(erltrace_limiter, [handle, owner, number, watching]),
    ok = says(erltrace_handle_sup, [number, children]),
    ok = says(erltrace_sysmon, [number, needs]),
    has_gc() andalso (ok = says(erltrace_gc, [handles])),
    ?assert(until(fun() -> ?MODULE:f(1), is_counted(H) end)),
    ok = erltrace:close(H),
    none_left().

is_counted(H) ->
    {ok, Aggs} = erltrace:aggregations(H),
    [N || {_, count, [<<"function-entry">>], N} <- Aggs] =/= [].

has_gc() -> list_to_integer(erlang:system_info(otp_release)) >= 27.

%% Before go and after the end, as in a report of a crash.
status_of_states_test() ->
    {ok, H} = erltrace:open(),
    {status, _, _, _} = sys:get_status(H),
    ok = erltrace:compile(H, ?SCRIPT),
    ok = erltrace:go(H),
    {status, _, _, _} = sys:get_status(H),
    ok = erltrace:stop(H),
    {status, _, _, _} = sys:get_status(H),
    {ok, _} = erltrace:aggregations(H),
    {status, _, _, _} = sys:get_status(H),
    ok = erltrace:close(H),
    none_left().

supervisor_test() ->
    ok = application:start(erltrace),
    {ok, H} = erltrace:open(),
    ?assertMatch({status, _, {module, gen_server}, _}, sys:get_status(erltrace_handles_sup)),
    [{_, Sup, supervisor, _}] = supervisor:which_children(erltrace_handles_sup),
    ?assertMatch([{erltrace_handle, H, worker, _}, {erltrace_limiter, _, worker, _}],
                 supervisor:which_children(Sup)),
    ?assertEqual(2, proplists:get_value(active, supervisor:count_children(Sup))),
    ok = erltrace:close(H),
    ok = application:stop(erltrace),
    none_left().

agent_test_() ->
    {timeout, 60, fun() ->
        {Command, Mon} = command(<<?SCRIPT>>),
        ?assert(until(fun() -> is_running() end)),
        ok = says(erltrace_agent, [command, conn, handle, next]),
        ok = says(erltrace_conn, [command, worker, silent_ms, gone]),
        pid(erltrace_conn) ! stop,
        receive {'DOWN', Mon, process, Command, Why} -> ?assertEqual({done, -1}, Why) end,
        none_left()
    end}.

is_running() ->
    case lists:keyfind(erltrace_handle, 1, ours()) of
        {_, Pid} -> element(1, sys:get_state(Pid)) =:= running;
        false -> false
    end.

%% ---- suspended, upgraded ---------------------------------------------------------------------

code_change_test() ->
    {ok, H} = erltrace:script(?SCRIPT),
    {ok, Ref} = erltrace:subscribe(H, #{interval => 10, window => 1000}),
    Dog = pid(erltrace_limiter),
    [begin
         ok = sys:suspend(P),
         ?MODULE:f(1),
         {module, M} = code:load_file(M),
         ok = sys:change_code(P, M, undefined, []),
         _ = code:purge(M),
         receive after 150 -> ok end, % ticks and timers are due
         ok = sys:resume(P)
     end || {M, P} <- [{erltrace_handle, H}, {erltrace_limiter, Dog}]],
    ?MODULE:f(1),
    ok = erltrace:stop(H),
    ?assertEqual(3, told(Ref, 0)),
    ok = erltrace:close(H),
    none_left(), % the handle's supervisor ends its children a moment later
    ?assertNot(is_process_alive(Dog)).

told(Ref, N) ->
    receive
        {erltrace, Ref, Kind, #{aggregations := Aggs}} ->
            N1 = N + lists:sum([C || {_, count, [], C} <- Aggs]),
            case Kind of tick -> told(Ref, N1); done -> N1 end
    after 60000 -> {none, N}
    end.

%% A handle that is suspended ends with its owner as soon as it goes on; events are off before.
owner_dies_while_suspended_test() ->
    Me = self(),
    {Owner, Mon} = spawn_monitor(fun() -> Me ! script(?SCRIPT), receive never -> ok end end),
    H = receive Pid when is_pid(Pid) -> Pid end,
    ok = sys:suspend(H),
    exit(Owner, kill),
    receive {'DOWN', Mon, process, Owner, _} -> ok end,
    receive after 500 -> ok end,
    ok = sys:resume(H),
    none_left().

%% Every module of ours loaded anew twice, old code purged: nobody is killed.
all_modules_loaded_anew_test_() ->
    {timeout, 60, fun() ->
        {Command, Mon} = command(<<?SCRIPT>>),
        ?assert(until(fun() -> is_running() end)),
        Before = lists:sort(ours()),
        {ok, Modules} = application:get_key(erltrace_app_modules(), modules),
        [begin
             {module, M} = code:load_file(M),
             ?assert(until(fun() -> code:soft_purge(M) end))
         end || _ <- [1, 2], M <- Modules, M =/= erltrace_nif, code:is_loaded(M) =/= false],
        ?assertEqual(Before, lists:sort(ours())),
        pid(erltrace_conn) ! stop,
        receive {'DOWN', Mon, process, Command, Why} -> ?assertEqual({done, -1}, Why) end,
        none_left()
    end}.

erltrace_app_modules() ->
    _ = application:load(erltrace),
    erltrace.

%% ---- killed ----------------------------------------------------------------------------------

%% Whichever is killed: the command hears the end or goes on (or nothing, without the connection: it does
%% not hear it any more), nothing is left, no report of a crash.
killed_test_() ->
    [{timeout, 60, {atom_to_list(Module) ++ " " ++ atom_to_list(How),
                    fun() -> killed(Module, How) end}} ||
        Module <- [erltrace_handle, erltrace_handle_sup, erltrace_limiter, erltrace_agent, erltrace_conn,
                   erltrace_sysmon],
        How <- [kill, shutdown]].

killed(Module, How) ->
    Script = <<"#pragma D option counters=0\nerlang*:::dist-monitor,"
               "erlang*:process_tests:f:function-entry { @ = count(); }">>,
    Logged = logged(fun() ->
        {Command, Mon} = command(Script),
        ?assert(until(fun() -> is_running() end)),
        {Conn, Victim} = {pid(erltrace_conn), pid(Module)},
        exit(Victim, How),
        receive after 200 -> ok end,
        Conn ! stop,
        Module =:= erltrace_conn andalso exit(Command, kill),
        receive {'DOWN', Mon, process, Command, _} -> ok end,
        none_left()
    end),
    ?assertEqual([], Logged).

%% Nor does a log that has all levels get what OTP's supervisors report of their children.
no_progress_reports_test() ->
    #{level := Level} = logger:get_primary_config(),
    ok = logger:set_primary_config(level, all),
    Logged = try logged(all, fun() ->
        {ok, H} = erltrace:script("erlang*:::dist-monitor,"
                                  "erlang*:process_tests:f:function-entry { @ = count(); }"),
        ok = erltrace:close(H),
        {ok, H1} = erltrace:script(?SCRIPT),
        exit(H1, kill),
        none_left()
    end)
    after ok = logger:set_primary_config(level, Level)
    end,
    Texts = [lists:flatten(io_lib:format("~p", [Event])) || Event <- Logged],
    ?assertEqual([], [T || T <- Texts, string:find(T, "erltrace_") =/= nomatch]).

%% Many lives: no processes, monitors, timers or aliases are left behind in who used them.
no_leaks_test_() ->
    {timeout, 120, fun() ->
        Logged = logged(fun() ->
            Live = fun() ->
                           {ok, H} = erltrace:script(?SCRIPT),
                           {ok, Ref} = erltrace:subscribe(H, #{interval => 1}),
                           ?MODULE:f(1),
                           ok = erltrace:stop(H),
                           ?assertEqual(1, told(Ref, 0)),
                           ok = erltrace:close(H)
                   end,
            Live(),
            none_left(),
            {Own, Processes} = used(),
            [Live() || _ <- lists:seq(1, 100)],
            none_left(),
            %% processes of OTP's own come and go
            ?assert(until(fun() -> {Own1, N} = used(), Own1 =:= Own andalso N =< Processes end), used())
        end),
        ?assertEqual([], Logged)
    end}.

used() ->
    {process_info(self(), [monitors, monitored_by, links, message_queue_len]),
     length(processes())}.
