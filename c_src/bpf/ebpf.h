/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eBPF as in RFC 9669: the instruction set as one table (insns.def), and its users:
 *
 *   insns.h/.c  the table as codes and as data; ops.h: what its operations compute
 *   asm.c       emits instructions, labels, jumps of any length
 *   verify*.c   accepts only safe programs
 *   interp.c    runs a program on any machine; trusts nothing, checks every access
 *   jit.c       the interface of the JITs; maps memory first writable, then executable
 *   jit_x86.c   x86-64
 *   disasm.c    text
 *   link/       the linker for programs that run in the Linux kernel: link/link.h
 *
 * Nothing in this folder knows about D: a struct ebpf_env says what a program may call and access.
 *
 * The machine: r0 result, r1-r5 arguments, r6-r9 callee-saved, r10 frame pointer (read-only,
 * EBPF_STACK bytes below it). A program is entered with r1 = its context and ends with exit. Jumps
 * go forward only, so every program terminates and one pass can verify it.
 */
#ifndef EBPF_H
#define EBPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

#define EBPF_STACK	512
#define EBPF_MAX_INSNS	(1 << 20)
#define EBPF_MAX_ARGS	5
#define EBPF_MAX_REGION 8
#define EBPF_MAX_KEYS	32

struct ebpf_insn {
	uint8_t code;
	uint8_t dst : 4, src : 4;
	int16_t off;
	int32_t imm;
};

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

/* The src field of lddw: what its 64 bits are. */
enum {
	EBPF_LDDW_CONST = 0, /* a number */
	EBPF_LDDW_STR = 1,   /* index of a constant string; loads its reference */
};

/*
 * What a register, a stack slot or an argument of a call can hold. A STR is a reference to a
 * string. It is returned only by calls and lddw and used only by calls; a program can only compare
 * it with 0. These pass as a STR too: the constant 0 (null), a pointer into a region with at least
 * env->strsize bytes after it, and a checked value of that size.
 */
enum ebpf_kind {
	EBPF_NONE,	/* uninitialised; as an argument: not used */
	EBPF_SCALAR,	/* a number */
	EBPF_CTX,	/* the context: its fields can be read */
	EBPF_MEM,	/* a pointer into the stack, a region or a checked value */
	EBPF_STR,	/* a string reference */
	EBPF_CONST,	/* arguments only: a number known to the verifier */
	EBPF_KEY,	/* arguments only: a pointer to 8-byte stack slots, of the kinds that
			   env->key gives for the constant in the argument before it */
	EBPF_MEM_RD,	/* arguments only: memory the call reads; the next argument is its size,
			   EBPF_CONST or a scalar with a known upper bound */
	EBPF_MEM_WR,	/* arguments only: memory the call writes, size likewise */
	EBPF_MEM_OR_NULL, /* results only: null or a checked value; compare it with 0 first */
};

/* A function that programs may call, by its index in the table. */
struct ebpf_fn {
	const char *name;
	uint64_t (*fn)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
	uint8_t arg[EBPF_MAX_ARGS]; /* enum ebpf_kind */
	uint8_t ret;		    /* NONE (leaves r0 uninitialised), SCALAR, STR, MEM_OR_NULL */
};

/*
 * Memory besides the stack that programs access directly: the 8 bytes at ctx + ctx_off are a
 * pointer to it, and loading them gives a EBPF_MEM of this size.
 */
struct ebpf_region {
	const char *name;
	uint32_t ctx_off;
	uint32_t size;
	bool writable;
};

/* A part of a key: a number, a string or size bytes of memory. */
struct ebpf_keypart {
	uint8_t kind; /* SCALAR, STR, MEM */
	uint32_t size; /* of a MEM */
};

/* A call fn(context, which) that only reads memory: it becomes a load. */
struct ebpf_direct {
	unsigned fn;
	int64_t which;
	unsigned pointer; /* in the context: where the pointer to that memory is */
	unsigned off;	  /* in that memory */
	unsigned size;	  /* 4 or 8 bytes */
	uint64_t tag;	  /* bits to be set in what was read */
};

