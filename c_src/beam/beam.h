/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace inside an Erlang node: a NIF library. It is thin: terms in, the library's calls, terms
 * out.
 *
 *   nif.c       the functions of erltrace_nif.erl: open, compile, go, work, walk, stop, close
 *               (nifs.def: all of them)
 *   results.c   what was gathered, probes and errors as terms
 *   handles.c   open handles by number; which threads are inside one (probe path)
 *   erlang.c    the provider erlang<OS pid>: its probes, and what must be armed for them
 *   functions.c the Erlang functions that have probes, found by their three words (probe path)
 *   counters.c  functions that the VM counts for us
 *   tracer.c    THE PROBE PATH: the VM's tracing calls erltrace_nif:enabled/3 and trace/5
 *   calls.c     its half for calls and returns, with a fast path
 *   ports.c     its half for ports and drivers
 *   procs.c     what is kept of a process: shadow stack, running time (probe path)
 *   assume.c    what is assumed of the VM's terms; checked when the library is loaded
 *   layout.c    where the VM keeps the stack pointer of a process; found out, not assumed
 *   nodes.c     the node of a pid of another node (probe path)
 *   texts.c     pids, functions, atoms as texts (probe path)
 *   sizes.c     how large terms are (probe path)
 *   several.c   a node among several that run the same script
 *   store.c     terms that outlive every process
 *   user.c      probes that Erlang code fires itself (probe path)
 *   watch.c     probes that a process of ours fires (erltrace_watch)
 *   builtins.c  what scripts ask of an event: erlpid, erlmsg, erlargs ... (probe path)
 *   print.c     terms as text, atoms.c: atoms; peek.c: binaries, large integers read in place (probe path)
 *   stacks.c    Erlang stacks for ustack() (probe path)
 *   watchdog.c  what events cost; scripts that cost too much, or nobody looks after, are ended
 *
 * A handle has a number, never used twice. In a trace session (OTP 27 and later) it is the state of
 * the tracer that the VM hands back with every event. Before that a process has one tracer for all
 * handles: its state is BEAM_ALL, and an event is given to each handle that runs. An event that
 * finds no handle removes its tracer.
 */
#ifndef BEAM_BEAM_H
#define BEAM_BEAM_H

#include <erl_nif.h>
#include <stdatomic.h>

#include "api/handle.h"

#define BEAM_HANDLES 64 /* places: the bits of a word; the first belongs to BEAM_ALL */
#define BEAM_ALL     0  /* no handle's number */
#define BEAM_ALL_STATE ((ERL_NIF_TERM)BEAM_ALL << 4 | 15) /* the same as a term, if beam_small */
#ifndef likely
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

#pragma GCC visibility push(hidden) /* what events look at is read without a detour */

/* Atoms, made at load. */
#define ATOMS(X)                                                                                   \
	X(ok) X(error) X(true) X(false) X(trace) X(discard) X(remove) X(call) X(spawn) X(spawned)  \
	X(exit) X(send) X(receive) X(in) X(out) X(extra) X(probe) X(done) X(gc_minor_start)        \
	X(gc_minor_end) X(gc_major_start) X(gc_major_end) X(undefined) X(text) X(drop) X(fault)    \
	X(warning) X(timeout) X(wordsize) X(return_to) X(erlang) X(hibernate) X(heap_block_size)   \
	X(functions) X(closed) X(open) X(command) X(control) X(connect) X(bif) X(nif) X(badarg)    \
	X(proc_lib) X(layout) X(close) X(flush) X(register) X(unregister) X(return_from)           \
	X(match_spec_result) X(erl_ddll) X(try_load) X(try_unload) X(running) X(aborted)
#define X(a) extern ERL_NIF_TERM atom_##a;
ATOMS(X)
#undef X

/* ---- the probes ------------------------------------------------------------------------ */

enum beam_probe {
#define PROBE(ID, ...) BP_##ID,
#include "probes.def"
	BP_COUNT_
};
#define PROBE(ID, name, route, ...) PROBE_ENUM(ID, __VA_ARGS__)
#include "probes.def"

/* Arguments that go together. How deep a call is, and whether it is a tail call: */
#define BEAM_DEPTH_ARGS (ARG_BIT(FUNCTION_ENTRY, depth) | ARG_BIT(FUNCTION_ENTRY, tail))
/* The sequential trace token of a message: */
#define BEAM_TOKEN_ARGS(ID) (ARG_BIT(ID, label) | ARG_BIT(ID, previous) | ARG_BIT(ID, current))
/* An argument is made if a clause of the probe reads it. */
#define BEAM_MAKE_ARG(p, arg, ID, name, value)                                                     \
	do {                                                                                       \
		if ((p)->argmask & ARG_BIT(ID, name))                                              \
			(arg)[ARG(ID, name)] = (value);                                            \
	} while (0)
/* The same argument of two probes, for code that fires both. */
#define BEAM_SAME_ARG(ID, other, name)                                                             \
	_Static_assert(ARG(ID, name) == ARG(other, name), "the same argument of both")
