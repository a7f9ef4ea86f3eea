/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are integers, so that what a bucket of D holds below `hi` is what is at most hi - 1: this
 * is the bound `le`. Distributions have no _sum: D does not keep it, and one that is computed from
 * buckets would be a guess.
 */
#include "exposition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "metric_name.h"
#include "totals.h"
#include "utf8.h"

/* One byte that is not UTF-8, and Prometheus takes nothing of the whole page. */
static void escaped(FILE *f, const char *text, bool quotes)
{
	size_t len = strlen(text), n;
	const char *c;

	for (size_t i = 0; i < len;) {
		i += utf8_clean(text + i, len - i, &c, &n);
		if (*c == '\n') {
			fputs("\\n", f);
			continue;
		}
		if (*c == '\\' || (quotes && *c == '"'))
			fputc('\\', f);
		fwrite(c, 1, n, f);
	}
}

void put_float(FILE *f, double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	fputs(text, f);
}

void expo_quantile(char text[32], double percent)
{
	snprintf(text, 32, "%.9g", percent / 100);
}

void expo_family(const struct expo *x, const char *name, const char *type, const char *help)
{
	const char *total = strcmp(type, "counter") == 0 && !x->openmetrics ? "_total" : "";

	fprintf(x->f, "# HELP %s%s ", name, total);
	escaped(x->f, help, x->openmetrics); /* quotes only there */
	fprintf(x->f, "\n# TYPE %s%s %s\n", name, total, type);
}

void expo_label(const struct expo *x, const char *name, const char *value)
{
	fprintf(x->f, "%s=\"", name);
	escaped(x->f, value, true);
	fputc('"', x->f);
}

void expo_end(const struct expo *x)
{
	if (x->openmetrics)
		fputs("# EOF\n", x->f);
}

/* In its unit, exactly. true: a whole number. */
static bool put_value(const struct expo *x, const struct metric *m, metric_sum v)
{
	char text[METRIC_TEXT];
	bool whole = metric_text(m, v, text);

	fputs(text, x->f);
	return whole;
}

const char *expo_type(const struct metric *m)
{
	return m->goes_down ? "gauge" : metric_type(metric_function(m->kind));
}

const char *expo_help(const struct metric *m, char *buf)
{
	if (m->help != NULL)
		return m->help;
	metric_help(buf, m->script, m->aggregation, metric_function(m->kind));
	return buf;
}

/* NAME SUFFIX {labels: without what ends them; how many there are */
static size_t open_labels(
	const struct expo *x, const struct metric *m, const char *suffix, const struct series *s)
{
	struct label l;
	size_t n = 0;

	fprintf(x->f, "%s%s", m->name, suffix);
	for (label_first(&l, m, s); l.value != NULL; label_next(&l)) {
		fputc(n++ > 0 ? ',' : '{', x->f);
		expo_label(x, l.name, l.value);
	}
	return n;
}

/* NAME SUFFIX {labels} */
static void head(
	const struct expo *x, const struct metric *m, const char *suffix, const struct series *s)
{
	fputs(open_labels(x, m, suffix, s) > 0 ? "} " : " ", x->f);
}

/* NAME SUFFIX {labels,ANOTHER=" */
static void head_with(const struct expo *x, const struct metric *m, const char *suffix,
	const struct series *s, const char *another)
{
	fputc(open_labels(x, m, suffix, s) > 0 ? ',' : '{', x->f);
	fprintf(x->f, "%s=\"", another);
}

static void histogram(const struct expo *x, const struct metric *m, const struct series *s)
{
	uint64_t below = 0;
	size_t at = 0;
	bool whole;

	for (size_t i = 0; i < m->nbounds; i++) {
		below += series_below(s, &at, m->bounds[i]);
		head_with(x, m, "_bucket", s, "le");
		whole = put_value(x, m, m->bounds[i]);
		fprintf(x->f, "%s\"} %" PRIu64 "\n", x->openmetrics && whole ? ".0" : "", below);
	}
	head_with(x, m, "_bucket", s, "le");
	fprintf(x->f, "+Inf\"} %" PRIu64 "\n", s->count);
	head(x, m, "_count", s);
	fprintf(x->f, "%" PRIu64 "\n", s->count);
}

/* The last minute: NaN where nothing came in it, as Prometheus' own clients do. */
static void quantiles(const struct expo *x, const struct metric *m, const struct series *s)
{
	char quantile[32];
	int64_t v;

	for (size_t i = 0; i < m->npercents; i++) {
		head_with(x, m, "", s, "quantile");
		expo_quantile(quantile, m->percents[i]);
		fprintf(x->f, "%s\"} ", quantile);
		if (series_quantile(s, m->percents[i], &v))
			put_value(x, m, v);
		else
			fputs("NaN", x->f);
		fputc('\n', x->f);
	}
	head(x, m, "_count", s);
	fprintf(x->f, "%" PRIu64 "\n", s->count);
}

static void series(const struct expo *x, const struct metric *m, const struct series *s)
{
	switch (m->kind) {
	case METRIC_BUCKETS: histogram(x, m, s); return;
	case METRIC_QUANTILES: quantiles(x, m, s); return;
	case METRIC_AVG:
		head(x, m, "_sum", s);
		put_value(x, m, s->value);
		fputc('\n', x->f);
		head(x, m, "_count", s);
		fprintf(x->f, "%" PRIu64 "\n", s->count);
		return;
	default:
		head(x, m, strcmp(expo_type(m), "counter") == 0 ? "_total" : "", s);
		put_value(x, m, s->value);
		fputc('\n', x->f);
	}
}

static void metric(const struct expo *x, const struct metric *m)
{
	char help[METRIC_HELP];

	if (m->nseries == 0 || !m->shown)
		return;
	expo_family(x, m->name, expo_type(m), expo_help(m, help));
	if (m->unit != NULL && x->openmetrics)
		fprintf(x->f, "# UNIT %s %s\n", m->name, m->unit);
	for (size_t i = 0; i < m->nchains; i++)
		for (const struct series *s = m->chains[i]; s != NULL; s = s->next)
			series(x, m, s);
}

void expo_totals(const struct expo *x, const struct totals *t)
{
	for (const struct metric *m = t->metrics; m != NULL; m = m->next)
		metric(x, m);
}
