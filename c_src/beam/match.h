/* SPDX-License-Identifier: Apache-2.0 */
/* A term and a pattern (match.c, probe path), and the values that are bound. */
#ifndef BEAM_MATCH_H
#define BEAM_MATCH_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "patterns.h"
#include "peek.h"

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
 * Does the term match? Then var[] are the values of the pattern's variables; else they may have
 * been overwritten. What a variable that is there twice may take is bounded: where two terms are
 * too large to compare, there is no match.
 */
bool beam_match(
	ErlNifEnv *env, const struct beam_pattern *p, ERL_NIF_TERM t, struct beam_value *var);
/* The same of any value. */
bool beam_match_value(ErlNifEnv *env, const struct beam_pattern *p, const struct beam_value *v,
	struct beam_value *var);
/* The value of a key of a map. */
bool beam_match_key(
	ErlNifEnv *env, const struct beam_pattern *key, ERL_NIF_TERM map, ERL_NIF_TERM *value);
/* SAME and so on. */
int beam_same_values(
	ErlNifEnv *env, const struct beam_value *a, const struct beam_value *b, unsigned *steps);

#pragma GCC visibility pop
#endif
