/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts run inside nodes: what comes back is printed, and the nodes are told when to stop.
 *
 * With several nodes one of them, the first, has the aggregations of all: what the others gather
 * is handed on to it here, and it prints the end when all others have ended. Each node sends its
 * aggregations as they are now and then; should it die, they are printed, or given to another.
 */
#include "targets.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format_match.h"
#include "list.h"
#include "node_system.h"
#include "node/agent.h"
#include "node/decode.h"
#include "node/etf.h"
#include "output.h"
#include "run.h"
#include "snapshots.h"

/* ---- telling nodes ----------------------------------------------------------------------- */

/* {import, Bytes} */
static void send_part(struct target *t, const char *bytes, long len)
{
	struct et_error e = {.tag = ""};
	ei_x_buff x;

	ei_x_new_with_version(&x);
	ei_x_encode_tuple_header(&x, 2);
	ei_x_encode_atom(&x, "import");
	ei_x_encode_binary(&x, bytes, (int)len);
	if (t->state != DONE)
		nd_send(t->nd, &t->agent, &x, &e);
	ei_x_free(&x);
}

/* ---- what comes back --------------------------------------------------------------------- */

/* {N, ..}, one a script */
static void on_matched(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	int n = 0;
	long count;

	t->state = COMPILED;
	t->matched = true;
	if (ei_decode_tuple_header(x->buff, &at, &n) < 0)
		return;
	for (int i = 0; i < n && i < ns->c->nscripts; i++)
		if (ei_decode_long(x->buff, &at, &count) == 0 && count >= 0)
			ns->matched[i] = (ns->matched[i] < 0 ? 0 : ns->matched[i]) + count;
}

/* -S */
static void on_code(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	const char *text;
	long len;

	if (t == &ns->v[0] && nd_get_text(x, &at, &text, &len) == 0) /* the others made the same */
		cli_tell(text, (size_t)len);
}

static void tell_failure(struct nodes *ns, long script, const erltrace_error_t *err)
{
	struct cli *c = ns->c;
	const struct cli_script *s =
		script >= 0 && script < c->nscripts ? &c->scripts[script] : NULL;

	if (ns->status != CLI_OK && s != NULL)
		return; /* another node has said the same */
	ns->status = CLI_ERROR;
	c->errtags = cli_option_on(c, "errtags");
	c->one_line = false;
	c->said = NULL;
	cli_flush(c);
	if (s == NULL) {
		cli_fail(c, err, "processing aborted");
	} else if (c->mode == MODE_LIST && s->flag != 's') {
		cli_fail(c, err, "failed to match %s", s->arg);
	} else if (s->flag == 's') {
		c->said = strcmp(s->arg, "-") == 0 && c->preprocess ? "/dev/stdin" : s->arg;
		cli_fail(c, err, "failed to compile script %s", s->arg);
		cli_script_usage(s, err);
	} else {
		c->one_line = strchr(s->arg, '\n') == NULL;
		cli_fail(c, err, "invalid probe specifier %s", s->arg);
	}
}

static void on_failed(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	erltrace_error_t err;
	long script = -1;

	t->failed = true;
	if (node_get_failure(x, at, &script, &err) < 0)
		return;
	/* One node need not have what another has. */
	if (et_err_is(&err, D_PDESC_ZERO) && t->state == STARTED) {
		ns->zero = err;
		ns->zero_script = (int)script;
		t->zero = true;
		return;
	}
	if (script < 0 && ns->n > 1)
		cli_say("node %s:", t->nd->name);
	tell_failure(ns, script, &err);
	t->silent = et_err_is(&err, ET_SILENCE);
	ns->ending = true;
}

