%% SPDX-License-Identifier: Apache-2.0
%% Aggregations against a plain model: random values with random keys, the edges of 64 bits among
%% them, fired by two processes at once into every aggregating function.
-module(prop_aggregations).
-include_lib("proper/include/proper.hrl").
-export([prop_functions/0, prop_walks/0]).

-define(MIN, (-1 bsl 63)).
-define(MAX, ((1 bsl 63) - 1)).

%% ---- what is fired ---------------------------------------------------------------------------

value() ->
    frequency([{4, integer(-200, 200)},
               {2, integer(-20000, 20000)},
               {2, ?LET(N, integer(0, 62), elements([1 bsl N, -(1 bsl N), (1 bsl N) - 1,
                                                     1 - (1 bsl N), (1 bsl N) + 1]))},
               {1, integer(?MIN, ?MAX)},
               {1, elements([0, 1, -1, ?MIN, ?MAX, ?MIN + 1, ?MAX - 1])}]).

key() ->
    frequency([{3, elements([<<"a">>, <<"b">>, <<"c">>])},
               {1, ?LET(L, list(integer(1, 255)), list_to_binary(L))}]).

events() -> list({key(), value()}).

%% In two processes, which have ended when this returns.
fire(Events) ->
    {One, Two} = lists:split(length(Events) div 2, Events),
    Ps = [spawn_monitor(fun() -> [true = dtrace:pn(901, V, K) || {K, V} <- Es] end)
          || Es <- [One, Two]],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps].

%% ---- properties ------------------------------------------------------------------------------

-define(SCRIPT,
        "erlang*:::user_trace-n901 { this->k = copyinstr(arg6);"
        "@count[this->k] = count(); @sum[this->k] = sum(arg2); @min[this->k] = min(arg2);"
        "@max[this->k] = max(arg2); @avg[this->k] = avg(arg2); @stddev[this->k] = stddev(arg2);"
        "@quantize[this->k] = quantize(arg2); @lquantize[this->k] = lquantize(arg2, -100, 100, 10);"
        "@llquantize[this->k] = llquantize(arg2, 10, 0, 3, 10);"
        "@percentile[this->k] = percentile(arg2, 1, 50, 90, 99.9, 100); }").

prop_functions() ->
    ?FORALL(Events, events(),
            begin
                {ok, H} = erltrace:script(?SCRIPT),
                fire(Events),
                {ok, Aggs} = erltrace:aggregations(H),
                ok = erltrace:close(H),
                Got = maps:from_list([{{Fn, K}, V} || {_, Fn, [K], V} <- Aggs]),
                Want = maps:from_list([{{Fn, K}, model(Fn, Vs)} ||
                                          {K, Vs} <- by_key(Events), Fn <- functions()]),
                Bad = [{Id, Want1, maps:get(Id, Got, none)} ||
                          {Id, Want1} <- maps:to_list(Want),
                          not same(Id, maps:get(Id, Got, none), Want1, Events)],
                ?WHENFAIL(io:format("~p~n~p~n", [Bad, maps:keys(Got) -- maps:keys(Want)]),
                          Bad =:= [] andalso map_size(Got) =:= map_size(Want))
            end).

%% Walks share out what was fired: each is what came since the one before.
prop_walks() ->
    ?FORALL(Parts, list(events()),
            begin
                {ok, H} = erltrace:script("erlang*:::user_trace-n901"
                                          "{ @[copyinstr(arg6)] = count(); }"),
                Walked = [begin
                              fire(Events),
                              case erltrace:walk(H) of
                                  ok -> [];
                                  {ok, Aggs} -> [{list_to_binary(K), N} || {count, [K], N} <- Aggs]
                              end
                          end || Events <- Parts],
                ok = erltrace:close(H),
                lists:all(fun({Events, Counts}) ->
                                  lists:sort(Counts) =:=
                                      [{K, length(Vs)} || {K, Vs} <- by_key(Events)]
                          end, lists:zip(Parts, Walked))
            end).

%% ---- the model -------------------------------------------------------------------------------

functions() -> [count, sum, min, max, avg, stddev, quantize, lquantize, llquantize, percentile].

by_key(Events) ->
    Map = lists:foldl(fun({K, V}, M) -> M#{K => [V | maps:get(K, M, [])]} end, #{}, Events),
    lists:sort(maps:to_list(Map)).

wrap(N) ->
    <<Signed:64/signed>> = <<N:64>>,
    Signed.

model(count, Vs) -> length(Vs);
model(sum, Vs) -> wrap(lists:sum(Vs));
model(min, Vs) -> lists:min(Vs);
model(max, Vs) -> lists:max(Vs);
model(avg, Vs) -> wrap(lists:sum(Vs)) / length(Vs);
model(stddev, Vs) ->
    N = length(Vs),
    Squares = lists:sum([V * V || V <- Vs]) band ((1 bsl 128) - 1),
    Sum = wrap(lists:sum(Vs)),
    math:sqrt(max(0, N * Squares - Sum * Sum) / (N * N));
model(percentile, Vs) ->
    Sorted = lists:sort(Vs),
    [{P, lists:nth(ceil(P * length(Vs) / 100), Sorted)} || P <- [1, 50, 90, 99.9, 100]];
model(Fn, Vs) ->
    Counts = lists:foldl(fun(V, M) -> B = bucket(Fn, V), M#{B => maps:get(B, M, 0) + 1} end,
                         #{}, Vs),
    lists:sort(maps:to_list(Counts)).

bucket(_, V) when V < ?MIN; V > ?MAX -> error(badarg);
bucket(lquantize, V) when V < -100 -> {?MIN, -101};
bucket(lquantize, V) when V >= 100 -> {100, ?MAX};
bucket(lquantize, V) ->
    Low = (V + 100) div 10 * 10 - 100,
    {Low, Low + 9};
bucket(_, 0) -> {0, 0};
bucket(Fn, V) when V < 0 ->
    case bucket(Fn, min(-V, ?MAX)) of
        {Low, ?MAX} -> {?MIN, -Low};
        {Low, High} -> {-High, -Low}
    end;
bucket(quantize, V) ->
    Low = 1 bsl (length(integer_to_list(V, 2)) - 1),
    {Low, 2 * Low - 1};
bucket(llquantize, V) when V >= 10000 -> {10000, ?MAX};
bucket(llquantize, V) ->
    Step = round(math:pow(10, length(integer_to_list(V)) - 1)),
    Low = V div Step * Step,
    {Low, Low + Step - 1}.

%% Floats: as near as long doubles come to them.
same({Fn, K}, Got, Want, Events) when is_float(Got), Fn =:= avg orelse Fn =:= stddev ->
    Large = lists:max([abs(V) || {Key, V} <- Events, Key =:= K]),
    abs(Got - Want) =< 1.0e-8 * max(1, Large);
%% Percentiles: at most 1/64 off.
same({percentile, _}, Got, Want, _) when length(Got) =:= length(Want) ->
    lists:all(fun({{P, G}, {P, W}}) -> 64 * abs(G - W) =< abs(W) end, lists:zip(Got, Want));
same(_, Got, Want, _) ->
    Got =:= Want.
