/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handle inside a node: the library's handle, and what the probes of the VM need. nif.c opens and
 * closes it.
 *
 * What looks after it, in this folder:
 *
 *   handles.c   open handles by number (probe path)
 *   watchdog.c  what events cost; scripts that cost too much are ended
 *   sweep.c     frees what is kept of processes whose exits nobody tells
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
struct flow_table;
struct beam_ports;
struct beam_tables;
struct beam_timers;
struct state_probe;

struct beam_want { /* a description that may name functions */
	char *mod, *fun, *name;
};

#define BEAM_WALLS 8
struct beam_wall { /* a profile-wall-N of a script */
	struct en_probe *probe;
	uint64_t period, full; /* ns; those that have passed since it fired */
};

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

struct beam_handle {
	/* read on the probe path */
	struct en *en;	    /* of h */
	unsigned number;    /* the tracer's state */
	ERL_NIF_TERM state; /* the same as a term */
	uint64_t (*vtimestamp)(const struct en_current *cur); /* NULL: no running times are kept */
	_Atomic bool live; /* events may fire: between go and stop */
	bool stacks;	   /* shadow stacks are kept, for one of these */
	bool returns;	   /* function-return and the like */
	bool exceptions;   /* function-exception */
	bool depth;	   /* the depth of entries, without return_to */
	bool marked;	   /* every frame of a [local] function has one of return_to on it */
	bool keeps;	   /* arguments of calls until they end */
	bool vts;	   /* running times are kept */
	bool costs;	   /* a clause reads erlcost: each event is timed */
	bool hibernate;	   /* which processes hibernate is kept */
	bool hibernate_loops; /* some do without erlang:hibernate/3 in this release */
	bool heaps;	   /* heap sizes at the start of a gc are kept */
	bool self;	   /* a script has self-> variables */
	uint8_t traced;	   /* which events of the VM it asks for: enum beam_traced */
	bool exits;	   /* exits and registrations are told; else sweep.c and own_name.c */
	bool lines;	   /* ustack() records files and lines */
	bool fast;	   /* calls by the fast way, where it has them (fast_calls.c) */
	uint32_t generation; /* of calls, when it joined */
	ERL_NIF_TERM owner; /* the process that arms it: its calls are not told */
	ERL_NIF_TERM node;
	struct beam_functions fns;
	struct en_probe *probe[BP_COUNT_]; /* those without a function */
	struct beam_clause *clauses;	   /* as they are numbered in the program */
	struct en_probe **user;		   /* user_trace-n*; NULL: none asked for */
	struct beam_procs procs;
	struct beam_ports *ports; /* names and owners; NULL: no port probe is enabled */
	struct beam_names names;
	struct beam_names holders; /* the other way round, for message-undelivered */
	_Atomic bool holders_lost; /* one found no room: which names nobody has is not known */
	struct beam_proc_names proc_names;
	struct beam_patterns patterns; /* of terms */
	struct flow_table *flows; /* NULL: no clause follows */
	uint64_t flow_time;	  /* ns: a flow without an event for so long has ended */
	uint64_t flow_life;	  /* ns: one that has begun so long ago has too */
	uint32_t flow_hops;	  /* messages and spawns of a flow, at most */
	_Atomic bool foreign_tokens; /* sequential trace tokens that are not ours have been seen */
	struct beam_tables *tables; /* for probes of certain functions; NULL: none is enabled */
	struct beam_timers *timers; /* for timer-expire; NULL: it is not enabled */
	struct et_str *node_text;
	struct beam_event *host;  /* asked by BEGIN, tick and the like */
	_Atomic uint64_t beat;	/* ns: its process looked after it; 0: nobody has to */
	_Atomic uint64_t stale; /* ns: since when events find the beat too old */
	_Atomic int ended;	/* by the watchdog: why */
	uint64_t patience;	/* ns: the oldest beat that is all right */
	/* the rest */
	erltrace_t *h; /* NULL: closed */
	struct beam_watchdog watchdog;
	bool harmless;	   /* destructive actions are forbidden in this node */
	bool unflagged;	   /* events of its functions come without trace flags of processes */
	bool samples;	   /* profile-N reads what it interrupts (sampler_fire.c) ... */
	bool sampled_stacks; /* ... and its stacks */
	_Atomic bool named; /* what processes are called is there: samples may fire */
	struct beam_wall walls[BEAM_WALLS];
	unsigned nwalls;
	struct state_probe *states; /* probes of the provider state, by their numbers; or NULL */
	unsigned nstates;
	struct beam_sweep sweep;
	struct beam_release release;
	ErlNifMutex *lock; /* one caller at a time */
	struct beam_want *wants;
	unsigned nwants;
	bool counted;	/* in beam_nuser */
	char *warnings; /* lines not told yet; or NULL */
	char file[256], source[256]; /* where the last script failed to compile */
	_Atomic uint64_t counted_calls; /* by the VM (counters.c) */
	_Atomic uint64_t reading;	/* ns of processor time that it took to read results */
	/* ns of processor time around its firings: asking for things, taking samples */
	_Atomic int64_t around;
	uint64_t read_from; /* ns: when reading the VM's counters began */
	bool new_wants; /* a description has named functions that were not looked for yet */
};

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
