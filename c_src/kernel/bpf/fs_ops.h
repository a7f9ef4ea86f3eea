/* SPDX-License-Identifier: Apache-2.0 */
/* What system calls do with files, for clauses at probes of fsinfo: fs_ops.c. */
#ifndef K_FS_OPS_H
#define K_FS_OPS_H

#include <stdint.h>

struct en_thread;

#define K_FS_CREATES (1ULL << 32)
/* regs: of the system call. Its event plus one, and whether it creates a file; 0: none. */
uint64_t k_fs_event(uint64_t regs, uint64_t result);
uint64_t k_put_fsop(struct en_thread *t, uint64_t regs, uint64_t result);

#endif
