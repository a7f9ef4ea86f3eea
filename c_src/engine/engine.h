/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: probes, and the running of clauses when they fire. Made to be fired from many
 * threads at once inside another program.
 *
 *   probe.c   the registry of probes, globs, what is enabled
 *   engine.c  life: new, go, stop, free; load.c: verify, JIT, memory, probes and their clauses
 *   slot.c    the threads' slots; barrier and grace period
 *   fire.c    THE PROBE PATH: fire a probe, run its clauses; faults and ERROR
 *   times.c   many firings at once, that somebody else has counted
 *   ring.c    trace buffers: one writer, one reader (probe path: the writing half)
 *   read.c    the records of all slots in order of time
 *   key.h     keys of tables: hashed, compared, stored (probe path)
 *   agg.c     aggregation tables of a thread (probe path)
 *   dyn.c     dynamic variables (probe path); dyn_clean.c: cleaned by the consumer
 *   spec.c    speculations
 *   str.c     strings: interned and not (probe path)
 *   safe.c    reading memory that may not be there (probe path)
 *   stack.c   user stacks
 *   rt_*.c    the other runtime functions of rt.def (probe path)
 *   clock.c   the time stamp counter, calibrated
 *   region.c  memory of the probe path, which the kernel may share
 *
 * Rules of the probe path: no lock, no malloc, no system call, no unbounded loop. A thread that
 * fires owns a slot (struct en_thread): its ring, its aggregation tables, its scratch. A slot's
 * seq is odd while it fires; whoever takes something away from the firing threads (tables to
 * merge, variables to reuse) changes the pointer, makes all threads see it (en_barrier) and waits
 * until each slot has been seen even or changed: then nobody looks at the old one any more.
 */
#ifndef EN_ENGINE_H
#define EN_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "prog/firing.h"
#include "prog/prog.h"
#include "prog/record.h"

struct en;	  /* the engine of one handle */
struct en_thread; /* a slot: the state of one firing thread */

/* ThreadSanitizer knows neither membarrier nor fences: plain atomics for it. */
#if defined(__SANITIZE_THREAD__)
#define EN_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EN_TSAN 1
#endif
#endif
bool en_barrier_init(void); /* false: no membarrier here (slot.c) */

/* ---- strings -------------------------------------------------------------------------- */

/*
 * A string that a provider hands over, or a constant of the program: made once, then passed by
 * reference. Ids are never used twice, so tables keep the id and compare it first.
 */
struct et_str {
	uint64_t id;
	uint64_t hash; /* of the text */
	uint32_t len;
	char text[];   /* NUL-terminated */
};
struct et_str *et_str_new(const char *text, size_t len); /* not on the probe path */
void et_str_free(struct et_str *s);
uint64_t et_hash(const char *text, size_t len);

/* ---- firing --------------------------------------------------------------------------- */

/*
 * What only the provider knows of an event: the built-ins that whoever fires is asked for (PBI_* of
 * d/builtins.h; the engine does not know what they mean). n is the argument of a subroutine.
 */
struct en_current;
struct fire;
struct en_current_ops {
	uint64_t (*num)(const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f);
	/* The text: one that was made before, or NULL and it is in buf, cut to fit, with its NUL. */
	const struct et_str *(*str)(
		const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size);
	/* Not when firing: the name of a frame that ustack() gave; false: it is an address. */
	bool (*frame)(const struct en_current *cur, uint64_t pc, char *buf, size_t size);
};

/* Who fires: what self->, tid, vtimestamp mean. NULL: the operating system's thread. */
struct en_current {
	uint64_t key; /* of self-> variables, and tid; not 0 */
	/* NULL: thread CPU time. Else the same all through an event. */
	uint64_t (*vtimestamp)(const struct en_current *cur);
	unsigned (*ustack)(const struct en_current *cur, uint64_t *pcs, unsigned max); /* NULL: native */
	const struct en_current_ops *ops; /* NULL: there is nothing to ask for */
};

