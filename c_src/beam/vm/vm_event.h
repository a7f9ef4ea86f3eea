/* SPDX-License-Identifier: Apache-2.0 */
/* An event of the VM that is being looked at (probe path). */
#ifndef BEAM_VM_EVENT_H
#define BEAM_VM_EVENT_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/atoms.h"
#include "compiler.h"
#include "engine/current.h"
#include "vm_facts.h"

struct beam_fn;
struct beam_handle;
struct beam_kept;
struct beam_proc;

/* A call where a frame of the fast way was on top of the stack. */
struct beam_tail {
	bool is;	/* a tail call, whose frame takes the place of that */
	unsigned below; /* words under that frame */
	unsigned off;	/* words that are not on the stack now, but will be under its own */
};

struct beam_event {
	struct en_current cur; /* its key is the process or port */
	struct beam_handle *b;
	ErlNifEnv *env;
	struct beam_proc *proc; /* set in the context of its own process; else NULL */
	uint64_t began;		/* ns, if running times are kept */
	bool fast;		/* by the fast way, not from the tracer */
	struct beam_tail tail;	/* by the fast way */
	const struct beam_fn *ended; /* at return_to: the function that has ended */
	struct beam_kept *kept; /* at the end of a call: its arguments; or NULL */
	/* of an exception that ends a call: error, exit or throw, and what was raised; or 0 */
	ERL_NIF_TERM class, reason;
	ERL_NIF_TERM starter; /* of the timer that has expired; or 0 */
	uint32_t words; /* of the stack that ustack() shows, the oldest; 0: all */
	const ERL_NIF_TERM *argv; /* tag, state, tracee, term, options; NULL: no trace event */
};

#pragma GCC visibility push(hidden)

/* Opts is a map, mostly with one key: found without a search. false: it is not so. */
static inline bool beam_extra_fast(ERL_NIF_TERM opts, ERL_NIF_TERM *extra)
{
	const ERL_NIF_TERM *m = (const ERL_NIF_TERM *)(uintptr_t)(opts & ~(ERL_NIF_TERM)7);

	if (unlikely((opts & 7) != beam_vm.tuple3.tag || m[0] != beam_vm.map1.header || m[1] != 1 ||
		     *(const ERL_NIF_TERM *)(uintptr_t)((m[2] & ~(ERL_NIF_TERM)7) + 8) !=
			     atom_extra))
		return false;
	*extra = m[3];
	return true;
}
/* The same of any options: the VM's extra argument of an event; undefined: there is none. */
ERL_NIF_TERM beam_extra(ErlNifEnv *env, ERL_NIF_TERM opts);

#pragma GCC visibility pop

#endif
