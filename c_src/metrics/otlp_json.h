/* SPDX-License-Identifier: Apache-2.0 */
/* The totals as OTLP/HTTP has them, in JSON. */
#ifndef METRICS_OTLP_JSON_H
#define METRICS_OTLP_JSON_H

struct totals;

/* To be freed. NULL: out of memory. */
char *otlp_json(const struct totals *t, const char *version);

#endif
