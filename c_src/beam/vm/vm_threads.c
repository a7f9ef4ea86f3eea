/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the VM. Each has a word, seq, that is odd while the thread is inside a handle, which
 * only it writes. Outside it holds no pointer to a handle: a quiescent state. To wait for a grace
 * period is to see every thread's word even, or changed. The thread need not fence between its word
 * and what it reads then, since the one who waits has membarrier() do that for all threads.
 */
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "beam/pages.h"
#include "compiler.h"
#include "engine/slot.h"
#include "vm_facts.h"
#include "vm_threads.h"

static struct beam_thread *threads; /* mapped at load, touched as threads come */
static unsigned most;
static _Atomic bool fences = true;
static _Atomic unsigned nthreads;
static void (*begins)(struct beam_thread *t, unsigned nth);
_Atomic uint64_t beam_no_thread;
__thread struct beam_thread *beam_self __attribute__((tls_model("initial-exec")));

/* Kept when the library is loaded again: threads point to theirs. */
int beam_threads_init(unsigned n, void (*begin)(struct beam_thread *t, unsigned nth))
{
	void *p;

	if (threads != NULL)
		return 0;
	p = beam_pages(n * sizeof(*threads));
	if (p == NULL)
		return -1;
	threads = p;
	begins = begin;
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
PROBE_PATH struct beam_thread *beam_thread_new(void)
{
	unsigned i = atomic_load_explicit(&nthreads, memory_order_relaxed);

	if (i < most)
		i = atomic_fetch_add(&nthreads, 1);
	if (i >= most) {
		atomic_fetch_add_explicit(&beam_no_thread, 1, memory_order_relaxed);
		return NULL;
	}
	begins(&threads[i], i);
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

/*
 * The number that erlang:system_info(scheduler_id) gives: normal schedulers, then dirty CPU, then
 * dirty I/O ones. Threads have it in their names: "2_scheduler", "2_dirty_cpu_sch" (cut by the
 * system), "2_dirty_io_sche" in OTP 25, "erts_sched_2", "erts_dcpus_2", "erts_dios_2" later.
 */
PROBE_PATH int beam_scheduler_of_name(const char *name)
{
	ErlNifSysInfo sys;
	const char *digits = strpbrk(name, "0123456789");
	int n = digits != NULL ? atoi(digits) : 0;

	if (n <= 0)
		return -1;
	enif_system_info(&sys, sizeof(sys));
	if (strstr(name, "_dirty_cpu") != NULL || strstr(name, "_dcpus_") != NULL)
		return sys.scheduler_threads + n;
	if (strstr(name, "_dirty_io") != NULL || strstr(name, "_dios_") != NULL)
		return sys.scheduler_threads + (int)beam_vm.dirty_cpus + n;
	return strstr(name, "_sched") != NULL ? n : -1;
}
