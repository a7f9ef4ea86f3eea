/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the engine: the state of an engine and of its slots, and what its files share.
 *
 * What is marked PROBE_PATH runs while a probe fires. It lands in a section of its own, so that
 * test/probe_path.sh can list everything that is called from there.
 *
 * Who writes what: a slot's fields belong to the thread that owns the slot, unless they stand
 * under "the consumer's". Fields that both sides touch are atomic. The padding keeps what two
 * threads write apart.
 */
#ifndef EN_INTERNAL_H
#define EN_INTERNAL_H

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "bits.h"
#include "compiler.h"
#include "engine.h"
#include "prog/aggfn.h"
#include "prog/rt.h"

/* A runtime function: not every one uses all of its words. */
#define RTFN(name)                                                                                 \
	PROBE_PATH uint64_t rt_##name(__attribute__((unused)) uint64_t ctx,                        \
		__attribute__((unused)) uint64_t a, __attribute__((unused)) uint64_t b,            \
		__attribute__((unused)) uint64_t c, __attribute__((unused)) uint64_t d)
#define FIRE(ctx) ((struct fire *)(uintptr_t)(ctx))

/* A big local variable of the probe path; BPF, with 512 bytes of stack in all, has it in the slot. */
#ifdef __bpf__
#define IN_KERNEL 1
#define INLINE_HERE __attribute__((__noinline__)) /* so that the verifier looks at it once */
#define BIG_LOCAL(type, name, f) type *name = (type *)(void *)(f)->thread->big
#define ZERO(en) (*(volatile int *)&(en)->zero) /* of a counter that it is not to follow */
#else
#define IN_KERNEL 0
#define INLINE_HERE inline
#define BIG_LOCAL(type, name, f) type name##_local, *name = &name##_local
#define ZERO(en) 0
#endif
#define BIG_LOCAL_SIZE 1024

/* Counters with one writer and any reader: no locked instruction needed. */
typedef _Atomic(uint64_t) counter;
static inline void count_add(counter *c, uint64_t n)
{
	uint64_t v = atomic_load_explicit(c, memory_order_relaxed);

	atomic_store_explicit(c, v + n, memory_order_relaxed);
}
static inline uint64_t count_get(const counter *c)
{
	return atomic_load_explicit((counter *)c, memory_order_relaxed);
}

/* ---- keys (key.h) --------------------------------------------------------------------- */

/* The parts of a key, of an aggregation or of a dynamic variable. */
struct en_key {
	uint8_t n, nstr;
	bool self;		     /* a part more in front: whose self-> it is */
	uint32_t fixed;		     /* bytes of all parts, strings counted as their length field */
	uint8_t kind[PROG_MAX_KEYS]; /* EBPF_SCALAR, EBPF_STR, EBPF_MEM */
	uint32_t size[PROG_MAX_KEYS];
};

/* ---- aggregations (agg.c) ------------------------------------------------------------- */

struct agg_tab;

struct en_aggdef {
	struct prog_agg fn; /* a copy, near by */
	uint32_t id, words;
	bool one_str; /* its key is one string */
	int64_t base; /* lquantize: agg.c */
	uint64_t span, per;
	struct en_key key;
};

/* ---- dynamic variables (dyn.c) -------------------------------------------------------- */

struct dyn_node;
#define DYN_CLASSES 40
#define DYN_RECENT_LOG 10

enum {
	KEY_SELF = 1,
	KEY_NUMBER = 2,
	KEY_STRING = 4,
	KEY_LONG = 8,	/* more than one part */
	KEY_BEHIND = 16 /* the bytes of a value come before it */
};

struct dyn_var {
	uint32_t id;
	uint32_t data; /* bytes behind the head: 0 for numbers */
	bool is_str;
	uint8_t shape; /* KEY_*, of its key */
	struct en_key key;
};

