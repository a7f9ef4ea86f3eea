/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of -c and -p. A command of -c is forked first, so that $target is known when
 * scripts are compiled, waits on a pipe, and is executed when tracing has begun. A process of -p
 * is only watched. When the last of them has ended, tracing ends. A command that still runs when
 * the tracing ends otherwise is told to terminate.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "output/message.h"
#include "proc_file.h"

/* ---- a command's words ------------------------------------------------------------------ */

#define SPACE " \t\n\v\f\r"

/* The next word of *p, written over the text itself; quotes and backslashes as in a shell. */
static char *next_word(char **p)
{
	char *in = *p + strspn(*p, SPACE), *out = in, *word = in, quote = 0;

	if (*in == '\0')
		return NULL;
	for (; *in != '\0' && (quote != 0 || strchr(SPACE, *in) == NULL); in++) {
		if (quote == 0 && (*in == '\'' || *in == '"'))
			quote = *in;
		else if (quote != 0 && *in == quote)
			quote = 0;
		else if (*in == '\\' && quote != '\'' && in[1] != '\0')
			*out++ = *++in;
		else
			*out++ = *in;
	}
	*p = *in == '\0' ? in : in + 1;
	*out = '\0';
	return word;
}

/* argv of a command; its words lie in *text. Both are the caller's to free. */
static char **words(const char *command, char **text)
{
	char **argv = calloc(strlen(command) / 2 + 2, sizeof(*argv)), *p;
	size_t n = 0;

	p = *text = strdup(command);
	if (argv == NULL || p == NULL) {
		free(argv);
		return NULL;
	}
	while ((argv[n] = next_word(&p)) != NULL)
		n++;
	return argv;
}

/* Can it be executed? Asked before tracing, for a message in time. 0, or errno. */
static int findable(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];
	int result = ENOENT;

	if (strchr(name, '/') != NULL)
		return access(name, X_OK) == 0 ? 0 : errno;
	if (path == NULL)
		path = "/bin:/usr/bin";
	for (size_t len; *path != '\0'; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)len, len == 0 ? "." : path, name);
		if (access(file, X_OK) == 0)
			return 0;
		if (errno == EACCES)
			result = EACCES;
	}
	return result;
}

/* ---- starting --------------------------------------------------------------------------- */

/* In the child: wait for the word, then become the command. */
static void become(char **argv, int go, int failed)
{
	int error;
	char byte;

	signal(SIGPIPE, SIG_DFL);
	while (read(go, &byte, 1) != 1)
		if (errno != EINTR)
			_exit(0); /* the tracer is gone */
	execvp(argv[0], argv);
	error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static int fork_command(struct cli_process *p, char **argv)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		close(go[0]), close(go[1]);
		return errno;
	}
	p->pid = fork();
	if (p->pid == 0) {
		close(go[1]);
		become(argv, go[0], failed[1]);
	}
	close(go[0]), close(failed[1]);
	p->go = go[1];
	p->failed = failed[0];
	return p->pid < 0 ? errno : 0;
}

static int start_command(struct cli_process *p)
{
	char *text = NULL, **argv = words(p->command, &text);
	int error = ENOMEM;

	if (argv != NULL && argv[0] == NULL)
		error = ENOENT;
	else if (argv != NULL)
		error = findable(argv[0]);
	if (error == 0)
		error = fork_command(p, argv);
	if (error != 0)
		cli_say("failed to execute %s: %s",
			argv != NULL && argv[0] != NULL ? argv[0] : "-c",
			argv != NULL && argv[0] == NULL ? "the command is empty" : strerror(error));
	free(argv);
	free(text);
	return error == 0 ? CLI_OK : CLI_ERROR;
}

static int find_process(struct cli_process *p)
{
	if (kill(p->pid, 0) < 0 && errno != EPERM) {
		cli_say("failed to grab process %d: %s", (int)p->pid, strerror(errno));
		return CLI_ERROR;
	}
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	return CLI_OK;
}

