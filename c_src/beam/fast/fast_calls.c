/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH of the fast way: calls, returns and exceptions, straight from the JIT's code (the
 * core's hooks, core/core.c), where the VM's tracing would cost many times as much. calls.c has the
 * tracer's way, and what both have in common.
 *
 * An event has no environment and no terms made for it. What it reads is in the process and in the
 * registers. Where a clause asks for more, the terms that a tracer would get are built in memory of
 * the thread (struct fast_thread), so that all that looks at them is the same code.
 *
 * A frame's word holds the number of its function and the generation of calls in which it was
 * pushed. A handle has the generation in which it joined: older frames are not its own.
 */
#include <stdlib.h>
#include <string.h>

#include "beam/events/calls.h"
#include "beam/events/tracer.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/term/texts.h"
#include "beam/vm/layout.h"
#include "beam/vm/peek.h"
#include "compiler.h"
#include "engine/clock.h"
#include "engine/fire.h"
#include "engine/fire_path.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "fast_calls.h"
#include "fast_core.h"
#include "fast_test.h"

/* ---- functions by number --------------------------------------------------------------- */

/* Read by any thread, without a lock: a function stays where it is until nobody takes calls. */
#define CHUNK  4096
#define CHUNKS 4096
struct mfa {
	ERL_NIF_TERM mod, fun;
	uint32_t arity, next; /* a term; the next of its bucket */
};
/* What returns read: of the handle that armed it first, so that there it is not looked up. */
struct numbered {
	const struct beam_fn *fn;
	unsigned handle; /* its number, which no other has */
};
static struct chunk {
	struct numbered first[CHUNK];
	struct mfa mfa[CHUNK];
} *chunks[CHUNKS];
static uint32_t nfns; /* the first is no function */
static uint32_t buckets[CHUNK];
static ErlNifMutex *lock;

static inline const struct mfa *mfa_of(uint32_t number)
{
	return &chunks[number / CHUNK]->mfa[number % CHUNK];
}

static uint32_t new_number(uint32_t bucket, const struct beam_fn *fn, unsigned handle)
{
	uint32_t n = nfns != 0 ? nfns : 1;
	struct chunk **c = &chunks[n / CHUNK];

	if (n / CHUNK >= CHUNKS)
		return 0;
	if (*c == NULL)
		*c = calloc(1, sizeof(**c));
	if (*c == NULL)
		return 0;
	(*c)->mfa[n % CHUNK] = (struct mfa){.mod = fn->mod,
		.fun = fn->fun,
		.arity = fn->arity_term,
		.next = buckets[bucket]};
	(*c)->first[n % CHUNK] = (struct numbered){.fn = fn, .handle = handle};
	buckets[bucket] = n;
	nfns = n + 1;
	return n;
}

uint32_t fast_number(const struct beam_fn *fn, unsigned handle)
{
	uint32_t bucket = (uint32_t)beam_hash_fn(fn->mod, fn->fun, fn->arity_term) % CHUNK, n;

	enif_mutex_lock(lock);
	for (n = buckets[bucket]; n != 0; n = mfa_of(n)->next) {
		const struct mfa *m = mfa_of(n);

		if (m->mod == fn->mod && m->fun == fn->fun && m->arity == fn->arity_term)
			break;
	}
	if (n == 0)
		n = new_number(bucket, fn, handle);
	enif_mutex_unlock(lock);
	return n;
}

bool fast_calls_init(void)
{
	if (lock == NULL)
		lock = enif_mutex_create("erltrace_fast_numbers");
	return lock != NULL;
}

void fast_calls_free(void)
{
	enif_mutex_lock(lock); /* a script that has ended may still be told of modules */
	for (unsigned i = 0; i < CHUNKS && chunks[i] != NULL; i++) {
		free(chunks[i]);
		chunks[i] = NULL;
	}
	memset(buckets, 0, sizeof(buckets));
	nfns = 0;
	enif_mutex_unlock(lock);
}

