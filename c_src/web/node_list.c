/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes: which there are, asked by a child of the server (web --list-nodes), for a node that hangs
 * takes its time; and which of them the page may name.
 */
#include "web.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "node/connection.h"

/* A node's name as -N takes it; nothing that could be an option or mean something else. */
static bool is_name(const char *name)
{
	size_t at = 0, n = strlen(name);

	if (n == 0 || n > 255 || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < n; i++) {
		at += name[i] == '@';
		if (!isalnum((unsigned char)name[i]) && strchr("_-.@:", name[i]) == NULL)
			return false;
	}
	return at <= 1;
}

static bool is_here(const char *host)
{
	char own[256] = "";
	size_t len;

	if (gethostname(own, sizeof(own) - 1) < 0)
		own[0] = '\0';
	if (strcmp(host, own) == 0 || strcmp(host, "localhost") == 0 || web_is_loopback(host))
		return true;
	len = strcspn(own, "."); /* short names are the host's up to the dot */
	return strlen(host) == len && strncmp(host, own, len) == 0;
}

/* "demo" and "demo@host" are the same node, if it is of this machine. */
static bool is_same(const char *name, const char *other)
{
	size_t n = strcspn(name, "@"), m = strcspn(other, "@");

	if (n != m || strncmp(name, other, n) != 0)
		return false;
	if (name[n] == '\0' || other[m] == '\0')
		return is_here(name[n] != '\0'	  ? name + n + 1
			       : other[m] != '\0' ? other + m + 1
						  : "localhost");
	return strcmp(name, other) == 0;
}

/* Those of -N; without any those of this machine: the cookie goes nowhere else. */
bool web_is_node_name(const struct web *w, const char *name)
{
	const char *at = strchr(name, '@');

	if (!is_name(name))
		return false;
	for (int i = 0; i < w->o.nnodes; i++)
		if (is_same(name, w->o.nodes[i]))
			return true;
	return w->o.nnodes == 0 && (at == NULL || is_here(at + 1));
}

#ifdef HAVE_EI

/* NULL: nobody has named it, and it is of another user. */
static json_t *ask(
	const char *name, int port, const struct nd_cookie *cookie, const struct nd_whom *whom)
{
	struct et_error e = {.tag = ""};
	struct nd *nd = nd_connect(name, port, cookie, whom, &e);
	json_t *j;

	if (et_err_is(&e, ET_OTHER))
		return NULL;
	web_plain(e.text, strlen(e.text));
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
	const struct nd_whom named = {.found = false}, found = {.found = true};
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

#else

int web_list_nodes(const struct web_opts *o)
{
	(void)o;
	web_say("this erltrace was built without Erlang: it cannot reach nodes");
	return 1;
}

#endif
