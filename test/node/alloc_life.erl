%% SPDX-License-Identifier: Apache-2.0
%% A handle's whole life, in which the Nth allocation of the library fails (fail_alloc.c): each
%% step works or gives an error, and afterwards nothing is left.
-module(alloc_life).
-export([main/1, f/1]).

f(X) -> X.

main([File]) ->
    {ok, Fd} = file:open(File, [read, write, raw, binary]),
    ok = life(), % without a failure; also what is set up once
    {Alone, Bad1} = all(Fd, 1, 0, 1, 0),
    {_, Bad2} = all(Fd, 1, 1, 7, 0),
    io:format("info: ~b allocations failed, alone and with all after them~n", [Alone]),
    ok = life(),
    io:format("~b passed, ~b failed~n", [case Bad1 + Bad2 of 0 -> 1; _ -> 0 end, Bad1 + Bad2]),
    halt(0).

%% N, N + Step ...: until a life needs fewer allocations than that.
all(Fd, N, After, Step, Bad) ->
    set(Fd, N, After),
    Result = (catch life()),
    Count = count(Fd),
    set(Fd, 0, 0),
    Bad1 = Bad + case {Result, left()} of
                     {ok, []} -> 0;
                     {{error, {dtrace, <<_, _/binary>>, _, _, <<_, _/binary>>}}, []} -> 0;
                     Other ->
                         io:format("allocation ~b (~b): ~0p~n", [N, After, Other]),
                         1
                 end,
    if
        Count < N -> {N, Bad1};
        Bad1 > 20 -> {N, Bad1};
        true -> all(Fd, N + Step, After, Step, Bad1)
    end.

set(Fd, N, After) ->
    ok = file:pwrite(Fd, 0, <<N:64/native, After:64/native, 0:64>>).

count(Fd) ->
    {ok, <<Count:64/native>>} = file:pread(Fd, 16, 8),
    Count.

%% The first error, or ok.
life() ->
    case erltrace:open() of
        {ok, H} ->
            try steps(H, [fun() -> erltrace:setopt(H, "bufsize", "64k") end,
                          fun() -> erltrace:setopt(H, "aggsize", "64k") end,
                          fun() -> erltrace:compile(H, script(), ["arg"]) end,
                          fun() -> erltrace:go(H) end,
                          fun() -> f(1), f(2), ok end,
                          fun() -> erltrace:consume(H) end,
                          fun() -> erltrace:output(H) end,
                          fun() -> erltrace:walk(H) end,
                          fun() -> erltrace:stop(H) end,
                          fun() -> erltrace:output(H) end])
            after erltrace:close(H)
            end;
        Error -> Error
    end.

script() ->
    "erlang*:alloc_life:f:function-entry, erlang*:alloc_life:f:function-return"
    "{ self->n = timestamp; x[arg2] = arg2; @[probefunc, copyinstr(arg0)] = count(); }"
    "erlang*:::message-send { @q[$$1] = quantize(arg2); printf(\"%s\", copyinstr(arg0)); }"
    "erlang*:::user_trace-n1, erlang*:::process-hibernate, erlang*:::port-open { trace(arg1); }"
    "tick-1s { printa(@q); }".

steps(_, []) -> ok;
steps(H, [Step | Steps]) ->
    case Step() of
        ok -> steps(H, Steps);
        {ok, _} -> steps(H, Steps);
        {done, _} -> steps(H, Steps);
        {error, stopped} -> steps(H, Steps);
        {error, _} = Error -> Error
    end.

left() -> left(12000). % a minute

left(N) ->
    Left = [P || P <- [new_processes | processes()], {flags, [_ | _]} <- [erlang:trace_info(P, flags)]]
        ++ [f || erlang:trace_info({?MODULE, f, 1}, traced) =/= {traced, false}]
        ++ [E || {armed, _} = E <- application:get_all_env(erltrace)],
    case Left of
        [_ | _] when N > 0 -> receive after 5 -> left(N - 1) end;
        _ -> Left
    end.
