/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running: go, then work and sleep by turns until the script exits, a signal comes, the
 * processes of -c and -p have ended, or nobody reads any more. Each of these stops tracing;
 * work goes on until everything is read out, END has run and the aggregations are printed.
 *
 * The first SIGINT, SIGTERM or SIGHUP stops; one that comes a second later or more ends the command
 * at once, by that signal. Within that second it is not somebody's impatience: timeout(1) signals
 * its child and then the whole group, and a shell may send a SIGHUP of its own. SIGUSR1 takes a
 * snapshot.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/worker.h"
#include "output.h"
#include "run.h"
#include "server_calls.h"

static volatile sig_atomic_t interrupts, snapshots;
static const struct cli *running; /* for the second signal */
static void (*before_death)(void); /* likewise, or NULL */
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

static void on_signal(int sig)
{
	int saved = errno;

	/* The engine has threads; it is the main one that sleeps and must wake. */
	if ((pid_t)syscall(SYS_gettid) != main_tid) {
		syscall(SYS_tgkill, getpid(), main_tid, sig);
	} else if (ms_since_first() >= AT_ONCE_MS) {
		if (before_death != NULL)
			before_death();
		cli_procs_kill(running);
		signal(sig, SIG_DFL);
		raise(sig);
	} else {
		interrupts = 1;
	}
	errno = saved;
}

static void on_child(int sig)
{
	int saved = errno;

	if ((pid_t)syscall(SYS_gettid) != main_tid)
		syscall(SYS_tgkill, getpid(), main_tid, sig);
	errno = saved;
}

/* SIGUSR1: a snapshot. */
static void on_snapshot(int sig)
{
	int saved = errno;

	if ((pid_t)syscall(SYS_gettid) != main_tid)
		syscall(SYS_tgkill, getpid(), main_tid, sig);
	else
		snapshots = 1;
	errno = saved;
}

bool cli_snapshot_asked(const struct cli *c)
{
	bool asked = snapshots != 0;

	if (c->worker != NULL)
		return worker_snapshot_asked(c->worker);
	snapshots = 0;
	return asked;
}

void cli_catch_signals(const struct cli *c)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	/*
	 * A write that waits for a slow reader goes on. (What sleeps or polls wakes up all the
	 * same.)
	 */
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;

	if (c->worker != NULL)
		return; /* signals are for the loop */
	running = c;
	main_tid = (pid_t)syscall(SYS_gettid);
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* The parent (nohup, a shell's &) may have set it to be ignored. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
	sa.sa_handler = on_snapshot;
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_handler = on_child;
	sa.sa_flags = SA_RESTART | SA_NOCLDSTOP;
	sigaction(SIGCHLD, &sa, NULL);
}

void cli_before_death(void (*call)(void))
{
	before_death = call;
}

bool cli_interrupted(const struct cli *c)
{
	return c->worker != NULL ? worker_interrupted(c->worker) : interrupts > 0;
}

static bool is_left(const struct cli *c)
{
	return c->worker != NULL && worker_is_left(c->worker);
}

bool cli_ended(struct cli *c)
{
	return cli_interrupted(c) || c->write_error != 0 || cli_procs_ended(c);
}

/* Is it time for the next of what comes every so many ms? 0: never. */
static bool is_due(int ms, struct timespec *next)
{
	struct timespec now;

	if (ms == 0)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec < next->tv_sec ||
		(now.tv_sec == next->tv_sec && now.tv_nsec < next->tv_nsec))
		return false;
	*next = now;
	next->tv_sec += (ms + next->tv_nsec / 1000000) / 1000;
	next->tv_nsec = (ms + next->tv_nsec / 1000000) % 1000 * 1000000;
	return true;
}

static int on_tick(void *arg, const char *text, size_t len)
{
	cli_write(arg, text, len);
	return 0;
}

/* > 0: there is more. */
static int tick(struct cli *c)
{
	erltrace_error_t err = {0};
	bool any;

	return c->calls != NULL ? calls_changes(c, "", c->h, CALLS_OWN, &any)
				: erltrace_tick(c->h, "", on_tick, c, &err);
}

