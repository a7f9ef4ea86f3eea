/* SPDX-License-Identifier: Apache-2.0 */
/* The trace buffer of a slot: one writer, one reader (ring.c). */
#ifndef EN_RING_H
#define EN_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "prog/record.h"

struct en_thread;

struct ring {
	char *mem;
	uint64_t size;
	/* the writer's */
	_Atomic(uint64_t) head; /* bytes written since the start */
	uint64_t wpos;	       /* head's offset in mem */
	uint64_t tail_seen;    /* the writer's cached copy of tail */
	_Atomic(uint64_t) overwritten; /* policy ring: records */
	char pad[LINE];
	/* the reader's (policy ring: the writer's until tracing stops) */
	_Atomic(uint64_t) tail;
	uint64_t rpos;
	uint64_t mark;	/* recording.c */
	uint64_t noted; /* up to here alert() and snapshot() have been noticed (recording.c) */
};

bool ring_put(struct en_thread *t, const void *rec, uint32_t size);
const struct rec_head *ring_peek(struct ring *r, uint64_t head); /* NULL: nothing before head */
void ring_next(struct ring *r, const struct rec_head *rec);

#endif
