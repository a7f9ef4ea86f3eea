/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of scripts by name: -s slow module=shop over=10ms for=5s. The usage line in the head of
 * a script declares them, in the order of $1, $2 ...:
 *
 *	erltrace -N NODE -qs slow.d [module=NAME] [over=MICROSECONDS] [for=SECONDS]
 *
 * Those without a name take the places that are left, from left to right. A time may have a unit.
 */
#include "script_args.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/request.h"
#include "output/message.h"
#include "period.h"
#include "script_library.h"

#define MAX_PLACES 9
#define WRITTEN	   "[!-]*" /* functions that somebody wrote: those of the compiler begin with a dash \
			    */

struct place {
	char name[24], kind[24];
	const char *value; /* or NULL */
	bool named;	   /* the value was */
	bool needed;	   /* not in brackets */
};

struct declared {
	char script[64];
	int n;
	struct place at[MAX_PLACES];
};

/* Kinds of arguments; any other is a text. */
static const struct kind {
	const char *name;
	uint64_t ns; /* of one; 0: it is no time */
} kinds[] = {{"SECONDS", 1000000000}, {"MILLISECONDS", 1000000}, {"MICROSECONDS", 1000}, {"N", 0}};

static const struct kind *kind_of(const struct place *p)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, p->kind) == 0)
			return &kinds[i];
	return NULL;
}

/* A function of Erlang: by default any but those that the compiler makes of comprehensions and
 * funs. */
static bool is_function(const struct place *p)
{
	return strcmp(p->kind, "FUNCTION") == 0;
}

/* ---- what is declared --------------------------------------------------------------------- */

/* "slow.d [module=NAME] for=SECONDS": whatever else is there is no declaration. */
static void parse_usage(struct declared *d, char *line)
{
	char *save = NULL, *word = strtok_r(line, " ", &save);
	int depth = 0; /* of brackets */

	if (word == NULL)
		return;
	snprintf(d->script, sizeof(d->script), "%.*s", (int)strcspn(word, "."), word);
	while ((word = strtok_r(NULL, " ", &save)) != NULL && d->n < MAX_PLACES) {
		struct place *p = &d->at[d->n];

		for (; *word == '['; word++)
			depth++;
		if (sscanf(word, "%23[a-z_]=%23[A-Z]", p->name, p->kind) != 2)
			return;
		p->needed = depth == 0;
		for (; *word != '\0'; word++)
			depth -= *word == ']';
		d->n++;
	}
}

static bool read_declared(struct declared *d, const char *file)
{
	static const char usage[] = "\terltrace -N NODE -qs ";
	FILE *f = fopen(file, "re");
	char buf[512];

	*d = (struct declared){0};
	if (f == NULL)
		return false;
	for (char *p = cli_head_start(f, buf, sizeof(buf)); p != NULL && d->script[0] == '\0';
		p = cli_head_line(f, buf, sizeof(buf)))
		if (strncmp(p, usage, strlen(usage)) == 0)
			parse_usage(d, p + strlen(usage));
	fclose(f);
	return d->n > 0;
}

/* The one script that has arguments; NULL: there is none, or it is not clear which. */
static const char *the_script(const struct cli_request *r)
{
	const char *file = NULL;

	for (int i = 0; i < r->nscripts; i++) {
		if (r->scripts[i].flag != 's')
			continue;
		if (file != NULL || strcmp(r->scripts[i].arg, "-") == 0)
			return NULL;
		file = r->scripts[i].arg;
	}
	return file;
}

/* ---- what was given ----------------------------------------------------------------------- */

/* "over" of "over=10ms"; 0: it has no name. */
static size_t name_length(const char *arg)
{
	size_t n = strspn(arg, "abcdefghijklmnopqrstuvwxyz_");

	return n > 0 && arg[n] == '=' ? n : 0;
}

static int unknown_name(const struct declared *d, const char *arg)
{
	char names[MAX_PLACES * 28] = "";

	for (int i = 0; i < d->n; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names),
			"%s%s=", i > 0 ? ", " : "", d->at[i].name);
	cli_say("%s has no argument %.*s: it takes %s (erltrace --scripts %s says more; a value "
		"that "
		"is not meant so comes after --)",
		d->script, (int)name_length(arg) + 1, arg, names, d->script);
	return CLI_USAGE;
}

static int take_named(struct declared *d, const char *arg)
{
	size_t n = name_length(arg);

	for (int i = 0; i < d->n; i++) {
		struct place *p = &d->at[i];

		if (strlen(p->name) != n || strncmp(p->name, arg, n) != 0)
			continue;
		if (p->named) {
			cli_say("%s: %s= is there twice", d->script, p->name);
			return CLI_USAGE;
		}
		p->named = true;
		p->value = arg + n + 1;
		return -1;
	}
	return unknown_name(d, arg);
}

/* ---- what it means ------------------------------------------------------------------------ */

/* "1.5ms" in the unit of the script; false: there is no such number of it, or it is no such text.
 */
