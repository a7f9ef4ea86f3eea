/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: the state of a thread that fires. A slot's fields belong to the thread that owns the slot,
 * unless they stand under "the consumer's". Fields that both sides touch are atomic. The padding
 * keeps apart what two threads write.
 */
#ifndef EN_SLOT_H
#define EN_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "counter.h"
#include "drop.h"
#include "dyn.h"
#include "fire.h"
#include "in_kernel.h"
#include "prog/record.h"
#include "ring.h"
#include "state.h"

struct agg_tab;
struct spec_buf;

/*
 * What a slot was doing at some moment. A provider that has a word of its own for its threads, odd
 * while one of them is at an event, may fire without touching seq: outer is that word.
 */
struct slot_mark {
	uint64_t seq, outer;
};

/* strtok(): what is left to split. */
struct slot_strtok {
	char *text;
	uint32_t pos, len;
	uint64_t fired; /* in which firing: it is no other's */
	bool set;
};

/* Dynamic variables: dyn.c. */
struct slot_dyn {
	struct dyn_node *free[DYN_CLASSES];
	struct dyn_node *recent[1 << DYN_RECENT_LOG]; /* seen last, by a hash */
	_Atomic(struct dyn_node *) dirty; /* deleted here, taken by the cleaner */
};

/* Speculations: blocks free for use here, and those that the cleaner gave back. */
struct slot_spec {
	struct spec_buf *bufs;
	char *mem;
	uint32_t used, free;
	_Atomic(uint32_t) back;
};

/* The aggregation tables, as the consumer swaps them. */
struct slot_aggs {
	struct agg_tab *tab[2];
	struct agg_tab *taken; /* taken away, maybe still in use by one firing */
	struct slot_mark mark; /* then; seq UINT64_MAX: not looked yet */
};

/* What only the kernel's half has: kernel/bpf. */
struct slot_kernel {
	_Alignas(8) char big[BIG_LOCAL_SIZE]; /* see BIG_LOCAL */
	struct en_comm {
		uint64_t id, hash; /* as struct et_str */
		uint32_t len;
		char text[20];
	} comms[64]; /* names of programs seen last */
	uint64_t ncomms; /* so many were put there */
	char text[4][256]; /* arguments that are made here */
	uint64_t vm;	  /* an Erlang VM's thread: what is known of it (struct k_vm); else 0 */
	uint64_t process; /* the Erlang process that runs on it, a term; 0: none */
	uint64_t answers; /* in that VM's memory: what an event inside it was asked for; or 0 */
	uint32_t number, sys_errno, pid;
	uint64_t task; /* who fires, where that is not the current thread; else 0 */
	uint64_t uregs; /* where the registers of user space are saved, or 0 */
	uint32_t nstack, nustack; /* frames of the stacks that were taken */
	uint32_t nsure; /* frames of the user's that are right without frame pointers too */
};

struct en_thread {
	_Atomic(uint64_t) seq; /* odd while it fires */
	counter fired;
	struct en *en;
	_Atomic(struct agg_tab *) agg; /* the one that is being filled */
	void *frame;		       /* of en_fire: where stacks begin */
	uint64_t rnd;
	bool fence;    /* no membarrier: fence on the probe path */
	bool in_error; /* running ERROR's clauses */
	bool faulted;  /* rt_fault was called: ERROR is to fire */
	uint32_t fault_pc;
	uint64_t error_fired; /* in which firing ERROR's clauses ran last */
	struct fire fire;
	struct fire error; /* of the ERROR probe */
	uint32_t rate_left; /* records that it may leave: ring.c */
	char *rec;	   /* head, fixed part and strings of the record being made */
	char *alloca;
	struct slot_strtok tok;
	struct {
		uint64_t from, spent; /* chill(): in the second that began then */
	} chill;
	uint64_t self_key;	      /* of the thread itself */
	uint32_t tid;
	counter drops[DROP_KINDS];
	struct slot_dyn dyn;
	struct slot_spec spec;
	_Alignas(LINE) struct ring ring;
	struct { /* a record that is not a clause's, being made */
		struct rec_head head;
		struct rec_error error;
	} note;
	struct slot_kernel k;
	/* the consumer's */
	_Alignas(LINE) struct slot_aggs aggs;
	struct slot_mark clean_mark; /* at the end of the last cleaning */
	/* whose it is */
	_Alignas(LINE) _Atomic(uint64_t) owner; /* 0: free; else a thread's number */
	_Atomic(const _Atomic(uint64_t) *) outer; /* see slot_mark; or NULL */
	_Atomic(bool) ready;		       /* initialised: the consumer may look at it */
	_Atomic(uint32_t) owner_tid;
};