/* The node that a JSON object is about; aggregations, and that there are none, are of all nodes. */
static void write_json(struct nodes *ns, const struct target *t, const char *text, long len)
{
	static const char merged[] = "{\"type\":\"aggregation\"", drop[] = "{\"type\":\"drop\"",
			  nothing[] = "{\"type\":\"nothing\"";

	if (len > (long)sizeof(drop) && memcmp(text, drop, sizeof(drop) - 1) == 0)
		cli_flows_dropped(ns->c);
	if (ns->n > 1 && len > 1 && text[0] == '{' &&
		strncmp(text, merged, sizeof(merged) - 1) != 0 &&
		strncmp(text, nothing, sizeof(nothing) - 1) != 0) {
		cli_printf(ns->c, "{\"node\":\"%s\",", t->nd->name);
		text++;
		len--;
	}
	cli_write_foreign(ns->c, text, (size_t)len);
}

/* system(): it runs here, as the user of the command, and writes where the script does. */
void node_system(struct nodes *ns, const char *text, size_t len)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	char *command = strndup(text, len);
	char *argv[] = {"sh", "-c", command, NULL};
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int rc;

	cli_flush(ns->c);
	if (command == NULL || posix_spawn_file_actions_init(&fa) != 0) {
		free(command);
		return;
	}
	if (ns->c->out != stdout)
		posix_spawn_file_actions_adddup2(&fa, fileno(ns->c->out), STDOUT_FILENO);
	rc = posix_spawn(&pid, "/bin/sh", &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (rc != 0)
		cli_say("system(): %s", strerror(rc));
	while (rc == 0 && waitpid(pid, NULL, WNOHANG) == 0) {
		node_beat(ns);
		nanosleep(&pause, NULL);
	}
	free(command);
}

void node_reopen(struct nodes *ns, const char *text, size_t len)
{
	char path[4096];
	int error;

	snprintf(path, sizeof(path), "%.*s", (int)len, text);
	error = ns->c->json ? 0 : cli_reopen(ns->c, path);
	if (error != 0)
		cli_say("couldn't freopen() \"%s\": %s", path, strerror(error));
}

/* What a node wants done here must be in a script, and permitted: a node is not who decides. */
static bool may_ask(const struct cli *c, const char *kind, const char *text, long len)
{
	const struct cli_uses *h = &c->uses;

	if (strcmp(kind, "system") == 0)
		return h->destructive &&
		       cli_could_print(h->commands, h->ncommands, text, (size_t)len);
	if (strcmp(kind, "reopen") == 0) /* "": back */
		return h->destructive && h->npaths > 0 &&
		       (len == 0 || cli_could_print(h->paths, h->npaths, text, (size_t)len));
	return strcmp(kind, "truncate") != 0 || h->ftruncate;
}

static void print_item(
	struct nodes *ns, struct target *t, const char *kind, const char *text, long len)
{
	if (strcmp(kind, "stream") == 0 && ns->reader != NULL) {
		node_stream(ns, t, text, (size_t)len);
	} else if (strcmp(kind, "live") == 0) { /* it names its node */
		t->ticked = true;
		cli_write_foreign(ns->c, text, (size_t)len);
	} else if (strcmp(kind, "text") == 0 && ns->c->json) {
		write_json(ns, t, text, len);
	} else if (strcmp(kind, "text") == 0) {
		cli_write_foreign(ns->c, text, (size_t)len);
	} else if (cli_snapshot_part(ns->c, &t->snapshot, t->nd->name, kind, text, len)) {
		return;
	} else if (!may_ask(ns->c, kind, text, len)) {
		cli_say("node %s: a command or a file that no script asked for (-w): refused",
			t->nd->name);
	} else if (strcmp(kind, "system") == 0) {
		node_system(ns, text, (size_t)len);
	} else if (strcmp(kind, "reopen") == 0) {
		node_reopen(ns, text, (size_t)len);
	} else if (strcmp(kind, "truncate") == 0) {
		cli_truncate(ns->c);
	} else {
		if (strcmp(kind, "drop") == 0)
			cli_flows_dropped(ns->c);
		cli_error(ns->c, ns->n > 1 ? t->nd->name : "", text, (size_t)len);
	}
}

static void print_items(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	node_get_items(ns, t, x, at, print_item);
	cli_flush(ns->c);
}

