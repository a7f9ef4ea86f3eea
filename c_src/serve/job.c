/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job is a script on a node. When its child ends it is started again, after a while that grows as
 * long as it fails: up to five seconds if the node is away, up to a minute if it is the script that
 * ends. When the file changes, the child is interrupted and sends its last tick, then the next one
 * starts.
 */
#include "job.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "members.h"
#include "saved.h"
#include "web/child_process.h"

/* ---- its pipes -------------------------------------------------------------------------- */

static void check_ended(struct job *j);

static void on_out(struct source *src)
{
	struct job *j = src->of;

	switch (lines_read(&j->lines, src->fd, job_line, j)) {
	case LINES_LOST:
		j->lost_lines++;
		job_tell(j, "a line of its results is too long, and is lost");
		return;
	case LINES_END:
		source_shut(src);
		check_ended(j);
		return;
	default: return;
	}
}

static void on_err(struct source *src)
{
	struct job *j = src->of;
	size_t room = sizeof(j->err_line) - 1 - j->nerr_line;
	ssize_t n = read(src->fd, j->err_line + j->nerr_line, room);
	char *p = j->err_line, *nl;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	j->nerr_line += n > 0 ? (size_t)n : 0;
	j->err_line[j->nerr_line] = '\0';
	for (; (nl = strchr(p, '\n')) != NULL; p = nl + 1) {
		*nl = '\0';
		job_said(j, p);
	}
	j->nerr_line = strlen(p);
	if (n <= 0 || j->nerr_line == sizeof(j->err_line) - 1) { /* its end, or too long a line */
		job_said(j, p);
		j->nerr_line = 0;
	}
	memmove(j->err_line, p, j->nerr_line);
	if (n <= 0) {
		source_shut(src);
		check_ended(j);
	}
}

static void on_exit_of(struct source *src)
{
	struct job *j = src->of;
	int status;

	if (waitpid(j->pid, &status, WNOHANG) == 0)
		return;
	j->pid = 0;
	source_shut(src);
	check_ended(j);
}

/* ---- life ------------------------------------------------------------------------------- */

static bool is_idle(const struct job *j)
{
	return j->pid == 0 && j->out.fd < 0 && j->err.fd < 0;
}

/* How long until it is started again. */
static int wait_of(const struct job *j, int64_t ran)
{
	int most = j->own_end ? SERVE_LONGEST_OWN_MS : SERVE_LONGEST_WAIT_MS, ms = 2 * j->wait_ms;

	if (j->again || (j->own_end ? ran >= SERVE_STEADY_MS : j->up))
		return SERVE_FIRST_WAIT_MS;
	return ms < most ? ms : most;
}

static void tell_end(struct job *j, int64_t ran)
{
	if (!j->up || j->again || j->removed || (j->quiet && ran < SERVE_STEADY_MS))
		return;
	if (j->own_end && ran < SERVE_STEADY_MS)
		serve_say("%s: %s: ends by itself: it is started again, after a minute at most",
			j->path, j->target);
	else
		serve_say("%s: %s: has ended, and is started again", j->path, j->target);
}

/* The child is no more, and all that it said has been read. */
static void check_ended(struct job *j)
{
	int64_t now = serve_ms(), ran = j->up ? now - j->up_at : 0;

	if (!is_idle(j))
		return;
	for (size_t i = 0; i < j->nnodes; i++) {
		j->nodes[i].before += j->nodes[i].fired;
		j->nodes[i].fired = 0;
		j->nodes[i].cost = -1;
	}
	job_print_rest(j);
	job_tell_held(j);
	job_tell_snapshots(j, j->removed);
	tell_end(j, ran);
	j->wait_ms = wait_of(j, ran);
	j->due = now + (j->again ? 0 : j->wait_ms);
	j->quiet = j->own_end && !j->again;
	j->up = j->again = j->own_end = j->failed = j->twice = j->silent = j->late = false;
	j->nunmatched = 0;
	j->killed_at = 0;
	j->lines.n = 0;
	if (j->v->ending)
		serve_check_end(j->v);
}

static int start(struct job *j)
{
	const char *argv[20], **a = argv;
	struct process p;
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), rc;

	*a++ = "erltrace";
	*a++ = "-N";
	*a++ = j->target;
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
	if (j->unmatched)
		*a++ = "-Z";
	*a++ = "-s";
	*a++ = j->path;
	*a = NULL;
	rc = in >= 0 ? process_spawn(&p, argv, in) : -1;
	if (in >= 0)
		close(in);
	if (rc < 0) {
		j->due = serve_ms() + SERVE_LONGEST_WAIT_MS;
		job_tell(j, "no process could be started");
		return -1;
	}
	j->starts++;
	j->runs = j->version;
	j->pid = p.pid;
	if ((source_watch(&j->out, p.out) | source_watch(&j->err, p.err) |
		    source_watch(&j->end, p.end)) == 0)
		return 0;
	kill(j->pid, SIGKILL);
	waitpid(j->pid, NULL, 0);
	j->pid = 0;
	source_shut(&j->out), source_shut(&j->err), source_shut(&j->end);
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