#define BP_FUNCTIONS  BP_FUNCTION_ENTRY /* from here on: once for each function */
#define BP_NFUNCTIONS (BP_COUNT_ - BP_FUNCTIONS)
#define BP_NUSER      951 /* user_trace-n0..n950 */

/* How a probe's events come about; what is armed for it. */
enum beam_route {
	ROUTE_PROCS,	    /* trace flag procs */
	ROUTE_SEND,	    /* send */
	ROUTE_RECEIVE,	    /* 'receive' */
	ROUTE_RUNNING,	    /* running_procs */
	ROUTE_GC,	    /* garbage_collection */
	ROUTE_PORTS,	    /* ports, on ports */
	ROUTE_PORT_RECEIVE, /* 'receive', on ports */
	ROUTE_PORT_RUNNING, /* running_ports */
	ROUTE_DRIVERS,	    /* calls of erl_ddll:try_load and try_unload */
	ROUTE_BUSY_PORT,    /* the system monitor's messages: erltrace_watch */
	ROUTE_BUSY_DIST_PORT,
	ROUTE_NODES,	    /* net_kernel's messages: erltrace_watch */
	ROUTE_USER,	    /* calls of our own NIF, and of dyntrace's */
	ROUTE_LOCAL,	    /* call, pattern [local] */
	ROUTE_GLOBAL,	    /* call, pattern [global] */
	ROUTE_RETURN,	    /* call, pattern [local], and return_to */
	ROUTE_NONE,	    /* cannot be given here */
};

/* Why a probe cannot be given here. */
enum beam_reason {
	ABSENT_UPROBE, /* a function of the VM gives it, to the kernel engine */
	ABSENT_GONE,   /* no VM has it any more */
	ABSENT_ALIKE,  /* its events look like those of another probe */
	ABSENT_HIDDEN, /* nothing shows it */
};

struct beam_probedef {
	const char *name;
	enum beam_route route;
	enum beam_reason reason; /* ROUTE_NONE */
	const char *why;	 /* the same for people */
	int nargs;
	const char *const *argtypes;
};
extern const struct beam_probedef beam_probedefs[BP_COUNT_];

/* ---- functions ------------------------------------------------------------------------- */

enum beam_fnkind { FN_ERLANG, FN_BIF, FN_NIF };

/* A clause of the program, as events that run it alone need it. */
struct beam_way {
	ebpf_entry entry;
	const struct prog_clause *clause;
	_Atomic bool timed; /* of late it read timestamp: who fires may do that early */
};

/* The only probe that an event fires, with one clause: nothing of the engine's has to be read. */
struct beam_only {
	struct en_probe *probe;
	struct beam_way *way; /* NULL: it is not so simple */
	uint32_t id, epid;    /* as in struct en_ecb */
};

/*
 * An Erlang function that probes exist for: found by its three words when it is called. Where very
 * many are called in turn, nothing of them is in the caches: a call reads one line, a return two.
 */
struct beam_fn {
	ERL_NIF_TERM mod, fun;
	struct beam_fn *next;	/* in the bucket */
	struct et_str *mfa;	/* "lists:seq/2" */
	struct beam_only call;
	uint32_t arity_term;	/* its lower half tells it from all others */
	uint8_t nentry;		/* enabled probes, from arm on: what an event fires */
	bool call_pid;		/* call.probe's clause reads the process */
	bool special;		/* user or hibernate */
	bool local;		/* armed by a [local] pattern: return_to tells of its end */
	struct beam_only end;	/* a return's */
	bool end_pid;
	uint8_t nret;
	uint8_t user;		/* 1 + enum beam_user: a function of dyntrace's or erl_ddll's */
	bool hibernate;		/* proc_lib:hibernate/3 */
	bool ready;		/* nentry and the rest are as they will be */
	uint8_t nval;		/* enabled probes that read what it returns: return_trace */
	uint8_t arity;
	struct en_probe *entry[4], *ret[4];
	struct en_probe *probe[BP_NFUNCTIONS]; /* by name; NULL: no description names it */
	char *name;		/* "seq" */
	struct en_probe *val[4];
	bool erlang;		/* no BIF or NIF */
	bool counted;		/* by the VM: its events fire nothing (counters.c) */
	uint64_t last;		/* what its counter was */
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct beam_fn, end) == 64, "a call reads one cache line");

/* nentry, nret or nval, before the probes that it counts: both may be told while events come. */
static inline unsigned beam_nprobes(const uint8_t *n)
{
	return __atomic_load_n(n, __ATOMIC_ACQUIRE);
}

static inline bool beam_is_local(const struct beam_fn *fn)
{
	return __atomic_load_n(&fn->local, __ATOMIC_RELAXED);
}

struct beam_functions {
	struct beam_fn **buckets; /* NULL: no function at all */
	uint64_t mask;		  /* nbuckets - 1 */
	unsigned n, nbuckets;
	void *buckets_map;	  /* what is to be freed of them */
	struct beam_slab *slabs;  /* the functions' memory */
};

/* ---- what is kept of a process --------------------------------------------------------- */

