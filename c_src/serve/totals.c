/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks added up. A tick has what came since the one before it, so the sum of all ticks is exact.
 * The number of series of a metric is bounded: when it is reached, further keys are added to a
 * series whose keys are all `other`, and counted.
 */
#include "totals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "hash.h"
#include "labels.h"
#include "naming.h"
#include "serve.h"

/* ---- metrics ---------------------------------------------------------------------------- */

static int kind_of(const char *function)
{
	static const struct {
		const char *function;
		enum metric_kind kind;
	} kinds[] = {{"count", METRIC_COUNT}, {"sum", METRIC_SUM}, {"min", METRIC_MIN},
		{"max", METRIC_MAX}, {"avg", METRIC_AVG}, {"quantize", METRIC_BUCKETS},
		{"lquantize", METRIC_BUCKETS}, {"llquantize", METRIC_BUCKETS},
		{"percentile", METRIC_QUANTILES}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].function, function) == 0)
			return (int)kinds[i].kind;
	return -1;
}

static void series_free(struct series *s)
{
	for (size_t i = 0; i < QUANTILE_PARTS; i++)
		free(s->parts[i].ranks);
	free(s->labels);
	free(s->buckets);
	free(s);
}

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
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
	m->began = wall_ns();
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
	json_decref(m->labels);
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

static struct metric *metric_new(struct totals *t, const char *script, const char *aggregation)
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
	m->began = wall_ns();
	while (*at != NULL)
		at = &(*at)->next;
	*at = m;
	return m;
}

static bool same_labels(const struct metric *m, const struct naming *n)
{
	return json_equal(m->labels, n->labels) || (m->labels == NULL && n->labels == NULL);
}

static void set_percents(struct metric *m, const json_t *params)
{
	const json_t *p;
	size_t i;

	m->npercents = 0;
	json_array_foreach(params, i, p) if (i < QUANTILES_MAX) m->percents[m->npercents++] =
		json_number_value(p);
}

/* What the script was before it changed does not add up with what it is now. */
static void metric_set(
	struct metric *m, enum metric_kind kind, struct naming *n, const json_t *shape)
{
	size_t nkeys = (size_t)json_integer_value(json_object_get(shape, "keys"));

	if (m->kind != kind || m->nkeys != nkeys || m->decimals != n->decimals ||
		!same_labels(m, n))
		metric_clear(m);
	m->shown &= m->name != NULL && m->kind == kind && strcmp(m->name, n->name) == 0;
	m->kind = kind;
	m->nkeys = nkeys;
	free(m->name);
	free(m->help);
	free(m->unit);
	json_decref(m->labels);
	m->name = n->name;
	m->help = n->help;
	m->unit = n->unit;
	m->labels = n->labels;
	m->decimals = n->decimals;
	set_percents(m, json_object_get(shape, "params"));
}

/* Those that are shown keep their names; of the others the first gets one that is free. */
static void settle(struct totals *t)
{
	for (struct metric *m = t->metrics; m != NULL; m = m->next) {
		const char *name = strcmp(m->aggregation, "_") == 0 ? "" : m->aggregation;
		const char *why = m->shown ? NULL : naming_conflict(t, m, m->name, m->kind);

		if (m->shown || (why != NULL && m->why != NULL && strcmp(m->why, why) == 0))
			continue;
		m->shown = why == NULL;
		if (why != NULL)
			serve_say("%s.d: @%s is left out: %s", m->script, name, why);
		else if (m->why != NULL)
			serve_say("%s.d: @%s is a metric now: nobody else has its name", m->script,
				name);
		free(m->why);
		m->why = why != NULL ? strdup(why) : NULL;
	}
}

struct metric *totals_metric(
	struct totals *t, const char *script, const json_t *shape, const char **why)
{
	const char *aggregation = json_string_value(json_object_get(shape, "aggregation"));
	const char *function = json_string_value(json_object_get(shape, "function"));
	int kind = function != NULL ? kind_of(function) : -1;
	struct naming n;
	struct metric *m;

	*why = "this aggregating function has no metric";
	if (kind < 0 || aggregation == NULL)
		return NULL;
	*why = "out of memory";
	if (naming_of(&n, script, aggregation, shape) < 0)
		return NULL;
	m = totals_find(t, script, aggregation);
	if (m == NULL && (m = metric_new(t, script, aggregation)) == NULL) {
		naming_free(&n);
		return NULL;
	}
	metric_set(m, (enum metric_kind)kind, &n, shape);
	settle(t);
	return m;
}

static bool is_among(const json_t *shapes, const char *aggregation)
{
	const json_t *shape;
	size_t i;

	json_array_foreach(shapes, i, shape)
	{
		const char *name = json_string_value(json_object_get(shape, "aggregation"));
		const char *function = json_string_value(json_object_get(shape, "function"));

		if (name != NULL && function != NULL && strcmp(name, aggregation) == 0 &&
			kind_of(function) >= 0)
			return true;
	}
	return false;
}

