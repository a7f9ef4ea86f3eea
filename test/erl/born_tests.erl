%% SPDX-License-Identifier: Apache-2.0
%% Processes that are born while a script is being armed or taken back: afterwards all are traced,
%% or none is.
-module(born_tests).
-include_lib("eunit/include/eunit.hrl").

-define(SCRIPT, "erlang*:::message-send { @ = count(); }").
-define(MOST, 20000). % at a time

born_while_arming_test_() ->
    {timeout, 300, fun() -> [arm_and_take_back() || _ <- lists:seq(1, 6)] end}.

arm_and_take_back() ->
    {H, Before} = while_born(fun() ->
                                     {ok, H} = erltrace:script(?SCRIPT),
                                     H
                             end),
    ?assertEqual([], traced(false, Before)),
    {ok, After} = while_born(fun() -> erltrace:close(H) end),
    ?assertEqual([], traced(true, Before ++ After)),
    [exit(P, kill) || P <- Before ++ After],
    ok.

%% Those of them that are, or are not, by any way.
traced(Are, Ps) ->
    Sessions = session_tests:sessions(),
    [P || P <- Ps, lists:any(fun({flags, Fs}) -> Fs =/= [] end,
                             [erlang:trace_info(P, flags) |
                              [apply(trace, info, [S, P, flags]) || S <- Sessions]]) =:= Are].

%% Does it while others are born, and returns what it gave and those.
while_born(Fun) ->
    Self = self(),
    Mothers = [spawn_link(fun() -> bear(Self, ?MOST div 2, []) end) || _ <- [1, 2]],
    [receive {born, M} -> ok end || M <- Mothers],
    Result = Fun(),
    [M ! enough || M <- Mothers],
    {Result, lists:append([receive {children, M, Ps} -> Ps end || M <- Mothers])}.

bear(Parent, Left, Ps) ->
    receive
        enough -> Parent ! {children, self(), Ps}
    after (case Left of 0 -> infinity; _ -> 0 end) ->
            P = spawn(fun() -> receive after infinity -> ok end end),
            _ = Ps =:= [] andalso (Parent ! {born, self()}),
            erlang:yield(),
            bear(Parent, Left - 1, [P | Ps])
    end.
