#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A node whose dirty I/O schedulers are all taken, by processes that open a FIFO that nobody writes
# to, as with a hung network file system: the command attaches, as nothing that it does there needs a
# file or the code server, nor does net_kernel need crypto, which is not loaded, to accept it (what it
# does need is there, as in a node of a cluster). Without that it took 60 s, and then 'does not answer
# lists:zipwith3'.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
epmd_begin
cat >take.erl <<'X'
-module(take).
-export([listen/1]).
%% The port of a socket: who connects to it has all schedulers taken, and is told when they are; and
%% for each line that it sends, how many processes serve calls of other nodes.
listen(Fifo) ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    spawn(fun() ->
                  {ok, S} = gen_tcp:accept(L),
                  N = 2 * erlang:system_info(dirty_io_schedulers),
                  [spawn(fun() -> file:open(Fifo, [read, raw]) end) || _ <- lists:seq(1, N)],
                  wait(N),
                  ok = gen_tcp:send(S, "taken\n"),
                  answer(S)
          end),
    element(2, inet:port(L)).
wait(N) -> % no timer:sleep/1: that module may not be loaded
    lists:last(statistics(active_tasks_all)) >= N orelse receive after 10 -> wait(N) end.
answer(S) ->
    receive
        {tcp, S, _} ->
            N = length([P || P <- processes(), {_, {erpc, execute_call, _}} <- [process_info(P, initial_call)]]),
            ok = gen_tcp:send(S, [integer_to_list(N), "\n"]),
            answer(S)
    end.
X
erlc take.erl || exit 1
start blocked -pa .
hello='BEGIN { printf("hello\n"); exit(0); }'
mkfifo hung
at blocked 'code:ensure_modules_loaded([dist_util]).' >/dev/null
is 'crypto is not loaded' false "$(at blocked 'code:is_loaded(crypto).')"
# The node cannot say it by standard output: from OTP 26 on that takes such a scheduler too.
exec 7<>"/dev/tcp/127.0.0.1/$(at blocked "take:listen(\"$tmp/hung\").")"
told=''
read -r -t 60 told <&7
is 'all are taken' taken "$told"
is 'dirty I/O taken' hello "$(timeout -s KILL 60 erltrace -N blocked -qn "$hello" 2>&1 | head -n 1)"

# commands_leave_nobody_who_waits: each left a process that asked for a file, or the code server, until
# that answered: now what does not move is not asked.
ten() { # node
	local n=0 i
	for ((i = 0; i < 10; i++)); do
		timeout -s KILL 60 erltrace -N "$1" -qn "$hello" 2>&1 | grep -qx hello && n=$((n + 1))
	done
	echo $n
}
is 'dirty I/O taken: ten commands more' 10 "$(ten blocked)"
left=''
for ((i = 0; i < 100; i++)); do
	echo >&7
	read -r -t 60 left <&7
	[ "$left" = 0 ] && break
	sleep 0.1
done
is '... leave no process that waits for a file' 0 "$left"
# what_waits_is_shown: waits said that there was nothing to show, top that some were ready and nothing ran.
erltrace -N blocked -qs waits for=3s >o 2>&1
has 'waits: all dirty I/O schedulers are taken' '^all dirty I/O schedulers are taken: 2[0-9] processes run there or wait, 10 can run$'
erltrace -N blocked -qs top for=3s >o 2>&1
has 'top: who is ready waits for dirty I/O' ' 1[0-9] ready to run, 1[0-9] of them for dirty I/O '
start suspended
at suspended 'code:ensure_modules_loaded([dist_util]), sys:suspend(code_server), ok.' >/dev/null
is 'the code server does not answer: ten commands' 10 "$(ten suspended)"
becomes '... leave one process at most that waits for it' true suspended \
	'length([P || P <- processes(), {_, {erpc, execute_call, _}} <- [process_info(P, initial_call)]]) =< 1.'

at suspended '[spawn(fun() -> not_loaded:f() end) || _ <- lists:seq(1, 5)], ok.' >/dev/null
erltrace -N suspended -qs waits for=2s >o 2>&1
has 'waits: who calls a module that is not loaded' ' 5 +[0-9]+ +[0-9]+ .* -> code_server \('

# first_connection_says_what_may_be_stuck: a node in interactive mode loads what it needs to accept it.
start first
at first 'sys:suspend(code_server), ok.' >/dev/null
erltrace -N first -qn "$hello" >o 2>&1
has 'the first connection needs the code server' \
	'its net_kernel, its code server or its I/O threads may be stuck, .*as root -p PID'
finish
