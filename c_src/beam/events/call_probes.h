/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of certain functions, whose calls tell what goes on inside the VM: operations on ETS
 * tables, timers, restarts of supervisors, atoms (call_probes.c, call_facts.c). They come as other
 * function probes do, by the tracer or by the fast way; only their arguments are made here.
 *
 */
#ifndef BEAM_CALL_PROBES_H
#define BEAM_CALL_PROBES_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/code/functions.h"
#include "beam/erl_probes.h"
#include "engine/probe.h"

#pragma GCC visibility push(hidden)

struct beam_event;
struct beam_handle;
struct beam_tables;

/* Does a module have functions with this probe; is this function one? */
bool beam_call_probe_in(enum beam_probe id, const char *mod);
bool beam_call_probe_of(enum beam_probe id, enum beam_fnkind kind, const char *mod,
	const char *name, unsigned arity);

enum {
	CALL_ARGS = 1,	 /* the arguments of the call */
	CALL_NOTE = 2,	 /* at its end: when it was called, what was noted of its arguments */
	CALL_RESULT = 4, /* what it returns */
};
static inline bool beam_is_call_probe(const struct en_probe *p)
{
	return p->pvdata >= (const void *)&beam_probedefs[BP_CALLS];
}

/* What a clause that reads these arguments of the probe has to know: CALL_*. */
unsigned beam_call_needs(enum beam_probe id, unsigned argmask);

/* At a call: what its end needs of the arguments. */
ERL_NIF_TERM beam_call_note(
	const struct beam_event *ev, const struct beam_fn *fn, ERL_NIF_TERM args);
/* At its end: what is noted of the result. */
void beam_call_noted(const struct beam_event *ev);
void beam_call_fire(struct beam_event *ev, struct en_probe *p);

/* ---- what they need to know of the VM (call_facts.c) ------------------------------------- */

/*
 * Names of ETS tables by the words of their references; atoms that were made. Read without a lock.
 */
int beam_tables_init(struct beam_tables **t);
void beam_tables_fini(struct beam_tables **t);
void beam_table_set(struct beam_tables *t, ERL_NIF_TERM ref, ERL_NIF_TERM name);
/* The name of a table, named or not, of a continuation that of its table; 0: not known. */
ERL_NIF_TERM beam_table_name(const struct beam_tables *t, ErlNifEnv *env, ERL_NIF_TERM table);
/* Is it an atom that was made since the script began, and not seen yet? *others: of so many that is
 * not known. */
bool beam_atom_is_new(struct beam_tables *t, ERL_NIF_TERM atom, uint64_t *others);

#pragma GCC visibility pop
#endif