struct beam_frame {
	const struct beam_fn *fn;
	uint32_t level; /* words on the stack at entry */
	uint32_t top;	/* the same with the frame of return_to that the VM puts there; or level */
};

#define BEAM_INLINE_FRAMES 3
#define BEAM_CHUNK_FRAMES  15
struct beam_chunk {
	struct beam_chunk *below;
	_Atomic uint32_t next; /* in the list of free ones: index + 1 */
	uint32_t pad;
	struct beam_frame frame[BEAM_CHUNK_FRAMES];
};

/*
 * One a process of the VM's table; belongs to whoever runs the process. Frames beyond the inline
 * ones are in chunks of a common pool.
 */
struct beam_proc {
	_Atomic uint64_t pid;	  /* the term; 0: free */
	uint32_t n;		  /* frames */
	uint32_t heap_size;	  /* at the start of a gc */
	struct beam_chunk *chunk; /* with the newest frame */
	/* ns. Its running time, as last told; since when it runs, or 0; while it runs, what makes
	 * running time of the clock: by probes it is set back by what they took */
	uint64_t last, in_at, turn;
	uint64_t pad;
	struct beam_frame frame[BEAM_INLINE_FRAMES];
	ERL_NIF_TERM hib_mod, hib_fun;	/* what proc_lib:hibernate was told to wake up in; or 0 */
	uint32_t hib_arity;
	_Atomic uint32_t hibernating;	/* since then no message has come */
};

struct beam_procs {
	struct beam_proc *tab;
	uint64_t mask, mul; /* a pid's place: (pid * mul >> shift) & mask, turned right by three bits */
	unsigned shift, turn;
	bool exact;  /* no two living processes share a place */
	bool hashed; /* a process may have one of the next places too */
	struct beam_chunk *chunks;
	unsigned nchunks;
	char pad[64];
	_Atomic uint64_t free; /* chunks: tag and index + 1 */
	_Atomic uint32_t used; /* chunks handed out for the first time */
	_Atomic uint64_t lost; /* frames and processes without room */
	char pad2[64];
};

int beam_procs_init(struct beam_procs *t, uint64_t process_limit);
void beam_procs_fini(struct beam_procs *t);
struct beam_proc *beam_proc_get(struct beam_procs *t, ERL_NIF_TERM pid); /* NULL: no room */
struct beam_proc *beam_proc_find(struct beam_procs *t, ERL_NIF_TERM pid); /* from anywhere */
void beam_proc_exit(struct beam_procs *t, ERL_NIF_TERM pid);
/*
 * A call with so many words on the stack; returns its depth, 1 for the outermost. tail: it takes
 * the place of the function that made it. end: the stack's, whose frames of return_to show what has
 * ended unseen; NULL: they are not looked at.
 */
unsigned beam_stack_enter_far(struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn,
	unsigned level, const uintptr_t *end, bool *tail);
/* Somebody else's function was called at this level: what lies there has ended. */
void beam_stack_cut(struct beam_procs *t, struct beam_proc *p, unsigned level);
/* A call that is no tail call, among several sessions: what has no frame of this one's on it is over
 * (hibernation is not told of). end: of the stack. */
void beam_stack_cut_chains(struct beam_procs *t, struct beam_proc *p, unsigned level,
	const uintptr_t *end, unsigned slot);
/* An exception was caught: what was called at this level or deeper has ended. */
void beam_stack_raised(struct beam_procs *t, struct beam_proc *p, unsigned level);
/* Control returned at this level: the function that ended, or NULL; its depth. */
const struct beam_fn *beam_stack_return_far(
	struct beam_procs *t, struct beam_proc *p, unsigned level, unsigned *depth);
/* The same where levels are not known: by the name of the function returned to. */
unsigned beam_names_enter(struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn);
const struct beam_fn *beam_names_return(struct beam_procs *t, struct beam_proc *p,
	const struct beam_fn *to, unsigned *depth);

/* A function that is in the stack returned: its frame, and what lies above, end. Its depth. */
unsigned beam_stack_leave(struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn);

/* ---- registered names (builtins.c) ----------------------------------------------------- */

struct beam_name;
struct beam_names {
	struct beam_name *tab; /* NULL: no script reads erlname */
};

int beam_names_init(struct beam_names *t);
void beam_names_fini(struct beam_names *t);

/* ---- the VM's insides (layout.c) ------------------------------------------------------- */