/* The state of one firing. */
struct fire {
	struct fire_ctx; /* what bytecode reads */
	uint32_t strmask; /* which arguments are the texts of struct et_str */
	uint32_t spec;	  /* speculate()d into, or 0 */
	/* these begin at 0, all at once */
	uint32_t rec_tail; /* strings behind the fixed part so far */
	uint32_t alloca_used;
	uint64_t ts, vts, wts; /* read once a firing; 0: not yet; or set by who fires */
	struct dyn_node *memo; /* the dynamic variable looked up last, or NULL: dyn.c */
	uint64_t work;	       /* so far: internal.h */
	/* ---- */
	uint64_t memo_word;
	uint64_t self; /* whose self-> variables */
	struct en *en;
	struct en_thread *thread;
	struct en_probe *probe;
	const struct prog_clause *clause;
	const struct en_current *cur;
	uint64_t fault_addr;
	uint32_t memo_var;
	uint64_t key[PROG_MAX_KEYS]; /* the kernel's: a key that is given to a runtime function */
	uint64_t times; /* en_fire_times only */
};

/* An enabled clause at a probe. */
struct en_ecb {
	uint32_t id; /* of the probe: the two are copied at once into struct fire */
	uint32_t epid;
	uint32_t index; /* of the clause in its program */
	ebpf_entry entry; /* machine code; NULL: interpret */
	const struct prog_clause *clause;
	struct en_probe *probe;
};

struct en_probe {
	uint32_t id;
	const struct et_str *prov, *mod, *func, *name;
	const struct provider *pv;
	void *pvdata;	  /* the provider's own */
	struct en *en;
	uint16_t argmask; /* arguments that enabled clauses read: build no others */
	uint16_t nomask;  /* those they read that the probe does not have: 0 */
	uint32_t pbis;	  /* the same of provider built-ins: bits PBI_* */
	bool reads_vts, reads_ustack, reads_stack;
	/* Enabled clauses in program order; NULL: none. Replaced as a whole (see above). */
	_Atomic(struct en_ecblist *) ecbs;
	int nargs;
	const char *const *argtypes;
	const char *const *xargtypes;
	const uint8_t *argmap;
	bool own_types; /* argtypes and its texts are freed with the probe */
	bool absent;	  /* cannot be enabled: note says why */
	const char *note; /* what is to be known of it, or NULL */
	const char *func_alias; /* descriptions may say this for the function too, or NULL */
	const char *mod_aliases; /* the same for the module: some, one behind the other, then "" */
	uint64_t hash; /* of its four names */
};
struct en_ecblist {
	unsigned n;
	bool quick; /* one, of machine code, with all its arguments, on any CPU: fire_quick */
	struct en_ecb ecb[];
};

/*
 * Fire: run the probe's clauses. arg: 10 values, of which those in p->argmask are set; strmask:
 * which of them are the text member of a struct et_str. Any thread; nothing enabled: returns
 * at once. Never fails; what goes wrong is counted or becomes an ERROR record.
 */
void en_fire(struct en_probe *p, const uint64_t *arg, unsigned strmask, const struct en_current *cur);
/*
 * The same as so many firings, all at once and not on the probe path (times.c): all clauses of the
 * probe must be countable. Somebody else has counted them; they may be told after exit(). false:
 * there is no slot for this thread, nothing was done.
 */
bool en_fire_times(struct en_probe *p, const uint64_t *arg, unsigned strmask,
	const struct en_current *cur, uint64_t times);
bool en_countable(struct en_probe *p);
static inline bool en_enabled(struct en_probe *p)
{
	return atomic_load_explicit(&p->ecbs, memory_order_acquire) != NULL;
}

/* ---- providers ------------------------------------------------------------------------ */

