/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang nodes: -N, -p of a node's process, or every local node when a script names an erlang
 * provider. The scripts are compiled and run inside the nodes by the agent there
 * (src/erltrace_agent.erl has the messages); here they are sent, and what comes back is printed.
 * Whatever ends this process ends the tracing: the agent watches the connection.
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../node/node.h"

/* ---- is it about nodes? ---------------------------------------------------------------- */

/* Past a comment, a string, a character or a body; NULL: none of these begins here. */
static const char *past(const char *p)
{
	char quote = *p;
	int depth = 0;

	if (p[0] == '/' && p[1] == '*') {
		p = strstr(p + 2, "*/");
		return p != NULL ? p + 2 : "";
	}
	if (quote == '"' || quote == '\'') {
		for (p++; *p != '\0' && *p != quote && *p != '\n'; p++)
			if (*p == '\\' && p[1] != '\0')
				p++;
		return *p != '\0' ? p + 1 : p;
	}
	if (*p != '{')
		return NULL;
	while (*p != '\0') {
		const char *q = *p == '{' ? NULL : past(p);

		if (q != NULL) {
			p = q;
			continue;
		}
		depth += (*p == '{') - (*p == '}');
		p++;
		if (depth == 0)
			break;
	}
	return p;
}

/* Does a description outside of comments, strings and bodies start with erlang...: ? */
static bool names_erlang(const char *p)
{
	bool start = true; /* of a word */

	while (*p != '\0') {
		const char *q = past(p);

		if (q != NULL) {
			p = q;
			start = true;
			continue;
		}
		if (start && strncmp(p, "erlang", 6) == 0 &&
			p[6 + strspn(p + 6, "0123456789*?[]!-$target")] == ':')
			return true;
		start = isspace((unsigned char)*p) || *p == ',' || *p == ';' || *p == '}';
		p++;
	}
	return false;
}

/* A file's text, or a clause's; the caller frees it. */
static char *script_text(const struct cli_script *s)
{
	FILE *in, *out;
	char *text = NULL, buf[4096];
	size_t len, n;

	if (s->flag != 's')
		return cli_clause_text(s);
	in = strcmp(s->arg, "-") == 0 ? stdin : fopen(s->arg, "re");
	if (in == NULL)
		return NULL;
	out = open_memstream(&text, &len);
	while (out != NULL && (n = fread(buf, 1, sizeof(buf), in)) > 0)
		fwrite(buf, 1, n, out);
	if (out != NULL)
		fclose(out);
	if (in != stdin)
		fclose(in);
	return text;
}

bool cli_nodes_wanted(struct cli *c)
{
	bool wanted = c->nnodes > 0;

	if (!wanted && c->compile_only) /* -e: whether it is right can be told without a node */
		return false;
	/* Standard input can be read once only: with -N, or for probes of this machine. */
	for (int i = 0; i < c->nscripts && !wanted; i++) {
		char *text =
			strcmp(c->scripts[i].arg, "-") == 0 ? NULL : script_text(&c->scripts[i]);

		wanted = text != NULL && names_erlang(text);
		free(text);
	}
	return wanted;
}

#ifndef HAVE_EI

int cli_nodes(struct cli *c)
{
	(void)c;
	cli_say("this erltrace was built without Erlang: it cannot reach nodes");
	return CLI_USAGE;
}

#else

/* ---- nodes ----------------------------------------------------------------------------- */

enum state {
	STARTED,
	COMPILED, /* it has told what matched */
	RUNNING,
	STOPPING, /* it was told to */
	DONE,	  /* it has nothing more to say, or is gone */
};

struct target {
	struct nd *nd;
	erlang_pid agent;
	enum state state;
	bool matched; /* something, or not known */
};

struct nodes {
	struct cli *c;
	struct target *v;
	int n;
	bool named; /* by -N: each must do */
	struct nd_cookie cookie;
	long *matched;	       /* by script, over all nodes; -1: not told */
	erltrace_error_t zero; /* a node where nothing matched */
	int zero_script;
	bool listed;   /* a probe, of any node */
	int exit_code; /* of exit(); -1: none */
	int status;
};