static inline struct en_thread *en_slot(const struct en *en, unsigned i)
{
	return (struct en_thread *)(void *)(en->slots + (size_t)i * en->stride);
}
static inline void drop(struct en_thread *t, enum en_drop kind)
{
	count_add(&t->drops[kind], 1);
}

#define EN_TLS_CACHE 8 /* engines that a thread remembers its slot in */
struct en_tls {
	uint64_t number; /* of the thread: counted up, never used twice */
	uint32_t tid;
	bool blocked; /* SIGSEGV or SIGBUS, when it first fired */
	struct {
		uint64_t en; /* id of the engine */
		struct en_thread *slot;
		uint32_t releases; /* slot NULL: no use to look again until this changes */
		uint32_t pad[3];
	} cache[EN_TLS_CACHE];
};
#ifndef __bpf__ /* the kernel has a slot for each CPU: kernel/bpf */
extern __thread struct en_tls en_tls __attribute__((tls_model("initial-exec")));
void en_thread_init(void);
struct en_thread *en_slot_find(struct en *en); /* not in the cache */
struct en_thread *en_slot_own(struct en *en);  /* for BEGIN and END: there always is one */
static inline struct en_thread *en_slot_cached(const struct en *en)
{
	unsigned c = en->id % EN_TLS_CACHE;

	return likely(en_tls.cache[c].en == en->id) ? en_tls.cache[c].slot : NULL;
}
/* The calling thread's slot; NULL: none left, which is counted. */
static inline struct en_thread *en_slot_get(struct en *en)
{
	struct en_thread *t = en_slot_cached(en);

	return likely(t != NULL) ? t : en_slot_find(en);
}
#endif
enum { SPARE_SLOTS = 4, OWN_SLOTS = 8 }; /* of an engine that is shared */
static inline uint64_t en_spare_size(uint64_t size) /* of a buffer in a spare slot */
{
	return size / 8 > 64 * 1024 ? size / 8 & ~7ULL : size < 64 * 1024 ? size : 64 * 1024;
}
void en_slots_kernel(struct en *en); /* make those of the kernel */
void en_slots_register(struct en *en);
void en_slots_unregister(struct en *en);
void en_slots_reap(struct en *en);	   /* give back those of threads that are no more */
bool en_barrier_init(void); /* false: no membarrier here */
void en_barrier(const struct en *en);	   /* every firing thread sees what was written before */
bool en_grace(struct en *en, unsigned ms); /* firings of now are over; false: not in time */
/* Mark a slot as firing; false: it already is. */
static inline bool slot_enter(struct en_thread *t)
{ /* in the kernel: kernel/bpf/entries.c */
	uint64_t seq = atomic_load_explicit(&t->seq, memory_order_relaxed);

	if (unlikely(seq & 1))
		return false;
#ifdef EN_TSAN
	atomic_exchange(&t->seq, seq + 1);
#else
	atomic_store_explicit(&t->seq, seq + 1, memory_order_relaxed);
	if (unlikely(t->fence))
		atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst);
#endif
	return true;
}
static inline void slot_leave(struct en_thread *t)
{
	uint64_t seq = atomic_load_explicit(&t->seq, memory_order_relaxed);

	atomic_store_explicit(&t->seq, seq + 1, memory_order_release);
}

static inline uint64_t slot_outer(const struct en_thread *t)
{
	const _Atomic(uint64_t) *outer = atomic_load_explicit(
		(_Atomic(const _Atomic(uint64_t) *) *)&t->outer, memory_order_acquire);

	return outer == NULL ? 0
			     : atomic_load_explicit((_Atomic(uint64_t) *)outer, memory_order_acquire);
}
static inline struct slot_mark slot_look(const struct en_thread *t)
{
	return (struct slot_mark){.seq = atomic_load((_Atomic(uint64_t) *)&t->seq),
		.outer = slot_outer(t)};
}
/* Is it out of the firing that it was in then, if it was in one? */
static inline bool slot_passed(const struct en_thread *t, const struct slot_mark *m)
{
	return ((m->seq & 1) == 0 ||
		       atomic_load_explicit((_Atomic(uint64_t) *)&t->seq, memory_order_acquire) !=
			       m->seq) &&
	       ((m->outer & 1) == 0 || slot_outer(t) != m->outer);
}

/* ring.c: may the thread leave one more record? false: there were enough, it is a drop. */
bool rate_take(struct en_thread *t);
static inline bool rate_may(struct en_thread *t)
{
	if (likely(!__builtin_sub_overflow(t->rate_left, 1, &t->rate_left)))
		return true;
	return rate_take(t);
}

/* stack.c */
unsigned stack_user(struct fire *f, uint64_t *pcs, unsigned max);

#endif
