/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The totals as a file of JSON, which state_file.c replaces every ten seconds and at the end. What
 * a metric is called is in it too: counters do not vanish until the node is back.
 *
 *   {"version": 2, "metrics": [{"script", "aggregation", "kind", "keys", ..., "series": [...]}],
 *    "scripts": [{"name", "path"}], "members": [nodes that were found], "alerts": [...],
 *    "jobs": [{"script", "target", "starts", "errors", "lost", "lines_left_out",
 * "snapshots_failed", "nodes": [...], "drops": [...]}]}
 */
#include "saved.h"
#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array.h"
#include "job.h"

enum { SAVED_VERSION = 2, SAVED_EVERY_MS = 10000 };

/* ---- writing ---------------------------------------------------------------------------- */

static json_t *buckets_out(const struct series *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->nbuckets; i++)
		json_array_append_new(list, json_pack("[I,I]", (json_int_t)s->buckets[i].le,
						    (json_int_t)s->buckets[i].count));
	return list;
}

/* Values, the node's first: labels.h. */
static json_t *labels_out(const struct series *s)
{
	json_t *list = json_array();

	for (size_t at = 0; at < s->labels_len; at += strlen(s->labels + at) + 1)
		json_array_append_new(list, json_string(s->labels + at));
	return list;
}

/* JSON's integers have 64 bits here. */
static json_t *value_out(metric_sum value)
{
	static const struct metric plain;
	char text[METRIC_TEXT];

	if (value == (json_int_t)value)
		return json_integer((json_int_t)value);
	metric_text(&plain, value, text);
	return json_string(text);
}

static json_t *series_out(const struct metric *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->nchains; i++)
		for (const struct series *s = m->chains[i]; s != NULL; s = s->next)
			json_array_append_new(
				list, json_pack("{s:o,s:o,s:I,s:o}", "labels", labels_out(s),
					      "value", value_out(s->value), "count",
					      (json_int_t)s->count, "buckets", buckets_out(s)));
	return list;
}

static json_t *metric_out(const struct metric *m)
{
	json_t *bounds = json_array(), *percents = json_array(), *labels = json_array();

	for (size_t i = 0; i < m->nlabels; i++)
		json_array_append_new(labels, json_string(m->labels[i]));
	for (size_t i = 0; i < m->nbounds; i++)
		json_array_append_new(bounds, json_integer(m->bounds[i]));
	for (size_t i = 0; i < m->npercents; i++)
		json_array_append_new(percents, json_real(m->percents[i]));
	return json_pack("{s:s,s:s,s:s,s:s?,s:s?,s:o,s:i,s:i,s:I,s:b,s:I,s:o,s:o,s:o,s:I,s:b}",
		"script", m->script, "aggregation", m->aggregation, "name", m->name, "help",
		m->help, "unit", m->unit, "labels", labels, "decimals", (int)m->decimals, "kind",
		(int)m->kind, "keys", (json_int_t)m->nkeys, "goes_down", m->goes_down, "to_other",
		(json_int_t)m->to_other, "bounds", bounds, "percents", percents, "series",
		series_out(m), "began", (json_int_t)m->began, "left_out", !m->shown);
}

static json_t *job_out(const struct job *j)
{
	json_t *nodes = json_array(), *drops = json_array();

	for (size_t i = 0; i < j->nnodes; i++)
		json_array_append_new(
			nodes, json_pack("{s:s,s:I}", "name", j->nodes[i].name, "events",
				       (json_int_t)(j->nodes[i].before + j->nodes[i].fired)));
	for (size_t i = 0; i < j->ndrops; i++)
		json_array_append_new(drops, json_pack("{s:s,s:I}", "kind", j->drops[i].kind, "n",
						     (json_int_t)j->drops[i].n));
	return json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "script", j->script, "target",
		j->target, "starts", (json_int_t)j->starts, "errors", (json_int_t)j->errors, "lost",
		(json_int_t)j->lost_lines, "lines_left_out", (json_int_t)j->prints.left_out,
		"snapshots_failed", (json_int_t)j->snapshots.failed, "nodes", nodes, "drops",
		drops);
}

