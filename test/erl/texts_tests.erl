%% SPDX-License-Identifier: Apache-2.0
%% The texts of an event's arguments: each is its own, however many there are.
-module(texts_tests).
-include_lib("eunit/include/eunit.hrl").

-define(MANY, 3000).

aggregations(Script, Fun) ->
    {ok, H} = erltrace:script(Script),
    try
        Fun(),
        {ok, Aggs} = erltrace:aggregations(H),
        lists:sort([{[binary_to_list(K) || K <- Ks], V} || {_, _, Ks, V} <- Aggs])
    after
        erltrace:close(H)
    end.

quoted(Pid) -> ["\"", pid_to_list(Pid), "\""].

sleepers(N) -> [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, N)].

%% Texts are kept by a hash of their terms, in 512 places: of so many receivers some have the place
%% of the sender. The sender's text was overwritten by theirs before the probe fired.
two_texts_in_one_place_test() ->
    Self = self(),
    Pids = sleepers(?MANY),
    Got = aggregations(["erlang*:::message-send /args[0] == ", quoted(Self), "/"
                        " { @[args[0], args[1]] = count(); }"],
                       fun() -> [P ! nothing || P <- Pids] end),
    Want = lists:sort([{[pid_to_list(Self), pid_to_list(P)], 1} || P <- Pids]),
    To = [pid_to_list(P) || P <- Pids],
    ?assertEqual(Want, [G || {[_, T], _} = G <- Got, lists:member(T, To)]),
    [P ! stop || P <- Pids],
    ok.

%% Two names that are too long to be kept, in one event.
two_long_texts_test() ->
    From = list_to_atom("from_" ++ lists:duplicate(60, $a)),
    To = list_to_atom("to_" ++ lists:duplicate(60, $b)),
    Self = self(),
    {P, Ref} = spawn_monitor(
                 fun() ->
                         register(From, self()),
                         receive go -> ok end,
                         To ! x
                 end),
    Q = spawn(fun() -> register(To, self()), Self ! there, receive stop -> ok end end),
    receive there -> ok end,
    Got = aggregations(["erlang*:::message-send /args[0] == ", quoted(P), "/"
                        " { this->n = erlname; @[this->n, args[1]] = count(); }"],
                       fun() -> P ! go, receive {'DOWN', Ref, _, _, _} -> ok end end),
    ?assertEqual([{[atom_to_list(From), atom_to_list(To)], 1}], Got),
    Q ! stop.

%% The last part of an iolist may be a binary in place of its tail.
iolist_with_a_binary_tail_test() ->
    Got = aggregations("erlang*:::user_trace-i4s4 { @[args[6]] = count(); }",
                       fun() -> true = dtrace:p(1, ["a", $b | <<"c">>]) end),
    ?assertEqual([{["abc"], 1}], Got).
