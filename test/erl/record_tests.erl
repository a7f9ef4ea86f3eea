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

matches(Text, Regexp) ->
    ?assertMatch({_, _, {match, _}}, {Text, Regexp, re:run(Text, Regexp)}).

%% Not known: where it was looked for, and what to do.
unknown_test() ->
    {error, {dtrace, <<"D_PATTERN">>, _, _, Text}} =
        compile([?ENTRY, " /erlmatch(erlarg(0), \"#nope{a = 1}\")/ { }"], []),
    matches(Text, "record #nope are not known: it is not defined in record_tests\\. Name the header "
                  "that defines it, -I FILE.hrl \\(-I FOLDER is for the preprocessor\\), or further up "
                  "in the script a module that uses it: "
                  "erlang\\*:MODULE:FUNCTION:function-entry /0/ { }$"),
    {error, {dtrace, _, _, _, Text2}} =
        compile("erlang*:::message-send /erlmatch(erlmsg, \"#nope{}\")/ { }",
                [{headers, [{<<"x.hrl">>, <<"-record(other, {a}).">>}]}]),
    matches(Text2, "the script's probes name no module up to here, and it is not in x.hrl "
                   "\\(files that a header includes are not read\\)\\. ").

%% A module without debug information is said to have none.
no_debug_info_test() ->
    Forms = [{attribute, 1, module, record_nodebug}, {attribute, 1, export, [{f, 1}]},
             {function, 1, f, 1, [{clause, 1, [{var, 1, 'X'}], [], [{var, 1, 'X'}]}]}],
    {ok, M, Code} = compile:forms(Forms, []),
    {module, M} = code:load_binary(M, "record_nodebug", Code),
    Probe = "erlang*:record_nodebug:f:function-entry",
    Match = " /erlmatch(erlarg(0), \"#nope{}\")/ { }",
    {error, {dtrace, _, _, _, Text}} = compile([Probe, Match], []),
    matches(Text, "not known: there is no debug information of record_nodebug\\. "),
    {error, {dtrace, _, _, _, Text2}} = compile([?ENTRY, ", ", Probe, Match], []),
    matches(Text2, "it is not defined in record_tests \\(there is no debug information of "
                   "record_nodebug\\)\\. "),
    code:purge(M), code:delete(M), code:purge(M).

%% What may be meant.
near_test() ->
    {error, {dtrace, _, _, _, Text}} =
        compile([?ENTRY, " /erlmatch(erlarg(0), \"#ordr{id = 1}\")/ { }"], []),
    matches(Text, "#ordr are not known: it is not defined in record_tests: did you mean #order\\? Name "),
    {error, {dtrace, _, _, _, Text2}} =
        compile("erlang*:::message-send { trace(erlfield(\"othr.a\", erlmsg)); }",
                [{headers, [{<<"x.hrl">>, <<"-record(other, {a}).">>}]}]),
    matches(Text2, "^erlfield\\(\"othr.a\"\\): the fields of the record #othr are not known: .*: did you "
                   "mean #other\\?").

%% A field that it does not have: the error names those that it has, and the function.
no_field_test() ->
    {error, {dtrace, <<"D_PATTERN">>, _, _, Text}} =
        compile([?ENTRY, " /erlmatch(erlarg(0), \"#order{itm = X}\")/ { }"], []),
    matches(Text, "at 'itm = X}': the record #order has no field itm: it has id, item, n, rest$"),
    {error, {dtrace, <<"D_PATTERN">>, _, _, Text2}} =
        compile([?ENTRY, " { trace(erlfield(\"order.itm\", erlarg(0))); }"], []),
    matches(Text2, "^erlfield\\(\"order.itm\"\\): the record #order has no field itm: it has id, item").

%% Of a large record the first ones.
no_field_of_many_test() ->
    {ok, H} = erltrace:open(),
    Fields = [list_to_atom("field" ++ integer_to_list(I)) || I <- lists:seq(1, 200)],
    ok = erltrace:set_record(H, wide, Fields),
    {error, {dtrace, _, _, _, Text}} =
        erltrace:compile(H, [?ENTRY, " /erlmatch(erlarg(0), \"#wide{x = 1}\")/ { }"]),
    matches(Text, "has no field x: it has field1, field2, .*\\.\\.$"),
    ok = erltrace:set_record(H, bare, []),
    {error, {dtrace, _, _, _, Text2}} =
        erltrace:compile(H, [?ENTRY, " { trace(erlfield(\"bare.x\", erlarg(0))); }"]),
    matches(Text2, "#bare has no field x, it has none$"),
    erltrace:close(H).

%% A clause that never fires makes the records of its module known.
named_module_test() ->
    ?assertEqual(ok, compile([?ENTRY, " /0/ { } erlang*:::message-send "
                              "/erlmatch(erlmsg, \"#order{n = N}\")/ { trace(this->N); }"], [])).

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
