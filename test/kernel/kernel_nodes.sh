#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Scripts in the kernel with events of Erlang nodes: several nodes, one in a container, and whatever
# may end: nodes, the command, or a node's patience. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
[ "$(id -u)" = 0 ] || skip 'probes of the kernel need root'
why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1) ||
	skip "no probes of the kernel here: $why"
nodes_begin 300 bare
epmd_begin
start kn_a
start kn_b

script='erlang*:lists:zip3/3:function-entry { @f[probeprov] = count(); }
	erlang*:::process-spawn /copyinstr(arg1) == "lists:seq/2"/ { @s[probeprov, "spawned"] = count(); }
	syscall::getppid:entry { }'

# Calls, and processes, of a node.
work() { # node, how many
	at "$1" "[lists:zip3([], [], []) || _ <- lists:seq(1, $2)], [spawn(lists, seq, [1, 2]) || _ <- lists:seq(1, $2)], ok." >/dev/null
}

ours='[M || M <- erlang:loaded(), lists:prefix("erltrace", atom_to_list(M))].'
clean() { # what, node: nothing of ours is there, or will be in a moment
	becomes "$1: nothing is left in $2" '[]' "$2" "$ours"
}

ends() { # the command: by itself
	for ((i = 0; i < 2400; i++)); do
		kill -0 "$command" 2>/dev/null || break
		sleep 0.025
	done
	untrace
}

# ---- two nodes ----------------------------------------------------------------------------

rm -f o e
trace kn_a -N kn_b -qn "$script"
is 'nothing but a thread of the command does it' '' "$(pgrep -P "$command")"
work kn_a 11
work kn_b 22
untrace
is 'two nodes: exit code' 0 "$status"
is 'two nodes: nothing is said' '' "$(cat e)"
has 'two nodes: functions of the one' "^ *erlang${pid[kn_a]} +11\$"
has 'two nodes: functions of the other' "^ *erlang${pid[kn_b]} +22\$"
has 'two nodes: processes of the one' "^ *erlang${pid[kn_a]} +spawned +11\$"
has 'two nodes: processes of the other' "^ *erlang${pid[kn_b]} +spawned +22\$"
clean 'two nodes' kn_a
clean 'two nodes' kn_b

# What the option calls says goes for the nodes.
at kn_a 'application:set_env(erltrace, fast_calls, false).' >/dev/null
trace kn_a -x calls=fast -qn "$script"
work kn_a 11
untrace
at kn_a 'application:unset_env(erltrace, fast_calls).' >/dev/null
ok 'calls=fast, forbidden: the node says so' grep -qE "in the node: function probes are traced, not fast: the node's setting fast_calls is false\$" e
has 'calls=fast, forbidden: functions' "^ *erlang${pid[kn_a]} +11\$"
clean 'calls=fast, forbidden' kn_a

# One of them by its number, with one node of which no probe is named.
trace kn_a -N kn_b -qn "erlang${pid[kn_b]}:lists:zip3/3:function-entry { @ = count(); } syscall::getppid:entry { }"
is 'one of two: the other has nothing' '[]' "$(at kn_a "$ours")"
work kn_a 5
work kn_b 7
untrace
has 'one of two' '^ *7$'
clean 'one of two' kn_b

# ---- the command is killed ----------------------------------------------------------------

trace kn_a -N kn_b -qn "$script"
kill -9 "$command"
wait "$command" 2>/dev/null
command=''
clean 'a command that is killed' kn_a
clean 'a command that is killed' kn_b

# ---- a node stands still ------------------------------------------------------------------

trace kn_a -N kn_b -qn "$script"
work kn_b 33
kill -STOP "${pid[kn_a]}"
untrace
kill -CONT "${pid[kn_a]}"
is 'a node that stands still: exit code' 0 "$status"
cp e said
has 'a node that stands still: the other' "^ *erlang${pid[kn_b]} +33\$"
cp said o
has 'a node that stands still: told' 'in the node: the node kn_a@[^ ]* has not ended its part of the script'
clean 'a node that stands still' kn_a
clean 'a node that stands still' kn_b

# ---- nodes are killed ---------------------------------------------------------------------

trace kn_a -N kn_b -qn "$script"
kill -9 "${pid[kn_a]}"
ok 'a node is killed: told' holds e 'in the node: the node kn_a@[^ ]* has gone away'
work kn_b 44
kill -9 "${pid[kn_b]}"
ends
is 'all nodes are killed: exit code' 1 "$status"
has 'what the other did until then' "^ *erlang${pid[kn_b]} +44\$"
cp e o
has 'the second' 'in the node: the node kn_b@[^ ]* has gone away'
has 'all nodes are killed: what follows' 'the events inside the node have come to an end, and so has the script'

rm -f kn_b.in kn_b.out
start kn_b
trace_process "${pid[kn_b]}" -n "$script"
work kn_b 3
kill -9 "${pid[kn_b]}"
ends
is 'the process of -p ends: exit code' 0 "$status"
is 'the process of -p ends: nothing is said' '' "$(cat e)"
has 'the process of -p ends: what it did' "^ *erlang${pid[kn_b]} +3\$"

# ---- a node in a container ------------------------------------------------------------------

if unshare --net --pid --fork true 2>/dev/null && command -v ip >/dev/null; then
	mkfifo kn_c.in
	exec {lines}<>kn_c.in
	unshare --net --pid --fork --kill-child --mount-proc bash -c '
		ip link set lo up && exec erl -noshell -sname kn_c -eval "
		(fun L() -> io:get_line([]), [lists:zip3([], [], []) || _ <- lists:seq(1, 300)],
			[spawn(lists, seq, [1, 2]) || _ <- lists:seq(1, 300)], L() end)()."' <&"$lines" >c.log 2>&1 &
	pid[kn_c]=$!
	disown
	for ((k = 0; k < 2400; k++)); do
		vm=$(pgrep -P "${pid[kn_c]}" -x beam.smp) &&
			nsenter --target "$vm" --net epmd -names 2>/dev/null | grep -q 'name kn_c ' && break
		sleep 0.025
	done
	trace_process "$vm" -n "$script" -n 'erlang*:::process-spawn
		/copyinstr(arg1) == "lists:seq/2" && ++n == 300/ { printf("all\n"); }'
	echo >&"$lines"
	ok 'in a container: it fires' holds o '^all'
	untrace
	is 'in a container: exit code' 0 "$status"
	has 'in a container: functions, by our number' "^ *erlang$vm +300\$"
	has 'in a container: processes' "^ *erlang$vm +spawned +300\$"
else
	echo 'skipped: no containers for us'
fi
finish
