/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printa(), and what is left unprinted at the end. Without a format a row is its keys (datum.c),
 * then " %16lld" or a distribution for each value, then a newline; percentiles have columns with a
 * heading (percentile.c). Where a handler wants
 * aggregations as structs it gets them, and no text is made.
 */
#include "consumer.h"

#include <stdlib.h>

#include "aggs.h"
#include "datum.h"
#include "dist.h"
#include "format.h"
#include "percentile.h"
#include "printa.h"
#include "stack_table.h"

/* How the rows of one printa() look. */
struct layout {
	const uint16_t *aggs;
	unsigned n;
	const struct d_fmt *fmt;
	bool hist, pack;  /* a line a key */
	unsigned columns; /* width of percentiles in columns, a line a key; 0: there are none */
	unsigned packed;  /* width of texts in such lines */
	struct di_scale scale;
};

static void put_value(struct co *co, const struct layout *l, const struct ag_val *v)
{
	long long i;

	if (v->a->fn == AGG_PERCENTILE) {
		if (l->columns)
			pc_columns(&co->out, v, l->columns);
		else
			pc_named(&co->out, v);
		return;
	}

	if (ag_is_dist(v->a)) {
		di_print(co, &co->out, v);
		return;
	}
	i = ag_number(v);
	if (v->a->fn == AGG_STDDEV || (v->a->fn != AGG_AVG && !v->a->is_signed))
		cb_fmt(&co->out, " %16llu", (unsigned long long)i);
	else
		cb_fmt(&co->out, " %16lld", i);
}

/* -xaggpercpu: the shares of the threads under the whole. */
static void put_parts(struct co *co, const struct layout *l, const struct ag_ent *e)
{
	const struct ag_part *p;
	unsigned stream;
	struct ag_val v;

	for (p = e ? e->parts : NULL; p != NULL; p = p->next) {
		v = ag_value(co, e->agg, e);
		if (v.data != NULL)
			v.data = p->data;
		cb_fmt(&co->out, "\n    [CPU %u]", co_cpu(co, p->thread, &stream));
		put_value(co, l, &v);
	}
}

/* As wide as the longest text, so that rows stand under each other. */
static unsigned text_width(struct co *co, const struct prog_agg *a, const struct ag_row *rows,
	size_t n, unsigned least)
{
	struct co_val keys[PROG_MAX_KEYS];
	unsigned len;

	for (size_t r = 0; r < n; r++) {
		if (cv_keys(a, rows[r].ent->key, rows[r].ent->keylen, keys) != 0)
			continue;
		for (unsigned i = 0; i < a->nkeys; i++)
			if ((len = da_key_length(co, &keys[i])) > least)
				least = len;
	}
	return least;
}

static void pack_start(struct co *co, struct layout *l, const struct ag_row *rows, size_t n)
{
	const struct prog_agg *a = co->prog->aggs[l->aggs[0]];
	unsigned i, width = 0;
	size_t r;

	if (l->fmt != NULL || n == 0)
		return;
	if (pc_has_columns(co, l->aggs, l->n))
		l->columns = pc_width(co, rows, n, l->n);
	if (l->n != 1 && !l->columns)
		return;
	l->packed = text_width(co, a, rows, n, PACKED_TEXT);
	for (i = 0; i < a->nkeys; i++)
		width = a->keys[i].kind == V_STACK && l->columns
				? 0 /* frames have lines of their own */
				: width + da_key_width(&a->keys[i]) +
					  (a->keys[i].kind != V_INT ? l->packed - PACKED_TEXT : 0);
	if (l->columns) {
		pc_header(co, l->aggs, l->n, width, l->columns);
		return;
	}
	l->hist = co_opt(co, OPT_AGGHIST) && (a->fn == AGG_COUNT || a->fn == AGG_SUM);
	l->pack = co_opt(co, OPT_AGGPACK) && ag_is_dist(a);
	if (l->hist) {
		for (r = 0; r < n; r++) {
			struct ag_val v = ag_value(co, l->aggs[0], rows[r].ent);

			di_hist_add(co, &l->scale, v.data ? (int64_t)v.data[0] : 0);
		}
		di_hist_header(&co->out, width);
	} else if (l->pack) {
		di_pack_scale(co, a, rows, n, &l->scale);
		di_pack_header(&co->out, a, &l->scale, width);
	}
}

