%% SPDX-License-Identifier: Apache-2.0
%% The life of handles and of the application: whose they are, what ends them, what they leave.
-module(erltrace_SUITE).
-include_lib("stdlib/include/assert.hrl").
-export([all/0, groups/0, init_per_group/2, end_per_group/2, init_per_testcase/2,
         end_per_testcase/2]).
-export([owner_killed/1, owner_exits/1, owner_changes/1, two_handles/1, close_while_events/1,
         stop_while_events/1, compile_errors/1, setopt_errors/1, many/1, too_many/1, exits_alone/1,
         calls_from_others/1, start_stop/1, stop_ends_handles/1, no_application/1, reload/1,
         purge/1, new_library/1]).
-export([f/1, suite/0]).

%% Time for a machine that is busy with other things.
suite() -> [{timetrap, {minutes, 5}}].

all() -> [{group, without}, {group, with}, start_stop, stop_ends_handles, no_application, reload,
          purge, new_library].

%% Handles under the application's supervisor, and without it.
groups() ->
    Cases = [owner_killed, owner_exits, owner_changes, two_handles, close_while_events,
             stop_while_events, compile_errors, setopt_errors, many, too_many, exits_alone,
             calls_from_others],
    [{without, [], Cases}, {with, [], Cases}].

init_per_group(with, Config) ->
    ok = application:start(erltrace),
    Config;
init_per_group(without, Config) ->
    undefined = whereis(erltrace_handles_sup),
    Config.

end_per_group(with, _) -> ok = application:stop(erltrace);
end_per_group(_, _) -> ok.

init_per_testcase(_, Config) -> Config.

%% A crash here would be but a warning.
end_per_testcase(_, _) ->
    try nothing_armed()
    catch Class:What:Stack -> {fail, {Class, What, Stack}}
    end.

f(X) -> X + 1.

-define(SCRIPT, "erlang*:erltrace_SUITE:f:function-entry, erlang*:::process-spawn,"
                "erlang*:::message-send { @[probename] = count(); }").

%% ---- helpers ---------------------------------------------------------------------------------

nothing_armed() ->
    ?assertEqual([], [P || P <- [new_processes | processes()],
                           {flags, [_ | _]} <- [erlang:trace_info(P, flags)]]),
    ?assertEqual([], session_tests:sessions()),
    ?assertEqual({flags, []}, erlang:trace_info(new_ports, flags)),
    ?assertEqual({traced, false}, erlang:trace_info({?MODULE, f, 1}, traced)),
    ?assertEqual([false], session_tests:counter({?MODULE, f, 1})),
    ?assertEqual(none, erltrace_nif:kept(armed, none)),
    ?assertEqual(none, erltrace_nif:kept(counters, none)),
    ?assertEqual([], application:get_all_env(erltrace)).

%% By a pattern, or counted by the VM.
armed() ->
    session_tests:pattern({?MODULE, f, 1}) =/= [] orelse
        session_tests:counter({?MODULE, f, 1}) =/= [false].

%% A process that opens a handle with Script; its pid and the handle.
owner(Script) ->
    Self = self(),
    Owner = spawn(fun() ->
                          {ok, H} = erltrace:script(Script),
                          Self ! {self(), H},
                          receive quit -> ok end
                  end),
    receive {Owner, H} -> {Owner, H} after 60000 -> error(no_handle) end.

gone(H, Fun) ->
    Mon = erlang:monitor(process, H),
    Fun(),
    receive {'DOWN', Mon, process, H, _} -> ok after 60000 -> error(stays) end.

until(Fun) -> until(Fun, 6000).
until(Fun, 0) -> error({never, Fun});
until(Fun, N) ->
    case Fun() of
        true -> ok;
        false -> receive after 10 -> until(Fun, N - 1) end
    end.

in_process(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, Reason} -> Reason end.

%% ---- owners ----------------------------------------------------------------------------------

owner_killed(_) ->
    {Owner, H} = owner(?SCRIPT),
    true = armed(),
    gone(H, fun() -> exit(Owner, kill) end),
    nothing_armed(),
    {error, closed} = erltrace:walk(H).

owner_exits(_) ->
    {Owner, H} = owner(?SCRIPT),
    gone(H, fun() -> Owner ! quit end),
    nothing_armed().

