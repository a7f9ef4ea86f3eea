%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc In a node in trouble all dirty CPU schedulers may be taken, for ever: by a NIF that
%% computes, or waits for a lock. The VM collects the garbage of a process with more than a megabyte
%% on its heap on such a scheduler, and the process would wait for ever too. So while all are busy a
%% process of ours that may grow gets a heap so large that there is nothing to collect. The kernel
%% hands out its memory as it is used.
-module(erltrace_room).
-export([is_dirty_taken/0, make/0]).

-define(WORDS, 16#1000000). % 128 MB

%% @doc Are all dirty CPU schedulers busy at this moment?
-spec is_dirty_taken() -> boolean().
is_dirty_taken() ->
    %% The last but one is the queue of the dirty CPU schedulers.
    [_, Active | _] = lists:reverse(statistics(active_tasks_all)),
    Active >= erlang:system_info(dirty_cpu_schedulers_online).

%% @doc For the calling process, which has just started.
-spec make() -> ok.
make() ->
    case is_dirty_taken() of
        true ->
            _ = process_flag(min_heap_size, ?WORDS),
            _ = process_flag(min_bin_vheap_size, ?WORDS),
            _ = garbage_collect(), % from here on it has that
            ok;
        false ->
            ok
    end.
