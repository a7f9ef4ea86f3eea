/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many columns of a terminal a text takes. wcwidth() would say so for the locale of the process
 * only, and a node has none; the ranges here are those that matter for names and texts: marks that
 * combine with the letter before them take none, the letters of East Asia and emoji take two.
 */
#include "columns.h"

#include <stdint.h>

#include "utf8.h"

struct range {
	uint32_t from, to;
};

static const struct range none[] = {
	{0x300, 0x36f},	    /* marks */
	{0x483, 0x489},	    /* of Cyrillic */
	{0x591, 0x5bd},	    /* of Hebrew */
	{0x610, 0x61a},	    /* of Arabic */
	{0x64b, 0x65f},
	{0x93c, 0x93c},	    /* of Devanagari */
	{0x941, 0x948},
	{0x94d, 0x94d},
	{0xe31, 0xe31},	    /* of Thai */
	{0xe34, 0xe3a},
	{0xe47, 0xe4e},
	{0x1ab0, 0x1aff},   /* more marks */
	{0x1dc0, 0x1dff},
	{0x200b, 0x200f},   /* joiners, directions */
	{0x2028, 0x202e},
	{0x2060, 0x2064},
	{0x20d0, 0x20f0},
	{0xfe00, 0xfe0f},   /* variants */
	{0xfe20, 0xfe2f},
	{0xfeff, 0xfeff},
	{0xe0100, 0xe01ef},
};

static const struct range two[] = {
	{0x1100, 0x115f},   /* Hangul */
	{0x2e80, 0x303e},   /* ideographs, kana and their punctuation */
	{0x3041, 0xa4cf},
	{0xa960, 0xa97c},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff01, 0xff60},   /* full-width forms */
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, /* pictures */
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
};

static int is_in(const struct range *r, size_t n, uint32_t c)
{
	for (size_t i = 0; i < n && r[i].from <= c; i++)
		if (c <= r[i].to)
			return 1;
	return 0;
}

static size_t columns_of(uint32_t c)
{
	if (is_in(none, sizeof(none) / sizeof(*none), c))
		return 0;
	return is_in(two, sizeof(two) / sizeof(*two), c) ? 2 : 1;
}

size_t text_columns(const void *text, size_t len)
{
	const unsigned char *s = text;
	size_t columns = 0;

	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_valid(s + i, len - i);
		columns += n <= 1 ? 1 : columns_of(utf8_decode(s + i, n));
		n += n == 0;
	}
	return columns;
}
