/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job is a script on a node. Its child's lines are read here: ticks go to the totals, errors to
 * the log. When the child ends it is started again, after a while that grows as long as it fails.
 * When the file changes, the child is interrupted and sends its last tick, then the next one
 * starts.
 */
#include "job.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alerts.h"
#include "array.h"
#include "saved.h"
#include "web/child_process.h"

enum { READ_SIZE = 64 << 10 };

/* ---- what it tells ---------------------------------------------------------------------- */

/* Once, until it says something else or is armed. */
static void tell(struct job *j, const char *text)
{
	if (j->told != NULL && strcmp(j->told, text) == 0)
		return;
	free(j->told);
	j->told = strdup(text);
	serve_say("%s: %s: %s", j->path, j->target, text);
}

struct job_node *job_node(struct job *j, const char *name)
{
	for (size_t i = 0; i < j->nnodes; i++)
		if (strcmp(j->nodes[i].name, name) == 0)
			return &j->nodes[i];
	if (!ARRAY_ROOM(j->nodes, j->nnodes))
		return NULL;
	j->nodes[j->nnodes] = (struct job_node){.name = strdup(name), .cost = -1};
	return j->nodes[j->nnodes].name != NULL ? &j->nodes[j->nnodes++] : NULL;
}

static const char *text_of(const json_t *line, const char *member)
{
	const char *text = json_string_value(json_object_get(line, member));

	return text != NULL ? text : "";
}

static void on_shape(struct job *j, const json_t *line)
{
	const json_t *shape;
	const char *why;
	size_t i;

	json_array_foreach(json_object_get(line, "aggregations"), i,
		shape) if (totals_metric(&j->v->totals, j->script, shape, &why) == NULL)
		serve_say("%s: @%s is left out: %s", j->path, text_of(shape, "aggregation"), why);
	if (!j->up)
		serve_say("%s: %s: runs", j->path, j->target);
	j->up = true;
	free(j->told);
	j->told = NULL;
}

static void on_tick(struct job *j, const json_t *line)
{
	const char *name = text_of(line, "node");
	struct job_node *node = job_node(j, name);
	const json_t *part, *cost = json_object_get(line, "cost");
	size_t i;

	if (node != NULL) {
		node->fired = (uint64_t)json_integer_value(json_object_get(line, "fired"));
		node->cost = json_is_number(cost) ? json_number_value(cost) : -1;
	}
	json_array_foreach(json_object_get(line, "aggregations"), i, part)
	{
		struct metric *m =
			totals_find(&j->v->totals, j->script, text_of(part, "aggregation"));

		if (m != NULL && metric_add(&j->v->totals, m, name, part) < 0)
			j->lost_lines++;
	}
}

void job_drops(struct job *j, const char *kind, uint64_t n)
{
	size_t i = 0;

	while (i < j->ndrops && strcmp(j->drops[i].kind, kind) != 0)
		i++;
	if (i == j->ndrops) {
		if (!ARRAY_ROOM(j->drops, j->ndrops))
			return;
		j->drops[i] = (struct job_drops){.kind = strdup(kind)};
		if (j->drops[i].kind == NULL)
			return;
		j->ndrops++;
	}
	j->drops[i].n += n;
}

static void on_drop(struct job *j, const json_t *line)
{
	job_drops(j, text_of(line, "kind"),
		(uint64_t)json_integer_value(json_object_get(line, "drops")));
	tell(j, text_of(line, "message"));
}

/* Of a clause, or of a script that does not compile: that has a line. */
static void on_error(struct job *j, const json_t *line)
{
	char text[1024];

	j->errors++;
	snprintf(text, sizeof(text), "line %lld: %s",
		(long long)json_integer_value(json_object_get(line, "line")),
		text_of(line, "message"));
	tell(j, text);
}

static void keep_line(struct job *j, const char *text)
{
	struct job_line *l = &j->lines[j->nlines++ % JOB_LINES];

	l->at = serve_ms();
	snprintf(l->text, sizeof(l->text), "%.*s", (int)strcspn(text, "\n"), text);
}

