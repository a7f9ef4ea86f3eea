/* SPDX-License-Identifier: Apache-2.0 */
/* What the linker (bpf/link/) is told of the engine: link_input.c. */
#ifndef K_LINK_INPUT_H
#define K_LINK_INPUT_H

#include "bpf/link/link.h"
#include "entries.h"

struct en;
struct k_own;

/* The probe path for BPF, as it was built. */
int k_object_load(struct ebpf_object *o, struct et_error *e);
/* The program of an entry, without clauses; own: NULL, or of which probe (program.h). */
struct ebpf_link_input k_link_input(
	const struct en *en, enum k_entry entry, const struct k_own *own);

#endif
