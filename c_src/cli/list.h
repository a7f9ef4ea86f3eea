/* SPDX-License-Identifier: Apache-2.0 */
/* -l */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "erltrace.h"
#include "stability.h"

struct cli;

int cli_list(struct cli *c);
void cli_list_head(struct cli *c);
void cli_list_end(struct cli *c); /* all have been listed */
int cli_list_probe(void *c, const erltrace_probe_info_t *p);
void cli_list_details(struct cli *c, const erltrace_probe_info_t *p);
void cli_put_attr(struct cli *c, const char *what, const struct et_attr *a);

#endif
