%% SPDX-License-Identifier: Apache-2.0
%% Promise 17: every call of calls_mix is counted, and how it ends, by each way that this node has to
%% function probes.
%%
%%   erl -run calls_promise main mix [WAY]      a hundred million calls (PROMISE_CALLS=n: n of them)
%%   erl -run calls_promise main soak SECONDS   the mix for so long, a handle and a seed each time
%%
%% Beside it wild processes run: their functions (calls_mix_wild, a copy of calls_mix_code) are
%% replaced and they are killed at any moment. So many of their calls that nobody knows are not seen
%% to end; but no end is counted without its call, and the VM goes on.
%% A figure is a line "promise 17: TEXT"; the last line is "N passed, N failed".
-module(calls_promise).
-export([main/1]).

-define(WILD, calls_mix_wild).
-define(PLAN, #{worker => 12, dying => 4, victim => 6, sensitive => 2, parked => 8, purged => 4}).
-define(BATCH, 2000000). % calls, between two loads of the module

main(Args) ->
    calls_mix:quiet(),
    {module, _} = code:ensure_loaded(calls_mix_code),
    _ = calls_mix_tests:skipped(),
    promise:end_with(fun() -> run(Args) end).

run(["mix" | Only]) ->
    Calls = list_to_integer(os:getenv("PROMISE_CALLS", "100000000")),
    Ways = [W || W <- calls_mix_tests:ways(), Only =:= [] orelse Only =:= [atom_to_list(W)]],
    Ways =/= [] andalso lists:all(fun(Way) -> mix(Way, Calls) end, Ways);
run(["soak", Seconds]) -> soak(list_to_integer(Seconds)).

say(Format, Args) -> io:format("promise 17: " ++ Format ++ "~n", Args).

now_ms() -> erlang:monotonic_time(millisecond).

%% ---- a hundred million calls -----------------------------------------------------------------

mix(Way, Calls) ->
    Began = now_ms(),
    Wild = wild(),
    H = calls_mix_tests:open(Way, [calls_mix:script(), wild_script()]),
    {Counts, Batches} = batches(Calls, H, 1, #{}),
    Killed = tame(Wild),
    WildCounts = wild_counts(H),
    ok = erltrace:close(H),
    Tools = [T || T <- calls_mix:tools(), calls_mix_tests:legal(Way, T)],
    [calls_mix_tests:tool(Way, T, 100, 100) || T <- Tools],
    told(Way, Counts, Batches, now_ms() - Began),
    say("~s, wild: ~s", [Way, wild_text(WildCounts, Killed)]),
    say("~s, beside ~s: every call counted", [Way, lists:join(", ", [atom_to_list(T) || T <- Tools])]),
    wild_ok(WildCounts, Killed).

%% The counts are compared after each, so that one that is wrong is known by its seed.
batches(Calls, H, Seed, Counts) ->
    case calls_mix:total([e, t], Counts) of
        N when N >= Calls -> {Counts, Seed - 1};
        N ->
            More = batch(H, Seed, min(Calls - N, ?BATCH), Counts),
            batches(Calls, H, Seed + 1, More)
    end.

batch(H, Seed, Calls, Before) ->
    Plan = calls_mix:plan(Seed, ?PLAN),
    Seen = #{rounds => 100, seen => calls_mix:kinds() -- [sensitive]},
    Rounds = max(1, 100 * Calls div calls_mix:total([e, t], calls_mix:expected(Plan, Seen))),
    ok = calls_mix:run(Plan, #{rounds => Rounds, rearm => fun() -> loaded(H, Seed) end}),
    Counts = calls_mix:sum([Before, calls_mix:expected(Plan, Seen#{rounds => Rounds})]),
    ok = calls_mix_tests:same(Counts, H),
    Counts.

%% The module has been loaded again; now and then the library's module is, too.
loaded(H, Seed) ->
    [begin
         {_, Code, File} = code:get_object_code(erltrace_nif),
         code:purge(erltrace_nif),
         calls_mix:load(erltrace_nif, File, Code)
     end || Seed rem 5 =:= 0],
    ok = erltrace_handle:call(H, rearm).

told(Way, Counts, Batches, Ms) ->
    [E, T, R, X, K, L, O] = [calls_mix:total([W], Counts) || W <- [e, t, r, x, k, l, o]],
    true = E + T =:= R + X + K + L + O,
    say("~s: ~b calls on ~b schedulers in ~b s: ~b + ~b tail calls = ~b returns + ~b exceptions + ~b of "
        "killed processes + ~b left by tail calls + ~b that hibernation took away; the code replaced and "
        "purged ~b times",
        [Way, E + T, erlang:system_info(schedulers_online), Ms div 1000, E, T, R, X, K, L, O, Batches]).

%% ---- wild processes --------------------------------------------------------------------------

wild_script() ->
    "erlang*:calls_mix_wild::function-entry { @wild[arg3 ? \"t\" : \"e\", probefunc] = count(); }"
    "erlang*:calls_mix_wild::function-return { @wild[\"r\", probefunc] = count(); }"
    "erlang*:calls_mix_wild::function-exception { @wild[\"x\", probefunc] = count(); }".

wild() ->
    Code = wild_code(),
    {module, ?WILD} = code:load_binary(?WILD, "made", Code),
    spawn_monitor(fun() -> process_flag(trap_exit, true), master(Code, [], 0) end).

%% calls_mix_code by another name.
wild_code() ->
    {_, Beam, _} = code:get_object_code(calls_mix_code),
    {ok, {_, [{abstract_code, {_, Forms}}]}} = beam_lib:chunks(Beam, [abstract_code]),
    {ok, ?WILD, Code} = compile:forms(renamed(Forms)),
    Code.

renamed(calls_mix_code) -> ?WILD;
renamed(List) when is_list(List) -> [renamed(E) || E <- List];
renamed(Tuple) when is_tuple(Tuple) -> list_to_tuple(renamed(tuple_to_list(Tuple)));
renamed(Other) -> Other.

%% Two of them; the oldest is killed each time, the code is replaced every fifth time, and what is
%% old is purged, which kills those that run it.
master(Code, Old, Killed) ->
    Ps = [P || P <- Old, is_process_alive(P)] ++ [spawn_link(fun beast/0) || length(Old) < 2],
    receive
        stop ->
            [end_of(P) || P <- Ps],
            exit({killed, Killed + length(Ps)})
    after 1 + Killed rem 7 -> ok
    end,
    case Ps of
        [Oldest, _ | _] ->
            end_of(Oldest),
            Killed rem 5 =:= 0 andalso begin code:purge(?WILD), calls_mix:load(?WILD, "made", Code) end,
            flush(),
            master(Code, tl(Ps), Killed + 1);
        Few -> master(Code, Few, Killed)
    end.

flush() -> receive {'EXIT', _, _} -> flush() after 0 -> ok end.

end_of(P) ->
    exit(P, kill),
    receive {'EXIT', P, _} -> ok after 100 -> ok end. % it may have been purged before

beast() ->
    [begin
         _ = ?WILD:fib(7),
         try ?WILD:deep(20, 5, [gc, {fail, throw}]) catch _:_ -> ok end,
         ok = ?WILD:ping(30),
         try ?WILD:raise(K) catch _:_ -> ok end,
         try ?WILD:again({again, [minor], {raise, exit}}) catch _:_ -> ok end
     end || K <- [throw, error, exit, badmatch, function_clause, badarg]],
    beast().

tame({P, M}) ->
    P ! stop,
    receive {'DOWN', M, process, P, {killed, N}} -> N end.

wild_counts(H) ->
    {ok, Aggs} = erltrace:aggregations(H),
    maps:from_list([{W, lists:sum([N || {<<"wild">>, count, [K, _], N} <- Aggs, K =:= atom_to_binary(W)])}
                    || W <- [e, t, r, x]]).

wild_text(#{e := E, t := T, r := R, x := X}, Killed) ->
    io_lib:format("~b calls + ~b tail calls, ~b returns, ~b exceptions, ~b processes killed anywhere, the "
                  "code replaced all the while", [E, T, R, X, Killed]).

%% A process that is killed leaves so many calls at most; one that old code is purged under, too.
wild_ok(#{e := E, r := R, x := X}, Killed) ->
    Most = 30 * (2 * Killed + 4),
    E > 0 andalso R + X =< E andalso E - R - X =< Most.

%% ---- soak ------------------------------------------------------------------------------------

soak(Seconds) ->
    Ways = calls_mix_tests:ways(),
    Until = now_ms() + 1000 * Seconds,
    calls_mix:count_loads(),
    Wild = wild(),
    {Turns, Counts, Seen} = soak(Ways, Until, 1, #{}, []),
    Killed = tame(Wild),
    Kept = maps:from_list([{M, kept_by_vm(M, File, Code)} || {M, _, File, Code} <- calls_mix:loads()]),
    Sizes = [Kb || {Kb, _} <- Seen],
    Ours = [Kb - lists:sum([N * map_get(M, Kept) || {M, N, _, _} <- Loads]) || {Kb, Loads} <- Seen],
    N = max(1, length(Sizes) div 4),
    %% The least of a quarter: what leaks stays, what a busy machine lets pile up goes again.
    Early = lists:min(lists:sublist(Ours, min(N + 1, length(Ours)), N)),
    Late = lists:min(lists:nthtail(min(3 * N, length(Ours) - 1), Ours)),
    say("soak of ~b s by ~p: ~b handles, ~b calls, ~b events, all counted, none lost; ~b wild processes "
        "killed; resident, but for what the VM keeps of loaded code, at least ~.1f MB in its second quarter, "
        "~.1f in its last",
        [Seconds, Ways, Turns, calls_mix:total([e, t], Counts), calls_mix:total([e, t, r, x], Counts),
         Killed, Early / 1024, Late / 1024]),
    say("soak, what the VM keeps each time that code is loaded, without a script: ~s",
        [lists:join(", ", [io_lib:format("~s ~b times ~.1f kB", [M, K, float(map_get(M, Kept))])
                           || {M, K, _, _} <- element(2, lists:last(Seen))])]),
    say("soak, MB resident, the least of each tenth: ~s; without that: ~s", [tenths(Sizes), tenths(Ours)]),
    Late =< 1.02 * Early + 2048.

%% Before OTP 27 the VM never frees what it tells debuggers of a module that it loads
%% (beam_jit_metadata.cpp). kB for each load, while nothing is traced.
kept_by_vm(Module, File, Code) ->
    load_again(Module, File, Code, 2000), % first, what is free is used again
    Before = kb(),
    load_again(Module, File, Code, 2000),
    max(0, kb() - Before) / 2000.

load_again(Module, File, Code, Times) ->
    [begin
         code:purge(Module),
         {module, Module} = code:load_binary(Module, File, Code)
     end || _ <- lists:seq(1, Times)],
    [garbage_collect(P) || P <- processes()].

tenths(Sizes) ->
    N = max(1, length(Sizes) div 10),
    lists:join(" ", [io_lib:format("~.1f", [lists:min(lists:sublist(Sizes, I, N)) / 1024])
                     || I <- lists:seq(1, length(Sizes) - N + 1, N)]).

%% A handle, a seed, and another tool each fourth time.
soak(Ways, Until, Seed, Counts, Seen) ->
    Way = lists:nth(1 + Seed div 4 rem length(Ways), Ways),
    Legal = [T || T <- calls_mix:tools(), calls_mix_tests:legal(Way, T)],
    More = try Seed rem 4 of
               0 -> calls_mix_tests:tool(Way, lists:nth(1 + Seed div 8 rem length(Legal), Legal), Seed, 20);
               _ ->
                   H = calls_mix_tests:open(Way, [calls_mix:script(), wild_script()]),
                   Batch = batch(H, Seed, ?BATCH div 20, #{}),
                   ok = erltrace:close(H),
                   Batch
           catch
               C:R:S ->
                   io:format("seed ~b, ~s~n", [Seed, Way]),
                   erlang:raise(C, R, S)
           end,
    garbage_collect(),
    All = [{kb(), calls_mix:loads()} | Seen],
    case now_ms() < Until of
        true -> soak(Ways, Until, Seed + 1, calls_mix:sum([Counts, More]), All);
        false -> {Seed, calls_mix:sum([Counts, More]), lists:reverse(All)}
    end.

kb() ->
    {ok, B} = file:read_file("/proc/self/status"),
    {match, [K]} = re:run(B, "VmRSS:\\s+(\\d+)", [{capture, [1], list}]),
    list_to_integer(K).
