/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process that is scheduled out can go on (run_state.c). */
#ifndef BEAM_RUN_STATE_H
#define BEAM_RUN_STATE_H

#include <erl_nif.h>

#include "facts.h"

#pragma GCC visibility push(hidden)

extern const struct find_fact beam_run_state_fact;

/*
 * In the event of a process that is scheduled out: 1 if it goes on when its turn comes, 0 if it
 * waits or is suspended, -1: not known (probe path).
 */
int beam_is_runnable(ErlNifEnv *env, ERL_NIF_TERM pid);
/* The same event of the process that the search observes. */
void beam_run_state_sample(ErlNifEnv *env, ERL_NIF_TERM pid);

#pragma GCC visibility pop
#endif
