/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: the per-thread state of an engine. The fields of a slot belong to the thread that owns it,
 * except those under "the consumer's". Fields that both sides access are atomic. The alignment
 * keeps fields with different writers in different cache lines. slot.c explains the protocol.
 */
#ifndef EN_SLOT_H
#define EN_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "engine/tables/counter.h"
#include "drop.h"
#include "engine/tables/dyn.h"
#include "fire.h"
#include "in_kernel.h"
#include "prog/record.h"
#include "ring.h"
#include "state.h"

struct agg_tab;
struct spec_buf;

/*
 * A sample of a slot, to detect later that it has left the firing it was in. A provider that keeps
 * a sequence word of its own for its threads, odd while one of them handles an event, may fire
 * without touching seq: outer points to that word.
 */
struct slot_mark {
	uint64_t seq, outer;
};

/* strtok(): the text that is left to split. */
struct slot_strtok {
	char *text;
	uint32_t pos, len;
	uint64_t fired; /* the firing it belongs to: no other may continue it */
	bool set;
};

/* Dynamic variables: dyn.c. */
struct slot_dyn {
	struct dyn_node *free[DYN_CLASSES];
	struct dyn_node *recent[1 << DYN_RECENT_LOG]; /* nodes looked up last, by hash */
	_Atomic(struct dyn_node *) dirty; /* nodes deleted by this thread, for the cleaner */
};

/* Speculations: free blocks of this slot, and those that the cleaner has returned. */
struct slot_spec {
	struct spec_buf *bufs;
	char *mem;
	uint32_t used, free;
	_Atomic(uint32_t) back;
};

/* The two aggregation tables, which the consumer swaps: agg.c. */
struct slot_aggs {
	struct agg_tab *tab[2];
	struct agg_tab *taken; /* swapped out; a firing may still be using it */
	struct slot_mark mark; /* taken after the swap; seq UINT64_MAX: not yet */
};

/* State of firings in the kernel: kernel/bpf. */
struct slot_kernel {
	_Alignas(8) char big[BIG_LOCAL_SIZE]; /* see BIG_LOCAL */
	struct en_comm {
		uint64_t id, hash; /* as struct et_str */
		uint32_t len;
		char text[20];
	} comms[64]; /* cache of program names */
	uint64_t ncomms; /* number of names added so far */
	char text[4][256]; /* arguments that are strings made here */
	uint64_t vm;	  /* of an Erlang VM's thread: struct k_vm; else 0 */
	uint64_t process; /* the Erlang process running on it, a term; 0: none */
	uint64_t answers; /* in that VM's memory: values for its event; or 0 */
	uint32_t number, sys_errno, pid;
	uint64_t task; /* the firing task, if it is not the current one; else 0 */
	/* while confined: the task that the event is about, the file asked for last; or 0 */
	uint64_t other, file;
	uint64_t file_task, file_n; /* of that file: whose it is, under which number */
	uint64_t uregs; /* address of the saved user registers, or 0 */
	uint32_t nstack, nustack; /* frames of the stacks that were walked */
	uint32_t nsure; /* user frames that are right even without frame pointers */
	uint32_t ncaller; /* the frame that is ucaller's; 0: the second, or the first of Erlang */
	/* what firings cost: bpf/timed.h */
	uint32_t left, batch; /* firings until one is timed; that it stands for, besides itself */
	uint64_t timed, ns;   /* ns: since when this one is, or 0; of all so far */
};

