/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -l: the probes there are, or those that -n -P -m -f -i and the clauses of -s name, in dtrace's
 * columns; with -v their stability and the types of their arguments. Nothing is enabled.
 */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "script.h"

void cli_put_attr(struct output *o, const char *what, const struct et_attr *a)
{
	output_printf(o,
		"\n\t%s Attributes\n"
		"\t\tIdentifier Names: %s\n"
		"\t\tData Semantics:   %s\n"
		"\t\tDependency Class: %s\n",
		what, et_attr_word(a, 0), et_attr_word(a, 1), et_attr_word(a, 2));
}

void cli_list_details(struct output *o, const erltrace_probe_info_t *p)
{
	struct et_attr names, args;

	et_attr_of_provider(p->provider, &names, &args);
	cli_put_attr(o, "Probe Description", &names);
	cli_put_attr(o, "Argument", &args);
	output_printf(o, "\n\tArgument Types\n");
	for (int i = 0; i < p->nargs; i++)
		output_printf(o, "\t\targs[%d]: %s\n", i,
			p->argtypes != NULL && p->argtypes[i] != NULL ? p->argtypes[i] : "int64_t");
	if (p->nargs <= 0)
		output_printf(o, "\t\t%s\n", p->nargs == 0 ? "None" : "Unknown");
	if (p->note != NULL && p->note[0] != '\0')
		output_printf(o, "\n\tNote\n\t\t%s\n", p->note);
	output_printf(o, "\n");
}

/* All probes of a node are tens of thousands of lines: on a terminal, a line for each module. */
static bool sums_up(const struct cli *c)
{
	return c->out.terminal && c->req.nscripts == 0 && c->req.verbose == 0;
}

static void put_sum(struct cli_listing *l)
{
	if (l->n > 0)
		output_printf(&l->c->out, "%10s %33s %8u\n", l->provider, l->module, l->n);
	l->n = 0;
}

static int sum_probe(struct cli_listing *l, const erltrace_probe_info_t *p)
{
	if (strncmp(l->provider, p->provider, sizeof(l->provider) - 1) != 0 ||
		strncmp(l->module, p->module, sizeof(l->module) - 1) != 0)
		put_sum(l);
	snprintf(l->provider, sizeof(l->provider), "%s", p->provider);
	snprintf(l->module, sizeof(l->module), "%s", p->module);
	l->n++;
	return l->c->out.write_error != 0;
}

void cli_list_end(struct cli_listing *l)
{
	if (!sums_up(l->c))
		return;
	put_sum(l);
	output_printf(&l->c->out,
		"\nerltrace -l -m MODULE lists the probes of a module, -l -P PROVIDER those of a "
		"provider,\nerltrace -l | cat all of them.\n");
}

int cli_list_probe(void *arg, const erltrace_probe_info_t *p)
{
	struct cli_listing *l = arg;
	struct output *o = &l->c->out;

	if (o->worker != NULL) {
		output_printf(o, "%s:%s:%s:%s\n", p->provider, p->module, p->function, p->name);
		return 0;
	}
	if (sums_up(l->c))
		return sum_probe(l, p);
	output_printf(o, "%5u %10s %17s %33s %s%s\n", p->id, p->provider, p->module, p->function,
		p->name, p->absent ? " (not here)" : "");
	if (l->c->req.verbose != 0)
		cli_list_details(o, p);
	return o->write_error != 0;
}

static int list_description(struct cli_listing *l, const char *desc)
{
	struct cli *c = l->c;
	erltrace_error_t err = {0};
	int n = erltrace_probes(c->h, desc, cli_list_probe, l, &err);

	if (n < 0 && c->out.write_error == 0)
		return cli_fail(c, &err, "failed to match %s", desc);
	if (n == 0 && !c->req.zero_matches) {
		cli_say("failed to match %s: %s", desc,
			err.text[0] != '\0' ? err.text : "no probe matches the description");
		return CLI_ERROR;
	}
	return CLI_OK;
}

/* A comma list: each of its descriptions in turn. */
static int list_descriptions(struct cli_listing *l, const struct cli_script *s)
{
	int status = CLI_OK;

	if (s->err.tag[0] != '\0')
		return cli_script_failed(l->c, s, &s->err);
	for (int i = 0; i < s->ndescs; i++)
		if (list_description(l, s->descs[i].text) != CLI_OK)
			status = CLI_ERROR;
	return status;
}

/* A script file must be compiled to know its clauses. */
static int list_file(struct cli_listing *l, struct cli_script *s)
{
	struct cli *c = l->c;
	erltrace_error_t err = {0};
	int status = cli_compile(c, s);

	if (status == CLI_OK && erltrace_script_probes(c->h, cli_list_probe, l, &err) < 0 &&
		c->out.write_error == 0)
		return cli_fail(c, &err, "failed to list the probes of %s", s->arg);
	return status;
}

static int list_script(struct cli_listing *l, struct cli_script *s)
{
	return s->flag == 's' ? list_file(l, s) : list_descriptions(l, s);
}

void cli_list_head(const struct cli_listing *l)
{
	struct output *o = &l->c->out;

	if (o->worker != NULL)
		return;
	if (sums_up(l->c))
		output_printf(o, "%10s %33s %8s\n", "PROVIDER", "MODULE", "PROBES");
	else
		output_printf(o, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION",
			"NAME");
}

int cli_list(struct cli *c)
{
	struct cli_listing l = {.c = c};
	erltrace_error_t err = {0};
	int status = CLI_OK;

	cli_list_head(&l);
	if (c->req.nscripts == 0 && erltrace_probes(c->h, NULL, cli_list_probe, &l, &err) < 0 &&
		c->out.write_error == 0)
		return cli_fail(c, &err, "failed to list probes");
	for (int i = 0; i < c->req.nscripts; i++)
		if (list_script(&l, &c->req.scripts[i]) != CLI_OK)
			status = CLI_ERROR;
	cli_list_end(&l);
	return status;
}
