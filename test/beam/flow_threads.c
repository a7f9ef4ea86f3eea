/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of flows under several threads: what two of them do to one entry at the same time. */
#include <pthread.h>
#include <sched.h>

#include "beam/flow/flow_table.h"
#include "fake_vm.h"
#include "flow_threads.h"

#define JOINS	2000
#define JOINERS 3
#define LIVES	50000
#define PART	(1ULL << 32)
#define REFS(f) (atomic_load(&(f)->word) & ((1 << 20) - 1))

static struct flow_table t;
static struct flow *joined[JOINERS][JOINS];
static _Atomic unsigned at;

/* All of them go on to the next part together. */
static void *join_parts(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;
	bool over;

	for (unsigned i = 0; i < JOINS; i++) {
		atomic_fetch_add(&at, 1);
		while (atomic_load(&at) < (i + 1) * JOINERS)
			sched_yield();
		joined[self][i] = flow_join(&t, 1, PART | (i + 1), &over);
	}
	return NULL;
}

unsigned flow_parts_joined_twice(void)
{
	pthread_t thread[JOINERS];
	unsigned wrong = 0;

	t = (struct flow_table){0};
	if (flow_table_init(&t, 16384, 1024) < 0)
		return JOINS;
	atomic_store(&at, 0);
	for (unsigned i = 0; i < JOINERS; i++)
		pthread_create(&thread[i], NULL, join_parts, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < JOINERS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < JOINS; i++) {
		struct flow *f = flow_find(&t, PART | (i + 1));
		unsigned refs = 0;

		for (unsigned k = 0; k < JOINERS; k++) {
			wrong += joined[k][i] != NULL && joined[k][i] != f;
			refs += joined[k][i] != NULL;
		}
		wrong += f == NULL || REFS(f) != refs;
	}
	flow_table_fini(&t);
	return wrong;
}

/* ---- one process after the other in one slot ------------------------------------------------ */

static _Atomic bool over;

static void *bury(void *arg)
{
	(void)arg;
	while (!atomic_load(&over))
		flow_table_bury(&t);
	return NULL;
}

unsigned flow_members_buried_alive(void)
{
	unsigned wrong = 0;
	pthread_t thread;
	struct flow *f;
	uint64_t id;

	t = (struct flow_table){0};
	if (flow_table_init(&t, 64, 1024) < 0 || (f = flow_begin(&t, 1, &id)) == NULL)
		return LIVES;
	atomic_store(&over, false);
	pthread_create(&thread, NULL, bury, NULL);
	for (unsigned i = 0; i < LIVES; i++) {
		ERL_NIF_TERM pid = fake_pid(5 + 1024 * i); /* of the same slot; none comes twice */
		const struct flow_proc *p;

		if (!flow_ref(&t, id) || !flow_proc_set(&t, pid, id, 0, 0))
			continue; /* no room: it is counted, and in no flow */
		if (i % 64 == 0)
			sched_yield();
		p = flow_proc_find(&t, pid);
		wrong += p == NULL || atomic_load(&p->id) != id;
		flow_proc_exit(&t, pid);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	flow_table_bury(&t);
	flow_table_bury(&t);
	wrong += REFS(f) != 1; /* that of who began it */
	flow_table_fini(&t);
	return wrong;
}

/* ---- how deep a flow is --------------------------------------------------------------------- */

static struct flow deep[JOINS];

/* All of them, one hop deeper each. */
static void *deepen(void *arg)
{
	for (unsigned i = 0; i < JOINS; i++) {
		atomic_fetch_add(&at, 1);
		while (atomic_load(&at) < (i + 1) * JOINERS)
			sched_yield();
		flow_deepen(&deep[i], 1 + (uint32_t)(uintptr_t)arg);
	}
	return NULL;
}

unsigned flow_depths_lost(void)
{
	pthread_t thread[JOINERS];
	unsigned wrong = 0;

	atomic_store(&at, 0);
	for (unsigned i = 0; i < JOINERS; i++)
		pthread_create(&thread[i], NULL, deepen, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < JOINERS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < JOINS; i++)
		wrong += atomic_load(&deep[i].deepest) != JOINERS;
	return wrong;
}
