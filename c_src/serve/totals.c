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

#include "array.h"
#include "hash.h"
#include "labels.h"

/* ---- metrics ---------------------------------------------------------------------------- */

static int kind_of(const char *function)
{
	static const struct {
		const char *function;
		enum metric_kind kind;
	} kinds[] = {{"count", METRIC_COUNT}, {"sum", METRIC_SUM}, {"min", METRIC_MIN},
		{"max", METRIC_MAX}, {"avg", METRIC_AVG}, {"quantize", METRIC_BUCKETS},
		{"lquantize", METRIC_BUCKETS}, {"llquantize", METRIC_BUCKETS}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].function, function) == 0)
			return (int)kinds[i].kind;
	return -1;
}

/* erltrace_SCRIPT_AGGREGATION, of the characters that Prometheus permits. */
static char *name_of(const char *script, const char *aggregation)
{
	bool bare = strcmp(aggregation, "_") == 0;
	char *name = NULL;

	if (asprintf(&name, "erltrace_%s%s%s", script, bare ? "" : "_", bare ? "" : aggregation) <
		0)
		return NULL;
	for (char *p = name; *p != '\0'; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			    (*p >= '0' && *p <= '9')))
			*p = '_';
	return name;
}

static void series_free(struct series *s)
{
	free(s->labels);
	free(s->buckets);
	free(s);
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
}

static void metric_free(struct metric *m)
{
	metric_clear(m);
	free(m->script);
	free(m->aggregation);
	free(m->name);
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
	m->name = name_of(script, aggregation);
	if (m->script == NULL || m->aggregation == NULL || m->name == NULL) {
		metric_free(m);
		return NULL;
	}
	while (*at != NULL)
		at = &(*at)->next;
	*at = m;
	return m;
}

static bool name_is_taken(const struct totals *t, const char *script, const char *aggregation)
{
	char *name = name_of(script, aggregation);
	const struct metric *m = t->metrics;

	while (m != NULL && name != NULL && strcmp(m->name, name) != 0)
		m = m->next;
	free(name);
	return m != NULL;
}

struct metric *totals_metric(
	struct totals *t, const char *script, const json_t *shape, const char **why)
{
	const char *aggregation = json_string_value(json_object_get(shape, "aggregation"));
	const char *function = json_string_value(json_object_get(shape, "function"));
	size_t nkeys = (size_t)json_integer_value(json_object_get(shape, "keys"));
	int kind = function != NULL ? kind_of(function) : -1;
	struct metric *m;

	*why = "this aggregating function has no metric";
	if (kind < 0 || aggregation == NULL)
		return NULL;
	m = totals_find(t, script, aggregation);
	*why = "another aggregation has the same name as a metric";
	if (m == NULL && name_is_taken(t, script, aggregation))
		return NULL;
	*why = "out of memory";
	if (m == NULL && (m = metric_new(t, script, aggregation)) == NULL)
		return NULL;
	if (m->kind != (enum metric_kind)kind || m->nkeys != nkeys)
		metric_clear(m); /* the script has changed: what it was does not add up with this */
	m->kind = (enum metric_kind)kind;
	m->nkeys = nkeys;
	return m;
}

void totals_forget(struct totals *t, const char *script)
{
	for (struct metric **at = &t->metrics, *m; (m = *at) != NULL;) {
		if (strcmp(m->script, script) == 0) {
			*at = m->next;
			metric_free(m);
		} else {
			at = &m->next;
		}
	}
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
	char *labels = labels_of(node, keys, false);
	struct series *s = labels != NULL ? find(m, labels) : NULL;

	if (s == NULL && labels != NULL && m->nseries >= t->max_series && m->nkeys > 0) {
		free(labels);
		labels = labels_of(node, keys, true);
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
	}
	return 0;
}
