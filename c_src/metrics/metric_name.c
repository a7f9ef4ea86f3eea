/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus has one unit for each quantity, and its name at the end of a metric's: times are in
 * seconds. A script has nanoseconds, so they are divided where they are printed.
 *
 * A name stands for several: a histogram `a` has samples a_bucket and a_count. No two metrics may
 * have a name in common, or Prometheus would take neither.
 */
#include "metric_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *is, *becomes;
	unsigned decimals;
} units[] = {{"ns", "seconds", 9}, {"us", "seconds", 6}, {"ms", "seconds", 3}, {"s", "seconds", 0},
	{"nanoseconds", "seconds", 9}, {"microseconds", "seconds", 6},
	{"milliseconds", "seconds", 3}, {"percent", "ratio", 2}};

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
static int complete(struct metric_name *m)
{
	char *name;

	if (ends_with(m->name, "total"))
		m->name[strlen(m->name) - strlen("_total")] = '\0';
	if (m->unit == NULL || ends_with(m->name, m->unit))
		return 0;
	if (asprintf(&name, "%s_%s", m->name, m->unit) < 0)
		return -1;
	free(m->name);
	m->name = name;
	return 0;
}

static bool set_unit(struct metric_name *m, const char *unit)
{
	for (size_t i = 0; unit != NULL && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].is, unit) == 0) {
			unit = units[i].becomes;
			m->decimals = units[i].decimals;
			break;
		}
	m->unit = unit != NULL ? strdup(unit) : NULL;
	return unit == NULL || m->unit != NULL;
}

int metric_name_of(struct metric_name *m, const char *script, const char *aggregation,
	const char *name, const char *unit)
{
	*m = (struct metric_name){.name = NULL};
	m->name = name != NULL ? strdup(name) : default_name(script, aggregation);
	if (m->name != NULL && set_unit(m, unit) && complete(m) == 0)
		return 0;
	metric_name_free(m);
	return -1;
}

void metric_name_free(struct metric_name *m)
{
	free(m->name);
	free(m->unit);
	*m = (struct metric_name){.name = NULL};
}

void metric_help(
	char buf[METRIC_HELP], const char *script, const char *aggregation, const char *function)
{
	bool bare = strcmp(aggregation, "_") == 0, buckets = strstr(function, "quantize") != NULL;
	const char *minute = strcmp(function, "percentile") == 0 ? " of the last minute" : "";

	snprintf(buf, METRIC_HELP, "%s%s%s of @%s in %s.d", buckets ? "distribution" : function,
		buckets ? "" : "()", minute, bare ? "" : aggregation, script);
}

const char *metric_type(const char *function)
{
	static const struct {
		const char *function, *type;
	} types[] = {{"count", "counter"}, {"sum", "counter"}, {"min", "gauge"}, {"max", "gauge"},
		{"avg", "summary"}, {"percentile", "summary"}, {"quantize", "histogram"},
		{"lquantize", "histogram"}, {"llquantize", "histogram"}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].function, function) == 0)
			return types[i].type;
	return NULL;
}

const char *const *metric_suffixes(const char *type)
{
	static const char *const counter[] = {"", "_total", "_created", NULL},
				 *const gauge[] = {"", NULL},
				 *const summary[] = {"", "_sum", "_count", "_created", NULL},
				 *const histogram[] = {
					 "", "_bucket", "_sum", "_count", "_created", NULL};

	return strcmp(type, "counter") == 0	? counter
	       : strcmp(type, "summary") == 0	? summary
	       : strcmp(type, "histogram") == 0 ? histogram
						: gauge;
}
