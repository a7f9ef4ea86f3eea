/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH of calls and returns.
 *
 * What happens at one is in call_event(): which process and function it is, where it is on the
 * shadow stack, which probes it fires. fast_event() is the fast path, for what nearly all of them
 * are: one handle, the process that the thread ran last, few frames, one clause to run. It checks
 * all of that first, and writes nothing before. Whatever does not fit jumps to the slow path and
 * starts there from the beginning, so that next to nothing has to be kept across calls. Messages
 * sent have a fast path of that kind too (sends.c). Every event runs every instruction here: look
 * at the machine code when you change it, and measure (make bench).
 *
 */
#include "beam/builtins/erl_builtins.h"
#include "beam/builtins/event_stack.h"
#include "beam/flow/flows.h"
#include "beam/handle/beam_handle.h"
#include "beam/handle/handles.h"
#include "beam/nif.h"
#include "beam/proc/shadow_stack.h"
#include "beam/proc/vtime.h"
#include "beam/term/kept_args.h"
#include "beam/term/texts.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "engine/clock.h"
#include "engine/fire.h"
#include "engine/probe.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/str.h"
#include "prog/prog.h"
#include "call_probes.h"
#include "calls.h"
#include "event_path.h"
#include "special_calls.h"
#include "tracer.h"

static struct beam_proc no_proc; /* of no pid */

PROBE_PATH __attribute__((noinline)) void beam_attach(
	struct beam_thread *t, struct beam_tstate *s, struct beam_handle *b)
{
	s->slot = en_slot_get(b->en);
	s->number = s->slot != NULL ? b->number : 0;
	/* its first event is slow: it stands for itself alone (watchdog.c) */
	s->left = s->batch = 0;
	s->last = 0;
	s->ev = (struct beam_event){.b = b,
		.proc = &no_proc,
		.cur = {.vtimestamp = b->vtimestamp, .ustack = beam_ustack, .ops = &beam_ops}};
	if (s->slot == NULL)
		return;
	atomic_store(&s->slot->outer, &t->seq);
	atomic_thread_fence(memory_order_seq_cst); /* before it looks at what others take away */
}

/* ---- which function it is -------------------------------------------------------------- */

/* {M, F, Arity} is a tuple, and not asked for its elements. NULL: it is not, or of no use here. */
static inline const struct beam_fn *plain_fn(const struct beam_handle *b, ERL_NIF_TERM mfa)
{
	const ERL_NIF_TERM *t = (const ERL_NIF_TERM *)(uintptr_t)(mfa - beam_vm.tuple3.tag);

	if (unlikely((mfa & 7) != beam_vm.tuple3.tag || t[0] != beam_vm.tuple3.header))
		return NULL;
	return beam_function_find(&b->fns, t[1], t[2], t[3]);
}

/* {M, F, Arguments}, if a script needs those of some function; or no function of ours. */
PROBE_PATH static __attribute__((noinline)) const struct beam_fn *fn_slow(
	const struct beam_event *ev, ERL_NIF_TERM mfa)
{
	const ERL_NIF_TERM *t;
	const struct beam_fn *fn;
	unsigned arity;
	int n;

	if (!enif_get_tuple(ev->env, mfa, &n, &t) || n != 3)
		return NULL;
	fn = beam_function_find(&ev->b->fns, t[0], t[1], t[2]);
	if (fn != NULL || !enif_get_list_length(ev->env, t[2], &arity))
		return fn;
	return beam_function_find(&ev->b->fns, t[0], t[1], enif_make_uint(ev->env, arity));
}

static inline const struct beam_fn *fn_of(const struct beam_event *ev, ERL_NIF_TERM mfa)
{
	const struct beam_fn *fn = plain_fn(ev->b, mfa);

	return likely(fn != NULL) ? fn : fn_slow(ev, mfa);
}

