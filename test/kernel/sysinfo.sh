#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The providers sysinfo, vminfo, cpc and lockstat: what they count of a program, against what the program
# knows, and what the kernel says of it (getrusage, /proc/vmstat, tracepoints). BIN: where the command
# is. The last line is "N passed, N failed"; where the kernel does not let us, all is skipped, which is
# said.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT

if ! why=$(timeout 60 erltrace -qn 'sysinfo:::sysread { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	echo '0 passed, 0 failed'
	exit 0
fi

cat >count.c <<'END'
/* count WHAT N: the numbers are printed; getppid() is called before and after. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char page[4096];

static void io(int n)
{
	int fd = open("counted", O_RDWR | O_CREAT | O_TRUNC, 0600);

	getppid();
	for (int i = 0; i < n; i++)
		if (pwrite(fd, page, 1000, 0) != 1000 || pread(fd, page, 500, 0) != 500)
			exit(1);
	getppid();
}
static void *nothing(void *arg)
{
	return arg;
}
static void forks(int n)
{
	pthread_t t;

	getppid();
	for (int i = 0; i < n; i++) {
		if (fork() == 0)
			_exit(0);
		if (vfork() == 0) {
			execl("/nonexistent", "x", NULL);
			_exit(0);
		}
		wait(NULL);
		wait(NULL);
		pthread_create(&t, NULL, nothing, NULL);
		pthread_join(t, NULL);
	}
	getppid();
}
static char *map(int fd, int n)
{
	char *p = mmap(NULL, 4096UL * (unsigned)n, PROT_READ | PROT_WRITE,
		fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	madvise(p, 4096UL * (unsigned)n, fd < 0 ? MADV_NOHUGEPAGE : MADV_RANDOM);
	return p;
}
/* n pages of memory, then the same after a fork, where each of them is copied when it is written */
static void faults(int n)
{
	char *p = map(-1, n);
	pid_t pid;

	getppid();
	for (int i = 0; i < n; i++)
		p[4096L * i] = 1;
	getppid();
	pid = fork();
	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return;
	}
	getppid();
	for (int i = 0; i < n; i++)
		p[4096L * i] = 2;
	getppid();
	_exit(0);
}
/* n pages of a file that are not in memory */
static void major(int n)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct rusage before, after;
	char *p;

	for (int i = 0; i < n; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			exit(1);
	fsync(fd);
	p = map(fd, n);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	getrusage(RUSAGE_SELF, &before);
	getppid();
	for (int i = 0; i < n; i++)
		page[0] = (char)(page[0] + p[4096L * i]);
	getppid();
	getrusage(RUSAGE_SELF, &after);
	printf("major %ld\n", after.ru_majflt - before.ru_majflt);
}
static void *locks(void *n)
{
	for (int i = *(int *)n; i > 0; i--) {
		volatile char *p = map(-1, 16);

		*p = 1;
		munmap((void *)(unsigned long)p, 16 * 4096);
	}
	return NULL;
}
static void switches(int n)
{
	struct rusage before, after;
	struct timespec nap = {0, 1000};

	getrusage(RUSAGE_SELF, &before);
	getppid();
	while (n-- > 0)
		nanosleep(&nap, NULL);
	getppid();
	getrusage(RUSAGE_SELF, &after);
	printf("switches %ld\n", after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw);
}
int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t t[4];

	if (!strcmp(argv[1], "io"))
		io(n);
	if (!strcmp(argv[1], "forks"))
		forks(n);
	if (!strcmp(argv[1], "faults"))
		faults(n);
	if (!strcmp(argv[1], "major"))
		major(n);
	if (!strcmp(argv[1], "switches"))
		switches(n);
	if (!strcmp(argv[1], "locks")) {
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, locks, &n);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	}
	return 0;
}
END
${CC:-cc} -O1 -w -o count count.c -lpthread || exit 1