static int fail(struct cli *c, const struct et_error *e, const char *what)
{
	erltrace_error_t err = {0};

	snprintf(err.tag, sizeof(err.tag), "%s", e->tag);
	snprintf(err.text, sizeof(err.text), "%s", e->text);
	return cli_fail(c, &err, "%s", what);
}

static int add_target(struct nodes *ns, struct nd *nd)
{
	struct target *v = realloc(ns->v, (size_t)(ns->n + 1) * sizeof(*v));

	if (v == NULL) {
		nd_close(nd);
		cli_say("out of memory");
		return CLI_ERROR;
	}
	ns->v = v;
	memset(&v[ns->n], 0, sizeof(*v));
	v[ns->n++].nd = nd;
	if (ns->c->verbose)
		cli_say("node %s: OTP %s, %s, process %lld", nd->name, nd->otp, nd->arch,
			(long long)nd->ospid);
	return CLI_OK;
}

static int named_nodes(struct nodes *ns)
{
	struct et_error e = {.tag = ""};

	ns->named = true;
	for (int i = 0; i < ns->c->nnodes; i++) {
		struct nd *nd = nd_connect(ns->c->nodes[i], 0, &ns->cookie, &e);

		if (nd == NULL)
			return fail(ns->c, &e, "failed to reach a node");
		if (add_target(ns, nd) != CLI_OK)
			return CLI_ERROR;
	}
	return CLI_OK;
}

static bool wanted_pid(const struct cli *c, int64_t pid)
{
	bool any = false;

	for (int i = 0; i < c->nprocs; i++) {
		if (c->procs[i].command == NULL && c->procs[i].pid == pid)
			return true;
		any |= c->procs[i].command == NULL;
	}
	return !any;
}

/* Those of epmd that take the cookie; with -p those that are such a process. */
static int local_nodes(struct nodes *ns)
{
	struct et_error e = {.tag = ""}, last = {.tag = ""};
	struct nd_names names;
	int status = CLI_OK;

	if (nd_names(NULL, &names, &e) < 0)
		return fail(ns->c, &e, "failed to find nodes");
	for (int i = 0; i < names.n && status == CLI_OK; i++) {
		struct nd *nd;

		et_err_clear(&last);
		nd = nd_connect(names.v[i].name, names.v[i].port, &ns->cookie, &last);
		if (nd == NULL)
			cli_notice(ns->c, "left out: %s", last.text);
		else if (wanted_pid(ns->c, nd->ospid))
			status = add_target(ns, nd);
		else
			nd_close(nd);
	}
	if (status == CLI_OK && ns->n == 0) {
		et_err(&e, "ET_NODE", "%s",
			names.n == 0 ? "epmd knows no node: start one with erl -sname NAME"
			: last.text[0] != '\0' ? last.text
					       : "none of the nodes is such a process");
		status = fail(ns->c, &e, "failed to find a node");
	}
	nd_names_free(&names);
	return status;
}

/* ---- what is asked for ------------------------------------------------------------------ */

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

static void put_settings(ei_x_buff *x, const struct cli *c)
{
	put_pair(x, "settings");
	for (int i = 0; i < c->nsettings; i++)
		put_setting(x, c->settings[i].name, c->settings[i].value);
	if (c->zero_matches || c->mode == MODE_LIST)
		put_setting(x, "zdefs", NULL);
	if (c->preprocess)
		put_setting(x, "cpp", NULL);
	ei_x_encode_empty_list(x);
}

static void put_flag(ei_x_buff *x, const char *key, bool on)
{
	if (!on)
		return;
	put_pair(x, key);
	ei_x_encode_atom(x, "true");
}

