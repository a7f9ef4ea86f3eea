/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the probe path differs when it is built for BPF: it has 512 bytes of stack in all, and a
 * verifier that follows every counter.
 */
#ifndef EN_IN_KERNEL_H
#define EN_IN_KERNEL_H

/* BIG_LOCAL: a big local variable of the probe path, which BPF has in the slot. */
#ifdef __bpf__
#define IN_KERNEL 1
#define INLINE_HERE __attribute__((__noinline__)) /* so that the verifier looks at it once */
#define BIG_LOCAL(type, name, f) type *name = (type *)(void *)(f)->thread->k.big
#define ZERO(en) (*(volatile int *)&(en)->zero) /* of a counter that it is not to follow */
#else
#define IN_KERNEL 0
#define INLINE_HERE inline
#define BIG_LOCAL(type, name, f) type name##_local, *name = &name##_local
#define ZERO(en) 0
#endif
#define BIG_LOCAL_SIZE 1024

#endif
