/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH: the VM's tracing calls enabled/3 and trace/5. calls.c has the fast path of calls,
 * returns and messages; tracer.c all events.
 */
#ifndef BEAM_TRACER_H
#define BEAM_TRACER_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "atoms.h"
#include "vm_facts.h"

#pragma GCC visibility push(hidden)

ERL_NIF_TERM beam_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM beam_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* Opts is a map, mostly with one key: found without a search. false: it is not so. */
static inline bool beam_extra_near(ERL_NIF_TERM opts, ERL_NIF_TERM *extra)
{
	const ERL_NIF_TERM *m = (const ERL_NIF_TERM *)(uintptr_t)(opts & ~(ERL_NIF_TERM)7);

	if (unlikely((opts & 7) != beam_vm.tuple3.tag || m[0] != beam_vm.map1.header || m[1] != 1 ||
		     *(const ERL_NIF_TERM *)(uintptr_t)((m[2] & ~(ERL_NIF_TERM)7) + 8) !=
			     atom_extra))
		return false;
	*extra = m[3];
	return true;
}
ERL_NIF_TERM beam_extra(ErlNifEnv *env, ERL_NIF_TERM opts);
ERL_NIF_TERM beam_trace_any(ErlNifEnv *env, const ERL_NIF_TERM argv[]);

#pragma GCC visibility pop
#endif
