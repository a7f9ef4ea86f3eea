/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts with limits (probe path): what terms are made of, as io_lib:format("~0tp") writes it. A
 * text that is cut ends with dots, if there is room for them.
 */
#ifndef TERM_WRITER_H
#define TERM_WRITER_H

#include <stdbool.h>
#include <string.h>

#include "term_bits.h"

#pragma GCC visibility push(hidden)

struct term_writer {
	char *buf;
	size_t room, len; /* room: without the NUL */
	bool cut;	  /* something did not fit */
	unsigned steps;	  /* of work: they do not depend on the size of the term */
};

static inline void write_begin(struct term_writer *w, char *buf, size_t size)
{
	*w = (struct term_writer){.buf = buf, .room = size - 1};
}

static inline bool write_full(const struct term_writer *w)
{
	return w->len >= w->room;
}

static inline void write_bytes(struct term_writer *w, const char *s, size_t n)
{
	if (n > w->room - w->len) {
		n = w->room - w->len;
		w->cut = true;
	}
	memcpy(w->buf + w->len, s, n);
	w->len += n;
	w->steps++;
}

static inline void write_text(struct term_writer *w, const char *s)
{
	write_bytes(w, s, strlen(s));
}

/* A text of so many bytes was put behind w->len, as far as there was room. */
static inline void write_took(struct term_writer *w, size_t n)
{
	size_t left = w->room - w->len;

	w->len += n < left ? n : left;
	w->cut |= n > left;
	w->steps++;
}

/* Is it printable, in any language? */
static inline bool write_can(uint32_t c)
{
	return (c >= ' ' && c < 127) || (c >= 8 && c <= 13) || c == 27 ||
	       (c >= 0xa0 && c < 0xd800) || (c > 0xdfff && c < 0xfffe) ||
	       (c > 0xffff && c <= 0x10ffff);
}

void write_char(struct term_writer *w, uint32_t c); /* of a text in quotes */
void write_int(struct term_writer *w, int64_t v);
void write_uint(struct term_writer *w, uint64_t v);
/* Base 2^64, the lowest digit first. */
void write_big(struct term_writer *w, const uint64_t *digits, unsigned n, bool negative);
void write_double(struct term_writer *w, double d);
void write_bits(struct term_writer *w, const struct term_bits *b);

/* Ends the text; all: nothing else was to be written. */
void write_end(struct term_writer *w, bool all);

/* One text, cut if it is longer. */
static inline void write_cut(char *buf, size_t size, const char *text)
{
	struct term_writer w;

	write_begin(&w, buf, size);
	write_text(&w, text);
	write_end(&w, true);
}

#pragma GCC visibility pop
#endif
