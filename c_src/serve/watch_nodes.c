/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child of the server (serve --watch-nodes): says every second which nodes there are, for a node
 * that hangs takes its time. One node is asked for those that it is connected with, by one
 * connection, which stays; or the nodes that epmd knows are looked at, and those that belong to the
 * cookie's owner are told. What it says are lines of JSON:
 *
 *   {"name":"a@host","nodes":["b@host"]}   the node that is asked, and those that it knows
 *   {"nodes":["a@host","b@host"]}	    those of this machine
 */
#include "members.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "node/connection.h"
#include "node/decode.h"

enum { ROUND_MS = 1000, AGAIN_ROUNDS = 10 };

static void pause_round(void)
{
	const struct timespec ts = {
		.tv_sec = ROUND_MS / 1000, .tv_nsec = ROUND_MS % 1000 * 1000000L};

	nanosleep(&ts, NULL);
}

static int say(json_t *line)
{
	int rc = line != NULL ? json_dumpf(line, stdout, JSON_COMPACT) : -1;

	json_decref(line);
	putchar('\n');
	return rc < 0 || fflush(stdout) != 0 ? -1 : 0;
}

static int complain(const struct et_error *e)
{
	fprintf(stderr, "%s\n", e->text);
	fflush(stderr);
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

static int watch_node(const char *node, const struct nd_cookie *cookie)
{
	static const struct nd_accept named;
	struct et_error e = {.tag = ""};
	struct nd *nd = nd_connect(node, 0, cookie, &named, &e);
	json_t *list;

	while (nd != NULL && (list = known_to(nd, &e)) != NULL) {
		if (say(json_pack("{s:s,s:o}", "name", nd->name, "nodes", list)) < 0)
			return 1;
		pause_round();
	}
	return complain(&e);
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
static void greet(struct here *h, const struct nd_cookie *cookie)
{
	static const struct nd_accept found = {.found = true};
	struct et_error e = {.tag = ""};
	struct nd *nd = nd_connect(h->name, h->port, cookie, &found, &e);

	h->age = 0;
	snprintf(h->full, ND_NAME, "%s", nd != NULL ? nd->name : "");
	if (nd == NULL && !et_err_is(&e, ET_OTHER) &&
		strncmp(h->said, e.text, sizeof(h->said) - 1) != 0) {
		snprintf(h->said, sizeof(h->said), "%s", e.text);
		complain(&e);
	}
	nd_close(nd);
}

/* A node that was started again has another port. */
static void look_here(struct heres *all, const struct nd_names *names,
	const struct nd_cookie *cookie, json_t *list)
{
	for (int i = 0; i < names->n; i++) {
		struct here *h = find_here(all, &names->v[i]);

		if (h == NULL)
			return;
		if (h->port != names->v[i].port ||
			(h->full[0] == '\0' && h->age++ >= AGAIN_ROUNDS)) {
			h->port = names->v[i].port;
			greet(h, cookie);
		}
		if (h->full[0] != '\0')
			json_array_append_new(list, json_string(h->full));
	}
}

static int watch_here(const char *cookie_file)
{
	struct heres all = {NULL, 0};

	for (;; pause_round()) {
		struct et_error e = {.tag = ""};
		struct nd_cookie cookie;
		struct nd_names names;
		json_t *list = json_array();

		if (nd_cookie(cookie_file, &cookie, &e) < 0)
			return complain(&e);
		if (nd_names(NULL, &names, &e) == 0) { /* or there is no epmd, and so no node */
			look_here(&all, &names, &cookie, list);
			nd_names_free(&names);
		}
		if (say(json_pack("{s:o}", "nodes", list)) < 0)
			return 1;
	}
}

int watch_nodes(const char *node, const char *cookie_file)
{
	struct et_error e = {.tag = ""};
	struct nd_cookie cookie;

	if (node == NULL)
		return watch_here(cookie_file);
	return nd_cookie(cookie_file, &cookie, &e) < 0 ? complain(&e) : watch_node(node, &cookie);
}
