/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library of scripts: found by name for -s, listed by --scripts with what the head of each
 * says first, or shown with the whole head. A head is the second comment of the file: what it
 * shows, how it is called, its arguments, what it costs, a sample.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "script_library.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/request.h"
#include "node/paths.h"
#include "output/output.h"

#define WIDTH 80 /* of the list */

char *cli_library_find(const char *name)
{
	char dir[PATH_MAX], *path;

	if (strchr(name, '/') != NULL || !paths_find(&paths_scripts, dir))
		return NULL;
	for (int i = 0; i < 2; i++) {
		if (asprintf(&path, "%s/%s%s", dir, name, i == 0 ? "" : ".d") < 0)
			return NULL;
		if (access(path, F_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static int is_script(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return len > 2 && d->d_name[0] != '.' && strcmp(d->d_name + len - 2, ".d") == 0;
}

/* ---- suggestions -------------------------------------------------------------------------- */

static size_t alike(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] != '\0' && a[n] == b[n])
		n++;
	return n;
}

void cli_library_hint(const char *name, char *text, size_t size)
{
	char dir[PATH_MAX], best[64] = "";
	struct dirent **all;
	size_t len = strlen(text), most = 2; /* three letters at least */
	int n;

	if (strchr(name, '/') != NULL || !paths_find(&paths_scripts, dir) ||
		(n = scandir(dir, &all, is_script, alphasort)) < 0)
		return;
	for (int i = 0; i < n; i++) {
		size_t same = alike(name, all[i]->d_name);

		if (same > most && strlen(all[i]->d_name) < sizeof(best)) {
			most = same;
			strcpy(best, all[i]->d_name);
			best[strlen(best) - 2] = '\0';
		}
		free(all[i]);
	}
	free(all);
	if (best[0] != '\0')
		snprintf(text + len, size - len, ": did you mean '%s'?", best);
	else
		snprintf(text + len, size - len,
			": erltrace --scripts lists the library");
}

/* A name without -s is the script's, mostly. */
int cli_no_probes(const struct cli_request *r)
{
	char *path = r->nargs > 0 ? cli_library_find(r->args[0]) : NULL;

	if (path != NULL)
		cli_say("no probes specified: to run the script of that name, use -s %s",
			r->args[0]);
	else
		cli_say("no probes specified: -n 'CLAUSE' or -s SCRIPT says which (--scripts lists "
			"scripts, --help more)");
	free(path);
	return CLI_ERROR;
}

/* ---- heads -------------------------------------------------------------------------------- */

/* The next line of a head, without the comment's stars; NULL: it is over. */
char *cli_head_line(FILE *f, char *buf, size_t size)
{
	char *p = fgets(buf, (int)size, f);

	if (p == NULL || strstr(p, "*/") != NULL)
		return NULL;
	p[strcspn(p, "\n")] = '\0';
	p += strspn(p, " ");
	p += *p == '*';
	return p + (*p == ' ');
}

/* Up to the head's first line; NULL: there is none. */
char *cli_head_start(FILE *f, char *buf, size_t size)
{
	while (fgets(buf, (int)size, f) != NULL)
		if (strcmp(buf, "/*\n") == 0)
			return cli_head_line(f, buf, size);
	return NULL;
}

static int show_head(struct output *o, const char *name)
{
	char *path = cli_library_find(name), buf[512], hint[256];
	FILE *f = path != NULL ? fopen(path, "re") : NULL;

	if (f == NULL) {
		snprintf(hint, sizeof(hint), "there is no script %.64s", name);
		cli_library_hint(name, hint, sizeof(hint));
		cli_say("%s", hint);
		free(path);
		return CLI_ERROR;
	}
	for (char *p = cli_head_start(f, buf, sizeof(buf)); p != NULL;
		p = cli_head_line(f, buf, sizeof(buf)))
		output_printf(o, "%s\n", p);
	fclose(f);
	free(path);
	return CLI_OK;
}

/* Words that do not fit go to the next line, below the first ones. */
static void put_words(struct output *o, char *text, int indent)
{
	char *save = NULL;
	int at = indent;

	for (char *w = strtok_r(text, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		int len = (int)strlen(w);

		if (at > indent && at + 1 + len > WIDTH) {
			output_printf(o, "\n%*s", indent, "");
			at = indent;
		}
		at += (at > indent) + len;
		output_printf(o, "%s%s", at > indent + len ? " " : "", w);
	}
	output_printf(o, "\n");
}

/* What it says first: up to a full stop, or the end of the paragraph. */
static void first_sentence(FILE *f, char *text, size_t size)
{
	char buf[512];
	size_t len = 0;

	text[0] = '\0';
	for (char *p = cli_head_start(f, buf, sizeof(buf)); p != NULL && *p != '\0' && len < size - 1;
		p = cli_head_line(f, buf, sizeof(buf))) {
		char *stop = strstr(p, ". ");

		if (stop != NULL)
			*stop = '\0';
		len += (size_t)snprintf(text + len, size - len, "%s%s", len > 0 ? " " : "", p);
		if (stop != NULL)
			break;
	}
	len = strlen(text);
	if (len > 0 && text[len - 1] == '.')
		text[len - 1] = '\0';
}

static void list_one(struct output *o, const char *dir, const char *file)
{
	char path[PATH_MAX], text[1024];
	int len = (int)strlen(file) - 2;
	char *about;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return;
	f = fopen(path, "re");
	if (f == NULL)
		return;
	first_sentence(f, text, sizeof(text));
	fclose(f);
	about = strstr(text, ".d: ");
	output_printf(o, "%-11.*s ", len, file);
	put_words(o, about != NULL ? about + 4 : text, 12);
}

/* doc/guide.md has the same symptoms, with more of the command line. */
static const struct {
	const char *symptom, *command;
} symptoms[] = {
	{"I do not know yet", "top for=10s"},
	{"it is slow", "slow module=MODULE over=10ms for=10s"},
	{"requests time out", "gencall over=100ms for=10s"},
	{"everything waits", "waits for=5s"},
	{"what is this process doing?", "info process=NAME for=2s"},
	{"CPU high", "cpu for=10s"},
	{"memory grows", "memory for=10s"},
	{"mailbox long", "mailbox length=1000 for=5s"},
	{"a node is unreachable", "dist for=10s"},
	{"crashes, for example after a deploy", "crashes for=60s"},
	{"a leak of processes", "births for=10s"},
	{"a leak of ETS tables", "tables for=15s"},
	{"a leak of sockets", "sockets for=15s"},
	{"a leak of atoms", "atoms for=30s"},
	{"timers are late", "late over=20ms for=10s"},
};

static void list_symptoms(struct output *o)
{
	output_printf(o, "%-38s erltrace -N NODE -qs ...\n", "What is wrong?");
	for (size_t i = 0; i < sizeof(symptoms) / sizeof(symptoms[0]); i++)
		output_printf(o, "  %-36s %s\n", symptoms[i].symptom, symptoms[i].command);
	output_printf(o, "\n");
}

int cli_library(const struct cli_request *r, struct output *o)
{
	struct dirent **all;
	char dir[PATH_MAX];
	int n, status = CLI_OK;

	for (int i = 0; i < r->nargs; i++) {
		if (i > 0)
			output_printf(o, "\n");
		if (show_head(o, r->args[i]) != CLI_OK)
			status = CLI_ERROR;
	}
	if (r->nargs > 0)
		return status;
	if (!paths_find(&paths_scripts, dir) || (n = scandir(dir, &all, is_script, alphasort)) < 0) {
		cli_say("the library of scripts is not where erltrace was installed");
		return CLI_ERROR;
	}
	list_symptoms(o);
	for (int i = 0; i < n; i++) {
		list_one(o, dir, all[i]->d_name);
		free(all[i]);
	}
	free(all);
	output_printf(o,
		"\nerltrace -N NODE -qs NAME [arguments] runs one; --scripts NAME says which\n"
		"arguments it takes and what it costs. ^C ends it.\n");
	return CLI_OK;
}