/* Before OTP 27 the calls that other handles trace come here too, and their returns will. */
PROBE_PATH static __attribute__((noinline)) void others_call(struct beam_event *ev)
{
	if (ev->proc != &no_proc && beam_tracks(ev->b, TRACK_RETURNS) &&
		beam_layout_state() == LAYOUT_KNOWN)
		beam_stack_cut(&ev->b->procs, ev->proc, (unsigned)beam_stack_level(ev->env));
}

/* ---- a call or a return ---------------------------------------------------------------- */

enum kind { CALL, RETURN_TO, TOLD };

/* What is kept of the process, &no_proc if nothing is; if running times are, it runs. */
PROBE_PATH static inline void begin(struct beam_event *ev)
{
	struct beam_handle *b = ev->b;
	struct beam_proc *p = ev->proc;

	if (b->procs.tab == NULL)
		return;
	if (unlikely(atomic_load_explicit(&p->pid, memory_order_relaxed) != ev->cur.key)) {
		p = beam_proc_get(&b->procs, ev->cur.key);
		ev->proc = p = p != NULL ? p : &no_proc;
	}
	if (beam_tracks(b, TRACK_VTIME) && p != &no_proc) {
		ev->began = clock_now();
		if (p->in_at == 0)
			beam_vts_in(p, ev->began);
	}
}

static inline void end(struct beam_event *ev, struct beam_thread *t, const struct beam_tstate *ts)
{
	if (!beam_tracks(ev->b, TRACK_VTIME) || ev->proc->in_at == 0)
		return;
	if (ts->left == UINT32_MAX) /* the fast path leaves all measuring to this one */
		beam_vts_took(t, en_now() - ev->began);
	beam_vts_end(ev->proc, ev->began);
}

/* The function is on the shadow stack of the process from now on: its depth; 0: not known. */
static inline __attribute__((always_inline)) unsigned enter(
	struct beam_event *ev, const struct beam_fn *fn, bool *tail)
{
	struct beam_procs *procs = &ev->b->procs;
	unsigned level, slot = ev->b->number % BEAM_HANDLES;
	bool in_chain;

	if (unlikely(ev->proc == &no_proc))
		return 0;
	if (fn->number != 0) {
		*tail = ev->tail.is;
		return beam_stack_enter_fast(procs, ev->proc, fn,
			(unsigned)beam_stack_level(ev->env), beam_stack_end(ev->env), &ev->tail);
	}
	switch (beam_layout_state()) {
	case LAYOUT_KNOWN:
		return beam_stack_enter(procs, ev->proc, fn, (unsigned)beam_stack_level(ev->env),
			ev->env, beam_tracks(ev->b, TRACK_MARKED), tail);
	case LAYOUT_SESSIONS:
		level = (unsigned)beam_chain_level(ev->env, slot, &in_chain);
		if (beam_tracks(ev->b, TRACK_MARKED) && !in_chain)
			beam_stack_cut_chains(
				procs, ev->proc, level, beam_stack_end(ev->env), slot);
		return beam_stack_enter(procs, ev->proc, fn, level, ev->env, false, tail);
	default:
		return beam_fn_has(fn, TRAIT_LOCAL) ? beam_stack_enter_by_name(procs, ev->proc, fn)
						    : 0;
	}
}

/* For its return. */
PROBE_PATH static __attribute__((noinline)) void keep_args(
	struct beam_event *ev, const struct beam_fn *fn, unsigned depth, ERL_NIF_TERM mfa)
{
	struct beam_kept *k = NULL;
	const ERL_NIF_TERM *t;
	int n;

	if (ev->proc != &no_proc && enif_get_tuple(ev->env, mfa, &n, &t) && n == 3)
		k = beam_kept_call(&ev->b->procs.kept, &ev->proc->kept, fn, depth,
			beam_fn_has(fn, TRAIT_KEEP_ALL), ev->env, t[2]);
	if (k != NULL)
		k->note = beam_call_note(ev, fn, t[2]);
}

