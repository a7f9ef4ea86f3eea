/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a script is to run: inside Erlang nodes, in the kernel, or in this process. The probes that
 * it names say so, before it is compiled, for where it runs it is compiled.
 */
#include "cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Is it a probe of a process, whose library may be loaded later: pid12:, python$target:? */
static bool is_of_process(const char *d)
{
	size_t len = strcspn(d, ":");

	return !is_of_erlang(d) && len > 0 &&
	       (isdigit((unsigned char)d[len - 1]) ||
		       (len > 7 && strncmp(d + len - 7, "$target", 7) == 0));
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

/* Who gives an erlang probe: tracing inside a node; the kernel, by functions of the VM; nobody. */
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
	bool asks;		     /* erlpid and so on: a thread of a node has it at any probe */
	bool samples;		     /* profile-N */
	bool process;		     /* of a process: pid12, python$target */
	bool stacks;		     /* stack(), ustack() and the like */
	int pid;		     /* of erlang<N>, or 0 */
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
		n->process |= is_of_process(d);
	}
	n->asks |= names_builtin(text);
	n->samples |= strstr(text, "profile-") != NULL;
	n->stacks |= strstr(text, "stack(") != NULL || strstr(text, "ucaller") != NULL;
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
	/* BPF and PERFMON, or SYS_ADMIN */
	return (caps >> 39 & caps >> 38 & 1) || (caps >> 21 & 1);
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
	else if (n->samples && n->asks && !n->erlang && may_use_kernel())
		why = "which Erlang process a processor is at, the kernel tells";
	else if (n->samples && n->stacks && !n->erlang && c->nnodes > 0 && may_use_kernel())
		why = "what a processor is at, the kernel tells";
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
		char *text = stdin_once ? NULL : cli_script_text(&c->scripts[i]);

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
	if (c->nnodes > 0)
		return n.erlang || !n.kernel;
	c->either = !n.erlang && c->mode == MODE_LIST && !n.kernel && !n.process && cli_is_vm(c);
	return n.erlang || c->either;
}

bool cli_may_come(struct cli *c)
{
	bool may = false;

	for (int i = 0; i < c->nscripts && !may; i++) {
		char *text = strcmp(c->scripts[i].arg, "-") == 0 ? NULL
								 : cli_script_text(&c->scripts[i]);
		const char *d = text != NULL ? next_description(text, true) : NULL;

		for (; d != NULL && !may; d = next_description(d + 1, false))
			may = is_of_process(d);
		free(text);
	}
	return may;
}

/* A provider by a glob may be one that the program carries: python*:. */
static bool names_glob(const char *text)
{
	const char *d = next_description(text, true);

	for (; d != NULL; d = next_description(d + 1, false))
		if (!is_of_erlang(d) && strcspn(d, "*?[") < strcspn(d, ":"))
			return true;
	return false;
}

bool cli_target_named(struct cli *c)
{
	bool named = false;

	for (int i = 0; i < c->nscripts && c->nprocs > 0 && !named; i++) {
		char *text = strcmp(c->scripts[i].arg, "-") == 0 ? NULL
								 : cli_script_text(&c->scripts[i]);

		named = text != NULL && (strstr(text, "$target:") != NULL || names_glob(text));
		free(text);
	}
	return named;
}
