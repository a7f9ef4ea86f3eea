/* SPDX-License-Identifier: Apache-2.0 */
/* Destructive actions in the kernel (probe path): chill(), raise(), stop(). */
#include "engine/fire.h"
#include "engine/slot.h"
#include "helpers.h"
#include "prog/builtins.h"
#include "prog/record.h"

enum { CHILL_MOST = 50000000, CHILL_WITHIN = 1000000000 }; /* ns: others wait for this CPU */

static inline void chill(struct fire *f, uint64_t ns)
{
	struct en_thread *t = f->thread;
	uint64_t now = bpf_ktime_get_ns(), end = now + ns;

	if (now - t->chill.from > CHILL_WITHIN) {
		t->chill.from = now;
		t->chill.spent = 0;
	}
	if (ns > CHILL_MOST || t->chill.spent + ns > CHILL_MOST) {
		set_fault(f, FAULT_ILLOP, 0);
		return;
	}
	t->chill.spent += ns;
	while (bpf_ktime_get_ns() < end)
		;
}

/* raise() and stop() reach who fires; panic() and breakpoint() are for no tool of ours. */
RTFN(destroy)
{
	struct fire *f = FIRE(ctx);
	uint32_t sig = a == ACT_STOP ? 19 : (uint32_t)b;

	if (!k_root.destructive || f->thread->k.task != 0) {
		set_fault(f, FAULT_ILLOP, 0);
		return 0;
	}
	switch (a) {
	case ACT_CHILL: chill(f, b); break;
	case ACT_RAISE:
	case ACT_STOP:
		if (bpf_send_signal(sig) != 0)
			set_fault(f, FAULT_ILLOP, 0);
		break;
	default: set_fault(f, FAULT_ILLOP, 0);
	}
	return 0;
}
