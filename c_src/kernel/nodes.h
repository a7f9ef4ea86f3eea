/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang nodes, as a script that runs in the kernel has them: nodes.c. */
#ifndef K_NODES_H
#define K_NODES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "options.h"

/* Has -N named nodes? -p gives numbers, and "*" is all nodes. (erlang.c) */
bool k_nodes_named(const struct et_options *o);

/* The nodes' own probes that match a description: cb for each. */
typedef int (*k_node_probe)(
	void *arg, const char *prov, const char *mod, const char *func, const char *name);
int k_nodes_list(const struct et_options *o, const char *desc, k_node_probe cb, void *arg,
	struct et_error *e);

/* Another run of the command, which has the script in the nodes until it is ended. */
struct k_armed {
	pid_t pid; /* 0: none */
	int out;
	char said[4096]; /* what it has said since, not told yet */
	size_t len;
	bool stopped, ended, told; /* by us; it has ended; that has been told */
};
int k_nodes_arm(
	const struct et_options *o, const char *script, struct k_armed *a, struct et_error *e);
/* A line that it says; *ended: it has come to its end by itself. */
bool k_nodes_news(struct k_armed *a, char *buf, size_t size, bool *ended);
void k_nodes_disarm(struct k_armed *a);

#endif
