/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime functions by number: RT_fault, RT_var ...; see rt.def. */
#ifndef EN_RT_H
#define EN_RT_H

#include <stdbool.h>

enum rt_fn {
#define RT(name, ret, a2, a3, a4, a5, flags) RT_##name,
#include "rt.def"
	RT_COUNT_
};

/* May it set fire->fault? */
static inline bool rt_can_fault(enum rt_fn fn)
{
	enum { F = 1 };
	static const unsigned char flags[] = {
#define RT(name, ret, a2, a3, a4, a5, fl) fl,
#include "rt.def"
	};

	return flags[fn] & F;
}

#endif
