/* SPDX-License-Identifier: Apache-2.0 */
/* What the server says about itself, its scripts and nodes, behind the totals of the scripts. */
#include "own_metrics.h"
#include "serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "erltrace.h"
#include "job.h"
#include "metrics/exposition.h"

/* NAME{script="",by=""[,kind=""]} VALUE */
static void sample(const struct expo *x, const char *name, const char *script, const char *by,
	const char *value_of_by, const char *kind, double value)
{
	fprintf(x->f, "%s{", name);
	expo_label(x, "script", script);
	fputc(',', x->f);
	expo_label(x, by, value_of_by);
	if (kind != NULL) {
		fputc(',', x->f);
		expo_label(x, "kind", kind);
	}
	fputs("} ", x->f);
	put_float(x->f, value);
	fputc('\n', x->f);
}

static void one_label(
	const struct expo *x, const char *name, const char *label, const char *value, int n)
{
	fprintf(x->f, "%s{", name);
	expo_label(x, label, value);
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

	expo_family(x, name, type, help);
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
	expo_family(x, "erltrace_script_left_out", "gauge",
		"1: it is not run: another file has its name, or it is not a file.");
	for (const struct script *s = v->scripts; s != NULL; s = s->next)
		if (s->left_out)
			one_label(x, "erltrace_script_left_out", "path", s->path, 1);
	expo_family(x, "erltrace_folder_up", "gauge", "1: the folder of scripts can be read.");
	for (int i = 0; i < v->npaths; i++)
		if (v->paths[i].folder)
			one_label(x, "erltrace_folder_up", "folder", v->paths[i].path,
				!v->paths[i].gone);
	expo_family(x, "erltrace_metric_left_out", "gauge",
		"1: the aggregation is not shown: another metric has its name.");
	for (const struct metric *m = v->totals.metrics; m != NULL; m = m->next) {
		if (m->shown)
			continue;
		fputs("erltrace_metric_left_out{", x->f);
		expo_label(x, "script", m->script);
		fputc(',', x->f);
		expo_label(x, "aggregation", m->aggregation);
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
	expo_family(x, "erltrace_drops", "counter", "What was lost because a buffer was full.");
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		for (size_t i = 0; i < j->ndrops; i++)
			sample(x, "erltrace_drops_total", j->script, "target", j->target,
				j->drops[i].kind, (double)j->drops[i].n);
}

static void nodes(const struct expo *x, const struct serve *v)
{
	expo_family(x, "erltrace_events", "counter", "Events that fired the script's probes.");
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		for (size_t i = 0; i < j->nnodes; i++)
			sample(x, "erltrace_events_total", j->script, "node", j->nodes[i].name,
				NULL, (double)(j->nodes[i].before + j->nodes[i].fired));
	expo_family(x, "erltrace_cost_ratio", "gauge",
		"The part of the schedulers' busy time that the script takes.");
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		for (size_t i = 0; i < j->nnodes; i++)
			if (j->nodes[i].cost >= 0)
				sample(x, "erltrace_cost_ratio", j->script, "node",
					j->nodes[i].name, NULL, j->nodes[i].cost / 100);
}

static void labels_dropped(const struct expo *x, const struct serve *v)
{
	expo_family(x, "erltrace_labels_dropped", "counter",
		"Updates of keys beyond --max-labels, which were added to the labels other.");
	for (const struct metric *m = v->totals.metrics; m != NULL; m = m->next) {
		fputs("erltrace_labels_dropped_total{", x->f);
		expo_label(x, "script", m->script);
		fputc(',', x->f);
		expo_label(x, "aggregation", m->aggregation);
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
	expo_family(x, "erltrace_alert", "gauge", "1: the alert goes on.");
	for (const struct alert *a = v->alerts.set.list; a != NULL; a = a->next) {
		fputs("erltrace_alert{", x->f);
		expo_label(x, "script", a->script);
		fputc(',', x->f);
		expo_label(x, "node", a->node);
		fputc(',', x->f);
		expo_label(x, "alertname", a->name);
		fprintf(x->f, "} %d\n", a->on);
	}
	expo_family(x, "erltrace_alert_calls", "counter", "Calls of alert() by scripts.");
	fprintf(x->f, "erltrace_alert_calls_total %" PRIu64 "\n", v->alerts.set.calls);
	expo_family(
		x, "erltrace_alerts_dropped", "counter", "Alerts that were left out: too many.");
	fprintf(x->f, "erltrace_alerts_dropped_total %" PRIu64 "\n", v->alerts.set.dropped);
	expo_family(x, "erltrace_posts", "counter", "Posts to other servers that were delivered.");
	posts(x, v, "erltrace_posts", false);
	expo_family(
		x, "erltrace_posts_failed", "counter", "Posts that were not, and are tried again.");
	posts(x, v, "erltrace_posts_failed", true);
}

static void server(const struct expo *x, const struct serve *v)
{
	expo_family(x, "erltrace_build_info", "gauge", "The version of erltrace.");
	fputs("erltrace_build_info{", x->f);
	expo_label(x, "version", erltrace_version());
	fputs("} 1\n", x->f);
	expo_family(x, "erltrace_scrapes", "counter", "Answers before this one.");
	fprintf(x->f, "erltrace_scrapes_total %" PRIu64 "\n", v->scrapes);
	expo_family(x, "erltrace_connections_displaced", "counter",
		"Connections of clients that were closed for newer ones: there were too many.");
	fprintf(x->f, "erltrace_connections_displaced_total %" PRIu64 "\n", v->displaced);
	if (v->state.name != NULL) {
		expo_family(x, "erltrace_state_writes_failed", "counter",
			"Writes of the file of --state that failed.");
		fprintf(x->f, "erltrace_state_writes_failed_total %" PRIu64 "\n",
			v->state.failures);
	}
	expo_family(x, "erltrace_scrape_duration_seconds", "gauge",
		"What the last answer took to make.");
	fprintf(x->f, "erltrace_scrape_duration_seconds %.9g\n", v->scrape_seconds);
}

char *own_metrics_text(const struct serve *v, bool openmetrics, size_t *len)
{
	char *text = NULL;
	struct expo x = {open_memstream(&text, len), openmetrics};
	bool failed;

	if (x.f == NULL)
		return NULL;
	expo_totals(&x, &v->totals);
	jobs(&x, v);
	nodes(&x, v);
	left_out(&x, v);
	labels_dropped(&x, v);
	alerts(&x, v);
	server(&x, v);
	expo_end(&x);
	failed = ferror(x.f);
	if (fclose(x.f) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}
