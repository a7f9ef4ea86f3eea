%% SPDX-License-Identifier: Apache-2.0
%% Which way function probes go: the option calls, the node's settings, what the VM permits; and what
%% a script is told of it. Each test has a node of its own, where what erltrace_find has found out
%% about the VM is what the test wants.
-module(calls_tests).
-include_lib("eunit/include/eunit.hrl").
-export([in_node/2, f/1, ways/0, ways_bad_setting/0, ways_both/0, asked_and_forbidden/0,
         set_and_refused/0, not_asked/0, not_asked_and_forbidden/0, traced/0, internals/0,
         no_functions/0, by_pragma/0, bad_values/0, fast/0, taken/0]).

-define(GLOBAL, <<"global-function-entry">>).
-define(UNKNOWN, <<"this VM is not known: words 3">>).
-define(FALSE, <<"the node's setting fast_calls is false">>).

f(X) -> X.

%% ---- the tests -------------------------------------------------------------------------------

in_a_node_test_() ->
    [{atom_to_list(Test), {timeout, 60, fun() -> with_node(Args, Available, Test) end}} ||
        {Args, Available, Test} <-
            [{[], undefined, ways},
             {[], {refused, ?UNKNOWN}, asked_and_forbidden},
             {[], {refused, ?UNKNOWN}, set_and_refused},
             {[], {refused, ?UNKNOWN}, not_asked},
             {[], {refused, ?UNKNOWN}, not_asked_and_forbidden},
             {[], {refused, ?UNKNOWN}, traced},
             {[], {refused, ?UNKNOWN}, no_functions},
             {[], {refused, ?UNKNOWN}, by_pragma},
             {[], undefined, bad_values},
             {[], undefined, fast},
             {[], undefined, taken},
             %% erl's command line, where the application need not be loaded
             {["-erltrace", "fast_calls", "perhaps"], undefined, ways_bad_setting},
             {["-erltrace", "destructive", "false", "fast_calls", "false"], undefined, ways_both},
             {["-erltrace", "vm_internals", "false"], undefined, internals}]].