/* shapes NULL: all. */
static void forget(struct totals *t, const char *script, const json_t *shapes)
{
	for (struct metric **at = &t->metrics, *m; (m = *at) != NULL;) {
		if (strcmp(m->script, script) == 0 && !is_among(shapes, m->aggregation)) {
			*at = m->next;
			metric_free(m);
		} else {
			at = &m->next;
		}
	}
}

void totals_keep(struct totals *t, const char *script, const json_t *shapes)
{
	forget(t, script, shapes);
	settle(t);
}

void totals_forget(struct totals *t, const char *script)
{
	forget(t, script, NULL);
	settle(t);
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

static struct series **chain_of(const struct metric *m, const char *labels)
{
	return &m->chains[hash_bytes(labels, strlen(labels)) % m->nchains];
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
			struct series **at = chain_of(m, s->labels);

			next = s->next;
			s->next = *at;
			*at = s;
		}
	free(old.chains);
	return true;
}

static struct series *find(const struct metric *m, const char *labels)
{
	struct series *s = m->nchains > 0 ? *chain_of(m, labels) : NULL;

	while (s != NULL && strcmp(s->labels, labels) != 0)
		s = s->next;
	return s;
}

static struct series *series_new(struct metric *m, const char *labels)
{
	struct series *s = grow(m) ? calloc(1, sizeof(*s)) : NULL, **at;

	if (s == NULL || (s->labels = strdup(labels)) == NULL) {
		free(s);
		return NULL;
	}
	s->value = m->kind == METRIC_MIN ? INT64_MAX : m->kind == METRIC_MAX ? INT64_MIN : 0;
	at = chain_of(m, labels);
	s->next = *at;
	*at = s;
	m->nseries++;
	return s;
}

/* The series of these keys, or of `other` if there are too many. */
static struct series *series_of(
	struct totals *t, struct metric *m, const char *node, const json_t *keys)
{
	char *labels = labels_of(node, m->labels, keys, false);
	struct series *s = labels != NULL ? find(m, labels) : NULL;

	if (s == NULL && labels != NULL && m->nseries >= t->max_series && m->nkeys > 0) {
		free(labels);
		labels = labels_of(node, m->labels, keys, true);
		s = labels != NULL ? find(m, labels) : NULL;
		m->to_other++;
	}
	if (s == NULL && labels != NULL)
		s = series_new(m, labels);
	free(labels);
	return s;
}

/* ---- adding ----------------------------------------------------------------------------- */

/* The bounds of a metric are those of all its series: else sums over series would be wrong. */
static bool add_bound(struct metric *m, int64_t le)
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

static bool add_bucket(struct series *s, int64_t le, uint64_t count)
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

/* A bucket holds the integers from lo to hi - 1. */
static int add_buckets(struct metric *m, struct series *s, const json_t *buckets)
{
	const json_t *b;
	size_t i;

	json_array_foreach(buckets, i, b)
	{
		const json_t *lo = json_object_get(b, "lo"), *hi = json_object_get(b, "hi");
		uint64_t n = (uint64_t)json_integer_value(json_object_get(b, "count"));
		int64_t le = json_is_integer(hi) ? json_integer_value(hi) - 1 : INT64_MAX;

		if (json_is_integer(lo) && !add_bound(m, json_integer_value(lo) - 1))
			return -1;
		if (le != INT64_MAX && !add_bound(m, le))
			return -1;
		if (!add_bucket(s, le, n))
			return -1;
		s->count += n;
	}
	return 0;
}

/* ---- quantiles -------------------------------------------------------------------------- */

