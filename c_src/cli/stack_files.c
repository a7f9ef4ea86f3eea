/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --folded, --speedscope and --pprof: while the script runs, what its aggregations by stack gather
 * is added up (stacks.c), wherever it runs; when it has ended, the files are written. So they have
 * all that was gathered, whatever the script printed, cleared or truncated meanwhile.
 *
 * Files are opened before the script is compiled, so that one cannot run for an hour for a file
 * that cannot be written. If one of them is the standard output, all that the script prints goes to
 * the standard error.
 *
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "stack_files.h"
#include "stacks.h"

static const struct {
	const char *option;
	bool (*write)(const struct stacks *s, const char *title, FILE *f);
} formats[STACK_FORMATS] = {
	[STACK_FOLDED] = {"--folded", folded_write},
	[STACK_SPEEDSCOPE] = {"--speedscope", speedscope_write},
	[STACK_PPROF] = {"--pprof", pprof_write},
};

int cli_stacks_option(struct cli *c, enum stack_format format, const char *path)
{
	bool is_stdout = strcmp(path, "-") == 0;

	for (int i = 0; i < STACK_FORMATS && is_stdout; i++)
		if (i != (int)format && c->stack_files[i].path != NULL &&
			strcmp(c->stack_files[i].path, "-") == 0) {
			cli_say("only one of --folded, --speedscope and --pprof can be written to "
				"the "
				"standard output");
			return CLI_USAGE;
		}
	c->stack_files[format].path = path;
	return -1;
}

bool cli_stacks_wanted(const struct cli *c)
{
	for (int i = 0; i < STACK_FORMATS; i++)
		if (c->stack_files[i].path != NULL)
			return true;
	return false;
}

/* The first of the options, for messages. */
static const char *option_of(const struct cli *c)
{
	int i = 0;

	while (c->stack_files[i].path == NULL)
		i++;
	return formats[i].option;
}

/* What the command was given as its standard output; from now on that is the standard error. */
static FILE *take_stdout(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (f != NULL && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		fclose(f);
		f = NULL;
	}
	return f;
}

static FILE *open_file(const char *path, bool *made)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	*made = fd >= 0;
	if (fd < 0 && errno == EEXIST) /* or a link to a file that is not there yet */
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	return fd >= 0 ? fdopen(fd, "w") : NULL;
}

FILE *cli_result_open(const char *path, bool *made)
{
	return strcmp(path, "-") == 0 ? take_stdout() : open_file(path, made);
}

/* A script that does not parse is compiled all the same, which says why it does not. */
static bool is_scanned(const struct cli *c)
{
	for (int i = 0; i < c->nscripts; i++)
		if (c->scripts[i].err.tag[0] != '\0')
			return false;
	return true;
}

static int check_script(const struct cli *c)
{
	const struct cli_uses *u = &c->uses;

	if (u->nstack_aggs > 0 || !is_scanned(c))
		return CLI_OK;
	if (u->other_stack_agg)
		cli_say("%s: of an aggregation by stack it takes count() and sum(), which add up; "
			"the "
			"script has neither",
			option_of(c));
	else
		cli_say("%s: no aggregation of the script has a stack as a key, such as "
			"@[ustack()] = count()",
			option_of(c));
	return CLI_ERROR;
}

int cli_stacks_open(struct cli *c)
{
	int status = check_script(c);

	if (status != CLI_OK)
		return status;
	c->stacks = stacks_new();
	for (int i = 0; i < c->uses.nstack_aggs && c->stacks != NULL; i++)
		stacks_sampled(c->stacks, c->uses.stack_aggs[i].name, c->uses.stack_aggs[i].period,
			c->uses.stack_aggs[i].wall);
	if (c->stacks == NULL || c->stacks->nomem) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	for (int i = 0; i < STACK_FORMATS; i++) {
		struct cli_stack_file *s = &c->stack_files[i];

		if (s->path == NULL)
			continue;
		s->f = cli_result_open(s->path, &s->made);
		if (s->f == NULL) {
			cli_say("failed to open the file of %s, '%s': %s", formats[i].option,
				s->path, strerror(errno));
			return CLI_ERROR;
		}
	}
	if (c->out == stdout)
		c->terminal = isatty(STDOUT_FILENO) == 1; /* it may be another file by now */
	return CLI_OK;
}

int cli_stacks_take(void *arg, const erltrace_agg_t *a)
{
	struct cli *c = arg;

	stacks_add(c->stacks, a);
	return 0;
}

/* ---- the end ---------------------------------------------------------------------------- */

/* "scripts/cpu.d on shop@host" */
static void make_title(const struct cli *c, char *buf, size_t size)
{
	const char *text = c->nscripts > 0 ? c->scripts[0].arg : "";

	snprintf(buf, size, "erltrace: %.*s%s%s", (int)strcspn(text, "\n"), text,
		c->nnodes > 0 ? " on " : "", c->nnodes > 0 ? c->nodes[0] : "");
	for (char *p = buf; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
			*p = '?';
}

static const char *shown_name(const struct st_profile *p)
{
	return strcmp(p->name, "_") == 0 ? "" : p->name;
}

static void tell_left_out(const struct cli *c)
{
	const struct stacks *s = c->stacks;

	for (unsigned i = 0; i < s->nprofiles; i++) {
		const struct st_profile *p = &s->profiles[i];

		if (p->negative > 0)
			cli_say("@%s: %llu stack%s with a sum below 0 left out of %s",
				shown_name(p), (unsigned long long)p->negative,
				p->negative > 1 ? "s" : "", option_of(c));
		if (i > 0 && c->stack_files[STACK_FOLDED].path != NULL)
			cli_say("--folded has room for one aggregation, @%s: @%s is left out "
				"(--speedscope and --pprof take all)",
				shown_name(&s->profiles[0]), shown_name(p));
	}
	if (s->nstacks == 0)
		cli_say("no stacks were gathered for %s", option_of(c));
}

/* What was in the file before is gone. A pipe or a terminal cannot be truncated, and need not. */
static bool write_file(struct cli *c, int format, const char *title)
{
	struct cli_stack_file *s = &c->stack_files[format];
	bool ok;

	if (strcmp(s->path, "-") != 0 && ftruncate(fileno(s->f), 0) < 0 && errno != EINVAL)
		goto failed;
	errno = 0;
	ok = formats[format].write(c->stacks, title, s->f);
	if (!ok)
		errno = ENOMEM;
	if (ok && fflush(s->f) == 0 && !ferror(s->f))
		return true;
	if (errno == EPIPE) /* the reader wanted no more */
		return true;
failed:
	cli_say("failed to write '%s' of %s: %s", s->path, formats[format].option, strerror(errno));
	return false;
}

int cli_stacks_write(struct cli *c, int status)
{
	char title[256];

	if (c->stacks == NULL)
		return status;
	if (c->stacks->nomem) {
		cli_say("out of memory: some stacks are missing in %s", option_of(c));
		status = CLI_ERROR;
	}
	make_title(c, title, sizeof(title));
	stacks_finish(c->stacks);
	if (c->gathers)
		tell_left_out(c);
	for (int i = 0; i < STACK_FORMATS; i++) {
		struct cli_stack_file *s = &c->stack_files[i];

		if (s->f == NULL)
			continue;
		if (c->gathers && !write_file(c, i, title))
			status = CLI_ERROR;
		fclose(s->f);
		if (!c->gathers && s->made) /* a script that has not run leaves no file */
			unlink(s->path);
	}
	stacks_free(c->stacks);
	c->stacks = NULL;
	return status;
}
