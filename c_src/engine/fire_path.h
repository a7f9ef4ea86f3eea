/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE PROBE PATH: a probe fires, its clauses run. A firing inside a firing of the same thread (from
 * a signal handler, or a callback of the provider) returns at once. If a clause has faulted, the
 * ERROR probe fires here, after the clause.
 *
 * All of it is inline, for fire.c and for providers with millions of events a second.
 */
#ifndef EN_FIRE_PATH_H
#define EN_FIRE_PATH_H

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "compiler.h"
#include "fire.h"
#include "probe.h"
#include "slot.h"

void en_interpret(struct fire *f); /* a clause without machine code */
uint64_t k_clause(struct fire *f, uint64_t clause); /* in the kernel: made by the linker */
uint64_t k_was_cut(void); /* has a bound of its loops ended a function? kernel/bpf/memory.c */

static inline void fire_clause(struct fire *f, const struct en_ecb *ecb)
{
#ifdef __bpf__
	k_clause(f, ecb->index);
#else
	if (likely(ecb->entry != NULL))
		ecb->entry(f);
	else
		en_interpret(f);
#endif
}

/*
 * Run the clauses of l for as long as tracing is in this phase: exit() ends it. A fault in a clause
 * of the ERROR probe does not fire it again.
 */
static inline __attribute__((always_inline)) void fire_run(struct en_thread *t, struct fire *f,
	const struct en_ecblist *l, unsigned phase, bool of_error)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct en_ecb *ecb = &l->ecb[i];

		/* in the kernel unconditional, so that BPF's verifier need not track i */
		if ((i > 0 || IN_KERNEL) &&
			atomic_load_explicit(&t->en->phase, memory_order_relaxed) != phase)
			break;
		f->epid = ecb->epid;
		f->clause = ecb->clause;
		f->spec = 0;
		f->rec_tail = 0;
		f->alloca_used = 0;
		f->fault = 0;
		fire_clause(f, ecb);
#ifdef __bpf__
		if (!of_error && k_was_cut() && f->fault == 0)
			rt_fault((uint64_t)(uintptr_t)f, FAULT_LOOP, 0, 0, 0);
#endif
		if (!of_error && unlikely(t->faulted))
			en_fire_error(f);
	}
}

static inline void fire_set_up(
	struct fire *f, struct en_probe *p, unsigned strmask, const struct en_current *cur)
{
	f->id = p->id;
	f->probe = p;
	f->strmask = strmask;
	f->cur = cur;
	f->self = cur != NULL ? cur->key : f->thread->self_key;
	f->ts = 0;
	memset(&f->vts, 0, offsetof(struct fire, memo_word) - offsetof(struct fire, vts));
}

#ifndef __bpf__
static inline __attribute__((always_inline)) void fire_probe(struct en_probe *p,
	struct en_thread *t, const uint64_t *arg, unsigned strmask, const struct en_current *cur,
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
	fire_set_up(f, p, strmask, cur);
	for (unsigned m = p->argmask; m != 0; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m);

		f->arg[i] = arg[i];
	}
	for (unsigned m = p->nomask; unlikely(m != 0); m &= m - 1)
		f->arg[__builtin_ctz(m)] = 0;
	fire_run(t, f, l, phase, false);
out:
	slot_leave(t);
}

/* The clause of a probe whose list is "quick" (see en_ecblist); NULL: use en_fire. */
static inline const struct en_ecb *fire_only(const struct en_probe *p, const struct en_thread *t)
{
	const struct en_ecblist *l = atomic_load_explicit(
		(_Atomic(struct en_ecblist *) *)&p->ecbs, memory_order_acquire);

	return likely(l != NULL && l->quick &&
		       atomic_load_explicit(&t->en->phase, memory_order_acquire) == PHASE_RUN)
		       ? &l->ecb[0]
		       : NULL;
}

/* Set up all but the arguments. ids: id and epid, as in struct en_ecb. */
static inline __attribute__((always_inline)) void fire_fill(struct en_thread *t,
	const uint32_t *ids, const struct prog_clause *clause, struct en_probe *p, unsigned strmask,
	const struct en_current *cur, uint64_t self)
{
	struct fire *f = &t->fire;

	count_add(&t->fired, 1);
	memcpy(&f->id, ids, 8);
	f->fault = 0;
	f->strmask = strmask;
	f->ts = 0;
	f->spec = 0;
	memset(&f->rec_tail, 0, offsetof(struct fire, memo_word) - offsetof(struct fire, rec_tail));
	f->self = self;
	f->probe = p;
	f->clause = clause;
	f->cur = cur;
}

/*
 * The fast path, for a probe whose list is quick (most are) and a provider that already has the
 * current task and the slot. The caller stores the arguments that are read into arg[] of the
 * result, then calls fire_go. NULL: use en_fire.
 */
static inline __attribute__((always_inline)) struct fire *fire_quick(struct en_probe *p,
	struct en_thread *t, unsigned strmask, const struct en_current *cur, uint64_t self,
	const struct en_ecb **ecb)
{
	if (unlikely(!slot_enter(t)))
		return NULL;
	*ecb = fire_only(p, t);
	if (unlikely(*ecb == NULL)) {
		slot_leave(t);
		return NULL;
	}
	fire_fill(t, &(*ecb)->id, (*ecb)->clause, p, strmask, cur, self);
	return &t->fire;
}

static inline __attribute__((always_inline)) void fire_go(
	struct en_thread *t, const struct en_ecb *ecb)
{
	ecb->entry(&t->fire);
	if (unlikely(t->faulted))
		en_fire_error(&t->fire);
	slot_leave(t);
}
#endif

#endif