/* ---- words of frames ------------------------------------------------------------------- */

/*
 * From the top: 24 bits of number, 32 of generation, 4 that are free, 4 of what the core does. 0:
 * the end of the call is not to be seen.
 *
 */
static inline uint64_t frame_word(uint32_t number, unsigned what)
{
	uint64_t generation = atomic_load_explicit(&fast_core->generation, memory_order_relaxed);

	return number != 0 ? (uint64_t)number << 40 | (uint64_t)(uint32_t)generation << 8 | what
			   : 0;
}

static inline uint32_t number_in(uint64_t word)
{
	return (uint32_t)(word >> 40);
}

static inline uint32_t generation_in(uint64_t word)
{
	return (uint32_t)(word >> 8);
}

/* ---- terms of an event ----------------------------------------------------------------- */

static inline uintptr_t word_at(const char *proc, uint32_t offset)
{
	return *(const uintptr_t *)(const void *)(proc + offset);
}

static inline ERL_NIF_TERM boxed(const ERL_NIF_TERM *w)
{
	return (ERL_NIF_TERM)(uintptr_t)w | 2;
}

/* Arguments may be binaries that are being matched, which only the VM may see: a part instead. */
static ERL_NIF_TERM plain(struct fast_thread *ft, ERL_NIF_TERM t, unsigned *nparts)
{
	ERL_NIF_TERM *part = &ft->parts[8 * *nparts];

	if (likely((t & 3) != 2 || !beam_is_match_context(t)))
		return t;
	if (*nparts >= 8)
		return atom_dots;
	++*nparts;
	return beam_match_context_part(t, part);
}

/* {M, F, [Argument]} or {M, F, Arity} */
PROBE_PATH static ERL_NIF_TERM make_mfa(
	struct fast_thread *ft, const struct beam_fn *fn, const uintptr_t *reg)
{
	ERL_NIF_TERM *w = ft->words, *cell = w + 10;
	unsigned n = fn->arity, nparts = 0;

	w[0] = 3 << 6;
	w[1] = fn->mod;
	w[2] = fn->fun;
	w[3] = reg != NULL && n > 0 ? (ERL_NIF_TERM)(uintptr_t)cell | 1
	       : reg != NULL	    ? beam_words.calm
				    : (ERL_NIF_TERM)fn->arity_term;
	for (unsigned i = 0; reg != NULL && i < n; i++, cell += 2) {
		cell[0] = plain(ft, reg[i], &nparts);
		cell[1] = i + 1 < n ? (ERL_NIF_TERM)(uintptr_t)(cell + 2) | 1 : beam_words.calm;
	}
	return boxed(w);
}

/* #{extra => Value} */
static ERL_NIF_TERM make_extra(struct fast_thread *ft, ERL_NIF_TERM value)
{
	ERL_NIF_TERM *w = ft->words + 4, *keys = w + 4;

	w[0] = beam_vm.map1.header;
	w[1] = 1;
	w[2] = boxed(keys);
	w[3] = value;
	keys[0] = 1 << 6;
	keys[1] = atom_extra;
	return boxed(w);
}

/* An environment of the process, and what is the same in all events. */
static inline ErlNifEnv *set_up(
	struct fast_thread *ft, char *proc, ERL_NIF_TERM tag, const struct beam_handle *b)
{
	ft->env[BEAM_ENV_PROC] = ft->env[BEAM_ENV_TRACEE] = (uintptr_t)proc;
	ft->argv[0] = tag;
	ft->argv[1] = b->state;
	ft->argv[2] = word_at(proc, 0);
	return (ErlNifEnv *)(void *)ft->env;
}

/* ---- handles --------------------------------------------------------------------------- */

/*
 * The handle in this slot, which the thread is inside of then; NULL: it is not live. It may be
 * another than the one that has joined: its functions are not fast then.
 *
 */
