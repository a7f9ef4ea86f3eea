/* SPDX-License-Identifier: Apache-2.0 */
/* All that the server exposes: the totals, and its own state. */
#ifndef SERVE_OWN_METRICS_H
#define SERVE_OWN_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct serve;

/* As text for Prometheus, to be freed. NULL: out of memory. */
char *own_metrics_text(const struct serve *v, bool openmetrics, size_t *len);

#endif