static int64_t part_now(void)
{
	return serve_ms() / QUANTILE_PART_MS;
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
static int64_t middle(const json_t *bucket)
{
	const json_t *lo = json_object_get(bucket, "lo"), *hi = json_object_get(bucket, "hi");
	int64_t from = json_is_integer(lo) ? json_integer_value(lo) : INT64_MIN;
	int64_t to = json_is_integer(hi) ? json_integer_value(hi) - 1 : INT64_MAX;

	return from + (int64_t)(((uint64_t)to - (uint64_t)from) / 2);
}

static int add_ranks(struct series *s, const json_t *buckets)
{
	int64_t number = part_now();
	struct quantile_part *p = &s->parts[number % QUANTILE_PARTS];
	const json_t *b;
	size_t i;

	if (p->number != number) {
		p->number = number;
		p->nranks = 0;
	}
	json_array_foreach(buckets, i, b)
	{
		uint64_t n = (uint64_t)json_integer_value(json_object_get(b, "count"));

		if (!add_rank(p, middle(b), n))
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

bool series_quantile(const struct series *s, double percent, int64_t *value)
{
	uint64_t count, rank, below = 0;
	size_t n, i = 0;
	struct rank *all = ranks_of(s, &n, &count);

	rank = (uint64_t)ceil(percent / 100 * (double)count);
	while (i + 1 < n && (below += all[i].count) < rank)
		i++;
	if (n > 0)
		*value = all[i].value;
	free(all);
	return n > 0;
}

/* ---- one part of a tick ----------------------------------------------------------------- */

/* A string: job.c. Beyond 63 bits it is the nearest that there is. */
static int64_t integer(const json_t *v)
{
	return json_is_string(v) ? strtoll(json_string_value(v), NULL, 10) : json_integer_value(v);
}

int metric_add(struct totals *t, struct metric *m, const char *node, const json_t *part)
{
	const json_t *value = json_object_get(part, "value");
	struct series *s = series_of(t, m, node, json_object_get(part, "keys"));
	int64_t v = integer(value);
	uint64_t n;

	if (s == NULL)
		return -1;
	switch (m->kind) {
	case METRIC_SUM: m->goes_down |= v < 0; /* fall through */
	case METRIC_COUNT: s->value = (int64_t)((uint64_t)s->value + (uint64_t)v); break;
	case METRIC_MIN: s->value = v < s->value ? v : s->value; break;
	case METRIC_MAX: s->value = v > s->value ? v : s->value; break;
	case METRIC_AVG: /* the sum is an integer, so this is exact up to 2^53 */
		n = (uint64_t)integer(json_object_get(part, "count"));
		s->sum += nearbyint(json_number_value(value) * (double)n);
		s->count += n;
		break;
	case METRIC_BUCKETS: return add_buckets(m, s, json_object_get(part, "buckets"));
	case METRIC_QUANTILES: return add_ranks(s, json_object_get(part, "buckets"));
	}
	return 0;
}

/* ---- a metric of saved.c ---------------------------------------------------------------- */

static char *copy_of(const json_t *o, const char *member)
{
	const char *text = json_string_value(json_object_get(o, member));

	return text != NULL ? strdup(text) : NULL;
}

static int restore_series(struct metric *m, const json_t *saved)
{
	const char *labels = json_string_value(json_object_get(saved, "labels"));
	struct series *s = labels != NULL ? series_new(m, labels) : NULL;
	const json_t *b;
	size_t i;

	if (s == NULL)
		return -1;
	s->value = json_integer_value(json_object_get(saved, "value"));
	s->sum = json_number_value(json_object_get(saved, "sum"));
	s->count = (uint64_t)json_integer_value(json_object_get(saved, "count"));
	json_array_foreach(json_object_get(saved, "buckets"), i, b)
	{
		if (!add_bucket(s, json_integer_value(json_array_get(b, 0)),
			    (uint64_t)json_integer_value(json_array_get(b, 1))))
			return -1;
	}
	return 0;
}

static void restore_names(struct metric *m, const json_t *saved)
{
	json_t *labels = json_object_get(saved, "labels");
	const json_t *p;
	size_t i;

	m->name = copy_of(saved, "name");
	m->help = copy_of(saved, "help");
	m->unit = copy_of(saved, "unit");
	m->labels = json_is_array(labels) ? json_incref(labels) : NULL;
	m->decimals = (unsigned)json_integer_value(json_object_get(saved, "decimals"));
	m->kind = (enum metric_kind)json_integer_value(json_object_get(saved, "kind"));
	m->nkeys = (size_t)json_integer_value(json_object_get(saved, "keys"));
	m->goes_down = json_is_true(json_object_get(saved, "goes_down"));
	m->to_other = (uint64_t)json_integer_value(json_object_get(saved, "to_other"));
	m->began = (uint64_t)json_integer_value(json_object_get(saved, "began"));
	m->shown = !json_is_true(json_object_get(saved, "left_out"));
	json_array_foreach(json_object_get(saved, "percents"), i, p)
	{
		if (i < QUANTILES_MAX)
			m->percents[m->npercents++] = json_number_value(p);
	}
}

int totals_restore(struct totals *t, const json_t *saved)
{
	const char *script = json_string_value(json_object_get(saved, "script"));
	const char *aggregation = json_string_value(json_object_get(saved, "aggregation"));
	struct metric *m;
	const json_t *o;
	size_t i;

	if (script == NULL || aggregation == NULL || totals_find(t, script, aggregation) != NULL)
		return -1;
	m = metric_new(t, script, aggregation);
	if (m == NULL)
		return -1;
	restore_names(m, saved);
	if (m->name == NULL || m->kind > METRIC_QUANTILES || m->decimals > 9)
		return -1;
	json_array_foreach(json_object_get(saved, "bounds"), i, o)
	{
		if (!add_bound(m, json_integer_value(o)))
			return -1;
	}
	json_array_foreach(json_object_get(saved, "series"), i, o)
	{
		if (restore_series(m, o) < 0)
			return -1;
	}
	return 0;
}
