/* SPDX-License-Identifier: Apache-2.0 */
/* The command where there is no libei to reach nodes with: instead of c_src/node and node*.c. */
#include "cli.h"

int cli_node_of_command(struct cli *c)
{
	(void)c;
	return CLI_OK;
}

int cli_nodes(struct cli *c)
{
	(void)c;
	cli_say("this erltrace was built without Erlang: it cannot reach nodes");
	return CLI_USAGE;
}

bool cli_is_node(struct cli *c, int pid)
{
	(void)c, (void)pid;
	return false;
}
