/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mathematics of aggregating functions: sizes, initial values, merging, and which bucket of a
 * distribution a value belongs to. Nothing here knows about tables or threads.
 *
 * llquantize: positive values below factor^low are in the middle bucket; each power of the factor
 * from low to high is divided into steps of equal width; the last bucket has everything from
 * factor^(high + 1) on. Negative values mirror that around the middle. With fewer steps than the
 * factor, the first bucket of a magnitude is narrower: it begins at the power itself.
 */
#include <string.h>

#include "aggfn.h"
#include "compiler.h"
#include "hist.h"

/* *r = x * y; true: it needs more than 64 bits. */
static inline bool overflows(uint64_t x, uint64_t y, uint64_t *r)
{
	uint64_t high;

	*r = mul_wide(x, y, &high);
	return high != 0;
}

/* ---- llquantize ----------------------------------------------------------------------- */

/* One power of the factor: [from, to) in n steps of this width. */
struct magnitude {
	uint64_t from, to, width;
	unsigned n;	/* buckets of this magnitude */
	unsigned below; /* steps from 0 to its first bucket: those of smaller magnitudes */
	unsigned first; /* its first bucket, counted from the middle one */
	uint64_t order;
};

static inline void ll_shape(const struct prog_agg *a, struct magnitude *m)
{
	uint64_t factor = a->param[0], steps = a->param[3], in = m->to;

	/*
	 * A magnitude has the requested number of steps from 0 to its end, if it has that many
	 * numbers; the steps below its start belong to the one before.
	 */
	if (in > steps)
		in = steps;
	m->width = in ? m->to / in : 1;
	m->below = (unsigned)(in / factor);
	m->n = (unsigned)in - m->below;
}

static inline bool ll_begin(const struct prog_agg *a, struct magnitude *m)
{
	*m = (struct magnitude){.from = 1, .first = 1, .order = a->param[1]};
	for (uint64_t i = 0; i < a->param[1]; i++)
		if (overflows(m->from, a->param[0], &m->from))
			return false;
	if (overflows(m->from, a->param[0], &m->to))
		return false;
	ll_shape(a, m);
	return true;
}

static inline bool ll_next(const struct prog_agg *a, struct magnitude *m)
{
	m->first += m->n;
	m->from = m->to;
	if (m->order++ == a->param[2] || overflows(m->to, a->param[0], &m->to))
		return false;
	ll_shape(a, m);
	return true;
}

/* Buckets on each side of the middle one; 0: bad parameters. */
static unsigned ll_side(const struct prog_agg *a)
{
	struct magnitude m;

	if (a->param[0] < 2 || a->param[3] == 0 || a->param[1] > a->param[2] ||
		a->param[3] > UINT16_MAX || a->param[2] > 64 || !ll_begin(a, &m))
		return 0;
	while (ll_next(a, &m))
		;
	return m.first; /* the overflow bucket */
}

PROBE_PATH static unsigned ll_of(const struct prog_agg *a, uint64_t v)
{
	struct magnitude m;

	if (!ll_begin(a, &m) || v < m.from)
		return 0;
	do {
		if (v < m.to)
			return m.first + (unsigned)(v / m.width) - m.below;
	} while (ll_next(a, &m));
	return m.first;
}

/* Bucket i > 0 of the positive side. */
static void ll_bounds(const struct prog_agg *a, unsigned i, uint64_t *lo, uint64_t *hi)
{
	struct magnitude m;

	*lo = 0;
	*hi = UINT64_MAX;
	if (!ll_begin(a, &m))
		return;
	if (i == 0) {
		*hi = m.from;
		return;
	}
	do {
		if (i < m.first + m.n) {
			*lo = (i - m.first + m.below) * m.width;
			*hi = *lo + m.width;
			if (*lo < m.from)
				*lo = m.from;
			return;
		}
	} while (ll_next(a, &m));
	*lo = m.from;
}

/* ---- buckets -------------------------------------------------------------------------- */

static uint64_t lq_levels(const struct prog_agg *a)
{
	int64_t base = (int64_t)a->param[0], limit = (int64_t)a->param[1];

	if (a->param[2] == 0 || a->param[2] > UINT32_MAX || limit <= base)
		return 0;
	return ((uint64_t)limit - (uint64_t)base) / a->param[2];
}

PROBE_PATH unsigned aggfn_lquantize(const struct prog_agg *a, int64_t v)
{
	int64_t base = (int64_t)a->param[0];
	uint64_t level, levels = a->nbuckets - 2, above;

	if (v < base)
		return 0;
	above = (uint64_t)v - (uint64_t)base;
	if (likely(above <= UINT32_MAX)) /* a much faster division; steps have 16 bits */
		level = (uint32_t)above / (uint32_t)a->param[2];
	else
		level = above / a->param[2];
	return (unsigned)(level < levels ? level : levels) + 1;
}

