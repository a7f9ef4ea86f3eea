/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A firing at a time that somebody else says, for events from a file (replay/). Everything else is
 * as in fire_path.h. rand() depends on that time alone, so that the same file gives the same
 * results.
 */
#include "engine/tables/counter.h"
#include "current.h"
#include "fire.h"
#include "fire_path.h"
#include "probe.h"
#include "slot.h"
#include "state.h"

void en_fire_at(struct en_probe *p, const uint64_t *arg, unsigned strmask,
	const struct en_current *cur, uint64_t ts, unsigned phase)
{
	struct en *en = p->en;
	struct en_thread *t = phase == PHASE_RUN ? en_slot_get(en) : en_slot_own(en);
	const struct en_ecblist *l = atomic_load(&p->ecbs);

	if (t == NULL || l == NULL || atomic_load(&en->phase) != phase || !slot_enter(t))
		return;
	count_add(&t->fired, 1);
	t->frame = __builtin_frame_address(0);
	t->rnd = ts * 2 + 1;
	fire_set_up(&t->fire, p, strmask, cur);
	t->fire.ts = ts;
	for (unsigned i = 0; i < 10; i++)
		t->fire.arg[i] = (p->nomask >> i & 1) ? 0 : arg[i];
	fire_run(t, &t->fire, l, phase, false);
	slot_leave(t);
}
