%% SPDX-License-Identifier: Apache-2.0
%% function-exception: what its events tell. How many there are, and how deep, is in exception_tests
%% and shadow_tests.
-module(function_exception_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2, in_process/1]).
-export([raise/1, pass/1, tail/1, value/1, deep/2, clause/1, loop/1, names_there/0]).

%% ---- what is traced --------------------------------------------------------------------------

raise(throw) -> throw({thrown, 1});
raise(error) -> error(why);
raise(exit) -> exit({shutdown, "x"});
raise(badmatch) -> ok = id(not_ok);
raise(badarith) -> 1 / id(0);
raise(badarg) -> binary_to_atom(id(1));
raise(undef) -> apply(no_such_module, f, []);
raise(clause) -> [clause(id(x))];
raise(case_clause) -> case id(a) of b -> b end;
raise(badfun) -> F = id(f), F();
raise(again) -> try error(first) catch C:R:S -> erlang:raise(C, R, S) end;
raise(other) -> try error(first) catch _:_ -> exit(second) end;
raise({wait, P}) ->
    P ! {self(), inside},
    receive go -> error(late) end;
raise(ok) -> ok.

clause(a) -> a.

pass(Why) -> [raise(Why)].

tail(Why) -> raise(Why).

value(ok) -> {value, ok};
value(Why) -> [raise(Why)].

deep(0, Why) -> raise(Why);
deep(N, Why) -> [deep(N - 1, Why)].

%% For ever, as servers are.
loop(0) -> throw(enough);
loop(N) -> loop(N - 1).

%% ---- what is not -----------------------------------------------------------------------------

id(X) -> X.

whys() ->
    [{throw, "throw", "{thrown,1}"}, {error, "error", "why"}, {exit, "exit", "{shutdown,\"x\"}"},
     {badmatch, "error", "{badmatch,not_ok}"}, {badarith, "error", "badarith"},
     {badarg, "error", "badarg"}, {undef, "error", "undef"}, {clause, "error", "function_clause"},
     {case_clause, "error", "{case_clause,a}"}, {badfun, "error", "{badfun,f}"},
     {again, "error", "first"}, {other, "exit", "second"}].

probe(F, Name) -> ["erlang*:function_exception_tests:", F, ":", Name].
exception(F) -> probe(F, "function-exception").

internals() -> application:get_env(erltrace, vm_internals, true).

caught(Fun) -> caught = try id(Fun()), returned catch _:_ -> caught end.

keys(Got) -> lists:sort([{Ks, N} || {{_, Ks}, N} <- maps:to_list(Got)]).

%% ---- class and reason ------------------------------------------------------------------------

class_and_reason_test() ->
    Got = run([exception("raise"), "{ @[erlclass, erlreason] = count(); }",
               exception("raise"), "/copyinstr(arg3) != erlclass || args[3] != erlclass/"
               "{ @differs[copyinstr(arg3), args[3]] = count(); }"],
              fun() -> [caught(fun() -> raise(Why) end) || {Why, _, _} <- whys(), _ <- [1, 2]],
                       [ok = raise(ok) || _ <- [1, 2, 3]] end),
    ?assertEqual(lists:sort([{[C, R], 2} || {_, C, R} <- whys()]), keys(Got)).

