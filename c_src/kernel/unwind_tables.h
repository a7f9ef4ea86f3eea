/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of programs and libraries by which stacks are walked: unwind_tables.c. */
#ifndef K_UNWIND_TABLES_H
#define K_UNWIND_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf.h"
#include "unwind.h"

struct en;
struct unwind_rule;

/* A file that processes have mapped: shared by all that have the same. */
struct k_unwind_file {
	struct k_unwind_file *next;
	uint64_t dev, inode, size, changed; /* what it is known by */
	struct elf elf;			    /* its segments */
	uint64_t base;			    /* the address where its table begins */
	const struct k_table *table;	    /* NULL: none */
};
struct k_unwind_tables {
	char *pool; /* memory that the kernel's half reads */
	size_t size, used;
	struct k_unwind_file *files;
	struct unwind_rule *rules;
	unsigned nrules;
	uint16_t *by_hash; /* numbers of rules, from 1 on */
	bool cut;	   /* there was no room for all */
};

bool k_tables_init(struct en *en, struct k_unwind_tables *t);
void k_tables_free(struct k_unwind_tables *t);
void *k_pool_alloc(struct k_unwind_tables *t, size_t size); /* NULL: no room, which is noted */
/* The file's entry, made when it is first asked for. NULL: out of memory. */
const struct k_unwind_file *k_unwind_file(struct k_unwind_tables *t, int fd);
/* The kernel's code in each process, of size bytes. */
const struct k_unwind_file *k_unwind_vdso(struct k_unwind_tables *t, size_t size);

#endif
