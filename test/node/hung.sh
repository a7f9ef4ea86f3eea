#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One of several nodes hangs, or erltrace's own processes in it are killed: the results of the others
# come all the same, and what is missing is told. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400 bare
epmd_begin
start hung_a
start hung_b
vm=$(at hung_b 'os:getpid().')

on_zip='erlang*:lists:zip3/3:function-entry'
armed='BEGIN { x = 1; } BEGIN /x/ { printf("armed\n"); }' # each node prints what reads a variable
# When it is printed by a node twice more, what it had gathered before has come.
later='tick-1s /x/ { denormalize(@); printf("later %s\n", erlnode); }'

calls() { # node, how many
	at "$1" "[lists:zip3([], [], []) || _ <- lists:seq(1, $2)], done." >/dev/null
}
count() { grep -cE -- "$1" o; }
counts() { # file, regular expression, how many
	local i
	for ((i = 0; i < 2400; i++)); do
		[ "$(grep -cE -- "$2" "$1" 2>/dev/null)" -ge "$3" ] && return
		sleep 0.025
	done
	cat o e
	return 1
}
laters() { # node
	counts o "^later $1@" $(($(count "^later $1@") + 2))
}
both() { # arguments of erltrace, which a ^C reaches
	rm -f o e
	(
		trap - INT
		exec env --default-signal=INT erltrace -N hung_a -N hung_b "$@" >o 2>e
	) &
	command=$!
}
ends() { # name, wanted exit code
	wait "$command" 2>/dev/null
	is "$1" "$2" $?
	command=''
}
left='the node hung_b@.* has not ended the script: results lack what it had not sent$'
nothing_left() { # name, node
	becomes "$1: nothing is left" '[]' "$2" '[M || M <- erlang:loaded(), M =:= erltrace_agent].'
}

# ---- while it runs --------------------------------------------------------------------------

# a_node_that_hangs_is_told_and_not_waited_for: also the first one, whose ticks are those of all.
for node in hung_a hung_b; do
	vm=$(at $node 'os:getpid().')
	other=hung_b
	[ $node = hung_b ] && other=hung_a
	both -qn "$armed $on_zip { @ = count(); printf(\"call %s\\n\", erlnode); } tick-100ms { printf(\"tick\\n\"); printa(\"sum %@d\\n\", @); }"
	ok "$node hangs: armed" counts o '^armed$' 2
	ok "$node hangs: ticks" counts o '^tick$' 3
	kill -STOP "$vm"
	calls $other 3
	ok "$node hangs: it is told" holds e "^erltrace: the node $node@[^ ]* has sent nothing for 2 s: results lack what it has\$"
	ok "$node hangs: the other's records" counts o "^call $other@" 3
	ok "$node hangs: ticks go on" counts o '^tick$' $(($(count '^tick$') + 10))
	kill -CONT "$vm"
	ok "$node goes on: it is told" holds e "^erltrace: the node $node@[^ ]* sends again\$"
	calls $node 4
	ok "$node goes on: its records" counts o "^call $node@" 4
	ok "$node goes on: ticks go on" counts o '^tick$' $(($(count '^tick$') + 10))
	ok "$node goes on: the sum" counts o '^sum 7$' 1
	kill -INT "$command"
	ends "$node goes on: exit" 0
	is "$node hung: it is told once" 2 "$(grep -c "the node $node@" e)"
done
both --json -qn "$armed $on_zip { @ = count(); }"
ok 'json: armed' counts o '"armed' 2
kill -STOP "$vm"
ok 'json: it is told' holds o '"type":"drop","node":"hung_b@[^"]*","kind":"NODE".*has sent nothing for 2 s|"node":"hung_b@[^"]*".*"type":"drop".*has sent nothing for 2 s'
kill -CONT "$vm"
ok 'json: it is told that it goes on' holds o 'the node hung_b@[^ ]* sends again'
kill -INT "$command"
ends 'json: exit' 0

# ---- at the end -----------------------------------------------------------------------------

# a_signal_after_exit_leaves_a_node_that_hangs: the first one, as the message says.
both -qn "$armed $on_zip { @ = count(); } $later" -n 'erlang*:lists:zip3/3:function-entry /erlnode != ""/ { @node[erlnode] = count(); }' \
	-n 'erlang*:lists:unzip3/1:function-entry { exit(3); }'
