/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants: integers, decimals, characters and strings. Each function reads the constant at lx->p,
 * fills lx->tok and advances past it, or sets TOK_ERR.
 *
 */
#include "lex.h"

#include <string.h>

static int bad(struct d_comp *c, enum et_tag tag, const char *text)
{
	const struct d_tok *t = &c->lex->tok;

	d_error(c, tag, t->line, t->col, "%s", text);
	c->lex->tok.kind = TOK_ERR;
	return -1;
}

/* ---- integers ------------------------------------------------------------------------- */

static int digit_of(int ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	if (ch >= 'A' && ch <= 'F')
		return ch - 'A' + 10;
	return 99;
}

/*
 * The first type that can represent the value. A 'u' excludes the signed types, an 'l' the int
 * ones, and a decimal number without 'u' is never unsigned.
 */
static const struct d_type *int_type(struct d_comp *c, uint64_t v, bool dec, bool u, int l)
{
	const struct d_type *list[] = {
		c->t.int_, c->t.uint, c->t.long_, c->t.ulong, c->t.llong, c->t.ullong};
	static const uint64_t max[] = {
		INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, INT64_MAX, UINT64_MAX};

	for (int i = 2 * l; i < 6; i++) {
		bool is_unsigned = i & 1;

		if (u != is_unsigned && (u || dec))
			continue;
		if (v <= max[i])
			return list[i];
	}
	return NULL;
}

int d_int_parse(
	struct d_comp *c, const char *s, size_t len, uint64_t *value, const struct d_type **type)
{
	unsigned base = 10;
	size_t i = 0, first;
	bool u = false, over = false;
	uint64_t v = 0;
	int l = 0, d;

	if (len >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		i = 2;
	} else if (len >= 2 && s[0] == '0') {
		base = 8;
	}
	for (first = i; i < len && (d = digit_of(s[i])) < (int)base; i++)
		over |= __builtin_mul_overflow(v, base, &v) ||
			__builtin_add_overflow(v, (uint64_t)d, &v);
	if (base == 8 && i < len && (s[i] == '8' || s[i] == '9'))
		return 'd';
	if (i == first)
		return 's';
	if (i < len && (s[i] == 'u' || s[i] == 'U'))
		u = true, i++;
	for (; l < 2 && i < len && (s[i] == 'l' || s[i] == 'L'); l++)
		i++;
	if (i != len)
		return 's';
	if (over || (*type = int_type(c, v, base == 10, u, l)) == NULL)
		return 'o';
	*value = v;
	return 0;
}

