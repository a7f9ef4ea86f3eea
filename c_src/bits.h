/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic that C has no operators for, or BPF no instructions (probe path). */
#ifndef BITS_H
#define BITS_H

#include <stdint.h>

/* Both halves of a product; xor of the two is the mixing step of hashes. */
static inline uint64_t mul_wide(uint64_t x, uint64_t y, uint64_t *high)
{
#ifdef __bpf__ /* no such instruction */
	uint64_t a = x >> 32, b = (uint32_t)x, c = y >> 32, d = (uint32_t)y;
	uint64_t low = b * d, mid = a * d + (low >> 32), cross = b * c + (uint32_t)mid;

	*high = a * c + (mid >> 32) + (cross >> 32);
	return x * y;
#else
	unsigned __int128 m = (unsigned __int128)x * y;

	*high = (uint64_t)(m >> 64);
	return (uint64_t)m;
#endif
}

/* The number of bits of v, which is not 0. */
static inline unsigned bit_length(uint64_t v)
{
#ifdef __bpf__ /* no such instruction either */
	/* set all bits below the highest, then count: no branches for the verifier */
	for (unsigned step = 1; step < 64; step *= 2)
		v |= v >> step;
	v -= v >> 1 & 0x5555555555555555;
	v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (unsigned)(v * 0x0101010101010101 >> 56);
#else
	return 64 - (unsigned)__builtin_clzll(v);
#endif
}

static inline uint64_t mul_fold(uint64_t x, uint64_t y)
{
	uint64_t high, low = mul_wide(x, y, &high);

	return low ^ high;
}

#endif
