/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that mean more than a call: special_calls.c (probe path). */
#ifndef BEAM_SPECIAL_CALLS_H
#define BEAM_SPECIAL_CALLS_H

#include <erl_nif.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct beam_event;
struct beam_fn;

/* A call of a function that is special; proc: something is kept of its process. */
void beam_special_call(
	struct beam_event *ev, const struct beam_fn *fn, ERL_NIF_TERM mfa, bool proc);

#pragma GCC visibility pop
#endif
