%% SPDX-License-Identifier: Apache-2.0
%% What users and operators of a node may do to processes of ours, each without harm.
-module(hostile_tests).
-include_lib("eunit/include/eunit.hrl").
-export([f/1]).

f(X) -> X + 1.

script() -> "erlang*:hostile_tests:f:function-return { @ = count(); }".

%% Until it is so: what ends does so at once, but by itself.
wait(Is) ->
    case Is() of
        true -> ok;
        false -> receive after 10 -> wait(Is) end
    end.

is_traced() ->
    {traced, false} =/= erlang:trace_info({?MODULE, f, 1}, traced) orelse
        lists:any(fun(P) ->
                          case erlang:trace_info(P, flags) of
                              {flags, [_ | _]} -> true;
                              _ -> false
                          end
                  end, [new_processes | processes()]).

%% A process has one name at most: the lock that arming takes was a name of the handle's own.
handle_with_a_name_test_() ->
    {timeout, 60, fun handle_with_a_name/0}.

handle_with_a_name() ->
    {ok, H} = erltrace:open(),
    true = register(hostile_handle, H),
    ok = erltrace:compile(H, script()),
    ok = erltrace:go(H),
    [f(I) || I <- lists:seq(1, 5)],
    ?assertEqual({ok, [{count, [], 5}]}, erltrace:walk(H)),
    ok = erltrace:close(H),
    ?assertNot(is_traced()),
    ?assertEqual(undefined, whereis(erltrace_vm_lock)).

%% Two of them, and one without: each has the lock in turn, and who waits for it may be killed.
handles_with_names_at_once_test_() ->
    {timeout, 60, fun() ->
        Owners = [spawn_monitor(fun() -> owner(I) end) || I <- lists:seq(1, 6)],
        [?assertEqual(normal, receive {'DOWN', M, process, P, Why} -> Why end) || {P, M} <- Owners],
        wait(fun() -> not is_traced() andalso whereis(erltrace_vm_lock) =:= undefined end)
    end}.

owner(I) ->
    {ok, H} = erltrace:open(),
    Name = list_to_atom("hostile_handle_" ++ integer_to_list(I rem 3)),
    _ = I rem 2 =:= 0 andalso (catch register(Name, H)),
    ok = erltrace:compile(H, script()),
    _ = I > 4 andalso exit(H, kill),
    case erltrace:go(H) of
        ok -> f(1), ok = erltrace:close(H);
        {error, closed} -> ok
    end.

%% Its application ends, and has all processes killed at once that belong to it: the handle and,
%% in vain, who takes back what the handle has armed.
supervisor_killed_test_() ->
    {timeout, 60, fun() ->
        ok = application:start(erltrace),
        {ok, H} = erltrace:script(script()),
        {links, [Sup]} = process_info(H, links),
        ?assertMatch([{_, Sup, supervisor, _}], supervisor:which_children(erltrace_handles_sup)),
        Mon = monitor(process, H),
        exit(whereis(erltrace_sup), kill),
        receive {'DOWN', Mon, process, H, _} -> ok end,
        wait(fun() -> f(1), not is_traced() end),
        wait(fun() -> not lists:keymember(erltrace, 1, application:which_applications()) end)
    end}.

%% The supervisor of handles alone: it is started again, its handles are not.
supervisor_of_handles_killed_test_() ->
    {timeout, 60, fun() ->
        ok = application:start(erltrace),
        {ok, H} = erltrace:script(script()),
        Sup = whereis(erltrace_handles_sup),
        Mon = monitor(process, H),
        exit(Sup, kill),
        receive {'DOWN', Mon, process, H, _} -> ok end,
        wait(fun() -> f(1), not is_traced() end),
        wait(fun() -> is_pid(whereis(erltrace_handles_sup)) andalso whereis(erltrace_handles_sup) =/= Sup end),
        {ok, H1} = erltrace:script(script()),
        f(1),
        ?assertEqual({ok, [{count, [], 1}]}, erltrace:walk(H1)),
        ok = erltrace:close(H1),
        ok = application:stop(erltrace)
    end}.

%% A handle is opened all the same.
supervisor_killed_meanwhile_test_() ->
    {timeout, 60, fun supervisor_killed_meanwhile/0}.

supervisor_killed_meanwhile() ->
    Sup = spawn(fun() -> receive {'$gen_call', _, _} -> exit(killed) end end),
    true = register(erltrace_handles_sup, Sup),
    {ok, H} = erltrace:open(),
    ok = erltrace:close(H).

%% A script of anybody's, without destructive actions, could write over a file of the node's user.
no_files_are_written_by_options_test_() ->
    {timeout, 60, fun() ->
        {ok, H} = erltrace:open(),
        [?assertMatch({error, {dtrace, <<"D_PRAGMA_OPTSET">>, _, _, _}},
                      erltrace:compile(H, ["#pragma D option ", Option, "=/dev/null\nBEGIN {}"])) ||
            Option <- ["ctypes", "dtypes"]],
        ok = erltrace:close(H)
    end}.

%% Nor can a script have a program run, on itself or on the next one; and where the user wants the
%% preprocessor, it does not run in the node.
no_preprocessor_in_a_node_test_() ->
    {timeout, 60, fun() ->
        {ok, H} = erltrace:open(),
        Compile = fun(Text) -> erltrace_handle:call(H, {compile, Text, [], [{file, "x.d"}]}) end,
        [?assertMatch({error, {dtrace, <<"D_PRAGMA_OPTSET">>, 1, _, _}},
                      Compile(["#pragma D option ", Option, "\nBEGIN {}"])) ||
            Option <- ["cpp", "cpppath=/bin/true"]],
        ok = erltrace:setopt(H, "cpp", "1"),
        ?assertMatch({error, {dtrace, <<"D_PRAGMA_OPTSET">>, _, _, _}}, Compile("BEGIN {}")),
        ok = erltrace:close(H)
    end}.
