/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values in dtrace's default layouts: trace(), tracemem(), stacks, symbols, and the keys of
 * aggregations.
 *
 *   trace()   integers " %Nd": 8 bytes 19 (unsigned 20), 4 bytes 10, 2 bytes 5, 1 byte 3;
 *             strings "  %-33s"; with quiet none of it
 *   keys      integers " %Nd": 8 bytes 16, 4 bytes 8, 2 bytes 5, 1 byte 3; strings "  %-50s"
 *             (narrower than trace(): so it is in dtrace)
 *   symbols   "  %-50s" in both
 *   stacks    a newline, then each frame indented (stackindent, 14) with its newline
 */
#include "consumer.h"

#include <ctype.h>
#include <string.h>

#include "columns.h"
#include "datum.h"

#define TRACE_TEXT 33
#define KEY_TEXT   50

static unsigned trace_width(const struct prog_val *v)
{
	switch (v->size) {
	case 1: return 3;
	case 2: return 5;
	case 4: return 10;
	default: return v->is_signed ? 19 : 20;
	}
}

static unsigned key_width(const struct prog_val *v)
{
	switch (v->size) {
	case 1: return 3;
	case 2: return 5;
	case 4: return 8;
	default: return 16;
	}
}

static void put_int(struct co_buf *b, const struct co_val *v, const char *before, unsigned width)
{
	cb_str(b, before);
	if (v->v->is_signed)
		cb_fmt(b, "%*lld", (int)width, (long long)v->i);
	else
		cb_fmt(b, "%*llu", (int)width, (unsigned long long)v->i);
}

static void put_text(struct co_buf *b, const void *p, size_t len, unsigned width, bool quiet)
{
	if (quiet) {
		cb_data(b, p, len);
		return;
	}
	cb_str(b, "  ");
	cb_padded(b, p, len, -(int)width);
}

/* Sixteen bytes a row, in hexadecimal and as characters. */
void da_bytes(struct co_buf *b, const uint8_t *p, size_t len)
{
	size_t i, j;

	if (len == 0)
		return;
	cb_str(b, "\n           ");
	for (i = 0; i < 16; i++)
		cb_fmt(b, "  %c", "0123456789abcdef"[i]);
	cb_str(b, "  0123456789abcdef\n");
	for (i = 0; i < len; i += 16) {
		cb_fmt(b, "     %5zx:", i);
		for (j = i; j < i + 16; j++) {
			if (j < len)
				cb_fmt(b, " %02x", p[j]);
			else
				cb_str(b, "   ");
		}
		cb_str(b, "  ");
		for (j = i; j < i + 16 && j < len; j++)
			cb_fill(b, p[j] < ' ' || p[j] > '~' ? '.' : (char)p[j], 1);
		cb_str(b, "\n");
	}
}

/* Is it text: characters that print, then nothing but NUL to the end? Its length, or -1. */
static long text_length(const uint8_t *p, size_t len)
{
	size_t i = 0, j;

	while (i < len && p[i] != 0) {
		if (!isprint(p[i]) && !isspace(p[i]) && p[i] != '\b' && p[i] != '\a')
			return -1;
		i++;
	}
	for (j = i; j < len; j++)
		if (p[j] != 0)
			return -1;
	return i == 0 ? -1 : (long)i;
}

/* struct, union, array: text if it looks like text and is made of bytes; else bytes. */
static void put_blob(
	struct co *co, struct co_buf *b, const struct co_val *v, unsigned width, bool quiet)
{
	bool words = v->v->type != NULL && v->v->type->align > 1;
	long n = co_opt(co, OPT_RAWBYTES) || words ? -1 : text_length(v->p, v->len);

	if (n < 0)
		da_bytes(b, v->p, v->len);
	else
		put_text(b, v->p, (size_t)n, width, quiet);
}

/* A string as the array of strsize characters that it is in D. */
static void put_raw_string(struct co *co, struct co_buf *b, const struct co_val *v)
{
	size_t size = co->prog->strsize - 1 > v->len ? co->prog->strsize - 1 : v->len;
	uint8_t *p = co_tmp(co, size);

	if (p == NULL) {
		b->nomem = true;
		return;
	}
	if (v->len)
		memcpy(p, v->p, v->len);
	da_bytes(b, p, size);
}

static void put_symbol(struct co *co, struct co_buf *b, const struct co_val *v)
{
	char sym[512];

	sy_format(co->sy, (uint64_t)v->i, cv_form_of(v->v->sub), sym, sizeof(sym));
	put_text(b, sym, strlen(sym), KEY_TEXT, false);
}

void da_stack(struct co *co, struct co_buf *b, const struct co_val *v, int indent, int width)
{
	unsigned i, n = cv_nframes(v);
	char sym[512];

	if (indent < 0)
		indent = (int)co_opt(co, OPT_STACKINDENT);
	cb_str(b, "\n");
	for (i = 0; i < n;) {
		i = cv_frame_text(co, v, i, sym, sizeof(sym));
		cb_fill(b, ' ', (size_t)indent);
		cb_padded(b, sym, strlen(sym), width);
		cb_str(b, "\n");
	}
}

void da_trace(struct co *co, struct co_buf *b, const struct co_val *v, bool quiet)
{
	switch (v->v->kind) {
	case V_INT: put_int(b, v, quiet ? "" : " ", quiet ? 0 : trace_width(v->v)); break;
	case V_STR:
		if (co_opt(co, OPT_RAWBYTES))
			put_raw_string(co, b, v);
		else
			put_text(b, v->p, v->len, TRACE_TEXT, quiet);
		break;
	case V_FLOAT: cb_fmt(b, quiet ? "%Lg" : " %19Lg", cv_float(v)); break;
	case V_STACK: da_stack(co, b, v, -1, 0); break;
	case V_SYM: put_symbol(co, b, v); break;
	default: put_blob(co, b, v, TRACE_TEXT, quiet); break;
	}
}

unsigned da_key_width(const struct prog_val *v)
{
	return (v->kind == V_INT ? key_width(v) : PACKED_TEXT) + 1;
}

unsigned da_key_length(struct co *co, const struct co_val *v)
{
	char sym[512];

	if (v->v->kind == V_SYM) {
		sy_format(co->sy, (uint64_t)v->i, cv_form_of(v->v->sub), sym, sizeof(sym));
		return (unsigned)text_columns(sym, strlen(sym));
	}
	return v->v->kind == V_STR ? (unsigned)text_columns(v->p, v->len) : 0;
}

void da_key(struct co *co, struct co_buf *b, const struct co_val *v, unsigned packed)
{
	char sym[512];

	if (v->v->kind == V_INT) {
		put_int(b, v, " ", key_width(v->v));
	} else if (packed && v->v->kind == V_STR) {
		cb_str(b, " ");
		cb_padded(b, v->p, v->len, (int)packed);
	} else if (packed && v->v->kind == V_SYM) {
		sy_format(co->sy, (uint64_t)v->i, cv_form_of(v->v->sub), sym, sizeof(sym));
		cb_str(b, " ");
		cb_padded(b, sym, strlen(sym), (int)packed);
	} else if (v->v->kind == V_STR) {
		put_text(b, v->p, v->len, KEY_TEXT, false);
	} else if (v->v->kind == V_BYTES) {
		put_blob(co, b, v, KEY_TEXT, false);
	} else {
		da_trace(co, b, v, false);
	}
}
