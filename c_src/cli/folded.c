/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --folded: a line for each stack, "outermost;..;innermost value", as flamegraph.pl and many others
 * read it. A line has no room for more than one value, so it is that of the first aggregation. The
 * format knows no escapes: a semicolon in a name becomes a colon.
 */
#include "stacks.h"

bool folded_write(const struct stacks *s, const char *title, FILE *f)
{
	struct stacks *by = stacks_by_function(s);

	(void)title;
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
