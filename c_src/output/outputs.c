/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outputs of a run: chosen by options, opened before the scripts are compiled, fed while they
 * run, closed when they have ended. None is named here: what one needs is in its struct sink.
 */
#include "output.h"

#include <stdlib.h>
#include <string.h>

#include "by_stack.h"
#include "requests.h"
#include "result_files.h"

static const struct sink *const all[OUTPUTS] = {
#define OUTPUT(name) [AT_##name] = &name##_output,
#include "outputs.def"
};

const struct sink *output_at(unsigned i)
{
	return i < OUTPUTS ? all[i] : NULL;
}

/* ---- options ----------------------------------------------------------------------------- */

static bool has(const struct sink *sink, unsigned traits)
{
	return sink->option != NULL &&
	       (traits != 0 ? (sink->traits & traits) != 0 : sink->write != NULL);
}

const char *output_names(char *buf, size_t size, unsigned traits, const char *before_last)
{
	const char *last = NULL;
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < OUTPUTS; i++) {
		if (!has(all[i], traits))
			continue;
		if (last != NULL && len < size)
			len += (size_t)snprintf(
				buf + len, size - len, "%s--%s", len > 0 ? ", " : "", last);
		last = all[i]->option;
	}
	if (last != NULL && len < size)
		snprintf(buf + len, size - len, "%s%s%s--%s", len > 0 ? " " : "",
			len > 0 ? before_last : "", len > 0 ? " " : "", last);
	return buf;
}

const char *output_first(const struct output *o, unsigned traits)
{
	for (unsigned i = 0; i < OUTPUTS; i++)
		if (o->chosen[i].is && has(all[i], traits))
			return all[i]->option;
	return NULL;
}

static bool is_stdout(const struct output *o, unsigned i)
{
	return all[i]->write != NULL && o->chosen[i].is && strcmp(o->chosen[i].value, "-") == 0;
}

int output_choose(struct output *o, unsigned i, const char *value, char **clause)
{
	struct chosen *s = &o->chosen[i];
	char names[256];

	s->is = true;
	s->value = value;
	for (unsigned k = 0; is_stdout(o, i) && k < OUTPUTS; k++)
		if (k != i && is_stdout(o, k)) {
			cli_say("only one of %s can be written to the standard output",
				output_names(names, sizeof(names), 0, "and"));
			return CLI_USAGE;
		}
	return all[i]->choose != NULL ? all[i]->choose(o, s, clause) : -1;
}

static int wrong(const char *what, unsigned traits)
{
	char names[256];

	cli_say("%s %s", what, output_names(names, sizeof(names), traits, "or"));
	return CLI_USAGE;
}

int output_check(struct output *o, bool lists)
{
	for (unsigned i = 0; i < OUTPUTS; i++) {
		if (!o->chosen[i].is)
			continue;
		if ((all[i]->traits & WITH_JSON) && !o->json) {
			cli_say("--%s needs --json", all[i]->option);
			return CLI_USAGE;
		}
		if (lists && (all[i]->traits & (OF_STACKS | OF_REQUESTS)))
			return wrong("-l runs no script: there is nothing for",
				all[i]->traits & (OF_STACKS | OF_REQUESTS));
		if (o->live_ms > 0 && (all[i]->traits & OF_STACKS))
			return wrong("--live cannot be combined with", OF_STACKS);
		if (all[i]->check != NULL)
			all[i]->check(o);
	}
	return -1;
}

/* ---- the one that prints ------------------------------------------------------------------ */

const struct sink *output_printer(const struct output *o)
{
	return o->calls != NULL ? &calls_output : o->json ? &json_output : &text_output;
}

int output_handlers(struct output *o, erltrace_handlers_t *h)
{
	return output_printer(o)->handlers(o, h);
}

void output_snapshot(struct output *o, const erltrace_snapshot_t *s)
{
	if (s->error != NULL || s->file != NULL)
		output_printer(o)->snapshot(o, s);
}

/* ---- the others --------------------------------------------------------------------------- */

/* "scripts/cpu.d on shop@host" */
static void make_title(struct output *o, const struct output_scripts *of)
{
	const char *text = of->script != NULL ? of->script : "";

	snprintf(o->title, sizeof(o->title), "%.*s%s%s", (int)strcspn(text, "\n"), text,
		of->node != NULL ? " on " : "", of->node != NULL ? of->node : "");
	for (char *p = o->title; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
			*p = '?';
}

/* Of those that take stacks or requests, if there is anything for them. */
static bool is_open(const struct output *o, unsigned i)
{
	return o->chosen[i].is && (((all[i]->traits & OF_STACKS) && o->stacks != NULL) ||
					  ((all[i]->traits & OF_REQUESTS) && o->requests != NULL));
}

static int open_one(struct output *o, const struct sink *sink, struct chosen *s)
{
	if (sink->write != NULL && result_file_open(o, sink, s) != CLI_OK)
		return CLI_ERROR;
	if (sink->state_size == 0)
		return CLI_OK;
	s->state = calloc(1, sink->state_size);
	if (s->state == NULL) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	if (sink->open == NULL || sink->open(o, s) == CLI_OK)
		return CLI_OK;
	free(s->state);
	s->state = NULL;
	return CLI_ERROR;
}

int output_open(struct output *o, const struct output_scripts *of, const char **clauses)
{
	int status = CLI_OK;

	*clauses = NULL;
	make_title(o, of);
	if (output_first(o, OF_STACKS) != NULL)
		status = by_stack_open(o, of);
	if (status == CLI_OK && output_first(o, OF_REQUESTS) != NULL)
		status = requests_open(o, of, clauses);
	for (unsigned i = 0; i < OUTPUTS && status == CLI_OK; i++)
		if (is_open(o, i))
			status = open_one(o, all[i], &o->chosen[i]);
	return status;
}

void output_request(struct output *o, struct flow *f)
{
	for (unsigned i = 0; i < OUTPUTS; i++)
		if (is_open(o, i) && all[i]->flow != NULL)
			all[i]->flow(o, &o->chosen[i], f);
}

void output_look(struct output *o, int64_t now_ms)
{
	if (o->requests != NULL)
		requests_look(o, now_ms);
	for (unsigned i = 0; i < OUTPUTS; i++)
		if (is_open(o, i) && all[i]->look != NULL)
			all[i]->look(o, &o->chosen[i], now_ms);
}

static int close_one(struct output *o, const struct sink *sink, struct chosen *s, int status)
{
	if (result_file_close(o, sink, s) != CLI_OK)
		status = CLI_ERROR;
	if (s->state != NULL && sink->close(o, s) != CLI_OK && status == CLI_OK)
		status = CLI_ERROR;
	free(s->state);
	s->state = NULL;
	return status;
}

int output_finish(struct output *o, int status)
{
	if (o->stacks != NULL && by_stack_finish(o) != CLI_OK)
		status = CLI_ERROR;
	if (o->requests != NULL)
		requests_finish(o);
	for (unsigned i = 0; i < OUTPUTS; i++)
		status = close_one(o, all[i], &o->chosen[i], status);
	if (o->requests != NULL && o->gathers)
		requests_tell(o, status);
	by_stack_free(o);
	requests_free(o);
	return status;
}
