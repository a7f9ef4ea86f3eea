/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script that a server runs is what the command runs, but for three things: what it writes and
 * says is the worker's, the server interrupts it instead of a signal, and it has no processes of
 * its own (-c, -p).
 */
#include "server_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/script/script.h"
#include "cli/script/script_args.h"
#include "client/worker.h"
#include "execute.h"
#include "node/cancel.h"
#include "options.h"
#include "shell.h"

/* The run, and what it borrows. */
struct served {
	struct cli c;
	struct run_calls calls;
};

static bool add_script(struct cli_request *req, const struct run_request *r)
{
	const char *arg = r->list != NULL ? r->list : r->file != NULL ? r->file : "-";
	struct cli_script *s;

	arg = cli_keep(req, arg);
	if (arg == NULL || !cli_add_script(req, r->list != NULL ? 'n' : 's', arg))
		return false;
	s = &req->scripts[req->nscripts - 1];
	if (r->text == NULL)
		return true;
	s->text = strndup(r->text, r->len);
	s->len = r->len;
	return s->text != NULL;
}

static bool add_each(struct cli_request *req, const char *const *v, int n,
	bool (*add)(struct cli_request *req, const char *text))
{
	for (int i = 0; i < n; i++) {
		const char *text = cli_keep(req, v[i]);

		if (text == NULL || !add(req, text))
			return false;
	}
	return true;
}

static bool add_setting(struct cli_request *req, const char *text)
{
	return cli_add_setting(req, 'x', text, NULL);
}

/* What is to be run, and where. */
static bool fill_request(struct cli_request *req, const struct run_request *r)
{
	static const char *const all[] = {"*"};

	req->mode = r->list != NULL ? MODE_LIST : MODE_RUN;
	req->zero_matches = r->zero_matches;
	if (r->cookie_file != NULL && (req->cookie_file = cli_keep(req, r->cookie_file)) == NULL)
		return false;
	if (r->kernel_node != NULL && (req->kernel_node = cli_keep(req, r->kernel_node)) == NULL)
		return false;
	req->only_kernel_node = r->only_kernel_node;
	return add_script(req, r) && add_each(req, r->settings, r->nsettings, add_setting) &&
	       add_each(req, r->args, r->nargs, cli_add_arg) &&
	       (r->nnodes > 0 ? add_each(req, r->nodes, r->nnodes, cli_add_node)
			      : add_each(req, all, 1, cli_add_node));
}

/* What becomes of the results. */
static void fill_output(struct served *s, const struct run_request *r)
{
	struct output *o = &s->c.out;

	o->json = r->list == NULL;
	o->live_ms = r->live_ms;
	o->chosen[AT_flows].is = r->flows;
	if (r->calls == NULL)
		return;
	s->calls = *r->calls;
	o->calls = &s->calls;
}

static void free_served(void *arg)
{
	struct served *s = arg;

	cli_free(&s->c);
	free(s);
}

/* The thread. */
static int run(struct worker *w, void *arg)
{
	struct cli *c = &((struct served *)arg)->c;
	int status;

	c->out.worker = w;
	cli_messages_of(&c->out);
	nd_cancel_by(worker_cancel(w));
	shell_end_by(worker_cancel(w));
	status = cli_script_args(&c->req);
	return status == -1 ? cli_execute(c) : status;
}

struct worker *server_run(const struct run_request *r)
{
	struct served *s = calloc(1, sizeof(*s));
	struct worker *w = NULL;

	if (s == NULL)
		return NULL;
	fill_output(s, r);
	if (fill_request(&s->c.req, r))
		w = worker_start(run, s, free_served);
	if (w == NULL)
		free_served(s);
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
