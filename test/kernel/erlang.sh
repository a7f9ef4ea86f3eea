#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Erlang probes in the kernel, of a stock node: functions of the VM (message-receive, copy-struct),
# and scripts that have events inside the node beside system calls. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
[ "$(id -u)" = 0 ] || skip 'probes of the kernel need root'
why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1) ||
	skip "no probes of the kernel here: $why"
nodes_begin 300 bare
epmd_begin
start kerl_a
p=${pid[kerl_a]}

run() { trace_process "$p" "$@"; } # arguments of erltrace

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
becomes 'nothing is left in the node' '[]' kerl_a \
	'[M || M <- erlang:loaded(), lists:prefix("erltrace", atom_to_list(M))].'

# ---- whose system call it is, without a probe inside the node -----------------------------

run -n 'syscall::writev:entry /erlpid != ""/ { self->t = timestamp; }
	syscall::writev:return /self->t/
	{ @n[erlpid, erlname, erlnode] = count(); @ns[erlpid] = sum(timestamp - self->t); self->t = 0; }'
who=$(at kerl_a 'S = self(), P = spawn(fun() -> register(fred, self()), {ok, F} = file:open("x", [write, raw]), [ok = file:write(F, "hello") || _ <- lists:seq(1, 700)], S ! done end), receive done -> P end.')
untrace
is 'exit code of system calls by process' 0 "$status"
has 'system calls of a process, its name and node' "^ *$who +fred +kerl_a@[^ ]* +700\$"
has 'its time' "^ *$who +[1-9][0-9]*\$"
is 'nothing was in the node' '[]' \
	"$(at kerl_a '[M || M <- erlang:loaded(), lists:prefix("erltrace", atom_to_list(M))].')"

# ---- names of processes -------------------------------------------------------------------

# One that waits with a timeout has a name too: it looks at messages, none of which it takes. (It
# stays until the end: a process loses its name before it is gone.)
who=$(at kerl_a 'S = self(), P = spawn(fun() -> register(fred, self()), S ! named, receive {never, L} when length(L) < 0 -> ok; {done, From} -> From ! ok, receive stop -> ok end after 600000 -> ok end end), receive named -> P end.')
run -n 'profile-1999 /erlpid != ""/ { @[erlpid, erlname] = count(); } syscall::getppid:entry { }'
at kerl_a 'L = lists:duplicate(30000, a), [fred ! {never, L} || _ <- lists:seq(1, 300)], fred ! {done, self()}, receive ok -> ok end.' >/dev/null
untrace
at kerl_a 'R = monitor(process, fred), fred ! stop, receive {_, R, _, _, _} -> ok end.' >/dev/null
has 'erlname inside receive ... after' "^ *$who +fred +[0-9]+\$"
hasnt 'nor is it ever without' "^ *$who +[0-9]+\$"

names="[fred@home, '%2F_bills', 'Fred', 'it\\'s']"
run -n 'syscall::writev:entry /erlpid != ""/ { @[erlname] = count(); }'
at kerl_a "S = self(), [spawn(fun() -> register(N, self()), {ok, F} = file:open(\"x\", [write, raw]), [ok = file:write(F, \"hello\") || _ <- lists:seq(1, 50)], S ! N end) || N <- $names], [receive N -> ok end || N <- $names]." >/dev/null
untrace
for name in fred@home "'%2F_bills'" "'Fred'" "'it\\\\'s'"; do
	has "a name as Erlang writes it: $name" "^ *$name +50\$"
done

# ---- as the page runs it: -N, harmless ------------------------------------------------------

trace kerl_a -x harmless -qn 'syscall::writev:entry /erlpid != ""/ { @n[erlpid, erlnode] = count(); }
	erlang*:lists:zip3/3:function-entry { @f[copyinstr(arg1)] = count(); }'
who=$(at kerl_a 'S = self(), P = spawn(fun() -> {ok, F} = file:open("x", [write, raw]), [ok = file:write(F, "hello") || _ <- lists:seq(1, 300)], [lists:zip3([], [], []) || _ <- lists:seq(1, 40)], S ! done end), receive done -> P end.')
untrace
is 'exit code of a harmless script' 0 "$status"
has 'harmless: which Erlang process it is' "^ *$who +kerl_a@[^ ]* +300\$"
has 'harmless: probes inside the node' '^ *lists:zip3/3 +40$'

# ---- the event's own built-ins; self-> is the Erlang process's ------------------------------

