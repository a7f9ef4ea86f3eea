/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang nodes: -N, -p of a node's process, a node that -c starts, or every local node when a
 * script names an erlang provider. What the command line asks for becomes a request of the client
 * (client/client.h); in node_run.c what comes back is printed. Whatever ends this process ends the
 * tracing: the agents monitor the connection.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/nodes.h"
#include "cli/placement.h"
#include "cli/script/script.h"
#include "cli/script/script_library.h"
#include "cli/script/script_scan.h"
#include "cli/vm_usdt.h"
#include "client/worker.h"
#include "file.h"
#include "options.h"
#include "output/escape.h"
#include "period.h"
#include "snapshots.h"

/* The kernel sees this machine only: a process of another one would be taken for one of ours. */
static int all_here(struct cli *c)
{
	if (c->req.cluster) {
		cli_say("--cluster: the script has kernel probes, which are only for this "
			"machine; name its nodes with -N or -p, and run the command on each "
			"machine");
		return CLI_ERROR;
	}
	for (int i = 0; i < c->req.nnodes; i++) {
		const char *host = strchr(c->req.nodes[i], '@');
		struct et_error e = {.tag = ""};
		struct in_addr addr;

		if (host == NULL || nd_address(host + 1, &addr, &e) < 0 || nd_is_here(addr))
			continue; /* one that is not found is reported when we connect */
		cli_say("-N %s: the script has kernel probes, which are only for this machine, "
			"and the node's host %s is another; run the command there (or, if the node "
			"is in a container of this machine, name its process with -p)",
			c->req.nodes[i], host + 1);
		return CLI_ERROR;
	}
	return CLI_OK;
}

static bool has_command(const struct cli *c)
{
	for (int i = 0; i < c->procs.n; i++)
		if (c->procs.v[i].command != NULL)
			return true;
	return false;
}

/* What the client says beside errors. */
static void on_say(struct client *cl, enum client_word word, const char *text)
{
	struct cli *c = nodes_of(cl)->c;

	if (word == CLIENT_WAITS && (c->out.worker != NULL || !isatty(STDERR_FILENO)))
		return;
	if (word == CLIENT_NOTICE)
		cli_notice(&c->out, "%s", text);
	else if (word != CLIENT_DETAIL || c->req.verbose)
		cli_say("%s", text);
}

/* -p: what the process is not asked for works all the same. */
static int not_found(struct nodes *ns)
{
	const struct cli *c = ns->c;
	struct et_error told = {.tag = ""};

	if (c->req.nnodes > 0 || c->procs.n == 0 || !cli_is_vm(&c->procs))
		return cli_fail(ns->c, &ns->error, "%s", ns->doing);
	et_err_as(&told, &ns->error,
		"%s. What needs no answer from the node works as root: erltrace -p %d -s cpu, or "
		"hogs, locks, syscalls",
		ns->error.text, (int)c->procs.v[0].pid);
	return cli_fail(ns->c, &told, "%s", ns->doing);
}

/* The request says which nodes. */
static int find(struct nodes *ns, struct request *r)
{
	struct cli *c = ns->c;

	*r = (struct request){
		.cluster = c->req.cluster, .cookie_file = c->req.cookie_file, .pids = ns->pids};
	ns->say = on_say;
	if (c->req.nnodes == 1 && strcmp(c->req.nodes[0], "*") == 0)
		c->req.nnodes = 0; /* every local one */
	r->nodes = c->req.nodes;
	r->nnodes = c->req.nnodes;
	if (c->req.nnodes == 0 && has_command(c))
		return node_of_command(ns);
	for (int i = 0; i < c->procs.n && i < NODES_PIDS; i++)
		ns->pids[r->npids++] = c->procs.v[i].pid;
	return client_find(&ns->client, r) < 0 ? not_found(ns) : CLI_OK;
}

static void leave(struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++)
		cli_snapshot_free(ns->v[i].snapshot);
	client_leave(&ns->client);
}

int cli_node_of_command(struct cli *c)
{
	struct nodes ns = {.c = c, .exit_code = -1};
	struct request r;
	char pid[24];
	int status;

	if (c->place.in_kernel && all_here(c) != CLI_OK)
		return CLI_ERROR;
	if (!c->place.awaits_node)
		return CLI_OK;
	status = find(&ns, &r);
	for (int i = 0; i < ns.n; i++) {
		snprintf(pid, sizeof(pid), "%lld", (long long)ns.v[i].nd->ospid);
		erltrace_setopt(c->h, "erlnode", pid, NULL);
	}
	leave(&ns);
	return status;
}

