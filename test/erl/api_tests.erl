%% SPDX-License-Identifier: Apache-2.0
%% The module erltrace: the shapes of its answers, its errors, what it takes.
-module(api_tests).
-include_lib("eunit/include/eunit.hrl").

%% A script that runs to its end, then Fun.
ended(Script, Fun) ->
    {ok, H} = erltrace:script(Script),
    try Fun(H)
    after erltrace:close(H)
    end.

%% ---- consume ---------------------------------------------------------------------------------

-define(BEGIN_PROBE, {"dtrace", "", "", "BEGIN"}).
-define(END_PROBE, {"dtrace", "", "", "END"}).

consume_test() ->
    ended("BEGIN { trace(42); trace(\"x\"); printf(\"%d-%s\", 7, \"y\"); exit(0); }",
          fun(H) ->
                  ?assertEqual({ok, [{probe, ?BEGIN_PROBE, 42}, {probe, ?BEGIN_PROBE, "x"},
                                     {printf, ?BEGIN_PROBE, "7-y"}]}, erltrace:consume(H)),
                  ?assertEqual({error, exited}, erltrace:consume(H)),
                  ?assertEqual({error, exited}, erltrace:walk(H))
          end).

%% What the erltrace of 2013 lost: END, printa and what follows exit().
consume_end_test() ->
    ended("BEGIN { @[\"k\"] = count(); exit(3); } END { printa(\"%s=%@d\", @); trace(1); }",
          fun(H) ->
                  ?assertEqual({ok, [{printa, ?END_PROBE, "k=1"}, {probe, ?END_PROBE, 1}]},
                               erltrace:consume(H)),
                  ?assertMatch({ok, #{state := {exited, 3}, running := false}},
                               erltrace:status(H)),
                  ?assertEqual({ok, [{count, ["k"], 1}]}, erltrace:walk(H))
          end).

%% A walk sees what END gave, and keeps END's records for consume.
walk_then_consume_test() ->
    ended("BEGIN { exit(0); } END { @ = sum(5); printf(\"end\"); }",
          fun(H) ->
                  ?assertEqual({ok, [{sum, [], 5}]}, erltrace:walk(H)),
                  ?assertEqual({error, exited}, erltrace:walk(H)),
                  ?assertEqual({ok, [{printf, ?END_PROBE, "end"}]}, erltrace:consume(H)),
                  ?assertEqual({error, exited}, erltrace:consume(H))
          end).

walk_then_output_test() ->
    ended("#pragma D option quiet\nBEGIN { exit(0); } END { @ = sum(5); printf(\"end\"); }",
          fun(H) ->
                  ?assertEqual({ok, [{sum, [], 5}]}, erltrace:walk(H)),
                  {done, Text} = erltrace:output(H),
                  ?assertMatch(<<"end", _/binary>>, iolist_to_binary(Text))
          end).

default_action_test() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:compile(H, "BEGIN {} END { trace(2); }"),
    ok = erltrace:go(H),
    ok = erltrace:stop(H),
    ?assertEqual({ok, [{probe, ?BEGIN_PROBE, undefined}, {probe, ?END_PROBE, 2}]},
                 erltrace:consume(H)),
    ?assertEqual({error, stopped}, erltrace:consume(H)),
    erltrace:close(H).

fault_test() ->
    ended("BEGIN { trace(*(int *)0); } BEGIN { exit(0); }",
          fun(H) ->
                  {ok, Items} = erltrace:consume(H),
                  [{fault, Text}] = [I || {fault, _} = I <- Items],
                  ?assertNotEqual(nomatch, string:find(Text, "invalid address"))
          end).

drop_test() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "bufsize", "16k"),
    ok = erltrace:compile(H, "erlang*:::user_trace-i4s4 { trace(arg2); }"),
    ok = erltrace:go(H),
    [true = dtrace:p(I) || I <- lists:seq(1, 10000)],
    ok = erltrace:stop(H),
    {ok, Items} = erltrace:consume(H),
    Values = length([V || {probe, _, V} <- Items]),
    Drops = lists:sum([N || {drop, "PRINCIPAL", N, _} <- Items]),
    ?assert(Drops > 0),
    ?assertEqual(10000, Values + Drops),
    erltrace:close(H).

%% ---- aggregations ----------------------------------------------------------------------------

