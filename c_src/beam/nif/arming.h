/* SPDX-License-Identifier: Apache-2.0 */
/* What the VM must be told to trace for the enabled probes (arming.c). */
#ifndef BEAM_ARMING_H
#define BEAM_ARMING_H

#include <erl_nif.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct beam_handle;

/* What the enabled probes need: a list (erltrace_needs.erl). */
ERL_NIF_TERM beam_needs(struct beam_handle *b, ErlNifEnv *env, uint64_t process_limit);
/* The patterns of a module's functions; those added since are made ready to fire. */
ERL_NIF_TERM beam_module_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod);

#pragma GCC visibility pop
#endif
