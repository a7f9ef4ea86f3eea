#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Nodes in trouble: something that a node has only a few of is taken, for ever. The command attaches
# all the same, runs scripts of all kinds, detaches, and leaves nothing behind; or it says at once
# what is taken and what to do, and leaves the node as it was.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 900 bare
epmd_begin
include=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')/usr/include
mkdir -p ebin
cc -O1 -shared -fPIC -I"$include" -o ebin/taken.so "$root/test/node/taken.c" || exit 1
erlc -o ebin "$root/test/node/taken.erl" || exit 1

# What a command prints, without its figures; and how it ends, if not well. Nothing takes a minute.
run() { # node, arguments
	local node=$1 rc
	shift
	timeout -s KILL 60 erltrace -N "$node" "$@" >o 2>e
	rc=$?
	head -n 1 o
	[ $rc = 0 ] || { echo "exit $rc:"; head -n 3 e; }
}
hello='BEGIN { printf("hello\n"); exit(0); }'
ours='[N || N <- erlang:loaded() ++ registered(), lists:prefix("erltrace", atom_to_list(N))].'
work='spawn(fun F() -> lists:reverse([a, b]), receive after 10 -> F() end end)'

# Scripts of all kinds: one that only prints, a library's, calls, samples, iterators.
scripts() { # what is taken, node
	is "$1: BEGIN" hello "$(run "$2" -qn "$hello")"
	is "$1: calls" called "$(run "$2" -qn 'erlang*:lists:reverse:function-entry { printf("called\n"); exit(0); }')"
	is "$1: samples" sampled "$(run "$2" -qn 'profile-97 { @[ustack(4)] = count(); } tick-100ms { printf("sampled\n"); exit(0); }')"
	is "$1: processes" one "$(run "$2" -qn 'state:::process /erlpid == erlpid && !seen++/ { printf("one\n"); exit(0); }')"
	for s in top cpu calls profile; do
		like "$1: $s.d" '^[^:]*$' "$(run "$2" -qs "$root/scripts/$s.d" -n 'tick-200ms { exit(0); }' | tr '\n' ' ')"
	done
	# What it writes needs an async thread too.
	[ "$2" = async ] && timeout 60 sh -c ': >wait'
	becomes "$1: nothing is left" '[]' "$2" "$ours"
}

# ---- dirty CPU schedulers -----------------------------------------------------------------

# A NIF that computes for ever. What takes long must not need such a scheduler, nor must the
# collection of a large heap.
dirty_cpu() {
	start dirty -pa ebin +SDcpu 2 +S 2:2
	mkfifo busy
	at dirty "taken:load(\"$tmp/ebin\"), taken:all_dirty_cpu(\"$tmp/busy\"), $work, ok." >/dev/null
	becomes 'dirty CPU: all are taken' true dirty 'lists:nth(erlang:system_info(schedulers) + 1, statistics(active_tasks_all)) >= 4.'
	scripts 'dirty CPU' dirty
	is 'dirty CPU: all are taken still' true "$(at dirty 'lists:nth(erlang:system_info(schedulers) + 1, statistics(active_tasks_all)) >= 4.')"
	threads=$(grep -l erltrace_job "/proc/${pid[dirty]}"/task/*/comm 2>/dev/null | wc -l)
	for ((i = 0; i < 600 && threads > 0; i++)); do
		sleep 0.1
		threads=$(grep -l erltrace_job "/proc/${pid[dirty]}"/task/*/comm 2>/dev/null | wc -l)
	done
	is 'dirty CPU: our threads end' 0 "$threads"
}

# ---- async threads ------------------------------------------------------------------------

async() {
	start async -pa ebin +A 1 +S 2:2
	mkfifo wait
	echo "taken:async(\"$tmp/ebin\", \"$tmp/wait\"), $work, ok." >&"${in[async]}"
	scripts 'async threads' async
}

# ---- processes of OTP ---------------------------------------------------------------------

# Those that others ask, as long as they are asked for nothing but what a node always needs.
servers() {
	start servers +S 2:2
	run servers -qn "$hello" >/dev/null # a node loads what it needs to answer when it is first asked
	at servers "$work, [erlang:suspend_process(whereis(P)) || P <- [init, code_server, erl_prim_loader, file_server_2, application_controller, logger, kernel_sup]], ok." >/dev/null
	scripts 'servers' servers
	is 'servers: suspended still' '[suspended,suspended,suspended]' "$(at servers '[S || P <- [init, code_server, application_controller], {status, S} <- [process_info(whereis(P), status)]].')"
}

