#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Clauses that fail at each event of the kernel: the errors that are told are as many as somebody
# can read, the others are counted, none is lost; and a signal ends a script whose errors make
# more of them. What the verifier has to do, and what is said where it is too much for it. The last
# line is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
dir=$tmp
trap 'rm -rf "$dir"' EXIT

why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1 >/dev/null) || {
	echo "skipped: no probes of the kernel here: $why"
	finish
}

# ---- errors --------------------------------------------------------------------------------

told() { grep -c 'error on enabled probe' "$1"; }
more() { awk '/^erltrace: [0-9]+ more errors?$/ { n += $2 } END { print n + 0 }' "$1"; }
dropped() { awk '/ drops? on CPU/ { n += $2 } END { print n + 0 }' "$1"; }

cat >"$dir/calls.c" <<'C'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--)
		syscall(SYS_getppid);
	return 0;
}
C
"${CC:-cc}" -O1 -o "$dir/calls" "$dir/calls.c" || { echo '0 passed, 1 failed'; exit 1; }

timeout 300 erltrace -qn 'syscall::getppid:entry /pid == $target/ { trace(*(int *)1); }' \
	-c "$dir/calls 500" 2>"$dir/few" >/dev/null
is 'errors that are alike: ten are told, the others counted' '10 490' "$(told "$dir/few") $(more "$dir/few")"

start=$SECONDS
timeout 300 erltrace -q -b 32m -n 'syscall::getppid:entry /pid == $target/ { trace(*(int *)1); }' \
	-c "$dir/calls 50000" 2>"$dir/many" >/dev/null
took=$((SECONDS - start + 2))
is 'many errors: told, counted and dropped are all there were' 50000 \
	$(($(told "$dir/many") + $(more "$dir/many") + $(dropped "$dir/many")))
is 'many errors: not more are told than somebody can read' 1 \
	$(($(told "$dir/many") >= 10 && $(told "$dir/many") <= 1000 + 100 * took))

# Each error that is written is an event with an error: it goes on by itself.
start=$SECONDS
: >"$dir/self"
erltrace -qn 'syscall:::entry { trace(*(int *)1); }' >/dev/null 2>"$dir/self" &
pid=$!
for ((i = 0; i < 1200; i++)); do
	(($(more "$dir/self") > 0)) && break
	sleep 0.1
done
kill -TERM $pid
wait $pid
is 'errors that make errors: the signal ends it' 0 $?
took=$((SECONDS - start + 2))
is 'errors that make errors: what is told has its bounds' 1 \
	$(($(told "$dir/self") >= 10 && $(told "$dir/self") <= 1000 + 100 * took))
is 'errors that make errors: the rest is counted' 1 $(($(more "$dir/self") > 0))

timeout 300 erltrace -q --json -n 'syscall::getppid:entry /pid == $target/ { trace(*(int *)1); }' \
	-b 32m -c "$dir/calls 3000" >"$dir/json" 2>"$dir/err"
is 'for programs, each is there' 3000 "$(grep -c '"error"' "$dir/json")"

# ---- the verifier --------------------------------------------------------------------------

work() { # most instructions that it follows for a program of a script
	preloaded verifier_log timeout 300 erltrace -qn "$1" -n 'BEGIN { exit(0); }' 2>&1 |
		awk '$1 == "processed" && $2 > n { n = $2 } END { print n + 0 }'
}
for script in \
	'syscall::write:entry { self->x = 5; }' \
	'syscall::write:entry { self->s = "string"; }' \
	'syscall::write:entry { self->a = execname; self->b = probefunc; self->c = "x";
		self->d = strjoin(execname, "y"); x[execname, pid] = probefunc; y[probefunc]++; }' \
	'syscall::open*:entry { self->p = copyinstr(arg1); }
		syscall::open*:return /self->p != ""/ { @[self->p, errno] = count(); self->p = 0; }' \
	'syscall::write:entry { @[json("{\"a\": [1, 2]}", "a[1]"), lltostr(pid)] = avg(arg2); }' \
	'sched:::on-cpu { self->ts = timestamp; } sched:::off-cpu /self->ts/
		{ @[execname, args[1]->pr_fname] = sum(timestamp - self->ts); self->ts = 0; }'; do
	n=$(work "$script")
	is "what the verifier follows ($n) of ${script:0:60}" 1 $((n > 500 && n < 50000))
done

for ((i = 0; i < 15000; i++)); do
	echo "syscall::getppid:entry { x[$i, execname] = probefunc; @[$i, execname] = count(); y[$i] = execname; }"
done >"$dir/large.d"
out=$(timeout 300 erltrace -qs "$dir/large.d" -n 'BEGIN { exit(0); }' 2>&1)
is 'too large: exit code' 1 $?
like 'too large: what is said' 'too large for the kernel: its 15000 clauses at syscall:::entry probes are [0-9]+ instructions' "$out"
finish
