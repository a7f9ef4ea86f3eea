/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: a script of a browser each, or a question to a node. Each is a thread of its own
 * (cli/server_run.h), whose lines are handed on as they come. While its socket's queue is long they
 * are not taken, and the thread waits.
 *
 * What wakes the loop is in one epoll, which libwebsockets watches.
 */
#include "web.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/main/server_run.h"
#include "client/worker.h"
#include "node_names.h"
#include "pack.h"
#include "script_run.h"
#include "session.h"

enum { MAX_LINES = 32 << 10, MAX_ERR = 2048 };

struct source {
	void (*call)(struct web *w, struct source *src);
	struct run *run;
	int fd;
	bool watched;
};

struct run {
	struct run *next;
	struct web *w;
	struct session *session; /* NULL: gone, and the worker left */
	enum run_kind kind;
	json_int_t id;
	struct worker *worker; /* NULL: left */
	struct source out;
	bool done;
	const char *reason; /* why we end it; NULL: we do not */
	bool late;	    /* it did not end in time */
	char *waiting; /* lines to be sent, so many with so many bytes */
	size_t nwaiting, waiting_len;
	char errors[MAX_ERR]; /* the last of what it said */
	size_t nerrors;
	bool armed, packed;
	struct web_pack pack; /* of the last tick; its memory is used again */
	uint64_t drops;
	json_t *probes; /* RUN_PROBES: what was found */
	char *asked;
	bool more;
	lws_sorted_usec_list_t timer;
	/* for the log */
	unsigned user;
	char peer[64], hash[WEB_HEX];
	char *nodes;
	int64_t began;
};

/* ---- the epoll -------------------------------------------------------------------------- */

static int watch(struct web *w, struct source *src)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = src};

	if (src->watched || src->fd < 0)
		return 0;
	if (epoll_ctl(w->events, EPOLL_CTL_ADD, src->fd, &ev) < 0)
		return -1;
	src->watched = true;
	return 0;
}

static void unwatch(struct web *w, struct source *src)
{
	if (src->watched)
		epoll_ctl(w->events, EPOLL_CTL_DEL, src->fd, NULL);
	src->watched = false;
}

/* ---- life ------------------------------------------------------------------------------- */

static void run_free(struct run *r)
{
	struct run **at = &r->w->runs;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	lws_sul_cancel(&r->timer);
	unwatch(r->w, &r->out);
	if (r->worker != NULL)
		worker_leave(r->worker);
	json_decref(r->probes);
	free(r->asked);
	free(r->nodes);
	web_pack_free(&r->pack);
	free(r);
}

static void free_done(struct web *w)
{
	for (struct run *r = w->runs, *next; r != NULL; r = next) {
		next = r->next;
		if (r->done)
			run_free(r);
	}
}

static void log_end(struct run *r, const char *reason)
{
	if (r->kind == RUN_SCRIPT)
		web_log(r->w,
			"end user=%u peer=%s nodes=%s sha256=%s seconds=%.1f drops=%llu reason=%s",
			r->user, r->peer, r->nodes, r->hash, (double)(web_ms() - r->began) / 1000,
			(unsigned long long)r->drops, reason);
}

/* Of the command; of one that was killed, as of a process. */
static int exit_code(const struct run *r)
{
	return r->late || r->worker == NULL ? 128 + SIGKILL : worker_status(r->worker);
}

static const char *why_ended(const struct run *r)
{
	if (r->reason != NULL)
		return r->reason;
	/* It ran, and has failed: the node is gone, or the watchdog has ended it. */
	return r->armed && exit_code(r) == 1 ? "lost" : "exited";
}

/* For the end: the last of what it said. */
static void keep_error(struct run *r, const char *line, size_t len)
{
	if (len > sizeof(r->errors) / 2)
		len = sizeof(r->errors) / 2;
	while (r->nerrors + len + 1 > sizeof(r->errors)) {
		char *nl = memchr(r->errors, '\n', r->nerrors);
		size_t gone = nl != NULL ? (size_t)(nl - r->errors) + 1 : r->nerrors;

		r->nerrors -= gone;
		memmove(r->errors, r->errors + gone, r->nerrors);
	}
	memcpy(r->errors + r->nerrors, line, len);
	web_to_utf8(r->errors + r->nerrors, len);
	r->nerrors += len;
	r->errors[r->nerrors++] = '\n';
}

