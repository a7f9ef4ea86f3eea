%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Numbers of processes that the library reads in the VM, without asking them
%% (c_src/beam/state/proc_words.c), and the search for them: processes of ours that wait with known
%% numbers.
-module(erltrace_words).
-export([observe/0, look/1]).
-export([taker/2]). % spawned
-export_type([look/0]).

-define(SAMPLES, 6).
-define(TIMEOUT, 5000). % ms for a sample to come to rest

%% Heap and binaries in words.
-type look() :: {
    pid(),
    Mailbox :: non_neg_integer(),
    Reductions :: non_neg_integer(),
    Heap :: non_neg_integer(),
    Binaries :: non_neg_integer(),
    HasMonitors :: boolean()
}.

%% @doc Of those of these processes that there are, in some order.
-spec look([pid()]) -> [look()].
look(Pids) ->
    erltrace_nif:proc_words(Pids).

%% @doc All of them at the same time: in a busy node each answer is a turn of somebody else away.
%% They live until the library has read them: that is when it concludes.
-spec observe() -> concluded | {refused | try_again, binary()}.
observe() ->
    Me = self(),
    Samples = [sample(N) || N <- lists:seq(1, ?SAMPLES)],
    Takers = [spawn_opt(?MODULE, taker, [S, Me], [link, {priority, high}]) || S <- Samples],
    Found = [receive {T, Numbers} -> Numbers end || T <- Takers],
    Outcome = case lists:member(none, Found) of
                  true ->
                      {try_again, <<"the node is too busy">>};
                  false ->
                      ok = erltrace_nif:find(numbers, {limit, erlang:system_info(process_limit)}),
                      [ok = erltrace_nif:find(numbers, {observe, N}) || N <- Found],
                      case erltrace_nif:find(numbers, conclude) of
                          ok -> concluded;
                          Refused -> Refused
                      end
              end,
    [begin unlink(T), exit(T, kill) end || T <- Takers],
    [exit(P, kill) || {P, _, _, _} <- Samples],
    Outcome.

-type sample() :: {pid(), Inner :: pos_integer(), Outer :: pos_integer(), Monitors :: 0..1}.

%% A process is suspended as long as the one lives that has suspended it.
-spec taker(sample(), pid()) -> no_return().
taker({Sample, Inner, _, _} = S, Me) ->
    process_flag(sensitive, true),
    M = erlang:monitor(process, Sample),
    Sample ! {self(), are_you_ready},
    Is = receive
             {Sample, ready} -> true;
             {'DOWN', M, process, Sample, _} -> false
         after ?TIMEOUT -> false
         end,
    erlang:demonitor(M, [flush]),
    [Sample ! K || K <- lists:seq(1, Inner)],
    Me ! {self(), try true = Is, numbers(S) catch error:{badmatch, _} -> none end},
    receive after infinity -> ok end.

%% It has an old heap and a new one, and binaries of both; messages that it has looked at, and
%% others that it has not, as it is suspended.
sample(N) ->
    Me = self(),
    P = spawn_opt(fun() ->
                          process_flag(sensitive, true),
                          process_flag(priority, high),
                          _ = N rem 2 =:= 0 orelse erlang:monitor(process, Me),
                          Old = grow(N),
                          erlang:garbage_collect(self(), [{type, major}]),
                          erlang:garbage_collect(self(), [{type, minor}]),
                          erlang:garbage_collect(self(), [{type, minor}]),
                          New = erlang:make_tuple(150 bsl N, N), % heaps come in certain sizes
                          Binary = binary:copy(<<1>>, 3000 * N + 700),
                          erlang:garbage_collect(self(), [{type, minor}]),
                          receive {Taker, are_you_ready} -> Taker ! {self(), ready} end,
                          receive {Me, stop} -> {Old, New, Binary} end
                  end, [{fullsweep_after, 1000}, {message_queue_data, off_heap}]),
    {P, 5 * N + 3, 7 * N + 80, N rem 2}.

%% Not so much that the VM would collect it on a dirty scheduler: these may all be taken.
grow(N) ->
    {lists:seq(1, 200 bsl N), binary:copy(<<1>>, 5000 * N + 300)}.

numbers({P, Inner, Outer, Monitors}) ->
    case rests(P, erlang:monotonic_time(millisecond) + ?TIMEOUT) of
        true ->
            true = erlang:suspend_process(P),
            {_, Gc} = process_info(P, garbage_collection_info),
            {_, Inner} = process_info(P, message_queue_len), % takes all in
            {_, Reductions} = process_info(P, reductions),
            [P ! K || K <- lists:seq(1, Outer)],
            {P, Reductions, Inner, Outer, gc(heap_block_size, Gc), gc(old_heap_block_size, Gc),
             gc(bin_vheap_size, Gc), gc(bin_old_vheap_size, Gc), Monitors};
        false ->
            none
    end.

gc(Key, Gc) ->
    {_, N} = lists:keyfind(Key, 1, Gc),
    N.

rests(P, End) ->
    case process_info(P, status) of
        {_, waiting} ->
            true;
        _ ->
            erlang:monotonic_time(millisecond) < End andalso
                begin
                    receive
                    after 1 -> ok
                    end,
                    rests(P, End)
                end
    end.
