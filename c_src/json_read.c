/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of JSON for lines of files, which anybody may have written. Texts are decoded where they
 * stand, so the nodes point into the caller's buffer. What nests, and how many values there are, is
 * bounded; a text has no NUL, since D's strings end there; a key comes once in an object.
 */
#include "json_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "utf8.h"

struct reader {
	struct js *js;
	char *text;
	size_t len, at;
};

static int value(struct reader *r, const char *key, unsigned deep);

static int fail(struct reader *r, size_t at, const char *what)
{
	r->js->at = at;
	r->js->what = what;
	return -1;
}

static char peek(const struct reader *r)
{
	return r->at < r->len ? r->text[r->at] : '\0';
}

static char skip(struct reader *r)
{
	while (r->at < r->len && strchr(" \t\r\n", r->text[r->at]) != NULL &&
		r->text[r->at] != '\0')
		r->at++;
	return peek(r);
}

/* ---- texts ---------------------------------------------------------------------------- */

static int hex4(struct reader *r, uint32_t *c)
{
	*c = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		char d = peek(r);

		if (d >= '0' && d <= '9')
			*c = *c << 4 | (uint32_t)(d - '0');
		else if ((d | 32) >= 'a' && (d | 32) <= 'f')
			*c = *c << 4 | (uint32_t)((d | 32) - 'a' + 10);
		else
			return fail(r, r->at, "four hexadecimal digits are expected behind \\u");
	}
	return 0;
}

/* Behind \u: one character, or the two halves of one above 0xffff. */
static int unicode(struct reader *r, uint32_t *c)
{
	size_t start = r->at;
	uint32_t low;

	if (hex4(r, c) < 0)
		return -1;
	if (*c >= 0xd800 && *c < 0xdc00) {
		if (r->len - r->at < 2 || memcmp(r->text + r->at, "\\u", 2) != 0)
			return fail(r, start, "this is half of a character");
		r->at += 2;
		if (hex4(r, &low) < 0)
			return -1;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(r, start, "this is half of a character");
		*c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
	} else if (*c >= 0xdc00 && *c < 0xe000) {
		return fail(r, start, "this is half of a character");
	}
	return *c != 0 ? 0 : fail(r, start, "a text with a NUL");
}

/* Behind a backslash; what is decoded is never longer than what is read. */
static int escape(struct reader *r, char **to)
{
	static const char from[] = "\"\\/bfnrt", chars[] = "\"\\/\b\f\n\r\t";
	const char *known = peek(r) != '\0' ? strchr(from, peek(r)) : NULL;
	uint32_t c;

	if (known != NULL) {
		*(*to)++ = chars[known - from];
		r->at++;
		return 0;
	}
	if (peek(r) != 'u')
		return fail(r, r->at, "an unknown escape");
	r->at++;
	if (unicode(r, &c) < 0)
		return -1;
	*to += utf8_encode(c, *to);
	return 0;
}

/* From its quote on. */
static int text(struct reader *r, const char **out, size_t *len)
{
	size_t start = r->at++;
	char *to = r->text + r->at;

	*out = to;
	for (;;) {
		unsigned char c = (unsigned char)peek(r);

		if (r->at >= r->len)
			return fail(r, start, "this text does not end");
		if (c < ' ')
			return fail(r, r->at, "a control character in a text");
		r->at++;
		if (c == '"')
			break;
		if (c != '\\')
			*to++ = (char)c;
		else if (escape(r, &to) < 0)
			return -1;
	}
	*len = (size_t)(to - *out);
	*to = '\0'; /* its last quote is behind it, or beyond */
	return 0;
}

/* ---- numbers -------------------------------------------------------------------------- */

static size_t digits(struct reader *r)
{
	size_t start = r->at;

	while (peek(r) >= '0' && peek(r) <= '9')
		r->at++;
	return r->at - start;
}

