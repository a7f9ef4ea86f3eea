#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Probes of the kernel: exact counts on a known program, nothing lost unseen, nothing left behind,
# and plain words where they are not permitted. The last line is "N passed, N failed".
#
#	test/kernel/kernel_test.sh [long]      long: ten million calls

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
dir=$tmp
chmod 755 "$dir"
trap 'rm -rf "$dir"' EXIT
limited() { # a command, ended (and told) when it takes far too long
	timeout -k 10 300 "$@"
	local rc=$?
	((rc == 124 || rc == 137)) && echo "FAILED: did not end in 300 s: ${*:0:300}" >&3
	return $rc
}
exec 3>&1

# ---- without permission --------------------------------------------------------------------

as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)
if ((EUID == 0)) && erltrace -ln syscall::read:entry >/dev/null 2>&1 &&
	"${as[@]}" test -x "$(command -v erltrace)" 2>/dev/null; then
	out=$("${as[@]}" erltrace -qn 'BEGIN { printf("ok\n"); exit(0); }' 2>&1)
	is 'no privilege: what needs none works' ok "${out%$'\n'}"
	out=$("${as[@]}" erltrace -qn 'syscall::getppid:entry { exit(0); }' 2>&1)
	is 'no privilege: exit code' 1 $?
	like 'no privilege: the error says what is missing' 'need root, or the capabilities CAP_BPF' "$out"
fi

# ---- can it be had here? -------------------------------------------------------------------

why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1 >/dev/null) || {
	echo "skipped: no probes of the kernel here: $why"
	finish
}

is 'an action of nodes alone' "erltrace: invalid probe specifier syscall::read:entry { follow(); }: 'follow' has no value at syscall::read:entry: function-entry, local-function-entry have it" \
	"$(erltrace -e -n 'syscall::read:entry { follow(); }' 2>&1)"

cat >"$dir/calls.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static long n;
static void *some(void *arg)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[64];
	int threads = argc > 2 ? atoi(argv[2]) : 0;
	char c = 'x';

	n = atol(argv[1]);
	for (int i = 0; i < 7; i++)
		if (write(1, &c, 1) != 1 || read(0, &c, 1) != 0)
			return 1;
	if (threads == 0)
		some(NULL);
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, some, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
"${CC:-cc}" -O1 -pthread -o "$dir/calls" "$dir/calls.c" || { echo '0 passed, 1 failed'; exit 1; }
calls=$dir/calls

# ---- counts --------------------------------------------------------------------------------

