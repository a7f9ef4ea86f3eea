#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What an event of the kernel costs, and how soon the first one is seen: against bpftrace doing the
# same on the same work in the same run, in turns, the best of ROUNDS (5). A program makes CALLS
# system calls, calls of a function or passes of a usdt probe, and says how long each took; less what
# it takes when nobody looks. Each step has its time: what does not end is told, and ended.
#
#	bench/kernel_bench.sh [name...]      as root; without bpftrace only our own

set -u
# shellcheck source=bench/tracefs.sh
. "$(dirname "$0")/tracefs.sh"
cd "$(dirname "$0")/.." || exit 1
PATH=$(cd "${BIN:-bin}" && pwd):$PATH
export LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"; [[ -n ${work_pid-} ]] && kill "$work_pid" 2>/dev/null' EXIT

erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' >/dev/null 2>"$dir/why" || {
	echo "kernel: not measured: $(cat "$dir/why")"
	exit 0
}
cat >"$dir/work.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* The note of a usdt probe bench:pass with one argument, as sys/sdt.h makes it. */
#define PASS(v) __asm__ volatile("990: nop\n"                                                      \
	".pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n"                                   \
	".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"                \
	"993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n"                                      \
	".asciz \"bench\"\n.asciz \"pass\"\n.asciz \"8@%0\"\n994: .balign 4\n.popsection\n"        \
	".ifndef _.stapsdt.base\n"                                                                 \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                    \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"                 \
	".size _.stapsdt.base, 1\n.popsection\n.endif\n" ::"r"((long)(v)))
