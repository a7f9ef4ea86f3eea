/* SPDX-License-Identifier: Apache-2.0 */
/* The time stamp counter, calibrated: clock.c. */
#ifndef EN_CLOCK_H
#define EN_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

uint64_t en_now(void);			   /* ns, monotonic (probe path) */
void clock_init(bool fast);  /* fast: time stamps will be read often */
void clock_check(void);	     /* correct it against the system's clock */
int64_t clock_wall(void);    /* CLOCK_REALTIME - CLOCK_MONOTONIC, when that was checked last */
uint64_t clock_thread(void); /* CPU time of the calling thread */
uint64_t clock_now_slow(void);

#ifdef __bpf__
static inline uint64_t clock_now(void)
{
	return en_now();
}
#else
/*
 * ns = base + (counter - start) * rate / 2^60, in one cache line, as every time stamp reads all of
 * it. rate fits into 64 bits because a step of the counter takes less than 16 ns. This is a
 * seqlock: version is odd while the others are being changed, and while the counter is not in use.
 */
extern struct en_clock {
	_Alignas(64) _Atomic(uint64_t) version;
	_Atomic(uint64_t) start, base, rate;
} en_clock HIDDEN;

static inline uint64_t clock_counter(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

static inline uint64_t clock_ns(uint64_t steps, uint64_t rate)
{
	return (uint64_t)((unsigned __int128)(steps << 4) * rate >> 64); /* the high half alone */
}

/* The counter is read first, and each word where it is used: so all of it stays in registers. */
static inline bool clock_try(uint64_t *now)
{
	uint64_t steps = clock_counter(), from, v;

	v = atomic_load_explicit(&en_clock.version, memory_order_acquire);
	from = atomic_load_explicit(&en_clock.start, memory_order_relaxed);
	if (unlikely((v & 1) || steps < from))
		return false;
	*now = clock_ns(steps - from, atomic_load_explicit(&en_clock.rate, memory_order_relaxed)) +
	       atomic_load_explicit(&en_clock.base, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return likely(atomic_load_explicit(&en_clock.version, memory_order_relaxed) == v);
}

/* en_now, inline. */
static inline uint64_t clock_now(void)
{
	uint64_t now;

	return likely(clock_try(&now)) ? now : clock_now_slow();
}
#endif

unsigned en_cpu(void);

#endif
