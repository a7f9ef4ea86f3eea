/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors with a source position. Source text and names reach terminals and web pages through them,
 * so control characters and invalid UTF-8 are replaced here, in one place.
 */
#include "lex.h"

#include <string.h>

#include "utf8.h"

/* Byte for byte, so that columns do not change. */
static void clean(char *s, bool tabs)
{
	size_t n = strlen(s), i = 0, k;

	while (i < n) {
		k = utf8_len((unsigned char *)s + i, n - i);
		if (k == 0 || (s[i] == '\t' && !tabs))
			s[i] = '?', k = 1;
		i += k;
	}
}

/* The source line phys, to print above the caret; empty if it is too long. */
static void copy_line(struct et_error *e, const char *s, const char *end, int phys, int col)
{
	const char *nl;
	size_t n;

	for (; phys > 1; phys--) {
		s = memchr(s, '\n', (size_t)(end - s));
		if (s == NULL)
			return;
		s++;
	}
	nl = memchr(s, '\n', (size_t)(end - s));
	n = (size_t)((nl != NULL ? nl : end) - s);
	if (n > 0 && s[n - 1] == '\r')
		n--;
	if (n >= sizeof(e->source))
		n = sizeof(e->source) - 1;
	if (col > 0 && (size_t)col > n + 1)
		return;
	for (size_t i = 0; i < n; i++)
		e->source[i] = s[i] != '\0' ? s[i] : '?';
	e->source[n] = '\0';
	clean(e->source, true);
}

static void set_position(struct d_comp *c, int line, int col)
{
	const struct d_lexer *lx = c->lex;
	struct et_error *e = &c->error;
	const struct d_linemap *m, *next = NULL;
	const char *file = c->file;
	int phys = line;

	if (lx != NULL && lx->in_type)
		return;
	if (lx != NULL && lx->src == c->source) {
		/*
		 * With #line several ranges may have this number: take the newest, as errors are
		 * near the current token.
		 */
		for (m = lx->map; m != NULL; next = m, m = m->prev) {
			int last = next != NULL ? next->phys - 1 : lx->phys;

			if (line >= m->line && line - m->line <= last - m->phys)
				break;
		}
		if (m != NULL) {
			file = m->file;
			phys = m->phys + (line - m->line);
		}
	}
	snprintf(e->file, sizeof(e->file), "%s", file != NULL ? file : "");
	clean(e->file, false);
	e->line = line;
	e->column = col;
	if (c->source != NULL && phys > 0)
		copy_line(e, c->source, c->source + c->source_len, phys, col);
}

int d_nomem(struct d_comp *c)
{
	return et_err(&c->error, ET_NOMEM, "out of memory");
}

int d_error_from(struct d_comp *c, const struct et_error *e, int line, int col)
{
	if (c->error.tag[0] != '\0')
		return -1;
	et_err_as(&c->error, e, "%s", e->text);
	clean(c->error.text, false);
	set_position(c, line, col);
	return -1;
}

int d_error(struct d_comp *c, enum et_tag tag, int line, int col, const char *fmt, ...)
{
	va_list ap;

	if (c->error.tag[0] != '\0')
		return -1;
	va_start(ap, fmt);
	et_verr(&c->error, tag, fmt, ap);
	va_end(ap);
	clean(c->error.text, false);
	set_position(c, line, col);
	return -1;
}
