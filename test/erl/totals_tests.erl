%% SPDX-License-Identifier: Apache-2.0
%% Totals of deployed scripts as a resource of the library: whoever ends meanwhile, its owner, a
%% handle that feeds them, or the library itself, they go on, and what was added once is there once.
-module(totals_tests).
-include_lib("eunit/include/eunit.hrl").
-export([replace/1]). % in a node of its own
-import(deploy_tests, [wait/1]).

-define(COUNT, "erlang*:::user_trace-n12 { @calls[\"k\"] = count(); @q = quantize(arg2); }").

new() ->
    {ok, T} = erltrace_nif:totals(1000),
    T.

fed(T, Script) ->
    {ok, H, _} = erltrace_handle:start(self()),
    ok = erltrace_handle:call(H, {compile, ?COUNT, []}),
    [_, _] = erltrace_handle:call(H, {feed, T, Script}),
    ok = erltrace_handle:call(H, go),
    {H, erltrace_handle:call(H, nif)}.

calls(T) ->
    Families = erltrace_nif:exposition(T, [], terms),
    lists:sum([N || {_, counter, _, Samples} <- Families, {_, N} <- Samples]).

tick(Nif) ->
    erltrace_nif:ticks(Nif, records, <<"n@h">>, false).

%% Of those that trace, each counts it.
fire(N) -> length([true || I <- lists:seq(1, N), dtrace:pn(12, I)]).

added_up_test() ->
    T = new(),
    {H, Nif} = fed(T, <<"a">>),
    100 = fire(100),
    {ok, [], []} = tick(Nif),
    50 = fire(50),
    {ok, [], []} = tick(Nif),
    ?assertEqual(150, calls(T)),
    ok = erltrace_handle:close(H),
    ?assertEqual(150, calls(T)),
    {H2, Nif2} = fed(T, <<"a">>), % it starts again
    7 = fire(7),
    {ok, [], _} = tick(Nif2),
    ?assertEqual(157, calls(T)),
    ok = erltrace_handle:close(H2),
    ok = erltrace_nif:totals_forget(T, <<"a">>),
    ?assertEqual([], erltrace_nif:exposition(T, [], terms)).

%% The process that made them has ended, and been collected with all that it had.
owner_ends_test() ->
    Self = self(),
    {_, Mon} = spawn_monitor(fun() -> Self ! {totals, new()} end),
    T = receive {totals, New} -> New end,
    receive {'DOWN', Mon, process, _, _} -> ok end,
    {H, Nif} = fed(T, <<"a">>),
    9 = fire(9),
    {ok, [], []} = tick(Nif),
    ?assertEqual(9, calls(T)),
    ok = erltrace_handle:close(H).

%% Nobody has them but the handle: its ticks have somewhere to go until it is closed.
only_the_handle_has_them_test() ->
    {H, Nif} = fed(new(), <<"a">>),
    garbage_collect(),
    5 = fire(5),
    ?assertEqual({ok, [], []}, tick(Nif)),
    ok = erltrace_handle:close(H).

%% Handles come and go, closed and killed, while others read ticks and totals.
closed_while_they_are_read_test_() -> {timeout, 120, fun closed_while_they_are_read/0}.

closed_while_they_are_read() ->
    T = new(),
    Readers = [spawn_link(fun() -> read(T, Form) end) || Form <- [terms, text, openmetrics]],
    process_flag(trap_exit, true),
    Counted = lists:sum([life(T, End) || _ <- lists:seq(1, 10), End <- [close, kill]]),
    process_flag(trap_exit, false),
    [begin unlink(R), exit(R, kill) end || R <- Readers],
    ?assertEqual(Counted, calls(T)).

read(T, Form) ->
    _ = erltrace_nif:exposition(T, [], Form),
    _ = erltrace_nif:totals_about(T),
    ok = erltrace_nif:totals_limit(T, 1000),
    read(T, Form).

%% How many events the totals have of it: those before the last tick.
life(T, End) ->
    {H, Nif} = fed(T, <<"a">>),
    Ticks = [spawn_monitor(fun() -> ticks(Nif) end) || _ <- [1, 2, 3]],
    N = fire(100),
    {_, [], []} = tick(Nif),
    case End of
        close -> ok = erltrace_handle:close(H);
        kill ->
            Mon = erlang:monitor(process, H),
            exit(H, kill),
            receive {'DOWN', Mon, process, _, _} -> ok end,
            wait(fun() -> not erltrace_nif:user_enabled() end)
    end,
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ticks],
    N.

ticks(Nif) ->
    case tick(Nif) of
        {error, closed} -> ok;
        {_, _, _} -> ticks(Nif)
    end.

