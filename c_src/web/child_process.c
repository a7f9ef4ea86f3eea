/* SPDX-License-Identifier: Apache-2.0 */
/* Children that run this same command: how they are started, and what they inherit. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * What a child needs of our environment, and no more: options of the server's own (DTRACE_OPT_*)
 * are not those of its children, and what else is in it is nobody's business there.
 */
static char **environment(void)
{
	static const char *const names[] = {"HOME", "XDG_CONFIG_HOME", "ERL_COOKIE_FILE",
		"ERL_EPMD_PORT", "ERL_EPMD_ADDRESS", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
		"LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"};
	static char *env[sizeof(names) / sizeof(names[0]) + 1];
	int n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		for (char **p = environ; *p != NULL; p++)
			if (strncmp(*p, names[i], len) == 0 && (*p)[len] == '=') {
				env[n++] = *p;
				break;
			}
	}
	env[n] = NULL;
	return env;
}

/* After fork: nothing of ours but the three descriptors. */
static void become(const char *const *argv, pid_t parent, int in, int out, int err)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* it died before that */
	setpgid(0, 0);	  /* the terminal's ^C is the server's */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* who was started by a shell's & ignores SIGINT */
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(1);
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 3, ~0u, 0) < 0)
#endif
		for (int fd = 3; fd < 4096; fd++)
			close(fd);
	execve("/proc/self/exe", (char **)argv, environment());
	_exit(127);
}

/* In the parent: our ends of the pipes, and a descriptor for its end. */
static int adopt(struct process *p, int out, int err)
{
	fcntl(out, F_SETFL, O_NONBLOCK);
	fcntl(err, F_SETFL, O_NONBLOCK);
	p->out = out;
	p->err = err;
	p->end = p->pid > 0 ? (int)syscall(SYS_pidfd_open, p->pid, 0) : -1;
	if (p->end >= 0)
		return 0;
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	close(out), close(err);
	*p = (struct process){-1, -1, -1, -1};
	return -1;
}

int process_spawn(struct process *p, const char *const *argv, int in)
{
	int out[2], err[2];
	pid_t self = getpid();

	*p = (struct process){-1, -1, -1, -1};
	if (pipe2(out, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(err, O_CLOEXEC) < 0) {
		close(out[0]), close(out[1]);
		return -1;
	}
	p->pid = fork();
	if (p->pid == 0)
		become(argv, self, in, out[1], err[1]);
	close(out[1]), close(err[1]);
	return adopt(p, out[0], err[0]);
}
