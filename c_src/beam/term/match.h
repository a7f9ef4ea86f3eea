/* SPDX-License-Identifier: Apache-2.0 */
/* A term and a pattern (match.c, probe path), and the values that are bound. */
#ifndef BEAM_MATCH_H
#define BEAM_MATCH_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/vm/peek.h"
#include "patterns.h"
#include "term_words.h"

#pragma GCC visibility push(hidden)

/* What a slot has: a term of the event, or what a binary of it contains. */
struct beam_value {
	enum beam_value_kind {
		VALUE_TERM,
		VALUE_ARGS, /* a term too: a list of arguments, never a text */
		VALUE_BITS, /* a part of a binary */
		VALUE_INT,  /* num */
		VALUE_UINT, /* num, as a uint64_t: it is larger than any int64_t */
	} kind;
	union {
		ERL_NIF_TERM term;
		struct beam_bits bits;
		int64_t num;
	};
};

/*
 * Does the value match? Then var[] are the values of the pattern's variables; else they may have
 * been overwritten. What a variable that is there twice may take is bounded: where two terms are
 * too large to compare, there is no match.
 */
bool beam_match(ErlNifEnv *env, const struct beam_pattern *p, const struct beam_value *v,
	struct beam_value *var);
/* Does it fail at once? */
static inline bool beam_match_fails(const struct beam_pattern *p, const struct beam_value *v)
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
bool beam_match_meets(ErlNifEnv *env, const struct beam_pattern *p, const struct beam_value *v,
	const struct beam_kept *k);
/* SAME and so on. */
int beam_same_values(
	ErlNifEnv *env, const struct beam_value *a, const struct beam_value *b, unsigned *steps);

#pragma GCC visibility pop
#endif