static void job_free(struct job *j)
{
	source_shut(&j->out), source_shut(&j->err), source_shut(&j->end);
	for (size_t i = 0; i < j->nnodes; i++)
		free(j->nodes[i].name);
	for (size_t i = 0; i < j->ndrops; i++)
		free(j->drops[i].kind);
	free(j->nodes);
	free(j->drops);
	job_tell_again(j);
	free(j->lines.text);
	free(j->node);
	free(j->target);
	free(j->path);
	free(j->script);
	free(j);
}

int job_new(struct serve *v, const struct script *s, struct member *m)
{
	struct job *j = calloc(1, sizeof(*j));

	if (j == NULL)
		return -1;
	j->v = v;
	j->path = strdup(s->path);
	j->script = strdup(s->name);
	j->target = strdup(m->target);
	j->member = m;
	j->version = s->version;
	j->wait_ms = SERVE_FIRST_WAIT_MS;
	job_prints_init(&j->prints);
	j->out = (struct source){on_out, v, j, -1};
	j->err = (struct source){on_err, v, j, -1};
	j->end = (struct source){on_exit_of, v, j, -1};
	if (j->path == NULL || j->script == NULL || j->target == NULL) {
		job_free(j);
		return -1;
	}
	j->next = v->jobs;
	v->jobs = j;
	if (saved_is_of(v, s))
		saved_job(v, j);
	return 0;
}

void job_restart(struct job *j, const struct script *s)
{
	j->version = s->version;
	j->due = 0;
	j->wait_ms = SERVE_FIRST_WAIT_MS;
	j->again = j->pid > 0;
	j->unmatched = j->quiet = j->shaped = false;
	job_tell_again(j);
	interrupt(j);
}

void job_remove(struct job *j)
{
	if (!j->removed)
		serve_say("%s: %s: is removed", j->path, j->target);
	j->removed = true;
	interrupt(j);
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

/* Its node does not answer: what was counted there since the last tick is never heard of. */
static void kill_late(struct job *j)
{
	if (j->up && !j->late) {
		serve_say(
			"%s: %s: does not end, and is killed: what it has counted in the last %.1f "
			"seconds is lost",
			j->path, j->target, (double)(serve_ms() - j->tick_at) / 1000);
		j->lost_lines++;
	}
	j->late = true;
	kill(j->pid, SIGKILL);
}

/* While the server ends: its children are waited for, and killed when they take too long. */
static void look_at_end(struct serve *v, int64_t now)
{
	for (struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->pid > 0 && now >= j->killed_at) {
			v->lost |= j->up;
			kill_late(j);
		}
}

static void look_at_health(struct job *j, int64_t now)
{
	if (!j->silent && now - j->tick_at >= SERVE_SILENT_MS) {
		j->silent = true;
		serve_say("%s: %s: no results have come for ten seconds: does the node hang?",
			j->path, j->target);
	}
	if (now - j->up_at < SERVE_STEADY_MS)
		return;
	j->quiet = false;
	if (j->ntold > 0 && now - j->told_at >= SERVE_STEADY_MS)
		job_tell_again(j);
}

void jobs_look(struct serve *v)
{
	int64_t now = serve_ms();

	if (v->ending) {
		look_at_end(v, now);
		return;
	}

	for (struct job **at = &v->jobs, *j; (j = *at) != NULL;) {
		bool idle = is_idle(j);

		if (idle && j->removed) {
			forget(v, at);
			continue;
		}
		if (idle && now >= j->due && !j->member->left)
			start(j);
		else if (j->pid > 0 && j->killed_at > 0 && now >= j->killed_at)
			kill_late(j);
		if (j->up)
			look_at_health(j, now);
		job_tell_left_out(j, now);
		job_tell_snapshots(j, false);
		at = &j->next;
	}
}

void jobs_try_member(struct serve *v, const struct member *m)
{
	for (struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->member == m && !j->quiet) {
			j->due = 0;
			j->wait_ms = SERVE_FIRST_WAIT_MS;
		}
}

void jobs_forget_member(struct serve *v, const struct member *m)
{
	for (struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->member == m) {
			j->member = NULL;
			j->removed = true;
			interrupt(j);
		}
}

void jobs_end(struct serve *v)
{
	for (struct job *j = v->jobs; j != NULL; j = j->next) {
		j->removed = true; /* not started again */
		interrupt(j);
	}
}

bool jobs_ended(const struct serve *v)
{
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		if (!is_idle(j))
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
static void on_signal(struct source *src)
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
	members_end(src->v);
	src->v->ending = true;
	serve_check_end(src->v);
}

int jobs_watch_end(struct serve *v)
{
	static struct source sig;
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
	sig = (struct source){on_signal, v, NULL, -1};
	return fd < 0 ? -1 : source_watch(&sig, fd);
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
