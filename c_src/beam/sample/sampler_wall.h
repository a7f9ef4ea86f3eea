/* SPDX-License-Identifier: Apache-2.0 */
/* profile-wall-N in a node (sampler_wall.c). */
#ifndef BEAM_SAMPLER_WALL_H
#define BEAM_SAMPLER_WALL_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct beam_handle;
struct en;
struct en_probe;
struct et_error;

#define BEAM_WALLS 8
struct beam_wall { /* a profile-wall-N */
	struct en_probe *probe;
	uint64_t period, full; /* ns; those that have passed since it fired */
};

/* Of a handle that has one. */
struct beam_walls {
	struct beam_wall v[BEAM_WALLS];
	unsigned n;
};

int sampler_wall_enable(struct en *en, struct en_probe *p, uint64_t period, struct et_error *e);
void sampler_wall_free(struct beam_handle *b);
uint64_t sampler_wall_period(const struct beam_handle *b); /* ns, the shortest; 0: there is none */

#pragma GCC visibility pop
#endif
