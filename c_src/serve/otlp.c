/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP: counters are cumulative sums, distributions are histograms with their bounds, averages are
 * summaries. percentile() is a gauge for each quantile, as a summary of OTLP must have a sum, which
 * D does not keep. A post has all totals, so that one that is not delivered is no loss: the next
 * has them too. While one waits to be delivered, no other is made.
 */
#include "otlp.h"
#include "serve.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "erltrace.h"

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* 64-bit integers are strings in the JSON of protocol buffers. */
static json_t *number64(uint64_t n)
{
	return json_sprintf("%" PRIu64, n);
}

static json_t *attribute(const char *key, const char *value, size_t len)
{
	return json_pack("{s:s,s:{s:o}}", "key", key, "value", "stringValue",
		json_stringn_nocheck(value, len));
}

/* A value as labels.c escaped it; where it ends. */
static const char *unescape(const char *p, char *to, size_t *len)
{
	size_t n = 0;

	for (; *p != '\0' && *p != '"'; p++) {
		if (*p == '\\' && p[1] != '\0') {
			p++;
			to[n++] = *p == 'n' ? '\n' : *p;
		} else {
			to[n++] = *p;
		}
	}
	*len = n;
	return *p == '"' ? p + 1 : p;
}

/* node="a",key0="b" as attributes. */
static json_t *attributes(const char *labels)
{
	json_t *list = json_array();
	char *value = malloc(strlen(labels) + 1), *key;
	size_t len;

	while (value != NULL && *labels != '\0') {
		size_t n = strcspn(labels, "=");

		key = strndup(labels, n);
		if (key == NULL || strlen(labels) < n + 2) {
			free(key);
			break;
		}
		labels = unescape(labels + n + 2, value, &len);
		json_array_append_new(list, attribute(key, value, len));
		free(key);
		labels += *labels == ',';
	}
	free(value);
	return list;
}

/* Totals of --state began before this server did: a new beginning would be a reset. */
static json_t *point(const struct metric *m, const struct series *s)
{
	return json_pack("{s:o,s:o,s:o}", "attributes", attributes(s->labels), "startTimeUnixNano",
		number64(m->began), "timeUnixNano", number64(wall_ns()));
}

static double scaled(const struct metric *m, int64_t value)
{
	return (double)value / pow(10, m->decimals);
}

static void set_value(json_t *p, const struct metric *m, int64_t value)
{
	if (m->decimals > 0)
		json_object_set_new(p, "asDouble", json_real(scaled(m, value)));
	else
		json_object_set_new(p, "asInt", json_sprintf("%" PRId64, value));
}

/* ---- points of each kind ---------------------------------------------------------------- */

static void add_number(json_t *list, const struct metric *m, const struct series *s)
{
	json_t *p = point(m, s);

	set_value(p, m, s->value);
	json_array_append_new(list, p);
}

static void add_average(json_t *list, const struct metric *m, const struct series *s)
{
	json_t *p = point(m, s);

	json_object_set_new(p, "count", number64(s->count));
	json_object_set_new(p, "sum", json_real(s->sum / pow(10, m->decimals)));
	json_array_append_new(list, p);
}

static void add_histogram(json_t *list, const struct metric *m, const struct series *s)
{
	json_t *p = point(m, s), *bounds = json_array(), *counts = json_array();
	size_t at = 0;

	for (size_t i = 0; i <= m->nbounds; i++) {
		uint64_t n = 0;

		while (at < s->nbuckets && (i == m->nbounds || s->buckets[at].le <= m->bounds[i]))
			n += s->buckets[at++].count;
		json_array_append_new(counts, number64(n));
		if (i < m->nbounds)
			json_array_append_new(bounds, json_real(scaled(m, m->bounds[i])));
	}
	json_object_set_new(p, "count", number64(s->count));
	json_object_set_new(p, "explicitBounds", bounds);
	json_object_set_new(p, "bucketCounts", counts);
	json_array_append_new(list, p);
}

