/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of x86-64 in bytes: registers, encodings, moves (jit_x86.c). */
#ifndef EBPF_X86_BYTES_H
#define EBPF_X86_BYTES_H

#include <string.h>

#include "jit.h"
#include "ops.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, XR8, XR9, XR10, XR11, XR12, XR13, XR14, XR15 };

static const uint8_t x86_reg[R10 + 1] = {
	[R0] = RAX,
	[R1] = RDI,
	[R2] = RSI,
	[R3] = RDX,
	[R4] = RCX,
	[R5] = XR8,
	[R6] = RBX,
	[R7] = XR13,
	[R8] = XR14,
	[R9] = XR15,
	[R10] = RBP,
};

/* Condition codes of jcc. */
enum { CC_B = 2, CC_AE, CC_E, CC_NE, CC_BE, CC_A, CC_L = 0xc, CC_GE, CC_LE, CC_G };

/* The /n of arithmetic with an immediate; 8 * n + 1 is the opcode between registers. */
enum { N_ADD = 0, N_OR = 1, N_AND = 4, N_SUB = 5, N_XOR = 6, N_CMP = 7 };

/* note[] of a jump: 8 bits of distance are enough. */
enum { NOTE_SHORT = 1 };

struct gen {
	const struct ebpf_job *job;
	uint8_t *base; /* where the code will run; NULL: not known yet */
	uint8_t *out;  /* NULL: measure only */
	size_t n;
	bool bmi2;
	unsigned reserve; /* bytes of stack below rbp */
	uint8_t saved[4]; /* callee-saved registers that were pushed */
	unsigned nsaved;
	bool frame, dummy; /* rbp is set up as r10; a push for alignment only */
};

/* ---- bytes ---------------------------------------------------------------------------- */

static inline void put1(struct gen *g, unsigned b)
{
	if (g->out != NULL)
		g->out[g->n] = (uint8_t)b;
	g->n++;
}

static inline void put2(struct gen *g, unsigned a, unsigned b)
{
	put1(g, a);
	put1(g, b);
}

static inline void put_le(struct gen *g, uint64_t v, unsigned bytes)
{
	if (g->out != NULL)
		memcpy(g->out + g->n, &v, bytes);
	g->n += bytes;
}

static inline bool fits8(int64_t v)
{
	return v == (int8_t)v;
}

static inline void rex(struct gen *g, bool w, int reg, int rm, bool always)
{
	unsigned b = 0x40u | (unsigned)w << 3 | (unsigned)(reg >> 3) << 2 | (unsigned)(rm >> 3);

	if (b != 0x40 || always)
		put1(g, b);
}

/* An opcode of one byte, or 0x0f00 | byte for one with the prefix 0x0f. */
static inline void opcode(struct gen *g, unsigned op)
{
	if (op > 0xff)
		put1(g, op >> 8);
	put1(g, op & 0xff);
}

/* op between registers; reg may be a /n */
static inline void rr(struct gen *g, bool w, unsigned op, int reg, int rm)
{
	rex(g, w, reg, rm, false);
	opcode(g, op);
	put1(g, 0xc0u | (unsigned)(reg & 7) << 3 | (unsigned)(rm & 7));
}

/* The same with a byte operand: without a REX prefix, 4-7 would be ah, ch, dh, bh. */
static inline void rr_byte(struct gen *g, bool w, unsigned op, int reg, int rm)
{
	rex(g, w, reg, rm, rm >= 4);
	opcode(g, op);
	put1(g, 0xc0u | (unsigned)(reg & 7) << 3 | (unsigned)(rm & 7));
}

/* op with memory at base + off; no base here needs a SIB byte. prefix: 0 or one byte */
static inline void rm(
	struct gen *g, unsigned prefix, bool w, unsigned op, int reg, int base, int off, bool byte)
{
	unsigned mod = off == 0 && (base & 7) != RBP ? 0 : fits8(off) ? 1 : 2;

	if (prefix)
		put1(g, prefix);
	rex(g, w, reg, base, byte && reg >= 4);
	opcode(g, op);
	put1(g, mod << 6 | (unsigned)(reg & 7) << 3 | (unsigned)(base & 7));
	if (mod != 0)
		put_le(g, (uint64_t)(int64_t)off, mod == 1 ? 1 : 4);
}

static inline void mov(struct gen *g, bool w, int dst, int src)
{
	if (dst != src || !w)
		rr(g, w, 0x89, src, dst);
}

static inline void zero(struct gen *g, int dst)
{
	rr(g, false, 0x31, dst, dst);
}

static inline void mov_imm(struct gen *g, int dst, uint64_t v)
{
	if (v == 0) {
		zero(g, dst);
	} else if (v <= UINT32_MAX) {
		rex(g, false, 0, dst, false);
		put1(g, 0xb8u | (unsigned)(dst & 7));
		put_le(g, v, 4);
	} else if (v == (uint64_t)(int64_t)(int32_t)v) {
		rr(g, true, 0xc7, 0, dst);
		put_le(g, v, 4);
	} else {
		rex(g, true, 0, dst, false);
		put1(g, 0xb8u | (unsigned)(dst & 7));
		put_le(g, v, 8);
	}
}

/* add, or, and, sub, xor, cmp with an immediate */
static inline void arith_imm(struct gen *g, bool w, int n, int dst, int32_t imm)
{
	rr(g, w, fits8(imm) ? 0x83 : 0x81, n, dst);
	put_le(g, (uint64_t)(int64_t)imm, fits8(imm) ? 1 : 4);
}

static inline void shift_imm(struct gen *g, bool w, int n, int dst, unsigned by)
{
	rr(g, w, by == 1 ? 0xd1 : 0xc1, n, dst);
	if (by != 1)
		put1(g, by);
}

/* A short jump within a sequence, whose target is set by land(). */
static size_t skip(struct gen *g, int cc)
{
	put2(g, cc < 0 ? 0xeb : 0x70u | (unsigned)cc, 0);
	return g->n;
}

static inline void land(struct gen *g, size_t from)
{
	if (g->out != NULL)
		g->out[from - 1] = (uint8_t)(g->n - from);
}

#endif
