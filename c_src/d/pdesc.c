/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probe descriptions, provider:module:function:name, right-aligned. They have lexical rules of
 * their own: they end at the first character that cannot be part of one. There are two extensions
 * for Erlang, where D has no other interpretation:
 *
 *   'any text'   a quoted atom. The quotes are removed, and every character in it that would be
 *                special in a glob or an arity (* ? [ ] ! \ /) gets a backslash, so that the text
 *                matches itself. \' and \\ inside the quotes are those characters.
 *   name/2:      an arity: a slash, digits (or a glob beginning with ? or [), and a colon. A
 *                predicate cannot begin like that. seq/ *: (without the space) counts only if a
 *                probe name and the clause's body or predicate follow; else it is a comment.
 *
 * Macros are expanded before the text is split.
 */
#include "lex.h"

#include <string.h>

bool d_pspec_char(int ch)
{
	return ch > 0 && (d_lex_isword(ch) || strchr("-$:.?*\\[]!", ch) != NULL);
}

/* ---- finding the end ------------------------------------------------------------------ */

static bool is_digit(int ch)
{
	return ch >= '0' && ch <= '9';
}

/*
 * func/ *:name without the space, or a comment? A comment may contain anything, so it is an arity
 * only if a whole clause continues after it.
 */
static bool is_star_arity(const char *p, const char *end)
{
	for (p += 2; p < end && (*p == '*' || *p == '?' || is_digit(*p)); p++)
		;
	if (p >= end || *p != ':')
		return false;
	for (p++; p < end && d_pspec_char((unsigned char)*p) && *p != ':'; p++)
		if (*p == '*' && p + 1 < end && p[1] == '/')
			return false;
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p >= end || *p == '{' || *p == ',' || *p == '/';
}

/* Does a description end here, so that -P, -m or -f adds its colons? */
static bool ends_desc(const struct d_comp *c, const char *p, const char *end)
{
	return c->colons > 0 && (p >= end || (*p != '\0' && strchr(" \t\n,{;", *p) != NULL));
}

/* The length of the arity at the slash p; 0: it is not an arity. */
static size_t arity_len(const struct d_comp *c, const char *start, const char *p, const char *end)
{
	size_t n = 1;

	if (p + 1 >= end)
		return 0;
	if (p[1] == '*') {
		if (memchr(start, ':', (size_t)(p - start)) == NULL || !is_star_arity(p, end))
			return 0;
		while (p + n < end && (is_digit(p[n]) || p[n] == '*' || p[n] == '?'))
			n++;
		return n;
	}
	if (is_digit(p[1])) {
		while (p + n < end && is_digit(p[n]))
			n++;
		if (ends_desc(c, p + n, end))
			return n;
	} else if (p[1] == '?' || p[1] == '[') {
		while (p + n < end && p[n] != '\0' &&
			(is_digit(p[n]) || strchr("*?[]!-", p[n]) != NULL))
			n++;
	}
	return n > 1 && p + n < end && p[n] == ':' ? n : 0;
}

/* The length of the quoted atom at p; 0: not terminated on its line. */
static size_t quoted_len(const char *p, const char *end)
{
	for (const char *q = p + 1; q < end && *q != '\n' && *q != '\0'; q++) {
		if (*q == '\\' && q + 1 < end)
			q++;
		else if (*q == '\'')
			return (size_t)(q - p) + 1;
	}
	return 0;
}

/* ---- macro expansion ------------------------------------------------------------------ */

struct text {
	char *s;
	size_t len, room;
};

static int add(struct d_comp *c, struct text *t, const char *s, size_t n)
{
	if (t->len + n + 1 > t->room) {
		size_t room = (t->len + n + 64) * 2;
		char *p = arena_alloc(c->arena, room);

		if (p == NULL)
			return d_nomem(c);
		if (t->len > 0)
			memcpy(p, t->s, t->len);
		t->s = p;
		t->room = room;
	}
	if (n > 0)
		memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = '\0';
	return 0;
}

/* Expand the macro at the '$' p; returns its end. */
static const char *paste(
	struct d_comp *c, struct text *t, const char *p, const char *end, int line, int col)
{
	const char *name = p + (p + 1 < end && p[1] == '$' ? 2 : 1), *s;
	bool missing;
	size_t used;

	s = d_macro_text(c, name, end, &used, &missing, line, col);
	if (s == NULL)
		return NULL;
	if (missing && name == p + 1)
		s = "0";
	if (add(c, t, s, strnlen(s, D_MAX_STRING)) != 0)
		return NULL;
	return name + used;
}

void d_lex_pspec(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	struct d_tok *t = &lx->tok;
	const char *p = lx->p;
	struct text out = {0};
	size_t n;

	t->kind = TOK_ERR;
	t->start = p;
	while (p < lx->end) {
		if (*p == '$') {
			p = paste(c, &out, p, lx->end, lx->line, (int)(p - lx->bol) + 1);
			if (p == NULL)
				return;
			continue;
		}
		if (*p == '\'' && (n = quoted_len(p, lx->end)) == 0) {
			d_error(c, D_PDESC_INVAL, lx->line, (int)(p - lx->bol) + 1,
				"the closing ' of a quoted atom is missing");
			return;
		}
		if (*p != '\'') {
			n = 0;
			if (*p == '/')
				n = arity_len(c, lx->p, p, lx->end);
			else if (*p == '\\' && p + 1 < lx->end && p[1] != '\n' && p[1] != '\r')
				n = 2;
			else if (*p != '\\' && d_pspec_char((unsigned char)*p))
				n = 1;
		}
		if (n == 0)
			break;
		if (out.len > D_MAX_IDENT * 4) {
			d_error(c, D_PDESC_INVAL, t->line, t->col,
				"a probe description of more than %d bytes", D_MAX_IDENT * 4);
			return;
		}
		if (add(c, &out, p, n) != 0)
			return;
		p += n;
	}
	if (p == lx->p) {
		char buf[8];

		snprintf(buf, sizeof(buf), "\"%c\"", p < lx->end ? *p : ' ');
		d_error(c, D_SYNTAX, t->line, t->col,
			"syntax error near %s: expected a probe description",
			p < lx->end ? buf : "end of input");
		return;
	}
	lx->p = t->stop = p;
	t->text = out.s != NULL ? out.s : "";
	t->len = (uint32_t)out.len;
	t->kind = TOK_PSPEC;
}

/* ---- splitting ------------------------------------------------------------------------ */

/* A quoted atom without its quotes; *p is at the opening one. */
static void unquote(const char **p, const char *end, char *out, size_t *n)
{
	const char *q = *p + 1;

	for (; q < end && *q != '\''; q++) {
		if (*q == '\\' && q + 1 < end)
			q++;
		if (strchr("*?[]!\\/", *q) != NULL && *q != '\0')
			out[(*n)++] = '\\';
		out[(*n)++] = *q;
	}
	*p = q < end ? q + 1 : q;
}

/* By number: digits only. */
static int by_id(struct d_comp *c, struct d_pdesc *d, const char *text, size_t len)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len; i++) {
		if (!is_digit(text[i]))
			return 0;
		if (v <= UINT32_MAX)
			v = v * 10 + (uint64_t)(text[i] - '0');
	}
	if (v == 0 || v > UINT32_MAX)
		return d_error(c, D_PDESC_INVAL, d->line, d->col,
			"there is no probe with number %.*s", len > 32 ? 32 : (int)len, text);
	d->id = (uint32_t)v;
	return 0;
}

