/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider fsinfo: what programs do with files, by the system calls that do it, so that it is the
 * same on every kernel. bpf/fsinfo.h makes the events; d/lib/fsinfo.d translates their arguments.
 */
#include <string.h>

#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "event_rows.h"
#include "fs_calls.h"
#include "kernel/kernel.h"
#include "kernel/syscall.h"
#include "kernel/tracepoint.h"

static const char *const args[] = {"fsop_t *", "int"};
static const char *const xargs[] = {"fileinfo_t *", "int"};

#define ROW(name) {"fsinfo", name, ENTRY_fs_exit, 2, args, xargs}
static const struct k_event_row rows[K_FS_EVENTS] = {
	[K_FS_OPEN] = ROW("open"),
	[K_FS_CREATE] = ROW("create"),
	[K_FS_CLOSE] = {"fsinfo", "close", ENTRY_fs_enter, 2, args, xargs},
	[K_FS_READ] = ROW("read"),
	[K_FS_WRITE] = ROW("write"),
	[K_FS_IOCTL] = ROW("ioctl"),
	[K_FS_SEEK] = ROW("seek"),
	[K_FS_FSYNC] = ROW("fsync"),
	[K_FS_READDIR] = ROW("readdir"),
	[K_FS_GETATTR] = ROW("getattr"),
	[K_FS_SETATTR] = ROW("setattr"),
	[K_FS_SPACE] = ROW("space"),
	[K_FS_MAP] = ROW("map"),
	[K_FS_ACCESS] = ROW("access"),
	[K_FS_READLINK] = ROW("readlink"),
	[K_FS_MKDIR] = ROW("mkdir"),
	[K_FS_RMDIR] = ROW("rmdir"),
	[K_FS_REMOVE] = ROW("remove"),
	[K_FS_RENAME] = ROW("rename"),
	[K_FS_LINK] = ROW("link"),
	[K_FS_SYMLINK] = ROW("symlink"),
};

/* By name: file, directory and path, as struct k_fs_call has them. */
#define FD(name, event) {name, {K_FS_##event + 1, .file = 1}}
#define PATH(name, event) {name, {K_FS_##event + 1, .path = 1}}
#define AT(name, event) {name, {K_FS_##event + 1, .dir = 1, .path = 2}}
static const struct {
	const char *name;
	struct k_fs_call call;
} calls[] = {
	{"open", {K_FS_OPEN + 1, .file = K_FS_RESULT, .flags = 2}},
	{"openat", {K_FS_OPEN + 1, .file = K_FS_RESULT, .flags = 3}},
	{"openat2", {K_FS_OPEN + 1, .file = K_FS_RESULT}},
	{"creat", {K_FS_OPEN + 1, .file = K_FS_RESULT, .flags = K_FS_ALWAYS}},
	PATH("mknod", CREATE), AT("mknodat", CREATE),
	FD("close", CLOSE),
	FD("read", READ), FD("pread64", READ), FD("readv", READ), FD("preadv", READ),
	FD("preadv2", READ),
	FD("write", WRITE), FD("pwrite64", WRITE), FD("writev", WRITE), FD("pwritev", WRITE),
	FD("pwritev2", WRITE),
	FD("ioctl", IOCTL), FD("lseek", SEEK), FD("fsync", FSYNC), FD("fdatasync", FSYNC),
	FD("getdents", READDIR), FD("getdents64", READDIR),
	FD("fstat", GETATTR), PATH("stat", GETATTR), PATH("lstat", GETATTR),
	AT("newfstatat", GETATTR), AT("statx", GETATTR),
	FD("fchmod", SETATTR), PATH("chmod", SETATTR), AT("fchmodat", SETATTR),
	FD("fchown", SETATTR), PATH("chown", SETATTR), PATH("lchown", SETATTR),
	AT("fchownat", SETATTR), PATH("utime", SETATTR), PATH("utimes", SETATTR),
	AT("futimesat", SETATTR), AT("utimensat", SETATTR),
	FD("ftruncate", SPACE), PATH("truncate", SPACE), FD("fallocate", SPACE),
	{"mmap", {K_FS_MAP + 1, .file = 5}},
	PATH("access", ACCESS), AT("faccessat", ACCESS), AT("faccessat2", ACCESS),
	PATH("readlink", READLINK), AT("readlinkat", READLINK),
	PATH("mkdir", MKDIR), AT("mkdirat", MKDIR), PATH("rmdir", RMDIR),
	PATH("unlink", REMOVE), AT("unlinkat", REMOVE), /* or RMDIR, by its flags */
	PATH("rename", RENAME), AT("renameat", RENAME), AT("renameat2", RENAME),
	PATH("link", LINK), AT("linkat", LINK),
	{"symlink", {K_FS_SYMLINK + 1, .path = 2}},
	{"symlinkat", {K_FS_SYMLINK + 1, .dir = 2, .path = 3}},
};

extern const struct provider fsinfo_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	return k_events_init(en, &fsinfo_provider, rows, K_FS_EVENTS, data, e);
}

void k_fs_calls(struct k_root *r)
{
	int nr;

	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if ((nr = k_syscall_number(calls[i].name)) >= 0)
			r->fs_call[nr] = calls[i].call;
	r->nr_unlinkat = (uint32_t)k_syscall_number("unlinkat");
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	if (k_prepare(en, e) < 0 ||
		k_events_enable(en, data, p, rows, en->kernel->root->fs, e) < 0)
		return -1;
	en->kernel->wants_tasks = true; /* and their files */
	k_fs_calls(en->kernel->root);
	return 0;
}

/* What DTrace has on other systems, and no system call of Linux is. */
static const char *why_none(const struct d_pdesc *d)
{
	if (strcmp(d->prov, "fsinfo") != 0 || d->name == NULL || strcmp(d->name, "lookup") != 0)
		return NULL;
	return "fsinfo is made of system calls here, and none of them looks up a name alone: "
	       "fsinfo:::open, getattr and access have the paths that programs ask for";
}

const struct provider fsinfo_provider = {
	.name = "fsinfo",
	.of_kernel = true,
	.confinable = true,
	.init = init,
	.why_none = why_none,
	.enable = enable,
	.ready = k_tracepoints_load,
	.start = k_tracepoints_attach,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
