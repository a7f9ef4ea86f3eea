/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --follow: a clause follows each call of a function. Requests that are slower than all before are
 * printed as trees; at the end, what all of them were. With --json they are the objects of --flows.
 */
#include <ctype.h>
#include <string.h>

#include "flow_model.h"
#include "output.h"
#include "requests.h"

struct sum {
	uint64_t n, waiting, longest; /* waiting: have not finished; longest: of those printed */
	uint64_t whole, messages, spawns, total, slowest; /* of those that are not incomplete */
};

static bool is_name(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]) && strchr("_@*?'.-", p[i]) == NULL)
			return false;
	return n > 0;
}

/* MODULE:FUNCTION, perhaps with /ARITY */
static bool is_function(const char *text)
{
	const char *colon = strchr(text, ':'), *slash = colon != NULL ? strchr(colon, '/') : NULL;
	const char *end = slash != NULL ? slash : text + strlen(text);

	if (colon == NULL || !is_name(text, (size_t)(colon - text)) ||
		!is_name(colon + 1, (size_t)(end - colon - 1)))
		return false;
	return slash == NULL ||
	       (slash[1] != '\0' && strspn(slash + 1, "0123456789") == strlen(slash + 1));
}

static int choose(struct output *o, struct chosen *s, char **clause)
{
	(void)o;
	if (!is_function(s->value)) {
		cli_say("--follow takes a function, MODULE:FUNCTION or MODULE:FUNCTION/ARITY, not "
			"'%s'",
			s->value);
		return CLI_USAGE;
	}
	if (asprintf(clause, "erlang*:%s:function-entry { follow(); }", s->value) >= 0)
		return -1;
	*clause = NULL;
	cli_say("out of memory");
	return CLI_ERROR;
}

static void check(struct output *o)
{
	o->chosen[AT_flows].is |= o->json;
}

static void take(struct output *o, struct chosen *s, struct flow *f)
{
	struct sum *sum = s->state;
	uint64_t elapsed = f->end - f->start;

	sum->n++;
	sum->waiting += f->why != NULL && strcmp(f->why, "waits") == 0;
	if (!f->incomplete) {
		sum->whole++;
		sum->messages += f->messages;
		sum->spawns += f->spawns;
		sum->total += elapsed;
		if (elapsed > sum->slowest)
			sum->slowest = elapsed;
	}
	if (o->json || elapsed <= sum->longest)
		return;
	sum->longest = elapsed;
	requests_print(o, f, flow_tree);
}

static void put_sum(struct output *o, const struct sum *s)
{
	unsigned long long lacking = s->n - s->whole;

	if (s->whole > 0)
		output_printf(o,
			"%llu request%s, %llu messages, %llu spawns; %.1f us each, the slowest "
			"%.1f us",
			(unsigned long long)s->whole, s->whole == 1 ? "" : "s",
			(unsigned long long)s->messages, (unsigned long long)s->spawns,
			(double)s->total / 1000 / (double)s->whole, (double)s->slowest / 1000);
	if (s->waiting > 0)
		output_printf(o, "%s%llu not finished", s->whole > 0 ? "; " : "",
			(unsigned long long)s->waiting);
	if (lacking > 0)
		output_printf(o, "%s%llu request%s incomplete%s",
			s->whole + s->waiting > 0 ? "; " : "", lacking,
			lacking == 1 ? " is" : "s are", s->whole > 0 ? ", not counted here" : "");
	output_printf(o, "\n");
}

static int close_sum(struct output *o, struct chosen *s)
{
	const struct sum *sum = s->state;

	if (o->gathers && sum->n > 0 && !o->json)
		put_sum(o, sum);
	return CLI_OK;
}

const struct sink follow_output = {
	.option = "follow",
	.value = " M:F",
	.about = "follow each call of this function through all that it causes",
	.traits = OF_REQUESTS,
	.choose = choose,
	.check = check,
	.state_size = sizeof(struct sum),
	.flow = take,
	.close = close_sum,
};
