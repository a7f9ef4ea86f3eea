/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH, its short way: calls, returns and messages sent come by the million, mostly for
 * one handle, of one process after the last, with one clause to run. All of that is looked at
 * first, and nothing is touched until it is known to be so: whatever is not goes the long way from
 * the beginning, by a jump, so that next to nothing has to be kept across calls. Every instruction
 * here is one of every event's: look at the machine code when you change it, and measure (make
 * bench).
 *
 * The engine's slot is not entered: that the thread is inside a handle says it all (sit).
 */
#include "compiler.h"
#include "engine/clock.h"
#include "engine/fire.h"
#include "engine/fire_path.h"
#include "engine/probe.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/str.h"
#include "prog/prog.h"
#include "beam_handle.h"
#include "erl_builtins.h"
#include "erl_stack.h"
#include "shadow_stack.h"
#include "texts.h"
#include "tracer.h"
#include "vtime.h"

static struct beam_proc no_proc; /* of no pid */

/* Once for each thread and handle. */
static __attribute__((noinline)) bool sit(
	struct beam_thread *t, struct beam_seat *s, struct beam_handle *b)
{
	s->slot = en_slot_get(b->en);
	s->number = s->slot != NULL ? b->number : 0;
	s->ev = (struct beam_event){.b = b,
		.proc = &no_proc,
		.cur = {.vtimestamp = b->vtimestamp, .ustack = beam_ustack, .ops = &beam_ops}};
	if (s->slot == NULL)
		return false;
	atomic_store(&s->slot->outer, &t->seq);
	atomic_thread_fence(memory_order_seq_cst); /* before it looks at what others take away */
	return true;
}

/* The handle of an event, and its place; NULL: none, or it is not live. Between enter and leave. */
static inline struct beam_handle *whose(ERL_NIF_TERM state, uint64_t *place)
{
	struct beam_handle *b;

	*place = state == BEAM_ALL_STATE ? atomic_load_explicit(&beam_only, memory_order_relaxed)
					 : state >> 4;
	*place %= BEAM_HANDLES;
	b = atomic_load_explicit(&beam_table[*place], memory_order_acquire);
	return likely(b != NULL && atomic_load_explicit(&b->live, memory_order_acquire) &&
		       (state == BEAM_ALL_STATE || b->state == state))
		       ? b
		       : NULL;
}

/* {M, F, Arity} is a tuple, and not asked for its elements. NULL: it is not, or of no use here. */
static inline const struct beam_fn *plain_fn(const struct beam_handle *b, ERL_NIF_TERM mfa)
{
	const ERL_NIF_TERM *t = (const ERL_NIF_TERM *)(uintptr_t)(mfa - beam_tuple3.tag);
	const struct beam_fn *fn;

	if (unlikely((mfa & 7) != beam_tuple3.tag || t[0] != beam_tuple3.header))
		return NULL;
	fn = beam_function_find(&b->fns, t[1], t[2], t[3]);
	return likely(fn != NULL && !fn->special) ? fn : NULL;
}

/* ---- the long way of calls and returns ------------------------------------------------- */

/* What is kept of the process. false: nothing yet. */
static inline bool kept(struct beam_handle *b, struct beam_event *ev, ERL_NIF_TERM pid)
{
	struct beam_proc *p = ev->proc;

	if (unlikely(atomic_load_explicit(&p->pid, memory_order_relaxed) != pid)) {
		p = beam_proc_find(&b->procs, pid);
		if (p == NULL)
			return false;
		ev->proc = p;
	}
	if (b->vts) {
		ev->began = clock_now();
		if (p->in_at == 0)
			beam_vts_in(p, ev->began);
	}
	return true;
}

/*
 * The processor's counter takes its time; read early, others go on meanwhile. Whether the clause
 * will read timestamp is what it did the last time that it went this way, where it is asked for.
 */
