/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts of the command line: clauses given by -n -P -m -f -i, files given by -s. Each is
 * compiled in its turn, and what it matched is told.
 */
#include "script.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cli/cli.h"
#include "list.h"
#include "script_library.h"

/* -P names a provider: three colons are missing behind it; -m two, -f one. */
int cli_script_colons(const struct cli_script *s)
{
	return s->flag == 'P' ? 3 : s->flag == 'm' ? 2 : s->flag == 'f' ? 1 : 0;
}

void cli_script_opts(const struct cli *c, const struct cli_script *s, erltrace_compile_opts_t *opts)
{
	*opts = (erltrace_compile_opts_t){.size = sizeof(*opts),
		.argc = c->req.nargs,
		.argv = c->req.args,
		.zero_matches = c->req.zero_matches || c->req.mode == MODE_LIST,
		.colons = cli_script_colons(s),
		.default_action = s->flag != 's'};
	if (s->flag == 's') {
		opts->file = strcmp(s->arg, "-") == 0 ? "/dev/stdin" : s->arg;
		opts->preprocess = s->preprocessed ? -1 : 0;
	}
}

/* A script of the library with arguments that it does not take, or without those that it needs. */
void cli_script_usage(const struct cli_script *s, const erltrace_error_t *err)
{
	const char *name = s->found != NULL ? strrchr(s->found, '/') : NULL;

	if (name != NULL && strncmp(err->tag, "D_MACRO_", 8) == 0)
		cli_say("what it takes is told by erltrace --scripts %.*s",
			(int)strcspn(name + 1, "."), name + 1);
}

/* The script's own name has been said; that of an included file has not. */
int cli_script_failed(struct cli *c, const struct cli_script *s, const erltrace_error_t *err)
{
	c->failing.errtags = cli_option_on(c->h, "errtags");
	if (s->flag == 's') {
		c->failing.said = strcmp(s->arg, "-") == 0 ? "/dev/stdin" : s->arg;
		cli_fail(c, err, "failed to compile script %s", s->arg);
		cli_script_usage(s, err);
		return CLI_ERROR;
	}
	/* As dtrace: no line number, unless there are several lines. */
	c->failing.one_line = strchr(s->arg, '\n') == NULL && err->file[0] == '\0';
	return cli_fail(c, err, "invalid probe specifier %s", s->arg);
}

static int compile(struct cli *c, struct cli_script *s)
{
	erltrace_compile_opts_t opts;
	erltrace_error_t err = {0};
	int r;

	cli_script_opts(c, s, &opts);
	if (s->flag != 's') {
		r = erltrace_compile(c->h, s->arg, &opts, &err);
	} else if (s->text != NULL) {
		r = erltrace_compile_n(c->h, s->text, s->len, &opts, &err);
	} else {
		r = -1;
		err = s->err;
	}
	if (r == 0)
		return CLI_OK;
	if (et_err_is(&err, ET_FILE) && access(opts.file, F_OK) != 0)
		cli_library_hint(opts.file, err.text, sizeof(err.text));
	return cli_script_failed(c, s, &err);
}

/* As dtrace: the description as it was typed, spaces and all. */
int cli_script_length(const struct cli_script *s)
{
	return s->flag == 's' ? (int)strlen(s->arg) : (int)s->body;
}

/* The request has what there is to run. A script of the library is found by its name. */
bool cli_add_script(struct cli_request *r, char flag, const char *arg)
{
	char *found = flag == 's' && access(arg, F_OK) != 0 ? cli_library_find(arg) : NULL;

	if (!ARRAY_ROOM(r->scripts, (size_t)r->nscripts)) {
		free(found);
		return false;
	}
	r->scripts[r->nscripts++] = (struct cli_script){
		.flag = flag, .arg = found != NULL ? found : arg, .found = found};
	return true;
}

/* ---- -v --------------------------------------------------------------------------------- */

