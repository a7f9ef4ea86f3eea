%% SPDX-License-Identifier: Apache-2.0
%% A call that an exception ends does not return: function-return fires for none of them, but
%% function-exception does, and what comes afterwards is as deep as it is. Each way is run many times;
%% all numbers are exact.
-module(exception_tests).
-include_lib("eunit/include/eunit.hrl").
-export([leaf/1, mid/1, outer/1, tail1/1, tail2/1, rec/2, again/2, aft/1, own/1, ret/1, loop/2,
         sleeper/1]).

-define(TIMES, 100).

%% ---- what is traced --------------------------------------------------------------------------

leaf(throw) -> throw(leaf);
leaf(error) -> error(leaf);
leaf(exit) -> exit(leaf);
leaf(raise) -> erlang:raise(throw, leaf, []);
leaf(badmatch) -> ok = id(leaf);
leaf(bif) -> list_to_tuple(id(leaf));
leaf(nif) -> prim_buffer:size(id(leaf));
leaf(untraced) -> 1 + fail(10);
leaf(gc) ->
    erlang:garbage_collect(),
    throw({leaf, lists:seq(1, 100)});
leaf(ok) -> ok.

mid(Why) -> {mid, leaf(Why)}.

outer(Why) ->
    try {outer, mid(Why)}
    catch _:_ -> id(caught)
    end.

tail1(Why) -> tail2(Why).
tail2(Why) -> leaf(Why).

rec(0, Why) -> leaf(Why);
rec(N, Why) -> [rec(N - 1, Why)].

%% Caught and raised again, in each of its calls.
again(0, Why) -> leaf(Why);
again(N, Why) ->
    try [again(N - 1, Why)]
    catch C:R:S -> erlang:raise(C, R, S)
    end.

aft(Why) ->
    try leaf(Why)
    after ok = ret(1)
    end.

%% It catches what its own, untraced calls raise, and goes on.
own(Why) ->
    caught = try u(fun() -> leaf(Why) end) catch _:_ -> caught end,
    caught = try fail(3) catch _:_ -> caught end,
    ok = gap(fun() -> id(ret(1)) end),
    own.

ret(_) -> ok.

%% ---- what is not -----------------------------------------------------------------------------

id(X) -> X.

u(Fun) -> id(Fun()).

fail(0) -> error(fail);
fail(N) -> [fail(N - 1)].

%% So many words more lie on the stack.
gap(Fun) -> gap(3, Fun).
gap(0, Fun) -> id(Fun());
gap(N, Fun) ->
    A = id(N), B = id(N), C = id(N),
    R = gap(N - 1, Fun),
    _ = {id(A), id(B), id(C)},
    R.

%% A call whose frame is the smallest there is, one word deeper each time.
step(0, Fun) -> id(Fun());
step(N, Fun) ->
    R = step(N - 1, Fun),
    id(R).

%% ---- the ways --------------------------------------------------------------------------------

whys() -> [throw, error, exit, raise, badmatch, bif, nif, untraced, gc].

%% What is done, and the events of it: an entry with its depth, that of a tail call, a return.
ways() ->
    lists:append([ways(Why) || Why <- whys()]) ++ returns().

returns() ->
    [{fun() -> {outer, {mid, ok}} = outer(ok) end,
      [{e, outer, 1}, {e, mid, 2}, {e, leaf, 3}, {r, leaf, 3}, {r, mid, 2}, {r, outer, 1}]},
     {fun() -> ok = id(tail1(ok)) end,
      [{e, tail1, 1}, {t, tail2, 1}, {t, leaf, 1}, {r, leaf, 1}]},
     {fun() -> ok = aft(ok) end,
      [{e, aft, 1}, {e, leaf, 2}, {r, leaf, 2}, {e, ret, 2}, {r, ret, 2}, {r, aft, 1}]}].

