/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between jit.c and the machines. A machine turns a verified program into code at an address; the
 * rest (memory, what the program uses, the interface) is jit.c's.
 */
#ifndef EBPF_JIT_H
#define EBPF_JIT_H

#include "ebpf.h"

/* A program to compile, with what is known of it and room to work. */
struct ebpf_job {
	const struct ebpf_insn *insns;
	unsigned n;
	const struct ebpf_env *env;
	const uint64_t *strs;
	uint16_t regs;	/* bit i: r<i> occurs */
	bool calls;	/* something is called */
	unsigned stack; /* bytes below r10 that can be touched */
	uint32_t *pos;	/* n + 1, for the machine: where the code of each instruction starts */
	uint8_t *note;	/* n, for the machine: one byte of its own an instruction, cleared */
};

struct ebpf_arch {
	const char *name;
	/* No more bytes than this. */
	size_t (*bound)(const struct ebpf_job *job);
	/* Writes code that will run at out. Returns its length. */
	size_t (*compile)(const struct ebpf_job *job, uint8_t *out);
};

extern const struct ebpf_arch ebpf_x86;

/* For tests: emit nothing that not every machine of the kind has. */
extern bool ebpf_jit_plain;

/*
 * Compile into memory of the caller's, for those who put many programs into one mapping. Returns
 * the length, 0 if room does not suffice, or < 0 with the error.
 */
long ebpf_jit_into(const struct ebpf_insn *insns, unsigned n, const struct ebpf_env *env,
	const uint64_t *strs, void *out, size_t room, struct et_error *e);

#endif
