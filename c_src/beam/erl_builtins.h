/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts ask of an Erlang event: erlpid, erlmsg, erlargs ... (erl_erl_builtins.c, probe path) */
#ifndef BEAM_ERL_BUILTINS_H
#define BEAM_ERL_BUILTINS_H

#include <erl_nif.h>

#include "engine/engine.h"

#pragma GCC visibility push(hidden)

struct beam_event;

extern const struct en_who_ops beam_ops;
void beam_name_event(struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM name);

#pragma GCC visibility pop
#endif
