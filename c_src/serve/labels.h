/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and keys as labels of Prometheus. */
#ifndef SERVE_LABELS_H
#define SERVE_LABELS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum { LABEL_MAX = 4096 }; /* bytes of a key */

/*
 * node="...",key0="...", to be freed. names: of the keys, an array; where it has none, key0 and so
 * on. other: every key is `other`. NULL: memory is out.
 */
char *labels_of(const char *node, const json_t *names, const json_t *keys, bool other);
/* A value, without its quotes: backslash, quote and newline are escaped. */
void label_value(FILE *f, const char *text, size_t len);
/* Text of HELP: where quotes are not escaped (Prometheus' text format), and where they are
 * (OpenMetrics). */
void help_value(FILE *f, const char *text, bool openmetrics);

/* A number that reads back as it was, with as few digits as that takes: 0.004, not
 * 0.0040000000000000001. */
void put_float(FILE *f, double v);

#endif
