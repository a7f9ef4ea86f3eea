/* SPDX-License-Identifier: Apache-2.0 */
/* Events of ports and drivers (ports.c, probe path). */
#ifndef BEAM_PORTS_H
#define BEAM_PORTS_H

#include <erl_nif.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct beam_event;
struct beam_handle;

/* tag: open, closed, receive, in, out. */
void beam_port_event(struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM term, ERL_NIF_TERM opts);
/* The table of names and owners; -1: out of memory. */
int beam_ports_init(struct beam_handle *b);
/* A port that is there, or is opened; a driver. */
void beam_port_note(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM owner,
	ERL_NIF_TERM name);
void beam_driver_note(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM name);
/* A call of erl_ddll:try_load/3 or try_unload/2. */
void beam_driver_call(struct beam_event *ev, bool load, const ERL_NIF_TERM *args);

#pragma GCC visibility pop
#endif
