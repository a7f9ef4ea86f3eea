/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of an Erlang VM that are erlang probes: vm_probes.c. */
#ifndef K_INSIDES_H
#define K_INSIDES_H

#include "modules.h"
#include "root.h"

bool k_is_inside(const char *glob); /* is there such a probe whose name matches? */

/* A place in the VM's program where a probe fires. */
struct k_inside {
	const char *probe, *note;
	uint64_t offset; /* in the file */
	struct k_vm vm;
};
typedef int (*k_inside_cb)(void *arg, const struct k_inside *at); /* != 0: enough */
/* Those of a VM whose names match; m: its program. */
int k_insides(int pid, struct k_module *m, const char *glob, k_inside_cb cb, void *arg);

/* What is known of a VM; m: its program. */
void k_vm_find(int pid, struct k_module *m, struct k_vm *vm);
void k_vm_threads(int pid, struct k_module *m, struct k_vm *vm); /* of that, who its threads are */
/* Where one of its processes has ended: an offset in the file; 0: not known. */
uint64_t k_vm_exit(struct k_module *m);

#endif
