/* SPDX-License-Identifier: Apache-2.0 */
/* How the threads of an Erlang VM tell what process they run: vm_schedulers.c. */
#ifndef K_VM_SCHEDULERS_H
#define K_VM_SCHEDULERS_H

#include <stdbool.h>
#include <stdint.h>

struct vm;
struct vm_schedulers {
	uint32_t scheduler; /* from the thread pointer on: a pointer to the scheduler's data */
	uint32_t current;   /* in that: a pointer to the process */
	uint32_t number;    /* ... and the scheduler's number */
};
/* false: no threads agree, as most of them are running */
bool vm_schedulers_find(const struct vm *vm, int pid, struct vm_schedulers *found);

#endif