struct en_thread {
	_Atomic(uint64_t) seq; /* odd while the thread is in a firing */
	counter fired;
	struct en *en;
	_Atomic(struct agg_tab *) agg; /* the table being filled */
	void *frame;		       /* frame of en_fire: where stacks begin */
	uint64_t rnd;
	bool fence;    /* no membarrier: slot_enter needs a fence */
	bool in_error;
	bool faulted;  /* rt_fault was called: ERROR is to fire */
	uint32_t fault_pc, fault_action;
	uint64_t error_fired; /* the firing in which ERROR's clauses last ran */
	struct fire fire;
	struct fire error; /* the firing of the ERROR probe */
	uint32_t rate_left; /* records it may still write: ring.c */
	char *rec;	   /* head, fixed part and strings of the record being made */
	char *alloca;
	struct slot_strtok tok;
	struct {
		uint64_t from, spent; /* chill(): time spent in the second that began at from */
	} chill;
	uint64_t self_key;	      /* self-> key of the thread itself */
	uint32_t tid;
	counter drops[DROP_KINDS];
	struct slot_dyn dyn;
	struct slot_spec spec;
	_Alignas(LINE) struct ring ring;
	struct en_note { /* a record not made by a clause */
		struct rec_head head;
		struct rec_error error;
		struct rec_process process; /* REC_PROCESS */
	} note;
	struct slot_kernel k;
	/* the consumer's */
	_Alignas(LINE) struct slot_aggs aggs;
	struct slot_mark clean_mark; /* sampled at the end of the last cleaning */
	/* ownership */
	_Alignas(LINE) _Atomic(uint64_t) owner; /* 0: free; else a thread's number */
	_Atomic(const _Atomic(uint64_t) *) outer; /* see slot_mark; or NULL */
	_Atomic(bool) ready;		       /* initialised: the consumer may read it */
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

/*
 * What a thread that fires has of its own. Thread-local is only a pointer to it: a library that is
 * loaded into a running program shares a few hundred bytes of static TLS with all others, and a
 * node may have many versions of this one.
 *
 */
#define EN_TLS_CACHE 8 /* engines for which a thread caches its slot */
struct en_tls {
	uint64_t number; /* of the thread: assigned in order, never reused */
	_Atomic(uint32_t) tid; /* 0: nobody's */
	bool blocked; /* SIGSEGV or SIGBUS was blocked when it first fired */
	struct {
		uint64_t en; /* id of the engine */
		struct en_thread *slot;
		uint32_t releases; /* slot NULL: do not search again until this changes */
		uint32_t pad[3];
	} cache[EN_TLS_CACHE];
};
#ifndef __bpf__ /* the kernel has a slot for each CPU: kernel/bpf */
extern __thread struct en_tls *en_tls __attribute__((tls_model("initial-exec")));
void en_thread_init(void);
struct en_thread *en_slot_find(struct en *en); /* slow path: not in the cache */
struct en_thread *en_slot_own(struct en *en);  /* for BEGIN and END: never NULL */
static inline struct en_thread *en_slot_cached(const struct en *en)
{
	unsigned c = en->id % EN_TLS_CACHE;

	return likely(en_tls->cache[c].en == en->id) ? en_tls->cache[c].slot : NULL;
}
/* The calling thread's slot; NULL: none left, which is counted as a drop. */
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
void en_slots_kernel(struct en *en); /* initialise the kernel's */
void en_slots_register(struct en *en);
void en_slots_unregister(struct en *en);
void en_slots_reap(struct en *en);	   /* free those of threads that have ended */
bool en_barrier_init(void); /* false: membarrier is not available */
void en_barrier(const struct en *en);	   /* every firing thread sees all earlier writes */
bool en_grace(struct en *en, unsigned ms); /* wait a grace period; false: timed out */
/* Enter a firing; false: the slot is already in one. In the kernel: kernel/bpf/entries.c. */
static inline bool slot_enter(struct en_thread *t)
{
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

	return outer == NULL
		       ? 0
		       : atomic_load_explicit((_Atomic(uint64_t) *)outer, memory_order_acquire);
}
static inline struct slot_mark slot_look(const struct en_thread *t)
{
	return (struct slot_mark){.seq = atomic_load((_Atomic(uint64_t) *)&t->seq),
		.outer = slot_outer(t)};
}
/* Has the slot left the firing, if any, that it was in when m was taken? */
static inline bool slot_passed(const struct en_thread *t, const struct slot_mark *m)
{
	return ((m->seq & 1) == 0 ||
		       atomic_load_explicit((_Atomic(uint64_t) *)&t->seq, memory_order_acquire) !=
			       m->seq) &&
	       ((m->outer & 1) == 0 || slot_outer(t) != m->outer);
}

/* Rate limit (ring.c): may the thread write one more record? false: counted as a drop. */
bool rate_take(struct en_thread *t);
static inline bool rate_may(struct en_thread *t)
{
	if (likely(!__builtin_sub_overflow(t->rate_left, 1, &t->rate_left)))
		return true;
	return rate_take(t);
}

/* stack.c */
/* lines: frames tell the place in a function, too, where they are no addresses */
unsigned stack_user(struct fire *f, uint64_t *pcs, unsigned max, bool lines);
unsigned stack_depth(const uint64_t *pcs, unsigned n); /* frames that these words stand for */

#endif
