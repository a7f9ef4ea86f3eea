/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of processes (probe path), by pid_slots.h. Memory: mapped once, touched as it is used.
 *
 * A slot belongs to the process whose pid it has, and whoever takes that pid out has to give back
 * what the slot holds: the process itself when it exits; or, where slots are exact, the next
 * process, which has the same index in the VM's table, so that the last one has left it; or the
 * sweep.
 */
#include <sys/mman.h>

#include "beam/pages.h"
#include "beam/vm/vm_event.h"
#include "beam/vm/vm_threads.h"
#include "compiler.h"
#include "processes.h"
#include "shadow_stack.h"
#include "vtime.h"

#define AGAIN 8	   /* against the sweep, and other processes where slots are not exact */
#define SPINS 100  /* until memory has been given back, which takes some microseconds */

/* No pids. Of a slot that is free: what is in it has been given back, or belongs to the sweep. */
#define EMPTY	1
#define RETIRED 2 /* not free yet */
#define GONE	3 /* its memory is just given back */

int beam_procs_init(struct beam_procs *t, uint64_t process_limit)
{
	_Static_assert(sizeof(struct beam_proc) == 128, "two cache lines");
	beam_pid_slots_init(&t->slots, process_limit);
	t->nchunks = BEAM_CHUNKS;
	t->tab = beam_pages((t->slots.mask + 1) * sizeof(*t->tab));
	t->rests = beam_pages((t->slots.mask + 1) * sizeof(*t->tab) / BEAM_PAGE);
	t->chunks = beam_pages(BEAM_CHUNKS * sizeof(*t->chunks));
	if (t->tab == NULL || t->rests == NULL || t->chunks == NULL) {
		beam_procs_fini(t);
		return -1;
	}
	return 0;
}

void beam_procs_fini(struct beam_procs *t)
{
	if (t->tab != NULL)
		munmap(t->tab, (t->slots.mask + 1) * sizeof(*t->tab));
	if (t->rests != NULL)
		munmap(t->rests, (t->slots.mask + 1) * sizeof(*t->tab) / BEAM_PAGE);
	if (t->chunks != NULL)
		munmap(t->chunks, BEAM_CHUNKS * sizeof(*t->chunks));
	beam_kept_fini(&t->kept);
	t->tab = NULL;
	t->rests = NULL;
	t->chunks = NULL;
}

static void reset(struct beam_procs *t, struct beam_proc *p)
{
	beam_stack_clear(t, p);
	beam_kept_drop(&t->kept, &p->kept, 0);
	p->heap_size = 0;
	p->last = p->in_at = p->turn = 0;
	p->hib_mod = 0;
	atomic_store_explicit(&p->hibernating, 0, memory_order_relaxed);
}

/* The same without anything to give back. */
static void init(struct beam_proc *p)
{
	p->n = p->heap_size = 0;
	p->chunk = NULL;
	p->kept = NULL;
	p->last = p->in_at = p->turn = 0;
	p->hib_mod = 0;
	atomic_store_explicit(&p->hibernating, 0, memory_order_relaxed);
}

static inline struct beam_proc *slot(const struct beam_procs *t, ERL_NIF_TERM pid, unsigned next)
{
	return &t->tab[beam_pid_slot(&t->slots, pid, next)];
}

PROBE_PATH struct beam_proc *beam_proc_find(struct beam_procs *t, ERL_NIF_TERM pid)
{
	for (unsigned i = 0; i < t->slots.tries; i++) {
		struct beam_proc *p = slot(t, pid, i);

		if (atomic_load_explicit(&p->pid, memory_order_relaxed) == pid)
			return p;
	}
	return NULL;
}

static uint64_t owner(const struct beam_proc *p)
{
	uint64_t pid = atomic_load_explicit(&p->pid, memory_order_relaxed);

	for (int i = 0; unlikely(pid == GONE) && i < SPINS; i++) {
		cpu_relax();
		pid = atomic_load_explicit(&p->pid, memory_order_relaxed);
	}
	return pid;
}

