/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which scripts there are. The folder is looked at twice a second: that is a stat() for each file,
 * and works on every file system. Editors write a new file and rename it, or write in place; both
 * change the inode, the size or the time. In between there may be no file at all: so one is removed
 * when two looks have not seen it.
 */
#include "serve.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "job.h"
#include "saved.h"
#include "web/log.h"

static char *name_of(const char *path)
{
	const char *base = strrchr(path, '/');
	char *name;
	size_t len;

	base = base != NULL ? base + 1 : path;
	len = strlen(base);
	if (len > 2 && strcmp(base + len - 2, ".d") == 0)
		len -= 2;
	name = strndup(base, len);
	if (name != NULL)
		web_to_utf8(name, len);
	return name;
}

static struct script *find(struct serve *v, const char *path)
{
	struct script *s = v->scripts;

	while (s != NULL && strcmp(s->path, path) != 0)
		s = s->next;
	return s;
}

static void note(struct script *s, const struct stat *st)
{
	s->mtime = st->st_mtim;
	s->size = st->st_size;
	s->inode = st->st_ino;
	s->device = st->st_dev;
}

static bool changed(const struct script *s, const struct stat *st)
{
	return s->size != st->st_size || s->inode != st->st_ino || s->device != st->st_dev ||
	       s->mtime.tv_sec != st->st_mtim.tv_sec || s->mtime.tv_nsec != st->st_mtim.tv_nsec;
}

static void script_free(struct script *s)
{
	free(s->path);
	free(s->name);
	free(s);
}

/* In the order of the command line. NULL: memory is out; the next look tries again. */
static struct script *add(struct serve *v, int arg, const char *path)
{
	struct script *s = calloc(1, sizeof(*s)), **at = &v->scripts;

	if (s == NULL || (s->path = strdup(path)) == NULL || (s->name = name_of(path)) == NULL) {
		if (s != NULL)
			script_free(s);
		return NULL;
	}
	s->arg = arg;
	while (*at != NULL)
		at = &(*at)->next;
	*at = s;
	return s;
}

/* What is named like a script and is none. It is never opened: a fifo would hold us up. */
const char *serve_file_kind(const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFREG: return NULL;
	case S_IFDIR: return "a folder";
	case S_IFIFO: return "a fifo";
	case S_IFSOCK: return "a socket";
	case S_IFLNK: return "a link that leads to no file";
	default: return "a device";
	}
}

static void tell_odd(struct script *s, const char *odd)
{
	if (odd == s->odd)
		return;
	if (odd != NULL)
		serve_say("%s: is left out: it is %s", s->path, odd);
	s->odd = odd;
	s->left_out = odd != NULL;
}

static bool is_of(const struct job *j, const struct script *s)
{
	return strcmp(j->path, s->path) == 0;
}

static void look_at(struct serve *v, int arg, const char *path)
{
	struct script *s = find(v, path);
	struct stat st;
	const char *odd;

	if (stat(path, &st) < 0 && lstat(path, &st) < 0)
		return;
	odd = serve_file_kind(&st);
	if (s != NULL && s->runs && odd != NULL)
		return; /* its file is gone; then it is told what is there instead */
	if (s == NULL && (s = add(v, arg, path)) == NULL)
		return;
	s->missed = 0;
	if (!changed(s, &st))
		return;
	note(s, &st);
	s->version++;
	tell_odd(s, odd);
	if (s->runs)
		serve_say("%s: has changed", s->path);
	for (struct job *j = v->jobs; j != NULL; j = j->next)
		if (s->runs && is_of(j, s) && !j->removed)
			job_restart(j, s);
}

/* All *.d in it. -1: it cannot be read now. */
static int look_into(struct serve *v, int arg)
{
	struct dirent *e;
	DIR *d = opendir(v->paths[arg].path);
	char path[4096];

	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		size_t len = strlen(e->d_name);

		if (e->d_name[0] == '.' || len < 3 || strcmp(e->d_name + len - 2, ".d") != 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", v->paths[arg].path, e->d_name) <
			(int)sizeof(path))
			look_at(v, arg, path);
	}
	closedir(d);
	return 0;
}

/* A folder that is not there, or something else, may be about to be put there again: no script
 * ends. */
