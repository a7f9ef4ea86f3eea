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
                 {"large", fun large/0}];
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
    {ok, #{no_args := 0, cut_args := 1}} = erltrace:status(H),
    ok = erltrace:close(H),
    [{[Second], 1}] = keys("_", Got),
    ?assertMatch({match, _}, re:run(Second, "^{last,{'...',<<\"#Fun<return_args_tests[^>]*>\">>},"
                                            "{'...',<<\"#{[^>]* => [^\"]*\">>},"
                                            "{'...',<<\"yyyyyyyy")),
    [{[First], 1}] = keys("a", Got),
    ?assertMatch("[x,x,x,x" ++ _, First).

not_kept() ->
    {ok, H} = erltrace:script([return("last"), "{ @[erlargs] = count(); }"]),
    1 = last(1),
    ?assertEqual([{[""], 1}], keys("_", script_run:aggregations(H))),
    {ok, #{no_args := 1}} = erltrace:status(H),
    erltrace:close(H).