/* Integers of 64 bits, also unsigned ones; others are known to be numbers. */
static int number(struct reader *r, struct js_node *node)
{
	size_t start = r->at, n;
	char copy[24];
	bool minus = peek(r) == '-';

	r->at += minus;
	n = digits(r);
	if (n == 0 || (n > 1 && r->text[r->at - n] == '0'))
		return fail(r, start, "this is no number");
	node->kind = JS_NUMBER;
	if (peek(r) == '.' || peek(r) == 'e' || peek(r) == 'E') {
		if (peek(r) == '.' && (r->at++, digits(r) == 0))
			return fail(r, start, "this is no number");
		if (peek(r) == 'e' || peek(r) == 'E') {
			r->at++;
			r->at += peek(r) == '+' || peek(r) == '-';
			if (digits(r) == 0)
				return fail(r, start, "this is no number");
		}
		return 0;
	}
	if (r->at - start >= sizeof(copy))
		return 0;
	memcpy(copy, r->text + start, r->at - start);
	copy[r->at - start] = '\0';
	errno = 0;
	node->num = minus ? strtoll(copy, NULL, 10) : (int64_t)strtoull(copy, NULL, 10);
	node->whole = errno == 0;
	return 0;
}

/* ---- what has parts ------------------------------------------------------------------- */

static int parts(struct reader *r, unsigned at, unsigned deep)
{
	bool object = peek(r) == '{';
	char close = object ? '}' : ']';
	unsigned n = 0;

	r->js->nodes[at].kind = object ? JS_OBJECT : JS_ARRAY;
	if (deep == JS_DEEP)
		return fail(r, r->at, "values are nested too deeply");
	r->at++;
	while (skip(r) != close) {
		const char *key = NULL;
		size_t len, start;

		if (n > 0) {
			if (peek(r) != ',')
				return fail(r, r->at,
					object ? "a comma or } is expected"
					       : "a comma or ] is expected");
			r->at++;
			skip(r);
		}
		start = r->at;
		if (object) {
			if (peek(r) != '"')
				return fail(
					r, r->at, "the name of a member is expected, in quotes");
			if (text(r, &key, &len) < 0)
				return -1;
			if (js_member(r->js, &r->js->nodes[at], key) != NULL)
				return fail(r, start, "this member is there twice");
			if (skip(r) != ':')
				return fail(r, r->at, "a colon is expected");
			r->at++;
		}
		if (value(r, key, deep + 1) < 0)
			return -1;
		r->js->nodes[at].n = ++n;
		r->js->nodes[at].end = (unsigned)r->js->n;
	}
	r->at++;
	return 0;
}

static int word(struct reader *r, const char *name, enum js_kind kind, struct js_node *node)
{
	size_t n = strlen(name);

	if (r->len - r->at < n || memcmp(r->text + r->at, name, n) != 0)
		return fail(r, r->at, "a value is expected");
	r->at += n;
	node->kind = kind;
	return 0;
}

static int value(struct reader *r, const char *key, unsigned deep)
{
	unsigned at = (unsigned)r->js->n;
	struct js_node *node;

	if (at == JS_NODES)
		return fail(r, r->at, "there are too many values");
	if (!ARRAY_ROOM(r->js->nodes, r->js->n))
		return fail(r, r->at, "out of memory");
	node = &r->js->nodes[at];
	*node = (struct js_node){.key = key, .end = at + 1};
	r->js->n++;
	switch (skip(r)) {
	case '{':
	case '[': return parts(r, at, deep);
	case '"': node->kind = JS_TEXT; return text(r, &node->text, &node->len);
	case 't': return word(r, "true", JS_TRUE, node);
	case 'f': return word(r, "false", JS_FALSE, node);
	case 'n': return word(r, "null", JS_NULL, node);
	default: break;
	}
	if (peek(r) == '-' || (peek(r) >= '0' && peek(r) <= '9'))
		return number(r, node);
	return fail(r, r->at, r->at < r->len ? "a value is expected" : "the line ends too early");
}

int js_read(struct js *js, char *text_, size_t len)
{
	struct reader r = {.js = js, .text = text_, .len = len};

	js->n = 0;
	js->what = NULL;
	if (value(&r, NULL, 0) < 0)
		return -1;
	skip(&r);
	return r.at == len ? 0 : fail(&r, r.at, "the value has ended, but more follows");
}

void js_free(struct js *js)
{
	free(js->nodes);
	*js = (struct js){0};
}

const struct js_node *js_member(const struct js *js, const struct js_node *object, const char *key)
{
	unsigned at = (unsigned)(object - js->nodes) + 1;

	if (object->kind != JS_OBJECT)
		return NULL;
	for (unsigned i = 0; i < object->n; i++, at = js->nodes[at].end)
		if (strcmp(js->nodes[at].key, key) == 0)
			return &js->nodes[at];
	return NULL;
}
