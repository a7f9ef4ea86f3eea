/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang nodes: -N, -p of a node's process, a node that -c starts, or every local node when a
 * script names an erlang provider. The scripts are compiled and run inside the nodes by the agent
 * there (src/erltrace_agent.erl has the messages); here nodes are found and scripts are sent, in
 * node_run.c what comes back is printed. Whatever ends this process ends the tracing: the agent
 * watches the connection.
 */
#include "node.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* Providers whose probes are this machine's, whatever nodes there are. */
static bool is_of_kernel(const char *p)
{
	static const char *const names[] = {"syscall", "pid", "sched", "proc", "usdt"};
	size_t len = strcspn(p, ":");

	if (p[len] != ':')
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]);

		if (len >= n && strncmp(p, names[i], n) == 0 &&
			(len == n || (i == 1 && strspn(p + n, "0123456789$target*") == len - n)))
			return true;
	}
	return false;
}

static bool is_of_erlang(const char *p)
{
	return strncmp(p, "erlang", 6) == 0 &&
	       p[6 + strspn(p + 6, "0123456789*?[]!-$target")] == ':';
}

/* The next description outside of comments, strings and bodies that has a colon, or NULL. */
static const char *next_description(const char *p, bool start)
{
	while (*p != '\0') {
		const char *q = past(p);

		if (q != NULL) {
			p = q;
			start = true;
			continue;
		}
		if (start && (isalpha((unsigned char)*p)) && p[strcspn(p, " \t\n,;{}/:")] == ':')
			return p;
		start = isspace((unsigned char)*p) || *p == ',' || *p == ';' || *p == '}';
		p++;
	}
	return NULL;
}

enum whose { OF_NODE, OF_VM, OF_NOBODY };

/* Who gives an erlang probe: tracing inside a node; the kernel, by functions of the VM; or nobody. */
static enum whose whose_probe(const char *d)
{
	static const struct {
		const char *name, *why;
	} absent[] = {
#define PROBE(ID, name, ...)
#define ABSENT(ID, name, why, ...) {name, why},
#include "../beam/probes.def"
	};
	static const char needs[] = "needs the kernel engine";
	size_t len = strcspn(d, " \t\n,;{}/"), from = len;

	while (from > 0 && d[from - 1] != ':')
		from--;
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (strlen(absent[i].name) == len - from &&
			strncmp(d + from, absent[i].name, len - from) == 0)
			return strncmp(absent[i].why, needs, sizeof(needs) - 1) == 0 ? OF_VM
										     : OF_NOBODY;
	return OF_NODE;
}

struct named {
	bool erlang, kernel, inside; /* inside: erlang probes that a node gives itself */
	bool vm;		     /* those that it does not, and the kernel does */
	bool gone;		     /* those that nobody does: the node tells why */
	bool asks;		     /* erlpid and so on, which a thread of a node has at any probe */
	int pid; /* of erlang<N>, or 0 */
};

/* An erlang probe of the VM's own: its module is the VM. */
static bool is_native(const char *d)
{
	const char *mod = d + strcspn(d, ":") + 1;

	return strncmp(mod, "beam.smp:", 9) == 0 || strncmp(mod, "a.out:", 6) == 0;
}

/* Built-ins that are of an Erlang process. */
static bool names_builtin(const char *text)
{
	static const char *const names[] = {"erlpid", "erlname", "erlnode", "erlsched"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(text, names[i]) != NULL)
			return true;
	return false;
}

static void look(struct named *n, const char *text)
{
	const char *d = text;

	for (d = next_description(d, true); d != NULL; d = next_description(d + 1, false)) {
		bool erlang = is_of_erlang(d) && !is_native(d);

		if (erlang && isdigit((unsigned char)d[6]))
			n->pid = atoi(d + 6);
		n->kernel |= is_of_erlang(d) && is_native(d);
		n->erlang |= erlang;
		n->vm |= erlang && whose_probe(d) == OF_VM;
		n->gone |= erlang && whose_probe(d) == OF_NOBODY;
		n->inside |= erlang && whose_probe(d) != OF_VM;
		n->kernel |= is_of_kernel(d);
	}
	n->asks |= names_builtin(text);
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
	if (in == stdin)
		rewind(stdin);
	else
		fclose(in);
	return text;
}

