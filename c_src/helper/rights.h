/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may trace what. Root may trace everything. Others need capabilities of the helper's file,
 * with which the kernel would let them read all memory: unless the administrator has said
 * otherwise, in a file that only root can write, they are confined to processes of their own
 * (c_src/confine.h). Root of a user namespace is not root here: what that may trace is in the
 * namespace, and permitted by a BPF token, for which root of the machine has mounted a bpffs there.
 */
#ifndef HELPER_RIGHTS_H
#define HELPER_RIGHTS_H

#include <stdbool.h>

#include "confine.h"
#include "error.h"

#define RIGHTS_FILE "/etc/erltrace/kernel.conf"
#define RIGHTS_BPFFS "/sys/fs/bpf" /* or where $ERLTRACE_BPF_TOKEN says */

struct rights {
	bool root;		/* everything is permitted */
	bool able;		/* the kernel permits it: root, or the capabilities */
	int token;		/* by a BPF token, of root of a user namespace; 0: not so */
	struct confine confine; /* .on: to the user's own processes */
};

/* Not made another user by its file's mode: then it is not clear whose processes are whose. */
bool rights_are_plain(void);
void rights_find(struct rights *r);
int rights_check(const struct rights *r, struct et_error *e); /* is r able? */
/* A file like RIGHTS_FILE: does it permit this user, of these groups, to trace others? */
bool rights_permit(const char *path, const char *const *groups, unsigned ngroups);

#endif