static void learn(struct en_thread *slot, struct beam_way *way)
{
	bool timed = slot->fire.ts != 0;

	if (way != NULL && atomic_load_explicit(&way->timed, memory_order_relaxed) != timed)
		atomic_store_explicit(&way->timed, timed, memory_order_relaxed);
}

static void fire(struct beam_event *ev, struct en_probe *const *probe, unsigned n,
	const struct beam_fn *fn, unsigned depth, bool tail)
{
	uint64_t arg[4] = {0, beam_str(fn->mfa), depth, tail};

	for (unsigned i = 0; i < n; i++) {
		if (probe[i]->argmask & 1)
			arg[0] = beam_str(beam_term_text(ev->cur.key));
		en_fire(probe[i], arg, 3, &ev->cur);
	}
}

/* Returns false: nothing is done yet. */
static bool event(ErlNifEnv *env, const ERL_NIF_TERM argv[], bool call, struct beam_handle *b,
	struct beam_thread *t, struct beam_seat *seat)
{
	struct beam_event *ev = &seat->ev;
	const struct beam_fn *fn = NULL;
	unsigned n, depth = 0;
	bool tail = false;

	if (unlikely(seat->number != b->number && !sit(t, seat, b)))
		return false;
	if (call && (fn = plain_fn(b, argv[3])) == NULL)
		return false;
	if (b->procs.tab != NULL) {
		if (atomic_load_explicit(&beam_layout, memory_order_relaxed) != LAYOUT_KNOWN ||
			!kept(b, ev, argv[2]))
			return false;
		if (call && b->stacks)
			depth = beam_stack_enter(&b->procs, ev->proc, fn,
				(unsigned)beam_stack_level(env), env, b->marked, &tail);
		else if (!call && b->returns && unlikely(beam_raised(env)))
			beam_stack_raised(&b->procs, ev->proc, (unsigned)beam_stack_level(env));
		else if (!call && b->returns)
			fn = beam_stack_return(
				&b->procs, ev->proc, (unsigned)beam_return_level(env), &depth);
	}
	beam_cost_begin(seat);
	if (fn != NULL && (n = beam_nprobes(call ? &fn->nentry : &fn->nret)) != 0) {
		ev->cur.key = argv[2];
		ev->env = env;
		ev->argv = argv;
		fire(ev, call ? fn->entry : fn->ret, n, fn, depth, tail);
		learn(seat->slot, call ? fn->call.way : fn->end.way);
	}
	if (b->vts && ev->proc->in_at != 0) {
		if (seat->left == UINT32_MAX) /* the short way leaves all measuring to this one */
			beam_vts_took(t, en_now() - ev->began);
		beam_vts_end(ev->proc, ev->began);
	}
	beam_cost_end(b, seat, argv[0]);
	return true;
}

static inline __attribute__((always_inline)) ERL_NIF_TERM far(
	ErlNifEnv *env, const ERL_NIF_TERM argv[], bool call)
{
	struct beam_thread *t = beam_self;
	struct beam_handle *b;
	uint64_t place;
	bool done;

	beam_thread_enter(t);
	b = whose(argv[1], &place);
	done = b != NULL && event(env, argv, call, b, t, &t->seats[place]);
	beam_thread_leave(t);
	return likely(done) ? atom_ok : beam_trace_any(env, argv);
}

static __attribute__((noinline)) ERL_NIF_TERM call_far(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	return far(env, argv, true);
}

static __attribute__((noinline)) ERL_NIF_TERM return_far(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	return far(env, argv, false);
}

/* ---- the short way --------------------------------------------------------------------- */

/* The clause runs; the slot is this thread's, which is inside the handle. */
static inline __attribute__((always_inline)) void go(struct en_thread *slot, ebpf_entry entry)
{
	entry(&slot->fire);
	if (unlikely(slot->faulted))
		en_fire_error(&slot->fire);
}

