/* SPDX-License-Identifier: Apache-2.0 */
/* -l */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "erltrace.h"

struct cli;

int cli_list(struct cli *c);
void cli_list_head(struct cli *c);
int cli_list_probe(void *c, const erltrace_probe_info_t *p);

#endif
