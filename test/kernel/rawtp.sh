#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Tracepoints by their names (rawtp, sdt), and the kernel's types in D: exact counts, members of
# structures that are known otherwise, symbols, errors. The last line is "N passed, N failed"; where
# the kernel does not let us, all is skipped, which is said.

# shellcheck disable=SC2016 # $target and `symbol are D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT

# t PROGRAM COMMAND: what the script prints of it, in one line
t() { timeout 120 erltrace -qn "$1" -c "$2" 2>&1 | words; }
# e SCRIPT: its error
e() { timeout 60 erltrace -xerrtags -qn "$1" 2>&1; }

if ! why=$(timeout 60 erltrace -qn 'rawtp:::sched_switch { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no tracepoints here: $why"
	echo '0 passed, 0 failed'
	exit 0
fi

cat >demo.c <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	struct timespec nap = {0, 2000000};

	if (!strcmp(argv[1], "calls"))
		while (n-- > 0)
			syscall(SYS_getppid);
	if (!strcmp(argv[1], "fail"))
		while (n-- > 0)
			open("/dev/null/below", O_RDONLY);
	if (!strcmp(argv[1], "fork"))
		while (n-- > 0) {
			pid_t pid = fork();

			if (pid == 0)
				_exit(0);
			waitpid(pid, NULL, 0);
		}
	if (!strcmp(argv[1], "sleep"))
		while (n-- > 0)
			nanosleep(&nap, NULL);
	if (!strcmp(argv[1], "reaper")) {
		syscall(SYS_getppid);
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		syscall(SYS_getppid);
	}
	if (!strcmp(argv[1], "file")) {
		dup2(open(argv[2], O_RDONLY), 9);
		lseek(9, 5, SEEK_SET);
		syscall(SYS_getppid);
	}
	return 0;
}
END
${CC:-cc} -O1 -o demo demo.c || exit 1
me=$tmp/demo
echo 'twelve bytes' >a_file_of_the_test

# ---- exact counts ----------------------------------------------------------------------------
is 'sys_enter, of one call: as many as syscall has' '20000 20000' "$(t '
	rawtp:::sys_enter /pid == $target && args[1] == 110/ { r++; }
	syscall::getppid:entry /pid == $target/ { s++; }
	END { printf("%d %d\n", r, s); }' "$me calls 20000")"
is 'a tracepoint by both its names' '3000 3000' "$(t '
	rawtp:::sys_exit /pid == $target && args[1] == ppid/ { r++; }
	sdt:::sys_exit /pid == $target && arg1 == ppid/ { s++; }
	END { printf("%d %d\n", r, s); }' "$me calls 3000")"
is 'numbers that are negative: what a call that fails returns' '500' "$(t '
	rawtp:::sys_exit /pid == $target && args[1] == -ENOTDIR && args[0]->orig_ax == 257/ { n++; }
	END { printf("%d\n", n); }' "$me fail 500")"
is 'threads made: who, and by whom' '200 200 200' "$(t '
	rawtp:::task_newtask /pid == $target/ { n++; mine += args[0]->real_parent->tgid == $target; }
	rawtp:::sched_process_fork /args[0]->tgid == $target/ { f += args[1]->comm == execname; }
	END { printf("%d %d %d\n", n, mine, f); }' "$me fork 200")"
is 'who leaves a CPU is who is current' '0 1' "$(t '
	rawtp:::sched_switch /pid == $target/ {
		bad += args[1]->pid != tid || stringof(args[1]->comm) != execname || args[1] != curthread; n++; }
	END { printf("%d %d\n", bad, n >= 50); }' "$me sleep 50")"

# ---- types -----------------------------------------------------------------------------------
is 'a bit-field, before and after it is set' '0 1' "$(t '
	syscall::getppid:entry /pid == $target/ { printf("%d\n", curthread->signal->is_child_subreaper); }' "$me reaper")"
is 'pointers, arrays of them, structures in structures, text' 'a_file_of_the_test 5 13' "$(t '
	rawtp:::sys_enter /pid == $target && args[1] == 110/ {
		this->f = curthread->files->fdt->fd[9];
		printf("%s %d %d\n", stringof(this->f->f_path.dentry->d_name.name), this->f->f_pos,
			this->f->f_path.dentry->d_inode->i_size); }' "$me file a_file_of_the_test")"
is 'the same by a variable with a type of the kernel' 'a_file_of_the_test' "$(t '
	struct file *f; this struct dentry *d;
	rawtp:::sys_enter /pid == $target && args[1] == 110/ {
		f = curthread->files->fdt->fd[9]; this->d = f->f_path.dentry;
		printf("%s\n", stringof(this->d->d_name.name)); }' "$me file a_file_of_the_test")"
is 'members of what has no name' '1' "$(t '
	rawtp:::sys_enter /pid == $target && args[1] == 110 && !n++/ {
		printf("%d\n", curthread->files->fdt->fd[9]->f_path.dentry->d_name.len == 18); }' \
	"$me file a_file_of_the_test")"
is 'text in an array, as it is' 'demo demo' "$(t '
	rawtp:::sys_enter /pid == $target && args[1] == 110/ { printf("%s %s\n", args[0] != NULL ? curthread->comm : "",
		curthread->group_leader->comm); }' "$me calls 1")"
