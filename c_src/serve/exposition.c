/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus' text format 0.0.4, and OpenMetrics 1.0. They differ in the name of a counter's
 * family, which has _total in the first, and in the line that ends the second.
 *
 * Values are integers, so that what a bucket of D holds below `hi` is what is at most hi - 1: this
 * is the bound `le`. Distributions have no _sum: D does not keep it, and one that is computed from
 * buckets would be a guess.
 */
#include "exposition.h"
#include "serve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "erltrace.h"
#include "job.h"
#include "labels.h"
#include "metric_name.h"

struct expo {
	FILE *f;
	bool openmetrics;
};

static void family(const struct expo *x, const char *name, const char *type, const char *help)
{
	const char *total = strcmp(type, "counter") == 0 && !x->openmetrics ? "_total" : "";

	fprintf(x->f, "# HELP %s%s ", name, total);
	help_value(x->f, help, x->openmetrics);
	fprintf(x->f, "\n# TYPE %s%s %s\n", name, total, type);
}

/* A value of a metric in its unit: exact, as it is divided by a power of ten. true: a whole one. */
static bool put_value(const struct expo *x, const struct metric *m, int64_t v)
{
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, unit = 1, rest;
	char text[24];
	int len;

	for (unsigned i = 0; i < m->decimals; i++)
		unit *= 10;
	fprintf(x->f, "%s%" PRIu64, v < 0 ? "-" : "", size / unit);
	rest = size % unit;
	if (rest == 0)
		return true;
	len = snprintf(text, sizeof(text), ".%0*" PRIu64, (int)m->decimals, rest);
	while (text[len - 1] == '0')
		len--;
	fwrite(text, 1, (size_t)len, x->f);
	return false;
}

/* ---- aggregations ----------------------------------------------------------------------- */

static const char *type_of(const struct metric *m)
{
	switch (m->kind) {
	case METRIC_COUNT: return "counter";
	case METRIC_SUM: return m->goes_down ? "gauge" : "counter";
	case METRIC_AVG:
	case METRIC_QUANTILES: return "summary";
	case METRIC_BUCKETS: return "histogram";
	default: return "gauge";
	}
}

/* NAME SUFFIX {labels} */
static void head(
	const struct expo *x, const struct metric *m, const char *suffix, const struct series *s)
{
	fprintf(x->f, "%s%s", m->name, suffix);
	if (s->labels[0] != '\0')
		fprintf(x->f, "{%s}", s->labels);
	fputc(' ', x->f);
}

/* NAME_bucket{labels,le="..."}: up to here, without what ends it */
static void bucket_head(const struct expo *x, const struct metric *m, const struct series *s)
{
	fprintf(x->f, "%s_bucket{%s%sle=\"", m->name, s->labels, s->labels[0] != '\0' ? "," : "");
}

static void histogram(const struct expo *x, const struct metric *m, const struct series *s)
{
	uint64_t below = 0;
	size_t at = 0;
	bool whole;

	for (size_t i = 0; i < m->nbounds; i++) {
		while (at < s->nbuckets && s->buckets[at].le <= m->bounds[i])
			below += s->buckets[at++].count;
		bucket_head(x, m, s);
		whole = put_value(x, m, m->bounds[i]);
		fprintf(x->f, "%s\"} %" PRIu64 "\n", x->openmetrics && whole ? ".0" : "", below);
	}
	bucket_head(x, m, s);
	fprintf(x->f, "+Inf\"} %" PRIu64 "\n", s->count);
	head(x, m, "_count", s);
	fprintf(x->f, "%" PRIu64 "\n", s->count);
}

/* The last minute: NaN where nothing came in it, as Prometheus' own clients do. */
static void quantiles(const struct expo *x, const struct metric *m, const struct series *s)
{
	int64_t v;

	for (size_t i = 0; i < m->npercents; i++) {
		fprintf(x->f, "%s{%s%squantile=\"%.9g\"} ", m->name, s->labels,
			s->labels[0] != '\0' ? "," : "", m->percents[i] / 100);
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
		put_float(x->f, s->sum / pow(10, m->decimals));
		fputc('\n', x->f);
		head(x, m, "_count", s);
		fprintf(x->f, "%" PRIu64 "\n", s->count);
		return;
	default:
		head(x, m, strcmp(type_of(m), "counter") == 0 ? "_total" : "", s);
		put_value(x, m, s->value);
		fputc('\n', x->f);
	}
}

static void metric(const struct expo *x, const struct metric *m)
{
	static const char *const functions[] = {
		"count", "sum", "min", "max", "avg", "quantize", "percentile"};
	char help[METRIC_HELP];

	if (m->nseries == 0 || !m->shown)
		return;
	metric_help(help, m->script, m->aggregation, functions[m->kind]);
	family(x, m->name, type_of(m), m->help != NULL ? m->help : help);
	if (m->unit != NULL && x->openmetrics)
		fprintf(x->f, "# UNIT %s %s\n", m->name, m->unit);
	for (size_t i = 0; i < m->nchains; i++)
		for (const struct series *s = m->chains[i]; s != NULL; s = s->next)
			series(x, m, s);
}

