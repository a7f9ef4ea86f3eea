/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Account at once for many firings that somebody else has counted. The clauses run once,
 * interpreted, with aggregating functions that multiply what they add. So keys, values and
 * predicates are computed by the same code as in a firing. Only clauses that do the same each time
 * can be run like this (d/countable.c).
 */
#include <string.h>

#include "compiler.h"
#include "engine/tables/counter.h"
#include "current.h"
#include "drop.h"
#include "fire.h"
#include "fire_path.h"
#include "probe.h"
#include "prog/prog.h"
#include "prog/rt.h"
#include "slot.h"
#include "state.h"

/*
 * Multiply the increment of count() and of distributions, and the value of sum(); min() and max()
 * do not depend on the number.
 */
#define TIMES(name, value, increment)                                                              \
	static uint64_t times_##name(                                                              \
		uint64_t ctx, uint64_t a, uint64_t b, uint64_t c, uint64_t d)                      \
	{                                                                                          \
		uint64_t n = FIRE(ctx)->times;                                                     \
                                                                                                   \
		(void)n;                                                                           \
		return rt_agg_##name(ctx, a, b, value, increment);                                 \
	}
TIMES(count, c, d * n)
TIMES(sum, c * n, d)
TIMES(quantize, c, d * n)
TIMES(lquantize, c, d * n)
TIMES(llquantize, c, d * n)
TIMES(percentile, c, d * n)

/* The table of runtime functions, with these replaced. */
static const struct ebpf_fn *functions(const struct ebpf_env *env, struct ebpf_fn *fns)
{
	memcpy(fns, env->fns, env->nfns * sizeof(*fns));
	fns[RT_agg_count].fn = times_count;
	fns[RT_agg_sum].fn = times_sum;
	fns[RT_agg_quantize].fn = times_quantize;
	fns[RT_agg_lquantize].fn = times_lquantize;
	fns[RT_agg_llquantize].fn = times_llquantize;
	fns[RT_agg_percentile].fn = times_percentile;
	return fns;
}

bool en_countable(struct en_probe *p)
{
	const struct en_ecblist *l = atomic_load_explicit(&p->ecbs, memory_order_acquire);

	for (unsigned i = 0; l != NULL && i < l->n; i++)
		if (!l->ecb[i].clause->countable)
			return false;
	return l != NULL;
}

bool en_repeatable(struct en_probe *p)
{
	const struct en_ecblist *l = atomic_load_explicit(&p->ecbs, memory_order_acquire);

	for (unsigned i = 0; l != NULL && i < l->n; i++)
		if (!l->ecb[i].clause->repeatable)
			return false;
	return l != NULL;
}

static void run(struct fire *f, const struct en_ecb *ecb, const struct ebpf_env *env)
{
	const struct prog_clause *c = ecb->clause;
	bool bad = false;

	f->epid = ecb->epid;
	f->clause = c;
	f->spec = 0;
	f->rec_tail = 0;
	f->alloca_used = 0;
	f->fault = 0;
	ebpf_run(c->insns, c->ninsns, env, f->en->strs, f, &bad);
	if (unlikely(f->thread->faulted))
		en_fire_error(f);
}

bool en_fire_times(struct en_probe *p, const uint64_t *arg, unsigned strmask,
	const struct en_current *cur, uint64_t times)
{
	const struct en_ecblist *l = atomic_load_explicit(&p->ecbs, memory_order_acquire);
	struct en_thread *t = en_slot_get(p->en);
	struct ebpf_fn fns[RT_COUNT_];
	struct ebpf_env env;
	uint64_t drops;

	if (l == NULL || times == 0)
		return true;
	if (t == NULL || !slot_enter(t))
		return false;
	env = p->en->env;
	env.fns = functions(&p->en->env, fns);
	count_add(&t->fired, times);
	drops = count_get(&t->drops[DROP_AGGREGATION]);
	t->frame = __builtin_frame_address(0);
	fire_set_up(&t->fire, p, strmask, cur);
	memcpy(t->fire.arg, arg, sizeof(t->fire.arg));
	t->fire.times = times;
	for (unsigned i = 0; i < l->n; i++)
		run(&t->fire, &l->ecb[i], &env);
	drops = count_get(&t->drops[DROP_AGGREGATION]) - drops;
	count_add(&t->drops[DROP_AGGREGATION], drops * (times - 1));
	slot_leave(t);
	return true;
}
