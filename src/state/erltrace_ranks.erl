%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The places of processes by what they have: memory_rank and binary_rank of state:::process.
%% Who of all has most is seen while processes are listed, some at a time. Where the library cannot
%% read that, or nobody wants it, all are the first.
-module(erltrace_ranks).
-export([new/1, add/2, places/2, set/1, place/2, memory/3]).
-export_type([ranked/0, ranks/0]).

%% So many processes have a place of their own; the others are last.
-define(MOST, 1000).
%% Words that a message takes, about.
-define(MESSAGE, 10).

-record(ranks, {memory = #{} :: #{pid() => pos_integer()},
                binary = #{} :: #{pid() => pos_integer()},
                last = 1 :: pos_integer()}).
-opaque ranks() :: #ranks{}.
%% The least that counts, how many there are, these.
-type most() :: {Least :: non_neg_integer(), N :: non_neg_integer(), [{pos_integer(), pid()}]}.
-opaque ranked() :: {Memory :: most(), Binary :: most()} | none.

-spec new(Wanted :: boolean()) -> ranked().
new(true) ->
    case erltrace_find:is_known(numbers) of
        true -> {{0, 0, []}, {0, 0, []}};
        false -> none
    end;
new(false) ->
    none.

%% @doc Some more processes.
-spec add([pid()], ranked()) -> ranked().
add(_, none) ->
    none;
add(Pids, Ranked) ->
    lists:foldl(fun({P, Mailbox, _, Heap, Bin, _}, {M, B}) ->
                        {add(memory(words, Heap, Mailbox), P, M), add(Bin, P, B)}
                % it ends with its list
                end, Ranked, erltrace_words:look(lists:delete(self(), Pids))).

%% Cut to the first ones each time there are twice as many.
add(Value, _, {Least, _, _} = Most) when Value =< Least ->
    Most;
add(Value, Pid, {_, N, List}) when N >= 2 * ?MOST ->
    First = first([{Value, Pid} | List]),
    {element(1, lists:last(First)), ?MOST, First};
add(Value, Pid, {Least, N, List}) ->
    {Least, N + 1, [{Value, Pid} | List]}.

first(List) ->
    lists:sublist(lists:reverse(lists:sort(List)), ?MOST).

%% @doc Of so many processes.
-spec places(non_neg_integer(), ranked()) -> ranks().
places(_, none) -> #ranks{};
places(N, {Memory, Binary}) ->
    #ranks{memory = places(Memory), binary = places(Binary), last = max(1, N)}.

places({_, _, List}) ->
    First = first(List),
    maps:from_list(lists:zip([P || {_, P} <- First], lists:seq(1, length(First)))).

%% @doc For the rows that this process asks for from now on.
-spec set(ranks()) -> ok.
set(Ranks) ->
    _ = put(?MODULE, Ranks),
    ok.

-spec place(pid(), memory | binary) -> pos_integer().
place(Pid, memory) -> place(Pid, #ranks.memory, get(?MODULE));
place(Pid, binary) -> place(Pid, #ranks.binary, get(?MODULE)).

place(Pid, Which, #ranks{last = Last} = Ranks) ->
    maps:get(Pid, element(Which, Ranks), Last).

%% @doc What a process has, about, by the words of its heaps and its messages.
-spec memory(words | bytes, Heap :: non_neg_integer(), Mailbox :: non_neg_integer()) ->
    non_neg_integer().
memory(words, Heap, Mailbox) -> Heap + ?MESSAGE * Mailbox;
memory(bytes, Heap, Mailbox) -> 8 * memory(words, Heap, Mailbox).
