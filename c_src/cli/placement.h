/* SPDX-License-Identifier: Apache-2.0 */
/* Where scripts run: inside nodes, in the kernel, or in this process. */
#ifndef CLI_PLACEMENT_H
#define CLI_PLACEMENT_H

#include <stdbool.h>

#include "erltrace.h"

struct cli;

struct cli_placement {
	bool in_kernel;	  /* the script runs there */
	bool awaits_node; /* ... and the command of -c becomes a node */
	bool by_helper;	  /* a node's helper traces the kernel */
	bool either;	  /* -l: the process of -p is a VM, which may be a node */
	bool unreached;	  /* ... it is no node that we can reach */
};

void cli_place_probe(struct cli *c, const erltrace_scan_item_t *item); /* into c->uses */
bool cli_runs_in_nodes(struct cli *c); /* -N, or a script names an erlang provider */
/* CLI_ERROR: probes of the kernel, which the option forbids; or of nodes that a helper has not */
int cli_permitted(struct cli *c);

#endif
