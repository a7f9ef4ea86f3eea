#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What an event of the kernel costs, and how soon the first one is seen: against bpftrace doing the
# same on the same work in the same run, in turns, the best of ROUNDS (5). A program makes CALLS
# system calls and says how long each took; less what it takes when nobody looks.
#
#	bench/kernel_bench.sh        as root; without bpftrace only our own

set -u
# bpftrace needs tracefs: where it is not mounted, for these processes alone.
if [[ $EUID == 0 && -z ${KERNEL_BENCH-} && ! -d /sys/kernel/tracing/events ]]; then
	export KERNEL_BENCH=1
	# shellcheck disable=SC2016 # they are that shell's
	unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing' 2>/dev/null &&
		exec unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing; exec "$0" "$@"' "$0" "$@"
fi
cd "$(dirname "$0")/.." || exit 1
PATH=$(cd "${BIN:-bin}" && pwd):$PATH
export LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' >/dev/null 2>"$dir/why" || {
	echo "kernel: not measured: $(cat "$dir/why")"
	exit 0
}
cat >"$dir/calls.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	long n = atol(argv[argc - 1]);
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%.1f\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / n);
	return 0;
}
C
"${CC:-cc}" -O2 -o "$dir/calls" "$dir/calls.c" || exit 1
calls=${CALLS:-1000000}

least() { # the lesser of two numbers, the first of which may be missing
	awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || b < a ? b : a }'
}

# A tracer at work, as long as the program runs: what a call takes then.
under() { # command that traces and says "on" when it does
	local t
	mkfifo "$dir/fifo"
	"$@" >"$dir/fifo" 2>/dev/null </dev/null &
	local pid=$!
	exec 5<"$dir/fifo"
	read -r -t 20 _ <&5
	t=$("$dir/calls" "$calls")
	kill -TERM $pid 2>/dev/null
	cat <&5 >/dev/null
	wait $pid 2>/dev/null
	exec 5<&-
	rm "$dir/fifo"
	echo "$t"
}

# From the start of a tracer to its first event, in ms; something fires all the time.
first() { # command that prints a line at an event
	local from to
	mkfifo "$dir/fifo"
	from=$(date +%s%N)
	"$@" >"$dir/fifo" 2>/dev/null </dev/null &
	local pid=$!
	exec 5<"$dir/fifo"
	until read -r -t 20 line <&5 && [[ $line == event* ]]; do
		[[ -d /proc/$pid ]] || break
	done
	to=$(date +%s%N)
	kill -TERM $pid 2>/dev/null
	cat <&5 >/dev/null
	wait $pid 2>/dev/null
	exec 5<&-
	rm "$dir/fifo"
	echo $(((to - from) / 1000000))
}

declare -A ours=(
	[count]='syscall:::entry { @ = count(); }'
	[quantize]='syscall:::entry { @[probefunc] = quantize(arg0); }'
	[sum]='syscall:::entry { @[pid, execname] = sum(arg0); }'
) theirs=(
	[count]='tracepoint:raw_syscalls:sys_enter { @ = count(); }'
	[quantize]='tracepoint:raw_syscalls:sys_enter { @[args->id] = hist(args->args[0]); }'
	[sum]='tracepoint:raw_syscalls:sys_enter { @[pid, comm] = sum(args->args[0]); }'
)
declare -A best=()
for ((round = 0; round < ${ROUNDS:-5}; round++)); do
	best[none]=$(least "${best[none]-}" "$("$dir/calls" "$calls")")
	for k in "${!ours[@]}"; do
		best[$k]=$(least "${best[$k]-}" \
			"$(under erltrace -qn "BEGIN { printf(\"on\n\"); } ${ours[$k]}")")
		command -v bpftrace >/dev/null && best[b_$k]=$(least "${best[b_$k]-}" \
			"$(under bpftrace -B line -e "BEGIN { printf(\"on\n\"); } ${theirs[$k]}")")
	done
	best[first]=$(least "${best[first]-}" "$(first erltrace -q -x switchrate=1ms -n \
		'syscall:::entry { printf("event\n"); exit(0); }')")
	command -v bpftrace >/dev/null && best[b_first]=$(least "${best[b_first]-}" \
		"$(first bpftrace -B line -e 'tracepoint:raw_syscalls:sys_enter { printf("event\n"); exit(); }')")
done

less() { awk -v a="${1:-0}" -v b="${best[none]}" 'BEGIN { printf "%.0f", a - b }'; }

# A row of bench/run.sh's; not dearer than bpftrace is the goal.
row() { # name, ours, theirs or nothing, unit, goal or nothing
	[[ -n ${BENCH_ROWS-} ]] || return 0
	awk -v name="$1" -v a="$2" -v b="$3" -v unit="$4" -v goal="$5" 'BEGIN {
		r = (b > 0 ? a / b : 0)
		ok = (goal == "" || r <= goal ? "true" : "false")
		goal = (b > 0 && goal != "" ? "<=" goal : 0)
		printf "{\"part\": \"kernel\", \"name\": \"%s\", \"value\": %.1f, ", name, a
		printf "\"unit\": \"%s\", \"baseline\": %.1f, \"ratio\": %.3f, ", unit, b, r
		printf "\"goal\": \"%s\", \"ok\": %s}\n", goal, ok }' >>"$BENCH_ROWS"
}
for k in count quantize sum; do
	our=$(less "${best[$k]}") their=$([[ -n ${best[b_$k]-} ]] && less "${best[b_$k]}")
	printf 'kernel: %-28s %6s ns an event, bpftrace %6s ns\n' "syscall $k" "$our" "${their:--}"
	row "system calls: $k, against bpftrace" "$our" "$their" ns "$([[ $k == sum ]] || echo 1)"
done
printf 'kernel: %-28s %6s ms, bpftrace %6s ms\n' 'start to first event' "${best[first]}" "${best[b_first]--}"
row 'command to first event, against bpftrace' "${best[first]}" "${best[b_first]-}" ms 1
