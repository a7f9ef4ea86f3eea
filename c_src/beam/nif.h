/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of erltrace_nif.erl: what they take and give (nif_terms.c), and themselves. */
#ifndef BEAM_NIF_H
#define BEAM_NIF_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

#include "erltrace.h"
#include "atoms.h"

#pragma GCC visibility push(hidden)

char *beam_get_text(ErlNifEnv *env, ERL_NIF_TERM t, size_t *len); /* to be freed; NULL: no text */
ERL_NIF_TERM beam_badarg(ErlNifEnv *env); /* badarg, in a process or a job */
ERL_NIF_TERM beam_error(ErlNifEnv *env, const erltrace_error_t *e);
ERL_NIF_TERM beam_make_binary(ErlNifEnv *env, const void *bytes, size_t len);
ERL_NIF_TERM beam_make_text(ErlNifEnv *env, const char *text); /* as a binary */
ERL_NIF_TERM beam_refused(ErlNifEnv *env, const char *why); /* {refused, Why} */
/* Of a NIF that does one step after the other: {Step, Argument}; false: Step alone. */
#define BEAM_STEP 16
bool beam_get_step(ErlNifEnv *env, ERL_NIF_TERM t, char step[BEAM_STEP], ERL_NIF_TERM *arg);

#define NIF(name, arity, kind)                                                                     \
	ERL_NIF_TERM nif_##name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
#include "nifs.def"

#pragma GCC visibility pop
#endif