/* The function that was called, or NULL. */
static inline __attribute__((always_inline)) const struct beam_fn *called(
	struct beam_event *ev, ERL_NIF_TERM mfa, unsigned *depth, bool *tail)
{
	const struct beam_fn *fn = fn_of(ev, mfa);

	if (unlikely(fn == NULL)) {
		others_call(ev);
		return NULL;
	}
	if (unlikely(fn->number != 0 && !ev->fast))
		return NULL; /* another handle has it traced: here it comes by the fast way */
	if (beam_tracks(ev->b, TRACK_STACKS))
		*depth = enter(ev, fn, tail);
	if (unlikely(beam_fn_has(fn, TRAIT_KEEP)))
		keep_args(ev, fn, *depth, mfa);
	if (unlikely(beam_fn_has(fn, TRAIT_SPECIAL)) &&
		(fn->number == 0 || beam_fn_has(fn, TRAIT_LABEL)))
		beam_special_call(ev, fn, mfa, ev->proc != &no_proc);
	return fn;
}

/* The function that ended, where levels are not known; or NULL. */
PROBE_PATH static __attribute__((noinline)) const struct beam_fn *ended_by_name(
	struct beam_event *ev, ERL_NIF_TERM to, unsigned *depth)
{
	const struct beam_fn *fn =
		beam_stack_return_by_name(&ev->b->procs, ev->proc, fn_of(ev, to), depth);

	return fn != NULL && beam_fn_has(fn, TRAIT_TELLS) ? NULL
							  : fn; /* it has told of it itself */
}

/* The function that ended, or NULL; to: where control is now. */
static inline __attribute__((always_inline)) const struct beam_fn *ended(
	struct beam_event *ev, ERL_NIF_TERM to, unsigned *depth)
{
	struct beam_procs *procs = &ev->b->procs;
	int level, layout = beam_layout_state();

	if (unlikely(ev->proc == &no_proc || !beam_tracks(ev->b, TRACK_RETURNS)))
		return NULL;
	if (unlikely(layout != LAYOUT_KNOWN && layout != LAYOUT_SESSIONS))
		return ended_by_name(ev, to, depth);
	if (unlikely(beam_raised(ev->env))) {
		beam_stack_raised(procs, ev->proc, (unsigned)beam_stack_level(ev->env));
		return NULL;
	}
	level = likely(layout == LAYOUT_KNOWN) ? beam_return_level(ev->env)
					       : beam_chain_return_level(ev->env);
	if (unlikely(beam_stack_is_fast(ev->proc, (unsigned)level)))
		return NULL; /* another handle has it traced */
	return beam_stack_return(procs, ev->proc, (unsigned)level, depth);
}

PROBE_PATH static void fire(struct beam_event *ev, struct en_probe *const *probe, unsigned n,
	const struct beam_fn *fn, unsigned depth, bool tail)
{
	uint64_t arg[4] = {[ARG(FUNCTION_ENTRY, function)] = beam_str(fn->mfa),
		[ARG(FUNCTION_ENTRY, depth)] = depth,
		[ARG(FUNCTION_ENTRY, tail)] = tail};

	for (unsigned i = 0; i < n; i++) {
		if (unlikely(beam_is_call_probe(probe[i]))) {
			beam_call_fire(ev, probe[i]);
			continue;
		}
		BEAM_MAKE_ARG(probe[i], arg, FUNCTION_ENTRY, process,
			beam_str(beam_term_text(ev->cur.key)));
		en_fire(probe[i], arg, STRINGS(FUNCTION_ENTRY), &ev->cur);
	}
}

/* The probes of a return fire with the arguments of the call. */
PROBE_PATH static __attribute__((noinline)) void fire_kept(struct beam_event *ev,
	struct en_probe *const *probe, unsigned n, const struct beam_fn *fn, unsigned depth)
{
	struct beam_kept_pool *pool = &ev->b->procs.kept;

