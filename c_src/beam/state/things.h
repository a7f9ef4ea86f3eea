/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider state: processes, tables, sockets and the like, one by one (things.c, probe path).
 *
 * Beside it what is read of processes that make no event:
 *
 *   proc_words.c  mailboxes and heaps, where the VM has them; found out, not assumed
 *   top_words.c   pids and atoms on a stack: whom a process has called (probe path)
 */
#ifndef BEAM_THINGS_H
#define BEAM_THINGS_H

#include <erl_nif.h>
#include <stdbool.h>

#include "engine/provider.h"

#pragma GCC visibility push(hidden)

struct beam_handle;
struct prog_clause;

extern const struct provider beam_state_provider;
/*
 * [{state, Probe, Kind, Period, [Member], [Member] | none} ..., {state_budget, Percent} | Tail]:
 * what src/erltrace_state.erl is to ask for: all members, and those that predicates read.
 *
 */
ERL_NIF_TERM things_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM tail);
bool things_enabled(const struct beam_handle *b); /* is a probe of the provider enabled? */
bool things_only(const struct prog_clause *c);	  /* does the clause have no other probes? */
void things_free(struct beam_handle *b);

#pragma GCC visibility pop
#endif
