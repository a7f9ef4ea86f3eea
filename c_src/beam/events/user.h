/* SPDX-License-Identifier: Apache-2.0 */
/* Probes that Erlang code fires itself: dtrace:p, dyntrace:p (user.c, probe path). */
#ifndef BEAM_USER_H
#define BEAM_USER_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct beam_handle;

/* The last two: calls of erl_ddll. */
enum beam_user { USER_S1, USER_I4S4, USER_N, USER_LOAD, USER_UNLOAD };
extern _Atomic unsigned beam_nuser; /* handles with a user probe enabled */
/* args: as dyntrace's functions take them; returns true, false or badarg. */
ERL_NIF_TERM beam_user_fire(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM pid,
	enum beam_user kind, const ERL_NIF_TERM *args, unsigned n);
bool beam_user_enabled(const struct beam_handle *b);

#pragma GCC visibility pop
#endif
