%% SPDX-License-Identifier: Apache-2.0
%% What a D script sees of an Erlang event beside its arguments: exact values of the built-ins,
%% and args[] with types. Tests wait for events, they do not sleep.
-module(builtins_tests).
-include_lib("eunit/include/eunit.hrl").
-import(script_run, [run/2, aggregations/1, in_process/1, quoted/1]).
-export([add/2, take/1, count/1, tail/1, deep/1, outer/1, inner/1, none/0, fails/1, append/2]).

%% ---- helpers ---------------------------------------------------------------------------------

keys(Name, Got) -> lists:sort([{Ks, V} || {{N, Ks}, V} <- maps:to_list(Got), N =:= Name]).

entry(F) -> ["erlang*:builtins_tests:", F, ":function-entry"].
return(F) -> ["erlang*:builtins_tests:", F, ":function-return"].

%% ---- what is traced --------------------------------------------------------------------------

add(A, B) when is_atom(A) -> B;
add(A, B) -> A + B.
take(X) -> {took, X}.
none() -> [].
count(0) -> 0;
count(N) -> 1 + count(N - 1).
tail(0) -> done;
tail(N) -> tail(N - 1).
deep(N) -> {deep, take(N)}.
outer(X) -> [inner(X)].
inner(X) -> X * 2.
fails(X) -> error({no, X}).
append(0, Acc) -> byte_size(Acc);
append(N, Acc) -> append(N - 1, <<Acc/binary, 7>>).

%% ---- terms as text ---------------------------------------------------------------------------

print(T) -> print(T, 4096).

print(T, Size) ->
    {Text, _} = erltrace_nif:print(T, Size, false),
    binary_to_list(Text).

%% Without knowledge of the VM's internals some terms are not read: three dots.
internals() -> application:get_env(erltrace, vm_internals, true).

%% As ~w.
print_plain_test_() -> [fun print_plain/0 || internals()].

print_plain() ->
    ok = erltrace:close(element(2, {ok, _} = erltrace:open())), % finds the layout of terms
    [?assertEqual(lists:flatten(io_lib:format("~w", [T])), print(T)) ||
        T <- [a, 'A b', 'it\'s', nonode@nohost, 'Elixir.Foo', '', 0, 1, -1, 1 bsl 59, -(1 bsl 59),
              -(1 bsl 59) - 1, 1 bsl 60, 1 bsl 63, (1 bsl 64) - 1, 1 bsl 64, -(1 bsl 64),
              12345678901234567890123, 1000000000000000000, 1000000000000000000000000000000000000,
              -(1 bsl 200) + 7, (1 bsl 1024) - 1, [], {}, {a, {b}, [c]}, [1, 2, 3], [a | b],
              [1, 2 | 3], [[[[[]]]]], <<>>, <<1, 2, 3>>, <<1:3>>, <<0, 255, 5:3>>, 1.5, -0.25,
              0.1, 1.0, 1.0e20, -2.5e-7, 1.7976931348623157e308, self(), make_ref(), alias(),
              fun lists:seq/2, fun print/1, hd(erlang:ports())]].

print_text_test_() -> [fun print_text/0 || internals()].