/* 0, or -1 with the error reported. */
static int loop(struct cli *c, const erltrace_handlers_t *handlers)
{
	erltrace_error_t err = {0};
	struct timespec next = {0}, next_stacks = {0};
	bool stopped = false;
	int r;

	do {
		if (is_due(c->live_ms, &next))
			tick(c);
		if (is_due(c->stacks != NULL ? CLI_STACKS_MS : 0, &next_stacks))
			erltrace_stacks(c->h, cli_stacks_take, c, &err);
		if (!stopped && cli_ended(c)) {
			stopped = true;
			if (cli_interrupted(c) && !c->json)
				cli_write(c, "\n", 1); /* away from the terminal's ^C */
			if (erltrace_stop(c->h, &err) < 0)
				return -cli_fail(c, &err, "couldn't stop tracing");
		}
		if (is_left(c))
			return -1;
		if (cli_snapshot_asked(c) &&
			erltrace_take_snapshot(c->h, "signal", handlers, &err) < 0)
			cli_say("no snapshot: %s", err.text);
		r = erltrace_work(c->h, handlers, &err);
		cli_flush(c);
		cli_more_errors(c, false);
		if (r < 0)
			return -cli_fail(c, &err, "processing aborted");
		if (r == ERLTRACE_OK && !stopped && !cli_ended(c))
			erltrace_sleep(c->h);
	} while (r != ERLTRACE_DONE);
	cli_more_errors(c, true);
	if (c->live_ms > 0)
		while (tick(c) > 0)
			; /* what came last */
	if (c->stacks != NULL)
		erltrace_stacks(c->h, cli_stacks_take, c, &err);
	return 0;
}

/* -v: what it cost, the time this process used of the time it ran. */
static void tell_cost(const struct timespec *from)
{
	struct timespec now;
	struct rusage ru;
	double ran, used;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &ru);
	ran = (double)(now.tv_sec - from->tv_sec) + (double)(now.tv_nsec - from->tv_nsec) / 1e9;
	used = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
	cli_say("ran %.3f s, used %.3f s of processor time and %ld KiB of memory", ran, used,
		ru.ru_maxrss);
}

/* Sizes that the go may lower, where the kernel has a buffer for each of many CPUs. */
static const struct {
	const char *name, *what;
} sizes[] = {{"bufsize", "buffer"}, {"aggsize", "aggregation"}, {"specsize", "speculation"}};
enum { NSIZES = sizeof(sizes) / sizeof(*sizes) };

static void tell_sizes(struct cli *c, char was[NSIZES][32])
{
	for (int i = 0; i < NSIZES; i++) {
		char is[32] = "";

		if (erltrace_getopt(c->h, sizes[i].name, is, sizeof(is), NULL) == 0 &&
			strcmp(is, was[i]) != 0 && !cli_option_on(c, "quiet"))
			cli_say("%s size lowered to %s", sizes[i].what, is);
	}
}

/* As a shell reads it. */
static void put_quoted(FILE *f, const char *arg)
{
	if (arg[0] != '\0' && arg[strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789_@%+=:,./-")] == '\0') {
		fprintf(f, " %s", arg);
		return;
	}
	fputs(" '", f);
	for (; *arg != '\0'; arg++)
		if (*arg == '\'')
			fputs("'\\''", f);
		else
			putc(*arg, f);
	putc('\'', f);
}

/* Samples take privileges here, but not inside of nodes: the same command for these. */
static void tell_nodes(const struct cli *c)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		return;
	for (int i = 1; c->argv[i] != NULL; i++)
		put_quoted(f, c->argv[i]);
	if (fclose(f) == 0)
		cli_say("in the nodes of this machine: erltrace -N '*'%s", text);
	free(text);
}

static int not_enabled(struct cli *c, const erltrace_error_t *err)
{
	int status = cli_fail(c, err, "could not enable tracing");

	if (c->uses.samples && !c->uses.kernel && c->nnodes == 0 && c->nprocs == 0 &&
		(strcmp(err->tag, "ET_PERMISSION") == 0 || strcmp(err->tag, "ET_SAMPLES") == 0))
		tell_nodes(c);
	return status;
}

int cli_run(struct cli *c)
{
	erltrace_handlers_t handlers;
	erltrace_error_t err = {0};
	char was[NSIZES][32] = {""};
	struct timespec from;
	int code = 0, failed;

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (cli_handlers(c, &handlers) != CLI_OK)
		return CLI_ERROR;
	cli_flush(c);
	cli_catch_signals(c);
	for (int i = 0; i < NSIZES; i++)
		erltrace_getopt(c->h, sizes[i].name, was[i], sizeof(was[i]), NULL);
	if (erltrace_go(c->h, &err) < 0)
		return not_enabled(c, &err);
	c->gathers = true;
	tell_sizes(c, was);
	cli_procs_go(c);
	if (loop(c, &handlers) < 0)
		return CLI_ERROR;
	if (c->verbose)
		tell_cost(&from);
	failed = cli_procs_failed(c);
	if (erltrace_status(c->h, &code) == ERLTRACE_EXITED)
		return code;
	return failed;
}
