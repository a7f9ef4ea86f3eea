/* SPDX-License-Identifier: Apache-2.0 */
/* -l: probes, as they are listed. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "erltrace.h"
#include "stability.h"

struct cli;

/* On a terminal they are summed up: those of the module that is listed. */
struct cli_listing {
	char provider[64], module[256];
	unsigned n;
};

int cli_list(struct cli *c);
void cli_list_head(struct cli *c);
void cli_list_end(struct cli *c); /* all have been listed */
int cli_list_probe(void *c, const erltrace_probe_info_t *p);
void cli_list_details(struct cli *c, const erltrace_probe_info_t *p);
void cli_put_attr(struct cli *c, const char *what, const struct et_attr *a);

#endif