/* Begins as most functions do, by a push, which the kernel need not step over. */
__attribute__((noinline)) long work_fn(long v)
{
	__asm__ volatile("" : "+r"(v)::"rbx");
	return v;
}
int main(void)
{
	char what[16];
	long n;

	while (scanf("%15s %ld", what, &n) == 2) {
		struct timespec a, b;

		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		for (long i = 0; i < n; i++)
			if (what[0] == 's')
				syscall(SYS_getppid);
			else if (what[0] == 'f')
				work_fn(i);
			else
				PASS(i);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		printf("%.1f\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / n);
		fflush(stdout);
	}
	return 0;
}
C
"${CC:-cc}" -O2 -o "$dir/work" "$dir/work.c" || exit 1
calls=${CALLS:-500000}
coproc WORK { exec "$dir/work"; }
work_pid=$WORK_PID
work() { # what it is to do: ns of each
	local t
	echo "$1 $calls" >&"${WORK[1]}"
	read -r -t 120 t <&"${WORK[0]}" || { echo "kernel: the program that is traced ($1) did not end in 120 s" >&2; t=; }
	echo "$t"
}

least() { # the lesser of two numbers, each of which may be missing
	awk -v a="$1" -v b="$2" 'BEGIN { print a == "" ? b : b == "" || a + 0 < b + 0 ? a : b }'
}

# ---- tracers -------------------------------------------------------------------------------

start() { # command; what it says comes by 5
	mkfifo "$dir/fifo"
	"$@" >"$dir/fifo" 2>"$dir/err" </dev/null &
	tracer=$!
	exec 5<"$dir/fifo"
	rm "$dir/fifo"
}

# A line of it that begins like that; false: it has ended, or says nothing in 60 s.
await() { # beginning, command (for what is told)
	local line until=$((SECONDS + 60)) what=$1
	shift
	while ((SECONDS < until)); do
		if read -r -t 5 line <&5; then
			[[ $line == "$what"* ]] && return
		elif (($? <= 128)); then # its output has ended
			break
		fi
	done
	echo "kernel: no '$what' in 60 s, or it has ended: $*: $(head -c 300 "$dir/err")" >&2
	return 1
}

# bpftrace 0.17 loses a signal now and then, and waits for ever: it is told again.
stop() { # command (for what is told)
	local i ended=
	for ((i = 0; i < 15; i++)); do
		kill -TERM "$tracer" 2>/dev/null
		timeout 2 cat <&5 >/dev/null && ended=1 && break
	done
	if [[ -z $ended ]]; then
		echo "kernel: did not end in 30 s: $* ($(tr '\0' ' ' <"/proc/$tracer/stat"), in $(cat "/proc/$tracer/wchan"))" >&2
		kill -9 "$tracer" 2>/dev/null
	fi
	wait "$tracer" 2>/dev/null
	exec 5<&-
}

# A tracer at work, as long as the program works: what each takes then.
under() { # what is done, command that traces and says "on" when it does
	local what=$1
	shift
	start "$@"
	await on "$@" && work "$what"
	stop "$@"
}

# From the start of a tracer to its first event, in ms; something fires all the time.
first() { # command that prints a line at an event
	local from to
	from=$(date +%s%N)
	start "$@"
	await event "$@" && to=$(date +%s%N)
	stop "$@"
	[[ -n ${to-} ]] && echo $(((to - from) / 1000000))
}

# ---- what is measured ----------------------------------------------------------------------

names=('syscall count' 'syscall quantize' 'syscall sum' 'syscall heat' 'uprobe count' 'uprobe quantize' 'usdt count' 'usdt quantize')
enter=tracepoint:raw_syscalls:sys_enter leave=tracepoint:raw_syscalls:sys_exit
fn="pid$work_pid::work_fn:entry" b_fn="uprobe:$dir/work:work_fn"
pass="bench$work_pid:::pass" b_pass="usdt:$dir/work:bench:pass"
declare -A ours=(
	['syscall count']='syscall:::entry { @ = count(); }'
	['syscall quantize']='syscall:::entry { @[probefunc] = quantize(arg0); }'
	['syscall sum']='syscall:::entry { @[pid, execname] = sum(arg0); }'
	['syscall heat']='syscall:::entry { self->ts[probefunc] = vtimestamp; }
		syscall:::return /self->ts[probefunc]/ { @time[probefunc] = lquantize(vtimestamp - self->ts[probefunc], 0, 100000, 1000); }'
	['uprobe count']="$fn { @ = count(); }"
	['uprobe quantize']="$fn { @ = quantize(arg0); }"
	['usdt count']="$pass { @ = count(); }"
	['usdt quantize']="$pass { @ = quantize(arg0); }"
) theirs=(
	['syscall count']="$enter { @ = count(); }"
	['syscall quantize']="$enter { @[args->id] = hist(args->args[0]); }"
	['syscall sum']="$enter { @[pid, comm] = sum(args->args[0]); }"
	['syscall heat']="$enter { @ts[tid, args->id] = nsecs; }
		$leave /@ts[tid, args->id]/ { @time[args->id] = lhist(nsecs - @ts[tid, args->id], 0, 100000, 1000); }"
	['uprobe count']="$b_fn { @ = count(); }"
	['uprobe quantize']="$b_fn { @ = hist(arg0); }"
	['usdt count']="$b_pass { @ = count(); }"
	['usdt quantize']="$b_pass { @ = hist(arg0); }"
)
declare -A event=(
	[count]='syscall:::entry { printf("event\n"); exit(0); }'
	[heat]='syscall:::entry { self->ts[probefunc] = vtimestamp; }
		syscall:::return /self->ts[probefunc]/ { @time[probefunc] = lquantize(vtimestamp - self->ts[probefunc], 0, 100000, 1000); printf("event\n"); exit(0); }'
) b_event=(
	[count]="$enter { printf(\"event\n\"); exit(); }"
	[heat]="$enter { @ts[tid, args->id] = nsecs; }
		$leave /@ts[tid, args->id]/ { @time[args->id] = lhist(nsecs - @ts[tid, args->id], 0, 100000, 1000); printf(\"event\n\"); exit(); }"
)
has_b() { command -v bpftrace >/dev/null; }
of_b() { # name: its options there
	[[ $1 == syscall* ]] || echo "-p $work_pid"
}
(($# > 0)) && names=("$@")
declare -A best=()
for ((round = 0; round < ${ROUNDS:-5}; round++)); do
	for w in s f u; do
		best[$w]=$(least "${best[$w]-}" "$(work $w)")
	done
	for k in "${names[@]}"; do
		w=s
		[[ $k == uprobe* ]] && w=f
		[[ $k == usdt* ]] && w=u
		best[$k]=$(least "${best[$k]-}" "$(under $w erltrace -qn "BEGIN { printf(\"on\n\"); } ${ours[$k]}")")
		# shellcheck disable=SC2046 # two words, or none
		has_b && best[b_$k]=$(least "${best[b_$k]-}" \
			"$(under $w bpftrace -B line $(of_b "$k") -e "BEGIN { printf(\"on\n\"); } ${theirs[$k]}")")
	done
	for k in "${!event[@]}"; do
		best[first_$k]=$(least "${best[first_$k]-}" "$(first erltrace -q -x switchrate=1ms -n "${event[$k]}")")
		has_b && best[b_first_$k]=$(least "${best[b_first_$k]-}" "$(first bpftrace -B line -e "${b_event[$k]}")")
	done
done

less() { # of what, with a tracer; nothing where there is none
	[[ -z $2 ]] || awk -v a="$2" -v b="${best[$1]}" 'BEGIN { printf "%.0f", a - b }'
}

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
for k in "${names[@]}"; do
	w=s
	[[ $k == uprobe* ]] && w=f
	[[ $k == usdt* ]] && w=u
	our=$(less $w "${best[$k]}") their=$(less $w "${best[b_$k]-}")
	printf 'kernel: %-28s %6s ns an event, bpftrace %6s ns\n' "$k" "${our:--}" "${their:--}"
	row "${k/#syscall/system calls:}, against bpftrace" "$our" "$their" ns 1
done
for k in count heat; do
	our=${best[first_$k]} their=${best[b_first_$k]-}
	printf 'kernel: %-28s %6s ms, bpftrace %6s ms\n' "start to first event, $k" "${our:--}" "${their:--}"
	row "command to first event ($k), against bpftrace" "$our" "$their" ms 1
done
