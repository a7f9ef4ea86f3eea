/* SPDX-License-Identifier: Apache-2.0 */
/* BPF helpers of the kernel, and what the files of the kernel's half share. */
#ifndef K_BPF_H
#define K_BPF_H

#include "engine/slot.h"
#include "kernel/root.h"

#define HELPER(number, type, name, ...) static type (*const name)(__VA_ARGS__) = (void *)number;
#include "bpf/link/helpers.def"

/* Where programs begin: kernel/entries.def. */
struct user_regs;
#define ENTRY(name, type, attach, context, ...) uint64_t k_##name(context *ctx);
#include "kernel/entries.def"

/* Not memory, but constants that the linker puts in (kernel/link_input.c). */
extern struct k_root k_root;	/* its address in the arena */
/*
 * Of a program that is one probe's alone (kernel/program.h): the probe; the words of its context
 * that it reads, a bit for each, as a number.
 */
extern struct en_probe k_probe;
extern char k_words[];
/* Memory that is not in the arena, for the kernel's functions to write to. */
extern char k_buf[];

/* Where loops begin whose rounds the verifier is not to follow one by one. */
static inline uint64_t unknown_zero(void)
{
	return *(volatile uint64_t *)&k_root.zero;
}

/*
 * Process and thread, as bpf_get_current_pid_tgid() has them, by the numbers that the command's own
 * name space has for them: those of a container. 0: they are not in it.
 */
static inline uint64_t k_current_ids(void)
{
	struct {
		uint32_t tid, pid;
	} ids = {0, 0};

	if (k_root.pid_ns == 0)
		return bpf_get_current_pid_tgid();
	bpf_get_ns_current_pid_tgid(k_root.pid_dev, k_root.pid_ns, &ids, sizeof(ids));
	return (uint64_t)ids.pid << 32 | ids.tid;
}

uint64_t k_touch(uint64_t addr, uint64_t n);			     /* memory.c */
uint64_t k_tag(void);						     /* builtin_vars.c */
uint64_t k_stack_var(struct en_thread *t, uint64_t bi);		     /* frames.c */
uint64_t k_tracing_frames(struct en_thread *t, uint64_t n);	     /* frames.c */
uint64_t k_frames_above(struct en_thread *t, uint64_t n, uint64_t func); /* frames.c */
enum { K_UNWIND_BY_TABLE = 1 }; /* or not at all: a table is to know the first frame */
uint64_t k_unwind(struct en_thread *t, uint64_t n, uint64_t how); /* walk.c */

/*
 * The buffer of a slot: K_BUF bytes; behind it K_STACKS, the kernel's stack and the user's. The
 * mask is loaded here and now: in loops the verifier may not know what was loaded before (loop.c).
 */
static inline char *k_buffer(const struct en_thread *t)
{
	uint64_t mask;

	__asm__ volatile("%0 = k_buf_mask ll" : "=r"(mask));
	return k_buf + (t->k.number & mask) * K_SLOT_BUF;
}

#endif
