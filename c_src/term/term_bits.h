/* SPDX-License-Identifier: Apache-2.0 */
/* Some bits of a binary (probe path). */
#ifndef TERM_BITS_H
#define TERM_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "utf8.h"

struct term_bits {
	const uint8_t *data;
	unsigned off; /* bits of the first byte that are not part of it */
	uint64_t n;   /* bits */
};

static inline uint8_t term_octet(const struct term_bits *b, uint64_t i)
{
	const uint8_t *d = b->data + i;

	return b->off == 0 ? d[0] : (uint8_t)(d[0] << b->off | d[1] >> (8 - b->off));
}

/* Bits of the last octet, if it is not a whole one: in the highest places, zeros behind them. */
static inline uint8_t term_last_octet(const struct term_bits *b)
{
	uint64_t n = b->n / 8;
	unsigned rest = b->n % 8;
	uint8_t v = b->off + rest <= 8 ? (uint8_t)(b->data[n] << b->off) : term_octet(b, n);

	return (uint8_t)(v & 0xff00 >> rest);
}

/* Some of them, from this one on. */
static inline struct term_bits term_bits_part(const struct term_bits *b, uint64_t from, uint64_t n)
{
	uint64_t at = b->off + from;

	return (struct term_bits){.data = b->data + at / 8, .off = at % 8, .n = n};
}

/* The bytes of the character at octet i, copied; 0: it is none, or cut off. */
PROBE_PATH static inline size_t term_char_at(const struct term_bits *b, uint64_t i, char s[4])
{
	uint64_t left = b->n / 8 - i;
	size_t n = left < 4 ? (size_t)left : 4;

	for (size_t k = 0; k < n; k++)
		s[k] = (char)term_octet(b, i + k);
	return n > 0 ? utf8_valid((const unsigned char *)s, n) : 0;
}

#endif