/* "#pragma D option quiet": known to the node's handle, needed here for what is told. */
static bool turns_quiet(const char *text)
{
	char name[32];

	for (; text != NULL && *text != '\0'; text = strchr(text, '\n')) {
		text += strspn(text, "\n");
		if (sscanf(text, "#pragma D option %31[a-z]", name) == 1 &&
			strcmp(name, "quiet") == 0)
			return true;
	}
	return false;
}

/* {clause | file, Name, Text} */
static int put_script(ei_x_buff *x, struct cli *c, const struct cli_script *s)
{
	bool list = c->mode == MODE_LIST;
	char *text = list && s->flag != 's' ? cli_description(s) : script_text(s);

	if (text == NULL) {
		cli_say("failed to read %s: %s", s->arg, strerror(errno));
		return -1;
	}
	ei_x_encode_list_header(x, 1);
	ei_x_encode_tuple_header(x, 3);
	ei_x_encode_atom(x, s->flag == 's' ? "file" : "clause");
	nd_put_text(x, s->arg);
	nd_put_text(x, text);
	c->quiet |= turns_quiet(text);
	free(text);
	return 0;
}

/* The arguments of erltrace_agent:start/2, once for all nodes; but for the pid. */
static int put_spec(ei_x_buff *x, struct cli *c)
{
	put_settings(x, c);
	put_flag(x, "json", c->json);
	put_flag(x, "list", c->mode == MODE_LIST);
	put_flag(x, "zero", c->zero_matches);
	put_flag(x, "terminal", isatty(fileno(c->out)) == 1);
	if (c->nprocs > 0) {
		put_pair(x, "target");
		ei_x_encode_longlong(x, c->procs[0].pid);
	}
	put_pair(x, "args");
	for (int i = 0; i < c->nargs; i++) {
		ei_x_encode_list_header(x, 1);
		nd_put_text(x, c->args[i]);
	}
	ei_x_encode_empty_list(x);
	put_pair(x, "scripts");
	for (int i = 0; i < c->nscripts; i++)
		if (put_script(x, c, &c->scripts[i]) < 0)
			return -1;
	ei_x_encode_empty_list(x);
	ei_x_encode_empty_list(x);
	return 0;
}

/* {ok, Pid} */
static int start(struct target *t, const ei_x_buff *spec, struct et_error *e)
{
	ei_x_buff args = {0}, res = {0};
	char atom[16];
	int rc;

	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 2);
	ei_x_encode_pid(&args, ei_self(&t->nd->ec));
	ei_x_append(&args, spec);
	ei_x_encode_empty_list(&args);
	rc = nd_rpc(t->nd, "erltrace_agent", "start", &args, &res, e);
	if (rc == 0 && (nd_get_tuple(&res, &res.index, 2) < 0 ||
			       nd_get_atom(&res, &res.index, atom, sizeof(atom)) < 0 ||
			       ei_decode_pid(res.buff, &res.index, &t->agent) < 0))
		rc = et_err(e, "ET_AGENT", "the agent of %s does not start", t->nd->name);
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

/* Another command may be taking the agent out just now: then it is brought again. */
static int start_all(struct nodes *ns, const ei_x_buff *spec)
{
	for (int i = 0; i < ns->n; i++) {
		struct et_error e = {.tag = ""};
		int tries = 0, rc;

		do {
			et_err_clear(&e);
			rc = nd_agent(ns->v[i].nd, &e);
			if (rc == 0)
				rc = start(&ns->v[i], spec, &e);
		} while (rc < 0 && strcmp(e.tag, "ET_UNDEF") == 0 && ++tries < 5);
		if (rc < 0) {
			for (; i < ns->n; i++) /* nobody is there to tell */
				ns->v[i].state = DONE;
			return fail(ns->c, &e, "failed to trace a node");
		}
	}
	return CLI_OK;
}

/* ---- what comes back --------------------------------------------------------------------- */

static void get_string(const ei_x_buff *x, int *at, char *buf, size_t size)
{
	const char *text = "";
	long len = 0;

	if (nd_get_text(x, at, &text, &len) < 0)
		ei_skip_term(x->buff, at);
	snprintf(buf, size, "%.*s", (int)len, text);
}