static json_t *all_out(const struct serve *v)
{
	json_t *metrics = json_array(), *jobs = json_array(), *scripts = json_array(),
	       *members = json_array();

	for (const struct metric *m = v->totals.metrics; m != NULL; m = m->next)
		json_array_append_new(metrics, metric_out(m));
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		json_array_append_new(jobs, job_out(j));
	for (const struct script *s = v->scripts; s != NULL; s = s->next)
		if (s->runs)
			json_array_append_new(
				scripts, json_pack("{s:s,s:s}", "name", s->name, "path", s->path));
	for (const struct member *m = v->members; m != NULL; m = m->next)
		if (!m->named && !m->left)
			json_array_append_new(members, json_string(m->target));
	return json_pack("{s:i,s:o,s:o,s:o,s:o,s:o}", "version", SAVED_VERSION, "metrics", metrics,
		"jobs", jobs, "scripts", scripts, "members", members, "alerts",
		alerts_out(&v->alerts));
}

static int write_all(struct serve *v)
{
	json_t *all = all_out(v);
	int rc = state_file_write(&v->state, all);

	json_decref(all);
	return rc;
}

void saved_look(struct serve *v)
{
	int64_t now = serve_ms();

	if (v->state.name == NULL || v->ending || now < v->state.due)
		return;
	if (v->state.due > 0)
		write_all(v);
	v->state.due = now + SAVED_EVERY_MS;
}

int saved_end(struct serve *v)
{
	if (v->state.name == NULL || write_all(v) == 0)
		return 0;
	if (v->state.written > 0)
		serve_say("%s: the last write failed: what was counted in the %lld seconds since "
			  "the one before is lost",
			v->state.name, (long long)(serve_ms() - v->state.written) / 1000);
	else
		serve_say("%s: no write succeeded: all that this server counted is lost",
			v->state.name);
	return -1;
}

/* ---- reading ---------------------------------------------------------------------------- */

static int bad(struct serve *v, const char *why)
{
	serve_say("%s: %s: remove it to begin with nothing", v->state.name, why);
	return -1;
}

static bool is_text(const json_t *o, const char *member, const char *text)
{
	const char *s = json_string_value(json_object_get(o, member));

	return s != NULL && strcmp(s, text) == 0;
}

static char *copy_of(const json_t *o, const char *member)
{
	const char *text = json_string_value(json_object_get(o, member));

	return text != NULL ? strdup(text) : NULL;
}

/* As labels_out() has them; NULL: they are none. To be freed. */
static char *restore_labels(const json_t *values, size_t nkeys, size_t *len)
{
	char *labels = NULL;
	const json_t *value;
	size_t i;
	FILE *f = json_array_size(values) == nkeys + 1 ? open_memstream(&labels, len) : NULL;
	bool bad = false;

	if (f == NULL)
		return NULL;
	json_array_foreach(values, i, value)
	{
		const char *text = json_string_value(value);

		bad |= text == NULL;
		fprintf(f, "%s%c", text != NULL ? text : "", '\0');
	}
	if (fclose(f) == 0 && !bad)
		return labels;
	free(labels);
	return NULL;
}

/* As value_out() has it; "sum": of avg, as a real number, in older files. */
static metric_sum restore_value(const json_t *saved)
{
	const json_t *value = json_object_get(saved, "value"), *sum = json_object_get(saved, "sum");
	const char *text = json_string_value(value);
	metric_sum v = 0;

	if (text == NULL)
		return json_integer_value(value) + (metric_sum)json_number_value(sum);
	for (const char *p = text + (*text == '-'); *p >= '0' && *p <= '9'; p++)
		v = 10 * v + (*p - '0');
	return *text == '-' ? -v : v;
}

static int restore_series(struct metric *m, const json_t *saved)
{
	size_t i, len;
	char *labels = restore_labels(json_object_get(saved, "labels"), m->nkeys, &len);
	struct series *s = labels != NULL ? metric_series(m, labels, len) : NULL;
	const json_t *b;

	free(labels);
	if (s == NULL)
		return -1;
	s->value = restore_value(saved);
	s->count = (uint64_t)json_integer_value(json_object_get(saved, "count"));
	json_array_foreach(json_object_get(saved, "buckets"), i, b)
	{
		if (!series_bucket(s, json_integer_value(json_array_get(b, 0)),
			    (uint64_t)json_integer_value(json_array_get(b, 1))))
			return -1;
	}
	return 0;
}

static int restore_label_names(struct metric *m, const json_t *names)
{
	const json_t *name;
	size_t i;

	m->labels = calloc(json_array_size(names) + 1, sizeof(*m->labels));
	if (m->labels == NULL)
		return -1;
	json_array_foreach(names, i, name)
	{
		m->labels[i] = json_is_string(name) ? strdup(json_string_value(name)) : NULL;
		if (m->labels[i] == NULL)
			return -1;
		m->nlabels++;
	}
	return 0;
}

