/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open handles by number. An event looks its handle up without a lock: each thread says in its
 * own word that it is inside, and who takes a handle out of the table waits until every thread
 * has been seen outside.
 */
#include <stdlib.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "beam_handle.h"
#include "handles.h"
#include "layout.h"
#include "texts.h"

_Atomic uint64_t beam_states[BEAM_HANDLES];
_Atomic(struct beam_handle *) beam_table[BEAM_HANDLES];
_Atomic uint64_t beam_running;
_Atomic ERL_NIF_TERM beam_firing[BEAM_HANDLES];
_Atomic uint64_t beam_only;
static _Atomic unsigned numbers;
static _Atomic uint64_t taken; /* places of the table */
static struct beam_thread *threads; /* mapped at load, touched as threads come */
static unsigned most;
static bool fences;
static _Atomic unsigned nthreads;
_Atomic uint64_t beam_homeless;
__thread struct beam_thread *beam_self __attribute__((tls_model("initial-exec")));

/* Kept when the library is loaded again: threads point to theirs. */
int beam_threads_init(unsigned n, bool fence)
{
	void *p;

	if (threads != NULL)
		return 0;
	p = mmap(NULL, n * sizeof(*threads), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -1;
	if (beam_texts_init(n) < 0) {
		munmap(p, n * sizeof(*threads));
		return -1;
	}
	threads = p;
	most = n;
	fences = fence;
	/* another library of ours may have been here before: its numbers are not ours */
	atomic_store(&numbers, (unsigned)time(NULL) * BEAM_HANDLES);
	return 0;
}

/* Once in a thread's life; never given back: schedulers stay. */
struct beam_thread *beam_thread_new(void)
{
	unsigned i = atomic_load_explicit(&nthreads, memory_order_relaxed);

	if (i < most)
		i = atomic_fetch_add(&nthreads, 1);
	if (i >= most) {
		atomic_fetch_add_explicit(&beam_homeless, 1, memory_order_relaxed);
		return NULL;
	}
	threads[i].texts = beam_texts_nth(i);
	threads[i].near = (struct beam_near *)threads[i].texts;
	threads[i].fence = fences;
	beam_self = &threads[i];
	return beam_self;
}

struct beam_thread *beam_thread_nth(unsigned n)
{
	return n < most && n < atomic_load(&nthreads) ? &threads[n] : NULL;
}

/*
 * Whether any handle runs, and which it is if it is the only one. Others may do this at the same
 * time: who has been overtaken, which the tag tells, looks again.
 */
static void tell_all(void)
{
	for (int i = 0; beam_vm.small && i < 1000; i++) {
		uint64_t was = atomic_load(&beam_only), in = atomic_load(&beam_running);
		uint64_t place =
			in != 0 && (in & (in - 1)) == 0 ? (uint64_t)__builtin_ctzll(in) : 0;

		atomic_store(&beam_firing[BEAM_ALL], in != 0 ? BEAM_ALL_STATE : 0);
		if (atomic_compare_exchange_strong(
			    &beam_only, &was, ((was >> 8) + 1) << 8 | place))
			return;
	}
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
	if (beam_vm.small)
		atomic_store(&beam_firing[place], live ? b->state : 0);
	tell_all();
}

void beam_halt(struct beam_handle *b)
{
	unsigned place = b->number % BEAM_HANDLES;
	uint64_t live = ((uint64_t)b->number + 1) << 1 | 1;

	atomic_store(&b->live, false);
	if (!atomic_compare_exchange_strong(&beam_states[place], &live, live - 1))
		return;
	atomic_fetch_and(&beam_running, ~(1ULL << place));
	atomic_store(&beam_firing[place], 0);
	tell_all();
}

static void wait_outside(void)
{
	struct beam_thread *t;

	if (!fences)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned i = 0; (t = beam_thread_nth(i)) != NULL; i++) {
		uint64_t seq = atomic_load_explicit(&t->seq, memory_order_acquire);

		while ((seq & 1) && atomic_load_explicit(&t->seq, memory_order_acquire) == seq)
			usleep(50);
	}
}

int beam_register(struct beam_handle *b)
{
	for (int tries = 0; tries < BEAM_HANDLES; tries++) {
		unsigned n = (atomic_fetch_add(&numbers, 1) & 0x7ffffff) + 1;
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
	wait_outside();
	atomic_fetch_and(&taken, ~(1ULL << slot)); /* nobody is inside who knows it as b's */
}
