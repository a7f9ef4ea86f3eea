/* SPDX-License-Identifier: Apache-2.0 */
/* BPF helpers of the kernel, and what the files of the kernel's half share. */
#ifndef K_BPF_H
#define K_BPF_H

#include "engine/slot.h"
#include "kernel/root.h"

/* The kernel's functions by their numbers in linux/bpf.h. */
static uint64_t (*const bpf_ktime_get_ns)(void) = (void *)5;
static uint32_t (*const bpf_get_prandom_u32)(void) = (void *)7;
static uint32_t (*const bpf_get_smp_processor_id)(void) = (void *)8;
static uint64_t (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static uint64_t (*const bpf_get_current_uid_gid)(void) = (void *)15;
static long (*const bpf_get_current_comm)(void *buf, uint32_t size) = (void *)16;
static uint64_t (*const bpf_get_current_task)(void) = (void *)35;
static long (*const bpf_probe_write_user)(void *to, const void *from, uint32_t size) = (void *)36;
static long (*const bpf_get_stack)(void *ctx, void *buf, uint32_t size, uint64_t flags) = (void *)67;
static long (*const bpf_send_signal)(uint32_t sig) = (void *)109;
static long (*const bpf_probe_read_user)(void *dst, uint32_t size, const void *from) = (void *)112;
static long (*const bpf_probe_read_kernel)(void *dst, uint32_t size, const void *from) = (void *)113;
static long (*const bpf_probe_read_user_str)(void *dst, uint32_t size, const void *from) = (void *)114;
static long (*const bpf_probe_read_kernel_str)(void *dst, uint32_t size, const void *from) = (void *)115;
static long (*const bpf_get_ns_current_pid_tgid)(uint64_t dev, uint64_t ino, void *ids, uint32_t size) =
	(void *)120;
static long (*const bpf_copy_from_user)(void *dst, uint32_t size, const void *from) = (void *)148;
static void *(*const bpf_get_current_task_btf)(void) = (void *)158;
static uint64_t (*const bpf_get_func_ip)(void *ctx) = (void *)173;
static uint64_t (*const bpf_get_attach_cookie)(void *ctx) = (void *)174;
static uint64_t (*const bpf_task_pt_regs)(void *task) = (void *)175;

/* Where programs begin: kernel/entries.def. */
struct user_regs;
#define ENTRY(name, type, attach, context, ...) uint64_t k_##name(context *ctx);
#include "kernel/entries.def"

/* Not memory, but constants that the linker puts in (kernel/link_input.c). */
extern struct k_root k_root;	/* its address in the arena */
extern char k_buf_mask[];	/* buffers there are, less one */
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

/* The buffer of a slot: K_BUF bytes; behind it K_STACKS, the kernel's stack and the user's. */
static inline char *k_buffer(const struct en_thread *t)
{
	return k_buf + (t->k.number & (uint64_t)k_buf_mask) * K_SLOT_BUF;
}

#endif
