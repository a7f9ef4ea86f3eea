/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts in nodes have done on this side: programs run, files written (node_run.c). */
#ifndef CLI_NODE_SYSTEM_H
#define CLI_NODE_SYSTEM_H

#include <stddef.h>

struct nodes;
void node_system(struct nodes *ns, const char *command, size_t len); /* system() */
void node_reopen(struct nodes *ns, const char *path, size_t len);    /* freopen() */

#endif