static void add_quantiles(json_t *list, const struct metric *m, const struct series *s)
{
	char quantile[32];
	int64_t value;

	for (size_t i = 0; i < m->npercents; i++) {
		json_t *p;

		if (!series_quantile(s, m->percents[i], &value))
			continue;
		snprintf(quantile, sizeof(quantile), "%.9g", m->percents[i] / 100);
		p = point(m, s);
		json_array_append_new(json_object_get(p, "attributes"),
			attribute("quantile", quantile, strlen(quantile)));
		set_value(p, m, value);
		json_array_append_new(list, p);
	}
}

/* ---- metrics ---------------------------------------------------------------------------- */

static const char *ucum(const struct metric *m)
{
	if (m->unit == NULL)
		return "";
	return strcmp(m->unit, "seconds") == 0 ? "s"
	       : strcmp(m->unit, "bytes") == 0 ? "By"
	       : strcmp(m->unit, "ratio") == 0 ? "1"
					       : m->unit;
}

static json_t *metric(const struct metric *m)
{
	static const struct {
		const char *type;
		void (*add)(json_t *, const struct metric *, const struct series *);
	} kinds[] = {
		[METRIC_COUNT] = {"sum", add_number},
		[METRIC_SUM] = {"sum", add_number},
		[METRIC_MIN] = {"gauge", add_number},
		[METRIC_MAX] = {"gauge", add_number},
		[METRIC_AVG] = {"summary", add_average},
		[METRIC_BUCKETS] = {"histogram", add_histogram},
		[METRIC_QUANTILES] = {"gauge", add_quantiles},
	};
	const char *type = kinds[m->kind].type;
	json_t *points = json_array(), *data = json_pack("{s:o}", "dataPoints", points);

	for (size_t i = 0; i < m->nchains; i++)
		for (const struct series *s = m->chains[i]; s != NULL; s = s->next)
			kinds[m->kind].add(points, m, s);
	if (strcmp(type, "sum") == 0)
		json_object_set_new(data, "isMonotonic", json_boolean(!m->goes_down));
	if (strcmp(type, "sum") == 0 || strcmp(type, "histogram") == 0)
		json_object_set_new(
			data, "aggregationTemporality", json_integer(2)); /* cumulative */
	return json_pack("{s:s,s:s,s:s,s:o}", "name", m->name, "description",
		m->help != NULL ? m->help : "", "unit", ucum(m), type, data);
}

static char *body(const struct serve *v)
{
	json_t *list = json_array(), *all;
	char *text;

	for (const struct metric *m = v->totals.metrics; m != NULL; m = m->next)
		if (m->nseries > 0 && m->shown)
			json_array_append_new(list, metric(m));
	all = json_pack("{s:[{s:{s:[o]},s:[{s:{s:s,s:s},s:o}]}]}", "resourceMetrics", "resource",
		"attributes", attribute("service.name", "erltrace", 8), "scopeMetrics", "scope",
		"name", "erltrace", "version", erltrace_version(), "metrics", list);
	text = all != NULL ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	return text;
}

void otlp_look(struct serve *v)
{
	struct otlp *o = &v->otlp;
	int64_t now = serve_ms();
	char *text;

	if (!o->on)
		return;
	post_look(&o->post);
	if (now < o->due || !post_free_now(&o->post) || o->last)
		return;
	o->due = now + (int64_t)o->every * 1000;
	o->last = v->closing;
	text = body(v);
	if (text != NULL)
		post_send(&o->post, text);
}

void otlp_end(struct serve *v)
{
	v->otlp.due = 0;
	otlp_look(v);
}

bool otlp_ended(const struct serve *v)
{
	return !v->otlp.on || (v->otlp.last && post_free_now(&v->otlp.post));
}

void otlp_free(struct serve *v)
{
	if (v->otlp.on)
		post_close(&v->otlp.post);
}
