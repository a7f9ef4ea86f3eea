/* SPDX-License-Identifier: Apache-2.0 */
/* The system call bpf(2): bpf_call.c. */
#ifndef K_BPF_CALL_H
#define K_BPF_CALL_H

#include "error.h"

union bpf_attr;
int k_bpf(int cmd, union bpf_attr *attr);
/*
 * A BPF token (Linux 6.9 and newer) permits what the user's capabilities do not: root of a user
 * namespace has one if a bpffs there has been delegated by root of the machine. It is shown from here
 * on, by all of this process; 0: none is.
 */
void k_use_token(int fd);
/* The error, by errno: what was refused, and why that may be. -1. */
int k_refused(struct et_error *e, const char *what);
/* The capabilities that are needed, as a message says it: where, and that they are not there. */
const char *k_privileges(void);

#endif
