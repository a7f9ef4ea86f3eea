/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the provider lockstat (kernel/events/lockstat.c has the table). Part of entries.c. Who
 * waits for a mutex spins and sleeps in turns, each of which the kernel says to begin; how long it
 * has done both is told at the end.
 */

enum { LOCK_SPINS = 1, LOCK_READS = 2, LOCK_WRITES = 4, LOCK_MUTEX = 32 }; /* LCB_F_* */

static inline uint64_t lock_index(uint64_t task, uint64_t lock)
{
	uint64_t h = (task ^ lock << 1) * 0x9e3779b97f4a7c15ULL;

	return h >> 40;
}

/* The note of a thread and a lock; 0: a free one. NULL: there is none. */
static inline struct k_lock_wait *lock_note(
	uint64_t task, uint64_t lock, uint64_t of_task, uint64_t of_lock)
{
	uint64_t at = lock_index(task, lock);

	for (uint64_t i = unknown_zero(); i < K_LOCK_TRIES; i++) {
		struct k_lock_wait *w = &k_root.lock_waits[(at + i) & (K_LOCK_WAITS - 1)];

		if (w->task == of_task && w->lock == of_lock)
			return w;
	}
	return NULL;
}

static inline void add_phase(struct k_lock_wait *w, uint64_t now)
{
	if (w->flags & LOCK_SPINS)
		w->spun += now - w->since;
	else
		w->slept += now - w->since;
	w->since = now;
}

/* contention_begin: a lock, how it is waited for from now on. */
uint64_t k_lock_begin(uint64_t *ctx)
{
	uint64_t lock = CTX(0), flags = (uint32_t)CTX(1), now = bpf_ktime_get_ns();
	uint64_t task = bpf_get_current_task();
	struct k_lock_wait *w = lock_note(task, lock, task, lock);

	if (w != NULL) {
		add_phase(w, now);
	} else {
		w = lock_note(task, lock, 0, 0);
		if (w == NULL) {
			__sync_fetch_and_add(&k_root.en->no_slot, 1);
			return 0;
		}
		w->spun = w->slept = 0;
		w->since = now;
		w->lock = lock;
		w->task = task;
	}
	w->flags = flags;
	return 0;
}

static inline void fire_lock(void *ctx, unsigned which, uint64_t lock, uint64_t ns, uint64_t reads)
{
	struct fire *f = begin(&k_root, k_root.lock[which]);

	if (f == NULL)
		return;
	f->arg[0] = lock;
	f->arg[1] = ns;
	f->arg[2] = reads;
	stacks(ctx, f);
	run(f);
}

/* contention_end: a lock; it may also be given up. */
uint64_t k_lock_end(uint64_t *ctx)
{
	uint64_t lock = CTX(0), task = bpf_get_current_task(), flags, spun, slept;
	struct k_lock_wait *w = lock_note(task, lock, task, lock);

	if (w == NULL)
		return 0;
	add_phase(w, bpf_ktime_get_ns());
	flags = w->flags;
	spun = w->spun;
	slept = w->slept;
	w->lock = 0;
	w->task = 0;
	if ((flags & (LOCK_READS | LOCK_WRITES)) && slept != 0) {
		fire_lock(ctx, K_LOCK_RW_BLOCK, lock, slept, flags >> 1 & 1);
		return 0;
	}
	if (!(flags & LOCK_MUTEX) && slept == 0) {
		fire_lock(ctx, K_LOCK_SPIN_SPIN, lock, spun, 0);
		return 0;
	}
	if (spun != 0)
		fire_lock(ctx, K_LOCK_ADAPTIVE_SPIN, lock, spun, 0);
	if (slept != 0)
		fire_lock(ctx, K_LOCK_ADAPTIVE_BLOCK, lock, slept, 0);
	return 0;
}
