%% SPDX-License-Identifier: Apache-2.0
%% Terms as values of D: what scripts find in the terms of events, by exact counts. All the rules of
%% the language are in test/golden and test/c/term_test.c, those of patterns in prop_match.
-module(term_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2, in_process/1, quoted/1]).
-export([take/1, pair/2, give/1, append/2]).

%% ---- what is traced --------------------------------------------------------------------------

take(X) -> {took, X}.
pair(A, B) -> [A, B].
give(X) -> X.
append(Start, End) -> <<Start/binary, End/binary>>.

entry(F) -> ["erlang*:term_tests:", F, ":function-entry"].
return(F) -> ["erlang*:term_tests:", F, ":function-return"].

%% Clauses at take/1 for each of these terms.
taken(Clauses, Terms) ->
    run([[entry("take"), C] || C <- Clauses], fun() -> [take(T) || T <- Terms] end).

%% Counts by name: those that are not there are 0.
counts(Names, Got) -> [maps:get({N, []}, Got, 0) || N <- Names].
keys(Name, Got) -> lists:sort([{Ks, V} || {{N, Ks}, V} <- maps:to_list(Got), N =:= Name]).

%% ---- comparing -------------------------------------------------------------------------------

numbers_test() ->
    Got = taken([["/erlarg(0) ", Op, " 5/ { @", N, " = count(); }"] ||
                    {N, Op} <- [{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"},
                                {"ge", ">="}]],
                [1, 5, 7, -3, 5.0, 4.5, 1 bsl 70, -(1 bsl 70), a, "5", <<"5">>, {5}, [], #{}]),
    ?assertEqual([2, 12, 4, 6, 2, 4], counts(["eq", "ne", "lt", "le", "gt", "ge"], Got)).

huge_numbers_test() ->
    Got = taken(["/erlarg(0) == 0xffffffffffffffff/ { @eq = count(); }",
                 "/erlarg(0) > 0x8000000000000000/ { @gt = count(); }"],
                [1 bsl 64 - 1, 1 bsl 63, 1 bsl 64, 1.0e19, -1, 5, a]),
    ?assertEqual([1, 3], counts(["eq", "gt"], Got)).

%% What an earlier event has bound is not there at this one.
earlier_match_test() ->
    Got = taken(["{ this->m = erlmatch(erlarg(0), \"{b, X}\"); @[this->m, this->X == \"\"] = count(); }"],
                [{a, 1}, {b, 2}, {a, foo}, {b, 3}, {a, 1}]),
    ?assertEqual([{["0", "1"], 3}, {["1", "0"], 2}], [{[text(K) || K <- Ks], V} || {Ks, V} <- keys("_", Got)]).

text(K) when is_integer(K) -> integer_to_list(K);
text(K) -> K.

as_numbers_test() ->
    Got = taken(["{ @s = sum(erlarg(0)); @t = sum(erlarg(0) * 10); @k[(int)erlarg(0)] = count(); }",
                 "{ this->n = (int64_t)erlarg(0); @u = max(this->n); }"], [1, 2, 2, 3.9, -7]),
    ?assertEqual([1, 10, 3], counts(["s", "t", "u"], Got)),
    ?assertEqual([{[-7], 1}, {[1], 1}, {[2], 2}, {[3], 1}], keys("k", Got)).

%% == is for all that has these characters, a pattern for one of them.
text_or_pattern_test() ->
    Got = taken(["/erlarg(0) == \"en\"/ { @text[erltype(erlarg(0))] = count(); }",
                 "/erlmatch(erlarg(0), \"en\")/ { @atom[erltype(erlarg(0))] = count(); }",
                 "/erlmatch(erlarg(0), \"<<\\\"en\\\">>\")/ { @bin[erltype(erlarg(0))] = count(); }",
                 "/erlmatch(erlarg(0), \"\\\"en\\\"\")/ { @list[erltype(erlarg(0))] = count(); }"],
                [en, <<"en">>, "en", {en}]),
    ?assertEqual([{["atom"], 1}, {["binary"], 1}, {["list"], 1}], keys("text", Got)),
    ?assertEqual([{["atom"], 1}], keys("atom", Got)),
    ?assertEqual([{["binary"], 1}], keys("bin", Got)),
    ?assertEqual([{["list"], 1}], keys("list", Got)).

%% The kind of a message as key: its first element, or itself.
kinds_test() ->
    Got = taken(["{ @k[erltype(erlarg(0)) == \"tuple\" ? erlelement(1, erlarg(0)) : erlarg(0)] "
                 "= count(); }"], [{get, 1}, {get, 2}, stop, {put, a, b}, get, 7]),
    ?assertEqual([{["7"], 1}, {["get"], 3}, {["put"], 1}, {["stop"], 1}], keys("k", Got)).

%% What the copy of the arguments at a return has cut is there at the entry.
kept_until_return_test() ->
    Got = run([entry("give"), "/erlmatch(erlarg(0), \"{get, _, Id}\")/ { self->id = this->Id; }",
               return("give"), "/self->id != \"\"/ { @r[self->id] = count(); self->id = 0; }"],
              fun() -> [give({get, lists:duplicate(10000, I), {id, I}}) || I <- [1, 2, 2]] end),
    ?assertEqual([{["{id,1}"], 1}, {["{id,2}"], 2}], keys("r", Got)).

texts_test() ->
    Terms = [gold, "gold", <<"gold">>, [<<"go">>, $l, "d"], 'Gold', {gold}, <<"zoë"/utf8>>, "", []],
    Got = taken(["/erlarg(0) == \"gold\"/ { @gold = count(); }",
                 "/erlarg(0) != \"gold\"/ { @other = count(); }",
                 "/erlarg(0) == \"{gold}\"/ { @tuple = count(); }",
                 <<"/erlarg(0) == \"zoë\"/ { @zoe = count(); }"/utf8>>,
                 "/erlarg(0) == \"\"/ { @empty = count(); }",
                 "/\"'Gold'\" == erlarg(0) || erlarg(0) == \"Gold\"/ { @quoted = count(); }"],
                Terms),
    ?assertEqual([4, 5, 1, 1, 2, 1],
                 counts(["gold", "other", "tuple", "zoe", "empty", "quoted"], Got)).

%% Two keys that are missing are not the same value; so it is where there is no VM (op/term.t).
nothing_is_not_nothing_test() ->
    Got = taken(["/erlget(\"a\", erlarg(0)) == erlget(\"b\", erlarg(0))/ { @same = count(); }",
                 "/erlget(\"a\", erlarg(0)) != erlget(\"b\", erlarg(0))/ { @other = count(); }"],
                [#{}, x, #{a => 1}, #{a => 1, b => 1}]),
    ?assertEqual([1, 3], counts(["same", "other"], Got)).

terms_test() ->
    Self = self(),
    Got = run([entry("pair"), "/erlarg(0) == erlarg(1)/ { @same = count(); }",
               entry("pair"), "/erlarg(0) != erlarg(1)/ { @other = count(); }",
               return("pair"), "/erlhd(erlret) == erlhd(erltl(erlret))/ { @result = count(); }"],
              fun() ->
                      [pair(A, B) || {A, B} <- [{1, 1}, {1, 1.0}, {a, a}, {a, "a"}, {Self, Self},
                                                {#{k => [1]}, #{k => [1]}}, {<<1>>, <<1>>}]]
              end),
    ?assertEqual([5, 2, 5], counts(["same", "other", "result"], Got)).

%% ---- looking into ----------------------------------------------------------------------------

parts_test() ->
    Order = {order, 7, <<"tea">>},
    Got = taken(["/erlelement(1, erlarg(0)) == \"order\"/"
                 " { @element[erlelement(2, erlarg(0)), erltext(erlelement(3, erlarg(0)))] = count(); }",
                 "/erltype(erlelement(4, erlarg(0))) == \"none\"/ { @none = count(); }",
                 "/erlhd(erlarg(0)) == 1/ { @hd[erltl(erlarg(0))] = count(); }",
                 "{ @type[erltype(erlarg(0))] = count(); }"],
                [Order, Order, [1, 2, 3], [1 | x], [], {}, #{}, <<>>, 1.5, 1, self(), make_ref(),
                 fun take/1]),
    ?assertEqual([{["7", "tea"], 2}], keys("element", Got)),
    ?assertEqual([13], counts(["none"], Got)),
    ?assertEqual([{["[2,3]"], 1}, {["x"], 1}], keys("hd", Got)),
    ?assertEqual(lists:sort([{["tuple"], 3}, {["list"], 3}, {["map"], 1}, {["binary"], 1},
                             {["float"], 1}, {["integer"], 1}, {["pid"], 1}, {["reference"], 1},
                             {["fun"], 1}]),
                 keys("type", Got)).

maps_test() ->
    Big = maps:from_list([{{user, I}, I} || I <- lists:seq(1, 100)]),
    Got = taken(["/erlget(\"plan\", erlarg(0)) == \"gold\"/ { @plan = count(); }",
                 "/erlget(\"id\", erlget(\"user\", erlarg(0))) == 7/ { @deep = count(); }",
                 "/erlget(1, erlarg(0)) == \"one\"/ { @number = count(); }",
                 "/erlget(\"<<\\\"plan\\\">>\", erlarg(0)) == \"x\"/ { @binary = count(); }",
                 "/erlget(\"{user,33}\", erlarg(0)) == 33/ { @large = count(); }"],
                [#{plan => gold}, #{plan => <<"gold">>}, #{plan => silver}, #{}, a,
                 #{user => #{id => 7}}, #{user => 7}, #{1 => one}, #{1.0 => one},
                 #{<<"plan">> => x}, Big]),
    ?assertEqual([2, 1, 1, 1, 1], counts(["plan", "deep", "number", "binary", "large"], Got)).

sizes_test() ->
    Got = taken(["/erltype(erlarg(0)) != \"integer\"/ { @[erlsize(erlarg(0))] = count(); }"],
                [{a, b}, [1, 2, 3], <<"tea">>, #{a => 1}, 5]),
    ?assertEqual([{[1], 1}, {[2], 1}, {[3], 2}], keys("_", Got)).

%% A float loses its fraction where it becomes a number; erlscaled() keeps as much as is wanted.
scaled_test() ->
    Got = taken(["/erltype(erlarg(0)) == \"float\"/ { @cut = sum(erlarg(0) * 10); }",
                 "/erltype(erlarg(0)) == \"float\" && erlscaled(erlarg(0), 10) > 75/ { @above = count(); }",
                 "{ @[erlscaled(erlarg(0), 100)] = count(); }"],
                [7.5, 7.6, 0.29, -0.29, 0.005, -0.005, 3, 1.0e300, 1 bsl 62, a]),
    ?assertEqual([140, 1], counts(["cut", "above"], Got)),
    ?assertEqual([{[N], C} || {N, C} <- [{-29, 1}, {-1, 1}, {1, 1}, {29, 1}, {300, 1}, {750, 1}, {760, 1}]],
                 keys("_", Got)).

%% ---- patterns --------------------------------------------------------------------------------

match_test() ->
    Self = self(),
    Calls = [{'$gen_call', {Self, make_ref()}, {reserve, Item, N}} ||
                {Item, N} <- [{<<"tea">>, 1}, {<<"tea">>, 4}, {<<"rum">>, 2}]],
    Got = run(["erlang*:::message-send /erlpid == ", quoted(Self),
               " && erlmatch(erlmsg, \"{'$gen_call', _, {reserve, Item, N}}\") && this->N > 1/",
               " { @n[erltext(this->Item)] = sum(this->N); }"],
              fun() -> [Self ! M || M <- [{'$gen_cast', x}, hello | Calls]] end),
    [receive M -> ok end || M <- [{'$gen_cast', x}, hello | Calls]],
    ?assertEqual([{["rum"], 2}, {["tea"], 4}], keys("n", Got)).

match_kinds_test() ->
    Got = taken(["/erlmatch(erlarg(0), \"#{plan := gold, user := #{id := Id}}\")/"
                 " { @map[this->Id] = count(); }",
                 "/erlmatch(erlarg(0), \"[H | _]\")/ { @head[this->H] = count(); }",
                 "/erlmatch(erlarg(0), \"<<\\\"GET \\\", Path/binary>>\")/"
                 " { @path[erltext(this->Path)] = count(); }",
                 "/erlmatch(erlarg(0), \"{X, X}\")/ { @twice[this->X] = count(); }"],
                [#{plan => gold, user => #{id => 7, name => x}, more => 1}, #{plan => gold},
                 [a, b], "", <<"GET /index">>, <<"PUT /index">>, {1, 1}, {1, 2}, {1, 1, 1}]),
    ?assertEqual([{["7"], 1}], keys("map", Got)),
    ?assertEqual([{["a"], 1}], keys("head", Got)),
    ?assertEqual([{["/index"], 1}], keys("path", Got)),
    ?assertEqual([{["1"], 1}], keys("twice", Got)).

%% All arguments are a list.
arguments_test() ->
    Got = run([entry("pair"), "/erlmatch(erlargs, \"[{A, _}, A]\")/ { @[this->A] = count(); }"],
              fun() -> [pair({I, x}, I rem 3) || I <- lists:seq(0, 5)] end),
    ?assertEqual([{["0"], 1}, {["1"], 1}, {["2"], 1}], keys("_", Got)).

%% A variable that the script has declared is what it was declared as.
declared_test() ->
    {ok, H} = erltrace:script(["this string Item; this int N;", entry("take"),
                               "/erlmatch(erlarg(0), \"{Item, N}\")/ { @[this->Item] = sum(this->N * 2); }"]),
    [take(T) || T <- [{tea, 1}, {tea, 2}, {<<"rum">>, 5}, 7]],
    ?assertEqual([{["<<\"rum\">>"], 10}, {["tea"], 6}], keys("_", script_run:aggregations(H))),
    erltrace:close(H).

%% ---- what is kept, and what is not -----------------------------------------------------------

%% self-> and global variables keep the text; the term of another event is never seen.
kept_test() ->
    Got = run([entry("pair"), "{ self->first = erlarg(0); this->first = erlarg(0); last = erlarg(1); }",
               entry("take"), "{ @text[self->first, last] = count(); @type[erltype(this->first)] = count(); }"],
              fun() -> in_process(fun() -> pair({a, 1}, <<"b">>), take(x) end) end),
    ?assertEqual([{["{a,1}", "<<\"b\">>"], 1}], keys("text", Got)),
    ?assertEqual([{["none"], 1}], keys("type", Got)).

%% Clauses at the same event share this->.
clauses_test() ->
    Got = taken(["{ this->t = erlarg(0); }",
                 "/erlmatch(this->t, \"{order, Id}\")/ { @[this->Id] = count(); }"],
                [{order, 7}, {order, 7}, {other, 7}]),
    ?assertEqual([{["7"], 2}], keys("_", Got)).

reason_test() ->
    Got = run("erlang*:::process-exit /erlmatch(erlreason, \"{term_tests, Why}\")/"
              " { @[this->Why] = count(); }",
              fun() -> [in_process(fun() -> exit(R) end) ||
                           R <- [{term_tests, full}, normal, {term_tests, full}, {other, full}]] end),
    ?assertEqual([{["full"], 2}], keys("_", Got)).

%% What is not a number or not there is a fault of the clause, which ERROR sees.
faults_test() ->
    Got = run([entry("take"), "{ @n = sum(erlarg(0)); }",
               entry("take"), "{ @t[erlget(\"k\", erlarg(0))] = count(); }",
               "ERROR { @f[arg4, arg5] = count(); }"],
              fun() -> [take(T) || T <- [1, a, #{k => v}]] end),
    ?assertEqual([{["v"], 1}], keys("t", Got)),
    ?assertEqual([{[14, 1], 2}, {[14, 2], 2}], keys("f", Got)).

%% Only what is read is armed.
arming_test() ->
    {ok, H} = erltrace:script([return("give"), "/erlret == 5/ { @ = count(); }"]),
    [give(X) || X <- [5, 6, 5]],
    ?assertEqual([2], counts(["_"], script_run:aggregations(H))),
    erltrace:close(H).

%% ---- bugs ------------------------------------------------------------------------------------

%% The text of an atom with characters of four bytes, or of more bytes than are kept of names, is
%% whole, and if it is truncated, then at a whole character.
long_atoms_test() ->
    Emoji = list_to_atom("a" ++ lists:duplicate(12, 16#1F600)),
    Long = list_to_atom(lists:duplicate(150, 16#e9)),
    Got = taken(["{ this->t = erlarg(0); @n[strlen(this->t)] = count(); }"], [Emoji, Long]),
    ?assertEqual([{[51], 1}, {[255], 1}], keys("n", Got)).

%% From OTP 27 on a binary that was appended to has moved when it is appended to again: its bytes were
%% read where they had been.
appended_binaries_test() ->
    More = binary:copy(<<"c">>, 100000),
    Starts = [?MODULE:append(binary:copy(<<"a">>, N), <<0>>) || N <- lists:seq(50, 150)],
    Whole = [?MODULE:append(?MODULE:append(S, More), More) || S <- Starts],
    Others = [binary:copy(<<"z">>, 256 + N) || N <- lists:seq(1, 1000)], % where they had been
    Printed = [element(1, erltrace_nif:print(S, 4096, false)) || S <- Starts],
    Bytes = lists:join($,, lists:duplicate(50, "97")),
    ?assertEqual(iolist_to_binary(["<<", Bytes, ",0>>"]), hd(Printed)),
    ?assertEqual([iolist_to_binary(io_lib:format("~w", [S])) || S <- Starts], Printed),
    ?assertEqual({101, 1000}, {length(Whole), length(Others)}).
