/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the probe path reads and writes. Usually it is private to this process. An engine
 * whose clauses also run in the kernel keeps it in a BPF arena, which is mapped here too; on a
 * kernel without arenas in an array of one value.
 *
 * Both sides follow the same pointers, so all that they reach must be inside the arena.
 * struct en itself exists before it is known whether an arena is needed. Therefore it is placed at
 * the start of a reserved window of 4 GB of address space, aligned to its size (PROT_NONE but for
 * the first pages). At go, en_share maps the arena over that window and copies struct en into it,
 * so that pointers to the engine stay valid. Whatever is allocated from then on comes from a bump
 * allocator in the window; it is freed as a whole with the mapping.
 *
 * A page fault in user space populates a page of the arena; the kernel's programs cannot do that.
 * Memory that the kernel writes to is therefore populated in advance (en_populate).
 *
 * An array takes all of its memory when it is made. So it is made late, when most of what an engine
 * needs is allocated (in private memory at the same addresses), of a size of a power of two that is
 * enough for that and some more (en_share_late).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler.h"
#include "region.h"
#include "state.h"

#define WINDOW (1ULL << 32) /* bytes; aligned to its size */
#define HINT   0x1e0000000000 /* far from where programs have anything */

/* Bytes of an array: the verifier follows offsets below 512 MB. And what is left for later. */
#define LATE_MOST  (256ULL << 20)
#define LATE_LEAST (1ULL << 20)

/* The leak sanitizer does not scan mappings by itself, and an engine holds pointers to the heap. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LSAN_ADD_ROOT(p) __lsan_register_root_region(p, sizeof(struct en))
#define LSAN_REMOVE_ROOT(p) __lsan_unregister_root_region(p, sizeof(struct en))
#endif
#endif
#ifndef LSAN_ADD_ROOT
#define LSAN_ADD_ROOT(p) ((void)(p))
#define LSAN_REMOVE_ROOT(p) ((void)(p))
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Reserve the window of an engine; its first pages are usable. NULL: refused. */
static void *reserve_window(void)
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
	struct en *en = shareable ? reserve_window() : NULL;
	void *mem = NULL;

	if (en != NULL) {
		en->shared.window = WINDOW;
		LSAN_ADD_ROOT(en);
		return en;
	}
	if (posix_memalign(&mem, LINE, sizeof(*en)) != 0)
		return NULL;
	return memset(mem, 0, sizeof(*en));
}

void en_unreserve(struct en *en)
{
	if (en->shared.window != 0) {
		LSAN_REMOVE_ROOT(en);
		munmap(en, en->shared.window);
	} else {
		free(en);
	}
}

/* Private memory for the time until en_share_late. */
static int share_later(struct en *en, struct et_error *e)
{
	if (mprotect(en, LATE_MOST, PROT_READ | PROT_WRITE) < 0)
		return et_err(e, ET_NOMEM, "out of memory");
	en->shared.on = en->shared.late = true;
	en->shared.size = LATE_MOST;
	en->shared.used = align_up(sizeof(*en), 4096);
	return 0;
}

/* Map fd over the engine's window. No other thread may be using the engine. */
int en_share(struct en *en, int fd, struct et_error *e)
{
	struct en *copy;
	void *map;

	if (en->shared.window == 0)
		return et_err(e, ET_NOMEM, "no addresses for memory shared with the kernel");
	if (fd == EN_SHARE_LATE)
		return share_later(en, e);
	copy = aligned_alloc(LINE, align_up(sizeof(*copy), LINE));
	if (copy == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	memcpy(copy, en, sizeof(*copy));
	map = mmap(en, en->shared.window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (map == MAP_FAILED) { /* the window is unmapped now: make it private again */
		map = mmap(en, copy->shared.window, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		memcpy(en, copy, sizeof(*copy));
		free(copy);
		return et_err(e, ET_KERNEL, "memory shared with the kernel cannot be mapped");
	}
	memcpy(en, copy, sizeof(*copy));
	free(copy);
	en->shared.on = true;
	en->shared.size = en->shared.window;
	en->shared.used = align_up(sizeof(*en), 4096);
	return 0;
}

uint64_t en_share_size(const struct en *en)
{
	uint64_t size = LATE_LEAST;

	while (size < LATE_MOST && size < en->shared.used + en->shared.used / 16 + LATE_LEAST)
		size *= 2;
	return size;
}

int en_share_late(struct en *en, int fd, uint64_t offset, uint64_t size, struct et_error *e)
{
	const int both = PROT_READ | PROT_WRITE;
	uint64_t used = en->shared.used;
	struct en *copy = mmap(NULL, size, both, MAP_SHARED, fd, (off_t)offset);
	bool mapped;

	if (copy == MAP_FAILED)
		return et_err(e, ET_KERNEL, "memory shared with the kernel cannot be mapped: %m");
	memcpy(copy, en, used);
	mapped = mmap(en, size, both, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) != MAP_FAILED;
	if (!mapped) { /* the window is unmapped now: make it private again */
		mmap(en, LATE_MOST, both, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
		memcpy(en, copy, used);
	}
	munmap(copy, size);
	if (!mapped)
		return et_err(e, ET_KERNEL, "memory shared with the kernel cannot be mapped");
	mprotect((char *)en + size, LATE_MOST - size, PROT_NONE);
	en->shared.late = false;
	en->shared.size = size;
	return 0;
}

/* User space faults missing pages in; the kernel's programs cannot. */
int en_populate(void *at, size_t size)
{
	uintptr_t from = (uintptr_t)at & ~4095ULL;

	if (size == 0)
		return 0;
	return madvise(
		(void *)from, align_up((uintptr_t)at + size, 4096) - from, MADV_POPULATE_WRITE);
}

/* Allocate from the window; the first `kernel` bytes are populated, for the kernel to write to. */
static void *arena_alloc(struct en *en, size_t size, size_t kernel)
{
	char *at = (char *)en + en->shared.used;

	size = align_up(size, LINE);
	if (size > en->shared.size - en->shared.used)
		return NULL;
	if (!en->shared.late && en_populate(at, kernel) < 0)
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
	return arena_alloc(en, size, size);
}

/*
 * Cache colouring: the offset of an engine's private memory in its first page. All engines have the
 * same layout. If each started at a page boundary, their hot lines would be in the same cache sets,
 * and more than eight engines that fire at one event would evict each other's.
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
		return arena_alloc(en, size, kernel);
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
