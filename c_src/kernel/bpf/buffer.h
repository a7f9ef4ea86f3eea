/* SPDX-License-Identifier: Apache-2.0 */
/* The slot's buffer: the kernel's helpers read memory of others into it. */
#ifndef K_BUFFER_H
#define K_BUFFER_H

#include "helpers.h"

static inline bool in_kernel(uint64_t addr)
{
	return (int64_t)addr < 0;
}

/* So that the verifier sees that it is less than K_BUF, whatever the compiler knows. */
static inline uint64_t bounded(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n & (K_BUF - 1);
}

/* Less than K_BUF bytes into the slot's buffer. */
static inline bool fetch(char *buf, uint64_t addr, uint32_t n)
{
	const void *from = (const void *)(uintptr_t)addr;

	n = bounded(n);
	if (in_kernel(addr) && k_root.confine.on)
		return false;
	return (in_kernel(addr) ? bpf_probe_read_kernel(buf, n, from)
				: bpf_probe_read_user(buf, n, from)) == 0;
}

/* And from there into the arena. */
static inline void from_buffer(char *to, const char *buf, uint32_t n)
{
	uint64_t i;

	/* a counter that the verifier does not know needs no look at each of its values */
	for (i = unknown_zero(); i + 8 <= n; i += 8)
		*(uint64_t *)(void *)(to + i) =
			*(const uint64_t *)(const void *)(buf + bounded(i) / 8 * 8);
	for (; i < n; i++)
		to[i] = buf[bounded(i)];
}

#endif
