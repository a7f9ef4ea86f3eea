/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH: a probe fires, its clauses run. A firing inside a firing of the same thread (a
 * signal handler, a callback of the provider) returns at once. What a clause's fault leaves for
 * the ERROR probe is fired here, after the clause.
 */
#include "internal.h"

PROBE_PATH static __attribute__((noinline)) void interpret(struct fire *f)
{
	const struct prog_clause *c = f->clause;
	bool bad = false;

	ebpf_run(c->insns, c->ninsns, &f->en->env, f->en->strs, f, &bad);
	if (unlikely(bad))
		rt_fault((uint64_t)(uintptr_t)f, FAULT_ILLOP, 0, 0, 0);
}

/* The clauses of l. They run on as long as tracing is in this phase: exit() ends it. */
PROBE_PATH static inline void run(
	struct en_thread *t, struct fire *f, const struct en_ecblist *l, unsigned phase)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct en_ecb *ecb = &l->ecb[i];

		if (i > 0 && atomic_load_explicit(&t->en->phase, memory_order_relaxed) != phase)
			break;
		f->epid = ecb->epid;
		f->clause = ecb->clause;
		f->spec = 0;
		f->rec_tail = 0;
		f->alloca_used = 0;
		f->fault = 0;
		if (likely(ecb->entry != NULL))
			ecb->entry(f);
		else
			interpret(f);
		if (unlikely(t->faulted))
			en_fire_error(f);
	}
}

PROBE_PATH static inline void set_up(
	struct fire *f, struct en_probe *p, unsigned strmask, const struct en_who *who)
{
	f->id = p->id;
	f->probe = p;
	f->strmask = strmask;
	f->who = who;
	f->ts = f->vts = f->wts = 0;
}

PROBE_PATH static inline __attribute__((always_inline)) void fire(struct en_probe *p,
	struct en_thread *t, const uint64_t *arg, unsigned strmask, const struct en_who *who,
	unsigned phase)
{
	struct en *en = p->en;
	const struct en_ecblist *l;
	struct fire *f;

	if (unlikely(t == NULL || !slot_enter(t)))
		return;
	f = &t->fire;
	l = atomic_load_explicit(&p->ecbs, memory_order_acquire);
	if (unlikely(atomic_load_explicit(&en->phase, memory_order_acquire) != phase || l == NULL))
		goto out;
	if (unlikely(en->only_cpu != UINT64_MAX) && en_cpu() != en->only_cpu && phase == PHASE_RUN)
		goto out;
	count_add(&t->fired, 1);
	t->frame = __builtin_frame_address(0);
	set_up(f, p, strmask, who);
	for (unsigned m = p->argmask; m != 0; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m);

		f->arg[i] = arg[i];
	}
	run(t, f, l, phase);
out:
	slot_leave(t);
}

PROBE_PATH void en_fire(
	struct en_probe *p, const uint64_t *arg, unsigned strmask, const struct en_who *who)
{
	if (en_enabled(p))
		fire(p, en_slot_get(p->en), arg, strmask, who, PHASE_RUN);
}

/* BEGIN and END: by the engine itself, in a phase of their own. */
void en_fire_in(struct en_probe *p, const uint64_t *arg, unsigned phase)
{
	if (en_enabled(p))
		fire(p, en_slot_own(p->en), arg, 0, NULL, phase);
}

/* ---- faults --------------------------------------------------------------------------- */

RTFN(fault)
{
	struct fire *f = FIRE(ctx);
	struct en_thread *t = f->thread;
	struct {
		struct rec_head head;
		struct rec_error error;
	} rec;

	if (a != 0)
		f->fault = (uint32_t)a;
	if (f->fault != FAULT_BADADDR && f->fault != FAULT_BADALIGN)
		f->fault_addr = 0;
	if (t->in_error) {
		drop(t, DROP_DBLERROR);
		return 0;
	}
	rec.head = (struct rec_head){.size = sizeof(rec),
		.kind = REC_ERROR,
		.cpu = (uint16_t)en_cpu(),
		.epid = f->epid,
		.ts = fire_ts(f)};
	rec.error = (struct rec_error){.fault = f->fault, .pc = (uint32_t)b, .addr = f->fault_addr};
	ring_put(t, &rec, sizeof(rec));
	t->fault_pc = (uint32_t)b;
	t->faulted = true;
	return 0;
}

/* The ERROR probe: its own firing in the same slot, with scratch memory of its own. */
PROBE_PATH __attribute__((noinline)) void en_fire_error(struct fire *f)
{
	struct en_thread *t = f->thread;
	struct en_probe *p = t->en->error_probe;
	const struct en_ecblist *l;
	struct fire *err = &t->error;

	t->faulted = false;
	if (p == NULL || (l = atomic_load_explicit(&p->ecbs, memory_order_acquire)) == NULL)
		return;
	set_up(err, p, 0, f->who);
	err->ts = f->ts;
	err->arg[0] = 0;
	err->arg[1] = f->epid;
	err->arg[2] = 0;
	err->arg[3] = t->fault_pc;
	err->arg[4] = f->fault;
	err->arg[5] = f->fault_addr;
	t->in_error = true;
	run(t, err, l, atomic_load_explicit(&t->en->phase, memory_order_relaxed));
	t->in_error = false;
}