ways(Why) ->
    Caught = fun(F) -> caught = try id(F()) catch _:_ -> caught end end,
    [%% caught by the caller
     {fun() -> caught = try leaf(Why) catch _:_ -> caught end, ok = id(ret(1)) end,
      [{e, leaf, 1}, {e, ret, 1}, {r, ret, 1}]},
     {fun() -> _ = id(catch leaf(Why)) end, [{e, leaf, 1}]},
     {fun() -> caught = try id(tail1(Why)) catch _:_ -> caught end end,
      [{e, tail1, 1}, {t, tail2, 1}, {t, leaf, 1}]},
     {fun() -> caught = try id(rec(5, Why)) catch _:_ -> caught end end,
      [{e, rec, D} || D <- lists:seq(1, 6)] ++ [{t, leaf, 6}]},
     %% further out, and what comes then is deeper, or hardly
     {fun() -> Caught(fun() -> u(fun() -> id(leaf(Why)) end) end),
               ok = gap(fun() -> id(ret(1)) end)
      end, [{e, leaf, 1}, {e, ret, 1}, {r, ret, 1}]}] ++
    [{fun() -> Caught(fun() -> step(5, fun() -> id(mid(Why)) end) end),
               ok = step(N, fun() -> id(outer(ok)), ok end)
      end, [{e, mid, 1}, {e, leaf, 2}, {e, outer, 1}, {e, mid, 2}, {e, leaf, 3}, {r, leaf, 3},
            {r, mid, 2}, {r, outer, 1}]} || N <- lists:seq(0, 12)] ++
    [{fun() -> Caught(fun() -> step(5, fun() -> tail1(Why) end) end),
               ok = step(N, fun() -> tail1(ok) end)
      end, [{e, tail1, 1}, {t, tail2, 1}, {t, leaf, 1}, {e, tail1, 1}, {t, tail2, 1},
            {t, leaf, 1}, {r, leaf, 1}]} || N <- lists:seq(0, 12)] ++
    [%% by a traced one
     {fun() -> caught = outer(Why), ok = id(ret(1)) end,
      [{e, outer, 1}, {e, mid, 2}, {e, leaf, 3}, {r, outer, 1}, {e, ret, 1}, {r, ret, 1}]},
     {fun() -> own = id(own(Why)) end,
      [{e, own, 1}, {e, leaf, 2}, {e, ret, 2}, {r, ret, 2}, {r, own, 1}]},
     {fun() -> Caught(fun() -> again(4, Why) end) end,
      [{e, again, D} || D <- lists:seq(1, 5)] ++ [{t, leaf, 5}]},
     {fun() -> Caught(fun() -> u(fun() -> id(aft(Why)) end) end) end,
      [{e, aft, 1}, {e, leaf, 2}, {e, ret, 2}, {r, ret, 2}]}].

%% A function that calls itself in the end, where each round catches.
loop(0, _) -> ok;
loop(N, Why) ->
    caught = outer(Why),
    loop(N - 1, Why).

%% With an end for each entry that is no tail call: what does not return is ended by an exception.
with_exceptions(Events) -> ends(Events, []).

ends([{r, F, D} = E | Rest], [{F, D} | In]) -> [E | ends(Rest, In)];
ends([{e, F, D} = E | Rest], In) when length(In) =:= D - 1 -> [E | ends(Rest, [{F, D} | In])];
ends([{t, F, D} = E | Rest], [{_, D} | In]) -> [E | ends(Rest, [{F, D} | In])];
ends(Events, [{F, D} | In]) -> [{x, F, D} | ends(Events, In)];
ends([], []) -> [].

