#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# erllock in VMs of other releases of OTP, some without symbols: those that tools/test-otp.sh keeps (OTP_ROOTS).
# The VM runs there, the command here. Processes write to one table and send to one process all the time. Two
# schedulers have to be at it at once, which may take a while on a busy machine.
. "$(dirname "$0")/../lib/nodelib.sh"
needs_kernel
nodes_begin 600

roots=${OTP_ROOTS:-/var/tmp/erltrace-otp}
load='ets:new(contended, [named_table, public]), ets:new(idle, [named_table, public]), register(sink, spawn(fun S() -> receive _ -> S() end end)), L = [{N, N} || N <- lists:seq(1, 200)], [spawn(fun F() -> ets:insert(contended, L), ets:lookup(idle, 1), F() end) || _ <- lists:seq(1, 4)], [spawn(fun F() -> sink ! hello, F() end) || _ <- lists:seq(1, 4)], receive stop -> ok end.'
script='syscall::sched_yield:entry, syscall::futex:entry /erlpid != "" && erllock != ""/ { @[erllock] = count(); }
	tick-3s { exit(0); } END { printa("%s %@d\n", @); }'

found() { # lines, all of them
	local line
	for line in "$@"; do
		grep -qE "$line" all || return 1
	done
}

for vm in "$roots"/*; do
	[ -x "$vm/usr/bin/erl" ] || continue
	name=$(basename "$vm")
	chroot "$vm" erl -noinput +S 4:4 -eval "$load" </dev/null >vm.out 2>&1 &
	pid=$!
	sleep 3
	: >all
	for ((i = 0; i < 20; i++)); do
		erltrace -p "$pid" -qn "$script" >o 2>e
		status=$?
		cat o >>all
		found '^table contended ' '^process sink ' && break
	done
	mv all o
	is "$name: it ends well" 0 "$status"
	has "$name: the lock of a table" '^table contended [0-9]+$'
	has "$name: the lock of a process" '^process sink [0-9]+$'
	hasnt "$name: another table that they use is not taken for it" '^table idle '
	kill "$pid"
	wait "$pid" 2>/dev/null
done
((passed + failed > 0)) || echo "skipped: other releases of OTP: there are none in $roots"
finish
