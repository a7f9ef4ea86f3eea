/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts run inside nodes: what comes back is printed (node_stream.c), and the nodes are told when
 * to stop. A node that goes away has sent what there was up to a second before.
 */
#include "targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/script/script.h"
#include "cli/signals.h"
#include "client/worker.h"
#include "json_write.h"
#include "node/agent.h"
#include "node/decode.h"
#include "node/etf.h"
#include "output/requests.h"
#include "output/server_calls.h"
#include "shell.h"
#include "snapshots.h"

/* ---- what comes back --------------------------------------------------------------------- */

/* {N, ..}, one a script */
static void on_matched(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct nodes *ns = nodes_of(cl);
	int n = 0;
	long count;

	t->state = COMPILED;
	t->matched = true;
	if (ei_decode_tuple_header(x->buff, &at, &n) < 0)
		return;
	for (int i = 0; i < n && i < ns->c->req.nscripts; i++)
		if (ei_decode_long(x->buff, &at, &count) == 0 && count >= 0)
			ns->matched[i] = (ns->matched[i] < 0 ? 0 : ns->matched[i]) + count;
}

/* -S */
static void on_code(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct nodes *ns = nodes_of(cl);
	const char *text;
	long len;

	if (t == &ns->v[0] && nd_get_text(x, &at, &text, &len) == 0) /* the others made the same */
		cli_tell(text, (size_t)len);
}

static void tell_failure(struct nodes *ns, long script, const erltrace_error_t *err)
{
	struct cli *c = ns->c;
	const struct cli_script *s =
		script >= 0 && script < c->req.nscripts ? &c->req.scripts[script] : NULL;

	if (ns->status != CLI_OK && s != NULL)
		return; /* another node has said the same */
	ns->status = CLI_ERROR;
	c->failing.errtags = cli_option_on(c->h, "errtags");
	c->failing.one_line = false;
	c->failing.said = NULL;
	output_flush(&c->out);
	if (s == NULL) {
		cli_fail(c, err, "processing aborted");
	} else if (c->req.mode == MODE_LIST && s->flag != 's') {
		cli_fail(c, err, "failed to match %s", s->arg);
	} else if (s->flag == 's') {
		c->failing.said =
			strcmp(s->arg, "-") == 0 && c->req.preprocess ? "/dev/stdin" : s->arg;
		cli_fail(c, err, "failed to compile script %s", s->arg);
		cli_script_usage(s, err);
	} else {
		c->failing.one_line = strchr(s->arg, '\n') == NULL;
		cli_fail(c, err, "invalid probe specifier %s", s->arg);
	}
}

static void on_failed(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct nodes *ns = nodes_of(cl);
	erltrace_error_t err;
	long script = -1;

	t->failed = true;
	if (client_get_failure(x, at, &script, &err) < 0)
		return;
	/* One node need not have what another has. */
	if (et_err_is(&err, D_PDESC_ZERO) && t->state == STARTED) {
		ns->zero = err;
		ns->zero_script = (int)script;
		t->zero = true;
		return;
	}
	if (et_err_is(&err, ET_KILLED)) {
		ns->status = cli_fail(ns->c, &err, "node %s", t->nd->name);
		t->killed = true;
		return; /* the others go on, as if it had gone */
	}
	if (script < 0 && ns->n > 1)
		cli_say("node %s:", t->nd->name);
	tell_failure(ns, script, &err);
	t->silent = et_err_is(&err, ET_SILENCE);
	ns->ending = true;
}

static void put_piece(void *o, const void *text, size_t len)
{
	output_write(o, text, len);
}

