/* SPDX-License-Identifier: Apache-2.0 */
/* Are two terms the same, in bounded time? (same.c, probe path) */
#ifndef BEAM_SAME_H
#define BEAM_SAME_H

#include <erl_nif.h>

#pragma GCC visibility push(hidden)

struct term_value;

/* As =:= compares them: SAME and so on (term/term_same.h). *steps: how many are left. */
int beam_same_values(
	ErlNifEnv *env, const struct term_value *a, const struct term_value *b, unsigned *steps);
/* Two funs that are not one. */
int beam_same_funs(ERL_NIF_TERM a, ERL_NIF_TERM b);

#pragma GCC visibility pop
#endif
