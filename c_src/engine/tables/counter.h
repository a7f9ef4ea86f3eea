/* SPDX-License-Identifier: Apache-2.0 */
/* Counters with one writer and any number of readers: no locked instruction (probe path). */
#ifndef EN_COUNTER_H
#define EN_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic(uint64_t) counter;
static inline void count_add(counter *c, uint64_t n)
{
	uint64_t v = atomic_load_explicit(c, memory_order_relaxed);

	atomic_store_explicit(c, v + n, memory_order_relaxed);
}
static inline uint64_t count_get(const counter *c)
{
	return atomic_load_explicit((counter *)c, memory_order_relaxed);
}

#endif
