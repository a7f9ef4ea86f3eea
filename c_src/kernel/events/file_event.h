/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's half hands to clauses at probes of fsinfo: the same structure is in
 * d/lib/fsinfo.d. And which system calls they are made of. fsinfo.c, bpf/fsinfo.h
 */
#ifndef K_FILE_EVENT_H
#define K_FILE_EVENT_H

#include <stdint.h>

struct k_fsop {
	uint64_t file; /* struct file; 0: only the name is known */
	uint64_t path; /* in the memory of the process; 0: that of the open file */
	uint64_t dir;  /* struct file that a path which does not begin with / is relative to; 0: cwd */
};

enum k_fs_event {
	K_FS_OPEN, K_FS_CREATE, K_FS_CLOSE, K_FS_READ, K_FS_WRITE, K_FS_IOCTL, K_FS_SEEK, K_FS_FSYNC,
	K_FS_READDIR, K_FS_GETATTR, K_FS_SETATTR, K_FS_SPACE, K_FS_MAP, K_FS_ACCESS, K_FS_READLINK,
	K_FS_MKDIR, K_FS_RMDIR, K_FS_REMOVE, K_FS_RENAME, K_FS_LINK, K_FS_SYMLINK,
	K_FS_EVENTS
};

/* A system call: which of its arguments are what, counted from 1; 0: none. */
struct k_fs_call {
	uint8_t event; /* plus 1; 0: none */
	uint8_t file, dir, path;
	uint8_t flags; /* those of open(2) */
};
enum { K_FS_RESULT = 7, K_FS_ALWAYS = 8 }; /* file: what it returns. flags: it always creates */

#endif
