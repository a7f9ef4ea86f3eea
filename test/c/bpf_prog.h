/* SPDX-License-Identifier: Apache-2.0 */
/* A short notation for programs in tables of tests. */
#ifndef TEST_BPF_PROG_H
#define TEST_BPF_PROG_H

#include "bpf_env.h"
#include "checks.h"

/* clang-format off */
#define I(code, dst, src, off, imm) {EBPF_##code, dst, src, off, imm}
#define MOV(dst, imm)		    I(MOV64_IMM, dst, 0, 0, imm)
#define MOVR(dst, src)		    I(MOV64_REG, dst, src, 0, 0)
#define ADD(dst, imm)		    I(ADD64_IMM, dst, 0, 0, imm)
#define LDX(dst, src, off)	    I(LDXDW, dst, src, off, 0)
#define STX(dst, off, src)	    I(STXDW, dst, src, off, 0)
#define ST(dst, off, imm)	    I(STDW, dst, 0, off, imm)
#define CALL(fn)		    I(CALL, 0, 0, 0, fn)
#define EXIT			    I(EXIT, 0, 0, 0, 0)
#define RET0			    MOV(R0, 0), EXIT
#define LDDW(dst, src, lo, hi)	    I(LDDW, dst, src, 0, lo), {0, 0, 0, 0, hi}
#define PTR(dst, off)		    MOVR(dst, R10), ADD(dst, off) /* to the stack */
#define VARSP(dst)		    LDX(dst, R1, CTX_VARS)
#define ALLOC(id)		    MOV(R1, id), CALL(F_ALLOC) /* value of object id */
/* clang-format on */

struct vcase {
	const char *name;
	const char *refused; /* part of the text; NULL: accepted */
	struct ebpf_insn insn[28];
};

/* Programs in tables end where nothing but zeroes follow. */
static unsigned length(const struct ebpf_insn *insn, unsigned max)
{
	static const struct ebpf_insn none;

	while (max > 0 && memcmp(&insn[max - 1], &none, sizeof(none)) == 0)
		max--;
	return max;
}

#endif
