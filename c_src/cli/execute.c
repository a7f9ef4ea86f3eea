/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of things, when it is known what is asked for: a handle and its options, the processes of
 * -c and -p (for $target), the scripts; then -e ends, -l lists, or the scripts run. Every way out
 * goes through cli_execute(), so that the output is flushed and the handle closed once.
 */
#include "cli.h"

#include <string.h>

#include "args.h"
#include "entry_stop.h"
#include "execute.h"
#include "list.h"
#include "nodes.h"
#include "output.h"
#include "placement.h"
#include "run.h"
#include "script_library.h"

static int settings(struct cli *c)
{
	erltrace_error_t err;

	for (int i = 0; i < c->nsettings; i++) {
		const struct cli_setting *s = &c->settings[i];

		memset(&err, 0, sizeof(err));
		if (erltrace_setopt(c->h, s->name, s->value, &err) == 0)
			continue;
		c->errtags = cli_option_on(c, "errtags");
		if (s->flag == 'x')
			return cli_fail(c, &err, "failed to set -x %s", s->name);
		if (s->value != NULL)
			return cli_fail(c, &err, "failed to set -%c %s", s->flag, s->value);
		return cli_fail(c, &err, "failed to set -%c", s->flag);
	}
	c->quiet = cli_option_on(c, "quiet");
	c->errtags = cli_option_on(c, "errtags");
	return CLI_OK;
}

static int with_handle(struct cli *c)
{
	int status = settings(c);

	if (status == CLI_OK)
		status = cli_bridge(c);
	if (status == CLI_OK)
		status = cli_procs_start(c);
	if (status != CLI_OK)
		return status;
	cli_scan(c);
	if (cli_stacks_wanted(c) && !c->compile_only && c->nscripts > 0 &&
		(status = cli_stacks_open(c)) != CLI_OK)
		return status;
	if (cli_flows_wanted(c) && !c->compile_only && c->nscripts > 0 &&
		(status = cli_flows_open(c)) != CLI_OK)
		return status;
	if (cli_runs_in_nodes(c)) {
		status = cli_nodes(c);
		if (!c->unreached)
			return status;
	}
	for (int i = 0; i < c->nprocs; i++) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", (int)c->procs[i].pid);
		erltrace_setopt(c->h, "usdtproc", pid, NULL);
	}
	if ((status = cli_node_of_command(c)) != CLI_OK)
		return status;
	if (c->uses.target_probes && (status = cli_procs_stop_at_entry(c)) != CLI_OK)
		return status;
	if (c->mode == MODE_LIST)
		return cli_list(c);
	if (c->nscripts == 0)
		return cli_no_probes(c);
	status = cli_scripts(c);
	if (status != CLI_OK || c->compile_only)
		return status;
	if (c->matches == 0 && !(c->zero_matches && c->uses.process_probes)) {
		cli_say("no probes matched");
		return CLI_ERROR;
	}
	cli_procs_warn_stopped(c);
	return cli_run(c);
}

int cli_execute(struct cli *c)
{
	erltrace_error_t err = {0};
	int status;

	status = cli_output_open(c);
	if (status != CLI_OK)
		return status;
	if (c->mode == MODE_HELP) {
		cli_help(c->out);
	} else if (c->mode == MODE_SCRIPTS) {
		status = cli_library(c);
	} else if (c->mode == MODE_VERSION) {
		cli_printf(c, "erltrace %s\n", erltrace_version());
	} else {
		c->h = erltrace_open(&err);
		status = c->h == NULL ? cli_fail(c, &err, "failed to initialize") : with_handle(c);
		status = cli_stacks_write(c, status);
		status = cli_flows_close(c, status);
		if (status == CLI_OK && c->mode == MODE_RUN)
			cli_tell_blank(c);
		cli_procs_end(c);
		erltrace_close(c->h);
		cli_bridge_free(c);
	}
	return cli_output_close(c, status);
}
