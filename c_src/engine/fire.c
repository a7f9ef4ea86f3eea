/* SPDX-License-Identifier: Apache-2.0 */
/* THE PROBE PATH: firing by a call (see fire_path.h), faults and the ERROR probe. */
#include "clock.h"
#include "compiler.h"
#include "engine/tables/counter.h"
#include "current.h"
#include "drop.h"
#include "fire.h"
#include "fire_path.h"
#include "probe.h"
#include "prog/prog.h"
#include "prog/record.h"
#include "ring.h"
#include "slot.h"
#include "state.h"

#ifndef __bpf__ /* the kernel's firings begin in kernel/bpf/entries.c */
PROBE_PATH void en_interpret(struct fire *f)
{
	const struct prog_clause *c = f->clause;
	bool bad = false;

	ebpf_run(c->insns, c->ninsns, &f->en->env, f->en->strs, f, &bad);
	if (unlikely(bad))
		rt_fault((uint64_t)(uintptr_t)f, FAULT_ILLOP, 0, 0, 0);
}

PROBE_PATH void en_fire(
	struct en_probe *p, const uint64_t *arg, unsigned strmask, const struct en_current *cur)
{
	struct en_thread *t;
	const struct en_ecb *ecb;
	struct fire *f;

	if (unlikely(!en_enabled(p)))
		return;
	t = en_slot_get(p->en);
	if (unlikely(t == NULL))
		return;
	if (unlikely(cur == NULL || cur->ustack == NULL) ||
		(f = fire_quick(p, t, strmask, cur, cur->key, &ecb)) == NULL) {
		fire_probe(p, t, arg, strmask, cur, PHASE_RUN);
		return;
	}
	for (unsigned m = p->argmask; m != 0; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m);

		f->arg[i] = arg[i];
	}
	fire_go(t, ecb);
}

/*
 * Fire BEGIN or END, which have a phase of their own. What BEGIN leaves in self-> variables END finds,
 * whichever threads they are: in a node go and stop run on any of several.
 */
void en_fire_in(struct en_probe *p, const uint64_t *arg, unsigned phase)
{
	struct en *en = p->en;
	struct en_thread *t;
	uint64_t key;

	if (!en_enabled(p))
		return;
	if (en->shared.fire != NULL) {
		en->shared.fire(en, phase);
		return;
	}
	t = en_slot_own(en);
	key = t->self_key;
	if (en->own_self == 0)
		en->own_self = key;
	t->self_key = en->own_self;
	fire_probe(p, t, arg, 0, NULL, phase);
	t->self_key = key;
}

#endif

/* ---- faults --------------------------------------------------------------------------- */

RTFN(fault)
{
	struct fire *f = FIRE(ctx);
	struct en_thread *t = f->thread;
	uint32_t size = offsetof(struct en_note, process);

	if (a != 0)
		f->fault = (uint32_t)a;
	if (f->fault != FAULT_BADADDR && f->fault != FAULT_BADALIGN && f->fault != FAULT_TERM)
		f->fault_addr = 0;
	if (t->in_error) {
		drop(t, DROP_DBLERROR);
		return 0;
	}
	t->note.head = (struct rec_head){.size = size,
		.kind = REC_ERROR,
		.cpu = (uint16_t)en_cpu(),
		.epid = f->epid,
		.ts = fire_ts(f)};
	t->note.error = (struct rec_error){.fault = f->fault,
		.pc = (uint32_t)b,
		.action = (uint32_t)c,
		.addr = f->fault_addr};
	if (unlikely(f->en->processes))
		size += rec_add_process(f, &t->note.head);
	if (rate_may(t))
		ring_put(t, &t->note, size);
	t->fault_pc = (uint32_t)b;
	t->fault_action = (uint32_t)c;
	t->faulted = true;
	return 0;
}

/* Fire ERROR: a firing of its own in the same slot, with its own scratch memory. */
PROBE_PATH __attribute__((noinline)) bool en_fire_error(struct fire *f)
{
	struct en_thread *t = f->thread;
	struct en_probe *p = t->en->error_probe;
	const struct en_ecblist *l;
	struct fire *err = &t->error;
	uint64_t fired = count_get(&t->fired);
	/* one limit for all faults of an event, instead of one for each */
	uint64_t work = t->error_fired == fired ? err->work : 0;

	t->faulted = false;
	if (p == NULL || (l = atomic_load_explicit(&p->ecbs, memory_order_acquire)) == NULL)
		return false;
	fire_set_up(err, p, 0, f->cur);
	err->work = work;
	t->error_fired = fired;
	err->ts = f->ts;
	err->arg[0] = 0;
	err->arg[1] = f->epid;
	err->arg[2] = t->fault_action;
	err->arg[3] = t->fault_pc;
	err->arg[4] = f->fault;
	err->arg[5] = f->fault == FAULT_TERM ? TERM_WHAT(f->fault_addr) : f->fault_addr;
	t->in_error = true;
	fire_run(t, err, l, atomic_load_explicit(&t->en->phase, memory_order_relaxed), true);
	t->in_error = false;
	return true;
}
