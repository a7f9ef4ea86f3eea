/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine has in the kernel, and how its providers put it there. */
#ifndef K_LOAD_H
#define K_LOAD_H

#include "kernel.h"
#include "root.h"

struct kernel {
	int arena_fd, buf_fd;
	unsigned nbufs;
	struct k_root *root;
	struct k_object object;
	bool *wanted; /* clauses that run there */
	int *fds;     /* programs, links */
	unsigned nfds;
};

/* For providers. The arena: as struct provider says, the same for all of them. */
int k_arena(struct en *en, void *data, void *base, size_t size, struct et_error *e);
/* A probe that is enabled, as the kernel finds it; its clauses will be in the program. */
struct en_probe *k_share_probe(struct en *en, const struct en_probe *p, struct et_error *e);
/* The program that begins with a function of bpf/; all probes are shared before. Its fd, or -1. */
int k_load(struct en *en, const char *entry, int type, int attach_type, struct et_error *e);
int k_attach_raw(struct en *en, int prog, const char *tracepoint, struct et_error *e);
void k_keep(struct kernel *k, int fd); /* closed by k_detach */
void k_detach(struct en *en);
void k_close(struct en *en);

#endif
