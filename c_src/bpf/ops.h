/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operations of the instruction set compute, as RFC 9669 defines them, for every input.
 * The interpreter executes it, the verifier folds constants with it, and the JIT must agree with
 * it. With constant op and bits all of it folds to a few machine instructions.
 */
#ifndef EBPF_OPS_H
#define EBPF_OPS_H

#include "ebpf.h"

static inline int64_t ebpf_sext(uint64_t v, unsigned bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static inline uint64_t ebpf_zext(uint64_t v, unsigned bits)
{
	return v << (64 - bits) >> (64 - bits);
}

/* x / 0 is 0 and x % 0 is x; INT64_MIN / -1 wraps to itself. */
static inline uint64_t ebpf_sdiv(int64_t a, int64_t b)
{
	if (b == 0)
		return 0;
	return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static inline uint64_t ebpf_smod(int64_t a, int64_t b)
{
	if (b == 0)
		return (uint64_t)a;
	return b == -1 ? 0 : (uint64_t)(a % b);
}

static inline uint64_t ebpf_swap(unsigned op, unsigned bits, uint64_t v)
{
	if (op == EBPF_O_BSWAP || (op == EBPF_O_BE) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
		v = __builtin_bswap64(v) >> (64 - bits);
	return ebpf_zext(v, bits);
}

/* dst = a op b; unary operations take a, mov and its variants take b. */
static inline uint64_t ebpf_alu(unsigned op, unsigned bits, uint64_t a, uint64_t b)
{
	uint64_t r = 0;

	a = ebpf_zext(a, bits);
	b = ebpf_zext(b, bits);
	switch (op) {
	case EBPF_O_ADD: r = a + b; break;
	case EBPF_O_SUB: r = a - b; break;
	case EBPF_O_MUL: r = a * b; break;
	case EBPF_O_DIV: r = b ? a / b : 0; break;
	case EBPF_O_MOD: r = b ? a % b : a; break;
	case EBPF_O_SDIV: r = ebpf_sdiv(ebpf_sext(a, bits), ebpf_sext(b, bits)); break;
	case EBPF_O_SMOD: r = ebpf_smod(ebpf_sext(a, bits), ebpf_sext(b, bits)); break;
	case EBPF_O_OR: r = a | b; break;
	case EBPF_O_AND: r = a & b; break;
	case EBPF_O_XOR: r = a ^ b; break;
	case EBPF_O_LSH: r = a << (b & (bits - 1)); break;
	case EBPF_O_RSH: r = a >> (b & (bits - 1)); break;
	case EBPF_O_ARSH: r = (uint64_t)(ebpf_sext(a, bits) >> (b & (bits - 1))); break;
	case EBPF_O_NEG: r = 0 - a; break;
	case EBPF_O_MOV: r = b; break;
	case EBPF_O_MOVSX8: r = (uint64_t)ebpf_sext(b, 8); break;
	case EBPF_O_MOVSX16: r = (uint64_t)ebpf_sext(b, 16); break;
	case EBPF_O_MOVSX32: r = (uint64_t)ebpf_sext(b, 32); break;
	case EBPF_O_LE:
	case EBPF_O_BE:
	case EBPF_O_BSWAP: r = ebpf_swap(op, bits, a); break;
	}
	return ebpf_zext(r, bits);
}

static inline bool ebpf_cond(unsigned op, unsigned bits, uint64_t a, uint64_t b)
{
	int64_t sa = ebpf_sext(a, bits), sb = ebpf_sext(b, bits);

	a = ebpf_zext(a, bits);
	b = ebpf_zext(b, bits);
	switch (op) {
	case EBPF_O_JEQ: return a == b;
	case EBPF_O_JNE: return a != b;
	case EBPF_O_JGT: return a > b;
	case EBPF_O_JLE: return a <= b;
	case EBPF_O_JGE: return a >= b;
	case EBPF_O_JLT: return a < b;
	case EBPF_O_JSGT: return sa > sb;
	case EBPF_O_JSLE: return sa <= sb;
	case EBPF_O_JSGE: return sa >= sb;
	case EBPF_O_JSLT: return sa < sb;
	case EBPF_O_JSET: return (a & b) != 0;
	default: return true;
	}
}

/* The immediate operand, sign-extended. */
static inline uint64_t ebpf_imm(const struct ebpf_insn *insn)
{
	return (uint64_t)(int64_t)insn->imm;
}

/* The 64 bits of a lddw (insn[0] and insn[1]). */
static inline uint64_t ebpf_imm64(const struct ebpf_insn *insn)
{
	return (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;
}

#endif
