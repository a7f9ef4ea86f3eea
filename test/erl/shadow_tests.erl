%% SPDX-License-Identifier: Apache-2.0
%% Random programs of calls, tail calls, exceptions, garbage collections and hibernation: entries,
%% returns, exceptions and depths of all of them are what a model says that knows the program, not the
%% VM.
-module(shadow_tests).
-include_lib("eunit/include/eunit.hrl").
-export([a/1, b/1, c/1, resume/1]).
-export([random/2, script/1, exceptions/2, programs/1, model/3, ops/1]). % to try more of them by hand

-define(SEEDS, 10).
-define(PROGRAMS, 100). % each in a process of its own

%% ---- what is traced --------------------------------------------------------------------------

a({_, Ops, End}) ->
    ok = ops(Ops),
    case End of
        {tail, {a, _, _} = Call} -> a(Call);
        {tail, {b, _, _} = Call} -> b(Call);
        {tail, {c, _, _} = Call} -> c(Call);
        _ -> finish(End)
    end.

%% With values on the stack.
b({_, Ops, End} = Me) ->
    {X, Y} = {id(Ops), id(End)},
    ok = ops(Ops),
    Me = {b, id(X), id(Y)},
    case End of
        {tail, {a, _, _} = Call} -> ?MODULE:a(Call);
        {tail, {b, _, _} = Call} -> ?MODULE:b(Call);
        {tail, {c, _, _} = Call} -> ?MODULE:c(Call);
        _ -> finish(End)
    end.

%% Where it raises, or hibernates, it does so within its own try.
c({_, Ops, {tail, Call}}) ->
    ok = try ops(Ops) catch throw:never -> never end,
    case Call of
        {a, _, _} -> a(Call);
        {b, _, _} -> b(Call);
        {c, _, _} -> c(Call)
    end;
c({_, Ops, End}) ->
    try ops(Ops), finish(End) catch throw:never -> never end.

%% ---- what is not -----------------------------------------------------------------------------

id(X) -> X.

finish(return) -> ok;
finish({raise, throw}) -> throw(shadow);
finish({raise, error}) -> error(shadow);
finish({raise, exit}) -> exit(shadow);
finish({raise, bif}) -> binary_to_atom(id(shadow));
finish({raise, badmatch}) -> never = id(shadow);
finish({raise, again}) -> try error(shadow) catch C:R:S -> erlang:raise(C, R, S) end;
finish({hibernate, Rest}) ->
    self() ! go,
    erlang:hibernate(?MODULE, resume, [Rest]).

resume(Rest) ->
    receive go -> ok end,
    try ops(Rest) catch _:_ -> ok end.

call({a, _, _} = Call) -> ok = a(Call);
call({b, _, _} = Call) -> ok = ?MODULE:b(Call);
call({c, _, _} = Call) -> F = id(fun c/1), ok = F(Call).

ops([]) -> ok;
ops([Op | Rest]) ->
    ok = op(Op),
    ops(Rest).

op({call, Call}) -> call(Call);
op({last, {F, _, _} = Call}) -> ?MODULE:F(Call);
op({caught, Ops}) -> try ops(Ops) catch _:_ -> ok end;
op({old_catch, Ops}) -> _ = id(catch ops(Ops)), ok;
op({'after', Ops, Call}) -> try ops(Ops) after call(Call) end;
op({deep, 0, Ops}) -> ops(Ops);
op({deep, N, Ops}) -> ok = id(op({deep, N - 1, Ops}));
op(gc) -> erlang:garbage_collect(), ok;
op(minor) -> erlang:garbage_collect(self(), [{type, minor}]), ok;
op(heap) -> 1 = hd(lists:sort(lists:seq(1, 300))), ok;
op(yield) -> erlang:yield(), ok.

%% ---- the model -------------------------------------------------------------------------------

%% Its events, newest first, and how it ended.
model([], _, Es) -> {ok, Es};
model([Op | Rest], D, Es) ->
    case model_op(Op, D, Es) of
        {ok, Es1} -> model(Rest, D, Es1);
        Other -> Other
    end.

model_op({Call, MFA}, D, Es) when Call =:= call; Call =:= last -> model_call(e, MFA, D + 1, Es);
model_op({Caught, Ops}, D, Es) when Caught =:= caught; Caught =:= old_catch ->
    case model(Ops, D, Es) of
        {raised, Es1} -> {ok, Es1};
        Other -> Other
    end;
model_op({'after', Ops, Call}, D, Es) ->
    case model(Ops, D, Es) of
        {gone, Es1} -> {gone, Es1};
        {How, Es1} ->
            case model_call(e, Call, D + 1, Es1) of
                {ok, Es2} -> {How, Es2};
                Other -> Other
            end
    end;
model_op({deep, _, Ops}, D, Es) -> model(Ops, D, Es);
model_op(_, _, Es) -> {ok, Es}.