struct provider {
	const char *name; /* "profile"; for messages and -l */
	/* Make the probes that always exist. *data is the provider's state in this engine. */
	int (*init)(struct en *en, void **data, struct et_error *e);
	/* Make probes that exist on demand, as the description asks (tick-1s). May be NULL. */
	int (*provide)(struct en *en, void *data, const struct d_pdesc *desc, struct et_error *e);
	/* A probe is wanted; called before start, for each enabled probe. May be NULL. */
	int (*enable)(struct en *en, void *data, struct en_probe *p, struct et_error *e);
	int (*ready)(struct en *en, void *data, struct et_error *e); /* all are enabled; or NULL */
	int (*start)(struct en *en, void *data, struct et_error *e); /* tracing begins */
	/* Now and then while tracing: look for what has come since, and arm it; or NULL. */
	int (*look)(struct en *en, void *data, struct et_error *e);
	void (*stop)(struct en *en, void *data); /* nothing fires any more when it returns */
	void (*fini)(struct en *en, void *data); /* after an init that failed half way, too */
	/*
	 * Its probes fire in the kernel, on memory that is shared with it: makes that memory, for a
	 * mapping of size bytes at base. Returns its file descriptor.
	 */
	int (*arena)(struct en *en, void *data, void *base, size_t size, struct et_error *e);
	bool (*wants_arena)(struct en *en); /* though none of its probes may be wanted; or NULL */
	/* The name of the i-th kind of probe that exists on demand; NULL: no more. Or NULL. */
	const char *(*kind)(unsigned i);
	/*
	 * What is to be told since the last call: one line into buf, or false; asked by the consumer, at
	 * the end too. *ended: its events have come to an end, and so does the tracing. May be NULL.
	 */
	bool (*news)(struct en *en, void *data, char *buf, size_t size, bool *ended);
};
/* profile-N in the kernel, for the provider profile: as struct provider has it. */
struct en_sampler {
	int (*arena)(struct en *en, void *data, void *base, size_t size, struct et_error *e);
	int (*enable)(struct en *en, const struct en_probe *p, uint64_t period, struct et_error *e);
	int (*ready)(struct en *en, struct et_error *e);
	int (*start)(struct en *en, struct et_error *e);
	void (*stop)(struct en *en);
	void (*fini)(struct en *en);
};
extern const struct en_sampler *const et_sampler; /* where et_providers is; NULL: none */
extern const struct provider *const et_providers[]; /* NULL-terminated; provider/providers.c */

/* Add a probe; strings are copied. Returns NULL when memory is out. An equal one: that one. */
struct en_probe *en_probe_add(struct en *en, const struct provider *pv, void *pvdata,
	const char *prov, const char *mod, const char *func, const char *name);
struct en_probe *en_probe_find(struct en *en, const char *prov, const char *mod,
	const char *func, const char *name); /* exact */
/* Probes matching a description, in order of id. */
typedef void (*en_probe_cb)(void *arg, struct en_probe *p);
int en_probe_match(struct en *en, const struct d_pdesc *desc, en_probe_cb cb, void *arg,
	struct et_error *e);
/* Why a description matches none, if that is for its provider; or "". provider/missing.c */
void en_why_none(const struct en *en, const struct d_pdesc *d, char *buf, size_t size);
bool en_glob(const char *pattern, const char *text); /* "" matches anything; D.md's globs */
unsigned en_nprobes(struct en *en);
void en_registry(struct en *en, struct d_registry *reg); /* for the compiler */

/* ---- life ----------------------------------------------------------------------------- */

/* Whom probes that fire without an en_current of their own (BEGIN, tick) ask. It must stay. */
void en_set_host(struct en *en, const struct en_current *cur);
bool en_frame(const struct en *en, uint64_t pc, char *buf, size_t size); /* its name by them */
/*
 * Addresses of other processes have more to them than the address (procs.h): takes that off, and
 * returns whose it is; 0: this process's. The n-th process there; 0: none at that place.
 */
int en_address(const struct en *en, uint64_t *addr);
int en_process(const struct en *en, unsigned n);
void en_process_add(struct en *en, int pid); /* one that is traced: there may be addresses of it */
struct en *en_new(struct et_options *opts, struct et_error *e); /* runs the providers' init */
/* Enable clauses first.. of the program at the probes they match (called after each compile). */
int en_go(struct en *en, const struct prog *prog, struct et_error *e); /* load, enable, BEGIN */
/*
 * While tracing runs: enable the program at probes that were added since (ids above first). They
 * must not fire before this returns. Not at the same time as anything of the consumer's.
 */
int en_extend(struct en *en, unsigned first, struct et_error *e);
int en_look(struct en *en, struct et_error *e); /* the providers' look; by the consumer */
int en_stop(struct en *en); /* providers off, END fired; buffers remain to be read */
/*
 * Nobody waits for results any more: what is firing ends at its next runtime function, nothing
 * fires again, not even END. Any thread, at any time between en_new and en_free.
 */
