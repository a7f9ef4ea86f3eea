%% SPDX-License-Identifier: Apache-2.0
%% erlpeer: the other process of an event, by its name or its pid.
-module(peer_tests).

-include_lib("eunit/include/eunit.hrl").
-export([child/0, told/2]).

child() -> ok.
told(_, _) -> ok.

run(Script, Fun) ->
    {ok, H} = erltrace:script(Script),
    Fun(),
    {ok, All} = erltrace:walk(H),
    ok = erltrace:close(H),
    lists:sort([{Keys, N} || {count, Keys, N} <- All]).

in_process(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, R} -> normal = R end,
    pid_to_list(P).

sink() ->
    spawn(fun() -> receive stop -> ok end end).

%% Sends of one process, which says itself which.
sends(To) ->
    Script = "erlang*:::message-send /erlname == \"peer_sender\"/ { @[erlpeer] = count(); }",
    run(Script, fun() ->
        in_process(fun() ->
            register(peer_sender, self()),
            [T ! message || T <- To],
            unregister(peer_sender)
        end)
    end).

receiver_test() ->
    Named = sink(),
    Plain = sink(),
    true = register(peer_named, Named),
    %% By its pid or its name it is the same one.
    ?assertEqual([{[pid_to_list(Plain)], 1}, {["peer_named"], 3}],
                 sends([Named, peer_named, Plain, Named])),
    Named ! stop,
    Plain ! stop.

%% A reply goes to an alias: the process that made it is told, not a reference for each call.
alias_test() ->
    Me = self(),
    {P, M} = spawn_monitor(fun() ->
        A = erlang:alias(),
        B = erlang:monitor(process, Me, [{alias, explicit_unalias}]),
        Me ! {aliases, [A, B]},
        receive stop -> ok end
    end),
    receive {aliases, As} -> ok end,
    ?assertEqual([{[pid_to_list(P)], 4}], sends(As ++ As)),
    P ! stop,
    receive {'DOWN', M, _, _, _} -> ok end.

%% References that are no aliases, and what is no process at all, are not taken for one.
no_alias_test() ->
    Ref = make_ref(),
    ?assertEqual([{[lists:flatten(io_lib:format("~w", [Ref]))], 1}], sends([Ref])).

%% A name at a node: here it is that name, whatever it was sent by; elsewhere Erlang's text. Names
%% have quotes where Erlang has them.
name_at_node_test() ->
    P = sink(),
    true = register('%2F_bills', P),
    ?assertEqual([{["'%2F_bills'"], 4}, {["'end'"], 1}, {["nobody@here"], 1}],
                 sends([P, {'%2F_bills', node()}, '%2F_bills', {'%2F_bills', node()},
                        {nobody@here, node()}, {'end', node()}])),
    Got = run("erlang*:peer_tests:told/2:function-entry { @[erlpeer] = count(); }", fun() ->
        in_process(fun() -> [?MODULE:told({n, N}, x) || N <- [node(), a@b, 'no-such@127.0.0.1']] end)
    end),
    ?assertEqual([{["n"], 1}, {["{n,'no-such@127.0.0.1'}"], 1}, {["{n,a@b}"], 1}], Got),
    P ! stop.

parent_test() ->
    Script = "erlang*:::process-spawn /copyinstr(arg1) == \"peer_tests:child/0\"/ "
             "{ @[erlpeer] = count(); }",
    Self = self(),
    Got = run(Script, fun() ->
        P = in_process(fun() ->
            [begin {_, M} = spawn_monitor(?MODULE, child, []), receive {_, M, _, _, _} -> ok end end
             || _ <- [1, 2, 3]]
        end),
        Self ! {parent, P},
        in_process(fun() ->
            register(peer_parent, self()),
            {_, M} = spawn_monitor(?MODULE, child, []),
            receive {_, M, _, _, _} -> ok end
        end)
    end),
    receive {parent, Parent} -> ok end,
    ?assertEqual([{[Parent], 3}, {["peer_parent"], 1}], Got).

first_argument_test() ->
    P = sink(),
    true = register(peer_callee, P),
    Got = run("erlang*:peer_tests:told/2:function-entry { @[erlpeer] = count(); }", fun() ->
        in_process(fun() -> [?MODULE:told(A, x) || A <- [P, peer_callee, other, {global, g}, 7]] end)
    end),
    P ! stop,
    ?assertEqual([{["7"], 1}, {["other"], 1}, {["peer_callee"], 2}, {["{global,g}"], 1}], Got).

%% Nothing of the kind: no text.
none_test() ->
    ?assertEqual([{[""], 1}], run("BEGIN { @[erlpeer] = count(); }", fun() -> ok end)).
