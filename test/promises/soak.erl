%% SPDX-License-Identifier: Apache-2.0
%% A hundred thousand events a second for as long as is asked for, of several kinds, while modules
%% are loaded, upgraded and purged, processes come and go, handles are opened and closed beside it,
%% and results are read. Memory stays flat, every event is accounted for, nothing is left.
%% erl +P 32768 -run soak main SECONDS RATE. The last line is "N passed, N failed".
-module(soak).
-export([main/1, f/1]).

f(X) -> X.

-define(SCRIPT,
        "erlang*:soak:f:function-entry { self->t[copyinstr(arg1)] = timestamp; @calls = count(); }"
        "erlang*:soak:f:function-return /self->t[copyinstr(arg1)]/"
        "{ @time[copyinstr(arg1)] = quantize(timestamp - self->t[copyinstr(arg1)]);"
        "  self->t[copyinstr(arg1)] = 0; @returns = count(); }"
        "erlang*:::user_trace-i4s4 { @users = count(); @keys[arg2 % 1000] = sum(arg2); }"
        "erlang*:::user_trace-i4s4 /arg2 % 10 == 0/ { trace(arg2); }"
        "erlang*:::process-spawn { @spawns = count(); } erlang*:::process-exit { @exits = count(); }"
        "erlang*:soak_code::function-entry { @code = count(); }").

main([Seconds, Rate]) ->
    Bad = try run(list_to_integer(Seconds), list_to_integer(Rate)) of
              true -> 0;
              false -> 1
          catch C:R:S -> io:format("~p~n", [{C, R, S}]), 1
          end,
    io:format("~b passed, ~b failed~n", [1 - Bad, Bad]),
    halt(Bad).