%% Caught by `catch', in the next function, further out, in a `try' that has `of' and `after'.
wherever_it_is_caught_test() ->
    Got = run([exception("raise"), ",", exception("pass"), ",", exception("deep"),
               "{ @[probefunc, erlclass, erlreason] = count(); }"],
              fun() ->
                      {'EXIT', {why, _}} = (catch pass(error)),
                      why = try pass(error) of _ -> no catch error:R -> R after id(1) end,
                      why = try try deep(3, error) after ok = raise(ok) end catch _:R1 -> R1 end,
                      why = try catch_and_raise() catch error:R2 -> R2 end
              end),
    %% the last of deep/2 has made a tail call
    ?assertEqual([{["deep/2", "error", "why"], 3}, {["pass/1", "error", "why"], 3},
                  {["raise/1", "error", "why"], 4}], keys(Got)).

catch_and_raise() ->
    try id(pass(error)) catch C:R:S -> erlang:raise(C, R, S) end.

%% Nobody catches it: the process ends. A throw is an error then, as the VM has it.
uncaught_test() ->
    Got = run([exception("raise"), ",", exception("pass"), "{ @[probefunc, erlclass, erlreason] = count(); }"],
              fun() ->
                      [begin
                           {_, Reason} = in_process(fun() -> id(pass(Why)) end),
                           normal =/= Reason orelse error(Why)
                       end || Why <- [throw, error, exit, badarg]]
              end),
    Each = [["error", "{nocatch,{thrown,1}}"], ["error", "why"], ["exit", "{shutdown,\"x\"}"],
            ["error", "badarg"]],
    ?assertEqual(lists:sort([{[F | E], 1} || F <- ["raise/1", "pass/1"], E <- Each]), keys(Got)).

%% Terms, as elsewhere.
reason_is_a_term_test() ->
    Got = run([exception("raise"), "/erlmatch(erlreason, \"{shutdown, Text}\")/"
               "{ @[erltext(this->Text)] = count(); }",
               exception("raise"), "/erltype(erlreason) == \"tuple\"/"
               "{ @tag[(string)erlelement(1, erlreason)] = count(); }"],
              fun() -> [caught(fun() -> raise(Why) end) || Why <- [throw, exit, badmatch, error]] end),
    ?assertEqual(#{{"_", ["x"]} => 1, {"tag", ["thrown"]} => 1, {"tag", ["shutdown"]} => 1,
                   {"tag", ["badmatch"]} => 1}, Got).

%% They are of this event: what is next, and what has none, does not show them.
nothing_elsewhere_test() ->
    Got = run([exception("raise"), "{ @x[erlclass] = count(); }",
               probe("raise", "*"), "{ @[probename, erlclass, strlen(erlreason) > 0] = count(); }"],
              fun() -> in_process(fun() -> caught(fun() -> raise(error) end), ok = raise(ok),
                                           caught(fun() -> raise(exit) end), ok = raise(ok) end) end),
    ?assertEqual([{["function-entry", "", 0], 4}, {["function-exception", "error", 1], 1},
                  {["function-exception", "exit", 1], 1}, {["function-return", "", 0], 2}],
                 lists:sort([{K, N} || {{"_", ["function-" ++ _ | _] = K}, N} <- maps:to_list(Got)])).

%% ---- the call --------------------------------------------------------------------------------

arguments_test() ->
    Got = run([exception("deep"), "{ @[erlargs, erlarg(0), erlint(0)] = count(); }"],
              fun() -> caught(fun() -> deep(2, {error, self()}) end),
                       caught(fun() -> deep(2, exit) end), caught(fun() -> deep(1, throw) end) end),
    Want = case internals() of
               true ->
                   [{["[0,exit]", "0", 0], 1}, {["[0,throw]", "0", 0], 1}, {["[1,exit]", "1", 1], 1},
                    {["[1,throw]", "1", 1], 1}, {["[2,exit]", "2", 2], 1}];
               false ->
                   [{["", "", 0], 8}]
           end,
    ?assertEqual(Want, [K || {[T | _], _} = K <- keys(Got), string:find(T, "<") =:= nomatch]).

%% The function, then those that called it: not what it was in when it was raised.
stack_test() ->
    Got = run(["#pragma D option stacklines=off\n", exception("pass"), "{ @[ustack(3)] = count(); }"],
              fun() -> in_process(fun() -> caught(fun() -> pass(clause) end) end) end),
    [{[Stack], 1}] = keys(Got),
    ?assertMatch([<<"function_exception_tests:pass/1">> | _], Stack),
    ?assertNot(lists:member(<<"function_exception_tests:raise/1">>, Stack)),
    case internals() of
        true -> ?assertMatch([_, <<"function_exception_tests:caught/1">> | _], Stack);
        false -> ?assertMatch([_], Stack) % callers are not known there
    end.

self_variables_test() ->
    Got = run([probe("pass", "function-entry"), "{ self->at[arg2] = vtimestamp + 1; }",
               exception("pass"), ",", probe("pass", "function-return"),
               "/self->at[arg2] && vtimestamp + 1 >= self->at[arg2]/"
               "{ @[probename] = count(); self->at[arg2] = 0; }"],
              fun() -> in_process(fun() -> caught(fun() -> pass(error) end), [ok] = pass(ok) end) end),
    ?assertEqual([{["function-exception"], 1}, {["function-return"], 1}], keys(Got)).

%% ---- with values -----------------------------------------------------------------------------

%% Where erlret is read each function of a chain of tail calls ends by itself: by return or exception.
values_test() ->
    Whys = [ok, error, ok, throw, badarg],
    Got = run([[[probe(F, "function-entry"), "{ @[\"e\", probefunc] = count(); }",
                 probe(F, "function-return"), "{ @[\"r\", probefunc] = count(); @v[erlret] = count(); }",
                 exception(F), "{ @[\"x\", probefunc] = count(); }"] || F <- ["value", "raise", "tail"]]],
              fun() -> [[try id(value(W)) catch _:_ -> ok end, try id(tail(W)) catch _:_ -> ok end] ||
                           W <- Whys] end),
    ?assertEqual([{["e", "raise/1"], 8}, {["e", "tail/1"], 5}, {["e", "value/1"], 5},
                  {["r", "raise/1"], 2}, {["r", "tail/1"], 2}, {["r", "value/1"], 2},
                  {["x", "raise/1"], 6}, {["x", "tail/1"], 3}, {["x", "value/1"], 3}],
                 lists:sort([{K, N} || {{"_", K}, N} <- maps:to_list(Got)])),
    ?assertEqual([{["ok"], 4}, {["{value,ok}"], 2}],
                 lists:sort([{K, N} || {{"v", K}, N} <- maps:to_list(Got)])).

%% Of one function the value is read, of another it is not.
values_of_one_test() ->
    Got = run([[[probe(F, "function-entry"), "{ @[\"e\", probefunc, arg2] = count(); }",
                 exception(F), "{ @[\"x\", probefunc, arg2] = count(); }"] || F <- ["value", "raise", "pass"]],
               probe("value", "function-return"), "{ @[\"r\", probefunc, arg2] = count(); @v[erlret] = count(); }",
               probe("raise", "function-return"), ",", probe("pass", "function-return"),
               "{ @[\"r\", probefunc, arg2] = count(); }"],
              fun() -> [[try id(value(W)) catch _:_ -> ok end, try id(pass(W)) catch _:_ -> ok end] ||
                           W <- [ok, error, exit]] end),
    ?assertEqual([{["e", "pass/1", 1], 3}, {["e", "raise/1", 2], 5}, {["e", "value/1", 1], 3},
                  {["r", "pass/1", 1], 1}, {["r", "raise/1", 2], 1}, {["r", "value/1", 1], 1},
                  {["x", "pass/1", 1], 2}, {["x", "raise/1", 2], 4}, {["x", "value/1", 1], 2}],
                 lists:sort([{K, N} || {{"_", K}, N} <- maps:to_list(Got)])).

%% ---- BIFs and NIFs ---------------------------------------------------------------------------

bifs_and_nifs_test() ->
    Fns = ["erlang:list_to_tuple/1", "erlang:exit/1", "prim_buffer:size/1", "lists:reverse/2"],
    Got = run([lists:join(",", [["erlang*:", F, ":function-", P] || F <- Fns,
                                                                    P <- ["entry", "return", "exception"]]),
               "/erlname == \"exception_bifs\"/ { @[probename, copyinstr(arg1)] = count(); }",
               "erlang*:erlang:list_to_tuple/1:function-exception { @bif[erlclass, erlreason, erlargs] = count(); }",
               "erlang*:prim_buffer:size/1:function-exception { @nif[erlclass, erlreason, erlargs] = count(); }",
               "erlang*:erlang:exit/1:function-exception { @exit[erlclass, erlreason, erlargs] = count(); }"],
              fun() -> in_process(fun() ->
                      true = register(exception_bifs, self()), % others call these as well
                      B = prim_buffer:new(),
                      [begin
                           caught(fun() -> list_to_tuple(id(x)) end),
                           {} = list_to_tuple(id([])),
                           caught(fun() -> prim_buffer:size(id(x)) end),
                           0 = prim_buffer:size(B),
                           caught(fun() -> erlang:exit(id(y)) end),
                           caught(fun() -> lists:reverse(id(lists:seq(1, 10000) ++ z), []) end)
                       end || _ <- lists:seq(1, 100)]
                  end) end),
    Own = fun(Name, F) -> maps:get({"_", ["function-" ++ Name, F]}, Got, 0) end,
    [?assertEqual({F, Own("entry", F)}, {F, Own("return", F) + Own("exception", F)}) || F <- Fns],
    ?assertEqual({200, 100, 200, 100, 100},
                 {Own("entry", "erlang:list_to_tuple/1"), Own("exception", "erlang:list_to_tuple/1"),
                  Own("entry", "prim_buffer:size/1"), Own("exception", "prim_buffer:size/1"),
                  Own("exception", "lists:reverse/2")}),
    internals() andalso
        ?assertEqual([{"bif", ["error", "badarg", "[x]"]}, {"exit", ["exit", "y", "[y]"]},
                      {"nif", ["error", "badarg", "[x]"]}],
                     lists:sort([K || {{N, _} = K, 100} <- maps:to_list(Got), N =/= "_"])).

%% ---- what is armed ---------------------------------------------------------------------------

%% Only where it is named: a pattern that means entries too does not make it.
only_where_it_is_named_test() ->
    Names = fun(Script) ->
                    lists:sort([N || {{_, [N]}, _} <- maps:to_list(run(Script, fun() ->
                        caught(fun() -> pass(error) end), [ok] = pass(ok) end))])
            end,
    Count = "{ @[probename] = count(); }",
    ?assertEqual(["function-entry", "function-return"], Names([probe("pass", "function-*"), Count])),
    ?assertNot(lists:member("function-exception", Names([probe("pass", ""), Count]))),
    ?assertEqual(["function-exception"], Names([probe("pass", "*-exception"), Count])),
    ?assertEqual(["function-entry", "function-exception", "function-return"],
                 Names([probe("pass", "function-*"), ",", exception("pass"), Count])).

%% The pattern of the VM, and what is left afterwards.
armed_test() ->
    case list_to_integer(erlang:system_info(otp_release)) < 27 of
        false -> ok; % a session has patterns of its own
        true ->
            Mfa = fun(F) -> {?MODULE, F, 1} end,
            Spec = fun(F) -> erlang:trace_info(Mfa(F), match_spec) end,
            {ok, H} = erltrace:script([exception("pass"), ",", probe("raise", "function-return"),
                                       "{ @[probename] = count(); }"]),
            ?assertEqual({match_spec, [{'_', [], [{exception_trace}]}]}, Spec(pass)),
            ?assertEqual({match_spec, []}, Spec(raise)),
            %% of several scripts the one that needs most decides
            {ok, H2} = erltrace:script([probe("pass", "function-return"), "{ trace(erlret); }",
                                        probe("raise", "function-return"), "{ trace(erlret); }"]),
            ?assertEqual({match_spec, [{'_', [], [{exception_trace}]}]}, Spec(pass)),
            ?assertEqual({match_spec, [{'_', [], [{return_trace}]}]}, Spec(raise)),
            ok = erltrace:close(H),
            ?assertEqual({match_spec, [{'_', [], [{return_trace}]}]}, Spec(pass)),
            ok = erltrace:close(H2),
            ?assertEqual({match_spec, false}, Spec(pass))
    end.

%% Another script's exceptions fire nothing here.
others_exceptions_test() ->
    {ok, H} = erltrace:script([exception("pass"), ",", exception("raise"), "{ @[probefunc] = count(); }"]),
    Got = run([probe("pass", "function-entry"), ",", probe("pass", "function-return"), ",",
               probe("raise", "function-entry"), ",", probe("raise", "function-return"),
               "{ @[probename, probefunc, arg2] = count(); }"],
              fun() -> in_process(fun() -> [begin caught(fun() -> pass(error) end), [ok] = pass(ok) end ||
                                               _ <- [1, 2, 3]] end) end),
    Own = script_run:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual([{["pass/1"], 3}, {["raise/1"], 3}], keys(Own)),
    internals() andalso
        ?assertEqual([{["function-entry", "pass/1", 1], 6}, {["function-entry", "raise/1", 2], 6},
                      {["function-return", "pass/1", 1], 3}, {["function-return", "raise/1", 2], 3}],
                     keys(Got)).

%% A loop of tail calls that an exception ends is one call.
loop_test() ->
    Got = run([probe("loop", "function-entry"), "{ @[arg3 ? \"tail\" : \"entry\", arg2] = count(); }",
               exception("loop"), "{ @[\"exception\", arg2] = count(); }",
               exception("loop"), "{ @with[erlargs, erlreason] = count(); }"],
              fun() -> in_process(fun() -> caught(fun() -> loop(10000) end) end) end),
    internals() andalso
        ?assertEqual(#{{"_", ["entry", 1]} => 1, {"_", ["tail", 1]} => 10000, {"_", ["exception", 1]} => 1,
                       {"with", ["[0]", "enough"]} => 1}, Got).

%% Deeper than there is room for: the ends are told all the same.
deep_test_() ->
    {timeout, 60, fun() ->
        Got = run([probe("deep", "function-entry"), ",", probe("deep", "function-return"), ",",
                   exception("deep"), "{ @[probename] = count(); }"],
                  fun() -> in_process(fun() -> caught(fun() -> deep(20000, error) end),
                                               _ = deep(20000, ok) end) end),
        ?assertEqual([{["function-entry"], 40002}, {["function-exception"], 20001},
                      {["function-return"], 20001}], keys(Got))
    end}.

%% What was called before the script began has no end either: an earlier script's frames are there.
before_the_script_test() ->
    Script = [probe("pass", "function-entry"), ",", probe("pass", "function-return"), ",",
              exception("pass"), "{ @[probename] = count(); }"],
    Self = self(),
    {ok, H} = erltrace:script(Script),
    {P, M} = spawn_monitor(fun() -> id(pass({wait, Self})) end),
    receive {P, inside} -> ok end,
    ok = erltrace:close(H),
    Got = run(Script, fun() ->
                              P ! go,
                              receive {'DOWN', M, process, P, _} -> ok end,
                              in_process(fun() -> caught(fun() -> pass(error) end) end)
                      end),
    internals() andalso
        ?assertEqual([{["function-entry"], 1}, {["function-exception"], 1}], keys(Got)).

%% ---- by names --------------------------------------------------------------------------------

%% A node that relies on nothing of the VM's insides.
names_test_() ->
    {timeout, 60, fun() -> script_run:in_node(?MODULE, names_there) end}.

names_there() ->
    application:set_env(erltrace, vm_internals, false),
    {ok, H} = erltrace:script([exception("pass"), ",", exception("raise"),
                               "{ @[probefunc, erlclass, erlreason] = count(); }"]),
    {_, normal} = in_process(fun() -> [caught(fun() -> pass(W) end) || W <- [error, exit]], [ok] = pass(ok) end),
    {ok, #{returns_by := names}} = erltrace:status(H),
    Got = script_run:aggregations(H),
    ok = erltrace:close(H),
    Want = [{[F, C, R], 1} || F <- ["pass/1", "raise/1"],
                              {C, R} <- [{"error", "why"}, {"exit", "{shutdown,\"x\"}"}]],
    {Want, Want} = {Want, keys(Got)},
    ok.