static bool is_float(const char *s, size_t n)
{
	size_t i = 0;

	if (n > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return false;
	while (i < n && s[i] >= '0' && s[i] <= '9')
		i++;
	if (i < n && s[i] == '.')
		return true;
	if (i == 0 || i >= n || (s[i] != 'e' && s[i] != 'E'))
		return false;
	i++;
	if (i < n && (s[i] == '+' || s[i] == '-'))
		i++;
	return i < n && s[i] >= '0' && s[i] <= '9';
}

size_t d_lex_decimal(const char *s, size_t n)
{
	size_t i = 0, point;

	while (i < n && s[i] >= '0' && s[i] <= '9')
		i++;
	point = i;
	if (i == 0 || i >= n || s[i++] != '.')
		return 0;
	while (i < n && s[i] >= '0' && s[i] <= '9')
		i++;
	if (i == point + 1 || (i < n && (s[i] == '.' || d_lex_isword((unsigned char)s[i]))))
		return 0;
	return i;
}

void d_lex_number(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	struct d_tok *t = &lx->tok;
	size_t n = 0, rest = (size_t)(lx->end - lx->p);
	char hint[96] = "";
	int shown, rc;

	n = d_lex_decimal(lx->p, rest);
	if (n > 0) { /* the checker says where it may be */
		t->text = lx->p;
		t->len = (uint32_t)n;
		t->kind = TOK_DECIMAL;
		t->value = 0;
		lx->p += n;
		return;
	}
	if (is_float(lx->p, rest)) {
		bad(c, D_SYNTAX,
			"floating-point constants are not permitted in D: use integers, scaled "
			"if need be (1500 for 1.5 in thousandths; erlscaled(T, 1000) of a term)");
		return;
	}
	while (n < rest && d_lex_isword((unsigned char)lx->p[n]))
		n++;
	shown = n > 64 ? 64 : (int)n;
	rc = d_int_parse(c, lx->p, n, &t->value, &t->type);
	switch (rc) {
	case 'd':
	case 's':
		/* tick-1s after a clause that was not closed */
		if (lx->clause != NULL && lx->p > lx->src && lx->p[-1] == '-')
			snprintf(hint, sizeof(hint),
				"; is a '}' missing in the clause that starts at line %d?",
				lx->clause->line);
		d_error(c, rc == 'd' ? D_INT_DIGIT : D_SYNTAX, t->line, t->col,
			"'%.*s' is not an integer: a digit or suffix is wrong (decimal, 0x hex or "
			"0 octal digits, then u, l, ll, ul or ull)%s",
			shown, lx->p, hint);
		t->kind = TOK_ERR;
		return;
	case 'o':
		d_error(c, D_INT_OFLOW, t->line, t->col,
			"integer constant %.*s is too large for any %sinteger type", shown, lx->p,
			memchr(lx->p, 'u', n) == NULL && lx->p[0] != '0' ? "signed " : "");
		t->kind = TOK_ERR;
		return;
	}
	lx->p += n;
	t->kind = TOK_INT;
}

/* ---- text ----------------------------------------------------------------------------- */

/*
 * The escape sequence after the backslash at *s; writes one or two bytes, returns how many. quote
 * ends the constant.
 */
static size_t escape(const char **s, const char *end, char quote, char *out)
{
	static const char names[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
	const char *p = *s, *f;
	unsigned v = 0, n = 0;

	if (*p >= '0' && *p <= '7') {
		for (; n < 3 && p < end && *p >= '0' && *p <= '7'; n++)
			v = v * 8 + (unsigned)(*p++ - '0');
	} else if (*p == 'x' && p + 1 < end && digit_of(p[1]) < 16) {
		/* At most two digits: "\x42C" is "BC". */
		for (p++; n < 2 && p < end && digit_of(*p) < 16; n++)
			v = v * 16 + (unsigned)digit_of(*p++);
	} else if (*p != '\0' && (f = strchr(names, *p)) != NULL) {
		v = (unsigned char)values[f - names];
		p++;
	} else if (*p == '"' || *p == '\\' || *p == quote) {
		v = (unsigned char)*p++;
	} else {
		out[0] = '\\';
		out[1] = *p++;
		*s = p;
		return 2;
	}
	out[0] = (char)v;
	*s = p;
	return 1;
}

/* The bytes between the quotes, at most max of them; -1 after an error. */
static long text(struct d_comp *c, char quote, char *out, size_t max, enum et_tag nl_tag)
{
	struct d_lexer *lx = c->lex;
	const char *p = lx->p + 1;
	size_t n = 0;
	char pair[2];

	for (;;) {
		if (p >= lx->end || *p == '\n')
			return bad(c, nl_tag,
				p < lx->end ? "a newline before the closing quote: the constant "
					      "must end on its line (\\n is a newline in it)"
					    : "the closing quote is missing");
		if (*p == quote)
			break;
		if (*p == '\\' && p + 1 < lx->end && p[1] == '\n') {
			p += 2;
			lx->line++;
			lx->phys++;
			lx->bol = p;
			continue;
		}
		if (*p == '\\' && p + 1 < lx->end) {
			size_t k;

			p++;
			k = escape(&p, lx->end, quote, pair);
			for (size_t i = 0; i < k; i++, n++)
				if (n < max)
					out[n] = pair[i];
		} else {
			if (n < max)
				out[n] = *p;
			n++;
			p++;
		}
	}
	lx->p = p + 1;
	return (long)n;
}

void d_lex_string(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	const char *p = lx->p + 1;
	size_t room = 0;
	char *buf;
	long n;

	/* Escapes only make constants shorter. */
	while (p < lx->end && *p != '"' && room <= D_MAX_STRING * 2) {
		if (*p == '\\' && p + 1 < lx->end)
			p++, room++;
		p++, room++;
	}
	if (room > D_MAX_STRING)
		room = D_MAX_STRING;
	buf = arena_alloc(c->arena, room + 1);
	if (buf == NULL) {
		bad(c, ET_NOMEM, "out of memory");
		return;
	}
	n = text(c, '"', buf, room, D_STR_NL);
	if (n < 0)
		return;
	if ((size_t)n > room) {
		bad(c, D_SYNTAX, "a string constant of more than 64 KiB");
		return;
	}
	buf[n] = '\0';
	lx->tok.text = buf;
	lx->tok.len = (uint32_t)n;
	lx->tok.kind = TOK_STR;
}

void d_lex_char(struct d_comp *c)
{
	struct d_lexer *lx = c->lex;
	struct d_tok *t = &lx->tok;
	char buf[8];
	long n = text(c, '\'', buf, sizeof(buf), D_CHR_NL);

	if (n < 0)
		return;
	if (n == 0) {
		bad(c, D_CHR_NULL, "an empty character constant");
		return;
	}
	if (n > (long)sizeof(buf)) {
		bad(c, D_CHR_OFLOW,
			"a character constant of more than 8 bytes: strings have double quotes");
		return;
	}
	for (long i = 0; i < n; i++)
		t->value = t->value << 8 | (unsigned char)buf[i];
	if (n > 1)
		t->text = arena_strdup(c->arena, buf, (size_t)n);
	t->type = int_type(c, t->value, false, false, 0);
	t->kind = TOK_INT;
}
