/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs when the probe path is built for BPF: it has 512 bytes of stack in all, and the
 * verifier tracks the value of every loop counter.
 */
#ifndef EN_IN_KERNEL_H
#define EN_IN_KERNEL_H

/* BIG_LOCAL: a big local variable of the probe path; for BPF it is in the slot. */
#ifdef __bpf__
#define IN_KERNEL 1
#define INLINE_HERE __attribute__((__noinline__)) /* verified once, not at each call */
#define INLINE_ALWAYS inline
#define BIG_LOCAL(type, name, f) type *name = (type *)(void *)(f)->thread->k.big
#define ZERO(en) (*(volatile int *)&(en)->zero) /* the verifier does not know it */
#else
#define IN_KERNEL 0
#define INLINE_HERE inline
#define INLINE_ALWAYS inline __attribute__((always_inline))
#define BIG_LOCAL(type, name, f) type name##_local, *name = &name##_local
#define ZERO(en) 0
#endif
#define BIG_LOCAL_SIZE 1024

#endif
