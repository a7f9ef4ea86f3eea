/* SPDX-License-Identifier: Apache-2.0 */
/* What safe.c and its counterpart in the kernel have in common (probe path). */
#ifndef EN_RT_LOAD_H
#define EN_RT_LOAD_H

#include "compiler.h"
#include "engine/fire.h"
#include "engine/slot.h"
#include "engine/state.h"

/*
 * Bytes that may be read at addr. Of the memory for alloca() and copyin() it is what they have
 * given in this clause: the rest is left over from others, and nothing is in the ALLOCA_BELOW bytes
 * below it. Of other memory it is all up to these: very much, if it is above.
 */
static inline uint64_t mem_readable(const struct fire *f, uint64_t addr)
{
	uint64_t off = addr - ((uint64_t)(uintptr_t)f->thread->alloca - ALLOCA_BELOW);

	if (likely(off >= ALLOCA_BELOW + (uint64_t)f->en->alloca_size))
		return -off;
	off -= ALLOCA_BELOW;
	return off < f->alloca_used ? f->alloca_used - off : 0;
}

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
	if (unlikely(mem_readable(f, addr) < size || !load(addr, size, &v))) {
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

/* A string that must end within the memory that may be read. */
static inline __attribute__((always_inline)) int64_t str_checked(struct fire *f, char *dst,
	uint64_t addr, size_t room,
	int64_t (*str)(struct fire *f, char *dst, uint64_t addr, size_t room))
{
	uint64_t most = mem_readable(f, addr);
	int64_t len;

	if (likely(most >= room))
		return str(f, dst, addr, room);
	len = str(f, dst, addr, most + 1);
	if (len < 0 || (uint64_t)len < most)
		return len;
	set_fault(f, FAULT_BADADDR, addr + most);
	dst[0] = '\0';
	return -1;
}

#endif