/* May this process trace in the kernel? */
static bool may_use_kernel(void)
{
	char line[256];
	unsigned long long caps = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return (caps >> 39 & caps >> 38 & 1) || (caps >> 21 & 1); /* BPF and PERFMON, or SYS_ADMIN */
}

/* The script runs in the kernel: its provider erlang is told which nodes are meant. */
static void run_in_kernel(struct cli *c)
{
	char pid[16];
	bool any = c->nnodes > 0;

	c->in_kernel = true;
	for (int i = 0; i < c->nnodes; i++)
		erltrace_setopt(c->h, "erlnode", c->nodes[i], NULL);
	for (int i = 0; i < c->nprocs; i++) {
		any = true;
		if (c->procs[i].command != NULL && c->nnodes == 0) {
			c->awaits_node = true; /* which process it will be is not known yet */
			continue;
		}
		snprintf(pid, sizeof(pid), "%d", (int)c->procs[i].pid);
		erltrace_setopt(c->h, "erlnode", pid, NULL);
	}
	if (!any)
		erltrace_setopt(c->h, "erlnode", "*", NULL);
	if (c->cookie_file != NULL)
		setenv("ERL_COOKIE_FILE", c->cookie_file, 1);
}

/*
 * One script runs in one place: in the kernel, if it has a probe that only the kernel has and this
 * process may trace there; else inside the nodes. A listing shows what a node has itself.
 */
static bool is_for_kernel(struct cli *c, const struct named *n)
{
	const char *why = NULL;

	if (n->kernel && (n->erlang || n->asks || c->nnodes > 0))
		why = "its probes are of the kernel too";
	else if (n->vm && !n->gone && may_use_kernel() && (c->mode != MODE_LIST || !n->inside))
		why = "it has erlang probes that are functions of the VM";
	if (why != NULL && c->verbose)
		cli_say("the script runs in the kernel: %s; events inside nodes go there", why);
	return why != NULL;
}

bool cli_nodes_wanted(struct cli *c)
{
	struct named n = {0};

	if (c->nnodes == 0 && c->compile_only) /* -e: whether it is right can be told without one */
		return false;
	for (int i = 0; i < c->nscripts; i++) {
		bool stdin_once = strcmp(c->scripts[i].arg, "-") == 0 && lseek(0, 0, SEEK_CUR) < 0;
		char *text = stdin_once ? NULL : script_text(&c->scripts[i]);

		if (text != NULL)
			look(&n, text);
		free(text);
	}
#ifdef HAVE_KERNEL
	if (n.erlang && c->nnodes == 0 && cli_native(c, n.pid))
		return false;
	if (is_for_kernel(c, &n)) {
		run_in_kernel(c);
		return false;
	}
#else
	(void)is_for_kernel;
	(void)run_in_kernel;
#endif
	/* What can be read once only is for the nodes that were named, or for this machine. */
	return c->nnodes > 0 ? n.erlang || !n.kernel : n.erlang;
}

/* Is it a probe of a process, whose library may be loaded later: pid12:, python$target:? */
static bool is_of_process(const char *d)
{
	size_t len = strcspn(d, ":");

	return !is_of_erlang(d) && len > 0 &&
	       (isdigit((unsigned char)d[len - 1]) || (len > 7 && strncmp(d + len - 7, "$target", 7) == 0));
}

bool cli_may_come(struct cli *c)
{
	bool may = false;

	for (int i = 0; i < c->nscripts && !may; i++) {
		char *text = strcmp(c->scripts[i].arg, "-") == 0 ? NULL : script_text(&c->scripts[i]);
		const char *d = text != NULL ? next_description(text, true) : NULL;

		for (; d != NULL && !may; d = next_description(d + 1, false))
			may = is_of_process(d);
		free(text);
	}
	return may;
}

bool cli_target_named(struct cli *c)
{
	bool named = false;

	for (int i = 0; i < c->nscripts && c->nprocs > 0 && !named; i++) {
		char *text =
			strcmp(c->scripts[i].arg, "-") == 0 ? NULL : script_text(&c->scripts[i]);

		named = text != NULL && strstr(text, "$target:") != NULL;
		free(text);
	}
	return named;
}

