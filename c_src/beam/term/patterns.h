/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of a handle, made ready for events (patterns.c): atoms, integers and keys as terms.
 * No atom is made for a script. One that the node does not have yet is compared by its name, until
 * it is met or found.
 */
#ifndef BEAM_PATTERNS_H
#define BEAM_PATTERNS_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "prog/term.h"

#pragma GCC visibility push(hidden)

struct beam_node {
	struct pat_node;
	/* An atom, an integer, [], or the whole of a key; 0: not there, or not known. */
	_Atomic ERL_NIF_TERM term;
	_Atomic ERL_NIF_TERM other; /* an atom that has another name; 0: none was met */
	bool key;		    /* it is the whole of one */
};

struct beam_pattern {
	struct beam_node *node;
	unsigned n, nvars;
	/* Most patterns are tuples of some size that begin with an atom: their first word, 0: it is
	 * another; the node of the atom, or NULL. */
	uint64_t header;
	const struct beam_node *first;
	bool ground;		    /* it has no variables: a key */
	_Atomic ERL_NIF_TERM whole; /* all of it as a term, if it is one; 0: not there yet */
};

struct beam_patterns {
	ErlNifEnv *env; /* of the keys; NULL: no patterns */
	struct beam_pattern *pattern;
	unsigned n;
};

/* Of an atom that was not there yet: is it this term? (match.c, probe path) */
bool beam_atom_by_name(ErlNifEnv *env, const struct beam_node *p, ERL_NIF_TERM t);
/* Not on the probe path. -1: out of memory. */
int beam_patterns_init(struct beam_patterns *ps, const struct pat *pats, unsigned n);
void beam_patterns_fini(struct beam_patterns *ps);
bool beam_patterns_renew(struct beam_patterns *ps); /* atoms that were missing: are all there? */

#pragma GCC visibility pop
#endif
