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

#include "nif.h"
#include "pages.h"
#include "registered.h"
#include "vm_event.h"

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

/* of: a pid, whose name is `is`; or a name that the process `is` has. false: there is no room. */
static bool put(const struct beam_names *t, ERL_NIF_TERM of, ERL_NIF_TERM is)
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

static void take(const struct beam_names *t, ERL_NIF_TERM of, ERL_NIF_TERM is)
{
	struct beam_name *unused, *n = beam_name_find(t, of, &unused);
	uint64_t have = is;

	if (n != NULL)
		atomic_compare_exchange_strong(&n->name, &have, 0);
}

static void set(struct beam_handle *b, ERL_NIF_TERM pid, ERL_NIF_TERM name)
{
	if (!put(&b->names, pid, name))
		atomic_fetch_add_explicit(&b->procs.lost, 1, memory_order_relaxed);
	if (b->holders.tab != NULL && !put(&b->holders, name, pid))
		atomic_store_explicit(&b->holders_lost, true, memory_order_relaxed);
}

static void clear(struct beam_handle *b, ERL_NIF_TERM pid, ERL_NIF_TERM name)
{
	take(&b->names, pid, name);
	if (b->holders.tab != NULL)
		take(&b->holders, name, pid);
}

bool beam_is_nobody(const struct beam_handle *b, ERL_NIF_TERM name)
{
	return b->holders.tab != NULL && beam_name_of(&b->holders, name) == 0 &&
	       !atomic_load_explicit(&b->holders_lost, memory_order_relaxed);
}

/* Under the registry's lock, on the scheduler of whoever registers. */
void beam_name_event(struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM name)
{
	if (ev->b->names.tab == NULL || !enif_is_atom(ev->env, name))
		return;
	if (tag == atom_register)
		set(ev->b, ev->cur.key, name);
	else
		clear(ev->b, ev->cur.key, name);
}

/* set_name(Handle, Pid, Name, IsRegistered) */
ERL_NIF_TERM nif_set_name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	if (b->names.tab != NULL && (enif_is_pid(env, argv[1]) || enif_is_port(env, argv[1])) &&
		enif_is_atom(env, argv[2])) {
		if (argv[3] == atom_true)
			set(b, argv[1], argv[2]);
		else
			clear(b, argv[1], argv[2]);
	}
	enif_mutex_unlock(b->lock);
	return atom_ok;
}
