/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of system calls: syscall.c. */
#ifndef K_SYSCALL_H
#define K_SYSCALL_H

int k_syscall_number(const char *name); /* less than K_SYSCALLS; -1: this system has none */

#endif