char *job_recorded(const struct job *j)
{
	unsigned first = j->nlines > JOB_LINES ? j->nlines - JOB_LINES : 0;
	int64_t since = serve_ms() - JOB_RECORDED_MS;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (unsigned i = first; f != NULL && i < j->nlines; i++)
		if (j->lines[i % JOB_LINES].at >= since)
			fprintf(f, "%s\n", j->lines[i % JOB_LINES].text);
	if (f != NULL && fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static void on_text(struct job *j, const json_t *line)
{
	const char *text = text_of(line, "text");

	fputs(text, stdout);
	fflush(stdout);
	keep_line(j, text);
}

/* trace() and the like have values, and no text. */
static void on_values(struct job *j, const json_t *line)
{
	const json_t *values = json_object_get(line, "values");
	char *text = json_array_size(values) > 0 ? json_dumps(values, JSON_COMPACT) : NULL;

	if (text != NULL)
		keep_line(j, text);
	free(text);
}

/* A number of 19 digits or more, which may be more than 63 bits; where it ends. */
static size_t long_number(const char *text, size_t at, size_t len)
{
	size_t end = at + (text[at] == '-');

	while (end < len && text[end] >= '0' && text[end] <= '9')
		end++;
	return end - at >= 19 && (end == len || strchr(".eE", text[end]) == NULL) ? end : at;
}

/* Integers beyond 63 bits, such as addresses, are not for jansson: long ones become strings. */
static json_t *load_quoted(const char *text, size_t len)
{
	char *to = malloc(3 * len + 1);
	bool in_string = false;
	json_t *line;
	size_t n = 0;

	if (to == NULL)
		return NULL;
	for (size_t i = 0, end; i < len; i = end) {
		end = i + 1;
		if (in_string && text[i] == '\\' && end < len)
			end++;
		else if (text[i] == '"')
			in_string = !in_string;
		else if (!in_string && (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')) &&
			 (end = long_number(text, i, len)) > i)
			to[n++] = '"';
		else
			end = i + 1;
		memcpy(to + n, text + i, end - i);
		n += end - i;
		if (end - i >= 19)
			to[n++] = '"';
	}
	line = json_loadb(to, n, JSON_ALLOW_NUL, NULL);
	free(to);
	return line;
}

static void on_line(struct job *j, const char *text, size_t len)
{
	json_t *line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
	const char *type;

	if (line == NULL)
		line = load_quoted(text, len);
	type = text_of(line, "type");
	if (line == NULL)
		j->lost_lines++;
	else if (strcmp(type, "tick") == 0)
		on_tick(j, line);
	else if (strcmp(type, "shape") == 0)
		on_shape(j, line);
	else if (strcmp(type, "drop") == 0)
		on_drop(j, line);
	else if (strcmp(type, "error") == 0)
		on_error(j, line);
	else if (strcmp(type, "printf") == 0 || strcmp(type, "print") == 0)
		on_text(j, line);
	else if (strcmp(type, "alert") == 0)
		alerts_fire(j->v, j, line);
	else if (strcmp(type, "exit") != 0 && strcmp(type, "snapshot") != 0)
		on_values(j, line);
	json_decref(line);
}

static void on_err_line(struct job *j, char *line)
{
	if (strncmp(line, "erltrace: ", 10) == 0)
		line += 10;
	if (line[0] != '\0' && strncmp(line, "script '", 8) != 0) /* how many probes it matched */
		tell(j, line);
}

/* ---- its pipes -------------------------------------------------------------------------- */

static int watch(struct job_source *src, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = src};

	src->fd = fd;
	return epoll_ctl(src->v->children, EPOLL_CTL_ADD, fd, &ev);
}

static void shut(struct job_source *src)
{
	if (src->fd >= 0)
		close(src->fd); /* which takes it out of the epoll */
	src->fd = -1;
}

static void cut_lines(struct job *j)
{
	char *p = j->line, *end = p + j->nline, *nl;

	while ((nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		on_line(j, p, (size_t)(nl - p));
		p = nl + 1;
	}
	j->nline = (size_t)(end - p);
	memmove(j->line, p, j->nline);
}

static void check_ended(struct job *j);

static void on_out(struct job_source *src)
{
	struct job *j = src->job;
	ssize_t n;

	if (j->nline + READ_SIZE > SERVE_MAX_LINE ||
		!ARRAY_RESERVE(j->line, j->room, j->nline + READ_SIZE)) {
		j->lost_lines++;
		j->nline = 0;
		tell(j, "a line of its results is too long, and is lost");
		return;
	}
	n = read(src->fd, j->line + j->nline, READ_SIZE);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		shut(src);
		check_ended(j);
		return;
	}
	j->nline += (size_t)n;
	cut_lines(j);
}

static void on_err(struct job_source *src)
{
	struct job *j = src->job;
	size_t room = sizeof(j->err_line) - 1 - j->nerr_line;
	ssize_t n = read(src->fd, j->err_line + j->nerr_line, room);
	char *p = j->err_line, *nl;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	j->nerr_line += n > 0 ? (size_t)n : 0;
	j->err_line[j->nerr_line] = '\0';
	for (; (nl = strchr(p, '\n')) != NULL; p = nl + 1) {
		*nl = '\0';
		on_err_line(j, p);
	}
	j->nerr_line = strlen(p);
	if (n <= 0 || j->nerr_line == sizeof(j->err_line) - 1) { /* its end, or too long a line */
		on_err_line(j, p);
		j->nerr_line = 0;
	}
	memmove(j->err_line, p, j->nerr_line);
	if (n <= 0) {
		shut(src);
		check_ended(j);
	}
}

static void on_exit_of(struct job_source *src)
{
	int status;

	if (waitpid(src->job->pid, &status, WNOHANG) == 0)
		return;
	src->job->pid = 0;
	shut(src);
	check_ended(src->job);
}

/* ---- life ------------------------------------------------------------------------------- */

/* The child is no more, and all that it said has been read. */
static bool all_ended(const struct serve *v);

static void check_ended(struct job *j)
{
	if (j->pid > 0 || j->out.fd >= 0 || j->err.fd >= 0)
		return;
	for (size_t i = 0; i < j->nnodes; i++) {
		j->nodes[i].before += j->nodes[i].fired;
		j->nodes[i].fired = 0;
		j->nodes[i].cost = -1;
	}
	if (j->up && !j->again && !j->removed)
		serve_say("%s: %s: has ended, and is started again", j->path, j->target);
	if (j->up || j->again)
		j->wait_ms = SERVE_FIRST_WAIT_MS;
	else if (j->wait_ms < SERVE_LONGEST_WAIT_MS)
		j->wait_ms *= 2;
	j->due = serve_ms() + (j->again ? 0 : j->wait_ms);
	j->up = j->again = false;
	j->killed_at = 0;
	j->nline = 0;
	if (j->v->ending && all_ended(j->v)) {
		j->v->ended = true;
		lws_cancel_service(j->v->context);
	}
}

static int start(struct job *j)
{
	const char *argv[20], **a = argv;
	struct process p;
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), rc;

	*a++ = "erltrace";
	*a++ = "-N";
	*a++ = j->target;
	if (j->v->cluster)
		*a++ = "--cluster";
	if (j->v->cookie_file != NULL) {
		*a++ = "--cookie-file";
		*a++ = j->v->cookie_file;
	}
	if (j->v->snapshots != NULL) {
		*a++ = "--snapshots";
		*a++ = j->v->snapshots;
	}
	*a++ = "--json";
	*a++ = "--live=2";
	*a++ = "-q";
	*a++ = "-xaggkeep=off"; /* the totals are here: a node must not keep all keys too */
	*a++ = "-s";
	*a++ = j->path;
	*a = NULL;
	rc = in >= 0 ? process_spawn(&p, argv, in) : -1;
	if (in >= 0)
		close(in);
	if (rc < 0) {
		j->due = serve_ms() + SERVE_LONGEST_WAIT_MS;
		tell(j, "no process could be started");
		return -1;
	}
	j->starts++;
	j->pid = p.pid;
	if (watch(&j->out, p.out) == 0 && watch(&j->err, p.err) == 0 && watch(&j->end, p.end) == 0)
		return 0;
	kill(j->pid, SIGKILL);
	waitpid(j->pid, NULL, 0);
	j->pid = 0;
	shut(&j->out), shut(&j->err), shut(&j->end);
	check_ended(j);
	return -1;
}

/* END runs, and the last tick comes. */
static void interrupt(struct job *j)
{
	if (j->pid > 0 && j->killed_at == 0) {
		kill(j->pid, SIGINT);
		j->killed_at = serve_ms() + SERVE_GRACE_MS;
	}
}

int job_new(struct serve *v, const struct script *s, const char *target)
{
	struct job *j = calloc(1, sizeof(*j));

	if (j == NULL)
		return -1;
	j->v = v;
	j->path = strdup(s->path);
	j->script = strdup(s->name);
	j->target = target;
	j->wait_ms = SERVE_FIRST_WAIT_MS;
	j->out = (struct job_source){on_out, v, j, -1};
	j->err = (struct job_source){on_err, v, j, -1};
	j->end = (struct job_source){on_exit_of, v, j, -1};
	j->next = v->jobs;
	v->jobs = j;
	saved_job(v, j);
	return 0;
}

void job_restart(struct job *j)
{
	serve_say("%s: has changed", j->path);
	j->due = 0;
	j->wait_ms = SERVE_FIRST_WAIT_MS;
	j->again = j->pid > 0;
	free(j->told);
	j->told = NULL;
	interrupt(j);
}

void job_remove(struct job *j)
{
	if (!j->removed)
		serve_say("%s: %s: is removed", j->path, j->target);
	j->removed = true;
	interrupt(j);
}

static void job_free(struct job *j)
{
	shut(&j->out), shut(&j->err), shut(&j->end);
	for (size_t i = 0; i < j->nnodes; i++)
		free(j->nodes[i].name);
	for (size_t i = 0; i < j->ndrops; i++)
		free(j->drops[i].kind);
	free(j->nodes);
	free(j->drops);
	free(j->line);
	free(j->told);
	free(j->path);
	free(j->script);
	free(j);
}

/* The last job of a script takes its metrics with it. */
static void forget(struct serve *v, struct job **at)
{
	struct job *j = *at, *other = v->jobs;

	*at = j->next;
	while (other != NULL && (other == j || strcmp(other->script, j->script) != 0))
		other = other->next;
	if (other == NULL)
		totals_forget(&v->totals, j->script);
	job_free(j);
}

/* While the server ends: its children are waited for, and killed when they take too long. */
static void look_at_end(struct serve *v, int64_t now)
{
	for (struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->pid > 0 && now >= j->killed_at)
			kill(j->pid, SIGKILL);
}

void jobs_look(struct serve *v)
{
	int64_t now = serve_ms();

	if (v->ending) {
		look_at_end(v, now);
		return;
	}

	for (struct job **at = &v->jobs, *j; (j = *at) != NULL;) {
		bool idle = j->pid == 0 && j->out.fd < 0 && j->err.fd < 0;

		if (idle && j->removed) {
			forget(v, at);
			continue;
		}
		if (idle && now >= j->due)
			start(j);
		else if (j->pid > 0 && j->killed_at > 0 && now >= j->killed_at)
			kill(j->pid, SIGKILL);
		at = &j->next;
	}
}

void jobs_events(struct serve *v)
{
	struct epoll_event ev[64];
	int n = epoll_wait(v->children, ev, 64, 0);

	for (int i = 0; i < n; i++) {
		struct job_source *src = ev[i].data.ptr;

		if (src->fd >= 0) /* or another event of this round has closed it */
			src->call(src);
	}
}

void jobs_end(struct serve *v)
{
	for (struct job *j = v->jobs; j != NULL; j = j->next) {
		j->removed = true; /* not started again */
		interrupt(j);
	}
}

/* No child runs, and all that they said has been read. */
static bool all_ended(const struct serve *v)
{
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->pid > 0 || j->out.fd >= 0 || j->err.fd >= 0)
			return false;
	return true;
}

/* SIGUSR1: those that record take a snapshot. One that has not begun would be ended by it. */
static void take_snapshots(const struct serve *v)
{
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->pid > 0 && j->up)
			kill(j->pid, SIGUSR1);
}

/* The first signal ends the scripts, the second does not wait for them. */
static void on_signal(struct job_source *src)
{
	struct signalfd_siginfo info;

	if (read(src->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1) {
		take_snapshots(src->v);
		return;
	}
	src->v->ended = src->v->ending;
	if (!src->v->ending)
		jobs_end(src->v);
	src->v->ending = true;
	src->v->ended |= all_ended(src->v);
	lws_cancel_service(src->v->context);
}

int jobs_watch_end(struct serve *v)
{
	static struct job_source sig;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sig = (struct job_source){on_signal, v, NULL, -1};
	return fd < 0 ? -1 : watch(&sig, fd);
}

void jobs_free(struct serve *v)
{
	while (v->jobs != NULL) {
		struct job *j = v->jobs;

		v->jobs = j->next;
		if (j->pid > 0) {
			kill(j->pid, SIGKILL);
			waitpid(j->pid, NULL, 0);
		}
		job_free(j);
	}
}