int cli_procs_start(struct cli_procs *all, erltrace_t *h)
{
	for (int i = 0; i < all->n; i++) {
		struct cli_process *p = &all->v[i];
		int status = p->command != NULL ? start_command(p) : find_process(p);

		if (status != CLI_OK)
			return status;
		p->live = true;
		if (i == 0) /* as dtrace: the first one is $target */
			erltrace_set_target(h, p->pid);
	}
	return CLI_OK;
}

void cli_procs_warn_stopped(const struct cli_procs *all)
{
	for (int i = 0; i < all->n; i++)
		if (all->v[i].command == NULL && fi_is_stopped(all->v[i].pid))
			cli_say("process %d is stopped (SIGSTOP, or a debugger): nothing happens "
				"in it "
				"until kill -CONT %d lets it go on",
				(int)all->v[i].pid, (int)all->v[i].pid);
}

void cli_procs_go(struct cli_procs *all)
{
	for (int i = 0; i < all->n; i++) {
		struct cli_process *p = &all->v[i];

		if (p->go < 0)
			continue; /* one that is held: below */
		if (write(p->go, "", 1) != 1)
			cli_say("failed to continue pid %d: %s", (int)p->pid, strerror(errno));
		close(p->go);
		p->go = -1;
	}
	cli_procs_continue(all);
}

/* ---- ending ----------------------------------------------------------------------------- */

static void reap(struct output *o, struct cli_process *p)
{
	int status;
	pid_t r = waitpid(p->pid, &status, WNOHANG);

	if (r == 0 || (r < 0 && errno == EINTR))
		return;
	p->live = false;
	if (r < 0)
		cli_notice(o, "lost control of pid %d", (int)p->pid);
	else if (WIFSIGNALED(status))
		cli_notice(o, "pid %d terminated by %d (%s)", (int)p->pid, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		cli_notice(o, "pid %d exited with status %d", (int)p->pid, WEXITSTATUS(status));
	else
		cli_notice(o, "pid %d has exited", (int)p->pid);
}

static void watch(struct output *o, struct cli_process *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};

	if (p->pidfd >= 0 ? poll(&fd, 1, 0) <= 0 : kill(p->pid, 0) == 0 || errno != ESRCH)
		return;
	p->live = false;
	cli_notice(o, "pid %d has exited", (int)p->pid);
}

bool cli_procs_ended(struct cli_procs *all, struct output *o)
{
	bool live = false;

	for (int i = 0; i < all->n; i++) {
		struct cli_process *p = &all->v[i];

		if (p->live && p->command != NULL)
			reap(o, p);
		else if (p->live)
			watch(o, p);
		live |= p->live;
	}
	return all->n > 0 && !live;
}

int cli_procs_failed(struct cli_procs *all)
{
	int status = CLI_OK, error;

	for (int i = 0; i < all->n; i++) {
		struct cli_process *p = &all->v[i];

		/* Nothing to read while it runs: then it was executed, or the pipe is empty. */
		if (p->command == NULL || p->failed < 0 || p->live)
			continue;
		if (read(p->failed, &error, sizeof(error)) == sizeof(error)) {
			cli_say("failed to execute %s: %s", p->command, strerror(error));
			status = CLI_ERROR;
		}
		close(p->failed);
		p->failed = -1;
	}
	return status;
}

void cli_procs_kill(const struct cli_procs *all)
{
	for (int i = 0; i < all->n; i++)
		if (all->v[i].live && all->v[i].command != NULL)
			kill(all->v[i].pid,
				all->v[i].go >= 0 || all->v[i].stopped ? SIGKILL : SIGTERM);
}

void cli_procs_end(struct cli_procs *all)
{
	const struct timespec pause = {.tv_nsec = 2000000};

	cli_procs_kill(all);
	for (int i = 0; i < all->n; i++) {
		struct cli_process *p = &all->v[i];

		/* A second for it to end, so that no zombie is left; who takes longer may. */
		for (int n = 0; p->live && p->command != NULL && n < 500; n++) {
			if (waitpid(p->pid, NULL, WNOHANG) != 0)
				p->live = false;
			else
				nanosleep(&pause, NULL);
		}
	}
}