# The code server stops while a command leaves, which lets it purge (before OTP 27): the next one is not held up.
leaving() {
	local i
	start leaving +S 2:2
	run leaving -qn "$hello" >/dev/null
	for i in 0 10 20 30 50 80; do
		erltrace -N leaving -qn "$hello" >o 2>&1 &
		for ((j = 0; j < 6000; j++)); do
			grep -q hello o && break
			sleep 0.01
		done
		at leaving "timer:sleep($i), erlang:suspend_process(whereis(code_server)), ok." >/dev/null
		wait $!
		is "leaving: the next one, $i ms later" hello "$(run leaving -qn "$hello")"
		at leaving 'erlang:resume_process(whereis(code_server)), ok.' >/dev/null
	done
	becomes 'leaving: nothing is left' '[]' leaving "$ours"
}

# The first command, while the code server is stuck: modules of OTP that a node loads when they are
# first called are read here, and loaded without it.
modules() {
	local others='erl_ddll, seq_trace, timer, erts_debug' # and gen_statem, which the shell has from OTP 26 on
	start fresh
	is 'modules: somebody has connected' true "$(erl -noshell -start_epmd false -sname before -eval "F = $(at fresh 'node().'), C = net_kernel:connect_node(F), is_pid(rpc:call(F, erlang, self, [])), io:put_chars(atom_to_list(C)), halt().")"
	is 'modules: they are not there' '[]' "$(at fresh "[M || M <- [$others], erlang:module_loaded(M)].")"
	at fresh "$work, erlang:suspend_process(whereis(code_server)), ok." >/dev/null
	scripts 'modules' fresh
	is 'modules: they are' '[]' "$(at fresh "[M || M <- [gen_statem, $others], not erlang:module_loaded(M)].")"
}

# ---- atoms --------------------------------------------------------------------------------

atoms() {
	local left
	start full -pa ebin +t 40000
	at full 'taken:atoms(2000).' >/dev/null
	run full -qn "$hello" >/dev/null # a node makes some when it is first asked
	left=$(at full 'erlang:system_info(atom_limit) - erlang:system_info(atom_count).')
	like 'atoms: too few' "exit 1: .*has room for 1?[0-9]{3} more atoms, and dies.* -p PID" "$(run full -qn "$hello" | words)"
	like 'atoms: none but the name of the command was made' '^[0-3]$' "$(at full "$left - (erlang:system_info(atom_limit) - erlang:system_info(atom_count)).")"
	is 'atoms: nothing is left' '[]' "$(at full "$ours")"
	start some -pa ebin +t 40000
	at some "taken:atoms(9000), $work, ok." >/dev/null
	scripts 'atoms: just enough' some
	like 'atoms: just enough' '^[0-9]+$' "$(at some 'erlang:system_info(atom_limit) - erlang:system_info(atom_count).')"
}

# ---- memory -------------------------------------------------------------------------------

memory() {
	local group=/sys/fs/cgroup/memory files=(memory.limit_in_bytes memory.usage_in_bytes) limit
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		group=/sys/fs/cgroup files=(memory.max memory.current)
	fi
	group=$group$(sed -nE 's/^[0-9]+:(memory)?:(.*)/\2/p' /proc/self/cgroup | head -n 1)/erltrace_taken_$$
	start small +S 2:2
	if ! mkdir "$group" 2>/dev/null || ! echo "${pid[small]}" >"$group/cgroup.procs" 2>/dev/null || [ ! -e "$group/${files[0]}" ]; then
		echo 'info: not tested: memory: no control group of our own'
		rmdir "$group" 2>/dev/null
		return
	fi
	is 'memory: a group' hello "$(run small -qn "$hello")"
	becomes 'memory: nothing is left of that' '[]' small "$ours"
	limit=$(($(cat "$group/${files[1]}") + (1 << 20)))
	echo $limit >"$group/${files[0]}"
	like 'memory: too little' 'exit 1: .*has [0-9.]* MB left of its control group.*-p PID' "$(run small -qn "$hello" | words)"
	is 'memory: the node lives, and nothing is left' '[]' "$(at small "$ours")"
	kill -9 "${pid[small]}"
	unset 'pid[small]'
	for ((i = 0; i < 600; i++)); do
		rmdir "$group" 2>/dev/null && break
		sleep 0.1
	done
}

for part in ${ONLY_PARTS:-dirty_cpu async servers leaving modules atoms memory}; do
	$part
done
finish
