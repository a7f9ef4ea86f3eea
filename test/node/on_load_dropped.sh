#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Until OTP 25.3.2.10 and 26.2.3 the VM's purger drops the end of an on_load function that comes while it purges.
# A command must come into a node that purges all the time; and what it purges when it leaves must not make the
# code server wait for ever, while that loads modules with an on_load function.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 300
cat >purged.erl <<'END'
-module(purged).
-export([begin_purging/1, begin_loading/0, stop/1, answers/0]).

%% Each round of it asks all of these processes.
begin_purging(Processes) ->
    [spawn(timer, sleep, [infinity]) || _ <- lists:seq(1, Processes)],
    Code = code([{function, 4, f, 0, [{clause, 4, [], [], [{atom, 4, ok}]}]}]),
    spawn(fun () -> purges(Code) end).

begin_loading() ->
    Code = code([{attribute, 3, on_load, {f, 0}}, {function, 4, f, 0, [{clause, 4, [], [], [{atom, 4, ok}]}]}]),
    spawn(fun () -> loads(Code, 0) end).

code(Forms) ->
    {ok, M, Code} = compile:forms([{attribute, 1, module, list_to_atom("purged_" ++ integer_to_list(length(Forms)))},
                                   {attribute, 2, export, [{f, 0}]} | Forms]),
    {M, Code}.

purges({M, Code}) ->
    {module, M} = code:load_binary(M, "none", Code),
    true = code:delete(M),
    code:purge(M),
    receive stop -> ok after 0 -> purges({M, Code}) end.

loads({M, Code}, N) ->
    {module, M} = code:load_binary(M, "none", Code),
    true = code:delete(M),
    code:purge(M),
    receive
        {stop, From} -> From ! {loaded, N > 0}
    after 0 -> loads({M, Code}, N + 1)
    end.

stop(Loading) ->
    Loading ! {stop, self()},
    receive {loaded, Some} -> Some after 30000 -> 'the code server hangs' end.

answers() -> is_list(rpc:call(node(), code, get_path, [], 30000)).
END
erlc -Werror -o "$demo_ebin" purged.erl || exit 1

comes() { # name, node
	timeout 60 erltrace -N "$2" -qn 'BEGIN { printf("here"); exit(0); }' >o 2>&1
	is "$1" here "$(cat o)"
}

start purging
at purging 'P = purged:begin_purging(4000), register(purging, P).' >/dev/null
for i in 1 2 3; do
	comes "a command comes into a node that purges: $i" purging
done
at purging 'purging ! stop.' >/dev/null
start loading
at loading 'P = purged:begin_loading(), register(loading, P).' >/dev/null
for i in 1 2 3 4 5; do
	comes "a command comes into a node that loads libraries: $i" loading
done
is 'the code server has loaded them' true "$(at loading 'purged:stop(whereis(loading)).')"
is 'the code server answers' true "$(at loading 'purged:answers().')"
finish
