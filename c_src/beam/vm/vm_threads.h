/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the VM (vm_threads.c, probe path): each says in a word of its own that it is inside a
 * handle. Whoever takes a handle out of the table waits for a grace period: until it has seen every
 * thread outside.
 */
#ifndef BEAM_VM_THREADS_H
#define BEAM_VM_THREADS_H

#include <erl_nif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "vm_event.h"

#pragma GCC visibility push(hidden)

struct beam_text_cache;
struct beam_texts;
struct beam_slots;

#define BEAM_HANDLES 64 /* slots of the table of handles (handles.h) */

/*
 * What a thread builds events of the fast way in (fast_calls.c): an environment of the process, and
 * the terms that a tracer would have been given.
 */
#define FAST_ENV_WORDS 16
#define FAST_WORDS     (4 + 6 + 2 * 256 + 3)
struct fast_thread {
	uintptr_t env[FAST_ENV_WORDS];
	ERL_NIF_TERM argv[5];
	ERL_NIF_TERM words[FAST_WORDS];
	ERL_NIF_TERM parts[8 * 8]; /* binaries that are being matched, as such */
};

/*
 * The state of a thread in a handle: what its events cost, some of which are timed (watchdog.c);
 * and, for the handle that has this number, what its calls and returns need each time.
 */
struct beam_tstate {
	_Atomic uint64_t ns; /* up to the last that was timed; written by the thread alone */
	uint32_t left, batch; /* events until one is timed, then UINT32_MAX; at the last one */
	uint64_t timed;	      /* when this one began */
	uint64_t last;	      /* ns that the last one took that was timed, with the VM's part */
	unsigned number;
	/* ns of those in ns that the thread was off its processor, it seems */
	_Atomic uint64_t off;
	struct en_thread *slot; /* the thread's, in the handle's engine */
	struct beam_event ev;	/* the last; most of it is the same for the next */
} __attribute__((aligned(256)));

/*
 * What a thread of the VM has of its own. One pointer: static TLS of a loaded library is scarce.
 * The memory is there from the load of the library on; a thread beyond that has none, its events
 * are lost, and counted.
 */
struct beam_thread {
	_Atomic uint64_t seq; /* odd: inside a handle */
	struct beam_text_cache *cache; /* the first of its texts */
	struct beam_texts *texts;
	struct beam_slots *slots; /* terms of its event (terms.c) */
	uint64_t events, cost; /* ns that an event takes, of those measured (running times) */
	int sched; /* number of the scheduler; 0: not looked for yet; -1: none */
	_Atomic bool fence; /* no membarrier: fence on the probe path */
	struct beam_tstate tstates[BEAM_HANDLES];
	struct fast_thread fast;
} __attribute__((aligned(128)));
extern __thread struct beam_thread *beam_self __attribute__((tls_model("initial-exec")));
extern _Atomic uint64_t beam_no_thread; /* events of threads without a beam_thread */
struct beam_thread *beam_thread_new(void); /* NULL: no room */
/* For so many of them. begin: a thread is seen for the first time, the nth (probe path). */
int beam_threads_init(unsigned n, void (*begin)(struct beam_thread *t, unsigned nth));
void beam_threads_barrier(void); /* from now on by membarrier, where there is one; takes long once */
struct beam_thread *beam_thread_nth(unsigned n); /* NULL: no more */
void beam_threads_wait(void); /* for a grace period */
/* The number of a scheduler, by the name of its thread; -1: it is none. */
int beam_scheduler_of_name(const char *name);

/* Between enter and leave a handle found in the table stays. */
static inline void beam_thread_enter(struct beam_thread *t)
{
#ifdef EN_TSAN
	atomic_fetch_add(&t->seq, 1);
#else
	atomic_store_explicit(&t->seq, atomic_load_explicit(&t->seq, memory_order_relaxed) + 1,
		memory_order_relaxed);
	if (unlikely(atomic_load_explicit(&t->fence, memory_order_relaxed)))
		atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst); /* the other side has membarrier */
#endif
}

static inline void beam_thread_leave(struct beam_thread *t)
{
	atomic_store_explicit(&t->seq, atomic_load_explicit(&t->seq, memory_order_relaxed) + 1,
		memory_order_release);
}

static inline void beam_leave(void)
{
	struct beam_thread *t = beam_self;

	if (likely(t != NULL))
		beam_thread_leave(t);
}

#pragma GCC visibility pop
#endif