/* ---- the server's own ------------------------------------------------------------------- */

static void labelled(const struct expo *x, const char *name, const char *value)
{
	fprintf(x->f, "%s=\"", name);
	label_value(x->f, value, strlen(value));
	fputc('"', x->f);
}

/* NAME{script="",by=""[,kind=""]} VALUE */
static void sample(const struct expo *x, const char *name, const char *script, const char *by,
	const char *value_of_by, const char *kind, double value)
{
	fprintf(x->f, "%s{", name);
	labelled(x, "script", script);
	fputc(',', x->f);
	labelled(x, by, value_of_by);
	if (kind != NULL) {
		fputc(',', x->f);
		labelled(x, "kind", kind);
	}
	fputs("} ", x->f);
	put_float(x->f, value);
	fputc('\n', x->f);
}

static void one_label(
	const struct expo *x, const char *name, const char *label, const char *value, int n)
{
	fprintf(x->f, "%s{", name);
	labelled(x, label, value);
	fprintf(x->f, "} %d\n", n);
}

static double up(const struct job *j)
{
	return j->up && j->run != NULL && !j->silent;
}

static double restarts(const struct job *j)
{
	return j->starts > 0 ? (double)(j->starts - 1) : 0;
}

static double errors(const struct job *j)
{
	return (double)j->errors;
}

static double lost(const struct job *j)
{
	return (double)j->lost_lines;
}

static double unprinted(const struct job *j)
{
	return (double)j->prints.left_out;
}

static double unmatched(const struct job *j)
{
	return (double)j->nunmatched;
}

static double unwritten(const struct job *j)
{
	return (double)j->snapshots.failed;
}

static void each_job(const struct expo *x, const struct serve *v, const char *name,
	const char *type, const char *help, double (*value)(const struct job *))
{
	char full[128];

	family(x, name, type, help);
	snprintf(full, sizeof(full), "%s%s", name, strcmp(type, "counter") == 0 ? "_total" : "");
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->member != NULL &&
			!j->member->left) /* one that is not waited for is not down */
			sample(x, full, j->script, "target", j->target, NULL, value(j));
}

/* Of a script on no node there is no job: it is not up. */
static void no_nodes(const struct expo *x, const struct serve *v)
{
	for (const struct member *m = v->members; m != NULL; m = m->next)
		if (!m->left)
			return;
	for (const struct script *s = v->scripts; s != NULL; s = s->next)
		if (s->runs)
			sample(x, "erltrace_script_up", s->name, "target", "*", NULL, 0);
}

/* What the user has deployed and does not get. */
static void left_out(const struct expo *x, const struct serve *v)
{
	family(x, "erltrace_script_left_out", "gauge",
		"1: it is not run: another file has its name, or it is not a file.");
	for (const struct script *s = v->scripts; s != NULL; s = s->next)
		if (s->left_out)
			one_label(x, "erltrace_script_left_out", "path", s->path, 1);
	family(x, "erltrace_folder_up", "gauge", "1: the folder of scripts can be read.");
	for (int i = 0; i < v->npaths; i++)
		if (v->paths[i].folder)
			one_label(x, "erltrace_folder_up", "folder", v->paths[i].path,
				!v->paths[i].gone);
	family(x, "erltrace_metric_left_out", "gauge",
		"1: the aggregation is not shown: another metric has its name.");
	for (const struct metric *m = v->totals.metrics; m != NULL; m = m->next) {
		if (m->shown)
			continue;
		fputs("erltrace_metric_left_out{", x->f);
		labelled(x, "script", m->script);
		fputc(',', x->f);
		labelled(x, "aggregation", m->aggregation);
		fputs("} 1\n", x->f);
	}
}

static void jobs(const struct expo *x, const struct serve *v)
{
	each_job(x, v, "erltrace_script_up", "gauge", "1: the script runs.", up);
	no_nodes(x, v);
	each_job(x, v, "erltrace_script_restarts", "counter",
		"How often the script was started again.", restarts);
	each_job(x, v, "erltrace_script_unmatched", "gauge",
		"Probe descriptions of the script that match nothing so far; the log says which.",
		unmatched);
	each_job(x, v, "erltrace_errors", "counter",
		"Errors of the script: it did not compile, or a clause failed.", errors);
	each_job(x, v, "erltrace_lost_results", "counter",
		"Results of the script that could not be taken.", lost);
	each_job(x, v, "erltrace_lines_left_out", "counter",
		"Lines that the script printed and the log does not have: too many.", unprinted);
	each_job(x, v, "erltrace_snapshots_failed", "counter",
		"Snapshots of the script that could not be written.", unwritten);
	family(x, "erltrace_drops", "counter", "What was lost because a buffer was full.");
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		for (size_t i = 0; i < j->ndrops; i++)
			sample(x, "erltrace_drops_total", j->script, "target", j->target,
				j->drops[i].kind, (double)j->drops[i].n);
}

