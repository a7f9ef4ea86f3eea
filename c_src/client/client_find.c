/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes are meant: those that are named, and with cluster those that they know; those of
 * processes; or all of this machine and of the user whose cookie it is. No other node gets so much as
 * a connection.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "node/agent.h"
#include "node/decode.h"
#include "node/process.h"
#include "proc_file.h"

int client_add(struct client *cl, struct nd *nd)
{
	struct et_error e = {.tag = ""};

	if (!ARRAY_ROOM(cl->v, (size_t)cl->n)) {
		nd_close(nd);
		et_err(&e, ET_NOMEM, "out of memory");
		return client_fail(cl, &e, "failed to reach a node");
	}
	cl->v[cl->n++] = (struct target){.nd = nd};
	client_say(cl, CLIENT_DETAIL, "node %s: OTP %s, %s, process %lld", nd->name, nd->otp, nd->arch,
		(long long)nd->ospid);
	return 0;
}

static void waits(void *cl, const char *name)
{
	client_say(cl, CLIENT_WAITS, "the node %s does not answer yet: waiting", name);
}

static bool is_target(const struct client *cl, const char *name)
{
	for (int i = 0; i < cl->n; i++)
		if (strcmp(cl->v[i].nd->name, name) == 0)
			return true;
	return false;
}

static int named_nodes(struct client *cl, const struct request *r)
{
	const struct nd_accept named = {.waits = waits, .arg = cl};
	struct et_error e = {.tag = ""};

	for (int i = 0; i < r->nnodes; i++) {
		struct nd *nd = nd_connect(r->nodes[i], 0, &cl->cookie, &named, &e);

		if (nd == NULL)
			return client_fail(cl, &e, "failed to reach a node");
		if (is_target(cl, nd->name))
			nd_close(nd); /* named twice */
		else if (client_add(cl, nd) < 0)
			return -1;
	}
	return 0;
}

/* Those that a node is connected with, unless they are known. */
static int add_known(struct client *cl, ei_x_buff *known)
{
	const struct nd_accept named = {.waits = waits, .arg = cl};
	struct et_error e = {.tag = ""};
	char name[ND_NAME];
	int n = 0, rc = 0;

	ei_decode_list_header(known->buff, &known->index, &n);
	for (; n > 0 && rc == 0; n--) {
		struct nd *nd;

		if (nd_get_atom(known, &known->index, name, sizeof(name)) < 0 || is_target(cl, name))
			continue;
		et_err_clear(&e);
		nd = nd_connect(name, 0, &cl->cookie, &named, &e);
		if (nd != NULL)
			rc = client_add(cl, nd);
		else
			client_say(cl, CLIENT_WARNING, "left out: %s", e.text);
	}
	return rc;
}

/* The nodes that these are connected with, and those of theirs. */
static int cluster(struct client *cl)
{
	int rc = 0;

	for (int i = 0; i < cl->n && rc == 0; i++) {
		struct et_error e = {.tag = ""};
		ei_x_buff none = {0}, known = {0};

		ei_x_new(&none);
		ei_x_new(&known);
		ei_x_encode_empty_list(&none);
		if (nd_rpc(cl->v[i].nd, "erlang", "nodes", &none, &known, &e) < 0)
			rc = client_fail(cl, &e, "failed to ask a node for its cluster");
		else
			rc = add_known(cl, &known);
		ei_x_free(&none);
		ei_x_free(&known);
	}
	return rc;
}

static bool wanted_pid(const struct request *r, int64_t pid)
{
	for (int i = 0; i < r->npids; i++)
		if (nd_own_pid(r->pids[i]) == pid)
			return true;
	return r->npids == 0;
}

/* Why none of the nodes that epmd knows can be traced. */
static int nobody(struct client *cl, const struct request *r, const struct nd_names *names,
	const struct et_error *last)
{
	struct et_error e = {.tag = ""};
	char known[512] = "", user[64];
	size_t len = 0;

	for (int i = 0; i < names->n && len < sizeof(known) - 1; i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", i > 0 ? ", " : "",
			names->v[i].name);
	if (names->n == 0)
		et_err(&e, ET_NODE, "epmd knows no node: start one with erl -sname NAME");
	else if (last->text[0] != '\0')
		et_err(&e, ET_NODE, "%s", last->text);
	else if (r->npids == 0)
		et_err(&e, ET_NODE,
			"none of the nodes that epmd knows (%s) belongs to %s, the owner of the "
			"cookie in %s: -N NAME names one of them, -p PID one by its process",
			known, nd_user(cl->cookie.owner, user, sizeof(user)), cl->cookie.file);
	else
		et_err(&e, ET_NODE,
			"process %d is none of the nodes that epmd knows (%s): it is not an "
			"Erlang node, or was started without -sname or -name",
			(int)r->pids[0], known);
	return client_fail(cl, &e, "failed to find a node");
}