/* {N, ..}, one a script */
static void on_matched(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	int n = 0;
	long count;

	t->state = COMPILED;
	t->matched = true;
	if (ei_decode_tuple_header(x->buff, &at, &n) < 0)
		return;
	for (int i = 0; i < n && i < ns->c->nscripts; i++)
		if (ei_decode_long(x->buff, &at, &count) == 0 && count >= 0)
			ns->matched[i] = (ns->matched[i] < 0 ? 0 : ns->matched[i]) + count;
}

static void tell_failure(struct nodes *ns, long script, const erltrace_error_t *err)
{
	struct cli *c = ns->c;
	const struct cli_script *s =
		script >= 0 && script < c->nscripts ? &c->scripts[script] : NULL;

	ns->status = CLI_ERROR;
	c->errtags = cli_option_on(c, "errtags");
	if (s == NULL) {
		cli_fail(c, err, "processing aborted");
	} else if (c->mode == MODE_LIST && s->flag != 's') {
		cli_fail(c, err, "failed to match %s", s->arg);
	} else if (s->flag == 's') {
		c->said = s->arg;
		cli_fail(c, err, "failed to compile script %s", s->arg);
	} else {
		c->one_line = strchr(s->arg, '\n') == NULL;
		cli_fail(c, err, "invalid probe specifier %s", s->arg);
	}
}

/* {Script, {Tag, Line, Column, Text}} */
static void on_failed(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	erltrace_error_t err = {0};
	long script = -1, line = 0, column = 0;

	if (nd_get_tuple(x, &at, 2) < 0 || ei_decode_long(x->buff, &at, &script) < 0 ||
		nd_get_tuple(x, &at, 4) < 0)
		return;
	get_string(x, &at, err.tag, sizeof(err.tag));
	ei_decode_long(x->buff, &at, &line);
	ei_decode_long(x->buff, &at, &column);
	get_string(x, &at, err.text, sizeof(err.text));
	err.line = (int)line;
	err.column = (int)column;
	/* Of the nodes found, one need not have what another has. */
	if (strcmp(err.tag, "D_PDESC_ZERO") == 0 && !ns->named && t->state == STARTED) {
		ns->zero = err;
		ns->zero_script = (int)script;
		return;
	}
	tell_failure(ns, script, &err);
}

/* [{text | err, Text}] */
static void on_batch(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	struct et_error e = {.tag = ""};
	const char *text;
	char kind[16];
	int n = 0;
	long len;

	ei_decode_list_header(x->buff, &at, &n);
	for (int i = 0; i < n; i++) {
		if (nd_get_tuple(x, &at, 2) < 0 || nd_get_atom(x, &at, kind, sizeof(kind)) < 0 ||
			nd_get_text(x, &at, &text, &len) < 0)
			break;
		if (strcmp(kind, "text") == 0) {
			cli_write(ns->c, text, (size_t)len);
			continue;
		}
		cli_flush(ns->c);
		cli_say("%.*s", (int)len, text);
	}
	cli_flush(ns->c);
	nd_send_atom(t->nd, &t->agent, "more", &e);
}

/* {Id, Provider, Module, Function, Name, unknown | [Type], Absent, Note} */
static int list_row(struct cli *c, const ei_x_buff *x, int *at)
{
	char part[4][512], types[10][128], atom[16], note[512];
	const char *type[10];
	erltrace_probe_info_t p = {.provider = part[0],
		.module = part[1],
		.function = part[2],
		.name = part[3],
		.nargs = -1,
		.argtypes = type};
	long id;
	int n;

	if (nd_get_tuple(x, at, 8) < 0 || ei_decode_long(x->buff, at, &id) < 0)
		return -1;
	p.id = (uint32_t)id;
	for (int i = 0; i < 4; i++)
		get_string(x, at, part[i], sizeof(part[i]));
	if (nd_get_atom(x, at, atom, sizeof(atom)) < 0) {
		if (ei_decode_list_header(x->buff, at, &n) < 0 || n > 10)
			return -1;
		for (p.nargs = 0; p.nargs < n; p.nargs++) {
			get_string(x, at, types[p.nargs], sizeof(types[0]));
			type[p.nargs] = types[p.nargs];
		}
		if (n > 0)
			ei_skip_term(x->buff, at); /* the list's end */
	}
	if (nd_get_atom(x, at, atom, sizeof(atom)) < 0)
		return -1;
	p.absent = strcmp(atom, "true") == 0;
	get_string(x, at, note, sizeof(note));
	p.note = note;
	cli_list_probe(c, &p);
	return 1;
}

