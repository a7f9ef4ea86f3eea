/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks added up. A tick has what came since the one before it, so the sum of all ticks is exact.
 * The number of series of a metric is bounded: when it is reached, further keys are added to a
 * series whose keys are all `other`, and counted.
 */
#include "totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "hash.h"
#include "labels.h"
#include "naming.h"

/* ---- metrics ---------------------------------------------------------------------------- */

static const struct {
	const char *function;
	enum metric_kind kind;
} kinds[] = {{"count", METRIC_COUNT}, {"sum", METRIC_SUM}, {"min", METRIC_MIN}, {"max", METRIC_MAX},
	{"avg", METRIC_AVG}, {"quantize", METRIC_BUCKETS}, {"lquantize", METRIC_BUCKETS},
	{"llquantize", METRIC_BUCKETS}, {"percentile", METRIC_QUANTILES}};

static int kind_of(const char *function)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].function, function) == 0)
			return (int)kinds[i].kind;
	return -1;
}

const char *metric_function(enum metric_kind kind)
{
	size_t i = 0;

	while (kinds[i].kind != kind)
		i++;
	return kinds[i].function;
}

static void series_free(struct series *s)
{
	for (size_t i = 0; i < QUANTILE_PARTS; i++)
		free(s->parts[i].ranks);
	free(s->labels);
	free(s->buckets);
	free(s);
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void metric_clear(struct metric *m)
{
	for (size_t i = 0; i < m->nchains; i++)
		for (struct series *s = m->chains[i], *next; s != NULL; s = next) {
			next = s->next;
			series_free(s);
		}
	free(m->chains);
	free(m->bounds);
	m->chains = NULL;
	m->bounds = NULL;
	m->nchains = m->nseries = m->nbounds = 0;
	m->goes_down = false;
	m->began = ns_of(CLOCK_REALTIME);
}

static void metric_free(struct metric *m)
{
	metric_clear(m);
	free(m->script);
	free(m->aggregation);
	free(m->name);
	free(m->help);
	free(m->unit);
	free(m->why);
	naming_free_labels(m->labels, m->nlabels);
	free(m);
}

struct metric *totals_find(const struct totals *t, const char *script, const char *aggregation)
{
	struct metric *m = t->metrics;

	while (m != NULL &&
		(strcmp(m->script, script) != 0 || strcmp(m->aggregation, aggregation) != 0))
		m = m->next;
	return m;
}

struct metric *totals_new(struct totals *t, const char *script, const char *aggregation)
{
	struct metric *m = calloc(1, sizeof(*m)), **at = &t->metrics;

	if (m == NULL)
		return NULL;
	m->script = strdup(script);
	m->aggregation = strdup(aggregation);
	if (m->script == NULL || m->aggregation == NULL) {
		metric_free(m);
		return NULL;
	}
	m->began = ns_of(CLOCK_REALTIME);
	while (*at != NULL)
		at = &(*at)->next;
	*at = m;
	return m;
}

static bool same_labels(const struct metric *m, const struct naming *n)
{
	for (size_t i = 0; i < m->nlabels && i < n->nlabels; i++)
		if (strcmp(m->labels[i], n->labels[i]) != 0)
			return false;
	return m->nlabels == n->nlabels;
}

/* What the script was before it changed does not add up with what it is now. */
static void metric_set(
	struct metric *m, enum metric_kind kind, struct naming *n, const erltrace_shape_t *shape)
{
	if (m->kind != kind || m->nkeys != shape->nkeys || m->decimals != n->decimals ||
		!same_labels(m, n))
		metric_clear(m);
	m->shown &= m->name != NULL && m->kind == kind && strcmp(m->name, n->name) == 0;
	m->kind = kind;
	m->nkeys = shape->nkeys;
	free(m->name);
	free(m->help);
	free(m->unit);
	naming_free_labels(m->labels, m->nlabels);
	m->name = n->name;
	m->help = n->help;
	m->unit = n->unit;
	m->labels = n->labels;
	m->nlabels = n->nlabels;
	m->decimals = n->decimals;
	m->npercents = 0;
	while (m->npercents < shape->npercents && m->npercents < QUANTILES_MAX) {
		m->percents[m->npercents] = shape->percents[m->npercents];
		m->npercents++;
	}
}

static void set_shown(struct totals *t, struct metric *m, char *why)
{
	bool told = m->why != NULL;

	free(m->why);
	m->why = why;
	m->shown = why == NULL;
	if (t->on_shown != NULL && (why != NULL || told))
		t->on_shown(m);
}

/* Those that are shown keep their names; of the others the first gets one that is free. */
static void settle(struct totals *t)
{
	for (struct metric *m = t->metrics; m != NULL; m = m->next) {
		char *why = m->shown ? NULL : naming_conflict(t, m);

		if (m->shown || (why != NULL && m->why != NULL && strcmp(m->why, why) == 0))
			free(why);
		else
			set_shown(t, m, why);
	}
}

struct metric *totals_metric(
	struct totals *t, const char *script, const erltrace_shape_t *shape, const char **why)
{
	int kind = kind_of(shape->function);
	struct naming n;
	struct metric *m;

	*why = "this aggregating function has no metric";
	if (kind < 0)
		return NULL;
	*why = "out of memory";
	if (naming_of(&n, script, shape) < 0)
		return NULL;
	m = totals_find(t, script, shape->name);
	if (m == NULL && (m = totals_new(t, script, shape->name)) == NULL) {
		naming_free(&n);
		return NULL;
	}
	metric_set(m, (enum metric_kind)kind, &n, shape);
	settle(t);
	return m;
}

static bool is_among(const erltrace_shape_t *shapes, size_t n, const char *aggregation)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(shapes[i].name, aggregation) == 0 && kind_of(shapes[i].function) >= 0)
			return true;
	return false;
}

