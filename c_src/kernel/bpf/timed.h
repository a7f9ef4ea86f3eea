/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What firings cost: one of some tens is timed, and stands for those since the last; where they are
 * expensive, each is. The interval is random, or a pattern in the workload could hide from it. A
 * slot is one CPU's at a time, and so nobody else writes to these words.
 *
 * And whether somebody looks after the script, who would end one that costs too much.
 */
#ifndef K_TIMED_H
#define K_TIMED_H

#include "helpers.h"
#include "engine/slot.h"
#include "engine/state.h"

/*
 * ns that the kernel takes around a firing: to call the program, and to find its slot; for a
 * uprobe, which is a trap; for a sample, which is an interrupt. They err on the low side: a script is not ended for what it does not
 * cost. (A system call took 60 more with a program that does nothing, a function 900.)
 */
enum { K_AROUND_NS = 50, K_TRAP_NS = 700, K_SAMPLE_NS = 1000 };
enum { K_HIDDEN_NS = 150 }; /* for the program to find that the clause may not see the process */
/*
 * ns: above this each is timed; above this one was taken off its CPU, or waited, and stands for
 * itself. At least so many are not timed.
 */
enum { K_COSTLY = 5000, K_LONGEST = 1000000, K_SKIP = 16 };

static inline void time_begin(struct en_thread *t)
{
	struct slot_kernel *k = &t->k;

	if (!k_root.timed)
		return;
	k->timed = 0;
	if (k->left == 0)
		k->timed = bpf_ktime_get_ns();
	else
		k->left--;
}

enum { K_SURE = 5 }; /* a fifth of patience: how long a beat must be too old */

/* Nobody does: firings end. (A machine that was stopped beats as it goes on.) */
static inline void look_at_beat(struct en *en, uint64_t now)
{
	struct en_beat *b = &en->shared.beat;

	if (b->patience == 0 || now < b->at + b->patience)
		return;
	if (b->stale < b->at) {
		b->stale = now;
	} else if (now > b->stale + b->patience / K_SURE) {
		b->stalled = true;
		en->phase = PHASE_DRAIN;
	}
}

static inline void time_end(struct en_thread *t)
{
	struct slot_kernel *k = &t->k;
	uint64_t now, ns;

	if (!k_root.timed || k->timed == 0)
		return;
	now = bpf_ktime_get_ns();
	ns = now - k->timed;
	k->ns += (ns + K_AROUND_NS) * (ns > K_LONGEST ? 1 : k->batch + 1ULL);
	k->left = k->batch = ns > K_COSTLY ? 0 : K_SKIP + (k->timed >> 4 & (K_SKIP - 1));
	look_at_beat(t->en, now);
}

/*
 * What a firing costs that a clause may not see: it takes no slot, but is added to the CPU's. (An
 * interrupt that does the same at this moment may be lost.)
 */
static inline void time_hidden(struct k_root *r, uint64_t ns)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	if (!r->timed || cpu >= r->cpu_slots)
		return;
	en_slot(r->en, cpu)->k.ns += ns;
	look_at_beat(r->en, bpf_ktime_get_ns());
}

/* And what is not between these, of this firing. */
static inline void time_add(struct en_thread *t, uint64_t ns)
{
	if (k_root.timed)
		t->k.ns += ns;
}

#endif
