/* SPDX-License-Identifier: Apache-2.0 */
/* What reader.c and queue.c share: one stream. */
#ifndef STREAM_SOURCE_H
#define STREAM_SOURCE_H

#include "engine/seen.h"
#include "news.h"
#include "said.h"
#include "reader.h"
#include "tables.h"

struct sr_time {
	uint64_t mono, wall;
};

struct sr_source {
	char *node;
	bool begun;	  /* HEAD has come */
	bool has_program;
	struct prog prog; /* clauses are a stream's own: other nodes may have compiled them otherwise */
	struct st_mem *mem; /* of the program and its probes */
	bool ended, closed;
	bool hangs;	      /* until its next bytes */
	bool late;	      /* it did, and the first batch since is not whole */
	uint64_t late_upto;   /* ns since 1970, its clock: when that ended; 0: it never hung */
	uint64_t waits_since; /* ns: its oldest record, for those of others; 0: it does not */
	int code;	  /* of exit(); -1: none */
	struct co_buf in; /* the beginning of a frame */
	struct st_names names;
	struct st_news news;
	struct sr_time time; /* of the records that are next */
	uint64_t upto;	     /* ns since 1970: all older records have come */
	uint64_t fired;
	uint64_t gathered; /* ns, our clock: when aggregations came last; 0: never */
	bool came;	   /* something, since sr_ticked() */
	uint32_t permille;
	struct en_seen seen;
	uint32_t *epids; /* the reader's, by the stream's own; 0: none */
	size_t nepids;
	uint32_t *threads; /* the reader's + 1, by the stream's own; 0: none yet */
	size_t nthreads;
	uint64_t other_drops[DROP_KINDS];
	uint64_t merged_drops;
	struct { /* queue.c: items that are not taken yet */
		uint64_t *words;
		size_t at, n, room; /* in words */
	} queue;
};

/* An item of a queue; its contents follow, in whole words. */
struct sr_item {
	uint32_t len;
	uint32_t kind; /* enum stream_frame */
	uint64_t taken; /* of its contents */
};
bool sq_put(struct sr_source *s, enum stream_frame kind, const void *p, size_t len);
struct sr_item *sq_front(struct sr_source *s); /* NULL: it is empty */
static inline void *sq_contents(struct sr_item *i) { return i + 1; }
void sq_pop(struct sr_source *s);
void sq_take_back(struct sr_source *s, size_t len); /* the last one that was put */
void sq_free(struct sr_source *s);

#endif