every_function_test() ->
    ended("BEGIN { @c = count(); @s[1] = sum(-2); @i[\"a\", 2] = min(3); @x = max(4); @v = avg(5);"
          "@d = stddev(6); @q = quantize(7); @l = lquantize(8, 0, 63, 2);"
          "@ll = llquantize(9, 10, 0, 2, 10); @p = percentile(7, 50, 99.9, 100);"
          "@p = percentile(-3, 50, 99.9, 100); exit(0); }",
          fun(H) ->
                  {ok, Aggs} = erltrace:aggregations(H),
                  ?assertEqual([{<<"c">>, count, [], 1},
                                {<<"d">>, stddev, [], 0.0},
                                {<<"i">>, min, [<<"a">>, 2], 3},
                                {<<"l">>, lquantize, [], [{{8, 9}, 1}]},
                                {<<"ll">>, llquantize, [], [{{9, 9}, 1}]},
                                {<<"p">>, percentile, [], [{50, -3}, {99.9, 7}, {100, 7}]},
                                {<<"q">>, quantize, [], [{{4, 7}, 1}]},
                                {<<"s">>, sum, [1], -2},
                                {<<"v">>, avg, [], 5.0},
                                {<<"x">>, max, [], 4}], lists:sort(Aggs)),
                  {ok, Walked} = erltrace:walk(H),
                  ?assert(lists:member({min, ["a", 2], 3}, Walked)),
                  ?assertEqual(10, length(Walked)),
                  ?assertEqual({ok, []}, erltrace:aggregations(H))
          end).

%% Outer buckets have no bound: their ends are those of 64 bits.
bounds_test() ->
    ended("BEGIN { @l = lquantize(-1, 0, 10, 5); @l = lquantize(99, 0, 10, 5);"
          "@q = quantize(0x7fffffffffffffff); @q = quantize(-0x7fffffffffffffff - 1);"
          "exit(0); }",
          fun(H) ->
                  {ok, Aggs} = erltrace:aggregations(H),
                  ?assertEqual([{{-1 bsl 63, -1}, 1}, {{10, (1 bsl 63) - 1}, 1}],
                               element(4, lists:keyfind(<<"l">>, 1, Aggs))),
                  [{{Lo, _}, 1}, {{_, Hi}, 1}] = element(4, lists:keyfind(<<"q">>, 1, Aggs)),
                  ?assertEqual({-1 bsl 63, (1 bsl 63) - 1}, {Lo, Hi})
          end).

%% Each walk is what came since the last one.
walk_since_test() ->
    {ok, H} = erltrace:script("erlang*:::user_trace-n7 { @[copyinstr(arg6)] = count(); }"),
    ?assertEqual(ok, erltrace:walk(H)),
    [true = dtrace:pn(7, <<"one">>) || _ <- lists:seq(1, 5)],
    ?assertEqual({ok, [{count, ["one"], 5}]}, erltrace:walk(H)),
    ?assertEqual(ok, erltrace:walk(H)),
    true = dtrace:pn(7, "two"),
    ?assertEqual({ok, [{count, ["two"], 1}]}, erltrace:walk(H)),
    ok = erltrace:close(H),
    ?assertEqual(false, dtrace:pn(7, "two")).

stack_key_test() ->
    ended("BEGIN { @[stack(3)] = count(); exit(0); }",
          fun(H) ->
                  {ok, [{_, count, [Frames], 1}]} = erltrace:aggregations(H),
                  ?assert(is_list(Frames)),
                  ?assert(lists:all(fun is_binary/1, Frames))
          end).

%% ---- what it takes ---------------------------------------------------------------------------

sources_test_() ->
    Script = "BEGIN { trace($1); exit(0); }",
    [?_assertEqual({ok, [{probe, ?BEGIN_PROBE, 5}]},
                   begin
                       {ok, H} = erltrace:script(Source, Args),
                       R = erltrace:consume(H),
                       erltrace:close(H),
                       R
                   end) ||
        {Source, Args} <- [{Script, ["5"]}, {list_to_binary(Script), [<<"5">>]},
                           {[[$B, "EGIN"], <<" { trace($1); exit(0); }">>], [["", $5]]}]].

%% Bytes go as they are, characters beyond them as UTF-8.
unicode_test() ->
    Text = [8594, 233],
    ended(["BEGIN { trace(\"", Text, "\"); exit(0); }"],
          fun(H) ->
                  ?assertEqual({ok, [{probe, ?BEGIN_PROBE,
                                      binary_to_list(unicode:characters_to_binary(Text))}]},
                               erltrace:consume(H))
          end).

%% No limit of 10 KB; and a text longer than a piece of output comes whole.
long_script_test_() -> {timeout, 60, fun long_script/0}.

