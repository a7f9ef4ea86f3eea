/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linker: makes one image that the Linux kernel accepts as a BPF program, of functions that
 * clang has compiled and of programs that ebpf_verify() has accepted.
 *
 *   object.c        the compiled functions: ELF files, relocations
 *   link.c          the linker itself: which functions, calls, constants, jumps
 *   flow.c          data flow of a function (piece.h)
 *   access.c        its loads and stores; pointer.c: pointers to memory, which they go by
 *   bound.c         its loops, so that the verifier sees that they end; loop.c: those that the
 *                   kernel runs
 *   depth.c         how deep calls go
 *   older.c         instructions that older kernels do not have
 *   func_types.c    BTF types for the functions of an image
 *   helpers.def     helpers of the kernel that the functions may call
 *
 * All memory besides the stack is shared with user space, and pointers are numbers, as user space
 * has them. It is an arena (BPF_MAP_TYPE_ARENA), or where the kernel has none a window: one value of
 * an array (BPF_F_MMAPABLE), whose size is a power of two to which its addresses are aligned. What
 * memory holds, and who calls the programs, the linker does not know: its input has all names,
 * addresses and offsets.
 */
#ifndef EBPF_LINK_H
#define EBPF_LINK_H

#include "cuts.h"
#include "object.h"

#define EBPF_MAX_SYMBOLS 8
#define EBPF_MAX_LEFT_OUT 5
/* Bytes of the map's value before a window and behind it: what an instruction's offset can reach. */
#define EBPF_GUARD 32768

/* What a name is that the object refers to and does not have. */
struct ebpf_symbol {
	const char *name;
	enum {
		EBPF_SYM_NUMBER, /* value: a constant, or an address in memory */
		EBPF_SYM_MAP,	 /* memory of the kernel: the first value of the map with this fd */
		EBPF_SYM_RUN,	 /* a function (context, index) that runs a program */
	} kind;
	uint64_t value;
};

/* A program; its calls are numbers of functions in the env. */
struct ebpf_program {
	const struct ebpf_insn *insns;
	unsigned n;
	unsigned index; /* by which it is run */
};

struct ebpf_link_input {
	const struct ebpf_object *object;
	struct ebpf_symbol symbol[EBPF_MAX_SYMBOLS];
	unsigned nsymbols;
	const char *entry;    /* the function where the image begins */
	/* functions that are not wanted, whose calls give 0; NULL behind the last */
	const char *left_out[EBPF_MAX_LEFT_OUT + 1];
	bool sleeps;	      /* it may call functions of the kernel that wait */
	int memory_fd;
	uint64_t window; /* its bytes; 0: memory is an arena */
	uint64_t zero;	 /* the address of a 0 in memory: to the verifier it can be any number */
	/* of a window: */
	bool loops;	  /* the kernel has bpf_loop() */
	const char *const *deep; /* functions whose loops may call functions; NULL behind them */
	uint64_t cut;	 /* the address of EBPF_CUTS counts: functions that a bound has ended */
	unsigned budget; /* instructions that the verifier may follow for the loops of a function */
	unsigned runs;	 /* programs that a function runs in a loop at most */

	const struct ebpf_program *programs; /* in the order of their indexes */
	unsigned nprograms;
	const struct ebpf_env *env;	  /* what they may call */
	const char *const *fns;		  /* the functions of the env, as the object has them */
	const struct ebpf_direct *direct; /* those that are no calls */
	unsigned ndirect;
	const uint64_t *strs; /* constant strings */
	unsigned key;	      /* in the context: room for the words of a key */
};

struct ebpf_part {	  /* a function of an image */
	const char *name; /* NULL: programs */
	unsigned at;	  /* its first instruction */
	unsigned nargs;	  /* numbers all; it gives one too */
	bool callback;
	unsigned type;	  /* of ebpf_image_types() */
};
struct ebpf_image {
	struct ebpf_insn *insns;
	struct ebpf_part *parts; /* the first is where it begins */
	unsigned ninsns, nparts;
	uint64_t follows; /* of a window: instructions that the verifier follows for loops, about */
};
int ebpf_link(const struct ebpf_link_input *in, struct ebpf_image *im, struct et_error *e);
void ebpf_image_free(struct ebpf_image *im);

/*
 * BTF for the functions of an image, so that the verifier looks at each by itself: bytes, which the
 * caller frees. Sets the types of its parts. programs: what tools show as the name of those.
 */
void *ebpf_image_types(
	struct ebpf_image *im, const char *programs, size_t *size, struct et_error *e);

#endif
