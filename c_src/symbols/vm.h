/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory of an Erlang VM tells from outside: vm.c. */
#ifndef VM_H
#define VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;
struct vm *vm_open(int pid); /* NULL: no VM, one that hides its names, or not to be read */
void vm_close(struct vm *vm);
/* The Erlang function that has code at an address, or its module; *off: how far that is into it. */
bool vm_function(
	struct vm *vm, uint64_t addr, bool module, char *buf, size_t size, uint64_t *off);
/*
 * Where modules have their code: three tables, 32 bytes each, begin with a pointer and a number; at
 * the pointer are so many starts and ends, sorted. At *active is (32 bits) which one is in use.
 */
bool vm_modules(const struct vm *vm, uint64_t *tables, uint64_t *active);
/* Where the first one behind an address begins that no module has; 0: there is none. */
uint64_t vm_module_after(const struct vm *vm, uint64_t addr);

/* Where atoms are: table[index / 1024][index % 1024] points to one. */
struct vm_atoms {
	uint64_t table;
	uint32_t len, name; /* in an atom: its length (16 bits), a pointer to its text */
};
bool vm_atoms(const struct vm *vm, struct vm_atoms *at);
bool vm_read(const struct vm *vm, uint64_t addr, void *to, size_t n);
uint64_t vm_symbol(const struct vm *vm, const char *name); /* where it is there; 0: not known */

#endif
