/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What firings cost: one of some tens is timed, and stands for those since the last; where they are
 * expensive, each is. The interval is random, or a pattern in the workload could hide from it. A
 * slot is one CPU's at a time, and so nobody else writes to these words.
 */
#ifndef K_TIMED_H
#define K_TIMED_H

#include "helpers.h"
#include "engine/slot.h"

/*
 * ns that the kernel takes around a firing: to call the program, and to find its slot; for a
 * uprobe, which is a trap. They err on the low side: a script is not ended for what it does not
 * cost. (A system call took 60 more with a program that does nothing, a function 900.)
 */
enum { K_AROUND_NS = 50, K_TRAP_NS = 700 };
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

static inline void time_end(struct en_thread *t)
{
	struct slot_kernel *k = &t->k;
	uint64_t ns;

	if (!k_root.timed || k->timed == 0)
		return;
	ns = bpf_ktime_get_ns() - k->timed;
	k->ns += (ns + K_AROUND_NS) * (ns > K_LONGEST ? 1 : k->batch + 1ULL);
	k->left = k->batch = ns > K_COSTLY ? 0 : K_SKIP + (k->timed >> 4 & (K_SKIP - 1));
}

/* And what is not between these, of this firing. */
static inline void time_add(struct en_thread *t, uint64_t ns)
{
	if (k_root.timed)
		t->k.ns += ns;
}

#endif
