/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing that is confined to the processes of one user (confine.h). Three rules hold, and every
 * clause passes by them: it runs only where k_may_see() says so (entries.c); it reads no memory of
 * the kernel, and none of a process unless that fires (memory.c, buffer.h); and what D's library
 * asks of threads and files is answered for those that the event is of (thread.c). What a probe's
 * arguments show is up to its provider: struct provider, confinable.
 */
#ifndef K_CONFINED_H
#define K_CONFINED_H

#include "helpers.h"
#include "engine/fire.h"
#include "engine/slot.h"

/* May the user see this thread? As ptrace(2) has it. */
uint64_t k_may_see(uint64_t task); /* thread.c */

static inline bool is_confined(void)
{
	return k_root.confine.on;
}

/* Is memory at this address, which is not in the arena, none that the clause may read? */
static inline bool is_hidden(const struct fire *f, uint64_t addr)
{
	return is_confined() && ((int64_t)addr < 0 || f->thread->k.task != 0);
}

#endif
