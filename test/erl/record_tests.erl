%% SPDX-License-Identifier: Apache-2.0
%% Records in scripts: their fields come from the debug information of the modules that the script's
%% probes name, from headers, or from erltrace:set_record/3.
-module(record_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2]).
-export([take/1]).

-record(order, {id, item = tea :: atom(), n = 1 :: pos_integer(), rest}).

take(X) -> X.

-define(ENTRY, "erlang*:record_tests:take:function-entry").

pattern_test() ->
    Got = run([?ENTRY, " /erlmatch(erlarg(0), \"#order{n = N, id = Id}\") && this->N > 1/"
               "{ @[this->Id] = sum(this->N); }"],
              fun() -> [take(X) || X <- [#order{id = a, n = 5}, #order{id = b}, {order, 1},
                                         #order{id = a, n = 2}]] end),
    ?assertEqual(#{{"_", ["a"]} => 7}, Got).

field_test() ->
    Got = run([?ENTRY, " { @[erlfield(\"order.item\", erlarg(0))] = count(); }"],
              fun() -> [take(X) || X <- [#order{}, #order{item = milk}]] end),
    ?assertEqual(#{{"_", ["tea"]} => 1, {"_", ["milk"]} => 1}, Got).

compile(Script, Opts) ->
    {ok, H} = erltrace:open(),
    try erltrace_handle:call(H, {compile, iolist_to_binary(Script), [], Opts})
    after erltrace:close(H)
    end.

%% Not known: where it was looked for, and what to do.
unknown_test() ->
    {error, {dtrace, <<"D_PATTERN">>, _, _, Text}} =
        compile([?ENTRY, " /erlmatch(erlarg(0), \"#nope{a = 1}\")/ { }"], []),
    ?assertMatch({match, _}, re:run(Text, "record #nope are not known: it is defined not in "
                                          "record_tests, as far as .*: give the header that "
                                          "defines it, -I FILE.hrl")),
    {error, {dtrace, _, _, _, Text2}} =
        compile("erlang*:::message-send /erlmatch(erlmsg, \"#nope{}\")/ { }",
                [{headers, [{<<"x.hrl">>, <<"-record(other, {a}).">>}]}]),
    ?assertMatch({match, _}, re:run(Text2, "in no module that the script's probes name: nor in "
                                           "x.hrl")).

header_test() ->
    Header = <<"%% a comment\n-include(\"other.hrl\").\n-define(X, 1).\n"
               "-record(nope, {a, 'B c' = ?X(1, 2) :: {a, b}, c = fun(X, Y) -> X, Y end,\n"
               "  d :: fun((a, b) -> c), e = [{1, 2}, <<3, 4>>], f = case x of {a, b} -> c, d end,"
               " g}).\n-record(more, {z}).">>,
    ?assertEqual([[a, 'B c', c, d, e, f, g]], erltrace_records:from_header(nope, Header)),
    ?assertEqual([[z]], erltrace_records:from_header(more, Header)),
    ?assertEqual([], erltrace_records:from_header(none, Header)),
    ?assertEqual([], erltrace_records:from_header(nope, <<"-record(nope, {a, \"">>)),
    ?assertEqual(ok, compile("erlang*:::message-send /erlmatch(erlmsg, \"#nope{a = 1, g = G}\")/"
                             "{ trace(this->G); }", [{headers, [{<<"x.hrl">>, Header}]}])).

%% Two that differ.
ambiguous_test() ->
    Two = [{<<"a.hrl">>, <<"-record(r, {a, b}).">>}, {<<"b.hrl">>, <<"-record(r, {b, a}).">>}],
    Script = "erlang*:::message-send /erlmatch(erlmsg, \"#r{a = 1}\")/ { }",
    {error, {dtrace, _, _, _, Text}} = compile(Script, [{headers, Two}]),
    ?assertMatch({match, _}, re:run(Text, "defined in a.hrl and differently in b.hrl")),
    ?assertEqual(ok, compile(Script, [{headers, [hd(Two), hd(Two)]}])).

set_record_test() ->
    {ok, H} = erltrace:open(),
    ?assertEqual(ok, erltrace:set_record(H, mine, [x, y])),
    ?assertEqual(ok, erltrace:compile(H, [?ENTRY, " { @[erlfield(\"mine.y\", erlarg(0))] = count(); }"])),
    ?assertEqual(ok, erltrace:go(H)),
    take({mine, 1, two}),
    ?assertEqual(#{{"_", ["two"]} => 1}, script_run:aggregations(H)),
    ?assertError(badarg, erltrace:set_record(H, "mine", [])),
    ?assertMatch({error, _}, erltrace:set_record(H, mine, [x])),
    erltrace:close(H).
