/* SPDX-License-Identifier: Apache-2.0 */
/* What the VM must be told to trace for the enabled probes (arming.c). */
#ifndef BEAM_ARMING_H
#define BEAM_ARMING_H

#include <erl_nif.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct beam_handle;

enum beam_need {
#define NEED(ID, name, events, for_what) NEED_##ID,
#define NEED_VALUE(ID, name, type)	 NEED_##ID,
#include "needs.def"
};

/* {what, value} in front of such a list. */
ERL_NIF_TERM beam_need_value(
	ErlNifEnv *env, ERL_NIF_TERM list, enum beam_need what, ERL_NIF_TERM value);

/* What the enabled probes need: a list (src/erltrace_needs.erl). */
ERL_NIF_TERM beam_needs(struct beam_handle *b, ErlNifEnv *env, uint64_t process_limit);
/* The patterns of a module's functions; those added since are made ready to fire. */
ERL_NIF_TERM beam_module_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod);

#pragma GCC visibility pop
#endif
