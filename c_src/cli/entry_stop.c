/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of -c whose own functions are traced: which functions there are is known only after
 * exec, when its libraries are mapped. So it runs up to the program's entry point, where the
 * dynamic loader is done, and stays stopped there (by ptrace) until tracing has begun.
 *
 */
#include "child.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/message.h"

#ifdef __x86_64__

#define BREAKPOINT 0xcc

/* Its entry point, from the auxiliary vector; 0: not known. */
static uint64_t entry_of(pid_t pid)
{
	uint64_t pair[2], entry = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, pair, sizeof(pair)) == sizeof(pair) && pair[0] != AT_NULL)
		if (pair[0] == AT_ENTRY)
			entry = pair[1];
	if (fd >= 0)
		close(fd);
	return entry;
}

/* Waits for a stop by SIGTRAP; other signals are passed on. false: it has ended. */
static bool wait_stop(pid_t pid)
{
	int status;

	for (;;) {
		if (waitpid(pid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		if (!WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGTRAP)
			return true;
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status));
	}
}

static bool run_to(pid_t pid, uint64_t addr)
{
	struct user_regs_struct regs;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, addr, 0);
	if (errno != 0 || ptrace(PTRACE_POKETEXT, pid, addr, (word & ~0xffL) | BREAKPOINT) < 0 ||
		ptrace(PTRACE_CONT, pid, 0, 0) < 0 || !wait_stop(pid))
		return false;
	if (ptrace(PTRACE_POKETEXT, pid, addr, word) < 0 ||
		ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0)
		return false;
	regs.rip = addr;
	return ptrace(PTRACE_SETREGS, pid, 0, &regs) == 0;
}

static int ended(struct cli_process *p)
{
	int error;

	p->live = false;
	if (read(p->failed, &error, sizeof(error)) == sizeof(error))
		cli_say("failed to execute %s: %s", p->command, strerror(error));
	else
		cli_say("%s has ended before its functions could be traced", p->command);
	return CLI_ERROR;
}

static int hold(struct cli_process *p)
{
	uint64_t entry;

	if (ptrace(PTRACE_SEIZE, p->pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0) {
		cli_say("failed to grab process %d: %s", (int)p->pid, strerror(errno));
		return CLI_ERROR;
	}
	if (write(p->go, "", 1) != 1 || !wait_stop(p->pid))
		return ended(p);
	close(p->go);
	p->go = -1;
	p->stopped = true;
	entry = entry_of(p->pid);
	return entry != 0 && run_to(p->pid, entry) ? CLI_OK : ended(p);
}

int cli_procs_stop_at_entry(struct cli_procs *all)
{
	int status = CLI_OK;

	for (int i = 0; i < all->n && status == CLI_OK; i++)
		if (all->v[i].command != NULL && all->v[i].go >= 0)
			status = hold(&all->v[i]);
	return status;
}

void cli_procs_continue(struct cli_procs *all)
{
	for (int i = 0; i < all->n; i++)
		if (all->v[i].stopped) {
			ptrace(PTRACE_DETACH, all->v[i].pid, 0, 0);
			all->v[i].stopped = false;
		}
}

#else

int cli_procs_stop_at_entry(struct cli_procs *all)
{
	(void)all;
	return CLI_OK;
}

void cli_procs_continue(struct cli_procs *all)
{
	(void)all;
}

#endif