/* All but the arguments. */
static inline __attribute__((always_inline)) struct fire *fill(struct beam_seat *seat,
	const uint32_t *ids, const struct prog_clause *clause, struct en_probe *p, ErlNifEnv *env,
	const ERL_NIF_TERM argv[])
{
	struct beam_event *ev = &seat->ev;

	ev->cur.key = argv[2];
	ev->env = env;
	ev->argv = argv;
	fire_fill(seat->slot, ids, clause, p, 3, &ev->cur, argv[2]);
	return &seat->slot->fire;
}

/*
 * A call or return of a process whose frames are few and as expected. level: words on its stack.
 * Where there is no shadow stack, proc is NULL.
 */
static inline __attribute__((always_inline)) ERL_NIF_TERM call_or_return(ErlNifEnv *env,
	const ERL_NIF_TERM argv[], struct beam_thread *t, struct beam_handle *b,
	struct beam_seat *seat, bool call, bool vts)
{
	struct beam_proc *proc = NULL;
	const struct beam_fn *fn = NULL;
	const struct beam_only *only = NULL;
	const struct beam_way *way = NULL;
	const struct et_str *pid = NULL;
	unsigned n, depth = 0, level = 0;
	uint64_t began = 0;
	struct fire *f;

	if (call && unlikely((fn = plain_fn(b, argv[3])) == NULL))
		goto far;
	if (call ? b->stacks : b->returns) {
		proc = seat->ev.proc;
		if (unlikely(atomic_load_explicit(&beam_layout, memory_order_relaxed) !=
				     LAYOUT_KNOWN ||
			     atomic_load_explicit(&proc->pid, memory_order_relaxed) != argv[2]))
			goto far;
		depth = proc->n;
		if (call) {
			level = (unsigned)beam_stack_level(env);
			if (unlikely(!beam_stack_deeper(proc, level, env, b->marked)))
				goto far;
		} else {
			level = (unsigned)beam_return_level(env);
			if (unlikely(!beam_stack_newest(proc, level) || beam_raised(env)))
				goto far;
			fn = proc->frame[depth - 1].fn;
		}
		if (vts && unlikely(proc->in_at == 0 || !clock_try(&began)))
			goto far;
	} else if (unlikely(!call || b->procs.tab != NULL)) {
		goto far;
	}
	n = beam_nprobes(call ? &fn->nentry : &fn->nret);
	if (likely(n == 1)) {
		only = call ? &fn->call : &fn->end;
		way = only->way;
		if (unlikely(way == NULL ||
			     atomic_load_explicit(&seat->slot->en->phase, memory_order_acquire) !=
				     PHASE_RUN))
			goto far;
		if (!vts && atomic_load_explicit(&way->timed, memory_order_relaxed) &&
			unlikely(!clock_try(&began)))
			goto far;
		if ((call ? fn->call_pid : fn->end_pid) &&
			unlikely((pid = beam_text_near(t, argv[2])) == NULL))
			goto far;
	} else if (n != 0) {
		goto far;
	}
	if (unlikely(!beam_cost_untimed(seat)))
		goto far;

	/* it is all as it should be */
	if (call && proc != NULL)
		depth = beam_stack_push(proc, fn, level);
	else if (!call)
		proc->n = depth - 1;
	if (likely(n == 1)) {
		struct en_thread *slot = seat->slot;

		f = fill(seat, &only->id, way->clause, only->probe, env, argv);
		f->ts = began;
		if (vts) {
			seat->ev.began = began;
			f->vts = beam_vts_now(proc, began);
		}
		if (pid != NULL)
			f->arg[0] = beam_str(pid);
		f->arg[1] = beam_str(fn->mfa);
		f->arg[2] = depth;
		if (call)
			f->arg[3] = 0; /* no tail call: it lies deeper than the last */
		if (vts)
			proc->turn -= t->cost;
		go(slot, way->entry);
	} else if (vts) {
		proc->turn -= t->cost;
	}
	beam_thread_leave(t);
	return atom_ok;
far:
	beam_thread_leave(t);
	return call ? call_far(env, argv) : return_far(env, argv);
}

