/* SPDX-License-Identifier: Apache-2.0 */
/* Indices of the runtime functions: RT_fault, RT_var ...; see rt.def. */
#ifndef PROG_RT_H
#define PROG_RT_H

#include <stdbool.h>
#include <stdint.h>

enum rt_fn {
#define RT(name, ret, a2, a3, a4, a5, flags) RT_##name,
#include "rt.def"
	RT_COUNT_
};

enum { RT_FAULTS = 1, RT_WORKS = 2, RT_COPIES = 4, RT_NULLS = 8, RT_TERMS = 16 };

static inline unsigned rt_flags(enum rt_fn fn)
{
	enum { F = RT_FAULTS, W = RT_WORKS, B = RT_COPIES, N = RT_NULLS, T = RT_TERMS };
	static const unsigned char flags[] = {
#define RT(name, ret, a2, a3, a4, a5, fl) fl,
#include "rt.def"
	};

	return flags[fn];
}

/*
 * Work: the bytes that the runtime functions of a firing process, in units of one byte or of eight,
 * depending on how they process them. All clauses at a probe share the limit of the option maxwork.
 * Up to WORK_FREE bytes in one call of a function that works by blocks are not counted: they take
 * no longer than a few instructions.
 */
#define WORK_FREE  512
#define WORK_BLOCK 8

/* Prototypes. The functions are in engine/rt/ and, for the kernel, kernel/bpf. */
#define RT(name, ret, a2, a3, a4, a5, flags)                                                       \
	uint64_t rt_##name(uint64_t ctx, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
#include "rt.def"

/* May it set fire->fault, if its strings and memory arguments are at most this long? */
static inline bool rt_can_fault(enum rt_fn fn, uint64_t longest, bool may_be_null)
{
	unsigned flags = rt_flags(fn);

	return (flags & (RT_FAULTS | RT_WORKS | RT_TERMS)) ||
	       ((flags & RT_COPIES) && longest > WORK_FREE) || ((flags & RT_NULLS) && may_be_null);
}

#endif
