/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script that a server runs is what the command runs, but for three things: what it writes and
 * says is the worker's, the server interrupts it instead of a signal, and it has no processes of its
 * own (-c, -p).
 */
#include "server_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "client/worker.h"
#include "execute.h"
#include "node/cancel.h"
#include "options.h"
#include "request.h"
#include "script_args.h"
#include "shell.h"

static bool add_script(struct cli *c, const struct run_request *r)
{
	const char *arg = r->list != NULL ? r->list : r->file != NULL ? r->file : "-";
	struct cli_script *s;

	arg = cli_keep(c, arg);
	if (arg == NULL || !cli_add_script(c, r->list != NULL ? 'n' : 's', arg))
		return false;
	s = &c->scripts[c->nscripts - 1];
	if (r->text == NULL)
		return true;
	s->text = strndup(r->text, r->len);
	s->len = r->len;
	return s->text != NULL;
}

static bool add_each(struct cli *c, const char *const *v, int n,
	bool (*add)(struct cli *c, const char *text))
{
	for (int i = 0; i < n; i++) {
		const char *text = cli_keep(c, v[i]);

		if (text == NULL || !add(c, text))
			return false;
	}
	return true;
}

static bool add_setting(struct cli *c, const char *text)
{
	return cli_add_setting(c, 'x', text, NULL);
}

static bool fill(struct cli *c, const struct run_request *r)
{
	static const char *const all[] = {"*"};

	c->mode = r->list != NULL ? MODE_LIST : MODE_RUN;
	c->json = r->list == NULL;
	c->live_ms = r->live_ms;
	c->flow_options.objects = r->flows;
	c->zero_matches = r->zero_matches;
	if (r->calls != NULL) {
		c->calls = malloc(sizeof(*c->calls));
		if (c->calls == NULL)
			return false;
		*c->calls = *r->calls;
	}
	if (r->cookie_file != NULL && (c->cookie_file = cli_keep(c, r->cookie_file)) == NULL)
		return false;
	return add_script(c, r) && add_each(c, r->settings, r->nsettings, add_setting) &&
	       add_each(c, r->args, r->nargs, cli_add_arg) &&
	       (r->nnodes > 0 ? add_each(c, r->nodes, r->nnodes, cli_add_node)
			      : add_each(c, all, 1, cli_add_node));
}

static void free_request(void *arg)
{
	struct cli *c = arg;

	cli_request_free(c);
	free(c->calls);
	free(c);
}

/* The thread. */
static int run(struct worker *w, void *arg)
{
	struct cli *c = arg;
	int status;

	c->worker = w;
	cli_messages_of(c);
	nd_cancel_by(worker_cancel(w));
	shell_end_by(worker_cancel(w));
	status = cli_script_args(c);
	return status == -1 ? cli_execute(c) : status;
}

struct worker *server_run(const struct run_request *r)
{
	struct cli *c = calloc(1, sizeof(*c));
	struct worker *w = c != NULL && fill(c, r) ? worker_start(run, c, free_request) : NULL;

	if (w == NULL && c != NULL)
		free_request(c);
	return w;
}

/* Each run takes some descriptors. */
static void many_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

void server_run_environment(void)
{
	struct et_env_option opt;

	for (char **p = environ; p != NULL && *p != NULL;) {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*p, "="), *p);
		if (et_env_option(*p, &opt) && unsetenv(name) == 0)
			p = environ;
		else
			p++;
	}
	many_files();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* programs of system() get no other rights */
}
