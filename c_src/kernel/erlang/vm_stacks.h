/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang VMs, and where they have the stacks of processes: vm_stacks.c. */
#ifndef K_VM_STACKS_H
#define K_VM_STACKS_H

#include <stdbool.h>

#include "error.h"

struct en;
struct et_options;

/* Has -N named nodes? -p gives numbers, and "*" is all nodes. */
bool k_nodes_named(const struct et_options *o);
/* The Erlang VMs whose stacks are wanted, if a clause reads ustack(): $target, else all here. */
int k_stacks_find(struct en *en, struct et_error *e);

#endif