enum {
	LAYOUT_UNKNOWN,
	LAYOUT_NAMES, /* the check failed: returns go by names */
	LAYOUT_KNOWN,
	LAYOUT_SEVERAL, /* known, and several trace sessions have frames on the stacks */
};
extern _Atomic int beam_layout;
static inline bool beam_layout_known(void)
{
	return atomic_load_explicit(&beam_layout, memory_order_relaxed) >= LAYOUT_KNOWN;
}
extern struct beam_words {
	uint32_t stop, end; /* of a process: where its stack's top and end are, in bytes */
	int32_t ret_delta;  /* words that there are more at return_to than at the entry */
	uint32_t raised;    /* of a process: where its exception is, in bytes */
	uintptr_t calm;	    /* and what is there while there is none */
	uintptr_t mark;	    /* the newest word of a return_to frame */
} beam_words;
#define BEAM_ENV_PROC	1 /* word of a NIF's environment: the process */
#define BEAM_ENV_TRACEE 7 /* of a tracer's: the traced one */
static inline const char *beam_tracee(ErlNifEnv *env)
{
	const char *const *words = (const char *const *)(const void *)env;
	const char *proc = words[BEAM_ENV_TRACEE];

	return likely(proc != NULL) ? proc : words[BEAM_ENV_PROC];
}
static inline int beam_level_of(const char *proc)
{
	uintptr_t end = *(const uintptr_t *)(const void *)(proc + beam_words.end);

	return (int)((end - *(const uintptr_t *)(const void *)(proc + beam_words.stop)) /
		     sizeof(uintptr_t));
}
/* Behind the oldest word of the traced process's stack. */
static inline const uintptr_t *beam_stack_end(ErlNifEnv *env)
{
	return *(const uintptr_t *const *)(const void *)(beam_tracee(env) + beam_words.end);
}
/* At return_to: control came here by an exception, which is about to be caught. */
static inline bool beam_raised(ErlNifEnv *env)
{
	return *(const uintptr_t *)(const void *)(beam_tracee(env) + beam_words.raised) !=
	       beam_words.calm;
}
/* Words on the traced process's stack. */
static inline int beam_stack_level(ErlNifEnv *env)
{
	return beam_level_of(beam_tracee(env));
}
/* The same at return_to, as it was at the entry. */
static inline int beam_return_level(ErlNifEnv *env)
{
	return beam_level_of(beam_tracee(env)) - beam_words.ret_delta;
}
/* The two where there are several trace sessions: without the frames of the others. */
int beam_chain_level(ErlNifEnv *env, unsigned slot, bool *tail);
int beam_chain_return_level(ErlNifEnv *env);
bool beam_chain_has(const uintptr_t *end, unsigned began, unsigned level, unsigned slot);
bool beam_timed_out(ErlNifEnv *env); /* the event of a message `timeout': it is none */
/* Trace sessions that keep a shadow stack, by a handle's place: the number as a term. */
#define BEAM_NO_FRAMES 2 /* it has no return_to, and thus no frames: only those of others count */
void beam_session_set(unsigned slot, uintptr_t number); /* 0: it has ended */
unsigned beam_queue_len(ErlNifEnv *env); /* messages of the traced process; 0: not known */
extern unsigned beam_frame_words;	 /* of a return_to frame */

/*
 * Few frames deep, and one that lies deeper than the last, which is there still: nothing to look
 * after. marked: as in struct beam_handle.
 */
static inline bool beam_stack_deeper(
	const struct beam_proc *p, unsigned level, ErlNifEnv *env, bool marked)
{
	unsigned n = p->n, top;

	if (n == 0)
		return true;
	if (unlikely(n >= BEAM_INLINE_FRAMES))
		return false;
	top = p->frame[n - 1].top;
	return likely(top < level) &&
	       (!marked || likely(beam_stack_end(env)[-(long)top] == beam_words.mark));
}

static inline uint32_t beam_frame_top(const struct beam_fn *fn, unsigned level)
{
	return level + (beam_frame_words & -(unsigned)beam_is_local(fn));
}

static inline unsigned beam_stack_push(
	struct beam_proc *p, const struct beam_fn *fn, unsigned level)
{
	unsigned n = p->n;

	p->frame[n].fn = fn;
	p->frame[n].level = level;
	p->frame[n].top = beam_frame_top(fn, level);
	return p->n = n + 1;
}

static inline unsigned beam_stack_enter(struct beam_procs *t, struct beam_proc *p,
	const struct beam_fn *fn, unsigned level, ErlNifEnv *env, bool marked, bool *tail)
{
	*tail = false;
	return likely(beam_stack_deeper(p, level, env, marked))
		       ? beam_stack_push(p, fn, level)
		       : beam_stack_enter_far(t, p, fn, level,
				 marked ? beam_stack_end(env) : NULL, tail);
}

/* The newest of few frames ends. */
static inline bool beam_stack_newest(const struct beam_proc *p, unsigned level)
{
	return likely(p->n - 1 < BEAM_INLINE_FRAMES && p->frame[p->n - 1].level == level);
}

static inline const struct beam_fn *beam_stack_return(
	struct beam_procs *t, struct beam_proc *p, unsigned level, unsigned *depth)
{
	unsigned n = p->n;

	if (unlikely(!beam_stack_newest(p, level)))
		return beam_stack_return_far(t, p, level, depth);
	*depth = n;
	p->n = n - 1;
	return p->frame[n - 1].fn;
}
/* The traced process's stack: its newest word; how many there are. */
int beam_stack_words(ErlNifEnv *env, const uintptr_t **stack);
/* An event of the check's own process; a message to it. */
void beam_layout_sample(ErlNifEnv *env, bool ret, ERL_NIF_TERM mfa);
void beam_layout_message(ErlNifEnv *env, bool timeout);