#ifndef HAVE_EI

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

#else

/* Is the address one of this machine's? Only these can be bound to. */
static bool is_ours(struct in_addr addr)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = addr};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ours = fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0;

	if (fd >= 0)
		close(fd);
	return ours;
}

/* The kernel sees this machine only: a process of another one would be taken for one of ours. */
static int all_here(struct cli *c)
{
	if (c->cluster) {
		cli_say("--cluster: the script has probes of the kernel, which are of this machine "
			"only; name its nodes with -N or -p, and run the command on each machine");
		return CLI_ERROR;
	}
	for (int i = 0; i < c->nnodes; i++) {
		const char *host = strchr(c->nodes[i], '@');
		struct et_error e = {.tag = ""};
		struct in_addr addr;

		if (host == NULL || nd_address(host + 1, &addr, &e) < 0 || is_ours(addr))
			continue; /* one that is not found is told when it is asked */
		cli_say("-N %s: the script has probes of the kernel, which are of this machine only, "
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
		nd_close(ns.v[i].nd);
	}
	free(ns.v);
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

static void put_settings(ei_x_buff *x, const struct cli *c)
{
	put_pair(x, "settings");
	for (int i = 0; i < c->nsettings; i++)
		if (!is_for_cpp(c->settings[i].name))
			put_setting(x, c->settings[i].name, c->settings[i].value);
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

/* A script as it is sent; NULL: the error has been told. */
static char *sent_text(struct cli *c, const struct cli_script *s)
{
	erltrace_error_t err = {0};
	char *text;

	if (s->flag == 's' && (c->preprocess || cli_option_on(c, "cpp"))) {
		const char *path = strcmp(s->arg, "-") == 0 ? "/dev/stdin" : s->arg;

		text = erltrace_preprocess(c->h, path, &err);
		c->said = path;
		if (text == NULL)
			cli_fail(c, &err, "failed to compile script %s", s->arg);
		return text;
	}
	text = c->mode == MODE_LIST && s->flag != 's' ? cli_description(s) : script_text(s);
	if (text == NULL) {
		snprintf(err.text, sizeof(err.text), "cannot open %s: %s", s->arg, strerror(errno));
		cli_fail(c, &err, "failed to compile script %s", s->arg);
	}
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
	c->quiet |= turns_quiet(text);
	free(text);
	return 0;
}

static void put_number(ei_x_buff *x, const char *key, long long n)
{
	put_pair(x, key);
	ei_x_encode_longlong(x, n);
}

/* -xsilence, in ms: it comes back as text, "30s" or so. */
static int silence_ms(struct cli *c)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = {{"ns", 1e-6}, {"us", 1e-3}, {"ms", 1}, {"s", 1000}, {"m", 60000},
		{"h", 3600000}, {"d", 86400000}, {"", 1e-6}};
	char value[64] = "", *unit;
	double n;

	if (erltrace_getopt(c->h, "silence", value, sizeof(value), NULL) < 0)
		return 30000;
	n = strtod(value, &unit);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].unit) == 0 && n * units[i].ms < 1e9)
			return (int)(n * units[i].ms);
	return 30000;
}

/* Of what is said to the agents: src/erltrace_agent.erl has the same number. */
enum { PROTOCOL = 1 };

