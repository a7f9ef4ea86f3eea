/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scripts in nodes gather comes as streams, and a reader of the library makes of it what is
 * printed. A node is not who decides: what it wants done here must be in a script, and permitted.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "flow_model.h"
#include "format_match.h"
#include "node_system.h"
#include "output.h"
#include "server_calls.h"

static _Thread_local struct nodes *running; /* handlers of JSON have a state of their own */

/* ---- what the reader hands on ----------------------------------------------------------- */

static int on_text(void *arg, const char *text, size_t len)
{
	(void)arg;
	cli_write_foreign(running->c, text, len);
	return 0;
}

static void refuse(void)
{
	cli_say("a node has a command or a file that no script asked for (-w): refused");
}

static int on_system(void *arg, const char *command)
{
	const struct cli_uses *u = &running->c->uses;

	(void)arg;
	if (u->destructive && cli_could_print(u->commands, u->ncommands, command, strlen(command)))
		node_system(running, command, strlen(command));
	else
		refuse();
	return 0;
}

/* "": back. */
static int on_reopen(void *arg, const char *path)
{
	const struct cli_uses *u = &running->c->uses;

	(void)arg;
	if (u->destructive && u->npaths > 0 &&
		(path[0] == '\0' || cli_could_print(u->paths, u->npaths, path, strlen(path))))
		node_reopen(running, path, strlen(path));
	else
		refuse();
	return 0;
}

static int on_truncate(void *arg)
{
	(void)arg;
	if (running->c->uses.ftruncate)
		cli_truncate(running->c);
	else
		refuse();
	return 0;
}

static int on_flow(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	struct nodes *ns = running;
	struct flow_event e = {.node = ev->node};

	(void)arg;
	for (int i = 0; e.node == NULL && i < ns->n; i++) /* the only one that runs */
		e.node = ns->v[i].matched ? ns->v[i].nd->name : NULL;
	if (ns->c->flows == NULL || e.node == NULL)
		return 0;
	if (node_flow_event(ev, rec, &e) == 0) {
		flows_add(cli_flows(ns->c), &e, client_ms());
		return 0;
	}
	cli_say("node %s: events of requests that it sent are lost: they cannot be read", e.node);
	ns->status = CLI_ERROR;
	return 0;
}

/* ---- life ------------------------------------------------------------------------------- */

static int fail(struct nodes *ns, const erltrace_error_t *err)
{
	cli_fail(ns->c, err, "processing aborted");
	ns->ending = true;
	return ns->status = CLI_ERROR;
}

static int open_reader(struct nodes *ns, unsigned streams)
{
	erltrace_error_t err = {0};

	running = ns;
	if (cli_handlers(ns->c, &ns->reads) != CLI_OK)
		return CLI_ERROR;
	if (ns->c->json)
		ns->c->json_state.text = on_text; /* of which calls make no use */
	else
		ns->reads.text = on_text;
	ns->reads.system = on_system;
	ns->reads.reopen = on_reopen;
	ns->reads.truncate = on_truncate;
	ns->reads.flow = on_flow;
	ns->reader = erltrace_reader(streams, &err);
	if (ns->reader == NULL)
		return fail(ns, &err);
	return CLI_OK;
}

/* {go_stream, N} */
static void tell_go(struct target *t, unsigned n)
{
	struct et_error e = {.tag = ""};
	ei_x_buff x;

	ei_x_new_with_version(&x);
	ei_x_encode_tuple_header(&x, 2);
	ei_x_encode_atom(&x, "go_stream");
	ei_x_encode_ulong(&x, n);
	nd_send(t->nd, &t->agent, &x, &e); /* gone: node_receive() will tell */
	ei_x_free(&x);
	t->state = RUNNING;
}

int node_stream_go(struct nodes *ns)
{
	unsigned n = 0;

	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == COMPILED)
			ns->v[i].stream = n++;
	if (n == 0)
		return CLI_OK;
	if (open_reader(ns, n) != CLI_OK)
		return CLI_ERROR;
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == COMPILED)
			tell_go(&ns->v[i], n);
	return CLI_OK;
}

void node_stream_close(struct nodes *ns)
{
	erltrace_close(ns->reader);
	ns->reader = NULL;
}

