#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What the kernel tells of threads and processes: proc, sched, profile-N on CPUs, stacks, CPU time,
# self-> of threads that end, destructive actions; on a program that does a known number of things.
# BIN: where the command is. The last line is "N passed, N failed"; where the
# kernel does not let us, all is skipped, which is said.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT

# t PROGRAM COMMAND: what the script prints of it, in one line
t() { timeout 120 erltrace -wqn "$1" -c "$2" 2>&1 | words; }

if ! why=$(timeout 60 erltrace -qn 'proc:::exit { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	echo '0 passed, 0 failed'
	exit 0
fi

cat >demo.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;
static volatile sig_atomic_t got;

static void handler(int sig) { got = sig; }
__attribute__((noinline)) void burn_inner(void)
{
	for (int i = 0; i < 100000; i++)
		sum += (unsigned long)i;
	__asm__ volatile("");
}
__attribute__((noinline)) void burn_outer(void)
{
	burn_inner();
	__asm__ volatile("");
}
static void *thread(void *arg)
{
	getppid();
	return arg;
}
static void children(int n, int killed)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0 && killed)
			raise(SIGKILL);
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}
static void execs(int n, char *path)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl(path, "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}
int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	struct timespec nap = {0, 20000000}, now, end;
	char text[16] = "before";

	if (!strcmp(argv[1], "fork"))
		children(n, 0);
	if (!strcmp(argv[1], "killed"))
		children(n, 1);
	if (!strcmp(argv[1], "exec"))
		execs(n, argv[3]);
	if (!strcmp(argv[1], "threads"))
		for (pthread_t id; n-- > 0; pthread_join(id, NULL), usleep(1000))
			pthread_create(&id, NULL, thread, NULL);
	if (!strcmp(argv[1], "signals"))
		for (signal(SIGUSR1, handler); n-- > 0;)
			raise(SIGUSR1);
	if (!strcmp(argv[1], "faults")) {
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		for (int i = 0; i < 12; i++) {
			kill(getpid(), SIGUSR1);
			sigwaitinfo(&set, NULL);
		}
		for (int i = 0; i < 2 * n; i++) {
			if (fork() == 0) {
				if (i % 2)
					raise(SIGSEGV);
				*(volatile int *)8 = 1;
			}
			wait(NULL);
		}
	}
	if (!strcmp(argv[1], "sleep"))
		while (n-- > 0)
			nanosleep(&nap, NULL);
	if (!strcmp(argv[1], "burn")) { /* until it has had so many ms of a CPU */
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		do {
			burn_outer();
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
		} while ((end.tv_sec - now.tv_sec) * 1000 + (end.tv_nsec - now.tv_nsec) / 1000000 < n);
	}
	if (!strcmp(argv[1], "raised")) {
		signal(SIGUSR1, handler);
		getppid();
		printf("signal %d\n", got == SIGUSR1);
	}
	if (!strcmp(argv[1], "written")) {
		(void)!access(text, 0);
		printf("%s\n", text);
	}
	return 0;
}
END
${CC:-cc} -O0 -fno-omit-frame-pointer -o demo demo.c -lpthread || exit 1
me=$tmp/demo

# ---- proc: exact counts ----------------------------------------------------------------
is 'processes made, begun and ended' '50 50 50 50' "$(t '
	proc:::create /pid == $target/ { @c = count(); }
	proc:::start /ppid == $target/ { @s = count(); }
	proc:::exit /ppid == $target/ { @e = count(); @how[args[0]] = count(); }
	END { printa("%@d\n", @c); printa("%@d\n", @s); printa("%@d\n", @e); printa("%@d\n", @how); }' \
	"$me fork 50")"
is 'how a process ended: 2 is killed' '2 7' "$(t '
	proc:::exit /ppid == $target && args[0] == CLD_KILLED/ { @[args[0]] = count(); } END { printa("%d %@d\n", @); }' \
	"$me killed 7")"