	ev->kept = beam_kept_return(pool, &ev->proc->kept, fn, depth);
	if (beam_fn_has(fn, TRAIT_NOTES))
		beam_call_noted(ev);
	fire(ev, probe, n, fn, depth, false);
	ev->kept = NULL;
	beam_kept_drop(pool, &ev->proc->kept, depth);
}

static inline void fire_return(struct beam_event *ev, struct en_probe *const *probe, unsigned n,
	const struct beam_fn *fn, unsigned depth)
{
	if (unlikely(beam_fn_has(fn, TRAIT_KEEP)) && ev->proc != &no_proc)
		fire_kept(ev, probe, n, fn, depth);
	else
		fire(ev, probe, n, fn, depth, false);
}

/* ---- calls that tell of their ends ------------------------------------------------------ */

PROBE_PATH void beam_fire_exception(struct beam_event *ev, const struct beam_fn *fn, unsigned depth)
{
	struct beam_kept_pool *pool = &ev->b->procs.kept;
	uint64_t arg[4] = {[ARG(FUNCTION_EXCEPTION, function)] = beam_str(fn->mfa),
		[ARG(FUNCTION_EXCEPTION, depth)] = depth,
		[ARG(FUNCTION_EXCEPTION, class)] = beam_str(beam_term_text(ev->class))};
	unsigned n = beam_nprobes(&fn->nexc);
	bool keep = beam_fn_has(fn, TRAIT_KEEP) && ev->proc != &no_proc;

	ev->kept = keep ? beam_kept_return(pool, &ev->proc->kept, fn, depth) : NULL;
	for (unsigned i = 0; i < n; i++) {
		BEAM_MAKE_ARG(fn->exc[i], arg, FUNCTION_EXCEPTION, process,
			beam_str(beam_term_text(ev->cur.key)));
		en_fire(fn->exc[i], arg, STRINGS(FUNCTION_EXCEPTION), &ev->cur);
	}
	ev->kept = NULL;
	if (keep)
		beam_kept_drop(pool, &ev->proc->kept, depth);
}

/* {Class, Reason} */
static void on_exception(struct beam_event *ev, const struct beam_fn *fn, unsigned depth)
{
	const ERL_NIF_TERM *t;
	int n;

	if (beam_nprobes(&fn->nexc) == 0 ||
		!enif_get_tuple(ev->env, beam_extra(ev->env, ev->argv[4]), &n, &t) || n != 2 ||
		!enif_is_atom(ev->env, t[0]))
		return;
	ev->class = t[0];
	ev->reason = t[1];
	beam_fire_exception(ev, fn, depth);
	ev->class = ev->reason = 0;
}

/* By exception_trace: the function that control was in, or beam_no_fn. */
static const struct beam_fn *told(struct beam_event *ev, const struct beam_fn *fn, unsigned *depth)
{
	if (ev->proc == &no_proc)
		return fn;
	if (beam_layout_known())
		return beam_stack_told(&ev->b->procs, ev->proc, fn, depth, &ev->words);
	*depth = ev->proc->n;
	return fn;
}

/*
 * By return_trace, where a script reads what is returned, and by exception_trace, where it has
 * function-exception, a call tells of its end itself. Before OTP 27 it may be another handle that
 * has asked for it.
 */