/* ---- what is assumed of its terms (assume.c) -------------------------------------------- */

extern bool beam_small;	     /* a small integer lies in its term above four ones */
extern bool beam_immediates; /* the two lowest bits tell terms without memory of their own */
/* A tuple of three: its term's lowest bits and its first word; a tag of 8: not as expected. */
extern struct beam_tuple {
	ERL_NIF_TERM tag, header;
} beam_tuple3, beam_map1; /* and a map of one key: its size, its keys (a tuple), its values */
extern ERL_NIF_TERM beam_pid_tag; /* the lowest four bits of a pid of this node; 16: unknown */
extern unsigned beam_pid_shift; /* above it a pid has its place in the VM's table; 0: not known */
extern unsigned beam_size_binary, beam_size_fun, beam_size_ref; /* words */
void beam_assume(ErlNifEnv *env, ERL_NIF_TERM info); /* at load, when the atoms are made */

/* ---- handles --------------------------------------------------------------------------- */

struct beam_want { /* a description that may name functions */
	char *mod, *fun, *name;
};

/* Why the watchdog ended a script. */
enum { ENDED_NOT, ENDED_COST, ENDED_STALL, ENDED_SILENCE };

/* watchdog.c: what it has seen so far. */
#define BEAM_WINDOWS 10 /* of a watchtime */
struct beam_window {
	uint64_t at, cost, cpu; /* ns: when; by then: what the script took, what the node did */
};
struct beam_watch {
	struct beam_window window[BEAM_WINDOWS + 1]; /* the last ones, in a ring */
	unsigned n;		    /* of them, so far */
	unsigned permille;	    /* of the schedulers' busy time, in the last window */
	unsigned mean;		    /* in the last watchtime */
	uint64_t read, drops;	    /* ns: somebody asked for results; drops by then */
};

struct beam_handle {
	/* read on the probe path */
	erltrace_t *h;
	unsigned number;   /* the tracer's state */
	ERL_NIF_TERM state; /* the same as a term */
	uint64_t (*vtimestamp)(const struct en_current *cur); /* NULL: no running times are kept */
	_Atomic bool live; /* events may fire: between go and stop */
	bool stacks;	   /* shadow stacks are kept, for one of these two */
	bool returns;	   /* function-return and the like */
	bool depth;	   /* the depth of entries, without return_to */
	bool marked;	   /* every frame of a [local] function has one of return_to on it */
	bool vts;	   /* running times are kept */
	bool hibernate;	   /* which processes hibernate is kept */
	bool heaps;	   /* heap sizes at the start of a gc are kept */
	bool self;	   /* a script has self-> variables */
	ERL_NIF_TERM node;
	struct beam_functions fns;
	struct en_probe *probe[BP_COUNT_]; /* those without a function */
	struct beam_way *ways;		   /* by clause */
	struct en_probe **user;		   /* user_trace-n*; NULL: none asked for */
	struct beam_procs procs;
	struct beam_ports *ports; /* names and owners; NULL: no port probe is enabled */
	struct beam_names names;
	struct et_str *node_text;
	struct beam_event *host;  /* asked by BEGIN, tick and the like */
	_Atomic uint64_t beat;	/* ns: its process looked after it; 0: nobody has to */
	_Atomic uint64_t stale; /* ns: since when events find the beat too old */
	_Atomic int ended;	/* by the watchdog: why */
	uint64_t patience;	/* ns: the oldest beat that is all right */
	/* the rest */
	struct beam_watch watch;
	bool harmless;	   /* destructive actions are forbidden in this node */
	ErlNifMutex *lock; /* one caller at a time */
	struct beam_want *wants;
	unsigned nwants;
	bool counted;	/* in beam_nuser */
	char *warnings; /* lines not told yet; or NULL */
	char file[256], source[256]; /* where the last script failed to compile */
	uint64_t read_from; /* ns: when reading the VM's counters began */
	bool new_wants; /* a description has named functions that were not looked for yet */
};

void beam_set_live(struct beam_handle *b, bool live);
void beam_halt(struct beam_handle *b); /* not live any more; by who is inside (probe path) */
int beam_register(struct beam_handle *b);
bool beam_any_open(void);
void beam_unregister(struct beam_handle *b); /* waits until no event is inside */

/* The handle that is being opened by this thread, for the provider's init. */
void beam_set_opening(struct beam_handle *b);

/* An event that is being looked at. */
struct beam_event {
	struct en_current cur; /* its key is the process or port */
	struct beam_handle *b;
	ErlNifEnv *env;
	struct beam_proc *proc; /* NULL: nothing is kept of it */
	uint64_t began;		/* ns, if running times are kept */
	const ERL_NIF_TERM *argv; /* tag, state, tracee, term, options; NULL: no trace event */
};

/*
 * A thread's place in a handle. What its events cost, some of which are timed (watchdog.c); and,
 * for the handle that has this number, what its calls and returns need each time.
 */
