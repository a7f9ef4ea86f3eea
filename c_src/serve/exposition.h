/* SPDX-License-Identifier: Apache-2.0 */
/* The totals, and the server's own state, as text for Prometheus. */
#ifndef SERVE_EXPOSITION_H
#define SERVE_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

struct serve;

#define EXPOSITION_TEXT	       "text/plain; version=0.0.4; charset=utf-8"
#define EXPOSITION_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* To be freed. NULL: memory is out. */
char *exposition(const struct serve *v, bool openmetrics, size_t *len);

#endif