static void on_batch(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	print_items(ns, t, x, at);
	node_tell(t, "more");
}

/* {Items, Raw} */
static void on_preview(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	static const char pad[TERM_PAD]; /* as behind a message */
	const char *raw;
	int items = at;
	long len;

	(void)ns;
	if (nd_get_tuple(x, &at, 2) < 0)
		return;
	items = at;
	if (nd_skip(x, &at) < 0 || nd_get_text(x, &at, &raw, &len) < 0)
		return;
	ei_x_free(&t->preview);
	ei_x_new(&t->preview);
	ei_x_append_buf(&t->preview, x->buff + items, at - items);
	ei_x_append_buf(&t->preview, pad, sizeof(pad));
	free(t->raw);
	t->raw = malloc((size_t)len + 1);
	t->rawlen = t->raw != NULL ? len : 0;
	if (t->raw != NULL)
		memcpy(t->raw, raw, (size_t)len);
	t->preview_at = node_ms();
}

static void on_part(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	const char *text;
	long len;

	if (ns->first != NULL && nd_get_text(x, &at, &text, &len) == 0)
		send_part(ns->first, text, len);
	node_tell(t, "more");
}

static void on_stacks(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	if (ns->c->stacks != NULL && node_get_stacks(x, at, cli_stacks_take, ns->c) != 0) {
		cli_say("node %s: stacks that it sent are lost: they cannot be read", t->nd->name);
		ns->status = CLI_ERROR;
	}
	node_tell(t, "more");
}

static void on_flows(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	if (ns->c->flows != NULL && node_get_flows(x, at, t->nd->name, cli_flows(ns->c)) != 0) {
		cli_say("node %s: events of requests that it sent are lost: they cannot be read",
			t->nd->name);
		ns->status = CLI_ERROR;
	}
	node_tell(t, "more");
}

static void on_rows(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	ns->listed |= node_get_rows(x, at, cli_list_probe, ns->c);
	cli_flush(ns->c);
	node_tell(t, "more");
}

/* A script that has no exit() has no code of its own to end with. */
static int code_of(const struct nodes *ns, long code)
{
	return code > 0 && !ns->c->uses.exit ? CLI_ERROR : (int)code;
}

/* The first of several has called exit(). */
static void on_ended(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
	long code = -1;

	(void)t;
	ei_decode_long(x->buff, &at, &code);
	if (code >= 0 && ns->exit_code < 0)
		ns->exit_code = code_of(ns, code);
	ns->ending = true;
}

/* The first of several has gone: another gets what it had, and leads. */
static bool hand_over(struct nodes *ns, struct target *gone)
{
	if (ns->first != gone)
		return false;
	ns->first = NULL;
	for (int i = 0; i < ns->n && ns->first == NULL; i++)
		if (ns->v[i].state == RUNNING)
			ns->first = &ns->v[i];
	if (ns->first == NULL)
		return false;
	if (gone->rawlen > 0)
		send_part(ns->first, gone->raw, gone->rawlen);
	node_tell(ns->first, "lead");
	return true;
}

static void tell_stood(const struct nodes *ns)
{
	char text[256];

	if (node_stood(ns, text, sizeof(text)))
		cli_say("%s", text);
}

/*
 * A node looks now and then whether it has gathered anything, and sends it: who has sent nothing
 * had nothing then. With --live ticks have brought all but the last of it.
 */
static void tell_lost(const struct nodes *ns, const struct target *t, int64_t ended)
{
	if (ns->c->uses.aggregations && !t->ticked)
		cli_say("no aggregations have come from %s, which ran for %.2f s: what it may have "
			"gathered "
			"is lost",
			t->nd->name, (double)(ended - t->began_at) / 1000);
}

/* The same where the others go on, which had sent it theirs. */
static void tell_missing(const struct nodes *ns, const struct target *t, int64_t ended)
{
	if (ns->c->uses.aggregations)
		cli_say("aggregations of the last %.1f s are missing: those of %s%s",
			(double)(ended - (t->preview_at > 0 ? t->preview_at : t->began_at)) / 1000,
			t->nd->name, ns->reader != NULL ? "" : ", and what it had been sent");
}