count() { # arguments of the program, predicate, options...
	local args=$1 and=$2
	shift 2
	rm -f "$dir/out"
	limited erltrace -q -o "$dir/out" -c "$calls $args" "$@" -n "syscall::getppid:entry /pid == \$target$and/ { @ = count(); }
		END { printa(\"%@d\n\", @); }" </dev/null >/dev/null 2>&1
	grep -E '^[0-9]+$' "$dir/out"
}

is 'each call is counted' 12345 "$(count 12345 '')"
is 'of four threads too' 400000 "$(count '100000 4' '')"

limited erltrace -q -o "$dir/all" -c "$calls 500" -n 'syscall:::entry /pid == $target/ { @[probefunc] = count(); }
	syscall:::return /pid == $target/ { @r[probefunc] = count(); }
	END { printa("%s %@d\n", @); printa("return %s %@d\n", @r); }' </dev/null >/dev/null 2>&1
if command -v strace >/dev/null; then
	strace -f -c -o "$dir/strace" "$calls" 500 </dev/null >/dev/null
	for call in getppid read write mmap mprotect openat close; do
		is "$call as strace counts it" \
			"$(awk -v c=$call '$NF == c { print $4 }' "$dir/strace")" \
			"$(awk -v c=$call '$1 == c { print $2 }' "$dir/all")"
	done
else
	is getppid 500 "$(awk '$1 == "getppid" { print $2 }' "$dir/all")"
fi
is 'as many returns as entries' 500 "$(awk '$2 == "getppid" { print $3 }' "$dir/all")"

# ---- nothing is lost unseen ----------------------------------------------------------------

recorded() { # calls of each of four threads, bufsize
	rm -f "$dir/lines"
	limited erltrace -q -b "$2" -o "$dir/lines" -c "$calls $1 4" \
		-n 'syscall::getppid:entry /pid == $target/ { printf("call\n"); @ = count(); }
		END { printa("all %@d\n", @); }' </dev/null >/dev/null 2>"$dir/err"
	lines=$(grep -c call "$dir/lines")
	drops=$(awk '/drops? on/ { n += $2 } END { print n + 0 }' "$dir/err")
	is "of $((4 * $1)): records and drops are all there were" $((4 * $1)) $((lines + drops))
	is "of $((4 * $1)): and all were counted" "all $((4 * $1))" "$(grep '^all' "$dir/lines")"
}
recorded 50000 16k

limited erltrace -q -x aggsize=4k -o "$dir/keys" -c "$calls 20000" \
	-n 'syscall::getppid:entry /pid == $target/ { @[n++] = count(); all++; }
	END { printf("all %d\n", all); }' </dev/null >/dev/null 2>"$dir/err"
keys=$(awk 'NF == 2 && $1 ~ /^[0-9]+$/ { n += $2 } END { print n + 0 }' "$dir/keys")
drops=$(awk '/aggregation drops? on/ { n += $2 } END { print n + 0 }' "$dir/err")
is 'keys and drops are all there were' 20000 $((keys + drops))

if [[ ${1-} == long ]]; then
	is 'ten million' 10000000 "$(count '2500000 4' '')"
	recorded 2500000 4m
	echo "info: ten million calls: $lines recorded, $drops dropped"
fi

# ---- many clauses, many CPUs ---------------------------------------------------------------

clauses=300
[[ ${1-} == long ]] && clauses=1000
{
	for ((i = 0; i < clauses; i++)); do
		echo "syscall::getppid:entry /pid == \$target/ { @[$i] = count(); n = n * 31 + $i; }"
	done
	echo 'END { printf("order %u\n", n); }'
} | sed '1i unsigned int n;' >"$dir/many.d"
limited erltrace -qs "$dir/many.d" -o "$dir/many" -c "$calls 3" </dev/null >/dev/null 2>"$dir/err"
is "$clauses clauses: each has run" $clauses "$(awk 'NF == 2 && $1 != "order" && $2 == 3' "$dir/many" | wc -l)"
want=0
for ((k = 0; k < 3; k++)); do
	for ((i = 0; i < clauses; i++)); do
		want=$(((want * 31 + i) & 0xffffffff))
	done
done
is "$clauses clauses: one after the other" "order $want" "$(grep '^order' "$dir/many")"

{
	echo "syscall::getppid:entry /pid == \$target/ { if (tid == 0) {"
	for ((i = 0; i < 1500; i++)); do
		echo "a[$i, tid] = timestamp;"
	done
	echo '} n += 1; } END { trace(n); }'
} >"$dir/long.d"
limited erltrace -qs "$dir/long.d" -o "$dir/long" -c "$calls 3" </dev/null >/dev/null 2>"$dir/err"
older= # has it no arenas, and so no such jumps?
grep -q 'too long for the kernel before Linux 6.9' "$dir/err" && older=yes
[[ $older ]] || is 'a jump that linking makes longer than 16 bits' 3 "$(cat "$dir/long")"

out=$(MORE_CPUS=64 preloaded more_cpus limited erltrace -n 'syscall::getppid:entry { @[pid] = count(); printf("x"); } BEGIN { exit(0); }' 2>&1)
lower=1m
[[ $older ]] && lower=512k # doc/kernel.md, Older kernels
like '64 CPUs: buffers are lowered' "buffer size lowered to $lower.*aggregation size lowered to $lower" "${out//$'\n'/ }"
out=$(MORE_CPUS=64 preloaded more_cpus limited erltrace -x bufresize=manual -b 64m -n 'syscall::getppid:entry { printf("x"); } BEGIN { exit(0); }' 2>&1)
like '64 CPUs: not when they are not to be' 'make bufsize, aggsize or specsize smaller' "$out"
out=$(limited erltrace -n 'syscall::getppid:entry { @[pid] = count(); } BEGIN { exit(0); }' 2>&1)
[[ $older || $(getconf _NPROCESSORS_CONF) -gt 16 ]] ||
	is 'a few CPUs: as asked for' '' "$(grep lowered <<<"$out")"

# ---- the wall clock ------------------------------------------------------------------------

echo 0 >"$dir/jump"
out=$(CLOCK_JUMP=$dir/jump preloaded clock_jump limited erltrace -qn 'BEGIN { w = walltimestamp; t = timestamp; }
	syscall:::entry /pid == $target && walltimestamp - w > 3000000000000/
	{ printf("%d %d\n", walltimestamp - w < 4200000000000, timestamp - t < 600000000000); exit(0); }' \
	-c "sh -c 'echo 3600 >$dir/jump; while :; do sleep 0.05; done'" 2>&1)
is 'walltimestamp follows when the wall clock is set, timestamp does not' '1 1' "${out//$'\n'/}"

# ---- in a container ------------------------------------------------------------------------

own=(unshare --pid --fork --mount-proc)
if "${own[@]}" true 2>/dev/null; then
	out=$(limited "${own[@]}" "$(command -v erltrace)" -qn 'syscall::getppid:entry /pid == $target && pid < 100/
		{ self->at = vtimestamp; @["calls"] = count(); }
		syscall::getppid:return /self->at && vtimestamp >= self->at/ { @["with a time"] = count(); }' \
		-c "$calls 300" </dev/null 2>&1 | grep -E 'calls|time' | sort | awk '{ print $NF }')
	is 'processes have the numbers of the container' '300 300' "${out//$'\n'/ }"
else
	echo 'skipped: in a container: no name spaces here'
fi

# ---- nothing is left behind ----------------------------------------------------------------

if command -v bpftool >/dev/null; then
	mkfifo "$dir/fifo"
	erltrace -qn 'BEGIN { printf("here\n"); } syscall:::entry { @[execname, probefunc] = count(); } tick-10ms { printf("here\n"); }' \
		>"$dir/fifo" 2>/dev/null </dev/null &
	pid=$!
	exec 5<"$dir/fifo"
	read -r -t 120 _ <&5 # it is on
	read -r -t 120 _ <&5
	ids=$(sed -n 's/^\(prog\|map\|link\)_id:[[:space:]]*/\1 /p' /proc/$pid/fdinfo/* 2>/dev/null | sort -u)
	like 'it has programs, maps and links' 'link.*map.*prog' "${ids//$'\n'/ }"
	kill -9 $pid
	wait $pid 2>/dev/null
	exec 5<&-
	left=
	while read -r kind id; do
		for ((i = 0; i < 1200; i++)); do # the kernel frees them when all have left them
			bpftool "$kind" show id "$id" >/dev/null 2>&1 || break
			sleep 0.05
		done
		((i < 1200)) || left+="$kind $id "
	done <<<"$ids"
	is 'killed: nothing is left' '' "$left"
else
	echo 'skipped: what is left of a killed command: no bpftool here'
fi
finish
