/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus' text format 0.0.4, and OpenMetrics 1.0. They differ in the name of a counter's
 * family, which has _total in the first, and in the line that ends the second.
 */
#ifndef METRICS_EXPOSITION_H
#define METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stdio.h>

struct metric;
struct totals;

#define EXPOSITION_TEXT	       "text/plain; version=0.0.4; charset=utf-8"
#define EXPOSITION_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct expo {
	FILE *f;
	bool openmetrics;
};

/* The head of a family; the name without _total. */
void expo_family(const struct expo *x, const char *name, const char *type, const char *help);
/* NAME="VALUE", escaped */
void expo_label(const struct expo *x, const char *name, const char *value);
/* All metrics that are shown. */
void expo_totals(const struct expo *x, const struct totals *t);
void expo_end(const struct expo *x);
/* A family's type and help; buf: of METRIC_HELP bytes (metric_name.h). */
const char *expo_type(const struct metric *m);
const char *expo_help(const struct metric *m, char *buf);

void expo_quantile(char text[32], double percent); /* 99.9: "0.999" */

/* A number that reads back as it was, with as few digits as that takes: 0.004, not
 * 0.0040000000000000001. */
void put_float(FILE *f, double v);

#endif
