/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts of the command line: clauses given by -n -P -m -f -i, files given by -s. Each is
 * compiled in its turn, and what it matched is told.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -P names a provider: three colons are missing behind it; -m two, -f one. */
static int missing_colons(char flag)
{
	return flag == 'P' ? 3 : flag == 'm' ? 2 : flag == 'f' ? 1 : 0;
}

/* Past an atom in quotes; its end, or the quote itself if there is none. */
static const char *past_quote(const char *p)
{
	const char *q = p + 1;

	while (*q != '\0' && *q != '\n' && *q != '\'')
		q += *q == '\\' && q[1] != '\0' ? 2 : 1;
	return *q == '\'' ? q + 1 : p + 1;
}

/*
 * Past a function's arity at the slash p (lists:seq/2); NULL: it is a predicate's. In -n a colon
 * follows at once, as the compiler has it; where colons are added, the description may end there.
 */
static const char *past_arity(const char *p, bool last)
{
	const char *q = p + 1 + strspn(p + 1, "0123456789?*[]!-");

	if (q == p + 1)
		return NULL;
	if (*q == ':')
		return q;
	return last && strspn(p + 1, "0123456789") == (size_t)(q - p - 1) &&
			       strchr(" \t\n,{;", *q) != NULL
		       ? q
		       : NULL;
}

size_t cli_descriptions_end(const struct cli_script *s)
{
	const char *p = s->arg, *q;

	while (*p != '\0' && *p != '{' && *p != ';') {
		if (*p == '\'') {
			p = past_quote(p);
		} else if (*p == '/') {
			q = past_arity(p, missing_colons(s->flag) > 0);
			if (q == NULL)
				break;
			p = q;
		} else {
			p++;
		}
	}
	return (size_t)(p - s->arg);
}

/* Past one description that starts at p, within end. */
static const char *past_description(const char *p, const char *end)
{
	while (p < end && strchr(" \t\n,", *p) == NULL)
		p = *p == '\'' ? past_quote(p) : p + 1;
	return p < end ? p : end;
}

static void put_description(FILE *f, const struct cli_script *s, const char *p, const char *end)
{
	fwrite(p, 1, (size_t)(end - p), f);
	for (int n = missing_colons(s->flag); n > 0; n--)
		fputc(':', f);
}

/* The text of a -n -P -m -f -i argument, each description whole ("p:m::"). The caller frees. */
static char *clause_text(const struct cli_script *s)
{
	const char *p = s->arg, *body = s->arg + cli_descriptions_end(s);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	while (p < body) { /* one description of the comma list a round */
		const char *start = p + strspn(p, " \t\n,"), *end;

		if (start >= body)
			break;
		end = past_description(start, body);
		put_description(f, s, p, end);
		p = end;
	}
	fputs(p, f);
	fclose(f);
	return text;
}

char *cli_script_text(const struct cli_script *s)
{
	FILE *in, *out;
	char *text = NULL, buf[4096];
	size_t len, n;

	if (s->flag != 's')
		return clause_text(s);
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

char *cli_description(const struct cli_script *s)
{
	const char *p = s->arg, *body = s->arg + cli_descriptions_end(s);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	while ((p += strspn(p, " \t\n,")) < body) {
		const char *end = past_description(p, body);

		put_description(f, s, p, end);
		fputc('\n', f);
		p = end;
	}
	fclose(f);
	return text;
}

static int compile_clause(struct cli *c, const struct cli_script *s, erltrace_compile_opts_t *opts)
{
	char *text = clause_text(s);
	erltrace_error_t err = {0};
	int r;

	if (text == NULL) {
		cli_say("out of memory");
		return -1;
	}
	opts->default_action = 1;
	r = erltrace_compile(c->h, text, opts, &err);
	if (r < 0) {
		/* As dtrace: no line number, unless there are several lines. */
		c->one_line = strchr(text, '\n') == NULL && err.file[0] == '\0';
		c->errtags = cli_option_on(c, "errtags");
		cli_fail(c, &err, "invalid probe specifier %s", s->arg);
	}
	free(text);
	return r;
}

static int compile_file(struct cli *c, const struct cli_script *s, erltrace_compile_opts_t *opts)
{
	const char *path = strcmp(s->arg, "-") == 0 ? "/dev/stdin" : s->arg;
	erltrace_error_t err = {0};
	int r;

	opts->file = path;
	opts->preprocess = c->preprocess;
	r = erltrace_compile_file(c->h, path, opts, &err);
	if (r < 0) {
		/* The script's own name has been said; that of an included file has not. */
		c->said = path;
		c->errtags = cli_option_on(c, "errtags");
		if (strcmp(err.tag, "ET_FILE") == 0 && access(path, F_OK) != 0)
			cli_library_hint(path, err.text, sizeof(err.text));
		cli_fail(c, &err, "failed to compile script %s", s->arg);
	}
	return r;
}

/* -v: what the program is made of. */
static void tell_program(struct cli *c, const char *kind, int len, const struct cli_script *s)
{
	cli_printf(c, "\nProgram of %s %.*s:\n\n", kind, len, s->arg);
	cli_printf(c, "\tProbes matched       %u\n", s->info.matches);
	cli_printf(c, "\tClauses so far       %u\n", s->info.clauses);
	cli_printf(c, "\tVariables so far     %u\n", s->info.variables);
	cli_printf(c, "\tAggregations so far  %u\n", s->info.aggregations);
	cli_printf(c, "\tInstructions         %u\n\n", s->info.instructions);
}

static void tell(struct cli *c, const struct cli_script *s)
{
	const char *kind = s->flag == 's' ? "script" : "description";
	/* As dtrace: the description as it was typed, spaces and all. */
	int len = s->flag == 's' ? (int)strlen(s->arg) : (int)cli_descriptions_end(s);

	c->matches += s->info.matches;
	cli_notice(c, "%s '%.*s' matched %u probe%s", kind, len, s->arg, s->info.matches,
		s->info.matches == 1 ? "" : "s");
	if (c->verbose && !c->json)
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
	erltrace_compile_opts_t opts = {.size = sizeof(opts),
		.argc = c->nargs,
		.argv = c->args,
		.zero_matches = c->zero_matches || c->mode == MODE_LIST};
	int r;

	r = s->flag == 's' ? compile_file(c, s, &opts) : compile_clause(c, s, &opts);
	if (r < 0)
		return CLI_ERROR;
	s->info.size = sizeof(s->info);
	erltrace_info(c->h, &s->info);
	say_and_free(erltrace_tree(c->h));
	if (c->show_code || cli_option_on(c, "verbose"))
		say_and_free(erltrace_disassemble(c->h));
	return CLI_OK;
}

/* All are compiled before anything is told: any of them may turn quiet on. */
int cli_scripts(struct cli *c)
{
	for (int i = 0; i < c->nscripts; i++)
		if (cli_compile(c, &c->scripts[i]) != CLI_OK)
			return CLI_ERROR;
	c->quiet = cli_option_on(c, "quiet");
	for (int i = 0; i < c->nscripts; i++)
		tell(c, &c->scripts[i]);
	return CLI_OK;
}
