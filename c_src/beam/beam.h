/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace inside an Erlang node: a NIF library. It is thin: terms in, the library's calls, terms
 * out.
 *
 *   nif.c      the functions of erltrace_nif.erl: open, compile, go, work, walk, stop, close
 *   erlang.c   the provider erlang<OS pid>: its probes, and what must be armed for them
 *   tracer.c   THE PROBE PATH: the VM's tracing calls erltrace_nif:enabled/3 and trace/5 here
 *   pids.c     texts of pids, made once and cached by thread (probe path)
 *   terms.c    results as Erlang terms
 *
 * A handle has a number; it is the state of the tracer that the VM hands back with every event.
 * Numbers are never used twice, so an event of a closed handle finds nothing and removes itself.
 */
#ifndef BEAM_BEAM_H
#define BEAM_BEAM_H

#include <erl_nif.h>
#include <stdatomic.h>

#include "../api/handle.h"

#define BEAM_HANDLES 64 /* open at once in a node */

/* ---- the probes ------------------------------------------------------------------------ */

enum beam_probe {
#define PROBE(ID, name, route, nargs, ...) BP_##ID,
#include "probes.def"
	BP_COUNT_
};

/* How a probe's events come about; what is armed for it. */
enum beam_route {
	ROUTE_PROCS,   /* trace flag procs */
	ROUTE_SEND,    /* send */
	ROUTE_RECEIVE, /* 'receive' */
	ROUTE_RUNNING, /* running_procs */
	ROUTE_GC,	    /* garbage_collection */
	ROUTE_LOCAL,   /* call, pattern [local] */
	ROUTE_GLOBAL,  /* call, pattern [global] */
	ROUTE_NONE,    /* cannot be given here: why says what would */
};

struct beam_probedef {
	const char *name;
	enum beam_route route;
	int nargs;
	const char *const *argtypes;
};
extern const struct beam_probedef beam_probedefs[BP_COUNT_];

/* ---- functions ------------------------------------------------------------------------- */

/* An Erlang function that probes exist for: found by its three words when it is called. */
struct beam_fn {
	ERL_NIF_TERM mod, fun;
	uint32_t arity;
	struct et_str *mfa; /* "lists:seq/2" */
	char *name;	    /* "seq" */
	struct en_probe *probe[BP_COUNT_ - BP_FUNCTION_ENTRY]; /* by name */
	struct beam_fn *next; /* in the bucket */
};

struct beam_functions {
	struct beam_fn **buckets;
	unsigned n, nbuckets;
};

/* ---- handles --------------------------------------------------------------------------- */

struct beam_handle {
	erltrace_t *h;
	ErlNifMutex *lock; /* one caller at a time */
	unsigned number;   /* the tracer's state */
	struct beam_functions fns;
	struct en_probe *probe[BP_COUNT_]; /* those without a function; NULL: not asked for */
	_Atomic bool live; /* events may fire: between go and stop */
	bool wants_functions; /* a description named functions that are not known yet */
	ErlNifPid owner;
	ErlNifMonitor monitor;
};

/* The handle of a number, for events; NULL: gone. Between enter and leave it stays. */
struct beam_handle *beam_enter(unsigned number);
void beam_leave(void);
int beam_register(struct beam_handle *b);
void beam_unregister(struct beam_handle *b); /* waits until no event is inside */

/* The handle that is being opened by this thread, for the provider's init. */
void beam_set_opening(struct beam_handle *b);

int beam_function_add(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun,
	unsigned arity);
struct beam_fn *beam_function_find(const struct beam_functions *f, ERL_NIF_TERM mod,
	ERL_NIF_TERM fun, unsigned arity);

const struct et_str *beam_pid_text(ErlNifEnv *env, ERL_NIF_TERM pid);

/* Atoms, made at load. */
#define ATOMS(X)                                                                                   \
	X(ok) X(error) X(true) X(false) X(trace) X(discard) X(remove) X(call) X(spawn) X(spawned)  \
	X(exit) X(send) X(receive) X(in) X(out) X(extra) X(probe) X(printf) X(count) X(sum)        \
	X(min) X(max) X(avg) X(stddev) X(quantize) X(lquantize) X(llquantize) X(done)              \
	X(send_to_non_existing_process) X(trace_status) X(gc_minor_start) X(gc_minor_end)          \
	X(gc_major_start) X(gc_major_end) X(undefined) X(text) X(drop) X(fault) X(wordsize)
#define X(a) extern ERL_NIF_TERM atom_##a;
ATOMS(X)
#undef X

ERL_NIF_TERM beam_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM beam_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