static void keep(struct serve *v, int arg)
{
	for (struct script *s = v->scripts; s != NULL; s = s->next)
		if (s->arg == arg)
			s->missed = 0;
}

static void look_at_folder(struct serve *v, int arg)
{
	struct path *p = &v->paths[arg];
	struct stat st;
	bool gone = stat(p->path, &st) < 0 || look_into(v, arg) < 0;

	if (gone && !p->gone)
		serve_say("%s: %s: its scripts run on until it is back", p->path, strerror(errno));
	if (!gone && p->gone)
		serve_say("%s: is back", p->path);
	p->gone = gone;
	if (gone)
		keep(v, arg);
}

static void look_at_file(struct serve *v, int arg)
{
	struct stat st;

	if (stat(v->paths[arg].path, &st) < 0 && errno != ENOENT)
		keep(v, arg);
	else
		look_at(v, arg, v->paths[arg].path);
}

/* ---- which of them run -------------------------------------------------------------------- */

/* The script that has this name; one that is being removed still has it. */
static const struct script *holder(const struct serve *v, const char *name)
{
	const struct script *s = v->scripts;

	while (s != NULL && (!s->runs || strcmp(s->name, name) != 0))
		s = s->next;
	return s;
}

static bool has_jobs(const struct serve *v, const char *name)
{
	const struct job *j = v->jobs;

	while (j != NULL && strcmp(j->script, name) != 0)
		j = j->next;
	return j != NULL;
}

/* Metrics, totals and labels go by the name of the file, so that one file has it. */
static void admit(struct serve *v, struct script *s)
{
	const struct script *o = holder(v, s->name);
	bool same = o != NULL && o->device == s->device && o->inode == s->inode;

	if (o == NULL && !has_jobs(v, s->name)) {
		s->runs = true;
		s->left_out = false;
		for (struct member *m = v->members; m != NULL; m = m->next)
			job_new(v, s, m);
		return;
	}
	if (o != NULL && !same && !s->left_out)
		serve_say("%s: is left out: %s has the same name, and so the same metrics", s->path,
			o->path);
	s->left_out = o != NULL && !same;
}

void folder_new_member(struct serve *v, struct member *m)
{
	for (struct script *s = v->scripts; s != NULL; s = s->next)
		if (s->runs)
			job_new(v, s, m);
}

static void remove_script(struct serve *v, struct script **at)
{
	struct script *s = *at;

	for (struct job *j = v->jobs; s->runs && j != NULL; j = j->next)
		if (is_of(j, s))
			job_remove(j);
	if (s->runs)
		saved_forget(v, s->name);
	if (s->runs && !has_jobs(v, s->name)) /* there is no node */
		totals_forget(&v->totals, s->name);
	*at = s->next;
	script_free(s);
}

/* Totals of scripts that were removed while no server ran. */
static void forget_saved(struct serve *v)
{
	const struct metric *m = v->totals.metrics;
	char *name;

	while (m != NULL) {
		const struct script *s = holder(v, m->script);

		if (s != NULL && saved_is_of(v, s)) {
			m = m->next;
			continue;
		}
		name = strdup(m->script);
		if (name == NULL)
			return;
		totals_forget(&v->totals, name);
		free(name);
		m = v->totals.metrics;
	}
}

void folder_look(struct serve *v)
{
	for (struct script *s = v->scripts; s != NULL; s = s->next)
		s->missed++;
	for (int i = 0; i < v->npaths; i++) {
		if (v->paths[i].folder)
			look_at_folder(v, i);
		else
			look_at_file(v, i);
	}
	for (struct script **at = &v->scripts; *at != NULL;) {
		if ((*at)->missed < SERVE_MISSED)
			at = &(*at)->next;
		else
			remove_script(v, at);
	}
	for (struct script *s = v->scripts; s != NULL; s = s->next)
		if (!s->runs && s->odd == NULL)
			admit(v, s);
	if (!v->looked)
		forget_saved(v);
	v->looked = true;
}

void folder_free(struct serve *v)
{
	while (v->scripts != NULL) {
		struct script *s = v->scripts;

		v->scripts = s->next;
		script_free(s);
	}
}
