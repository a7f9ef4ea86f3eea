/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --folded: a line for each stack, "outermost;..;innermost value", as flamegraph.pl and many others
 * read it. A line has no room for more than one value, so it is that of the first aggregation. The
 * format knows no escapes: a semicolon in a name becomes a colon.
 */
#include "output.h"
#include "stacks.h"

static void tell_left_out(const struct stacks *s)
{
	char others[256];

	output_names(others, sizeof(others), OF_ALL_STACKS, "and");
	for (unsigned i = 1; i < s->nprofiles; i++)
		cli_say("--folded has room for one aggregation, @%s: @%s is left out (%s take all)",
			stacks_shown_name(&s->profiles[0]), stacks_shown_name(&s->profiles[i]),
			others);
}

static bool write_folded(const struct output *o, const struct chosen *c, const char *title, FILE *f)
{
	struct stacks *by = stacks_by_function(o->stacks);

	(void)c, (void)title;
	tell_left_out(o->stacks);
	if (by == NULL)
		return false;
	for (size_t i = 0; i < by->nstacks; i++) {
		const struct st_stack *st = &by->stacks[i];

		if (st->profile != 0)
			continue;
		for (unsigned k = 0; k < st->nframes; k++) {
			if (k > 0)
				putc(';', f);
			for (const char *p = by->frames[st->frames[k]].name; *p != '\0'; p++)
				putc(*p == ';' ? ':' : *p, f);
		}
		fprintf(f, " %lld\n", (long long)st->value);
	}
	stacks_free(by);
	return true;
}

const struct sink folded_output = {
	.option = "folded",
	.value = " F",
	.about = "write aggregations by stack, such as @[ustack()] = count(), as folded stacks",
	.traits = OF_STACKS,
	.write = write_folded,
};
