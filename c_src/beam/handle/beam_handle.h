/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handle inside a node: the library's handle, and what the probes of the VM need. nif.c opens and
 * closes it.
 *
 * What looks after it, in this folder:
 *
 *   handles.c   open handles by number (probe path)
 *   watchdog.c  what events cost; scripts that cost too much are ended
 *   sweep.c     frees what is kept of processes whose exits are no events
 */
#ifndef BEAM_BEAM_HANDLE_H
#define BEAM_BEAM_HANDLE_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/code/functions.h"
#include "beam/erl_probes.h"
#include "beam/nif.h"
#include "beam/proc/proc_names.h"
#include "beam/proc/processes.h"
#include "beam/proc/registered.h"
#include "beam/term/patterns.h"
#include "erltrace.h"
#include "sweep.h"
#include "watchdog.h"

struct beam_event;
struct beam_feed;
struct beam_ports;
struct beam_states;
struct beam_tables;
struct beam_timers;
struct beam_walls;
struct beam_wants;
struct flow_table;

/*
 * Kinds of events, by the trace flags that have the VM make them. One that it makes for all handles
 * is given to those that ask for its kind; a handle that traces ports gets all.
 *
 */
enum beam_traced {
	TRACED_CALL = 1,
	TRACED_SEND = 2,
	TRACED_RECEIVE = 4,
	TRACED_RUNNING = 8,
	TRACED_OTHER = 16,
	TRACED_PORTS = 32,
};

/* What events keep and measure, as needs.def lists it: bits of beam_handle.tracks. */
enum beam_track {
#define NEED(...)
#define NEED_VALUE(...)
#define TRACK(ID) TRACK_##ID,
#include "beam/needs.def"
	TRACK_COUNT_
};

/*
 * Parts that belong to files of floors above are pointers; NULL: the script does not need them. The
 * headers of these files declare them.
 */
struct beam_handle {
	/* read on the probe path */
	struct en *en;	    /* of h */
	unsigned number;    /* the tracer's state */
	ERL_NIF_TERM state; /* the same as a term */
	_Atomic bool live;  /* events may fire: between go and stop */
	uint8_t traced;	    /* which events of the VM it asks for: enum beam_traced */
	_Atomic uint32_t tracks;			      /* beam_tracks() */
	uint64_t (*vtimestamp)(const struct en_current *cur); /* NULL: no running times are kept */
	bool fast;	     /* calls go the fast path, where it has them (fast_calls.c) */
	bool unflagged;	     /* events of its functions come without trace flags of processes */
	uint32_t generation; /* of calls, when it joined */
	ERL_NIF_TERM owner;  /* the process that arms it: its calls are not told */
	ERL_NIF_TERM node;
	struct et_str *node_text;
	struct beam_event *host; /* asked by BEGIN, tick and the like */
	struct beam_functions fns;
	struct en_probe *probe[BP_COUNT_]; /* those without a function */
	struct en_probe **user;		   /* user_trace-n*; NULL: none asked for */
	struct beam_clause *clauses;	   /* as they are numbered in the program */
	struct beam_procs procs;
	struct beam_registered registered;
	struct beam_proc_names proc_names;
	struct beam_patterns patterns; /* of terms */
	struct beam_ports *ports;      /* their names and owners */
	struct beam_tables *tables;    /* for probes of certain functions */
	struct beam_timers *timers;    /* for timer-expire */
	struct flow_table *flows;
	struct beam_walls *walls; /* profile-wall-N */
	_Atomic bool named;	  /* what processes are called is there: samples may fire */
	struct beam_states *states;
	struct beam_beat beat;
	/* the rest */
	erltrace_t *h;	   /* NULL: closed */
	erltrace_t *permits; /* reader to be: scripts have named what may be done here; or NULL */
	erltrace_t *reader; /* of a script that a helper runs: what it gathers; NULL: h has it */
	ErlNifMutex *lock; /* one caller at a time */
	struct beam_watchdog watchdog;
	struct beam_cost cost;
	struct beam_sweep sweep;
	struct beam_release release;
	struct beam_wants *wants; /* NULL: closed */
	bool harmless;		  /* destructive actions are forbidden in this node */
	bool counted;		  /* in beam_nuser */
	struct beam_feed *feed;	  /* totals that what it gathers is added to; or NULL */
	char *warnings;		  /* lines not told yet; or NULL */
	struct {
		char file[256], source[256];
	} failed; /* where the last script failed to compile */
};

/* Where results are read. */
static inline erltrace_t *beam_results(const struct beam_handle *b)
{
	return b->reader != NULL ? b->reader : b->h;
}

static inline bool beam_tracks(const struct beam_handle *b, enum beam_track what)
{
	return atomic_load_explicit(&b->tracks, memory_order_relaxed) >> what & 1;
}

/*
 * From now on it tracks this too, if on; under the handle's lock. Written only if it is not so yet:
 * events may be looking.
 */
static inline void beam_track(struct beam_handle *b, enum beam_track what, bool on)
{
	if (on && !beam_tracks(b, what))
		atomic_fetch_or_explicit(&b->tracks, 1u << what, memory_order_relaxed);
}

/* Exactly if on. */
static inline void beam_track_only(struct beam_handle *b, enum beam_track what, bool on)
{
	beam_track(b, what, on);
	if (!on && beam_tracks(b, what))
		atomic_fetch_and_explicit(&b->tracks, ~(1u << what), memory_order_relaxed);
}

#pragma GCC visibility push(hidden)

extern ErlNifResourceType *beam_handle_type; /* set at load */
struct beam_handle *beam_get(ErlNifEnv *env, ERL_NIF_TERM t); /* NULL: it is none */

/* In a NIF whose first argument is a handle: the handle, locked; it is open. */
#define WITH_HANDLE(b)                                                                             \
	struct beam_handle *b = beam_get(env, argv[0]);                                            \
	(void)argc;                                                                                \
	if (b == NULL)                                                                             \
		return beam_badarg(env);                                                           \
	enif_mutex_lock(b->lock);                                                                  \
	if (b->h == NULL) {                                                                        \
		enif_mutex_unlock(b->lock);                                                        \
		return enif_make_tuple2(env, atom_error, atom_closed);                             \
	}

#pragma GCC visibility pop

#endif
