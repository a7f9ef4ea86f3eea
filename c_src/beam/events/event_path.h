/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH: what the fast paths of calls (calls.c) and of messages (sends.c) share. An event
 * finds its handle, and runs the one clause of its probe.
 *
 * They do not enter the engine's slot: the thread is inside a handle, and beam_attach() has told
 * the engine to look at that.
 *
 */
#ifndef BEAM_EVENT_PATH_H
#define BEAM_EVENT_PATH_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdint.h>

#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/vm/vm_event.h"
#include "beam/vm/vm_threads.h"
#include "compiler.h"
#include "engine/fire.h"
#include "engine/fire_path.h"
#include "engine/slot.h"

#pragma GCC visibility push(hidden)

/* Once for each thread and handle; inside of it (calls.c). */
void beam_attach(struct beam_thread *t, struct beam_tstate *s, struct beam_handle *b);

/* The handle of an event, and its index; NULL: none, or it is not live. Between enter and leave. */
static inline struct beam_handle *beam_event_handle(ERL_NIF_TERM state, uint64_t *index)
{
	struct beam_handle *b;

	*index = state == BEAM_ALL_STATE ? atomic_load_explicit(&beam_only, memory_order_relaxed)
					 : state >> 4;
	*index %= BEAM_HANDLES;
	b = atomic_load_explicit(&beam_table[*index], memory_order_acquire);
	return likely(b != NULL && atomic_load_explicit(&b->live, memory_order_acquire) &&
		       (state == BEAM_ALL_STATE || b->state == state))
		       ? b
		       : NULL;
}

/* All but the arguments. */
static inline __attribute__((always_inline)) struct fire *beam_event_fill(struct en_thread *slot,
	struct beam_event *ev, const uint32_t *ids, const struct prog_clause *clause,
	struct en_probe *p, unsigned strings, ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	ev->cur.key = argv[2];
	ev->env = env;
	ev->argv = argv;
	fire_fill(slot, ids, clause, p, strings, &ev->cur, argv[2]);
	return &slot->fire;
}

/* The clause runs; the slot is this thread's, which is inside the handle. */
static inline __attribute__((always_inline)) void beam_event_go(
	struct en_thread *slot, ebpf_entry entry)
{
	entry(&slot->fire);
	if (unlikely(slot->faulted))
		en_fire_error(&slot->fire);
}

#pragma GCC visibility pop
#endif