struct dyn {
	_Atomic(struct dyn_node *) *heads; /* chains by hash */
	_Atomic(struct dyn_node *) *selfs; /* chains of self-> variables by whose they are */
	uint64_t mask, self_mask;
	char *map, *pool;
	size_t map_size, pool_size;
	struct dyn_var *vars;
	_Alignas(LINE) counter bump; /* bytes of the pool handed out so far: never back */
	_Alignas(LINE) _Atomic(uint64_t) free[DYN_CLASSES]; /* clean nodes: tag and unit */
	/* the cleaner's */
	_Alignas(LINE) struct dyn_node *dirty, *rinse, *gone;
	counter ndirty, nrinse; /* for the kind of a drop */
};

/* ---- speculations (spec.c) ------------------------------------------------------------ */

/* The buffer of one speculation in one slot: a list of blocks. */
struct spec_buf {
	_Atomic(uint32_t) first; /* block number + 1; 0: none */
	uint32_t last;
	uint32_t rblock, roff; /* the consumer's: where reading stands; rblock 0: not begun */
};

struct spec {
	_Atomic(uint32_t) state; /* SPEC_* */
	char pad[60];
};

/* ---- slots ---------------------------------------------------------------------------- */

struct ring {
	char *mem;
	uint64_t size;
	/* the writer's */
	_Atomic(uint64_t) head; /* bytes written since the start */
	uint64_t wpos;	       /* head's place in mem */
	uint64_t tail_seen;    /* tail when last looked at */
	char pad[LINE];
	/* the reader's (policy ring: the writer's until the stop) */
	_Atomic(uint64_t) tail;
	uint64_t rpos;
};

/*
 * What a slot was doing at some moment. A provider that has a word of its own for its threads, odd
 * while one of them is at an event, may fire without touching seq: outer is that word.
 */
struct slot_mark {
	uint64_t seq, outer;
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
	char *tok; /* strtok: what is left to split */
	uint32_t tok_pos, tok_len;
	uint64_t tok_fired; /* in which firing: it is no other's */
	bool tok_set;
	uint64_t chill_from, chilled; /* chill(): in the second that began then */
	uint64_t self_key;	      /* of the thread itself */
	uint32_t tid;
	counter drops[DROP_KINDS];
	struct dyn_node *dyn_free[DYN_CLASSES];
	struct dyn_node *dyn_recent[1 << DYN_RECENT_LOG]; /* seen last, by a hash: dyn.c */
	_Atomic(struct dyn_node *) dyn_dirty; /* deleted here, taken by the cleaner */
	/* speculations: blocks free for use here, and those that the cleaner gave back */
	struct spec_buf *spec;
	char *spec_mem;
	uint32_t spec_used, spec_free;
	_Atomic(uint32_t) spec_back;
	_Alignas(LINE) struct ring ring;
	struct { /* a record that is not a clause's, being made */
		struct rec_head head;
		struct rec_error error;
	} note;
	/* the kernel's (kernel/bpf) */
	_Alignas(8) char big[BIG_LOCAL_SIZE]; /* see BIG_LOCAL */
	struct en_comm {
		uint64_t id, hash; /* as struct et_str */
		uint32_t len;
		char text[20];
	} comms[64]; /* names of programs, of late */
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
	/* the consumer's */
	_Alignas(LINE) struct agg_tab *agg_tab[2];
	struct agg_tab *agg_taken; /* taken away, maybe still in use by one firing */
	struct slot_mark agg_mark; /* then; seq UINT64_MAX: not looked yet */
	struct slot_mark clean_mark; /* at the end of the last cleaning */
	/* whose it is */
	_Alignas(LINE) _Atomic(uint64_t) owner; /* 0: free; else a thread's number */
	_Atomic(const _Atomic(uint64_t) *) outer; /* see slot_mark; or NULL */
	_Atomic(bool) ready;		       /* initialised: the consumer may look at it */
	_Atomic(uint32_t) owner_tid;
};

/* Where tracing stands; probes fire in PHASE_RUN only, BEGIN and END in theirs. */
enum { PHASE_IDLE, PHASE_BEGIN, PHASE_RUN, PHASE_DRAIN, PHASE_END, PHASE_STOPPED };