static void on_rows(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	struct et_error e = {.tag = ""};
	int n = 0;

	ei_decode_list_header(x->buff, &at, &n);
	for (int i = 0; i < n; i++)
		if (list_row(ns->c, x, &at) < 0)
			break;
	ns->listed |= n > 0;
	cli_flush(ns->c);
	nd_send_atom(t->nd, &t->agent, "more", &e);
}

static void on_done(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	long code = -1;

	ei_decode_long(x->buff, &at, &code);
	t->state = DONE;
	if (code >= 0 && ns->exit_code < 0)
		ns->exit_code = (int)code;
	nd_agent_gone(t->nd);
}

static void on_message(struct nodes *ns, struct target *t, const ei_x_buff *x)
{
	static const struct {
		const char *tag;
		void (*call)(struct nodes *ns, struct target *t, const ei_x_buff *x, int at);
	} table[] = {
		{"batch", on_batch},
		{"matched", on_matched},
		{"failed", on_failed},
		{"rows", on_rows},
		{"done", on_done},
	};
	int at = x->index;
	char tag[16];

	if (nd_get_tuple(x, &at, 2) < 0 || nd_get_atom(x, &at, tag, sizeof(tag)) < 0)
		return;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(tag, table[i].tag) == 0)
			table[i].call(ns, t, x, at);
}

/* Everything one node has sent. */
static void read_target(struct nodes *ns, struct target *t, ei_x_buff *x)
{
	struct et_error e = {.tag = ""};
	int rc;

	while (t->state != DONE && (rc = nd_receive(t->nd, x, 0, &e)) != 0) {
		if (rc > 0) {
			on_message(ns, t, x);
			continue;
		}
		t->state = DONE;
		cli_flush(ns->c);
		cli_say("%s", e.text);
		ns->status = CLI_ERROR;
	}
}

static bool all_done(const struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state != DONE)
			return false;
	return true;
}

/* Wait for messages of any node, or a signal; then read them all. */
static void receive(struct nodes *ns, int ms)
{
	struct pollfd fds[64];
	ei_x_buff x;
	int n = 0;

	for (int i = 0; i < ns->n && n < 64; i++)
		if (ns->v[i].state != DONE)
			fds[n++] = (struct pollfd){.fd = ns->v[i].nd->fd, .events = POLLIN};
	if (poll(fds, (nfds_t)n, ms) <= 0)
		return;
	ei_x_new(&x);
	for (int i = 0; i < ns->n; i++)
		read_target(ns, &ns->v[i], &x);
	ei_x_free(&x);
}

/* ---- the run ----------------------------------------------------------------------------- */

static void tell_all(struct nodes *ns, enum state from, enum state to, const char *word)
{
	struct et_error e = {.tag = ""};

	for (int i = 0; i < ns->n; i++) {
		struct target *t = &ns->v[i];

		if (t->state < from || t->state >= to)
			continue;
		t->state = to;
		nd_send_atom(t->nd, &t->agent, word, &e); /* gone: receive() will tell */
	}
}

static bool compiling(const struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == STARTED)
			return true;
	return false;
}

