/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open handles by number. An event looks its handle up without a lock (read-copy-update): whoever
 * takes a handle out of the table waits until no thread can have it any more (vm_threads.c).
 */
#include <time.h>

#include "beam/vm/layout.h"
#include "beam/vm/vm_threads.h"
#include "beam_handle.h"
#include "compiler.h"
#include "handles.h"

ErlNifResourceType *beam_handle_type;
_Atomic uint64_t beam_states[BEAM_HANDLES];
_Atomic(struct beam_handle *) beam_table[BEAM_HANDLES];
_Atomic uint64_t beam_running;
_Atomic ERL_NIF_TERM beam_firing[BEAM_HANDLES];
_Atomic uint64_t beam_only;
static _Atomic unsigned numbers;
static _Atomic uint64_t taken; /* slots of the table */

/*
 * Whether any handle runs, and which it is if it is the only one. Others may do this at the same
 * time: who has been overtaken, which the tag tells, looks again.
 */
PROBE_PATH static void tell_all(void)
{
	for (int i = 0; beam_vm.small && i < 1000; i++) {
		uint64_t was = atomic_load(&beam_only), in = atomic_load(&beam_running);
		uint64_t slot = in != 0 && (in & (in - 1)) == 0 ? (uint64_t)__builtin_ctzll(in) : 0;

		atomic_store(&beam_firing[BEAM_ALL], in != 0 ? BEAM_ALL_STATE : 0);
		if (atomic_compare_exchange_strong(&beam_only, &was, ((was >> 8) + 1) << 8 | slot))
			return;
	}
}

void beam_set_live(struct beam_handle *b, bool live)
{
	unsigned slot = b->number % BEAM_HANDLES;
	uint64_t bit = 1ULL << slot;

	atomic_store(&b->live, live);
	if (live)
		atomic_fetch_or(&beam_running, bit);
	else
		atomic_fetch_and(&beam_running, ~bit);
	atomic_store(&beam_states[slot], ((uint64_t)b->number + 1) << 1 | live);
	if (beam_vm.small)
		atomic_store(&beam_firing[slot], live ? b->state : 0);
	tell_all();
}

PROBE_PATH void beam_halt(struct beam_handle *b)
{
	unsigned slot = b->number % BEAM_HANDLES;
	uint64_t live = ((uint64_t)b->number + 1) << 1 | 1;

	atomic_store(&b->live, false);
	if (!atomic_compare_exchange_strong(&beam_states[slot], &live, live - 1))
		return;
	atomic_fetch_and(&beam_running, ~(1ULL << slot));
	atomic_store(&beam_firing[slot], 0);
	tell_all();
}

struct beam_handle *beam_enter_live(unsigned number)
{
	struct beam_handle *b = beam_enter_slot(number % BEAM_HANDLES);

	return b != NULL && b->number == number &&
			       atomic_load_explicit(&b->live, memory_order_acquire)
		       ? b
		       : NULL;
}

/* Another library of ours may have been here before: its numbers are not ours. */
static unsigned next_number(void)
{
	unsigned none = 0;

	atomic_compare_exchange_strong(&numbers, &none, (unsigned)time(NULL) * BEAM_HANDLES);
	return (atomic_fetch_add(&numbers, 1) & 0x7ffffff) + 1;
}

int beam_register(struct beam_handle *b)
{
	for (int tries = 0; tries < BEAM_HANDLES; tries++) {
		unsigned n = next_number();
		uint64_t bit = 1ULL << n % BEAM_HANDLES;

		if (n % BEAM_HANDLES == BEAM_ALL)
			continue;
		if (!(atomic_fetch_or(&taken, bit) & bit)) {
			b->number = n;
			beam_set_live(b, false);
			atomic_store(&beam_table[n % BEAM_HANDLES], b);
			return 0;
		}
	}
	return -1;
}

bool beam_any_open(void)
{
	return atomic_load(&taken) != 0;
}

void beam_unregister(struct beam_handle *b)
{
	unsigned slot = b->number % BEAM_HANDLES;

	if (b->number == BEAM_ALL || atomic_load(&beam_table[slot]) != b)
		return;
	beam_set_live(b, false);
	beam_session_set(slot, 0);
	atomic_store(&beam_states[slot], 0);
	atomic_store(&beam_table[slot], NULL);
	beam_threads_wait();
	atomic_fetch_and(&taken, ~(1ULL << slot)); /* nobody is inside who knows it as b's */
}

struct beam_handle *beam_get(ErlNifEnv *env, ERL_NIF_TERM t)
{
	void *p;

	return enif_get_resource(env, t, beam_handle_type, &p) ? p : NULL;
}
