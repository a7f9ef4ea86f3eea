/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the providers sysinfo and vminfo (kernel/events/sysinfo.c has the table): where the
 * kernel counts something. Part of entries.c.
 */

enum { CLONE_IS_VFORK = 0x4000, CLONE_IS_THREAD = 0x10000 }; /* flags of clone(2) */
enum { FAULT_PRESENT = 1, FAULT_WRITE = 2 };		     /* of x86's page faults */

static inline void count_event(void *ctx, unsigned which, uint64_t by)
{
	struct fire *f = begin(&k_root, k_root.counter[which]);

	if (f == NULL)
		return;
	f->arg[0] = by;
	f->arg[1] = 0;
	f->arg[2] = bpf_get_smp_processor_id();
	stacks(ctx, f);
	run(f);
}

/* What a system call makes: a thread is none of both. */
static inline void count_fork(void *ctx, uint64_t nr, uint64_t from)
{
	uint64_t flags = nr == NR_VFORK ? CLONE_IS_VFORK : 0;

	if (nr == NR_CLONE)
		flags = from;
	if (nr == NR_CLONE3)
		bpf_probe_read_user(&flags, sizeof(flags), (const void *)(uintptr_t)from);
	if (flags & CLONE_IS_THREAD)
		return;
	count_event(ctx, flags & CLONE_IS_VFORK ? K_SYS_SYSVFORK : K_SYS_SYSFORK, 1);
}

uint64_t k_count_enter(uint64_t *ctx)
{
	uint64_t nr = ctx[1], from = 0, at = ctx[0] + REGS_OFF + offsetof(struct regs, di);
	uint32_t event;

	if (nr >= K_SYSCALLS)
		return 0;
	count_event(ctx, K_SYS_SYSCALL, 1);
	event = k_root.fs_call[nr].event;
	if (event == K_FS_READ + 1)
		count_event(ctx, K_SYS_SYSREAD, 1);
	else if (event == K_FS_WRITE + 1)
		count_event(ctx, K_SYS_SYSWRITE, 1);
	else if (nr == NR_EXECVE || nr == NR_EXECVEAT)
		count_event(ctx, K_SYS_SYSEXEC, 1);
	else if (nr == NR_CLONE || nr == NR_FORK || nr == NR_VFORK || nr == NR_CLONE3) {
		bpf_probe_read_kernel(&from, sizeof(from), (const void *)(uintptr_t)at);
		count_fork(ctx, nr, from);
	}
	return 0;
}

uint64_t k_count_exit(uint64_t *ctx)
{
	uint64_t nr = 0, result = ctx[1], at = ctx[0] + REGS_OFF + offsetof(struct regs, orig_ax);
	uint32_t event;

	if (result > -4096ULL ||
		bpf_probe_read_kernel(&nr, sizeof(nr), (const void *)(uintptr_t)at) != 0 ||
		nr >= K_SYSCALLS)
		return 0;
	event = k_root.fs_call[nr].event;
	if (event == K_FS_READ + 1)
		count_event(ctx, K_SYS_READCH, result);
	else if (event == K_FS_WRITE + 1)
		count_event(ctx, K_SYS_WRITECH, result);
	return 0;
}

/*
 * sched_switch: preempted, previous, next, state of the previous one; 0: it could go on. Each CPU
 * has an idle thread: number 0.
 */
uint64_t k_count_switch(uint64_t *ctx)
{
	uint64_t preempted = CTX(0) & 1, prev = CTX(1), next = CTX(2), waits = (uint32_t)CTX(3);

	count_event(ctx, K_SYS_PSWITCH, 1);
	if ((preempted || !waits) && task_u32(prev, k_root.off.pid) != 0)
		count_event(ctx, K_SYS_INV_SWTCH, 1);
	if (task_u32(next, k_root.off.pid) == 0)
		count_event(ctx, K_SYS_IDLETHREAD, 1);
	return 0;
}

/* task_newtask: a thread, flags of clone(2). */
uint64_t k_count_thread(uint64_t *ctx)
{
	uint64_t flags = CTX(1);

	if (flags & CLONE_IS_THREAD)
		count_event(ctx, K_SYS_NTHREADS, 1);
	return 0;
}

/* ipi_send_cpu, ipi_send_cpumask */
uint64_t k_count_xcall(uint64_t *ctx)
{
	count_event(ctx, K_SYS_XCALLS, 1);
	return 0;
}

/* page_fault_user: address, registers, what kind. */
uint64_t k_count_fault(uint64_t *ctx)
{
	uint64_t code = CTX(2);

	if (!(code & FAULT_PRESENT))
		count_event(ctx, K_VM_AS_FAULT, 1);
	else if (code & FAULT_WRITE)
		count_event(ctx, K_VM_COW_FAULT, 1);
	else
		count_event(ctx, K_VM_PROT_FAULT, 1);
	return 0;
}

uint64_t k_count_kfault(uint64_t *ctx)
{
	count_event(ctx, K_VM_KERNEL_ASFLT, 1);
	return 0;
}

/* block_bio_queue: pages that come from a disk, or go there. */
uint64_t k_count_bio(uint64_t *ctx)
{
	uint64_t bio = CTX(0), flags = task_u32(bio, k_root.bio_off.flags);
	uint64_t pages = (task_u32(bio, k_root.bio_off.bytes) + 4095ULL) >> 12;
	uint32_t op = flags & REQ_OP;

	if (pages == 0 || (op != REQ_READ && op != REQ_WRITE))
		return 0;
	count_event(ctx, op == REQ_READ ? K_VM_PGIN : K_VM_PGOUT, 1);
	count_event(ctx, op == REQ_READ ? K_VM_PGPGIN : K_VM_PGPGOUT, pages);
	if (flags & k_root.bio_off.swap)
		count_event(ctx, op == REQ_READ ? K_VM_ANONPGIN : K_VM_ANONPGOUT, pages);
	else
		count_event(ctx, op == REQ_READ ? K_VM_FSPGIN : K_VM_FSPGOUT, pages);
	return 0;
}

/* mm_vmscan_lru_isolate: of its words the fourth is how many pages were looked at. */
uint64_t k_count_scan(uint64_t *ctx)
{
	uint64_t pages = CTX(3);

	if (pages != 0)
		count_event(ctx, K_VM_SCAN, pages);
	return 0;
}

/* mm_vmscan_lru_shrink_inactive: node, pages looked at, freed, ..., priority, are they of files? */
uint64_t k_count_free(uint64_t *ctx)
{
	uint64_t pages = CTX(2), of_files = CTX(5) & 1;

	if (pages == 0)
		return 0;
	count_event(ctx, K_VM_DFREE, pages);
	count_event(ctx, of_files ? K_VM_FSFREE : K_VM_ANONFREE, pages);
	return 0;
}
