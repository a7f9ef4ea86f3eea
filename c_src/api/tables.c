/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as text, and the tables that help, completion and manuals are made from. */
#include <stdio.h>
#include <string.h>

#include "handle.h"

const char *erltrace_version(void)
{
	return ERLTRACE_VERSION;
}

const char *erltrace_option_name(unsigned i, const char **help)
{
	if (i >= OPT_MAX)
		return NULL;
	if (help != NULL)
		*help = et_optdefs[i].help;
	return et_optdefs[i].name;
}

const char *erltrace_error_tag(unsigned i, const char **meaning)
{
	if (i >= ET_TAGS_)
		return NULL;
	if (meaning != NULL)
		*meaning = et_tag_meaning(i);
	return et_tag_name(i);
}

/* The source line and a caret under the column; tabs stay tabs so that both line up. */
static int format_caret(const erltrace_error_t *err, char *buf, size_t size)
{
	int n = snprintf(buf, size, "\n  %s\n  ", err->source);

	for (int i = 0; i < err->column - 1 && err->source[i] != '\0'; i++)
		if ((size_t)++n < size)
			snprintf(buf + n - 1, size - n + 1, "%c",
				err->source[i] == '\t' ? '\t' : ' ');
	if ((size_t)++n < size)
		snprintf(buf + n - 1, size - n + 1, "^");
	return n;
}

int erltrace_error_format(const erltrace_error_t *err, int caret, char *buf, size_t size)
{
	int n;

	if (err->line > 0 && err->file[0] != '\0')
		n = snprintf(buf, size, "\"%s\", line %d: %s", err->file, err->line, err->text);
	else if (err->line > 1)
		n = snprintf(buf, size, "line %d: %s", err->line, err->text);
	else
		n = snprintf(buf, size, "%s", err->text);
	if (caret && err->source[0] != '\0' && err->column > 0 && (size_t)n < size)
		n += format_caret(err, buf + n, size - n);
	return n;
}
