/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and atoms in the memory of an Erlang VM, read from outside: vm.c. */
#ifndef VM_H
#define VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;
struct vm *vm_open(int pid); /* NULL: not a VM, without symbols, or not readable */
void vm_close(struct vm *vm);
/* The Erlang function at an address, or its module; *off: the offset in it. */
bool vm_function(
	struct vm *vm, uint64_t addr, bool module, char *buf, size_t size, uint64_t *off);
/*
 * The tables of modules: three structures of 32 bytes, which begin with a pointer and a number n.
 * The pointer is to n pairs of start and end of code, sorted. *active is the address of the index
 * (32 bits) of the table in use.
 */
bool vm_modules(const struct vm *vm, uint64_t *tables, uint64_t *active);
/* The start of the first module after an address that is in none; 0: none. */
uint64_t vm_module_after(const struct vm *vm, uint64_t addr);

/* Atoms: table[index / 1024][index % 1024] points to one. */
struct vm_atoms {
	uint64_t table;
	uint32_t len, name; /* offsets in an atom: length (16 bits), pointer to its text */
};
bool vm_atoms(const struct vm *vm, struct vm_atoms *at);
bool vm_read(const struct vm *vm, uint64_t addr, void *to, size_t n);
uint64_t vm_symbol(const struct vm *vm, const char *name); /* its address in the VM; 0: unknown */

#endif
