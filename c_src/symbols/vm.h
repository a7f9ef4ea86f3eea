/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, lines and tables in the memory of an Erlang VM, read from outside: vm.c. */
#ifndef VM_H
#define VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm_tables.h"

struct elf;
struct vm;
struct vm *vm_open(int pid); /* NULL: not a VM, or not readable */
void vm_close(struct vm *vm);
const char *vm_refusal(const struct vm *vm); /* why functions have no names; NULL: they have */
/* The Erlang function at an address, or its module; *off: the offset in it. */
bool vm_function(
	struct vm *vm, uint64_t addr, bool module, char *buf, size_t size, uint64_t *off);
/*
 * The same as a frame of a stack: mod:fun/1 (file.erl:12), or without the line; *first: the first
 * address with that text. addr is within the call: a return address minus 1.
 */
bool vm_frame(struct vm *vm, uint64_t addr, bool lines, char *buf, size_t size, uint64_t *first);
/* Is it in the JIT's memory? *off: the offset in its mapping. */
bool vm_is_jit(struct vm *vm, uint64_t addr, uint64_t *off);

bool vm_read(const struct vm *vm, uint64_t addr, void *to, size_t n);
const struct vm_tables *vm_tables(const struct vm *vm); /* valid if vm_refusal() is NULL */
uint64_t vm_symbol(const struct vm *vm, const char *name); /* its address in the VM; 0: unknown */
const struct elf *vm_program(const struct vm *vm, uint64_t *bias);

#endif
