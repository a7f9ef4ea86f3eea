/* SPDX-License-Identifier: Apache-2.0 */
/* Events as a timeline for Perfetto and chrome://tracing: timeline.c. */
#ifndef CO_TIMELINE_H
#define CO_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "consume/textbuf.h"
#include "erltrace.h"

struct co_timeline {
	struct co_buf *out; /* where it goes; the caller's */
	struct co_buf text; /* of the event under way */
	struct co_buf values;
	bool open;	    /* there is one */
	uint64_t cpus[16];  /* those that have a name, as bits */
};

void co_timeline_head(struct co_timeline *t, const erltrace_snapshot_t *s);
void co_timeline_handlers(struct co_timeline *t, erltrace_handlers_t *h);
void co_timeline_tail(struct co_timeline *t);
void co_timeline_free(struct co_timeline *t);

#endif
