/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang nodes: -N, -p of a node's process, a node that -c starts, or every local node when a
 * script names an erlang provider. The scripts are compiled and run inside the nodes by the agent
 * there (src/erltrace_agent.erl has the messages); here nodes are found and scripts are sent, in
 * node_run.c what comes back is printed. Whatever ends this process ends the tracing: the agent
 * watches the connection.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "client/worker.h"
#include "escape.h"
#include "file.h"
#include "node/agent.h"
#include "node/decode.h"
#include "nodes.h"
#include "options.h"
#include "period.h"
#include "placement.h"
#include "script_library.h"

/* The kernel sees this machine only: a process of another one would be taken for one of ours. */
static int all_here(struct cli *c)
{
	if (c->cluster) {
		cli_say("--cluster: the script has kernel probes, which are only for this "
			"machine; name its nodes with -N or -p, and run the command on each "
			"machine");
		return CLI_ERROR;
	}
	for (int i = 0; i < c->nnodes; i++) {
		const char *host = strchr(c->nodes[i], '@');
		struct et_error e = {.tag = ""};
		struct in_addr addr;

		if (host == NULL || nd_address(host + 1, &addr, &e) < 0 || nd_is_here(addr))
			continue; /* one that is not found is reported when we connect */
		cli_say("-N %s: the script has kernel probes, which are only for this machine, "
			"and the node's host %s is another; run the command there (or, if the node "
			"is in a container of this machine, name its process with -p)",
			c->nodes[i], host + 1);
		return CLI_ERROR;
	}
	return CLI_OK;
}

int cli_node_of_command(struct cli *c)
{
	struct nodes ns = {.c = c, .exit_code = -1};
	char pid[24];
	int status;

	if (c->in_kernel && all_here(c) != CLI_OK)
		return CLI_ERROR;
	if (!c->awaits_node)
		return CLI_OK;
	status = node_find(&ns);
	for (int i = 0; i < ns.n; i++) {
		snprintf(pid, sizeof(pid), "%lld", (long long)ns.v[i].nd->ospid);
		erltrace_setopt(c->h, "erlnode", pid, NULL);
	}
	node_leave(&ns);
	return status;
}

/* ---- the request ------------------------------------------------------------------------ */

static void put_pair(ei_x_buff *x, const char *key)
{
	ei_x_encode_list_header(x, 1);
	ei_x_encode_tuple_header(x, 2);
	ei_x_encode_atom(x, key);
}

static void put_setting(ei_x_buff *x, const char *name, const char *value)
{
	ei_x_encode_list_header(x, 1);
	ei_x_encode_tuple_header(x, 2);
	nd_put_text(x, name);
	nd_put_text(x, value != NULL ? value : "");
}

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

/*
 * flowpeers: all nodes, so that requests can be followed from one to another, and a number that
 * only this run has.
 *
 */
static void put_peers(ei_x_buff *x, struct nodes *ns)
{
	char *text = NULL;
	size_t len;
	FILE *f;

	if (ns->n < 2 ||
		(ns->run == 0 && getrandom(&ns->run, sizeof(ns->run), 0) != sizeof(ns->run)) ||
		(f = open_memstream(&text, &len)) == NULL)
		return;
	fprintf(f, "%u", ns->run);
	for (int i = 0; i < ns->n; i++)
		fprintf(f, ",%s", ns->v[i].nd->name);
	fclose(f);
	put_setting(x, "flowpeers", text);
	free(text);
}

/* Snapshots come here: the node need not know where they go. */
static const char *sent_value(const char *name, const char *value)
{
	return strcmp(name, "snapshotdir") == 0 ? "-" : value;
}

/* The command's environment, which the node does not see, then its arguments. */
static void put_settings(ei_x_buff *x, struct nodes *ns)
{
	const struct cli *c = ns->c;
	struct et_env_option opt;

	put_pair(x, "settings");
	put_peers(x, ns);
	for (char **p = environ; p != NULL && *p != NULL; p++)
		if (et_env_option(*p, &opt) && !is_for_cpp(opt.name))
			put_setting(x, opt.name, sent_value(opt.name, opt.value));
	for (int i = 0; i < c->nsettings; i++)
		if (!is_for_cpp(c->settings[i].name))
			put_setting(x, c->settings[i].name,
				sent_value(c->settings[i].name, c->settings[i].value));
	if (c->zero_matches || c->mode == MODE_LIST)
		put_setting(x, "zdefs", NULL);
	ei_x_encode_empty_list(x);
}