/* The node that a JSON object is about; aggregations, and that there are none, are of all nodes. */
static void write_json(struct nodes *ns, const struct target *t, const char *text, long len)
{
	static const char merged[] = "{\"type\":\"aggregation\"", drop[] = "{\"type\":\"drop\"",
			  nothing[] = "{\"type\":\"nothing\"";

	if (len > (long)sizeof(drop) && memcmp(text, drop, sizeof(drop) - 1) == 0)
		requests_dropped(&ns->c->out);
	if (ns->n > 1 && len > 1 && text[0] == '{' &&
		strncmp(text, merged, sizeof(merged) - 1) != 0 &&
		strncmp(text, nothing, sizeof(nothing) - 1) != 0) {
		output_write(&ns->c->out, "{\"node\":", 8);
		jw_string(put_piece, &ns->c->out, t->nd->name, strlen(t->nd->name));
		output_write(&ns->c->out, ",", 1);
		text++;
		len--;
	}
	output_write_foreign(&ns->c->out, text, (size_t)len);
}

/* system(): it runs here, as the user of the command, and writes where the script does. */
void node_system(struct nodes *ns, const char *text, size_t len)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	char *command = strndup(text, len);
	pid_t pid;
	int rc;

	output_flush(&ns->c->out);
	rc = command != NULL ? shell_start(&pid, command, output_fd(&ns->c->out)) : ENOMEM;
	if (rc != 0)
		cli_say("system(): %s", strerror(rc));
	while (rc == 0 && !shell_ended(pid)) {
		client_beat(&ns->client);
		nanosleep(&pause, NULL);
	}
	free(command);
}

void node_reopen(struct nodes *ns, const char *text, size_t len)
{
	char path[4096];
	int error;

	snprintf(path, sizeof(path), "%.*s", (int)len, text);
	error = ns->c->out.json ? 0 : output_reopen(&ns->c->out, path);
	if (error != 0)
		cli_say("couldn't freopen() \"%s\": %s", path, strerror(error));
}

/* Of a flight recorder: the name, a NUL, and the text. */
static void on_alert(struct output *o, const char *text, long len)
{
	const char *end = memchr(text, '\0', (size_t)len);

	if (end != NULL)
		calls_alert(o, text, (size_t)(end - text), end + 1, (size_t)(text + len - end - 1));
}

static void print_item(
	struct client *cl, struct target *t, const char *kind, const char *text, long len)
{
	struct nodes *ns = nodes_of(cl);

	if (strcmp(kind, "stream") == 0) {
		node_stream(ns, t, text, (size_t)len);
	} else if (strcmp(kind, "alert") == 0 && ns->c->out.calls != NULL) {
		on_alert(&ns->c->out, text, len);
	} else if (strcmp(kind, "live") == 0) { /* it names its node */
		output_write_foreign(&ns->c->out, text, (size_t)len);
	} else if (strcmp(kind, "text") == 0 && ns->c->out.json) {
		write_json(ns, t, text, len);
	} else if (strcmp(kind, "text") == 0) {
		output_write_foreign(&ns->c->out, text, (size_t)len);
	} else if (cli_snapshot_part(ns->c, &t->snapshot, t->nd->name, kind, text, len)) {
		return;
	} else if (strcmp(kind, "err") == 0 || strcmp(kind, "drop") == 0) {
		if (strcmp(kind, "drop") == 0)
			requests_dropped(&ns->c->out);
		output_error(&ns->c->out, ns->n > 1 ? t->nd->name : "", text, (size_t)len);
	} else {
		cli_say("node %s: '%s' that no script asked for: refused", t->nd->name, kind);
	}
}

static void print_items(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	client_get_items(&ns->client, t, x, at, print_item);
	output_flush(&ns->c->out);
}

static void on_batch(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct nodes *ns = nodes_of(cl);
	print_items(ns, t, x, at);
	client_tell(t, "more");
}

/* Which descriptions match nothing there, as they may with -Z. */
static void on_unmatched(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct output *o = &nodes_of(cl)->c->out;
	struct client_unmatched *list = NULL;
	size_t n = client_get_unmatched(x, at, &list);

	if (output_printer(o)->unmatched != NULL)
		output_printer(o)->unmatched(o, t->nd->name, list, n);
	for (size_t i = 0; i < n; i++)
		free(list[i].text);
	free(list);
	output_flush(o);
	client_tell(t, "more");
}