static inline struct beam_handle *enter(struct beam_thread *t, uint64_t slot)
{
	struct beam_handle *b;

	beam_thread_enter(t);
	b = atomic_load_explicit(&beam_table[slot], memory_order_acquire);
	if (likely(b != NULL && atomic_load_explicit(&b->live, memory_order_acquire)))
		return b;
	beam_thread_leave(t);
	return NULL;
}

PROBE_PATH static __attribute__((noinline)) const struct beam_fn *fn_of_mfa(
	const struct beam_handle *b, const struct mfa *m)
{
	const struct beam_fn *fn = beam_function_find(&b->fns, m->mod, m->fun, m->arity);

	return fn != NULL && fn->number != 0 ? fn : NULL;
}

/* The function of a frame in this handle; NULL: it is not its own. */
static inline const struct beam_fn *fn_of(const struct beam_handle *b, uint64_t word)
{
	uint32_t number = number_in(word);
	const struct numbered *first;

	if (unlikely(generation_in(word) < b->generation))
		return NULL;
	first = &chunks[number / CHUNK]->first[number % CHUNK];
	if (likely(first->handle == b->number))
		return first->fn;
	return fn_of_mfa(b, mfa_of(number));
}

/* A breakpoint in the function itself; not in the export of a function, which is told of too. */
static inline bool is_local(const uintptr_t *info)
{
	return ((const uint8_t *)(info + 5))[0] == 0xeb;
}

/* What built-ins of the provider look at. */
static inline void show(struct fast_thread *ft, struct beam_tstate *ts, char *proc,
	ERL_NIF_TERM tag, const struct beam_handle *b)
{
	ts->ev.env = set_up(ft, proc, tag, b);
	ts->ev.argv = ft->argv;
}

/* ERROR's clauses may use built-ins where the clause that failed has none. */
PROBE_PATH static __attribute__((noinline)) void faulted(struct beam_thread *t,
	struct beam_tstate *ts, char *proc, ERL_NIF_TERM tag, const struct beam_handle *b)
{
	show(&t->fast, ts, proc, tag, b);
	en_fire_error(&ts->slot->fire);
}

/*
 * The simple case, as in fast_event() of calls.c: one probe with one clause, nothing that is kept
 * of processes. The caller has seen that it is one. false: nothing is done yet.
 *
 */
static inline __attribute__((always_inline)) bool simple(struct beam_thread *t,
	struct beam_handle *b, struct beam_tstate *ts, const struct beam_fn *fn, char *proc,
	bool call)
{
	const struct beam_sole *sole = call ? &fn->call : &fn->end;
	struct beam_clause *clause = sole->clause;
	ERL_NIF_TERM key = word_at(proc, 0);
	struct en_thread *slot = ts->slot;
	uint64_t began = 0;
	struct fire *f;

	__builtin_prefetch(sole->probe); /* where very many are called in turn, it is far away */
	if (!call)
		__builtin_prefetch(fn->end_func);
	if (unlikely(ts->number != b->number || b->procs.tab != NULL || clause == NULL ||
		     atomic_load_explicit(&b->en->phase, memory_order_acquire) != PHASE_RUN))
		return false;
	if (atomic_load_explicit(&clause->timed, memory_order_relaxed) &&
		unlikely(!clock_try(&began)))
		return false;
	if (beam_fn_has(fn, call ? TRAIT_CALL_PID : TRAIT_END_PID)) {
		const struct et_str *pid = beam_text_cached(t, key);

		if (unlikely(pid == NULL))
			return false;
		slot->fire.arg[ARG(FUNCTION_ENTRY, process)] = beam_str(pid);
	}
	if (unlikely(!beam_cost_untimed(ts)))
		return false;
	ts->ev.cur.key = key;
	if (!clause->bare)
		show(&t->fast, ts, proc, call ? atom_call : atom_return_from, b);
	fire_fill(slot, &sole->id, clause->prog, sole->probe, STRINGS(FUNCTION_ENTRY), &ts->ev.cur,
		key);
	f = &slot->fire;
	f->ts = began;
	if (call || beam_fn_has(fn, TRAIT_END_MFA))
		f->arg[ARG(FUNCTION_ENTRY, function)] = beam_str(fn->mfa);
	clause->entry(f);
	if (unlikely(slot->faulted))
		faulted(t, ts, proc, call ? atom_call : atom_return_from, b);
	return true;
}

