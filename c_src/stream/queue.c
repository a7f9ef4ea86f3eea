/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of items in one piece of memory; what is taken makes room when it is half of it. */
#include <stdlib.h>

#include "array.h"
#include "source.h"

static size_t words(size_t len)
{
	return sizeof(struct sr_item) / 8 + (len + 7) / 8;
}

bool sq_put(struct sr_source *s, enum stream_frame kind, const void *p, size_t len)
{
	struct sr_item item = {(uint32_t)len, kind, 0};
	size_t n = words(len);

	if (s->queue.at > 0 && 2 * s->queue.at >= s->queue.n) {
		s->queue.n -= s->queue.at;
		memmove(s->queue.words, s->queue.words + s->queue.at, s->queue.n * 8);
		s->queue.at = 0;
	}
	if (!ARRAY_RESERVE(s->queue.words, s->queue.room, s->queue.n + n))
		return false;
	memcpy(s->queue.words + s->queue.n, &item, sizeof(item));
	if (len > 0)
		memcpy(s->queue.words + s->queue.n + sizeof(item) / 8, p, len);
	s->queue.n += n;
	return true;
}

struct sr_item *sq_front(struct sr_source *s)
{
	return s->queue.at < s->queue.n ? (void *)(s->queue.words + s->queue.at) : NULL;
}

void sq_pop(struct sr_source *s)
{
	s->queue.at += words(sq_front(s)->len);
	if (s->queue.at == s->queue.n)
		s->queue.at = s->queue.n = 0;
}

void sq_take_back(struct sr_source *s, size_t len)
{
	s->queue.n -= words(len);
}

void sq_free(struct sr_source *s)
{
	free(s->queue.words);
}