%% What makes no sense is refused, and does no harm.
garbage_test() ->
    T = new(),
    {H, Nif} = fed(T, <<"a">>),
    [?assertError(badarg, F()) || F <- [
        fun() -> erltrace_nif:totals(-1) end,
        fun() -> erltrace_nif:totals(x) end,
        fun() -> erltrace_nif:totals_limit(make_ref(), 1) end,
        fun() -> erltrace_nif:totals_limit(T, x) end,
        fun() -> erltrace_nif:totals_limit(Nif, 1) end,
        fun() -> erltrace_nif:totals_forget(x, <<"a">>) end,
        fun() -> erltrace_nif:totals_about([]) end,
        fun() -> erltrace_nif:feed(Nif, Nif, <<"a">>) end,
        fun() -> erltrace_nif:feed(T, T, <<"a">>) end,
        fun() -> erltrace_nif:feed(Nif, T, x) end,
        fun() -> erltrace_nif:exposition(Nif, [], text) end
    ]],
    [?assert(is_binary(erltrace_nif:exposition(T, Own, text)))
     || Own <- [x, [x], [{x, gauge, "h", []}], [{"n", 1, "h", []}], [{"n", gauge, "h", [x, {x, y}, {[x], 1}]}],
                [{"n", gauge, "h", [{[{"l", x}, {x, "v"} | z], z} | z]} | z]]],
    ok = erltrace_handle:close(H),
    ?assertEqual({error, closed}, erltrace_nif:feed(Nif, T, <<"a">>)),
    ?assertEqual({error, closed}, tick(Nif)).

%% The same for alerts.
alerts_test() ->
    T = new(),
    ?assertEqual({[{<<"b">>, <<"x">>}, {<<"a">>, <<"y">>}], false},
                 erltrace_nif:alerts_call(T, <<"s">>, [{<<"b">>, <<"x">>}, {<<"a">>, <<"y">>}, {<<"b">>, <<"z">>}, z], 2)),
    ?assertEqual({[], true}, erltrace_nif:alerts_call(T, <<"r">>, [{<<"b">>, <<"x">>}, {<<>>, <<"x">>}, {x, <<>>} | z], 2)),
    ?assertEqual({[], false}, erltrace_nif:alerts_call(T, <<"r">>, [{<<"b">>, <<"x">>}], 2)),
    {On, 2} = erltrace_nif:alerts(T),
    ?assertEqual([{<<"s">>, <<"a">>}, {<<"s">>, <<"b">>}], lists:sort(On)),
    ?assertEqual({[], 0, false}, erltrace_nif:alerts_over(T, <<"r">>)),
    ?assertEqual({[], 0, false}, erltrace_nif:alerts_over(T, 60)),
    {Over, 0, false} = erltrace_nif:alerts_over(T, <<"s">>),
    ?assertEqual([{<<"s">>, <<"a">>, <<"y">>}, {<<"s">>, <<"b">>, <<"z">>}], lists:sort(Over)),
    ?assertEqual({[], 2}, erltrace_nif:alerts(T)),
    [?assertError(badarg, F()) || F <- [
        fun() -> erltrace_nif:alerts_call(x, <<"s">>, [], 2) end,
        fun() -> erltrace_nif:alerts_call(T, x, [], 2) end,
        fun() -> erltrace_nif:alerts_call(T, <<"s">>, [], -2) end,
        fun() -> erltrace_nif:alerts_over(T, x) end,
        fun() -> erltrace_nif:alerts(x) end
    ]].

%% Labels are escaped here alone, and as for scripts.
own_families_test() ->
    Labels = [{"node", <<"n@h">>}, {"script", <<"a\"b\\c\nd", 255>>}],
    Own = [{"erltrace_a", counter, "Help\n.", [{Labels, 5}, {[], 0.004}]}, {"erltrace_b", gauge, "B", []}],
    T = new(),
    Text = <<"node=\"n@h\",script=\"a\\\"b\\\\c\\nd", 16#fffd/utf8, "\"">>,
    ?assertEqual([{<<"erltrace_a_total">>, counter, <<"Help\n.">>, [{Text, 5}, {<<>>, 0.004}]},
                  {<<"erltrace_b">>, gauge, <<"B">>, []}],
                 erltrace_nif:exposition(T, Own, terms)),
    ?assertEqual(<<"# HELP erltrace_a_total Help\\n.\n# TYPE erltrace_a_total counter\n"
                   "erltrace_a_total{", Text/binary, "} 5\nerltrace_a_total{} 0.004\n"
                   "# HELP erltrace_b B\n# TYPE erltrace_b gauge\n">>,
                 erltrace_nif:exposition(T, Own, text)),
    OpenMetrics = erltrace_nif:exposition(T, Own, openmetrics),
    ?assertMatch({_, _}, binary:match(OpenMetrics, <<"# TYPE erltrace_a counter\n">>)),
    ?assertEqual(<<"# EOF\n">>, binary:part(OpenMetrics, byte_size(OpenMetrics), -6)).