PROBE_PATH static __attribute__((noinline)) void end_event(struct beam_event *ev, ERL_NIF_TERM mfa)
{
	const struct beam_fn *fn = fn_of(ev, mfa), *last = fn;
	bool raised = ev->argv[0] == atom_exception_from;
	unsigned n, depth = 0;

	if (fn == NULL || (!beam_fn_has(fn, TRAIT_TELLS) &&
				  (raised || (beam_nprobes(&fn->nval) == 0 &&
						     !beam_fn_has(fn, TRAIT_NOTES)))))
		return;
	if (beam_fn_has(fn, TRAIT_TELLS))
		last = told(ev, fn, &depth);
	else if ((beam_tracks(ev->b, TRACK_RETURNS) || beam_tracks(ev->b, TRACK_DEPTH)) &&
		 ev->proc != &no_proc)
		depth = beam_stack_leave(&ev->b->procs, ev->proc, fn);
	if (raised)
		on_exception(ev, last, depth);
	else if (last == fn && ((n = beam_nprobes(&fn->nval)) != 0 || beam_fn_has(fn, TRAIT_NOTES)))
		fire_return(ev, fn->val, n, fn, depth);
	if (!raised && beam_fn_has(fn, TRAIT_TELLS) && (n = beam_nprobes(&last->nret)) != 0)
		fire_return(ev, last->ret, n, last, depth);
	ev->words = 0;
}

#define LIKE_ENTRY(ID)                                                                             \
	BEAM_SAME_ARG(FUNCTION_ENTRY, ID, process);                                                \
	BEAM_SAME_ARG(FUNCTION_ENTRY, ID, function)
LIKE_ENTRY(LOCAL_FUNCTION_ENTRY);
LIKE_ENTRY(GLOBAL_FUNCTION_ENTRY);
LIKE_ENTRY(FUNCTION_RETURN);
LIKE_ENTRY(FUNCTION_EXCEPTION);
LIKE_ENTRY(BIF_ENTRY);
LIKE_ENTRY(BIF_RETURN);
LIKE_ENTRY(NIF_ENTRY);
LIKE_ENTRY(NIF_RETURN);
BEAM_SAME_ARG(FUNCTION_ENTRY, LOCAL_FUNCTION_ENTRY, depth);
BEAM_SAME_ARG(FUNCTION_ENTRY, LOCAL_FUNCTION_ENTRY, tail);
BEAM_SAME_ARG(FUNCTION_ENTRY, GLOBAL_FUNCTION_ENTRY, depth);
BEAM_SAME_ARG(FUNCTION_ENTRY, FUNCTION_RETURN, depth);
BEAM_SAME_ARG(FUNCTION_ENTRY, FUNCTION_EXCEPTION, depth);

/*
 * The processor's counter takes its time; read early, others go on meanwhile. Whether the clause
 * will read timestamp is what it did the last time on the slow path, which asks for it.
 */
static void learn(const struct en_thread *slot, struct beam_clause *clause)
{
	bool timed;

	if (clause == NULL || slot == NULL)
		return;
	timed = slot->fire.ts != 0;
	if (atomic_load_explicit(&clause->timed, memory_order_relaxed) != timed)
		atomic_store_explicit(&clause->timed, timed, memory_order_relaxed);
}

/* The thread is inside the handle, and attached to it. */
static inline __attribute__((always_inline)) void call_event(ErlNifEnv *env,
	const ERL_NIF_TERM argv[], struct beam_thread *t, struct beam_tstate *ts, enum kind kind)
{
	struct beam_event *ev = &ts->ev;
	const struct beam_fn *fn;
	unsigned n, depth = 0;
	bool tail = false;

	ev->cur.key = argv[2];
	ev->env = env;
	ev->argv = argv;
	/* the process */
	begin(ev);
	/* the function, on its shadow stack */
	fn = kind == CALL	 ? called(ev, argv[3], &depth, &tail)
	     : kind == RETURN_TO ? ended(ev, argv[3], &depth)
				 : NULL;
	/* its probes */
	if (fn != NULL && kind == CALL && (n = beam_nprobes(&fn->nentry)) != 0) {
		fire(ev, fn->entry, n, fn, depth, tail);
		if (unlikely(beam_fn_has(fn, TRAIT_FOLLOW)))
			beam_flow_called(ev, fn);
		learn(ts->slot, fn->call.clause);
	} else if (fn != NULL && kind == RETURN_TO && (n = beam_nprobes(&fn->nret)) != 0) {
		ev->ended = fn;
		fire_return(ev, fn->ret, n, fn, depth);
		learn(ts->slot, fn->end.clause);
	} else if (kind == TOLD) {
		end_event(ev, argv[3]);
	}
	/* what it took */
	end(ev, t, ts);
}

