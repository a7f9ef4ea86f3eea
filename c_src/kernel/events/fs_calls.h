/* SPDX-License-Identifier: Apache-2.0 */
/* Which system calls are about files, for who counts them: fsinfo.c. */
#ifndef K_FS_CALLS_H
#define K_FS_CALLS_H

struct k_root;

void k_fs_calls(struct k_root *r); /* fills in fs_call and nr_unlinkat */

#endif
