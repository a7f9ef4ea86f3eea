/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where results go: stdout, or the end of the file of -o; as text or as JSON lines. The first
 * failed write is remembered and the rest is thrown away, so that END still runs: a reader that
 * went away (EPIPE) is a quiet end, anything else an error. Drops and faults go to stderr.
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_output_open(struct cli *c)
{
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
	if (!isatty(fileno(c->out)))
		setvbuf(c->out, NULL, _IOFBF, 64 << 10);
	return CLI_OK;
}

static void check(struct cli *c, bool ok)
{
	if (!ok && c->write_error == 0)
		c->write_error = errno != 0 ? errno : EIO;
}

void cli_write(struct cli *c, const char *text, size_t len)
{
	if (c->write_error == 0)
		check(c, fwrite(text, 1, len, c->out) == len);
}

void cli_printf(struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (c->write_error != 0)
		return;
	va_start(ap, fmt);
	check(c, vfprintf(c->out, fmt, ap) >= 0);
	va_end(ap);
}

void cli_flush(struct cli *c)
{
	if (c->write_error == 0)
		check(c, fflush(c->out) == 0);
}

int cli_output_close(struct cli *c, int status)
{
	bool bad;

	if (c->out == NULL)
		return status;
	cli_flush(c);
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

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct cli *c = arg;

	cli_flush(c);
	cli_say("%s", d->message);
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	struct cli *c = arg;

	cli_flush(c);
	cli_say("%s", f->message);
	return 0;
}

void cli_handlers(struct cli *c, erltrace_handlers_t *h)
{
	*h = (erltrace_handlers_t){
		.size = sizeof(*h), .arg = c, .text = on_text, .drop = on_drop, .fault = on_fault};
}

void cli_json_error(struct cli *c, const erltrace_error_t *err, const char *what)
{
	(void)c, (void)err, (void)what;
}
