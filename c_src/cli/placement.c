/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a script runs: inside Erlang nodes, in the kernel, or in this process. Its probes decide
 * it, before it is compiled, because it is compiled where it runs. (script_scan.c has asked the
 * library which probes there are.)
 *
 */
#include "cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "placement.h"
#include "vm_usdt.h"

/* Behind a provider's name: the number of a process, or a glob of it. */
static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789*?[]!-")] == '\0';
}

static bool is_erlang(const char *provider)
{
	return strncmp(provider, "erlang", 6) == 0 && is_number(provider + 6);
}

enum whose { OF_NODE, OF_VM, OF_NOBODY };
enum { OF_UPROBE = OF_VM, OF_GONE = OF_NOBODY, OF_ALIKE = OF_NOBODY, OF_HIDDEN = OF_NOBODY };

/* Where an erlang probe fires: inside a node, in the kernel at a function of the VM, or nowhere. */
static enum whose whose_probe(const char *name)
{
	static const struct {
		const char *name;
		int whose;
	} absent[] = {
#define PROBE(...)
#define ABSENT(ID, name, reason, ...) {name, OF_##reason},
#include "erlang_probes.def"
	};

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (strcmp(absent[i].name, name) == 0)
			return absent[i].whose;
	return OF_NODE;
}

/* An erlang probe of the VM's own: its module is the VM. */
static bool is_native(const char *module)
{
	return strcmp(module, "beam.smp") == 0 || strcmp(module, "a.out") == 0;
}

/* The number of a process that the provider ends with, or 0: $target is one by now. */
static int process_of(const char *provider)
{
	size_t len = strlen(provider);

	while (len > 0 && isdigit((unsigned char)provider[len - 1]))
		len--;
	return atoi(provider + len);
}

static void on_erlang(struct cli_uses *h, const erltrace_scan_item_t *item)
{
	enum whose whose = whose_probe(item->name);

	if (is_native(item->module)) {
		h->kernel = true;
		return;
	}
	if (isdigit((unsigned char)item->provider[6]))
		h->erlang_pid = process_of(item->provider);
	h->erlang = true;
	h->vm_probes |= whose == OF_VM;
	h->absent_probes |= whose == OF_NOBODY;
	h->node_probes |= whose != OF_VM;
}

void cli_place_probe(struct cli *c, const erltrace_scan_item_t *item)
{
	struct cli_uses *h = &c->uses;
	int pid = process_of(item->provider);

	if (is_erlang(item->provider))
		on_erlang(h, item);
	else if (strcmp(item->provider, "state") == 0) /* what there is in a node */
		h->erlang = h->node_probes = true;
	else
		h->process_probes |= pid != 0;
	h->kernel |= item->kernel != 0;
	h->samples |= strncmp(item->name, "profile-", 8) == 0;
	/* processes are asked by the node that they are in: that of -p */
	if (strncmp(item->name, "profile-wall-", 13) == 0 && c->procs.n > 0)
		h->erlang = h->node_probes = true;
	/* a provider by a glob may be one that the program carries: python* */
	h->target_probes |=
		c->procs.n > 0 &&
		((pid != 0 && pid == (int)c->procs.v[0].pid) ||
			(!is_erlang(item->provider) && strpbrk(item->provider, "*?[") != NULL));
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

/*
 * The script runs in the kernel: the option erlnode tells its provider erlang which nodes to use.
 */
static void run_in_kernel(struct cli *c)
{
	char pid[16];
	bool any = c->req.nnodes > 0;

	c->place.in_kernel = true;
	for (int i = 0; i < c->req.nnodes; i++)
		erltrace_setopt(c->h, "erlnode", c->req.nodes[i], NULL);
	for (int i = 0; i < c->procs.n; i++) {
		any = true;
		if (c->procs.v[i].command != NULL && c->req.nnodes == 0) {
			c->place.awaits_node = true; /* which process it will be is not known yet */
			continue;
		}
		snprintf(pid, sizeof(pid), "%d", (int)c->procs.v[i].pid);
		erltrace_setopt(c->h, "erlnode", pid, NULL);
	}
	if (!any)
		erltrace_setopt(c->h, "erlnode", "*", NULL);
}

/*
 * One script runs in one place: in the kernel, if it has a probe that only the kernel has and this
 * process may trace there; else inside the nodes. A listing shows what a node has itself.
 */
static bool is_for_kernel(struct cli *c)
{
	const struct cli_uses *n = &c->uses;
	const char *why = NULL;

	if (n->kernel && (n->erlang || n->erlang_builtins || c->req.nnodes > 0))
		why = "it has kernel probes";
	else if (n->samples && n->erlang_builtins && !n->erlang && c->req.nnodes == 0 &&
		 may_use_kernel())
		why = "only the kernel knows which Erlang process a CPU runs";
	else if (n->samples && n->kernel_stacks && !n->erlang && c->req.nnodes > 0 &&
		 may_use_kernel())
		why = "only the kernel knows its own stacks";
	else if (n->vm_probes && !n->absent_probes && may_use_kernel() &&
		 (c->req.mode != MODE_LIST || !n->node_probes))
		why = "it has erlang probes that are functions of the VM";
	if (why != NULL && c->req.verbose)
		cli_say("the script runs in the kernel: %s; events inside nodes are passed to it",
			why);
	return why != NULL;
}

/* The script is one of that node, where the kernel is permitted. */
static bool run_by_helper(struct cli *c)
{
	c->place.by_helper = true;
	c->req.nnodes = 0;
	return cli_add_node(&c->req, c->req.kernel_node);
}

bool cli_runs_in_nodes(struct cli *c)
{
	const struct cli_uses *n = &c->uses;

	if (c->req.nnodes == 0 &&
		c->req.compile_only) /* -e: a script can be checked without a node */
		return false;
	if (c->req.nnodes > 0 &&
		!cli_option_on(c->h, "kernel")) /* nothing runs outside of the nodes */
		return true;
	if (c->req.kernel_node != NULL)
		return (n->kernel || n->process_probes) ? run_by_helper(c) : true;
#ifdef HAVE_KERNEL
	if (n->erlang && c->req.nnodes == 0 && cli_is_usdt_vm(c, n->erlang_pid))
		return false;
	if (is_for_kernel(c)) {
		run_in_kernel(c);
		return false;
	}
#else
	(void)is_for_kernel;
	(void)run_in_kernel;
#endif
	if (c->req.nnodes > 0)
		return n->erlang || !n->kernel;
	c->place.either = !n->erlang && c->req.mode == MODE_LIST && !n->kernel &&
			  !n->process_probes && cli_is_vm(&c->procs);
	return n->erlang || c->place.either;
}

int cli_permitted(struct cli *c)
{
	struct et_error err = {.tag = ""};

	if (c->place.by_helper && c->uses.erlang && !c->req.only_kernel_node) {
		et_err(&err, ET_NODE,
			"the helper of %s traces the kernel for this page, and erlang probes of that "
			"node besides, not of others: choose that node",
			c->req.kernel_node);
		return cli_fail(c, &err, "could not enable tracing");
	}
	if (c->req.mode == MODE_LIST || !c->uses.kernel || cli_option_on(c->h, "kernel"))
		return CLI_OK;
	et_err(&err, ET_PERMISSION,
		"probes of the kernel are not permitted here (option kernel is off; for the page: "
		"erltrace web --kernel)");
	return cli_fail(c, &err, "could not enable tracing");
}
