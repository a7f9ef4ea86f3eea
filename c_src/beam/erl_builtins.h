/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts ask of an Erlang event: erlpid, erlargs ... (erl_builtins.c, probe path). */
#ifndef BEAM_ERL_BUILTINS_H
#define BEAM_ERL_BUILTINS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct beam_event;
struct en_current_ops;

extern const struct en_current_ops beam_ops;
/* The term of an event that a built-in is: PBI_ERLARG with its n, PBI_ERLMSG and so on. */
bool beam_source(const struct beam_event *ev, unsigned pbi, uint64_t n, ERL_NIF_TERM *t);

#pragma GCC visibility pop
#endif
