/* SPDX-License-Identifier: Apache-2.0 */
/* The table of processes (probe path), by pid_slots.h. Memory: mapped once, touched as it is used. */
#include <sys/mman.h>

#include "processes.h"
#include "shadow_stack.h"

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int beam_procs_init(struct beam_procs *t, uint64_t process_limit)
{
	_Static_assert(sizeof(struct beam_proc) == 128, "two cache lines");
	beam_pid_slots_init(&t->slots, process_limit);
	t->nchunks = BEAM_CHUNKS;
	t->tab = map((t->slots.mask + 1) * sizeof(*t->tab));
	t->chunks = map(BEAM_CHUNKS * sizeof(*t->chunks));
	if (t->tab == NULL || t->chunks == NULL) {
		beam_procs_fini(t);
		return -1;
	}
	return 0;
}

void beam_procs_fini(struct beam_procs *t)
{
	if (t->tab != NULL)
		munmap(t->tab, (t->slots.mask + 1) * sizeof(*t->tab));
	if (t->chunks != NULL)
		munmap(t->chunks, BEAM_CHUNKS * sizeof(*t->chunks));
	beam_kept_fini(&t->kept);
	t->tab = NULL;
	t->chunks = NULL;
}

static void reset(struct beam_procs *t, struct beam_proc *p)
{
	beam_stack_clear(t, p);
	beam_kept_drop(&t->kept, p, 0);
	p->heap_size = 0;
	p->last = p->in_at = p->turn = 0;
	p->hib_mod = 0;
	atomic_store_explicit(&p->hibernating, 0, memory_order_relaxed);
}

static inline struct beam_proc *slot(const struct beam_procs *t, ERL_NIF_TERM pid, unsigned next)
{
	return &t->tab[beam_pid_slot(&t->slots, pid, next)];
}

struct beam_proc *beam_proc_find(struct beam_procs *t, ERL_NIF_TERM pid)
{
	for (unsigned i = 0; i < t->slots.tries; i++) {
		struct beam_proc *p = slot(t, pid, i);

		if (atomic_load_explicit(&p->pid, memory_order_relaxed) == pid)
			return p;
	}
	return NULL;
}

/* A process claims its slot itself: not twice at once. */
static __attribute__((noinline)) struct beam_proc *claim(struct beam_procs *t, ERL_NIF_TERM pid)
{
	struct beam_proc *p = t->slots.tries > 1 ? beam_proc_find(t, pid) : NULL;

	if (p != NULL)
		return p;
	for (unsigned i = 0; i < t->slots.tries; i++) {
		uint64_t old;

		p = slot(t, pid, i);
		old = atomic_load_explicit(&p->pid, memory_order_relaxed);
		if ((old == 0 || t->slots.exact) &&
			atomic_compare_exchange_strong(&p->pid, &old, pid)) {
			reset(t, p);
			return p;
		}
	}
	beam_procs_lose(t);
	return NULL;
}

struct beam_proc *beam_proc_get(struct beam_procs *t, ERL_NIF_TERM pid)
{
	struct beam_proc *p = slot(t, pid, 0);

	return likely(atomic_load_explicit(&p->pid, memory_order_relaxed) == pid) ? p
										  : claim(t, pid);
}

void beam_proc_exit(struct beam_procs *t, ERL_NIF_TERM pid)
{
	struct beam_proc *p = beam_proc_find(t, pid);

	if (p == NULL)
		return;
	reset(t, p);
	atomic_store_explicit(&p->pid, 0, memory_order_release);
}
