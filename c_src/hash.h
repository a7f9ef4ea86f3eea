/* SPDX-License-Identifier: Apache-2.0 */
/* A hash of bytes (probe path). */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bits.h"

static inline uint64_t hash_tail(const char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)(unsigned char)p[i] << 8 * i;
	return v;
}

static inline uint64_t hash_bytes(const char *p, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15 ^ n, w;

	/* eight words in a turn: older kernels limit the turns of a loop */
	for (; n >= 64; p += 64, n -= 64)
		for (unsigned i = 0; i < 8; i++) {
			memcpy(&w, p + 8 * i, 8);
			h = mul_fold(h ^ w, 0xd6e8feb86659fd93);
		}
	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		h = mul_fold(h ^ w, 0xd6e8feb86659fd93);
	}
	return mul_fold(h ^ hash_tail(p, n), 0xa0761d6478bd642f);
}

#endif
