/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What metrics are called: by the script's #pragma D metric, or by the names of file and
 * aggregation.
 */
#ifndef SERVE_NAMING_H
#define SERVE_NAMING_H

#include "totals.h"

/* As in struct metric. */
struct naming {
	char *name, *help, *unit;
	json_t *labels;
	unsigned decimals;
};

int naming_of(struct naming *n, const char *script, const char *aggregation, const json_t *shape);
void naming_free(struct naming *n);
/*
 * Why a metric of this kind cannot have this name: text that is valid until the next call; NULL: it
 * can. self: the metric whose name it becomes, or NULL.
 */
const char *naming_conflict(const struct totals *t, const struct metric *self, const char *name,
	enum metric_kind kind);

#endif