is 'sizeof and offsetof agree with an address' '1' "$(t '
	BEGIN { this->t = (struct task_struct *)0;
		printf("%d\n", (uintptr_t)&this->t->comm == offsetof(struct task_struct, comm) &&
		sizeof(this->t->comm) == 16 && sizeof(struct list_head) == 16 && sizeof(u32) == 4); exit(0); }' true)"
is 'names of types and enumerators of the kernel' '4294967295 10' "$(t '
	u32 x; BEGIN { x = -1; printf("%u %d\n", x, TCP_LISTEN); exit(0); }' true)"
like 'print() of a structure' 'struct list_head \{ struct list_head \*next = 0x[0-9a-f]+ struct list_head \*prev = 0x[0-9a-f]+ \}' "$(t '
	rawtp:::sys_enter /pid == $target && args[1] == 110/ { print(curthread->children); }' "$me calls 1")"
is 'a definition of the script counts' '7' "$(t '
	struct task_struct { int first; }; struct task_struct mine;
	BEGIN { mine.first = 7; printf("%d\n", mine.first); exit(0); }' true)"

# ---- symbols ---------------------------------------------------------------------------------
if grep -q '^0*[1-9a-f][0-9a-f]* . vfs_read$' /proc/kallsyms; then
	is 'a symbol: its address' "vmlinux\`vfs_read" "$(t 'BEGIN { sym((uintptr_t)&`vfs_read); exit(0); }' true)"
	is 'a symbol of a module by name' "vmlinux\`vfs_read" "$(t 'BEGIN { sym((uintptr_t)&vmlinux`vfs_read); exit(0); }' true)"
fi
if grep -q ' [bBdD] init_task$' /proc/kallsyms; then
	is 'a variable with a type' 'swapper' "$(t '
		rawtp:::sys_enter /pid == $target/ { printf("%s\n", strtok(`init_task.comm, "/")); exit(0); }' "$me calls 1")"
	is 'a variable and its address' '1' "$(t '
		rawtp:::sys_enter /pid == $target/ { printf("%d\n", (&`init_task)->pid == 0 && `jiffies > 0); exit(0); }' "$me calls 1")"
fi
like 'no such symbol' '\[D_SYM_NOTYPES\].*no such symbol' "$(e 'BEGIN { trace(`nosuchsymbol); }')"
like 'a function is no value' '\[D_PROTO_ARG\]|cannot take|has no value' "$(e 'BEGIN { trace(`vfs_read); }')"

# ---- lists and errors ------------------------------------------------------------------------
like 'the types of arguments' '^struct pt_regs \* long( int)?$' \
	"$(erltrace -lvn rawtp:::sys_enter | sed -n 's/.*args\[[01]\]: //p' | words)"
ok 'the list has hundreds' test "$(erltrace -l -P rawtp | wc -l)" -gt 300
is 'both lists are as long' "$(erltrace -l -P rawtp | wc -l)" "$(erltrace -l -P sdt | wc -l)"
ok 'a list of everything has them' grep -q ' rawtp .* sched_switch$' <(erltrace -l | cat)
is 'who names no provider means none of them' '' "$(erltrace -qZn 'sched_switch { trace(1); } BEGIN { exit(0); }' 2>&1 | grep -v '^$')"
is 'sdt by its group, or what stands for it' 1 "$(erltrace -ln 'sdt:sched::sched_switch' | grep -c sched_switch)"
like 'a name that is misspelt' "did you mean 'sched_switch'" "$(e 'rawtp:::sched_swich { }')"
like 'a member that is misspelt' "\[D_TYPE_MEMBER\].*did you mean 'comm'" "$(e 'rawtp:::sched_switch { trace(args[1]->com); }')"
like 'an argument too many' '\[D_ARGS_IDX\].*has 2 arguments' "$(e 'rawtp:::sys_enter { trace(args[2]); }')"
like 'a structure that is not there' '\[D_OP_INCOMPLETE\].*the kernel has none of this name' \
	"$(e 'BEGIN { trace(((struct nosuch *)0)->x); }')"
like 'a type that is not there' 'no type is called "nosuch_t": the kernel has none of this name' "$(e 'BEGIN { trace((nosuch_t *)0); }')"
like 'all of them are too many' 'more than [0-9]+ tracepoints' "$(e 'rawtp::: { } BEGIN { exit(0); }')"
is 'an argument that the tracepoint does not have is 0' '0' \
	"$(t 'rawtp:::sys_enter /pid == $target && arg1 == 110/ { printf("%d\n", arg7); }' "$me calls 1")"

# ---- many ------------------------------------------------------------------------------------
is 'many tracepoints in a script, each by its name' '100 100' "$(t '
	rawtp:::s* /pid == $target && probename == "sys_enter" && arg1 == 110/ { a++; }
	rawtp:::s* /pid == $target && probename == "sys_exit" && arg1 == ppid/ { b++; }
	END { printf("%d %d\n", a, b); }' "$me calls 100")"

# A clause that faults at page faults: it does not see the faults of its own.
like 'what the kernel leaves out is told' '[1-9][0-9]* firings left out by the kernel' "$(timeout 60 erltrace -qn '
	rawtp:::sys_enter /pid == $target && args[1] == 110/ { trace(*(int *)8); }
	rawtp:::page_fault_kernel /pid == $target/ { trace(*(int *)8); }' -c "$me calls 20" 2>&1 | words)"
finish
