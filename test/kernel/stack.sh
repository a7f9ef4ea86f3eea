#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ustack() at probes of the kernel in a stock node: the Erlang stack of the process that runs, by
# functions that call each other in a known order, with their lines. The VM may have no symbols.
# VM_ROOT: a folder with another system, in which the node runs (test/releases/stack_releases.sh has some).
# The last line is "N passed, N failed".
# shellcheck disable=SC2016 # D's $target

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
needs_kernel
nodes_begin 300 bare
epmd_begin

cat >kst.erl <<'X'
-module(kst).
-export([start/1, a/1]).
start(F) -> spawn_monitor(fun() -> a(F) end).
a(F) -> {a, b(F)}.
b(F) -> {b, c(F)}.
c({write, N}) -> {ok, D} = file:open("/dev/null", [write, raw]), {c, write(D, N)};
c({deep, N}) -> {c, deep(N)};
c({send, N}) -> {c, send(spawn(fun() -> receive stop -> ok end end), erlang:make_tuple(776, a), N)};
c({read, F}) -> {c, read(F)};
c(compare) -> {c, compare(lists:seq(1, 1000), 1)};
c(busy) -> {c, busy(1)}.
write(_, 0) -> done;
write(D, N) -> ok = file:write(D, <<1>>), write(D, N - 1).
deep(0) -> {ok, D} = file:open("/dev/null", [write, raw]), {d, write(D, 10)};
deep(N) -> [deep(N - 1)].
send(P, _, 0) -> P ! stop;
send(P, T, N) -> P ! T, send(P, T, N - 1).
read(F) -> {r, file:open(F, [read, raw])}.
compare(L, N) when N > 0 -> compare(L, more(L, N, lists:seq(1, 1000)));
compare(_, N) -> N.
more(L, N, M) -> case L == M of true -> N + 1; false -> 0 end.
busy(N) when N > 0 ->
    X = N * 7,
    busy(X rem 1000003 + 1);
busy(N) -> N.
X
erlc kst.erl || exit 1
start kst_a
p=${pid[kst_a]}
is 'the module is loaded' '{module,kst}' \
	"$(at kst_a "code:load_binary(kst, \"kst.erl\", base64:decode(\"$(base64 -w 0 kst.beam)\")).")"

run() { trace_process "$p" "$@"; } # arguments of erltrace
ended() { at kst_a "{_, R} = kst:start($1), receive {_, R, _, _, Why} -> Why end."; } # what
# Each stack with what is counted for it in a line, of native functions the file only, once for
# several; without the VM's below another file's. Not every build of OTP has lines in its own modules.
stacks() {
	awk '{ sub(/\+0x[0-9a-f]+$/, ""); sub(/^ +/, ""); if (sub(/`.*/, "")) sub(/\.so.*/, "")
			sub(/^libc\.so.*/, "libc"); if (!/^kst:/) sub(/ \([a-z_]*\.erl:[0-9]+\)$/, "") }
		/^armed/ { next }
		/^[0-9]+$/ { print line " " $0; line = ""; next }
		NF && $0 != last { line = line (line == "" ? "" : " ") $0 }
		{ last = $0 }' o | sed 's/^libc beam.smp /libc /' | grep ' kst:a/1 '
}
chain() { echo "kst:c/1 (kst.erl:$1) kst:b/1 (kst.erl:5) kst:a/1 (kst.erl:4)"; } # line in c/1
plain='kst:c/1 kst:b/1 kst:a/1'

# ---- system calls: on a dirty scheduler ---------------------------------------------------

run -n 'syscall::writev:entry /pid == $target/ { @[ustack()] = count(); }'
is 'writes' normal "$(ended '{write, 300}')"
untrace
is 'writes: exit code' 0 "$status"
is 'the stack of a system call' \
	"libc prim_file:write_nif/2 prim_file:write_1/2 prim_file:write/2 kst:write/2 (kst.erl:13) $(chain 6) 300" \
	"$(stacks)"
is 'nothing is said' '' "$(cat e)"
if nm -D "/proc/$p/exe" 2>/dev/null | grep -q ' efile_writev'; then
	has 'native functions of the VM are between' '^ +beam.smp`efile_writev'
	is '... and none of those that run the thread' '' \
		"$(awk -v RS= '/kst:a/ && /start_thread|clone|erts_dirty_process_main/' o)"
fi

run -x stacklines=off -n 'syscall::writev:entry /pid == $target/ { @[ustack()] = count(); }'
is 'writes, without lines' normal "$(ended '{write, 200}')"
untrace
is 'a stack without lines' \
	"libc prim_file:write_nif/2 prim_file:write_1/2 prim_file:write/2 kst:write/2 $plain 200" \
	"$(stacks)"

run -n 'syscall::writev:entry /pid == $target && ustackdepth > 99/ { @d[ustackdepth] = count(); @[ustack(4)] = count(); }'
is 'deep' normal "$(ended '{deep, 300}')"
untrace
has 'ustackdepth counts all of a recursion' '^ *3(09|1[0-9]) +10$'
is 'so many as are asked for' 4 "$(grep -c '[a-z]' <(grep -v armed o))"

