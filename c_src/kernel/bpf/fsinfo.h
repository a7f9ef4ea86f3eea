/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the provider fsinfo (kernel/events/fsinfo.c has the tables): system calls that have
 * succeeded, and close() as it begins, while the file is still there. Part of entries.c.
 */

enum { FLAG_CREATE = 0100, FLAG_REMOVEDIR = 0x200 }; /* of open(2), of unlinkat(2) */

/* Arguments of a system call, counted from 1. */
static inline uint64_t fs_arg(const struct regs *r, uint32_t n)
{
	switch (n) {
	case 1: return r->di;
	case 2: return r->si;
	case 3: return r->dx;
	case 4: return r->r10;
	case 5: return r->r8;
	default: return 0;
	}
}

/* Which file: 0 where the number is none, as AT_FDCWD. */
static inline uint64_t fs_file(uint64_t fd)
{
	return (int32_t)fd < 0 ? 0 : task_file(bpf_get_current_task(), (uint32_t)fd);
}

static inline bool fs_find(
	struct k_fsop *op, const struct k_fs_call *c, const struct regs *r, uint64_t result)
{
	uint32_t file = c->file, dir = c->dir;
	char first = 0;

	op->file = file == 0 ? 0 : fs_file(file == K_FS_RESULT ? result : fs_arg(r, file));
	op->path = fs_arg(r, c->path);
	op->dir = dir == 0 ? 0 : fs_file(fs_arg(r, dir));
	if (op->path != 0)
		bpf_probe_read_user(&first, 1, (const void *)(uintptr_t)op->path);
	if (first == '\0') { /* an empty one is that of the directory itself: AT_EMPTY_PATH */
		op->path = 0;
		if (op->file == 0)
			op->file = op->dir;
	}
	return op->file != 0 || op->path != 0;
}

static inline void fire_fs(void *ctx, uint32_t event, const struct k_fsop *op, uint64_t bytes)
{
	struct fire *f = event < K_FS_EVENTS ? begin(&k_root, k_root.fs[event]) : NULL;
	struct k_fsop *to;

	if (f == NULL)
		return;
	to = (struct k_fsop *)(void *)f->thread->k.text[0];
	to->file = op->file;
	to->path = op->path;
	to->dir = op->dir;
	f->thread->k.file = op->file != 0 ? op->file : op->dir;
	f->arg[0] = (uint64_t)(uintptr_t)to;
	f->arg[1] = bytes;
	stacks(ctx, f);
	run(f);
}

uint64_t k_fs_exit(uint64_t *ctx)
{
	uint64_t result = ctx[1], flags;
	struct k_fs_call c;
	struct k_fsop op;
	struct regs regs;
	uint32_t event;

	if (result > -4096ULL ||
		bpf_probe_read_kernel(&regs, sizeof(regs), (void *)(ctx[0] + REGS_OFF)) != 0 ||
		regs.orig_ax >= K_SYSCALLS)
		return 0;
	c = k_root.fs_call[regs.orig_ax];
	event = c.event - 1u;
	if (c.event == 0 || event == K_FS_CLOSE || !fs_find(&op, &c, &regs, result))
		return 0;
	if (regs.orig_ax == k_root.nr_unlinkat && (regs.dx & FLAG_REMOVEDIR))
		event = K_FS_RMDIR;
	flags = c.flags == K_FS_ALWAYS ? FLAG_CREATE : fs_arg(&regs, c.flags);
	if (c.flags != 0 && (flags & FLAG_CREATE))
		fire_fs(ctx, K_FS_CREATE, &op, 0);
	fire_fs(ctx, event, &op,
		event == K_FS_READ || event == K_FS_WRITE || event == K_FS_READDIR ? result : 0);
	return 0;
}

uint64_t k_fs_enter(uint64_t *ctx)
{
	uint64_t nr = ctx[1];
	struct k_fs_call c;
	struct k_fsop op;
	struct regs regs;

	if (nr >= K_SYSCALLS)
		return 0;
	c = k_root.fs_call[nr];
	if (c.event != K_FS_CLOSE + 1 ||
		bpf_probe_read_kernel(&regs, sizeof(regs), (void *)(ctx[0] + REGS_OFF)) != 0)
		return 0;
	if (fs_find(&op, &c, &regs, 0))
		fire_fs(ctx, K_FS_CLOSE, &op, 0);
	return 0;
}
