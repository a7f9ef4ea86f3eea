/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a pattern: characters with their escapes, names and numbers, as Erlang reads them. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "erlang_words.h"
#include "pattern_lex.h"
#include "utf8.h"

int pat_fail(struct pat_text *p, size_t at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	et_verr(p->e, D_PATTERN, fmt, ap);
	va_end(ap);
	p->error_at = at;
	return -1;
}

void *pat_alloc(struct pat_text *p, size_t size)
{
	void *mem = p->r->alloc(p->r->ctx, size > 0 ? size : 1);

	if (mem == NULL)
		pat_fail(p, p->at, "out of memory for a pattern");
	return mem;
}

void pat_skip(struct pat_text *p)
{
	for (;; p->at++) {
		unsigned char c = pat_peek(p, 0);

		if (c == '%')
			while (p->at < p->len && p->text[p->at] != '\n')
				p->at++;
		else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			return;
		if (p->at >= p->len)
			return;
	}
}

bool pat_sees(struct pat_text *p, const char *token)
{
	size_t n = strlen(token);

	pat_skip(p);
	return n <= p->len - p->at && memcmp(p->text + p->at, token, n) == 0;
}

bool pat_take(struct pat_text *p, const char *token)
{
	bool is = pat_sees(p, token);

	if (is)
		p->at += strlen(token);
	return is;
}

/* ---- characters ------------------------------------------------------------------------ */

/* The character at this position, and how many bytes it has; 0: it is not UTF-8. */
static size_t decode(const struct pat_text *p, uint32_t *c)
{
	const unsigned char *s = (const unsigned char *)p->text + p->at;
	size_t n = p->at < p->len ? utf8_valid(s, p->len - p->at) : 0;

	if (n > 0)
		*c = utf8_decode(s, n);
	return n;
}

static int hex_of(unsigned char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 10
	       : c >= 'A' && c <= 'Z' ? c - 'A' + 10
				      : 99;
}

/* \xHH, \x{H...}, behind the x. */
static int hex_escape(struct pat_text *p, size_t start, uint32_t *c)
{
	bool braces = pat_peek(p, 0) == '{';
	unsigned n = 0;

	p->at += braces;
	for (*c = 0; hex_of(pat_peek(p, 0)) < 16 && (braces ? *c <= 0x10ffff : n < 2); p->at++, n++)
		*c = *c << 4 | (uint32_t)hex_of(pat_peek(p, 0));
	if (n == 0 || (!braces && n != 2) || (braces && pat_peek(p, 0) != '}') || !utf8_is_char(*c))
		return pat_fail(p, start, "this escape is no character");
	p->at += braces;
	return 1;
}

/* Behind the backslash. */
static int escape(struct pat_text *p, size_t start, uint32_t *c)
{
	unsigned char b = pat_peek(p, 0);

	if (b >= '0' && b <= '7') {
		*c = 0;
		for (int i = 0; i < 3 && (b = pat_peek(p, 0)) >= '0' && b <= '7'; i++, p->at++)
			*c = *c << 3 | (uint32_t)(b - '0');
		return 1;
	}
	if (b == 'x') {
		p->at++;
		return hex_escape(p, start, c);
	}
	if (b == '^' && pat_peek(p, 1) >= '@' && pat_peek(p, 1) <= 'z') {
		*c = pat_peek(p, 1) & 31;
		p->at += 2;
		return 1;
	}
	*c = (uint32_t)erlang_unescape((char)b);
	if (*c == 0)
		return pat_fail(p, start, "unknown escape in a pattern");
	p->at++;
	return 1;
}

int pat_char(struct pat_text *p, char quote, uint32_t *c)
{
	size_t start = p->at, n;

	if (p->at >= p->len)
		return pat_fail(p, p->at, "the pattern ends within %s",
			quote == '"' ? "a text" : "an atom");
	if (p->text[p->at] == quote) {
		p->at++;
		return 0;
	}
	if (p->text[p->at] == '\\') {
		p->at++;
		return escape(p, start, c);
	}
	n = decode(p, c);
	if (n == 0)
		return pat_fail(p, start, "the pattern is not UTF-8");
	p->at += n;
	return 1;
}

/* ---- names ----------------------------------------------------------------------------- */

bool pat_is_small(const struct pat_text *p)
{
	uint32_t c;

	return p->at < p->len && decode(p, &c) != 0 && erlang_is_small(c);
}

bool pat_is_capital(const struct pat_text *p)
{
	uint32_t c;

	return p->at < p->len && decode(p, &c) != 0 && erlang_is_capital(c);
}

static int plain_name(struct pat_text *p, const char **name, uint32_t *len)
{
	size_t start = p->at, n;
	unsigned chars = 0;
	uint32_t c;
	char *copy;

	while (p->at < p->len && (n = decode(p, &c)) != 0 && erlang_is_inner(c)) {
		p->at += n;
		chars++;
	}
	if (chars > PAT_ATOM_MAX)
		return pat_fail(p, start, "a name of more than %d characters", PAT_ATOM_MAX);
	*len = (uint32_t)(p->at - start);
	copy = pat_alloc(p, *len + 1);
	if (copy == NULL)
		return -1;
	memcpy(copy, p->text + start, *len);
	copy[*len] = '\0';
	*name = copy;
	return 0;
}

