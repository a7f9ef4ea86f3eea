/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the probe path reads and writes. Mostly it is this process's own. An engine whose
 * clauses also run in the kernel shares it with the kernel: the engine itself was made at the
 * start of a window of addresses, which at the go becomes a mapping of that memory; all that comes
 * after is taken from there, piece by piece, and given back as a whole.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler.h"
#include "region.h"
#include "state.h"

#define WINDOW (1ULL << 32) /* bytes; it starts at a multiple of that */
#define HINT   0x1e0000000000 /* far from where programs have anything */

/* The leak sanitizer does not look into mappings by itself: an engine's pointers are there. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LOOK_INTO(p) __lsan_register_root_region(p, sizeof(struct en))
#define LOOK_AWAY(p) __lsan_unregister_root_region(p, sizeof(struct en))
#endif
#endif
#ifndef LOOK_INTO
#define LOOK_INTO(p) ((void)(p))
#define LOOK_AWAY(p) ((void)(p))
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Addresses for an engine; its first page is memory already. NULL: refused. */
static void *window(void)
{
	uint64_t at = HINT + (uint64_t)(uint32_t)getpid() % 4096 * WINDOW, from;
	char *map = mmap((void *)(uintptr_t)at, 2 * WINDOW, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	from = align_up((uint64_t)(uintptr_t)map, WINDOW);
	if (from > (uint64_t)(uintptr_t)map)
		munmap(map, from - (uint64_t)(uintptr_t)map);
	munmap((void *)(uintptr_t)(from + WINDOW),
		(uint64_t)(uintptr_t)map + 2 * WINDOW - (from + WINDOW));
	map = (char *)(uintptr_t)from;
	if (mprotect(map, align_up(sizeof(struct en), 4096), PROT_READ | PROT_WRITE) < 0) {
		munmap(map, WINDOW);
		return NULL;
	}
	return map;
}

struct en *en_reserve(bool shareable)
{
	struct en *en = shareable ? window() : NULL;
	void *mem = NULL;

	if (en != NULL) {
		en->shared.window = WINDOW;
		LOOK_INTO(en);
		return en;
	}
	if (posix_memalign(&mem, LINE, sizeof(*en)) != 0)
		return NULL;
	return memset(mem, 0, sizeof(*en));
}

void en_unreserve(struct en *en)
{
	if (en->shared.window != 0) {
		LOOK_AWAY(en);
		munmap(en, en->shared.window);
	} else {
		free(en);
	}
}

/* The engine's window is a mapping of fd from now on. Nobody else may be looking at it. */
int en_share(struct en *en, int fd, struct et_error *e)
{
	struct en *copy;
	void *map;

	if (en->shared.window == 0)
		return et_err(e, ET_NOMEM, "no addresses for memory shared with the kernel");
	copy = aligned_alloc(LINE, align_up(sizeof(*copy), LINE));
	if (copy == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	memcpy(copy, en, sizeof(*copy));
	map = mmap(en, en->shared.window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (map == MAP_FAILED) { /* the old one is gone: an engine of its own memory again */
		map = mmap(en, copy->shared.window, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		memcpy(en, copy, sizeof(*copy));
		free(copy);
		return et_err(e, ET_KERNEL, "memory shared with the kernel cannot be mapped");
	}
	memcpy(en, copy, sizeof(*copy));
	free(copy);
	en->shared.on = true;
	en->shared.used = align_up(sizeof(*en), 4096);
	return 0;
}

/* User space's accesses make what is not there; the kernel's do not. */
int en_populate(void *at, size_t size)
{
	uintptr_t from = (uintptr_t)at & ~4095ULL;

	if (size == 0)
		return 0;
	return madvise(
		(void *)from, align_up((uintptr_t)at + size, 4096) - from, MADV_POPULATE_WRITE);
}

/* Of the window; of that so many bytes are there at once, for the kernel to write to. */
static void *take(struct en *en, size_t size, size_t kernel)
{
	char *at = (char *)en + en->shared.used;

	size = align_up(size, LINE);
	if (size > en->shared.window - en->shared.used)
		return NULL;
	if (en_populate(at, kernel) < 0)
		return NULL;
	en->shared.used += size;
	return at;
}

void *en_alloc(struct en *en, size_t size)
{
	if (!en->shared.on) {
		void *mem = NULL;

		if (posix_memalign(&mem, 64, align_up(size + 1, 64)) != 0)
			return NULL;
		return memset(mem, 0, align_up(size + 1, 64));
	}
	return take(en, size, size);
}

/*
 * How far into its first page memory of this engine begins, not shared with the kernel. Engines use
 * the same places of what they have; were all of it at the beginning of pages, more than eight that
 * fire at one event would take each other's lines out of the processor's cache.
 */
static size_t colour(const struct en *en)
{
	return en->id * 7 % (4096 / LINE) * LINE;
}

void *en_alloc_pages(struct en *en, size_t size, size_t kernel)
{
	void *map;

	if (en->shared.on) {
		en->shared.used = align_up(en->shared.used, 4096);
		return take(en, size, kernel);
	}
	map = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return map != MAP_FAILED ? (char *)map + colour(en) : NULL;
}

void en_dealloc(const struct en *en, void *p)
{
	if (!en->shared.on)
		free(p);
}

void en_dealloc_pages(const struct en *en, void *p, size_t size)
{
	if (!en->shared.on && p != NULL)
		munmap((char *)p - colour(en), size + 4096);
}
