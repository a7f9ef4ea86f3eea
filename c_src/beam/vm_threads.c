/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the VM. Each has a word, seq, that is odd while the thread is inside a handle, which
 * only it writes. Outside it holds no pointer to a handle: a quiescent state. To wait for a grace
 * period is to see every thread's word even, or changed. The thread need not fence between its word
 * and what it reads then, since the one who waits has membarrier() do that for all threads.
 */
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/slot.h"
#include "pages.h"
#include "terms.h"
#include "texts.h"
#include "vm_threads.h"

static struct beam_thread *threads; /* mapped at load, touched as threads come */
static unsigned most;
static _Atomic bool fences = true;
static _Atomic unsigned nthreads;
_Atomic uint64_t beam_no_thread;
__thread struct beam_thread *beam_self __attribute__((tls_model("initial-exec")));

/* Kept when the library is loaded again: threads point to theirs. */
int beam_threads_init(unsigned n)
{
	void *p;

	if (threads != NULL)
		return 0;
	p = beam_pages(n * sizeof(*threads));
	if (p == NULL)
		return -1;
	if (beam_texts_init(n) < 0 || beam_slots_init(n) < 0) {
		munmap(p, n * sizeof(*threads));
		return -1;
	}
	threads = p;
	most = n;
	return 0;
}

/*
 * To register takes the kernel some 20 ms, as it waits for all CPUs: not while the library is
 * loaded, on a scheduler, but before the first handle is there, on a thread of ours.
 */
void beam_threads_barrier(void)
{
	struct beam_thread *t;

	if (!atomic_load(&fences) || !en_barrier_init())
		return;
	atomic_store(&fences, false);
	for (unsigned i = 0; (t = beam_thread_nth(i)) != NULL; i++)
		atomic_store(&t->fence, false);
}

/* Once in a thread's life; never given back: schedulers stay. */
struct beam_thread *beam_thread_new(void)
{
	unsigned i = atomic_load_explicit(&nthreads, memory_order_relaxed);

	if (i < most)
		i = atomic_fetch_add(&nthreads, 1);
	if (i >= most) {
		atomic_fetch_add_explicit(&beam_no_thread, 1, memory_order_relaxed);
		return NULL;
	}
	threads[i].texts = beam_texts_nth(i);
	threads[i].cache = (struct beam_text_cache *)threads[i].texts;
	threads[i].slots = beam_slots_nth(i);
	atomic_store(&threads[i].fence, atomic_load(&fences));
	beam_self = &threads[i];
	return beam_self;
}

struct beam_thread *beam_thread_nth(unsigned n)
{
	return n < most && n < atomic_load(&nthreads) ? &threads[n] : NULL;
}

void beam_threads_wait(void)
{
	struct beam_thread *t;

	atomic_thread_fence(memory_order_seq_cst); /* what is retired, before what threads do */
	if (!atomic_load(&fences))
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned i = 0; (t = beam_thread_nth(i)) != NULL; i++) {
		uint64_t seq = atomic_load_explicit(&t->seq, memory_order_acquire);

		while ((seq & 1) && atomic_load_explicit(&t->seq, memory_order_acquire) == seq)
			usleep(50);
	}
}
