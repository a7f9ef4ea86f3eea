%% SPDX-License-Identifier: Apache-2.0
%% Promise 18: samples of what the schedulers run are right, cost little, and end when they should.
%%
%%   erl -run samples_promise main right    stacks that are known: how many are whole and right
%%   erl -run samples_promise main cost     work done for a second of CPU time, with samples and without
%%   erl -run samples_promise main often    a thousand scripts, one after the other, on a busy node
%%
%% A figure is a line "promise 18: TEXT"; the last line is "N passed, N failed".
-module(samples_promise).
-export([main/1]).

-define(SAMPLES, 3000).
-define(ROUNDS, 49). % the middle of a dozen is off by 1 % by chance

main([What]) ->
    Bad = try run(What) of
              true -> 0;
              false -> 1
          catch
              C:R:S -> io:format("~0tp~n", [{C, R, S}]), 1
          end,
    io:format("~b passed, ~b failed~n", [1 - Bad, Bad]),
    halt(Bad).

say(Format, Args) -> io:format("promise 18: OTP ~s: " ++ Format ++ "~n", [otp() | Args]).

otp() -> erlang:system_info(otp_release).

run("right") -> right();
run("cost") -> lists:all(fun cost/1, ["97", "997"]);
run("often") ->
    sampler_tests:often(1000),
    say("1,000 scripts started and ended on a busy node, a third of them closed while they ran", []),
    true.

script(Hz) ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "ustackframes", "200"),
    ok = erltrace:compile(H, ["profile-", Hz, " { @[erlpid, erlstate, ustack()] = count(); }"]),
    ok = erltrace:go(H),
    H.

right() ->
    Pids = sampler_load:start(sampler_load:kinds()),
    H = script("997"),
    wait(H),
    ok = erltrace:stop(H),
    sampler_load:stop(Pids),
    {#{total := Total, whole := Whole, wrong := Wrong}, Examples} = sampler_tests:judged(H, Pids),
    Drops = case erltrace:consume(H) of
                {ok, Told} -> [D || D <- Told, element(1, D) =:= drop];
                _ -> []
            end,
    erltrace:close(H),
    say("~b samples of stacks that are known: ~.2f % whole and right, ~b wrong, ~b drops",
        [Total, 100 * Whole / Total, Wrong, length(Drops)]),
    Wrong =:= 0 orelse io:format("~0tp~n", [[E || {wrong, _, _, _, _} = E <- Examples]]),
    Whole >= 0.97 * Total andalso Wrong =< 0.002 * Total andalso Drops =:= [].

wait(H) ->
    case erltrace:status(H) of
        {ok, #{fired := N}} when N >= ?SAMPLES -> ok;
        {ok, #{running := true}} -> receive after 100 -> wait(H) end
    end.

%% ---- what it costs ---------------------------------------------------------------------------

%% Rounds with and without, in turn; each is a second of work on every scheduler. What counts is the
%% work for the CPU time that it took, all threads of the node together: a busy machine gives less time,
%% but not less work for it. The middle of all rounds.
cost(Hz) ->
    _ = round_of(),
    Pairs = [begin
                 Without = round_of(),
                 H = script(Hz),
                 With = round_of(),
                 ok = erltrace:stop(H),
                 erltrace:close(H),
                 With / Without
             end || _ <- lists:seq(1, ?ROUNDS)],
    Kept = 100 * lists:nth((?ROUNDS + 1) div 2, lists:sort(Pairs)),
    say("at ~s Hz ~.1f % of the work is done for the same CPU time", [Hz, Kept]),
    Kept >= case Hz of "97" -> 98; _ -> 95 end.

round_of() ->
    {Work0, Cpu0} = {0, cpu()},
    Self = self(),
    Until = erlang:monotonic_time(millisecond) + 1000,
    Pids = [spawn_link(fun() -> Self ! {self(), work(Until, 0)} end) ||
               _ <- lists:seq(1, erlang:system_info(schedulers_online))],
    Work = Work0 + lists:sum([receive {P, N} -> N end || P <- Pids]),
    Work / max(1, cpu() - Cpu0).

work(Until, N) ->
    _ = sampler_load:run(arith),
    _ = sampler_load:run(bif),
    _ = sampler_load:run(map),
    case erlang:monotonic_time(millisecond) < Until of
        true -> work(Until, N + 1);
        false -> N + 1
    end.

%% us, of the whole node.
cpu() ->
    {ok, F} = file:open("/proc/self/schedstat", [read, raw]),
    file:close(F),
    {ok, Threads} = file:list_dir("/proc/self/task"),
    lists:sum([spent(T) || T <- Threads]) div 1000.

spent(Thread) ->
    case file:open("/proc/self/task/" ++ Thread ++ "/schedstat", [read, raw]) of
        {ok, F} ->
            {ok, Text} = file:read(F, 100),
            file:close(F),
            list_to_integer(hd(string:lexemes(Text, " ")));
        _ -> 0
    end.
