/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clauses are added to the scripts that tell of every event of a flow, unless a script does that
 * itself, as for those that it chooses. When a flow is complete, the outputs take it.
 */
#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "flow_model.h"
#include "output.h"

struct requests {
	struct flows *flows;
	uint64_t n;
};

/* Of each event what flow_events.c reads. The script's arguments are none of theirs. */
static const char clauses_of_events[] =
	"#pragma D option argref\n"
	"erlang*:::flow-begin { flowtrace(\"%d%d%s%s%s\", args[0], args[3], args[1], erlproc, "
	"args[2]); }\n"
	"erlang*:::flow-send { flowtrace(\"%d%d%d%d%d%s%s%s%s%s\", args[0], args[7], args[1], "
	"args[2],"
	" args[6], args[3], args[4], erlproc, erlpeerproc, erlmsg); }\n"
	"erlang*:::flow-receive { flowtrace(\"%d%d%d%d%s%s\", args[0], args[7], args[1], args[2],"
	" args[4], erlproc); }\n"
	"erlang*:::flow-spawn { flowtrace(\"%d%d%d%d%s%s%s%s\", args[0], args[7], args[1], args[2],"
	" args[3], args[4], erlproc, args[6]); }\n"
	"erlang*:::flow-end { flowtrace(\"%d%d%d%d%d%d%s%s\", args[0], args[7], args[1], args[3],"
	" args[4], args[5], args[2], args[6]); }\n";

/* ---- the beginning ------------------------------------------------------------------------ */

static void on_done(void *arg, struct flow *f)
{
	struct output *o = arg;

	o->requests->n++;
	output_request(o, f);
	flow_free(f);
}

/* The option flowevents. */
static size_t most_events(erltrace_t *h)
{
	char value[32] = "";

	erltrace_getopt(h, "flowevents", value, sizeof(value), NULL);
	return strtoul(value, NULL, 10);
}

static int none(const struct output *o)
{
	if (output_first(o, OF_ANY_SCRIPT) != NULL)
		return CLI_OK;
	cli_say("--%s: the script follows no requests: call follow() in it, or add --follow "
		"MODULE:FUNCTION",
		output_first(o, OF_REQUESTS));
	return CLI_ERROR;
}

int requests_open(struct output *o, const struct output_scripts *of, const char **clauses)
{
	if (!of->parsed)
		return CLI_OK; /* compiling says more */
	if (!of->follows)
		return none(o);
	o->requests = calloc(1, sizeof(*o->requests));
	if (o->requests != NULL)
		o->requests->flows = flows_new(most_events(of->h), on_done, o);
	if (o->requests == NULL || o->requests->flows == NULL) {
		cli_say("out of memory");
		requests_free(o);
		return CLI_ERROR;
	}
	if (!of->flowtrace)
		*clauses = clauses_of_events;
	return CLI_OK;
}

/* ---- while scripts run -------------------------------------------------------------------- */

int requests_event(struct output *o, const char *node, const erltrace_event_t *ev,
	const erltrace_record_t *rec, int64_t now_ms)
{
	struct flow_event e = {.node = node};

	if (o->requests == NULL)
		return 0;
	if (flow_event_read(ev, rec, &e) < 0)
		return -1;
	flows_add(o->requests->flows, &e, now_ms);
	return 0;
}

/* Of events, by which a request that is followed may lack something. */
static bool is_of_events(const erltrace_drop_t *d)
{
	return strcmp(d->kind, "PRINCIPAL") == 0 || strcmp(d->kind, "RATE") == 0 ||
	       strcmp(d->kind, "THREADS") == 0 || strcmp(d->kind, "FLOWS") == 0;
}

void requests_drop(struct output *o, const erltrace_drop_t *d)
{
	if (is_of_events(d))
		requests_dropped(o);
}

void requests_dropped(struct output *o)
{
	if (o->requests != NULL)
		o->requests->flows->dropped = true;
}

void requests_look(struct output *o, int64_t now_ms)
{
	flows_look(o->requests->flows, now_ms, false);
}

uint64_t requests_count(const struct output *o)
{
	return o->requests->n;
}

const struct flows *requests_flows(const struct output *o)
{
	return o->requests->flows;
}

void requests_print(struct output *o, const struct flow *f,
	void (*put)(const struct flows *s, const struct flow *f, FILE *out))
{
	char *text = NULL;
	size_t len = 0;
	FILE *m = open_memstream(&text, &len);

	if (m == NULL)
		return;
	put(o->requests->flows, f, m);
	fclose(m);
	output_write_foreign(o, text, len);
	free(text);
}

/* ---- the end ------------------------------------------------------------------------------ */

void requests_finish(struct output *o)
{
	if (o->gathers)
		flows_look(o->requests->flows, 0, true);
}

void requests_tell(const struct output *o, int status)
{
	const struct requests *r = o->requests;

	if (r->flows->lost > 0)
		cli_say("%llu events of requests are left out: there were too many at a time "
			"(option flowevents)",
			(unsigned long long)r->flows->lost);
	if (r->n == 0 && status == CLI_OK)
		cli_say("no request was followed: the function was not called, or only by "
			"processes that have a"
			" sequential trace token already");
}

void requests_free(struct output *o)
{
	if (o->requests != NULL)
		flows_free(o->requests->flows);
	free(o->requests);
	o->requests = NULL;
}
