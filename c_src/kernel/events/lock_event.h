/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's half keeps of threads that wait for a lock of the kernel: lockstat.c, bpf/lockstat.h. */
#ifndef K_LOCK_EVENT_H
#define K_LOCK_EVENT_H

#include <stdint.h>

enum k_lock_event { K_LOCK_ADAPTIVE_SPIN, K_LOCK_ADAPTIVE_BLOCK, K_LOCK_SPIN_SPIN, K_LOCK_RW_BLOCK,
	K_LOCK_EVENTS };

/* A thread waits for one lock, and an interrupt of it for another one. */
struct k_lock_wait {
	uint64_t task, lock; /* 0: free */
	uint64_t since, spun, slept; /* ns */
	uint64_t flags; /* LCB_F_* of now */
};
enum { K_LOCK_WAITS = 8192, K_LOCK_TRIES = 4 };

#endif