print_text() ->
    [?assertEqual(Want, print(T)) ||
        {T, Want} <- [{"hello", "\"hello\""},
                      {"a\"\\\n\t", "\"a\\\"\\\\\\n\\t\""},
                      {[104, 300], utf8("\"h\x{12c}\"")},
                      {[104, 200], utf8("\"h\x{c8}\"")},
                      {[104, 128], "[104,128]"},
                      {<<"zo\x{eb}"/utf8>>, utf8("<<\"zo\x{eb}\"/utf8>>")},
                      {<<"zo\x{eb}">>, utf8("<<\"zo\x{eb}\">>")},
                      {"ab" ++ c, "[97,98|c]"},
                      {<<"hello">>, "<<\"hello\">>"},
                      {<<"x\r\n">>, "<<\"x\\r\\n\">>"},
                      {<<"x", 0>>, "<<120,0>>"},
                      {#{}, "#{}"},
                      {#{a => #{c => "d"}}, "#{a => #{c => \"d\"}}"},
                      {atomics:new(1, []), "#Ref<...>"},
                      {1 bsl 1100, "16#1000" ++ lists:duplicate(272, $0)}]].

utf8(Text) -> binary_to_list(unicode:characters_to_binary(Text)).

%% Maps of many keys, which are trees; keys with the same hash among them.
print_large_map_test_() -> [fun print_large_map/0 || internals()].

print_large_map() ->
    [?assertEqual(lists:flatten(io_lib:format("~0tp", [M])), print(M)) ||
        N <- [33, 34, 100, 300], M <- [maps:from_list([{I, [a]} || I <- lists:seq(1, N)]),
                                       #{x => maps:from_list([{{I}, I} || I <- lists:seq(1, N)])}]],
    {_, Steps} = erltrace_nif:print(maps:from_keys(lists:seq(1, 1000000), x), 256, false),
    ?assert(Steps =< 1100).

%% Without knowledge of the VM's internals large maps are not walked.
print_unknown_map_test_() ->
    [fun() -> ?assertEqual("#{33 keys}", print(maps:from_keys(lists:seq(1, 33), x))) end ||
        not internals()].

%% Parts of binaries, from any bit on; short and long ones.
print_part_test_() -> [fun print_part/0 || internals()].

print_part() ->
    Long = binary:copy(<<"0123456789">>, 50),
    [begin
         <<_:Skip, Part:Size/bits, _/bits>> = Whole,
         ?assertEqual(lists:flatten(io_lib:format("~w", [Part])), numbers(print(Part)))
     end || Whole <- [<<"0123456789abcdef">>, Long], Skip <- [0, 1, 3, 7, 8, 13],
            Size <- [0, 1, 7, 8, 9, 15, 16, 40, 43, 64]].

%% Text in quotes as the numbers that ~w writes.
numbers("<<\"" ++ _ = Text) ->
    {ok, Ts, _} = erl_scan:string(Text ++ "."),
    {ok, Bin} = erl_parse:parse_term(Ts),
    lists:flatten(io_lib:format("~w", [Bin]));
numbers(Text) ->
    Text.

%% The work is bounded by the room, whatever the term is: no walk, no copy.
print_huge_test() ->
    Deep = lists:foldl(fun(_, Acc) -> [Acc] end, x, lists:seq(1, 100000)),
    Text = lists:duplicate(1000000, $a),
    Huge = [lists:seq(1, 1000000), Text, Deep, binary:copy(<<"a">>, 10000000),
            binary:copy(<<0>>, 10000000), erlang:make_tuple(1000000, t), 1 bsl 1000000,
            lists:duplicate(1000, Text)],
    [begin
         {Printed, Steps} = erltrace_nif:print(T, 256, false),
         ?assert(byte_size(Printed) =< 255),
         ?assert(Steps =< 1100)
     end || T <- Huge],
    ?assertEqual("[1,2,3,...", print(hd(Huge), 11)),
    ?assertEqual("\"aaa", print(lists:nth(2, Huge), 5)),
    ?assertEqual("<<\"aa", print(lists:nth(4, Huge), 6)).

%% What is cut ends with dots, within the room; what just fits has none.
print_dots_test() ->
    Atom = list_to_atom(lists:duplicate(20, $a)),
    Cases = [{"{a,b,c,d}", 10, {a, b, c, d}}, {"{a,b,...", 9, {a, b, c, d}},
             {"aaaaa...", 9, Atom}, {"[aaaa...", 9, [Atom]}, {"12345...", 9, 1234567890},
             {"1234567890", 11, 1234567890}, {"#{1 =...", 9, #{1 => a, 2 => b}},
             {"<<\"ab...", 9, <<"abcdef">>}, {"<<\"abcdef\">>", 13, <<"abcdef">>},
             {"<<1,2...", 9, <<1, 2, 3>>}, {"<<1,2,3>>", 10, <<1, 2, 3>>},
             {"\"abcd...", 9, "abcdefgh"}, {"\"abcdef\"", 9, "abcdef"},
             {"16#8000000...", 14, 1 bsl 1999}, {"[[[[[...", 9, [[[[[[]]]]]]},
             {"{a,b,c,", 8, {a, b, c, d}}], % no room for dots
    [?assertEqual({Want, Size}, {print(T, Size), Size}) || {Want, Size, T} <- Cases],
    ?assertEqual(<<"\"zo", (<<"ë"/utf8>>)/binary, "...">>,
                 element(1, erltrace_nif:print("zo\x{eb}\x{eb}\x{eb}", 10, false))).

%% ---- who -------------------------------------------------------------------------------------

pid_test() ->
    Got = run([entry("add"), "{ @[erlpid, args[0]] = count(); }"],
              fun() ->
                      {A, _} = in_process(fun() -> [add(I, 1) || I <- lists:seq(1, 7)] end),
                      {B, _} = in_process(fun() -> add(1, 2) end),
                      put(pids, [pid_to_list(A), pid_to_list(B)])
              end),
    [A, B] = get(pids),
    ?assertEqual(#{{"_", [A, A]} => 7, {"_", [B, B]} => 1}, Got).

%% Given before go, while tracing, taken back, given again, gone with the process.
name_test() ->
    Self = self(),
    Loop = fun Loop() -> receive {do, Ref} -> add(1, 2), Self ! Ref, Loop(); stop -> ok end end,
    Ask = fun(P) -> R = make_ref(), P ! {do, R}, receive R -> ok end end,
    P = spawn(Loop),
    Q = spawn(Loop),
    register(builtins_before, P),
    Got = run([entry("add"), "{ @[erlname] = count(); }"
               "erlang*:::process-exit /erlname != \"\"/ { @exit[erlname, args[1]] = count(); }"],
              fun() ->
                      Ask(P),
                      Ask(Q),
                      register(builtins_q, Q),
                      [Ask(Q) || _ <- [1, 2, 3]],
                      unregister(builtins_q),
                      Ask(Q),
                      register(builtins_again, Q),
                      [Ask(Q) || _ <- [1, 2, 3, 4]],
                      unregister(builtins_before),
                      Ask(P),
                      M = erlang:monitor(process, Q),
                      Q ! stop,
                      receive {'DOWN', M, process, Q, _} -> ok end,
                      register(builtins_again, P),
                      Ask(P)
              end),
    P ! stop,
    ?assertEqual([{[""], 3}, {["builtins_again"], 5}, {["builtins_before"], 1},
                  {["builtins_q"], 3}], keys("_", Got)),
    ?assertEqual([{["builtins_again", "normal"], 1}], keys("exit", Got)).

%% Names come and go in many processes at once, while handles open and close.
many_names_test_() ->
    {timeout, 60, fun many_names/0}.

many_names() ->
    Script = [entry("add"), "/erlname != erlarg(0)/ { @bad[erlname, erlarg(0)] = count(); }",
              entry("add"), "{ @n = count(); }"],
    Self = self(),
    Ps = [spawn_monitor(fun() ->
                                Name = list_to_atom("builtins_" ++ integer_to_list(I)),
                                Self ! {ready, self()},
                                receive go -> ok end,
                                [begin
                                     register(Name, self()),
                                     add(Name, 1),
                                     unregister(Name),
                                     add('', 1)
                                 end || _ <- lists:seq(1, 200)]
                        end) || I <- lists:seq(1, 50)],
    [receive {ready, P} -> ok end || {P, _} <- Ps],
    Got = run(Script,
              fun() ->
                      [P ! go || {P, _} <- Ps],
                      [receive {'DOWN', M, process, P, _} -> ok end || {P, M} <- Ps]
              end),
    ?assertEqual(#{{"n", []} => 20000}, maps:without([{"bad", ["", "''"]}], Got)).

%% The receiver of a message is not who sends it.
name_of_receiver_test() ->
    {P, M} = spawn_monitor(fun() -> [receive {n, I} -> ok end || I <- [1, 2, 2]] end),
    register(builtins_receiver, P),
    Got = run("erlang*:::message-queued /erlname == \"builtins_receiver\"/"
              "{ @[erlpid, erlmsg] = count(); }",
              fun() ->
                      [P ! {n, I} || I <- [1, 2, 2]],
                      receive {'DOWN', M, process, P, _} -> ok end
              end),
    Pid = pid_to_list(P),
    ?assertEqual(#{{"_", [Pid, "{n,1}"]} => 1, {"_", [Pid, "{n,2}"]} => 2}, Got).

node_test() ->
    {ok, H} = erltrace:script(["BEGIN { @b[erlnode, erlpid, erlname, erlsched] = count(); } ",
                               entry("none"), "{ @n[erlnode] = count(); }"]),
    none(),
    Got = aggregations(H),
    erltrace:close(H),
    Node = atom_to_list(node()),
    ?assertEqual(#{{"b", [Node, "", "", 0]} => 1, {"n", [Node]} => 1}, Got).

%% The number that the VM gives, on a normal scheduler and on dirty ones.
scheduler_test() ->
    Got = run([entry("add"), "{ @[erlint(0), erlsched] = count(); }"],
              fun() ->
                      in_process(fun() ->
                                         add(erlang:system_info(scheduler_id), 0)
                                 end),
                      [begin
                           {P, M} = erlang:spawn_opt(fun() -> add(N, 0) end,
                                                     [monitor, {scheduler, N}]),
                           receive {'DOWN', M, process, P, _} -> ok end
                       end || N <- lists:seq(1, erlang:system_info(schedulers_online))]
              end),
    ?assertEqual([], [X || {{_, [Want, Is]}, _} = X <- maps:to_list(Got), Want =/= Is]),
    ?assert(map_size(Got) >= erlang:system_info(schedulers_online)).

%% File operations run on dirty I/O schedulers, which are numbered behind all others.
dirty_scheduler_test() ->
    Others = erlang:system_info(schedulers) + erlang:system_info(dirty_cpu_schedulers),
    Most = Others + erlang:system_info(dirty_io_schedulers),
    Got = run("erlang*:::process-scheduled { @[erlpid, erlsched] = count(); }",
              fun() ->
                      {P, normal} =
                          in_process(fun() ->
                                             [{ok, _} = prim_file:read_file_info(".")
                                              || _ <- lists:seq(1, 50)]
                                     end),
                      put(pid, pid_to_list(P))
              end),
    Scheds = [{N, Count} || {{_, [Pid, N]}, Count} <- maps:to_list(Got), Pid =:= get(pid)],
    ?assertEqual([], [N || {N, _} <- Scheds, N < 1 orelse N > Most]),
    ?assertEqual(50, lists:sum([Count || {N, Count} <- Scheds, N > Others])).

%% ---- messages --------------------------------------------------------------------------------

message_test() ->
    Self = self(),
    Got = run(["erlang*:::message-send /erlpid == ", quoted(Self), " && args[1] == erlpid/"
               "{ @[erlmsg] = sum(args[2]); }"],
              fun() -> [Self ! M || M <- [{a, 1}, "text", <<"bin">>, []]] end),
    [receive M -> ok end || M <- [{a, 1}, "text", <<"bin">>, []]],
    ?assertEqual(#{{"_", ["{a,1}"]} => 3, {"_", ["\"text\""]} => 8,
                   {"_", ["<<\"bin\">>"]} => 3, {"_", ["[]"]} => 0}, Got).

%% Cut at strsize, as every string of D, with dots.
strsize_test() ->
    Self = self(),
    Got = run(["#pragma D option strsize=16\nerlang*:::message-send /erlpid == ", quoted(Self),
               " && args[1] == erlpid/ { @[erlmsg] = count(); @len = max(strlen(erlmsg)); }"],
              fun() -> Self ! lists:seq(1, 100) end),
    receive [1 | _] -> ok end,
    ?assertEqual(#{{"_", ["[1,2,3,4,5,6,..."]} => 1, {"len", []} => 16}, Got).

huge_message_test_() ->
    {timeout, 120, fun huge_message/0}.

huge_message() ->
    Self = self(),
    Huge = lists:seq(1, 10000000),
    Got = run(["erlang*:::message-send /erlpid == ", quoted(Self), " && args[1] == erlpid/"
               "{ @[strlen(erlmsg)] = count(); }"],
              fun() -> Self ! Huge end),
    receive [1 | _] -> ok end,
    ?assertEqual(#{{"_", [256]} => 1}, Got).

%% ---- calls -----------------------------------------------------------------------------------

arguments_test() ->
    Got = run([entry("add"), "{ @a[erlargs] = count(); @i[erlint(0), erlint(1)] = count(); }",
               entry("take"), "{ this->i = 1; "
               "@t[erlarg(0), erlint(0), erlarg(this->i), erlarg(this->i - 2)] = count(); }",
               entry("none"), "{ this->i = 0; @n[erlargs, erlarg(this->i)] = count(); }"],
              fun() ->
                      add(65, 66), add(1, -7), take(orders), take("x"), take(1 bsl 63), none()
              end),
    ?assertEqual([{["[1,-7]"], 1}, {["[65,66]"], 1}], keys("a", Got)),
    ?assertEqual([{[1, -7], 1}, {[65, 66], 1}], keys("i", Got)),
    ?assertEqual([{["\"x\"", 0, "", ""], 1}, {["9223372036854775808", 0, "", ""], 1},
                  {["orders", 0, "", ""], 1}], keys("t", Got)),
    ?assertEqual([{["[]", ""], 1}], keys("n", Got)).

predicate_test() ->
    Got = run([entry("take"), "/erlarg(0) == \"orders\"/ { @ = count(); }",
               entry("add"), "/erlarg(0) == \"9\"/ { @q = sum(erlint(1)); }"],
              fun() ->
                      [take(X) || X <- [orders, users, orders, "orders"]],
                      [add(I, I * I) || I <- lists:seq(1, 20)]
              end),
    ?assertEqual(#{{"_", []} => 3, {"q", []} => 81}, Got).

%% One handle reads arguments, another counts calls, at the same time: each is right.
two_handles_test() ->
    {ok, A} = erltrace:script([entry("add"), "{ @[erlargs] = count(); }"]),
    {ok, B} = erltrace:script([entry("add"), "{ @[erlpid] = count(); }"]),
    {ok, C} = erltrace:script([return("add"), "{ @[erlret] = count(); }"]),
    {P, _} = in_process(fun() -> [add(I, 0) || I <- [1, 1, 2]] end),
    Got = [aggregations(H) || H <- [A, B, C]],
    erltrace:close(A),
    {Q, _} = in_process(fun() -> add(5, 0) end),
    Later = [aggregations(H) || H <- [B, C]],
    [erltrace:close(H) || H <- [B, C]],
    ?assertEqual([#{{"_", ["[1,0]"]} => 2, {"_", ["[2,0]"]} => 1},
                  #{{"_", [pid_to_list(P)]} => 3},
                  #{{"_", ["1"]} => 2, {"_", ["2"]} => 1}], Got),
    ?assertEqual([#{{"_", [pid_to_list(P)]} => 3, {"_", [pid_to_list(Q)]} => 1},
                  #{{"_", ["1"]} => 2, {"_", ["2"]} => 1, {"_", ["5"]} => 1}], Later).

%% A binary that is being appended to keeps its spare room: looking at it must not cost that. The
%% same memory is written to all the time, so it is allocated a few times only.
appended_binary_keeps_room_test_() -> [fun appended_binary_keeps_room/0 || internals()].

appended_binary_keeps_room() ->
    Got = run([entry("append"), "{ @[strlen(erlargs) > 0] = count(); }"],
              fun() -> in_process(fun() -> 20000 = append(20000, <<>>), exit(ok) end) end),
    ?assertEqual(#{{"_", [1]} => 20001}, Got),
    {_, {_, Before}} = in_process(fun() -> exit(spare_after(none)) end),
    {ok, H} = erltrace:script([entry("append"), "{ @[erlargs] = count(); }"]),
    {_, {_, Traced}} = in_process(fun() -> exit(spare_after(none)) end),
    erltrace:close(H),
    ?assertEqual(Before, Traced).

%% The size of the memory behind a binary of 300 bytes that was made byte by byte.
spare_after(_) ->
    Bin = lists:foldl(fun(_, B) -> append(0, B), <<B/binary, 7>> end, <<>>, lists:seq(1, 300)),
    {byte_size(Bin), [Size || {_, Size, _} <- element(2, process_info(self(), binary))]}.

%% ---- returned values -------------------------------------------------------------------------

return_value_test() ->
    Got = run([return("add"), "{ @[erlret, args[1]] = count(); @s = sum(strtoll(erlret)); }"],
              fun() -> in_process(fun() -> [add(I, I) || I <- [1, 2, 3, 3]] end) end),
    F = "builtins_tests:add/2",
    ?assertEqual(#{{"_", ["2", F]} => 1, {"_", ["4", F]} => 1, {"_", ["6", F]} => 2,
                   {"s", []} => 18}, Got).

%% Every call tells of its end, tail calls too; depths as they were entered.
return_value_depth_test() ->
    Got = run([entry("count"), "{ @e[args[2]] = count(); }",
               return("count"), "{ @r[erlret, args[2]] = count(); }"],
              fun() -> in_process(fun() -> 3 = count(3) end) end),
    ?assertEqual([{[D], 1} || D <- [1, 2, 3, 4]], keys("e", Got)),
    ?assertEqual([{[integer_to_list(4 - D), D], 1} || D <- [4, 3, 2, 1]], keys("r", Got)).

return_value_tail_test() ->
    Got = run([return("tail"), "{ @[erlret] = count(); }"],
              fun() -> in_process(fun() -> done = tail(9) end) end),
    ?assertEqual(#{{"_", ["done"]} => 10}, Got).

%% Functions whose value is read and others beside each other: by return_trace and by return_to.
return_value_beside_test() ->
    Got = run([return("inner"), "{ @i[erlret, args[2]] = count(); }",
               return("outer"), "{ @o[args[2]] = count(); }",
               entry("outer"), ",", entry("inner"), "{ @e[probefunc, args[2]] = count(); }"],
              fun() -> in_process(fun() -> [outer(I) || I <- [1, 2, 3, 3]] end) end),
    ?assertEqual([{["2", 2], 1}, {["4", 2], 1}, {["6", 2], 2}], keys("i", Got)),
    ?assertEqual([{["inner/1", 2], 4}, {["outer/1", 1], 4}], keys("e", Got)),
    ?assertEqual([{[1], 4}], keys("o", Got)).

%% Functions in C, and one whose external calls alone are counted elsewhere.
return_value_bif_test() ->
    Got = run("erlang*:lists:reverse/2:bif-entry /erlname == \"builtins_bif\"/ { @e[erlargs] = count(); }"
              "erlang*:lists:reverse/2:bif-return /erlname == \"builtins_bif\"/ { @r[erlret, args[1]] = count(); }"
              "erlang*:builtins_tests:add:global-function-entry { @g[erlarg(1)] = count(); }",
              fun() ->
                      in_process(fun() -> % others call reverse/2 too
                                         true = register(builtins_bif, self()),
                                         [lists:reverse([I], [x]) || I <- [1, 2, 2]],
                                         ?MODULE:add(1, 2), add(1, 3)
                                 end)
              end),
    F = "lists:reverse/2",
    ?assertEqual([{["[[1],[x]]"], 1}, {["[[2],[x]]"], 2}], keys("e", Got)),
    ?assertEqual([{["[1,x]", F], 1}, {["[2,x]", F], 2}], keys("r", Got)),
    ?assertEqual([{["2"], 1}], keys("g", Got)).

%% One that fails returns nothing, and what comes after it is right.
return_value_error_test() ->
    Got = run([return("fails"), ",", return("take"), "{ @[probefunc, erlret] = count(); }"],
              fun() ->
                      in_process(fun() ->
                                         [begin
                                              try fails(1) catch _:_ -> ok end,
                                              take(2)
                                          end || _ <- [1, 2]]
                                 end)
              end),
    ?assertEqual(#{{"_", ["take/1", "{took,2}"]} => 2}, Got).

%% Nothing is asked of functions that nobody reads a value of.
no_return_trace_test() ->
    {ok, H} = erltrace:script([return("add"), "{ @[erlret] = count(); }",
                               return("take"), "{ @t = count(); }"]),
    Specs = [erlang:trace_info({?MODULE, F, A}, match_spec)
             || {F, A} <- [{add, 2}, {take, 1}, {none, 0}]],
    erltrace:close(H),
    case erlang:function_exported(trace, session_create, 3) of
        true -> ok; % in a session of its own, which this does not show
        false -> ?assertEqual([{match_spec, [{'_', [], [{return_trace}]}]}, {match_spec, []},
                               {match_spec, false}], Specs)
    end.

%% ---- stacks ----------------------------------------------------------------------------------

%% Innermost first, as printed: each call of count/1 returns into the one before.
stack_test() ->
    Got = run([entry("count"), "/erlint(0) == 0/ { @[ustack()] = count(); }",
               entry("take"), "{ @t[ustack(2)] = count(); }"],
              fun() -> in_process(fun() -> 3 = count(3), {deep, _} = deep(1) end) end),
    [{[Count], 1}] = keys("_", Got),
    [{[Take], 1}] = keys("t", Got),
    case has_stacks() of
        true ->
            %% the one that is entered, and a run of three that wait
            ?assertEqual(lists:duplicate(2, "builtins_tests:count/1"),
                         lists:sublist(lines(Count), 2)),
            ?assertMatch("builtins_tests:'-stack_test/0-fun-" ++ _, lists:nth(3, lines(Count))),
            ?assertEqual(["builtins_tests:take/1", "builtins_tests:deep/1"], lines(Take));
        false ->
            ?assertEqual(["builtins_tests:count/1"], lines(Count)),
            ?assertEqual(["builtins_tests:take/1"], lines(Take))
    end.

%% By return_trace frames of the VM's own lie between: they are no frames of the program.
stack_of_values_test() ->
    Got = run([entry("count"), "/erlint(0) == 0/ { @[ustack(4)] = count(); }",
               return("count"), "{ @r[erlret] = count(); }"],
              fun() -> in_process(fun() -> 3 = count(3) end) end),
    [{[Count], 1}] = keys("_", Got),
    has_stacks() andalso
        ?assertMatch(["builtins_tests:count/1", "builtins_tests:count/1", "builtins_tests:'-stack_of_values" ++ _ | _],
                     lines(Count)).

%% A message is sent in a function that will return to these.
stack_of_send_test() ->
    Self = self(),
    Got = run(["erlang*:::message-send /args[1] == ", quoted(Self), " && erlmsg == \"hello\"/"
               "{ @[ustack()] = count(); }"],
              fun() -> in_process(fun() -> ok = id(sends(Self)) end) end),
    receive hello -> ok end,
    [{[Text], 1}] = keys("_", Got),
    has_stacks() andalso
        ?assertMatch(["builtins_tests:sends/1",
                      "builtins_tests:'-stack_of_send_test/0-" ++ _ | _], lines(Text)).

sends(To) -> To ! hello, ok.

id(X) -> X.

%% A stack deeper than option maxframes, and some in the midst of collections.
stack_deep_test() ->
    Got = run([entry("count"), "/erlint(0) == 0/ { @[ustack(1000)] = count(); }",
               "erlang*:::gc_minor-start { @gc[ustack(3)] = count(); }"],
              fun() -> in_process(fun() -> 100000 = count(100000) end) end),
    has_stacks() andalso
        begin
            [{[Text], 1}] = keys("_", Got),
            ?assertMatch(["(more frames)", "builtins_tests:'-stack_deep_test/0-fun-" ++ _, "builtins_tests:count/1"],
                         lists:usort(lines(Text)))
        end.

%% Ports run and are sent commands too, but have no stack.
stack_of_port_test() ->
    Got = run("erlang*:::port-*, erlang*:::driver-*"
              "{ @[strlen(erlpid), strlen(erlname), ustack()] = count(); }",
              fun() ->
                      [begin
                           Port = open_port({spawn, "cat"}, [binary]),
                           port_command(Port, <<"x">>),
                           receive {Port, {data, <<"x">>}} -> ok end,
                           port_close(Port)
                       end || _ <- lists:seq(1, 5)]
              end),
    ?assertEqual([[0, 0, ""]], [Ks || {Ks, _} <- keys("_", Got)]).

%% A tick fires in a thread of the tracer's own: whose stack is nobody's question. profile-N sees what the
%% schedulers run, but not the kernel's stack.
samples_test() ->
    [?assertMatch({match, _}, re:run(refused(Script), Says))
     || {Script, Says} <-
            [{"profile-97 { @[stack()] = count(); }", "^profile-97 reads .*stack\\(\\).* as root, erltrace -p "},
             {"tick-10ms { @[ufunc(ucaller)] = count(); }", "^tick-10ms reads .* profile-97 {"}]],
    {ok, H} = erltrace:script("profile-97 { @[erlnode] = count(); } tick-10ms { @t = count(); }"),
    ok = erltrace:stop(H),
    erltrace:close(H).

refused(Script) ->
    {error, Reason} = erltrace:script(Script),
    lists:flatten(erltrace:format_error(Reason)).

has_stacks() ->
    {ok, Nif, _} = erltrace_nif:open(),
    Has = erltrace_nif:has_stacks(Nif),
    erltrace_nif:close(Nif),
    ?assertEqual(internals(), Has),
    Has.

%% A stack is a list of frames. Here without their lines, which code_table_tests is about.
lines(Frames) -> [hd(string:split(string:trim(binary_to_list(iolist_to_binary(F))), " (")) ||
                     F <- Frames].

%% ---- where there is none ---------------------------------------------------------------------

empty_test() ->
    Got = run("BEGIN { @[probename, strlen(erlmsg), strlen(erlargs), strlen(erlarg(0)), erlint(0),"
              "    strlen(erlret)] = count(); }"
              "erlang*:::process-* /probename == \"process-spawn\"/"
              "{ @peer[strlen(erlpeer) > 0, strlen(erlreason)] = max(1); }",
              fun() -> in_process(fun() -> ok end) end),
    ?assertEqual(#{{"_", ["BEGIN", 0, 0, 0, 0, 0]} => 1, {"peer", [1, 0]} => 1}, Got).

%% What no probe of a description has is an error, whether there are such functions or not.
none_test() ->
    [?assertMatch({error, {dtrace, <<"D_BUILTIN_NONE">>, _, _, _}}, erltrace:script(Script)) ||
        Script <- ["erlang*:::process-spawn { trace(erlmsg); }",
                   [entry("add"), "{ trace(erlret); }"],
                   "#pragma D option zdefs\nerlang*:no_module::function-entry { trace(erlret); }",
                   "erlang*:::message-queued { trace(erlpeerproc); }"]].

user_probe_test() ->
    Got = run("erlang*:::user_trace-i4s4 { @[erlpid, args[0], args[2], args[6]] = count(); }",
              fun() -> true = dtrace:p(7, "text") end),
    Pid = pid_to_list(self()),
    ?assertEqual(#{{"_", [Pid, Pid, 7, "text"]} => 1}, Got).

%% ---- args[] ----------------------------------------------------------------------------------

%% A string without copyinstr, with it, and what it was.
typed_args_test() ->
    Self = self(),
    Got = run(["erlang*:::message-send /args[0] == ", quoted(Self), " && args[1] == args[0]/"
               "{ @a[args[1]] = count(); @c[copyinstr(args[1])] = count();"
               "  @r[copyinstr(arg1)] = count(); @s[stringof(args[1])] = sum(args[2]);"
               "  @len = max(strlen(args[1])); @cut[copyinstr(args[1], 2)] = count(); }"],
              fun() -> Self ! {a, b} end),
    receive {a, b} -> ok end,
    Pid = pid_to_list(Self),
    ?assertEqual(#{{"a", [Pid]} => 1, {"c", [Pid]} => 1, {"r", [Pid]} => 1, {"s", [Pid]} => 3,
                   {"len", []} => length(Pid), {"cut", [lists:sublist(Pid, 2)]} => 1}, Got).

%% Every probe has types: all of its args[] at once, and no more than those.
every_probe_has_types_test() ->
    {ok, Nif, _} = erltrace_nif:open(),
    functions = erltrace_nif:probes(Nif, "erlang*:::"), % none are added
    {ok, Probes} = erltrace_nif:probes(Nif, "erlang*:::"),
    Names = [N || {_, _, _, _, N, _, _, _} <- Probes, not is_numbered(N)],
    ?assert(length(Names) > 40),
    [begin
         N = count_args(Nif, Name, 0),
         ?assertMatch({_, N} when N >= 1, {Name, N})
     end || Name <- Names],
    erltrace_nif:close(Nif).

%% user_trace-n1 to n950 are as n0.
is_numbered(<<"user_trace-n", I/binary>>) -> I =/= <<"0">>;
is_numbered(_) -> false.

count_args(Nif, Name, N) ->
    Nth = integer_to_list(N),
    case erltrace_nif:compile(Nif, ["erlang*:::", Name, "{ trace(args[", Nth, "]); }"], [], []) of
        ok -> count_args(Nif, Name, N + 1);
        {error, {<<"D_ARGS_IDX">>, _, _, _}} -> N;
        Other -> Other
    end.

%% ---- arguments that no function has ----------------------------------------------------------

%% The functions that match are known, if the description names their module.
no_such_argument_test() ->
    {ok, H} = erltrace:open(),
    Compile = fun(Script) -> erltrace:compile(H, iolist_to_binary(Script)) end,
    {error, {dtrace, <<"D_PROTO_ARG">>, 1, _, Text}} = Compile([entry("take"), " { trace(erlarg(1)); }"]),
    ?assertMatch({match, _}, re:run(Text, "erlarg\\(1\\): take/1 has 1 argument; the first is "
                                          "erlarg\\(0\\)")),
    ?assertEqual(ok, Compile([entry("t*"), ", ", entry("add"), " { trace(erlarg(1)); }"])),
    ?assertEqual(ok, Compile("erlang*:builtins_test*:take:function-entry { trace(erlarg(1)); }")),
    erltrace:close(H).
