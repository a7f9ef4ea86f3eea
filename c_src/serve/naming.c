/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, by the rule of metric_name.c, and conflicts between them. Values are divided where they
 * are printed, digit by digit: nothing is rounded.
 *
 */
#include "naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric_name.h"

static const char *text_of(const json_t *metric, const char *member)
{
	return json_string_value(json_object_get(metric, member));
}

int naming_of(struct naming *n, const char *script, const char *aggregation, const json_t *shape)
{
	const json_t *metric = json_object_get(shape, "metric");
	const char *help = text_of(metric, "help");
	json_t *labels = json_object_get(metric, "labels");
	struct metric_name m;

	*n = (struct naming){.name = NULL};
	if (metric_name_of(&m, script, aggregation, text_of(metric, "name"),
		    text_of(metric, "unit")) < 0)
		return -1;
	n->name = m.name;
	n->unit = m.unit;
	n->decimals = m.decimals;
	n->help = help != NULL ? strdup(help) : NULL;
	n->labels = json_array_size(labels) > 0 ? json_incref(labels) : NULL;
	if (help == NULL || n->help != NULL)
		return 0;
	naming_free(n);
	return -1;
}

void naming_free(struct naming *n)
{
	free(n->name);
	free(n->help);
	free(n->unit);
	json_decref(n->labels);
}

/* ---- conflicts -------------------------------------------------------------------------- */

/* What is printed of a kind: the name of the family, and those of its samples. */
static const char *const *suffixes(enum metric_kind kind)
{
	static const char *const types[] = {[METRIC_COUNT] = "counter", [METRIC_SUM] = "counter",
		[METRIC_MIN] = "gauge", [METRIC_MAX] = "gauge", [METRIC_AVG] = "summary",
		[METRIC_BUCKETS] = "histogram", [METRIC_QUANTILES] = "summary"};

	return metric_suffixes(types[kind]);
}

static bool joined_equal(const char *a, const char *a_end, const char *b, const char *b_end)
{
	size_t n = strlen(a), m = strlen(b);

	return n + strlen(a_end) == m + strlen(b_end) && strncmp(a, b, n < m ? n : m) == 0 &&
	       (n < m ? strncmp(a_end, b + n, m - n) == 0 && strcmp(a_end + (m - n), b_end) == 0
		      : strncmp(b_end, a + m, n - m) == 0 && strcmp(b_end + (n - m), a_end) == 0);
}

static bool overlap(const char *a, enum metric_kind ka, const char *b, enum metric_kind kb)
{
	for (const char *const *x = suffixes(ka); *x != NULL; x++)
		for (const char *const *y = suffixes(kb); *y != NULL; y++)
			if (joined_equal(a, *x, b, *y))
				return true;
	return false;
}

/* The server's own: exposition.c. */
static bool is_own(const char *name, enum metric_kind kind)
{
	static const struct {
		const char *name;
		enum metric_kind kind;
	} own[] = {{"erltrace_script_up", METRIC_MAX}, {"erltrace_script_restarts", METRIC_COUNT},
		{"erltrace_errors", METRIC_COUNT}, {"erltrace_lost_results", METRIC_COUNT},
		{"erltrace_drops", METRIC_COUNT}, {"erltrace_events", METRIC_COUNT},
		{"erltrace_cost_ratio", METRIC_MAX}, {"erltrace_labels_dropped", METRIC_COUNT},
		{"erltrace_build_info", METRIC_MAX}, {"erltrace_scrapes", METRIC_COUNT},
		{"erltrace_scrape_duration_seconds", METRIC_MAX}, {"erltrace_alert", METRIC_MAX},
		{"erltrace_alert_calls", METRIC_COUNT}, {"erltrace_alerts_dropped", METRIC_COUNT},
		{"erltrace_posts", METRIC_COUNT}, {"erltrace_posts_failed", METRIC_COUNT},
		{"erltrace_metric_left_out", METRIC_MAX}, {"erltrace_script_left_out", METRIC_MAX},
		{"erltrace_folder_up", METRIC_MAX},
		{"erltrace_connections_displaced", METRIC_COUNT},
		{"erltrace_lines_left_out", METRIC_COUNT},
		{"erltrace_snapshots_failed", METRIC_COUNT},
		{"erltrace_state_writes_failed", METRIC_COUNT}};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (overlap(own[i].name, own[i].kind, name, kind))
			return true;
	return false;
}

const char *naming_conflict(const struct totals *t, const struct metric *self, const char *name,
	enum metric_kind kind)
{
	static char why[512];
	const char *of;

	if (is_own(name, kind)) {
		snprintf(why, sizeof(why), "the server itself has a metric %s", name);
		return why;
	}
	for (const struct metric *m = t->metrics; m != NULL; m = m->next) {
		if (m == self || !m->shown || m->name == NULL ||
			!overlap(m->name, m->kind, name, kind))
			continue;
		of = strcmp(m->aggregation, "_") == 0 ? "" : m->aggregation;
		if (strcmp(name, m->name) == 0)
			snprintf(why, sizeof(why), "@%s in %s.d has the same name, %s", of,
				m->script, name);
		else
			snprintf(why, sizeof(why),
				"%s has samples of the same names as %s, of @%s in %s.d", name,
				m->name, of, m->script);
		return why;
	}
	return NULL;
}
