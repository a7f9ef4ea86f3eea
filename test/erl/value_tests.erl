%% SPDX-License-Identifier: Apache-2.0
%% The values of arguments: what collections need and reclaim, heap sizes, queue lengths, reasons
%% that are cut, arguments that a probe does not have, tags that travel.
-module(value_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2, quoted/1]).
-export([deep/1, outer/1, middle/1, inner/1, names_there/0]).

%% The same events by a tracer that is a process.
traced(P, Flags, Fun) ->
    Self = self(),
    Ref = make_ref(),
    T = spawn(fun() -> Self ! {Ref, collect([])} end),
    erlang:trace(P, true, [{tracer, T} | Flags]),
    Fun(),
    erlang:trace(P, false, Flags),
    D = erlang:trace_delivered(P),
    receive {trace_delivered, P, D} -> ok end,
    T ! stop,
    receive {Ref, Events} -> Events end.

collect(Events) -> receive stop -> lists:reverse(Events); E -> collect([E | Events]) end.

%% ---- collections -----------------------------------------------------------------------------

%% The heap of a process that does the same each time: what one tracer sees is what the other does.
worker() ->
    spawn(fun W() ->
                  receive
                      {work, From} ->
                          L = lists:seq(1, 5000),
                          erlang:garbage_collect(),
                          From ! {done, length(L)},
                          W()
                  end
          end).

work(P) ->
    P ! {work, self()},
    receive {done, 5000} -> ok end.

gc_values_test() ->
    P1 = worker(),
    P2 = worker(),
    Events = traced(P1, [garbage_collection], fun() -> work(P1) end),
    Got = run(["erlang*:::gc_* /copyinstr(arg0) == ", quoted(P2), "/"
               "{ @[probename, arg1] = count(); }"
               "erlang*:::process-heap_grow, erlang*:::process-heap_shrink /copyinstr(arg0) == ",
               quoted(P2), "/ { @h[probename, arg1, arg2] = count(); }"],
              fun() -> work(P2) end),
    exit(P1, kill),
    exit(P2, kill),
    Words = lists:sort([{name(Tag), proplists:get_value(wordsize, Info)}
                        || {trace, _, Tag, Info} <- Events]),
    ?assertEqual(Words, lists:sort(lists:append([lists:duplicate(N, {Name, W}) ||
                                                    {{"_", [Name, W]}, N} <- maps:to_list(Got)]))),
    ?assertEqual(lists:sort(heaps(Events, [])),
                 lists:sort(lists:append([lists:duplicate(N, {Name, A, B}) ||
                                             {{"h", [Name, A, B]}, N} <- maps:to_list(Got)]))).

name(gc_minor_start) -> "gc_minor-start";
name(gc_minor_end) -> "gc_minor-end";
name(gc_major_start) -> "gc_major-start";
name(gc_major_end) -> "gc_major-end".

heaps([{trace, _, _, A}, {trace, _, _, B} | Rest], Acc) ->
    From = proplists:get_value(heap_block_size, A),
    To = proplists:get_value(heap_block_size, B),
    heaps(Rest, if To > From -> [{"process-heap_grow", From, To} | Acc];
                   To < From -> [{"process-heap_shrink", From, To} | Acc];
                   true -> Acc
                end);
heaps([], Acc) -> Acc.

%% ---- messages and exits ----------------------------------------------------------------------

%% Ten messages that nobody takes, one after the other. (A process_info on its way holds the count
%% of the VM back: so the script itself says when one has come.)
queue_length_test() ->
    {P, M} = spawn_monitor(fun() -> receive go -> ok end end),
    {ok, H} = erltrace:script(["erlang*:::message-queued /copyinstr(arg0) == ", quoted(P),
                               "/ { @[arg2] = count(); }"]),
    [begin P ! x, queued(H, I) end || I <- lists:seq(1, 10)],
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    P ! go,
    receive {'DOWN', M, process, P, _} -> ok end,
    ?assertEqual([{[I], 1} || I <- lists:seq(1, 10)], lists:sort([{K, N} || {_, _, K, N} <- Aggs])).

queued(H, N) ->
    {ok, Aggs} = erltrace:aggregations(H),
    case length(Aggs) of
        N -> ok;
        _ -> receive after 1 -> queued(H, N) end
    end.

long_reason_test() ->
    Reason = list_to_atom(lists:duplicate(200, $r)),
    Long = {Reason, Reason, Reason},
    Got = run("erlang*:::process-exit { @[copyinstr(arg0), copyinstr(arg1)] = count(); }",
              fun() ->
                      {P, M} = spawn_monitor(fun() -> exit(Long) end),
                      receive {'DOWN', M, process, P, _} -> put(pid, pid_to_list(P)) end
              end),
    [Text] = [T || {"_", [P, T]} <- maps:keys(Got), P =:= get(pid)],
    Whole = lists:flatten(io_lib:format("~w", [Long])),
    ?assertEqual(255, length(Text)),
    ?assertEqual(lists:sublist(Whole, 252) ++ "...", Text).

