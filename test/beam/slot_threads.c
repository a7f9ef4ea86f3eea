/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of processes: pages that nobody has a slot in are given back, those of the living stay
 * as they are, whoever comes or goes meanwhile. One process in a thousand lives, the others have
 * ended, told or not.
 *
 */
#include "slot_threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "beam/pages.h"

#define LIMIT	131072 /* processes of the VM */
#define EACH	1000   /* one of so many lives */
#define THREADS 3
#define TURNS	200000 /* of each */

static ERL_NIF_TERM pid_of(unsigned number) { return (ERL_NIF_TERM)(number + LIMIT) << 4 | 3; }
static unsigned number_of(uint64_t pid) { return (unsigned)(pid >> 4) - LIMIT; }

static bool is_dead(void *arg, uint64_t pid)
{
	(void)arg;
	return pid >= pid_of(0) && number_of(pid) % EACH != 0;
}

/* What nobody has at the second look, too. */
static void release(struct beam_procs *t, struct beam_proc_names *names)
{
	for (int i = 0; i < 2; i++) {
		uint64_t at = 0;

		while (!beam_procs_release(t, &at, is_dead, NULL))
			;
		for (at = 0; !beam_proc_names_release(names, &at, is_dead, NULL);)
			;
	}
}

static long pages_there(void *tab, size_t size)
{
	static unsigned char there[LIMIT * sizeof(struct beam_proc) / BEAM_PAGE];
	long n = 0;

	mincore(tab, size, there);
	for (size_t i = 0; i < size / BEAM_PAGE; i++)
		n += there[i] & 1;
	return n;
}

/* All come, most go: of half of those nobody tells. */
static void fill(struct beam_procs *t)
{
	for (unsigned i = 0; i < LIMIT; i++) {
		struct beam_proc *p = beam_proc_get(t, pid_of(i));

		p->last = i;
		if (i % EACH != 0 && i % 2 == 0)
			beam_proc_exit(t, pid_of(i));
	}
}

static struct beam_procs procs;
static struct beam_proc_names names;

static void begin(void)
{
	memset(&procs, 0, sizeof(procs));
	memset(&names, 0, sizeof(names));
	beam_procs_init(&procs, LIMIT);
	beam_proc_names_init(&names, LIMIT);
}

static void end(void)
{
	beam_procs_fini(&procs);
	beam_proc_names_fini(&names);
}

long slot_pages_kept(void)
{
	long living = (LIMIT + EACH - 1) / EACH, n;

	begin();
	fill(&procs);
	for (unsigned i = 0; i < LIMIT; i++) {
		struct beam_proc_name *p = &names.tab[beam_pid_slot(&names.slots, pid_of(i), 0)];

		atomic_store(&p->pid, i % EACH == 0 || i % 2 == 1 ? pid_of(i) : 0);
	}
	release(&procs, &names);
	n = pages_there(procs.tab, LIMIT * sizeof(*procs.tab)) - living;
	n = n > 0 ? n : 0;
	living = pages_there(names.tab, LIMIT * sizeof(*names.tab)) - living;
	end();
	return n + (living > 0 ? living : 0);
}

long slot_pages_missing(void)
{
	long n = 0;

	begin();
	fill(&procs);
	release(&procs, &names);
	for (unsigned i = 0; i < LIMIT; i++) {
		const struct beam_proc *p = beam_proc_find(&procs, pid_of(i));

		n += i % EACH == 0 ? p == NULL || p->last != i : p != NULL;
	}
	for (unsigned i = 1; i < LIMIT; i++) { /* the next ones have room, with nothing in it */
		const struct beam_proc *p = beam_proc_get(&procs, pid_of(i));

		n += p == NULL || (i % EACH != 0 && p->last != 0);
	}
	n += (long)atomic_load(&procs.lost);
	end();
	return n;
}

static _Atomic long wrong, no_room;
static _Atomic unsigned going;

/* Each has numbers of its own, which live while they have a slot: is_dead() does not know them. */
static void *come_and_go(void *arg)
{
	unsigned thread = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < TURNS; i++) {
		unsigned number = (i % (LIMIT / EACH / THREADS) * THREADS + thread) * EACH;
		struct beam_proc *p = beam_proc_get(&procs, pid_of(number));

		if (p == NULL) {
			atomic_fetch_add(&no_room, 1);
			continue;
		}
		if (p->last != 0)
			atomic_fetch_add(&wrong, 1);
		p->last = number + 1;
		for (unsigned k = i % 64; k > 0; k--)
			atomic_signal_fence(memory_order_seq_cst);
		if (p->last != number + 1 || atomic_load(&p->pid) != pid_of(number))
			atomic_fetch_add(&wrong, 1);
		beam_proc_exit(&procs, pid_of(number));
	}
	atomic_fetch_sub(&going, 1);
	return NULL;
}

long slots_overwritten(void)
{
	pthread_t threads[THREADS];
	long n;

	begin();
	atomic_store(&going, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, come_and_go, (void *)i);
	while (atomic_load(&going) > 0)
		release(&procs, &names);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	n = atomic_load(&wrong) + labs(atomic_load(&no_room) - (long)atomic_load(&procs.lost));
	end();
	return n;
}