struct d_pdesc *d_pdesc_make(struct d_comp *c, const char *text, size_t len, int line, int col)
{
	struct d_pdesc *d = arena_new_of(c->arena, struct d_pdesc);
	const char *part[4] = {"", "", "", ""}, *p = text, *end = text + len;
	char *buf = arena_alloc(c->arena, 2 * len + 8);
	size_t n = 0;
	int parts = 1;

	if (d == NULL || buf == NULL) {
		d_nomem(c);
		return NULL;
	}
	d->line = line;
	d->col = col;
	d->prov = d->mod = d->func = d->name = "";
	if (len > 0 && by_id(c, d, text, len) != 0)
		return NULL;
	if (d->id != 0)
		return d;
	part[0] = buf;
	while (p < end) {
		if (*p == '\'') {
			if (quoted_len(p, end) <= 2) {
				d_error(c, D_PDESC_INVAL, line, col,
					"the quoted atom in \"%.128s\" is empty or has no end",
					text);
				return NULL;
			}
			unquote(&p, end, buf, &n);
		} else if (*p == '\\' && p + 1 < end) {
			buf[n++] = *p++;
			buf[n++] = *p++;
		} else if (*p == ':') {
			if (parts == 4) {
				d_error(c, D_PDESC_INVAL, line, col,
					"probe description \"%.128s\" has more than four parts: it "
					"is "
					"provider:module:function:name",
					text);
				return NULL;
			}
			buf[n++] = '\0';
			part[parts++] = buf + n;
			p++;
		} else {
			buf[n++] = *p++;
		}
	}
	/* Right-aligned: the last one is the name. */
	d->name = part[parts - 1];
	d->func = parts > 1 ? part[parts - 2] : "";
	d->mod = parts > 2 ? part[parts - 3] : "";
	d->prov = parts > 3 ? part[parts - 4] : "";
	return d;
}

int d_parse_pdesc(struct d_comp *c, const char *text, struct d_pdesc **out)
{
	const char *end = text + strlen(text), *p = text;
	struct text t = {0};

	if ((size_t)(end - text) > D_MAX_IDENT * 4)
		return d_error(c, D_PDESC_INVAL, 0, 0,
			"a probe description of more than %d bytes", D_MAX_IDENT * 4);
	while (p < end) {
		size_t n = *p == '\'' ? quoted_len(p, end) : 1;

		if (*p == '$') {
			p = paste(c, &t, p, end, 0, 0);
			if (p == NULL)
				return -1;
			continue;
		}
		if (n == 0 || (*p != '\'' && *p != '/' && !d_pspec_char((unsigned char)*p)))
			return d_error(c, D_PDESC_INVAL, 0, 0,
				"invalid probe description \"%.128s\": '%c' cannot stand in it",
				text, *p);
		if (add(c, &t, p, n) != 0)
			return -1;
		p += n;
	}
	*out = d_pdesc_make(c, t.s != NULL ? t.s : "", t.len, 0, 0);
	return *out != NULL ? 0 : -1;
}
