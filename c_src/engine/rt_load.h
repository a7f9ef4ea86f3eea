/* SPDX-License-Identifier: Apache-2.0 */
/* What load() in safe.c and in the kernel have in common (probe path). */
#ifndef EN_RT_LOAD_H
#define EN_RT_LOAD_H

#include "compiler.h"
#include "fire.h"

/*
 * Load a number of 1, 2, 4 or 8 bytes; how < 0: signed. An unmapped address is a bad address even
 * if it is misaligned too. load() fills a zeroed word; false: not mapped.
 */
static inline __attribute__((always_inline)) uint64_t load_checked(struct fire *f, uint64_t addr,
	int64_t how, bool (*load)(uint64_t addr, unsigned size, uint64_t *v))
{
	unsigned size = (unsigned)(how < 0 ? -how : how);
	uint64_t v = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		set_fault(f, FAULT_BADSIZE, addr);
		return 0;
	}
	if (unlikely(!load(addr, size, &v))) {
		set_fault(f, FAULT_BADADDR, addr);
		return 0;
	}
	if (unlikely(addr % size != 0)) {
		set_fault(f, FAULT_BADALIGN, addr);
		return 0;
	}
	if (how < 0 && size < 8) {
		unsigned shift = 64 - 8 * size;

		v = (uint64_t)((int64_t)(v << shift) >> shift);
	}
	return v;
}

#endif
