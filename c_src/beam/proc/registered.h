/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered names of processes (registered.c, probe path). The VM's registry locks, so each handle
 * whose script reads erlname has a table of its own.
 */
#ifndef BEAM_REGISTERED_H
#define BEAM_REGISTERED_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define BEAM_NAME_TRIES 16 /* slots that a process may have, from the one its pid says */

struct beam_name {
	_Atomic uint64_t pid, name; /* no name: free, or free again */
};

struct beam_names {
	struct beam_name *tab; /* of 65536 slots and some; NULL: no script reads erlname */
};

/* Of a handle. */
struct beam_registered {
	struct beam_names names;
	struct beam_names holders; /* the other way round, for message-undelivered */
	_Atomic bool holders_lost; /* one found no room: which names nobody has is not known */
};

int beam_names_init(struct beam_names *t);
void beam_names_fini(struct beam_names *t);
/* of: a pid, whose name is `is`; or a name that the process `is` has. false: there is no room. */
bool beam_name_put(const struct beam_names *t, ERL_NIF_TERM of, ERL_NIF_TERM is);
void beam_name_take(const struct beam_names *t, ERL_NIF_TERM of, ERL_NIF_TERM is);

/* The process's slot, or NULL. unused: one that it may have. */
static inline struct beam_name *beam_name_find(
	const struct beam_names *t, ERL_NIF_TERM pid, struct beam_name **unused)
{
	struct beam_name *n = &t->tab[pid * 0x9e3779b97f4a7c15ULL >> 48];
	struct beam_name *end = n + BEAM_NAME_TRIES;

	*unused = NULL;
	for (; n < end; n++) {
		uint64_t is = atomic_load_explicit(&n->pid, memory_order_acquire);

		if (is == pid)
			return n;
		if (*unused == NULL && atomic_load_explicit(&n->name, memory_order_acquire) == 0)
			*unused = n;
		if (is == 0)
			break;
	}
	return NULL;
}

/* 0: it has none. */
static inline ERL_NIF_TERM beam_name_of(const struct beam_names *t, ERL_NIF_TERM pid)
{
	struct beam_name *unused;
	struct beam_name *n = t->tab != NULL ? beam_name_find(t, pid, &unused) : NULL;

	return n != NULL ? atomic_load_explicit(&n->name, memory_order_acquire) : 0;
}

#pragma GCC visibility pop
#endif
