#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What D tells of who fires in the kernel: arguments of its program (pr_psargs), its directories
# (cwd, root), its open files (fds[]), its CPU, state and priority; and of the threads that probes of
# sched and proc are about. On a program whose files and places are known.
# BIN: where the command is. The last line is "N passed, N failed"; where the
# kernel does not let us, all is skipped, which is said.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT

# t PROGRAM COMMAND: what the script prints of it, in one line
t() { timeout 120 erltrace -qn "$1" -c "$2" 2>&1 | words; }

if ! why=$(timeout 60 erltrace -qn 'proc:::exit { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	echo '0 passed, 0 failed'
	exit 0
fi

# files WHAT PATH: opens PATH as WHAT says, puts it at number 77, and asks for its position there
cat >demo.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int opened(const char *what, const char *path)
{
	int pair[2] = {-1, -1};

	if (!strcmp(what, "read"))
		return open(path, O_RDONLY);
	if (!strcmp(what, "append")) {
		int fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);

		return write(fd, "12345", 5) == 5 ? fd : -1;
	}
	if (!strcmp(what, "pipe") && pipe(pair) == 0)
		return pair[0];
	if (!strcmp(what, "socket"))
		return socket(AF_INET, SOCK_STREAM, 0);
	if (!strcmp(what, "epoll"))
		return epoll_create1(0);
	return -1;
}

int main(int argc, char **argv)
{
	struct timespec nap = {0, 1000000};
	struct stat st;
	int fd = argc > 2 ? opened(argv[1], argv[2]) : -1;

	if (fd >= 0) {
		dup2(fd, 77);
		fstat(77, &st);
		printf("%lu\n", (unsigned long)st.st_ino);
		fflush(stdout);
		lseek(77, 0, SEEK_CUR);
	}
	if (argc > 2 && !strcmp(argv[1], "none"))
		lseek(78, 0, SEEK_CUR);
	if (argc > 2 && !strcmp(argv[1], "cd"))
		return chdir(argv[2]) || lseek(0, 0, SEEK_CUR) == 12345;
	if (argc > 3 && !strcmp(argv[1], "chroot"))
		return chroot(argv[2]) || chdir(argv[3]) || lseek(0, 0, SEEK_CUR) == 12345;
	if (argc > 1 && !strcmp(argv[1], "nice"))
		return setpriority(PRIO_PROCESS, 0, 5) || lseek(0, 0, SEEK_CUR) == 12345;
	if (argc > 1 && !strcmp(argv[1], "sleep"))
		for (int i = 0; i < 10; i++)
			nanosleep(&nap, NULL);
	return 0;
}
END
${CC:-cc} -O0 -o demo demo.c || exit 1
me=$tmp/demo

# ---- arguments -------------------------------------------------------------------------
at='syscall::lseek:entry /pid == $target && execname == "demo"/'
is 'arguments of a program, as ps shows them; its name' \
	"$me cd / b c d demo demo" \
	"$(t "$at"'{ printf("%s %s %s", curpsinfo->pr_psargs, curpsinfo->pr_fname, execname); }' "$me cd / b c d")"
is 'arguments right after exec' "$me cd /" \
	"$(t 'proc:::exec-success /pid == $target/ { printf("%s", curpsinfo->pr_psargs); }' "$me cd /")"
is 'arguments are cut at strsize' "$me cd /" \
	"$(timeout 120 erltrace -xstrsize=$((${#me} + 6)) -qn "$at"'{ printf("%s", curpsinfo->pr_psargs); }' \
		-c "$me cd / aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" 2>&1 | words)"
is 'the shortest strings there are' 'd / T / /' \
	"$(timeout 120 erltrace -xstrsize=1 -qn "$at"'
		{ printf("%s %s %s %s %s", curpsinfo->pr_fname, cwd, curlwpsinfo->pr_clname, root, root); }' \
		-c "$me cd /proc" 2>&1 | words)"
if [ "$(cat /proc/2/comm)" = kthreadd ]; then
	is 'a thread of the kernel has a name only' '1' "$(timeout 120 erltrace -qn '
		sched:::on-cpu /ppid == 2/ { @ = min(curpsinfo->pr_psargs == execname); exit(0); }
		END { printa("%@d", @); }' 2>&1 | words)"
else
	echo 'skipped: a pid namespace: threads of the kernel are not seen'
fi

# ---- directories -----------------------------------------------------------------------
mkdir -p deep/x/y "$(printf '%0200d/' 1 2 3)"
if awk '$5 == "/" { found = 1 } END { exit !found }' /proc/self/mountinfo; then
	is 'short strings' 'demo /proc TS / /' \
		"$(timeout 120 erltrace -xstrsize=8 -qn "$at"'
			{ printf("%s %s %s %s %s", curpsinfo->pr_fname, cwd, curlwpsinfo->pr_clname, root, root); }' \
			-c "$me cd /proc" 2>&1 | words)"
	is 'cwd, root' "$tmp/deep/x/y /" "$(t "$at"'{ printf("%s %s", cwd, root); }' "$me cd $tmp/deep/x/y")"
	is 'cwd: in what is mounted' "/proc/self/ /" \
		"$(t "$at"'{ printf("%s %s", strjoin(substr(cwd, 0, 6), "self/"), root); }' "$me cd /proc/self")"
	is 'cwd and root in a chroot: as the process sees it, and where that is' "/x/y $tmp/deep" \
		"$(t "$at"'{ printf("%s %s", cwd, root); }' "$me chroot $tmp/deep /x/y")"
