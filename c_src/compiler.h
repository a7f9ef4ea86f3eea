/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes and hints for the C compiler. */
#ifndef COMPILER_H
#define COMPILER_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * Code that runs while a probe fires. It is in a section of its own, so that
 * test/tree/probe_path.sh can follow everything that is called from there. A static function that
 * is always inlined there needs no mark.
 */
#define PROBE_PATH  __attribute__((section(".text.probe")))
#define NO_GUARD    __attribute__((no_stack_protector)) /* no buffer to overrun */
#define HIDDEN	    __attribute__((visibility("hidden"))) /* accessed without the GOT */
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define LINE	    128 /* bytes: two cache lines, which are prefetched together */

#if defined(__x86_64__) && !defined(__bpf__)
#define cpu_relax() __builtin_ia32_pause()
#else
#define cpu_relax() atomic_signal_fence(memory_order_seq_cst)
#endif

/* ThreadSanitizer understands neither membarrier nor fences: use plain atomics. */
#if defined(__SANITIZE_THREAD__)
#define EN_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EN_TSAN 1
#endif
#endif

/* Stores before it are seen before those behind it; a BPF program runs on one processor. */
#if defined(__bpf__) || defined(EN_TSAN)
#define STORES_IN_ORDER() atomic_signal_fence(memory_order_seq_cst)
#else
#define STORES_IN_ORDER() atomic_thread_fence(memory_order_release)
#endif

static inline uint64_t align_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

#endif
