%% SPDX-License-Identifier: Apache-2.0
%% Names that are compared with a constant compare as atoms do, whatever their quotes: of processes,
%% functions, nodes, in predicates and values, in arguments of probes and of the provider state.
-module(quoted_name_tests).
-include_lib("eunit/include/eunit.hrl").
-export([act/1, 'loop it'/0]).

act(X) -> X.

'loop it'() ->
    receive
        {do, From, N} -> [act(I) || I <- lists:seq(1, N)], From ! {self(), done}, 'loop it'()
    end.

do(P, N) ->
    P ! {do, self(), N},
    receive {P, done} -> ok end.

%% A process of each name calls act/1 three times; how often the comparison holds then.
matched(Names, Comparison) ->
    Ps = [begin P = spawn(?MODULE, 'loop it', []), Name =:= none orelse register(Name, P), P end
          || Name <- Names],
    try
        maps:get({"hit", []},
                 script_run:run(["BEGIN { @hit = sum(0); }\n"
                                 "erlang*:quoted_name_tests:act:function-entry /",
                                 unicode:characters_to_binary(Comparison), "/ { @hit = sum(1); }"],
                                fun() -> [do(P, 3) || P <- Ps] end))
    after
        [exit(P, kill) || P <- Ps]
    end.

-define(NAMES, ['Elixir.MyApp.Load', plain_name, 'it\'s', 'end', 'be-quoted@host', 'été', none]).

quoted_name_test_() ->
    {inorder,
     [{Comparison, fun() -> ?assertEqual(N, matched(?NAMES, Comparison)) end} ||
         {N, Comparison} <-
             [{3, "erlname == \"Elixir.MyApp.Load\""},
              {3, "erlname == \"'Elixir.MyApp.Load'\""},
              {3, "\"Elixir.MyApp.Load\" == erlname"},
              {18, "erlname != \"Elixir.MyApp.Load\""},
              {18, "!(erlname == \"'Elixir.MyApp.Load'\")"},
              {3, "erlname == \"plain_name\""},
              {3, "erlname == \"'plain_name'\""},
              {3, "erlname == \"it's\""},
              {3, "erlname == \"'it\\\\'s'\""},
              {3, "erlname == \"end\""},
              {3, "erlname == \"'end'\""},
              {3, "erlname == \"be-quoted@host\""},
              {3, "erlname == \"été\""},
              {3, "erlname == \"'été'\""},
              {3, "erlname == \"\""},
              {0, "erlname == \"''\""},
              {0, "erlname == \"'Elixir.MyApp'\""},
              {3, "erlproc == \"Elixir.MyApp.Load\""},
              {3, "erlproc == \"quoted_name_tests:loop it/0\""},
              {3, "erlproc == \"quoted_name_tests:'loop it'/0\""},
              {3, "erlproc == \"'quoted_name_tests':'loop it'/0\""},
              {6, "erlname == \"Elixir.MyApp.Load\" || erlname == \"end\""},
              {21, "args[1] == \"quoted_name_tests:act/1\""},
              {21, "args[1] == \"'quoted_name_tests':'act'/1\""},
              {21, "erlnode == \"" ++ atom_to_list(node()) ++ "\""},
              {21, "erlnode == \"'" ++ atom_to_list(node()) ++ "'\""}]]}.

%% A variable that was assigned a name is one, too.
quoted_name_in_a_variable_test() ->
    register('Elixir.Kept.Name', self()),
    try
        ?assertMatch(#{{"v", [1, 0, 7]} := 3},
                     script_run:run("erlang*:quoted_name_tests:act:function-entry\n"
                                    "/erlname == \"Elixir.Kept.Name\"/\n"
                                    "{ this->n = erlname; self->m = erlname; @v[this->n == \"Elixir.Kept.Name\","
                                    " self->m != \"'Elixir.Kept.Name'\","
                                    " erlname == \"Elixir.Kept.Name\" ? 7 : 8] = count(); }",
                                    fun() -> [act(I) || I <- [1, 2, 3]] end))
    after
        unregister('Elixir.Kept.Name')
    end.

%% Messages to a name, and args[0]->registered of the provider state.
quoted_name_of_message_test() ->
    register('Elixir.Kept.Name', self()),
    try
        ?assertMatch(#{{"sent", []} := 2, {"peer", []} := 2},
                     script_run:run("erlang*:::message-send /args[1] == \"Elixir.Kept.Name\"/ { @sent = count(); }\n"
                                    "erlang*:::message-send /erlpeer == \"Elixir.Kept.Name\"/ { @peer = count(); }",
                                    fun() ->
                                            script_run:in_process(
                                              fun() -> ['Elixir.Kept.Name' ! X || X <- [1, 2]] end)
                                    end))
    after
        unregister('Elixir.Kept.Name'),
        [receive X -> ok end || X <- [1, 2]]
    end.

quoted_name_of_state_test_() ->
    {setup,
     fun() -> P = spawn(?MODULE, 'loop it', []), register('Elixir.Kept.Name', P), P end,
     fun(P) -> exit(P, kill) end,
     [{Text, fun() -> ?assertMatch(#{{"seen", ["'Elixir.Kept.Name'"]} := _}, seen(Text)) end} ||
         Text <- ["args[0]->registered == \"Elixir.Kept.Name\"",
                  "args[0]->registered == \"'Elixir.Kept.Name'\"",
                  "args[0]->name == \"Elixir.Kept.Name\"",
                  "args[0]->initial == \"quoted_name_tests:loop it/0\" && args[0]->registered != \"\""]]}.

seen(Predicate) ->
    script_run:run(["state:::process /", Predicate, "/ { @seen[args[0]->registered] = count(); }"], fun whole/1).

whole(H) ->
    case erltrace:status(H) of
        {ok, #{things := #{rounds := N, partial := Partial}}} when N > Partial -> ok;
        _ -> receive after 5 -> ok end, whole(H)
    end.
