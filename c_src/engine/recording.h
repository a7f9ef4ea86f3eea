/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of what the trace buffers hold, taken while they are written (recording.c). */
#ifndef EN_RECORDING_H
#define EN_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "prog/record.h"

struct en;
struct en_recording;

/* How often alert() and snapshot() were called, or a speculation committed that may have. */
uint32_t en_notices(const struct en *en);
/* What a copy is of: all that there is, or what came since the last copy of what is new. */
enum en_what { EN_WHOLE, EN_NEW };
/*
 * Policy ring, while tracing or after it. Waits until firings under way have written what they
 * record; *whole false: one of them takes too long, and may be missing. NULL: out of memory.
 */
struct en_recording *en_record(struct en *en, enum en_what what, bool *whole);
/*
 * If the number of notices is still this, nothing new need be looked at: what there is now counts
 * as copied. false: it is another number.
 *
 */
bool en_skip_new(struct en *en, uint32_t notices);
void en_recording_free(struct en_recording *c);
/* The next record in the order of time; NULL: that was the last one. */
const struct rec_head *en_recording_next(struct en_recording *c, unsigned *thread);
void en_recording_rewind(struct en_recording *c);

struct en_recorded {
	uint64_t events;
	uint64_t overwritten; /* records before them, since go */
	uint64_t first, last; /* their times; 0: there are none */
	uint64_t whole; /* from here on none is missing: before it a buffer was overwritten */
	bool overrun; /* EN_NEW: something new was overwritten before it was copied */
};
void en_recording_about(const struct en_recording *c, struct en_recorded *about);

#endif
