/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that grows, and the one place where bytes of the traced world enter it: on a terminal
 * control characters become \xNN there, so that no traced string can move the cursor, change the
 * title or feed the keyboard. Newline and tab stay.
 */
#include "textbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "columns.h"
#include "utf8.h"

static bool cb_need(struct co_buf *b, size_t more)
{
	if (more <= SIZE_MAX / 4 - b->len && ARRAY_RESERVE(b->p, b->cap, b->len + more))
		return true;
	b->nomem = true;
	return false;
}

void cb_put(struct co_buf *b, const void *p, size_t len)
{
	if (len == 0 || !cb_need(b, len))
		return;
	memcpy(b->p + b->len, p, len);
	b->len += len;
}

void cb_str(struct co_buf *b, const char *s)
{
	cb_put(b, s, strlen(s));
}

void cb_fill(struct co_buf *b, char c, size_t n)
{
	if (n == 0 || !cb_need(b, n))
		return;
	memset(b->p + b->len, c, n);
	b->len += n;
}

static void cb_vspec(struct co_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	if (!cb_need(b, 128))
		return;
	va_copy(again, ap);
	n = vsnprintf(b->p + b->len, b->cap - b->len, fmt, ap);
	if (n >= 0 && (size_t)n >= b->cap - b->len && cb_need(b, (size_t)n + 1))
		n = vsnprintf(b->p + b->len, b->cap - b->len, fmt, again);
	va_end(again);
	if (n > 0 && (size_t)n < b->cap - b->len)
		b->len += (size_t)n;
}

void cb_fmt(struct co_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cb_vspec(b, fmt, ap);
	va_end(ap);
}

void cb_spec(struct co_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cb_vspec(b, fmt, ap);
	va_end(ap);
}

/* A code point; what is none becomes U+FFFD. */
void cb_utf8(struct co_buf *b, uint32_t c)
{
	char s[4];

	cb_put(b, s, utf8_encode(utf8_is_char(c) ? c : UTF8_NONE, s));
}

/*
 * How many bytes at p a terminal may see as they are: a newline, or a character that is no control.
 * 0: the first byte must be rewritten. Bytes outside of UTF-8 from 0xa0 on are letters in older
 * encodings: they pass, but for what would be a C1 control in UTF-8.
 */
static size_t harmless(const uint8_t *p, size_t len)
{
	size_t n = p[0] == '\n' ? 1 : utf8_len(p, len);

	if (n > 0 || p[0] < 0xa0)
		return n;
	return !(p[0] == 0xc2 && len >= 2 && p[1] >= 0x80 && p[1] < 0xa0);
}

void cb_data(struct co_buf *b, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t i = 0, from = 0, n;

	if (!b->terminal) {
		cb_put(b, p, len);
		return;
	}
	while (i < len) {
		n = harmless(p + i, len - i);
		if (n == 0) {
			cb_put(b, p + from, i - from);
			cb_fmt(b, "\\x%02x", p[i]);
			from = ++i;
		} else {
			i += n;
		}
	}
	cb_put(b, p + from, len - from);
}

void cb_field(struct co_buf *b, size_t start, int width)
{
	size_t n = b->len - start, w = width < 0 ? (size_t) - (int64_t)width : (size_t)width;
	size_t columns = n > 0 ? text_columns(b->p + start, n) : 0, pad = w - columns;

	if (columns >= w)
		return;
	cb_fill(b, ' ', pad);
	if (width > 0 && b->len - start == n + pad) {
		memmove(b->p + start + pad, b->p + start, n);
		memset(b->p + start, ' ', pad);
	}
}

void cb_padded(struct co_buf *b, const void *p, size_t len, int width)
{
	size_t start = b->len;

	cb_data(b, p, len);
	cb_field(b, start, width);
}

void cb_escaped(struct co_buf *b, const void *data, size_t len)
{
	static const char from[] = "\a\b\f\n\r\t\v\"\\", to[] = "abfnrtv\"\\";
	const uint8_t *p = data;
	const char *q;
	size_t i;

	for (i = 0; i < len; i++) {
		q = p[i] ? strchr(from, p[i]) : NULL;
		if (p[i] == 0)
			cb_str(b, "\\0");
		else if (q != NULL)
			cb_fmt(b, "\\%c", to[q - from]);
		else if (p[i] < ' ' || p[i] > '~')
			cb_fmt(b, "\\%03o", p[i]);
		else
			cb_put(b, p + i, 1);
	}
}

void cb_free(struct co_buf *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}