/* The same where the thread may not be attached yet. */
static inline __attribute__((always_inline)) void attach_event(
	const struct beam_event *ev, struct beam_tstate *ts, enum kind kind)
{
	struct beam_thread *t = beam_self;

	if (unlikely(ts->number != ev->b->number))
		beam_attach(t, ts, ev->b);
	call_event(ev->env, ev->argv, t, ts, kind);
}

static inline __attribute__((always_inline)) void one_call(
	struct beam_event *ev, struct beam_tstate *ts)
{
	attach_event(ev, ts, ev->argv[0] == atom_call ? CALL : RETURN_TO);
}

/*
 * Without a shadow stack, calls of functions that only others have are nothing to a handle, nor are
 * returns.
 */
static inline bool asks(struct beam_event *ev)
{
	if (!beam_asks_for(ev->b, TRACED_CALL | TRACED_PORTS))
		return false;
	return beam_tracks(ev->b, TRACK_STACKS) ||
	       (ev->argv[0] == atom_call && fn_of(ev, ev->argv[3]) != NULL);
}

/* Where several handles may have the event, or it is the first of a thread and a handle. */
PROBE_PATH static __attribute__((noinline)) ERL_NIF_TERM each_call(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	struct beam_event ev = {.env = env, .argv = argv};
	unsigned number;

	if (unlikely(!beam_number(env, argv[1], &number)))
		return beam_trace_any(env, argv);
	beam_each_handle(&ev, number, asks, one_call);
	return atom_ok;
}

PROBE_PATH void beam_told_end(const struct beam_event *ev, struct beam_tstate *ts)
{
	attach_event(ev, ts, TOLD);
}

/* ---- the fast way (fast_calls.c) ------------------------------------------------------- */

PROBE_PATH void beam_fast_called(ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_thread *t,
	struct beam_tstate *ts, struct beam_handle *b, struct beam_tail tail)
{
	if (unlikely(ts->number != b->number))
		beam_attach(t, ts, b);
	beam_cost_begin(ts);
	ts->ev.tail = tail;
	ts->ev.fast = true;
	call_event(env, argv, t, ts, CALL);
	ts->ev.fast = false;
	ts->ev.tail = (struct beam_tail){0};
	beam_cost_end(b, ts, argv);
}

/* What its end is told with; its depth, if that is known. */
PROBE_PATH static unsigned end_of_call(ErlNifEnv *env, const ERL_NIF_TERM argv[],
	struct beam_thread *t, struct beam_tstate *ts, struct beam_handle *b, unsigned level)
{
	struct beam_event *ev = &ts->ev;
	unsigned depth = 0;

	if (unlikely(ts->number != b->number))
		beam_attach(t, ts, b);
	beam_cost_begin(ts);
	ev->cur.key = argv[2];
	ev->env = env;
	ev->argv = argv;
	begin(ev);
	if (beam_tracks(b, TRACK_STACKS) && ev->proc != &no_proc)
		beam_stack_return(&b->procs, ev->proc, level, &depth);
	return depth;
}

PROBE_PATH void beam_fast_ended(ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_thread *t,
	struct beam_tstate *ts, struct beam_handle *b, const struct beam_fn *fn, unsigned level)
{
	unsigned n, depth = end_of_call(env, argv, t, ts, b, level);

	if ((n = beam_nprobes(&fn->nret)) != 0 || beam_fn_has(fn, TRAIT_NOTES)) {
		fire_return(&ts->ev, fn->ret, n, fn, depth);
		learn(ts->slot, fn->end.clause);
	}
	end(&ts->ev, t, ts);
	beam_cost_end(b, ts, argv);
}

