/* SPDX-License-Identifier: Apache-2.0 */
/* Events inside Erlang nodes, handed over to the kernel: handover.c. */
#ifndef K_HANDOVER_H
#define K_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "erltrace.h"
#include "error.h"

struct en;
struct en_probe;

struct k_node_event {
	struct en_probe *probe; /* as k_share_probe gave it; its hash is that of the node */
	int pid, own; /* the node's process, and the number by which it knows itself */
};
struct k_handover { /* all zero: nothing is */
	struct k_node_event *v; /* the caller frees it */
	unsigned n;
	bool armed;    /* in the nodes, until k_handover_disarm() */
	bool has_news; /* it was: the bridge may have something to tell */
};

/* Probes that the nodes of the option erlnode have themselves: cb for each. */
int k_handover_list(struct en *en, const char *desc, erltrace_probe_cb *cb, void *arg,
	struct et_error *e);
int k_no_bridge(struct et_error *e); /* the error, where a script needs one */

int k_handover_add(struct k_handover *s, struct en_probe *shared, int pid, struct et_error *e);
int k_handover_arm(struct en *en, struct k_handover *s, struct et_error *e); /* for ready */
bool k_handover_news(struct en *en, struct k_handover *s, char *buf, size_t size, bool *ended);
void k_handover_disarm(struct en *en, struct k_handover *s);

#endif
