/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that clang has compiled for BPF: object.c. */
#ifndef EBPF_OBJECT_H
#define EBPF_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/ebpf.h"
#include "error.h"

/* What an instruction refers to. */
struct ebpf_reloc {
	unsigned at; /* in the function */
	enum {
		EBPF_REL_SYMBOL, /* not in the object: the linker's input has to say what it is */
		EBPF_REL_FUNC,	 /* a function of the table */
		EBPF_REL_DATA,	 /* constants */
	} kind;
	int index;	  /* of FUNC, DATA: which */
	uint64_t off;	  /* of DATA: where in it */
	const char *name; /* or NULL */
};
struct ebpf_data { /* constants */
	const char *bytes;
	size_t size;
	uint64_t addr; /* in the arena: who loads the object puts them there */
};
struct ebpf_func {
	const char *name;
	const struct ebpf_insn *insns;
	unsigned n;
	bool global; /* known by its name to other files */
	struct ebpf_reloc *relocs;
	unsigned nrelocs;
};
struct ebpf_object {
	struct ebpf_func *funcs;
	unsigned n;
	const struct ebpf_func **by_name; /* the global ones, sorted */
	unsigned nglobals;
	struct ebpf_data *data;
	unsigned ndata;
};

/*
 * ELF files that lie one behind the other, each preceded by its size in 8 bytes and at an address
 * that 8 divides; they are not copied. One table of all their functions.
 */
int ebpf_object_load(struct ebpf_object *o, const char *files, const char *end, struct et_error *e);
void ebpf_object_free(struct ebpf_object *o);
/* A global function by its name: its number in the table, or -1. */
int ebpf_object_find(const struct ebpf_object *o, const char *name);

#endif