/* One function each: there is nothing that it has to save before it is known which. */
#define WAY(name, call, vts)                                                                       \
	static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM name(ErlNifEnv *env,     \
		const ERL_NIF_TERM argv[], struct beam_thread *t, struct beam_handle *b,           \
		struct beam_seat *seat)                                                            \
	{                                                                                          \
		return call_or_return(env, argv, t, b, seat, call, vts);                           \
	}
WAY(call_plain, true, false)
WAY(call_vts, true, true)
WAY(return_plain, false, false)
WAY(return_vts, false, true)

static inline __attribute__((always_inline)) ERL_NIF_TERM near(
	ErlNifEnv *env, const ERL_NIF_TERM argv[], bool call)
{
	struct beam_thread *t = beam_self;
	struct beam_handle *b;
	struct beam_seat *seat;
	uint64_t place;

	if (unlikely(t == NULL))
		return beam_trace_any(env, argv);
	beam_thread_enter(t);
	b = whose(argv[1], &place);
	seat = &t->seats[place];
	if (unlikely(b == NULL || seat->number != b->number)) {
		beam_thread_leave(t);
		return call ? call_far(env, argv) : return_far(env, argv);
	}
	if (b->vts)
		return call ? call_vts(env, argv, t, b, seat) : return_vts(env, argv, t, b, seat);
	return call ? call_plain(env, argv, t, b, seat) : return_plain(env, argv, t, b, seat);
}

static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM on_call(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	return near(env, argv, true);
}

static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM on_return(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	return near(env, argv, false);
}

static __attribute__((noinline)) ERL_NIF_TERM send_far(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	struct beam_thread *t = beam_self;
	struct beam_handle *b;
	uint64_t place;

	beam_thread_enter(t);
	b = whose(argv[1], &place);
	if (b != NULL && t->seats[place].number != b->number)
		sit(t, &t->seats[place], b);
	beam_thread_leave(t);
	return beam_trace_any(env, argv);
}

/* A message to a process of this node, of which at most the two pids are read. */
static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM on_send(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	struct beam_thread *t = beam_self;
	const struct et_str *from = NULL, *to = NULL;
	const struct en_ecb *ecb;
	struct beam_handle *b;
	struct beam_seat *seat;
	struct en_thread *slot;
	struct en_probe *p;
	ERL_NIF_TERM dest;
	uint64_t place;
	struct fire *f;

	if (unlikely(t == NULL))
		return beam_trace_any(env, argv);
	beam_thread_enter(t);
	b = whose(argv[1], &place);
	seat = &t->seats[place];
	if (unlikely(b == NULL || seat->number != b->number || b->procs.tab != NULL ||
		     !beam_extra_near(argv[4], &dest) || (dest & 15) != beam_pid_tag))
		goto far;
	p = b->probe[BP_MESSAGE_SEND];
	slot = seat->slot;
	if (unlikely(p == NULL || (p->argmask & ~3) != 0 || (ecb = fire_only(p, slot)) == NULL))
		goto far;
	if ((p->argmask & 1) && unlikely((from = beam_text_near(t, argv[2])) == NULL))
		goto far;
	if ((p->argmask & 2) && unlikely((to = beam_text_near(t, dest)) == NULL))
		goto far;
	if (unlikely(!beam_cost_untimed(seat)))
		goto far;
	f = fill(seat, &ecb->id, ecb->clause, p, env, argv);
	if (from != NULL)
		f->arg[0] = beam_str(from);
	if (to != NULL)
		f->arg[1] = beam_str(to);
	go(slot, ecb->entry);
	beam_thread_leave(t);
	return atom_ok;
far:
	beam_thread_leave(t);
	return send_far(env, argv);
}

/* trace(Tag, State, Tracee, Term, Opts) */
ERL_NIF_TERM beam_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	if (argv[0] == atom_call)
		return on_call(env, argv);
	if (argv[0] == atom_return_to)
		return on_return(env, argv);
	if (argv[0] == atom_send)
		return on_send(env, argv);
	return beam_trace_any(env, argv);
}
