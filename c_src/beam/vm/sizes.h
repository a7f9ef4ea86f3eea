/* SPDX-License-Identifier: Apache-2.0 */
/* How large terms are (sizes.c, probe path). */
#ifndef BEAM_SIZES_H
#define BEAM_SIZES_H

#include <erl_nif.h>

#pragma GCC visibility push(hidden)

unsigned beam_term_size(ErlNifEnv *env, ERL_NIF_TERM t); /* words (sizes.c) */
/* A node of a map of more than 32 keys: how many nodes or cells are in it; 0: not known. */
unsigned beam_map_node(ERL_NIF_TERM t, const ERL_NIF_TERM **parts);
void beam_sizes_check(ErlNifEnv *env, ERL_NIF_TERM samples);

#pragma GCC visibility pop
#endif
