/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, character by character (probe path). */
#ifndef BEAM_UTF8_H
#define BEAM_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "peek.h"

/* How many bytes a character has that begins with this one; 0: none does. */
static inline size_t beam_utf8_length(uint8_t b)
{
	return b < 0x80 ? 1 : b < 0xc2 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf5 ? 4 : 0;
}

/* The bytes of the character at i, copied; 0: it is none, or cut off. */
static inline size_t beam_utf8_at(const struct beam_bits *b, uint64_t i, char s[4])
{
	uint8_t first = beam_octet(b, i), second;
	size_t n = beam_utf8_length(first);

	if (n == 0 || n > b->n / 8 - i)
		return 0;
	s[0] = (char)first;
	for (size_t k = 1; k < n; k++) {
		uint8_t next = beam_octet(b, i + k);

		if ((next & 0xc0) != 0x80)
			return 0;
		s[k] = (char)next;
	}
	second = n > 1 ? (uint8_t)s[1] : 0;
	/* longer than need be, half of a pair, or beyond the last character */
	if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
		(first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90))
		return 0;
	return n;
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
