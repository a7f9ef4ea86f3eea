/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime functions by number: RT_fault, RT_var ...; see rt.def. */
#ifndef PROG_RT_H
#define PROG_RT_H

#include <stdbool.h>
#include <stdint.h>

enum rt_fn {
#define RT(name, ret, a2, a3, a4, a5, flags) RT_##name,
#include "rt.def"
	RT_COUNT_
};

enum { RT_FAULTS = 1, RT_WORKS = 2, RT_COPIES = 4 };

static inline unsigned rt_flags(enum rt_fn fn)
{
	enum { F = RT_FAULTS, W = RT_WORKS, B = RT_COPIES };
	static const unsigned char flags[] = {
#define RT(name, ret, a2, a3, a4, a5, fl) fl,
#include "rt.def"
	};

	return flags[fn];
}

/*
 * Work: bytes that the runtime functions of a firing go through, one by one, or eight at a time
 * where that is how they do it. All clauses at a probe share the bound of the option maxwork. So
 * many bytes at a time are not counted: they take no longer than a few instructions do.
 */
#define WORK_FREE  512
#define WORK_BLOCK 8

/* The functions themselves: engine/rt_*.c and, in the kernel, kernel/bpf. */
#define RT(name, ret, a2, a3, a4, a5, flags)                                                       \
	uint64_t rt_##name(uint64_t ctx, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
#include "rt.def"

/* May it set fire->fault, where its strings and what it is given by address are so long? */
static inline bool rt_can_fault(enum rt_fn fn, uint64_t longest)
{
	unsigned flags = rt_flags(fn);

	return (flags & (RT_FAULTS | RT_WORKS)) || ((flags & RT_COPIES) && longest > WORK_FREE);
}

#endif
