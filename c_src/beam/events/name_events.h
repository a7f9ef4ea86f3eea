/* SPDX-License-Identifier: Apache-2.0 */
/* Names come and go: what events tell of registered names (name_events.c, probe path). */
#ifndef BEAM_NAME_EVENTS_H
#define BEAM_NAME_EVENTS_H

#include <erl_nif.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct beam_event;
struct beam_handle;

/* Does nobody have this name? false: somebody does, or it is not known. */
bool beam_is_nobody(const struct beam_handle *b, ERL_NIF_TERM name);
void beam_name_event(struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM name);

#pragma GCC visibility pop
#endif
