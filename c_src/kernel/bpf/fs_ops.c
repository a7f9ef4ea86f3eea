/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What system calls do with files, for the entries of fsinfo (fsinfo.h; probe path): which event
 * one is, and what clauses are told. It is found twice, which is cheaper than stack that the
 * clauses need.
 */
#include "fs_ops.h"

#include "engine/fire.h"
#include "engine/slot.h"
#include "kernel_regs.h"
#include "task.h"

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

/* Which of its arguments, or its result, is the file's number. */
static inline uint64_t fs_number(const struct k_fs_call *c, const struct regs *r, uint64_t result)
{
	return c->file == K_FS_RESULT ? result : fs_arg(r, c->file);
}

/* false: it is not about a file. */
static inline bool fs_find(
	struct k_fsop *op, const struct k_fs_call *c, const struct regs *r, uint64_t result)
{
	uint32_t dir = c->dir;
	char first = 0;

	op->file = c->file == 0 ? 0 : fs_file(fs_number(c, r, result));
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

static inline bool fs_call(struct regs *r, struct k_fs_call *c, uint64_t regs)
{
	if (bpf_probe_read_kernel(r, sizeof(*r), (const void *)(uintptr_t)(regs + REGS_OFF)) != 0 ||
		r->orig_ax >= K_SYSCALLS)
		return false;
	*c = k_root.fs_call[r->orig_ax];
	return c->event != 0;
}

uint64_t k_fs_event(uint64_t regs, uint64_t result)
{
	struct k_fs_call c;
	struct k_fsop op;
	struct regs r;
	uint64_t event, flags;

	if (!fs_call(&r, &c, regs) || !fs_find(&op, &c, &r, result))
		return 0;
	event = c.event;
	if (r.orig_ax == k_root.nr_unlinkat && (r.dx & FLAG_REMOVEDIR))
		event = K_FS_RMDIR + 1;
	flags = c.flags == K_FS_ALWAYS ? FLAG_CREATE : fs_arg(&r, c.flags);
	return event | (c.flags != 0 && (flags & FLAG_CREATE) ? K_FS_CREATES : 0);
}

uint64_t k_put_fsop(struct en_thread *t, uint64_t regs, uint64_t result)
{
	struct k_fsop *to = (struct k_fsop *)(void *)t->k.text[0], op;
	struct k_fs_call c;
	struct regs r;

	if (!fs_call(&r, &c, regs))
		return 0;
	fs_find(&op, &c, &r, result);
	to->file = op.file;
	to->path = op.path;
	to->dir = op.dir;
	t->k.file = op.file != 0 ? op.file : op.dir;
	t->k.file_task = bpf_get_current_task();
	t->k.file_n = (uint32_t)(op.file != 0 && c.file != 0 ? fs_number(&c, &r, result)
							     : fs_arg(&r, c.dir));
	return 0;
}
