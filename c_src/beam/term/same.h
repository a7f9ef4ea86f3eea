/* SPDX-License-Identifier: Apache-2.0 */
/* Are two terms the same, in bounded time? (same.c, probe path) */
#ifndef BEAM_SAME_H
#define BEAM_SAME_H

#include <erl_nif.h>

#include "beam/vm/peek.h"

#pragma GCC visibility push(hidden)

enum { SAME_NOT = 0, SAME = 1, SAME_UNKNOWN = -1 };

#define SAME_STEPS 10000 /* terms, or 64 bytes of a binary */

/* As =:= compares them. *steps: how many are left. SAME_UNKNOWN: they did not suffice. */
int beam_same(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned *steps);
int beam_same_bits(const struct beam_bits *a, const struct beam_bits *b, unsigned *steps);

#pragma GCC visibility pop
#endif