static void on_rows(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct nodes *ns = nodes_of(cl);
	ns->listed |= client_get_rows(x, at, cli_list_probe, &ns->listing);
	output_flush(&ns->c->out);
	client_tell(t, "more");
}

/* A script that has no exit() has no code of its own to end with. */
static int code_of(const struct nodes *ns, long code)
{
	return code > 0 && !ns->c->uses.exit ? CLI_ERROR : (int)code;
}

static void tell_stood(const struct nodes *ns)
{
	char text[256];

	if (client_stood(&ns->client, text, sizeof(text)))
		cli_say("%s", text);
}

/*
 * What has come of a node that has gone is there. It sends what it has gathered each second, and before:
 * who has sent nothing had nothing then. With --live ticks have brought all but the last of it.
 */
static void tell_gone(const struct nodes *ns, const struct target *t, int64_t now, bool others)
{
	double age = node_stream_age(ns, t), ran = (double)(now - t->began_at) / 1000;

	if (!ns->c->uses.aggregations)
		return;
	if (others)
		cli_say("aggregations of the last %.1f s are missing: those of %s", age < 0 ? ran : age,
			t->nd->name);
	else if (age < 0 && t->next_tick == 0)
		cli_say("no aggregations have come from %s, which ran for %.2f s: what it may have "
			"gathered is lost",
			t->nd->name, ran);
	else if (age >= 0 && ns->stood_ms > 0)
		cli_say("aggregations as they last came:");
	else if (age >= 0 && (!ns->c->out.json || !ns->c->out.quiet))
		cli_say("aggregations as they were %.1f s before it ended:", age);
}

static void on_done(struct client *cl, struct target *t, const ei_x_buff *x, int at)
{
	struct nodes *ns = nodes_of(cl);
	long code = -1;

	ei_decode_long(x->buff, &at, &code);
	t->state = DONE;
	if (code >= 0 && !t->failed) {
		if (ns->exit_code < 0)
			ns->exit_code = code_of(ns, code);
		ns->ending = true;
	}
	if (t->silent)
		tell_stood(ns);
	if (t->silent || t->killed)
		tell_gone(ns, t, client_ms(), t->killed && !client_all_done(cl, t));
	node_stream_ends(ns, t);
	nd_agent_gone(t->nd);
}

static const struct client_handler handlers[] = {
	{"batch", on_batch},
	{"matched", on_matched},
	{"failed", on_failed},
	{"code", on_code},
	{"rows", on_rows},
	{"unmatched", on_unmatched},
	{"done", on_done},
	{NULL, NULL},
};

/* ---- a node that goes away --------------------------------------------------------------- */

/* With -c and -p the end of the process is the end that is waited for. */
static bool is_expected(struct nodes *ns, const struct target *t)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	bool is_ours = false;

	for (int i = 0; i < ns->c->procs.n; i++)
		is_ours |=
			ns->c->procs.v[i].command != NULL || ns->c->procs.v[i].pid == t->nd->ospid;
	for (int i = 0; is_ours && i < 1000; i++) { /* the connection ends before the process */
		if (cli_procs_ended(&ns->c->procs, &ns->c->out))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void tell_json_gone(struct nodes *ns, const struct target *t)
{
	if (output_printer(&ns->c->out)->gone != NULL)
		output_printer(&ns->c->out)->gone(&ns->c->out, t->nd->name);
}

static void went_away(struct client *cl, struct target *t, struct et_error *e)
{
	struct nodes *ns = nodes_of(cl);
	bool was_running = t->state == RUNNING || t->state == STOPPING;
	int64_t now = client_ms();
	bool ended = is_expected(ns, t), expected = was_running && ended;

	t->state = DONE;
	output_flush(&ns->c->out);
	if (!was_running && ended && ns->c->procs.v[0].command != NULL)
		node_too_short(e);
	if (!expected) {
		cli_say("%s", e->text);
		tell_json_gone(ns, t);
		tell_stood(ns);
		ns->status = CLI_ERROR;
	}
	if (was_running) {
		tell_gone(ns, t, now, !client_all_done(&ns->client, t));
		node_stream_ends(ns, t);
	}
}

/* ---- the run ----------------------------------------------------------------------------- */

static bool compiling(const struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == STARTED)
			return true;
	return false;
}