long_script() ->
    Clauses = [["BEGIN { @[\"key ", integer_to_list(I), "\"] = count(); }\n"] ||
                  I <- lists:seq(1, 3000)],
    ?assert(iolist_size(Clauses) > 100000),
    ended([Clauses, "BEGIN { exit(0); } END { printa(@); }"],
          fun(H) ->
                  {ok, Aggs} = erltrace:aggregations(H),
                  ?assertEqual(3000, length(Aggs)),
                  {ok, [{printa, ?END_PROBE, Text}]} = erltrace:consume(H),
                  ?assertEqual(3000, length(string:split(string:trim(Text), "\n", all)))
          end).

many_arguments_test() ->
    {ok, H} = erltrace:open(),
    Args = [integer_to_list(I) || I <- lists:seq(1, 200)],
    ok = erltrace:setopt(H, "argref", ""),
    ok = erltrace:compile(H, "BEGIN { trace($200); exit(0); }", Args),
    ok = erltrace:go(H),
    ?assertEqual({ok, [{probe, ?BEGIN_PROBE, 200}]}, erltrace:consume(H)),
    erltrace:close(H).

badarg_test_() ->
    {setup, fun() -> {ok, H} = erltrace:open(), H end, fun erltrace:close/1,
     fun(H) ->
             [?_assertError(badarg, erltrace:compile(H, atom)),
              ?_assertError(badarg, erltrace:compile(H, [foo])),
              ?_assertError(badarg, erltrace:compile(H, "BEGIN", atom)),
              ?_assertError(badarg, erltrace:compile(H, "BEGIN", [1.0])),
              ?_assertError(badarg, erltrace:setopt(H, quiet, "")),
              ?_assertError(badarg, erltrace:setopt(H, "qui\0et", "")),
              ?_assertError(badarg, erltrace:go(not_a_handle)),
              ?_assertError(badarg, erltrace:subscribe(H, [])),
              ?_assertError(badarg, erltrace:controlling_process(H, me)),
              ?_assertEqual({error, {badopt, {interval, 0}}},
                            erltrace:subscribe(H, #{interval => 0})),
              ?_assertEqual({error, {badopt, {speed, 1}}}, erltrace:subscribe(H, #{speed => 1})),
              %% and the handle is as it was
              ?_assertEqual(ok, erltrace:compile(H, "BEGIN { exit(0); }")),
              ?_assertEqual(ok, erltrace:go(H))]
     end}.

%% ---- errors ----------------------------------------------------------------------------------

states_test() ->
    {ok, H} = erltrace:open(),
    ?assertMatch({ok, #{state := idle}}, erltrace:status(H)),
    [?assertEqual({error, no_prog}, F(H)) ||
        F <- [fun erltrace:walk/1, fun erltrace:consume/1, fun erltrace:output/1,
              fun erltrace:aggregations/1, fun erltrace:stop/1, fun erltrace:go/1]],
    {error, {dtrace, _, _, _, _}} = erltrace:compile(H, "tick-1h { nosuch(); }"),
    ?assertEqual({error, no_prog}, erltrace:go(H)),
    ok = erltrace:compile(H, "tick-1h {}"),
    ok = erltrace:go(H),
    ?assertEqual({error, already_running}, erltrace:go(H)),
    ?assertEqual({error, already_running}, erltrace:compile(H, "tick-1h {}")),
    ?assertMatch({ok, #{state := running, running := true}}, erltrace:status(H)),
    ?assertEqual(ok, erltrace:consume(H)),
    ?assertEqual(ok, erltrace:walk(H)),
    ok = erltrace:stop(H),
    ok = erltrace:stop(H),
    ?assertEqual({error, stopped}, erltrace:walk(H)),
    ?assertEqual({error, stopped}, erltrace:go(H)),
    ok = erltrace:close(H),
    ok = erltrace:close(H),
    [?assertEqual({error, closed}, F(H)) ||
        F <- [fun erltrace:walk/1, fun erltrace:consume/1, fun erltrace:output/1, fun erltrace:go/1,
              fun erltrace:aggregations/1, fun erltrace:stop/1, fun erltrace:status/1,
              fun erltrace:subscribe/1]].

fill_test() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "bufpolicy", "fill"),
    ok = erltrace:setopt(H, "bufsize", "16k"),
    ok = erltrace:compile(H, "erlang*:::user_trace-i4s4 { trace(arg2); }"),
    ok = erltrace:go(H),
    [dtrace:p(I) || I <- lists:seq(1, 10000)],
    {ok, [_ | _]} = erltrace:consume(H),
    ?assertEqual({error, filled}, erltrace:consume(H)),
    erltrace:close(H).

%% Every reason is a sentence; errors of the compiler have place, text, tag and its meaning.
format_error_test() ->
    {ok, H} = erltrace:open(),
    Source = "BEGIN\n{\n\ttrace(nosuch);\n}",
    Error = erltrace:compile(H, Source),
    {error, {dtrace, <<"D_IDENT_UNDEF">>, 3, 8, _}} = Error,
    Text = lists:flatten(io_lib:format("~s", [erltrace:format_error(Error)])),
    ?assertMatch("line 3, column 8: " ++ _, Text),
    [?assertNotEqual(nomatch, string:find(Text, T)) || T <- ["nosuch", "[D_IDENT_UNDEF: "]],
    Shown = lists:flatten(io_lib:format("~s", [erltrace:format_error(Error, Source)])),
    ?assertEqual([Text, "  \ttrace(nosuch);", "  \t      ^"], string:split(Shown, "\n", all)),
    {error, Option} = erltrace:setopt(H, "nosuch", "1"),
    ?assertMatch({dtrace, <<"ET_OPTION">>, 0, 0, _}, Option),
    erltrace:close(H),
    [?assert(iolist_size(erltrace:format_error(R)) > 10) ||
        R <- [no_prog, already_running, idle, exited, filled, stopped, closed, upgraded, subscribed,
              not_subscribed, {badopt, x}, {library, on_load_failure}, Option, {error, closed},
              some_other_reason]].

%% ---- lists -----------------------------------------------------------------------------------

probes_test() ->
    {ok, All} = erltrace:probes(),
    Names = [N || #{provider := <<"erlang", _/binary>>, name := N} <- All],
    [?assert(lists:member(N, Names)) ||
        N <- [<<"process-spawn">>, <<"message-send">>, <<"gc_major-start">>]],
    {ok, [#{provider := Provider, module := <<"lists">>, function := Function}]} =
        erltrace:probes(<<"erlang*:lists:reverse/2:function-entry">>),
    ?assertEqual(<<"reverse/2">>, Function),
    ?assertEqual(list_to_binary("erlang" ++ os:getpid()), Provider),
    ?assertMatch({error, {dtrace, <<"D_PDESC_ZERO">>, _, _, _}}, erltrace:probes("erlang*:::no")),
    ?assertMatch({error, {dtrace, <<"D_PDESC_INVAL">>, _, _, _}}, erltrace:probes("a:b:c:d:e")).

options_test() ->
    Options = erltrace:options(),
    ?assert(lists:keymember(<<"bufsize">>, 1, Options)),
    ?assert(lists:all(fun({N, H}) -> is_binary(N) andalso byte_size(H) > 0 end, Options)).

%% ---- names do not become atoms ---------------------------------------------------------------

no_atoms_test() ->
    Run = fun(I) ->
                  Name = "name" ++ integer_to_list(I),
                  {ok, H} = erltrace:script(["BEGIN { ", Name, " = 1; @", Name, "[\"", Name, "\"]"
                                             "= count(); trace(\"", Name, "\"); exit(0); }"]),
                  {ok, [{probe, _, Name}]} = erltrace:consume(H),
                  {ok, [_]} = erltrace:aggregations(H),
                  {ok, [{count, [Name], 1}]} = erltrace:walk(H),
                  erltrace:close(H),
                  {error, _} = erltrace:script(["BEGIN { trace(", Name, "); }"]),
                  {error, _} = erltrace:script(["erlang*:", Name, "::function-entry {}"]),
                  {error, _} = erltrace:probes([Name, ":::"])
          end,
    [Run(I) || I <- lists:seq(1, 3)],
    Before = erlang:system_info(atom_count),
    [Run(I) || I <- lists:seq(10, 30)],
    ?assertEqual(Before, erlang:system_info(atom_count)).

%% ---- how many handles ------------------------------------------------------------------------

%% The error says the number that there can be.
most_handles_test() ->
    {Open, {dtrace, Tag, _, _, Text}} = open_all([]),
    [erltrace:close(H) || H <- Open],
    ?assertEqual(<<"ET_HANDLES">>, Tag),
    N = integer_to_list(length(Open)),
    ?assertEqual(N ++ " handles are open, and there cannot be more: close one",
                 unicode:characters_to_list(Text)),
    ?assertMatch({ok, _}, ended("BEGIN { trace(1); exit(0); }", fun erltrace:consume/1)).

open_all(Open) ->
    case erltrace:open() of
        {ok, H} -> open_all([H | Open]);
        {error, Reason} -> {Open, Reason}
    end.
