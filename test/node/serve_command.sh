#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A command of system() that does not end, of a script of erltrace serve: when the file of the script is
# removed, the command is killed, and nothing is traced any more, neither in the node nor in the kernel.
# The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/servelib.sh
. "$root/test/lib/servelib.sh"
serve_begin 200

await() { # command ...: a minute at most
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return
		sleep 0.05
	done
	return 1
}
threads() { [ "$(find "/proc/$server/task" -mindepth 1 -maxdepth 1 | wc -l)" -eq "$1" ]; }
traced() { at one 'erlang:trace_info({demo_exact, leaf, 1}, call_count) =/= {call_count, false}.'; }
no_bpf() { ! ls -l "/proc/$server/fd" | grep -q bpf; }

start one
at one 'code:ensure_loaded(demo_exact).' >/dev/null
mkdir scripts
serve -N one scripts
alone=$(find "/proc/$server/task" -mindepth 1 -maxdepth 1 | wc -l)

hangs() { # name, probe
	{
		echo '#pragma D option destructive'
		echo "$2 { @ = count(); }"
		echo "BEGIN { system(\"echo \$\$ >%s/$1.pid; exec sleep 100000\", \"$PWD\"); }"
	} >"scripts/$1.d"
	await [ -s "$1.pid" ]
	ok "$1: the command runs" kill -0 "$(cat "$1.pid")"
}
ends() { # name
	rm "scripts/$1.d"
	ok "$1: removed: the command is killed" await gone "$(cat "$1.pid")"
	ok "$1: its thread has ended" await threads "$alone"
}

hangs node 'erlang*:demo_exact:leaf/1:function-entry'
ends node
is 'nothing is traced in the node' false "$(traced)"

if [ "$(id -u)" = 0 ] && erltrace -n 'syscall:::entry { exit(0); }' >/dev/null 2>&1; then
	hangs kernel 'syscall:::entry'
	ends kernel
	ok 'nothing is traced in the kernel' await no_bpf
else
	echo 'skipped: no probes of the kernel here'
fi
serve_ends TERM
finish
