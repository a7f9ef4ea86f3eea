/* SPDX-License-Identifier: Apache-2.0 */
/* Merged aggregations as the structs that handlers get (include/erltrace.h). */
#include "consumer.h"

#include <string.h>

#include "aggs.h"
#include "prog/hist.h"

static const char *const fn_names[AGG_COUNT_] = {
#define D_BAGG(name, ID, proto, traits) [AGG_##ID] = name,
#include "prog/builtins.def"
};

const char *ag_function(const struct prog_agg *a)
{
	return fn_names[a->fn];
}

/* No libm: the library depends on libc alone. */
static long double root(long double x)
{
	long double r = x > 1 ? x : 1;
	int i;

	if (!(x > 0))
		return 0;
	for (i = 0; i < 200 && r > x / r; i++) {
		long double next = (r + x / r) / 2;

		if (!(next < r))
			break;
		r = next;
	}
	return r;
}

static double exact(const struct prog_agg *a, const uint64_t *data, uint64_t normal)
{
	long double n = data[0], avg, squares;

	if (data[0] == 0)
		return 0;
	avg = (long double)(int64_t)data[1] / n / normal;
	if (a->fn == AGG_AVG)
		return (double)avg;
	squares = ((long double)data[3] * 18446744073709551616.0L + data[2]) / n;
	avg *= normal;
	return (double)(root(squares - avg * avg) / normal);
}

static int public_buckets(struct co *co, const struct ag_val *v, erltrace_agg_t *out)
{
	unsigned i, n = aggfn_nbuckets(v->a), k = 0;
	erltrace_bucket_t *bk;

	for (i = 0; v->data != NULL && i < n; i++)
		out->nbuckets += v->data[i] != 0;
	bk = co_tmp(co, out->nbuckets * sizeof(*bk));
	if (bk == NULL)
		return -1;
	for (i = 0; k < out->nbuckets && i < n; i++) {
		if (v->data[i] == 0)
			continue;
		aggfn_bounds(v->a, i, &bk[k].lo, &bk[k].hi);
		bk[k++].count = (int64_t)((__int128)(int64_t)v->data[i] / (__int128)v->normal);
	}
	out->buckets = bk;
	return 0;
}

/* As they came: of percentile() the values are what normalize() divides. */
static int public_hist(struct co *co, const struct ag_val *v, erltrace_agg_t *out)
{
	const struct hist *h = (const struct hist *)(const void *)v->data;
	unsigned i, b, n = aggfn_npercents(v->a), k = 0;
	erltrace_percentile_t *p = co_tmp(co, n * sizeof(*p));
	erltrace_bucket_t *bk;

	for (i = 0; h != NULL && i < HIST_BUCKETS; i++)
		out->nbuckets += hist_at(h, i) != 0;
	bk = co_tmp(co, out->nbuckets * sizeof(*bk));
	if (p == NULL || bk == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		p[i].percent = (double)aggfn_percent(v->a->param, i) / PERCENT;
		p[i].value = ag_percentile(v, i);
	}
	for (i = 0; k < out->nbuckets && i < HIST_BUCKETS; i++) {
		b = hist_ascending(i);
		if (hist_at(h, b) == 0)
			continue;
		hist_bounds(b, &bk[k].lo, &bk[k].hi);
		bk[k++].count = (int64_t)hist_at(h, b);
	}
	out->percentiles = p;
	out->npercentiles = n;
	out->buckets = bk;
	return 0;
}

static int make_public(struct co *co, const struct ag_ent *e, struct ag_val v, erltrace_agg_t *out)
{
	struct co_val *keys = co_tmp(co, (size_t)v.a->nkeys * sizeof(*keys));

	memset(out, 0, sizeof(*out));
	if (keys == NULL || cv_keys(v.a, e->key, e->keylen, keys) != 0)
		return -1;
	out->name = v.a->name;
	out->function = fn_names[v.a->fn];
	out->keys = cv_public(co, keys, v.a->nkeys);
	out->nkeys = v.a->nkeys;
	out->normal = v.normal;
	out->is_signed = v.a->fn == AGG_AVG || (v.a->fn != AGG_STDDEV && v.a->is_signed);
	if (out->keys == NULL)
		return -1;
	if (ag_is_dist(v.a))
		return public_buckets(co, &v, out);
	if (v.a->fn == AGG_PERCENTILE)
		return public_hist(co, &v, out);
	out->value = ag_number(&v);
	if (v.data == NULL || (v.a->fn != AGG_AVG && v.a->fn != AGG_STDDEV))
		return 0;
	out->avg = exact(v.a, v.data, v.normal);
	out->count = v.data[0];
	out->sum = v.a->fn == AGG_AVG ? (int64_t)v.data[1] : 0;
	return 0;
}

int ag_public(struct co *co, const struct ag_ent *e, erltrace_agg_t *out)
{
	return make_public(co, e, ag_value(co, e->agg, e), out);
}

int ag_public_whole(struct co *co, const struct ag_ent *e, erltrace_agg_t *out)
{
	struct ag_val v = ag_value(co, e->agg, e);

	v.normal = 1;
	return make_public(co, e, v, out);
}
