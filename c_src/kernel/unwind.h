/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of programs without frame pointers, for ustack(): what user space (unwind.c) tells the
 * kernel's half (bpf/walk.c). Addresses are those of the memory that both share.
 */
#ifndef K_UNWIND_H
#define K_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What .eh_frame of a file says (symbols/eh_frame.h), for blocks of code: for each row where in its
 * block it begins, and the number of its rule. index: for each block, and for the end, how many
 * rows begin before it.
 */
enum { K_BLOCK_SHIFT = 8, K_BLOCK = 1 << K_BLOCK_SHIFT };
struct k_table {
	uint64_t at, rules, index; /* uint8_t, uint16_t, uint32_t each */
	uint64_t blocks;
};

/* Code that a process has mapped; table 0: of which nothing is known. */
struct k_mapping {
	uint64_t start, end;
	uint64_t base; /* what start is in the table */
	uint64_t table;
};
struct k_mappings { /* by address */
	uint64_t n;
	struct k_mapping of[];
};

#define K_UNWIND_SLOTS 1024 /* processes, by their pids: a power of two */
#define K_UNWIND_TRIES 32   /* slots that are looked at for one */
struct k_walked {
	uint32_t pid;	   /* 0: none has been here */
	uint32_t is_vm;	   /* an Erlang VM: where its JIT's code begins, its own stack does */
	uint64_t mappings; /* struct k_mappings */
	uint64_t mm;	   /* its memory as the kernel has it: another program's is another; or 0 */
};

#define K_MISSED 64 /* a power of two */
struct k_unwind {
	struct k_walked process[K_UNWIND_SLOTS];
	uint64_t rules;		   /* struct unwind_rule each; of all tables */
	uint32_t missed[K_MISSED]; /* processes that are to be looked at, by what is not known */
};

static inline uint64_t k_walked_slot(uint32_t pid)
{
	return pid * 0x9e3779b97f4a7c15 >> 54;
}

struct en;
struct k_unwinder;
struct et_error;

/* Makes the tables of processes that a script may walk, if it does that. */
int k_unwind_find(struct en *en, struct et_error *e);
void k_unwind_free(struct k_unwinder *u);

#endif
