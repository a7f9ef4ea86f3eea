/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequential trace token of the process that runs (token.c, probe path): read out of the VM's
 * own struct, since no event tells that a process has lost it, and written there, since a match
 * specification can set the label to a constant only.
 */
#ifndef BEAM_TOKEN_H
#define BEAM_TOKEN_H

#include <erl_nif.h>
#include <stdbool.h>

#include "facts.h"

#pragma GCC visibility push(hidden)

extern const struct find_fact beam_token_fact;

/*
 * The label of the token of the process with this pid, which runs on this thread: at an event of
 * its own, or in a NIF that it has called. 0: it has no token.
 */
ERL_NIF_TERM beam_token_label(ErlNifEnv *env, ERL_NIF_TERM pid);

/*
 * Take it away: at the event of a message that the process has just received, whose token it got.
 * The VM does no more than this when a message without a token comes.
 *
 */
void beam_token_clear(ErlNifEnv *env, ERL_NIF_TERM pid);

enum token_part { TOKEN_FLAGS = 1, TOKEN_LABEL = 2, TOKEN_PREVIOUS = 5 };
/* 0: the same */
ERL_NIF_TERM beam_token_get(ErlNifEnv *env, ERL_NIF_TERM pid, enum token_part part);
/* Write into it, if the process has one: an integer that fits a word. */
void beam_token_set(ErlNifEnv *env, ERL_NIF_TERM pid, enum token_part part, ERL_NIF_TERM small);

#pragma GCC visibility pop
#endif
