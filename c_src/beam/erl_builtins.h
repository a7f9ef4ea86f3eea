/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts ask of an Erlang event: erlpid, erlargs ... (erl_builtins.c, probe path). */
#ifndef BEAM_ERL_BUILTINS_H
#define BEAM_ERL_BUILTINS_H

#pragma GCC visibility push(hidden)

struct en_current_ops;

extern const struct en_current_ops beam_ops;

#pragma GCC visibility pop
#endif