/* ---- reading ---------------------------------------------------------------------------- */

struct ticking {
	struct cli *c;
	bool any;
};

static int on_tick(void *arg, const char *text, size_t len)
{
	struct ticking *to = arg;

	to->any = true;
	cli_write_foreign(to->c, text, len);
	return 0;
}

/* A line, if anything has come of its stream. 1: there is more. */
static int tick(struct nodes *ns, struct target *t, bool *any)
{
	struct ticking to = {.c = ns->c};
	erltrace_error_t err;
	int rc;

	if (ns->c->calls != NULL)
		return calls_changes(ns->c, t->nd->name, ns->reader, (int)t->stream, any);
	rc = erltrace_stream_tick(ns->reader, t->stream, t->nd->name, on_tick, &to, &err);
	*any = to.any;
	return rc;
}

/* A node that says nothing has no ticks. Those that are late keep the beat. */
static void ticks(struct nodes *ns, int64_t now)
{
	bool any;

	for (int i = 0; i < ns->n; i++) {
		struct target *t = &ns->v[i];

		if (t->began_at == 0 || now < t->next_tick)
			continue;
		tick(ns, t, &any);
		if (any)
			t->next_tick += ns->c->live_ms;
		if (any && t->next_tick <= now)
			t->next_tick = now + ns->c->live_ms;
	}
}

static void last_ticks(struct nodes *ns)
{
	bool any;

	for (int i = 0; i < ns->n; i++)
		while (ns->v[i].began_at != 0 && tick(ns, &ns->v[i], &any) > 0)
			;
}

static void due(struct nodes *ns)
{
	int64_t now = client_ms();
	erltrace_error_t err;

	if (ns->read)
		return;
	if (ns->c->live_ms > 0)
		ticks(ns, now);
	if (ns->c->stacks != NULL && now >= ns->next_stacks &&
		erltrace_stacks(ns->reader, cli_stacks_take, ns->c, &err) >= 0)
		ns->next_stacks = now + CLI_STACKS_MS;
}

/* A tick that is overdue waits for its node, whose message ends the wait. */
int node_stream_wait(const struct nodes *ns)
{
	int64_t now = client_ms(), ms = ns->c->nprocs > 0 || ns->n > 1 ? 100 : 1000;

	for (int i = 0; ns->c->live_ms > 0 && i < ns->n; i++)
		if (ns->v[i].next_tick > now && ns->v[i].next_tick - now < ms)
			ms = ns->v[i].next_tick - now;
	return (int)ms;
}

static void work(struct nodes *ns)
{
	erltrace_error_t err = {0};
	int code, rc;

	due(ns);
	rc = erltrace_work(ns->reader, &ns->reads, &err);
	if (rc < 0)
		fail(ns, &err);
	if (erltrace_status(ns->reader, &code) == ERLTRACE_EXITED)
		ns->ending = true;
	if (rc == ERLTRACE_DONE && !ns->read) { /* what came last */
		ns->read = true;
		if (ns->c->live_ms > 0)
			last_ticks(ns);
		if (ns->c->stacks != NULL)
			erltrace_stacks(ns->reader, cli_stacks_take, ns->c, &err);
	}
	cli_flush(ns->c);
}

void node_stream_look(struct nodes *ns)
{
	if (ns->reader == NULL)
		return;
	if (ns->n > 1) { /* records may wait for those of another */
		work(ns);
		return;
	}
	due(ns);
	cli_flush(ns->c);
}

void node_stream(struct nodes *ns, struct target *t, const char *bytes, size_t len)
{
	erltrace_error_t err = {0};

	if (erltrace_feed(ns->reader, t->stream, bytes, len, &err) < 0)
		fail(ns, &err);
	work(ns);
}

void node_stream_ends(struct nodes *ns, struct target *t)
{
	if (ns->reader == NULL)
		return;
	erltrace_feed_end(ns->reader, t->stream);
	work(ns);
}

double node_stream_age(const struct nodes *ns, const struct target *t)
{
	uint64_t ns_ago = ns->reader != NULL ? erltrace_stream_age(ns->reader, t->stream) : UINT64_MAX;

	return ns_ago != UINT64_MAX ? (double)ns_ago / 1e9 : -1;
}