run -n 'erlang*:lists:zip3/3:function-entry { self->n++; @a[erlpid, erlname, erlargs, args[1]] = count(); }
	erlang*:::process-exit /self->n/ { @n[copyinstr(arg0)] = sum(self->n); self->n = 0; }
	erlang*:lists:-filter*:function-entry { @odd[probefunc] = count(); }
	syscall::getppid:entry { }'
who=$(at kerl_a 'S = self(), P = spawn(fun() -> register(fred, self()), [begin lists:zip3([a], [b], [c]), erlang:yield() end || _ <- lists:seq(1, 321)], lists:filter(fun erlang:is_atom/1, lists:seq(1, 50)) end), R = monitor(process, P), receive {_, R, _, _, _} -> P end.')
untrace
is 'exit code of built-ins' 0 "$status"
has 'built-ins of an event inside the node' "^ *$who +fred +\\[\\[a\\],\\[b\\],\\[c\\]\\] +lists:zip3/3 +321\$"
has 'self-> of a process that moves between threads' "^ *$who +642\$"
has 'a function with an odd name' '^ *-filter/2-lc\$\^0/1-0-/2 +51$'
is 'nothing is said of it' '' "$(cat e)"

run -n 'erlang*:lists:nth/2:function-entry { @n[erlint(0), erlarg(1)] = count(); }
	erlang*:lists:nth/2:function-return { @r[erlret] = count(); }
	syscall::getppid:entry { }'
at kerl_a '[lists:nth(N rem 2 + 1, [{a, "b"}, 7]) || N <- lists:seq(1, 246)].' >/dev/null
untrace
is 'exit code of arguments' 0 "$status"
has 'erlint(), erlarg() of the first' '^ *1 +\[\{a,\[98\]\},7\] +123$|^ *1 +\[\{a,"b"\},7\] +123$'
has 'of the second' '^ *2 +\[.*,7\] +123$'
is 'nothing is said of arguments' '' "$(cat e)"
erltrace -p "$p" -qn 'erlang*:lists:nth/2:function-entry { @[erlarg(pid)] = count(); } syscall::getppid:entry { }' >o 2>&1
is 'an argument that is not known before: exit code' 1 $?
has 'an argument that is not known before: what is said' 'erlarg\(\) and erlint\(\) at function-entry .* from 0 to 6'

# ---- terms are texts in the kernel ----------------------------------------------------------

run -n 'erlang*:lists:nth/2:function-return /erlret == "tea"/ { @tea[erlret] = count(); }
	erlang*:lists:nth/2:function-return /erlret != "tea"/ { @other[erlret] = count(); }
	erlang*:::process-exit /erlreason == "{kerl,1}"/ { @ends[erlreason] = count(); }
	erlang*:lists:nth/2:function-exception { @raised[erlclass, erlreason, erlarg(0), copyinstr(arg3)] = count(); }
	syscall::getppid:entry { }'
at kerl_a '[catch lists:nth(X, []) || X <- [7, 7, 7]], [lists:nth(1, [T]) || T <- [tea, <<"tea">>, teas, {tea}, <<"te">>], _ <- lists:seq(1, 5)], {P, R} = spawn_monitor(fun() -> exit({kerl, 1}) end), receive {_, R, _, P, _} -> ok end.' >/dev/null
untrace
is 'exit code of terms' 0 "$status"
has 'a term that is compared with a string: an atom' '^ *tea +5$'
has 'and a binary' '^ *<<"tea">> +5$'
has 'others are not equal' '^ *teas +5$'
hasnt 'nor is there more' '^ *(tea|<<"tea">>) +10$'
has 'erlreason' '^ *\{kerl,1\} +1$'
has 'an exception' '^ *error +function_clause +7 +error +3$'
erltrace -p "$p" -qn 'erlang*:lists:nth/2:function-entry /erlhd(erlarg(1)) == 5/ { @ = count(); } syscall::getppid:entry { }' >o 2>&1
is 'looking into a term: exit code' 1 $?
has 'looking into a term: what is said' 'a clause at function-entry looks into a term, which works inside nodes only'

# shellcheck disable=SC2016 # awk's
# More processes than dynvarsize has room for, one after the other.
if nm -D "/proc/$p/exe" 2>/dev/null | grep -q erts_continue_exit_process; then
	run -n 'erlang*:::process-scheduled { self->x = 1; }
		erlang*:::process-exit /self->x/ { @["exit"] = count(); }
		syscall::getppid:entry { }'
	at kerl_a 'S = self(), [begin {P, R} = spawn_monitor(fun() -> ok end), receive {_, R, _, P, _} -> ok end end || _ <- lists:seq(1, 40000)], ok.' >/dev/null
	untrace
	# there is room for some 15000; a command that does not get to run may lose a few
	ok 'self-> goes with its process, after process-exit' awk '$1 == "exit" { n = $2 } END { exit n < 30000 }' o