static void put_flag(ei_x_buff *x, const char *key, bool on)
{
	if (!on)
		return;
	put_pair(x, key);
	ei_x_encode_atom(x, "true");
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
	text = c->mode == MODE_LIST && s->flag != 's' ? descriptions(s) : cli_script_whole(s);
	if (text == NULL)
		cli_say("out of memory");
	return text;
}

/* {clause | file, Name, Text} */
static int put_script(ei_x_buff *x, struct cli *c, const struct cli_script *s)
{
	char *text = sent_text(c, s);

	if (text == NULL)
		return -1;
	ei_x_encode_list_header(x, 1);
	ei_x_encode_tuple_header(x, 3);
	ei_x_encode_atom(x, s->flag == 's' ? "file" : "clause");
	nd_put_text(x, s->arg);
	nd_put_text(x, text);
	c->draws |= cli_script_draws(text);
	free(text);
	return 0;
}

/* [{Name, Text}] */
static int put_headers(ei_x_buff *x, const struct cli *c)
{
	struct et_error e = {.tag = ""};
	size_t len;

	put_pair(x, "headers");
	for (int i = 0; i < c->nheaders; i++) {
		char *text = file_read_script(c->headers[i], 1 << 20, &len, &e);

		if (text == NULL) {
			cli_say("%s", e.text);
			return -1;
		}
		put_setting(x, c->headers[i], text);
		free(text);
	}
	ei_x_encode_empty_list(x);
	return 0;
}

static void put_number(ei_x_buff *x, const char *key, long long n)
{
	put_pair(x, key);
	ei_x_encode_longlong(x, n);
}

/* -xsilence, in ms: it comes back as text, "30s" or so; 0: never. */
static int silence_ms(struct cli *c)
{
	char value[64] = "30s";
	uint64_t ms;

	erltrace_getopt(c->h, "silence", value, sizeof(value), NULL);
	ms = et_period(value) / 1000000;
	return ms < 1000000000 ? (int)ms : 1000000000;
}

/* Of what is said to the agents: src/erltrace_agent.erl has the same number. */
enum { PROTOCOL = 4 };

/* What erltrace_agent:start/3 is to do, once for all nodes. */
int node_put_spec(ei_x_buff *x, struct nodes *ns)
{
	struct cli *c = ns->c;
	int silence = silence_ms(c);

	if (silence == 0) /* never */
		silence = 1000000000;
	ns->beat_ms = silence / 4 < 1000 ? silence / 4 : 1000;
	put_number(x, "protocol", PROTOCOL);
	put_settings(x, ns);
	put_flag(x, "json", c->json && c->calls == NULL);
	put_flag(x, "data", c->calls != NULL);
	put_flag(x, "list", c->mode == MODE_LIST);
	put_flag(x, "zero", c->zero_matches);
	put_flag(x, "terminal", c->terminal);
	put_flag(x, "verbose", c->verbose > 0);
	put_flag(x, "code", c->show_code || cli_option_on(c, "verbose"));
	put_number(x, "silence", silence);
	if (c->live_ms > 0)
		put_number(x, "live", c->live_ms);
	if (c->nprocs > 0) {
		put_number(x, "target", ns->n == 1 ? ns->v[0].nd->ospid : c->procs[0].pid);
	}
	put_pair(x, "args");
	for (int i = 0; i < c->nargs; i++) {
		ei_x_encode_list_header(x, 1);
		nd_put_text(x, c->args[i]);
	}
	ei_x_encode_empty_list(x);
	if (c->nheaders > 0 && put_headers(x, c) < 0)
		return -1;
	put_pair(x, "scripts");
	for (int i = 0; i < c->nscripts; i++)
		if (put_script(x, c, &c->scripts[i]) < 0)
			return -1;
	ei_x_encode_empty_list(x);
	ei_x_encode_empty_list(x);
	return 0;
}

/* It has another erltrace: its own, or one that another command has loaded. */
static int other_version(const struct nd *n, struct et_error *e)
{
	if (n->came)
		return et_err(e, ET_VERSION,
			"another command, of another version, is tracing the node %s: trace it "
			"with "
			"the same, or wait for that to end",
			n->name);
	return et_err(e, ET_VERSION,
		"the node %s has an erltrace of its own, of another version: use the command that "
		"belongs to it",
		n->name);
}