#define EN_HINTS 64
struct en {
	/* read on the probe path, written rarely */
	uint64_t id; /* never used twice in a process */
	_Atomic(uint32_t) phase;
	uint32_t nspec, spec_block, spec_blocks;
	char *slots;
	size_t stride;
	unsigned maxslots;
	uint32_t strsize, scratch_size, alloca_size, rec_cap;
	uint64_t only_cpu; /* UINT64_MAX: any */
	_Atomic(uint64_t) maxwork; /* of a firing; UINT64_MAX: any; 0: it is to end */
	int policy;
	uint32_t rate; /* records a second; 0: any number */
	int zero; /* always: see ZERO */
	bool fence;
	struct en_aggdef *aggs;
	struct dyn dyn;
	struct spec *specs;
	char *globals;
	struct en_probe *error_probe;
	const struct prog *prog;
	struct ebpf_env env;
	uint64_t *strs; /* references of the constant strings */
	uint32_t pid, ppid, pgid, sid, uid, euid, gid, egid, pri;
	struct et_str *execname, *psargs, *cwd, *rootdir;
	const struct en_current *host; /* asked where nobody says who fires; or NULL */
	uint32_t ancestors[64];
	unsigned nancestors, maxframes;
	/* where things are in a slot */
	size_t off_rec, off_scratch, off_error_scratch, off_alloca, off_tok, off_spec, off_ring,
		off_agg[2], off_spec_mem, ring_size, agg_size, agg_direct;
	/* written by firing threads, each seldom */
	_Alignas(LINE) _Atomic(uint32_t) nslots;
	_Atomic(uint32_t) releases;	/* slots given back so far */
	_Atomic(uint16_t) hints[EN_HINTS]; /* by number of a thread: the slot it may have (slot.c) */
	_Alignas(LINE) counter no_slot; /* DROP_THREADS */
	_Atomic(int) exit_code;
	_Atomic(uint32_t) exited, filled;
	_Atomic(uint32_t) halted;
	_Atomic(uint64_t) rate_left; /* records that the threads may take shares of */
	_Atomic(uint64_t) own_cost;  /* en_own_cost */
	/* the memory: region.c */
	void (*own_fire)(struct en *en, unsigned phase); /* BEGIN and END; NULL: here */
	struct kernel *kernel; /* what it has there (kernel/load.h), or NULL */
	bool shared; /* with the kernel */
	unsigned nkernel; /* slots that are its own: the first ones */
	struct prog_clause *clauses; /* what it reads of them */
	_Atomic(uint32_t) *procs; /* processes of addresses: procs.h */
	uint32_t home; /* the first process that a provider named, or 0 */
	uint64_t window, window_used;
	/* the rest: life, registry, consumer */
	_Alignas(LINE) struct et_options *opts;
	enum en_state state;
	size_t slots_size;
	uint32_t globals_size;
	struct en_probe **probes;
	unsigned nprobes, probe_room;
	struct en_probe **probe_hash;
	unsigned probe_hash_size;
	struct et_str **names; /* of probes, each text once */
	unsigned nnames, names_size;
	struct en_ecb **ecbs; /* by epid - 1 */
	unsigned necbs;
	struct ebpf_code *code; /* by clause */
	unsigned ncode;
	bool jitted, safe_on, clock_checked;
	void **pvdata;
	bool *pvstarted;
	unsigned npv;
	uint64_t clean_count;
	_Atomic(uint64_t) rate_at; /* ns: up to when they were given */
	uint64_t until; /* en_consume_until */
	unsigned spec_reading; /* the speculation that en_consume is delivering; 0: none */
	struct en *next;       /* of all engines: slot.c */
};

static inline struct en_thread *en_slot(const struct en *en, unsigned i)
{
	return (struct en_thread *)(void *)(en->slots + (size_t)i * en->stride);
}
static inline void drop(struct en_thread *t, enum en_drop kind)
{
	count_add(&t->drops[kind], 1);
}

/* ---- shared functions ----------------------------------------------------------------- */

