%% SPDX-License-Identifier: Apache-2.0
%% Searches for where the VM keeps a fact: each is found here, once; what is not certain, or forbidden,
%% is refused, and only what was concluded is published.
-module(find_tests).
-include_lib("eunit/include/eunit.hrl").
-export([forbidden/0, steps/0, together/0, spoiled/0, tried_again/0]).

-define(FACTS, [stack, name, token, run_state, numbers, code, fast, sampling]).

known_test_() ->
    {timeout, 300,
     fun() ->
             {ok, _} = application:ensure_all_started(erltrace),
             [begin
                  ?assertEqual({Fact, ok}, {Fact, erltrace_find:known(Fact)}),
                  ?assertEqual({Fact, ok}, {Fact, erltrace_nif:find(Fact, get)})
              end || Fact <- ?FACTS]
     end}.

%% Each in a node where nothing is known yet.
nodes_test_() ->
    [{timeout, 100, {atom_to_list(F), fun() -> in_peer(F) end}} ||
        F <- [forbidden, steps, together, spoiled, tried_again]].

in_peer(Function) ->
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, wait_boot => 60000,
                                      args => ["-pa" | code:get_path()]}),
    try ok = peer:call(Peer, ?MODULE, Function, [], 90000)
    after peer:stop(Peer)
    end.

forbidden() ->
    application:set_env(erltrace, vm_internals, false),
    [begin
         ?assertEqual(undefined, erltrace_nif:find(Fact, get)),
         ?assertEqual({Fact, {refused, <<"the setting vm_internals forbids it">>}},
                      {Fact, erltrace_find:known(Fact)}),
         ?assertEqual({refused, <<"the setting vm_internals forbids it">>}, erltrace_nif:find(Fact, get))
     end || Fact <- ?FACTS],
    ok.

%% Nothing is published that was not searched for, concluded and not refused since; and whatever is given
%% to a step, it is an answer or badarg.
steps() ->
    Names = [words, session, mail, sizes, process, entry, observe, write, flags, none, limit, scheduler,
             sensitive, export, catches, adopt, spoil, missing, counts, kind, about, dirty_known],
    [begin
         ok = erltrace_nif:find(Fact, start),
         [try erltrace_nif:find(Fact, Step) catch error:badarg -> ok end ||
             Name <- Names, Step <- [Name | [{Name, A} || A <- [undefined, -1, 7, 1 bsl 70, {}, {1, 2}, [x], #{}]]]],
         [try erltrace_nif:find(Fact, {Name, 0}) catch error:badarg -> ok end || Name <- [spoil, missing]],
         ok = erltrace_nif:find(Fact, {try_again, <<>>})
     end || Fact <- ?FACTS],
    [begin
         ?assertError(badarg, erltrace_nif:find(Fact, publish)),
         ?assertError(badarg, erltrace_nif:find(Fact, conclude)),
         ok = erltrace_nif:find(Fact, start),
         ?assertError(badarg, erltrace_nif:find(Fact, publish)),
         ?assertEqual(undefined, erltrace_nif:find(Fact, get)),
         ?assertMatch({Fact, {refused, <<_, _/binary>>}}, {Fact, erltrace_nif:find(Fact, conclude)}),
         ?assertError(badarg, erltrace_nif:find(Fact, publish)),
         ?assertError(badarg, erltrace_nif:find(Fact, no_such_step)),
         ?assertError(badarg, erltrace_nif:find(Fact, {no_such_step, 1}))
     end || Fact <- ?FACTS],
    ?assertError(badarg, erltrace_nif:find(no_such_fact, get)),
    ok.

%% Many want it at once, and some of them are killed: there is one search.
together() ->
    Ask = fun() -> exit({answer, erltrace_find:known(token)}) end,
    Asking = [spawn_monitor(Ask) || _ <- lists:seq(1, 20)],
    [exit(P, kill) || {P, _} <- lists:sublist(Asking, 5)],
    Ends = [receive {'DOWN', M, process, P, Why} -> Why end || {P, M} <- Asking],
    ?assertEqual([{answer, ok}], lists:usort(lists:nthtail(5, Ends))),
    ?assertEqual(undefined, whereis(erltrace_find_token)),
    ok.

%% The same observations with something wrong in each.
spoiled() ->
    ok = erltrace_find:known(stack),
    Labels = [erltrace_1, erltrace_2, erltrace_3],
    With = fun(Set, Told) ->
                   _ = seq_trace:set_token(label, Set),
                   ok = erltrace_nif:find(token, {observe, Told}),
                   _ = seq_trace:set_token([])
           end,
    Without = fun() -> ok = erltrace_nif:find(token, {observe, undefined}) end,
    All = fun() -> [begin Without(), With(L, L) end || L <- Labels] end,
    Wrong = [{"too few", fun() -> Without(), With(erltrace_1, erltrace_1) end},
             {"never with a token", fun() -> [Without() || _ <- Labels] end},
             {"never without", fun() -> [With(L, L) || L <- Labels] end},
             {"another label", fun() -> All(), With(erltrace_1, erltrace_2) end},
             {"no token", fun() -> All(), erltrace_nif:find(token, {observe, erltrace_1}) end},
             {"a token", fun() -> All(), With(erltrace_1, undefined) end}],
    [?assertMatch({What, {refused, _}}, {What, concluded(token, Observe)}) || {What, Observe} <- Wrong],
    ?assertEqual(ok, concluded(token, All)),
    %% what is concluded is not known before its test
    ?assertEqual(undefined, erltrace_nif:find(token, get)),
    ok = erltrace_nif:find(token, publish),
    ?assertEqual(ok, erltrace_nif:find(token, get)),
    %% and is neither observed nor concluded again
    ?assertError(badarg, Without()),
    ?assertError(badarg, erltrace_nif:find(token, conclude)),
    ?assertEqual(ok, erltrace_nif:find(token, get)),
    ok.

concluded(Fact, Observe) ->
    ok = erltrace_nif:find(Fact, start),
    _ = Observe(),
    erltrace_nif:find(Fact, conclude).

%% What could not be found out now is searched for again; a refusal lasts.
tried_again() ->
    ok = erltrace_nif:find(run_state, {try_again, <<"busy">>}),
    ?assertEqual(undefined, erltrace_nif:find(run_state, get)),
    ?assertEqual(ok, erltrace_find:known(run_state)),
    ?assertEqual({refused, <<"a test">>}, erltrace_find:refuse(token, <<"a test">>)),
    ?assertEqual({refused, <<"a test">>}, erltrace_find:known(token)),
    ok.
