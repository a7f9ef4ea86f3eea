/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH, its short way: calls and returns come by the million, mostly for one handle, of
 * one process after the last, with one clause to run. All of that is checked, and nothing else is
 * done; whatever is not so goes to tracer.c, which knows it all. Every instruction here is one of
 * every event's: look at the machine code when you change it, and measure (make bench).
 */
#include "../engine/fire.h"
#include "beam.h"

static struct beam_proc no_proc; /* of no pid */

/* Once for each thread and handle. */
static __attribute__((noinline)) bool sit(struct beam_seat *s, struct beam_handle *b)
{
	s->slot = en_slot_get(b->h->en);
	s->number = s->slot != NULL ? b->number : 0;
	s->ev = (struct beam_event){.b = b,
		.proc = &no_proc,
		.who = {.vtimestamp = b->vtimestamp, .ustack = beam_ustack, .ops = &beam_ops}};
	return s->slot != NULL;
}

/* Probes that are not for the short way: several clauses, say, or they are being stopped. */
static __attribute__((noinline)) void fire_far(struct beam_event *ev, struct en_probe *const *probe,
	unsigned n, const struct beam_fn *fn, unsigned depth)
{
	uint64_t arg[3] = {0, beam_str(fn->mfa), depth};

	for (unsigned i = 0; i < n; i++) {
		if (probe[i]->argmask & 1)
			arg[0] = beam_str(beam_term_text(ev->pid));
		en_fire(probe[i], arg, 3, &ev->who);
	}
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
	if (unlikely(b->vts)) {
		ev->began = clock_now();
		if (p->in_at == 0)
			p->in_at = ev->began;
	}
	return true;
}

/* The probes of a function's entry or return: mostly there is one. */
static inline __attribute__((always_inline)) void fire(struct beam_seat *seat,
	struct en_probe *const *probe, unsigned n, const struct beam_fn *fn, unsigned depth)
{
	struct en_thread *t = seat->slot;
	struct beam_event *ev = &seat->ev;
	struct en_probe *p = probe[0];
	const struct en_ecb *ecb;
	struct fire *f;

	if (unlikely(n != 1) || (f = fire_quick(p, t, 3, &ev->who, ev->pid, &ecb)) == NULL) {
		fire_far(ev, probe, n, fn, depth);
		return;
	}
	f->arg[1] = beam_str(fn->mfa);
	f->arg[2] = depth;
	if (p->argmask & 1)
		f->arg[0] = beam_str(beam_term_text(ev->pid));
	fire_go(t, ecb);
}

/* Returns false: nothing is done yet. Between enter and leave. */
static inline __attribute__((always_inline)) bool event(ErlNifEnv *env, const ERL_NIF_TERM argv[],
	bool call, struct beam_handle *b, struct beam_seat *seat)
{
	struct beam_event *ev = &seat->ev;
	const struct beam_fn *fn = NULL;
	unsigned n, depth = 0;

	if (unlikely(seat->number != b->number && !sit(seat, b)))
		return false;
	if (call && unlikely((fn = plain_fn(b, argv[3])) == NULL))
		return false;
	if (b->procs.tab != NULL) {
		if (unlikely(atomic_load_explicit(&beam_layout, memory_order_relaxed) !=
				     LAYOUT_KNOWN || !kept(b, ev, argv[2])))
			return false;
		if (call && b->stacks)
			depth = beam_stack_enter(
				&b->procs, ev->proc, fn, (unsigned)beam_stack_level(env));
		else if (!call && likely(b->returns))
			fn = beam_stack_return(
				&b->procs, ev->proc, (unsigned)beam_return_level(env), &depth);
	}
	beam_cost_begin(seat);
	if (likely(fn != NULL && (n = call ? fn->nentry : fn->nret) != 0)) {
		ev->pid = ev->who.key = ev->who.tid = argv[2];
		ev->env = env;
		ev->argv = argv;
		fire(seat, call ? fn->entry : fn->ret, n, fn, depth);
	}
	if (unlikely(b->vts) && ev->proc->in_at != 0)
		beam_vts_end(ev->proc, ev->began);
	beam_cost_end(b, seat);
	return true;
}

static inline __attribute__((always_inline)) ERL_NIF_TERM call_or_return(
	ErlNifEnv *env, const ERL_NIF_TERM argv[], bool call)
{
	struct beam_thread *t = beam_self;
	ERL_NIF_TERM state = argv[1];
	struct beam_handle *b;
	uint64_t place;
	bool done;

	if (unlikely(t == NULL))
		return beam_trace_any(env, argv);
	beam_thread_enter(t);
	place = state == BEAM_ALL_STATE
			? atomic_load_explicit(&beam_only, memory_order_relaxed) % 256
			: (state >> 4) % BEAM_HANDLES;
	b = atomic_load_explicit(&beam_table[place], memory_order_acquire);
	done = likely(b != NULL && atomic_load_explicit(&b->live, memory_order_acquire) &&
		      (state == BEAM_ALL_STATE || b->state == state)) &&
	       event(env, argv, call, b, &t->seats[place]);
	beam_thread_leave(t);
	return likely(done) ? atom_ok : beam_trace_any(env, argv);
}

static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM on_call(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	return call_or_return(env, argv, true);
}

static __attribute__((noinline, no_stack_protector)) ERL_NIF_TERM on_return(
	ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	return call_or_return(env, argv, false);
}

/* trace(Tag, State, Tracee, Term, Opts) */
ERL_NIF_TERM beam_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	if (argv[0] == atom_call)
		return on_call(env, argv);
	if (argv[0] == atom_return_to)
		return on_return(env, argv);
	return beam_trace_any(env, argv);
}
