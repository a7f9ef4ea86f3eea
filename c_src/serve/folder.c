/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which scripts there are. The folder is looked at twice a second: that is a stat() for each file,
 * and works on every file system. Editors write a new file and rename it, or write in place; both
 * change the inode, the size or the time.
 */
#include "serve.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "job.h"

static char *name_of(const char *path)
{
	const char *base = strrchr(path, '/');
	size_t len;

	base = base != NULL ? base + 1 : path;
	len = strlen(base);
	if (len > 2 && strcmp(base + len - 2, ".d") == 0)
		len -= 2;
	return strndup(base, len);
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
}

static bool changed(const struct script *s, const struct stat *st)
{
	return s->size != st->st_size || s->inode != st->st_ino ||
	       s->mtime.tv_sec != st->st_mtim.tv_sec || s->mtime.tv_nsec != st->st_mtim.tv_nsec;
}

static void script_free(struct script *s)
{
	free(s->path);
	free(s->name);
	free(s);
}

static void add(struct serve *v, const char *path, const struct stat *st)
{
	struct script *s = calloc(1, sizeof(*s));

	if (s == NULL || (s->path = strdup(path)) == NULL || (s->name = name_of(path)) == NULL) {
		if (s != NULL)
			script_free(s);
		return; /* the next look tries again */
	}
	note(s, st);
	s->seen = true;
	s->next = v->scripts;
	v->scripts = s;
	for (int i = 0; i < v->nnodes; i++)
		job_new(v, s, v->nodes[i]);
}

static bool is_of(const struct job *j, const struct script *s)
{
	return strcmp(j->path, s->path) == 0;
}

static void look_at(struct serve *v, const char *path)
{
	struct script *s = find(v, path);
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (s == NULL) {
		add(v, path, &st);
		return;
	}
	s->seen = true;
	if (!changed(s, &st))
		return;
	note(s, &st);
	for (struct job *j = v->jobs; j != NULL; j = j->next)
		if (is_of(j, s) && !j->removed)
			job_restart(j);
}

/* All *.d in it. false: it cannot be read now, which is no reason to end its scripts. */
static bool look_into(struct serve *v, const char *folder)
{
	struct dirent *e;
	DIR *d = opendir(folder);
	char path[4096];

	if (d == NULL)
		return errno == ENOTDIR;
	while ((e = readdir(d)) != NULL) {
		size_t len = strlen(e->d_name);

		if (e->d_name[0] == '.' || len < 3 || strcmp(e->d_name + len - 2, ".d") != 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) < (int)sizeof(path))
			look_at(v, path);
	}
	closedir(d);
	return true;
}

static void remove_script(struct serve *v, struct script **at)
{
	struct script *s = *at;

	for (struct job *j = v->jobs; j != NULL; j = j->next)
		if (is_of(j, s))
			job_remove(j);
	*at = s->next;
	script_free(s);
}

static bool is_here(const struct serve *v, const char *name)
{
	const struct script *s = v->scripts;

	while (s != NULL && strcmp(s->name, name) != 0)
		s = s->next;
	return s != NULL;
}

/* Totals of scripts that were removed while no server ran. */
static void forget_saved(struct serve *v)
{
	const struct metric *m = v->totals.metrics;
	char *name;

	while (m != NULL) {
		if (is_here(v, m->script)) {
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
	bool all = true;

	for (struct script *s = v->scripts; s != NULL; s = s->next)
		s->seen = false;
	for (int i = 0; i < v->npaths; i++) {
		struct stat st;

		if (stat(v->paths[i], &st) < 0)
			all &= errno == ENOENT;
		else if (S_ISDIR(st.st_mode))
			all &= look_into(v, v->paths[i]);
		else
			look_at(v, v->paths[i]);
	}
	if (!v->looked)
		forget_saved(v);
	v->looked = true;
	for (struct script **at = &v->scripts; all && *at != NULL;) {
		if ((*at)->seen)
			at = &(*at)->next;
		else
			remove_script(v, at);
	}
}

void folder_free(struct serve *v)
{
	while (v->scripts != NULL) {
		struct script *s = v->scripts;

		v->scripts = s->next;
		script_free(s);
	}
}
