/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the verifier: a table of programs, for every rule one at least that is accepted and
 * one that is refused, and for what reason. Those accepted are run, interpreted and compiled.
 */
#include "bpf_prog.h"

/* clang-format off */
static const struct vcase vcases[] = {
	/* structure */
	{"least", NULL, {RET0}},
	{"unknown opcode", "unknown instruction", {{0xff, 0, 0, 0, 0}, RET0}},
	{"unknown sub-operation", "unknown instruction", {MOV(R0, 1), I(DIV64_IMM, R0, 0, 2, 1),
		EXIT}},
	{"unknown atomic", "unknown instruction", {I(ATOMIC64, R10, R1, -8, 2), RET0}},
	{"movsx by 32 of 32 bits", "unknown instruction", {MOV(R0, 0), I(MOV32_REG, R0, R0, 32, 0),
		EXIT}},
	{"reserved src", "reserved", {I(MOV64_IMM, R0, R1, 0, 0), EXIT}},
	{"reserved imm", "reserved", {MOV(R0, 0), I(MOV64_REG, R0, R0, 0, 1), EXIT}},
	{"reserved off", "reserved", {I(MOV64_IMM, R0, 0, 1, 0), EXIT}},
	{"reserved dst", "reserved", {MOV(R0, 0), I(EXIT, R1, 0, 0, 0)}},
	{"r11", "no such register", {I(MOV64_IMM, 11, 0, 0, 0), RET0}},
	{"writes r10", "read only", {MOV(R10, 0), RET0}},
	{"fetches into r10", "read only", {ST(R10, -8, 0),
		I(ATOMIC64, R10, R10, -8, EBPF_ATOMIC_FETCH), RET0}},
	{"no exit", "does not end by exit", {MOV(R0, 0)}},
	{"jump back", "jumps back", {MOV(R0, 0), I(JA, 0, 0, -1, 0), EXIT}},
	{"jump before the start", "jumps", {I(JA, 0, 0, -5, 0), RET0}},
	{"jump out", "out of the program", {I(JA, 0, 0, 2, 0), RET0}},
	{"gotol", NULL, {I(JA32, 0, 0, 0, 1), MOV(R0, 1), RET0}},
	{"gotol back", "jumps", {MOV(R0, 0), I(JA32, 0, 0, 0, -2), EXIT}},
	{"gotol out", "out of the program", {I(JA32, 0, 0, 0, 0x7fffffff), RET0}},
	{"lddw", NULL, {LDDW(R0, 0, -1, -1), EXIT}},
	{"half a lddw", "second half", {MOV(R0, 0), EXIT, I(LDDW, R0, 0, 0, 0)}},
	{"spoilt second half", "second half", {I(LDDW, R0, 0, 0, 0), MOV(R0, 0), EXIT}},
	{"lddw of an unknown kind", "kind of constant", {LDDW(R0, 2, 0, 0), RET0}},
	{"jump into a lddw", "middle", {MOV(R0, 0), I(JA, 0, 0, 1, 0), LDDW(R0, 0, 0, 0), EXIT}},
	{"string constant", NULL, {LDDW(R1, 1, NSTRS - 1, 0), CALL(F_STR), EXIT}},
	{"no such string", "no such string", {LDDW(R1, 1, NSTRS, 0), CALL(F_STR), EXIT}},
	{"no such function", "no such function", {CALL(NFNS), RET0}},
	{"negative function", "no such function", {CALL(-1), RET0}},
	{"shift of 63", NULL, {MOV(R0, 1), I(LSH64_IMM, R0, 0, 0, 63), EXIT}},
	{"shift of 64", "shift out of range", {MOV(R0, 1), I(LSH64_IMM, R0, 0, 0, 64), EXIT}},
	{"shift of 32 in 32", "shift out of range", {MOV(R0, 1), I(ARSH32_IMM, R0, 0, 0, 32),
		EXIT}},
	{"shift by a register", NULL, {MOV(R0, 1), MOV(R1, 99), I(LSH64_REG, R0, R1, 0, 0), EXIT}},
	{"division by 0", NULL, {MOV(R0, 1), I(DIV64_IMM, R0, 0, 0, 0), EXIT}},
	{"well formed but never reached", NULL, {RET0, MOVR(R0, R9), EXIT}},
	{"malformed and never reached", "unknown", {RET0, {0x8f, 0, 0, 0, 0}, EXIT}},
	{"never reached because of a known number", NULL,
		{MOV(R0, 5), I(JGT_IMM, R0, 0, 1, 3), MOVR(R0, R9), EXIT}},

	/* registers */
	{"uninitialised register", "r2 is not init", {MOVR(R0, R2), EXIT}},
	{"uninitialised result", "result in r0", {EXIT}},
	{"pointer as result", "result in r0", {MOVR(R0, R1), EXIT}},
	{"stack pointer as result", "result in r0", {MOVR(R0, R10), EXIT}},
	{"string as result", "result in r0", {LDDW(R0, 1, 0, 0), EXIT}},
	{"r1 after a call", "r1 is not init", {CALL(F_NONE), MOVR(R0, R1), EXIT}},
	{"r6 after a call", NULL, {MOV(R6, 1), CALL(F_NONE), MOVR(R0, R6), EXIT}},
	{"r0 of a call without result", "result in r0", {MOV(R0, 0), CALL(F_NONE), EXIT}},
	{"initialised on one way", "result in r0",
		{LDX(R2, R1, 0), I(JEQ_IMM, R2, 0, 1, 0), MOV(R0, 0), EXIT}},
	{"initialised on both ways", NULL,
		{LDX(R2, R1, 0), I(JEQ_IMM, R2, 0, 2, 0), MOV(R0, 0), I(JA, 0, 0, 1, 0),
		MOV(R0, 1), EXIT}},
	{"number or pointer", "not init",
		{LDX(R2, R1, 0), MOV(R3, 1), I(JEQ_IMM, R2, 0, 1, 0), MOVR(R3, R10), MOVR(R0, R3),
		EXIT}},

	/* arithmetic with pointers */
	{"pointer times number", "arithmetic", {MOVR(R2, R10), I(MUL64_IMM, R2, 0, 0, 2), RET0}},
	{"pointer plus 32 bits", "arithmetic", {MOVR(R2, R10), I(ADD32_IMM, R2, 0, 0, 2), RET0}},
	{"half of a pointer", "arithmetic", {I(MOV32_REG, R2, R10, 0, 0), RET0}},
	{"sign-extended pointer", "arithmetic", {I(MOV64_REG, R2, R10, 8, 0), RET0}},
	{"negated pointer", "arithmetic", {MOVR(R2, R10), I(NEG64, R2, 0, 0, 0), RET0}},
	{"swapped pointer", "arithmetic", {MOVR(R2, R10), I(BE, R2, 0, 0, 64), RET0}},
	{"pointer minus pointer", "arithmetic", {MOVR(R2, R10), I(SUB64_REG, R2, R10, 0, 0), RET0}},
	{"number minus pointer", "arithmetic", {MOV(R2, 0), I(SUB64_REG, R2, R10, 0, 0), RET0}},
	{"number plus pointer", NULL, {MOV(R2, -8), I(ADD64_REG, R2, R10, 0, 0), ST(R2, 0, 0),
		RET0}},
	{"context plus number", "arithmetic", {ADD(R1, 8), RET0}},
	{"string plus number", "arithmetic", {LDDW(R2, 1, 0, 0), ADD(R2, 1), RET0}},
	{"stack pointer there and back", NULL,
		{PTR(R2, -16), ST(R2, 0, 1), I(SUB64_IMM, R2, 0, 0, 8), ST(R2, 0, 1), RET0}},
	{"pointer by an unbounded number", "without a known bound",
		{LDX(R2, R1, 0), VARSP(R3), I(ADD64_REG, R3, R2, 0, 0), RET0}},
	{"pointer too far", "too far", {VARSP(R3), MOV(R2, 0x1fffffff), I(ADD64_REG, R3, R2, 0, 0),
		I(ADD64_REG, R3, R2, 0, 0), RET0}},

	/* context */
	{"context fields", NULL, {LDX(R0, R1, CTX_NUM), I(LDXW, R2, R1, CTX_W, 0),
		I(LDXH, R3, R1, CTX_H, 0), I(LDXSB, R4, R1, CTX_B + 1, 0), EXIT}},
	{"context end", "no field", {LDX(R0, R1, sizeof(struct ctx)), EXIT}},
	{"context before", "no field", {LDX(R0, R1, -8), EXIT}},
	{"context unaligned", "no field", {I(LDXW, R0, R1, 2, 0), EXIT}},
	{"context over its end", "no field", {LDX(R0, R1, CTX_W + 4), EXIT}},
	{"half of a region's pointer", "part of the pointer to vars",
		{I(LDXW, R0, R1, CTX_VARS, 0), EXIT}},
	{"other half", "part of the pointer", {I(LDXW, R0, R1, CTX_VARS + 4, 0), EXIT}},
	{"sign-extended half", "part of the pointer", {I(LDXSW, R0, R1, CTX_VARS, 0), EXIT}},
	{"writes the context", "access through the context", {ST(R1, 0, 0), RET0}},
	{"atomic on the context", "access through the context",
		{MOV(R2, 1), I(ATOMIC64, R1, R2, 0, EBPF_ATOMIC_ADD), RET0}},

	/* regions */
	{"region", NULL, {VARSP(R2), LDX(R0, R2, VARS_SIZE - 8), STX(R2, 0, R0), EXIT}},
	{"unaligned", NULL, {VARSP(R2), LDX(R0, R2, 3), I(STXW, R2, R0, 5, 0), EXIT}},
	{"region's end", "not within vars", {VARSP(R2), LDX(R0, R2, VARS_SIZE - 7), EXIT}},
	{"before a region", "not within vars", {VARSP(R2), I(LDXB, R0, R2, -1, 0), EXIT}},
	{"read only region, read", NULL, {LDX(R2, R1, CTX_ARGS), LDX(R0, R2, 0), EXIT}},
	{"read only region, written", "args is read only", {LDX(R2, R1, CTX_ARGS), ST(R2, 0, 0),
		RET0}},
	{"read only region, atomic", "args is read only", {LDX(R2, R1, CTX_ARGS), MOV(R3, 1),
		I(ATOMIC64, R2, R3, 0, EBPF_ATOMIC_ADD), RET0}},
	{"through a number", "access through a number", {MOV(R2, 64), LDX(R0, R2, 0), EXIT}},
	{"through a string", "access through a string", {LDDW(R2, 1, 0, 0), LDX(R0, R2, 0), EXIT}},
	{"context into a region", "aligned stack slot only", {VARSP(R2), STX(R2, 0, R1), RET0}},
	{"pointer into a region", "aligned stack slot only", {VARSP(R2), STX(R2, 0, R2), RET0}},
	{"string into a region", "aligned stack slot only",
		{VARSP(R2), LDDW(R3, 1, 0, 0), STX(R2, 0, R3), RET0}},
	{"part of a pointer into a region", "aligned stack slot only",
		{VARSP(R2), I(STXB, R2, R2, 0, 0), RET0}},

	/* bounded offsets */
	{"array access", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF), I(JGE_IMM, R2, 0, 4, 32),
		I(MUL64_IMM, R2, 0, 0, 8), MOVR(R4, R3), I(ADD64_REG, R4, R2, 0, 0),
		LDX(R5, R4, 0), RET0}},
	{"array access, one too many", "not within buf", {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(JGT_IMM, R2, 0, 4, 32), I(MUL64_IMM, R2, 0, 0, 8), MOVR(R4, R3),
		I(ADD64_REG, R4, R2, 0, 0), LDX(R5, R4, 0), RET0}},
	{"array access, unchecked side", "without a known bound", {LDX(R2, R1, 0),
		LDX(R3, R1, CTX_BUF),
		I(JLT_IMM, R2, 0, 1, 32), I(ADD64_REG, R3, R2, 0, 0), RET0}},
	{"array access, other condition", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(JLT_IMM, R2, 0, 2, 32), RET0, I(LSH64_IMM, R2, 0, 0, 3),
		I(ADD64_REG, R3, R2, 0, 0),
		LDX(R0, R3, 0), EXIT}},
	{"array access, signed conditions", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(JSLT_IMM, R2, 0, 3, 0), I(JSGE_IMM, R2, 0, 2, 256), I(ADD64_REG, R3, R2, 0, 0),
		I(LDXB, R0, R3, 0, 0), RET0}},
	{"array access, upper bound signed only", "without a known bound", {LDX(R2, R1, 0),
		LDX(R3, R1, CTX_BUF), I(JSGE_IMM, R2, 0, 2, 256), I(ADD64_REG, R3, R2, 0, 0),
		I(LDXB, R0, R3, 0, 0), RET0}},
	{"index of 32 bits", NULL, {I(LDXW, R2, R1, CTX_W, 0), LDX(R3, R1, CTX_BUF),
		I(JGE32_IMM, R2, 0, 2, 256), I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0),
		RET0}},
	{"32-bit condition on 64 bits", "without a known bound", {LDX(R2, R1, 0),
		LDX(R3, R1, CTX_BUF), I(JGE32_IMM, R2, 0, 2, 256), I(ADD64_REG, R3, R2, 0, 0),
		I(LDXB, R0, R3, 0, 0), RET0}},
	{"index compared with a register", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		MOV(R4, 255),
		I(JGT_REG, R2, R4, 2, 0), I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), RET0}},
	{"equal to a number", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(JNE_IMM, R2, 0, 2, 255),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), RET0}},
	{"masked", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF), I(AND64_IMM, R2, 0, 0, 255),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"masked too wide", "not within buf", {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(AND64_IMM, R2, 0, 0, 511), I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0),
		EXIT}},
	{"masked by a negative", "without a known bound", {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(AND64_IMM, R2, 0, 0, -8), I(ADD64_REG, R3, R2, 0, 0), RET0}},
	{"remainder", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF), I(MOD64_IMM, R2, 0, 0, 256),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"remainder by 0", "without a known bound", {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(MOD64_IMM, R2, 0, 0, 0), I(ADD64_REG, R3, R2, 0, 0), RET0}},
	{"signed remainder", "without a known bound", {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(SMOD64_IMM, R2, 0, 1, 256), I(ADD64_REG, R3, R2, 0, 0), RET0}},
	{"shifted right", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF), I(RSH64_IMM, R2, 0, 0, 56),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"shift masked to 32 bits", "not within buf", {I(LDXW, R2, R1, CTX_W, 0),
		LDX(R3, R1, CTX_BUF),
		MOV(R4, 40), I(RSH32_REG, R2, R4, 0, 0), I(ADD64_REG, R3, R2, 0, 0),
		I(LDXB, R0, R3, 0, 0), EXIT}},
	{"shift by who knows", "not within buf", {I(LDXH, R2, R1, CTX_H, 0), LDX(R3, R1, CTX_BUF),
		I(AND64_IMM, R2, 0, 0, 511), LDX(R4, R1, 0), I(RSH64_REG, R2, R4, 0, 0),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"bits of both", "not within vars", {I(LDXB, R2, R1, CTX_B, 0), VARSP(R3),
		I(LDXB, R4, R1, CTX_B + 1, 0), I(MOD64_IMM, R2, 0, 0, 33),
		I(MOD64_IMM, R4, 0, 0, 33),
		I(OR64_REG, R2, R4, 0, 0), I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 1, 0),
		EXIT}},
	{"bits of either", "not within vars", {I(LDXB, R2, R1, CTX_B, 0), VARSP(R3),
		I(LDXB, R4, R1, CTX_B + 1, 0), I(MOD64_IMM, R2, 0, 0, 33),
		I(MOD64_IMM, R4, 0, 0, 33),
		I(XOR64_REG, R2, R4, 0, 0), I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 1, 0),
		EXIT}},
	{"a byte as index", NULL, {I(LDXB, R2, R1, CTX_B, 0), LDX(R3, R1, CTX_BUF),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"a signed byte as index", "without a known bound", {I(LDXSB, R2, R1, CTX_B, 0),
		LDX(R3, R1, CTX_BUF), I(ADD64_REG, R3, R2, 0, 0), RET0}},
	{"two bytes as index", "not within buf", {I(LDXH, R2, R1, CTX_H, 0), LDX(R3, R1, CTX_BUF),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"minus a bounded number", NULL, {I(LDXB, R2, R1, CTX_B, 0), LDX(R3, R1, CTX_BUF),
		ADD(R3, 255),
		I(SUB64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"minus a bounded number, too low", "not within buf", {I(LDXB, R2, R1, CTX_B, 0),
		LDX(R3, R1, CTX_BUF), ADD(R3, 254), I(SUB64_REG, R3, R2, 0, 0),
		I(LDXB, R0, R3, 0, 0), EXIT}},
	{"wrapping sum", "without a known bound", {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(AND64_IMM, R2, 0, 0, 7), ADD(R2, -1), I(ADD64_REG, R3, R2, 0, 0), RET0}},
	{"joined bounds", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF), I(JGT_IMM, R2, 0, 2, 9),
		ADD(R2, 246), I(JA, 0, 0, 1, 0), MOV(R2, 3), I(ADD64_REG, R3, R2, 0, 0),
		I(LDXB, R0, R3, 0, 0), EXIT}},
	{"joined bounds, too far", "not within buf", {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(JGT_IMM, R2, 0, 2, 9), ADD(R2, 247), I(JA, 0, 0, 1, 0), MOV(R2, 3),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"joined offsets", NULL, {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF), I(JEQ_IMM, R2, 0, 1, 0),
		ADD(R3, 248), LDX(R0, R3, 0), EXIT}},
	{"joined offsets, too far", "not within buf", {LDX(R2, R1, 0), LDX(R3, R1, CTX_BUF),
		I(JEQ_IMM, R2, 0, 1, 0), ADD(R3, 249), LDX(R0, R3, 0), EXIT}},
	{"regions joined are a string at best", "access through a string", {LDX(R2, R1, 0),
		VARSP(R3),
		I(JEQ_IMM, R2, 0, 1, 0), LDX(R3, R1, CTX_ARGS), LDX(R0, R3, 0), EXIT}},

	/* stack */
	{"stack", NULL, {ST(R10, -8, 1), LDX(R0, R10, -8), EXIT}},
	{"uninitialised stack", "not initialised", {LDX(R0, R10, -8), EXIT}},
	{"half initialised", "not initialised", {I(STW, R10, 0, -8, 1), LDX(R0, R10, -8), EXIT}},
	{"initialised by halves", NULL,
		{I(STW, R10, 0, -8, 1), I(STW, R10, 0, -4, 1), LDX(R0, R10, -8), EXIT}},
	{"over two slots", NULL, {ST(R10, -12, 1), I(LDXW, R0, R10, -12, 0), EXIT}},
	{"over two slots, beside", "not initialised", {ST(R10, -12, 1), I(LDXB, R0, R10, -4, 0),
		EXIT}},
	{"stack's end", NULL, {ST(R10, -512, 1), LDX(R0, R10, -512), EXIT}},
	{"below the stack", "not within the stack", {ST(R10, -513, 1), RET0}},
	{"above the stack", "not within the stack", {ST(R10, -7, 1), RET0}},
	{"kept and brought back", NULL, {STX(R10, -8, R1), LDX(R2, R10, -8), LDX(R0, R2, 0), EXIT}},
	{"kept unaligned", "aligned stack slot only", {STX(R10, -12, R1), RET0}},
	{"half kept", "aligned stack slot only", {I(STXW, R10, R1, -8, 0), RET0}},
	{"kept, part read", "reads bytes of", {STX(R10, -8, R1), I(LDXW, R0, R10, -8, 0), EXIT}},
	{"kept, read askew", "reads bytes of",
		{STX(R10, -8, R1), ST(R10, -16, 0), LDX(R0, R10, -12), EXIT}},
	{"kept, part overwritten", "not initialised",
		{STX(R10, -8, R1), I(STB, R10, 0, -8, 0), LDX(R0, R10, -8), EXIT}},
	{"kept, part overwritten, that read", NULL,
		{STX(R10, -8, R1), I(STB, R10, 0, -8, 0), I(LDXB, R0, R10, -8, 0), EXIT}},
	{"number or pointer kept", "not initialised", {LDX(R2, R1, 0), ST(R10, -8, 0),
		I(JEQ_IMM, R2, 0, 1, 0), STX(R10, -8, R1), LDX(R0, R10, -8), EXIT}},
	{"written on one way", "not initialised",
		{LDX(R2, R1, 0), I(JEQ_IMM, R2, 0, 1, 0), ST(R10, -8, 0), LDX(R0, R10, -8), EXIT}},
	{"half written on one way", "not initialised", {LDX(R2, R1, 0), I(STW, R10, 0, -8, 0),
		I(JEQ_IMM, R2, 0, 1, 0), I(STW, R10, 0, -4, 0), LDX(R0, R10, -8), EXIT}},
	{"a bounded number kept", NULL, {I(LDXB, R2, R1, CTX_B, 0), STX(R10, -8, R2),
		LDX(R4, R10, -8), LDX(R3, R1, CTX_BUF), I(ADD64_REG, R3, R4, 0, 0),
		I(LDXB, R0, R3, 0, 0), EXIT}},
	{"index into the stack", NULL, {ST(R10, -8, 0), I(LDXB, R2, R1, CTX_B, 0),
		I(AND64_IMM, R2, 0, 0, 7), PTR(R3, -8), I(ADD64_REG, R3, R2, 0, 0),
		I(STB, R3, 0, 0, 9), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"index into the stack, uninitialised", "not initialised", {ST(R10, -8, 0),
		I(LDXB, R2, R1, CTX_B, 0), I(AND64_IMM, R2, 0, 0, 7), PTR(R3, -12),
		I(ADD64_REG, R3, R2, 0, 0), I(LDXB, R0, R3, 0, 0), EXIT}},
	{"somewhere written is not initialised", "not initialised", {I(LDXB, R2, R1, CTX_B, 0),
		I(AND64_IMM, R2, 0, 0, 7), PTR(R3, -8), I(ADD64_REG, R3, R2, 0, 0),
		I(STB, R3, 0, 0, 9), I(LDXB, R0, R10, -8, 0), EXIT}},
	{"somewhere written spoils pointers", "not initialised", {STX(R10, -8, R1),
		I(LDXB, R2, R1, CTX_B, 0), I(AND64_IMM, R2, 0, 0, 7), PTR(R3, -8),
		I(ADD64_REG, R3, R2, 0, 0), I(STB, R3, 0, 0, 9), LDX(R0, R10, -8), EXIT}},
	{"pointer written somewhere", "aligned stack slot only", {I(LDXB, R2, R1, CTX_B, 0),
		I(AND64_IMM, R2, 0, 0, 7), PTR(R3, -16), I(ADD64_REG, R3, R2, 0, 0),
		STX(R3, 0, R1), RET0}},

	/* atomics */
	{"atomics", NULL, {VARSP(R2), MOV(R0, 1), MOV(R3, 1),
		I(ATOMIC64, R2, R3, 8, EBPF_ATOMIC_ADD),
		I(ATOMIC32, R2, R3, 4, EBPF_ATOMIC_XCHG),
		I(ATOMIC64, R2, R3, 0, EBPF_ATOMIC_CMPXCHG), EXIT}},
	{"atomic unaligned", "aligned constant", {VARSP(R2), MOV(R3, 1),
		I(ATOMIC64, R2, R3, 4, EBPF_ATOMIC_ADD), RET0}},
	{"atomic at a variable offset", "aligned constant", {LDX(R3, R1, 0), VARSP(R2),
		I(AND64_IMM, R3, 0, 0, 8), I(ADD64_REG, R2, R3, 0, 0),
		I(ATOMIC64, R2, R3, 0, EBPF_ATOMIC_ADD), RET0}},
	{"atomic out of bounds", "not within", {VARSP(R2), MOV(R3, 1),
		I(ATOMIC64, R2, R3, 64, EBPF_ATOMIC_ADD), RET0}},
	{"atomic with a pointer", "atomic operation with", {VARSP(R2),
		I(ATOMIC64, R2, R2, 0, EBPF_ATOMIC_XCHG), RET0}},
	{"atomic on the stack", NULL, {ST(R10, -8, 1), MOV(R0, 1),
		I(ATOMIC64, R10, R0, -8, EBPF_ATOMIC_FETCH), EXIT}},
	{"atomic on uninitialised stack", "not initialised", {MOV(R0, 1),
		I(ATOMIC64, R10, R0, -8, EBPF_ATOMIC_FETCH), EXIT}},
	{"atomic on a kept pointer", "reads bytes of", {STX(R10, -8, R1), MOV(R0, 1),
		I(ATOMIC64, R10, R0, -8, EBPF_ATOMIC_XCHG), EXIT}},
	{"compare without r0", "compares with r0", {VARSP(R2), MOV(R3, 1),
		I(ATOMIC64, R2, R3, 0, EBPF_ATOMIC_CMPXCHG), RET0}},
	{"compare with a pointer", "compares with r0", {VARSP(R2), MOV(R3, 1), MOVR(R0, R2),
		I(ATOMIC64, R2, R3, 0, EBPF_ATOMIC_CMPXCHG), RET0}},

	/* conditions on pointers */
	{"pointer compared with 0", NULL, {I(JEQ_IMM, R1, 0, 0, 0), I(JNE_IMM, R10, 0, 0, 0),
		RET0}},
	{"string compared with 0", NULL, {LDDW(R2, 1, 0, 0), I(JEQ_IMM, R2, 0, 0, 0), RET0}},
	{"pointer compared with 1", "compared with 0 only", {I(JEQ_IMM, R1, 0, 0, 1), RET0}},
	{"pointer compared in 32 bits", "compared with 0 only", {I(JEQ32_IMM, R1, 0, 0, 0), RET0}},
	{"pointer greater than 0", "compared with 0 only", {I(JGT_IMM, R1, 0, 0, 0), RET0}},
	{"pointers compared", "compared with 0 only", {I(JEQ_REG, R1, R10, 0, 0), RET0}},
	{"number compared with a pointer", "compared with 0 only",
		{MOV(R2, 0), I(JEQ_REG, R2, R10, 0, 0), RET0}},

	/* checked values */
	{"value compared first", NULL, {ALLOC(0), I(JEQ_IMM, R0, 0, 2, 0), LDX(R1, R0, 0),
		ST(R0, 0, 1), RET0}},
	{"value compared the other way", NULL, {ALLOC(0), I(JNE_IMM, R0, 0, 2, 0), RET0,
		LDX(R0, R0, 0), EXIT}},
	{"value not compared", "not yet compared", {ALLOC(0), LDX(R0, R0, 0), EXIT}},
	{"value on the null side", "access through a number",
		{ALLOC(0), I(JNE_IMM, R0, 0, 2, 0), LDX(R0, R0, 0), EXIT, RET0}},
	{"null is a number", NULL, {ALLOC(0), I(JNE_IMM, R0, 0, 1, 0), EXIT, RET0}},
	{"value's size", "not within the value", {ALLOC(1), I(JEQ_IMM, R0, 0, 1, 0),
		LDX(R1, R0, 9), RET0}},
	{"copies are compared together", NULL, {ALLOC(0), MOVR(R6, R0), STX(R10, -8, R0),
		I(JEQ_IMM, R6, 0, 3, 0), LDX(R1, R0, 0), LDX(R2, R10, -8), LDX(R1, R2, 0), RET0}},
	{"others are not", "not yet compared", {ALLOC(0), MOVR(R6, R0), ALLOC(0),
		I(JEQ_IMM, R0, 0, 1, 0), LDX(R1, R6, 0), RET0}},
	{"a moved maybe", "arithmetic", {ALLOC(0), ADD(R0, 4), RET0}},
	{"not compared on one way", "not yet compared", {LDX(R6, R1, 0), ALLOC(0),
		I(JEQ_IMM, R6, 0, 2, 0), I(JNE_IMM, R0, 0, 1, 0), RET0, LDX(R0, R0, 0), EXIT}},
	{"null or value again", NULL, {LDX(R6, R1, 0), ALLOC(0), I(JEQ_IMM, R6, 0, 2, 0),
		I(JNE_IMM, R0, 0, 1, 0), MOV(R0, 0), I(JEQ_IMM, R0, 0, 1, 0), LDX(R0, R0, 0),
		RET0}},
	{"null of one way is not another's", "not yet compared", {LDX(R6, R1, 0), ALLOC(0),
		MOVR(R7, R0),
		I(JEQ_IMM, R6, 0, 1, 0), MOV(R7, 0), I(JEQ_IMM, R0, 0, 1, 0), LDX(R1, R7, 0),
		RET0}},
	{"null of the other way neither", "not yet compared", {LDX(R6, R1, 0), ALLOC(0), MOV(R7, 0),
		I(JEQ_IMM, R6, 0, 1, 0), MOVR(R7, R0), I(JEQ_IMM, R0, 0, 1, 0), LDX(R1, R7, 0),
		RET0}},
	{"two values joined", "not within the value", {LDX(R6, R1, 0), ALLOC(0), MOVR(R7, R0),
		ALLOC(1),
		I(JEQ_IMM, R0, 0, 4, 0), I(JEQ_IMM, R7, 0, 3, 0), I(JEQ_IMM, R6, 0, 1, 0),
		MOVR(R0, R7),
		LDX(R1, R0, 8), RET0}},
	{"value into a region", "aligned stack slot only", {MOVR(R6, R1), ALLOC(0),
		LDX(R2, R6, CTX_VARS),
		STX(R2, 0, R0), RET0}},
	{"object without a value", "no object 9", {ALLOC(9), RET0}},
	{"object not known", "a known number", {LDX(R1, R1, 0), CALL(F_ALLOC), RET0}},

	/* arguments */
	{"numbers", NULL, {MOV(R1, 1), MOV(R2, 1), MOV(R3, 1), MOV(R4, 1), MOV(R5, 1), CALL(F_MIX),
		EXIT}},
	{"number missing", "argument 3 of mix must be a number, r3 is uninit",
		{MOV(R1, 1), MOV(R2, 1), MOV(R4, 1), MOV(R5, 1), CALL(F_MIX), EXIT}},
	{"pointer as number", "must be a number", {MOV(R1, 1), MOVR(R2, R10), CALL(F_CONST), EXIT}},
	{"constant", NULL, {MOV(R1, 1), MOV(R2, 1), CALL(F_CONST), EXIT}},
	{"constant not known", "a known number", {LDX(R1, R1, 0), MOV(R2, 1), CALL(F_CONST), EXIT}},
	{"context", NULL, {MOV(R2, 1), CALL(F_CTX), EXIT}},
	{"not the context", "must be the context", {MOV(R2, 1), MOVR(R1, R10), CALL(F_CTX), EXIT}},
	{"string of a call", NULL, {MOV(R1, 2), CALL(F_MKSTR), MOVR(R1, R0), CALL(F_STR), EXIT}},
	{"no string", NULL, {MOV(R1, 0), CALL(F_STR), EXIT}},
	{"number as string", "must be a string", {MOV(R1, 1), CALL(F_STR), EXIT}},
	{"region as string", NULL, {LDX(R1, R1, CTX_BUF), ADD(R1, BUF_SIZE - STRSIZE), CALL(F_STR),
		EXIT}},
	{"region too short for a string", "must be a string",
		{LDX(R1, R1, CTX_BUF), ADD(R1, BUF_SIZE - STRSIZE + 1), CALL(F_STR), EXIT}},
	{"stack as string", "must be a string", {PTR(R1, -64), CALL(F_STR), EXIT}},
	{"value as string", NULL, {ALLOC(2), I(JNE_IMM, R0, 0, 1, 0), EXIT, MOVR(R1, R0),
		CALL(F_STR), EXIT}},
	{"value too short for a string", "must be a string",
		{ALLOC(1), I(JNE_IMM, R0, 0, 1, 0), EXIT, MOVR(R1, R0), CALL(F_STR), EXIT}},
	{"a string or none", NULL, {LDX(R6, R1, 0), MOV(R1, 0), I(JEQ_IMM, R6, 0, 2, 0),
		LDDW(R1, 1, 0, 0), CALL(F_STR), EXIT}},
	{"a string or memory", NULL, {LDX(R6, R1, 0), LDX(R1, R1, CTX_BUF), I(JEQ_IMM, R6, 0, 2, 0),
		LDDW(R1, 1, 0, 0), CALL(F_STR), EXIT}},
	{"a string or a number", "r1 is uninit", {LDX(R6, R1, 0), MOV(R1, 1),
		I(JEQ_IMM, R6, 0, 2, 0),
		LDDW(R1, 1, 0, 0), CALL(F_STR), EXIT}},
	{"string kept and brought back", NULL, {LDDW(R2, 1, 0, 0), STX(R10, -8, R2),
		LDX(R1, R10, -8),
		CALL(F_STR), EXIT}},
	{"any memory", NULL, {PTR(R1, -8), CALL(F_MEM), EXIT}},
	{"not memory", "must be a pointer", {CALL(F_MEM), EXIT}},

	/* keys */
	{"no key", NULL, {MOV(R1, 0), MOV(R2, 0), CALL(F_LOOKUP), RET0}},
	{"no key, uninitialised", "must be initialised", {MOV(R1, 0), CALL(F_LOOKUP), RET0}},
	{"a number", NULL, {ST(R10, -8, 1), PTR(R2, -8), MOV(R1, 1), CALL(F_LOOKUP), RET0}},
	{"a number, uninitialised", "part 1 of the key", {PTR(R2, -8), MOV(R1, 1), CALL(F_LOOKUP),
		RET0}},
	{"a string for a number", "part 1 of the key", {LDDW(R3, 1, 0, 0), STX(R10, -8, R3),
		PTR(R2, -8),
		MOV(R1, 1), CALL(F_LOOKUP), RET0}},
	{"a string", NULL, {LDDW(R3, 1, 0, 0), STX(R10, -8, R3), PTR(R2, -8), MOV(R1, 2),
		CALL(F_LOOKUP), RET0}},
	{"no string in a key", NULL, {ST(R10, -8, 0), PTR(R2, -8), MOV(R1, 2), CALL(F_LOOKUP),
		RET0}},
	{"a number for a string", "part 1 of the key",
		{ST(R10, -8, 7), PTR(R2, -8), MOV(R1, 2), CALL(F_LOOKUP), RET0}},
	{"two parts", NULL, {LDDW(R3, 1, 0, 0), STX(R10, -8, R3), ST(R10, -16, 5), PTR(R2, -16),
		MOV(R1, 3),
		CALL(F_LOOKUP), RET0}},
	{"two parts, swapped", "part 1 of the key", {LDDW(R3, 1, 0, 0), STX(R10, -16, R3),
		ST(R10, -8, 5),
		PTR(R2, -16), MOV(R1, 3), CALL(F_LOOKUP), RET0}},
	{"two parts, over the end", "not within the stack", {ST(R10, -8, 5), PTR(R2, -8),
		MOV(R1, 3),
		CALL(F_LOOKUP), RET0}},
	{"memory in a key", NULL, {VARSP(R3), STX(R10, -8, R3), PTR(R2, -8), MOV(R1, 4), MOV(R3, 0),
		CALL(F_KEY), RET0}},
	{"memory in a key, too short", "not within vars", {VARSP(R3), ADD(R3, VARS_SIZE - 15),
		STX(R10, -8, R3), PTR(R2, -8), MOV(R1, 4), MOV(R3, 0), CALL(F_KEY), RET0}},
	{"stack in a key", NULL, {ST(R10, -16, 1), ST(R10, -24, 1), PTR(R3, -24), STX(R10, -8, R3),
		PTR(R2, -8), MOV(R1, 4), MOV(R3, 0), CALL(F_KEY), RET0}},
	{"uninitialised stack in a key", "not initialised", {ST(R10, -16, 1), PTR(R3, -24),
		STX(R10, -8, R3), PTR(R2, -8), MOV(R1, 4), MOV(R3, 0), CALL(F_KEY), RET0}},
	{"key in a region", "aligned slots of the stack", {VARSP(R2), MOV(R1, 1), CALL(F_LOOKUP),
		RET0}},
	{"key askew", "aligned slots of the stack", {ST(R10, -8, 1), ST(R10, -16, 1), PTR(R2, -12),
		MOV(R1, 1), CALL(F_LOOKUP), RET0}},
	{"key of a variable place", "aligned slots of the stack", {ST(R10, -8, 1), ST(R10, -16, 1),
		LDX(R3, R1, 0), I(AND64_IMM, R3, 0, 0, 8), PTR(R2, -16), I(ADD64_REG, R2, R3, 0, 0),
		MOV(R1, 1), CALL(F_LOOKUP), RET0}},
	{"no such object", "no object 6", {MOV(R1, 6), MOV(R2, 0), MOV(R3, 0), CALL(F_KEY), RET0}},

	/* memory for calls */
	{"memory read", NULL, {VARSP(R1), MOV(R2, VARS_SIZE), CALL(F_READ), EXIT}},
	{"memory read over its end", "not within vars", {VARSP(R1), MOV(R2, VARS_SIZE + 1),
		CALL(F_READ), EXIT}},
	{"bounded size", NULL, {LDX(R2, R1, 0), I(JGT_IMM, R2, 0, 3, VARS_SIZE), VARSP(R1),
		CALL(F_READ), EXIT, RET0}},
	{"unbounded size", "no known bound", {LDX(R2, R1, 0), VARSP(R1), CALL(F_READ), EXIT}},
	{"size not constant", "a known number", {LDX(R2, R1, 0), I(AND64_IMM, R2, 0, 0, 7),
		VARSP(R1),
		CALL(F_READK), EXIT}},
	{"size is a pointer", "the size in r2", {VARSP(R1), MOVR(R2, R10), CALL(F_READ), EXIT}},
	{"nothing of nowhere", NULL, {MOV(R1, 0), MOV(R2, 0), CALL(F_READ), EXIT}},
	{"something of nowhere", "must be a pointer", {MOV(R1, 0), MOV(R2, 1), CALL(F_READ), EXIT}},
	{"nothing of the stack", NULL, {PTR(R1, -8), MOV(R2, 0), CALL(F_READ), EXIT}},
	{"stack read", NULL, {ST(R10, -8, 1), PTR(R1, -8), MOV(R2, 8), CALL(F_READ), EXIT}},
	{"stack read, uninitialised", "not initialised",
		{ST(R10, -8, 1), PTR(R1, -9), MOV(R2, 8), CALL(F_READ), EXIT}},
	{"kept pointer read", "reads bytes of", {STX(R10, -8, R1), PTR(R1, -8), MOV(R2, 8),
		CALL(F_READ), EXIT}},
	{"context read", "must be a pointer", {MOV(R2, 8), CALL(F_READ), EXIT}},
	{"stack written", NULL, {PTR(R1, -16), MOV(R2, 16), CALL(F_WRITE), LDX(R0, R10, -12),
		EXIT}},
	{"stack written, less", "not initialised",
		{PTR(R1, -16), MOV(R2, 15), CALL(F_WRITE), LDX(R0, R10, -8), EXIT}},
	{"stack written perhaps", "not initialised", {LDX(R3, R1, 0), I(AND64_IMM, R3, 0, 0, 15),
		PTR(R2, -16), MOV(R1, 0), CALL(F_WRITEV), LDX(R0, R10, -16), EXIT}},
	{"kept pointer overwritten by a call", NULL, {STX(R10, -8, R1), PTR(R1, -8), MOV(R2, 8),
		CALL(F_WRITE), LDX(R0, R10, -8), EXIT}},
	{"kept pointer partly overwritten by a call", "not initialised", {STX(R10, -8, R1),
		PTR(R1, -8),
		MOV(R2, 4), CALL(F_WRITE), LDX(R0, R10, -8), EXIT}},
	{"kept pointer perhaps overwritten", "not initialised", {STX(R10, -8, R1), LDX(R3, R1, 0),
		I(AND64_IMM, R3, 0, 0, 7), PTR(R2, -8), MOV(R1, 0), CALL(F_WRITEV),
		LDX(R0, R10, -8), EXIT}},
	{"read only region written by a call", "args is read only",
		{LDX(R1, R1, CTX_ARGS), MOV(R2, 8), CALL(F_WRITE), RET0}},
};
/* clang-format on */

static void run_both(const char *name, const struct ebpf_insn *insn, unsigned n)
{
	struct ebpf_code code = {.map = NULL};
	struct et_error e = {.tag = ""};
	struct outcome a, b;
	struct world start;
	bool bad = false;

	for (uint64_t seed = 0; seed < 8; seed++) {
		world_fill(seed * 77);
		world.ctx.num &= seed & 1 ? 0x1f : UINT64_MAX;
		start = world;
		world_run(insn, n, NULL, &start, &a, &bad);
		CHECK(!bad, "%s: the interpreter stopped it", name);
		if (!ebpf_jit_available())
			continue;
		if (!CHECK(ebpf_jit(insn, n, &world_env, world_strs, &code, &e) == 0, "%s", e.text))
			return;
		world_run(insn, n, code.entry, &start, &b, NULL);
		CHECK(world_differs(&a, &b) == NULL, "%s: %s", name, world_differs(&a, &b));
		CHECK(world_broken == NULL, "%s: %s", name, world_broken);
		ebpf_jit_free(&code);
	}
}

static void test_verifier(void)
{
	for (size_t i = 0; i < sizeof(vcases) / sizeof(vcases[0]); i++) {
		const struct vcase *c = &vcases[i];
		unsigned n = length(c->insn, 28);
		struct et_error e = {.tag = ""};
		int rc = ebpf_verify(c->insn, n, &world_env, &e);

		if (c->refused == NULL) {
			if (CHECK(rc == 0, "%s: %s", c->name, e.text))
				run_both(c->name, c->insn, n);
			continue;
		}
		CHECK(rc < 0 && strcmp(e.tag, "D_VERIFY") == 0, "%s was accepted", c->name);
		CHECK(strstr(e.text, c->refused) != NULL &&
				strstr(e.text, "instruction ") == e.text,
			"%s: refused with '%s'", c->name, e.text);
	}
}

static void test_verifier_sizes(void)
{
	unsigned n = EBPF_MAX_INSNS + 1;
	struct ebpf_insn *insn = calloc(n, sizeof(*insn));
	struct et_error e = {.tag = ""};
	bool bad;

	CHECK(ebpf_verify(insn, 0, &world_env, &e) < 0 && strcmp(e.tag, "D_VERIFY") == 0);
	for (unsigned i = 0; i < n; i++)
		insn[i] = (struct ebpf_insn)MOV(R0, 7);
	insn[n - 1] = (struct ebpf_insn)EXIT;
	CHECK(ebpf_verify(insn, n, &world_env, NULL) < 0);
	et_err_clear(&e);
	CHECK(ebpf_verify(insn + 1, n - 1, &world_env, &e) == 0, "%s", e.text);
	CHECK(ebpf_run(insn + 1, n - 1, &world_env, world_strs, &world.ctx, &bad) == 7 && !bad);
	/* Every jump to the end: one open target, so no limit is met. */
	insn[0] = (struct ebpf_insn)LDX(R2, R1, 0);
	for (unsigned i = 2; i < 30000; i++)
		insn[i] = (struct ebpf_insn)I(JEQ_IMM, R2, 0, (int16_t)(30000 - i - 1), (int)i);
	insn[30000] = (struct ebpf_insn)EXIT;
	CHECK(ebpf_verify(insn, 30001, &world_env, &e) == 0, "%s", e.text);
	/* Each to a place of its own, all open at once: memory is bounded. */
	for (unsigned i = 2; i < 10000; i++)
		insn[i].off = 10000;
	for (unsigned i = 10000; i < 30000; i++)
		insn[i] = (struct ebpf_insn)MOV(R0, 7);
	CHECK(ebpf_verify(insn, 30001, &world_env, &e) < 0 && strstr(e.text, "too many jumps"),
		"%s", e.text);
	free(insn);
}

int main(void)
{
	test_verifier();
	test_verifier_sizes();
	return finish();
}