PROBE_PATH void beam_fast_raised(ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_thread *t,
	struct beam_tstate *ts, struct beam_handle *b, const struct beam_fn *fn, unsigned level,
	ERL_NIF_TERM class, ERL_NIF_TERM reason)
{
	unsigned depth = end_of_call(env, argv, t, ts, b, level);
	struct beam_event *ev = &ts->ev;

	if (beam_nprobes(&fn->nexc) != 0) {
		ev->class = class;
		ev->reason = reason;
		ev->words = level;
		beam_fire_exception(ev, fn, depth);
		ev->class = ev->reason = 0;
		ev->words = 0;
	}
	end(ev, t, ts);
	beam_cost_end(b, ts, argv);
}

/* What the fast path jumps to. */
static inline __attribute__((always_inline)) ERL_NIF_TERM slow_event(
	ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_tstate *ts, enum kind kind)
{
	struct beam_thread *t = beam_self;

	beam_cost_begin(ts);
	call_event(env, argv, t, ts, kind);
	beam_cost_end(ts->ev.b, ts, argv);
	beam_thread_leave(t);
	return atom_ok;
}

PROBE_PATH static __attribute__((noinline)) ERL_NIF_TERM slow_call(
	ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_tstate *ts)
{
	return slow_event(env, argv, ts, CALL);
}

PROBE_PATH static __attribute__((noinline)) ERL_NIF_TERM slow_return(
	ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_tstate *ts)
{
	return slow_event(env, argv, ts, RETURN_TO);
}

/* ---- the fast path --------------------------------------------------------------------- */

/*
 * The same in the simple case: first each step is looked at, then all are done. level: words on the
 * stack of the process. Where there is no shadow stack, proc is NULL.
 */
static inline __attribute__((always_inline)) ERL_NIF_TERM fast_event(ErlNifEnv *env,
	const ERL_NIF_TERM argv[], struct beam_thread *t, struct beam_handle *b,
	struct beam_tstate *ts, bool call, bool vts)
{
	struct beam_proc *proc = NULL;
	const struct beam_fn *fn = NULL;
	const struct beam_sole *sole = NULL;
	const struct beam_clause *clause = NULL;
	const struct et_str *pid = NULL;
	unsigned n, depth = 0, level = 0;
	uint64_t began = 0;
	struct fire *f;

	/* the process; the function, on its shadow stack */
	if (call && unlikely((fn = plain_fn(b, argv[3])) == NULL || beam_fn_has(fn, TRAIT_SPECIAL)))
		goto slow;
	if (call ? beam_tracks(b, TRACK_STACKS) : beam_tracks(b, TRACK_RETURNS)) {
		proc = ts->ev.proc;
		if (unlikely(beam_layout_state() != LAYOUT_KNOWN ||
			     atomic_load_explicit(&proc->pid, memory_order_relaxed) != argv[2]))
			goto slow;
		depth = proc->n;
		if (call) {
			level = (unsigned)beam_stack_level(env);
			if (unlikely(!beam_stack_deeper(
				    proc, level, env, beam_tracks(b, TRACK_MARKED))))
				goto slow;
		} else {
			level = (unsigned)beam_return_level(env);
			if (unlikely(!beam_stack_newest(proc, level) || beam_raised(env)))
				goto slow;
			fn = proc->frame[depth - 1].fn;
			if (unlikely(fn->number != 0))
				goto slow;
		}
		if (vts && unlikely(proc->in_at == 0 || !clock_try(&began)))
			goto slow;
	} else if (unlikely(!call || b->procs.tab != NULL)) {
		goto slow;
	}
	/* its probe, with one clause */
	n = beam_nprobes(call ? &fn->nentry : &fn->nret);
	if (likely(n == 1)) {
		sole = call ? &fn->call : &fn->end;
		clause = sole->clause;
		if (unlikely(clause == NULL ||
			     atomic_load_explicit(&ts->slot->en->phase, memory_order_acquire) !=
				     PHASE_RUN))
			goto slow;
		if (!vts && atomic_load_explicit(&clause->timed, memory_order_relaxed) &&
			unlikely(!clock_try(&began)))
			goto slow;
		if (beam_fn_has(fn, call ? TRAIT_CALL_PID : TRAIT_END_PID) &&
			unlikely((pid = beam_text_cached(t, argv[2])) == NULL))
			goto slow;
	} else if (n != 0) {
		goto slow;
	}
	/* what it took: not measured this time */
	if (unlikely(!beam_cost_untimed(ts)))
		goto slow;