model_call(Kind, {F, Ops, End}, D, Es) ->
    case {model(Ops, D, [{Kind, F, D} | Es]), End} of
        {{ok, Es1}, return} -> {ok, [{r, F, D} | Es1]};
        {{ok, Es1}, {raise, _}} -> {raised, [{x, F, D} | Es1]};
        {{raised, Es1}, _} -> {raised, [{x, F, D} | Es1]};
        {{ok, Es1}, {tail, Call}} -> model_call(t, Call, D, Es1);
        {{ok, Es1}, {hibernate, Rest}} ->
            {_, Es2} = model(Rest, 0, Es1), % the stack is gone
            {gone, Es2};
        {Other, _} -> Other
    end.

%% ---- random programs -------------------------------------------------------------------------

ops_of(Size) -> [op_of(Size - 1) || _ <- lists:seq(1, rand:uniform(3))].

op_of(Size) when Size =< 0 -> pick([gc, minor, heap, yield, heap, yield]);
op_of(Size) ->
    case rand:uniform(10) of
        N when N =< 5 -> {call, call_of(Size)};
        6 -> {caught, ops_of(Size)};
        7 -> {old_catch, ops_of(Size)};
        8 -> {'after', ops_of(Size), call_of(Size - 2)};
        9 -> {deep, rand:uniform(6), ops_of(Size)};
        10 -> op_of(0)
    end.

call_of(Size) ->
    Ops = case Size =< 0 of true -> []; false -> ops_of(Size) end,
    {pick([a, b, c]), Ops, end_of(Size)}.

end_of(Size) ->
    case rand:uniform(100) of
        N when N =< 60 -> return;
        N when N =< 78, Size > 0 -> {tail, call_of(Size - 1)};
        N when N =< 97 -> {raise, pick([throw, error, exit, bif, badmatch, again])};
        N when N >= 99, Size > 0 -> {hibernate, ops_of(Size - 1)};
        _ -> return
    end.

pick(List) -> lists:nth(rand:uniform(length(List)), List).

%% ---- the tests -------------------------------------------------------------------------------

script(Options) ->
    Options ++ "erlang*:shadow_tests:a:function-entry, erlang*:shadow_tests:b:function-entry,"
    "erlang*:shadow_tests:c:function-entry"
    "{ @[arg3 ? \"t\" : \"e\", copyinstr(arg1), arg2] = count(); }"
    "erlang*:shadow_tests:a:function-return, erlang*:shadow_tests:b:function-return,"
    "erlang*:shadow_tests:c:function-return"
    "{ @[\"r\", copyinstr(arg1), arg2] = count(); }".

exceptions(Options, Fns) ->
    script(Options) ++ lists:join(",", [probe(F) || F <- Fns]) ++
        "{ @[\"x\", copyinstr(arg1), arg2] = count(); }".

probe(F) -> lists:concat(["erlang*:shadow_tests:", F, ":function-exception"]).

has_event(Script, {x, F, _}) -> string:find(Script, probe(F)) =/= nomatch;
has_event(_, _) -> true.

