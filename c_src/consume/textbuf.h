/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that grows. Bytes of the traced world enter it through cb_data() and cb_padded() only: there
 * they are escaped for terminals.
 */
#ifndef CONSUME_TEXTBUF_H
#define CONSUME_TEXTBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CO_FLUSH_AT  (64u << 10) /* text waiting before it is handed on */
#define CO_MAX_FIELD (64u << 10) /* widths and precisions beyond this are cut */

struct co_buf {
	char *p;
	size_t len, cap;
	bool terminal; /* control characters in values become \xNN */
	bool nomem;    /* something is missing */
};
void cb_put(struct co_buf *b, const void *p, size_t len);
void cb_str(struct co_buf *b, const char *s);
void cb_fill(struct co_buf *b, char c, size_t n);
void cb_fmt(struct co_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for formats that are put together: the caller answers for them. */
void cb_spec(struct co_buf *b, const char *fmt, ...);
void cb_utf8(struct co_buf *b, uint32_t c);
/* Bytes of the traced world: as they are, or made harmless where the text goes to a terminal. */
void cb_data(struct co_buf *b, const void *p, size_t len);
/* The same in a field of columns (consume/columns.h); width < 0 is left-aligned. */
void cb_padded(struct co_buf *b, const void *p, size_t len, int width);
/* Push what was put since start into a field. */
void cb_field(struct co_buf *b, size_t start, int width);
/* As C writes it in a string: \n, \", \ooo. */
void cb_escaped(struct co_buf *b, const void *p, size_t len);
void cb_free(struct co_buf *b);

#endif
