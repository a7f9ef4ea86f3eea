/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes: a script of a browser each, or a question to a node. A child is this same
 * command with the script as its standard input; its lines are handed on as they come. The kernel
 * kills it when this process dies, whatever by. While its socket's queue is long it is not read.
 *
 * All descriptors are in one epoll, which libwebsockets watches.
 */
#include "web.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "pack.h"
#include "child_process.h"
#include "script_child.h"
#include "session.h"

enum { READ_SIZE = 64 << 10, MAX_LINES = 32 << 10, MAX_ERR = 2048 };

struct source {
	void (*call)(struct web *w, struct source *src);
	struct run *run;
	int fd; /* -1: none */
	bool watched;
};

struct run {
	struct run *next;
	struct web *w;
	struct session *session; /* NULL: gone, and the child killed */
	enum run_kind kind;
	json_int_t id;
	pid_t pid;
	struct source out, err, end; /* end: a pidfd */
	bool reaped, done;
	int status; /* of wait */
	const char *reason; /* why we end it; NULL: we do not */
	char *line; /* what came behind the last newline */
	size_t nline, room;
	char *waiting; /* in it: lines to be sent, so many with so many bytes */
	size_t nwaiting, waiting_len;
	char err_line[MAX_ERR], errors[MAX_ERR]; /* of its stderr: the line that comes; the last */
	size_t nerr_line, nerrors;
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
	if (epoll_ctl(w->children, EPOLL_CTL_ADD, src->fd, &ev) < 0)
		return -1;
	src->watched = true;
	return 0;
}

static void unwatch(struct web *w, struct source *src)
{
	if (src->watched)
		epoll_ctl(w->children, EPOLL_CTL_DEL, src->fd, NULL);
	src->watched = false;
}

static void shut(struct web *w, struct source *src)
{
	unwatch(w, src);
	if (src->fd >= 0)
		close(src->fd);
	src->fd = -1;
}

/* ---- the child -------------------------------------------------------------------------- */

struct argv {
	const char *v[32 + 2 * WEB_MAX_NODES + WEB_MAX_ARGS];
	int n;
	char hz[32];
};

static void put(struct argv *a, const char *word)
{
	a->v[a->n++] = word;
}

static void put_nodes(struct argv *a, const struct web *w, const struct run_spec *spec)
{
	for (int i = 0; i < spec->nnodes; i++) {
		put(a, "-N");
		put(a, spec->nodes[i]);
	}
	for (int i = 0; spec->nnodes == 0 && i < w->o.nnodes; i++) {
		put(a, "-N");
		put(a, w->o.nodes[i]);
	}
}

static void command(struct argv *a, const struct web *w, const struct run_spec *spec)
{
	put(a, "erltrace");
	if (spec->kind == RUN_NODES) {
		put(a, "web");
		put(a, "--list-nodes");
	}
	put_nodes(a, w, spec);
	if (spec->kind != RUN_NODES && spec->nnodes == 0 && w->o.nnodes == 0) {
		put(a, "-N");
		put(a, "*");
	}
	if (w->o.cookie_file != NULL) {
		put(a, "--cookie-file");
		put(a, w->o.cookie_file);
	}
	if (spec->kind == RUN_NODES) {
		put(a, NULL);
		return;
	}
	if (!w->o.kernel) /* nothing runs, and nothing is listed, but in the nodes */
		put(a, "-xkernel=0");
	if (spec->calls != NULL) /* the user's choice; once harmless is set it can be nobody's */
		put(a, spec->calls);
	put(a, "-xharmless");
	if (spec->kind == RUN_PROBES) {
		put(a, "-ln");
		put(a, spec->script);
	} else {
		snprintf(a->hz, sizeof(a->hz), "--live=%d", spec->hz);
		put(a, "--json");
		put(a, "--flows");
		put(a, a->hz);
		put(a, "-s");
		put(a, "-");
		put(a, "--");
		for (int i = 0; i < spec->nargs; i++)
			put(a, spec->args[i]);
	}
	put(a, NULL);
}

