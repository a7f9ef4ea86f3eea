/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has failed, in DTrace's words. Compile errors come as "failed to compile script F: line N:
 * text", with the tag before the place if errtags is set, and on a terminal with the source line
 * and a caret below.
 */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utf8.h"

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
	fprintf(f, "%s%s: ", cli_own_name(), what);
	if (c->failing.errtags && err->tag[0] != '\0')
		fprintf(f, "[%s] ", err->tag);
	if (err->file[0] != '\0' && err->line > 0 &&
		(c->failing.said == NULL || strcmp(err->file, c->failing.said) != 0))
		fprintf(f, "\"%s\", line %d: ", err->file, err->line);
	else if (err->line > 0 && !c->failing.one_line)
		fprintf(f, "line %d: ", err->line);
	fprintf(f, "%s\n", err->text);
	if (err->source[0] != '\0' && err->column > 0 && c->out.worker == NULL &&
		isatty(STDERR_FILENO))
		caret(f, err);
}

/* A probe of a function that matches nothing: its module may be loaded later. */
static bool may_come(const struct cli *c, const erltrace_error_t *err)
{
	for (int i = 0; et_err_is(err, D_PDESC_ZERO) && i < c->req.nscripts; i++)
		for (int k = 0; k < c->req.scripts[i].ndescs; k++) {
			const struct cli_desc *d = &c->req.scripts[i].descs[k];

			if (d->line == err->line && d->column == err->column)
				return d->of_function;
		}
	return false;
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
		output_printer(&c->out)->failed(
			&c->out, &(struct failure){err, what, text, may_come(c, err)});
		free(text);
	}
	return CLI_ERROR;
}

/* Options come back as text: "on", "1" or a value; off is "off", "0" or nothing. */
bool cli_option_on(erltrace_t *h, const char *name)
{
	char value[64];

	if (erltrace_getopt(h, name, value, sizeof(value), NULL) < 0)
		return false;
	return value[0] != '\0' && strcmp(value, "0") != 0 && strcmp(value, "off") != 0 &&
	       strcmp(value, "unset") != 0;
}
