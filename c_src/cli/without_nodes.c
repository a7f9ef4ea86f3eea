/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command where there is no libei to reach nodes with: instead of c_src/node, node*.c and
 * bridge.c.
 */
#include "cli.h"
#include "nodes.h"

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

bool cli_is_node(const char *cookie_file, int pid)
{
	(void)cookie_file, (void)pid;
	return false;
}

static int cannot(erltrace_error_t *err)
{
	return et_err(
		err, ET_NODE, "this erltrace was built without Erlang: it cannot reach nodes");
}

static int b_list(void *arg, const char *const *nodes, const char *desc, erltrace_probe_cb *cb,
	void *cb_arg, erltrace_error_t *err)
{
	(void)arg, (void)nodes, (void)desc, (void)cb, (void)cb_arg;
	return cannot(err);
}

static int b_arm(void *arg, const erltrace_arming_t *a, erltrace_error_t *err)
{
	(void)arg, (void)a;
	return cannot(err);
}

int cli_bridge(struct cli *c)
{
	static const erltrace_bridge_t bridge = {
		.size = sizeof(bridge), .list = b_list, .arm = b_arm};

	erltrace_set_bridge(c->h, &bridge, NULL);
	return CLI_OK;
}

void cli_bridge_free(struct cli *c)
{
	(void)c;
}
