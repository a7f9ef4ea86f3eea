%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The table of loaded code (c_src/beam/code/code_table.c): which function and line an address
%% on the stack of a process is of, for ustack(). It is made before the first script that records
%% Erlang stacks starts, and tested on stacks of this module: they must be what the VM itself says
%% of them. While such scripts run it is brought up to date when code was loaded or deleted, when an
%% address was not known, and now and then.
-module(erltrace_code).
-export([prepare/0, poll/0, interval/0, about/0, refresh/0]).
-export([observe/0, self_test/0]). % for erltrace_find
-export([at/1, down/2]). % on the stack in the test
-export_type([about/0]).

-type about() :: #{table := known | {refused, Why :: binary()} | undefined,
                   unknown := non_neg_integer(), changed := non_neg_integer()}.

-define(INTERVAL, 500). % ms between two checks whether a refresh is due
-define(ATTEMPTS, 5).   % code may be loaded while it is looked at

%% @doc Make and test the table, once per node.
-spec prepare() -> erltrace_find:answer().
prepare() ->
    case erltrace_nif:find(code, get) of
        ok -> _ = refresh(), ok;
        _ -> erltrace_find:known(code)
    end.

%% @doc ms between two polls.
-spec interval() -> pos_integer().
interval() -> ?INTERVAL.

%% @doc Bring the table up to date if that is due.
-spec poll() -> ok.
poll() ->
    _ = erltrace_nif:code_ask({due, length(erlang:loaded())}) andalso refresh(),
    ok.

%% @doc Frames that were not known so far, and why there is no table.
-spec about() -> about().
about() ->
    {Unknown, Changed, _} = erltrace_nif:code_ask(counts),
    #{table => table(erltrace_nif:find(code, get)), unknown => Unknown, changed => Changed}.

table(ok) -> known;
table(Other) -> Other.

%% @doc Bring the table up to date.
-spec refresh() -> {Modules :: non_neg_integer(), Functions :: non_neg_integer(),
                    NotUnderstood :: non_neg_integer(), Why :: binary()} |
          {refused, Why :: binary()}.
refresh() ->
    _ = erltrace_nif:code_ask(stack_end),
    erltrace_nif:code_table([{M, erlang:make_fun(M, module_info, 0), erlang:check_old_code(M)} ||
                                M <- erlang:loaded()]).

%% @doc Nothing is concluded from a table in which something was not understood.
-spec observe() -> erltrace_find:outcome().
observe() ->
    erltrace_vm:locked(fun() -> observe(?ATTEMPTS) end).

observe(Attempts) ->
    case refresh() of
        {_, _, 0, _} -> ok;
        _ when Attempts > 1 -> observe(Attempts - 1);
        {refused, Why} -> {refused, Why};
        {_, _, _, Why} -> {refused, Why}
    end.

%% @doc Stacks of this module.
-spec self_test() -> erltrace_find:outcome().
self_test() ->
    case lists:all(fun is_same/1, lists:seq(0, 3)) of
        true -> ok;
        false -> {refused, <<"a stack is not what the VM says it is">>}
    end.

%% The same calls, once with the one and once with the other at their end: below at/1 the stacks are
%% the same. The VM shows a function that calls itself once, and eight frames at most.
is_same(Depth) ->
    Vm = once(below(stack(Depth, fun vm_stack/0))),
    Table = once(below(stack(Depth, fun() -> erltrace_nif:code_ask(stack) end))),
    length(Vm) >= 3 andalso lists:prefix(Vm, Table).

stack(Depth, Who) ->
    case erltrace_find:in_process(fun() -> ?MODULE:down(Depth, Who) end, []) of
        {refused, _} -> [];
        {Stack} -> Stack
    end.

below(Frames) ->
    lists:dropwhile(fun(F) -> not is_tuple(F) orelse element(2, F) =/= at end, Frames).

once([F, F | Fs]) -> once([F | Fs]);
once([F | Fs]) -> [F | once(Fs)];
once([]) -> [].

%% None of these calls is a tail call.
-spec at(fun(() -> Stack)) -> {Stack}.
at(Who) ->
    Stack = Who(),
    {Stack}.

-spec down(non_neg_integer(), fun(() -> Stack)) -> {Stack}.
down(0, Who) ->
    [Stack] = lists:map(fun(_) -> {S} = ?MODULE:at(Who), S end, [x]),
    {Stack};
down(N, Who) when N rem 2 =:= 0 ->
    try
        {Stack} = down(N - 1, Who),
        {Stack}
    catch throw:_ -> {[]}
    end;
down(N, Who) ->
    {Stack} = down(N - 1, Who),
    {Stack}.

vm_stack() ->
    {current_stacktrace, Frames} = process_info(self(), current_stacktrace),
    [case Where of
         [] -> {M, F, A};
         _ ->
             File = filename:basename(proplists:get_value(file, Where)),
             {M, F, A, unicode:characters_to_binary(File), proplists:get_value(line, Where)}
     end || {M, F, A, Where} <- Frames].
