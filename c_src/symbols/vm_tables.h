/* SPDX-License-Identifier: Apache-2.0 */
/* Where an Erlang VM has its tables, found without symbols: vm_tables.c, vm_jit.c. */
#ifndef VM_TABLES_H
#define VM_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;
struct vm_range {
	uint64_t start, end;
};

/* Atoms: table[index / 1024][index % 1024] points to one. */
struct vm_atoms {
	uint64_t table;
	uint32_t len, name; /* offsets in an atom: length (16 bits), pointer to its text */
	uint32_t text;	    /* from where that points to, without its tag, to the text */
};

/*
 * Code that the JIT shares between functions. Functions of the VM that it calls return there, and
 * where they return tells what they are: a NIF, a BIF, or a BIF that is called without a frame
 * ("light"). What was not found is 0.
 */
struct vm_jit {
	struct vm_range code;
	uint64_t active;	  /* the address of the code index in use, 32 bits */
	uint64_t nif, bif, light; /* return addresses */
	uint32_t current, i;	  /* in a process: its NIF's or BIF's MFA; where it goes on */
	/* in a scheduler's registers: a pointer to the light BIF's Export */
	uint32_t export;
	uint32_t export_mfa;	  /* in an Export */
};

struct vm_tables {
	struct vm_atoms atoms;
	/*
	 * Code of modules, for each code index: three structures of 32 bytes, which begin with a
	 * pointer and a number n. The pointer is to n pairs of start and end of code, sorted.
	 */
	uint64_t modules;
	uint32_t functions; /* words of a module before the pointers to its functions */
	bool lines;	    /* line tables are as expected */
	uint64_t processes; /* an array of pointers to them */
	struct vm_jit jit;
};
enum { VM_MODULES = 32 }; /* bytes of one of the three structures */
enum { VM_INFO_MFA = 16, VM_INFO = 40 }; /* a function: offset of its MFA, and of its code */

/*
 * Search the data of the VM's program; code: mappings that are executable and of no file. NULL, or
 * why there are no names of functions.
 */
const char *vm_tables_find(const struct vm *vm, const struct vm_range *program,
	const struct vm_range *data, const struct vm_range *code, size_t ncode,
	struct vm_tables *t);
/* Of the code [at, at + n) that is shared; false: it is something else. */
bool vm_jit_find(const uint8_t *code, size_t n, uint64_t at, struct vm_jit *j);

bool vm_is_atom(uint64_t term);
/* The text of an atom by its index, truncated; false: no such atom. */
bool vm_atom_text(
	const struct vm *vm, const struct vm_atoms *a, uint64_t index, char *buf, size_t size);

#endif
