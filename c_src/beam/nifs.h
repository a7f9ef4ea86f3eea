/* SPDX-License-Identifier: Apache-2.0 */
/* What Erlang calls: the functions of nifs.def. */
#ifndef BEAM_NIFS_H
#define BEAM_NIFS_H

#include <erl_nif.h>

#pragma GCC visibility push(hidden)
#define NIF(name, arity, kind)                                                                     \
	ERL_NIF_TERM nif_##name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
#include "nifs.def"
#pragma GCC visibility pop

#endif
