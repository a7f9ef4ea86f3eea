/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scripts in nodes gather comes as streams, and a reader of the library makes of it what is
 * printed. A node is not who decides: what it wants done here must be in a script, and permitted.
 * The reader refuses the rest (erltrace_permit()).
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "output/requests.h"

static _Thread_local struct nodes *running; /* handlers of JSON have a state of their own */

/* ---- what the reader hands on ----------------------------------------------------------- */

static int on_system(void *arg, const char *command)
{
	(void)arg;
	node_system(running, command, strlen(command));
	return 0;
}

/* "": back. */
static int on_reopen(void *arg, const char *path)
{
	(void)arg;
	node_reopen(running, path, strlen(path));
	return 0;
}

static int on_truncate(void *arg)
{
	(void)arg;
	output_truncate(&running->c->out);
	return 0;
}

static int on_flow(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	struct nodes *ns = running;
	const char *node = ev->node;

	(void)arg;
	for (int i = 0; node == NULL && i < ns->n; i++) /* the only one that runs */
		node = ns->v[i].matched ? ns->v[i].nd->name : NULL;
	if (node == NULL || requests_event(&ns->c->out, node, ev, rec, client_ms()) == 0)
		return 0;
	cli_say("node %s: events of requests that it sent are lost: they cannot be read", node);
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

/* What the scripts do here, as they were read here. */
static int permit(struct nodes *ns, erltrace_error_t *err)
{
	const struct cli_uses *u = &ns->c->uses;
	int rc = u->ftruncate ? erltrace_permit(ns->reader, "ftruncate", NULL, err) : 0;

	for (int i = 0; u->destructive && i < u->ncommands && rc == 0; i++)
		rc = erltrace_permit(ns->reader, "system", u->commands[i], err);
	for (int i = 0; u->destructive && i < u->npaths && rc == 0; i++)
		rc = erltrace_permit(ns->reader, "freopen", u->paths[i], err);
	return rc;
}

static int open_reader(struct nodes *ns, unsigned streams)
{
	erltrace_error_t err = {0};

	running = ns;
	ns->c->out.foreign = true;
	ns->c->out.droptags = cli_option_on(ns->c->h, "droptags");
	if (output_handlers(&ns->c->out, &ns->reads) != CLI_OK)
		return CLI_ERROR;
	ns->reads.system = on_system;
	ns->reads.reopen = on_reopen;
	ns->reads.truncate = on_truncate;
	ns->reads.flow = on_flow;
	ns->reader = erltrace_reader(streams, &err);
	if (ns->reader == NULL || permit(ns, &err) < 0)
		return fail(ns, &err);
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == COMPILED &&
			erltrace_feed_name(ns->reader, ns->v[i].stream, ns->v[i].nd->name, &err) < 0)
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

/* A line, if anything has come of its stream. 1: there is more. */
static int tick(struct nodes *ns, struct target *t, bool *any)
{
	return output_tick(&ns->c->out, t->nd->name, ns->reader, (int)t->stream, any);
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
			t->next_tick += ns->c->out.live_ms;
		if (any && t->next_tick <= now)
			t->next_tick = now + ns->c->out.live_ms;
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

	if (ns->read)
		return;
	if (ns->c->out.live_ms > 0)
		ticks(ns, now);
	output_collect(&ns->c->out, ns->reader, now);
}

/* A tick that is overdue waits for its node, whose message ends the wait. */
int node_stream_wait(const struct nodes *ns)
{
	int64_t now = client_ms(), ms = ns->c->procs.n > 0 || ns->n > 1 ? 100 : 1000;

	for (int i = 0; ns->c->out.live_ms > 0 && i < ns->n; i++)
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
		if (ns->c->out.live_ms > 0)
			last_ticks(ns);
		output_collect_last(&ns->c->out, ns->reader);
	}
	output_flush(&ns->c->out);
}

static void put_warning(struct nodes *ns, const struct target *t, const char *text)
{
	const erltrace_drop_t d = {.node = t->nd->name, .kind = "NODE", .cpu = -1, .message = text};

	output_flush(&ns->c->out);
	if (ns->c->out.json)
		ns->reads.drop(ns->reads.arg, &d);
	else
		cli_say("%s", text);
}

/* Of a node that has begun: until then it arms its probes, which may take a while. */
static void look_at_quiet(struct nodes *ns, struct target *t)
{
	const bool hangs = t->quiet_ms >= ERLTRACE_FEED_WAIT_MS && t->begun &&
			   (t->state == RUNNING || t->state == STOPPING);
	char text[ND_NAME + 128];

	if (hangs)
		erltrace_feed_hangs(ns->reader, t->stream);
	if (hangs == t->hangs || t->state == DONE)
		return;
	t->hangs = hangs;
	if (hangs)
		snprintf(text, sizeof(text),
			"the node %s has sent nothing for %d s: results lack what it has",
			t->nd->name, ERLTRACE_FEED_WAIT_MS / 1000);
	else
		snprintf(text, sizeof(text), "the node %s sends again", t->nd->name);
	put_warning(ns, t, text);
}

void node_stream_look(struct nodes *ns)
{
	if (ns->reader == NULL)
		return;
	for (int i = 0; ns->n > 1 && i < ns->n; i++)
		look_at_quiet(ns, &ns->v[i]);
	if (ns->n > 1) { /* records may wait for those of another */
		work(ns);
		return;
	}
	due(ns);
	output_flush(&ns->c->out);
}

void node_stream(struct nodes *ns, struct target *t, const char *bytes, size_t len)
{
	erltrace_error_t err = {0};

	t->begun = true;
	if (erltrace_feed(ns->reader, t->stream, bytes, len, &err) < 0) {
		fail(ns, &err);
		node_let_go(ns, t); /* whatever it may still say */
	}
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