static int on_matched(void *arg, const erltrace_probe_info_t *p)
{
	struct cli_script *s = arg;
	struct et_attr names, args;

	et_attr_of_provider(p->provider, &names, &args);
	et_attr_least(&s->least, &names);
	return 0;
}

struct described {
	struct output *o;
	const char *text; /* as written */
};

/* What a description names, by the first probe that it matches. */
static int on_described(void *arg, const erltrace_probe_info_t *p)
{
	const struct described *d = arg;

	if (strpbrk(d->text, "*?[") != NULL)
		output_printf(d->o, "%s\n", d->text);
	else
		output_printf(d->o, "%s:%s:%s:%s\n", p->provider, p->module, p->function, p->name);
	cli_list_details(d->o, p);
	return 1;
}

/* As dtrace: how stable it is, and with -e its probes; then what the program is made of. */
static void tell_program(struct cli *c, const char *kind, int len, const struct cli_script *s)
{
	struct et_attr uses = et_attr_default;

	et_attr_parse(s->info.stability, &uses);
	output_printf(&c->out, "\nStability attributes for %s %.*s:\n", kind, len, s->arg);
	cli_put_attr(&c->out, "Minimum Probe Description", &s->least);
	cli_put_attr(&c->out, "Minimum Statement", &uses);
	output_printf(&c->out, "\n");
	for (int i = 0; c->req.compile_only && i < s->ndescs; i++) {
		struct described d = {&c->out, s->descs[i].text};

		erltrace_probes(c->h, d.text, on_described, &d, NULL);
	}
	output_printf(&c->out, "Program of %s %.*s:\n\n", kind, len, s->arg);
	output_printf(&c->out, "\tProbes matched       %u\n", s->info.matches);
	output_printf(&c->out, "\tClauses so far       %u\n", s->info.clauses);
	output_printf(&c->out, "\tVariables so far     %u\n", s->info.variables);
	output_printf(&c->out, "\tAggregations so far  %u\n", s->info.aggregations);
	output_printf(&c->out, "\tInstructions         %u\n\n", s->info.instructions);
}

static void tell(struct cli *c, const struct cli_script *s)
{
	const char *kind = s->flag == 's' ? "script" : "description";
	int len = cli_script_length(s);

	c->matches += s->info.matches;
	if (s->info.matches == 0 && c->req.zero_matches && !c->req.compile_only)
		cli_say("warning: %s '%.*s' matches no probe", kind, len, s->arg);
	else if (c->out.worker == NULL)
		cli_notice(&c->out, "%s '%.*s' matched %u probe%s", kind, len, s->arg,
			s->info.matches, s->info.matches == 1 ? "" : "s");
	if (c->req.verbose && !c->out.json)
		tell_program(c, kind, len, s);
}

static void say_and_free(char *text)
{
	if (text != NULL)
		fputs(text, stderr);
	free(text);
}

int cli_compile(struct cli *c, struct cli_script *s)
{
	if (compile(c, s) != CLI_OK)
		return CLI_ERROR;
	s->info.size = sizeof(s->info);
	erltrace_info(c->h, &s->info);
	s->least = et_attr_default;
	if (c->req.verbose)
		erltrace_script_probes(c->h, on_matched, s, NULL);
	say_and_free(erltrace_tree(c->h));
	if (c->req.show_code || cli_option_on(c->h, "verbose"))
		say_and_free(erltrace_disassemble(c->h));
	return CLI_OK;
}

/* All are compiled before anything is printed: any of them may turn quiet on. */
int cli_scripts(struct cli *c)
{
	for (int i = 0; i < c->req.nscripts; i++)
		if (cli_compile(c, &c->req.scripts[i]) != CLI_OK)
			return CLI_ERROR;
	c->out.quiet = cli_option_on(c->h, "quiet");
	for (int i = 0; i < c->req.nscripts; i++)
		tell(c, &c->req.scripts[i]);
	return CLI_OK;
}
