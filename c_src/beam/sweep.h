/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of processes, where their exits are not told (sweep.c). */
#ifndef BEAM_SWEEP_H
#define BEAM_SWEEP_H

#include <stdint.h>

/* The pass that is under way. */
struct beam_sweep {
	unsigned step; /* which of the handle's tables */
	uint64_t at;   /* how far in it */
	uint64_t took; /* ns, so far */
};

#endif
