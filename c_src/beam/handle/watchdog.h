/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog (watchdog.c): what events cost, some of which are timed (probe path). A script that
 * costs too much, or that nobody looks after, is ended.
 */
#ifndef BEAM_WATCHDOG_H
#define BEAM_WATCHDOG_H

#include <erl_nif.h>
#include <stdint.h>

#include "beam/vm/vm_threads.h"
#include "compiler.h"
#include "engine/clock.h"

#pragma GCC visibility push(hidden)

struct beam_handle;

/* Why the watchdog ended a script. */
enum { ENDED_NOT, ENDED_COST, ENDED_STALL, ENDED_SILENCE };

/* Does somebody look after the handle? Events read it. */
struct beam_beat {
	_Atomic uint64_t at;	/* ns: its process did; 0: nobody has to */
	_Atomic uint64_t stale; /* ns: since when events find that too old */
	uint64_t patience;	/* ns: the oldest that is all right */
	_Atomic int ended;	/* by the watchdog: why */
};

/* What a script takes besides its events, in ns of processor time. */
struct beam_cost {
	_Atomic uint64_t reading; /* results */
	_Atomic int64_t around;	  /* its firings: asking for objects, taking samples */
	_Atomic uint64_t counted; /* calls that the VM counted (counters.c) */
	uint64_t counted_from;	  /* ns: when reading the VM's counters began */
	_Atomic uint64_t helped;  /* by a helper: what it took, with its firings */
	_Atomic uint64_t fired;	  /* there */
};

/* watchdog.c: what it has seen so far. */
#define BEAM_WINDOWS 10 /* of a watchtime */
struct beam_window {
	uint64_t at, cost, cpu; /* ns: when; by then: what the script took, what the node did */
	int64_t around;		/* what the script took besides (struct beam_cost) */
};
struct beam_watchdog {
	struct beam_window window[BEAM_WINDOWS + 1]; /* the last ones, in a ring */
	unsigned n;		    /* of them, so far */
	unsigned permille;	    /* of the schedulers' busy time, in the last window */
	unsigned mean;		    /* in the last watchtime */
	uint64_t read, drops;	    /* ns: somebody asked for results; drops by then */
	uint64_t looked, fired;	    /* ns: the last look; firings by then */
};

/* watchdog.c; around an event of a handle, between enter and leave. Some are timed. */
void beam_cost_timed(struct beam_handle *b, struct beam_tstate *s, const ERL_NIF_TERM argv[]);
static inline void beam_cost_begin(struct beam_tstate *s)
{
	if (unlikely(__builtin_sub_overflow(s->left, 1, &s->left)))
		s->timed = en_now();
}
/* The same for an event that is not to be timed. false: it is, and nothing is done yet. */
static inline bool beam_cost_untimed(struct beam_tstate *s)
{
	uint32_t left = s->left;

	if (unlikely(left == 0))
		return false;
	s->left = left - 1;
	return true;
}
static inline void beam_cost_end(
	struct beam_handle *b, struct beam_tstate *s, const ERL_NIF_TERM argv[])
{
	if (unlikely(s->left == UINT32_MAX))
		beam_cost_timed(b, s, argv);
}
/* ns that the last event of the handle took on this thread that was timed; 0: none (probe path) */
uint64_t beam_cost_last(const struct beam_handle *b);
void beam_watchdog_go(struct beam_handle *b);
void beam_watchdog_read(struct beam_handle *b); /* somebody asked for results */
/* ms until the next clean(); 0: there is something to clean */
uint64_t beam_clean_rest(const struct beam_handle *b);

#pragma GCC visibility pop
#endif
