/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running: go, then work and sleep by turns until the script exits, a signal comes, the
 * processes of -c and -p have ended, or nobody reads any more. Each of these stops tracing;
 * work goes on until everything is read out, END has run and the aggregations are printed.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/signals.h"
#include "client/worker.h"
#include "execute.h"
#include "node/cancel.h"

static bool is_left(const struct cli *c)
{
	return c->out.worker != NULL && worker_is_left(c->out.worker);
}

/* > 0: there is more. */
static int tick(struct cli *c)
{
	bool any;

	return output_tick(&c->out, "", c->h, OUTPUT_OWN, &any);
}

/* What is due by the clock. */
static void look(struct cli *c, int64_t *next_tick)
{
	int64_t now = nd_now_ms();

	if (c->out.live_ms > 0 && now >= *next_tick) {
		*next_tick = now + c->out.live_ms;
		tick(c);
	}
	output_collect(&c->out, c->h, now);
}

static int stop(struct cli *c)
{
	erltrace_error_t err = {0};

	if (cli_interrupted(&c->out) && !c->out.json)
		output_write(&c->out, "\n", 1); /* away from the terminal's ^C */
	return erltrace_stop(c->h, &err) < 0 ? -cli_fail(c, &err, "couldn't stop tracing") : 0;
}

/* 0, or -1 with the error reported. */
static int loop(struct cli *c, const erltrace_handlers_t *handlers)
{
	erltrace_error_t err = {0};
	bool stopped = false;
	int64_t next_tick = 0;
	int r;

	do {
		look(c, &next_tick);
		if (!stopped && cli_ended(&c->procs, &c->out)) {
			stopped = true;
			if (stop(c) < 0)
				return -1;
		}
		if (is_left(c))
			return -1;
		if (cli_snapshot_asked(&c->out) &&
			erltrace_take_snapshot(c->h, "signal", handlers, &err) < 0)
			cli_say("no snapshot: %s", err.text);
		r = erltrace_work(c->h, handlers, &err);
		output_flush(&c->out);
		error_limit_more(&c->out.errors, false);
		if (r < 0)
			return -cli_fail(c, &err, "processing aborted");
		if (r == ERLTRACE_OK && !stopped && !cli_ended(&c->procs, &c->out))
			erltrace_sleep(c->h);
	} while (r != ERLTRACE_DONE);
	error_limit_more(&c->out.errors, true);
	if (c->out.live_ms > 0)
		while (tick(c) > 0)
			; /* what came last */
	output_collect_last(&c->out, c->h);
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
			strcmp(is, was[i]) != 0 && !cli_option_on(c->h, "quiet"))
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
	for (int i = 1; c->req.argv[i] != NULL; i++)
		put_quoted(f, c->req.argv[i]);
	if (fclose(f) == 0)
		cli_say("in the nodes of this machine: erltrace -N '*'%s", text);
	free(text);
}

static int not_enabled(struct cli *c, const erltrace_error_t *err)
{
	int status;

	c->failing.one_line = false;
	status = cli_fail(c, err, "could not enable tracing");
	if (c->uses.samples && !c->uses.kernel && c->req.nnodes == 0 && c->procs.n == 0 &&
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
	c->out.droptags = cli_option_on(c->h, "droptags");
	if (output_handlers(&c->out, &handlers) != CLI_OK)
		return CLI_ERROR;
	output_flush(&c->out);
	cli_catch_signals(&c->procs, &c->out);
	for (int i = 0; i < NSIZES; i++)
		erltrace_getopt(c->h, sizes[i].name, was[i], sizeof(was[i]), NULL);
	if (erltrace_go(c->h, &err) < 0)
		return not_enabled(c, &err);
	c->out.gathers = true;
	tell_sizes(c, was);
	cli_procs_go(&c->procs);
	if (loop(c, &handlers) < 0)
		return CLI_ERROR;
	if (c->req.verbose)
		tell_cost(&from);
	failed = cli_procs_failed(&c->procs);
	if (erltrace_status(c->h, &code) == ERLTRACE_EXITED)
		return code;
	return failed;
}
