%% SPDX-License-Identifier: Apache-2.0
%% A load whose stacks are known: processes that do one kind of work each, twelve calls deep. judge/2
%% says whether a sample of one of them is whole and right.
-module(sampler_load).
-export([kinds/0, start/1, stop/1, judge/2, name/1]).
-export([top/1, run/1, c1/1, c2/1, c3/2, c4/3, c5/4, c6/2, c7/1, c8/1, k/1]).

-define(DEPTH, 11).

kinds() -> [arith, list, gc, bif, ets, map, bin, nif, dirty, msg, exc, sort].

%% @doc A process of each kind: #{Pid => Kind}.
start(Kinds) -> maps:from_list([{spawn(?MODULE, top, [K]), K} || K <- Kinds]).

stop(Pids) ->
    [begin M = monitor(process, P), exit(P, kill), receive {'DOWN', M, _, _, _} -> ok end end ||
        P <- maps:keys(Pids)],
    ok.

top(K) -> put(table, ets:new(t, [])), loop(K).
loop(K) -> _ = run(K), loop(K).
run(K) -> R = c1(K), {run, R}.
c1(K) -> R = c2(K), {1, R}.
c2(K) -> R = c3(K, 2), {2, R}.
c3(K, A) -> R = c4(K, A, 3), {3, R}.
c4(K, A, B) -> R = c5(K, A, B, 4), {4, R}.
c5(K, A, B, C) -> R = c6(K, {A, B, C}), {A, B, C, R}.
c6(K, T) -> R = c7(K), {T, R}.
c7(K) -> R = c8(K), {7, R}.
c8(K) -> R = k(K), {8, R}.

k(arith) -> R = k_arith(2000, 1), {r, R};
k(list) -> R = k_list(lists:seq(1, 30), 20), {r, R};
k(gc) -> R = k_gc(300, []), {r, R};
k(bif) -> R = k_bif(lists:seq(1, 300)), {r, R};
k(ets) -> R = k_ets(50), {r, R};
k(map) -> R = k_map(100, #{}), {r, R};
k(bin) -> R = k_bin(binary:copy(<<"abcdefgh">>, 50), 0), {r, R};
k(nif) -> R = erltrace_nif:find(sampling, {burn, 100}), erlang:bump_reductions(400), {r, R};
k(dirty) -> R = erltrace_nif:sampling_dirty({burn, 1000}), {r, R};
k(msg) -> R = k_msg(50), {r, R};
k(exc) -> R = k_exc(50), {r, R};
k(sort) -> R = k_sort(), {r, R}.

k_arith(0, X) -> X;
k_arith(N, X) -> k_arith(N - 1, (X * 1103515245 + 12345) band 16#7fffffff).
k_list(_, 0) -> ok;
k_list(L, N) ->
    M = lists:map(fun(X) -> X * 2 end, L),
    S = lists:foldl(fun(X, A) -> X + A end, 0, M),
    _ = {S, lists:sum(M)},
    k_list(L, N - 1).
k_gc(0, L) -> R = length(L), {R};
k_gc(N, L) -> T = erlang:make_tuple(20, N), k_gc(N - 1, [T | L]).
k_bif(L) ->
    R = lists:reverse(L),
    M = lists:member(-1, R),
    T = binary_to_term(term_to_binary(R)),
    {M, erlang:phash2(T)}.
k_ets(0) -> ok;
k_ets(N) -> T = get(table), ets:insert(T, {N, [N, N]}), [_] = ets:lookup(T, N), k_ets(N - 1).
k_map(0, M) -> R = maps:fold(fun(_, V, A) -> V + A end, 0, M), {R};
k_map(N, M) -> k_map(N - 1, M#{N => N}).
k_bin(B, 20) -> {byte_size(B)};
k_bin(B, N) -> C = << <<(X bxor N)>> || <<X>> <= B >>, k_bin(C, N + 1).
k_msg(0) -> ok;
k_msg(N) -> self() ! {m, N}, receive {m, N} -> ok end, k_msg(N - 1).
k_exc(0) -> ok;
k_exc(N) -> try k_exc_throw(N) catch throw:X -> X end, k_exc(N - 1).
k_exc_throw(N) -> throw({x, N}).
k_sort() -> R = lists:sort(k_sort_list(300, [])), {hd(R)}.
k_sort_list(0, L) -> L;
k_sort_list(N, L) -> k_sort_list(N - 1, [erlang:phash2(N) | L]).

%% @doc A frame without its line.
name(Frame) -> hd(binary:split(Frame, <<" (">>)).

chain() ->
    [own(F) || F <- ["loop/1", "run/1", "c1/1", "c2/1", "c3/2", "c4/3", "c5/4", "c6/2", "c7/1",
                     "c8/1", "k/1"]].

own(F) -> iolist_to_binary(["sampler_load:", F]).

%% @doc Frames are texts, the newest first. `whole': all calls are there, and what is newer may be
%% called by this kind of work. `none': no Erlang frame. {part, N}: only the oldest N.
judge(Kind, Frames) ->
    Erlang = [F || Frame <- Frames, F <- [name(Frame)], is_erlang(F)],
    case lists:reverse(Erlang) of
        [] -> none;
        %% between two rounds, and before the first
        [First | _] = Oldest -> judge(Kind, chain(), Oldest, 0, First)
    end.

judge(Kind, [], Newer, _, _) ->
    case [F || F <- Newer, not may_call(Kind, F)] of
        [] -> whole;
        Wrong -> {wrong, Wrong}
    end;
judge(Kind, [F | Chain], [F | Frames], N, First) -> judge(Kind, Chain, Frames, N + 1, First);
judge(_, _, [], N, _) -> {part, N};
judge(_, _, [<<"sampler_load:top/1">>], 0, _) -> whole;
judge(_, _, [F | _], 0, _) -> {wrong, F};
judge(_, _, [F | _], N, _) -> {wrong, {N, F}}.

is_erlang(<<"(", _/binary>>) -> false;
is_erlang(<<"0x", _/binary>>) -> false;
is_erlang(F) -> binary:match(F, [<<"`">>, <<"+0x">>]) =:= nomatch andalso binary:match(F, <<":">>) =/= nomatch.

may_call(Kind, <<"sampler_load:", F/binary>>) ->
    Own = "k_" ++ atom_to_list(Kind),
    lists:any(fun(P) -> string:prefix(F, P) =/= nomatch end, [Own, "'-" ++ Own]);
may_call(_, F) ->
    [M | _] = binary:split(F, <<":">>),
    lists:member(M, [<<"lists">>, <<"erlang">>, <<"maps">>, <<"ets">>, <<"binary">>, <<"erts_internal">>,
                     <<"erltrace_nif">>]).
