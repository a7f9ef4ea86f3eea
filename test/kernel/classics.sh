#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Classics: what people who know DTrace type first, as they type it, on a program that does a known
# number of things. System calls, processes, scheduling, samples, functions of a program.
# BIN: where the command is. The last line is "N passed, N failed"; where the
# kernel does not let us, all is skipped, which is said.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT

# t PROGRAM [COMMAND]: what the script prints of it, in one line
t() { timeout 120 erltrace -qn "$1" -c "${2:-$me}" 2>&1 | words; }

if ! why=$(timeout 60 erltrace -qn 'proc:::exit { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	echo '0 passed, 0 failed'
	exit 0
fi

cat >work.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;
static char input[] = "input.txt"; /* in memory that is there: it is written to */
__attribute__((noinline)) long leaf(long n) { for (long i = 0; i < n; i++) sum += (unsigned long)i; return n; }
__attribute__((noinline)) long twice(long n) { long a = leaf(n), b = leaf(n); return a + b; }
static void *thread(void *arg) { return arg; }
static void handler(int sig) { (void)sig; }

int main(void)
{
	struct timespec nap = {0, 2000000};
	char buf[4096];
	pthread_t th;
	struct stat st;
	int in, out;

	input[0] = 'i';
	for (int i = 0; i < 7; i++) {
		in = open(input, O_RDONLY);
		(void)!read(in, buf, 100);
		(void)!read(in, buf, 1000);
		close(in);
	}
	out = open("output.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 5; i++)
		(void)!write(out, buf, 512);
	close(out);
	for (int i = 0; i < 4; i++)
		chdir("/no/such/place");
	for (int i = 0; i < 6; i++)
		nanosleep(&nap, NULL);
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			execl("/bin/true", "true", "some", "words", (char *)0);
			_exit(1);
		}
		wait(NULL);
	}
	signal(SIGUSR1, handler);
	for (int i = 0; i < 8; i++)
		kill(getpid(), SIGUSR1);
	for (int i = 0; i < 2; i++) {
		pthread_create(&th, NULL, thread, NULL);
		pthread_join(th, NULL);
	}
	for (int i = 0; i < 11; i++)
		twice(100);
	leaf(150000000);
	(void)stat("/", &st);
	return 0;
}
END
${CC:-cc} -O1 -fno-inline -fno-omit-frame-pointer -o work work.c -lpthread || exit 1
me=$tmp/work
head -c 2000 /dev/zero >input.txt

# ---- system calls ----------------------------------------------------------------------
is 'files opened, by name' 'input.txt 7' "$(t '
	syscall::open*:entry /pid == $target/ { @[copyinstr(arg1)] = count(); }
	END { printa("%s %@d\n", @); }' | grep -o 'input.txt 7')"
is 'files opened, and what came of it' '7' "$(t '
	syscall::openat:entry /pid == $target/ { self->path = arg1; }
	syscall::openat:return /self->path && copyinstr(self->path) == "input.txt" && arg0 > 0/ { n++; }
	syscall::openat:return { self->path = 0; }
	END { printf("%d\n", n); }')"
is 'reads of each file' "$tmp/input.txt 14 7700" "$(t '
	syscall::read:entry /pid == $target && execname == "work"/ { self->file = fds[arg0].fi_pathname; }
	syscall::read:return /self->file != 0 && basename(self->file) == "input.txt"/
	{ @n[self->file] = count(); @b[self->file] = sum(arg0); }
	syscall::read:return { self->file = 0; }
	END { printa("%s %@d %@d\n", @n, @b); }')"
is 'sizes of reads' '100 7 1000 7' "$(t '
	syscall::read:return /pid == $target && (arg0 == 100 || arg0 == 1000)/ { @[arg0] = count(); }
	END { printa("%d %@d\n", @); }')"
like 'a distribution of write sizes' ' 512 [|@]+ 5 ' "$(t '
	syscall::write:entry /pid == $target && arg0 > 2/ { @ = quantize(arg2); }')"
is 'errors, by call and number' 'chdir 2 4' "$(t '
	syscall:::return /pid == $target && errno && probefunc == "chdir"/ { @[probefunc, errno] = count(); }
	END { printa("%s %d %@d\n", @); }')"
is 'calls by name, the most frequent one only' '1' "$(t '
	syscall:::entry /pid == $target/ { @[probefunc] = count(); }
	END { trunc(@, 1); printa("1", @); }')"
is 'time in each call' '6 1' "$(t '
	syscall::*nanosleep:entry /pid == $target/ { self->t = timestamp; self->v = vtimestamp; }
	syscall::*nanosleep:return /self->t/
	{ n++; slow += timestamp - self->t >= 2000000; ran += vtimestamp - self->v; self->t = self->v = 0; }
	END { printf("%d %d\n", n, slow == 6); }')"
