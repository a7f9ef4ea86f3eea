/* SPDX-License-Identifier: Apache-2.0 */
/* The provider erlang<OS pid> and its probes (erlang_provider.c). */
#ifndef BEAM_ERLANG_PROVIDER_H
#define BEAM_ERLANG_PROVIDER_H

#include <erl_nif.h>
#include <stdbool.h>

#include "beam/code/functions.h"
#include "beam/erl_probes.h"

#pragma GCC visibility push(hidden)

struct beam_handle;
struct en;
struct en_probe;

/* Descriptions of a handle that may name functions. */
struct beam_wants {
	struct beam_want {
		char *mod, *fun, *name;
	} * v;
	unsigned n;
	bool fresh; /* one has named functions that were not looked for yet */
};

const char *beam_provider_name(void); /* "erlang1234" */
bool beam_is_meant(const char *name, enum beam_probe id); /* by the name of a description */
/* name: NULL for the one of the table. */
struct en_probe *beam_probe_add(
	struct en *en, enum beam_probe id, const char *mod, const char *fun, const char *name);
void beam_wants_free(struct beam_handle *b);
/* Is a description about functions of this module? One of them that was found. */
bool beam_wants_module(const struct beam_handle *b, const char *mod);
int beam_function_add(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun,
	unsigned arity, enum beam_fnkind kind);
/* The handle that is being opened by this thread, for the provider's init. */
void beam_set_opening(struct beam_handle *b);
/* A line to be told with the next results; -1: out of memory. */
int beam_warn(struct beam_handle *b, const char *text);

#pragma GCC visibility pop
#endif
