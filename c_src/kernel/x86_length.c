/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The length of an x86-64 instruction: a probe inside a function must be at the first byte of one,
 * or the program would execute something else.
 */
#include <string.h>

#include "modules.h"

enum { NONE = 0, MODRM = 1, IMM8 = 2, IMM16 = 4, IMMZ = 8, BAD = 16 }; /* Z: 4 bytes, or 2 */

static unsigned one_byte(uint8_t op)
{
	static const uint8_t bad[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
		0x3f, 0x60, 0x61, 0x62, 0x82, 0x9a, 0xc4, 0xc5, 0xce, 0xd4, 0xd5, 0xd6, 0xea};

	if (memchr(bad, op, sizeof(bad)) != NULL)
		return BAD;
	if (op < 0x40)
		return (op & 7) < 4 ? MODRM : (op & 7) == 4 ? IMM8 : (op & 7) == 5 ? IMMZ : NONE;
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xb7) || (op >= 0xe0 && op <= 0xe7))
		return IMM8;
	if ((op >= 0x84 && op <= 0x8f) || (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf))
		return MODRM;
	switch (op) {
	case 0x63: case 0xf6: case 0xf7: case 0xfe: case 0xff: return MODRM;
	case 0x68: case 0xa9: return IMMZ;
	case 0x69: case 0x81: case 0xc7: return MODRM | IMMZ;
	case 0x6a: case 0xa8: case 0xcd: case 0xeb: return IMM8;
	case 0x6b: case 0x80: case 0x83: case 0xc0: case 0xc1: case 0xc6: return MODRM | IMM8;
	case 0xc2: case 0xca: return IMM16;
	case 0xc8: return IMM16 | IMM8;
	default: return NONE;
	}
}

/* Behind 0f; and of VEX and EVEX, where all have a second byte but vzeroupper. */
static unsigned two_bytes(uint8_t op)
{
	if (op == 0x05 || op == 0x06 || op == 0x07 || op == 0x08 || op == 0x09 || op == 0x0b ||
		op == 0x0e || (op >= 0x30 && op <= 0x37) || op == 0x77 ||
		(op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) ||
		(op >= 0xc8 && op <= 0xcf))
		return NONE;
	if ((op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
		(op >= 0xc4 && op <= 0xc6) || op == 0x0f)
		return MODRM | IMM8;
	return MODRM;
}

/* The byte that says where operands are, with what belongs to it; 0: it is not all there. */
static size_t modrm_len(const uint8_t *p, size_t n)
{
	unsigned mod, rm;
	size_t len = 1;

	mod = p[0] >> 6;
	rm = p[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (n < 2)
			return 0;
		len++;
		if (mod == 0 && (p[1] & 7) == 5)
			len += 4;
	}
	if (mod == 0 && rm == 5)
		len += 4;
	return len + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* VEX and EVEX: the map of the opcode is told by bits. */
static unsigned vex_kind(const uint8_t *p, size_t n, size_t *at)
{
	unsigned map = 1;
	size_t op = *at + (p[*at] == 0xc5 ? 2 : p[*at] == 0xc4 ? 3 : 4);

	if (op >= n)
		return BAD;
	if (p[*at] != 0xc5)
		map = p[*at + 1] & (p[*at] == 0xc4 ? 0x1f : 7);
	*at = op + 1;
	return map == 1 ? two_bytes(p[op]) : map == 3 ? MODRM | IMM8 : MODRM;
}

size_t k_insn_len(const uint8_t *p, size_t n)
{
	bool narrow = false, wide = false, short_addr = false;
	unsigned kind;
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
	uint8_t op;
	size_t at = 0, m;

	for (; at < n && at < 14 && memchr(prefixes, p[at], sizeof(prefixes)); at++) {
		narrow |= p[at] == 0x66;
		short_addr |= p[at] == 0x67;
	}
	if (at < n && (p[at] & 0xf0) == 0x40)
		wide = p[at++] & 8;
	if (at + 1 >= n)
		return at < n && one_byte(p[at]) == NONE ? at + 1 : 0;
	op = p[at];
	if (op == 0xc4 || op == 0xc5 || op == 0x62) {
		kind = vex_kind(p, n, &at);
	} else if (op == 0x0f && p[at + 1] == 0x38) {
		kind = MODRM;
		at += 3;
	} else if (op == 0x0f && p[at + 1] == 0x3a) {
		kind = MODRM | IMM8;
		at += 3;
	} else if (op == 0x0f) {
		kind = two_bytes(p[at + 1]);
		if (p[at + 1] >= 0x80 && p[at + 1] <= 0x8f)
			return at + 6 <= n ? at + 6 : 0;
		at += 2;
	} else {
		kind = one_byte(op);
		at++;
		if (op == 0xe8 || op == 0xe9)
			return at + 4 <= n ? at + 4 : 0;
		if (op >= 0xa0 && op <= 0xa3)
			at += short_addr ? 4 : 8;
		if (op >= 0xb8 && op <= 0xbf)
			at += wide ? 8 : narrow ? 2 : 4;
		if (op == 0x8f && at < n && (p[at] & 0x38) != 0)
			return 0; /* not pop, but AMD's XOP */
		if ((op == 0xf6 || op == 0xf7) && at < n && (p[at] >> 3 & 7) < 2)
			kind |= op == 0xf6 ? IMM8 : IMMZ;
	}
	if (kind & BAD)
		return 0;
	if (kind & MODRM) {
		if (at >= n || (m = modrm_len(p + at, n - at)) == 0)
			return 0;
		at += m;
	}
	at += (kind & IMM8 ? 1 : 0) + (kind & IMM16 ? 2 : 0);
	at += kind & IMMZ ? (narrow && !wide ? 2 : 4) : 0;
	return at <= n && at <= 15 ? at : 0;
}