static void put_row(struct co *co, const struct layout *l, const struct ag_row *r,
	const struct co_val *keys, unsigned nkeys, struct ag_val *vals)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		vals[i] = ag_value(co, l->aggs[i], r->cols[i]);
	if (l->fmt != NULL) {
		fm_printa(co, &co->out, l->fmt, keys, nkeys, vals, l->n);
		return;
	}
	for (i = 0; i < nkeys; i++)
		da_key(co, &co->out, &keys[i],
			l->hist || l->pack || l->columns ? l->packed : 0);
	if (l->hist) {
		cb_str(&co->out, " ");
		di_bar(co, &co->out, &l->scale, vals[0].data ? (int64_t)vals[0].data[0] : 0,
			vals[0].normal);
		return;
	}
	if (l->pack) {
		di_pack(co, &co->out, &vals[0], &l->scale);
		return;
	}
	for (i = 0; i < l->n; i++) {
		put_value(co, l, &vals[i]);
		put_parts(co, l, r->cols[i]);
	}
	cb_str(&co->out, "\n");
}

static int tell_row(struct co *co, const struct layout *l, const struct ag_row *r)
{
	erltrace_agg_t agg;
	unsigned i;

	for (i = 0; co->rv == 0 && i < l->n; i++)
		if (r->cols[i] != NULL && ag_public(co, r->cols[i], &agg) == 0)
			co->rv = co->h.aggregation(co->h.arg, &agg);
	co_tmp_free(co);
	return co->rv;
}

static bool is_stack_table(struct co *co, const struct layout *l)
{
	return l->fmt == NULL && l->n == 1 && co->h.aggregation == NULL &&
	       sn_is_table(co, co->prog->aggs[l->aggs[0]]);
}

/*
 * Option aggtop: of n rows, in the order in which they are printed, those at the end of the large
 * values.
 */
static struct ag_row *top_rows(struct co *co, struct ag_row *rows, size_t *n)
{
	size_t most = (size_t)co_opt(co, OPT_AGGTOP), more = *n > most ? *n - most : 0;

	if (most == 0 || more == 0)
		return rows;
	*n = most;
	return co_opt(co, OPT_AGGSORTREV) ? rows : rows + more;
}

static int put_rows(struct co *co, struct layout *l, bool mark)
{
	struct ag_val *vals = calloc(l->n, sizeof(*vals));
	struct co_val keys[PROG_MAX_KEYS];
	struct ag_row *all, *rows;
	size_t n, i;
	unsigned c;
	bool table;

	if (vals == NULL || ag_rows(co, l->aggs, l->n, &all, &n) != 0) {
		free(vals);
		co->out.nomem = true;
		return -1;
	}
	co->shown |= n > 0;
	table = is_stack_table(co, l);
	rows = table ? all : top_rows(co, all, &n);
	if (table)
		sn_print(co, rows, n);
	else if (co->h.aggregation == NULL)
		pack_start(co, l, rows, n);
	for (i = 0; co->rv == 0 && i < n; i++) {
		const struct prog_agg *a = co->prog->aggs[rows[i].ent->agg];

		if (table) {
			; /* it is printed */
		} else if (co->h.aggregation != NULL) {
			tell_row(co, l, &rows[i]);
		} else if (cv_keys(a, rows[i].ent->key, rows[i].ent->keylen, keys) == 0) {
			put_row(co, l, &rows[i], keys, a->nkeys, vals);
			co_tmp_free(co);
			co_room(co);
		}
		for (c = 0; mark && c < l->n; c++)
			if (rows[i].cols[c] != NULL)
				ag_set_printed(co, l->aggs[c]);
	}
	free(all);
	free(vals);
	return co->rv;
}

int pa_printa(struct co *co, const struct prog_action *act)
{
	struct layout l = {.aggs = act->aggs, .n = act->naggs, .fmt = act->fmt};
	unsigned i;

	for (i = 0; i < act->naggs; i++)
		if (act->aggs[i] >= co->prog->naggs)
			return 0;
	if (act->naggs == 0)
		return 0;
	if (act->fmt == NULL && co->h.aggregation == NULL)
		cb_str(&co->out, "\n");
	return put_rows(co, &l, true);
}

/* The blank line before them is always there, as dtrace ends with it. */
int pa_final(struct co *co)
{
	unsigned i, n = co->prog->naggs;
	uint16_t agg;
	struct layout l;

	if (co_text_unread(co))
		return co->rv;
	if (co->h.aggregation == NULL)
		cb_str(&co->out, "\n");
	for (i = 0; co->rv == 0 && i < n; i++) {
		agg = (uint16_t)(co_opt(co, OPT_AGGSORTREV) ? n - 1 - i : i);
		l = (struct layout){.aggs = &agg, .n = 1};
		if (!ag_printed(co, agg))
			put_rows(co, &l, false);
	}
	return co->rv;
}
