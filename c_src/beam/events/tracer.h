/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH: the VM's tracing calls enabled/3 and trace/5.
 *
 *   tracer.c         all events but these
 *   calls.c          calls and returns, with a fast path
 *   sends.c          the fast path of messages sent; event_path.h: what both fast paths share
 *   ports.c          ports and drivers
 *   special_calls.c  calls that mean more than a call: user probes, drivers, hibernation, labels
 *   call_probes.c    probes of certain functions: ETS tables, timers, restarts, atoms
 *   call_facts.c     what these need to know: names of tables, numbers of atoms
 *   timers.c         when timers are due, for timer-expire
 *   timer_crowd.c    the same of many timers that are alike
 *   name_events.c    names of processes come and go
 *   user.c           probes that Erlang code fires itself
 *   monitor.c        probes that a process of ours fires (erltrace_sysmon)
 */
#ifndef BEAM_TRACER_H
#define BEAM_TRACER_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/atoms.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/handle/watchdog.h"
#include "beam/vm/vm_facts.h"
#include "beam/vm/vm_threads.h"
#include "compiler.h"

#pragma GCC visibility push(hidden)

ERL_NIF_TERM beam_trace_any(ErlNifEnv *env, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM beam_trace_send(ErlNifEnv *env, const ERL_NIF_TERM argv[]);
/* return_from, exception_from: a call tells of its end itself (calls.c). */
void beam_told_end(const struct beam_event *ev, struct beam_tstate *ts);
/* An exception, ev->class and ev->reason, ends a call of fn: its probes fire. */
void beam_fire_exception(struct beam_event *ev, const struct beam_fn *fn, unsigned depth);

/*
 * Functions may come, or be counted no more, while the script runs: whoever has any asks for calls.
 */
static inline bool beam_asks_for(const struct beam_handle *b, unsigned kinds)
{
	return (b->traced & kinds) != 0 ||
	       ((kinds & TRACED_CALL) && __atomic_load_n(&b->fns.n, __ATOMIC_RELAXED) != 0);
}

/*
 * one() for each handle that the event is for, inside of it; number: the tracer's state. asks(): of
 * an event that the VM makes for all of them, whether this one wants it. Who does not is not
 * charged for it either.
 *
 */
static inline __attribute__((always_inline)) void beam_each_handle(struct beam_event *ev,
	unsigned number, bool (*asks)(struct beam_event *ev),
	void (*one)(struct beam_event *ev, struct beam_tstate *ts))
{
	uint64_t in = number == BEAM_ALL ? atomic_load_explicit(&beam_running, memory_order_relaxed)
					 : 1ULL << number % BEAM_HANDLES;

	for (; in != 0; in &= in - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(in);
		struct beam_handle *b = beam_enter_slot(slot);

		ev->b = b;
		if (likely(b != NULL && atomic_load_explicit(&b->live, memory_order_acquire) &&
			   (number == BEAM_ALL ? asks(ev) : b->number == number))) {
			struct beam_tstate *ts = &beam_self->tstates[slot];

			beam_cost_begin(ts);
			one(ev, ts);
			beam_cost_end(b, ts, ev->argv);
		}
		beam_leave();
	}
}

#pragma GCC visibility pop
#endif