void totals_keep(struct totals *t, const char *script, const erltrace_shape_t *shapes, size_t n)
{
	for (struct metric **at = &t->metrics, *m; (m = *at) != NULL;) {
		if (strcmp(m->script, script) == 0 && !is_among(shapes, n, m->aggregation)) {
			*at = m->next;
			metric_free(m);
		} else {
			at = &m->next;
		}
	}
	settle(t);
}

void totals_forget(struct totals *t, const char *script)
{
	totals_keep(t, script, NULL, 0);
}

uint64_t metric_unit(const struct metric *m)
{
	uint64_t unit = 1;

	for (unsigned i = 0; i < m->decimals; i++)
		unit *= 10;
	return unit;
}

bool metric_text(const struct metric *m, metric_sum value, char text[METRIC_TEXT])
{
	unsigned __int128 rest = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
	char digits[METRIC_TEXT], *p = digits + sizeof(digits);
	bool whole = true;

	*--p = '\0';
	for (unsigned n = 0; n <= m->decimals || rest > 0; n++, rest /= 10) {
		char digit = (char)('0' + (int)(rest % 10));

		if (n == m->decimals && !whole)
			*--p = '.';
		whole &= n >= m->decimals || digit == '0';
		if (n >= m->decimals || !whole)
			*--p = digit;
	}
	snprintf(text, METRIC_TEXT, "%s%s", value < 0 ? "-" : "", p);
	return whole;
}

void totals_free(struct totals *t)
{
	while (t->metrics != NULL) {
		struct metric *m = t->metrics;

		t->metrics = m->next;
		metric_free(m);
	}
}

/* ---- series ----------------------------------------------------------------------------- */

static struct series **chain_of(const struct metric *m, const char *labels, size_t len)
{
	return &m->chains[hash_bytes(labels, len) % m->nchains];
}

static bool grow(struct metric *m)
{
	struct metric old = *m;

	if (m->nseries < m->nchains)
		return true;
	m->nchains = old.nchains > 0 ? 2 * old.nchains : 16;
	m->chains = calloc(m->nchains, sizeof(struct series *));
	if (m->chains == NULL) {
		*m = old;
		return false;
	}
	for (size_t i = 0; i < old.nchains; i++)
		for (struct series *s = old.chains[i], *next; s != NULL; s = next) {
			struct series **at = chain_of(m, s->labels, s->labels_len);

			next = s->next;
			s->next = *at;
			*at = s;
		}
	free(old.chains);
	return true;
}