struct beam_seat {
	_Atomic uint64_t ns; /* up to the last that was timed; written by the thread alone */
	uint32_t left, batch; /* events until one is timed, then UINT32_MAX; at the last one */
	uint64_t timed;	      /* when this one began */
	unsigned number;
	struct en_thread *slot; /* the thread's, in the handle's engine */
	struct beam_event ev;	/* the last; most of it is the same for the next */
} __attribute__((aligned(256)));

/*
 * What a thread of the VM has of its own. One pointer: static TLS of a loaded library is scarce.
 * The memory is there from the load of the library on; a thread beyond that has none, its events
 * are lost, and counted.
 */
struct beam_texts;
struct beam_near { /* texts.c: those of terms that were made last */
	struct beam_text {
		ERL_NIF_TERM term;
		struct et_str *str;
	} of[512]; /* a power of two */
};
struct beam_thread {
	_Atomic uint64_t seq; /* odd: inside a handle */
	struct beam_near *near; /* the first of its texts */
	struct beam_texts *texts;
	uint64_t events, cost; /* ns that an event takes, of those measured (running times) */
	int sched; /* number of the scheduler; 0: not looked for yet; -1: none */
	bool fence; /* no membarrier: fence on the probe path */
	struct beam_seat seats[BEAM_HANDLES];
} __attribute__((aligned(128)));
extern __thread struct beam_thread *beam_self __attribute__((tls_model("initial-exec")));
extern _Atomic uint64_t beam_homeless; /* events of threads without a beam_thread */
struct beam_thread *beam_thread_new(void); /* NULL: no room */
int beam_threads_init(unsigned n, bool fence); /* for so many of them; fence: no membarrier */
struct beam_thread *beam_thread_nth(unsigned n); /* NULL: no more */
int beam_texts_init(unsigned n);
struct beam_texts *beam_texts_nth(unsigned n);

/* Numbers in use, with the lowest bit while events may fire: all that enabled/3 looks at. */
extern _Atomic uint64_t beam_states[BEAM_HANDLES];
extern _Atomic(struct beam_handle *) beam_table[BEAM_HANDLES];
extern _Atomic uint64_t beam_running; /* bit n: the handle in place n has events fire */
extern _Atomic uint64_t beam_only; /* place of the only handle that runs, or 0; a tag * 256 */
/* The states of tracers whose events may fire, as terms, by place. */
extern _Atomic ERL_NIF_TERM beam_firing[BEAM_HANDLES];
static inline bool beam_fires(ERL_NIF_TERM state)
{
	return atomic_load_explicit(&beam_firing[(state >> 4) % BEAM_HANDLES],
		       memory_order_relaxed) == state;
}

/* The tracer's state of an event is a number. */
static inline bool beam_number(ErlNifEnv *env, ERL_NIF_TERM state, unsigned *number)
{
	if (likely(beam_small && (state & 15) == 15)) {
		*number = (unsigned)(state >> 4);
		return true;
	}
	return enif_get_uint(env, state, number);
}

/* May events of this number fire? Without entering. */
static inline bool beam_live(unsigned number, bool *gone)
{
	uint64_t s;

	if (number == BEAM_ALL) {
		*gone = atomic_load_explicit(&beam_running, memory_order_relaxed) == 0;
		return !*gone;
	}
	s = atomic_load_explicit(&beam_states[number % BEAM_HANDLES], memory_order_relaxed);
	*gone = s >> 1 != (uint64_t)number + 1;
	return !*gone && (s & 1);
}

/* Between enter and leave a handle found in the table stays. */
static inline void beam_thread_enter(struct beam_thread *t)
{
#ifdef EN_TSAN
	atomic_fetch_add(&t->seq, 1);
#else
	atomic_store_explicit(&t->seq, atomic_load_explicit(&t->seq, memory_order_relaxed) + 1,
		memory_order_relaxed);
	if (unlikely(t->fence))
		atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst); /* the other side has membarrier */
#endif
}

static inline void beam_thread_leave(struct beam_thread *t)
{
	atomic_store_explicit(&t->seq, atomic_load_explicit(&t->seq, memory_order_relaxed) + 1,
		memory_order_release);
}

/* Whatever handle is in this place of the table; NULL: none, or no room for this thread. */
static inline struct beam_handle *beam_enter_slot(unsigned slot)
{
	struct beam_thread *t = beam_self;

	if (unlikely(t == NULL && (t = beam_thread_new()) == NULL))
		return NULL;
	beam_thread_enter(t);
	return atomic_load_explicit(&beam_table[slot], memory_order_acquire);
}

static inline void beam_leave(void)
{
	struct beam_thread *t = beam_self;

	if (likely(t != NULL))
		beam_thread_leave(t);
}

