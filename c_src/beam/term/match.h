/* SPDX-License-Identifier: Apache-2.0 */
/* A term and a pattern (match.c, probe path), and the values that are bound. */
#ifndef BEAM_MATCH_H
#define BEAM_MATCH_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "patterns.h"
#include "beam_terms.h"

#pragma GCC visibility push(hidden)

/*
 * Does the value match? Then var[] are the values of the pattern's variables; else they may have
 * been overwritten. What a variable that is there twice may take is bounded: where two terms are
 * too large to compare, there is no match.
 */
bool beam_match(ErlNifEnv *env, const struct beam_pattern *p, const struct term_value *v,
	struct term_value *var);
/* Does it fail at once? */
static inline bool beam_match_fails(const struct beam_pattern *p, const struct term_value *v)
{
	const ERL_NIF_TERM *w;
	ERL_NIF_TERM atom;

	if (p->header == 0 || v->kind != VALUE_TERM)
		return false;
	w = beam_words(v->term);
	if ((v->term & 3) != 2 || w[0] != p->header)
		return true;
	if (p->first == NULL)
		return false;
	atom = atomic_load_explicit(&p->first->term, memory_order_relaxed);
	return atom != 0 && atom != w[1];
}
/* The value of a key of a map. */
bool beam_match_key(
	ErlNifEnv *env, const struct beam_pattern *key, ERL_NIF_TERM map, ERL_NIF_TERM *value);
/* Does the match come upon something that was left out of the arguments of a call? */
struct beam_kept;
bool beam_match_meets(ErlNifEnv *env, const struct beam_pattern *p, const struct term_value *v,
	const struct beam_kept *k);
#pragma GCC visibility pop
#endif
