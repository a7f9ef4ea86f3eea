#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Other tools count the same: system calls against strace, functions and usdt probes against
# bpftrace, samples against perf, on a program that does a known number of things. A tool that is
# not here is said and left out. The last line is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd /; rm -rf "$tmp"' EXIT

if ! why=$(timeout 120 erltrace -qn 'syscall::getpid:entry { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	finish
fi

cat >demo.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A probe as SystemTap's header makes them. */
#define PROBE(name, value) __asm__ volatile( \
	"990: nop\n" \
	".pushsection .note.stapsdt,\"\",@note\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, _.stapsdt.base, 0\n" \
	".asciz \"demo\"\n.asciz \"" name "\"\n.asciz \"-8@%0\"\n994: .balign 4\n.popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n" \
	".size _.stapsdt.base, 1\n.popsection\n.endif\n" : : "r"((long)(value)))

volatile unsigned long sum;
__attribute__((noinline)) long work(long a)
{
	__asm__ volatile("");
	return a + 1;
}
__attribute__((noinline)) long deep(long n) /* calls itself */
{
	long r = n == 0 ? 0 : 1 + deep(n - 1);

	__asm__ volatile("" : "+r"(r));
	return r;
}
__attribute__((noinline)) void burn_inner(void)
{
	for (int i = 0; i < 100000; i++)
		sum += (unsigned long)i;
	__asm__ volatile("");
}
static void *some(void *arg)
{
	for (int i = 0; i < 500; i++)
		syscall(SYS_getuid);
	return arg;
}
static void calls(void)
{
	pthread_t t[3];
	char c = 0;

	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	for (int i = 0; i < 77; i++)
		syscall(SYS_lseek, -1, 0, SEEK_SET);
	for (int i = 0; i < 13; i++)
		syscall(SYS_readlink, "/nonexistent", &c, 1);
	for (int i = 0; i < 9; i++)
		syscall(SYS_getcwd, &c, 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, some, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}
int main(int argc, char **argv)
{
	struct timespec now = {0, 0}, end = {0, 0};

	if (argc > 1 && strcmp(argv[1], "burn") == 0) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		do {
			burn_inner();
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
		} while ((end.tv_sec - now.tv_sec) * 1000 + (end.tv_nsec - now.tv_nsec) / 1000000 < 600);
		return 0;
	}
	calls();
	for (long i = 0; i < 4321; i++)
		sum += (unsigned long)work(i);
	for (int i = 0; i < 20; i++)
		sum += (unsigned long)deep(49);
	for (int i = 0; i < 1234; i++)
		PROBE("step__done", -i);
	return 0;
}
C
if ! ${CC:-cc} -O1 -g0 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o demo demo.c -pthread 2>cc.err; then
	echo "skipped: no compiler for programs of x86-64: $(head -1 cc.err)"
	finish
fi

# ---- system calls: strace -------------------------------------------------------------------
names='getcwd getppid getuid lseek readlink'
ours=$(timeout 120 erltrace -qc ./demo -n 'syscall:::entry /pid == $target/ { @n[probefunc] = count(); }
	syscall:::return /pid == $target && errno/ { @e[probefunc] = count(); }
	END { printa("%s %@d %@d\n", @n, @e); }' 2>&1 |
	awk -v names="$names" 'index(" " names " ", " " $1 " ") { print $1, $2, $3 }' | sort | words)
is 'system calls and their errors, as the program makes them' \
	'getcwd 9 9 getppid 1000 0 getuid 1500 0 lseek 77 77 readlink 13 13' "$ours"
if ! command -v strace >/dev/null; then
	echo 'skipped: system calls against strace: no strace here'
elif ! timeout 120 strace -f -c -o strace.out ./demo 2>strace.err; then
	echo "skipped: system calls against strace, which cannot trace here: $(head -1 strace.err)"
else
	# % time, seconds, usecs/call, calls, [errors,] name
	theirs=$(awk -v names="$names" 'index(" " names " ", " " $NF " ") { print $NF, $4, NF == 6 ? $5 : 0 }' \
		strace.out | sort | words)
	is 'system calls: strace -c counts the same' "$theirs" "$ours"