/* ---- entries --------------------------------------------------------------------------- */

PROBE_PATH static __attribute__((noinline)) void entry_slow(struct beam_thread *t,
	struct beam_handle *b, struct beam_tstate *ts, const struct beam_fn *fn, char *proc,
	const uintptr_t *reg, const struct beam_tail *tail)
{
	struct fast_thread *ft = &t->fast;
	ErlNifEnv *env = set_up(ft, proc, atom_call, b);

	ft->argv[3] = make_mfa(ft, fn, beam_fast(fn) & (FAST_ASKS | FAST_MORE) ? reg : NULL);
	ft->argv[4] = 0;
	beam_fast_called(env, ft->argv, t, ts, b, tail != NULL ? *tail : (struct beam_tail){0});
}

static inline __attribute__((always_inline)) void entry_in(struct beam_thread *t,
	struct beam_handle *b, uint64_t slot, const struct beam_fn *fn, unsigned how, char *proc,
	const uintptr_t *reg, const struct beam_tail *tail)
{
	struct beam_tstate *ts = &t->tstates[slot];
	unsigned n = beam_nprobes(&fn->nentry);

	if (unlikely(how & FAST_MORE)) {
		entry_slow(t, b, ts, fn, proc, reg, tail);
		return;
	}
	if (unlikely(how & FAST_ASKS)) {
		t->fast.argv[3] = make_mfa(&t->fast, fn, reg);
		t->fast.argv[4] = 0;
	}
	if (likely(n == 1) && likely(simple(t, b, ts, fn, proc, true)))
		return;
	if (n != 0 || beam_tracks(b, TRACK_STACKS))
		entry_slow(t, b, ts, fn, proc, reg, tail);
}

/* The function that is called, in a handle; *how: FAST_*, 0 if this call is not to be taken. */
static inline const struct beam_fn *called(
	const struct beam_handle *b, const uintptr_t *info, unsigned *how)
{
	const struct beam_fn *fn =
		beam_function_find(&b->fns, info[2], info[3], info[4] << 4 | 15);

	*how = likely(fn != NULL) && likely(is_local(info)) ? beam_fast(fn) : 0;
	return fn;
}

/* Does a handle wait for the end of the call whose frame this is? */
static bool waits_for(const struct beam_handle *b, uint64_t word)
{
	const struct beam_fn *fn = fn_of(b, word);

	return fn != NULL && (beam_fast(fn) & FAST_FRAMED);
}

/* Are there n frames of ours on top, one upon another: a loop of tail calls? */
PROBE_PATH static bool is_chain(char *proc, unsigned n)
{
	const struct core_vm *vm = &fast_core->vm;
	const uintptr_t *at = (const uintptr_t *)word_at(proc, vm->stop);
	const uintptr_t *end = (const uintptr_t *)word_at(proc, vm->hend);
	size_t size = 1 + vm->frame;

	if ((size_t)(end - at) <= n * size || !core_is_frame(vm, at + (n - 1) * size))
		return false;
	for (unsigned i = 0; i < n - 1; i++, at += size)
		if (!core_is_frame(vm, at))
			return false;
	return true;
}

/*
 * A tail call: the frame on top is that of the function which makes it. Its own takes that one's
 * place, unless a handle wants the end of each: where it reads what functions return (own), or does
 * not take this call at all (waited). But of these there are only so many: the loop of a server
 * would have its stack grow without end.
 */
#define OWN_CHAIN    4096
#define WAITED_CHAIN 16
PROBE_PATH static __attribute__((noinline)) bool replaces(
	struct beam_thread *t, char *proc, const uintptr_t *info, uint64_t top)
{
	bool framed = false, own = false, waited = false;

