/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of the server that says every second which nodes there are, for a node that hangs takes
 * its time. One node is asked for those that it is connected with, by one
 * connection, which stays; or the nodes that epmd knows are looked at, and those that belong to the
 * cookie's owner are told. What it says are lines of JSON:
 *
 *   {"name":"a@host","nodes":["b@host"]}   the node that is asked, and those that it knows
 *   {"nodes":["a@host","b@host"]}	    those of this machine
 */
#include "members.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "client/worker.h"
#include "node/cancel.h"
#include "node/connection.h"
#include "node/decode.h"

enum { ROUND_MS = 1000, AGAIN_ROUNDS = 10 };

struct whom {
	char *node; /* NULL: this machine */
	char *cookie_file;
};

static void say(struct worker *w, json_t *line)
{
	char *text = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;

	if (text != NULL)
		worker_write_line(w, text);
	free(text);
	json_decref(line);
}

static int complain(struct worker *w, const struct et_error *e)
{
	worker_say_line(w, e->text);
	return 1;
}

/* ---- a node of a cluster ---------------------------------------------------------------- */

static json_t *known_to(struct nd *nd, struct et_error *e)
{
	json_t *list = json_array();
	ei_x_buff none = {0}, known = {0};
	char name[ND_NAME];
	int n = 0;

	ei_x_new(&none);
	ei_x_new(&known);
	ei_x_encode_empty_list(&none);
	if (nd_rpc(nd, "erlang", "nodes", &none, &known, e) < 0) {
		json_decref(list);
		list = NULL;
	} else {
		ei_decode_list_header(known.buff, &known.index, &n);
	}
	for (; n > 0 && nd_get_atom(&known, &known.index, name, sizeof(name)) == 0; n--)
		json_array_append_new(list, json_string(name));
	ei_x_free(&none);
	ei_x_free(&known);
	return list;
}

static int watch_node(struct worker *w, const char *node, const struct nd_cookie *cookie)
{
	static const struct nd_accept named;
	struct et_error e = {.tag = ""};
	struct nd *nd = nd_connect(node, 0, cookie, &named, &e);
	json_t *list;

	while (nd != NULL && (list = known_to(nd, &e)) != NULL) {
		say(w, json_pack("{s:s,s:o}", "name", nd->name, "nodes", list));
		worker_sleep(w, ROUND_MS);
	}
	nd_close(nd);
	return complain(w, &e);
}

/* ---- this machine ----------------------------------------------------------------------- */

struct here {
	char name[ND_NAME]; /* as epmd has it */
	int port;
	char full[ND_NAME]; /* "": it is not ours, or cannot be reached */
	int age;	    /* rounds since it was tried */
	char said[1024];    /* why it cannot be reached: said once */
};

struct heres {
	struct here *v;
	size_t n;
};

static struct here *find_here(struct heres *all, const struct nd_name *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].name, name->name) == 0)
			return &all->v[i];
	if (!ARRAY_ROOM(all->v, all->n))
		return NULL;
	all->v[all->n] = (struct here){.port = 0};
	snprintf(all->v[all->n].name, ND_NAME, "%s", name->name);
	return &all->v[all->n++];
}

/* Those that are not the cookie owner's get no connection. */
static void greet(struct worker *w, struct here *h, const struct nd_cookie *cookie)
{
	static const struct nd_accept found = {.found = true};
	struct et_error e = {.tag = ""};
	struct nd *nd = nd_connect(h->name, h->port, cookie, &found, &e);

	h->age = 0;
	snprintf(h->full, ND_NAME, "%s", nd != NULL ? nd->name : "");
	if (nd == NULL && !et_err_is(&e, ET_OTHER) &&
		strncmp(h->said, e.text, sizeof(h->said) - 1) != 0) {
		snprintf(h->said, sizeof(h->said), "%s", e.text);
		complain(w, &e);
	}
	nd_close(nd);
}

/* A node that was started again has another port. */
static void look_here(struct worker *w, struct heres *all, const struct nd_names *names,
	const struct nd_cookie *cookie, json_t *list)
{
	for (int i = 0; i < names->n; i++) {
		struct here *h = find_here(all, &names->v[i]);

		if (h == NULL)
			return;
		if (h->port != names->v[i].port ||
			(h->full[0] == '\0' && h->age++ >= AGAIN_ROUNDS)) {
			h->port = names->v[i].port;
			greet(w, h, cookie);
		}
		if (h->full[0] != '\0')
			json_array_append_new(list, json_string(h->full));
	}
}

static int watch_here(struct worker *w, const char *cookie_file)
{
	struct heres all = {NULL, 0};
	struct et_error e = {.tag = ""};
	struct nd_cookie cookie;

	for (; !worker_is_left(w) && nd_cookie(cookie_file, &cookie, &e) == 0;
		worker_sleep(w, ROUND_MS)) {
		struct nd_names names;
		json_t *list = json_array();

		if (nd_names(NULL, &names, &e) == 0) { /* or there is no epmd, and so no node */
			look_here(w, &all, &names, &cookie, list);
			nd_names_free(&names);
		}
		et_err_clear(&e);
		say(w, json_pack("{s:o}", "nodes", list));
	}
	free(all.v);
	return complain(w, &e);
}

static int watch(struct worker *w, void *arg)
{
	const struct whom *whom = arg;
	struct et_error e = {.tag = ""};
	struct nd_cookie cookie;

	nd_cancel_by(worker_cancel(w));
	if (whom->node == NULL)
		return watch_here(w, whom->cookie_file);
	if (nd_cookie(whom->cookie_file, &cookie, &e) < 0)
		return complain(w, &e);
	return watch_node(w, whom->node, &cookie);
}

static void free_whom(void *arg)
{
	struct whom *whom = arg;

	free(whom->node);
	free(whom->cookie_file);
	free(whom);
}

struct worker *watch_nodes(const char *node, const char *cookie_file)
{
	struct whom *whom = calloc(1, sizeof(*whom));
	bool whole = whom != NULL;
	struct worker *w;

	if (whole && node != NULL)
		whole = (whom->node = strdup(node)) != NULL;
	if (whole && cookie_file != NULL)
		whole = (whom->cookie_file = strdup(cookie_file)) != NULL;
	w = whole ? worker_start(watch, whom, free_whom) : NULL;
	if (w == NULL && whom != NULL)
		free_whom(whom);
	return w;
}