sum(Events) ->
    lists:foldl(fun(E, M) -> maps:update_with(E, fun(N) -> N + 1 end, 1, M) end, #{}, Events).

events(H) ->
    {ok, #{lost := 0, returns_by := stack}} = erltrace:status(H),
    {ok, Aggs} = erltrace:aggregations(H),
    maps:from_list([{{binary_to_atom(E), name(F), D}, N} || {_, count, [E, F, D], N} <- Aggs]).

name(Mfa) ->
    [_, F, _] = string:lexemes(Mfa, ":/"),
    binary_to_atom(F).

run(Program) ->
    spawn_monitor(fun() -> try ops(Program) catch _:_ -> ok end end).

wait({P, M}) -> receive {'DOWN', M, process, P, _} -> ok end.

%% What differs, for these programs together.
look(Programs, Hs, Scripts) ->
    [wait(R) || R <- [run(P) || P <- Programs]],
    All = lists:sort(maps:to_list(
            sum(lists:append([element(2, model(P, 0, [])) || P <- Programs])))),
    [{Want -- Got, Got -- Want} ||
        {H, Script} <- lists:zip(Hs, Scripts),
        Want <- [[{E, N} || {E, N} <- All, has_event(lists:flatten(Script), E)]],
        Got <- [lists:sort(maps:to_list(events(H)))],
        Got =/= Want].

programs(Seed) ->
    rand:seed(exsss, {Seed, 2, 3}),
    [[{caught, ops_of(Size)} || Size <- [4, 6, 8, 10]] || _ <- lists:seq(1, ?PROGRAMS)].

with(Scripts, Fun) ->
    Hs = [begin {ok, H} = erltrace:script(S), H end || S <- Scripts],
    try Fun(Hs) after [erltrace:close(H) || H <- Hs] end.

random_test_() ->
    [{timeout, 120, {integer_to_list(Seed), fun() -> random(Seed, [script("")]) end}} ||
        Seed <- lists:seq(1, ?SEEDS)].

%% Two scripts at once, and one that traces what lies between.
together_test_() ->
    Other = "erlang*:shadow_tests:op:function-return, erlang*:shadow_tests:ops:function-entry"
        "{ @other[probename] = count(); }",
    [{timeout, 120, fun() -> with([Other], fun(_) -> random(Seed, [script(""), script("")]) end) end} ||
        Seed <- lists:seq(101, 103)].

%% With exceptions: of all functions, of some, of two scripts beside one that traces what lies between.
exceptions_test_() ->
    Other = "erlang*:shadow_tests:op:function-return, erlang*:shadow_tests:ops:function-entry"
        "{ @other[probename] = count(); }",
    All = exceptions("", [a, b, c]),
    [{timeout, 120, {integer_to_list(Seed), fun() -> random(Seed, [All]) end}} ||
        Seed <- lists:seq(201, 200 + ?SEEDS)] ++
    [{timeout, 120, {integer_to_list(Seed), fun() -> random(Seed, [exceptions("", Fns)]) end}} ||
        {Seed, Fns} <- lists:zip(lists:seq(221, 226), [[a], [b], [c], [a, b], [b, c], [a, c]])] ++
    [{timeout, 120, fun() -> with([Other], fun(_) -> random(Seed, [All, All]) end) end} ||
        Seed <- lists:seq(301, 303),
        %% from OTP 27 on each function of a chain ends by itself then
        list_to_integer(erlang:system_info(otp_release)) < 27].

%% Hibernation takes the stack away and is not told of. What was called before must not be taken for
%% the caller of what is called afterwards, nor for the function that calls it in the end, wherever that
%% lies on the new stack. The words there are much the same, as it is the same functions that call.
hibernation_test_() ->
    [{timeout, 120, {Name, fun() -> hibernation(Script) end}} ||
        {Name, Script} <- [{"exceptions", exceptions("", [a, b, c])}, {"of b", exceptions("", [b])},
                           {"none", script("")}]].

hibernation(Script) ->
    Programs = [[below(I, Before({hibernate, [below(J, After)]}))] ||
                   Before <- hibernating(), After <- awake(), I <- lists:seq(0, 9), J <- lists:seq(0, 9)],
    ?assertEqual([], with([Script], fun(Hs) -> look(Programs, Hs, [Script]) end)).

hibernating() ->
    [fun(End) -> {How, {F, [], End}} end || How <- [call, last], F <- [a, b, c]] ++
    [fun(End) -> {call, {a, [], {tail, {b, [], End}}}} end,
     fun(End) -> {last, {b, [], {tail, {a, [], {tail, {c, [], End}}}}}} end,
     fun(End) -> {call, {c, [{call, {b, [{call, {a, [], End}}], return}}], return}} end].

awake() ->
    [{How, {F, [], return}} || How <- [call, last], F <- [a, b, c]] ++
    [{last, {c, [], {tail, {b, [], {raise, throw}}}}},
     {'after', [{call, {a, [], return}}], {c, [], return}}].

below(0, Op) -> Op;
below(N, Op) -> {deep, 0, [below(N - 1, Op)]}.

%% By the fast way: of all functions, of some, of two scripts.
fast_test_() ->
    Fast = fun(Fns) -> exceptions("#pragma D option calls=fast\n", Fns) end,
    {setup, fun() -> {ok, _} = application:ensure_all_started(erltrace), erltrace_find:known(fast) end,
     fun(_) -> ok end,
     fun(ok) ->
             [{timeout, 120, {integer_to_list(Seed), fun() -> random(Seed, [Fast(Fns) || Fns <- Sets]) end}}
              || {Seed, Sets} <- lists:zip(lists:seq(401, 407),
                                           [[[a, b, c]], [[a, b, c]], [[a]], [[b]], [[b, c]],
                                            [[a, b, c], [a, b, c]], [[a, b, c], [a]]])];
        ({refused, Why}) -> io:format(user, "skipped: the fast way: ~s~n", [Why]), []
     end}.

%% The first program of those that is wrong by itself is shown.
random(Seed, Scripts) ->
    Programs = programs(Seed),
    case with(Scripts, fun(Hs) -> look(Programs, Hs, Scripts) end) of
        [] -> ok;
        Differs ->
            Alone = [{P, D} || P <- Programs,
                               D <- [with(Scripts, fun(Hs) -> look([P], Hs, Scripts) end)],
                               D =/= []],
            Size = fun({P, _}) -> erlang:external_size(P) end,
            Least = lists:sublist(lists:sort(fun(X, Y) -> Size(X) =< Size(Y) end, Alone), 1),
            ?assertEqual({[], []}, {Differs, Least})
    end.