/* A process claims its slot itself: not twice at once. */
PROBE_PATH static __attribute__((noinline)) struct beam_proc *claim(
	struct beam_procs *t, ERL_NIF_TERM pid)
{
	struct beam_proc *p = t->slots.tries > 1 ? beam_proc_find(t, pid) : NULL;

	if (p != NULL)
		return p;
	for (unsigned i = 0; i < t->slots.tries; i++) {
		uint64_t old;

		p = slot(t, pid, i);
		old = owner(p);
		/* the sweep may take out a dead one just now: then it is free, and tried again */
		for (int again = 0; again < AGAIN && (old == 0 || old == EMPTY || t->slots.exact);
			again++) {
			if (old == GONE || !atomic_compare_exchange_strong(&p->pid, &old, pid)) {
				old = owner(p);
				continue;
			}
			if (old == EMPTY)
				init(p);
			else
				reset(t, p);
			return p;
		}
	}
	beam_procs_lose(t);
	return NULL;
}

PROBE_PATH struct beam_proc *beam_proc_get(struct beam_procs *t, ERL_NIF_TERM pid)
{
	struct beam_proc *p = slot(t, pid, 0);

	return likely(atomic_load_explicit(&p->pid, memory_order_relaxed) == pid) ? p
										  : claim(t, pid);
}

PROBE_PATH void beam_proc_exit(struct beam_procs *t, ERL_NIF_TERM pid)
{
	struct beam_proc *p = beam_proc_find(t, pid);

	if (p == NULL)
		return;
	reset(t, p);
	atomic_store_explicit(&p->pid, 0, memory_order_release);
}

/* ---- the sweep ------------------------------------------------------------------------- */

/*
 * A dead process may still be in its last event: one that is killed for the size of its heap runs
 * on for a moment. So its pid is taken out first, which its next event would notice, then a grace
 * period passes, and then nobody uses what is left. Meanwhile another process may claim the slot.
 * Where slots are exact it may do so at once, and gives back itself what it finds: then the pid has
 * changed, and what the sweep has read is not used. Else the slot is not free before.
 */
struct retired {
	unsigned n;
	uint64_t slot[BEAM_SWEPT];
};

/* What has to be given back. It is read while others may claim the slot. */
static __attribute__((no_sanitize("thread"))) struct beam_proc contents(const struct beam_proc *p)
{
	return (struct beam_proc){.n = *(const volatile uint32_t *)&p->n,
		.chunk = *(struct beam_chunk *const volatile *)&p->chunk,
		.kept = *(struct beam_kept *const volatile *)&p->kept};
}

/* Where every process has a slot of its own, one that holds nothing may wait for the next. */
static bool is_wanted_back(const struct beam_procs *t, const struct beam_proc *p)
{
	struct beam_proc left = contents(p);

	return !t->slots.exact || left.chunk != NULL || left.kept != NULL;
}

static uint64_t mark(const struct beam_procs *t)
{
	return t->slots.exact ? 0 : RETIRED;
}

static void retire(struct beam_procs *t, uint64_t i, struct retired *r,
	bool (*is_dead)(void *arg, uint64_t pid), void *arg)
{
	struct beam_proc *p = &t->tab[i];
	uint64_t pid = atomic_load_explicit(&p->pid, memory_order_relaxed);

	if (pid != 0 && pid != EMPTY && pid != RETIRED && is_wanted_back(t, p) &&
		is_dead(arg, pid) && atomic_compare_exchange_strong(&p->pid, &pid, mark(t)))
		r->slot[r->n++] = i;
}

static void give_back(struct beam_procs *t, const struct retired *r)
{
	beam_threads_wait();
	for (unsigned i = 0; i < r->n; i++) {
		struct beam_proc *p = &t->tab[r->slot[i]], left = contents(p);
		uint64_t is = mark(t);

		if (atomic_compare_exchange_strong(&p->pid, &is, EMPTY))
			reset(t, &left);
	}
}

