/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider state: iterators over the processes, tables, sockets and the like of a node.
 *
 *   state_provider.c  its probes, and which members of their objects clauses read
 *   state_fire.c      rows of these members fire the probes (probe path)
 *
 * Beside it what is read of processes that make no event:
 *
 *   proc_words.c  mailboxes and heaps, where the VM has them; found out, not assumed
 *   top_words.c   pids and atoms on a stack: whom a process has called (probe path)
 */
#ifndef BEAM_STATE_PROVIDER_H
#define BEAM_STATE_PROVIDER_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/provider.h"
#include "prog/state_kinds.h"

#pragma GCC visibility push(hidden)

struct beam_handle;
struct prog_clause;

/* A row is a tuple: the process that the firing is about, and members. */
struct state_row {
	uint8_t at[STATE_MEMBERS]; /* of a member: its position; 0: not there */
	uint8_t size;
	uint8_t name, called; /* positions of what erlname and erlproc are; or 0 */
};

struct state_probe {
	struct en_probe *probe;
	enum state_kind kind;
	uint64_t period; /* ns; 0: one round, at the start */
	struct state_row row;
	struct state_row gate; /* what predicates read, where that comes first */
};

/* Of a handle: by their numbers. */
struct beam_states {
	struct state_probe *v;
	unsigned n;
};

extern const struct provider beam_state_provider;
/*
 * [{state, Probe, Kind, Period, [Member], [Member] | none} ..., {state_budget, Percent} | Tail]:
 * what erltrace_state.erl is to ask for: all members, and those that predicates read.
 *
 */
ERL_NIF_TERM beam_state_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM tail);
bool beam_state_enabled(const struct beam_handle *b); /* is a probe of the provider enabled? */
bool beam_state_only(const struct prog_clause *c);    /* does the clause have no other probes? */
void beam_state_free(struct beam_handle *b);

#pragma GCC visibility pop
#endif