/* As cli_scripts(): what matched, over all nodes. */
static void tell_matches(struct nodes *ns)
{
	struct cli *c = ns->c;

	for (int i = 0; i < c->nscripts; i++) {
		const struct cli_script *s = &c->scripts[i];
		size_t len = s->flag == 's' ? strlen(s->arg) : strcspn(s->arg, "{/;");

		if (ns->matched[i] >= 0)
			cli_notice(c, "%s '%.*s' matched %ld probe%s",
				s->flag == 's' ? "script" : "description", (int)len, s->arg,
				ns->matched[i], ns->matched[i] == 1 ? "" : "s");
	}
}

static int compile(struct nodes *ns)
{
	bool matched = false;

	while (compiling(ns) && ns->status == CLI_OK && !cli_interrupts())
		receive(ns, 1000);
	for (int i = 0; i < ns->n; i++)
		matched |= ns->v[i].matched;
	if (ns->status == CLI_OK && !matched && ns->zero.tag[0] != '\0')
		tell_failure(ns, ns->zero_script, &ns->zero);
	if (ns->status == CLI_OK)
		tell_matches(ns);
	return ns->status;
}

static void run(struct nodes *ns)
{
	bool stopped = false;

	if (!ns->c->compile_only && ns->status == CLI_OK) {
		tell_all(ns, STARTED, RUNNING, "go");
		cli_procs_go(ns->c);
	} else {
		tell_all(ns, STARTED, STOPPING, "stop");
	}
	while (!all_done(ns)) {
		if (!stopped && cli_ended(ns->c)) {
			stopped = true;
			if (cli_interrupts() > 0 && !ns->c->json)
				cli_write(ns->c, "\n", 1); /* away from the terminal's ^C */
			tell_all(ns, STARTED, STOPPING, "stop");
		}
		receive(ns, ns->c->nprocs > 0 ? 100 : 1000);
	}
}

static void list(struct nodes *ns)
{
	cli_list_head(ns->c);
	while (!all_done(ns) && !cli_ended(ns->c))
		receive(ns, 1000);
	if (ns->zero.tag[0] == '\0' || ns->listed)
		ns->exit_code = -1; /* one node need not have what another has */
	else
		tell_failure(ns, ns->zero_script, &ns->zero);
}

static int with_nodes(struct nodes *ns)
{
	ei_x_buff spec;
	int status = CLI_ERROR;

	ei_x_new(&spec);
	if (put_spec(&spec, ns->c) == 0)
		status = start_all(ns, &spec);
	ei_x_free(&spec);
	if (status != CLI_OK)
		ns->status = status;
	cli_catch_signals(ns->c);
	if (ns->c->mode == MODE_LIST && ns->status == CLI_OK) {
		list(ns);
	} else {
		if (ns->status == CLI_OK)
			compile(ns);
		run(ns);
	}
	if (ns->status == CLI_OK)
		ns->status = cli_procs_failed(ns->c);
	return ns->status == CLI_OK && ns->exit_code > 0 ? ns->exit_code : ns->status;
}

int cli_nodes(struct cli *c)
{
	struct nodes ns = {.c = c, .exit_code = -1};
	struct et_error e = {.tag = ""};
	int status;

	if (c->mode != MODE_LIST && c->nscripts == 0) {
		cli_say("no probes specified");
		return CLI_ERROR;
	}
	ns.matched = malloc((size_t)(c->nscripts + 1) * sizeof(*ns.matched));
	for (int i = 0; ns.matched != NULL && i < c->nscripts; i++)
		ns.matched[i] = -1;
	if (ns.matched == NULL)
		status = CLI_ERROR;
	else if (nd_cookie(c->cookie_file, &ns.cookie, &e) < 0)
		status = fail(c, &e, "failed to reach nodes");
	else
		status = c->nnodes > 0 ? named_nodes(&ns) : local_nodes(&ns);
	if (status == CLI_OK)
		status = with_nodes(&ns);
	for (int i = 0; i < ns.n; i++)
		nd_close(ns.v[i].nd);
	memset(&ns.cookie, 0, sizeof(ns.cookie));
	free(ns.v);
	free(ns.matched);
	return status;
}

#endif