owner_changes(_) ->
    {Owner, H} = owner(?SCRIPT),
    ok = erltrace:controlling_process(H, self()),
    Mon = erlang:monitor(process, Owner),
    Owner ! quit,
    receive {'DOWN', Mon, process, Owner, _} -> ok end,
    {ok, #{state := running}} = erltrace:status(H),
    {Other, H2} = owner("BEGIN {}"),
    ok = erltrace:controlling_process(H, Other),
    gone(H, fun() -> exit(Other, kill) end),
    gone(H2, fun() -> ok end), % each is told by itself
    {error, closed} = erltrace:status(H2).

%% Any process may use a handle; they wait for each other.
calls_from_others(_) ->
    {ok, H} = erltrace:script("erlang*:::user_trace-n1 { @ = count(); }"),
    Self = self(),
    Ps = [spawn_link(fun() ->
                             [true = dtrace:pn(1) || _ <- lists:seq(1, 100)],
                             N = case erltrace:walk(H) of
                                     {ok, [{count, [], V}]} -> V;
                                     ok -> 0
                                 end,
                             Self ! {self(), N}
                     end) || _ <- lists:seq(1, 20)],
    Sum = lists:sum([receive {P, N} -> N end || P <- Ps]),
    ?assertEqual(2000, Sum),
    erltrace:close(H).

%% ---- several, and endings --------------------------------------------------------------------

%% Each has its own; the first one's end takes nothing from the second.
two_handles(_) ->
    Script = "erlang*:erltrace_SUITE:f:function-entry { @ = count(); }",
    {ok, H1} = erltrace:script(Script),
    in_process(fun() -> [?MODULE:f(I) || I <- lists:seq(1, 10)] end),
    {ok, H2} = erltrace:script(Script),
    in_process(fun() -> [?MODULE:f(I) || I <- lists:seq(1, 10)] end),
    {ok, [{_, count, [], 20}]} = erltrace:aggregations(H1),
    {ok, [{_, count, [], 10}]} = erltrace:aggregations(H2),
    ok = erltrace:close(H1),
    in_process(fun() -> [?MODULE:f(I) || I <- lists:seq(1, 10)] end),
    {ok, [{_, count, [], 20}]} = erltrace:aggregations(H2),
    true = armed(),
    ok = erltrace:close(H2).

%% Processes that make events all the time, while Fun runs.
under_load(Fun) ->
    Stop = atomics:new(1, []),
    Ps = [spawn_monitor(fun() -> load(Stop) end) || _ <- [1, 2]],
    try Fun()
    after
        atomics:put(Stop, 1, 1),
        [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps]
    end.

load(Stop) ->
    self() ! ?MODULE:f(1),
    receive _ -> ok end,
    {P, M} = spawn_monitor(fun() -> ?MODULE:f(2) end),
    receive {'DOWN', M, process, P, _} -> ok end,
    dtrace:p(1, "load"),
    case atomics:get(Stop, 1) of
        0 -> load(Stop);
        1 -> ok
    end.

-define(LOAD_SCRIPT, [?SCRIPT, "erlang*:::user_trace-i4s4 { trace(arg2); self->x = 1; }"
                      "erlang*:erltrace_SUITE:f:function-return { @q[copyinstr(arg1)] ="
                      "quantize(vtimestamp); }"]).

%% A script whose events come already.
fires() ->
    {ok, H} = erltrace:script(?LOAD_SCRIPT),
    until(fun() ->
                  {ok, #{fired := N}} = erltrace:status(H),
                  N > 10
          end),
    H.

close_while_events(_) ->
    under_load(fun() -> [ok = erltrace:close(fires()) || _ <- lists:seq(1, 5)] end).

%% After stop nothing is counted any more, and all that was is there.
stop_while_events(_) ->
    under_load(fun() ->
                       [begin
                            H = fires(),
                            ok = erltrace:stop(H),
                            {ok, #{fired := N1, state := stopped}} = erltrace:status(H),
                            {ok, Aggs} = erltrace:aggregations(H),
                            {ok, Aggs} = erltrace:aggregations(H),
                            {ok, #{fired := N2}} = erltrace:status(H),
                            ?assert(N2 - N1 =< 1), % END
                            ok = erltrace:close(H)
                        end || _ <- lists:seq(1, 5)]
               end).

%% A script that ends itself: probes are off, though nobody asks for results.
exits_alone(_) ->
    {ok, H} = erltrace:script(["erlang*:erltrace_SUITE:f:function-entry { exit(0); }"]),
    true = armed(),
    in_process(fun() -> ?MODULE:f(1) end),
    until(fun() -> not armed() end),
    {ok, #{state := {exited, 0}}} = erltrace:status(H),
    ok = erltrace:close(H).

%% ---- errors ----------------------------------------------------------------------------------

%% The tag, the place, a text that names the culprit; the handle stays, and takes a better script.
compile_errors(_) ->
    {ok, H} = erltrace:open(),
    [begin
         {error, {dtrace, Tag, Line, Column, Text}} = erltrace:compile(H, Source),
         ?assertEqual({Source, Tag0, Line0, Column0}, {Source, Tag, Line, Column}),
         ?assertNotEqual({Source, Text, nomatch}, {Source, Text, string:find(Text, Word)})
     end || {Source, Tag0, Line0, Column0, Word} <-
                [{"BEGIN { trace(nosuch); }", <<"D_IDENT_UNDEF">>, 1, 15, "nosuch"},
                 {"BEGIN\n{\n  nofunc(1);\n}", <<"D_FUNC_UNDEF">>, 3, 3, "nofunc"},
                 {"BEGIN { @a = count(); @a = sum(1); }", <<"D_AGG_REDEF">>, 1, 26, "@a"},
                 {"BEGIN { @x = lquantize(1, 9, 5); }", <<"D_LQUANT_MISMATCH">>, 1, 14, "base"},
                 {"BEGIN { trace($1); }", <<"D_MACRO_UNDEF">>, 1, 15, "$1"}]],
    [begin
         {error, {dtrace, Tag, _, _, Text}} = erltrace:compile(H, Source),
         ?assertEqual({Source, Tag0}, {Source, Tag}),
         ?assert(byte_size(Text) > 10)
     end || {Source, Tag0} <-
                [{"BEGIN {", <<"D_SYNTAX">>}, {"", <<"D_EMPTY">>},
                 {"erlang*:::nosuch {}", <<"D_PDESC_ZERO">>},
                 {"a:b:c:d:e {}", <<"D_PDESC_INVAL">>}]],
    ok = erltrace:compile(H, "BEGIN { exit(0); }"),
    ok = erltrace:go(H),
    ok = erltrace:close(H).

setopt_errors(_) ->
    {ok, H} = erltrace:open(),
    [begin
         {error, {dtrace, <<"ET_OPTION">>, 0, 0, Text} = Reason} = erltrace:setopt(H, Name, Value),
         ?assertNotEqual({Text, nomatch}, {Text, string:find(Text, Name)}),
         ?assert(iolist_size(erltrace:format_error(Reason)) > byte_size(Text))
     end || {Name, Value} <- [{"nosuch", "1"}, {"bufsize", "much"}, {"bufpolicy", "none"},
                              {"strsize", "-1"}]],
    ok = erltrace:setopt(H, "bufsize", "64k"),
    ok = erltrace:setopt(H, <<"quiet">>, <<>>),
    ok = erltrace:compile(H, "BEGIN {}"),
    ok = erltrace:go(H),
    {error, {dtrace, _, 0, 0, _}} = erltrace:setopt(H, "bufsize", "32k"), % fixed after go
    ok = erltrace:setopt(H, "aggsortrev", "1"),
    ok = erltrace:close(H).

%% ---- nothing is left -------------------------------------------------------------------------

one_life() ->
    {ok, H} = erltrace:script([?SCRIPT, "BEGIN { @q[\"b\"] = quantize(1); printf(\"x\"); }"]),
    ?MODULE:f(1),
    {ok, _} = erltrace:consume(H),
    {ok, _} = erltrace:walk(H),
    ok = erltrace:stop(H),
    ok = erltrace:close(H).

state() ->
    {erlang:system_info(atom_count), length(processes()), length(ets:all()),
     length(erlang:ports()), persistent_term:info(), application:get_all_env(erltrace),
     length(code:all_loaded())}.

%% Processes of OTP's own that were ending at the time of Before are not there any more.
not_more(Before) ->
    until(fun() ->
                  Now = state(),
                  element(2, Now) =< element(2, Before) andalso
                      setelement(2, Now, 0) =:= setelement(2, Before, 0)
          end).

resident() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = string:lexemes(Text, " "),
    binary_to_integer(Pages) * 4096.

many(_) ->
    [one_life() || _ <- lists:seq(1, 50)],
    Before = state(),
    Memory = resident(),
    [one_life() || _ <- lists:seq(1, 500)],
    not_more(Before),
    Grown = resident() - Memory,
    ct:pal("500 lives: resident memory grew by ~b bytes", [Grown]),
    ?assert(Grown < may_grow()).

%% The address sanitizer keeps what is freed for a while (256 MB of it).
may_grow() ->
    case string:find(os:getenv("LD_PRELOAD", ""), "asan") of
        nomatch -> 8 bsl 20;
        _ -> 400 bsl 20
    end.

%% One more than fit: an error that says so; closed ones give their place back.
too_many(_) ->
    Hs = open_all([]),
    {error, {dtrace, <<"ET_HANDLES">>, 0, 0, _}} = erltrace:open(),
    erltrace:close(hd(Hs)),
    {ok, H} = erltrace:open(),
    [erltrace:close(X) || X <- [H | tl(Hs)]].

open_all(Hs) ->
    case erltrace:open() of
        {ok, H} -> open_all([H | Hs]);
        {error, _} -> Hs
    end.

%% ---- the application -------------------------------------------------------------------------

start_stop(_) ->
    Life = fun() ->
                   ok = application:start(erltrace),
                   one_life(),
                   ok = application:stop(erltrace)
           end,
    Life(),
    Before = state(),
    [Life() || _ <- lists:seq(1, 10)],
    not_more(Before),
    ?assertEqual(undefined, whereis(erltrace_handles_sup)),
    ok = application:unload(erltrace),
    nothing_armed().

%% Handles are open, events flow, a subscriber waits: stopping ends them all before it returns.
stop_ends_handles(_) ->
    ok = application:start(erltrace),
    under_load(fun() ->
                       {ok, H1} = erltrace:script(?LOAD_SCRIPT),
                       {ok, H2} = erltrace:script([?SCRIPT, "END { trace(9); }"]),
                       {ok, H3} = erltrace:open(),
                       {ok, Ref} = erltrace:subscribe(H2, #{interval => 60000}),
                       ok = application:stop(erltrace),
                       ?assertEqual([false, false, false],
                                    [is_process_alive(H) || H <- [H1, H2, H3]]),
                       [{error, closed} = erltrace:status(H) || H <- [H1, H2, H3]],
                       receive
                           {erltrace, Ref, done, #{records := Records}} ->
                               ?assertEqual([9], [V || {probe, _, V} <- Records])
                       after 0 ->
                               error(no_last_message)
                       end
               end),
    nothing_armed(),
    ok = application:unload(erltrace).

no_application(_) ->
    undefined = whereis(erltrace_handles_sup),
    one_life().

%% ---- code ------------------------------------------------------------------------------------

%% The module of the library is loaded anew while events flow, by the same library: handles go on.
%% (A copy: the file itself may be built anew meanwhile, and would be another library then.)
reload(Config) ->
    Library = filename:join([proplists:get_value(priv_dir, Config), "same", "erltrace"]),
    ok = filelib:ensure_dir(Library),
    {ok, _} = file:copy(filename:join(priv_dir(), "erltrace.so"), Library ++ ".so"),
    ok = application:set_env(erltrace, library, Library),
    code:purge(erltrace_nif),
    {module, erltrace_nif} = code:load_file(erltrace_nif),
    try
        reloaded()
    after
        application:unset_env(erltrace, library),
        code:purge(erltrace_nif),
        {module, erltrace_nif} = code:load_file(erltrace_nif)
    end.

reloaded() ->
    {ok, H} = erltrace:script("erlang*:erltrace_SUITE:f:function-entry { @ = count(); }"),
    under_load(fun() ->
                       [begin
                            {ok, #{fired := N0}} = erltrace:status(H),
                            code:purge(erltrace_nif),
                            {module, erltrace_nif} = code:load_file(erltrace_nif),
                            until(fun() ->
                                          {ok, #{fired := N}} = erltrace:status(H),
                                          N > N0
                                  end)
                        end || _ <- lists:seq(1, 10)]
               end),
    {ok, [{_, count, [], Before}]} = erltrace:aggregations(H),
    in_process(fun() -> [?MODULE:f(I) || I <- lists:seq(1, 100)] end),
    {ok, [{_, count, [], After}]} = erltrace:aggregations(H),
    ?assertEqual(100, After - Before),
    ok = erltrace:close(H).

%% Taken out of the node: probes are off, calls say so; then it is there again.
purge(_) ->
    {ok, H} = erltrace:script(?SCRIPT),
    under_load(fun() ->
                       code:purge(erltrace_nif),
                       true = code:delete(erltrace_nif),
                       code:purge(erltrace_nif),
                       receive after 20 -> ok end
               end),
    _ = erltrace:close(H),
    {module, _} = code:ensure_loaded(erltrace_nif),
    one_life().

%% Another library, as an upgrade brings it: what was open ends, what comes works.
new_library(Config) ->
    {ok, H} = erltrace:script(?SCRIPT),
    Dir = filename:join(proplists:get_value(priv_dir, Config), "new"),
    ok = filelib:ensure_dir(filename:join(Dir, "x")),
    Library = filename:join(Dir, "erltrace"),
    {ok, _} = file:copy(filename:join(priv_dir(), "erltrace.so"), Library ++ ".so"),
    ok = application:set_env(erltrace, library, Library),
    under_load(fun() ->
                       code:purge(erltrace_nif),
                       {module, erltrace_nif} = code:load_file(erltrace_nif),
                       {ok, New} = erltrace:script("erlang*:erltrace_SUITE:f:function-entry"
                                                   "{ @ = count(); }"),
                       until(fun() -> {ok, #{fired := N}} = erltrace:status(New), N > 10 end),
                       gone(H, fun() -> ok end), % it has noticed
                       ok = erltrace:close(New)
               end),
    application:unset_env(erltrace, library),
    code:purge(erltrace_nif),
    {module, erltrace_nif} = code:load_file(erltrace_nif),
    one_life().

priv_dir() ->
    filename:join([filename:dirname(code:which(erltrace)), "..", "priv"]).