void en_halt(struct en *en);
/* false: a firing is still held up, and goes on one day: its program and options must stay. */
bool en_free(struct en *en);
enum en_state { EN_IDLE, EN_RUNNING, EN_STOPPED };
enum en_state en_state(const struct en *en);
/* exit() was called (the status in *code), or a fill buffer is full. */
bool en_exited(const struct en *en, int *code);
bool en_filled(const struct en *en);
const struct en_ecb *en_ecb(const struct en *en, uint32_t epid); /* epids start at 1 */
uint64_t en_now(void);			   /* ns, monotonic (probe path) */
uint64_t en_wall(uint64_t mono);	   /* the same moment since 1970 */
bool en_jitted(const struct en *en);

/* ---- the consumer's side -------------------------------------------------------------- */

/*
 * Records of all threads since the last call, in order of time unless temporal is off; committed
 * speculations in their place (as REC_DATA). The record is valid during the call. cb returning
 * != 0 stops there (that record counts as read).
 */
typedef int (*en_rec_cb)(void *arg, unsigned thread, const struct rec_head *rec);
int en_consume(struct en *en, en_rec_cb cb, void *arg);
/*
 * While tracing goes on no record younger than this is delivered: aggregations are not as far yet,
 * and it may print them. UINT64_MAX: all are.
 */
void en_consume_until(struct en *en, uint64_t ns);
bool en_pending(const struct en *en); /* is there a record to deliver? */

/*
 * Take what the threads' aggregation tables have gathered since the last call (they go on with
 * empty ones). key: the parts one after the other: V_INT 8 bytes; V_STR u32 length and text;
 * V_SYM 8 bytes; V_BYTES and V_STACK their size. data: as aggfn.h lays out for the function.
 */
typedef int (*en_agg_cb)(void *arg, unsigned thread, unsigned agg, const void *key,
	size_t keylen, const void *data);
int en_agg_take(struct en *en, en_agg_cb cb, void *arg);

/*
 * Some times a second, by any thread: has somebody installed a handler of SIGSEGV or SIGBUS over
 * that of the engines? Then reads of bad addresses go another way, and it goes on top again.
 */
void en_look_at_handler(void);

/*
 * In a node a script leaves maxrate records a second, whatever its threads do: what was not used of
 * that lasts for a second. Called some times a second, or there are soon no more records.
 */
void en_rate_tick(struct en *en);

/* Clean deleted dynamic variables, finish speculations. Called at cleanrate. */
void en_clean(struct en *en);

/* Losses since the start, by kind; threads: of each slot for the first two. */
enum en_drop {
	DROP_PRINCIPAL,	   /* trace buffer full */
	DROP_AGGREGATION,  /* aggregation table full */
	DROP_DYNAMIC,	   /* no room for a dynamic variable */
	DROP_DYNRINSE, DROP_DYNDIRTY, /* the same, with deleted ones not yet cleaned */
	DROP_SPEC,	   /* speculation buffer full */
	DROP_SPECBUSY,	   /* no speculation free: all are being committed or discarded */
	DROP_SPECUNAVAIL,  /* no speculation free: all are in use */
	DROP_DBLERROR,	   /* a fault in an ERROR clause */
	DROP_STKSTROVERFLOW,
	DROP_THREADS,	   /* more threads than maxthreads fired */
	DROP_RATE,	   /* more records a second than maxrate */
	DROP_KINDS
};
bool en_news(struct en *en, char *buf, size_t size); /* a line that a provider tells; false: none */
uint64_t en_drops(const struct en *en, unsigned thread, enum en_drop kind);
unsigned en_nthreads(const struct en *en); /* slots in use so far */
/* ns of processor time in a node that no event took: BEGIN, END, profile and tick. */
uint64_t en_own_cost(const struct en *en);
void en_fire_own(struct en_probe *p, const uint64_t *arg); /* en_fire, and added to that */
/* Firings of enabled probes and clauses run, over all threads: for tests and -v. */
uint64_t en_fired(const struct en *en);
/* Delete all self-> variables of a key (probe path): whose they were is no more. */
void en_self_free(struct en *en, uint64_t key);

#endif
