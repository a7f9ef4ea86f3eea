/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "frame_text.h"

#include <stdio.h>
#include <string.h>

/* A number that takes all of the text. */
static bool get_number(const char *p, const char *end, unsigned base, uint64_t *value)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t v = 0;

	if (p >= end)
		return false;
	for (; p < end; p++) {
		const char *d = memchr(digits, *p, base);

		if (d == NULL)
			return false;
		v = v * base + (uint64_t)(d - digits);
	}
	*value = v;
	return true;
}

static bool get_hex(const char *p, const char *end, uint64_t *value)
{
	return end - p > 2 && p[0] == '0' && p[1] == 'x' && get_number(p + 2, end, 16, value);
}

/* " (lists.erl:12)" at the end; returns the end of what is before it. */
static const char *get_line(const char *text, const char *end, struct frame_text *f)
{
	const char *open, *colon;

	if (end - text < 2 || end[-1] != ')')
		return end;
	open = memrchr(text, '(', (size_t)(end - text));
	if (open == NULL || open < text + 2 || open[-1] != ' ')
		return end;
	colon = memrchr(open, ':', (size_t)(end - open));
	if (colon == NULL || !get_number(colon + 1, end - 1, 10, &f->line))
		return end;
	f->file = open + 1;
	f->file_len = (size_t)(colon - open - 1);
	return open - 1;
}

/* " (x 998)" or " (x 512+)" at the end. */
size_t frame_text_once(const char *text, size_t len)
{
	const char *end = text + len, *open;
	uint64_t times;

	if (len < 6 || end[-1] != ')')
		return len;
	open = memrchr(text, '(', len);
	if (open == NULL || open < text + 2 || end - open < 5 || memcmp(open - 1, " (x ", 4) != 0 ||
		!get_number(open + 3, end - (end[-2] == '+' ? 2 : 1), 10, &times))
		return len;
	return (size_t)(open - 1 - text);
}

/* The end of the module's name of libc.so.6`read; NULL: the text is not of that form. */
static const char *find_tick(const char *text, const char *end)
{
	for (const char *p = text; p < end; p++) {
		if (*p == '`')
			return p;
		if (*p == ':' ||
			*p == '\'') /* a function of Erlang; its atoms may have any characters */
			return NULL;
	}
	return NULL;
}

void frame_text_split(const char *text, size_t len, struct frame_text *f)
{
	const char *end = text + frame_text_once(text, len), *tick, *plus;
	uint64_t offset;

	*f = (struct frame_text){.function = 0};
	end = get_line(text, end, f);
	tick = find_tick(text, end);
	if (tick != NULL)
		f->module = (size_t)(tick - text);
	if (get_hex(tick != NULL ? tick + 1 : text, end, &f->address))
		return;
	plus = memrchr(text, '+', (size_t)(end - text));
	if (plus != NULL && get_hex(plus + 1, end, &offset)) {
		end = plus;
		if (tick == NULL && memchr(text, ':', (size_t)(end - text)) == NULL) {
			f->module = (size_t)(end - text);
			f->address = offset;
			return;
		}
	}
	f->function = (size_t)(end - text);
}

size_t frame_text_function(const char *text, size_t len, char *buf, size_t size)
{
	struct frame_text f;
	int n;

	frame_text_split(text, len, &f);
	if (f.function > 0 || len == 0)
		n = snprintf(buf, size, "%.*s", (int)f.function, text);
	else
		n = snprintf(buf, size, "[%.*s]", f.module > 0 ? (int)f.module : 7,
			f.module > 0 ? text : "unknown");
	return n > 0 ? (size_t)n : 0;
}

bool frame_text_is_end(const char *text, size_t len)
{
	uint64_t value;

	return get_hex(text, text + len, &value) && value == 0;
}
