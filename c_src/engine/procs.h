/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses in records of the kernel's probes belong to many processes. The bits above those that
 * addresses use are an index into a table of processes, plus 1; 0: unknown.
 */
#ifndef EN_PROCS_H
#define EN_PROCS_H

#include <stdatomic.h>
#include <stdint.h>

enum { ADDR_BITS = 47, PROCS_LOG = 12, NPROCS = 1 << PROCS_LOG };

/* The tag of a process, which is added to the table; 0: the table is full. */
static inline uint64_t procs_tag(_Atomic(uint32_t) *procs, uint32_t pid)
{
	uint32_t at = pid * 2654435761u >> (32 - PROCS_LOG), now;

	for (unsigned i = 0; procs != NULL && i < 32; i++, at = (at + 1) & (NPROCS - 1)) {
		now = atomic_load(&procs[at]);
		if (now == 0 && atomic_compare_exchange_strong(&procs[at], &now, pid))
			now = pid;
		if (now == pid)
			return (uint64_t)(at + 1) << ADDR_BITS;
	}
	return 0;
}

#endif