is 'options as scripts have them' 'PID CMD work 5 writes' "$(t '
	inline int OPT_header = 1; inline int OPT_time = 0; inline int OPT_count = 1;
	BEGIN { OPT_time ? printf("TIME ") : 1; OPT_header ? printf("PID CMD\n") : 1; }
	syscall::write:entry /pid == $target && arg0 > 2/ { OPT_count ? @[execname] = count() : 1; }
	END { OPT_count ? printa("%s %@d writes\n", @) : printf("none\n"); }')"

# ---- processes -------------------------------------------------------------------------
is 'new programs, with their arguments' 'true some words 3' "$(t '
	proc:::exec-success /progenyof($target) && pid != $target/ { @[curpsinfo->pr_psargs] = count(); }
	END { printa("%s %@d\n", @); }')"
is 'new processes, and their parents' '3 3' "$(t '
	proc:::create /pid == $target/ { n++; own += args[0]->pr_ppid == pid; }
	END { printf("%d %d\n", n, own); }')"
is 'how long processes live' '3 1' "$(t '
	proc:::start /ppid == $target/ { self->start = timestamp; }
	proc:::exit /self->start/ { n++; took += timestamp - self->start > 0; self->start = 0; }
	END { printf("%d %d\n", n, took == 3); }')"
is 'signals: who sent which to whom' 'work work 10 8' "$(t '
	proc:::signal-send /pid == $target && args[2] == SIGUSR1/ { @[execname, stringof(args[1]->pr_fname), args[2]] = count(); }
	END { printa("%s %s %d %@d\n", @); }')"
is 'threads: made and ended' '2 3' "$(t '
	proc:::lwp-create /pid == $target/ { made++; }
	proc:::lwp-exit /pid == $target/ { @ended = count(); }
	END { printf("%d ", made); printa("%@d\n", @ended); }')"

# ---- scheduling ------------------------------------------------------------------------
like 'time on a CPU, by program' '^work [1-9][0-9]*$' "$(t '
	sched:::on-cpu /pid == $target/ { self->ts = timestamp; }
	sched:::off-cpu /self->ts && execname == "work"/ { @[execname] = sum(timestamp - self->ts); self->ts = 0; }
	END { printa("%s %@d\n", @); }')"
is 'time in the queue: from may run to runs' '1 1' "$(t '
	sched:::enqueue /args[1]->pr_pid == $target/ { ts[args[0]->pr_lwpid, args[1]->pr_pid] = timestamp; n++; }
	sched:::on-cpu /ts[tid, pid]/ { waited += timestamp - ts[tid, pid]; ts[tid, pid] = 0; }
	END { printf("%d %d\n", n >= 6, waited > 0); }')"
is 'sleeps: state and CPU' '1 1' "$(t '
	sched:::sleep /pid == $target && curlwpsinfo->pr_state != SZOMB/ { n++; right += curlwpsinfo->pr_state == SSLEEP && curcpu->cpu_id == cpu; }
	END { printf("%d %d\n", n >= 6, right == n); }')"

# ---- samples ---------------------------------------------------------------------------
is 'what is on the CPUs' 'work' "$(t '
	profile-997 /pid == $target/ { @[execname, pid] = count(); }
	END { trunc(@, 1); printa("%s\n", @); }')"
is 'priorities' 'TS 1' "$(t '
	profile-997 /pid == $target/ { @[curlwpsinfo->pr_clname, curlwpsinfo->pr_pri >= 100] = count(); }
	END { printa("%s %d\n", @); }')"
like 'where its time goes, by function' 'leaf' "$(t '
	profile-997 /pid == $target && arg1/ { @[ufunc(arg1)] = count(); } END { trunc(@, 1); printa("%A\n", @); }')"

# ---- functions of the program ----------------------------------------------------------
is 'calls of functions' 'leaf 23 twice 11' "$(t '
	pid$target:work:leaf:entry, pid$target:work:twice:entry { @[probefunc] = count(); }
	END { printa("%s %@d\n", @); }' | sed 's/\(twice 11\) \(leaf 23\)/\2 \1/')"
is 'what they are given and give back' '11 11' "$(t '
	pid$target:work:twice:entry { given += arg0 == 100; }
	pid$target:work:twice:return { back += arg1 == 200; }
	END { printf("%d %d\n", given, back); }')"
is 'how long they take, with those that they call' '11 1' "$(t '
	pid$target:work:twice:entry { self->t = timestamp; }
	pid$target:work:leaf:entry /self->t/ { self->in = timestamp; }
	pid$target:work:leaf:return /self->in/ { inner += timestamp - self->in; self->in = 0; }
	pid$target:work:twice:return /self->t/ { n++; outer += timestamp - self->t; self->t = 0; }
	END { printf("%d %d\n", n, outer >= inner); }')"

finish