/* What erltrace_agent:start/3 is to do, once for all nodes. */
static int put_spec(ei_x_buff *x, struct nodes *ns)
{
	struct cli *c = ns->c;
	int silence = silence_ms(c);

	if (silence == 0) /* never */
		silence = 1000000000;
	ns->beat_ms = silence / 4 < 1000 ? silence / 4 : 1000;
	put_number(x, "protocol", PROTOCOL);
	put_settings(x, c);
	put_flag(x, "json", c->json);
	put_flag(x, "list", c->mode == MODE_LIST);
	put_flag(x, "zero", c->zero_matches);
	put_flag(x, "terminal", isatty(fileno(c->out)) == 1);
	put_flag(x, "verbose", c->verbose > 0);
	put_flag(x, "code", c->show_code || cli_option_on(c, "verbose"));
	put_number(x, "silence", silence);
	if (c->live_ms > 0)
		put_number(x, "live", c->live_ms);
	if (c->nprocs > 0) {
		put_number(x, "target", ns->n == 1 ? ns->v[0].nd->ospid : c->procs[0].pid);
		put_number(x, "preview", 200); /* it may end any time */
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

/* It has another erltrace: its own, or what another command has brought. */
static int other_version(const struct nd *n, struct et_error *e)
{
	if (n->came)
		return et_err(e, "ET_VERSION",
			"another command, of another version, is tracing the node %s: trace it with "
			"the same, or wait for that to end",
			n->name);
	return et_err(e, "ET_VERSION",
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
	if (rc < 0 && strcmp(e->tag, "ET_UNDEF") == 0) { /* an agent without such a function */
		et_err_clear(e);
		rc = other_version(t->nd, e);
	} else if (rc == 0 && (nd_get_tuple(&res, &res.index, 2) < 0 ||
				      nd_get_atom(&res, &res.index, word, sizeof(word)) < 0 ||
				      ei_decode_pid(res.buff, &res.index, &t->agent) < 0)) {
		nd_get_tuple(&res, &res.index, 2);
		nd_get_atom(&res, &res.index, why, sizeof(why));
		rc = strcmp(why, "protocol") == 0
			     ? other_version(t->nd, e)
			     : et_err(e, "ET_AGENT", "the agent of %s does not start: %s",
				       t->nd->name, why);
	}
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

static int start_all(struct nodes *ns, const ei_x_buff *spec)
{
	for (int i = 0; i < ns->n; i++) {
		struct et_error e = {.tag = ""};
		int rc = nd_agent(ns->v[i].nd, &e);

		if (rc == 0)
			rc = start(&ns->v[i], spec, &e);
		if (rc == 0)
			continue;
		if (ns->c->nnodes == 0 && ns->n > 1) { /* nobody has named it */
			cli_notice(ns->c, "left out: %s", e.text);
			nd_agent_gone(ns->v[i].nd);
			nd_close(ns->v[i].nd);
			memmove(&ns->v[i], &ns->v[i + 1],
				(size_t)(--ns->n - i) * sizeof(*ns->v));
			i--;
			continue;
		}
		for (; i < ns->n; i++) /* nobody is there to tell */
			ns->v[i].state = DONE;
		if (strcmp(e.tag, "ET_GONE") == 0 && node_command_ends(ns->c))
			node_too_short(&e);
		return node_fail(ns->c, &e, "failed to trace a node");
	}
	return CLI_OK;
}

static int with_nodes(struct nodes *ns)
{
	ei_x_buff spec;
	int status;

	ei_x_new(&spec);
	if (put_spec(&spec, ns) < 0) {
		ei_x_free(&spec);
		return CLI_ERROR;
	}
	status = start_all(ns, &spec);
	ei_x_free(&spec);
	if (status != CLI_OK)
		ns->status = status; /* those that were started are stopped */
	return node_run(ns);
}

int cli_nodes(struct cli *c)
{
	struct nodes ns = {.c = c, .exit_code = -1};
	int status;

	if (c->mode != MODE_LIST && c->nscripts == 0) {
		cli_say("no probes specified");
		return CLI_ERROR;
	}
	ns.matched = malloc((size_t)(c->nscripts + 1) * sizeof(*ns.matched));
	for (int i = 0; ns.matched != NULL && i < c->nscripts; i++)
		ns.matched[i] = -1;
	status = ns.matched == NULL ? CLI_ERROR : node_find(&ns);
	if (status == CLI_OK)
		status = with_nodes(&ns);
	for (int i = 0; i < ns.n; i++) {
		nd_agent_gone(ns.v[i].nd);
		nd_close(ns.v[i].nd);
		ei_x_free(&ns.v[i].preview);
		free(ns.v[i].raw);
	}
	memset(&ns.cookie, 0, sizeof(ns.cookie));
	free(ns.v);
	free(ns.matched);
	return status;
}

#endif
