%% SPDX-License-Identifier: Apache-2.0
%% Calls, returns and ends by exception of calls_mix are counted exactly, by each way that this node
%% has to function probes: traced, and fast where it can be had (option calls).
-module(calls_mix_tests).
-include_lib("eunit/include/eunit.hrl").
-export([ways/0, skipped/0, open/2, same/2, legal/2, tool/4]). % for test/promises

-define(PLAN, #{worker => 8, dying => 4, victim => 6, sensitive => 2, parked => 6, purged => 3}).
-define(TRIES, 2500). % of 20 ms each

%% ---- ways -------------------------------------------------------------------------------------

%% Those that can be had here.
-spec ways() -> [traced | fast].
ways() -> [traced] ++ [fast || fast() =:= ok].

%% Says which cannot, and why.
-spec skipped() -> term().
skipped() -> [io:format(user, "~nskipped: calls=fast: ~ts~n", [Why]) || {refused, Why} <- [fast()]].

fast() -> erltrace_find:known(fast).

-spec open(traced | fast, iodata()) -> erltrace:handle().
open(Way, Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, K, V) || {K, V} <- [{"watchdog", "0"}, {"counters", "0"},
                                                 {"calls", atom_to_list(Way)}]],
    ok = erltrace:compile(H, iolist_to_binary(Script)),
    ok = erltrace:go(H),
    {ok, #{calls := #{way := Way, traced := []}}} = erltrace:status(H),
    H.

each_way(Test) -> [{timeout, 120, {atom_to_list(W), fun() -> calls_mix:quiet(), Test(W) end}}
                   || W <- ways()].

before_27() -> list_to_integer(erlang:system_info(otp_release)) < 27.

rearm(Hs) -> [ok = erltrace_handle:call(H, rearm) || H <- Hs].

%% ---- the counts -------------------------------------------------------------------------------

%% What differs, as {Key, Expected, Counted}.
differs(Want, Got) ->
    [{K, W, G} || K <- lists:usort(maps:keys(Want) ++ maps:keys(Got)),
                  {W, G} <- [{maps:get(K, Want, 0), maps:get(K, Got, 0)}], W =/= G].

%% It has counted what the calls count to, but for some functions.
-spec same(calls_mix:counts(), erltrace:handle()) -> ok.
same(Want, H) -> same(Want, H, []).

same(Want, H, But) ->
    {ok, #{lost := 0, calls := #{way := Way}}} = erltrace:status(H),
    Told = fun(C) -> maps:filter(fun({_, F}, _) -> not lists:member(F, But) end,
                                 calls_mix:told(C, kills(Way))) end,
    until_same(Told(Want), fun() -> Told(calls_mix:counts(H)) end, ?TRIES).

%% From OTP 27 on tracing does not tell of the calls of a process that is killed.
kills(traced) -> case before_27() of true -> told; false -> untold end;
kills(fast) -> told.

%% While a script runs, what a scheduler has gathered last may come with the next snapshot: one that is
%% inside of an event just then is left out.
until_same(Want, Counts, Tries) ->
    case differs(Want, Counts()) of
        [] -> ok;
        _ when Tries > 0 -> timer:sleep(20), until_same(Want, Counts, Tries - 1);
        Differs -> ?assertEqual([], Differs)
    end.

seen() -> calls_mix:kinds() -- [sensitive].

%% The model knows of each call how it ends.
balance_test() ->
    [begin
         {_, C} = calls_mix:model(P),
         Of = fun(Whats, F) -> calls_mix:total(Whats, maps:filter(fun({_, G}, _) -> F =:= G end, C)) end,
         [?assertEqual({F, Of([e, t], F)}, {F, Of([r, x, k, l, o], F)}) || {_, F} <- maps:keys(C)],
         ?assertEqual(calls_mix:total([t], C), calls_mix:total([l], C))
     end || Seed <- lists:seq(1, 20), {_, P} <- calls_mix:plan(Seed, ?PLAN)].

%% Everything at once.
mix_test_() ->
    _ = skipped(),
    [each_way(fun(Way) -> mix(Way, Seed) end) || Seed <- [1, 2, 3]].

mix(Way, Seed) ->
    Plan = calls_mix:plan(Seed, ?PLAN),
    with([Way], fun([H] = Hs) ->
        ok = calls_mix:run(Plan, #{rounds => 10, rearm => fun() -> rearm(Hs) end}),
        same(calls_mix:expected(Plan, #{rounds => 10, seen => seen()}), H)
    end).

with(Ways, Fun) ->
    Hs = [open(W, calls_mix:script()) || W <- Ways],
    try Fun(Hs) after [ok = erltrace:close(H) || H <- Hs] end.

%% Two scripts count the same, while others come and go. Beside a traced script that has exceptions
%% a tail call may look like a call that returns, as the VM then has a frame for it.
scripts_test_() ->
    [{lists:concat([A, " ", B]), {timeout, 120, fun() -> calls_mix:quiet(), scripts(A, B) end}}
     || A <- ways(), B <- ways(), A =< B].

scripts(A, B) ->
    Plan = calls_mix:plan(11, ?PLAN#{worker => 4}),
    with([A, B], fun(Hs) ->
        {P, M} = spawn_monitor(fun() -> come_and_go(B) end),
        ok = calls_mix:run(Plan, #{rounds => 10, rearm => fun() -> rearm(Hs) end}),
        P ! stop,
        receive {'DOWN', M, process, P, Why} -> normal = Why end,
        Want = calls_mix:expected(Plan, #{rounds => 10, seen => seen()}),
        [case {A, B} of
             {fast, fast} -> same(Want, H, unseen(come_and_go));
             _ -> entries(Want, H, unseen(come_and_go))
         end || H <- Hs]
    end).

come_and_go(Way) ->
    H = open(Way, "erlang*:calls_mix_code::function-entry { self->t[arg2] = timestamp; }"
                  "erlang*:calls_mix_code:[abcf]*:function-return { @ = quantize(timestamp - self->t[arg2]); }"),
    ok = erltrace:close(H),
    receive stop -> ok after 1 -> come_and_go(Way) end.

%% BIFs are still traced when another script has ended, which on OTP 27 takes that away from all.
ended_session_test_() -> each_way(fun ended_session/1).

ended_session(Way) ->
    {module, _} = code:ensure_loaded(calls_mix_code),
    with([Way], fun([H]) ->
        ok = erltrace:close(open(Way, calls_mix:script())),
        until_more(H, maps:get({e, adler32}, calls_mix:counts(H), 0), ?TRIES)
    end).

until_more(H, Before, Tries) ->
    _ = erlang:adler32(calls_mix:id(<<"mix">>)),
    case maps:get({e, adler32}, calls_mix:counts(H), 0) of
        N when N > Before -> ok;
        _ when Tries > 0 -> timer:sleep(20), until_more(H, Before, Tries - 1)
    end.

%% ---- other tools ------------------------------------------------------------------------------

%% Other tools on the same functions, with processes of theirs. Before OTP 27 a tracer does not see
%% these. With another's frames on the stack between ours a tail call may look like a call that
%% returns: every call is counted, but as which of the two is not exact in the processes of the tool.
tools_test_() ->
    [[{atom_to_list(T), each(W, T)} || T <- calls_mix:tools(), legal(W, T)] || W <- ways()].

each(Way, Tool) ->
    {timeout, 120, fun() -> calls_mix:quiet(), tool(Way, Tool, 21, 10) end}.

%% Before OTP 27 a function has one pattern, that of who comes first: these are others than a tracer
%% needs, and with one that is the same it has no exceptions.
-spec legal(traced | fast, Tool :: atom()) -> boolean().
legal(traced, Tool) -> not (before_27() andalso lists:member(Tool, [return_trace, exception_trace]));
legal(fast, _) -> true.

%% What was counted.
-spec tool(traced | fast, atom(), Seed :: integer(), Rounds :: pos_integer()) -> calls_mix:counts().
tool(Way, Tool, Seed, Rounds) ->
    case lists:member(Tool, [dbg, eprof, cprof]) andalso code:ensure_loaded(Tool) of
        {error, _} ->
            io:format(user, "~nskipped: no ~s here~n", [Tool]),
            #{};
        _ -> tool_here(Way, Tool, Seed, Rounds)
    end.

tool_here(Way, Tool, Seed, Rounds) ->
    Plan = calls_mix:plan(Seed, #{worker => 4, dying => 2, victim => 3, foreign => 3}),
    Foreign = calls_mix:foreign(Plan),
    End = calls_mix:tool(Tool, Foreign),
    Plain = Way =:= traced andalso before_27() andalso lists:member(Tool, [dbg, return_to]),
    H = open(Way, case Plain of true -> calls_mix:script(plain); false -> calls_mix:script() end),
    try
        ok = calls_mix:run(Plan, #{rounds => Rounds, rearm => fun() -> ok end, foreign => Foreign}),
        Hidden = Way =:= traced andalso before_27() andalso claims(Tool),
        Want = calls_mix:expected(Plan, #{rounds => Rounds, seen => seen() -- [foreign || Hidden]}),
        case Hidden orelse not claims(Tool) of
            true when Plain -> same(maps:filter(fun({W, _}, _) -> W =/= x andalso W =/= k end, Want), H);
            true -> same(Want, H, unseen(Tool));
            false -> every_call(Way, Want, H)
        end,
        Want
    after
        ok = erltrace:close(H),
        End()
    end.

%% Before OTP 27 the VM forgets that it traces a BIF when anybody removes a pattern of any kind from
%% all functions, as eprof does when its processes have ended. OTP 27 does when a session ends: it is
%% set again soon.
unseen(eprof) -> [adler32 || before_27()];
unseen(come_and_go) -> [adler32 || erlang:system_info(otp_release) =:= "27"];
unseen(_) -> [].

claims(Tool) -> lists:member(Tool, [dbg, eprof, call_time, return_to, return_trace, exception_trace]).

%% Every call is counted, and its end.
every_call(Way, Want, H) ->
    Open = calls_mix:total([o] ++ [k || kills(Way) =:= untold], Want),
    until_same((entries(Want))#{open => Open},
               fun() ->
                       Got = calls_mix:counts(H),
                       (entries(Got))#{open => calls_mix:total([e], Got) - calls_mix:total([r, x], Got)}
               end, ?TRIES).

entries(Want, H, But) ->
    Of = fun(C) -> maps:without(But, entries(C)) end,
    until_same(Of(Want), fun() -> Of(calls_mix:counts(H)) end, ?TRIES).

entries(Counts) ->
    calls_mix:sum([#{F => N} || {{W, F}, N} <- maps:to_list(Counts), W =:= e orelse W =:= t]).

%% ---- exceptions -------------------------------------------------------------------------------

%% Stack traces of exceptions are the same, armed or not.
stack_traces_test_() -> each_way(fun stack_traces/1).

stack_traces(Way) ->
    Without = traces(),
    With = with([Way], fun(_) -> traces() end),
    ?assertEqual(Without, With),
    ?assertEqual(Without, traces()).

traces() ->
    Kinds = [throw, error, exit, badmatch, function_clause, badarg],
    Programs = [wrap(W, {raise, K}) || K <- Kinds, W <- [none, call, deep, tail, again, other, aft, rethrown]],
    Caught = fun(P) -> try calls_mix:ops(P) catch C:R:S -> exit({C, R, S}) end end,
    [element(2, script_run:in_process(fun() -> F(P) end)) || F <- [Caught, fun calls_mix:ops/1], P <- Programs].

wrap(none, Op) -> [Op];
wrap(deep, Op) -> [{deep, 12, 3, [gc, Op]}];
wrap(tail, Op) -> [{call, remote, {b, [], {tail, local, {a, [], {unarmed, {c, [Op], return}}}}}}];
wrap(rethrown, Op) -> [{rethrown, [{call, 'fun', {b, [Op], return}}]}];
wrap(call, Op) -> [{call, apply, {a, [{call, remote, {b, [Op], return}}], return}}];
wrap(F, Op) -> [{call, remote, {a, [{call, remote, {F, [Op], return}}], return}}].

%% ---- the fast way alone -----------------------------------------------------------------------

%% The programs of shadow_tests by the fast way: depths too.
shadow_test_() ->
    [{timeout, 120, fun() -> shadow_tests:random(Seed, [shadow_tests:script("#pragma D option calls=fast\n")]) end}
     || fast <- ways(), Seed <- [1, 2, 3]].

%% No process is flagged.
flags_test() ->
    [begin
         {module, _} = code:ensure_loaded(calls_mix_code),
         with([fast], fun(_) ->
             ?assertEqual([], [P || P <- [new_processes | processes()],
                                    {flags, [_ | _]} <- [erlang:trace_info(P, flags)]])
         end)
     end || fast <- ways()].
