%% SPDX-License-Identifier: Apache-2.0
%% Arguments at the return: what the call was made with, whatever the process did meanwhile.
-module(return_args_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2]).
-export([work/1, two/2, sum/2, last/1, first/1, fails/1]).

work(X) -> _ = lists:seq(1, 20000), erlang:garbage_collect(), {done, size_of(X)}.
two(A, B) -> work(A), work(B), ok.
sum(0, Acc) -> Acc;
sum(N, Acc) -> [N | sum(N - 1, [N | Acc])].
last(X) -> X.
first(X) -> last({X}).
fails(X) -> _ = work(X), error(X).

size_of(X) -> erts_debug:flat_size(X).

internals() -> application:get_env(erltrace, vm_internals, true).

return(F) -> ["erlang*:return_args_tests:", F, ":function-return"].
entry(F) -> ["erlang*:return_args_tests:", F, ":function-entry"].

keys(Name, Got) -> lists:sort([{Ks, V} || {{N, Ks}, V} <- maps:to_list(Got), N =:= Name]).

%% Without knowledge of the VM's internals no arguments are kept: told.
all_test_() ->
    case internals() of
        true -> [{"terms", fun terms/0}, {"parts", fun parts/0}, {"nested", fun nested/0},
                 {"tail", fun tail/0}, {"values", fun values/0}, {"exceptions", fun exceptions/0},
                 {"large", fun large/0}, {"cut_args_looked_at", fun cut_args_looked_at/0},
                 {"left_out_types", fun left_out_types/0},
                 {"maps_whole_or_not", fun maps_whole_or_not/0}];
        false -> [{"not_kept", fun not_kept/0}]
    end.

%% Terms of all kinds, as at the entry, though the heap has moved and binaries may be gone.
terms() ->
    Large = binary:copy(<<"x">>, 100),
    <<_:3, Odd:40/bits, _/bits>> = Large,
    Terms = [a, 1, -5, 1 bsl 70, 1.5, "text", [1, 2 | 3], {}, {a, {b}}, #{}, #{a => #{b => 1}}, <<>>,
             <<"bin">>, Large, Odd, self(), make_ref(), hd(erlang:ports()), [], [[]], {[], "x"}],
    Got = run([entry("work"), "{ @in[erlargs, erlarg(0), erlint(0)] = count(); }",
               return("work"), "{ @out[erlargs, erlarg(0), erlint(0)] = count(); }"],
              fun() -> [[work(T)] || T <- Terms] end),
    ?assertEqual(length(Terms), length(keys("in", Got))),
    ?assertEqual(keys("in", Got), keys("out", Got)).

