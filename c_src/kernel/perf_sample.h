/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events on all CPUs, each of which fires a probe every so often: sampler.c. */
#ifndef K_PERF_SAMPLE_H
#define K_PERF_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct en;
struct en_probe;

struct k_sample {
	uint32_t type; /* as in struct perf_event_attr */
	uint64_t config, period;
	bool not_user, not_kernel;
	bool counts; /* its probe is a counter's (vminfo), not a place's */
};

/* When a probe is enabled. The provider profile sees to the rest. */
int k_sample_add(
	struct en *en, const struct en_probe *p, const struct k_sample *s, struct et_error *e);

#endif
