/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command says on stderr, in DTrace's words: "erltrace: ...". Compile errors come as
 * "failed to compile script F: line N: text", with the tag before the place if errtags is set,
 * and on a terminal with the source line and a caret below.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line at once: each write is an event for those who trace system calls, us perhaps. */
static void say(const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	fprintf(stderr, "erltrace: %s\n", text);
	free(text);
}

void cli_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void cli_notice(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

/* The source line, and below it a caret in the error's column; tabs stay tabs. */
static void caret(const erltrace_error_t *err)
{
	fprintf(stderr, "    %s\n    ", err->source);
	for (int i = 0; i < err->column - 1 && err->source[i] != '\0'; i++)
		if (((unsigned char)err->source[i] & 0xc0) != 0x80)
			fputc(err->source[i] == '\t' ? '\t' : ' ', stderr);
	fputs("^\n", stderr);
}

int cli_fail(struct cli *c, const erltrace_error_t *err, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	fprintf(stderr, "erltrace: %s: ", what);
	if (c->errtags && err->tag[0] != '\0')
		fprintf(stderr, "[%s] ", err->tag);
	if (err->file[0] != '\0' && err->line > 0 &&
		(c->said == NULL || strcmp(err->file, c->said) != 0))
		fprintf(stderr, "\"%s\", line %d: ", err->file, err->line);
	else if (err->line > 0 && !c->one_line)
		fprintf(stderr, "line %d: ", err->line);
	fprintf(stderr, "%s\n", err->text);
	if (err->source[0] != '\0' && err->column > 0 && isatty(STDERR_FILENO))
		caret(err);
	if (c->json)
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
