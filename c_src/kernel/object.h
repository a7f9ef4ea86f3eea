/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's probe path for BPF, as it was built: object.c. */
#ifndef K_OBJECT_H
#define K_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/ebpf.h"
#include "entries.h"
#include "error.h"
#include "prog/rt.h"

/* What an instruction refers to. */
enum k_sym {
	K_SYM_UNKNOWN,
	K_SYM_FUNC, /* a function of the table */
	K_SYM_DATA, /* constants */
	/* what the linker itself puts in */
	K_SYM_CLAUSE,	/* k_clause() */
	K_SYM_ROOT,	/* k_root */
	K_SYM_BUF,	/* k_buf */
	K_SYM_BUF_MASK, /* k_buf_mask */
};
struct k_reloc {
	unsigned at; /* instruction in the function */
	enum k_sym kind;
	int index;	  /* of K_SYM_FUNC, K_SYM_DATA: which */
	uint64_t off;	  /* of K_SYM_DATA: where in it */
	const char *name; /* or NULL */
};
struct k_data { /* constants */
	const char *bytes;
	size_t size;
	uint64_t addr; /* in the arena: kernel.c puts them there */
};
struct k_func {
	const char *name;
	const struct ebpf_insn *insns;
	unsigned n;
	bool global; /* known by its name to other files */
	struct k_reloc *relocs;
	unsigned nrelocs;
};
struct k_object {
	struct k_func *funcs;
	unsigned n;
	struct k_data *data;
	unsigned ndata;
	/* in funcs, < 0: not there */
	int entry[ENTRY_COUNT_];
	int rt[RT_COUNT_];
	int erlang_stack; /* k_erlang_stack() */
};
int k_object_load(struct k_object *o, struct et_error *e); /* of all files: one table */
void k_object_free(struct k_object *o);

#endif
