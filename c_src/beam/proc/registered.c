/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered names of processes: a table by pid, filled when a script is armed (nif_set_name) and
 * kept up by the events of registering. Events read it without a lock (probe path).
 *
 * Writers: events, one at a time under the registry's lock, and nif_set_name, which writes before
 * they are armed and afterwards only what has changed meanwhile.
 *
 * A second table of the same kind, by name, says who holds it: for messages to names that nobody
 * has.
 */
#include <sys/mman.h>

#include "beam/pages.h"
#include "compiler.h"
#include "registered.h"

#define SLOTS 65536 /* the upper 16 bits of a hash */
#define SIZE  ((SLOTS + BEAM_NAME_TRIES) * sizeof(struct beam_name))

int beam_names_init(struct beam_names *t)
{
	t->tab = beam_pages(SIZE);
	return t->tab != NULL ? 0 : -1;
}

void beam_names_fini(struct beam_names *t)
{
	if (t->tab != NULL)
		munmap(t->tab, SIZE);
	t->tab = NULL;
}

PROBE_PATH bool beam_name_put(const struct beam_names *t, ERL_NIF_TERM of, ERL_NIF_TERM is)
{
	struct beam_name *unused, *n = beam_name_find(t, of, &unused);

	if (n == NULL && unused != NULL) {
		n = unused;
		atomic_store_explicit(&n->pid, of, memory_order_release);
	}
	if (n != NULL && atomic_load_explicit(&n->name, memory_order_acquire) != is)
		atomic_store_explicit(&n->name, is, memory_order_release);
	return n != NULL;
}

PROBE_PATH void beam_name_take(const struct beam_names *t, ERL_NIF_TERM of, ERL_NIF_TERM is)
{
	struct beam_name *unused, *n = beam_name_find(t, of, &unused);
	uint64_t have = is;

	if (n != NULL)
		atomic_compare_exchange_strong(&n->name, &have, 0);
}
