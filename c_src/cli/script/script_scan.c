/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts are read once, and the library reports what they use (erltrace_scan()). That decides
 * where they run (placement.c), and what a node may ask the command to do for them.
 */
#include "script_scan.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/cli.h"
#include "file.h"
#include "period.h"
#include "script.h"

enum { MAX_TEXT = 16 << 20 }; /* of a script: the limit of the compiler too */

/* ---- reading ---------------------------------------------------------------------------- */

static void read_script(struct cli *c, struct cli_script *s)
{
	const char *path = strcmp(s->arg, "-") == 0 ? "/dev/stdin" : s->arg;

	if (s->flag != 's' || s->text != NULL)
		return; /* or a server has the text */
	s->preprocessed = c->req.preprocess || cli_option_on(c->h, "cpp");
	if (s->preprocessed) {
		s->text = erltrace_preprocess(c->h, path, &s->err);
		s->len = s->text != NULL ? strlen(s->text) : 0;
	} else {
		s->text = file_read_script(path, MAX_TEXT, &s->len, &s->err);
	}
}

/* ---- scanning --------------------------------------------------------------------------- */

struct scanning {
	struct cli *c;
	struct cli_script *s;
	bool in_probes;	 /* the last item was a description: the next one is of the same clause */
	uint64_t period; /* of the clause's profile-N, ns; 0: it has other probes */
	bool wall;
};

/* The time between two samples of profile-N or profile-wall-N; 0: it is neither. */
static uint64_t period_of(const char *name, bool *wall)
{
	if (strncmp(name, "profile-", 8) != 0)
		return 0;
	*wall = strncmp(name + 8, "wall-", 5) == 0;
	return et_period(name + (*wall ? 13 : 8));
}

static void on_clause_probe(struct scanning *at, const erltrace_scan_item_t *item)
{
	bool wall = false;
	uint64_t period = period_of(item->name, &wall);

	if (at->in_probes && (period != at->period || wall != at->wall))
		period = 0;
	at->period = period;
	at->wall = wall;
}

static bool adds_up(const char *function)
{
	return strcmp(function, "count") == 0 || strcmp(function, "sum") == 0;
}

/* An aggregation is assigned. */
static void on_stack_aggregation(struct scanning *at, const erltrace_scan_item_t *item)
{
	struct cli_uses *h = &at->c->uses;
	struct stack_agg a = {.period = at->period, .wall = at->wall};

	if (!adds_up(item->text)) {
		h->other_stack_agg = true;
		return;
	}
	for (int i = 0; i < h->nstack_aggs; i++)
		if (strcmp(h->stack_aggs[i].name, item->name) == 0) {
			if (h->stack_aggs[i].period != a.period || h->stack_aggs[i].wall != a.wall)
				h->stack_aggs[i].period = 0;
			return;
		}
	a.name = strdup(item->name);
	if (a.name != NULL && ARRAY_ROOM(h->stack_aggs, (size_t)h->nstack_aggs))
		h->stack_aggs[h->nstack_aggs++] = a;
	else
		free(a.name);
}

static bool names_functions(const erltrace_scan_item_t *item)
{
	static const char *const ends[] = {"-entry", "-return", "-exception"};
	size_t len = strlen(item->name);
	bool of_function = len == 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		of_function |= len > n && strcmp(item->name + len - n, ends[i]) == 0;
	}
	return of_function && strncmp(item->provider, "erlang", 6) == 0;
}

static void on_probe(struct scanning *at, const erltrace_scan_item_t *item)
{
	struct cli_script *s = at->s;
	char *text = strdup(item->text);

	on_clause_probe(at, item);
	if (s->ndescs == 0)
		s->body = item->behind;
	if (text != NULL && ARRAY_ROOM(s->descs, (size_t)s->ndescs))
		s->descs[s->ndescs++] = (struct cli_desc){
			text, item->end, item->line, item->column, names_functions(item)};
	else
		free(text);
	at->c->uses.keys |= strcmp(item->provider, "state") == 0 && strcmp(item->name, "key") == 0;
	cli_place_probe(at->c, item);
}

/* A format that is no constant permits nothing. */
static void keep_format(char ***v, int *n, const char *format)
{
	char *text = format != NULL ? strdup(format) : NULL;

	if (text != NULL && ARRAY_ROOM(*v, (size_t)*n))
		(*v)[(*n)++] = text;
	else
		free(text);
}

