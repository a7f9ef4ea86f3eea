/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json(text, path) (probe path): the value at a path like a.b[0].c, as a string: the text of a
 * string without its quotes, anything else, all as it is written: escapes stay escapes. NULL if
 * there is no such value, or what comes before its end is not JSON. One pass over the text, without
 * recursion: each part of the path is searched for inside the value of the last one, and other
 * values are skipped by counting brackets. The text after the value is not checked, as in DTrace.
 */
#include <string.h>

#include "compiler.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "rt_str.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/work.h"

struct text {
	const char *at, *end;
};

/* In memory, not in registers, so that BPF can have functions that take pointers to them. */
struct work {
	struct text path, t; /* the rest of each */
	struct text part;    /* of the path */
	struct text name, value;
};

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool is_hex(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

PROBE_PATH static void skip_space(struct text *t)
{
	while (t->at < t->end && (*t->at == ' ' || (*t->at >= '\t' && *t->at <= '\r')))
		t->at++;
}

/* The next character, 0 at the end of the text. */
static inline char next(const struct text *t)
{
	return t->at < t->end ? *t->at : '\0';
}

/* Skip a string with its quotes; *body is what is between them. */
PROBE_PATH static bool skip_string(struct text *t, struct text *body)
{
	unsigned hex = 0; /* digits that must follow */

	if (next(t) != '"')
		return false;
	body->at = ++t->at;
	for (; t->at < t->end; t->at++) {
		if (hex > 0) {
			if (!is_hex(*t->at))
				return false;
			hex--;
		} else if (*t->at == '"') {
			body->end = t->at++;
			return true;
		} else if (*t->at == '\\') {
			if (++t->at >= t->end)
				return false;
			hex = *t->at == 'u' ? 4 : 0;
		}
	}
	return false;
}

/* Skip an object or an array. */
PROBE_PATH static INLINE_ALWAYS bool skip_nested(struct text *t)
{
	unsigned braces = 0, brackets = 0;
	struct text ignored;

	while (t->at < t->end) {
		char c = *t->at;

		if (c == '"') {
			if (!skip_string(t, &ignored))
				return false;
			continue;
		}
		if (c == '{')
			braces++;
		else if (c == '[')
			brackets++;
		else if ((c == '}' && braces-- == 0) || (c == ']' && brackets-- == 0))
			return false;
		t->at++;
		if (braces == 0 && brackets == 0)
			return true;
	}
	return false;
}

/* Skip a number: digits, then a fraction, then an exponent, which may have a sign. */
PROBE_PATH static bool skip_number(struct text *t)
{
	bool fraction = false, exponent = false;

	for (t->at++; t->at < t->end; t->at++) {
		char c = *t->at;

		if (c == '.' && !fraction && !exponent)
			fraction = true;
		else if ((c | 0x20) == 'e' && !exponent)
			exponent = true;
		else if ((c | 0x20) == 'x' || ((c == '+' || c == '-') && !exponent))
			return false;
		else if (!is_digit(c) && c != '+' && c != '-')
			return true;
	}
	return false; /* it may go on */
}

PROBE_PATH static bool skip_word(struct text *t)
{
	const char *from = t->at;

	while (t->at < t->end && is_lower(*t->at))
		t->at++;
	return t->at < t->end && ((t->at - from == 4 && (memcmp(from, "true", 4) == 0 ||
								memcmp(from, "null", 4) == 0)) ||
					 (t->at - from == 5 && memcmp(from, "false", 5) == 0));
}

/* Skip a whole value; v is its text. */
PROBE_PATH static INLINE_HERE bool skip_value(struct text *t, struct text *v)
{
	char c;
	bool whole;

	skip_space(t);
	c = next(t);
	if (c == '"')
		return skip_string(t, v);
	v->at = t->at;
	whole = c == '{' || c == '['	  ? skip_nested(t)
		: c == '-' || is_digit(c) ? skip_number(t)
					  : skip_word(t);
	v->end = t->at;
	return whole;
}

PROBE_PATH static bool eat(struct text *t, char c)
{
	skip_space(t);
	if (next(t) != c)
		return false;
	t->at++;
	return true;
}

PROBE_PATH static bool is_same(const struct text *a, const struct text *b)
{
	return a->end - a->at == b->end - b->at &&
	       memcmp(a->at, b->at, (size_t)(a->end - a->at)) == 0;
}

/* The number that the part is; -1: none. */
PROBE_PATH static INLINE_HERE int64_t number_of(const struct text *part)
{
	int64_t n = 0;

	for (const char *p = part->at; p < part->end; p++) {
		if (!is_digit(*p))
			return -1;
		n = n < 1 << 30 ? n * 10 + (*p - '0') : n;
	}
	return part->at < part->end ? n : -1;
}

/*
 * Find the member of an object that the part names, or the element of an array with its number; its
 * value comes next. In BPF its turns are calls (kernel/link_input.c), so it is one loop for both.
 */
PROBE_PATH static INLINE_HERE bool json_find(struct work *w, bool member)
{
	struct text *t = &w->t;
	int64_t left = member ? 0 : number_of(&w->part);

	if (left < 0)
		return false;
	for (;; left--) {
		if (member) {
			skip_space(t);
			if (!skip_string(t, &w->name) || !eat(t, ':'))
				return false;
			if (is_same(&w->name, &w->part))
				return true;
		} else if (left == 0) {
			return true;
		}
		if (!skip_value(t, &w->value) || !eat(t, ','))
			return false;
	}
}

/* The next part of a path: up to a dot or bracket. "a.0" and "a[0]" are the same. */
PROBE_PATH static void next_part(struct work *w)
{
	struct text *path = &w->path;

	w->part.at = path->at;
	while (path->at < path->end && *path->at != '.' && *path->at != '[' && *path->at != ']')
		path->at++;
	w->part.end = path->at;
	if (next(path) == ']')
		path->at++;
}

PROBE_PATH static INLINE_HERE bool step(struct work *w)
{
	bool member;

	next_part(w);
	member = eat(&w->t, '{');
	return (member || eat(&w->t, '[')) && json_find(w, member);
}

RTFN(json)
{
	struct fire *f = FIRE(ctx);
	uint32_t n, m;
	const char *s = str_arg(f, b, &n), *p = str_arg(f, c, &m);
	BIG_LOCAL(struct work, w, f);

	if (s == NULL || p == NULL || !work_bytes(f, (uint64_t)n + m))
		return 0;
	w->t = (struct text){s, s + n};
	w->path = (struct text){p, p + m};
	if (next(&w->path) == '[')
		w->path.at++;
	for (;;) {
		if (!step(w))
			return 0;
		if (w->path.at >= w->path.end)
			break;
		if (*w->path.at != '.' && *w->path.at != '[')
			return 0;
		w->path.at++;
	}
	if (!skip_value(&w->t, &w->value))
		return 0;
	return str_put(f, a, w->value.at, (size_t)(w->value.end - w->value.at));
}