static void tell_end(struct run *r)
{
	struct session *s = r->session;

	if (s == NULL)
		return;
	if (r->kind == RUN_SCRIPT)
		session_send_json(s, json_pack("{ss sI si ss ss%}", "type", "end", "id", r->id,
					     "code", exit_code(r), "reason", why_ended(r),
					     "message", r->errors, r->nerrors));
	else if (r->kind == RUN_PROBES)
		session_send_json(s,
			json_pack("{ss ss sO sb}", "type", "probes", "text", r->asked, "probes",
				r->probes, "more", (int)r->more));
	else if (exit_code(r) != 0)
		session_error(s, 0, 502, "the nodes could not be queried: %.*s",
			r->nerrors < 400 ? (int)r->nerrors : 400, r->errors);
}

/* It is over: all of it has been read, or no more is wanted. */
static void end(struct run *r)
{
	if (r->done)
		return;
	r->done = true;
	lws_sul_cancel(&r->timer);
	unwatch(r->w, &r->out);
	tell_end(r);
	log_end(r, r->session != NULL ? why_ended(r) : "closed");
	if (r->worker != NULL)
		worker_leave(r->worker);
	r->worker = NULL;
}

static void on_grace(lws_sorted_usec_list_t *sul)
{
	struct run *r = lws_container_of(sul, struct run, timer);
	char why[128];
	int n = snprintf(why, sizeof(why),
		"it did not end within %d s and was killed: its last results are missing",
		WEB_GRACE_MS / 1000);

	keep_error(r, why, (size_t)n);
	r->late = true;
	end(r);
}

static void interrupt(struct run *r, const char *reason)
{
	if (r->reason != NULL || r->done)
		return;
	r->reason = reason;
	worker_interrupt(r->worker); /* END runs, the last aggregations come */
	lws_sul_schedule(
		r->w->context, 0, &r->timer, on_grace, WEB_GRACE_MS * LWS_USEC_PER_SEC / 1000);
}

static void on_limit(lws_sorted_usec_list_t *sul)
{
	interrupt(lws_container_of(sul, struct run, timer), "limit");
}

/* Nobody looks any more: its connections end at once. */
static void leave(struct run *r)
{
	r->session = NULL;
	end(r);
}

/* ---- lines ------------------------------------------------------------------------------ */

/* "drops":N of a line about them. */
static void count_drops(struct run *r, const char *line, size_t len)
{
	const char *p = memmem(line, len < 400 ? len : 400, "\"type\":\"drop\"", 13);

	p = p != NULL ? memmem(p, len - (size_t)(p - line), "\"drops\":", 8) : NULL;
	if (p != NULL)
		r->drops += strtoull(p + 8, NULL, 10);
}

/* The lines that wait, as one message. */
static void send_lines(struct run *r)
{
	bool many = r->nwaiting > 1;
	char head[64];
	struct iovec v[3] = {
		{head, 0}, {r->waiting, r->waiting_len}, {many ? "]}" : "}", 1 + many}};

	if (r->nwaiting == 0)
		return;
	v[0].iov_len = (size_t)snprintf(head, sizeof(head),
		many ? "{\"type\":\"lines\",\"id\":%lld,\"lines\":[" :
		       "{\"type\":\"line\",\"id\":%lld,\"line\":",
		(long long)r->id);
	r->nwaiting = 0;
	session_sendv(r->session, v, 3);
}

/*
 * Lines that came together go together, if the page takes them packed: a script may print thousands
 * a second. They are one behind the other where they were read: a comma between makes a list of
 * them.
 */
static void add_line(struct run *r, char *line, size_t len)
{
	char *end = r->nwaiting > 0 ? r->waiting + r->waiting_len : NULL;

	if (end != NULL && r->packed && end + 1 == line && r->waiting_len < MAX_LINES) {
		*end = ',';
		r->waiting_len += 1 + len;
		r->nwaiting++;
		return;
	}
	send_lines(r);
	r->waiting = line;
	r->waiting_len = len;
	r->nwaiting = 1;
}

/*
 * One object, from its first byte to its last? It is put into a message as it is: what a node has
 * made up must not end it and go on as if it were the server's.
 */
static bool is_object(const char *line, size_t len)
{
	bool text = false;
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (text && line[i] == '\\')
			i++;
		else if (line[i] == '"')
			text = !text;
		else if (!text && (line[i] == '{' || line[i] == '['))
			depth++;
		else if (!text && (line[i] == '}' || line[i] == ']') &&
			 (depth == 0 || --depth == 0))
			return i == len - 1 && line[0] == '{' && line[i] == '}';
	}
	return false;
}