	for (uint64_t in = atomic_load_explicit(&fast_slots, memory_order_relaxed); in != 0;
		in &= in - 1) {
		struct beam_handle *b = enter(t, (uint64_t)__builtin_ctzll(in));
		const struct beam_fn *fn;
		unsigned how;

		if (b == NULL)
			continue;
		fn = called(b, info, &how);
		if (how & FAST_FRAMED) {
			framed = true;
			own |= beam_fn_has(fn, TRAIT_OWN_FRAME);
		} else {
			waited |= waits_for(b, top);
		}
		beam_thread_leave(t);
	}
	if (own)
		return is_chain(proc, OWN_CHAIN);
	return !waited || (framed && is_chain(proc, WAITED_CHAIN));
}

/* In one handle: the function's number if its end is to be seen, else 0. */
static inline __attribute__((always_inline)) uint32_t entry_in_slot(struct beam_thread *t,
	uint64_t slot, char *proc, const uintptr_t *info, const uintptr_t *reg,
	const struct beam_tail *tail)
{
	struct beam_handle *b = enter(t, slot);
	const struct beam_fn *fn;
	uint32_t number = 0;
	unsigned how;

	if (unlikely(b == NULL))
		return 0;
	fn = called(b, info, &how);
	if (likely(how != 0) && likely(word_at(proc, 0) != b->owner)) {
		if (how & FAST_FRAMED)
			number = fn->number;
		entry_in(t, b, slot, fn, how, proc, reg, tail);
	}
	beam_thread_leave(t);
	return number;
}

/* By several handles, or a tail call. */
PROBE_PATH static __attribute__((noinline)) uint64_t entry_in_all(struct beam_thread *t, char *proc,
	const uintptr_t *info, const uintptr_t *reg, uint64_t top, long below)
{
	struct beam_tail tail = {.is = false, .below = (unsigned)below};
	uint32_t number = 0, in;

	if (top != 0) {
		tail.is = replaces(t, proc, info, top);
		tail.off = tail.is ? 0 : 1 + fast_core->vm.frame;
	}
	for (uint64_t slots = atomic_load_explicit(&fast_slots, memory_order_relaxed); slots != 0;
		slots &= slots - 1) {
		in = entry_in_slot(t, (uint64_t)__builtin_ctzll(slots), proc, info, reg, &tail);
		number = in != 0 ? in : number;
	}
	return frame_word(number, tail.is ? CORE_REPLACE : CORE_PUSH);
}

PROBE_PATH static uint64_t on_entry(
	char *proc, const uintptr_t *info, uintptr_t *reg, uint64_t top, long below)
{
	struct beam_thread *t = beam_self;
	uint64_t only = atomic_load_explicit(&fast_only, memory_order_relaxed);

	if (unlikely(t == NULL) && (t = beam_thread_new()) == NULL)
		return 0;
	if (unlikely(top != 0 || only == 0))
		return entry_in_all(t, proc, info, reg, top, below);
	return frame_word(entry_in_slot(t, only, proc, info, reg, NULL), CORE_PUSH);
}

/* ---- returns --------------------------------------------------------------------------- */

PROBE_PATH static __attribute__((noinline)) void return_slow(struct beam_thread *t,
	struct beam_handle *b, uint64_t slot, const struct beam_fn *fn, char *proc,
	const uintptr_t *reg)
{
	struct fast_thread *ft = &t->fast;
	struct beam_tstate *ts = &t->tstates[slot];
	ErlNifEnv *env = set_up(ft, proc, atom_return_from, b);

	ft->argv[3] = make_mfa(ft, fn, NULL);
	ft->argv[4] = make_extra(ft, reg[0]);
	if (!beam_fn_has(fn, TRAIT_KEEP) && beam_nprobes(&fn->nret) == 1 &&
		simple(t, b, ts, fn, proc, false))
		return;
	beam_fast_ended(env, ft->argv, t, ts, b, fn,
		(unsigned)beam_level_of(proc) - fast_core->vm.frame);
}

