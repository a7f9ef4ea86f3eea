/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of which only what is touched is there: for tables that are as large as they may become. */
#ifndef BEAM_PAGES_H
#define BEAM_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

/* Zeros; munmap() gives them back. NULL: no memory. */
static inline void *beam_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

#endif
