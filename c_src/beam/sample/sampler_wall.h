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

int sampler_wall_enable(struct en *en, struct en_probe *p, uint64_t period, struct et_error *e);
uint64_t sampler_wall_period(const struct beam_handle *b); /* ns, the shortest; 0: there is none */

#pragma GCC visibility pop
#endif
