/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of a table that threads take and give back without locks (probe path). Those that were
 * given back are a stack, linked by a word in each; then come those that nobody has had yet. The
 * head has a tag that changes each time: one that has come back meanwhile is told from the one that
 * was read (ABA). After so many attempts against other threads, as one that gives back thousands,
 * one that nobody has had yet is taken, if there is any, or the entry is lost.
 *
 */
#ifndef BEAM_FREE_LIST_H
#define BEAM_FREE_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FREE_LIST_AGAIN 64

struct free_list {
	_Atomic uint64_t head; /* tag and index + 1 */
	_Atomic uint32_t used; /* entries handed out for the first time */
};

/* links: that of the first entry; they are so many bytes apart. */
static inline _Atomic uint32_t *free_list_link(void *links, size_t size, uint32_t index)
{
	return (_Atomic uint32_t *)(void *)((char *)links + index * size);
}

/* Index + 1; 0: there is none. */
static inline uint32_t free_list_get(struct free_list *l, void *links, size_t size, uint32_t most)
{
	uint64_t head = atomic_load_explicit(&l->head, memory_order_acquire);
	uint32_t i;

	for (int n = 0; (uint32_t)head != 0 && n <= FREE_LIST_AGAIN; n++) {
		_Atomic uint32_t *link = free_list_link(links, size, (uint32_t)head - 1);
		uint64_t to = atomic_load_explicit(link, memory_order_relaxed) |
			      ((head >> 32) + 1) << 32;

		if (atomic_compare_exchange_weak_explicit(
			    &l->head, &head, to, memory_order_acquire, memory_order_acquire))
			return (uint32_t)head;
	}
	if (atomic_load_explicit(&l->used, memory_order_relaxed) >= most)
		return 0;
	i = atomic_fetch_add_explicit(&l->used, 1, memory_order_relaxed);
	return i < most ? i + 1 : 0;
}

/* entry: index + 1. False: it is lost. */
static inline bool free_list_put(struct free_list *l, void *links, size_t size, uint32_t entry)
{
	uint64_t head = atomic_load_explicit(&l->head, memory_order_relaxed);

	for (int n = 0; n <= FREE_LIST_AGAIN; n++) {
		atomic_store_explicit(free_list_link(links, size, entry - 1), (uint32_t)head,
			memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(&l->head, &head,
			    entry | ((head >> 32) + 1) << 32, memory_order_release,
			    memory_order_relaxed))
			return true;
	}
	return false;
}

#endif