# ---- functions of the VM ------------------------------------------------------------------

if nm -D "/proc/$p/exe" 2>/dev/null | grep -q copy_struct_x; then
	run -n 'pid$target:beam.smp:copy_struct_x:entry /arg1 == 777/ { @[ustack()] = count(); }'
	is 'sends' normal "$(ended '{send, 400}')"
	untrace
	is 'the stack of a function of the VM' \
		"beam.smp erlang:send/2 kst:send/3 (kst.erl:17) $(chain 8) 400" "$(stacks)"
fi

# ---- threads ------------------------------------------------------------------------------

fifo=/tmp/kst-$$
mkfifo "${VM_ROOT:-}$fifo"
run -n 'sched:::off-cpu /pid == $target && (strstr(execname, "dirty") != NULL || strstr(execname, "erts_d") != NULL)/ { ustack(); printf("1\n"); }'
at kst_a "put(r, element(2, kst:start({read, \"$fifo\"})))." >/dev/null
ok 'it waits' holds o '^ +kst:a/1'
: >"${VM_ROOT:-}$fifo" # nothing: who has opened it may have ended by then
rm "${VM_ROOT:-}$fifo"
at kst_a 'R = get(r), receive {_, R, _, _, _} -> ok end.' >/dev/null
untrace
stacks >waits
ok 'the stack of a thread that waits' grep -qF " kst:read/1 (kst.erl:18) $(chain 9) 1" waits

# ---- samples ------------------------------------------------------------------------------

sample() { # what runs, options; so many that each line of it is among them
	run "${@:2}" -n 'profile-499 /pid == $target && ustackdepth > 3/ { @[ustack()] = count(); n++; }
		profile-499 /n >= 300/ { exit(0); }'
	at kst_a "put(p, element(1, kst:start($1)))." >/dev/null
	wait "$command"
	is "samples of $1: exit code" 0 $?
	command=''
	at kst_a 'exit(get(p), kill).' >/dev/null
	stacks | sed 's/ [0-9]*$//' | sort -u >seen
}
sample busy
is 'all samples of a line are one' "kst:busy/1 (kst.erl:23) $(chain 11)
kst:busy/1 (kst.erl:24) $(chain 11)" "$(grep '^kst:busy/1 (kst.erl:2[34])' seen)"
sample busy -x stacklines=off
is 'without lines all samples of a function are one' "kst:busy/1 $plain" "$(grep '^kst:busy' seen)"
is '... and one key' 1 "$(stacks | grep -c '^kst:busy')"
sample compare
ok 'a sample of a function of the VM' \
	grep -qxF "beam.smp kst:more/3 (kst.erl:21) kst:compare/2 (kst.erl:19) $(chain 10)" seen
hasnt 'no address without a file' '^ *0x[0-9a-f]'

# In the kernel too, -N means its samples, whatever else runs.
(while kill -0 $$ 2>/dev/null; do for ((i = 0; i < 20000; i++)); do :; done; done) &
other=$!
rm -f o e
erltrace -N kst_a -qn 'BEGIN { printf("armed\n"); } syscall::getppid:entry { } profile-499 { @[ustack(2)] = count(); @p[pid] = count(); n++; }
	profile-499 /n >= 100/ { exit(0); }' >o 2>e &
command=$!
ok 'samples of a node by its name: armed' holds o armed
at kst_a 'put(p, element(1, kst:start(busy))).' >/dev/null
wait "$command"
is 'samples of a node by its name: exit code' 0 $?
command=''
at kst_a 'exit(get(p), kill).' >/dev/null
kill $other
has 'samples of a node by its name' '^ +kst:busy/1'
is 'samples of a node by its name: of nobody else' "$p" "$(awk 'NF == 2 && /^ *[0-9]+ +[0-9]+$/ { print $1 }' o)"

# A script of samples alone knows them too.
run -n 'profile-499 /erlname == "kst_busy"/ { printf("%s in %d\n", erlname, pid); exit(0); }'
at kst_a 'register(kst_busy, element(1, kst:start(busy))).' >/dev/null
wait "$command"
is 'whose a sample is: exit code' 0 $?
command=''
ok 'whose a sample is' grep -qx "kst_busy in $p" o
at kst_a 'exit(whereis(kst_busy), kill).' >/dev/null

# ---- what is no VM ------------------------------------------------------------------------

cp "$(command -v sleep)" beam.smp
./beam.smp 600 &
other=$!
holds "/proc/$other/comm" beam || finish
erltrace -p $other -qn 'syscall:::entry /pid == $target/ { ustack(); } tick-200ms { exit(0); }' >o 2>&1
is 'a VM that is none: exit code' 0 $?
has 'a VM that is none: it is told' "ustack\\(\\) has no Erlang functions in process $other: it has no JIT"
kill $other
finish