/* As cli_scripts(): what matched, over all nodes. */
static void tell_matches(struct nodes *ns)
{
	struct cli *c = ns->c;

	for (int i = 0; i < c->req.nscripts; i++) {
		const struct cli_script *s = &c->req.scripts[i];

		if (ns->matched[i] == 0 && c->req.zero_matches && ns->n > 1 && !s->own)
			cli_say("warning: %s '%.*s' matches no probe of any node yet",
				s->flag == 's' ? "script" : "description", cli_script_length(s),
				s->arg);
		else if (ns->matched[i] >= 0 && !s->own && c->out.worker == NULL)
			cli_notice(&c->out, "%s '%.*s' matched %ld probe%s",
				s->flag == 's' ? "script" : "description", cli_script_length(s),
				s->arg, ns->matched[i], ns->matched[i] == 1 ? "" : "s");
	}
}

static void wait_until_compiled(struct nodes *ns)
{
	while (compiling(ns) && ns->status == CLI_OK && !cli_interrupted(&ns->c->out))
		client_receive(&ns->client, 1000);
}

static int compile(struct nodes *ns)
{
	bool matched = false, zero;

	wait_until_compiled(ns);
	zero = ns->zero.tag[0] != '\0';
	for (int i = 0; i < ns->n; i++)
		matched |= ns->v[i].matched;
	if (ns->status == CLI_OK && !matched && zero)
		tell_failure(ns, ns->zero_script, &ns->zero);
	else if (ns->status == CLI_OK && zero && ns->c->uses.follows) {
		ns->status = node_start_rest(ns);
		wait_until_compiled(ns);
	}
	if (ns->status == CLI_OK)
		tell_matches(ns);
	return ns->status;
}

static void go(struct nodes *ns)
{
	if (node_stream_go(ns) != CLI_OK) {
		client_tell_all(&ns->client, STOPPING, "stop");
		return;
	}
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == RUNNING)
			ns->v[i].began_at = client_ms();
	ns->c->out.gathers = true;
	cli_procs_go(&ns->c->procs);
}

enum {
	WAITS_MS = 5000, /* before it is told */
	LEAVES_MS = 10000, /* after all others have ended, for one that gives no sign of life */
	LEAVES_UNREAD_MS = 1000, /* ... when nobody reads what is printed */
};

/* A node that hangs, or an END that takes long: says once what we are waiting for. */
static void tell_waiting(struct nodes *ns)
{
	cli_leave_at_next();
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state != DONE)
			cli_say("the node %s has not ended the script yet%s", ns->v[i].nd->name,
				ns->c->out.worker == NULL
					? ": interrupt once more to leave without its results"
					: "");
}

/* Nothing more is asked of it. When it goes on, it takes everything back. */
void node_let_go(struct nodes *ns, struct target *t)
{
	t->state = DONE;
	nd_hang_up(t->nd);
	ns->status = CLI_ERROR;
	tell_json_gone(ns, t);
	if (t->began_at != 0) /* it has run */
		node_stream_ends(ns, t);
}

/*
 * Those that hang, after a signal, or because they have said nothing for so long since all others
 * had ended. One that only takes long gives signs of life.
 */
static void leave_hanging(struct nodes *ns, int64_t quiet_ms)
{
	for (int i = 0; i < ns->n; i++) {
		struct target *t = &ns->v[i];

		if (t->state == DONE || t->quiet_ms < quiet_ms)
			continue;
		cli_say("the node %s has not ended the script: results lack what it had not sent",
			t->nd->name);
		if (t->began_at != 0)
			tell_gone(ns, t, client_ms(), ns->n > 1);
		node_let_go(ns, t);
	}
}