/* watchdog.c; around an event of a handle, between enter and leave. Some are timed. */
void beam_cost_timed(struct beam_handle *b, struct beam_seat *s, ERL_NIF_TERM tag);
static inline void beam_cost_begin(struct beam_seat *s)
{
	if (unlikely(__builtin_sub_overflow(s->left, 1, &s->left)))
		s->timed = en_now();
}
/* The same for an event that is not to be timed. false: it is, and nothing is done yet. */
static inline bool beam_cost_untimed(struct beam_seat *s)
{
	uint32_t left = s->left;

	if (unlikely(left == 0))
		return false;
	s->left = left - 1;
	return true;
}
static inline void beam_cost_end(struct beam_handle *b, struct beam_seat *s, ERL_NIF_TERM tag)
{
	if (unlikely(s->left == UINT32_MAX))
		beam_cost_timed(b, s, tag);
}
void beam_watch_go(struct beam_handle *b);
void beam_watch_read(struct beam_handle *b); /* somebody asked for results */

/* functions.c, erlang.c */
struct en_probe *beam_probe_add(
	struct en *en, enum beam_probe id, const char *mod, const char *fun, const char *name);
bool beam_wants_module(const struct beam_handle *b, const char *mod);
int beam_function_add(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun,
	unsigned arity, enum beam_fnkind kind);
/* A function that probes of others need, made if it is not there. */
struct beam_fn *beam_function_need(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod,
	ERL_NIF_TERM fun, unsigned arity);
int beam_functions_room(struct beam_functions *f, unsigned n); /* before events look there */
void beam_functions_free(struct beam_functions *f);
/*
 * Atoms differ above their lowest six bits, arities (small integers) above four. Modules and
 * functions with names made one after the other must not meet: their atoms are neighbours.
 */
static inline uint64_t beam_hash_fn(ERL_NIF_TERM mod, ERL_NIF_TERM fun, uint32_t arity)
{
	return (mod + (arity >> 4) + (fun << 26)) * 0x9e3779b97f4a7c15ULL >> 32;
}
static inline struct beam_fn *beam_function_find(
	const struct beam_functions *f, ERL_NIF_TERM mod, ERL_NIF_TERM fun, ERL_NIF_TERM arity)
{
	struct beam_fn *fn;

	if (unlikely(f->buckets == NULL))
		return NULL;
	/* while a script runs, functions of modules loaded since are put in front */
	fn = __atomic_load_n(&f->buckets[beam_hash_fn(mod, fun, (uint32_t)arity) & f->mask],
		__ATOMIC_ACQUIRE);
	while (fn != NULL &&
		unlikely(fn->fun != fun || fn->mod != mod || fn->arity_term != (uint32_t)arity))
		fn = fn->next;
	return fn;
}

/* A line to be told with the next results; -1: out of memory. */
int beam_warn(struct beam_handle *b, const char *text);

/* What the enabled probes need: a list of flags and patterns (erltrace_nif:needs/1). */
ERL_NIF_TERM beam_needs(struct beam_handle *b, ErlNifEnv *env, uint64_t process_limit);
/* The patterns of a module's functions; those added since are made ready to fire. */
ERL_NIF_TERM beam_module_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod);

/* texts.c: valid until the event is over */
const struct et_str *beam_term_text(ERL_NIF_TERM t); /* a pid, port or atom */
const struct et_str *beam_mfa_text(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity);
static inline struct beam_text *beam_text_place(struct beam_near *near, ERL_NIF_TERM t)
{
	return &near->of[(t * 0x9e3779b97f4a7c15ULL >> 40) % (sizeof(near->of) / sizeof(near->of[0]))];
}
/* The same if it was made of late; else NULL. */
static inline const struct et_str *beam_text_near(const struct beam_thread *t, ERL_NIF_TERM term)
{
	const struct beam_text *c = beam_text_place(t->near, term);

	return likely(c->term == term) ? c->str : NULL;
}
unsigned beam_term_size(ErlNifEnv *env, ERL_NIF_TERM t); /* words (sizes.c) */
void beam_sizes_check(ErlNifEnv *env, ERL_NIF_TERM samples);
static inline uint64_t beam_str(const struct et_str *s)
{
	return (uint64_t)(uintptr_t)s->text;
}

/* nodes.c: text is that of a pid or reference, by %T */
ERL_NIF_TERM beam_node_atom(const char *text); /* 0: of this node, or not known */
bool beam_is_remote(const char *text);
void beam_nodes_check(ErlNifEnv *env);

