%% SPDX-License-Identifier: Apache-2.0
%% Clauses as they run in a node, where what they read comes from Erlang terms.
-module(clause_tests).
-export([dear/1, cheap/1]).
-include_lib("eunit/include/eunit.hrl").

%% copyinstr(arg6) is read once in a clause: on every way through it, it must have been read.
copyinstr_under_conditions_test() ->
    P = "erlang*:::user_trace-i4s4 ",
    Script = P ++ "/arg2 == 1 || copyinstr(arg6) == \"b\"/ { @either[copyinstr(arg6)] = count(); }" ++
        P ++ "/arg2 == 2 && copyinstr(arg6) == \"b\"/ { @both[copyinstr(arg6)] = count(); }" ++
        P ++ "{ this->s = arg2 == 1 ? copyinstr(arg6) : \"other\";"
        "       @choice[this->s, copyinstr(arg6)] = count(); }" ++
        P ++ "{ if (arg2 == 1) { @yes[copyinstr(arg6)] = count(); }"
        "       else { @no[copyinstr(arg6), copyinstr(arg6)] = count(); } }" ++
        P ++ "/copyinstr(arg6) != \"a\"/ { @twice[copyinstr(arg6)] = count();"
        "       @twice[copyinstr(arg6)] = count(); }",
    {ok, H} = erltrace:script(Script),
    [true = dtrace:p(N, S) || {N, S} <- [{1, "a"}, {2, "b"}, {3, "c"}]],
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual([{<<"both">>, count, [<<"b">>], 1},
                  {<<"choice">>, count, [<<"a">>, <<"a">>], 1},
                  {<<"choice">>, count, [<<"other">>, <<"b">>], 1},
                  {<<"choice">>, count, [<<"other">>, <<"c">>], 1},
                  {<<"either">>, count, [<<"a">>], 1},
                  {<<"either">>, count, [<<"b">>], 1},
                  {<<"no">>, count, [<<"b">>, <<"b">>], 1},
                  {<<"no">>, count, [<<"c">>, <<"c">>], 1},
                  {<<"twice">>, count, [<<"b">>], 2},
                  {<<"twice">>, count, [<<"c">>], 2},
                  {<<"yes">>, count, [<<"a">>], 1}], lists:sort(Aggs)).

%% Variables are remembered by their last keys: of two processes and many names each has its own.
self_by_name_test() ->
    Script = "erlang*:::user_trace-i4s4 { self->n[copyinstr(arg6)] += arg2; self->last = arg2;"
             "  @[copyinstr(arg0), copyinstr(arg6)] = max(self->n[copyinstr(arg6)]);"
             "  @last[copyinstr(arg0)] = max(self->last); }",
    {ok, H} = erltrace:script(Script),
    Me = self(),
    Work = fun(K) -> fun() ->
                             [true = dtrace:p(K, integer_to_list(I)) || _ <- lists:seq(1, 10),
                                                                        I <- lists:seq(1, 200)],
                             Me ! {done, K, pid_to_list(self())}
                     end
           end,
    [spawn(Work(K)) || K <- [1, 2, 3]],
    Pids = [receive {done, K, P} -> {list_to_binary(P), K} end || K <- [1, 2, 3]],
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    ?assertEqual(lists:sort([{<<"_">>, max, [P, integer_to_binary(I)], 10 * K} ||
                                {P, K} <- Pids, I <- lists:seq(1, 200)] ++
                                [{<<"last">>, max, [P], K} || {P, K} <- Pids]),
                 lists:sort(Aggs)).

%% What events take is estimated from some of them: after dear ones, cheap ones must not be taken
%% to have used more time than there was.
vtimestamp_after_dear_events_test() ->
    Long = lists:flatten(lists:duplicate(30, "this->s = strjoin(this->s, \"abc\"); ")),
    Script = "erlang*:clause_tests:dear:function-entry { this->s = \"\"; " ++ Long ++
        "@v = max(vtimestamp); @low = min(vtimestamp); }"
        "erlang*:clause_tests:cheap:function-entry { @v = max(vtimestamp); @low = min(vtimestamp); }",
    {ok, H} = erltrace:script(Script),
    T0 = erlang:monotonic_time(nanosecond),
    [begin
         {P, M} = spawn_monitor(Work),
         receive {'DOWN', M, process, P, normal} -> ok end
     end || _ <- lists:seq(1, 20),
            Work <- [fun() -> [?MODULE:dear(N) || N <- lists:seq(1, 300)] end,
                     fun() -> cheaps(20) end]],
    Took = erlang:monotonic_time(nanosecond) - T0,
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    [{<<"low">>, min, [], Low}, {<<"v">>, max, [], V}] = lists:sort(Aggs),
    ?assert(Low >= 0),
    ?assert(V > 0),
    ?assert(V =< Took).

cheaps(0) -> ok;
cheaps(N) -> ?MODULE:cheap(N), cheaps(N - 1).

dear(N) -> N.
cheap(N) -> N.