static void script_line(struct run *r, char *line, size_t len)
{
	if (!is_object(line, len))
		return; /* not from our JSON writer */
	r->armed |= strncmp(line, "{\"type\":\"shape\"", 15) == 0;
	count_drops(r, line, len);
	if (!r->packed || !web_pack(&r->pack, (long long)r->id, line, len)) {
		add_line(r, line, len);
		return;
	}
	send_lines(r);
	session_send_bytes(r->session, r->pack.out.v, r->pack.out.n);
}

/* A description with all its parts. */
static void probe_line(struct run *r, char *line, size_t len)
{
	if (json_array_size(r->probes) == WEB_MAX_PROBES) {
		r->more = true;
		return;
	}
	web_to_utf8(line, len);
	json_array_append_new(r->probes, json_string(line));
}

static void on_line(void *arg, char *line, size_t len)
{
	struct run *r = arg;

	if (r->session == NULL)
		return;
	if (r->kind == RUN_SCRIPT)
		script_line(r, line, len);
	else if (r->kind == RUN_PROBES)
		probe_line(r, line, len);
	else
		session_sendv(r->session, &(struct iovec){line, len}, 1);
}

/*
 * What it says beside its results, a line each. Before it is armed that is why it fails, and comes
 * as an error too; from then on it is about the tracing.
 */
static void on_said(void *arg, char *line, size_t len)
{
	struct run *r = arg;

	web_to_utf8(line, len);
	keep_error(r, line, len);
	if (r->session != NULL && r->kind == RUN_SCRIPT && r->armed)
		session_send_json(r->session,
			json_pack("{ss sI s{ss ss%}}", "type", "line", "id", r->id, "line", "type",
				"warning", "message", line, len));
}

static void on_out(struct web *w, struct source *src)
{
	struct run *r = src->run;

	worker_take(r->worker, on_line, on_said, r);
	if (r->session != NULL)
		send_lines(r);
	r->nwaiting = 0;
	if (worker_lost(r->worker)) {
		static const char why[] = "a line of more than 4 MiB";

		keep_error(r, why, sizeof(why) - 1);
		interrupt(r, "limit");
	}
	if (r->more || worker_ended(r->worker))
		end(r);
	else if (r->session != NULL && session_is_full(r->session))
		unwatch(w, src);
}

/* ---- starting --------------------------------------------------------------------------- */

static char *names(const struct web *w, const struct run_spec *spec)
{
	int n = spec->nnodes > 0 ? spec->nnodes : w->o.nnodes;
	const char *const *v = spec->nnodes > 0 ? spec->nodes : w->o.nodes;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%s", i > 0 ? "," : "", v[i]);
	if (n == 0)
		fputs("*", f);
	fclose(f);
	return text;
}

static struct run *run_new(struct session *s, const struct run_spec *spec)
{
	struct web *w = session_web(s);
	struct run *r = calloc(1, sizeof(*r));
	uint8_t digest[WEB_DIGEST];

	if (r == NULL)
		return NULL;
	r->w = w;
	r->session = s;
	r->kind = spec->kind;
	r->id = spec->id;
	r->packed = spec->packed;
	r->out = (struct source){on_out, r, -1, false};
	r->user = session_user(s)->number;
	snprintf(r->peer, sizeof(r->peer), "%s", session_peer(s));
	r->began = web_ms();
	r->nodes = names(w, spec);
	r->next = w->runs;
	w->runs = r;
	if (spec->kind == RUN_SCRIPT) {
		web_digest(spec->script, spec->len, digest);
		web_hex(digest, sizeof(digest), r->hash);
	} else if (spec->kind == RUN_PROBES) {
		r->probes = json_array();
		r->asked = strdup(spec->asked);
	}
	return r;
}

/* Is it the only node that the script may trace? */
static bool is_only_node(const struct run_request *q, const char *node)
{
	for (int i = 0; i < q->nnodes; i++)
		if (!web_same_node(q->nodes[i], node))
			return false;
	return q->nnodes > 0;
}

static struct worker *start(const struct web *w, const struct run_spec *spec)
{
	const char *settings[3];
	struct run_request q = {.nodes = spec->nnodes > 0 ? spec->nodes : w->o.nodes,
		.nnodes = spec->nnodes > 0 ? spec->nnodes : w->o.nnodes,
		.cookie_file = w->o.cookie_file,
		.settings = settings};

