/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of processes (probe path). A pid holds its index in the VM's own table, which no two
 * living processes share: it is the index in this table too. Where the VM's table is larger than
 * ours, a slot belongs to whoever came first, until it exits. Where it is not known how pids hold
 * their index (vm_facts.c), it is a hash of the pid, and the next slots are tried too. Memory:
 * mapped once, touched as it is used.
 */
#include <sys/mman.h>

#include "processes.h"
#include "shadow_stack.h"
#include "vm_facts.h"

#define MOST_SLOTS (1u << 20)
#define TRIES	   8 /* slots, where they go by a hash */

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int beam_procs_init(struct beam_procs *t, uint64_t process_limit)
{
	uint64_t n = 1024;
	unsigned bits = 10;

	_Static_assert(sizeof(struct beam_proc) == 128, "two cache lines");
	for (; n < process_limit && n < MOST_SLOTS; n *= 2)
		bits++;
	t->mask = n - 1;
	t->hashed = beam_vm.pid_shift == 0;
	t->exact = n >= process_limit && !t->hashed;
	t->mul = t->hashed ? 0x9e3779b97f4a7c15ULL : 1;
	t->shift = t->hashed ? 64 - bits : beam_vm.pid_shift;
	t->turn = bits - 3;
	t->nchunks = BEAM_CHUNKS;
	t->tab = map(n * sizeof(*t->tab));
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
		munmap(t->tab, (t->mask + 1) * sizeof(*t->tab));
	if (t->chunks != NULL)
		munmap(t->chunks, BEAM_CHUNKS * sizeof(*t->chunks));
	t->tab = NULL;
	t->chunks = NULL;
}

static void reset(struct beam_procs *t, struct beam_proc *p)
{
	beam_stack_clear(t, p);
	p->heap_size = 0;
	p->last = p->in_at = p->turn = 0;
	p->hib_mod = 0;
	atomic_store_explicit(&p->hibernating, 0, memory_order_relaxed);
}

/* The VM puts processes that come one after the other eight slots apart; here they are side by
 * side, so that few pages are touched. */
static inline struct beam_proc *slot(const struct beam_procs *t, ERL_NIF_TERM pid, unsigned next)
{
	uint64_t i = (pid * t->mul >> t->shift) & t->mask;

	return &t->tab[((i >> 3 | i << t->turn) + next) & t->mask];
}

struct beam_proc *beam_proc_find(struct beam_procs *t, ERL_NIF_TERM pid)
{
	unsigned n = t->hashed ? TRIES : 1;

	for (unsigned i = 0; i < n; i++) {
		struct beam_proc *p = slot(t, pid, i);

		if (atomic_load_explicit(&p->pid, memory_order_relaxed) == pid)
			return p;
	}
	return NULL;
}

/* A process claims its slot itself: not twice at once. */
static __attribute__((noinline)) struct beam_proc *claim(struct beam_procs *t, ERL_NIF_TERM pid)
{
	struct beam_proc *p = t->hashed ? beam_proc_find(t, pid) : NULL;
	unsigned n = t->hashed ? TRIES : 1;

	if (p != NULL)
		return p;
	for (unsigned i = 0; i < n; i++) {
		uint64_t old;

		p = slot(t, pid, i);
		old = atomic_load_explicit(&p->pid, memory_order_relaxed);
		if ((old == 0 || t->exact) && atomic_compare_exchange_strong(&p->pid, &old, pid)) {
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