/* A second signal ends the waiting for nodes that have been told to stop. */
static void receive(struct nodes *ns, bool stopped)
{
	bool any;

	cli_may_leave(stopped && ns->c->out.worker == NULL);
	any = client_wait(&ns->client, node_stream_wait(ns));
	cli_may_leave(false);
	if (any)
		client_read(&ns->client);
	if (cli_left())
		leave_hanging(ns, 0);
}

/* SIGUSR1 */
static void tell_snapshot(struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == RUNNING)
			client_tell(&ns->v[i], "snapshot");
}

static int count_done(const struct nodes *ns)
{
	int n = 0;

	for (int i = 0; i < ns->n; i++)
		n += ns->v[i].state == DONE;
	return n;
}

/* After the last one has ended that does, or since all have been told to stop. */
static void look_at_hanging(struct nodes *ns, int64_t now)
{
	const int64_t ms = ns->c->out.write_error != 0 ? LEAVES_UNREAD_MS : LEAVES_MS;
	int done = count_done(ns);

	if (ns->last_end == 0 || done != ns->ended)
		ns->last_end = now;
	ns->ended = done;
	if (now - ns->last_end >= ms)
		leave_hanging(ns, ms);
}

static void run(struct nodes *ns)
{
	bool stopped = false, waits = false;
	int64_t since = 0;

	if (!ns->c->req.compile_only && ns->status == CLI_OK)
		go(ns);
	else
		client_tell_all(&ns->client, STOPPING, "stop");
	while (!client_all_done(&ns->client, NULL)) {
		if (ns->c->out.worker != NULL)
			worker_sleep(ns->c->out.worker, 0); /* what woke us is seen below */
		if (!stopped && (ns->ending || cli_ended(&ns->c->procs, &ns->c->out))) {
			stopped = true;
			since = client_ms();
			if (cli_interrupted(&ns->c->out) && !ns->c->out.json)
				output_write(
					&ns->c->out, "\n", 1); /* away from the terminal's ^C */
			client_tell_all(&ns->client, STOPPING, "stop");
		}
		if (stopped && !waits && client_ms() - since > WAITS_MS) {
			waits = true;
			tell_waiting(ns);
		}
		if (stopped)
			look_at_hanging(ns, client_ms());
		if (cli_snapshot_asked(&ns->c->out))
			tell_snapshot(ns);
		node_keys(ns);
		output_look(&ns->c->out, client_ms());
		node_stream_look(ns);
		receive(ns, stopped);
		error_limit_more(&ns->c->out.errors, false);
	}
	node_keys_end();
	error_limit_more(&ns->c->out.errors, true);
}

static void list(struct nodes *ns)
{
	ns->listing.c = ns->c;
	cli_list_head(&ns->listing);
	while (!client_all_done(&ns->client, NULL) && !cli_ended(&ns->c->procs, &ns->c->out))
		client_receive(&ns->client, 1000);
	cli_list_end(&ns->listing);
	if (ns->zero.tag[0] == '\0' || ns->listed)
		ns->exit_code = -1; /* one node need not have what another has */
	else
		tell_failure(ns, ns->zero_script, &ns->zero);
}

int node_run(struct nodes *ns)
{
	ns->handlers = handlers;
	ns->gone = went_away;
	cli_catch_signals(&ns->c->procs, &ns->c->out);
	if (ns->c->req.mode == MODE_LIST && ns->status == CLI_OK) {
		list(ns);
	} else {
		if (ns->status == CLI_OK)
			compile(ns);
		run(ns);
	}
	node_stream_close(ns);
	if (ns->status == CLI_OK)
		ns->status = cli_procs_failed(&ns->c->procs);
	return ns->status == CLI_OK && ns->exit_code > 0 ? ns->exit_code : ns->status;
}