static struct series *find(const struct metric *m, const char *labels, size_t len)
{
	struct series *s = m->nchains > 0 ? *chain_of(m, labels, len) : NULL;

	while (s != NULL && (s->labels_len != len || memcmp(s->labels, labels, len) != 0))
		s = s->next;
	return s;
}

struct series *metric_series(struct metric *m, const char *labels, size_t len)
{
	struct series *s = grow(m) ? calloc(1, sizeof(*s)) : NULL, **at;

	if (s == NULL || (s->labels = malloc(len)) == NULL) {
		free(s);
		return NULL;
	}
	memcpy(s->labels, labels, len);
	s->labels_len = len;
	if (m->kind == METRIC_MIN)
		s->value = UINT64_MAX;
	else if (m->kind == METRIC_MAX)
		s->value = INT64_MIN;
	at = chain_of(m, labels, len);
	s->next = *at;
	*at = s;
	m->nseries++;
	return s;
}

/* The series of these keys, or of `other` if there are too many. */
static struct series *series_of(
	struct totals *t, struct metric *m, const char *node, const erltrace_agg_t *change)
{
	size_t len;
	char *labels = label_values(node, change->keys, change->nkeys, false, &len);
	struct series *s = labels != NULL ? find(m, labels, len) : NULL;

	if (s == NULL && labels != NULL && m->nseries >= t->max_series && m->nkeys > 0) {
		free(labels);
		labels = label_values(node, change->keys, change->nkeys, true, &len);
		s = labels != NULL ? find(m, labels, len) : NULL;
		m->to_other++;
	}
	if (s == NULL && labels != NULL)
		s = metric_series(m, labels, len);
	free(labels);
	return s;
}

/* ---- adding ----------------------------------------------------------------------------- */

/* The bounds of a metric are those of all its series: else sums over series would be wrong. */
bool metric_bound(struct metric *m, int64_t le)
{
	size_t i = m->nbounds;

	while (i > 0 && m->bounds[i - 1] >= le)
		i--;
	if (i < m->nbounds && m->bounds[i] == le)
		return true;
	if (!ARRAY_ROOM(m->bounds, m->nbounds))
		return false;
	memmove(m->bounds + i + 1, m->bounds + i, (m->nbounds - i) * sizeof(m->bounds[0]));
	m->bounds[i] = le;
	m->nbounds++;
	return true;
}

bool series_bucket(struct series *s, int64_t le, uint64_t count)
{
	size_t i = s->nbuckets;

	while (i > 0 && s->buckets[i - 1].le >= le)
		i--;
	if (i == s->nbuckets || s->buckets[i].le != le) {
		if (!ARRAY_ROOM(s->buckets, s->nbuckets))
			return false;
		memmove(s->buckets + i + 1, s->buckets + i,
			(s->nbuckets - i) * sizeof(s->buckets[0]));
		s->buckets[i] = (struct bucket){le, 0};
		s->nbuckets++;
	}
	s->buckets[i].count += count;
	return true;
}

uint64_t series_below(const struct series *s, size_t *at, int64_t le)
{
	uint64_t n = 0;

	while (*at < s->nbuckets && s->buckets[*at].le <= le)
		n += s->buckets[(*at)++].count;
	return n;
}

/* A bucket holds the integers from lo to hi - 1. */
static int add_buckets(struct metric *m, struct series *s, const erltrace_agg_t *change)
{
	for (unsigned i = 0; i < change->nbuckets; i++) {
		const erltrace_bucket_t *b = &change->buckets[i];
		int64_t le = b->hi != INT64_MAX ? b->hi - 1 : INT64_MAX;

		if (b->lo != INT64_MIN && !metric_bound(m, b->lo - 1))
			return -1;
		if (le != INT64_MAX && !metric_bound(m, le))
			return -1;
		if (!series_bucket(s, le, (uint64_t)b->count))
			return -1;
		s->count += (uint64_t)b->count;
	}
	return 0;
}