%% They are terms: patterns and parts.
parts() ->
    Got = run([return("work"), "/erlmatch(erlarg(0), \"{order, Id, #{user := U}}\")/"
               "{ @[this->Id, this->U] = count(); }"],
              fun() -> [[work(T)] || T <- [{order, 7, #{user => zoe}}, {other, 8, x},
                                           {order, 9, #{user => max, vip => true}}]] end),
    ?assertEqual(lists:sort([{{"_", ["7", "zoe"]}, 1}, {{"_", ["9", "max"]}, 1}]),
                 lists:sort([{{N, [text(K) || K <- Ks]}, V} || {{N, Ks}, V} <- maps:to_list(Got)])).

text(N) when is_integer(N) -> integer_to_list(N);
text(T) -> T.

%% Of the function that returns, not of those that it has called; recursion.
nested() ->
    Got = run([return("two"), ",", return("work"), ",", return("sum"),
               "{ @[probefunc, erlargs] = count(); }"],
              fun() -> ok = two(one, {two}), [3, 2, 1 | _] = sum(3, []) end),
    ?assertEqual(lists:sort([{["two/2", "[one,{two}]"], 1}, {["work/1", "[one]"], 1},
                             {["work/1", "[{two}]"], 1}, {["sum/2", "[3,[]]"], 1},
                             {["sum/2", "[2,[3]]"], 1}, {["sum/2", "[1,[2,3]]"], 1},
                             {["sum/2", "[0,[1,2,3]]"], 1}]),
                 keys("_", Got)).

%% A chain of tail calls returns as its last function, with its arguments.
tail() ->
    Got = run([return("first"), ",", return("last"), "{ @[probefunc, erlargs] = count(); }"],
              fun() -> {x} = first(x), y = last(y) end),
    ?assertEqual([{["last/1", "[y]"], 1}, {["last/1", "[{x}]"], 1}], keys("_", Got)).

%% Together with what is returned.
values() ->
    Got = run([return("last"), "{ @[erlarg(0), erlret] = count(); }"],
              fun() -> [[last(X)] || X <- [a, {b}, a]] end),
    ?assertEqual([{["a", "a"], 2}, {["{b}", "{b}"], 1}], keys("_", Got)).

%% What an exception ends leaves nothing behind that another call would show.
exceptions() ->
    Got = run([return("fails"), ",", return("last"), "{ @[probefunc, erlargs] = count(); }"],
              fun() ->
                      [begin catch fails(X), [last({after_, X})] end || X <- lists:seq(1, 50)]
              end),
    ?assertEqual(50, map_size(Got)),
    [?assertEqual(1, maps:get({"_", ["last/1", lists:flatten(io_lib:format("[{after_,~b}]", [X]))]},
                              Got)) || X <- lists:seq(1, 50)].

%% Too large: what is left out is seen to be, and told; each argument has its share.
large() ->
    {ok, H} = erltrace:script([return("two"), "{ @[erlarg(1)] = count(); @a[erlarg(0)] = count(); }"]),
    Map = maps:from_list([{I, I} || I <- lists:seq(1, 100)]),
    ok = two(lists:duplicate(10000, x),
             {last, fun() -> ok end, Map, binary:copy(<<"y">>, 100000)}),
    Got = script_run:aggregations(H),
    {ok, #{no_args := 0, cut_args := 0}} = erltrace:status(H),
    ok = erltrace:close(H),
    [{[Second], 1}] = keys("_", Got),
    ?assertMatch({match, _}, re:run(Second, "^{last,{'...',<<\"#Fun<return_args_tests[^>]*>\">>},"
                                            "{'...',<<\"#{[^>]* => [^\"]*\">>},"
                                            "{'...',<<\"yyyyyyyy")),
    [{[First], 1}] = keys("a", Got),
    ?assertMatch("[x,x,x,x" ++ _, First).

%% Only what a clause asks about counts: parts that are whole are whole, though others are not.
cut_args_looked_at() ->
    Fun = fun() -> ok end,
    Large = lists:duplicate(10000, x),
    Arg = {order, 7, [a, b], Fun, #{k => v, Fun => w}, Large},
    [?assertEqual({Clause, Count}, {Clause, cut_args(Clause, Arg)}) || {Clause, Count} <-
        [%% in a text it can be seen
         {"{ trace(erlelement(2, erlarg(0))); }", 0},
         {"{ trace(erlelement(6, erlarg(0))); }", 0},
         {"{ trace(erlelement(4, erlarg(0))); }", 0},
         {"{ trace(erlargs); trace(erlargs); }", 0},
         {"{ @[erlret] = count(); }", 0},
         %% against a pattern, as far as that goes
         {"/erlmatch(erlarg(0), \"{order, Id, [A | _], _, #{k := v}, [x, x | _]}\")/ { trace(this->Id); }", 0},
         {"/erlmatch(erlarg(0), \"{other, _, _, {}, _, _}\")/ { }", 0},
         {"/erlmatch(erlarg(0), \"{order, _, _, {}, _, _}\")/ { }", 1},
         {"/erlmatch(erlarg(0), \"{order, _, _, F, _, _}\")/ { }", 0},
         {"/erlmatch(erlarg(0), \"{order, _, _, F, _, _}\")/ { trace(this->F); }", 0},
         {"/erlmatch(erlarg(0), \"{order, _, _, _, #{other := _}, _}\")/ { }", 1},
         {"/erlmatch(erlarg(0), \"{order, _, L, _, _, L}\")/ { }", 1},
         %% its parts, type, size; compared
         {"/erltype(erlelement(2, erlarg(0))) == \"integer\"/ { }", 0},
         {"/erltype(erlelement(4, erlarg(0))) == \"fun\"/ { }", 0},
         {"/erlsize(erlarg(0)) == 6/ { }", 0},
         {"/erlsize(erlelement(6, erlarg(0))) == 6/ { }", 1},
         {"/erlget(\"k\", erlelement(5, erlarg(0))) == \"v\"/ { }", 0},
         {"/erlget(\"z\", erlelement(5, erlarg(0))) == \"v\"/ { }", 1},
         {"/erlget(\"k\", erlelement(4, erlarg(0))) == \"v\"/ { }", 1},
         {"/erlhd(erlelement(6, erlarg(0))) == \"x\"/ { }", 0},
         {"/erltype(erlelement(1, erlelement(4, erlarg(0)))) == \"none\"/ { @none = count(); }", 1},
         {"/erlmatch(erlelement(4, erlarg(0)), \"{A, B}\")/ { @matches = count(); }", 1},
         {"/erlelement(4, erlarg(0)) == 1/ { }", 1},
         {"/erlelement(4, erlarg(0)) == \"x\"/ { }", 1},
         {"/erlelement(1, erlarg(0)) == erlelement(2, erlarg(0))/ { }", 0},
         {"/erlarg(0) == erlelement(2, erlarg(0))/ { }", 1}]].

%% What was left out has the type that it had, and no size.
left_out_types() ->
    Kinds = [{"map", maps:from_list([{I, I} || I <- lists:seq(1, 40)])}, {"binary", binary:copy(<<"a">>, 100000)},
             {"tuple", erlang:make_tuple(5000, a)}, {"integer", 1 bsl 100000}, {"fun", fun() -> ok end},
             {"bitstring", <<1:3>>}],
    [begin
         {ok, H} = erltrace:script([return("work"), "{ @[erltype(erlarg(0)), erltype(erlelement(2, erlarg(0)))] = count(); }",
                                    return("work"), "{ @size[erlsize(erlarg(0))] = count(); }",
                                    "ERROR /arg4 == 14 && arg5 == 3/ { @none = count(); }"]),
         _ = work(T),
         Got = script_run:aggregations(H),
         ok = erltrace:close(H),
         ?assertEqual({Type, [{[Type, "none"], 1}]}, {Type, keys("_", Got)}),
         ?assertEqual({Type, [], [{[], 1}]}, {Type, keys("size", Got), keys("none", Got)})
     end || {Type, T} <- Kinds].

cut_args(Clause, Arg) ->
    {ok, H} = erltrace:script([return("work"), Clause]),
    {done, _} = work(Arg),
    {ok, #{fired := 1, no_args := 0, cut_args := Cut}} = erltrace:status(H),
    ?assertNot(maps:is_key({"matches", []}, script_run:aggregations(H))),
    ok = erltrace:close(H),
    Cut.

%% A map at the end of the room, or as deep as copies go, is kept with all its keys or not at all.
maps_whole_or_not() ->
    Map = maps:from_list([{I, {I}} || I <- lists:seq(1, 20)]),
    Terms = [nested(Map, N) || N <- lists:seq(25, 40)]
        ++ [[lists:seq(1, N), Map, Map, Map] || N <- lists:seq(0, 500, 7)],
    Got = run(["#pragma D option strsize=16k\n#pragma D option aggsize=64m\n",
               return("work"), "{ @[erlarg(0)] = count(); }"],
              fun() -> [[work(T)] || T <- Terms] end),
    Texts = [Text || {[Text], 1} <- keys("_", Got)],
    ?assertEqual(length(Terms), length(Texts)),
    [?assertEqual([], lists:usort(keys_of(parsed(Text))) -- [lists:seq(1, 20)]) || Text <- Texts].

nested(T, 0) -> T;
nested(T, N) -> {nested(T, N - 1)}.

parsed(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text ++ "."),
    {ok, Term} = erl_parse:parse_term(Tokens),
    Term.

%% Of all maps in it.
keys_of(M) when is_map(M) -> [lists:sort(maps:keys(M)) | keys_of(maps:values(M))];
keys_of(T) when is_tuple(T) -> keys_of(tuple_to_list(T));
keys_of([H | T]) -> keys_of(H) ++ keys_of(T);
keys_of(_) -> [].

not_kept() ->
    {ok, H} = erltrace:script([return("last"), "{ @[erlargs] = count(); }"]),
    1 = last(1),
    ?assertEqual([{[""], 1}], keys("_", script_run:aggregations(H))),
    {ok, #{no_args := 1}} = erltrace:status(H),
    erltrace:close(H).
