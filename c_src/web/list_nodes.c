/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes there are, asked by a thread of the server, for a node that hangs takes its time. */
#include "web.h"

#include <stdlib.h>
#include <string.h>

#include "client/worker.h"
#include "node/cancel.h"
#include "node/connection.h"
#include "node_names.h"

struct question {
	char *cookie_file;
	char *nodes[WEB_MAX_NODES];
	int nnodes; /* 0: those of this machine */
};

/* NULL: the user has not named it, and it belongs to another user. */
static json_t *ask(
	const char *name, int port, const struct nd_cookie *cookie, const struct nd_accept *whom)
{
	struct et_error e = {.tag = ""};
	struct nd *nd = nd_connect(name, port, cookie, whom, &e);
	json_t *j;

	if (et_err_is(&e, ET_OTHER))
		return NULL;
	web_to_utf8(e.text, strlen(e.text));
	if (nd == NULL)
		return json_pack("{ss si ss sb ss}", "name", name, "ospid", 0, "otp", "", "ok", 0,
			"error", e.text);
	j = json_pack("{ss sI ss sb ss}", "name", nd->name, "ospid", (json_int_t)nd->ospid, "otp",
		nd->otp, "ok", 1, "error", "");
	nd_close(nd);
	return j;
}

static void write_answer(struct worker *w, json_t *nodes)
{
	json_t *j = json_pack("{ss so}", "type", "nodes", "nodes", nodes);
	char *text = j != NULL ? json_dumps(j, JSON_COMPACT) : NULL;

	if (text != NULL)
		worker_write_line(w, text);
	free(text);
	json_decref(j);
}

static int ask_all(struct worker *w, void *arg)
{
	const struct nd_accept named = {.found = false}, found = {.found = true};
	const struct question *q = arg;
	struct et_error e = {.tag = ""};
	struct nd_cookie cookie;
	struct nd_names names = {NULL, 0};
	json_t *all;

	nd_cancel_by(worker_cancel(w));
	if (nd_cookie(q->cookie_file, &cookie, &e) < 0) {
		worker_say_line(w, e.text);
		return 1;
	}
	if (q->nnodes == 0 && nd_names(NULL, &names, &e) < 0)
		names.n = 0; /* no epmd: no nodes */
	all = json_array();
	for (int i = 0; i < q->nnodes && !worker_is_left(w); i++)
		json_array_append_new(all, ask(q->nodes[i], 0, &cookie, &named));
	for (int i = 0; i < names.n && !worker_is_left(w); i++)
		json_array_append_new(all, ask(names.v[i].name, names.v[i].port, &cookie, &found));
	nd_names_free(&names);
	memset(&cookie, 0, sizeof(cookie));
	write_answer(w, all);
	return 0;
}

static void free_question(void *arg)
{
	struct question *q = arg;

	for (int i = 0; i < q->nnodes; i++)
		free(q->nodes[i]);
	free(q->cookie_file);
	free(q);
}

struct worker *web_ask_nodes(const struct web_opts *o)
{
	struct question *q = calloc(1, sizeof(*q));
	bool whole = q != NULL;
	struct worker *w;

	if (whole && o->cookie_file != NULL)
		whole = (q->cookie_file = strdup(o->cookie_file)) != NULL;
	for (; whole && q->nnodes < o->nnodes; q->nnodes++)
		whole = (q->nodes[q->nnodes] = strdup(o->nodes[q->nnodes])) != NULL;
	w = whole ? worker_start(ask_all, q, free_question) : NULL;
	if (w == NULL && q != NULL)
		free_question(q);
	return w;
}
