/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What user space tells the kernel's half: one structure in the arena, whose address the linker
 * puts where BPF code says k_root. And what the two have in common besides.
 */
#ifndef K_ROOT_H
#define K_ROOT_H

#include "../engine/internal.h"

#define K_SYSCALLS 512	/* more than there are */
#define K_BUF	   4096 /* bytes of a slot's buffer, through which memory of others is read */

/* What the arguments of a function of an Erlang VM are made by: kernel/erlang.c. */
enum k_erlang_kind {
	K_MESSAGE_RECEIVE,
	K_COPY_STRUCT,
	K_COPY_OBJECT,
	K_EXIT_SIGNAL,
	K_PORT_BUSY,
	K_PORT_NOT_BUSY,
};
struct k_erlang {
	uint32_t kind;	    /* K_* */
	uint32_t bits;	    /* of a pid's number; above is the serial */
	uint32_t places;    /* in the table of processes, as a power of two; 0: not needed */
	uint32_t queue_len; /* where a process has it; 0: not known */
};

/* Where a usdt probe has an argument. */
enum { K_ARG_NONE, K_ARG_CONSTANT, K_ARG_REGISTER, K_ARG_MEMORY };
#define K_REGS 21 /* words of registers as the kernel has them (bpf/main.c) */
struct k_usdt_arg {
	uint8_t kind;
	int8_t size;	     /* bytes; < 0: signed */
	uint8_t base, index; /* number of a word of the registers, from 1; 0: none */
	uint8_t scale;
	bool high; /* the second byte of the register */
	int64_t disp;
};

struct k_root {
	struct en *en;
	uint32_t ncpus, nslots; /* a slot for each CPU, then those for firings within firings */
	uint64_t arena, arena_size;
	uint64_t zero; /* of which the verifier does not know that it is 0 */
	uint64_t wall; /* what is to be added to the monotonic clock */
	struct en_probe *sys_enter[K_SYSCALLS], *sys_exit[K_SYSCALLS];
	struct en_probe *own[2]; /* BEGIN and END, where they fire in the kernel (own.c) */
	struct en_probe **probe; /* by the cookie of whatever else fires */
	uint32_t nprobes;
	struct en_probe **erlang; /* by the hashes of their names: events of nodes */
	uint64_t erlang_mask;
};

#endif
