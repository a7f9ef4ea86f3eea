/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A firing as bytecode sees it: the context in r1. The offsets are the ABI between the code
 * generator and the engine, whose struct fire begins with it.
 */
#ifndef PROG_FIRING_H
#define PROG_FIRING_H

#include <stdint.h>

struct fire_ctx {
	uint64_t arg[10];
	uint64_t scratch; /* region: this->, temporary strings */
	uint64_t globals; /* region */
	uint64_t rec;	  /* region: fixed part of the record being written */
	uint32_t id;	  /* of the probe */
	uint32_t epid;
	uint32_t fault;	  /* FAULT_*, set by runtime functions */
	uint32_t strmask; /* arguments that are the text of a struct et_str */
	uint64_t ts;	  /* timestamp, read once per firing; 0: not yet; or set by the provider */
};
#define FIRE_CTX_SIZE sizeof(struct fire_ctx)

#endif
