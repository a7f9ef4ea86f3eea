/* SPDX-License-Identifier: Apache-2.0 */
/* The totals, posted to a collector of OpenTelemetry: OTLP/HTTP with JSON. */
#ifndef SERVE_OTLP_H
#define SERVE_OTLP_H

#include <stdint.h>

#include "post.h"

struct serve;

enum { OTLP_EVERY = 10 }; /* seconds, unless --otlp-interval says otherwise */

struct otlp {
	struct post post;
	bool on;
	int every; /* seconds */
	int64_t due;
	uint64_t began; /* ns of the epoch: since when is counted */
};

void otlp_look(struct serve *v); /* post, if it is time */
void otlp_free(struct serve *v);

#endif