/* probe.c: among the probes with ids above first, as they are */
int en_probe_match_from(
	struct en *en, unsigned first, const struct d_pdesc *desc, en_probe_cb cb, void *arg);

/* region.c */
struct en *en_place(bool shareable);
void en_unplace(struct en *en);
int en_share(struct en *en, int fd, struct et_error *e);
void *en_alloc(struct en *en, size_t size); /* zeros */
int en_populate(void *at, size_t size); /* memory that the kernel may write to; < 0: none left */
void *en_alloc_pages(struct en *en, size_t size, size_t kernel); /* for it: the first so many */
void en_dealloc(const struct en *en, void *p);
void en_dealloc_pages(const struct en *en, void *p, size_t size);

/* load.c */
int en_load(struct en *en, const struct prog *prog, struct et_error *e);
void en_unload(struct en *en); /* also after a load that failed */
struct en_probe *en_probe_shared(struct en *en, const struct en_probe *p);

/* probe.c */
void en_probes_free(struct en *en);

/* slot.c */
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
void en_barrier(const struct en *en);	   /* every firing thread sees what was written before */
bool en_grace(struct en *en, unsigned ms); /* firings of now are over; false: not in time */
/* Mark a slot as firing; false: it already is. */
static inline bool slot_enter(struct en_thread *t)
{ /* in the kernel: kernel/bpf/main.c */
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

/* fire.c */
void en_fire_in(struct en_probe *p, const uint64_t *arg, unsigned phase);
bool en_fire_error(struct fire *f); /* false: ERROR has no clauses */

/* ring.c */
bool ring_put(struct en_thread *t, const void *rec, uint32_t size);
const struct rec_head *ring_peek(struct ring *r, uint64_t head); /* NULL: nothing before head */
void ring_next(struct ring *r, const struct rec_head *rec);

/* agg.c */
int agg_init(struct en *en, struct et_error *e);
void agg_free(struct en *en);
void agg_slot_init(struct en *en, struct en_thread *t, uint64_t size);

/* dyn.c, dyn_clean.c */
int dyn_init(struct en *en, struct et_error *e);
void dyn_free(struct en *en);
bool dyn_pending(const struct en *en);
void dyn_clean(struct en *en); /* after a grace period since the last call */

/* spec.c */
enum { SPEC_FREE, SPEC_ACTIVE, SPEC_COMMITTING, SPEC_DISCARDING, SPEC_RINSING };
#define SPEC_NOWHERE UINT32_MAX /* speculate() of what is no speculation: the record is lost */
int spec_init(struct en *en, struct et_error *e);
void spec_free(struct en *en);
bool spec_put(struct en_thread *t, uint32_t id, const void *rec, uint32_t size);
bool spec_pending(const struct en *en);
void spec_clean(struct en *en); /* after a grace period since the last call */
int spec_deliver(struct en *en, uint32_t id, en_rec_cb cb, void *arg);

/* rt_mem.c */
void copy_out(struct fire *f, uint64_t to, const void *from, uint64_t n);

/* str.c */
#define STR_TAG (1ULL << 63)
static inline uint64_t str_ref(const struct et_str *s)
{
	return (uint64_t)(uintptr_t)s | STR_TAG;
}
static inline const struct et_str *str_interned(uint64_t ref)
{
	return ref & STR_TAG ? (const struct et_str *)(uintptr_t)(ref & ~STR_TAG) : NULL;
}
/* The text of a reference, cut at strsize - 1 bytes; NULL for no string (length 0). */
static inline const char *str_text(const struct fire *f, uint64_t ref, uint32_t *len)
{
	uint32_t most = f->en->strsize - 1;
	const struct et_str *s = str_interned(ref);
	const char *text = (const char *)(uintptr_t)ref;

	if (s != NULL) {
		*len = s->len < most ? s->len : most;
		return s->text;
	}
	*len = text == NULL ? 0 : (uint32_t)strnlen(text, most);
	return text;
}
/* Where a result of strsize bytes goes; NULL with a fault: no such place. */
char *str_slot(struct fire *f, uint64_t slot);
uint64_t str_put(struct fire *f, uint64_t slot, const char *text, size_t len);

/* safe.c */
int safe_init(void); /* counted; -1: no handler could be installed */
void safe_fini(void);
void safe_look(void); /* some times a second: is our handler still the first? */
size_t safe_copy(void *dst, const void *src, size_t n); /* how many bytes were not copied */
bool safe_read(struct fire *f, void *dst, uint64_t addr, size_t n); /* false: a fault is set */
/* A string of at most room - 1 bytes, terminated. Returns its length, or -1 with a fault. */
int64_t safe_str(struct fire *f, char *dst, uint64_t addr, size_t room);
static inline void set_fault(struct fire *f, uint32_t fault, uint64_t addr)
{
	if (f->fault == 0) {
		f->fault = fault;
		f->fault_addr = addr;
	}
}

/* Count so many bytes to the work of the firing. false, with a fault: that is too much. */
static inline bool work_bytes(struct fire *f, uint64_t n)
{
	f->work += n;
	if (likely(f->work <= atomic_load_explicit(&f->en->maxwork, memory_order_relaxed)))
		return true;
	set_fault(f, FAULT_WORK, 0);
	return false;
}
static inline bool work_block(struct fire *f, uint64_t n)
{
	return likely(n <= WORK_FREE) || work_bytes(f, n / WORK_BLOCK);
}

/* rt_mem.c */
uint64_t mem_alloca(struct fire *f, uint64_t size); /* 0 with a fault: no room */
/* Is [addr, addr + n) memory that this clause was given? Else a fault. */
bool mem_may_write(struct fire *f, uint64_t addr, uint64_t n);

/* clock.c */
void clock_init(bool fast);  /* fast: time stamps will be read often */
void clock_check(void);	     /* correct it against the system's */
uint64_t clock_thread(void); /* CPU time of the calling thread */
uint64_t clock_now_far(void);

#ifdef __bpf__
static inline uint64_t clock_now(void)
{
	return en_now();
}
#else
/*
 * ns = base + (counter - start) * rate / 2^60: one cache line, as a time stamp needs all of it. A
 * step of the counter is less than 16 ns.
 * version is odd while the others are being changed, and where the counter is not used.
 */
extern struct en_clock {
	_Alignas(64) _Atomic(uint64_t) version;
	_Atomic(uint64_t) start, base, rate;
} en_clock HIDDEN;

static inline uint64_t clock_counter(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

static inline uint64_t clock_ns(uint64_t steps, uint64_t rate)
{
	return (uint64_t)((unsigned __int128)(steps << 4) * rate >> 64); /* the high half alone */
}

static inline bool clock_try(uint64_t *now)
{
	uint64_t v = atomic_load_explicit(&en_clock.version, memory_order_acquire);
	uint64_t from = atomic_load_explicit(&en_clock.start, memory_order_relaxed);
	uint64_t ns = atomic_load_explicit(&en_clock.base, memory_order_relaxed);
	uint64_t per = atomic_load_explicit(&en_clock.rate, memory_order_relaxed);
	uint64_t tsc = clock_counter();

	atomic_thread_fence(memory_order_acquire);
	if (likely(!(v & 1) && tsc >= from &&
		   atomic_load_explicit(&en_clock.version, memory_order_relaxed) == v)) {
		*now = ns + clock_ns(tsc - from, per);
		return true;
	}
	return false;
}

/* en_now, inline. */
static inline uint64_t clock_now(void)
{
	uint64_t now;

	return likely(clock_try(&now)) ? now : clock_now_far();
}
#endif

static inline uint64_t fire_ts(struct fire *f)
{
	if (f->ts == 0)
		f->ts = clock_now();
	return f->ts;
}
unsigned en_cpu(void);

/* stack.c */
unsigned stack_user(struct fire *f, uint64_t *pcs, unsigned max);

/* env.c */
void en_key_init(struct en_key *k, const struct prog_val *keys, unsigned n, bool self);
bool en_reads_memory(const struct prog *p); /* may fault */

#endif