sum(Events) ->
    lists:foldl(fun(E, M) -> maps:update_with(E, fun(N) -> N + 1 end, 1, M) end, #{}, Events).

all_events() -> all_events(fun(Events) -> Events end).

all_events(With) ->
    Loop = [{e, loop, 1}] ++
        lists:append(lists:duplicate(?TIMES, [{e, outer, 2}, {e, mid, 3}, {e, leaf, 4},
                                              {r, outer, 2}, {t, loop, 1}])) ++ [{r, loop, 1}],
    maps:fold(fun(K, V, M) -> maps:update_with(K, fun(N) -> N + V end, V, M) end,
              maps:map(fun(_, N) -> N * ?TIMES end,
                       sum(lists:append([With(E) || {_, E} <- ways()]))),
              sum(With(Loop))).

all_calls() ->
    Ways = [F || {F, _} <- ways()],
    [[F() || F <- Ways] || _ <- lists:seq(1, ?TIMES)],
    ok = id(loop(?TIMES, throw)).

%% ---- the tests -------------------------------------------------------------------------------

fns() -> [leaf, mid, outer, tail1, tail2, rec, again, aft, own, ret, loop].

probes(Name, Fns) ->
    lists:join(",", [["erlang*:exception_tests:", atom_to_list(F), ":", Name] || F <- Fns]).

script() ->
    [probes("function-entry", fns()),
     "{ @[arg3 ? \"t\" : \"e\", copyinstr(arg1), arg2] = count(); }",
     probes("function-return", fns()), "{ @[\"r\", copyinstr(arg1), arg2] = count(); }"].

script(exceptions) -> script(fns());
script(Fns) ->
    [script(), probes("function-exception", Fns), "{ @[\"x\", copyinstr(arg1), arg2] = count(); }"].

name(Mfa) ->
    [_, F, _] = string:lexemes(Mfa, ":/"),
    binary_to_atom(F).

events(H) ->
    {ok, #{lost := 0, returns_by := stack}} = erltrace:status(H),
    {ok, Aggs} = erltrace:aggregations(H),
    maps:from_list([{{binary_to_atom(E), name(F), D}, N} || {_, count, [E, F, D], N} <- Aggs]).

run(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, Why} -> normal = Why end.

same(Want, Got) ->
    ?assertEqual([], lists:sort(maps:to_list(Want) -- maps:to_list(Got))),
    ?assertEqual([], lists:sort(maps:to_list(Got) -- maps:to_list(Want))).

return_after_exceptions_test_() ->
    {timeout, 120, fun() ->
        {ok, H} = erltrace:script(script()),
        run(fun all_calls/0),
        Got = events(H),
        ok = erltrace:close(H),
        same(all_events(), Got)
    end}.

%% Of all functions, each entry has its return or its exception, but for tail calls.
exceptions_test_() ->
    {timeout, 120, fun() ->
        {ok, H} = erltrace:script(script(exceptions)),
        run(fun all_calls/0),
        Got = events(H),
        ok = erltrace:close(H),
        same(all_events(fun with_exceptions/1), Got),
        ends_of_all(Got)
    end}.

ends_of_all(Got) ->
    All = fun(E) -> lists:sum([N || {{E1, _, _}, N} <- maps:to_list(Got), E1 =:= E]) end,
    ?assertEqual(All(e), All(r) + All(x)).

sessions() -> list_to_integer(erlang:system_info(otp_release)) >= 27.

%% Of some of them: the others are as without.
exceptions_of_some_test_() ->
    [{timeout, 120, fun() ->
        {ok, H} = erltrace:script(script(Fns)),
        run(fun all_calls/0),
        Got = events(H),
        ok = erltrace:close(H),
        Want = maps:filter(fun({x, F, _}, _) -> lists:member(F, Fns); (_, _) -> true end,
                           all_events(fun with_exceptions/1)),
        same(Want, Got)
     end} || Fns <- [[leaf], [tail1], [tail2], [tail1, leaf], [mid, rec, again], [outer, own, loop],
                     fns() -- [leaf]]].

%% Each way by itself, with exceptions.
exception_ways_test_() ->
    {timeout, 240, fun() ->
        [begin
             {ok, H} = erltrace:script(script(exceptions)),
             run(fun() -> [F() || _ <- [1, 2, 3]] end),
             Got = events(H),
             ok = erltrace:close(H),
             ?assertEqual({N, maps:map(fun(_, V) -> 3 * V end, sum(with_exceptions(Events)))},
                          {N, Got})
         end || Ways <- [ways(throw) ++ ways(bif) ++ returns()],
                {N, {F, Events}} <- lists:zip(lists:seq(1, length(Ways)), Ways)]
    end}.

%% Two of them, and one that traces others, whose frames come between.
exceptions_at_once_test_() ->
    {timeout, 240, fun() ->
        Got = at_once(script(exceptions), "function-exception"),
        [ends_of_all(G) || G <- Got],
        %% from OTP 27 on each function of a chain of tail calls ends by itself then
        [same(all_events(fun with_exceptions/1), G) || not sessions(), G <- Got]
    end}.

%% Each has all of it, beside one that traces others, whose frames come between.
scripts_at_once_test_() ->
    {timeout, 240, fun() ->
        [same(all_events(), G) || G <- at_once(script(), "function-entry")]
    end}.

%% The events of two such scripts, beside one that traces others.
at_once(Script, OfU) ->
    Hs = [begin {ok, H} = erltrace:script(Script), H end || _ <- [1, 2]],
    {ok, Other} = erltrace:script(["erlang*:exception_tests:u:", OfU, ","
                                   "erlang*:exception_tests:step:function-entry,"
                                   "erlang*:exception_tests:id:function-return"
                                   "{ @[probename, probefunc] = count(); }"]),
    run(fun all_calls/0),
    Got = [events(H) || H <- Hs],
    [ok = erltrace:close(H) || H <- [Other | Hs]],
    Got.

%% Each way by itself, so that nothing makes up for what another one has left.
ways_test_() ->
    {timeout, 240, fun() ->
        [begin
             {ok, H} = erltrace:script(script()),
             run(fun() -> [F() || _ <- [1, 2, 3]] end),
             Got = events(H),
             ok = erltrace:close(H),
             ?assertEqual({N, maps:map(fun(_, V) -> 3 * V end, sum(Events))}, {N, Got})
         end || Ways <- [ways(throw) ++ ways(bif) ++ returns()],
                {N, {F, Events}} <- lists:zip(lists:seq(1, length(Ways)), Ways)]
    end}.

%% Where what is returned is read, the VM tells of each end itself.
values_test() ->
    {ok, H} = erltrace:script("erlang*:exception_tests:leaf:function-entry"
                              "{ @[\"entry\"] = count(); }"
                              "erlang*:exception_tests:leaf:function-return"
                              "{ @[erlret] = count(); }"),
    run(fun() -> [begin _ = id(catch leaf(Why)), ok = id(leaf(ok)) end || Why <- whys()] end),
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual([{<<"entry">>, 2 * length(whys())}, {<<"ok">>, length(whys())}],
                 lists:sort([{K, N} || {_, count, [K], N} <- Aggs])).

%% BIFs and NIFs that fail.
bifs_and_nifs_test() ->
    {ok, H} = erltrace:script("erlang*:erlang:list_to_tuple/1:bif-entry,"
                              "erlang*:erlang:list_to_tuple/1:bif-return,"
                              "erlang*:prim_buffer:size/1:nif-entry,"
                              "erlang*:prim_buffer:size/1:nif-return"
                              "{ @[probename] = count(); }"),
    B = prim_buffer:new(),
    run(fun() ->
                [begin
                     {'EXIT', _} = (catch list_to_tuple(id(x))),
                     {} = list_to_tuple(id([])),
                     {'EXIT', _} = (catch prim_buffer:size(id(x))),
                     {'EXIT', _} = (catch u(fun() -> id(list_to_tuple(id(x))) end))
                 end || _ <- lists:seq(1, 1000)]
        end),
    [{'EXIT', _} = (catch prim_buffer:size(id(x))) || _ <- lists:seq(1, 10)],
    [0 = prim_buffer:size(B) || _ <- lists:seq(1, 10)],
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual([{<<"bif-entry">>, 3000}, {<<"bif-return">>, 1000}, {<<"nif-entry">>, 1020},
                  {<<"nif-return">>, 10}],
                 lists:sort([{K, N} || {_, count, [K], N} <- Aggs])).

%% The times of the last call, and not since one that an exception has ended.
time_by_self_test() ->
    {ok, H} = erltrace:script("erlang*:exception_tests:leaf:function-entry /!arg3/"
                              "{ self->n[arg2]++; }"
                              "erlang*:exception_tests:leaf:function-return"
                              "{ @[self->n[arg2]] = count(); self->n[arg2] = 0; }"),
    run(fun() ->
                [begin
                     [_ = id(catch leaf(throw)) || _ <- lists:seq(1, N)],
                     ok = id(leaf(ok))
                 end || N <- [0, 1, 2, 0]]
        end),
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual([{1, 2}, {2, 1}, {3, 1}], lists:sort([{K, N} || {_, count, [K], N} <- Aggs])).

%% What hibernation leaves is not on the stack any more.
sleeper(Tester) ->
    Tester ! {self(), outer(throw)},
    receive stop -> ok end.

depth_after_hibernation_test() ->
    Self = self(),
    {ok, H} = erltrace:script("erlang*:exception_tests:rest/1:function-entry,"
                              "erlang*:exception_tests:outer/1:function-*"
                              "{ @[probename, copyinstr(arg1), arg2] = count(); }"),
    {P, M} = spawn_monitor(fun() -> [rest(Self)] end),
    P ! wake,
    receive {P, caught} -> P ! stop end,
    receive {'DOWN', M, process, P, normal} -> ok end,
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual([[<<"function-entry">>, <<"exception_tests:outer/1">>, 1],
                  [<<"function-entry">>, <<"exception_tests:rest/1">>, 1],
                  [<<"function-return">>, <<"exception_tests:outer/1">>, 1]],
                 lists:sort([K || {_, count, K, 1} <- Aggs])).

rest(Tester) -> [proc_lib:hibernate(?MODULE, sleeper, [Tester])].
