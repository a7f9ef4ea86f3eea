/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json(text, path) (probe path): the value at a path like a.b[0].c, as a string: a string's text,
 * anything else as it is written. NULL if there is no such value. One pass over the text, without
 * recursion: each part of the path is searched for inside the value of the last one, and other
 * values are skipped by counting brackets. The text after the value is not checked, as in DTrace.
 */
#include <string.h>

#include "compiler.h"
#include "fire.h"
#include "in_kernel.h"
#include "rt_str.h"
#include "slot.h"
#include "state.h"
#include "work.h"

struct text {
	const char *at, *end;
};

/* In memory, not in registers, so that BPF can have functions that take pointers to them. */
struct work {
	struct text path, t; /* the rest of each */
	struct text name, value;
};

PROBE_PATH static void skip_space(struct text *t)
{
	while (t->at < t->end && (*t->at == ' ' || (*t->at >= '\t' && *t->at <= '\r')))
		t->at++;
}

/* Skip a string with its quotes; *body is what is between them. */
PROBE_PATH static bool skip_string(struct text *t, struct text *body)
{
	if (t->at >= t->end || *t->at != '"')
		return false;
	body->at = ++t->at;
	for (; t->at < t->end && *t->at != '"'; t->at++)
		if (*t->at == '\\' && ++t->at >= t->end)
			return false;
	if (t->at >= t->end)
		return false;
	body->end = t->at++;
	return true;
}

/* Skip a whole value, which is then [v->at, v->end). */
PROBE_PATH static INLINE_HERE bool skip_value(struct text *t, struct text *v)
{
	unsigned depth = 0;
	struct text ignored;

	skip_space(t);
	v->at = t->at;
	while (t->at < t->end) {
		char c = *t->at;

		if (c == '"') {
			if (!skip_string(t, &ignored))
				return false;
			if (depth == 0)
				break;
			continue;
		}
		if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				break; /* closes what encloses the value */
			if (--depth == 0) {
				t->at++;
				break;
			}
		} else if (depth == 0 && (c == ',' || c == ' ' || (c >= '\t' && c <= '\r'))) {
			break;
		}
		t->at++;
	}
	v->end = t->at;
	return v->end > v->at && depth == 0;
}

PROBE_PATH static bool eat(struct text *t, char c)
{
	skip_space(t);
	if (t->at >= t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

PROBE_PATH static bool is_name(const struct text *name, const char *part, size_t len)
{
	return (size_t)(name->end - name->at) == len && memcmp(name->at, part, len) == 0;
}

/* Find a member of an object; its value comes next. */
PROBE_PATH static INLINE_HERE bool member(struct work *w, const char *part, size_t len)
{
	struct text *t = &w->t;

	if (!eat(t, '{'))
		return false;
	for (;;) {
		skip_space(t);
		if (!skip_string(t, &w->name) || !eat(t, ':'))
			return false;
		if (is_name(&w->name, part, len))
			return true;
		if (!skip_value(t, &w->value) || !eat(t, ','))
			return false;
	}
}

/* The same for an element of an array. */
PROBE_PATH static INLINE_HERE bool element(struct work *w, uint64_t n)
{
	struct text *t = &w->t;

	if (!eat(t, '['))
		return false;
	for (; n > 0; n--)
		if (!skip_value(t, &w->value) || !eat(t, ','))
			return false;
	return true;
}

/* The next part of a path: ".name", "name" or "[number]". */
PROBE_PATH static INLINE_HERE bool step(struct work *w)
{
	struct text *path = &w->path;
	const char *from;
	uint64_t n = 0;

	if (*path->at == '[') {
		from = ++path->at;
		for (; path->at < path->end && *path->at >= '0' && *path->at <= '9'; path->at++)
			n = n < 1u << 30 ? n * 10 + (uint64_t)(*path->at - '0') : n;
		if (path->at == from || path->at >= path->end || *path->at != ']')
			return false;
		path->at++;
		return element(w, n);
	}
	if (*path->at == '.')
		path->at++;
	for (from = path->at; path->at < path->end && *path->at != '.' && *path->at != '[';)
		path->at++;
	return path->at > from && member(w, from, (size_t)(path->at - from));
}

PROBE_PATH static int hex(const char *p)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int digit = c >= '0' && c <= '9'		     ? c - '0'
			    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
								     : -1;

		if (digit < 0)
			return -1;
		v = v * 16 + digit;
	}
	return v;
}

PROBE_PATH static char plain_escape(char c)
{
	switch (c) {
	case 'n': return '\n';
	case 't': return '\t';
	case 'r': return '\r';
	case 'b': return '\b';
	case 'f': return '\f';
	default: return c; /* quote, backslash, slash: itself */
	}
}

/* A string's text, unescaped; \u only for codes of one byte, others are left as they are. */
PROBE_PATH static INLINE_HERE uint64_t unescape(struct fire *f, uint64_t slot, const struct text *s)
{
	uint32_t n = 0, most = f->en->strsize - 1;
	char *to = str_slot(f, slot);
	int v;

	if (to == NULL)
		return 0;
	for (const char *p = s->at; p < s->end && n < most; p++) {
		if (*p != '\\' || p + 1 >= s->end) {
			to[n++] = *p;
		} else if (*++p != 'u') {
			to[n++] = plain_escape(*p);
		} else if (s->end - p > 4 && (v = hex(p + 1)) > 0 && v < 0x80) {
			to[n++] = (char)v;
			p += 4;
		} else {
			to[n++] = '\\';
			if (n < most)
				to[n++] = 'u';
		}
	}
	str_end(to, n);
	return (uint64_t)(uintptr_t)to;
}

RTFN(json)
{
	struct fire *f = FIRE(ctx);
	uint32_t n, m;
	const char *s = str_arg(f, b, &n), *p = str_arg(f, c, &m);
	BIG_LOCAL(struct work, w, f);

	if (n == 0 || m == 0 || !work_bytes(f, (uint64_t)n + m))
		return 0;
	w->t = (struct text){s, s + n};
	w->path = (struct text){p, p + m};
	while (w->path.at < w->path.end)
		if (!step(w))
			return 0;
	skip_space(&w->t);
	if (skip_string(&w->t, &w->value))
		return unescape(f, a, &w->value);
	if (!skip_value(&w->t, &w->value))
		return 0;
	return str_put(f, a, w->value.at, (size_t)(w->value.end - w->value.at));
}
