/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters are cumulative sums, distributions are histograms with their bounds, averages are
 * summaries. percentile() is a gauge for each quantile, as a summary of OTLP must have a sum, which
 * D does not keep. 64-bit integers are strings in the JSON of protocol buffers.
 */
#include "otlp_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exposition.h"
#include "json_write.h"
#include "labels.h"
#include "totals.h"

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void put_member(FILE *f, const char *name, const char *text)
{
	fprintf(f, "\"%s\":", name);
	jw_fstring(f, text);
}

static void put_real(FILE *f, double v)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", v);
	fprintf(f, "%s%s", text, strpbrk(text, ".e") != NULL ? "" : ".0");
}

static void put_attribute(FILE *f, const char *key, const char *value)
{
	fputc('{', f);
	put_member(f, "key", key);
	fputs(",\"value\":{", f);
	put_member(f, "stringValue", value);
	fputs("}}", f);
}

/*
 * The members that all points have; quantile: another attribute, or NULL. Totals that were saved
 * began before their owner did: a new beginning would be a reset.
 */
static void begin_point(
	FILE *f, const struct metric *m, const struct series *s, const char *quantile)
{
	struct label l;
	bool first = true;

	fputs("{\"attributes\":[", f);
	for (label_first(&l, m, s); l.value != NULL; label_next(&l)) {
		fputs(first ? "" : ",", f);
		put_attribute(f, l.name, l.value);
		first = false;
	}
	if (quantile != NULL) {
		fputs(first ? "" : ",", f);
		put_attribute(f, "quantile", quantile);
	}
	fprintf(f, "],\"startTimeUnixNano\":\"%" PRIu64 "\",\"timeUnixNano\":\"%" PRIu64 "\"",
		m->began, wall_ns());
}

static double scaled(const struct metric *m, metric_sum value)
{
	return (double)value / (double)metric_unit(m);
}

/* Integers have 64 bits there. */
static void put_value(FILE *f, const struct metric *m, metric_sum value)
{
	if (m->decimals > 0 || value != (int64_t)value) {
		fputs(",\"asDouble\":", f);
		put_real(f, scaled(m, value));
	} else {
		fprintf(f, ",\"asInt\":\"%" PRId64 "\"", (int64_t)value);
	}
}

/* ---- points of each kind ---------------------------------------------------------------- */

static void put_number(FILE *f, const struct metric *m, const struct series *s)
{
	begin_point(f, m, s, NULL);
	put_value(f, m, s->value);
	fputc('}', f);
}

static void put_average(FILE *f, const struct metric *m, const struct series *s)
{
	begin_point(f, m, s, NULL);
	fprintf(f, ",\"count\":\"%" PRIu64 "\",\"sum\":", s->count);
	put_real(f, scaled(m, s->value));
	fputc('}', f);
}

static void put_histogram(FILE *f, const struct metric *m, const struct series *s)
{
	size_t at = 0;

	begin_point(f, m, s, NULL);
	fprintf(f, ",\"count\":\"%" PRIu64 "\",\"explicitBounds\":[", s->count);
	for (size_t i = 0; i < m->nbounds; i++) {
		fputs(i > 0 ? "," : "", f);
		put_real(f, scaled(m, m->bounds[i]));
	}
	fputs("],\"bucketCounts\":[", f);
	for (size_t i = 0; i <= m->nbounds; i++) {
		uint64_t n = series_below(s, &at, i < m->nbounds ? m->bounds[i] : INT64_MAX);

		fprintf(f, "%s\"%" PRIu64 "\"", i > 0 ? "," : "", n);
	}
	fputs("]}", f);
}

/* Those that had a value in the last minute. */
static void put_quantiles(FILE *f, const struct metric *m, const struct series *s)
{
	char quantile[32];
	bool first = true;
	int64_t value;

	for (size_t i = 0; i < m->npercents; i++) {
		if (!series_quantile(s, m->percents[i], &value))
			continue;
		expo_quantile(quantile, m->percents[i]);
		fputs(first ? "" : ",", f);
		begin_point(f, m, s, quantile);
		put_value(f, m, value);
		fputc('}', f);
		first = false;
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

static bool has_points(const struct metric *m, const struct series *s)
{
	int64_t value;

	return m->kind != METRIC_QUANTILES ||
	       (m->npercents > 0 && series_quantile(s, m->percents[0], &value));
}

static void put_metric(FILE *f, const struct metric *m)
{
	static const struct {
		const char *type;
		void (*put)(FILE *, const struct metric *, const struct series *);
	} kinds[] = {
		[METRIC_COUNT] = {"sum", put_number},
		[METRIC_SUM] = {"sum", put_number},
		[METRIC_MIN] = {"gauge", put_number},
		[METRIC_MAX] = {"gauge", put_number},
		[METRIC_AVG] = {"summary", put_average},
		[METRIC_BUCKETS] = {"histogram", put_histogram},
		[METRIC_QUANTILES] = {"gauge", put_quantiles},
	};
	const char *type = kinds[m->kind].type;
	bool first = true;

	fputc('{', f);
	put_member(f, "name", m->name);
	fputc(',', f);
	put_member(f, "description", m->help != NULL ? m->help : "");
	fputc(',', f);
	put_member(f, "unit", ucum(m));
	fprintf(f, ",\"%s\":{\"dataPoints\":[", type);
	for (size_t i = 0; i < m->nchains; i++)
		for (const struct series *s = m->chains[i]; s != NULL; s = s->next) {
			if (!has_points(m, s))
				continue;
			fputs(first ? "" : ",", f);
			kinds[m->kind].put(f, m, s);
			first = false;
		}
	fputc(']', f);
	if (strcmp(type, "sum") == 0)
		fprintf(f, ",\"isMonotonic\":%s", m->goes_down ? "false" : "true");
	if (strcmp(type, "sum") == 0 || strcmp(type, "histogram") == 0)
		fputs(",\"aggregationTemporality\":2", f); /* cumulative */
	fputs("}}", f);
}

char *otlp_json(const struct totals *t, const char *version)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	bool first = true;

	if (f == NULL)
		return NULL;
	fputs("{\"resourceMetrics\":[{\"resource\":{\"attributes\":[", f);
	put_attribute(f, "service.name", "erltrace");
	fputs("]},\"scopeMetrics\":[{\"scope\":{\"name\":\"erltrace\",", f);
	put_member(f, "version", version);
	fputs("},\"metrics\":[", f);
	for (const struct metric *m = t->metrics; m != NULL; m = m->next) {
		if (m->nseries == 0 || !m->shown)
			continue;
		fputs(first ? "" : ",", f);
		put_metric(f, m);
		first = false;
	}
	fputs("]}]}]}", f);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
