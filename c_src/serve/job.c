/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job is a script on a node. When its run ends it is started again, after a while that grows as
 * long as it fails: up to five seconds if the node is away, up to a minute if it is the script that
 * ends. When the file changes, the run is interrupted and sends its last tick, then the next one
 * starts.
 */
#include "job.h"
#include "serve.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/main/server_run.h"
#include "client/worker.h"
#include "members.h"
#include "saved.h"

static void check_ended(struct job *j);

/* It has ended, or nothing of it is wanted any more. */
static void leave(struct job *j)
{
	source_unwatch(&j->out);
	worker_leave(j->run);
	j->run = NULL;
	check_ended(j);
}

static void on_out(struct source *src)
{
	struct job *j = src->of;

	worker_notified(j->run);
	if (j->twice || worker_ended(j->run))
		leave(j);
}

/* ---- life ------------------------------------------------------------------------------- */

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

/* The run is no more, and all that it said has been taken. */
static void check_ended(struct job *j)
{
	int64_t now = serve_ms(), ran = j->up ? now - j->up_at : 0;

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
	if (j->v->ending)
		serve_check_end(j->v);
}

static void start(struct job *j)
{
	const char *settings[3] = {"quiet", "aggkeep=off"}; /* totals are kept here, not in nodes */
	const struct serve *v = j->v;
	char snapshots[PATH_MAX + 16];
	struct run_calls calls = job_calls(j);
	struct run_request r = {.nodes = (const char *const *)&j->target,
		.nnodes = 1,
		.cookie_file = v->cookie_file,
		.settings = settings,
		.nsettings = 2,
		.file = j->path,
		.live_ms = 500,
		.zero_matches = j->unmatched,
		.calls = &calls};

	if (v->snapshots != NULL) {
		snprintf(snapshots, sizeof(snapshots), "snapshotdir=%s", v->snapshots);
		settings[r.nsettings++] = snapshots;
	}
	j->run = server_run(&r);
	if (j->run == NULL || source_watch(&j->out, worker_fd(j->run)) < 0) {
		if (j->run != NULL)
			worker_leave(j->run);
		j->run = NULL;
		j->due = serve_ms() + SERVE_LONGEST_WAIT_MS;
		job_tell(j, "no thread could be started");
		return;
	}
	j->starts++;
	j->runs = j->version;
}

/* END runs, and the last tick comes. */
static void interrupt(struct job *j)
{
	if (j->run != NULL && j->killed_at == 0) {
		worker_interrupt(j->run);
		j->killed_at = serve_ms() + SERVE_GRACE_MS;
	}
}

static void job_free(struct job *j)
{
	for (size_t i = 0; i < j->nnodes; i++)
		free(j->nodes[i].name);
	for (size_t i = 0; i < j->ndrops; i++)
		free(j->drops[i].kind);
	free(j->nodes);
	free(j->drops);
	job_tell_again(j);
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
	j->again = j->run != NULL;
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
static void leave_late(struct job *j)
{
	if (j->up && !j->late) {
		serve_say(
			"%s: %s: does not end, and is killed: what it has counted in the last %.1f "
			"seconds is lost",
			j->path, j->target, (double)(serve_ms() - j->tick_at) / 1000);
		j->lost_lines++;
	}
	j->late = true;
	leave(j);
}

/* While the server ends: its runs are waited for, and left when they take too long. */
static void look_at_end(struct serve *v, int64_t now)
{
	for (struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->run != NULL && now >= j->killed_at) {
			v->lost |= j->up;
			leave_late(j);
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
		bool idle = j->run == NULL;

		if (idle && j->removed) {
			forget(v, at);
			continue;
		}
		if (idle && now >= j->due && !j->member->left)
			start(j);
		else if (!idle && j->killed_at > 0 && now >= j->killed_at)
			leave_late(j);
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
		if (j->run != NULL)
			return false;
	return true;
}

/* SIGUSR1: those that record take a snapshot. One that has not begun would be ended by it. */
static void take_snapshots(const struct serve *v)
{
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		if (j->run != NULL && j->up)
			worker_snapshot(j->run);
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
		if (j->run != NULL)
			worker_leave(j->run);
		job_free(j);
	}
}
