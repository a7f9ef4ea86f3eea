/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, by the rule of metric_name.c, and conflicts between them. Values are divided where they
 * are printed, digit by digit: nothing is rounded.
 */
#include "naming.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric_name.h"

static bool copy_labels(struct naming *n, const erltrace_metric_t *m)
{
	n->labels = m->nlabels > 0 ? calloc(m->nlabels, sizeof(*n->labels)) : NULL;
	for (unsigned i = 0; n->labels != NULL && i < m->nlabels; i++) {
		n->labels[i] = strdup(m->labels[i]);
		if (n->labels[i] == NULL)
			return false;
		n->nlabels++;
	}
	return n->nlabels == m->nlabels;
}

int naming_of(struct naming *n, const char *script, const erltrace_shape_t *shape)
{
	static const erltrace_metric_t none;
	const erltrace_metric_t *said = shape->metric != NULL ? shape->metric : &none;
	struct metric_name m;

	*n = (struct naming){.name = NULL};
	if (metric_name_of(&m, script, shape->name, said->name, said->unit) < 0)
		return -1;
	n->name = m.name;
	n->unit = m.unit;
	n->decimals = m.decimals;
	n->help = said->help != NULL ? strdup(said->help) : NULL;
	if ((said->help == NULL || n->help != NULL) && copy_labels(n, said))
		return 0;
	naming_free(n);
	return -1;
}

void naming_free_labels(char **labels, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(labels[i]);
	free(labels);
}

void naming_free(struct naming *n)
{
	free(n->name);
	free(n->help);
	free(n->unit);
	naming_free_labels(n->labels, n->nlabels);
}

/* ---- names of our own ------------------------------------------------------------------- */

const struct own_metric own_metrics[] = {{"erltrace_script_up", "gauge"},
	{"erltrace_script_restarts", "counter"}, {"erltrace_script_unmatched", "gauge"},
	{"erltrace_script_left_out", "gauge"}, {"erltrace_metric_left_out", "gauge"},
	{"erltrace_errors", "counter"}, {"erltrace_events", "counter"},
	{"erltrace_drops", "counter"}, {"erltrace_cost_ratio", "gauge"},
	{"erltrace_labels_dropped", "counter"}, {"erltrace_alert", "gauge"},
	{"erltrace_alert_calls", "counter"}, {"erltrace_alerts_dropped", "counter"},
	/* of the server */
	{"erltrace_lost_results", "counter"}, {"erltrace_lines_left_out", "counter"},
	{"erltrace_snapshots_failed", "counter"}, {"erltrace_folder_up", "gauge"},
	{"erltrace_build_info", "gauge"}, {"erltrace_scrapes", "counter"},
	{"erltrace_scrape_duration_seconds", "gauge"},
	{"erltrace_connections_displaced", "counter"}, {"erltrace_posts", "counter"},
	{"erltrace_posts_failed", "counter"}, {"erltrace_state_writes_failed", "counter"},
	/* of the application */
	{"erltrace_script_armed_ratio", "gauge"}, {"erltrace_script_armed_seconds", "counter"},
	{"erltrace_script_paused_seconds", "counter"}, {"erltrace_script_pauses", "counter"},
	{"erltrace_script_spent_seconds", "counter"}, {NULL, NULL}};

/* ---- conflicts -------------------------------------------------------------------------- */

static const char *const *suffixes(enum metric_kind kind)
{
	return metric_suffixes(metric_type(metric_function(kind)));
}

static bool joined_equal(const char *a, const char *a_end, const char *b, const char *b_end)
{
	size_t n = strlen(a), m = strlen(b);

	return n + strlen(a_end) == m + strlen(b_end) && strncmp(a, b, n < m ? n : m) == 0 &&
	       (n < m ? strncmp(a_end, b + n, m - n) == 0 && strcmp(a_end + (m - n), b_end) == 0
		      : strncmp(b_end, a + m, n - m) == 0 && strcmp(b_end + (n - m), a_end) == 0);
}

/* Do two families have a name of a sample in common? */
static bool overlap(
	const char *a, const char *const *a_ends, const char *b, const char *const *b_ends)
{
	for (const char *const *x = a_ends; *x != NULL; x++)
		for (const char *const *y = b_ends; *y != NULL; y++)
			if (joined_equal(a, *x, b, *y))
				return true;
	return false;
}

static bool is_own(const struct totals *t, const struct metric *m)
{
	for (const struct own_metric *own = t->own; own != NULL && own->name != NULL; own++)
		if (overlap(own->name, metric_suffixes(own->type), m->name, suffixes(m->kind)))
			return true;
	return false;
}

static char *__attribute__((format(printf, 1, 2))) text(const char *fmt, ...)
{
	char *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		why = NULL;
	va_end(ap);
	return why != NULL ? why : strdup("out of memory");
}

char *naming_conflict(const struct totals *t, const struct metric *self)
{
	const char *of;

	if (is_own(t, self))
		return text("%s has a metric %s", t->owner, self->name);
	for (const struct metric *m = t->metrics; m != NULL; m = m->next) {
		if (m == self || !m->shown || m->name == NULL ||
			!overlap(m->name, suffixes(m->kind), self->name, suffixes(self->kind)))
			continue;
		of = strcmp(m->aggregation, "_") == 0 ? "" : m->aggregation;
		if (strcmp(self->name, m->name) == 0)
			return text("@%s in %s.d has the same name, %s", of, m->script, m->name);
		return text("%s has samples of the same names as %s, of @%s in %s.d", self->name,
			m->name, of, m->script);
	}
	return NULL;
}