bool beam_procs_sweep(
	struct beam_procs *t, uint64_t *at, bool (*is_dead)(void *arg, uint64_t pid), void *arg)
{
	struct retired r = {.n = 0};

	if (t->slots.exact && atomic_load(&t->free.used) == 0 &&
		atomic_load(&t->kept.free.used) == 0)
		return true;
	for (unsigned n = 0; n < BEAM_SWEPT && *at <= t->slots.mask; n++, ++*at)
		retire(t, *at, &r, is_dead, arg);
	if (r.n > 0)
		give_back(t, &r);
	return *at > t->slots.mask;
}

/* ---- memory ---------------------------------------------------------------------------- */

/*
 * The VM gives each new process the slot that has been free for longest, so that a node that spawns
 * and spawns touches all of the table in the end. A page of slots that nobody has is given back.
 * They are taken first, as if they had an owner: who comes meanwhile waits for some microseconds,
 * and for no more than that.
 *
 */
#define GROUP (BEAM_PAGE / sizeof(struct beam_proc))

static bool is_free(uint64_t pid) { return pid == 0 || pid == EMPTY; }

/* Does somebody have one of them? Those of the dead are free afterwards. */
static bool is_in_use(
	struct beam_procs *t, uint64_t first, bool (*is_dead)(void *arg, uint64_t pid), void *arg)
{
	struct retired r = {.n = 0};

	for (uint64_t i = first; i < first + GROUP; i++) {
		uint64_t pid = atomic_load_explicit(&t->tab[i].pid, memory_order_relaxed);

		if (!is_free(pid) && (pid == RETIRED || !is_dead(arg, pid)))
			return true;
	}
	for (uint64_t i = first; i < first + GROUP; i++) {
		uint64_t pid = atomic_load_explicit(&t->tab[i].pid, memory_order_relaxed);

		if (!is_free(pid) && is_dead(arg, pid) &&
			atomic_compare_exchange_strong(&t->tab[i].pid, &pid, mark(t)))
			r.slot[r.n++] = i;
	}
	if (r.n > 0)
		give_back(t, &r);
	return false;
}

static void release(struct beam_procs *t, uint64_t first)
{
	uint64_t i = first, was[GROUP];

	for (; i < first + GROUP; i++) {
		was[i - first] = atomic_load_explicit(&t->tab[i].pid, memory_order_relaxed);
		if (!is_free(was[i - first]) ||
			!atomic_compare_exchange_strong(&t->tab[i].pid, &was[i - first], GONE))
			break;
	}
	if (i == first + GROUP)
		beam_pages_release(&t->tab[first], 1);
	else
		while (i-- > first)
			atomic_store_explicit(&t->tab[i].pid, was[i - first], memory_order_release);
}

bool beam_procs_release(
	struct beam_procs *t, uint64_t *at, bool (*is_dead)(void *arg, uint64_t pid), void *arg)
{
	uint64_t pages = (t->slots.mask + 1) / GROUP, n;
	unsigned char there[BEAM_LOOKED];

	n = beam_pages_there(t->tab, pages, *at, there);
	for (uint64_t i = 0; i < n; i++)
		if ((there[i] & 1) && beam_page_rests(&t->rests[*at + i],
					      is_in_use(t, (*at + i) * GROUP, is_dead, arg)))
			release(t, (*at + i) * GROUP);
	*at += n;
	return n == 0 || *at == pages;
}

/* ---- running times ---------------------------------------------------------------------- */

/* The running time of the event's process when the event began, without what its probes took. */
uint64_t beam_vtimestamp(const struct en_current *cur)
{
	const struct beam_event *ev = (const struct beam_event *)(const void *)cur;
	struct beam_proc *p = ev->proc;

	if (p == NULL)
		return 0;
	return p->in_at != 0 ? beam_vts_now(p, ev->began) : p->last;
}
