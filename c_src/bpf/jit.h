/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between jit.c and the architectures. An architecture turns a verified program into
 * code at an address; jit.c does the rest (memory, analysis, the public interface).
 */
#ifndef EBPF_JIT_H
#define EBPF_JIT_H

#include "ebpf.h"

/* A program to compile, with what is known of it and working memory. */
struct ebpf_job {
	const struct ebpf_insn *insns;
	unsigned n;
	const struct ebpf_env *env;
	const uint64_t *strs;
	uint16_t regs;	/* bit i: r<i> occurs */
	bool calls;	/* it calls functions */
	unsigned stack; /* bytes below r10 that it can access */
	uint32_t *pos;	/* n + 1, for the architecture: offsets of the instructions' code */
	uint8_t *note;	/* n, for the architecture: a zeroed byte per instruction */
};

struct ebpf_arch {
	const char *name;
	/* An upper bound of the length of the code. */
	size_t (*bound)(const struct ebpf_job *job);
	/* Write code that will run at out. Returns its length. */
	size_t (*compile)(const struct ebpf_job *job, uint8_t *out);
};

extern const struct ebpf_arch ebpf_x86;

/* For tests: use only the baseline instruction set. */
extern bool ebpf_jit_plain;

/*
 * Compile into memory of the caller, to put many programs into one mapping. Returns the length, 0
 * if room is too small, or < 0 with the error.
 */
long ebpf_jit_into(const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env,
	const uint64_t *strs, void *out, size_t room, struct et_error *e);

#endif
