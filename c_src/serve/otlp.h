/* SPDX-License-Identifier: Apache-2.0 */
/* The totals, posted to a collector of OpenTelemetry: OTLP/HTTP with JSON. */
#ifndef SERVE_OTLP_H
#define SERVE_OTLP_H

#include <stdint.h>

#include "post/post.h"

struct serve;

enum { OTLP_EVERY = 10 }; /* seconds, unless --otlp-interval says otherwise */

struct otlp {
	struct post post;
	bool on;
	int every; /* seconds */
	int64_t due;
	bool last; /* the totals of scripts that have ended are under way */
};

void otlp_look(struct serve *v);	/* post, if it is time */
void otlp_end(struct serve *v);		/* all scripts have ended: post once more */
bool otlp_ended(const struct serve *v); /* that has been delivered */
void otlp_free(struct serve *v);

#endif