int pat_name(struct pat_text *p, const char **name, uint32_t *len)
{
	char buf[PAT_ATOM_MAX * 4 + 1], *copy;
	size_t start = p->at, n = 0;
	unsigned chars = 0;
	uint32_t c;
	int rc;

	if (pat_peek(p, 0) != '\'')
		return plain_name(p, name, len);
	p->at++;
	while ((rc = pat_char(p, '\'', &c)) == 1) {
		if (chars++ == PAT_ATOM_MAX)
			return pat_fail(
				p, start, "an atom of more than %d characters", PAT_ATOM_MAX);
		n += utf8_encode(c, buf + n);
	}
	if (rc < 0)
		return -1;
	copy = pat_alloc(p, n + 1);
	if (copy == NULL)
		return -1;
	memcpy(copy, buf, n);
	copy[n] = '\0';
	*name = copy;
	*len = (uint32_t)n;
	return 0;
}

/* ---- numbers --------------------------------------------------------------------------- */

struct big {
	uint64_t word[PAT_BIG_WORDS];
	unsigned n;
};

/* b = b * by + plus; false: it is too large. */
static bool scale(struct big *b, unsigned by, unsigned plus)
{
	unsigned __int128 carry = plus;

	for (unsigned i = 0; i < b->n; i++) {
		carry += (unsigned __int128)b->word[i] * by;
		b->word[i] = (uint64_t)carry;
		carry >>= 64;
	}
	if (carry == 0)
		return true;
	if (b->n == PAT_BIG_WORDS)
		return false;
	b->word[b->n++] = (uint64_t)carry;
	return true;
}

/* Digits of a base, with single _ between them. */
static int digits(struct pat_text *p, unsigned base, struct big *b)
{
	size_t start = p->at;

	while ((unsigned)hex_of(pat_peek(p, 0)) < base ||
		(pat_peek(p, 0) == '_' && p->at > start && p->text[p->at - 1] != '_' &&
			(unsigned)hex_of(pat_peek(p, 1)) < base)) {
		if (pat_peek(p, 0) != '_' && !scale(b, base, (unsigned)hex_of(pat_peek(p, 0))))
			return pat_fail(p, start, "an integer of more than %d bits in a pattern",
				PAT_BIG_WORDS * 64);
		p->at++;
	}
	return p->at > start ? 0 : pat_fail(p, start, "digits are expected in a pattern");
}

static int integer(struct pat_text *p, bool negative, const struct big *b, struct pat_node *node)
{
	uint64_t *words;

	if (b->n <= 1 && b->word[0] <= (uint64_t)INT64_MAX + negative) {
		node->op = PAT_INT;
		node->num = (int64_t)(negative ? 0 - b->word[0] : b->word[0]);
		return 0;
	}
	words = pat_alloc(p, b->n * sizeof(*words));
	if (words == NULL)
		return -1;
	memcpy(words, b->word, b->n * sizeof(*words));
	node->op = PAT_BIG;
	node->n = negative;
	node->text = (const char *)words;
	node->len = (uint32_t)(b->n * sizeof(*words));
	return 0;
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

/* From its first digit on; p->at is at the point. */
static int floating(struct pat_text *p, size_t start, bool negative, struct pat_node *node)
{
	char text[400], *end;
	size_t n = 0, at;

	p->at++;
	while (is_digit(pat_peek(p, 0)) || (pat_peek(p, 0) == '_' && is_digit(pat_peek(p, 1))))
		p->at++;
	if (pat_peek(p, 0) == 'e' || pat_peek(p, 0) == 'E') {
		size_t sign = pat_peek(p, 1) == '-' || pat_peek(p, 1) == '+';

		if (!is_digit(pat_peek(p, 1 + sign)))
			return pat_fail(p, p->at, "digits are expected behind the exponent");
		for (p->at += 1 + sign; is_digit(pat_peek(p, 0));)
			p->at++;
	}
	for (at = start; at < p->at && n < sizeof(text) - 1; at++)
		if (p->text[at] != '_')
			text[n++] = p->text[at];
	text[n] = '\0';
	node->op = PAT_FLOAT;
	node->real = strtod(text, &end);
	if (at < p->at || *end != '\0' || !__builtin_isfinite(node->real))
		return pat_fail(p, start, "a float that is too large, or has too many digits");
	if (negative)
		node->real = -node->real;
	return 0;
}

/* $c: behind the $. */
static int character(struct pat_text *p, bool negative, struct pat_node *node)
{
	uint32_t c;

	if (pat_peek(p, 0) == '\0')
		return pat_fail(p, p->at, "a character is expected behind $");
	if (pat_char(p, '\0', &c) < 0)
		return -1;
	node->op = PAT_INT;
	node->num = negative ? -(int64_t)c : (int64_t)c;
	return 0;
}

int pat_number(struct pat_text *p, bool negative, struct pat_node *node)
{
	size_t start = p->at;
	struct big b = {.n = 1};

	if (pat_peek(p, 0) == '$') {
		p->at++;
		return character(p, negative, node);
	}
	if (digits(p, 10, &b) < 0)
		return -1;
	if (pat_peek(p, 0) == '.' && is_digit(pat_peek(p, 1)))
		return floating(p, start, negative, node);
	if (pat_peek(p, 0) == '#' && hex_of(pat_peek(p, 1)) < 36) {
		unsigned base = b.n == 1 && b.word[0] <= 36 ? (unsigned)b.word[0] : 0;

		if (base < 2)
			return pat_fail(p, start, "the base of an integer is from 2 to 36");
		p->at++;
		b = (struct big){.n = 1};
		if (digits(p, base, &b) < 0)
			return -1;
	}
	if (hex_of(pat_peek(p, 0)) < 36 || pat_peek(p, 0) == '_' ||
		(pat_peek(p, 0) == '.' && is_digit(pat_peek(p, 1))))
		return pat_fail(p, p->at, "the number goes on in a way that is not understood");
	return integer(p, negative, &b, node);
}
