/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first SIGINT, SIGTERM or SIGHUP stops; one that comes a second later or more ends the command
 * at once, by that signal; but where a node is waited for, what there is is printed before. Within
 * that second it is not somebody's impatience: timeout(1) signals its child and then the whole
 * group, and a shell may send a SIGHUP of its own. SIGUSR1 takes a snapshot.
 */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "client/worker.h"
#include "output/output.h"

static volatile sig_atomic_t interrupts, snapshots, may_leave, next_leaves, left_by;
static const struct cli_procs *running; /* for the second signal */
static void (*before_death)(void);	/* likewise, or NULL */
static pid_t main_tid;

enum { AT_ONCE_MS = 1000 };

/* In the handler, of the main thread: how long ago was the first one? */
static int64_t ms_since_first(void)
{
	static int64_t first;
	struct timespec ts;
	int64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
	if (first == 0)
		first = now;
	return now - first;
}

/* The engine has threads; it is the main one that sleeps and must wake. */
static bool is_for_main(int sig)
{
	if ((pid_t)syscall(SYS_gettid) == main_tid)
		return true;
	syscall(SYS_tgkill, getpid(), main_tid, sig);
	return false;
}

static void die(int sig)
{
	if (before_death != NULL)
		before_death();
	cli_procs_kill(running);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_signal(int sig)
{
	int saved = errno;

	if (is_for_main(sig)) {
		bool at_once = ms_since_first() < AT_ONCE_MS;

		if (left_by == 0 && (next_leaves || (may_leave && !at_once)))
			left_by = sig;
		else if (at_once)
			interrupts = 1;
		else
			die(sig);
	}
	errno = saved;
}

/* SIGUSR1: a snapshot. SIGCHLD only wakes. */
static void on_other(int sig)
{
	int saved = errno;

	if (is_for_main(sig) && sig == SIGUSR1)
		snapshots = 1;
	errno = saved;
}

bool cli_snapshot_asked(const struct output *o)
{
	bool asked = snapshots != 0;

	if (o->worker != NULL)
		return worker_snapshot_asked(o->worker);
	snapshots = 0;
	return asked;
}

void cli_catch_signals(const struct cli_procs *procs, const struct output *o)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	/*
	 * A write that waits for a slow reader goes on. (What sleeps or polls wakes up all the
	 * same.)
	 */
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;

	if (o->worker != NULL)
		return; /* signals are for the loop */
	running = procs;
	main_tid = (pid_t)syscall(SYS_gettid);
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* The parent (nohup, a shell's &) may have set it to be ignored. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
	sa.sa_handler = on_other;
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_flags = SA_RESTART | SA_NOCLDSTOP;
	sigaction(SIGCHLD, &sa, NULL);
}

void cli_may_leave(bool may)
{
	may_leave = may;
}

void cli_leave_at_next(void)
{
	next_leaves = 1;
}

bool cli_left(void)
{
	return left_by != 0;
}

void cli_end_by_signal(void)
{
	if (left_by == 0)
		return;
	signal(left_by, SIG_DFL);
	raise(left_by);
}

void cli_before_death(void (*call)(void))
{
	before_death = call;
}

bool cli_interrupted(const struct output *o)
{
	return o->worker != NULL ? worker_interrupted(o->worker) : interrupts > 0;
}

bool cli_ended(struct cli_procs *procs, struct output *o)
{
	return cli_interrupted(o) || o->write_error != 0 || cli_procs_ended(procs, o);
}
