/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang nodes, as the rest of the command sees them: cli/node, or without_nodes.c where there
 * is no libei.
 */
#ifndef CLI_NODES_H
#define CLI_NODES_H

#include <stdbool.h>

struct cli;

int cli_node_of_command(struct cli *c);	  /* a script of the kernel waits for the node of -c */
int cli_nodes(struct cli *c);		  /* run, compile or list there */
bool cli_is_node(const char *cookie_file, int pid); /* one that can be reached */
int cli_bridge(struct cli *c);		  /* to nodes, for the handle */
int cli_silence_ms(const struct cli *c);	  /* the option silence; 0: never */
void cli_bridge_free(struct cli *c);	  /* after the handle has been closed */

#endif
