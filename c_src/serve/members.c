/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes are traced. With --cluster each node is asked every second which ones it is connected
 * with, by a thread of its own (watch_nodes.c): one that hangs holds up no other. Without -N one
 * thread looks at this machine. A node that is seen for the first time gets a job for each script;
 * one that is gone keeps them, so that it is traced again when it is back. Only who was not named
 * by the user and has not been seen for ten minutes is no longer waited for.
 */
#include "members.h"
#include "serve.h"

#include <stdlib.h>
#include <string.h>

#include "client/worker.h"
#include "job.h"
#include "web/node_names.h"

enum {
	WATCHER_AGAIN_MS = 2000, /* until it is started again */
	AWAY_MS = 3000,		 /* not seen for so long: it was away */
	LEFT_MS = 600000,	 /* ... it has left */
};

/* ---- who is there ----------------------------------------------------------------------- */

static struct member *find(const struct serve *v, const char *name)
{
	struct member *m = v->members;

	while (m != NULL &&
		(m->name != NULL ? strcmp(m->name, name) != 0 : !web_same_node(m->target, name)))
		m = m->next;
	return m;
}

static void on_out(struct source *src);

static void watcher_init(struct serve *v, struct watcher *w, struct member *whom)
{
	*w = (struct watcher){.whom = whom, .out = {on_out, v, w, -1}};
}

static void watcher_end(struct watcher *w)
{
	if (w->worker == NULL)
		return;
	source_unwatch(&w->out);
	worker_leave(w->worker);
	w->worker = NULL;
}

static void member_free(struct member *m)
{
	watcher_end(&m->watcher);
	free(m->target);
	free(m->name);
	free(m);
}

/* Of those that have left. */
static bool make_room(struct serve *v)
{
	for (struct member **at = &v->members, *m; (m = *at) != NULL; at = &m->next)
		if (m->left) {
			jobs_forget_member(v, m);
			*at = m->next;
			v->nmembers--;
			member_free(m);
			return true;
		}
	if (!v->too_many)
		serve_say("there are more than %d nodes: others are not traced", SERVE_MAX_NODES);
	v->too_many = true;
	return false;
}

static struct member *add(struct serve *v, const char *target, bool named)
{
	struct member *m, **at = &v->members;

	if (v->nmembers == SERVE_MAX_NODES && !make_room(v))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return NULL;
	watcher_init(v, &m->watcher, m);
	m->named = named;
	m->target = strdup(target);
	m->name = named ? NULL : strdup(target);
	m->seen = serve_ms();
	if (m->target == NULL || (!named && m->name == NULL)) {
		member_free(m);
		return NULL;
	}
	while (*at != NULL)
		at = &(*at)->next;
	*at = m;
	v->nmembers++;
	return m;
}

static void is_there(struct serve *v, struct member *m)
{
	int64_t now = serve_ms();

	if (m->left)
		serve_say("node %s: is back", m->target);
	if (m->left || now - m->seen > AWAY_MS)
		jobs_try_member(v, m);
	m->left = false;
	m->seen = now;
}

static void see(struct serve *v, const char *name)
{
	struct member *m = find(v, name);

	if (m != NULL) {
		is_there(v, m);
		return;
	}
	m = add(v, name, false);
	if (m == NULL)
		return;
	serve_say("node %s: is traced", name);
	folder_new_member(v, m);
}

int member_known(struct serve *v, const char *name)
{
	struct member *m = find(v, name);

	if (m == NULL && (m = add(v, name, false)) == NULL)
		return -1;
	return 0;
}

/* ---- the threads that look ----------------------------------------------------------- */

static void on_answer(void *arg, char *text, size_t len)
{
	struct watcher *w = arg;
	json_t *line = json_loadb(text, len, 0, NULL);
	const char *name = json_string_value(json_object_get(line, "name"));
	const json_t *o;
	size_t i;

	if (w->whom != NULL && name != NULL) {
		if (w->whom->name == NULL)
			w->whom->name = strdup(name);
		is_there(w->out.v, w->whom);
	}
	json_array_foreach(json_object_get(line, "nodes"), i, o)
	{
		if (json_is_string(o))
			see(w->out.v, json_string_value(o));
	}
	json_decref(line);
}

/* Why a node of this machine is left out. Of others their jobs tell it. */
static void on_said(void *arg, char *text, size_t len)
{
	struct watcher *w = arg;
	struct serve *v = w->out.v;

	if (w->whom != NULL || (strlen(v->said) == len && strncmp(v->said, text, len) == 0))
		return;
	snprintf(v->said, sizeof(v->said), "%.*s", (int)len, text);
	serve_say("%s", v->said);
}

static void on_out(struct source *src)
{
	struct watcher *w = src->of;

	worker_take(w->worker, on_answer, on_said, w);
	if (!worker_ended(w->worker))
		return;
	watcher_end(w);
	w->due = serve_ms() + WATCHER_AGAIN_MS;
}

static void start(struct serve *v, struct watcher *w)
{
	w->due = serve_ms() + WATCHER_AGAIN_MS;
	w->worker = watch_nodes(w->whom != NULL ? w->whom->target : NULL, v->cookie_file);
	if (w->worker != NULL && source_watch(&w->out, worker_fd(w->worker)) < 0)
		watcher_end(w);
}

static void watcher_look(struct serve *v, struct watcher *w, int64_t now)
{
	if (w->worker == NULL && now >= w->due)
		start(v, w);
}

/* ---- life ------------------------------------------------------------------------------- */

int members_open(struct serve *v)
{
	watcher_init(v, &v->watcher, NULL);
	for (int i = 0; i < v->nnodes; i++)
		if (add(v, v->nodes[i], true) == NULL)
			return -1;
	return 0;
}

void members_look(struct serve *v)
{
	int64_t now = serve_ms();

	if (v->nnodes == 0)
		watcher_look(v, &v->watcher, now);
	for (struct member *m = v->members; m != NULL; m = m->next) {
		if (!m->named && !m->left && now - m->seen > LEFT_MS) {
			serve_say("node %s: has been away for ten minutes, and is not waited for",
				m->target);
			m->left = true;
			watcher_end(&m->watcher);
		}
		if (v->cluster && !m->left)
			watcher_look(v, &m->watcher, now);
	}
}

void members_end(struct serve *v)
{
	watcher_end(&v->watcher);
	for (struct member *m = v->members; m != NULL; m = m->next)
		watcher_end(&m->watcher);
}

void members_free(struct serve *v)
{
	members_end(v);
	while (v->members != NULL) {
		struct member *m = v->members;

		v->members = m->next;
		member_free(m);
	}
}