else
	echo 'skipped: in a chroot root is not /'
fi
long=$tmp/$(printf '%0200d/' 1 2 3)
is 'a path that is longer than strsize is cut' "${long:0:256}" \
	"$(t "$at"'{ printf("%s", cwd); }' "$me cd $long")"
is 'a path that is long' "${long%/}" \
	"$(timeout 120 erltrace -xstrsize=2k -qn "$at"'{ printf("%s", cwd); }' -c "$me cd $long" 2>&1 | words)"

# ---- open files ------------------------------------------------------------------------
file='syscall::lseek:entry /pid == $target && arg0 == 77/'
all='{ printf("%s %s %s %d %o", fds[arg0].fi_pathname, fds[arg0].fi_name, fds[arg0].fi_dirname,
	fds[arg0].fi_offset, fds[arg0].fi_oflags & ~O_LARGEFILE); }'
echo text >deep/file
like 'a file: path, name, directory, position, flags' "^[0-9]+ $tmp/deep/file file $tmp/deep 0 0\$" \
	"$(t "$file$all" "$me read $tmp/deep/file")"
like 'a file that is written to' "^[0-9]+ $tmp/new new $tmp 5 2002\$" "$(t "$file$all" "$me append $tmp/new")"
like 'what is mounted, and where' '^[0-9]+ proc /proc /proc/[0-9]+/stat' \
	"$(t "$file"'{ printf("%s %s %s", fds[arg0].fi_fs, fds[arg0].fi_mount, fds[arg0].fi_pathname); }' "$me read /proc/self/stat")"
read -r ino name <<<"$(t "$file"'{ printf("%s", fds[arg0].fi_pathname); }' "$me pipe x")"
is 'a pipe' "pipe:[$ino]" "$name"
read -r ino name <<<"$(t "$file"'{ printf("%s", fds[arg0].fi_pathname); }' "$me socket x")"
is 'a socket' "socket:[$ino]" "$name"
like 'what has no name of its own' 'anon_inode:\[eventpoll\]$' "$(t "$file"'{ printf("%s", fds[arg0].fi_pathname); }' "$me epoll x")"
is 'a file that is not open' '<none> <none> <none> <none> 0' "$(t 'syscall::lseek:entry /pid == $target && arg0 == 78/
	{ printf("%s %s %s %s %d", fds[arg0].fi_pathname, fds[arg0].fi_name, fds[arg0].fi_fs, fds[-1].fi_mount, fds[arg0].fi_oflags); }' "$me none x")"

# ---- threads and CPUs ------------------------------------------------------------------
is 'number, state, priority and CPU of the thread' '1 1 6 O 125 1 1' "$(t "$at"'
	{ printf("%d %d %d %c %d %d %d", curlwpsinfo->pr_lwpid == tid, curlwpsinfo->pr_addr == (uintptr_t)curthread,
		curlwpsinfo->pr_state, curlwpsinfo->pr_sname, curlwpsinfo->pr_pri, curcpu->cpu_id == cpu,
		curlwpsinfo->pr_onpro == cpu); }' "$me nice")"
is 'process, group, session, user' "1 1 1 $(cut -d" " -f6 /proc/$$/stat) $(id -u) $(id -g) 1 TS" "$(t "$at"'
	{ printf("%d %d %d %d %d %d %d %s", curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid,
		curpsinfo->pr_pgid > 0, curpsinfo->pr_sid, curpsinfo->pr_euid, curpsinfo->pr_egid, curpsinfo->pr_nlwp,
		curlwpsinfo->pr_clname); }' "$me cd /")"
is 'enqueue: arg0 is the thread, as curthread has it when it comes to its CPU' '1 1 1 2 6' "$(t '
	sched:::enqueue /args[1]->pr_pid == $target && args[1]->pr_fname == "demo"/
	{ at[arg0] = args[0]->pr_lwpid; same += arg0 == args[0]->pr_addr; n++; state = args[0]->pr_state;
		cpus += args[2]->cpu_id == args[0]->pr_onpro; }
	sched:::on-cpu /pid == $target && at[(int64_t)curthread] == tid/ { found = 1; on = curlwpsinfo->pr_state; }
	END { printf("%d %d %d %d %d", found, same == n, cpus == n, state, on); }' "$me sleep")"
is 'sleep and off-cpu: it waits' '1 S' "$(t '
	sched:::off-cpu /pid == $target && curlwpsinfo->pr_state == SSLEEP && !n++/
	{ printf("%d %c", curlwpsinfo->pr_state, curlwpsinfo->pr_sname); }' "$me sleep")"
is 'create: the new process is its parent'\''s child' '1 1' "$(t '
	proc:::create /pid == $target && !n++/
	{ printf("%d %d", args[0]->pr_ppid == pid, args[0]->pr_pid != pid); }' 'sh -c "true & wait; :"')"

finish