# t SCRIPT ARGUMENTS: what the script prints, in one line, and sorted. Its clauses see the program
# between two calls of getppid(), of which "n" is the number so far.
t() {
	timeout 120 erltrace -qn "int n; syscall::getppid:entry /execname == \"count\"/ { n++; } $1
		END { printa(\"%s %@d\\n\", @); }" -c "./count $2" 2>&1 | sort | words
}

is 'sysinfo: reads and writes, and their bytes' \
	'readch 5000000 sysread 10000 syswrite 10000 writech 10000000' \
	"$(t 'sysinfo:::*read*, sysinfo:::*writ* /pid == $target && n == 1 && probename != "nthreads"/ { @[probename] = sum(arg0); }' 'io 10000')"
is 'sysinfo: system calls' 'syscall 20001' \
	"$(t 'sysinfo:::syscall /pid == $target && n == 1/ { @[probename] = sum(arg0); }' 'io 10000')"
is 'sysinfo: processes, threads, programs' 'nthreads 100 sysexec 100 sysfork 100 sysvfork 100' \
	"$(t 'sysinfo:::sys*fork, sysinfo:::sysexec, sysinfo:::nthreads /n == 1 && execname == "count"/ { @[probename] = sum(arg0); }' 'forks 100')"
t 'sysinfo:::pswitch, cpc:::context_switches-all-1 /pid == $target && n == 1/ { @[probename] = count(); }' 'switches 500' >o
like 'sysinfo, cpc: context switches, as getrusage() counts them' \
	'^context_switches-all-1 ([0-9]+) pswitch ([0-9]+) switches ([0-9]+)$' "$(cat o)"
read -r cpc sys own < <(sed -E 's/[a-z_-]+(-all-1)? //g' o)
ok "the first two are the same, the third one but for the edges ($cpc $sys $own)" \
	test "$cpc" = "$sys" -a $((own - sys)) -ge -2 -a $((own - sys)) -le 2

is 'vminfo: pages that a program gets' 'as_fault 50000' \
	"$(t 'vminfo:::*_fault /pid == $target && n == 1/ { @[probename] = sum(arg0); }' 'faults 50000')"
like 'vminfo: pages that are copied when they are written; a few are of the stack' '^cow_fault 5000[0-9]$' \
	"$(t 'vminfo:::cow_fault, vminfo:::prot_fault /n == 3 && execname == "count"/ { @[probename] = sum(arg0); }' 'faults 50000')"
if [ "$(stat -f -c %T .)" = tmpfs ]; then
	echo 'skipped: faults that a disk ends: the folder for files is in memory'
else
	t 'vminfo:::maj_fault, cpc:::major_faults-user-1 /pid == $target && n == 1/ { @[probename] = count(); }' 'major 1000' >o
	like 'vminfo, cpc: faults that a disk ends, as getrusage() counts them' \
		'^maj_fault ([1-9][0-9]*) major ([0-9]+) major_faults-user-1 ([0-9]+)$' "$(cat o)"
	ok 'the three are the same, too' test "$(grep -oE ' [0-9]+' o | sort -u | wc -l)" = 1
	pages=$(t 'vminfo:::fspgout /execname == "count"/ { @[probename] = sum(arg0); }' 'major 1000' | grep -o 'fspgout [0-9]*')
	ok "vminfo: the pages that are written to the disk ($pages)" test "${pages#* }" -ge 1000
fi

is 'cpc: faults of a program, by the place' 'main 50000' \
	"$(t 'cpc:::page_faults-user-1 /pid == $target && n == 1/ { @["main"] = count(); }' 'faults 50000')"
like 'cpc: a counter of the processor that a machine may not have' \
	'^(|erltrace: could not enable tracing: cpc: this machine does not have that counter.*)$' \
	"$(timeout 60 erltrace -qn 'cpc:::cpu_cycles-all-1000000 { } BEGIN { exit(0); }' 2>&1)"
for name in foo-all-1 page_faults page_faults-x-1 page_faults-all-x cpu_cycles-all-1; do
	erltrace -qn "cpc:::$name { }" 2>&1
done >o
is 'cpc: errors say what a name is made of' 5 \
	"$(grep -cE 'lists the counters|name is EVENT-MODE-COUNT|least count of the' o)"

timeout 60 erltrace -qn 'lockstat::: { }' -c true >o 2>&1
if [ "$(nproc)" = 1 ]; then
	echo 'skipped: lockstat: on one CPU nobody waits'
elif grep -q 'no tracepoint contention' o; then
	echo 'skipped: lockstat: this kernel does not tell of waits for locks'
else
	t 'lockstat:::rw-block /pid == $target && arg1 > 0 && arg2 == 0/ { @["blocked"] = count(); }' 'locks 20000' >o
	like 'lockstat: threads that wait for the map of their memory' 'blocked [1-9]' "$(cat o)"
fi
like 'lockstat: what Linux does not tell is an error that says so' 'where a thread waits for it' \
	"$(erltrace -qn 'lockstat:::adaptive-acquire { }' 2>&1)"

finish
