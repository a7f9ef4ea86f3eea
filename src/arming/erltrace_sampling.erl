%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc profile-N inside the node (c_src/beam/sample/sampler.h): is it possible? Before the first
%% script that samples, once for each library in a node, erltrace_find has what a signal handler
%% needs searched for (c_src/beam/sample/sampler_find.c), on every scheduler; then samples of a
%% process of this module are taken, in Erlang code, a BIF, a NIF and a dirty NIF, whose stacks must
%% be right. If anything is not as known, the answer is why, and scripts that sample do not start.
-module(erltrace_sampling).
-export([available/0]).
-export([observe/0, self_test/0]). % for erltrace_find
-export([test_1/1, test_2/1, test_3/1]). % whose stacks are tested

-type kind() :: erlang | bif | nif | dirty.

-define(ENOUGH, 3).    % right samples of each kind
-define(DIRTY, 1000).  % ms to wait for a dirty scheduler
-define(WAIT, 120000). % ms for these: then it is not known, and the next script tries again

%% @doc Can samples be taken in this node?
-spec available() -> erltrace_find:answer().
available() ->
    case forbidden() of
        <<>> ->
            Known = erltrace_find:known(sampling),
            % samples come before the script is armed
            _ = Known =:= ok andalso erltrace_code:prepare(),
            Known;
        Why ->
            erltrace_find:refuse(sampling, Why)
    end.

forbidden() ->
    case {lists:member(false, erltrace_app:setting(sampling)),
          lists:member(false, erltrace_app:setting(vm_internals))} of
        {true, _} -> <<"the node's setting sampling is false">>;
        {_, true} -> <<"the node's setting vm_internals is false">>;
        _ -> <<>>
    end.

%% @doc What the library observes, as c_src/beam/sample/sampler_find.c says. Without names samples
%% have none.
-spec observe() -> erltrace_find:outcome().
observe() ->
    _ = erltrace_find:known(name),
    erltrace_find:all_ok(
        [fun code/0] ++
            [
                fun() -> on_scheduler(N) end
             || N <- lists:seq(1, erlang:system_info(schedulers_online))
            ] ++
            [
                fun dirty/0,
                fun() -> in_process(fun sensitive/0, []) end,
                fun() -> erltrace_nif:find(sampling, {export, fun lists:map/2}) end
            ]
    ).

code() ->
    case erltrace_code:prepare() of
        ok -> ok;
        {refused, Why} -> {refused, ["the loaded code is not known: ", Why]}
    end.

%% The option is not documented, and the type of spawn_opt/2 leaves it out.
on_scheduler(N) ->
    in_process(fun look_here/0, [list_to_tuple([scheduler, N])]).

in_process(Fun, Options) -> erltrace_find:in_process(Fun, [{priority, high} | Options]).

%% All dirty schedulers may be taken for ever: then samples do not tell what these run.
dirty() ->
    {P, M} = spawn_opt(erltrace_find, result, [fun() -> erltrace_nif:sampling_dirty(dirty) end],
                       [monitor, {priority, high}]),
    receive
        {'DOWN', M, process, P, {result, R}} -> R;
        {'DOWN', M, process, P, Why} -> {refused, erltrace_find:text("~0P", [Why, 20])}
    after ?DIRTY ->
        exit(P, kill),
        receive {'DOWN', M, process, P, _} -> ok end
    end.

look_here() ->
    erltrace_nif:find(sampling, {scheduler, erlang:system_info(scheduler_id)}).

sensitive() ->
    erltrace_find:all_ok([fun() -> erltrace_nif:find(sampling, {sensitive, 0}) end,
                          fun() ->
                                  _ = process_flag(sensitive, true),
                                  erltrace_nif:find(sampling, {sensitive, 1})
                          end]).

%% ---- the self-test ---------------------------------------------------------------------------

%% @doc Samples of stacks that are known.
-spec self_test() -> erltrace_find:outcome().
self_test() ->
    case erltrace_nif:sampling_wait(test_start) of
        ok ->
            try erltrace_find:all_ok([fun() -> test(Kind) end || Kind <- kinds()])
            after erltrace_nif:find(sampling, test_stop)
            end;
        {refused, Why} -> % signals and timers may be free later
            {try_again, Why}
    end.

kinds() ->
    [erlang, bif, nif | [dirty || erltrace_nif:find(sampling, dirty_known)]].

%% The process counts its rounds, each of which takes about the same CPU time: however busy the
%% machine is, so many of them must have been sampled so often.
test(Kind) ->
    _ = erltrace_nif:find(sampling, test_read),
    Rounds = counters:new(2, []), % the second: it is to end
    {P, M} = spawn_opt(fun() -> test_1({Kind, Rounds}) end, [monitor, {priority, high}]),
    Result = collect(Kind, P, Rounds, {0, []}, erlang:monotonic_time(millisecond) + ?WAIT),
    % one that is killed in a dirty NIF goes on there, and would be sampled
    ok = counters:put(Rounds, 2, 1),
    receive {'DOWN', M, process, P, _} -> Result end.

