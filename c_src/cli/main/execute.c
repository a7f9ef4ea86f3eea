/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of things, when it is known what is asked for: a handle and its options, the processes
 * of -c and -p (for $target), the scripts; then -e ends, -l lists, or the scripts run. Every way
 * out goes through cli_execute(), so that the output is flushed and the handle closed once.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cli/nodes.h"
#include "cli/placement.h"
#include "cli/script/list.h"
#include "cli/script/script.h"
#include "cli/script/script_library.h"
#include "cli/script/script_scan.h"
#include "execute.h"

static int settings(struct cli *c)
{
	erltrace_error_t err;

	for (int i = 0; i < c->req.nsettings; i++) {
		const struct cli_setting *s = &c->req.settings[i];

		memset(&err, 0, sizeof(err));
		if (erltrace_setopt(c->h, s->name, s->value, &err) == 0)
			continue;
		c->failing.errtags = cli_option_on(c->h, "errtags");
		if (s->flag == 'x')
			return cli_fail(c, &err, "failed to set -x %s", s->name);
		if (s->value != NULL)
			return cli_fail(c, &err, "failed to set -%c %s", s->flag, s->value);
		return cli_fail(c, &err, "failed to set -%c", s->flag);
	}
	c->out.quiet = cli_option_on(c->h, "quiet");
	c->failing.errtags = cli_option_on(c->h, "errtags");
	return CLI_OK;
}

/* Once the scripts have been scanned: clauses may be added to them. */
static int open_outputs(struct cli *c)
{
	const struct cli_uses *u = &c->uses;
	struct output_scripts of = {.script = c->req.scripts[0].arg,
		.node = c->req.nnodes > 0 ? c->req.nodes[0] : NULL,
		.parsed = true,
		.stack_aggs = u->stack_aggs,
		.nstack_aggs = u->nstack_aggs,
		.other_stack_agg = u->other_stack_agg,
		.follows = u->follows,
		.flowtrace = u->flowtrace,
		.h = c->h};
	const char *clauses;
	int status;

	for (int i = 0; i < c->req.nscripts; i++)
		of.parsed &= c->req.scripts[i].err.tag[0] == '\0';
	status = output_open(&c->out, &of, &clauses);
	if (status != CLI_OK || clauses == NULL)
		return status;
	if (!cli_add_script(&c->req, 'n', clauses)) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	c->req.scripts[c->req.nscripts - 1].own = true;
	return CLI_OK;
}

static int with_handle(struct cli *c)
{
	int status = settings(c);

	if (status == CLI_OK)
		status = cli_bridge(c);
	if (status == CLI_OK)
		status = cli_procs_start(&c->procs, c->h);
	if (status != CLI_OK)
		return status;
	cli_scan(c);
	if (!c->req.compile_only && c->req.nscripts > 0 && (status = open_outputs(c)) != CLI_OK)
		return status;
	if (cli_runs_in_nodes(c)) {
		status = cli_nodes(c);
		if (!c->place.unreached)
			return status;
	}
	for (int i = 0; i < c->procs.n; i++) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", (int)c->procs.v[i].pid);
		erltrace_setopt(c->h, "usdtproc", pid, NULL);
	}
	if ((status = cli_node_of_command(c)) != CLI_OK)
		return status;
	if (c->uses.target_probes && (status = cli_procs_stop_at_entry(&c->procs)) != CLI_OK)
		return status;
	if (c->req.mode == MODE_LIST)
		return cli_list(c);
	if (c->req.nscripts == 0)
		return cli_no_probes(&c->req);
	status = cli_scripts(c);
	if (status != CLI_OK || c->req.compile_only)
		return status;
	if (c->matches == 0 && !(c->req.zero_matches && c->uses.process_probes)) {
		cli_say("no probes matched");
		return CLI_ERROR;
	}
	cli_procs_warn_stopped(&c->procs);
	return cli_run(c);
}

int cli_execute(struct cli *c)
{
	erltrace_error_t err = {0};
	int status;

	status = output_begin(&c->out);
	if (status != CLI_OK)
		return status;
	if (c->req.mode == MODE_HELP) {
		cli_help(c->out.f);
	} else if (c->req.mode == MODE_SCRIPTS) {
		status = cli_library(&c->req, &c->out);
	} else if (c->req.mode == MODE_VERSION) {
		output_printf(&c->out, "erltrace %s\n", erltrace_version());
	} else {
		c->h = erltrace_open(&err);
		status = c->h == NULL ? cli_fail(c, &err, "failed to initialize") : with_handle(c);
		status = output_finish(&c->out, status);
		if (status == CLI_OK && c->req.mode == MODE_RUN && !c->req.compile_only &&
			!cli_option_on(c->h, "destructive"))
			output_tell_blank(&c->out);
		cli_procs_end(&c->procs);
		erltrace_close(c->h);
		cli_bridge_free(c);
	}
	return output_end(&c->out, status);
}

void cli_free(struct cli *c)
{
	cli_uses_free(&c->uses);
	cli_request_free(&c->req);
	free(c->procs.v);
}
