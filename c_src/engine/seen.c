/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has seen: seen.h. */
#include "seen.h"

#include <stdatomic.h>

#include "clock.h"
#include "compiler.h"
#include "engine/tables/counter.h"
#include "probe.h"
#include "slot.h"
#include "state.h"

static uint64_t get(const _Atomic(uint64_t) *v)
{
	return atomic_load_explicit((_Atomic(uint64_t) *)v, memory_order_relaxed);
}

void en_seen(const struct en *en, struct en_seen *seen)
{
	const struct en_run *run = &en->run;
	uint64_t fired = en_fired(en), apart = get(&run->apart), until = get(&run->until);

	*seen = (struct en_seen){
		.engines = 1,
		.ns = until != 0 ? until - get(&run->from) : en_now() - get(&run->from),
		.events = fired > apart ? fired - apart : 0,
		.looks = {.rounds = get(&run->rounds),
			.whole = get(&run->whole),
			.things = get(&run->things),
			.now = get(&run->now),
			.there = get(&run->there)}};
}

void en_looked(struct en *en, const struct en_looks *looks)
{
	atomic_store(&en->run.rounds, looks->rounds);
	atomic_store(&en->run.whole, looks->whole);
	atomic_store(&en->run.things, looks->things);
	atomic_store(&en->run.now, looks->now);
	atomic_store(&en->run.there, looks->there);
}

PROBE_PATH void en_apart(struct en *en, int64_t n)
{
	atomic_fetch_add(&en->run.apart, (uint64_t)n);
}

PROBE_PATH void en_fire_apart(struct en_probe *p, const uint64_t *arg, const struct en_current *cur)
{
	const struct en_thread *t = en_slot_get(p->en);
	uint64_t before = t != NULL ? count_get(&t->fired) : 0;

	en_fire(p, arg, 0, cur);
	if (t != NULL)
		en_apart(p->en, (int64_t)(count_get(&t->fired) - before));
}

void en_ran(struct en *en, uint64_t ns)
{
	atomic_store(&en->run.from, 1);
	atomic_store(&en->run.until, 1 + ns);
}
