/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is generated from insns.def: the codes (EBPF_ADD64_REG ...) to emit programs, and a row for
 * each instruction, found by ebpf_decode(), to read them. Included by ebpf.h.
 */
#ifndef EBPF_INSNS_H
#define EBPF_INSNS_H

/*
 * The codes. Instructions that differ in off or imm only share a code: EBPF_SDIV64_REG is
 * EBPF_DIV64_REG with off = 1; EBPF_MOV64_SX8 is EBPF_MOV64_REG with off = 8.
 */
enum ebpf_opcode {
#define INSN(name, code, sub, form, op, bits) EBPF_##name = (code),
#include "insns.def"
	EBPF_ATOMIC32 = 0xc3, /* the operation in imm */
	EBPF_ATOMIC64 = 0xdb,
	EBPF_LE = 0xd4, /* 16, 32 or 64 in imm */
	EBPF_BE = 0xdc,
	EBPF_BSWAP = 0xd7,
};

/* imm of EBPF_ATOMIC32 and EBPF_ATOMIC64; with FETCH the old value goes to src. */
enum {
	EBPF_ATOMIC_ADD = 0x00,
	EBPF_ATOMIC_OR = 0x40,
	EBPF_ATOMIC_AND = 0x50,
	EBPF_ATOMIC_XOR = 0xa0,
	EBPF_ATOMIC_FETCH = 0x01,
	EBPF_ATOMIC_XCHG = 0xe0 | EBPF_ATOMIC_FETCH,
	EBPF_ATOMIC_CMPXCHG = 0xf0 | EBPF_ATOMIC_FETCH, /* with r0; old value to r0 */
};

/* off of the signed divisions. */
enum { EBPF_SIGNED = 1 };

/* The rows of insns.def, in its order. */
enum ebpf_row {
#define INSN(name, code, sub, form, op, bits) EBPF_I_##name,
#include "insns.def"
	EBPF_NROWS
};

/* How the fields of an instruction are used; fields not named are reserved and 0. */
enum ebpf_form {
	EBPF_F_ALU_IMM, /* dst = dst op imm; off: sub */
	EBPF_F_ALU_REG, /* dst = dst op src; off: sub */
	EBPF_F_MOV_IMM, /* dst = imm */
	EBPF_F_MOV_REG, /* dst = src; off: sub */
	EBPF_F_UNARY,	/* dst = op dst */
	EBPF_F_END,	/* dst = op dst; imm: sub */
	EBPF_F_LDDW,	/* dst = imm of this and the next slot; src: EBPF_LDDW_* */
	EBPF_F_LDX,	/* dst = *(src + off) */
	EBPF_F_ST,	/* *(dst + off) = imm */
	EBPF_F_STX,	/* *(dst + off) = src */
	EBPF_F_ATOMIC,	/* *(dst + off) op= src; imm: sub */
	EBPF_F_JA,	/* pc += off */
	EBPF_F_JA32,	/* pc += imm */
	EBPF_F_JMP_IMM, /* if dst op imm, pc += off */
	EBPF_F_JMP_REG, /* if dst op src, pc += off */
	EBPF_F_CALL,	/* r0 = function imm of r1-r5 */
	EBPF_F_EXIT,
	EBPF_NFORMS
};

enum ebpf_op {
	EBPF_O_ADD,
	EBPF_O_SUB,
	EBPF_O_MUL,
	EBPF_O_DIV,
	EBPF_O_SDIV,
	EBPF_O_MOD,
	EBPF_O_SMOD,
	EBPF_O_OR,
	EBPF_O_AND,
	EBPF_O_XOR,
	EBPF_O_LSH,
	EBPF_O_RSH,
	EBPF_O_ARSH,
	EBPF_O_NEG,
	EBPF_O_MOV,
	EBPF_O_MOVSX8,
	EBPF_O_MOVSX16,
	EBPF_O_MOVSX32,
	EBPF_O_LE,
	EBPF_O_BE,
	EBPF_O_BSWAP,
	EBPF_O_LOAD,
	EBPF_O_LOADSX,
	EBPF_O_STORE,
	EBPF_O_XCHG,
	EBPF_O_CMPXCHG,
	EBPF_O_JA,
	EBPF_O_JEQ,
	EBPF_O_JNE,
	EBPF_O_JGT,
	EBPF_O_JLE,
	EBPF_O_JGE,
	EBPF_O_JLT,
	EBPF_O_JSGT,
	EBPF_O_JSLE,
	EBPF_O_JSGE,
	EBPF_O_JSLT,
	EBPF_O_JSET,
	EBPF_O_CALL,
	EBPF_O_EXIT,
};

struct ebpf_info {
	const char *name;
	uint8_t code;
	uint8_t sub;
	uint8_t form; /* enum ebpf_form */
	uint8_t op;   /* enum ebpf_op */
	uint8_t bits;
	uint8_t row;   /* enum ebpf_row */
	uint8_t flags; /* from the form, below */
};

/* Registers that an instruction's fields say it reads and writes (call and exit have others). */
enum {
	EBPF_READS_DST = 1,
	EBPF_WRITES_DST = 2,
	EBPF_READS_SRC = 4,
	EBPF_JUMPS = 8,	       /* has a target */
	EBPF_CONDITIONAL = 16, /* may also fall through */
};

/* The row of an instruction; NULL if its code or a discriminating field has no such row. */
const struct ebpf_info *ebpf_decode(const struct ebpf_insn *insn);
/* What is wrong with the instruction by itself (code, registers, reserved fields), or NULL. */
const char *ebpf_malformed(const struct ebpf_insn *insn);
/* The code of the opposite condition; 0 for JSET, which has none. */
uint8_t ebpf_opposite(uint8_t code);
/* An argument of a call that the verifier knows as a constant (EBPF_CONST); -1: none is set. */
int64_t ebpf_const_arg(const struct ebpf_insn *insns, unsigned call, unsigned reg);

#endif
