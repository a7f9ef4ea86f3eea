/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running time of processes, vtimestamp (probe path): since a process was scheduled in, without
 * what its probes took.
 */
#ifndef BEAM_VTIME_H
#define BEAM_VTIME_H

#include <stdint.h>

#include "beam/vm/vm_threads.h"
#include "compiler.h"
#include "engine/clock.h"
#include "processes.h"

#pragma GCC visibility push(hidden)

uint64_t beam_vtimestamp(const struct en_current *cur);

/* It began to run, or is seen for the first time. */
static inline void beam_vts_in(struct beam_proc *p, uint64_t now)
{
	p->in_at = now;
	p->turn = p->last - now;
}
/* Its running time; never less than before: what probes take is estimated. */
static inline uint64_t beam_vts_now(struct beam_proc *p, uint64_t now)
{
	now += p->turn;
	if (likely((int64_t)(now - p->last) > 0))
		p->last = now;
	return p->last;
}
/* What an event takes is measured now and then; the others are taken to cost as much. */
static inline void beam_vts_took(struct beam_thread *t, uint64_t took)
{
	if (unlikely(t->cost == 0)) /* the first finds nothing in the caches */
		t->cost = took < 1000 ? took : 1000;
	t->cost = t->cost == 0 ? took : took < 8 * t->cost ? (7 * t->cost + took) / 8 : t->cost;
}
static inline void beam_vts_end(struct beam_proc *p, uint64_t began)
{
	struct beam_thread *t = beam_self;

	if (unlikely(t->events++ % 32 == 0))
		beam_vts_took(t, en_now() - began);
	p->turn -= t->cost;
}

#pragma GCC visibility pop
#endif
