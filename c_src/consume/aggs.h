/* SPDX-License-Identifier: Apache-2.0 */
/* The merged aggregations. */
#ifndef CONSUME_AGGS_H
#define CONSUME_AGGS_H

#include "erltrace.h"
#include "prog/aggfn.h"
#include "prog/prog.h"

struct co;

struct ag_part { /* -xaggpercpu: what one thread gave */
	struct ag_part *next;
	unsigned thread;
	uint64_t data[];
};
struct ag_ent {
	struct ag_ent *next; /* in its bucket */
	struct ag_part *parts;
	uint64_t hash;
	uint64_t seq; /* order of arrival */
	uint32_t keylen;
	uint16_t agg;
	bool empty; /* cleared: nothing came since */
	bool is_hist; /* of percentile(): struct hist */
	const uint8_t *key;
	uint64_t data[];
};
/* A value to print: of an entry, or 0 where a key is missing. */
struct ag_val {
	const struct prog_agg *a;
	const uint64_t *data; /* NULL: 0 */
	uint64_t normal;
};
struct ag_row {
	const struct ag_ent *ent;   /* whose key it is */
	const struct ag_ent **cols; /* one an aggregation; NULL: missing */
};
struct ag;
struct ag *ag_new(void);
void ag_free(struct ag *ag);
int ag_take(struct co *co);
void ag_add(struct co *co, unsigned agg, const void *key, size_t len, const uint64_t *data);
void ag_forget(struct co *co); /* all keys */
void ag_lost(struct co *co);   /* one more drop */
uint64_t ag_changes(const struct ag *ag); /* a number that grows with every change */
/* The tables of what comes from now on, n of them; NULL: out of memory. */
struct ag **ag_live(struct co *co, unsigned n);
bool ag_is_begun(struct ag *ag); /* from the second call on */
uint64_t ag_drops(const struct ag *ag); /* keys that found no room below aggmax */
void ag_clear(struct co *co, unsigned agg);
void ag_trunc(struct co *co, unsigned agg, bool all, int64_t n);
void ag_normalize(struct co *co, unsigned agg, uint64_t normal);
uint64_t ag_normal(struct co *co, unsigned agg);
bool ag_printed(struct co *co, unsigned agg);
void ag_set_printed(struct co *co, unsigned agg);
/* Rows of n aggregations joined by key, sorted as the options say. The caller frees *rows. */
int ag_rows(struct co *co, const uint16_t *aggs, unsigned n, struct ag_row **rows, size_t *nrows);
/* Every entry of one aggregation, or of all (-1), in no order; until fn returns anything but 0. */
int ag_each(struct co *co, int agg, int (*fn)(struct co *co, const struct ag_ent *e, void *arg),
	void *arg);
/* Each entry of a table is given and forgotten, until fn returns anything but 0. */
int ag_give_each(struct co *co, struct ag *ag,
	int (*fn)(struct co *co, const struct ag_ent *e, void *arg), void *arg);
struct ag_val ag_value(struct co *co, unsigned agg, const struct ag_ent *e);
/* count, sum, min, max, avg, stddev as the number that prints; of percentiles the first. */
int64_t ag_number(const struct ag_val *v);
int64_t ag_percentile(const struct ag_val *v, unsigned i); /* the i-th of those asked for */
const char *ag_function(const struct prog_agg *a); /* "count" ... */
bool ag_is_dist(const struct prog_agg *a);
int ag_public(struct co *co, const struct ag_ent *e, erltrace_agg_t *out);
/* The same as if nothing were normalized. */
int ag_public_whole(struct co *co, const struct ag_ent *e, erltrace_agg_t *out);

#endif