static void nodes(const struct expo *x, const struct serve *v)
{
	family(x, "erltrace_events", "counter", "Events that fired the script's probes.");
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		for (size_t i = 0; i < j->nnodes; i++)
			sample(x, "erltrace_events_total", j->script, "node", j->nodes[i].name,
				NULL, (double)(j->nodes[i].before + j->nodes[i].fired));
	family(x, "erltrace_cost_ratio", "gauge",
		"The part of the schedulers' busy time that the script takes.");
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		for (size_t i = 0; i < j->nnodes; i++)
			if (j->nodes[i].cost >= 0)
				sample(x, "erltrace_cost_ratio", j->script, "node",
					j->nodes[i].name, NULL, j->nodes[i].cost / 100);
}

static void labels_dropped(const struct expo *x, const struct serve *v)
{
	family(x, "erltrace_labels_dropped", "counter",
		"Updates of keys beyond --max-labels, which were added to the labels other.");
	for (const struct metric *m = v->totals.metrics; m != NULL; m = m->next) {
		fputs("erltrace_labels_dropped_total{", x->f);
		labelled(x, "script", m->script);
		fputc(',', x->f);
		labelled(x, "aggregation", m->aggregation);
		fprintf(x->f, "} %" PRIu64 "\n", m->to_other);
	}
}

static void posts(const struct expo *x, const struct serve *v, const char *name, bool failures)
{
	const struct {
		const char *to;
		bool has;
		const struct post *p;
	} all[] = {{"alertmanager", v->alerts.has_manager, &v->alerts.manager},
		{"webhook", v->alerts.has_webhook, &v->alerts.webhook},
		{"otlp", v->otlp.on, &v->otlp.post}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].has)
			fprintf(x->f, "%s_total{to=\"%s\"} %" PRIu64 "\n", name, all[i].to,
				failures ? all[i].p->failed : all[i].p->sent);
}

static void alerts(const struct expo *x, const struct serve *v)
{
	family(x, "erltrace_alert", "gauge", "1: the alert goes on.");
	for (const struct alert *a = v->alerts.list; a != NULL; a = a->next) {
		fputs("erltrace_alert{", x->f);
		labelled(x, "script", a->script);
		fputc(',', x->f);
		labelled(x, "node", a->node);
		fputc(',', x->f);
		labelled(x, "alertname", a->name);
		fprintf(x->f, "} %d\n", a->over == 0);
	}
	family(x, "erltrace_alert_calls", "counter", "Calls of alert() by scripts.");
	fprintf(x->f, "erltrace_alert_calls_total %" PRIu64 "\n", v->alerts.total);
	family(x, "erltrace_alerts_dropped", "counter", "Alerts that were left out: too many.");
	fprintf(x->f, "erltrace_alerts_dropped_total %" PRIu64 "\n", v->alerts.dropped);
	family(x, "erltrace_posts", "counter", "Posts to other servers that were delivered.");
	posts(x, v, "erltrace_posts", false);
	family(x, "erltrace_posts_failed", "counter", "Posts that were not, and are tried again.");
	posts(x, v, "erltrace_posts_failed", true);
}

static void server(const struct expo *x, const struct serve *v)
{
	family(x, "erltrace_build_info", "gauge", "The version of erltrace.");
	fputs("erltrace_build_info{", x->f);
	labelled(x, "version", erltrace_version());
	fputs("} 1\n", x->f);
	family(x, "erltrace_scrapes", "counter", "Answers before this one.");
	fprintf(x->f, "erltrace_scrapes_total %" PRIu64 "\n", v->scrapes);
	family(x, "erltrace_connections_displaced", "counter",
		"Connections of clients that were closed for newer ones: there were too many.");
	fprintf(x->f, "erltrace_connections_displaced_total %" PRIu64 "\n", v->displaced);
	if (v->state.name != NULL) {
		family(x, "erltrace_state_writes_failed", "counter",
			"Writes of the file of --state that failed.");
		fprintf(x->f, "erltrace_state_writes_failed_total %" PRIu64 "\n",
			v->state.failures);
	}
	family(x, "erltrace_scrape_duration_seconds", "gauge",
		"What the last answer took to make.");
	fprintf(x->f, "erltrace_scrape_duration_seconds %.9g\n", v->scrape_seconds);
}

char *exposition(const struct serve *v, bool openmetrics, size_t *len)
{
	char *text = NULL;
	struct expo x = {open_memstream(&text, len), openmetrics};
	bool failed;

	if (x.f == NULL)
		return NULL;
	for (const struct metric *m = v->totals.metrics; m != NULL; m = m->next)
		metric(&x, m);
	jobs(&x, v);
	nodes(&x, v);
	left_out(&x, v);
	labels_dropped(&x, v);
	alerts(&x, v);
	server(&x, v);
	if (openmetrics)
		fputs("# EOF\n", x.f);
	failed = ferror(x.f);
	if (fclose(x.f) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}
