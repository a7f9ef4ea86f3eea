/* SPDX-License-Identifier: Apache-2.0 */
/* The system call bpf(2): bpf_call.c. */
#ifndef K_BPF_CALL_H
#define K_BPF_CALL_H

#include "error.h"

union bpf_attr;
int k_bpf(int cmd, union bpf_attr *attr);
/* The error, by errno: what was refused, and why that may be. -1. */
int k_refused(struct et_error *e, const char *what);
/* The capabilities that are needed, as a message says it: where, and that they are not there. */
const char *k_privileges(void);

#endif
