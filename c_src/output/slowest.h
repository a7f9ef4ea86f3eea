/* SPDX-License-Identifier: Apache-2.0 */
/* The slowest of all requests that came. */
#ifndef OUTPUT_SLOWEST_H
#define OUTPUT_SLOWEST_H

#include <stddef.h>
#include <stdint.h>

struct flow;

struct slowest {
	struct flow **v;
	size_t n, max;
	uint64_t left_out;
};

void slowest_add(struct slowest *s, struct flow *f); /* the caller keeps its own */
void slowest_clear(struct slowest *s);

#endif
