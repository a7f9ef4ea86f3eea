/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes there are, asked by a child of the server (web --list-nodes), for a node that hangs
 * takes its time.
 */
#include "web.h"

#include <string.h>

#include "node/connection.h"
#include "node_names.h"

/* NULL: nobody has named it, and it is of another user. */
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

int web_list_nodes(const struct web_opts *o)
{
	const struct nd_accept named = {.found = false}, found = {.found = true};
	json_t *all = json_array(), *j;
	struct et_error e = {.tag = ""};
	struct nd_cookie cookie;
	struct nd_names names = {NULL, 0};

	if (nd_cookie(o->cookie_file, &cookie, &e) < 0) {
		web_say("%s", e.text);
		return 1;
	}
	if (o->nnodes == 0 && nd_names(NULL, &names, &e) < 0)
		names.n = 0; /* no epmd: no nodes */
	for (int i = 0; i < o->nnodes; i++)
		json_array_append_new(all, ask(o->nodes[i], 0, &cookie, &named));
	for (int i = 0; i < names.n; i++)
		json_array_append_new(all, ask(names.v[i].name, names.v[i].port, &cookie, &found));
	nd_names_free(&names);
	j = json_pack("{ss so}", "type", "nodes", "nodes", all);
	json_dumpf(j, stdout, JSON_COMPACT);
	puts("");
	json_decref(j);
	memset(&cookie, 0, sizeof(cookie));
	return 0;
}