/* tracer.c, calls.c */
uint64_t beam_vtimestamp(const struct en_current *cur);
/* Opts is a map, mostly with one key: found without a search. false: it is not so. */
static inline bool beam_extra_near(ERL_NIF_TERM opts, ERL_NIF_TERM *extra)
{
	const ERL_NIF_TERM *m = (const ERL_NIF_TERM *)(uintptr_t)(opts & ~(ERL_NIF_TERM)7);

	if (unlikely((opts & 7) != beam_tuple3.tag || m[0] != beam_map1.header || m[1] != 1 ||
		     *(const ERL_NIF_TERM *)(uintptr_t)((m[2] & ~(ERL_NIF_TERM)7) + 8) != atom_extra))
		return false;
	*extra = m[3];
	return true;
}
ERL_NIF_TERM beam_extra(ErlNifEnv *env, ERL_NIF_TERM opts);
ERL_NIF_TERM beam_trace_any(ErlNifEnv *env, const ERL_NIF_TERM argv[]);
void beam_return_from(const struct beam_event *ev, struct beam_seat *seat);
/* one() for each handle that the event is for, inside of it; number: the tracer's state. */
static inline __attribute__((always_inline)) void beam_each_handle(struct beam_event *ev,
	unsigned number, void (*one)(struct beam_event *ev, struct beam_seat *seat))
{
	uint64_t in = number == BEAM_ALL ? atomic_load_explicit(&beam_running, memory_order_relaxed)
					 : 1ULL << number % BEAM_HANDLES;

	for (; in != 0; in &= in - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(in);
		struct beam_handle *b = beam_enter_slot(slot);

		if (likely(b != NULL && atomic_load_explicit(&b->live, memory_order_acquire) &&
			   (number == BEAM_ALL || b->number == number))) {
			struct beam_seat *seat = &beam_self->seats[slot];

			beam_cost_begin(seat);
			ev->b = b;
			one(ev, seat);
			beam_cost_end(b, seat, ev->argv[0]);
		}
		beam_leave();
	}
}
/* It began to run, or is seen for the first time. */
static inline void beam_vts_in(struct beam_proc *p, uint64_t now)
{
	p->in_at = now;
	p->turn = p->last - now;
}
/* Its running time; never less than before: what probes take is estimated. */
static inline uint64_t beam_vts_now(struct beam_proc *p, uint64_t now)
{
	now += p->turn;
	if (likely((int64_t)(now - p->last) > 0))
		p->last = now;
	return p->last;
}
/* What an event takes is measured now and then; the others are taken to be as dear. */
static inline void beam_vts_took(struct beam_thread *t, uint64_t took)
{
	if (unlikely(t->cost == 0)) /* the first finds nothing in the caches */
		t->cost = took < 1000 ? took : 1000;
	t->cost = t->cost == 0 ? took : took < 8 * t->cost ? (7 * t->cost + took) / 8 : t->cost;
}
static inline void beam_vts_end(struct beam_proc *p, uint64_t began)
{
	struct beam_thread *t = beam_self;

	if (unlikely(t->events++ % 32 == 0))
		beam_vts_took(t, en_now() - began);
	p->turn -= t->cost;
}

/* builtins.c: what scripts ask of an event */
extern const struct en_current_ops beam_ops;
extern unsigned beam_dirty_cpus;
void beam_name_event(struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM name);

/* usdt.c: fire the USDT probe of the same name; false: nobody is there */
struct fire;
bool beam_usdt(const struct fire *f);

/* stacks.c: what ustack() is in an Erlang process */
unsigned beam_ustack(const struct en_current *cur, uint64_t *pcs, unsigned max);
bool beam_frame_text(uint64_t frame, char *buf, size_t size); /* false: no frame of ours */
void beam_stacks_init(void);
void beam_stacks_check(ErlNifEnv *env, ERL_NIF_TERM mfa, unsigned depth);
bool beam_stacks_known(void);

/* ports.c */
void beam_port_event(struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM term, ERL_NIF_TERM opts);
int beam_ports_init(struct beam_handle *b);
void beam_port_note(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM owner,
	ERL_NIF_TERM name);

void beam_driver_note(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM name);
void beam_driver_call(struct beam_event *ev, bool load, const ERL_NIF_TERM *args);

/* user.c; the last two: calls of erl_ddll */
enum beam_user { USER_S1, USER_I4S4, USER_N, USER_LOAD, USER_UNLOAD };
extern _Atomic unsigned beam_nuser; /* handles with a user probe enabled */
/* args: as dyntrace's functions take them; returns true, false or badarg. */
ERL_NIF_TERM beam_user_fire(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM pid,
	enum beam_user kind, const ERL_NIF_TERM *args, unsigned n);
bool beam_user_enabled(const struct beam_handle *b);

/* nif.c, results.c */
struct beam_handle *beam_get(ErlNifEnv *env, ERL_NIF_TERM t);
char *beam_get_text(ErlNifEnv *env, ERL_NIF_TERM t, size_t *len); /* to be freed; NULL: no text */
ERL_NIF_TERM beam_error(ErlNifEnv *env, const erltrace_error_t *e);

/* store.c */
int beam_store_init(void **priv, void *old); /* old: the private data of the old code, or NULL */

/* In a NIF whose first argument is a handle: the handle, locked; it is open. */
#define WITH_HANDLE(b)                                                                             \
	struct beam_handle *b = beam_get(env, argv[0]);                                            \
	(void)argc;                                                                                \
	if (b == NULL)                                                                             \
		return enif_make_badarg(env);                                                      \
	enif_mutex_lock(b->lock);                                                                  \
	if (b->h == NULL) {                                                                        \
		enif_mutex_unlock(b->lock);                                                        \
		return enif_make_tuple2(env, atom_error, atom_closed);                             \
	}

#pragma GCC visibility pop
#endif
