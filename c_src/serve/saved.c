/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The totals as a file of JSON. It is written every ten seconds and at the end, to another name
 * first, so that there is always a whole one. What a metric is called is in it too: counters do not
 * vanish until the node is back.
 *
 *   {"version": 1, "metrics": [{"script", "aggregation", "kind", "keys", ..., "series": [...]}],
 *    "scripts": [{"name", "path"}], "members": [nodes that were found], "alerts": [...],
 *    "jobs": [{"script", "target", "starts", "errors", "lost", "lines_left_out",
 * "snapshots_failed", "nodes": [...], "drops": [...]}]}
 */
#include "saved.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "job.h"

enum { SAVED_VERSION = 1, SAVED_EVERY_MS = 10000 };

/* ---- writing ---------------------------------------------------------------------------- */

static json_t *buckets_out(const struct series *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->nbuckets; i++)
		json_array_append_new(list, json_pack("[I,I]", (json_int_t)s->buckets[i].le,
						    (json_int_t)s->buckets[i].count));
	return list;
}

static json_t *series_out(const struct metric *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->nchains; i++)
		for (const struct series *s = m->chains[i]; s != NULL; s = s->next)
			json_array_append_new(
				list, json_pack("{s:s,s:I,s:f,s:I,s:o}", "labels", s->labels,
					      "value", (json_int_t)s->value, "sum", s->sum, "count",
					      (json_int_t)s->count, "buckets", buckets_out(s)));
	return list;
}

static json_t *metric_out(const struct metric *m)
{
	json_t *bounds = json_array(), *percents = json_array();

	for (size_t i = 0; i < m->nbounds; i++)
		json_array_append_new(bounds, json_integer(m->bounds[i]));
	for (size_t i = 0; i < m->npercents; i++)
		json_array_append_new(percents, json_real(m->percents[i]));
	return json_pack("{s:s,s:s,s:s,s:s?,s:s?,s:O?,s:i,s:i,s:I,s:b,s:I,s:o,s:o,s:o,s:I,s:b}",
		"script", m->script, "aggregation", m->aggregation, "name", m->name, "help",
		m->help, "unit", m->unit, "labels", m->labels, "decimals", (int)m->decimals, "kind",
		(int)m->kind, "keys", (json_int_t)m->nkeys, "goes_down", m->goes_down, "to_other",
		(json_int_t)m->to_other, "bounds", bounds, "percents", percents, "series",
		series_out(m), "began", (json_int_t)m->began, "left_out", !m->shown);
}

static json_t *job_out(const struct job *j)
{
	json_t *nodes = json_array(), *drops = json_array();

	for (size_t i = 0; i < j->nnodes; i++)
		json_array_append_new(
			nodes, json_pack("{s:s,s:I}", "name", j->nodes[i].name, "events",
				       (json_int_t)(j->nodes[i].before + j->nodes[i].fired)));
	for (size_t i = 0; i < j->ndrops; i++)
		json_array_append_new(drops, json_pack("{s:s,s:I}", "kind", j->drops[i].kind, "n",
						     (json_int_t)j->drops[i].n));
	return json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "script", j->script, "target",
		j->target, "starts", (json_int_t)j->starts, "errors", (json_int_t)j->errors, "lost",
		(json_int_t)j->lost_lines, "lines_left_out", (json_int_t)j->prints.left_out,
		"snapshots_failed", (json_int_t)j->snapshots_failed, "nodes", nodes, "drops",
		drops);
}

static json_t *all_out(const struct serve *v)
{
	json_t *metrics = json_array(), *jobs = json_array(), *scripts = json_array(),
	       *members = json_array();

	for (const struct metric *m = v->totals.metrics; m != NULL; m = m->next)
		json_array_append_new(metrics, metric_out(m));
	for (const struct job *j = v->jobs; j != NULL; j = j->next)
		json_array_append_new(jobs, job_out(j));
	for (const struct script *s = v->scripts; s != NULL; s = s->next)
		if (s->runs)
			json_array_append_new(
				scripts, json_pack("{s:s,s:s}", "name", s->name, "path", s->path));
	for (const struct member *m = v->members; m != NULL; m = m->next)
		if (!m->named && !m->left)
			json_array_append_new(members, json_string(m->target));
	return json_pack("{s:i,s:o,s:o,s:o,s:o,s:o}", "version", SAVED_VERSION, "metrics", metrics,
		"jobs", jobs, "scripts", scripts, "members", members, "alerts",
		alerts_out(&v->alerts));
}

/* 0, or -1 and errno. */
static int write_file(const json_t *all, const char *path)
{
	FILE *f = fopen(path, "we");
	int bad;

	if (f == NULL)
		return -1;
	bad = json_dumpf(all, f, JSON_COMPACT) < 0 || fflush(f) != 0 || fsync(fileno(f)) != 0;
	return fclose(f) != 0 || bad ? -1 : 0;
}

void saved_write(struct serve *v)
{
	char path[4096];
	json_t *all;
	int rc;

	if (v->state_file == NULL)
		return;
	snprintf(path, sizeof(path), "%s.new", v->state_file);
	all = all_out(v);
	errno = ENOMEM;
	rc = all != NULL ? write_file(all, path) : -1;
	if (rc == 0)
		rc = rename(path, v->state_file);
	if (rc < 0 && !v->state_failed)
		serve_say("%s: cannot be written: %s; it is tried again", v->state_file,
			strerror(errno));
	if (rc == 0 && v->state_failed)
		serve_say("%s: is written again", v->state_file);
	v->state_failed = rc < 0;
	json_decref(all);
}

