/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What probes of certain functions need to know of the VM (probe path). A table without a name is a
 * reference, whose second word is the address of what the VM keeps of it: it stands for the table,
 * and is not followed. Tables that are there when the script is armed are told by the Erlang side
 * (nif_vm_fact), later ones by what ets:new/2 returns. An address that is used again gets the name
 * of the newer table that way.
 *
 * The VM numbers atoms as it makes them, and the number is in the term: those above the last one
 * when the script was armed are new. They are marked, since they may be asked for again.
 *
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "beam/atoms.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "beam/pages.h"
#include "beam/term/term_words.h"
#include "beam/vm/peek.h"
#include "call_probes.h"
#include "compiler.h"

#define SLOTS 65536 /* tables */
#define TRIES 16
#define ATOMS_MARKED (1u << 22)

struct beam_tables {
	struct {
		_Atomic uint64_t key, name;
	} slot[SLOTS + TRIES];
	uint64_t first; /* the number of the first atom that is new */
	_Atomic uint64_t last; /* of the newest that was seen, and one more; */
	_Atomic uint64_t seen; /* how many were */
	_Atomic uint64_t marked[ATOMS_MARKED / 64];
};

int beam_tables_init(struct beam_tables **t)
{
	*t = beam_pages(sizeof(**t));
	if (*t == NULL)
		return -1;
	(*t)->first = UINT64_MAX;
	return 0;
}

void beam_tables_fini(struct beam_tables **t)
{
	if (*t != NULL)
		munmap(*t, sizeof(**t));
	*t = NULL;
}

static unsigned place_of(uint64_t key)
{
	return (unsigned)(key * 0x9e3779b97f4a7c15ULL >> 48);
}

/* Where all places are taken the first one goes: it may be of a table that is no more. */
PROBE_PATH void beam_table_set(struct beam_tables *t, ERL_NIF_TERM ref, ERL_NIF_TERM name)
{
	unsigned at, to;
	uint64_t key;

	if (t == NULL || !beam_peek_magic(ref, &key))
		return;
	at = to = place_of(key);
	for (unsigned i = at; i < at + TRIES; i++) {
		uint64_t had = 0;

		if (atomic_load_explicit(&t->slot[i].key, memory_order_relaxed) == key ||
			atomic_compare_exchange_strong(&t->slot[i].key, &had, key)) {
			to = i;
			break;
		}
	}
	atomic_store_explicit(&t->slot[to].name, name, memory_order_relaxed);
	atomic_store_explicit(&t->slot[to].key, key, memory_order_release);
}

PROBE_PATH ERL_NIF_TERM beam_table_name(
	const struct beam_tables *t, ErlNifEnv *env, ERL_NIF_TERM table)
{
	const ERL_NIF_TERM *e;
	uint64_t key;
	unsigned n, at;

	if (beam_get_tuple(env, table, &n, &e) && n > 0)
		table = e[0];
	if (enif_is_atom(env, table))
		return table;
	if (t == NULL || !beam_peek_magic(table, &key))
		return 0;
	at = place_of(key);
	for (unsigned i = at; i < at + TRIES; i++) {
		uint64_t have = atomic_load_explicit(&t->slot[i].key, memory_order_acquire);

		if (have == key)
			return atomic_load_explicit(&t->slot[i].name, memory_order_relaxed);
		if (have == 0)
			break;
	}
	return 0;
}

PROBE_PATH bool beam_atom_is_new(struct beam_tables *t, ERL_NIF_TERM atom, uint64_t *others)
{
	uint64_t number = atom >> 6, last, seen, n;

	if (t == NULL || number < t->first || (n = number - t->first) >= ATOMS_MARKED)
		return false;
	if (atomic_fetch_or(&t->marked[n / 64], 1ULL << n % 64) >> n % 64 & 1)
		return false;
	seen = atomic_fetch_add(&t->seen, 1) + 1;
	last = atomic_load(&t->last);
	for (int i = 0;
		i < 8 && last <= n && !atomic_compare_exchange_weak(&t->last, &last, n + 1);)
		i++;
	last = last > n ? last : n + 1;
	*others = last > seen ? last - seen : 0;
	return true;
}

/* Is the number of an atom in its term? The first two that the VM makes are false and true. */
static bool has_numbers(void)
{
	return atom_false >> 6 == 0 && atom_true >> 6 == 1 &&
	       (atom_false & 0x3f) == (atom_true & 0x3f);
}

/* vm_fact(Handle, atoms | Table, How many there are | Its name) */
ERL_NIF_TERM nif_vm_fact(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifUInt64 n;

	WITH_HANDLE(b)
	if (b->tables != NULL && enif_is_atom(env, argv[2]))
		beam_table_set(b->tables, argv[1], argv[2]);
	if (b->tables != NULL && argv[1] == atom_atoms && has_numbers() &&
		enif_get_uint64(env, argv[2], &n))
		b->tables->first = n;
	enif_mutex_unlock(b->lock);
	return atom_ok;
}