bool cli_is_node(const char *cookie_file, int pid)
{
	return client_is_node(cookie_file, pid);
}

/* ---- the request ------------------------------------------------------------------------ */

/* The preprocessor has run here. */
static bool is_for_cpp(const char *name)
{
	static const char *const names[] = {"cpp", "cppargs", "cpphdrs", "cpppath", "define",
		"incdir", "stdc", "undef"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Snapshots come here: the node need not know where they go. */
static const char *sent_value(const char *name, const char *value)
{
	return strcmp(name, "snapshotdir") == 0 ? "-" : value;
}

struct settings {
	struct request_pair *v;
	int n;
	char (*names)[sizeof(((struct et_env_option *)0)->name)]; /* of the environment's */
};

static void add(struct settings *s, const char *name, const char *value)
{
	if (!is_for_cpp(name))
		s->v[s->n++] = (struct request_pair){name, sent_value(name, value)};
}

/* The command's environment, which the node does not see, then its arguments. */
static bool add_settings(struct settings *s, const struct cli *c)
{
	struct et_env_option opt;
	size_t most = (size_t)c->req.nsettings + 1, k = 0;

	for (char **p = environ; p != NULL && *p != NULL; p++)
		most += et_env_option(*p, &opt);
	s->v = calloc(most, sizeof(*s->v));
	s->names = calloc(most, sizeof(*s->names));
	if (s->v == NULL || s->names == NULL)
		return false;
	for (char **p = environ; p != NULL && *p != NULL; p++)
		if (et_env_option(*p, &opt)) {
			memcpy(s->names[k], opt.name, sizeof(opt.name));
			add(s, s->names[k++], opt.value);
		}
	for (int i = 0; i < c->req.nsettings; i++)
		add(s, c->req.settings[i].name, c->req.settings[i].value);
	return true;
}

/* -l of -n and so on: the descriptions, one a line. */
static char *descriptions(const struct cli_script *s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (int i = 0; f != NULL && i < s->ndescs; i++)
		fprintf(f, "%s\n", s->descs[i].text);
	if (f != NULL)
		fclose(f);
	return text;
}

/* A script as it is sent; NULL: the error has been reported. */
static char *sent_text(struct cli *c, const struct cli_script *s)
{
	erltrace_error_t err = s->err;
	char *text;

	if (err.tag[0] != '\0') {
		/* a message has the name as it was given */
		if (strcmp(err.file, "/dev/stdin") == 0 && !s->preprocessed)
			snprintf(err.file, sizeof(err.file), "%s", s->arg);
		if (et_err_is(&err, ET_FILE) && access(s->arg, F_OK) != 0)
			cli_library_hint(s->arg, err.text, sizeof(err.text));
		cli_script_failed(c, s, &err);
		return NULL;
	}
	text = c->req.mode == MODE_LIST && s->flag != 's' ? descriptions(s) : cli_script_whole(s);
	if (text == NULL)
		cli_say("out of memory");
	return text;
}

/* What a request is made of: it is valid as long as these. */
struct made {
	struct settings settings;
	struct request_script *scripts;
	struct request_pair *headers;
	struct request request;
};

static void free_made(struct made *m)
{
	for (int i = 0; i < m->request.nscripts; i++)
		free((char *)m->scripts[i].text);
	for (int i = 0; i < m->request.nheaders; i++)
		free((char *)m->headers[i].value);
	free(m->settings.v);
	free(m->settings.names);
	free(m->scripts);
	free(m->headers);
}

static int make_scripts(struct made *m, struct cli *c)
{
	m->scripts = calloc((size_t)c->req.nscripts + 1, sizeof(*m->scripts));
	for (int i = 0; i < c->req.nscripts; i++) {
		const struct cli_script *s = &c->req.scripts[i];
		char *text = m->scripts != NULL ? sent_text(c, s) : NULL;

		if (text == NULL)
			return CLI_ERROR;
		c->out.draws |= escape_draws(text);
		m->scripts[m->request.nscripts++] =
			(struct request_script){.file = s->flag == 's', .name = s->arg, .text = text};
	}
	return CLI_OK;
}

static int make_headers(struct made *m, const struct cli *c)
{
	struct et_error e = {.tag = ""};
	size_t len;

	m->headers = calloc((size_t)c->req.nheaders + 1, sizeof(*m->headers));
	for (int i = 0; i < c->req.nheaders && m->headers != NULL; i++) {
		char *text = file_read_script(c->req.headers[i], 1 << 20, &len, &e);

		if (text == NULL) {
			cli_say("%s", e.text);
			return CLI_ERROR;
		}
		m->headers[m->request.nheaders++] = (struct request_pair){c->req.headers[i], text};
	}
	return CLI_OK;
}

int cli_silence_ms(const struct cli *c)
{
	char value[64] = "30s";
	uint64_t ms;

	erltrace_getopt(c->h, "silence", value, sizeof(value), NULL);
	ms = et_period(value) / 1000000;
	return ms < 1000000000 ? (int)ms : 0;
}

static int make(struct made *m, struct nodes *ns, const struct request *which)
{
	struct cli *c = ns->c;
	struct request *r = &m->request;

	*r = *which;
	r->list = c->req.mode == MODE_LIST;
	r->kernel = c->place.by_helper;
	r->json = c->out.json && c->out.calls == NULL;
	r->data = c->out.calls != NULL;
	r->terminal = c->out.terminal;
	r->zero_matches = c->req.zero_matches;
	r->verbose = c->req.verbose > 0;
	r->code = c->req.show_code || cli_option_on(c->h, "verbose");
	r->live_ms = c->out.live_ms;
	r->silence_ms = cli_silence_ms(c);
	if (c->procs.n > 0)
		r->target = ns->n == 1 ? ns->v[0].nd->ospid : c->procs.v[0].pid;
	r->args = c->req.args;
	r->nargs = c->req.nargs;
	if (!add_settings(&m->settings, c)) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	r->settings = m->settings.v;
	r->nsettings = m->settings.n;
	if (make_headers(m, c) != CLI_OK || make_scripts(m, c) != CLI_OK)
		return CLI_ERROR;
	r->headers = m->headers;
	r->scripts = m->scripts;
	return CLI_OK;
}

static int not_started(struct nodes *ns)
{
	if (et_err_is(&ns->error, ET_GONE) && node_command_ends(ns->c))
		node_too_short(&ns->error);
	return cli_fail(ns->c, &ns->error, "%s", ns->doing);
}

static int start_rest(struct nodes *ns, const ei_x_buff *spec)
{
	for (int i = 0; i < ns->n; i++) {
		struct target *t = &ns->v[i];
		struct et_error e = {.tag = ""};

		if (!t->zero || t->state != DONE)
			continue;
		if (client_start(t, spec, &e) < 0)
			return cli_fail(ns->c, &e, "failed to trace a node");
		t->state = STARTED;
		t->zero = t->failed = false;
	}
	return CLI_OK;
}

int node_start_rest(struct nodes *ns)
{
	struct request r = *ns->request;
	ei_x_buff spec;
	int status;

	r.zero_matches = true;
	ei_x_new(&spec);
	client_put_request(&spec, &ns->client, &r);
	status = start_rest(ns, &spec);
	ei_x_free(&spec);
	return status;
}

static int with_nodes(struct nodes *ns, const struct request *which)
{
	struct made m = {.scripts = NULL};
	int status = make(&m, ns, which);

	ns->request = &m.request;
	if (status == CLI_OK) {
		if (client_start_all(&ns->client, &m.request) < 0)
			ns->status = not_started(ns); /* those that were started are stopped */
		status = node_run(ns);
	}
	free_made(&m);
	return status;
}

int cli_nodes(struct cli *c)
{
	struct nodes ns = {.c = c,
		.exit_code = -1,
		.wake = c->out.worker != NULL ? worker_wake(c->out.worker) : 0};
	struct request which;
	int status;

	if (c->req.mode != MODE_LIST && c->req.nscripts == 0)
		return cli_no_probes(&c->req);
	if ((status = cli_permitted(c)) != CLI_OK)
		return status;
	ns.matched = malloc((size_t)(c->req.nscripts + 1) * sizeof(*ns.matched));
	for (int i = 0; ns.matched != NULL && i < c->req.nscripts; i++)
		ns.matched[i] = -1;
	status = ns.matched == NULL ? CLI_ERROR : find(&ns, &which);
	c->place.unreached = c->place.either && status != CLI_OK;
	if (status == CLI_OK)
		status = with_nodes(&ns, &which);
	leave(&ns);
	free(ns.matched);
	return status;
}
