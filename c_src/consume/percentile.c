/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Percentiles in the consumer. A merged histogram has its groups (prog/hist.h) on the heap, against
 * aggmax. Printed, a key has a line, with a column for each percentage below a heading:
 *
 *              key          p50          p99        p99.9
 *      lists:seq/2          417         1983        10303
 */
#include "consumer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "percentile.h"

#define COLUMN 12 /* of a percentile, at least */
#define NUMBER 16 /* of any other value: printa.c */

/* ---- histograms ----------------------------------------------------------------------- */

static bool needs(const struct hist *into, const struct hist *from, unsigned group)
{
	return from->group[group] != NULL && into->group[group] == NULL;
}

size_t pc_missing(const struct hist *into, const struct hist *from)
{
	size_t n = 0;

	for (unsigned g = 0; g < HIST_GROUPS; g++)
		n += needs(into, from, g);
	return n * HIST_GROUP * sizeof(uint64_t);
}

bool pc_grow(struct hist *into, const struct hist *from)
{
	uint64_t *made[HIST_GROUPS] = {NULL};

	for (unsigned g = 0; g < HIST_GROUPS; g++) {
		if (!needs(into, from, g))
			continue;
		made[g] = calloc(HIST_GROUP, sizeof(uint64_t));
		if (made[g] == NULL) {
			while (g-- > 0)
				free(made[g]);
			return false;
		}
	}
	for (unsigned g = 0; g < HIST_GROUPS; g++)
		if (made[g] != NULL)
			into->group[g] = made[g];
	return true;
}

size_t pc_free(struct hist *h)
{
	size_t n = 0;

	for (unsigned g = 0; g < HIST_GROUPS; g++) {
		n += h->group[g] != NULL;
		free(h->group[g]);
		h->group[g] = NULL;
	}
	return n * HIST_GROUP * sizeof(uint64_t);
}

uint64_t pc_word(const struct hist *h, uint32_t i)
{
	if (i < PC_FIRST_BUCKET)
		return (uint64_t)(i == 0 ? h->min : h->max);
	i -= PC_FIRST_BUCKET;
	return i < HIST_BUCKETS ? hist_at(h, i) : 0;
}

void pc_set_word(struct hist *h, uint32_t i, uint64_t v)
{
	uint64_t *buckets = (uint64_t *)(h + 1);
	unsigned g;

	if (i < PC_FIRST_BUCKET) {
		*(i == 0 ? &h->min : &h->max) = (int64_t)v;
		return;
	}
	i -= PC_FIRST_BUCKET;
	g = i / HIST_GROUP;
	if (g >= HIST_GROUPS)
		return;
	if (h->group[g] == NULL) {
		h->group[g] = buckets + g * HIST_GROUP;
		memset(h->group[g], 0, HIST_GROUP * sizeof(uint64_t));
	}
	h->group[g][i % HIST_GROUP] = v;
}

/* ---- columns -------------------------------------------------------------------------- */

bool pc_has_columns(struct co *co, const uint16_t *aggs, unsigned n)
{
	bool some = false;

	for (unsigned i = 0; i < n; i++) {
		const struct prog_agg *a = co->prog->aggs[aggs[i]];

		if (ag_is_dist(a))
			return false;
		some |= a->fn == AGG_PERCENTILE;
	}
	return some;
}

static unsigned number_width(long long v)
{
	char text[24];

	return (unsigned)snprintf(text, sizeof(text), "%lld", v);
}

unsigned pc_width(struct co *co, const struct ag_row *rows, size_t nrows, unsigned n)
{
	unsigned width = COLUMN, len;

	for (size_t r = 0; r < nrows; r++)
		for (unsigned c = 0; c < n; c++) {
			const struct ag_ent *e = rows[r].cols[c];
			struct ag_val v;

			if (e == NULL || !e->is_hist)
				continue;
			v = ag_value(co, e->agg, e);
			for (unsigned i = 0; i < aggfn_npercents(v.a); i++) {
				len = number_width(ag_percentile(&v, i));
				width = len > width ? len : width;
			}
		}
	return width;
}

static void name(const struct prog_agg *a, unsigned i, char text[1 + PERCENT_TEXT])
{
	text[0] = 'p';
	hist_percent_text(aggfn_percent(a->param, i), text + 1);
}

void pc_header(struct co *co, const uint16_t *aggs, unsigned n, unsigned keys, unsigned width)
{
	struct co_buf *b = &co->out;
	char text[1 + PERCENT_TEXT];

	cb_fmt(b, "\n%*s", (int)keys, keys ? "key" : "");
	for (unsigned i = 0; i < n; i++) {
		const struct prog_agg *a = co->prog->aggs[aggs[i]];

		if (a->fn != AGG_PERCENTILE)
			cb_fmt(b, " %*s", NUMBER, ag_function(a));
		else
			for (unsigned k = 0; k < aggfn_npercents(a); k++) {
				name(a, k, text);
				cb_fmt(b, " %*s", (int)width, text);
			}
	}
	cb_str(b, "\n");
}

void pc_columns(struct co_buf *b, const struct ag_val *v, unsigned width)
{
	for (unsigned i = 0; i < aggfn_npercents(v->a); i++)
		cb_fmt(b, " %*lld", (int)width, (long long)ag_percentile(v, i));
}

void pc_named(struct co_buf *b, const struct ag_val *v)
{
	char text[1 + PERCENT_TEXT];

	for (unsigned i = 0; i < aggfn_npercents(v->a); i++) {
		name(v->a, i, text);
		cb_fmt(b, " %s=%lld", text, (long long)ag_percentile(v, i));
	}
}
