/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequential trace token of the process that runs (token.c, probe path): read out of the VM's
 * own struct, since no event tells that a process has lost it.
 */
#ifndef BEAM_TOKEN_H
#define BEAM_TOKEN_H

#include <erl_nif.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool beam_token_known(void); /* the check has found where the VM keeps it */

/*
 * The label of the token of the process with this pid, which runs on this thread: at an event of
 * its own, or in a NIF that it has called. 0: it has no token.
 */
ERL_NIF_TERM beam_token_label(ErlNifEnv *env, ERL_NIF_TERM pid);

#pragma GCC visibility pop
#endif
