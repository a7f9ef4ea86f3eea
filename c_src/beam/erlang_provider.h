/* SPDX-License-Identifier: Apache-2.0 */
/* The provider erlang<OS pid> and its probes (erlang_provider.c). */
#ifndef BEAM_ERLANG_PROVIDER_H
#define BEAM_ERLANG_PROVIDER_H

#include <stdbool.h>

#include "erl_probes.h"

#pragma GCC visibility push(hidden)

struct beam_handle;
struct en;
struct en_probe;

const char *beam_provider_name(void); /* "erlang1234" */
bool beam_is_meant(const char *name, enum beam_probe id); /* by the name of a description */
/* name: NULL for the one of the table. */
struct en_probe *beam_probe_add(
	struct en *en, enum beam_probe id, const char *mod, const char *fun, const char *name);
/* The handle that is being opened by this thread, for the provider's init. */
void beam_set_opening(struct beam_handle *b);
/* A line to be told with the next results; -1: out of memory. */
int beam_warn(struct beam_handle *b, const char *text);

#pragma GCC visibility pop
#endif
