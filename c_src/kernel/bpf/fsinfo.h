/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the provider fsinfo (kernel/events/fsinfo.c has the tables): system calls that have
 * succeeded, and close() as it begins, while the file is still there. Part of entries.c.
 */
#include "fs_ops.h"

static inline void fire_fs(
	void *ctx, uint64_t event, uint64_t regs, uint64_t result, uint64_t bytes)
{
	struct fire *f = event < K_FS_EVENTS ? begin(&k_root, k_root.fs[event]) : NULL;

	if (f == NULL)
		return;
	k_put_fsop(f->thread, regs, result);
	f->arg[0] = (uint64_t)(uintptr_t)f->thread->k.text[0];
	f->arg[1] = bytes;
	stacks(ctx, f);
	run(f);
}

static inline bool has_bytes(uint32_t event)
{
	return event == K_FS_READ || event == K_FS_WRITE || event == K_FS_READDIR;
}

uint64_t k_fs_exit(uint64_t *ctx)
{
	uint64_t event = CTX(1) > -4096ULL ? 0 : k_fs_event(CTX(0), CTX(1));
	uint32_t which = (uint32_t)event - 1;

	if (event == 0 || which == K_FS_CLOSE)
		return 0;
	if (event & K_FS_CREATES)
		fire_fs(ctx, K_FS_CREATE, CTX(0), CTX(1), 0);
	fire_fs(ctx, which, CTX(0), CTX(1), has_bytes(which) ? CTX(1) : 0);
	return 0;
}

uint64_t k_fs_enter(uint64_t *ctx)
{
	uint64_t nr = CTX(1);

	if (nr < K_SYSCALLS && k_root.fs_call[nr].event == K_FS_CLOSE + 1 &&
		k_fs_event(CTX(0), 0) != 0)
		fire_fs(ctx, K_FS_CLOSE, CTX(0), 0, 0);
	return 0;
}
