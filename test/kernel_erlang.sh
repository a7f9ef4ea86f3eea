#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Erlang probes in the kernel, of a stock node: functions of the VM (message-receive, copy-struct),
# and scripts that have events inside the node beside system calls. The last line is
# "N passed, N failed".

# shellcheck source=test/nodelib.sh
. "$(dirname "$0")/nodelib.sh"
[ "$(id -u)" = 0 ] || skip 'probes of the kernel need root'
why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1) ||
	skip "no probes of the kernel here: $why"
nodes_begin 300 bare
epmd_begin
start kerl_a
p=${pid[kerl_a]}

# As trace() of nodelib, but of this machine.
run() { # arguments of erltrace
	rm -f o e
	erltrace -p "$p" -qn 'BEGIN { printf("armed\n"); }' "$@" >o 2>e &
	command=$!
	for ((i = 0; i < 4000; i++)); do
		grep -q '^armed' o 2>/dev/null && return 0
		kill -0 $command 2>/dev/null || break
		sleep 0.025
	done
	echo "FAILED not armed: erltrace $*"
	cat o e
	failed=$((failed + 1))
	finish
}

# ---- functions of the VM ------------------------------------------------------------------

if nm -D "/proc/$p/exe" 2>/dev/null | grep -q copy_struct_x; then
	run -n 'erlang*:::message-receive { @r[copyinstr(arg0)] = count(); }
		erlang*:::copy-struct /arg0 == 777/ { @c[arg0] = count(); }'
	who=$(at kerl_a 'S = self(), P = spawn(fun() -> (fun F(0) -> S ! done; F(N) -> receive {x, _} -> F(N - 1) end end)(4000) end), [P ! {x, a} || _ <- lists:seq(1, 4000)], receive done -> P end.')
	at kerl_a 'T = erlang:make_tuple(776, a), P = spawn(fun() -> receive stop -> ok end end), [P ! T || _ <- lists:seq(1, 1500)], P ! stop, length(element(2, process_info(self(), links))).' >/dev/null
	untrace
	is 'exit code' 0 "$status"
	has 'message-receive' "^ *$who +4000\$"
	has 'copy-struct' '^ *777 +1500$'
else
	echo 'skipped: this VM hides its functions'
fi

# ---- events inside the node beside system calls -------------------------------------------

# System calls of each Erlang process, and their time; calls of a function.
cat >time.d <<'X'
self int64_t sum;
self int64_t n;
erlang*:::process-scheduled { self->p = copyinstr(arg0); self->f = copyinstr(arg1); }
syscall::writev:entry /self->p != 0/ { self->t = timestamp; }
syscall::writev:return /self->t/
{
	@calls[self->p, self->f] = count();
	@under[timestamp - self->t < 1000000000 ? "some time" : "a second"] = count();
	self->sum += timestamp - self->t;
	self->t = 0;
}
erlang*:::process-unscheduled /self->p != 0/
{
	@ns[self->p] = sum(self->sum);
	@same[self->p == copyinstr(arg0) ? "its own" : "another's"] = count();
	self->sum = 0;
	self->p = 0;
	self->f = 0;
}
erlang*:lists:zip3/3:function-entry { @f[probemod, probefunc, copyinstr(arg1)] = count(); }
X
run -s time.d
who=$(at kerl_a 'S = self(), P = spawn(fun() -> {ok, F} = file:open("x", [write, raw]), [ok = file:write(F, "hello") || _ <- lists:seq(1, 500)], [lists:zip3([], [], []) || _ <- lists:seq(1, 1234)], S ! done end), receive done -> P end.')
untrace
is 'exit code of both' 0 "$status"
has 'writes of a process, by its function' "^ *$who +prim_file:write_nif/2 +500\$"
has 'their time' "^ *$who +[1-9][0-9]*\$"
has 'calls of a function' '^ *lists +zip3/3 +lists:zip3/3 +1234$'
hasnt 'in and out on one thread are of one process' "another's"
is 'nothing is said' '' "$(cat e)"
is 'nothing is left in the node' '[]' \
	"$(at kerl_a '[M || {M, _} <- code:all_loaded(), lists:prefix("erltrace", atom_to_list(M))].')"
finish