/* The script as a file of its own, which no other process sees. */
static int script_file(const struct run_spec *spec)
{
	int fd;

	if (spec->kind != RUN_SCRIPT)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	fd = memfd_create("script", MFD_CLOEXEC);
	if (fd >= 0 && (write(fd, spec->script, spec->len) != (ssize_t)spec->len ||
			       lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int spawn(struct run *r, const struct argv *a, int in)
{
	struct process p;

	if (process_spawn(&p, a->v, in) < 0)
		return -1;
	r->pid = p.pid;
	r->out.fd = p.out;
	r->err.fd = p.err;
	r->end.fd = p.end;
	return 0;
}

/* ---- life ------------------------------------------------------------------------------- */

static void run_free(struct run *r)
{
	struct run **at = &r->w->runs;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	lws_sul_cancel(&r->timer);
	shut(r->w, &r->out);
	shut(r->w, &r->err);
	shut(r->w, &r->end);
	json_decref(r->probes);
	free(r->asked);
	free(r->nodes);
	free(r->line);
	web_pack_free(&r->pack);
	free(r);
}

static void log_end(struct run *r, const char *reason)
{
	if (r->kind == RUN_SCRIPT)
		web_log(r->w,
			"end user=%u peer=%s nodes=%s sha256=%s seconds=%.1f drops=%llu reason=%s",
			r->user, r->peer, r->nodes, r->hash, (double)(web_ms() - r->began) / 1000,
			(unsigned long long)r->drops, reason);
}

static int exit_code(const struct run *r)
{
	return WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 128 + WTERMSIG(r->status);
}

static const char *why_ended(const struct run *r)
{
	if (r->reason != NULL)
		return r->reason;
	/* It ran, and has failed: the node is gone, or the watchdog has ended it. */
	return WIFSIGNALED(r->status) || (r->armed && exit_code(r) == 1) ? "lost" : "exited";
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

static void kill_child(const struct run *r, int sig)
{
	if (!r->reaped) /* else the number may be another's by now */
		kill(r->pid, sig);
}

/* By somebody, or by us as it did not end in time. */
static void tell_killed(struct run *r)
{
	char why[128];
	int n = r->reason == NULL ? snprintf(why, sizeof(why), "the command was killed (signal %d)",
					    WTERMSIG(r->status))
				  : snprintf(why, sizeof(why),
					    "it did not end within %d s and was killed: its last "
					    "results are missing",
					    WEB_GRACE_MS / 1000);

	keep_error(r, why, (size_t)n);
}

/* All has been read, and the child is no more. */
static void check_done(struct run *r)
{
	if (!r->reaped || r->out.fd >= 0 || r->err.fd >= 0 || r->done)
		return;
	r->done = true;
	if (WIFSIGNALED(r->status))
		tell_killed(r);
	tell_end(r);
	log_end(r, r->session != NULL ? why_ended(r) : "closed");
}

static void on_grace(lws_sorted_usec_list_t *sul)
{
	struct run *r = lws_container_of(sul, struct run, timer);

	kill_child(r, SIGKILL);
}

static void interrupt(struct run *r, const char *reason)
{
	if (r->reason != NULL || r->reaped)
		return;
	r->reason = reason;
	kill_child(r, SIGINT); /* END runs, the last aggregations come */
	lws_sul_schedule(
		r->w->context, 0, &r->timer, on_grace, WEB_GRACE_MS * LWS_USEC_PER_SEC / 1000);
}

static void on_limit(lws_sorted_usec_list_t *sul)
{
	interrupt(lws_container_of(sul, struct run, timer), "limit");
}

/* Nobody looks any more. The child is reaped when it is dead; nothing waits for that. */
static void leave(struct run *r)
{
	r->session = NULL;
	lws_sul_cancel(&r->timer);
	shut(r->w, &r->out);
	shut(r->w, &r->err);
	kill_child(r, SIGKILL);
	check_done(r);
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

/* A row of -l: number, provider, module, function, name. */
static void probe_line(struct run *r, char *line)
{
	char *p[5] = {NULL}, *save, full[1024];
	size_t len = strlen(line);
	int n = 0;

	if (len >= 11 && strcmp(line + len - 11, " (not here)") == 0)
		line[len - 11] = '\0';
	for (char *w = strtok_r(line, " ", &save); w != NULL && n < 5;
		w = strtok_r(NULL, " ", &save))
		p[n++] = w;
	if (n < 3 || strcmp(p[0], "ID") == 0)
		return;
	if (json_array_size(r->probes) == WEB_MAX_PROBES) {
		r->more = true;
		kill_child(r, SIGKILL);
		return;
	}
	/* Empty parts leave no word: dtrace:::BEGIN has two of them. */
	if (n == 3)
		snprintf(full, sizeof(full), "%s:::%s", p[1], p[2]);
	else if (n == 4)
		snprintf(full, sizeof(full), "%s:%s::%s", p[1], p[2], p[3]);
	else
		snprintf(full, sizeof(full), "%s:%s:%s:%s", p[1], p[2], p[3], p[4]);
	web_to_utf8(full, strlen(full));
	json_array_append_new(r->probes, json_string(full));
}

static void on_line(struct run *r, char *line, size_t len)
{
	if (r->session == NULL)
		return;
	if (r->kind == RUN_SCRIPT)
		script_line(r, line, len);
	else if (r->kind == RUN_PROBES)
		probe_line(r, line);
	else if (len > 1 && line[0] == '{' && line[len - 1] == '}')
		session_sendv(r->session, &(struct iovec){line, len}, 1);
}

/* Whole lines are handed on, the rest is kept. */
static void cut_lines(struct run *r)
{
	char *p = r->line, *end = p + r->nline, *nl;

	while ((nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		*nl = '\0';
		on_line(r, p, (size_t)(nl - p));
		p = nl + 1;
	}
	if (r->session != NULL)
		send_lines(r);
	r->nwaiting = 0;
	r->nline = (size_t)(end - p);
	memmove(r->line, p, r->nline);
}

static bool has_room(struct run *r)
{
	return r->nline + READ_SIZE <= WEB_MAX_LINE &&
	       ARRAY_RESERVE(r->line, r->room, r->nline + READ_SIZE);
}

static void on_out(struct web *w, struct source *src)
{
	struct run *r = src->run;
	ssize_t n;

	if (!has_room(r)) {
		static const char why[] = "a line of more than 4 MiB";

		interrupt(r, "limit");
		keep_error(r, why, sizeof(why) - 1);
		r->nline = 0;
		return;
	}
	n = read(src->fd, r->line + r->nline, READ_SIZE);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		shut(w, src);
		check_done(r);
		return;
	}
	r->nline += (size_t)n;
	cut_lines(r);
	if (r->session != NULL && session_is_full(r->session))
		unwatch(w, src);
}

/*
 * What it says beside its results, a line each. Before it is armed that is why it fails, and comes
 * as an error too; from then on it is about the tracing.
 */
static void on_err_line(struct run *r, char *line, size_t len)
{
	web_to_utf8(line, len);
	if (len > 10 && strncmp(line, "erltrace: ", 10) == 0) {
		line += 10;
		len -= 10;
	}
	if (len > 11 && strncmp(line, "script '-' ", 11) == 0)
		return; /* how many probes it matched */
	keep_error(r, line, len);
	if (r->session != NULL && r->kind == RUN_SCRIPT &&
		(r->armed || (len > 9 && strncmp(line, "left out:", 9) == 0)))
		session_send_json(r->session,
			json_pack("{ss sI s{ss ss%}}", "type", "line", "id", r->id, "line", "type",
				"warning", "message", line, len));
}

static void on_err(struct web *w, struct source *src)
{
	struct run *r = src->run;
	ssize_t n = read(src->fd, r->err_line + r->nerr_line, sizeof(r->err_line) - r->nerr_line);
	char *p = r->err_line, *end, *nl;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		if (r->nerr_line > 0)
			on_err_line(r, r->err_line, r->nerr_line);
		shut(w, src);
		check_done(r);
		return;
	}
	r->nerr_line += (size_t)n;
	end = p + r->nerr_line;
	for (; (nl = memchr(p, '\n', (size_t)(end - p))) != NULL; p = nl + 1)
		on_err_line(r, p, (size_t)(nl - p));
	r->nerr_line = p == r->err_line && end == p + sizeof(r->err_line) ? 0 : (size_t)(end - p);
	memmove(r->err_line, p, r->nerr_line);
}

static void on_exit_of(struct web *w, struct source *src)
{
	struct run *r = src->run;

	if (waitpid(r->pid, &r->status, WNOHANG) == 0)
		return;
	r->reaped = true;
	lws_sul_cancel(&r->timer);
	shut(w, src);
	check_done(r);
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
	r->err = (struct source){on_err, r, -1, false};
	r->end = (struct source){on_exit_of, r, -1, false};
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

int run_start(struct session *s, const struct run_spec *spec)
{
	struct web *w = session_web(s);
	struct run *r = run_new(s, spec);
	struct argv a = {.n = 0};
	int in = script_file(spec), rc = -1;

	command(&a, w, spec);
	if (r != NULL && in >= 0 && r->nodes != NULL)
		rc = spawn(r, &a, in);
	if (rc == 0 && (watch(w, &r->out) < 0 || watch(w, &r->err) < 0 || watch(w, &r->end) < 0)) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
		rc = -1;
	}
	if (in >= 0)
		close(in);
	if (rc < 0) {
		if (r != NULL)
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
		if (r->session == s)
			watch(r->w, &r->out);
}

/* ---- the loop's end of it --------------------------------------------------------------- */

void run_events(struct web *w)
{
	struct epoll_event ev[64];
	int n = epoll_wait(w->children, ev, 64, 0);

	for (int i = 0; i < n; i++) {
		struct source *src = ev[i].data.ptr;

		if (src->watched) /* or another event of this round has ended it */
			src->call(w, src);
	}
	for (struct run *r = w->runs, *next; r != NULL; r = next) {
		next = r->next;
		if (r->done)
			run_free(r);
	}
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

		if (!r->reaped) {
			kill(r->pid, SIGKILL);
			waitpid(r->pid, &r->status, 0);
		}
		if (!r->done)
			log_end(r, "server ends");
		run_free(r);
	}
}
