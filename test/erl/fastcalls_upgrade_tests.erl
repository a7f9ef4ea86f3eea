%% SPDX-License-Identifier: Apache-2.0
%% A library that replaces another while calls go the fast way: the hooks stay, in the core; handles of
%% the old one end, those of the new one have exact results. And there may be many libraries in a node,
%% none of which is ever unloaded. All in nodes of their own.
-module(fastcalls_upgrade_tests).
-include_lib("eunit/include/eunit.hrl").
-export([taken_over/1, frames/1, many/1]). % in the node
-export([f/1, waits/1]). % what is traced

-define(F, "erlang*:fastcalls_upgrade_tests:f:function-entry, "
           "erlang*:fastcalls_upgrade_tests:f:function-return { @[probename] = count(); }").
-define(WAITS, "erlang*:fastcalls_upgrade_tests:waits:function-return { @[args[1], erlret] = count(); }").

upgrade_test_() ->
    [{Name, {timeout, 300, fun() -> in_node(Test) end}} ||
        {Name, Test} <- [{"a library replaces another while calls are taken", taken_over},
                         {"calls that began under a library end under another", frames},
                         {"many libraries in one node", many}]].

in_node(Test) ->
    Dir = filename:join("/tmp", "erltrace_upgrade_" ++ os:getpid() ++ atom_to_list(Test)),
    Pa = lists:append([["-pa", P] || P <- code:get_path(), filelib:is_file(filename:join(P, "erltrace_nif.beam"))
                                         orelse P =:= filename:dirname(code:which(?MODULE))]),
    {ok, Peer, _} = peer:start(#{connection => standard_io, wait_boot => 60000, args => Pa}),
    try
        case peer:call(Peer, erltrace_find, known, [fast], 60000) of
            ok -> ?assertEqual(ok, peer:call(Peer, ?MODULE, Test, [Dir], 280000));
            {refused, Why} -> io:format(user, "skipped: the fast way: ~s~n", [Why])
        end
    after
        peer:stop(Peer),
        file:del_dir_r(Dir)
    end.

%% ---- in the node -----------------------------------------------------------------------------

%% Under load: the old handle ends, the word of entries is given back or the new library's. As long as
%% the old one has the hooks, scripts of the new one are traced; then they are fast.
taken_over(Dir) ->
    Loads = [spawn_link(fun Loop() -> f(1), Loop() end) || _ <- [1, 2]],
    Last = lists:foldl(
             fun(N, Old) ->
                     M = monitor(process, Old),
                     upgrade(Dir, N),
                     New = open(?F),
                     receive {'DOWN', M, process, _, _} -> ok end,
                     ok = erltrace:close(New),
                     fast(?F)
             end, fast(?F), [1, 2, 3]),
    [begin unlink(P), exit(P, kill) end || P <- Loads],
    ok = erltrace:close(Last),
    [1, 0, 0 | _] = erltrace_nif:find(fast, state),
    exact().

frames(Dir) ->
    H = fast(?WAITS),
    Me = self(),
    Ps = [spawn_link(fun() -> Me ! {self(), catch nested(I)} end) || I <- lists:seq(0, 40)],
    [until(fun() -> process_info(P, status) =:= {status, waiting} end) || P <- Ps],
    upgrade(Dir, 1),
    until(fun() -> not is_process_alive(H) end),
    New = fast(?WAITS),
    {Then, Now} = lists:split(20, Ps),
    [P ! go || P <- Then],
    Values = [receive {P, V} -> V end || P <- Then],
    upgrade(Dir, 2),
    until(fun() -> not is_process_alive(New) end),
    [P ! go || P <- Now],
    Values1 = [receive {P, V} -> V end || P <- Now],
    {true, _} = {Values ++ Values1 =:= [wanted(I) || I <- lists:seq(0, 40)], Values ++ Values1},
    exact().

%% Deep, and left by a return or by an exception.
nested(0) -> waits(0);
nested(N) -> {N, nested(N - 1)}.

wanted(0) -> {waited, 0};
wanted(N) -> {N, wanted(N - 1)}.

many(Dir) ->
    [begin upgrade(Dir, N), ok = exact() end || N <- lists:seq(1, 12)],
    ok.

%% The n-th library of its own file.
upgrade(Dir, N) ->
    Library = filename:join([Dir, integer_to_list(N), "erltrace"]),
    ok = filelib:ensure_dir(Library),
    Priv = filename:join([filename:dirname(code:which(erltrace)), "..", "priv"]),
    {ok, _} = file:copy(filename:join(Priv, "erltrace.so"), Library ++ ".so"),
    ok = application:set_env(erltrace, library, Library),
    code:purge(erltrace_nif),
    {module, erltrace_nif} = code:load_file(erltrace_nif).

exact() ->
    H = fast(?F),
    {P, M} = spawn_monitor(fun() -> [f(I) || I <- lists:seq(1, 1000)] end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    ok = erltrace:stop(H),
    {ok, Rows} = erltrace:walk(H),
    ok = erltrace:close(H),
    [{count, ["function-entry"], 1000}, {count, ["function-return"], 1000}] = lists:sort(Rows),
    ok.

fast(Script) ->
    H = open(Script),
    {ok, #{calls := #{way := fast, traced := []}}} = erltrace:status(H),
    H.

open(Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- [{"calls", "fast"}, {"watchdog", "0"}]],
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    H.

f(X) -> {X}.

waits(X) -> receive go -> {waited, X} end.

until(Fun) -> Fun() orelse begin timer:sleep(5), until(Fun) end.