fi

# ---- what is not had is told ----------------------------------------------------------------

run -Zn 'erlang*:kerl_later::function-entry { @ = count(); } syscall::getppid:entry { }'
at kerl_a '1.' >/dev/null
untrace
cp e o
has 'a module that is loaded later' 'functions of modules that are loaded from now on do not fire'
erltrace -N kerl_x@192.0.2.1 -qn 'syscall::getppid:entry { @[erlpid] = count(); }' >o 2>&1
is 'a node of another machine: exit code' 1 $?
has 'a node of another machine: what is said' '-N kerl_x@192\.0\.2\.1: .* only for this machine.* run the command there'
erltrace --cluster -N "kerl_a@127.0.0.1" -qn 'erlang*:::process-spawn { } syscall::getppid:entry { }' >o 2>&1
is 'nodes of many machines: exit code' 1 $?
has 'nodes of many machines: what is said' '--cluster: .* only for this machine'

# ---- what is said inside the node is told ---------------------------------------------------

run -x watchdog=1 -x watchtime=100ms -n 'erlang*:lists:last/1:function-entry { @ = count(); }
	syscall::getppid:entry { }'
at kerl_a 'put(p, spawn(fun() -> L = lists:duplicate(1000, [1]), (fun F() -> lists:foreach(fun lists:last/1, L), F() end)() end)).' >/dev/null
for ((i = 0; i < 2400; i++)); do
	kill -0 "$command" 2>/dev/null || break
	sleep 0.025
done
untrace
at kerl_a 'exit(get(p), kill).' >/dev/null
is 'ended by the watchdog of the node: exit code' 1 "$status"
cp e o
# on a machine that is busy the node's tracing process may not get to run in that time either
has 'ended by the watchdog: told' 'in the node: .*(more than watchdog=1 allows|\(watchtime\))'
has 'ended by the watchdog: what follows' 'the events inside the node have come to an end'

# ---- code of the VM's JIT has names ---------------------------------------------------------

if nm -D "/proc/$p/exe" 2>/dev/null | grep -q erts_lookup_function_info; then
	at kerl_a 'put(p, spawn(fun() -> (fun F() -> lists:seq(1, 10000), F() end)() end)).' >/dev/null
	run -n 'profile-199 /pid == $target && arg1 != 0/ { printf("in %A of %s\n", arg1, erlpid); }' \
		-n 'syscall::getppid:entry { }'
	who=$(at kerl_a 'get(p).')
	ok 'a function by its address' holds o "^in lists:seq_loop/3[^ ]* of $who"
	untrace
	at kerl_a 'exit(get(p), kill).' >/dev/null
fi

# ---- which runs where -----------------------------------------------------------------------

rm -f o e
erltrace -v -p "$p" -n 'BEGIN { exit(0); } erlang*:::copy-object, erlang*:::process-spawn { }' >o 2>e
cat e >>o
has 'functions of the VM: in the kernel, -v says' 'the script runs in the kernel: .*functions of the VM'
erltrace -v -p "$p" -n 'BEGIN { exit(0); } erlang*:::process-spawn { }' >o 2>e
cat e >>o
hasnt 'others: in the node' 'runs in the kernel'

# ---- a node that -c starts ------------------------------------------------------------------

rm -f o e go
erltrace -qn 'BEGIN { printf("armed\n"); } syscall::writev:entry /erlpid != ""/ { @[erlname] = count(); }
	erlang*:lists:zip3/3:function-entry { @f["zip3"] = count(); }' \
	-c "erl -noshell -start_epmd false -sname kerl_c -eval \"W = fun W() -> case file:read_file_info('go') of {ok, _} -> ok; _ -> timer:sleep(20), W() end end, W(), register(fred, self()), {ok, F} = file:open(x, [write, raw]), [ok = file:write(F, <<1>>) || _ <- lists:seq(1, 77)], [lists:zip3([], [], []) || _ <- lists:seq(1, 123)], halt(0).\"" >o 2>e &
command=$!
ok 'the node of -c is traced' holds o '^armed'
touch go
wait "$command"
is 'the node of -c: exit code' 0 $?
command=''
has 'the node of -c: system calls' '^ *fred +77$'
has 'the node of -c: functions' '^ *zip3 +123$'
finish