%% Sums beyond 64 bits are the same numbers as terms.
large_sums_test() ->
    T = new(),
    {ok, H, _} = erltrace_handle:start(self()),
    Script = "erlang*:::user_trace-n12 { @up = sum(arg2); @down = sum(-arg2); @mean = avg(arg2); }",
    ok = erltrace_handle:call(H, {compile, Script, []}),
    _ = erltrace_handle:call(H, {feed, T, <<"a">>}),
    ok = erltrace_handle:call(H, go),
    Nif = erltrace_handle:call(H, nif),
    Large = 1 bsl 62,
    [begin true = dtrace:pn(12, Large), {ok, [], []} = tick(Nif) end || _ <- lists:seq(1, 6)],
    ?assertEqual([{<<"erltrace_a_down">>, [-6 * Large]}, {<<"erltrace_a_mean">>, [{6, 6 * Large}]},
                  {<<"erltrace_a_up_total">>, [6 * Large]}],
                 lists:sort([{Name, [values(S) || S <- Samples]}
                             || {Name, _, _, Samples} <- erltrace_nif:exposition(T, [], terms)])),
    ok = erltrace_handle:close(H).

values({_, V}) -> V;
values({_, Count, Sum}) -> {Count, Sum}.

%% Another library takes the place of the one that has the totals, and the old one is purged: in a node of its
%% own, as what is loaded stays loaded. Its handles end, its scripts start again, their counters go on.
library_replaced_test_() ->
    {timeout, 120, fun() ->
        Dir = string:trim(os:cmd("mktemp -d")),
        Ebin = filename:dirname(code:which(erltrace_nif)),
        Copy = filename:join(Dir, "erltrace_copy"),
        {ok, _} = file:copy(filename:join(Ebin, "../priv/erltrace.so"), Copy ++ ".so"),
        ok = file:write_file(filename:join(Dir, "a.d"), ?COUNT),
        Said = os:cmd("ERL_CRASH_DUMP=/dev/null timeout 100 erl -noinput -boot start_clean -pa " ++ Ebin ++ " -pa " ++
                          filename:dirname(code:which(?MODULE)) ++ " -eval 'totals_tests:replace(\"" ++ Dir ++
                          "\"), halt(0).' 2>&1; echo \" status $?\""),
        os:cmd("rm -r " ++ Dir),
        ?assertMatch({match, _}, re:run(Said, "counters go on\\s+status 0"), Said)
    end}.

replace(Dir) ->
    _ = application:load(erltrace),
    [application:set_env(erltrace, K, V) || {K, V} <- [{scripts, [Dir]}, {budget, 100}, {budget_all, 100}]],
    ok = application:start(erltrace),
    N1 = counted(0, anew),
    ok = application:set_env(erltrace, library, filename:join(Dir, "erltrace_copy")),
    {module, erltrace_nif} = code:load_file(erltrace_nif),
    N2 = counted(N1, anew),
    code:purge(erltrace_nif),
    N3 = counted(N2, goes_on),
    application:unset_env(erltrace, library), % and back again
    {module, erltrace_nif} = code:load_file(erltrace_nif),
    code:purge(erltrace_nif),
    _ = counted(N3, anew),
    io:put_chars("counters go on\n").

%% A hundred more than before, once the script is armed by the library that is there now.
counted(Before, How) ->
    Old = get(handle),
    put(handle, wait(fun() -> armed(Old, How) end)),
    100 = deploy_tests:fire(100),
    deploy_tests:shows(<<"erltrace_a_calls_total">>, Before + 100),
    Before + 100.

armed(Old, How) ->
    Handles = lists:append([handles(Sup) || {_, Sup, _, _} <- supervisor:which_children(erltrace_handles_sup)]),
    deploy_tests:state(<<"a">>) =:= armed andalso length(Handles) =:= 1 andalso
        (How =:= goes_on orelse Handles =/= [Old]) andalso hd(Handles).

handles(Sup) ->
    try [P || {erltrace_handle, P, _, _} <- supervisor:which_children(Sup), is_pid(P)]
    catch exit:_ -> [] % it ends
    end.
