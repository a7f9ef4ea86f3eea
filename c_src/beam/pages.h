/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of which only what is touched is there: for tables that are as large as they may become.
 */
#ifndef BEAM_PAGES_H
#define BEAM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Zeros; munmap() gives them back. NULL: no memory. */
static inline void *beam_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

#define BEAM_PAGE   4096
#define BEAM_LOOKED 128 /* pages at a time */

/*
 * Of the next pages of a table, from `at` on, which are there? How many those are; 0: it is not
 * known.
 */
static inline size_t beam_pages_there(
	void *tab, size_t pages, size_t at, unsigned char there[BEAM_LOOKED])
{
	size_t n = pages - at < BEAM_LOOKED ? pages - at : BEAM_LOOKED;

	return mincore((char *)tab + at * BEAM_PAGE, n * BEAM_PAGE, there) == 0 ? n : 0;
}

/*
 * A page that nobody uses: is it so for the second time? One in which processes come and go just
 * now is left alone.
 */
static inline bool beam_page_rests(unsigned char *rests, bool in_use)
{
	bool again = *rests && !in_use;

	*rests = !in_use && !again;
	return again;
}

/* Zeros again, which take no memory. Nobody may use them meanwhile. */
static inline void beam_pages_release(void *at, size_t pages)
{
	madvise(at, pages * BEAM_PAGE, MADV_DONTNEED);
}

#endif