PROBE_PATH unsigned aggfn_llquantize(const struct prog_agg *a, int64_t v)
{
	unsigned middle = a->nbuckets / 2, i = ll_of(a, aggfn_magnitude(v));

	return v < 0 ? middle - i : middle + i;
}

#ifndef __bpf__
/* ---- sizes, initial values, merging --------------------------------------------------- */

uint32_t aggfn_nbuckets(const struct prog_agg *a)
{
	uint64_t n;

	switch (a->fn) {
	case AGG_QUANTIZE: return QUANTIZE_BUCKETS;
	case AGG_LQUANTIZE: n = lq_levels(a); return n == 0 || n > UINT16_MAX ? 0 : (uint32_t)n + 2;
	case AGG_LLQUANTIZE:
		n = ll_side(a);
		return n == 0 || n > UINT16_MAX ? 0 : 2 * (uint32_t)n + 1;
	default: return 0;
	}
}

uint32_t aggfn_words(const struct prog_agg *a)
{
	switch (a->fn) {
	case AGG_COUNT:
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX: return 1;
	case AGG_AVG: return 2;
	case AGG_STDDEV: return 4;
	case AGG_PERCENTILE: return HIST_WORDS;
	default: return aggfn_nbuckets(a);
	}
}

unsigned aggfn_npercents(const struct prog_agg *a)
{
	unsigned n = 0;

	while (aggfn_percent(a->param, n) != 0)
		n++;
	return n;
}

void aggfn_init(const struct prog_agg *a, uint64_t *data)
{
	if (a->fn == AGG_PERCENTILE) {
		hist_init((struct hist *)(void *)data);
		return;
	}
	memset(data, 0, 8 * (size_t)aggfn_words(a));
	if (a->fn == AGG_MIN)
		*data = INT64_MAX;
	else if (a->fn == AGG_MAX)
		*data = (uint64_t)INT64_MIN;
}

static void merge_squares(uint64_t *into, const uint64_t *from)
{
	unsigned __int128 x = (unsigned __int128)into[1] << 64 | into[0];
	unsigned __int128 y = (unsigned __int128)from[1] << 64 | from[0];

	x += y;
	into[0] = (uint64_t)x;
	into[1] = (uint64_t)(x >> 64);
}

void aggfn_merge(const struct prog_agg *a, uint64_t *into, const uint64_t *from)
{
	uint32_t words = aggfn_words(a);

	switch (a->fn) {
	case AGG_MIN:
		if ((int64_t)*from < (int64_t)*into)
			*into = *from;
		return;
	case AGG_MAX:
		if ((int64_t)*from > (int64_t)*into)
			*into = *from;
		return;
	case AGG_PERCENTILE:
		hist_merge((struct hist *)(void *)into, (const struct hist *)(const void *)from);
		return;
	case AGG_STDDEV:
		into[0] += from[0];
		into[1] += from[1];
		merge_squares(into + 2, from + 2);
		return;
	}
	for (uint32_t i = 0; i < words; i++)
		into[i] += from[i];
}

/* ---- bounds --------------------------------------------------------------------------- */

static int64_t saturate(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* The bucket [from, to) of positive values, or its mirror image (-to, -from]. */
static void place(bool negative, uint64_t from, uint64_t to, bool last, int64_t *lo, int64_t *hi)
{
	if (!negative) {
		*lo = saturate(from);
		*hi = last ? INT64_MAX : saturate(to);
		return;
	}
	*hi = from > INT64_MAX ? INT64_MIN + 1 : 1 - (int64_t)from;
	*lo = last || to > INT64_MAX ? INT64_MIN : 1 - (int64_t)to;
}

void aggfn_bounds(const struct prog_agg *a, unsigned i, int64_t *lo, int64_t *hi)
{
	uint64_t from = 0, to = 1;
	unsigned n, k;

	if (a->fn == AGG_LQUANTIZE) {
		int64_t base = (int64_t)a->param[0], step = (int64_t)a->param[2];
		int64_t levels = (int64_t)lq_levels(a);

		*lo = i == 0 ? INT64_MIN : base + ((int64_t)i - 1) * step;
		*hi = i == 0 ? base : (int64_t)i > levels ? INT64_MAX : *lo + step;
		return;
	}
	n = aggfn_nbuckets(a);
	k = i > n / 2 ? i - n / 2 : n / 2 - i;
	if (a->fn == AGG_LLQUANTIZE)
		ll_bounds(a, k, &from, &to);
	else if (k > 0) {
		from = 1ULL << (k - 1);
		to = 2 * from;
	}
	if (k == 0) { /* the middle one is around 0 */
		*lo = a->fn == AGG_LLQUANTIZE ? 1 - saturate(to) : 0;
		*hi = saturate(to);
		return;
	}
	place(i < n / 2, from, to, k == n / 2, lo, hi);
}
#endif
