/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where results go: stdout, or the end of the file of -o; as text or as JSON lines. The first
 * failed write is remembered and the rest is thrown away, so that END still runs: a reader that
 * went away (EPIPE) is a quiet end, anything else an error. Drops and faults go to stderr.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/worker.h"
#include "escape.h"
#include "hash.h"
#include "output.h"
#include "server_calls.h"
#include "server_run.h"
#include "snapshots.h"

int cli_output_open(struct cli *c)
{
	if (c->worker != NULL)
		return CLI_OK;
	c->out = stdout;
	if (c->output != NULL) {
		c->out = fopen(c->output, "ae");
		if (c->out == NULL) {
			cli_say("failed to open output file '%s': %s", c->output, strerror(errno));
			return CLI_ERROR;
		}
	}
	/* A reader that goes away is an error of write(), not a signal. */
	signal(SIGPIPE, SIG_IGN);
	c->terminal = isatty(fileno(c->out)) == 1;
	if (!c->terminal)
		setvbuf(c->out, NULL, _IOFBF, 64 << 10);
	return CLI_OK;
}

static void check(struct cli *c, bool ok)
{
	if (!ok && c->write_error == 0)
		c->write_error = errno != 0 ? errno : EIO;
}

static void put(struct cli *c, const char *text, size_t len)
{
	if (c->calls != NULL)
		return; /* it has the results themselves */
	if (c->worker != NULL)
		worker_write(c->worker, text, len);
	else
		check(c, fwrite(text, 1, len, c->out) == len);
}

void cli_write(struct cli *c, const char *text, size_t len)
{
	for (size_t i = 0; i < len && !c->printed; i++)
		c->printed = strchr(" \n", text[i]) == NULL;
	if (c->write_error == 0)
		put(c, text, len);
}

void cli_write_foreign(struct cli *c, const char *text, size_t len)
{
	char *plain = NULL;

	if (c->terminal)
		plain = cli_escape(text, &len, c->draws && !c->json);
	cli_write(c, plain != NULL ? plain : text, len);
	free(plain);
}

/* Names of probes and their like, which others have chosen. */
void cli_printf(struct cli *c, const char *fmt, ...)
{
	char *text = NULL, *plain = NULL;
	va_list ap;
	size_t len;
	int n;

	if (c->write_error != 0)
		return;
	c->printed = true;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	check(c, n >= 0);
	if (n < 0)
		return;
	len = (size_t)n;
	if (c->terminal)
		plain = cli_escape(text, &len, false);
	put(c, plain != NULL ? plain : text, len);
	free(plain);
	free(text);
}

void cli_tell_blank(struct cli *c)
{
	if (!c->printed && !c->json && !c->compile_only && isatty(STDERR_FILENO) &&
		!cli_option_on(c, "destructive"))
		cli_say("nothing was gathered or printed: probes did not fire, or their "
			"predicates were false (-v says how often they fired)");
}

void cli_flush(struct cli *c)
{
	if (c->worker != NULL)
		worker_flush(c->worker);
	else if (c->write_error == 0)
		check(c, fflush(c->out) == 0);
}

int cli_reopen(struct cli *c, const char *path)
{
	FILE *f = NULL;

	cli_flush(c);
	if (c->worker != NULL)
		return 0; /* it has lines for the server, and no file */
	if (path[0] != '\0') {
		f = fopen(path, "ae");
		if (f == NULL)
			return errno;
	}
	if (c->own_out != NULL) {
		fclose(c->out);
		c->out = c->own_out;
		c->own_out = NULL;
	}
	if (f != NULL) {
		c->own_out = c->out;
		c->out = f;
	}
	c->terminal = isatty(fileno(c->out)) == 1;
	return 0;
}

int cli_output_close(struct cli *c, int status)
{
	bool bad;

	co_json_free(&c->json_state);
	cli_flush(c);
	if (c->out == NULL)
		return status;
	cli_reopen(c, "");
	bad = c->out == stdout ? false : fclose(c->out) != 0;
	check(c, !bad);
	c->out = NULL;
	if (c->write_error == 0 || c->write_error == EPIPE)
		return status;
	cli_say("failed to write output: %s", strerror(c->write_error));
	return CLI_ERROR;
}

/* ---- handlers --------------------------------------------------------------------------- */

static int on_text(void *arg, const char *text, size_t len)
{
	cli_write(arg, text, len);
	return 0;
}

/* Of events, by which a request that is followed may lack something. */
static bool is_of_events(const erltrace_drop_t *d)
{
	return strcmp(d->kind, "PRINCIPAL") == 0 || strcmp(d->kind, "RATE") == 0 ||
	       strcmp(d->kind, "THREADS") == 0 || strcmp(d->kind, "FLOWS") == 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct cli *c = arg;

	if (is_of_events(d))
		cli_flows_dropped(c);
	cli_flush(c);
	if (c->droptags)
		cli_say("%s%s[DTRACEDROP_%s] %s", d->node ? d->node : "", d->node ? ": " : "",
			d->kind, d->message);
	else
		cli_say("%s%s%s", d->node ? d->node : "", d->node ? ": " : "", d->message);
	return 0;
}

/*
 * A clause that fails at every event must not drown what else there is to read, and one that fails
 * at each system call has an error for each error that is written. So each error is told a few
 * times, and all of them together a thousand times, and then a hundred a second. The others are
 * counted.
 */
