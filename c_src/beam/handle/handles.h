/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open handles by number (handles.c, probe path). An event finds its handle without a lock;
 * vm_threads.h says how long it stays.
 *
 * A handle has a number, never used twice. In a trace session (OTP 27 and later) it is the state of
 * the tracer that the VM hands back with every event. Before that a process has one tracer for all
 * handles: its state is BEAM_ALL, and an event is given to each handle that runs. An event that
 * finds no handle removes its tracer.
 */
#ifndef BEAM_HANDLES_H
#define BEAM_HANDLES_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/vm/vm_facts.h"
#include "beam/vm/vm_threads.h"
#include "compiler.h"

#pragma GCC visibility push(hidden)

struct beam_handle;

/* Of the BEAM_HANDLES slots, the bits of a word, the first belongs to it. */
#define BEAM_ALL 0 /* no handle's number */
#define BEAM_ALL_STATE ((ERL_NIF_TERM)BEAM_ALL << 4 | 15) /* the same as a term, if beam_vm.small */

void beam_set_live(struct beam_handle *b, bool live);
void beam_halt(struct beam_handle *b); /* not live any more; called from inside (probe path) */
int beam_register(struct beam_handle *b);
bool beam_any_open(void);
void beam_unregister(struct beam_handle *b); /* waits until no event is inside */

/* Numbers in use, with the lowest bit while events may fire: all that enabled/3 looks at. */
extern _Atomic uint64_t beam_states[BEAM_HANDLES];
extern _Atomic(struct beam_handle *) beam_table[BEAM_HANDLES];
extern _Atomic uint64_t beam_running; /* bit n: the handle in slot n has events fire */
extern _Atomic uint64_t beam_only; /* slot of the only handle that runs, or 0; a tag * 256 */
/* The states of tracers whose events may fire, as terms, by slot. */
extern _Atomic ERL_NIF_TERM beam_firing[BEAM_HANDLES];
static inline bool beam_fires(ERL_NIF_TERM state)
{
	return atomic_load_explicit(&beam_firing[(state >> 4) % BEAM_HANDLES],
		       memory_order_relaxed) == state;
}

/* The tracer's state of an event is a number. */
static inline bool beam_number(ErlNifEnv *env, ERL_NIF_TERM state, unsigned *number)
{
	if (likely(beam_vm.small && (state & 15) == 15)) {
		*number = (unsigned)(state >> 4);
		return true;
	}
	return enif_get_uint(env, state, number);
}

/* May events of this number fire? Without entering. */
static inline bool beam_live(unsigned number, bool *gone)
{
	uint64_t s;

	if (number == BEAM_ALL) {
		*gone = atomic_load_explicit(&beam_running, memory_order_relaxed) == 0;
		return !*gone;
	}
	s = atomic_load_explicit(&beam_states[number % BEAM_HANDLES], memory_order_relaxed);
	*gone = s >> 1 != (uint64_t)number + 1;
	return !*gone && (s & 1);
}

/* Whatever handle is in this slot of the table; NULL: none, or no room for this thread. */
static inline struct beam_handle *beam_enter_slot(unsigned slot)
{
	struct beam_thread *t = beam_self;

	if (unlikely(t == NULL && (t = beam_thread_new()) == NULL))
		return NULL;
	beam_thread_enter(t);
	return atomic_load_explicit(&beam_table[slot], memory_order_acquire);
}

/*
 * The handle of this number, if it runs, or NULL. In either case beam_leave() ends it
 * (vm_threads.h).
 */
struct beam_handle *beam_enter_live(unsigned number);

#pragma GCC visibility pop
#endif
