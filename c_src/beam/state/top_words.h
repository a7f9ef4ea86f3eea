/* SPDX-License-Identifier: Apache-2.0 */
/* Terms among the newest words of a stack (top_words.c). */
#ifndef BEAM_TOP_WORDS_H
#define BEAM_TOP_WORDS_H

#include <erl_nif.h>

#pragma GCC visibility push(hidden)

/* The process is scheduled in (probe path). */
void beam_top_words(ErlNifEnv *env, ERL_NIF_TERM pid);

#pragma GCC visibility pop
#endif