static void restore_names(struct metric *m, const json_t *saved)
{
	const json_t *p;
	size_t i;

	m->name = copy_of(saved, "name");
	m->help = copy_of(saved, "help");
	m->unit = copy_of(saved, "unit");
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

static int restore_metric(struct totals *t, const json_t *saved)
{
	const char *script = json_string_value(json_object_get(saved, "script"));
	const char *aggregation = json_string_value(json_object_get(saved, "aggregation"));
	struct metric *m;
	const json_t *o;
	size_t i;

	if (script == NULL || aggregation == NULL || totals_find(t, script, aggregation) != NULL)
		return -1;
	m = totals_new(t, script, aggregation);
	if (m == NULL || restore_label_names(m, json_object_get(saved, "labels")) < 0)
		return -1;
	restore_names(m, saved);
	if (m->name == NULL || m->kind > METRIC_QUANTILES || m->decimals > 9)
		return -1;
	json_array_foreach(json_object_get(saved, "bounds"), i, o)
	{
		if (!metric_bound(m, json_integer_value(o)))
			return -1;
	}
	json_array_foreach(json_object_get(saved, "series"), i, o)
	{
		if (restore_series(m, o) < 0)
			return -1;
	}
	return 0;
}

static int read_file(struct serve *v)
{
	char why[JSON_ERROR_TEXT_LENGTH + 64];
	const json_t *m;
	size_t i;

	v->saved = state_file_read(&v->state, why, sizeof(why));
	if (v->saved == NULL && why[0] == '\0')
		return 0;
	if (v->saved == NULL) {
		serve_say("%s: %s", v->state.name, why);
		return -1;
	}
	if (json_integer_value(json_object_get(v->saved, "version")) != SAVED_VERSION)
		return bad(v, "is not a file of this version");
	json_array_foreach(json_object_get(v->saved, "metrics"), i, m)
	{
		if (restore_metric(&v->totals, m) < 0)
			return bad(v, "has a metric that is not whole");
	}
	alerts_restore(&v->alerts, json_object_get(v->saved, "alerts"));
	json_array_foreach(json_object_get(v->saved, "members"), i, m)
	{
		if ((v->cluster || v->nnodes == 0) && json_is_string(m))
			member_known(v, json_string_value(m));
	}
	return 0;
}

int saved_open(struct serve *v)
{
	if (v->state.name == NULL)
		return 0;
	return state_file_open(&v->state) < 0 ? -1 : read_file(v);
}

/* A folder that was moved has its totals still. */
bool saved_is_of(const struct serve *v, const struct script *s)
{
	const json_t *o;
	struct stat st;
	size_t i;

	json_array_foreach(json_object_get(v->saved, "scripts"), i, o)
	{
		const char *path = json_string_value(json_object_get(o, "path"));

		if (path != NULL && is_text(o, "name", s->name))
			return strcmp(path, s->path) == 0 || stat(path, &st) < 0 ||
			       (st.st_ino == s->inode && st.st_dev == s->device);
	}
	return true;
}

static uint64_t number_of(const json_t *o, const char *member)
{
	return (uint64_t)json_integer_value(json_object_get(o, member));
}

static void restore(struct job *j, const json_t *saved)
{
	const json_t *o;
	size_t i;

	j->starts = number_of(saved, "starts");
	j->errors = number_of(saved, "errors");
	j->lost_lines = number_of(saved, "lost");
	j->prints.left_out = number_of(saved, "lines_left_out");
	j->snapshots.failed = number_of(saved, "snapshots_failed");
	json_array_foreach(json_object_get(saved, "nodes"), i, o)
	{
		const char *name = json_string_value(json_object_get(o, "name"));
		struct job_node *node = name != NULL ? job_node(j, name) : NULL;

		if (node != NULL)
			node->before = number_of(o, "events");
	}
	json_array_foreach(json_object_get(saved, "drops"), i, o)
	{
		const char *kind = json_string_value(json_object_get(o, "kind"));

		if (kind != NULL)
			job_drops(j, kind, number_of(o, "n"));
	}
}

void saved_job(const struct serve *v, struct job *j)
{
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(v->saved, "jobs"), i, o)
	{
		if (is_text(o, "script", j->script) && is_text(o, "target", j->target)) {
			restore(j, o);
			return;
		}
	}
}

void saved_forget(struct serve *v, const char *script)
{
	json_t *jobs = json_object_get(v->saved, "jobs");

	for (size_t i = json_array_size(jobs); i-- > 0;)
		if (is_text(json_array_get(jobs, i), "script", script))
			json_array_remove(jobs, i);
}