/*
 * The script has not come to its end: the aggregations that it has sent, or that there were none.
 */
static void print_gathered(struct nodes *ns, struct target *t, int64_t ended)
{
	bool told = !ns->c->json || !ns->c->quiet;

	if (ns->reader != NULL) {
		if (t->preview_at == 0)
			tell_lost(ns, t, ended);
		else if (told && ns->c->uses.aggregations)
			cli_say("aggregations as they were %.1f s before it ended:",
				(double)(ended - t->preview_at) / 1000);
		node_stream_ends(ns, t);
		return;
	}
	if (t->preview.buff == NULL) {
		tell_lost(ns, t, ended);
		return;
	}
	if (told && ns->stood_ms > 0)
		cli_say("aggregations as they last came:");
	else if (told)
		cli_say("aggregations as they were %.1f s before it ended:",
			(double)(ended - t->preview_at) / 1000);
	print_items(ns, t, &t->preview, 0);
}

static void on_done(struct nodes *ns, struct target *t, const ei_x_buff *x, int at)
{
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
	if (ns->reader != NULL)
		node_stream_ends(ns, t);
	else if (!hand_over(ns, t) && t->silent)
		print_gathered(ns, t, node_ms());
	nd_agent_gone(t->nd);
}

static const struct node_handler handlers[] = {
	{"batch", on_batch},
	{"part", on_part},
	{"preview", on_preview},
	{"stacks", on_stacks},
	{"flows", on_flows},
	{"matched", on_matched},
	{"failed", on_failed},
	{"code", on_code},
	{"rows", on_rows},
	{"ended", on_ended},
	{"done", on_done},
	{NULL, NULL},
};

/* ---- a node that goes away --------------------------------------------------------------- */

/* With -c and -p the end of the process is the end that is waited for. */
static bool is_expected(struct nodes *ns, const struct target *t)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	bool is_ours = false;

	for (int i = 0; i < ns->c->nprocs; i++)
		is_ours |= ns->c->procs[i].command != NULL || ns->c->procs[i].pid == t->nd->ospid;
	for (int i = 0; is_ours && i < 1000; i++) { /* the connection ends before the process */
		if (cli_procs_ended(ns->c))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void went_away(struct nodes *ns, struct target *t, struct et_error *e)
{
	bool was_running = t->state == RUNNING || t->state == STOPPING;
	int64_t now = node_ms();
	bool ended = is_expected(ns, t), expected = was_running && ended;

	t->state = DONE;
	cli_flush(ns->c);
	if (!was_running && ended && ns->c->procs[0].command != NULL)
		node_too_short(e);
	if (!expected) {
		cli_say("%s", e->text);
		tell_stood(ns);
		ns->status = CLI_ERROR;
	}
	if (ns->reader != NULL && was_running && !node_all_done(ns, t)) {
		tell_missing(ns, t, now);
		node_stream_ends(ns, t);
	} else if (hand_over(ns, t))
		tell_missing(ns, t, now);
	else if (was_running)
		print_gathered(ns, t, now);
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

	for (int i = 0; i < c->nscripts; i++) {
		const struct cli_script *s = &c->scripts[i];

		if (ns->matched[i] == 0 && c->zero_matches && ns->n > 1 && !s->own)
			cli_say("warning: %s '%.*s' matches no probe of any node yet",
				s->flag == 's' ? "script" : "description", cli_script_length(s),
				s->arg);
		else if (ns->matched[i] >= 0 && !s->own)
			cli_notice(c, "%s '%.*s' matched %ld probe%s",
				s->flag == 's' ? "script" : "description", cli_script_length(s),
				s->arg, ns->matched[i], ns->matched[i] == 1 ? "" : "s");
	}
}

static void wait_until_compiled(struct nodes *ns)
{
	while (compiling(ns) && ns->status == CLI_OK && !cli_interrupts())
		node_receive(ns, 1000);
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
	struct target *one = NULL;
	int n = 0;

	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == COMPILED && n++ == 0)
			one = &ns->v[i];
	if (getenv("ERLTRACE_STREAM") != NULL) {
		if (node_stream_go(ns) != CLI_OK) {
			ns->status = CLI_ERROR;
			node_tell_all(ns, STOPPING, "stop");
			return;
		}
	} else if (n > 1) {
		ns->first = one;
		node_tell(one, "go_first");
		one->state = RUNNING;
	}
	node_tell_all(ns, RUNNING, n > 1 ? "go_other" : "go"); /* who does not run yet */
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == RUNNING)
			ns->v[i].began_at = node_ms();
	ns->c->gathers = true;
	cli_procs_go(ns->c);
}