with_node(Args, Available, Test) ->
    Pa = lists:append([["-pa", filename:dirname(code:which(M))] || M <- [erltrace, ?MODULE]]),
    {ok, Peer, _} = peer:start_link(#{wait_boot => 120000, connection => standard_io, args => Pa ++ Args}),
    try peer:call(Peer, ?MODULE, in_node, [Available, Test], 50000)
    after peer:stop(Peer)
    end.

%% undefined: it is found out.
in_node(Available, Test) ->
    _ = Available =:= undefined orelse erltrace_nif:find(fast, {refuse, element(2, Available)}),
    ?MODULE:Test().

set(Name, Value) -> application:set_env(erltrace, Name, Value).

%% Runs it with calls of f/1; what is said, what status/1 has.
run(Script, Options) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, O, V) || {O, V} <- Options],
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    {_, normal} = script_run:in_process(fun() -> [?MODULE:f(I) || I <- lists:seq(1, 50)] end),
    {ok, #{calls := Calls}} = erltrace:status(H),
    {ok, [{<<"_">>, count, [], 50}]} = erltrace:aggregations(H),
    Said = case erltrace:consume(H) of
               {ok, Items} -> [W || {warning, W} <- Items];
               ok -> []
           end,
    ok = erltrace:close(H),
    {Said, Calls}.

%% What the tracer sees, not the VM's counters.
-define(F, "erlang*:calls_tests:f/1:function-entry { self->n++; @ = count(); }").

traced_map(Why) -> about(traced, 1, [], Why).

warned_map(Why) -> (traced_map(Why))#{warned := true}.

said(Why) -> ["function probes are traced, not fast: " ++ binary_to_list(Why)].

%% ---- the decision ----------------------------------------------------------------------------

ways() ->
    Ways = fun() -> [erltrace_calls:way(O) || O <- [auto, fast, traced]] end,
    ?assertEqual([traced, fast, traced], Ways()),
    set(fast_calls, true),
    ?assertEqual([fast, fast, traced], Ways()),
    set(vm_internals, false),
    No = {traced, <<"the node's setting vm_internals is false">>},
    ?assertEqual([No, No, traced], Ways()),
    set(fast_calls, false),
    ?assertEqual([traced, {traced, ?FALSE}, traced], Ways()),
    set(vm_internals, true),
    ?assertEqual([traced, {traced, ?FALSE}, traced], Ways()),
    ok.

ways_bad_setting() ->
    ?assertEqual({traced, <<"the node's setting fast_calls is \"perhaps\", which is neither true nor false">>},
                 erltrace_calls:way(fast)),
    ?assertEqual(traced, erltrace_calls:way(auto)),
    ok.

%% Whoever forbids it wins.
ways_both() ->
    ?assert(erltrace_limiter:is_harmless()),
    ?assertEqual([traced, {traced, ?FALSE}], [erltrace_calls:way(O) || O <- [auto, fast]]),
    set(fast_calls, true),
    ?assertEqual([{traced, ?FALSE}, {traced, ?FALSE}], [erltrace_calls:way(O) || O <- [auto, fast]]),
    ok.

%% ---- what a script is told -------------------------------------------------------------------

asked_and_forbidden() ->
    set(fast_calls, false),
    ?assertEqual({said(?FALSE), warned_map(?FALSE)}, run(?F, [{"calls", "fast"}])),
    ok.

set_and_refused() ->
    set(fast_calls, true),
    ?assertEqual({said(?UNKNOWN), warned_map(?UNKNOWN)}, run(?F, [])),
    ok.

not_asked() ->
    ?assertEqual({[], traced_map(<<>>)}, run(?F, [])),
    ok.

%% Nobody is warned of what nobody asked for; who looks is told.
not_asked_and_forbidden() ->
    set(fast_calls, false),
    ?assertEqual({[], traced_map(?FALSE)}, run(?F, [])),
    ok.

traced() ->
    set(fast_calls, true),
    ?assertEqual({[], traced_map(<<>>)}, run(?F, [{"calls", "traced"}])),
    ok.

internals() ->
    Why = <<"the node's setting vm_internals is false">>,
    ?assertEqual({said(Why), warned_map(Why)}, run(?F, [{"calls", "fast"}])),
    ok.

%% Nothing inside the VM is looked at for a script that has no function probes.
no_functions() ->
    {ok, H} = erltrace:open(),
    ?assertMatch({ok, #{calls := #{way := none}}}, erltrace:status(H)),
    ok = erltrace:setopt(H, "calls", "fast"),
    ok = erltrace:compile(H, "erlang*:::process-spawn { @ = count(); }"),
    ok = erltrace:go(H),
    ?assertEqual(ok, erltrace:consume(H)),
    {ok, #{calls := Calls}} = erltrace:status(H),
    ?assertEqual(about(none, 0, [], <<>>), Calls),
    ok = erltrace:close(H).

by_pragma() ->
    ?assertEqual({said(?UNKNOWN), warned_map(?UNKNOWN)}, run("#pragma D option calls=fast\n" ?F, [])),
    ?assertEqual({[], traced_map(<<>>)}, run("#pragma D option calls=traced\n" ?F, [{"calls", "fast"}])),
    ?assertEqual({[], traced_map(<<>>)}, run("#pragma D option calls=fast\n" ?F, [{"calls", "traced"}])),
    ok.

bad_values() ->
    {ok, H} = erltrace:open(),
    [begin
         {error, {dtrace, <<"ET_OPTION">>, 0, 0, Text}} = erltrace:setopt(H, "calls", V),
         ?assertNotEqual(nomatch, string:find(Text, "auto, fast or traced"))
     end || V <- ["slow", "", "true", "fast "]],
    {error, {dtrace, <<"D_PRAGMA_OPTSET">>, 1, _, _}} =
        erltrace:compile(H, "#pragma D option calls=slow\n" ?F),
    ok = erltrace:setopt(H, "calls", "traced"),
    ok = erltrace:compile(H, ?F),
    ok = erltrace:go(H),
    {error, {dtrace, <<"ET_OPTION">>, 0, 0, _}} = erltrace:setopt(H, "calls", "fast"),
    ok = erltrace:close(H).

%% Where this VM can be hooked: the same results, and each function goes the way it can.
fast() ->
    Global = "erlang*:calls_tests:in_node/2:global-function-entry { @g = count(); }",
    case erltrace_find:known(fast) of
        ok ->
            ?assertEqual({[], about(fast, 1, [], <<>>)}, run(?F, [{"calls", "fast"}])),
            ?assertEqual({[], about(fast, 1, [{?GLOBAL, 1, {?MODULE, in_node, 2}}], <<>>)},
                         run([?F, Global], [{"calls", "fast"}])),
            Both = "erlang*:::process-hibernate { @h[copyinstr(arg1)] = count(); }"
                   "erlang*:proc_lib:hibernate/3:function-entry { @g = count(); }",
            ?assertEqual({[], about(fast, 1, [{<<"traced for another probe">>, 1,
                                               {proc_lib, hibernate, 3}}], <<>>)},
                         run([?F, Both], [{"calls", "fast"}])),
            ?assertEqual({[], traced_map(<<>>)}, run(?F, [])),
            set(fast_calls, true),
            ?assertEqual({[], about(fast, 1, [], <<>>)}, run(?F, []));
        {refused, Why} ->
            ?assertEqual({said(Why), warned_map(Why)}, run(?F, [{"calls", "fast"}]))
    end,
    ok.

%% What the library says if it finds the hooks taken, after it was decided.
taken() ->
    {ok, Nif, _} = erltrace_nif:open(),
    Calls = erltrace_calls:note(Nif, [call, hooks_taken], {calls, fast, [], <<>>, false}),
    Why = <<"somebody else in this node has the hooks">>,
    ?assertEqual((about(traced, 3, [], Why))#{warned := true}, erltrace_calls:about(Calls, 0, 3, 0)),
    ok = erltrace_nif:close(Nif).

%% ---- how it reads ----------------------------------------------------------------------------

about(Way, N, Traced, Why) ->
    #{way => Way, functions => N, counted => 0, traced => Traced, why => Why, warned => false}.

line_test() ->
    Lines = [erltrace_calls:line(A) ||
                A <- [erltrace_calls:none(),
                      about(traced, 3, [], <<>>),
                      about(traced, 3, [], ?UNKNOWN),
                      (about(traced, 3, [], ?UNKNOWN))#{warned := true},
                      (about(traced, 0, [], <<>>))#{counted := 1},
                      (about(fast, 0, [], <<>>))#{counted := 3},
                      (about(fast, 2, [], <<>>))#{counted := 3},
                      about(fast, 12, [], <<>>),
                      about(fast, 1, [{?GLOBAL, 1, {lists, seq, 2}}], <<>>),
                      about(fast, 0, [{?GLOBAL, 3, {'Elixir.Enum', map, 2}},
                                      {<<"a NIF">>, 1, {m, f, 0}}], <<>>)]],
    ?assertEqual([none,
                  <<"calls: traced">>,
                  <<"calls: traced (this VM is not known: words 3)">>,
                  <<"calls: traced">>,
                  <<"calls: counted by the VM, 1 function">>,
                  <<"calls: counted by the VM, 3 functions">>,
                  <<"calls: fast, 2 functions; counted by the VM: 3">>,
                  <<"calls: fast, 12 functions">>,
                  <<"calls: fast, 1 function; traced: 1 (lists:seq/2: global-function-entry)">>,
                  <<"calls: fast, 0 functions; traced: 4 ('Elixir.Enum':map/2 and 2 more: "
                    "global-function-entry; m:f/0: a NIF)">>], Lines).

json_test() ->
    ?assertEqual(<<"{\"type\":\"calls\",\"node\":\"a@h\",\"way\":\"fast\",\"functions\":2,\"counted\":0,\"traced\":["
                   "{\"why\":\"global-function-entry\",\"functions\":3,\"example\":\"'\\\"\\\\\\\\':"
                   "f/1\"}],\"why\":\"\"}\n">>,
                 erltrace_calls:json('a@h', about(fast, 2, [{?GLOBAL, 3, {'"\\', f, 1}}], <<>>))),
    ?assertEqual(<<"{\"type\":\"calls\",\"node\":\"a@h\",\"way\":\"traced\",\"functions\":2,\"counted\":0,\"traced\":[],"
                   "\"why\":\"a\\n\\\"ü/utf8\"}\n"/utf8>>,
                 erltrace_calls:json('a@h', about(traced, 2, [], <<"a\n\"ü/utf8"/utf8>>))).

%% What is to be armed, as the library says it.
note_test() ->
    Needs = [call, {local, m, f, 1}, {fast, m, g, 1}, {fast, m, h, 1}, {traced, m, f, 1, ?GLOBAL},
             {traced, m, i, 1, <<"a NIF">>}, {traced, m, j, 1, ?GLOBAL}],
    Fast = {calls, fast, [], <<>>, false}, % its record
    ?assertEqual(about(fast, 2, [{?GLOBAL, 2, {m, f, 1}}, {<<"a NIF">>, 1, {m, i, 1}}], <<>>),
                 erltrace_calls:about(erltrace_calls:note(make_ref(), Needs, Fast), 2, 3, 0)).