	/* it is simple: the same, done */
	if (call && proc != NULL)
		depth = beam_stack_push(proc, fn, level);
	else if (!call)
		proc->n = depth - 1;
	if (likely(n == 1)) {
		struct en_thread *slot = ts->slot;

		ts->ev.ended = fn;
		f = beam_event_fill(slot, &ts->ev, &sole->id, clause->prog, sole->probe,
			STRINGS(FUNCTION_ENTRY), env, argv);
		f->ts = began;
		if (vts) {
			ts->ev.began = began;
			f->vts = beam_vts_now(proc, began);
		}
		if (pid != NULL)
			f->arg[ARG(FUNCTION_ENTRY, process)] = beam_str(pid);
		f->arg[ARG(FUNCTION_ENTRY, function)] = beam_str(fn->mfa);
		f->arg[ARG(FUNCTION_ENTRY, depth)] = depth;
		if (call)
			f->arg[ARG(FUNCTION_ENTRY, tail)] = 0; /* it lies deeper than the last */
		if (vts)
			proc->turn -= t->cost;
		beam_event_go(slot, clause->entry);
	} else if (vts) {
		proc->turn -= t->cost;
	}
	beam_thread_leave(t);
	return atom_ok;
slow:
	return call ? slow_call(env, argv, ts) : slow_return(env, argv, ts);
}

/* One function each: there is nothing that it has to save before it is known which. */
#define FAST(name, call, vts)                                                                      \
	PROBE_PATH static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM name(         \
		ErlNifEnv *env, const ERL_NIF_TERM argv[], struct beam_thread *t,                  \
		struct beam_handle *b, struct beam_tstate *ts)                                     \
	{                                                                                          \
		return fast_event(env, argv, t, b, ts, call, vts);                                 \
	}
FAST(fast_call, true, false)
FAST(fast_call_vts, true, true)
FAST(fast_return, false, false)
FAST(fast_return_vts, false, true)

static inline __attribute__((always_inline)) ERL_NIF_TERM on_event(
	ErlNifEnv *env, const ERL_NIF_TERM argv[], bool call)
{
	struct beam_thread *t = beam_self;
	struct beam_handle *b;
	struct beam_tstate *ts;
	uint64_t index;

	if (unlikely(t == NULL))
		return each_call(env, argv);
	beam_thread_enter(t);
	b = beam_event_handle(argv[1], &index);
	ts = &t->tstates[index];
	if (unlikely(b == NULL || ts->number != b->number)) {
		beam_thread_leave(t);
		return each_call(env, argv);
	}
	if (beam_tracks(b, TRACK_VTIME))
		return call ? fast_call_vts(env, argv, t, b, ts)
			    : fast_return_vts(env, argv, t, b, ts);
	return call ? fast_call(env, argv, t, b, ts) : fast_return(env, argv, t, b, ts);
}

PROBE_PATH static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM on_call(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	return on_event(env, argv, true);
}

PROBE_PATH static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM on_return(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	return on_event(env, argv, false);
}

/* trace(Tag, State, Tracee, Term, Opts) */
PROBE_PATH ERL_NIF_TERM nif_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	if (argv[0] == atom_call)
		return on_call(env, argv);
	if (argv[0] == atom_return_to)
		return on_return(env, argv);
	if (argv[0] == atom_send)
		return beam_trace_send(env, argv);
	return beam_trace_any(env, argv);
}
