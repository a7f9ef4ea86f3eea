/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What aggregations gathered since the last time, in the structs of handlers: a table of its own
 * for each stream, of which each key is handed on and forgotten.
 */
#include "consumer.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "aggs.h"
#include "prog/hist.h"

/* ---- shapes ----------------------------------------------------------------------------- */

static void set_params(
	erltrace_shape_t *s, const struct prog_agg *a, double percents[AGGFN_PERCENTS])
{
	s->params = (const int64_t *)a->param;
	s->nparams = a->fn == AGG_LQUANTIZE ? 3 : a->fn == AGG_LLQUANTIZE ? 4 : 0;
	s->npercents = a->fn == AGG_PERCENTILE ? aggfn_npercents(a) : 0;
	for (unsigned i = 0; i < s->npercents; i++)
		percents[i] = (double)aggfn_percent(a->param, i) / PERCENT;
	s->percents = percents;
}

/* What is handed on of one aggregation, in one piece of memory with those of the others. */
struct shape {
	double percents[AGGFN_PERCENTS];
	erltrace_metric_t metric;
};

int co_shapes(const struct prog *prog, co_shapes_cb *cb, void *arg)
{
	unsigned n = prog->naggs;
	erltrace_shape_t *shapes = calloc(n + 1, sizeof(*shapes));
	struct shape *parts = calloc(n + 1, sizeof(*parts));
	int rv = -ENOMEM;

	for (unsigned i = 0; shapes != NULL && parts != NULL && i < n; i++) {
		const struct prog_agg *a = prog->aggs[i];

		shapes[i] = (erltrace_shape_t){
			.name = a->name, .function = ag_function(a), .nkeys = a->nkeys};
		set_params(&shapes[i], a, parts[i].percents);
		if (a->metric == NULL)
			continue;
		parts[i].metric = (erltrace_metric_t){a->metric->name, a->metric->help,
			a->metric->unit, a->metric->labels, a->metric->nlabels};
		shapes[i].metric = &parts[i].metric;
	}
	if (shapes != NULL && parts != NULL)
		rv = cb(arg, shapes, n);
	free(parts);
	free(shapes);
	return rv;
}

/* ---- changes ---------------------------------------------------------------------------- */

struct each {
	erltrace_agg_cb *cb;
	void *arg;
};

static int change_one(struct co *co, const struct ag_ent *e, void *arg)
{
	const struct each *to = arg;
	erltrace_agg_t agg;
	int rv = 0;

	if (ag_public_whole(co, e, &agg) == 0)
		rv = to->cb(to->arg, &agg);
	co_tmp_free(co);
	return rv;
}

static int hand_tick(const erltrace_tick_t *tick, const erltrace_change_handlers_t *to)
{
	erltrace_tick_t now = *tick;
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	now.time = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
	return to->tick(to->arg, &now);
}

int co_changes_begin(struct co *co)
{
	return ag_live(co, 1) == NULL ? -ENOMEM : 0;
}

int co_changes(struct co *co, unsigned stream, unsigned nstreams, const erltrace_tick_t *tick,
	const erltrace_change_handlers_t *to)
{
	struct each each = {to->change, to->arg};
	int rv = 0;

	if (ag_live(co, nstreams) == NULL || stream >= co->nlive)
		return -ENOMEM;
	if (!ag_is_begun(co->live[stream]) && to->shapes != NULL)
		rv = co_shapes(co->prog, to->shapes, to->arg);
	if (rv == 0 && to->tick != NULL)
		rv = hand_tick(tick, to);
	if (rv != 0 || to->change == NULL)
		return rv;
	ag_take(co);
	return ag_give_each(co, co->live[stream], change_one, &each);
}

/* Of those whose values add up, so that parts of a whole can be compared. */
static int stack_one(struct co *co, const struct ag_ent *e, void *arg)
{
	const struct prog_agg *a = co->prog->aggs[e->agg];
	bool by_stack = false;

	for (unsigned i = 0; i < a->nkeys; i++)
		by_stack |= a->keys[i].kind == V_STACK;
	return by_stack && (a->fn == AGG_COUNT || a->fn == AGG_SUM) ? change_one(co, e, arg) : 0;
}

int co_stacks(struct co *co, erltrace_agg_cb *cb, void *arg)
{
	struct each to = {cb, arg};

	if (ag_live(co, 1) == NULL)
		return -ENOMEM;
	ag_take(co);
	return ag_give_each(co, co->live[0], stack_one, &to);
}