struct ebpf_env {
	const struct ebpf_fn *fns;
	unsigned nfns;
	struct ebpf_region region[EBPF_MAX_REGION];
	unsigned nregions;
	uint32_t ctx_size; /* readable bytes of the context, as naturally aligned fields */
	uint32_t strsize;  /* bytes of a string in memory */
	uint32_t nstrs;	   /* constant strings */
	/* The parts of the key of object id, for function fn; < 0: no such object. */
	int (*key)(const struct ebpf_env *env, unsigned fn, uint64_t id,
		struct ebpf_keypart part[EBPF_MAX_KEYS]);
	/* The size of the MEM_OR_NULL that fn returns for object id (its EBPF_CONST argument). */
	int64_t (*ret_size)(const struct ebpf_env *env, unsigned fn, uint64_t id);
	void *data;
	const struct ebpf_direct *direct; /* for the JIT */
	unsigned ndirect;
};

/* Is this call one of n such loads? NULL: no. */
const struct ebpf_direct *ebpf_direct_of(const struct ebpf_direct *direct, unsigned n,
	const struct ebpf_insn *insns, unsigned call);

/* ---- assembler ------------------------------------------------------------------------ */

struct ebpf_asm; /* errors are sticky: ebpf_finish reports the first */

struct ebpf_asm *ebpf_asm_new(void);
void ebpf_asm_free(struct ebpf_asm *a);

int ebpf_label(struct ebpf_asm *a);		/* a new label, not bound yet */
void ebpf_bind(struct ebpf_asm *a, int label); /* bind it here */
unsigned ebpf_here(const struct ebpf_asm *a);	/* index of the next instruction, before layout */
void ebpf_line(struct ebpf_asm *a, int line);	/* source line of what follows, for -S */

/* Emit an instruction, e.g. ebpf_emit(a, EBPF_ADD64_REG, R1, R2, 0, 0). */
void ebpf_emit(struct ebpf_asm *a, uint8_t code, int dst, int src, int off, int32_t imm);
/* A constant of any size in the fewest instructions (mov or lddw). */
void ebpf_const(struct ebpf_asm *a, int dst, uint64_t v);
void ebpf_lddw(struct ebpf_asm *a, int dst, int kind, uint64_t v);
/* A jump (conditional or not) to a label at any distance. */
void ebpf_jump(struct ebpf_asm *a, uint8_t code, int dst, int src, int32_t imm, int label);
void ebpf_call(struct ebpf_asm *a, unsigned fn);

/* The finished program, with labels resolved, and its lines. The caller frees both arrays. */
int ebpf_finish(struct ebpf_asm *a, struct ebpf_insn **insns, unsigned *n, int **lines,
	struct et_error *e);
/* The index in the finished program of what ebpf_here() returned. */
unsigned ebpf_final(const struct ebpf_asm *a, unsigned emitted);

/* ---- verify, run ---------------------------------------------------------------------- */

int ebpf_verify(const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env,
	struct et_error *e);

typedef uint64_t (*ebpf_entry)(void *ctx);

struct ebpf_code {
	void *map; /* NULL: not compiled */
	size_t size;
	ebpf_entry entry;
};

/*
 * Interpret a program. strs[i] is what lddw STR i loads. Checks every access and every call again:
 * what the verifier should have rejected ends the program, sets *bad and returns 0.
 */
uint64_t ebpf_run(const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env,
	const uint64_t *strs, void *ctx, bool *bad);

/*
 * Compile a verified program to machine code. Memory is mapped writable, filled, then made
 * executable, never both. Returns -1 with an error if there is no JIT for this machine or the
 * mapping is refused.
 */
int ebpf_jit(const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env,
	const uint64_t *strs, struct ebpf_code *code, struct et_error *e);
void ebpf_jit_free(struct ebpf_code *code);
bool ebpf_jit_available(void);

/* ---- text ----------------------------------------------------------------------------- */

/* One instruction as text; returns the number of its slots (2 for lddw). */
int ebpf_disasm(const struct ebpf_insn *insn, const struct ebpf_env *env, char *buf, size_t size);

#include "insns.h" /* EBPF_ADD64_REG ...: the codes, from insns.def */

#endif