is 'exec: tried, done' '20 20 0' "$(t '
	proc:::exec /ppid == $target && args[0] == "/bin/true"/ { n++; }
	proc:::exec-success /ppid == $target && execname == "true"/ { ok++; }
	proc:::exec-failure /ppid == $target/ { bad++; }
	END { printf("%d %d %d\n", n, ok, bad); }' "$me exec 20 /bin/true")"
is 'exec that fails says why: 2 is ENOENT' '20 0 2 20' "$(t '
	proc:::exec /ppid == $target/ { n++; }
	proc:::exec-success /ppid == $target/ { ok++; }
	proc:::exec-failure /ppid == $target/ { @[args[0]] = count(); }
	END { printf("%d %d\n", n, ok); printa("%d %@d\n", @); }' "$me exec 20 $tmp/none")"
is 'threads made, begun and ended; one process' '30 30 31 1' "$(t '
	proc:::lwp-create /pid == $target && args[1]->pr_pid == $target && args[0]->pr_lwpid != tid/ { c++; }
	proc:::lwp-start /pid == $target/ { s++; }
	proc:::lwp-exit /pid == $target/ { @l = count(); }
	proc:::exit /pid == $target/ { e++; }
	END { printf("%d %d\n", c, s); printa("%@d\n", @l); printf("%d\n", e); }' "$me threads 30")"
is 'signals taken by sigwait, faults (11 is SIGSEGV) and not what is sent as such' '10 12 11 5' "$(t '
	proc:::signal-clear /pid == $target/ { @c[args[0]] = count(); }
	proc:::fault /progenyof($target)/ { @f[args[0]] = count(); }
	END { printa("%d %@d\n", @c); printa("%d %@d\n", @f); }' "$me faults 5")"
is 'signals sent and handled' '25 25' "$(t '
	proc:::signal-send /pid == $target && args[1]->pr_pid == $target && args[2] == 10/ { s++; }
	proc:::signal-handle /pid == $target && args[0] == 10/ { h++; }
	END { printf("%d %d\n", s, h); }' "$me signals 25")"
is 'the parent, and those before it' 'demo 1 1 0' "$(t '
	proc:::exit /ppid == $target && !n++/
	{ printf("%s %d %d %d\n", execname, progenyof($target), progenyof(ppid), progenyof(-1)); }' \
	"$me fork 3")"

# ---- sched and CPU time ----------------------------------------------------------------
# The same thread leaves a CPU and comes back, and its own CPU time does not pass meanwhile.
is 'a thread sleeps: it leaves the CPU, is woken, comes back; no CPU time passes' \
	'10 1 1 1 1' "$(t '
	syscall::nanosleep:entry, syscall::clock_nanosleep:entry /pid == $target/ { self->in = 1; }
	sched:::off-cpu /self->in/ { self->off = vtimestamp; self->t = timestamp; }
	sched:::wakeup /args[1]->pr_pid == $target && args[1]->pr_fname == "demo"/ { woken++; }
	sched:::enqueue /args[1]->pr_pid == $target/ { queued++; }
	sched:::on-cpu /self->off && pid == $target && execname == "demo"/
	{ slept += timestamp - self->t; ran += vtimestamp - self->off; self->off = 0; on++; }
	syscall::nanosleep:return, syscall::clock_nanosleep:return /self->in/ { n++; self->in = 0; }
	END { printf("%d %d %d %d %d\n", n, on >= 10, woken > 0 && queued > 0,
		slept >= 10 * 20000000, 2 * ran < slept); }' "$me sleep 10")"
is 'CPU time goes on in a thread that works, and only upwards' '1 0' "$(t '
	proc:::exec-success /pid == $target/ { self->v = vtimestamp; }
	profile-499 /pid == $target && self->v/ { back += vtimestamp < self->v; self->v = vtimestamp; n++; }
	END { printf("%d %d\n", n > 0, back); }' "$me burn 200")"

