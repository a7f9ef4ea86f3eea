/* SPDX-License-Identifier: Apache-2.0 */
/* -l: probes, as they are listed. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "erltrace.h"
#include "stability.h"

struct cli;
struct output;

/* Probes that are being listed: on a terminal summed up, those of each module. */
struct cli_listing {
	struct cli *c;
	char provider[64], module[256];
	unsigned n;
};

int cli_list(struct cli *c);
void cli_list_head(const struct cli_listing *l);
int cli_list_probe(void *l, const erltrace_probe_info_t *p);
void cli_list_end(struct cli_listing *l); /* all have been listed */
void cli_list_details(struct output *o, const erltrace_probe_info_t *p);
void cli_put_attr(struct output *o, const char *what, const struct et_attr *a);

#endif
