/* SPDX-License-Identifier: Apache-2.0 */
/* Events as a timeline for Perfetto and chrome://tracing: timeline.c. */
#ifndef CO_TIMELINE_H
#define CO_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "consume/textbuf.h"
#include "erltrace.h"

struct co;

struct co_timeline {
	struct co_buf *out; /* where it goes; the caller's */
	const struct co *co; /* whose events; the caller's */
	struct co_buf text; /* of the event under way */
	struct co_buf values;
	bool open;	    /* there is one */
	bool more;	    /* something is in the array */
	struct co_track {
		char *id;   /* a process; NULL: this entry is free */
		bool named; /* by the name that it is registered by */
		unsigned tid;
	} * tracks;	      /* a hash table, open addressing */
	size_t ntracks, room; /* a power of two, or 0 */
	uint64_t cpus[16];  /* those that have a name, as bits */
};

void co_timeline_head(struct co_timeline *t, const erltrace_snapshot_t *s);
void co_timeline_handlers(struct co_timeline *t, erltrace_handlers_t *h);
void co_timeline_tail(struct co_timeline *t);
void co_timeline_free(struct co_timeline *t);

#endif