run(Seconds, Rate) ->
    load(0),
    life_tests:warm_up(),
    Before = life_tests:look(),
    {ok, H} = erltrace:open(),
    %% Small, so that all of it has soon been used: what grows then is a leak.
    [ok = erltrace:setopt(H, K, V) || {K, V} <- [{"dynvarsize", "1m"}, {"bufsize", "64k"}, {"aggsize", "256k"}]],
    ok = erltrace:compile(H, ?SCRIPT),
    ok = erltrace:go(H),
    %% What is kept of a process has its place by its number: each place has been used once.
    spawn_many(erlang:system_info(process_limit)),
    _ = erltrace:consume(H),
    {ok, First} = erltrace:aggregations(H),
    Churn = spawn_monitor(fun() -> churn(1) end),
    Beside = spawn_monitor(fun beside/0),
    Began = now_ms(),
    St = seconds(H, Rate, Began, Began + 1000 * Seconds,
                 #{calls => 0, users => 0, traced => 0, records => 0, drops => #{}, samples => []}),
    End = now_ms(),
    [begin P ! stop, receive {'DOWN', M, process, P, R} -> normal = R end end
     || {P, M} <- [Churn, Beside]],
    ok = erltrace:stop(H),
    St1 = read_out(H, St),
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ok = life_tests:same(Before),
    told(St1, Aggs, First, End - Began).

%% Each tenth of a second a tenth of the events: two of a call, one of dtrace:p.
seconds(H, Rate, Began, Until, #{calls := C, users := U, traced := T} = St) ->
    Now = now_ms(),
    Due = (Now - Began) * Rate div 1000 - 2 * C - U,
    N = min(Rate div 10, max(0, Due div 3)), % what a busy machine missed is not made up for at once
    {P, M} = spawn_monitor(fun() -> fire(N) end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    St1 = look(H, Now, St#{calls := C + N, users := U + N, traced := T + N div 10}),
    receive after max(0, 100 - (now_ms() - Now)) -> ok end,
    case now_ms() < Until of
        true -> seconds(H, Rate, Began, Until, St1);
        false -> St1
    end.

fire(0) -> ok;
fire(N) -> ?MODULE:f(N), true = dtrace:p(N), fire(N - 1).

%% Read what there is; each second or so how much memory there is.
look(H, Now, #{samples := Ss} = St) ->
    St1 = items(erltrace:consume(H), St),
    case Ss of
        [{T, _} | _] when Now - T < 1000 -> St1;
        _ ->
            garbage_collect(),
            St1#{samples := [{Now, kb("VmRSS")} | Ss]}
    end.

items({ok, Items}, #{records := R, drops := D} = St) ->
    Drops = lists:foldl(fun({drop, K, N, _}, Acc) -> Acc#{K => N + maps:get(K, Acc, 0)};
                           (_, Acc) -> Acc
                        end, D, Items),
    St#{records := R + length([x || {probe, _, _} <- Items]), drops := Drops};
items(_, St) -> St.

read_out(H, St) ->
    case erltrace:consume(H) of
        {ok, _} = Items -> read_out(H, items(Items, St));
        _ -> St
    end.

%% ---- meanwhile -------------------------------------------------------------------------------

load(V) ->
    {ok, soak_code, Bin} = compile:forms(
        [{attribute, 1, module, soak_code}, {attribute, 1, export, [{v, 0}]},
         {function, 1, v, 0, [{clause, 1, [], [], [{integer, 1, V}]}]}]),
    {module, soak_code} = code:load_binary(soak_code, "none", Bin).

%% A module is loaded anew or deleted and purged, processes come and go.
churn(N) ->
    code:purge(soak_code), % the one before the last
    load(N rem 1000),
    _ = soak_code:v(),
    spawn_many(100),
    N rem 3 =:= 0 andalso begin code:purge(soak_code), code:delete(soak_code) end,
    receive stop -> ok after 100 -> churn(N + 1) end.

spawn_many(N) when N =< 0 -> ok;
spawn_many(N) ->
    Ms = [spawn_monitor(fun() -> ?MODULE:f(1) end) || _ <- lists:seq(1, 100)],
    [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ms],
    spawn_many(N - 100).

%% Other handles come and go; sometimes their owner is killed.
beside() ->
    {P, M} = spawn_monitor(fun() ->
                                   {ok, H} = erltrace:script("erlang*:::message-send,"
                                       "erlang*:soak:f:function-return { @ = count(); }"),
                                   _ = erltrace:walk(H),
                                   case rand:uniform(2) of
                                       1 -> ok = erltrace:close(H);
                                       2 -> exit(kill)
                                   end
                           end),
    receive {'DOWN', M, process, P, _} -> ok end,
    receive stop -> ok after 500 -> beside() end.

%% ---- what came of it -------------------------------------------------------------------------

told(#{calls := C, users := U, traced := T, records := R, drops := Drops, samples := Ss}, Aggs, First, Ms) ->
    Count = fun(Name) -> count(Name, Aggs) - count(Name, First) end,
    Sizes = [K || {_, K} <- lists:reverse(Ss)],
    {Early, Late} = quarters(Sizes),
    Events = lists:sum([Count(N) || N <- [<<"calls">>, <<"returns">>, <<"users">>, <<"spawns">>,
                                          <<"exits">>, <<"code">>]]),
    Dropped = maps:get("PRINCIPAL", Drops, 0),
    io:format("promise 12: ~b s, ~b events (~b a second), beside modules loaded and purged, handles "
              "and ~b processes come and gone; resident at least ~.1f MB in its second quarter, "
              "~.1f in its last: ~s~n",
              [Ms div 1000, Events, Events * 1000 div Ms, Count(<<"spawns">>), Early / 1024,
               Late / 1024, percent(Early, Late)]),
    io:format("promise 4: soak: ~b calls of ~b and what the churn calls, ~b of ~b user probes, "
              "~b records + ~b dropped of ~b~n",
              [Count(<<"calls">>), C, Count(<<"users">>), U, R, Dropped, T]),
    io:format("drops: ~p~nsizes: ~w~n", [Drops, thinned(Sizes, max(1, length(Sizes) div 100))]),
    Late =< 1.02 * Early + 2048 andalso Count(<<"calls">>) >= C andalso Count(<<"users">>) =:= U
        andalso R + Dropped =:= T.

count(Name, Aggs) -> lists:sum([V || {A, _, _, V} <- Aggs, A =:= Name, is_integer(V)]).

%% The least of a quarter: what leaks stays, what a busy machine lets pile up goes again.
quarters(Sizes) ->
    N = max(1, length(Sizes) div 4),
    {lists:min(lists:sublist(Sizes, N + 1, N)), lists:min(lists:nthtail(3 * N, Sizes))}.

thinned([], _) -> [];
thinned([Size | Rest], Every) ->
    [Size | thinned(lists:nthtail(min(Every - 1, length(Rest)), Rest), Every)].

percent(Early, Late) -> io_lib:format("~.2f %", [100 * (Late - Early) / Early]).

kb(What) ->
    {ok, B} = file:read_file("/proc/self/status"),
    {match, [K]} = re:run(B, What ++ ":\\s+(\\d+)", [{capture, [1], list}]),
    list_to_integer(K).

now_ms() -> erlang:monotonic_time(millisecond).
