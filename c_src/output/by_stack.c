/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While a script runs, what its aggregations by stack gather is added up (stacks.c), wherever it
 * runs; when it has ended, the outputs are written. So they have all that was gathered, whatever
 * the script printed, cleared or truncated meanwhile.
 */
#include "by_stack.h"

#include <string.h>

#include "output.h"
#include "stacks.h"

enum { COLLECT_MS = 1000 }; /* how often what came is taken: a node may die */

/* A script that does not parse is compiled all the same, which says why it does not. */
static int check(const struct output *o, const struct output_scripts *of)
{
	const char *option = output_first(o, OF_STACKS);

	if (of->nstack_aggs > 0 || !of->parsed)
		return CLI_OK;
	if (of->other_stack_agg)
		cli_say("--%s: of an aggregation by stack it takes count() and sum(), which add "
			"up; the script has neither",
			option);
	else
		cli_say("--%s: no aggregation of the script has a stack as a key, such as "
			"@[ustack()] = count()",
			option);
	return CLI_ERROR;
}

int by_stack_open(struct output *o, const struct output_scripts *of)
{
	if (check(o, of) != CLI_OK)
		return CLI_ERROR;
	o->stacks = stacks_new();
	for (int i = 0; i < of->nstack_aggs && o->stacks != NULL; i++)
		stacks_sampled(o->stacks, of->stack_aggs[i].name, of->stack_aggs[i].period,
			of->stack_aggs[i].wall);
	if (o->stacks != NULL && !o->stacks->nomem)
		return CLI_OK;
	cli_say("out of memory");
	return CLI_ERROR;
}

static int take(void *arg, const erltrace_agg_t *a)
{
	stacks_add(arg, a);
	return 0;
}

void output_collect(struct output *o, erltrace_t *from, int64_t now_ms)
{
	erltrace_error_t err;

	if (o->stacks != NULL && now_ms >= o->next_stacks &&
		erltrace_stacks(from, take, o->stacks, &err) >= 0)
		o->next_stacks = now_ms + COLLECT_MS;
}

void output_collect_last(struct output *o, erltrace_t *from)
{
	erltrace_error_t err;

	if (o->stacks != NULL)
		erltrace_stacks(from, take, o->stacks, &err);
}

static void tell_left_out(const struct output *o)
{
	const char *option = output_first(o, OF_STACKS);

	for (unsigned i = 0; i < o->stacks->nprofiles; i++) {
		const struct st_profile *p = &o->stacks->profiles[i];

		if (p->negative > 0)
			cli_say("@%s: %llu stack%s with a sum below 0 left out of --%s",
				stacks_shown_name(p), (unsigned long long)p->negative,
				p->negative > 1 ? "s" : "", option);
	}
	if (o->stacks->nstacks == 0)
		cli_say("no stacks were gathered for --%s", option);
}

int by_stack_finish(struct output *o)
{
	bool nomem = o->stacks->nomem;

	if (nomem)
		cli_say("out of memory: some stacks are missing in --%s",
			output_first(o, OF_STACKS));
	stacks_finish(o->stacks);
	if (o->gathers)
		tell_left_out(o);
	return nomem ? CLI_ERROR : CLI_OK;
}

void by_stack_free(struct output *o)
{
	stacks_free(o->stacks);
	o->stacks = NULL;
}