enum { SAME_ERRORS = 10, ERRORS_AT_ONCE = 1000, ERRORS_A_SECOND = 100, MORE_SECONDS = 5 };

static uint64_t second(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec + 1;
}

void cli_more_errors(struct cli *c, bool at_end)
{
	uint64_t now = second();

	if (c->errors.told == 0)
		c->errors.told = now;
	if (c->errors.more == 0 || (!at_end && now < c->errors.told + MORE_SECONDS))
		return;
	c->errors.told = now;
	cli_say("%llu more error%s", (unsigned long long)c->errors.more,
		c->errors.more > 1 ? "s" : "");
	c->errors.more = 0;
}

static bool may_tell(struct cli *c)
{
	uint64_t now = second(),
		 passed = c->errors.second != 0 ? now - c->errors.second : ERRORS_AT_ONCE;

	cli_more_errors(c, false);
	c->errors.second = now;
	c->errors.left += passed * ERRORS_A_SECOND; /* the first time, as many as there may be */
	if (c->errors.left > ERRORS_AT_ONCE)
		c->errors.left = ERRORS_AT_ONCE;
	if (c->errors.left == 0)
		return false;
	c->errors.left--;
	return true;
}

/* Has it been told often enough? Those that come last of very many kinds are not known. */
static bool is_old(struct cli *c, const char *text, size_t len)
{
	uint64_t hash = hash_bytes(text, len);
	unsigned i = 0;

	while (i < CLI_ERRORS && c->errors.same[i].n > 0 && c->errors.same[i].hash != hash)
		i++;
	if (i == CLI_ERRORS)
		return false;
	c->errors.same[i].hash = hash;
	return c->errors.same[i].n++ >= SAME_ERRORS;
}

void cli_error(struct cli *c, const char *node, const char *text, size_t len)
{
	if (is_old(c, text, len) || !may_tell(c)) {
		c->errors.more++;
		return;
	}
	cli_flush(c);
	cli_say("%s%s%.*s", node, node[0] != '\0' ? ": " : "", (int)len, text);
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	const char *node = f->event.node;

	cli_error(arg, node != NULL ? node : "", f->message, strlen(f->message));
	return 0;
}

static int on_flush(void *arg)
{
	cli_flush(arg);
	return 0;
}

/* A pipe or a terminal cannot be truncated, and need not. */
void cli_truncate(struct cli *c)
{
	cli_flush(c);
	if (c->worker == NULL && ftruncate(fileno(c->out), 0) == 0)
		fseeko(c->out, 0, SEEK_SET);
}

static int on_truncate(void *arg)
{
	cli_truncate(arg);
	return 0;
}

static int on_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	cli_snapshot_told(arg, s);
	return 0;
}

/* The handlers of JSON have a state of their own in h->arg; these need the command's. */
static int on_json_flush(void *arg)
{
	return on_flush(((struct co_json *)arg)->arg);
}

static int on_json_truncate(void *arg)
{
	return on_truncate(((struct co_json *)arg)->arg);
}

static int on_json_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	return on_snapshot(((struct co_json *)arg)->arg, s);
}

int cli_handlers(struct cli *c, erltrace_handlers_t *h)
{
	if (c->calls != NULL) {
		calls_handlers(c, h);
		return CLI_OK;
	}
	*h = (erltrace_handlers_t){.size = sizeof(*h),
		.arg = c,
		.text = on_text,
		.drop = on_drop,
		.fault = on_fault,
		.flush = on_flush,
		.truncate = on_truncate,
		.snapshot = on_snapshot,
		.terminal = c->terminal};
	c->droptags = cli_option_on(c, "droptags");
	if (!c->json)
		return CLI_OK;
	c->json_state.text = on_text;
	c->json_state.arg = c;
	c->json_state.quiet = c->quiet;
	if (co_json_handlers(&c->json_state, h) < 0) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	h->flush = on_json_flush;
	h->truncate = on_json_truncate;
	h->snapshot = on_json_snapshot;
	return CLI_OK;
}

void cli_json_error(struct cli *c, const erltrace_error_t *err, const char *what)
{
	c->json_state.text = on_text;
	c->json_state.arg = c;
	co_json_error(&c->json_state, err, what);
}

void cli_json_unmatched(struct cli *c, const char *node, const struct client_unmatched *list, size_t n)
{
	const char **texts = calloc(n + 1, sizeof(*texts));

	for (size_t i = 0; texts != NULL && i < n; i++)
		texts[i] = list[i].text;
	c->json_state.text = on_text;
	c->json_state.arg = c;
	if (texts != NULL)
		co_json_unmatched(&c->json_state, node, texts, n);
	free(texts);
}

void cli_json_warning(struct cli *c, const char *message)
{
	c->json_state.text = on_text;
	c->json_state.arg = c;
	co_json_warning(&c->json_state, message);
}

void cli_json_snapshot(struct cli *c, const char *why, const char *file, const char *error)
{
	c->json_state.text = on_text;
	c->json_state.arg = c;
	if (error != NULL)
		co_json_snapshot_failed(&c->json_state, why, error);
	else
		co_json_snapshot_written(&c->json_state, why, file);
}
