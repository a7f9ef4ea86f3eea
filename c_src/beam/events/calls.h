/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls and returns (calls.c, probe path), for the fast way (fast_calls.c) where an event is not
 * simple. The thread is inside the handle. argv: what a tracer would have been given.
 */
#ifndef BEAM_CALLS_H
#define BEAM_CALLS_H

#include <erl_nif.h>

#include "beam/vm/vm_threads.h"

#pragma GCC visibility push(hidden)

struct beam_fn;
struct beam_handle;

void beam_fast_called(ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_thread *t,
	struct beam_tstate *ts, struct beam_handle *b, struct beam_tail tail);
/* level: words on the stack when the function was called. */
void beam_fast_ended(ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_thread *t,
	struct beam_tstate *ts, struct beam_handle *b, const struct beam_fn *fn, unsigned level);

/* The same for a call that an exception ends. */
void beam_fast_raised(ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_thread *t,
	struct beam_tstate *ts, struct beam_handle *b, const struct beam_fn *fn, unsigned level,
	ERL_NIF_TERM class, ERL_NIF_TERM reason);

#pragma GCC visibility pop
#endif
