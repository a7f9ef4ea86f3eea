/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots, and the protocol by which the consumer takes memory away from firing threads.
 *
 * Each thread that fires owns a slot, which it finds through a thread-local cache. A slot outlives
 * its thread: when the thread ends, the slot becomes free, and the next thread that claims it
 * continues with its buffers as they are.
 *
 * Reclamation is quiescent-state based, like user-space read-copy-update. A slot's seq is odd while
 * its thread is in a firing: slot_enter and slot_leave are the read-side critical section. To
 * retire something (an aggregation table, a deleted variable, a speculation's blocks) the consumer
 *
 *   1. unpublishes it, by storing another pointer or state;
 *   2. calls en_barrier;
 *   3. samples seq of every slot (slot_look) and waits until each of them was even, or has changed
 *      since (slot_passed). That is a grace period: no firing that might have seen the old state
 *      is still running.
 *
 * The store to seq in slot_enter and the loads that follow it must not be reordered, or the
 * consumer could see an even seq while the thread already uses the old pointer. On x86 that would
 * take a full fence in every firing. Instead the cost is moved to the consumer: membarrier(2) makes
 * every running thread of the process execute a full barrier, so slot_enter needs a compiler
 * barrier only. Where membarrier is not available, en->fence is set and slot_enter executes the
 * fence itself.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/tables/agg.h"
#include "clock.h"
#include "compiler.h"
#include "prog/record.h"
#include "slot.h"
#include "engine/tables/spec.h"
#include "state.h"

#define MOST_THREADS 4608 /* maxthreads, and some that find no slot */
static struct en_tls each_thread[MOST_THREADS];
static struct en_tls no_thread; /* of one that has not fired yet, or found all of them taken */
__thread struct en_tls *en_tls __attribute__((tls_model("initial-exec"))) = &no_thread;

static _Atomic(uint64_t) threads;
static pthread_mutex_t engines_lock = PTHREAD_MUTEX_INITIALIZER;
static struct en *engines;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool have_key;

static bool notes_ends(void)
{
	return have_key && exit_key < 32;
}

/* ---- claiming ------------------------------------------------------------------------- */

/* A fault whose signal is blocked is fatal: such a thread reads memory another way (safe.c). */
static bool faults_blocked(void)
{
	sigset_t mask;

	return pthread_sigmask(SIG_SETMASK, NULL, &mask) != 0 || sigismember(&mask, SIGSEGV) ||
	       sigismember(&mask, SIGBUS);
}

/* Whatever is free, from the thread's number on. */
static struct en_tls *tls_take(uint64_t number, uint32_t tid)
{
	for (unsigned i = 0; i < MOST_THREADS; i++) {
		struct en_tls *t = &each_thread[(number + i) % MOST_THREADS];
		uint32_t none = 0;

		if (atomic_load_explicit(&t->tid, memory_order_relaxed) == 0 &&
			atomic_compare_exchange_strong(&t->tid, &none, tid))
			return t;
	}
	return NULL;
}

static void tls_give(struct en_tls *t)
{
	t->number = 0;
	t->blocked = false;
	memset(t->cache, 0, sizeof(t->cache));
	atomic_store(&t->tid, 0);
}

static bool has_ended(uint32_t pid, uint32_t tid)
{
	/* any other error, such as EPERM in a sandbox, says nothing about the thread */
	return syscall(SYS_tgkill, pid, tid, 0) < 0 && errno == ESRCH;
}

/*
 * Once per thread: its numbers. The key's destructor frees the thread's slots as soon as it ends.
 * glibc stores values of the first 32 keys without malloc; if our key is not among them,
 * en_slots_reap finds ended threads by polling.
 */
__attribute__((noinline)) void en_thread_init(void)
{
	uint64_t number = atomic_fetch_add(&threads, 1) + 1;
	struct en_tls *t = tls_take(number, (uint32_t)syscall(SYS_gettid));

	if (t == NULL)
		return;
	t->number = number;
	t->blocked = faults_blocked();
	en_tls = t;
	if (notes_ends())
		pthread_setspecific(exit_key, t);
}

PROBE_PATH static void slot_init(struct en *en, struct en_thread *t, bool spare)
{
	char *base = (char *)t;

	t->en = en;
	t->fence = en->fence;
	t->rec = base + en->at.rec;
	t->alloca = base + en->at.alloca;
	t->tok.text = base + en->at.tok;
	t->spec.bufs = (struct spec_buf *)(void *)(base + en->at.spec);
	t->spec.mem = base + en->at.spec_mem;
	t->ring.mem = base + en->at.ring;
	t->ring.size = spare ? en_spare_size(en->at.ring_size) : en->at.ring_size;
	t->fire.en = t->error.en = en;
	t->fire.thread = t->error.thread = t;
	t->fire.globals = t->error.globals = (uint64_t)(uintptr_t)en->globals;
	t->fire.rec = t->error.rec = (uint64_t)(uintptr_t)(t->rec + sizeof(struct rec_head));
	t->fire.scratch = (uint64_t)(uintptr_t)(base + en->at.scratch);
	t->error.scratch = (uint64_t)(uintptr_t)(base + en->at.error_scratch);
	agg_slot_init(en, t, spare ? en_spare_size(en->at.agg_size) : en->at.agg_size);
	atomic_store_explicit(&t->ready, true, memory_order_release);
}

PROBE_PATH static void slot_take(struct en *en, struct en_thread *t, unsigned i)
{
	uint32_t n = atomic_load(&en->nslots);

	if (!atomic_load_explicit(&t->ready, memory_order_relaxed))
		slot_init(en, t, false);
	if (atomic_load_explicit(&t->seq, memory_order_relaxed) & 1) {
		/* the previous owner ended inside a firing, or jumped out of it */
		t->in_error = t->faulted = false;
		slot_leave(t);
	}
	atomic_store(&t->outer, NULL);
	t->tid = en_tls->tid;
	t->self_key = en_tls->number | 1ULL << 63;
	t->rnd = en_tls->number * 0x9e3779b97f4a7c15 ^ en_now();
	t->rnd |= 1;
	atomic_store(&t->owner_tid, en_tls->tid);
	while (n < i + 1 && !atomic_compare_exchange_weak(&en->nslots, &n, i + 1))
		;
}

PROBE_PATH static void hint_set(struct en *en, unsigned i)
{
	atomic_store_explicit(
		&en->hints[en_tls->number % EN_HINTS], (uint16_t)i, memory_order_relaxed);
}

/*
 * The slow path, when the cache misses: find the slot that this thread already owns, or claim a
 * free one. Bounded by maxthreads. If more engines fire at one event than the cache has entries,
 * every firing ends up here; the hint then finds the slot without a search.
 */
PROBE_PATH static struct en_thread *claim(struct en *en)
{
	unsigned c = en->id % EN_TLS_CACHE, hint;
	uint32_t releases = atomic_load(&en->releases);
	struct en_thread *found = NULL;
	uint32_t n;

	if (en_tls->number == 0)
		en_thread_init();
	if (en_tls->number == 0)
		return NULL;
	if (en_tls->cache[c].en == en->id && en_tls->cache[c].releases == releases)
		return NULL;
	n = atomic_load(&en->nslots);
	hint = atomic_load_explicit(&en->hints[en_tls->number % EN_HINTS], memory_order_relaxed);
	if (hint < n && atomic_load(&en_slot(en, hint)->owner) == en_tls->number)
		found = en_slot(en, hint);
	for (unsigned i = 0; i < n && found == NULL; i++)
		if (atomic_load(&en_slot(en, i)->owner) == en_tls->number) {
			found = en_slot(en, i);
			hint_set(en, i);
		}
	for (unsigned i = 0; i < en->maxslots && found == NULL; i++) {
		struct en_thread *t = en_slot(en, i);
		uint64_t none = 0;

		if (atomic_load(&t->owner) == 0 &&
			atomic_compare_exchange_strong(&t->owner, &none, en_tls->number)) {
			slot_take(en, t, i);
			hint_set(en, i);
			found = t;
		}
	}
	en_tls->cache[c].en = en->id;
	en_tls->cache[c].slot = found;
	en_tls->cache[c].releases = releases;
	return found;
}

PROBE_PATH struct en_thread *en_slot_find(struct en *en)
{
	struct en_thread *t = claim(en);

	if (t == NULL) /* a shared counter is fine here: this thread has no fast path anyway */
		atomic_fetch_add_explicit(&en->no_slot, 1, memory_order_relaxed);
	return t;
}

/*
 * For the engine's own firings: BEGIN and END must fire even if threads have taken all slots. One
 * more slot, after the others, is owned by no thread; the two probes never fire at the same time.
 */
struct en_thread *en_slot_own(struct en *en)
{
	struct en_thread *t = en_slot_cached(en);

	if (t == NULL)
		t = claim(en);
	if (t == NULL) {
		t = en_slot(en, en->maxslots);
		slot_take(en, t, en->maxslots);
	}
	return t;
}

/* The kernel's slots: one for each CPU, and spare ones. No thread can claim them. */
void en_slots_kernel(struct en *en)
{
	for (unsigned i = 0; i < en->shared.nslots; i++) {
		struct en_thread *t = en_slot(en, i);

		slot_init(en, t, i + SPARE_SLOTS >= en->shared.nslots);
		t->k.number = i;
		t->fence = true;
		atomic_store(&t->owner, UINT64_MAX);
	}
	atomic_store(&en->nslots, en->shared.nslots);
}

/* ---- releasing ------------------------------------------------------------------------ */

static void release(struct en *en, struct en_thread *t)
{
	atomic_store(&t->owner_tid, 0);
	atomic_store(&t->owner, 0);
	atomic_fetch_add(&en->releases, 1);
}

static void thread_ends(void *arg)
{
	struct en_tls *me = arg;

	pthread_mutex_lock(&engines_lock);
	for (struct en *en = engines; en != NULL; en = en->next) {
		uint32_t n = atomic_load(&en->nslots);

		for (unsigned i = 0; i < n; i++)
			if (atomic_load(&en_slot(en, i)->owner) == me->number)
				release(en, en_slot(en, i));
	}
	pthread_mutex_unlock(&engines_lock);
	en_tls = &no_thread; /* if it fires once more, it starts over */
	tls_give(me);
}

static void lock_engines(void)
{
	pthread_mutex_lock(&engines_lock);
}

static void unlock_engines(void)
{
	pthread_mutex_unlock(&engines_lock);
}

static void make_key(void)
{
	have_key = pthread_key_create(&exit_key, thread_ends) == 0;
	/* otherwise a forked child could inherit the lock held by a thread that it does not have */
	pthread_atfork(lock_engines, unlock_engines, unlock_engines);
}

void en_slots_register(struct en *en)
{
	static _Atomic(uint64_t) next_id;

	pthread_once(&once, make_key);
	en->id = atomic_fetch_add(&next_id, 1) + 1;
	pthread_mutex_lock(&engines_lock);
	en->next = engines;
	engines = en;
	pthread_mutex_unlock(&engines_lock);
}

void en_slots_unregister(struct en *en)
{
	struct en **at;

	pthread_mutex_lock(&engines_lock);
	for (at = &engines; *at != NULL && *at != en; at = &(*at)->next)
		;
	if (*at != NULL)
		*at = en->next;
	pthread_mutex_unlock(&engines_lock);
}

static void tls_reap(struct en *en)
{
	for (unsigned i = 0; i < MOST_THREADS; i++) {
		struct en_tls *t = &each_thread[i];
		uint32_t tid = atomic_load(&t->tid);

		if (tid != 0 && tid != UINT32_MAX && has_ended(en->process.pid, tid) &&
			atomic_compare_exchange_strong(&t->tid, &tid, UINT32_MAX)) /* we alone */
			tls_give(t);
	}
}

/* Free slots of threads whose destructor did not run. One that is firing has a live owner. */
void en_slots_reap(struct en *en)
{
	uint32_t n = atomic_load(&en->nslots);

	if (!notes_ends())
		tls_reap(en);
	for (unsigned i = 0; i < n; i++) {
		struct en_thread *t = en_slot(en, i);
		uint64_t owner = atomic_load(&t->owner);
		uint32_t tid = atomic_load(&t->owner_tid);

		if (owner == 0 || tid == 0 || atomic_load(&t->seq) & 1)
			continue;
		if (has_ended(en->process.pid, tid) && atomic_load(&t->owner) == owner) {
			pthread_mutex_lock(&engines_lock);
			if (atomic_load(&t->owner) == owner)
				release(en, t);
			pthread_mutex_unlock(&engines_lock);
		}
	}
}

/* ---- barrier, grace period ------------------------------------------------------------ */

bool en_barrier_init(void)
{
#ifdef EN_TSAN
	return false; /* ThreadSanitizer does not understand membarrier */
#else
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

void en_barrier(const struct en *en)
{
	if (!en->fence)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	atomic_thread_fence(memory_order_seq_cst);
}

static bool wait_slot(struct en_thread *t, uint64_t until)
{
	struct slot_mark mark = slot_look(t);

	for (int i = 0; !slot_passed(t, &mark); i++) {
		struct timespec nap = {.tv_nsec = 20000};

		if (i < 1000) { /* most firings end at once */
			cpu_relax();
			continue;
		}
		if (en_now() > until)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

bool en_grace(struct en *en, unsigned ms)
{
	uint32_t n = atomic_load(&en->nslots);
	uint64_t until;
	bool all = true;

	en_barrier(en);
	until = en_now() + (uint64_t)ms * 1000000;
	for (unsigned i = 0; i < n; i++) {
		struct en_thread *t = en_slot(en, i);

		all &= wait_slot(t, until);
	}
	return all;
}
