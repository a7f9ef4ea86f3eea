#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# erllock in VMs of other releases of OTP, some without symbols: those that tools/test-otp.sh keeps (OTP_ROOTS).
# The VM runs there, the command here. Processes write to one table all the time, then send to one process. Two
# schedulers have to be at it at once, which may take a while on a busy machine.
. "$(dirname "$0")/../lib/nodelib.sh"
needs_kernel
nodes_begin 600

roots=${OTP_ROOTS:-/var/tmp/erltrace-otp}
# A line on standard input ends the writers, and the senders begin.
load='ets:new(contended, [named_table, public]), ets:new(idle, [named_table, public]), register(sink, spawn(fun S() -> receive _ -> S() end end)), L = [{N, N} || N <- lists:seq(1, 200)], W = [spawn(fun F() -> ets:insert(contended, L), ets:lookup(idle, 1), F() end) || _ <- lists:seq(1, 4)], io:format("ready~n"), io:get_line(""), [exit(P, kill) || P <- W], [spawn(fun F() -> sink ! hello, F() end) || _ <- lists:seq(1, 4)], receive stop -> ok end.'
script='syscall::sched_yield:entry, syscall::futex:entry /erlpid != "" && erllock != ""/ { @[erllock] = count(); }
	tick-2s { exit(0); } END { printa("%s %@d\n", @); }'

# Until it has printed such a line; o has all that it printed.
locks() { # line
	local i
	: >all
	for ((i = 0; i < 40; i++)); do
		erltrace -p "$pid" -qn "$script" >o 2>e
		status=$?
		cat o >>all
		grep -qE "$1" all && break
	done
	mv all o
}

for vm in "$roots"/*; do
	[ -x "$vm/usr/bin/erl" ] || continue
	name=$(basename "$vm")
	mkfifo go
	chroot "$vm" erl -noshell +S 4:4 -eval "$load" <go >vm.out 2>&1 &
	pid=$!
	exec 8>go
	holds vm.out '^ready'
	locks '^table contended '
	is "$name: it ends well" 0 "$status"
	has "$name: the lock of a table" '^table contended [0-9]+$'
	hasnt "$name: another table that they use is not taken for it" '^table idle '
	echo >&8
	locks '^process sink '
	has "$name: the lock of a process" '^process sink [0-9]+$'
	kill "$pid"
	wait "$pid" 2>/dev/null
	exec 8>&-
	rm -f go
done
((passed + failed > 0)) || echo "skipped: other releases of OTP: there are none in $roots"
finish