%% An argument that a probe does not have is 0, and reading it does no harm.
no_such_argument_test() ->
    Got = run("erlang*:::process-spawn, erlang*:::process-exit, erlang*:::message-send,"
              "erlang*:::message-queued, erlang*:::process-*scheduled,"
              "erlang*:::gc_*, erlang*:value_tests:inner:function-*, erlang*:::port-*,"
              "erlang*:::driver-* { @[probename] = sum(arg9); @n[probename] = count(); }",
              fun() ->
                      {P, M} = spawn_monitor(fun() -> inner(1), erlang:garbage_collect() end),
                      receive {'DOWN', M, process, P, _} -> ok end,
                      Port = open_port({spawn, "cat"}, []),
                      port_command(Port, "x"),
                      receive {Port, _} -> ok end,
                      port_close(Port)
              end),
    ?assert(length([N || {"n", [N]} <- maps:keys(Got)]) >= 10),
    ?assertEqual([], [{N, V} || {{"_", [N]}, V} <- maps:to_list(Got), V =/= 0]).

%% ---- returns by names ------------------------------------------------------------------------

deep(0) -> 0;
deep(N) -> 1 + deep(N - 1).

outer(X) -> {middle(X), X}.
middle(X) -> [inner(X), inner(X)].
inner(X) -> {X}.

%% A node that relies on nothing of the VM's insides.
names_test_() ->
    {timeout, 60, fun() -> script_run:in_node(?MODULE, names_there) end}.

names_there() ->
    application:set_env(erltrace, vm_internals, false),
    {ok, H} = erltrace:script("erlang*:value_tests:outer:function-*,"
                              "erlang*:value_tests:middle:function-*,"
                              "erlang*:value_tests:inner:function-*,"
                              "erlang*:value_tests:deep:function-*"
                              "{ @[probefunc, probename] = count(); }"),
    {P, M} = spawn_monitor(fun() ->
                                   [{[{I}, {I}], I} = ?MODULE:outer(I) || I <- lists:seq(1, 50)],
                                   20 = 0 + deep(20)
                           end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    {ok, #{returns_by := names, lost := 0}} = erltrace:status(H),
    {ok, Aggs} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    Want = [{[<<F/binary, "/1">>, <<"function-", E/binary>>], N} ||
               {F, N} <- [{<<"outer">>, 50}, {<<"middle">>, 50}, {<<"inner">>, 100},
                          {<<"deep">>, 21}],
               E <- [<<"entry">>, <<"return">>]],
    Got = [{Ks, N} || {_, count, Ks, N} <- Aggs],
    {[], []} = {Want -- Got, Got -- Want},
    ok.

%% ---- tags ------------------------------------------------------------------------------------

%% A tag goes with the messages while it is spread, and is the user tag where it arrives.
spread_tag_test() ->
    Self = self(),
    P = spawn_link(fun() -> tagged(Self) end),
    Ask = fun() -> P ! what, receive {tag, T} -> T end end,
    undefined = dtrace:put_tag("mine"),
    ?assertEqual(undefined, Ask()),
    Before = dtrace:spread_tag(true),
    ?assertEqual(<<"mine">>, Ask()),
    true = dtrace:restore_tag(Before),
    seq_trace:set_token([]), % it came back with the answer
    P ! forget,
    ?assertEqual(undefined, Ask()),
    <<"mine">> = dtrace:put_tag(undefined),
    ?assertEqual(true, dtrace:spread_tag(true)),
    ?assertEqual([], seq_trace:get_token()),
    P ! stop.

tagged(From) ->
    receive
        what -> From ! {tag, dtrace:get_tag_data()}, tagged(From);
        forget -> seq_trace:set_token([]), tagged(From);
        stop -> ok
    end.

%% Spread off within spread on, and back.
restore_tag_test() ->
    dtrace:put_tag("a"),
    On = dtrace:spread_tag(true),
    Token = seq_trace:get_token(),
    ?assertNotEqual([], Token),
    Off = dtrace:spread_tag(false),
    ?assertEqual([], seq_trace:get_token()),
    dtrace:restore_tag(Off),
    ?assertEqual(Token, seq_trace:get_token()),
    dtrace:restore_tag(On),
    ?assertEqual([], seq_trace:get_token()),
    dtrace:put_tag(undefined).

%% Who uses seq_trace himself is left alone.
own_token_test() ->
    seq_trace:set_token(label, 7),
    Token = seq_trace:get_token(),
    dtrace:put_tag("a"),
    ?assertEqual(true, dtrace:spread_tag(true)),
    ?assertEqual(true, dtrace:spread_tag(false)),
    ?assertEqual(Token, seq_trace:get_token()),
    dtrace:put_tag(undefined),
    seq_trace:set_token([]).

%% The tag is what the probe shows.
tag_in_probe_test() ->
    Got = run("erlang*:::user_trace-i4s4 { @[copyinstr(arg1)] = count(); }",
              fun() ->
                      dtrace:put_tag("one"),
                      [dtrace:p(I) || I <- [1, 2, 3]],
                      dtrace:put_tag(["t", <<"wo">>]),
                      dtrace:p(),
                      dtrace:put_tag(undefined),
                      dtrace:p()
              end),
    ?assertEqual(#{{"_", ["one"]} => 3, {"_", ["two"]} => 1, {"_", [""]} => 1}, Got).