void saved_look(struct serve *v)
{
	int64_t now = serve_ms();

	if (v->state_file == NULL || v->ending || now < v->state_due)
		return;
	if (v->state_due > 0)
		saved_write(v);
	v->state_due = now + SAVED_EVERY_MS;
}

/* ---- one server ------------------------------------------------------------------------- */

/* A server that was killed a moment ago may not have ended yet. 0, or -1 and errno. */
static int take_lock(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const struct timespec pause = {.tv_nsec = 50000000};
	int rc = fcntl(fd, F_SETLK, &whole);

	for (int i = 0; rc < 0 && (errno == EACCES || errno == EAGAIN) && i < 40; i++) {
		nanosleep(&pause, NULL);
		rc = fcntl(fd, F_SETLK, &whole);
	}
	return rc;
}

static int in_use(const struct serve *v, int fd)
{
	struct flock other = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_GETLK, &other) == 0 && other.l_type != F_UNLCK && other.l_pid > 0)
		serve_say("%s: is the --state of another server, process %d: each needs its own",
			v->state_file, (int)other.l_pid);
	else
		serve_say(
			"%s: is the --state of another server: each needs its own", v->state_file);
	close(fd);
	return -1;
}

/*
 * Two servers would overwrite each other's totals. The file itself is another one after each write,
 * so FILE.lock is locked. It stays when the server ends; the lock goes with the process, however
 * that ends. Where there can be no lock there may be no totals either, which is told when they are
 * written.
 */
static int lock(struct serve *v)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.lock", v->state_file);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && take_lock(fd) == 0)
		return 0; /* open until the end */
	if (fd >= 0 && (errno == EACCES || errno == EAGAIN))
		return in_use(v, fd);
	serve_say("%s: cannot be locked: %s: see to it that no other server has this --state", path,
		strerror(errno));
	if (fd >= 0)
		close(fd);
	return 0;
}

/* ---- reading ---------------------------------------------------------------------------- */

static int bad(struct serve *v, const char *why)
{
	serve_say("%s: %s: remove it to begin with nothing", v->state_file, why);
	return -1;
}

static bool is_text(const json_t *o, const char *member, const char *text)
{
	const char *s = json_string_value(json_object_get(o, member));

	return s != NULL && strcmp(s, text) == 0;
}

static int read_file(struct serve *v)
{
	json_error_t error;
	const json_t *m;
	size_t i;

	if (access(v->state_file, F_OK) < 0 && errno == ENOENT)
		return 0;
	v->saved = json_load_file(v->state_file, 0, &error);
	if (v->saved == NULL)
		return bad(v, error.text);
	if (json_integer_value(json_object_get(v->saved, "version")) != SAVED_VERSION)
		return bad(v, "is not a file of this version");
	json_array_foreach(json_object_get(v->saved, "metrics"), i, m)
	{
		if (totals_restore(&v->totals, m) < 0)
			return bad(v, "has a metric that is not whole");
	}
	alerts_restore(&v->alerts, json_object_get(v->saved, "alerts"));
	json_array_foreach(json_object_get(v->saved, "members"), i, m)
	{
		if ((v->cluster || v->nnodes == 0) && json_is_string(m))
			member_known(v, json_string_value(m));
	}
	return 0;
}

int saved_open(struct serve *v)
{
	if (v->state_file == NULL)
		return 0;
	if (strlen(v->state_file) > 4000)
		return bad(v, "too long a name");
	return lock(v) < 0 ? -1 : read_file(v);
}

/* A folder that was moved has its totals still. */
bool saved_is_of(const struct serve *v, const struct script *s)
{
	const json_t *o;
	struct stat st;
	size_t i;

	json_array_foreach(json_object_get(v->saved, "scripts"), i, o)
	{
		const char *path = json_string_value(json_object_get(o, "path"));

		if (path != NULL && is_text(o, "name", s->name))
			return strcmp(path, s->path) == 0 || stat(path, &st) < 0 ||
			       (st.st_ino == s->inode && st.st_dev == s->device);
	}
	return true;
}

static uint64_t number_of(const json_t *o, const char *member)
{
	return (uint64_t)json_integer_value(json_object_get(o, member));
}

static void restore(struct job *j, const json_t *saved)
{
	const json_t *o;
	size_t i;

	j->starts = number_of(saved, "starts");
	j->errors = number_of(saved, "errors");
	j->lost_lines = number_of(saved, "lost");
	j->prints.left_out = number_of(saved, "lines_left_out");
	j->snapshots_failed = number_of(saved, "snapshots_failed");
	json_array_foreach(json_object_get(saved, "nodes"), i, o)
	{
		const char *name = json_string_value(json_object_get(o, "name"));
		struct job_node *node = name != NULL ? job_node(j, name) : NULL;

		if (node != NULL)
			node->before = number_of(o, "events");
	}
	json_array_foreach(json_object_get(saved, "drops"), i, o)
	{
		const char *kind = json_string_value(json_object_get(o, "kind"));

		if (kind != NULL)
			job_drops(j, kind, number_of(o, "n"));
	}
}

void saved_job(const struct serve *v, struct job *j)
{
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(v->saved, "jobs"), i, o)
	{
		if (is_text(o, "script", j->script) && is_text(o, "target", j->target)) {
			restore(j, o);
			return;
		}
	}
}

void saved_forget(struct serve *v, const char *script)
{
	json_t *jobs = json_object_get(v->saved, "jobs");

	for (size_t i = json_array_size(jobs); i-- > 0;)
		if (is_text(json_array_get(jobs, i), "script", script))
			json_array_remove(jobs, i);
}
