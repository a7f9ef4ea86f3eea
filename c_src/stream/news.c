/* SPDX-License-Identifier: Apache-2.0 */
#include "news.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

int st_news_add(struct st_news *w, const char *text, size_t len)
{
	char *line;

	if (w->n == NEWS_WAITING) {
		w->dropped++;
		return 1;
	}
	line = strndup(text, len < NEWS_LENGTH ? len : NEWS_LENGTH - 1);
	if (line == NULL || !ARRAY_ROOM(w->lines, w->n)) {
		free(line);
		return -ENOMEM;
	}
	w->lines[w->n++] = line;
	return 0;
}

bool st_news_next(struct st_news *w, char *buf, size_t size)
{
	uint64_t dropped = w->dropped;

	if (w->told < w->n) {
		snprintf(buf, size, "%s", w->lines[w->told]);
		free(w->lines[w->told++]);
		return true;
	}
	st_news_free(w);
	if (dropped > 0)
		snprintf(buf, size,
			"%" PRIu64 " more message%s dropped: only %d wait to be told",
			dropped, dropped == 1 ? " was" : "s were", NEWS_WAITING);
	return dropped > 0;
}

void st_news_free(struct st_news *w)
{
	while (w->told < w->n)
		free(w->lines[w->told++]);
	free(w->lines);
	*w = (struct st_news){0};
}
