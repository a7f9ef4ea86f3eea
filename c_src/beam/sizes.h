/* SPDX-License-Identifier: Apache-2.0 */
/* How large terms are (sizes.c, probe path). */
#ifndef BEAM_SIZES_H
#define BEAM_SIZES_H

#include <erl_nif.h>

#pragma GCC visibility push(hidden)

unsigned beam_term_size(ErlNifEnv *env, ERL_NIF_TERM t); /* words (sizes.c) */
void beam_sizes_check(ErlNifEnv *env, ERL_NIF_TERM samples);

#pragma GCC visibility pop
#endif