/*
 * All at the same time: a node that goes on alone would go on sending tokens of requests to the
 * others.
 */
static void stop(struct nodes *ns)
{
	node_tell_all(ns, STOPPING, "stop");
	if (ns->first != NULL)
		node_tell(ns->first, "disarm");
}

/* The first of several prints the end when it has everything. */
static void finish(struct nodes *ns)
{
	if (ns->first == NULL || ns->first->state == STOPPING || !node_all_done(ns, ns->first))
		return;
	node_tell(ns->first, "finish");
	ns->first->state = STOPPING;
}

enum { WAITS_MS = 5000 };

/* A node that hangs, or an END that takes long: says once what we are waiting for. */
static void tell_waiting(struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state != DONE)
			cli_say("the node %s has not ended the script yet: interrupt once more to "
				"leave "
				"without its results",
				ns->v[i].nd->name);
}

/* SIGUSR1 */
static void tell_snapshot(struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++)
		if (ns->v[i].state == RUNNING)
			node_tell(&ns->v[i], "snapshot");
}

static void run(struct nodes *ns)
{
	bool stopped = false, waits = false;
	int64_t since = 0;

	if (!ns->c->compile_only && ns->status == CLI_OK)
		go(ns);
	else
		node_tell_all(ns, STOPPING, "stop");
	while (!node_all_done(ns, NULL)) {
		if (!stopped && (ns->ending || cli_ended(ns->c))) {
			stopped = true;
			since = node_ms();
			if (cli_interrupts() > 0 && !ns->c->json)
				cli_write(ns->c, "\n", 1); /* away from the terminal's ^C */
			stop(ns);
		}
		if (stopped)
			finish(ns);
		if (stopped && !waits && node_ms() - since > WAITS_MS) {
			waits = true;
			tell_waiting(ns);
		}
		if (cli_snapshot_asked())
			tell_snapshot(ns);
		node_keys(ns);
		cli_flows_look(ns->c, node_ms());
		node_stream_look(ns);
		node_receive(ns, ns->c->nprocs > 0 || ns->reader != NULL ? 100 : 1000);
		cli_more_errors(ns->c, false);
	}
	node_keys_end();
	cli_more_errors(ns->c, true);
}

static void list(struct nodes *ns)
{
	cli_list_head(ns->c);
	while (!node_all_done(ns, NULL) && !cli_ended(ns->c))
		node_receive(ns, 1000);
	cli_list_end(ns->c);
	if (ns->zero.tag[0] == '\0' || ns->listed)
		ns->exit_code = -1; /* one node need not have what another has */
	else
		tell_failure(ns, ns->zero_script, &ns->zero);
}

int node_run(struct nodes *ns)
{
	ns->handlers = handlers;
	ns->gone = went_away;
	cli_catch_signals(ns->c);
	if (ns->c->mode == MODE_LIST && ns->status == CLI_OK) {
		list(ns);
	} else {
		if (ns->status == CLI_OK)
			compile(ns);
		run(ns);
	}
	node_stream_close(ns);
	if (ns->status == CLI_OK)
		ns->status = cli_procs_failed(ns->c);
	return ns->status == CLI_OK && ns->exit_code > 0 ? ns->exit_code : ns->status;
}