fi

# ---- functions and usdt: bpftrace -----------------------------------------------------------
pairs=$(timeout 120 erltrace -qc ./demo -n 'pid$target:a.out:work:entry { @n = count(); @s = sum(arg0); }
	pid$target:a.out:work:return { @r = count(); @t = sum(arg1); }
	pid$target:a.out:deep:entry { @d = count(); } pid$target:a.out:deep:return { @e = count(); @m = max(arg1); }
	END { printa("%@d ", @n); printa("%@d ", @s); printa("%@d ", @r); printa("%@d ", @t);
		printa("%@d ", @d); printa("%@d ", @e); printa("%@d ", @m); }' 2>&1 | words)
is 'functions, as the program calls them' \
	"4321 $((4321 * 4320 / 2)) 4321 $((4321 * 4320 / 2 + 4321)) 1000 1000 49" "$pairs"
steps=$(timeout 120 erltrace -qc ./demo -n 'demo$target:::step-done { @n = count(); @s = sum(arg0); }
	END { printa("%@d ", @n); printa("%@d ", @s); }' 2>&1 | words)
is 'usdt probes, as the program has them' "1234 -$((1234 * 1233 / 2))" "$steps"

# theirs WHAT WANTED PROGRAM: bpftrace prints "NAME: NUMBER" of its maps, in the order of names
theirs() {
	local got

	if ! got=$(timeout 120 bpftrace -c ./demo -e "$3" 2>bpf.err); then
		echo "skipped: $1 against bpftrace, which cannot do it here: $(grep -v RLIMIT bpf.err | head -1)"
		return
	fi
	is "$1: bpftrace counts the same" "$2" "$(sed -n 's/^@[a-z]: //p' <<<"$got" | words)"
}
if ! command -v bpftrace >/dev/null; then
	echo 'skipped: functions and usdt probes against bpftrace: no bpftrace here'
else
	read -r n s r t d e m <<<"$pairs"
	theirs functions "$n $r $s $t $d" "uprobe:$tmp/demo:work { @a = count(); @c = sum(arg0); }
		uretprobe:$tmp/demo:work { @b = count(); @d = sum(retval); } uprobe:$tmp/demo:deep { @e = count(); }"
	theirs 'functions that call themselves' "$e $m" \
		"uretprobe:$tmp/demo:deep { @a = count(); @b = max(retval); }"
	theirs 'usdt probes' "$steps" \
		"usdt:$tmp/demo:demo:step__done { @a = count(); @b = sum((int64)arg0); }"
fi

# ---- samples: perf --------------------------------------------------------------------------
# Both look at the same run, 600 ms of work: about 600 samples each. What the machine takes from
# the program or from the clocks it takes from both; half as many or twice as many would be wrong.
if ! command -v perf >/dev/null; then
	echo 'skipped: samples against perf: no perf here'
elif ! perf record -q -e cpu-clock -c 1003009 -o perf.data true >/dev/null 2>perf.err; then
	echo "skipped: samples against perf, which cannot sample here: $(head -1 perf.err)"
else
	timeout 120 perf record -q -e cpu-clock -c 1003009 -o perf.data erltrace -qc './demo burn' \
		-o samples -n 'profile-997 /pid == $target && execname == "demo"/ { @a = count(); }
		profile-997 /pid == $target && arg1/ { @f[ufunc(arg1)] = count(); }
		END { printa("all %@d\n", @a); printa("%A %@d\n", @f); }' >perf.out 2>&1
	ours=$(awk '$1 == "all" { print $2 }' samples)
	theirs=$(perf script -i perf.data -F comm 2>/dev/null | grep -c '^ *demo')
	inner=$(awk '$1 == "demo`burn_inner" { print $2 }' samples)
	echo "info: $ours samples, perf $theirs; in the function that works $inner"
	ok 'samples: perf has as many, more or less' test $((2 * ours > theirs && ours < 2 * theirs)) = 1
	ok 'samples: most are of the function that works' test $((2 * ${inner:-0} > ours)) = 1
fi
finish
