/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of an Erlang VM that are erlang probes: vm_probes.c. */
#ifndef K_VM_PROBES_H
#define K_VM_PROBES_H

#include "kernel/modules.h"
#include "kernel/root.h"

bool k_is_vm_probe(const char *glob); /* is there such a probe whose name matches? */

/* Where a probe fires in the VM's program. */
struct k_vm_probe {
	const char *probe, *note;
	uint64_t offset; /* in the file */
	struct k_vm vm;
};
typedef int (*k_vm_probe_cb)(void *arg, const struct k_vm_probe *at); /* != 0: enough */
/* Those of a VM whose names match; m: its program. */
int k_vm_probes(int pid, struct k_module *m, const char *glob, k_vm_probe_cb cb, void *arg);

/* What is known of a VM; m: its program. */
void k_vm_find(int pid, struct k_module *m, struct k_vm *vm);
/* Where one of its processes has ended: an offset in the file; 0: not known. */
uint64_t k_vm_exit(struct k_module *m);

#endif