/* ---- quantiles -------------------------------------------------------------------------- */

static int64_t part_now(void)
{
	return (int64_t)(ns_of(CLOCK_MONOTONIC) / 1000000) / QUANTILE_PART_MS;
}

static bool add_rank(struct quantile_part *p, int64_t value, uint64_t count)
{
	size_t i = 0;

	while (i < p->nranks && p->ranks[i].value != value)
		i++;
	if (i == p->nranks) {
		if (!ARRAY_ROOM(p->ranks, p->nranks))
			return false;
		p->ranks[p->nranks++] = (struct rank){value, 0};
	}
	p->ranks[i].count += count;
	return true;
}

/* The middle of a bucket, which is what percentile() itself prints. */
static int64_t middle(const erltrace_bucket_t *b)
{
	int64_t to = b->hi != INT64_MAX ? b->hi - 1 : INT64_MAX;

	return b->lo + (int64_t)(((uint64_t)to - (uint64_t)b->lo) / 2);
}

static int add_ranks(struct series *s, const erltrace_agg_t *change)
{
	int64_t number = part_now();
	struct quantile_part *p = &s->parts[number % QUANTILE_PARTS];

	if (p->number != number) {
		p->number = number;
		p->nranks = 0;
	}
	for (unsigned i = 0; i < change->nbuckets; i++) {
		uint64_t n = (uint64_t)change->buckets[i].count;

		if (!add_rank(p, middle(&change->buckets[i]), n))
			return -1;
		s->count += n;
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* All ranks of the last minute, ascending. To be freed. */
static struct rank *ranks_of(const struct series *s, size_t *n, uint64_t *count)
{
	int64_t oldest = part_now() - QUANTILE_PARTS;
	struct rank *all = NULL;

	*n = *count = 0;
	for (size_t i = 0; i < QUANTILE_PARTS; i++) {
		const struct quantile_part *p = &s->parts[i];

		for (size_t j = 0; p->number > oldest && j < p->nranks; j++) {
			if (!ARRAY_ROOM(all, *n))
				break;
			all[(*n)++] = p->ranks[j];
			*count += p->ranks[j].count;
		}
	}
	if (*n > 0)
		qsort(all, *n, sizeof(all[0]), by_value);
	return all;
}

static uint64_t ceiling(double x)
{
	uint64_t whole = (uint64_t)x;

	return whole + ((double)whole < x);
}

bool series_quantile(const struct series *s, double percent, int64_t *value)
{
	uint64_t count, rank, below = 0;
	size_t n, i = 0;
	struct rank *all = ranks_of(s, &n, &count);

	rank = ceiling(percent / 100 * (double)count);
	while (i + 1 < n && (below += all[i].count) < rank)
		i++;
	if (n > 0)
		*value = all[i].value;
	free(all);
	return n > 0;
}

/* ---- one change -------------------------------------------------------------------------- */

static metric_sum value_of(const erltrace_agg_t *change)
{
	return change->is_signed ? change->value : (metric_sum)(uint64_t)change->value;
}

int metric_add(struct totals *t, struct metric *m, const char *node, const erltrace_agg_t *change)
{
	struct series *s = series_of(t, m, node, change);
	metric_sum v = value_of(change);

	if (s == NULL)
		return -1;
	switch (m->kind) {
	case METRIC_SUM: m->goes_down |= v < 0; /* fall through */
	case METRIC_COUNT: s->value += v; break;
	case METRIC_MIN: s->value = v < s->value ? v : s->value; break;
	case METRIC_MAX: s->value = v > s->value ? v : s->value; break;
	case METRIC_AVG:
		s->value += change->sum;
		s->count += change->count;
		break;
	case METRIC_BUCKETS: return add_buckets(m, s, change);
	case METRIC_QUANTILES: return add_ranks(s, change);
	}
	return 0;
}
