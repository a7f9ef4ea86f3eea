/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and texts of frames: written to a struct co_buf, read from a struct sb. */
#ifndef STREAM_BYTES_H
#define STREAM_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "consume/textbuf.h"
#include "stream.h"

static inline void sb_put8(struct co_buf *b, uint8_t v) { cb_put(b, &v, sizeof(v)); }
static inline void sb_put16(struct co_buf *b, uint16_t v) { cb_put(b, &v, sizeof(v)); }
static inline void sb_put32(struct co_buf *b, uint32_t v) { cb_put(b, &v, sizeof(v)); }
static inline void sb_put64(struct co_buf *b, uint64_t v) { cb_put(b, &v, sizeof(v)); }
static inline void sb_put_bytes(struct co_buf *b, const void *p, uint32_t len)
{
	sb_put32(b, len);
	if (len > 0)
		cb_put(b, p, len);
}

#define SB_NULL UINT32_MAX /* the length of a text that is NULL */

static inline void sb_put_text(struct co_buf *b, const char *s)
{
	if (s == NULL)
		sb_put32(b, SB_NULL);
	else
		sb_put_bytes(b, s, (uint32_t)strlen(s));
}

/* A frame: what is put between the two. */
static inline size_t sb_begin(struct co_buf *b, enum stream_frame kind)
{
	sb_put32(b, 0);
	sb_put8(b, (uint8_t)kind);
	return b->len;
}

static inline void sb_end(struct co_buf *b, size_t at)
{
	uint32_t len = (uint32_t)(b->len - at + 1);

	if (!b->nomem)
		memcpy(b->p + at - 5, &len, sizeof(len));
}

/* What is left of a frame. bad: it is shorter than it says, or says what cannot be. */
struct sb {
	const uint8_t *p;
	size_t left;
	bool bad;
};

static inline const void *sb_get(struct sb *s, size_t n)
{
	const void *p = s->p;

	if (s->bad || n > s->left) {
		s->bad = true;
		return NULL;
	}
	s->p += n;
	s->left -= n;
	return p;
}

#define SB_GET(name, type)                                                                         \
	static inline type name(struct sb *s)                                                      \
	{                                                                                          \
		const void *p = sb_get(s, sizeof(type));                                           \
		type v = 0;                                                                        \
                                                                                                   \
		if (p != NULL)                                                                     \
			memcpy(&v, p, sizeof(v));                                                  \
		return v;                                                                          \
	}
SB_GET(sb_get8, uint8_t)
SB_GET(sb_get16, uint16_t)
SB_GET(sb_get32, uint32_t)
SB_GET(sb_get64, uint64_t)

/* A number of things of which each takes at least `size` bytes. */
static inline uint32_t sb_get_count(struct sb *s, size_t size)
{
	uint32_t n = sb_get32(s);

	if (n > s->left / size)
		s->bad = true;
	return s->bad ? 0 : n;
}

#endif
