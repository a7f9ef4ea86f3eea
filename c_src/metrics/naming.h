/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What metrics are called: by the script's #pragma D metric, or by the names of file and
 * aggregation.
 */
#ifndef METRICS_NAMING_H
#define METRICS_NAMING_H

#include "totals.h"

/* As in struct metric. */
struct naming {
	char *name, *help, *unit;
	char **labels;
	size_t nlabels;
	unsigned decimals;
};

int naming_of(struct naming *n, const char *script, const erltrace_shape_t *shape);
void naming_free(struct naming *n);
void naming_free_labels(char **labels, size_t n);
/*
 * Why a metric of this kind cannot have this name, to be freed; NULL: it can. self: the metric
 * whose name it becomes.
 */
char *naming_conflict(const struct totals *t, const struct metric *self);

#endif
