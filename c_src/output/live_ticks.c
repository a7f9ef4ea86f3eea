/* SPDX-License-Identifier: Apache-2.0 */
/* --live: how often what aggregations gather is printed. Who runs the script has the clock. */
#include <stdlib.h>

#include "output.h"

static int choose(struct output *o, struct chosen *s, char **clause)
{
	char *end;
	double hz = strtod(s->value, &end);

	(void)clause;
	if (end == s->value || *end != '\0' || !(hz >= 0.01 && hz <= 100)) {
		cli_say("--live takes a rate of 0.01 to 100 times a second, not %s", s->value);
		return CLI_USAGE;
	}
	o->live_ms = (int)(1000 / hz);
	return -1;
}

int output_tick(struct output *o, const char *node, erltrace_t *from, int stream, bool *any)
{
	*any = false;
	return output_printer(o)->tick(o, node, from, stream, any);
}

const struct sink live_output = {
	.option = "live",
	.value = "=HZ",
	.about = "with --json: print increments of aggregations HZ times a second",
	.traits = WITH_JSON,
	.choose = choose,
};