static bool is_kernel_stack(const char *name)
{
	return strcmp(name, "stack") == 0 || strcmp(name, "stackdepth") == 0 ||
	       strcmp(name, "caller") == 0;
}

static void on_call(struct cli_uses *h, const erltrace_scan_item_t *item)
{
	h->exit |= strcmp(item->name, "exit") == 0;
	h->ftruncate |= strcmp(item->name, "ftruncate") == 0;
	h->follows |= strcmp(item->name, "follow") == 0;
	h->flowtrace |= strcmp(item->name, "flowtrace") == 0;
	h->kernel_stacks |= is_kernel_stack(item->name);
	if (strcmp(item->name, "system") == 0)
		keep_format(&h->commands, &h->ncommands, item->text);
	else if (strcmp(item->name, "freopen") == 0)
		keep_format(&h->paths, &h->npaths, item->text);
}

static void on_option(struct cli *c, const erltrace_scan_item_t *item)
{
	bool on = strcmp(item->text, "on") == 0;

	if (strcmp(item->name, "quiet") == 0)
		c->out.quiet = on;
	else if (strcmp(item->name, "destructive") == 0)
		c->uses.destructive = on;
	else if (strcmp(item->name, "harmless") == 0 && on)
		c->uses.destructive = false;
}

/* Built-ins that are of an Erlang process. */
static bool is_of_erlang(const char *name)
{
	static const char *const names[] = {
		"erlpid", "erllock", "erlname", "erlproc", "erlnode", "erlsched", "erlstate"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void on_item(void *arg, const erltrace_scan_item_t *item)
{
	struct scanning *at = arg;

	switch (item->kind) {
	case ERLTRACE_SCAN_PROBE: on_probe(at, item); break;
	case ERLTRACE_SCAN_VARIABLE:
		at->c->uses.erlang_builtins |= is_of_erlang(item->name);
		at->c->uses.kernel_stacks |= is_kernel_stack(item->name);
		break;
	case ERLTRACE_SCAN_FUNCTION: on_call(&at->c->uses, item); break;
	case ERLTRACE_SCAN_AGGREGATION:
		at->c->uses.aggregations = true;
		if (item->by_stack && item->text != NULL)
			on_stack_aggregation(at, item);
		break;
	case ERLTRACE_SCAN_OPTION: on_option(at->c, item); break;
	}
	at->in_probes = item->kind == ERLTRACE_SCAN_PROBE;
}

void cli_scan(struct cli *c)
{
	c->uses.destructive = cli_option_on(c->h, "destructive");
	for (int i = 0; i < c->req.nscripts; i++) {
		struct cli_script *s = &c->req.scripts[i];
		erltrace_compile_opts_t opts;

		read_script(c, s);
		if (s->flag == 's' && s->text == NULL)
			continue;
		cli_script_opts(c, s, &opts);
		s->body = s->flag == 's' ? s->len : strlen(s->arg);
		erltrace_scan(c->h, s->flag == 's' ? s->text : s->arg, s->body, &opts, on_item,
			&(struct scanning){.c = c, .s = s}, &s->err);
	}
}

void cli_uses_free(struct cli_uses *uses)
{
	for (int i = 0; i < uses->ncommands; i++)
		free(uses->commands[i]);
	for (int i = 0; i < uses->npaths; i++)
		free(uses->paths[i]);
	for (int i = 0; i < uses->nstack_aggs; i++)
		free(uses->stack_aggs[i].name);
	free(uses->stack_aggs);
	free(uses->commands);
	free(uses->paths);
}

/* ---- what is sent ----------------------------------------------------------------------- */

char *cli_script_whole(const struct cli_script *s)
{
	const char *at = s->flag == 's' ? s->text : s->arg, *start = at;
	int colons = cli_script_colons(s);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	for (int i = 0; colons > 0 && i < s->ndescs; i++) {
		fwrite(at, 1, (size_t)(start + s->descs[i].end - at), f);
		fprintf(f, "%.*s", colons, ":::");
		at = start + s->descs[i].end;
	}
	fputs(at, f);
	fclose(f);
	return text;
}