static bool in_units(const char *text, const struct kind *k, long long *value)
{
	char *end;
	double n = strtod(text, &end), ns = (double)(*end != '\0' ? et_unit_ns(end) : k->ns);

	if (end == text || text[0] < '0' || text[0] > '9' ||
		(ns == 0 && (k->ns != 0 || *end != '\0')))
		return false;
	n = k->ns != 0 ? n * ns / (double)k->ns : n;
	if (!(n < 1e15))
		return false;
	*value = (long long)(n + 0.5);
	return n - (double)*value < 1e-6 && (double)*value - n < 1e-6;
}

static int bad_value(const struct declared *d, const struct place *p, const struct kind *k)
{
	char what[64] = "a number";

	for (char *w = k->ns != 0 ? strcpy(what, k->name) : what; k->ns != 0 && *w != '\0'; w++)
		*w = (char)(*w + ('a' - 'A'));
	cli_say("%s: %s= takes %s%s, not '%s'", d->script, p->name, k->ns != 0 ? "whole " : "",
		what, p->value);
	return CLI_USAGE;
}

static int missing(const struct declared *d, const struct place *p)
{
	cli_say("%s needs %s=%s (erltrace --scripts %s says more)", d->script, p->name, p->kind,
		d->script);
	return CLI_USAGE;
}

/* A value with a unit, and one that was given by name, is checked: the others are the compiler's.
 */
static int convert(struct cli_request *r, const struct declared *d, struct place *p)
{
	const struct kind *k = kind_of(p);
	long long value;
	char text[32];

	if (p->value == NULL && p->needed)
		return missing(d, p);
	if (p->value == NULL) {
		p->value = k != NULL ? "0" : is_function(p) ? WRITTEN : "";
		return -1;
	}
	if (k == NULL || p->value[strspn(p->value, "0123456789")] == '\0')
		return k != NULL && p->named && p->value[0] == '\0' ? bad_value(d, p, k) : -1;
	if (!in_units(p->value, k, &value))
		return p->named || (k->ns != 0 && strchr("0123456789", p->value[0]) != NULL)
			       ? bad_value(d, p, k)
			       : -1;
	snprintf(text, sizeof(text), "%lld", value);
	p->value = cli_keep(r, text);
	return p->value != NULL ? -1 : CLI_ERROR;
}

/* "late 2" is two milliseconds, and goes on until ^C: somebody may have meant seconds. */
static void tell_endless(const struct cli_request *r, const struct declared *d)
{
	const struct place *limit = NULL;

	if (r->mode != MODE_RUN || !isatty(STDERR_FILENO))
		return;
	for (int i = 0; i < d->n; i++) {
		const struct place *p = &d->at[i];

		if (strcmp(p->name, "for") == 0) {
			if (p->value == NULL && limit != NULL)
				cli_say("%s=%s, until ^C (for=%ss: for so many seconds)",
					limit->name, limit->value, limit->value);
			return;
		}
		if (p->value != NULL && !p->named && kind_of(p) != NULL)
			limit = p;
	}
}

/* Those without a name; a number is not meant for a word, which may be left out. */
static void take_others(
	const struct cli_request *r, struct declared *d, const char **rest, int *nrest)
{
	int at = 0;

	for (int i = 0; i < r->nargs; i++) {
		const char *arg = r->args[i];

		if (i < r->nplain && name_length(arg) > 0)
			continue;
		while (at < d->n && (d->at[at].named || (strcmp(d->at[at].kind, "WORD") == 0 &&
								arg[0] >= '0' && arg[0] <= '9')))
			at++;
		if (at < d->n)
			d->at[at++].value = arg;
		else
			rest[(*nrest)++] = arg;
	}
}

static int take_all(struct cli_request *r, struct declared *d)
{
	const char **args = calloc((size_t)(r->nargs + 2 * d->n), sizeof(*args));
	int status = -1, n = 0, nrest = 0;

	if (args == NULL)
		return CLI_ERROR;
	for (int i = 0; i < r->nplain && status == -1; i++)
		if (name_length(r->args[i]) > 0)
			status = take_named(d, r->args[i]);
	take_others(r, d, args + d->n, &nrest);
	for (int i = 0; i < d->n; i++)
		if (d->at[i].value != NULL || d->at[i].needed || is_function(&d->at[i]))
			n = i + 1;
	tell_endless(r, d);
	for (int i = 0; i < n && status == -1; i++)
		status = convert(r, d, &d->at[i]);
	for (int i = 0; i < n; i++)
		args[i] = d->at[i].value;
	/* too many: the compiler says so */
	memmove(args + n, args + d->n, (size_t)nrest * sizeof(*args));
	free(r->args);
	r->args = args;
	r->nargs = n + nrest;
	return status;
}

int cli_script_args(struct cli_request *r)
{
	const char *file = r->mode != MODE_SCRIPTS ? the_script(r) : NULL;
	struct declared d;

	if (file == NULL || !read_declared(&d, file))
		return -1;
	return take_all(r, &d);
}
