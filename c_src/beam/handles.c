/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open handles by number. An event looks its handle up without a lock: each thread says in its
 * own word that it is inside, and who takes a handle out of the table waits until every thread
 * has been seen outside.
 */
#include <stdlib.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "beam.h"

_Atomic uint64_t beam_states[BEAM_HANDLES];
_Atomic(struct beam_handle *) beam_table[BEAM_HANDLES];
_Atomic uint64_t beam_running;
_Atomic ERL_NIF_TERM beam_firing[BEAM_HANDLES];
static _Atomic unsigned numbers;
static _Atomic(struct beam_thread *) threads;
__thread struct beam_thread *beam_self __attribute__((tls_model("initial-exec")));

/* Once in a thread's life; never freed: schedulers stay. */
struct beam_thread *beam_thread_new(void)
{
	struct beam_thread *t = aligned_alloc(128, 128);

	if (t == NULL)
		abort();
	*t = (struct beam_thread){.next = atomic_load(&threads)};
	while (!atomic_compare_exchange_weak(&threads, &t->next, t))
		;
	beam_self = t;
	return t;
}

void beam_set_live(struct beam_handle *b, bool live)
{
	unsigned place = b->number % BEAM_HANDLES;
	uint64_t bit = 1ULL << place;

	atomic_store(&b->live, live);
	if (live)
		atomic_fetch_or(&beam_running, bit);
	else
		atomic_fetch_and(&beam_running, ~bit);
	atomic_store(&beam_states[place], ((uint64_t)b->number + 1) << 1 | live);
	if (beam_small) {
		atomic_store(&beam_firing[place], live ? b->state : 0);
		atomic_store(&beam_firing[BEAM_ALL],
			atomic_load(&beam_running) ? (ERL_NIF_TERM)BEAM_ALL << 4 | 15 : 0);
	}
}

static void wait_outside(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	for (struct beam_thread *t = atomic_load(&threads); t != NULL; t = t->next) {
		uint64_t seq = atomic_load_explicit(&t->seq, memory_order_acquire);

		while ((seq & 1) && atomic_load_explicit(&t->seq, memory_order_acquire) == seq)
			usleep(50);
	}
}

int beam_register(struct beam_handle *b)
{
	for (int tries = 0; tries < BEAM_HANDLES; tries++) {
		unsigned n = (atomic_fetch_add(&numbers, 1) & 0x7ffffff) + 1;
		struct beam_handle *none = NULL;

		if (n % BEAM_HANDLES == BEAM_ALL)
			continue;
		b->number = n;
		if (atomic_compare_exchange_strong(&beam_table[n % BEAM_HANDLES], &none, b)) {
			beam_set_live(b, false);
			return 0;
		}
	}
	return -1;
}

void beam_unregister(struct beam_handle *b)
{
	struct beam_handle *expected = b;

	if (atomic_load(&beam_table[b->number % BEAM_HANDLES]) != b)
		return;
	beam_set_live(b, false);
	atomic_store(&beam_states[b->number % BEAM_HANDLES], 0);
	if (atomic_compare_exchange_strong(&beam_table[b->number % BEAM_HANDLES], &expected, NULL))
		wait_outside();
}