	if (spec->kind == RUN_NODES)
		return web_ask_nodes(&w->o);
	q.kernel_node = w->o.kernel_node;
	if (q.kernel_node != NULL)
		q.only_kernel_node = is_only_node(&q, q.kernel_node);
	if (!w->o.kernel) /* nothing runs, and nothing is listed, but in the nodes */
		settings[q.nsettings++] = "kernel=0";
	if (spec->calls != NULL) /* the user's choice; once harmless is set it can be nobody's */
		settings[q.nsettings++] = spec->calls;
	settings[q.nsettings++] = "harmless";
	if (spec->kind == RUN_PROBES) {
		q.list = spec->script;
	} else {
		q.text = spec->script;
		q.len = spec->len;
		q.args = spec->args;
		q.nargs = spec->nargs;
		q.flows = true;
		q.live_ms = 1000 / spec->hz;
	}
	return server_run(&q);
}

int run_start(struct session *s, const struct run_spec *spec)
{
	struct web *w = session_web(s);
	struct run *r;

	free_done(w);
	r = run_new(s, spec);
	if (r == NULL)
		return -1;
	r->worker = r->nodes != NULL ? start(w, spec) : NULL;
	r->out.fd = r->worker != NULL ? worker_fd(r->worker) : -1;
	if (r->worker == NULL || watch(w, &r->out) < 0) {
		run_free(r);
		return -1;
	}
	if (spec->kind != RUN_SCRIPT)
		return 0;
	web_log(w, "run user=%u peer=%s nodes=%s sha256=%s calls=%s", r->user, r->peer, r->nodes,
		r->hash, spec->calls != NULL ? strchr(spec->calls, '=') + 1 : "auto");
	session_send_json(s, json_pack("{ss sI}", "type", "started", "id", r->id));
	lws_sul_schedule(w->context, 0, &r->timer, on_limit,
		(lws_usec_t)w->o.run_seconds * LWS_USEC_PER_SEC);
	return 0;
}

/* ---- what sessions ask for -------------------------------------------------------------- */

static struct run *find(const struct session *s, json_int_t id)
{
	struct run *r = session_web(s)->runs;

	while (r != NULL && (r->session != s || r->kind != RUN_SCRIPT || r->id != id))
		r = r->next;
	return r;
}

bool run_is(const struct session *s, json_int_t id)
{
	return find(s, id) != NULL;
}

void run_stop(struct session *s, json_int_t id)
{
	struct run *r = find(s, id);

	if (r != NULL)
		interrupt(r, "stopped");
}

unsigned run_count(const struct web *w, const struct web_user *u)
{
	unsigned n = 0;

	for (const struct run *r = w->runs; r != NULL; r = r->next)
		n += r->kind == RUN_SCRIPT && !r->done && (u == NULL || r->user == u->number);
	return n;
}

void run_end_kind(struct session *s, enum run_kind kind)
{
	for (struct run *r = s != NULL ? session_web(s)->runs : NULL; r != NULL; r = r->next)
		if (r->session == s && r->kind == kind)
			leave(r);
}

void run_end_all(struct session *s)
{
	run_end_kind(s, RUN_SCRIPT);
	run_end_kind(s, RUN_NODES);
	run_end_kind(s, RUN_PROBES);
}

void run_resume(struct session *s)
{
	for (struct run *r = session_web(s)->runs; r != NULL; r = r->next)
		if (r->session == s && !r->done)
			watch(r->w, &r->out);
}

/* ---- the loop's end of it --------------------------------------------------------------- */

void run_events(struct web *w)
{
	struct epoll_event ev[64];
	int n = epoll_wait(w->events, ev, 64, 0);

	for (int i = 0; i < n; i++) {
		struct source *src = ev[i].data.ptr;

		if (src->watched) /* or another event of this round has ended it */
			src->call(w, src);
	}
	free_done(w);
}

static void on_end(struct web *w, struct source *src)
{
	char buf[256];
	ssize_t n = read(src->fd, buf, sizeof(buf));

	if (src->run == NULL && n > 0 && src->fd == STDIN_FILENO)
		return; /* what it says does not matter, only that it is there */
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	w->ending = true;
	unwatch(w, src);
	lws_cancel_service(w->context);
}

int run_watch_end(struct web *w)
{
	static struct source sig = {on_end, NULL, -1, false}, in = {on_end, NULL, -1, false};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	sig.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	in.fd = w->o.until_eof ? STDIN_FILENO : -1;
	return sig.fd < 0 || watch(w, &sig) < 0 || watch(w, &in) < 0 ? -1 : 0;
}

void run_free_all(struct web *w)
{
	while (w->runs != NULL) {
		struct run *r = w->runs;

		if (!r->done)
			log_end(r, "server ends");
		run_free(r);
	}
}