/* A node of epmd's that is not one of ours, or does not accept the cookie. */
static void left_out(struct client *cl, const struct request *r, struct et_error *why,
	struct et_error *last)
{
	if (!et_err_is(why, ET_OTHER)) {
		if (r->npids != 1) /* else it is the one that the user named, and fails */
			client_say(cl, CLIENT_NOTICE, "left out: %s", why->text);
		*last = *why;
	} else {
		client_say(cl, CLIENT_DETAIL, "not asked: %s", why->text);
	}
	et_err_clear(why);
}

/* Those of epmd that are the cookie's owner's; or those that are such a process. */
static int connect_all(struct client *cl, const struct request *r, const struct nd_names *names)
{
	const struct nd_accept accept = {
		.found = r->npids == 0, .pids = r->pids, .npids = r->npids, .waits = waits,
		.arg = cl};
	struct et_error why = {.tag = ""}, last = {.tag = ""};
	int rc = 0;

	for (int i = 0; i < names->n && rc == 0; i++) {
		struct nd *nd =
			nd_connect(names->v[i].name, names->v[i].port, &cl->cookie, &accept, &why);

		if (nd == NULL)
			left_out(cl, r, &why, &last);
		else if (wanted_pid(r, nd->ospid))
			rc = client_add(cl, nd);
		else
			nd_close(nd);
	}
	return rc == 0 && cl->n == 0 ? nobody(cl, r, names, &last) : rc;
}

static int local_nodes(struct client *cl, const struct request *r)
{
	struct et_error e = {.tag = ""}, hidden = {.tag = ""};
	struct nd_names names;
	int rc;

	if (nd_names(NULL, &names, &e) < 0) {
		if (r->npids > 0 && !nd_may_enter(r->pids[0]))
			et_err(&hidden, ET_NODE,
				"%s (process %d belongs to another user: if it is in a container, "
				"reaching it needs root)",
				e.text, (int)r->pids[0]);
		return client_fail(
			cl, hidden.text[0] != '\0' ? &hidden : &e, "failed to find nodes");
	}
	rc = connect_all(cl, r, &names);
	nd_names_free(&names);
	return rc;
}

int client_cookie(const char *file, pid_t pid, struct nd_cookie *cookie, struct et_error *e)
{
	if (pid != 0 && file == NULL && getenv("ERL_COOKIE_FILE") == NULL &&
		nd_cookie_of(pid, cookie))
		return 0;
	return nd_cookie(file, cookie, e);
}

/* One that is stopped answers nobody, and accepts connections all the same. */
static int check_runs(pid_t pid, struct et_error *e)
{
	if (!fi_is_stopped(pid))
		return 0;
	return et_err(e, ET_NODE,
		"process %d is stopped (SIGSTOP, or a debugger), and its node answers nobody: kill "
		"-CONT %d lets it go on",
		(int)pid, (int)pid);
}

int client_find(struct client *cl, const struct request *r)
{
	struct et_error e = {.tag = ""};
	pid_t pid = r->nnodes == 0 && r->npids > 0 ? r->pids[0] : 0;
	int rc;

	if ((pid != 0 && check_runs(pid, &e) < 0) ||
		client_cookie(r->cookie_file, pid, &cl->cookie, &e) < 0 ||
		(pid != 0 && nd_enter(pid, &e) < 0))
		return client_fail(cl, &e, "failed to reach nodes");
	rc = r->nnodes > 0 ? named_nodes(cl, r) : local_nodes(cl, r);
	return rc == 0 && r->cluster ? cluster(cl) : rc;
}

void client_leave(struct client *cl)
{
	for (int i = 0; i < cl->n; i++) {
		nd_agent_gone(cl->v[i].nd);
		nd_close(cl->v[i].nd);
	}
	memset(&cl->cookie, 0, sizeof(cl->cookie));
	free(cl->v);
	cl->v = NULL;
	cl->n = 0;
}

bool client_is_node(const char *cookie_file, pid_t pid)
{
	const struct nd_accept accept = {.pids = &(pid_t){pid}, .npids = 1};
	struct et_error e = {.tag = ""};
	struct nd_cookie cookie;
	struct nd_names names;
	bool found = false;

	if (client_cookie(cookie_file, pid, &cookie, &e) < 0 || nd_names(NULL, &names, &e) < 0)
		return false;
	for (int i = 0; i < names.n && !found; i++) {
		struct nd *nd = nd_connect(names.v[i].name, names.v[i].port, &cookie, &accept, &e);

		et_err_clear(&e);
		found = nd != NULL;
		nd_close(nd);
	}
	memset(&cookie, 0, sizeof(cookie));
	nd_names_free(&names);
	return found;
}
