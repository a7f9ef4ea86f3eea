/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What user space tells the kernel's half: one structure in the arena, whose address the linker
 * puts where BPF code says k_root. And what the two have in common besides.
 */
#ifndef K_ROOT_H
#define K_ROOT_H

#include "../engine/internal.h"

#define K_SYSCALLS 512	/* more than there are */
#define K_BUF	   4096 /* bytes of a slot's buffer, through which memory of others is read */

struct k_root {
	struct en *en;
	uint32_t ncpus, nslots; /* a slot for each CPU, then those for firings within firings */
	uint64_t arena, arena_size;
	uint64_t wall; /* what is to be added to the monotonic clock */
	struct en_probe *sys_enter[K_SYSCALLS], *sys_exit[K_SYSCALLS];
	struct en_probe **probe; /* by the cookie of whatever else fires */
	uint32_t nprobes;
};

#endif