/* {ok, Pid} | {error, {protocol | unknown, What}} */
static int start(struct target *t, const ei_x_buff *spec, struct et_error *e)
{
	ei_x_buff args = {0}, res = {0};
	char word[16] = "", why[16] = "";
	int rc;

	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 3);
	ei_x_encode_pid(&args, ei_self(&t->nd->ec));
	ei_x_append(&args, &t->nd->connection);
	ei_x_append(&args, spec);
	ei_x_encode_empty_list(&args);
	rc = nd_rpc(t->nd, "erltrace_agent", "start", &args, &res, e);
	if (rc < 0 && et_err_is(e, ET_UNDEF)) { /* an agent without such a function */
		et_err_clear(e);
		rc = other_version(t->nd, e);
	} else if (rc == 0 && (nd_get_tuple(&res, &res.index, 2) < 0 ||
				      nd_get_atom(&res, &res.index, word, sizeof(word)) < 0 ||
				      ei_decode_pid(res.buff, &res.index, &t->agent) < 0)) {
		nd_get_tuple(&res, &res.index, 2);
		nd_get_atom(&res, &res.index, why, sizeof(why));
		rc = strcmp(why, "protocol") == 0
			     ? other_version(t->nd, e)
			     : et_err(e, ET_AGENT, "the agent of %s does not start: %s",
				       t->nd->name, why);
	}
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

int node_start(struct target *t, const ei_x_buff *spec, struct et_error *e)
{
	return nd_agent(t->nd, e) < 0 ? -1 : start(t, spec, e);
}

static int start_all(struct nodes *ns, const ei_x_buff *spec)
{
	for (int i = 0; i < ns->n; i++) {
		struct et_error e = {.tag = ""};

		if (node_start(&ns->v[i], spec, &e) == 0)
			continue;
		if (ns->c->nnodes == 0 && ns->n > 1) { /* the user has not named it */
			cli_notice(ns->c, "left out: %s", e.text);
			nd_agent_gone(ns->v[i].nd);
			nd_close(ns->v[i].nd);
			memmove(&ns->v[i], &ns->v[i + 1],
				(size_t)(--ns->n - i) * sizeof(*ns->v));
			i--;
			continue;
		}
		for (; i < ns->n; i++) /* no agent runs there */
			ns->v[i].state = DONE;
		if (et_err_is(&e, ET_GONE) && node_command_ends(ns->c))
			node_too_short(&e);
		return node_fail(ns, &e, "failed to trace a node");
	}
	return CLI_OK;
}

int node_start_all(struct nodes *ns)
{
	ei_x_buff spec;
	int status;

	ei_x_new(&spec);
	status = node_put_spec(&spec, ns) < 0 ? -1 : start_all(ns, &spec);
	ei_x_free(&spec);
	return status;
}

static int start_rest(struct nodes *ns, const ei_x_buff *spec)
{
	for (int i = 0; i < ns->n; i++) {
		struct target *t = &ns->v[i];
		struct et_error e = {.tag = ""};

		if (!t->zero || t->state != DONE)
			continue;
		if (node_start(t, spec, &e) < 0)
			return node_fail(ns, &e, "failed to trace a node");
		t->state = STARTED;
		t->zero = t->failed = false;
	}
	return CLI_OK;
}

int node_start_rest(struct nodes *ns)
{
	bool zero_matches = ns->c->zero_matches;
	ei_x_buff spec;
	int status;

	ns->c->zero_matches = true;
	ei_x_new(&spec);
	status = node_put_spec(&spec, ns) < 0 ? CLI_ERROR : start_rest(ns, &spec);
	ei_x_free(&spec);
	ns->c->zero_matches = zero_matches;
	return status;
}

static int with_nodes(struct nodes *ns)
{
	int status = node_start_all(ns);

	if (status < 0)
		return CLI_ERROR;
	if (status != CLI_OK)
		ns->status = status; /* those that were started are stopped */
	return node_run(ns);
}

int cli_nodes(struct cli *c)
{
	struct nodes ns = {.c = c,
		.exit_code = -1,
		.wake = c->worker != NULL ? worker_wake(c->worker) : 0};
	int status;

	if (c->mode != MODE_LIST && c->nscripts == 0)
		return cli_no_probes(c);
	if ((status = cli_permitted(c)) != CLI_OK)
		return status;
	ns.matched = malloc((size_t)(c->nscripts + 1) * sizeof(*ns.matched));
	for (int i = 0; ns.matched != NULL && i < c->nscripts; i++)
		ns.matched[i] = -1;
	status = ns.matched == NULL ? CLI_ERROR : node_find(&ns);
	c->unreached = c->either && status != CLI_OK;
	if (status == CLI_OK)
		status = with_nodes(&ns);
	node_leave(&ns);
	free(ns.matched);
	return status;
}
