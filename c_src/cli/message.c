/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command says on stderr, in DTrace's words: "erltrace: ...". Compile errors come as
 * "failed to compile script F: line N: text", with the tag before the place if errtags is set,
 * and on a terminal with the source line and a caret below. Much of it was chosen by others, nodes
 * and epmd among them: control characters are escaped, for people read it on terminals, mostly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/worker.h"
#include "escape.h"
#include "output.h"
#include "server_calls.h"
#include "utf8.h"

/* Messages of a server's thread are for the server. */
static _Thread_local struct cli *served;

void cli_messages_of(struct cli *c)
{
	served = c;
}

/* In front of each message. A server says itself whose messages it has. */
static const char *own_name(void)
{
	return served != NULL ? "" : "erltrace: ";
}

void cli_tell(const char *text, size_t len)
{
	char *plain = cli_escape(text, &len, false);

	if (plain != NULL && served != NULL && served->calls != NULL)
		calls_said(served, plain, len);
	else if (plain != NULL && served != NULL)
		worker_say(served->worker, plain, len);
	else if (plain != NULL)
		fwrite(plain, 1, len, stderr);
	free(plain);
}

/* A line at once: each write is an event for those who trace system calls, us perhaps. */
static void say(const char *fmt, va_list ap)
{
	char *text = NULL, *line = NULL;
	int len;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	len = asprintf(&line, "%s%s\n", own_name(), text);
	free(text);
	if (len < 0)
		return;
	cli_tell(line, (size_t)len);
	free(line);
}

void cli_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void cli_notice(struct cli *c, const char *fmt, ...)
{
	char text[1280];
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	if (served == NULL)
		say(fmt, ap);
	else if (vsnprintf(text, sizeof(text), fmt, ap) > 0 && c->json && c->calls == NULL)
		cli_json_warning(c, text);
	va_end(ap);
}

/* The source line, and below it a caret in the error's column; tabs stay tabs. */
static void caret(FILE *f, const erltrace_error_t *err)
{
	fprintf(f, "    %s\n    ", err->source);
	for (int i = 0; i < err->column - 1 && err->source[i] != '\0'; i++)
		if (!utf8_is_tail(err->source[i]))
			fputc(err->source[i] == '\t' ? '\t' : ' ', f);
	fputs("^\n", f);
}

static void put_failure(FILE *f, const struct cli *c, const erltrace_error_t *err, const char *what)
{
	fprintf(f, "%s%s: ", own_name(), what);
	if (c->errtags && err->tag[0] != '\0')
		fprintf(f, "[%s] ", err->tag);
	if (err->file[0] != '\0' && err->line > 0 &&
		(c->said == NULL || strcmp(err->file, c->said) != 0))
		fprintf(f, "\"%s\", line %d: ", err->file, err->line);
	else if (err->line > 0 && !c->one_line)
		fprintf(f, "line %d: ", err->line);
	fprintf(f, "%s\n", err->text);
	if (err->source[0] != '\0' && err->column > 0 && served == NULL && isatty(STDERR_FILENO))
		caret(f, err);
}

/* text: a line; to a terminal, with the source below. */
static void tell_failure(struct cli *c, const erltrace_error_t *err, char *text, size_t len)
{
	if (c->calls == NULL) {
		cli_tell(text, len);
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	calls_error(c, err, text);
}

int cli_fail(struct cli *c, const erltrace_error_t *err, const char *fmt, ...)
{
	char what[512], *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (f != NULL) {
		put_failure(f, c, err, what);
		fclose(f);
		tell_failure(c, err, text, len);
		free(text);
	}
	if (c->json && c->calls == NULL)
		cli_json_error(c, err, what);
	return CLI_ERROR;
}

/* Options come back as text: "on", "1" or a value; off is "off", "0" or nothing. */
bool cli_option_on(struct cli *c, const char *name)
{
	char value[64];

	if (erltrace_getopt(c->h, name, value, sizeof(value), NULL) < 0)
		return false;
	return value[0] != '\0' && strcmp(value, "0") != 0 && strcmp(value, "off") != 0 &&
	       strcmp(value, "unset") != 0;
}
