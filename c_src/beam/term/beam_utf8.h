/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 in binaries, character by character (probe path). */
#ifndef BEAM_UTF8_H
#define BEAM_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "beam/vm/peek.h"
#include "compiler.h"
#include "utf8.h"

/* How many bytes a character has that begins with this one; 0: none does. */
static inline size_t beam_utf8_length(uint8_t b)
{
	return b < 0x80 ? 1 : b < 0xc2 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf5 ? 4 : 0;
}

/* The bytes of the character at i, copied; 0: it is none, or cut off. */
PROBE_PATH static inline size_t beam_utf8_at(const struct beam_bits *b, uint64_t i, char s[4])
{
	uint64_t left = b->n / 8 - i;
	size_t n = left < 4 ? (size_t)left : 4;

	for (size_t k = 0; k < n; k++)
		s[k] = (char)beam_octet(b, i + k);
	return n > 0 ? utf8_valid((const unsigned char *)s, n) : 0;
}

static inline uint32_t beam_utf8_decode(const char s[4], size_t n)
{
	uint32_t c = n == 1 ? (uint8_t)s[0] : (uint8_t)s[0] & (0x7f >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((uint8_t)s[i] & 0x3f);
	return c;
}

static inline size_t beam_utf8_encode(uint32_t c, char buf[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		buf[i] = (char)(0x80 | (c & 0x3f));
	buf[0] = (char)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
	return n;
}

/* How many bytes has this text up to n, without a character that is cut off? */
static inline size_t beam_utf8_whole(const char *text, size_t n)
{
	size_t at = n, back = 0;

	while (at > 0 && back < 3 && ((uint8_t)text[at - 1] & 0xc0) == 0x80)
		at--, back++;
	if (at == 0 || beam_utf8_length((uint8_t)text[at - 1]) <= back + 1)
		return n;
	return at - 1;
}

#endif