static inline __attribute__((always_inline)) void return_in_slot(struct beam_thread *t,
	uint64_t slot, char *proc, uint64_t word, const uintptr_t *reg)
{
	struct beam_handle *b = enter(t, slot);
	const struct beam_fn *fn;

	if (unlikely(b == NULL))
		return;
	fn = fn_of(b, word);
	if (likely(fn != NULL) && likely(word_at(proc, 0) != b->owner) &&
		(unlikely(beam_fn_has(fn, TRAIT_END_ASKS) || beam_fn_has(fn, TRAIT_KEEP)) ||
			unlikely(beam_nprobes(&fn->nret) != 1) ||
			unlikely(!simple(t, b, &t->tstates[slot], fn, proc, false))))
		return_slow(t, b, slot, fn, proc, reg);
	beam_thread_leave(t);
}

PROBE_PATH static __attribute__((noinline)) void return_in_all(
	struct beam_thread *t, char *proc, uint64_t word, const uintptr_t *reg)
{
	for (uint64_t slots = atomic_load_explicit(&fast_slots, memory_order_relaxed); slots != 0;
		slots &= slots - 1)
		return_in_slot(t, (uint64_t)__builtin_ctzll(slots), proc, word, reg);
}

PROBE_PATH static void on_return(char *proc, uint64_t word, const uintptr_t *reg)
{
	struct beam_thread *t = beam_self;
	uint64_t only = atomic_load_explicit(&fast_only, memory_order_relaxed);

	if (unlikely(t == NULL) && (t = beam_thread_new()) == NULL)
		return;
	if (likely(only != 0))
		return_in_slot(t, only, proc, word, reg);
	else
		return_in_all(t, proc, word, reg);
}

/* ---- exceptions ------------------------------------------------------------------------ */

/* The class and the reason: where it is caught, in the registers that handlers have them in. */
static void get_reason(struct fast_thread *ft, const char *proc, bool caught, const uintptr_t *reg,
	ERL_NIF_TERM *class, ERL_NIF_TERM *reason)
{
	if (!caught) {
		fast_reason(proc, class, reason, ft->words + FAST_WORDS - 3);
		return;
	}
	*class = reg[3];
	*reason = reg[1];
}

/* From the newest frame on, as the calls end; level: words on the stack when each was called. */
PROBE_PATH static void on_raised(char *proc, const uintptr_t *newest, const uintptr_t *end,
	bool caught, const uintptr_t *reg)
{
	const struct core_vm *vm = &fast_core->vm;
	const uintptr_t *bottom = (const uintptr_t *)word_at(proc, vm->hend), *at;
	struct beam_thread *t = beam_self;
	ERL_NIF_TERM class, reason;

	if (t == NULL && (t = beam_thread_new()) == NULL)
		return;
	get_reason(&t->fast, proc, caught, reg, &class, &reason);
	for (at = newest; (at = core_next_frame(vm, at, end)) != NULL; at++)
		for (uint64_t in = atomic_load_explicit(&fast_slots, memory_order_relaxed); in != 0;
			in &= in - 1) {
			uint64_t slot = (uint64_t)__builtin_ctzll(in);
			struct beam_handle *b = enter(t, slot);
			const struct beam_fn *fn;
			ErlNifEnv *env;

			if (b == NULL)
				continue;
			fn = fn_of(b, at[1]);
			env = set_up(&t->fast, proc, atom_exception_from, b);
			if (fn != NULL && t->fast.argv[2] != b->owner) {
				t->fast.argv[3] = make_mfa(&t->fast, fn, NULL);
				t->fast.argv[4] = 0;
				beam_fast_raised(env, t->fast.argv, t, &t->tstates[slot], b, fn,
					(unsigned)(bottom - (at + 1 + vm->frame)), class, reason);
			}
			beam_thread_leave(t);
		}
}

const struct core_ops fast_ops = {.entry = on_entry, .ret = on_return, .raised = on_raised};