# ---- profile-N and stacks --------------------------------------------------------------
out=$(timeout 120 erltrace -qn 'profile-997 /execname == "demo" && pid == $target && arg1/
	{ @[execname, ustack(3)] = count(); }' -c "$me burn 300" 2>&1)
is 'samples are of the function that works, called by the other one' 1 \
	"$(tr '\n' ' ' <<<"$out" | grep -c 'demo`burn_inner[^ ]* *demo`burn_outer')"
is 'registers of a sample: where the program was' '1 0 0' "$(t '
	profile-997 /pid == $target && arg1/ { n++; bad += uregs[R_PC] != arg1; }
	profile-997 /pid == $target/ { bad += uregs[R_SP] < 4096; }
	ERROR { faults++; }
	END { printf("%d %d %d\n", n > 0, bad, faults); }' "$me burn 300")"
is 'a sample is of the kernel or of the program' '0' "$(t '
	profile-997 /pid == $target && (arg0 != 0) == (arg1 != 0)/ { bad++; }
	END { printf("%d\n", bad); }' "$me burn 100")"
if grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* [tT] do_syscall_64$' /proc/kallsyms; then
	is 'stack() of a system call' 1 "$(t '
		syscall::getppid:entry /pid == $target/ { stack(); }' "$me threads 1" | grep -c 'vmlinux`do_syscall_64')"
fi
is 'profile-N that asks for nothing of the kernel is the command'"'"'s own' 'profile-97 1' "$(t '
	profile-97 { printf("%s %d\n", probename, cpu >= 0); exit(0); }' "$me sleep 50" | cut -d' ' -f1,2)"

# ---- self-> ----------------------------------------------------------------------------
# 8k are 128 variables at most. If those of threads that are gone stayed, no more threads than that
# had one; how many more have depends on how soon the command cleans up.
is 'self-> goes with its thread' '1 1' "$(timeout 120 erltrace -qn '
	#pragma D option dynvarsize=8k
	#pragma D option cleanrate=50hz
	syscall::getppid:entry /pid == $target/ { self->a = timestamp; n++; has += self->a != 0; }
	END { printf("%d %d\n", n == 600, has > 128); }' -c "$me threads 600" 2>/dev/null | words)"

# ---- destructive actions ---------------------------------------------------------------
is 'raise() reaches who fires' 'signal 1' "$(t '
	syscall::getppid:entry /pid == $target/ { raise(10); }' "$me raised")"
is 'stop() stops who fires' 'stopped signal 0' "$(t '
	syscall::getppid:entry /pid == $target/
	{ stop(); system("until grep -q \"^State:.*T\" /proc/%d/status; do sleep 0.02; done; echo stopped; kill -CONT %d", pid, pid); }' \
	"$me raised")"
is 'chill() keeps who fires waiting, 50 ms of a second at most' '1 illegal operation' "$(t '
	syscall::getppid:entry /pid == $target && !n++/ { self->t = timestamp; chill(10000000); }
	syscall::getppid:return /self->t/ { printf("%d\n", timestamp - self->t >= 10000000); self->t = 0; }
	proc:::exit /pid == $target/ { chill(600000000); }' "$me raised" |
	grep -oE '\b1\b|illegal operation' | sort -u | words)"
is 'system() by the command, for what fires in the kernel' 'hi 5' "$(t '
	syscall::getppid:entry /pid == $target/ { system("echo hi %d", 5); }' "$me raised" | sed 's/signal 0 *//')"
got=$(t 'syscall::access:entry /pid == $target && copyinstr(arg0) == "before"/
	{ copyoutstr("after", arg0, 16); }' "$me written")
if [[ $got == *'does not let BPF programs write'* ]]; then
	echo "skipped: copyoutstr(): $got"
else
	is 'copyoutstr() writes to its memory' 'after' "$got"
fi
is 'panic() is an error of its clause' 'illegal operation' "$(t '
	syscall::getppid:entry /pid == $target/ { panic(); }' "$me raised" | grep -o 'illegal operation')"
is 'without -w none of them is' 1 "$(timeout 60 erltrace -qn 'proc:::exit { stop(); }' 2>&1 | grep -c destructive)"

finish
