/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of a series: its node, then its keys. They are kept as values, one after the other,
 * each ended by a NUL; what the labels are called the metric knows. Each output escapes them its
 * own way.
 */
#ifndef METRICS_LABELS_H
#define METRICS_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "erltrace.h"

enum { LABEL_MAX = 4096 }; /* bytes of a key */

struct metric;
struct series;

/*
 * The values, to be freed, which are UTF-8. other: every key is `other`. NULL: out of memory.
 */
char *label_values(
	const char *node, const erltrace_value_t *keys, size_t nkeys, bool other, size_t *len);

struct label {
	const char *name, *value; /* value NULL: there are no more */
	const struct metric *m;
	const char *end;
	size_t i;
	char plain[24]; /* the name, if the script has none */
};

/* Each label of a series; a node without a name has none. */
void label_first(struct label *l, const struct metric *m, const struct series *s);
void label_next(struct label *l);

#endif
