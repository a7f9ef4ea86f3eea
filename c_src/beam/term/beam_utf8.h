/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 in binaries, character by character (probe path). */
#ifndef BEAM_UTF8_H
#define BEAM_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "beam/vm/peek.h"
#include "utf8.h"

/* The bytes of the character at i, copied; 0: it is none, or cut off. */
static inline size_t beam_utf8_at(const struct beam_bits *b, uint64_t i, char s[4])
{
	uint64_t left = b->n / 8 - i;
	size_t n = left < 4 ? (size_t)left : 4;

	for (size_t k = 0; k < n; k++)
		s[k] = (char)beam_octet(b, i + k);
	return n > 0 ? utf8_valid((const unsigned char *)s, n) : 0;
}

#endif
