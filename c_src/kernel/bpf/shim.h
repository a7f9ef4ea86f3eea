/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine's sources need to compile for BPF; included before everything else. All memory
 * but the stack is the arena, pointers are as user space has them, and the linker turns each
 * access into one of the arena. Other CPUs see the loads and stores of one CPU in order (x86), so
 * plain ones suffice for all but read-modify-writes.
 */
#ifndef K_SHIM_H
#define K_SHIM_H

#include <stddef.h>
#include <stdint.h>

/* ---- atomics -------------------------------------------------------------------------- */

#define __CLANG_STDATOMIC_H /* clang's own header, not for us */
#define _Atomic(T) __typeof__(T)
enum { memory_order_relaxed, memory_order_acquire, memory_order_release, memory_order_seq_cst };
#define K_VOLATILE(p) ((volatile __typeof__(*(p)) *)(p))
#define atomic_load_explicit(p, o)	(*K_VOLATILE(p))
#define atomic_store_explicit(p, v, o)	((void)(*K_VOLATILE(p) = (v)))
#define atomic_load(p)			(*K_VOLATILE(p))

/* Narrower than 32 bits: by the word around it, until nobody else has changed that meanwhile. */
#define K_IS_NARROW(p) (sizeof(*(p)) < 4)
#define K_NARROW(now, to_be)                                                                       \
	uint32_t *word = (uint32_t *)((uintptr_t)p & ~3ULL), shift = 8 * ((uintptr_t)p & 3);       \
	uint32_t mask = (uint32_t)((1ULL << 8 * size) - 1) << shift, now, to_be
#define K_SWAP(now, to_be) (__sync_val_compare_and_swap(word, now, to_be) == now)
static inline uint32_t k_cas_narrow(void *p, unsigned size, uint32_t old, uint32_t v)
{
	K_NARROW(now, to_be);

	do {
		now = *(volatile uint32_t *)word;
		if ((now & mask) >> shift != old)
			break;
		to_be = (now & ~mask) | v << shift;
	} while (!K_SWAP(now, to_be));
	return (now & mask) >> shift;
}
static inline uint32_t k_put_narrow(void *p, unsigned size, uint32_t v, int add)
{
	K_NARROW(now, to_be);

	do {
		now = *(volatile uint32_t *)word;
		to_be = (now & ~mask) | ((((add ? now >> shift : 0) + v) << shift) & mask);
	} while (!K_SWAP(now, to_be));
	return (now & mask) >> shift;
}
#define K_WIDE(p) ((__typeof__(__builtin_choose_expr(K_IS_NARROW(p), (uint64_t *)0, p)))(void *)(p))
#define K_PUT(p, v, add, wide)                                                                     \
	((__typeof__(*(p)))(__builtin_choose_expr(K_IS_NARROW(p),                                  \
		k_put_narrow((void *)(p), sizeof(*(p)), (uint32_t)(uintptr_t)(v), add), wide)))
#define atomic_exchange(p, v)		   K_PUT(p, v, 0, __sync_lock_test_and_set(K_WIDE(p), v))
#define atomic_fetch_add(p, v)		   K_PUT(p, v, 1, __sync_fetch_and_add(K_WIDE(p), v))
#define atomic_store(p, v)		   ((void)atomic_exchange(p, v))
#define atomic_exchange_explicit(p, v, o)  atomic_exchange(p, v)
#define atomic_fetch_add_explicit(p, v, o) atomic_fetch_add(p, v)
#define K_CAS(p, old, v)                                                                           \
	({                                                                                         \
		__typeof__(*(old)) was_ = *(old), is_;                                             \
		is_ = (__typeof__(*(old)))__builtin_choose_expr(K_IS_NARROW(p),                    \
			k_cas_narrow((void *)(p), sizeof(*(p)), (uint32_t)(uintptr_t)was_,         \
				(uint32_t)(uintptr_t)(v)),                                         \
			__sync_val_compare_and_swap(K_WIDE(p), was_, v));                          \
		*(old) = is_;                                                                      \
		is_ == was_;                                                                       \
	})
#define atomic_compare_exchange_strong(p, old, v)		    K_CAS(p, old, v)
#define atomic_compare_exchange_weak(p, old, v)			    K_CAS(p, old, v)
#define atomic_compare_exchange_strong_explicit(p, old, v, s, f)    K_CAS(p, old, v)
#define atomic_compare_exchange_weak_explicit(p, old, v, s, f)	    K_CAS(p, old, v)
#define atomic_thread_fence(o)                                                                     \
	({                                                                                         \
		uint64_t any_ = 0;                                                                 \
		__sync_fetch_and_add(&any_, 1);                                                    \
	})
#define atomic_signal_fence(o) __asm__ volatile("" ::: "memory")

/* ---- strings and memory --------------------------------------------------------------- */

#include <string.h>
void *k_memcpy(void *to, const void *from, size_t n);
void *k_memmove(void *to, const void *from, size_t n);
void *k_memset(void *to, int c, size_t n);
size_t k_strnlen(const char *s, size_t most);
void *k_memchr(const void *s, int c, size_t n);
void *k_memmem(const void *in, size_t n, const void *what, size_t len);

/* Of a constant size: what the compiler makes of it, with words where it would take bytes. */
static inline __attribute__((always_inline)) void *k_copy_const(
	void *to, const void *from, size_t n)
{
	uint64_t *d = to;
	const uint64_t *s = from;
	size_t i;

	for (i = 0; i + 8 <= n; i += 8)
		*d++ = *s++;
	if (n & 4)
		*(uint32_t *)(void *)((char *)to + i) =
			*(const uint32_t *)(const void *)((const char *)from + i),
						   i += 4;
	if (n & 2)
		*(uint16_t *)(void *)((char *)to + i) =
			*(const uint16_t *)(const void *)((const char *)from + i),
						   i += 2;
	if (n & 1)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

/* Inline: loops that compare are without calls then, which the linker makes most of (loop.c). */
static inline int k_memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n >= 8; n -= 8, x += 8, y += 8)
		if (*(const uint64_t *)(const void *)x != *(const uint64_t *)(const void *)y)
			break;
	for (; n > 0; n--, x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}
#define memcpy(d, s, n)                                                                            \
	(__builtin_constant_p(n) && (n) <= 64 ? k_copy_const(d, s, n) : k_memcpy(d, s, n))
#define memmove(d, s, n) k_memmove(d, s, n)
#define memset(d, c, n)                                                                            \
	(__builtin_constant_p(n) && (n) <= 64 ? __builtin_memset(d, c, n) : k_memset(d, c, n))
#define memcmp(a, b, n)	 k_memcmp(a, b, n)
#define strnlen(s, n)	 k_strnlen(s, n)
#define memchr(s, c, n)	 k_memchr(s, c, n)
#define memmem(a, n, b, m) k_memmem(a, n, b, m)

/* ---- what only user space does -------------------------------------------------------- */

#define noinline /* calls go eight deep at most */
#include "error.h"
#define et_err(...) (-1)

#endif