collect(Kind, Pid, Rounds, {Right, Wrong}, Until) ->
    receive
    after 5 -> ok
    end,
    % before the samples are read
    All = counters:get(Rounds, 1) >= rounds(Kind),
    Samples = [
        {State, Frames}
     || {State, P, _, _, Frames} <- erltrace_nif:find(sampling, test_read), P =:= Pid
    ],
    {Good, Bad} = lists:partition(
        fun(S) -> is_right(Kind, S) end,
        [S || S <- Samples, is_about(Kind, S)]
    ),
    Sum = {Right + length(Good), Bad ++ Wrong},
    case judge(Sum, All, erlang:monotonic_time(millisecond) > Until) of
        go_on ->
            collect(Kind, Pid, Rounds, Sum, Until);
        ok ->
            ok;
        few ->
            {try_again,
                erltrace_find:text("only ~b samples of ~s came in ~b rounds", [
                    element(1, Sum), Kind, rounds(Kind)
                ])};
        wrong ->
            {refused,
                erltrace_find:text(
                    "~b samples of ~s are right, ~b are wrong, such as ~0tP",
                    [element(1, Sum), Kind, length(element(2, Sum)), hd(element(2, Sum)), 60]
                )};
        late ->
            {try_again,
                erltrace_find:text(
                    "the machine is too busy: ~b rounds of ~b took ~b s",
                    [counters:get(Rounds, 1), rounds(Kind), ?WAIT div 1000]
                )}
    end.

%% A few may be taken where a stack is not whole: between a call and its return address, say. So
%% until all rounds are done nothing is wrong. Too few are no proof of anything: the next script
%% tries again.
judge({Right, Wrong}, _, _) when Right >= ?ENOUGH, Right >= 9 * length(Wrong) -> ok;
judge({Right, Wrong}, true, _) when Right >= ?ENOUGH, Right >= 4 * length(Wrong) -> ok;
judge({_, []}, true, _) -> few;
judge(_, true, _) -> wrong;
judge(_, false, true) -> late;
judge(_, false, false) -> go_on.

%% What the process does besides, such as being scheduled, is not what is tested.
is_about(Kind, {State, _}) -> State =:= atom_to_binary(Kind).

is_right(Kind, {_, Frames}) ->
    Newest = newest(Kind),
    case Frames of
        [F | Rest] when Kind =/= erlang, F =:= Newest -> has_chain(Rest);
        _ when Kind =:= erlang -> has_chain(Frames);
        _ -> false
    end.

newest(erlang) -> none;
newest(bif) -> <<"lists:member/2">>;
newest(nif) -> <<"erltrace_nif:find/2">>;
newest(dirty) -> <<"erltrace_nif:sampling_dirty/1">>.

has_chain(Frames) ->
    Chain = [<<"erltrace_sampling:test_3/1">>, <<"erltrace_sampling:test_2/1">>,
             <<"erltrace_sampling:test_1/1">>],
    Own = lists:dropwhile(fun(F) -> F =:= <<"erltrace_sampling:count/2">> end, Frames),
    lists:prefix(Chain, Own).

%% A second of CPU time or two, in which the kernel's clock ticks a hundred times at least.
rounds(erlang) -> 16000;
rounds(bif) -> 16000;
rounds(nif) -> 2000;
rounds(dirty) -> 50.

%% These stay on the stack while the work is done. Others may work too, now and then. But not often:
%% on a busy machine a thread that has slept goes on when the clock ticks. If it slept again before
%% the next tick it would never be sampled, so it works for several ticks. A dirty scheduler sleeps
%% after each call, so each of these takes that long.
-define(NAPS, 40).

-spec test_1({kind(), counters:counters_ref()}) -> ok.
test_1({Kind, Rounds} = Test) ->
    ok = counters:add(Rounds, 1, 1),
    _ = test_2(Kind),
    _ = counters:get(Rounds, 1) rem (rounds(Kind) div ?NAPS) =:= 0 andalso receive
    after 1 -> ok
    end,
    case counters:get(Rounds, 2) of
        0 -> test_1(Test);
        1 -> ok
    end.

-spec test_2(kind()) -> {term()}.
test_2(Kind) -> X = test_3(Kind), {X}.

-spec test_3(kind()) -> {term()}.
test_3(erlang) -> X = count(20000, 1), {X};
test_3(bif) -> X = lists:member(none, list()), {X};
test_3(nif) -> X = erltrace_nif:find(sampling, {burn, 500}), erlang:bump_reductions(2000), {X};
test_3(dirty) -> X = erltrace_nif:sampling_dirty({burn, 20000}), {X}.

count(0, X) -> X;
count(N, X) -> count(N - 1, (X * 48271 + 12345) band 16#3fffffff).

list() ->
    case get(list) of
        undefined -> L = lists:seq(1, 50000), _ = put(list, L), L;
        L -> L
    end.
