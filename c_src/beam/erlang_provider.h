/* SPDX-License-Identifier: Apache-2.0 */
/* The provider erlang<OS pid>: its probes, and what must be armed for them (erlang.c). */
#ifndef BEAM_ERLANG_PROVIDER_H
#define BEAM_ERLANG_PROVIDER_H

#include <erl_nif.h>
#include <stdint.h>

#include "erl_probes.h"

#pragma GCC visibility push(hidden)

struct beam_handle;
struct en;
struct en_probe;

struct en_probe *beam_probe_add(
	struct en *en, enum beam_probe id, const char *mod, const char *fun, const char *name);
/* The handle that is being opened by this thread, for the provider's init. */
void beam_set_opening(struct beam_handle *b);
/* A line to be told with the next results; -1: out of memory. */
int beam_warn(struct beam_handle *b, const char *text);
/* What the enabled probes need: a list of flags and patterns (erltrace_nif:needs/1). */
ERL_NIF_TERM beam_needs(struct beam_handle *b, ErlNifEnv *env, uint64_t process_limit);
/* The patterns of a module's functions; those added since are made ready to fire. */
ERL_NIF_TERM beam_module_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod);

#pragma GCC visibility pop
#endif
