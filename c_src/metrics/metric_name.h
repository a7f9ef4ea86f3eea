/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an aggregation is called as a metric: one rule for `erltrace serve` and for metrics of
 * scripts that run in a release.
 *
 */
#ifndef METRIC_NAME_H
#define METRIC_NAME_H

#include <stddef.h>

enum { METRIC_HELP = 512 };

struct metric_name {
	char *name, *unit; /* to be freed; the name without _total; unit: or NULL */
	unsigned decimals; /* values are divided by this power of ten */
};

/*
 * name, unit: what the script's #pragma D metric says, or NULL. script: its file's name without .d.
 * -1: memory is out.
 */
int metric_name_of(struct metric_name *m, const char *script, const char *aggregation,
	const char *name, const char *unit);
void metric_name_free(struct metric_name *m);

/* The help of a metric for which the script has none. */
void metric_help(
	char buf[METRIC_HELP], const char *script, const char *aggregation, const char *function);

/* "counter", "gauge", "summary" or "histogram"; NULL: this function has no metric. */
const char *metric_type(const char *function);

/* What the names of a family and its samples end with; ends with NULL. */
const char *const *metric_suffixes(const char *type);

#endif
