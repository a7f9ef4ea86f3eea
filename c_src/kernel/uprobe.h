/* SPDX-License-Identifier: Apache-2.0 */
/* Sites in programs and libraries where probes fire: uprobe.c. */
#ifndef K_UPROBE_H
#define K_UPROBE_H

#include <stdint.h>

#include "entries.h"
#include "error.h"

struct en;
struct en_probe;
struct kernel;

/* A site in a file where a probe fires. */
struct k_site {
	enum k_entry entry;
	int pid;	  /* of this process only; 0: of all */
	uint64_t offset;  /* in the file */
	uint64_t ref_ctr; /* offset of a 16-bit counter of those who trace it, or 0 */
	uint32_t caller;  /* K_CALLER_*, K_BEFORE_*, or 0 */
};
/*
 * For enable: the probe, which k_share_probe gave, will fire at a site in a file. Then, for ready
 * and start (whoever is first does it for all): load the programs, attach all sites.
 */
int k_uprobe_add(struct en *en, const char *path, const struct k_site *at, struct en_probe *shared,
	struct et_error *e);
int k_uprobe_load(struct en *en, void *data, struct et_error *e);
int k_uprobe_attach(struct en *en, void *data, struct et_error *e);
void k_uprobe_free(struct kernel *k);

#endif
