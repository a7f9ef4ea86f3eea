/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where text goes: stdout, or the end of the file of -o; of a server's run, to the server. The
 * first failed write is remembered and the rest is thrown away, so that END still runs: a reader
 * that went away (EPIPE) is a quiet end, anything else an error.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/worker.h"
#include "escape.h"

int output_begin(struct output *o)
{
	if (o->worker != NULL)
		return CLI_OK;
	o->f = stdout;
	if (o->path != NULL) {
		o->f = fopen(o->path, "ae");
		if (o->f == NULL) {
			cli_say("failed to open output file '%s': %s", o->path, strerror(errno));
			return CLI_ERROR;
		}
	}
	/* A reader that goes away is an error of write(), not a signal. */
	signal(SIGPIPE, SIG_IGN);
	o->terminal = isatty(fileno(o->f)) == 1;
	if (!o->terminal)
		setvbuf(o->f, NULL, _IOFBF, 64 << 10);
	return CLI_OK;
}

static void check(struct output *o, bool ok)
{
	if (!ok && o->write_error == 0)
		o->write_error = errno != 0 ? errno : EIO;
}

static void put(struct output *o, const char *text, size_t len)
{
	if (o->calls != NULL)
		return; /* it has the results themselves */
	if (o->worker != NULL)
		worker_write(o->worker, text, len);
	else
		check(o, fwrite(text, 1, len, o->f) == len);
}

void output_write(struct output *o, const char *text, size_t len)
{
	for (size_t i = 0; i < len && !o->printed; i++)
		o->printed = strchr(" \n", text[i]) == NULL;
	if (o->write_error == 0)
		put(o, text, len);
}

void output_write_foreign(struct output *o, const char *text, size_t len)
{
	char *plain = NULL;

	if (o->terminal)
		plain = escape_text(text, &len, o->draws && !o->json);
	output_write(o, plain != NULL ? plain : text, len);
	free(plain);
}

void output_gathered(struct output *o, const char *text, size_t len)
{
	(o->foreign ? output_write_foreign : output_write)(o, text, len);
}

/* Names of probes and their like, which others have chosen. */
void output_printf(struct output *o, const char *fmt, ...)
{
	char *text = NULL, *plain = NULL;
	va_list ap;
	size_t len;
	int n;

	if (o->write_error != 0)
		return;
	o->printed = true;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	check(o, n >= 0);
	if (n < 0)
		return;
	len = (size_t)n;
	if (o->terminal)
		plain = escape_text(text, &len, false);
	put(o, plain != NULL ? plain : text, len);
	free(plain);
	free(text);
}

void output_error(struct output *o, const char *node, const char *text, size_t len)
{
	if (!error_limit_passes(&o->errors, text, len))
		return;
	output_flush(o);
	cli_say("%s%s%.*s", node, node[0] != '\0' ? ": " : "", (int)len, text);
}

void output_tell_blank(struct output *o)
{
	if (!o->printed && !o->json && isatty(STDERR_FILENO))
		cli_say("nothing was gathered or printed: probes did not fire, or their "
			"predicates were false (-v says how often they fired)");
}

void output_flush(struct output *o)
{
	if (o->worker != NULL)
		worker_flush(o->worker);
	else if (o->write_error == 0)
		check(o, fflush(o->f) == 0);
}

int output_reopen(struct output *o, const char *path)
{
	FILE *f = NULL;

	output_flush(o);
	if (o->worker != NULL)
		return 0; /* it has lines for the server, and no file */
	if (path[0] != '\0') {
		f = fopen(path, "ae");
		if (f == NULL)
			return errno;
	}
	if (o->own != NULL) {
		fclose(o->f);
		o->f = o->own;
		o->own = NULL;
	}
	if (f != NULL) {
		o->own = o->f;
		o->f = f;
	}
	o->terminal = isatty(fileno(o->f)) == 1;
	return 0;
}

void output_look_at_stdout(struct output *o)
{
	if (o->f == stdout)
		o->terminal = isatty(STDOUT_FILENO) == 1;
}

/* A pipe or a terminal cannot be truncated, and need not. */
void output_truncate(struct output *o)
{
	output_flush(o);
	if (o->worker == NULL && ftruncate(fileno(o->f), 0) == 0)
		fseeko(o->f, 0, SEEK_SET);
}

int output_fd(const struct output *o)
{
	return o->worker != NULL ? STDERR_FILENO : fileno(o->f);
}

int output_end(struct output *o, int status)
{
	bool bad;

	co_json_free(&o->json_state);
	output_flush(o);
	if (o->f == NULL)
		return status;
	output_reopen(o, "");
	bad = o->f == stdout ? false : fclose(o->f) != 0;
	check(o, !bad);
	o->f = NULL;
	if (o->write_error == 0 || o->write_error == EPIPE)
		return status;
	cli_say("failed to write output: %s", strerror(o->write_error));
	return CLI_ERROR;
}
