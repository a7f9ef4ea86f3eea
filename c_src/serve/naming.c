/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names. Prometheus has one unit for each quantity, and its name at the end of a metric's: times are
 * in seconds. A script has nanoseconds, so they are divided where they are printed, digit by digit:
 * nothing is rounded.
 *
 * A name stands for several: a histogram `a` has samples a_bucket and a_count. No two metrics may
 * have a name in common, or Prometheus would take neither.
 */
#include "naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *is, *becomes;
	unsigned decimals;
} units[] = {{"ns", "seconds", 9}, {"us", "seconds", 6}, {"ms", "seconds", 3}, {"s", "seconds", 0},
	{"nanoseconds", "seconds", 9}, {"microseconds", "seconds", 6}, {"milliseconds", "seconds", 3},
	{"percent", "ratio", 2}};

static const char *text_of(const json_t *metric, const char *member)
{
	return json_string_value(json_object_get(metric, member));
}

/* erltrace_SCRIPT_AGGREGATION, of the characters that Prometheus permits. */
static char *default_name(const char *script, const char *aggregation)
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

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), len = strlen(end);

	return n > len && name[n - len - 1] == '_' && strcmp(name + n - len, end) == 0;
}

/* A counter's _total comes where it is printed, the unit before it. */
static int complete(struct naming *n)
{
	char *name;

	if (ends_with(n->name, "total"))
		n->name[strlen(n->name) - strlen("_total")] = '\0';
	if (n->unit == NULL || ends_with(n->name, n->unit))
		return 0;
	if (asprintf(&name, "%s_%s", n->name, n->unit) < 0)
		return -1;
	free(n->name);
	n->name = name;
	return 0;
}

static bool set_unit(struct naming *n, const char *unit)
{
	for (size_t i = 0; unit != NULL && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].is, unit) == 0) {
			unit = units[i].becomes;
			n->decimals = units[i].decimals;
			break;
		}
	n->unit = unit != NULL ? strdup(unit) : NULL;
	return unit == NULL || n->unit != NULL;
}

int naming_of(struct naming *n, const char *script, const char *aggregation, const json_t *shape)
{
	const json_t *metric = json_object_get(shape, "metric");
	const char *name = text_of(metric, "name"), *help = text_of(metric, "help");
	json_t *labels = json_object_get(metric, "labels");

	*n = (struct naming){.name = NULL};
	n->name = name != NULL ? strdup(name) : default_name(script, aggregation);
	n->help = help != NULL ? strdup(help) : NULL;
	n->labels = json_array_size(labels) > 0 ? json_incref(labels) : NULL;
	if (n->name != NULL && (help == NULL || n->help != NULL) &&
		set_unit(n, text_of(metric, "unit")) && complete(n) == 0)
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
	static const char *const counter[] = {"", "_total", "_created", NULL},
				 *const gauge[] = {"", NULL},
				 *const summary[] = {"", "_sum", "_count", "_created", NULL},
				 *const histogram[] = {
					 "", "_bucket", "_sum", "_count", "_created", NULL};

	switch (kind) {
	case METRIC_COUNT:
	case METRIC_SUM: return counter;
	case METRIC_AVG:
	case METRIC_QUANTILES: return summary;
	case METRIC_BUCKETS: return histogram;
	default: return gauge;
	}
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
		{"erltrace_posts", METRIC_COUNT}, {"erltrace_posts_failed", METRIC_COUNT}};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (overlap(own[i].name, own[i].kind, name, kind))
			return true;
	return false;
}

const char *naming_conflict(const struct totals *t, const struct metric *self, const char *name,
	enum metric_kind kind)
{
	static char why[512];

	if (is_own(name, kind)) {
		snprintf(why, sizeof(why), "the server itself has a metric %s", name);
		return why;
	}
	for (const struct metric *m = t->metrics; m != NULL; m = m->next) {
		if (m == self || m->name == NULL || !overlap(m->name, m->kind, name, kind))
			continue;
		snprintf(why, sizeof(why), "%s has samples of the same names as %s, of @%s in %s.d",
			name, m->name, strcmp(m->aggregation, "_") == 0 ? "" : m->aggregation,
			m->script);
		return why;
	}
	return NULL;
}
