/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of processes is freed, where their exits are not told; memory is given back
 * (sweep.c). */
#ifndef BEAM_SWEEP_H
#define BEAM_SWEEP_H

#include <erl_nif.h>
#include <stdint.h>

struct beam_handle;

/* The pass that is under way. */
struct beam_sweep {
	unsigned step; /* which of the handle's tables */
	uint64_t at;   /* how far in it */
	uint64_t took; /* ns, so far */
};

/* Likewise, of what gives memory back. */
struct beam_release {
	unsigned step;
	uint64_t at;  /* pages */
	uint64_t due; /* when it begins */
};

#pragma GCC visibility push(hidden)
void beam_release(struct beam_handle *b, ErlNifEnv *env);
#pragma GCC visibility pop

#endif