ok 'exit(): armed' counts o '^armed$' 2
calls hung_a 3
calls hung_b 4
ok 'exit(): later' laters hung_b
kill -STOP "$vm"
at hung_a 'lists:unzip3([]).' >/dev/null
ok 'exit(): it is told' holds e 'the node hung_b@.* has not ended the script yet: interrupt once more'
kill -INT "$command"
ends 'exit(): one signal leaves' 130
has 'exit(): what all have gathered' '^ +7$'
ok 'exit(): who is missing' holds e "$left"
kill -CONT "$vm"
nothing_left 'exit()' hung_b

# a_node_that_hangs_is_not_waited_for_for_ever: without any signal.
both -qn "$armed $on_zip { @ = count(); } $later END { printf(\"the end\\n\"); }" \
	--folded hung.folded -n "$on_zip { @s[ustack(1)] = count(); }" -n 'erlang*:lists:unzip3/1:function-entry { exit(0); }'
ok 'no signal: armed' counts o '^armed$' 2
calls hung_a 3
calls hung_b 4
ok 'no signal: later' laters hung_b
kill -STOP "$vm"
at hung_a 'lists:unzip3([]).' >/dev/null
ends 'no signal: exit' 1
has 'no signal: END' '^the end$'
has 'no signal: what all have gathered' '^ +7$'
ok 'no signal: files' grep -q '^lists:zip3/3 7$' hung.folded
ok 'no signal: who is missing' grep -qE "$left" e
kill -CONT "$vm"
nothing_left 'no signal' hung_b

# a_node_that_hangs_is_not_waited_for_without_a_reader
mkfifo pipe
rm -f o e
erltrace -N hung_a -N hung_b -qn "$armed tick-10ms { printf(\"tick\\n\"); }" >pipe 2>e &
command=$!
exec {reader}<pipe
head -n 20 <&$reader >o
kill -STOP "$vm"
exec {reader}<&-
ends 'no reader: exit' 1
ok 'no reader: who is missing' grep -qE "$left" e
kill -CONT "$vm"
nothing_left 'no reader' hung_b

# ---- erltrace's processes are killed ----------------------------------------------------------

# Processes that are new since `before`: the agent is a state machine, its connection monitors a port.
before() { # node
	at "$1" 'persistent_term:put(before, processes()).' >/dev/null
}
conn='[P || P <- processes() -- persistent_term:get(before), {_, Ms} <- [process_info(P, monitors)], lists:keymember(port, 1, Ms), {_, {gen_server, _, _}} <- [process_info(P, current_function)], P =/= whereis(erltrace_loader)]'
# shellcheck disable=SC2034 # by its name, as conn is
agent="[A || P <- $conn, {_, Ms} <- [process_info(P, monitors)], {process, A} <- Ms, {_, {gen_statem, _, _}} <- [process_info(A, current_function)]]"

# a_killed_process_of_erltrace_is_told
for what in agent conn; do
	before hung_a
	trace hung_a -qn "$on_zip { @ = count(); } tick-1s { denormalize(@); printf(\"later\\n\"); }"
	calls hung_a 5
	ok "$what is killed: later" counts o '^later$' 2
	is "$what is killed: there is one" 1 "$(at hung_a "length([exit(P, kill) || P <- ${!what}]).")"
	ends "$what is killed: exit" 1
	ok "$what is killed: it is told" grep -qE "^erltrace: node hung_a@[^ ]*: erltrace's process there was killed \(erltrace_$what\)$" e
	has "$what is killed: what has come" '^ +5$'
	nothing_left "$what is killed" hung_a

	before hung_a
	both --json -qn "$armed $on_zip { @ = count(); } $later"
	ok "$what of two is killed: armed" counts o '"armed' 2
	calls hung_a 5
	ok "$what of two is killed: later" counts o '"later hung_a' 2
	at hung_a "[exit(P, kill) || P <- ${!what}]." >/dev/null
	ok "$what of two is killed: it is told" holds o '"type":"error".*"tag":"ET_KILLED".*"message":"erltrace.s process there was killed'
	calls hung_b 6
	kill -INT "$command"
	ends "$what of two is killed: exit" 1
	is "$what of two is killed: the other goes on" 11 "$(jq -r 'select(.type == "aggregation").value' <o)"
	nothing_left "$what of two is killed" hung_a
done

# a_lost_node_is_a_line_of_json_without_live
both --json -qn "$armed $on_zip { @ = count(); }"
ok 'a node is lost: armed' counts o '"armed' 2
kill -9 "$vm"
unset 'pid[hung_b]'
ok 'a node is lost: a line' holds o '^\{"type":"gone","node":"hung_b@[^"]*"\}$'
kill -INT "$command"
ends 'a node is lost: exit' 1

finish
