/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a stream that are not told yet. A node may send them faster than they are told, and
 * must not fill our memory: what there is no room for is counted, and that is told.
 */
#ifndef STREAM_NEWS_H
#define STREAM_NEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NEWS_WAITING = 256, NEWS_LENGTH = 512 }; /* messages; bytes of one, with the NUL */

struct st_news {
	char **lines;
	size_t n, told;
	uint64_t dropped;
};

int st_news_add(struct st_news *w, const char *text, size_t len); /* 0; 1: dropped; -ENOMEM */
bool st_news_next(struct st_news *w, char *buf, size_t size); /* false: there is none */
void st_news_free(struct st_news *w);

#endif
