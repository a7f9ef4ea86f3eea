/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes the scripts run in: those of -N, and with --cluster those that they know; the process
 * of -p; the one that the command of -c becomes; or all of this machine and of the user whose
 * cookie it is. No other node gets so much as a connection.
 */
#include "targets.h"
#include "snapshots.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "node/agent.h"
#include "node/decode.h"
#include "node/process.h"
#include "nodes.h"
#include "run.h"
#include "vm_usdt.h"

int node_fail(struct nodes *ns, const struct et_error *e, const char *what)
{
	if (ns->failure == NULL)
		return cli_fail(ns->c, e, "%s", what);
	et_err_as(ns->failure, e, "%s: %s", what, e->text);
	return CLI_ERROR;
}

/* -p: what the process is not asked for works all the same. */
static int unreachable(struct nodes *ns, const struct et_error *e, const char *what)
{
	const struct cli *c = ns->c;
	struct et_error told = {.tag = ""};

	if (c->nnodes > 0 || c->nprocs == 0 || !cli_is_vm(ns->c))
		return node_fail(ns, e, what);
	et_err_as(&told, e,
		"%s. What needs no answer from the node works as root: erltrace -p %d -s cpu, or "
		"hogs, locks, syscalls",
		e->text, (int)c->procs[0].pid);
	return node_fail(ns, &told, what);
}

static int add_target(struct nodes *ns, struct nd *nd)
{
	if (!ARRAY_ROOM(ns->v, (size_t)ns->n)) {
		nd_close(nd);
		cli_say("out of memory");
		return CLI_ERROR;
	}
	ns->v[ns->n++] = (struct target){.nd = nd};
	if (ns->c->verbose)
		cli_say("node %s: OTP %s, %s, process %lld", nd->name, nd->otp, nd->arch,
			(long long)nd->ospid);
	return CLI_OK;
}

static const struct nd_accept named; /* by the user, or by a node that was */

static bool is_target(const struct nodes *ns, const char *name)
{
	for (int i = 0; i < ns->n; i++)
		if (strcmp(ns->v[i].nd->name, name) == 0)
			return true;
	return false;
}

static int named_nodes(struct nodes *ns)
{
	struct et_error e = {.tag = ""};

	for (int i = 0; i < ns->c->nnodes; i++) {
		struct nd *nd = nd_connect(ns->c->nodes[i], 0, &ns->cookie, &named, &e);

		if (nd == NULL)
			return node_fail(ns, &e, "failed to reach a node");
		if (is_target(ns, nd->name))
			nd_close(nd); /* named twice */
		else if (add_target(ns, nd) != CLI_OK)
			return CLI_ERROR;
	}
	return CLI_OK;
}

/* --cluster: the nodes that these are connected with, and those of theirs. */
static int cluster(struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++) {
		struct et_error e = {.tag = ""};
		ei_x_buff none = {0}, known = {0};
		char name[ND_NAME];
		int n = 0, status = CLI_OK;

		ei_x_new(&none);
		ei_x_new(&known);
		ei_x_encode_empty_list(&none);
		if (nd_rpc(ns->v[i].nd, "erlang", "nodes", &none, &known, &e) < 0)
			status = node_fail(ns, &e, "failed to ask a node for its cluster");
		else
			ei_decode_list_header(known.buff, &known.index, &n);
		for (; n > 0 && status == CLI_OK; n--) {
			struct nd *nd;

			if (nd_get_atom(&known, &known.index, name, sizeof(name)) < 0 ||
				is_target(ns, name))
				continue;
			et_err_clear(&e);
			nd = nd_connect(name, 0, &ns->cookie, &named, &e);
			if (nd != NULL)
				status = add_target(ns, nd);
			else
				cli_say("left out: %s", e.text);
		}
		ei_x_free(&none);
		ei_x_free(&known);
		if (status != CLI_OK)
			return status;
	}
	return CLI_OK;
}

/* Does a process descend from another, or is it the same? */
static bool is_progeny(int64_t pid, int64_t of)
{
	char path[64], stat[512], *p;
	long long parent;
	FILE *f;

	for (int i = 0; i < 64 && pid > 1 && pid != of; i++) {
		snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
		f = fopen(path, "re");
		if (f == NULL || fgets(stat, sizeof(stat), f) == NULL)
			stat[0] = '\0';
		if (f != NULL)
			fclose(f);
		p = strrchr(stat, ')'); /* "pid (name) state ppid" */
		if (p == NULL || sscanf(p, ") %*c %lld", &parent) != 1)
			return false;
		pid = parent;
	}
	return pid == of;
}

static bool wanted_pid(const struct cli *c, int64_t pid)
{
	for (int i = 0; i < c->nprocs; i++)
		if (c->procs[i].command != NULL ? is_progeny(pid, c->procs[i].pid)
						: nd_own_pid(c->procs[i].pid) == pid)
			return true;
	return c->nprocs == 0;
}

/* Why none of the nodes that epmd knows can be traced. */
static int nobody(struct nodes *ns, const struct nd_names *names, const struct et_error *last)
{
	const struct cli *c = ns->c;
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
	else if (c->nprocs == 0)
		et_err(&e, ET_NODE,
			"none of the nodes that epmd knows (%s) belongs to %s, the owner of the "
			"cookie in %s: -N NAME names one of them, -p PID one by its process",
			known, nd_user(ns->cookie.owner, user, sizeof(user)), ns->cookie.file);
	else
		et_err(&e, ET_NODE,
			"process %d is none of the nodes that epmd knows (%s): it is not an "
			"Erlang node, or was started without -sname or -name",
			(int)c->procs[0].pid, known);
	return unreachable(ns, &e, "failed to find a node");
}

/* A node of epmd's that is not one of ours, or does not accept the cookie. */
static void left_out(const struct nodes *ns, struct et_error *why, struct et_error *last)
{
	if (!et_err_is(why, ET_OTHER)) {
		if (ns->c->nprocs != 1) /* else it is the one that the user named, and fails */
			cli_notice(ns->c, "left out: %s", why->text);
		*last = *why;
	} else if (ns->c->verbose) {
		cli_say("not asked: %s", why->text);
	}
	et_err_clear(why);
}

/* Those of epmd that are the cookie's owner's; with -p those that are such a process. */
static int connect_all(struct nodes *ns, const struct nd_names *names, const pid_t *pids)
{
	const struct nd_accept accept = {
		.found = ns->c->nprocs == 0, .pids = pids, .npids = ns->c->nprocs};
	struct et_error why = {.tag = ""}, last = {.tag = ""};
	int status = CLI_OK;

	for (int i = 0; i < names->n && status == CLI_OK; i++) {
		struct nd *nd =
			nd_connect(names->v[i].name, names->v[i].port, &ns->cookie, &accept, &why);

		if (nd == NULL)
			left_out(ns, &why, &last);
		else if (wanted_pid(ns->c, nd->ospid))
			status = add_target(ns, nd);
		else
			nd_close(nd);
	}
	return status == CLI_OK && ns->n == 0 ? nobody(ns, names, &last) : status;
}

static int local_nodes(struct nodes *ns)
{
	struct et_error e = {.tag = ""}, last = {.tag = ""};
	struct nd_names names;
	pid_t *pids;
	int status;

	if (nd_names(NULL, &names, &e) < 0) {
		if (ns->c->nprocs > 0 && !nd_may_enter(ns->c->procs[0].pid))
			et_err(&last, ET_NODE,
				"%s (process %d belongs to another user: if it is in a container, "
				"reaching it needs root)",
				e.text, (int)ns->c->procs[0].pid);
		return unreachable(ns, last.text[0] != '\0' ? &last : &e, "failed to find nodes");
	}
	pids = malloc((size_t)(ns->c->nprocs + 1) * sizeof(*pids));
	for (int i = 0; pids != NULL && i < ns->c->nprocs; i++)
		pids[i] = ns->c->procs[i].pid;
	status = pids != NULL ? connect_all(ns, &names, pids) : CLI_ERROR;
	free(pids);
	nd_names_free(&names);
	return status;
}

/* ---- the node of -c --------------------------------------------------------------------- */

enum { COME_UP_MS = 30000, COME_UP_SAY_MS = 3000, COME_UP_POLL_MS = 20 };

static bool has_command(const struct cli *c)
{
	for (int i = 0; i < c->nprocs; i++)
		if (c->procs[i].command != NULL)
			return true;
	return false;
}

static bool is_of_command(const struct cli *c, pid_t pid)
{
	for (int i = 0; i < c->nprocs; i++)
		if (c->procs[i].command != NULL && is_progeny(pid, c->procs[i].pid))
			return true;
	return false;
}

static bool is_known(const struct nd_names *names, const struct nd_name *name)
{
	for (int i = 0; i < names->n; i++)
		if (names->v[i].port == name->port && strcmp(names->v[i].name, name->name) == 0)
			return true;
	return false;
}

/* The processes that descend from the command of -c, and it; to be freed. */
static pid_t *progeny(const struct cli *c, int *n)
{
	DIR *dir = opendir("/proc");
	const struct dirent *d;
	pid_t *v = NULL;

	*n = 0;
	while (dir != NULL && (d = readdir(dir)) != NULL) {
		pid_t pid = isdigit((unsigned char)d->d_name[0]) ? atoi(d->d_name) : 0;

		if (pid == 0 || !is_of_command(c, pid))
			continue;
		if (!ARRAY_ROOM(v, (size_t)*n))
			break;
		v[(*n)++] = pid;
	}
	if (dir != NULL)
		closedir(dir);
	return v;
}

/* It may be on its way still: only the command's own processes are greeted. */
static struct nd *connect_progeny(
	struct nodes *ns, const struct nd_name *name, struct et_error *why)
{
	struct nd_accept accept = {.npids = 0};
	pid_t *pids = progeny(ns->c, &accept.npids);
	struct nd *nd = NULL;

	accept.pids = pids;
	if (accept.npids > 0)
		nd = nd_connect(name->name, name->port, &ns->cookie, &accept, why);
	free(pids);
	return nd;
}

/* Has one of the names that came since the last look become our node? The names are kept. */
static int look_for_node(struct nodes *ns, struct nd_names *known, struct et_error *why)
{
	struct nd_names names;
	struct et_error e = {.tag = ""};
	int status = CLI_OK;

	if (nd_names(NULL, &names, &e) < 0)
		return CLI_OK; /* no epmd yet: the node starts it */
	for (int i = 0; i < names.n && status == CLI_OK && ns->n == 0; i++) {
		struct nd *nd;

		if (is_known(known, &names.v[i]))
			continue;
		et_err_clear(why);
		/* The first node of a user makes the cookie. */
		if (nd_cookie(ns->c->cookie_file, &ns->cookie, why) < 0)
			continue;
		nd = connect_progeny(ns, &names.v[i], why);
		if (et_err_is(why, ET_OTHER)) { /* another user's node has come up meanwhile */
			et_err_clear(why);
			continue;
		}
		if (nd != NULL && wanted_pid(ns->c, nd->ospid))
			status = add_target(ns, nd);
		else
			nd_close(nd);
		/* Not up yet. One with another cookie is tried once: it logs every attempt. */
		if (nd == NULL && !et_err_is(why, ET_COOKIE))
			names.v[i].port = 0;
	}
	nd_names_free(known);
	*known = names;
	return status;
}

int node_too_short(struct et_error *e)
{
	et_err_clear(e);
	return et_err(e, ET_GONE,
		"the command of -c has ended before it could be traced: its node must live until "
		"it has been reached, which takes some 100 ms");
}

/* The connection ends before the process. */
bool node_command_ends(struct cli *c)
{
	const struct timespec pause = {.tv_nsec = COME_UP_POLL_MS * 1000000L};

	for (int ms = 0; has_command(c) && ms < 2000; ms += COME_UP_POLL_MS) {
		if (cli_procs_ended(c))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* It runs at once: only a node that runs can be reached. */
static int command_node(struct nodes *ns)
{
	const struct timespec pause = {.tv_nsec = COME_UP_POLL_MS * 1000000L};
	struct et_error e = {.tag = ""}, why = {.tag = ""};
	struct nd_names known;
	int status = CLI_OK, ms = 0;

	if (nd_names(NULL, &known, &e) < 0)
		memset(&known, 0, sizeof(known));
	et_err_clear(&e);
	cli_catch_signals(ns->c);
	cli_procs_go(ns->c);
	while (status == CLI_OK && ns->n == 0 && ms < COME_UP_MS) {
		if (cli_interrupted(ns->c) || cli_procs_ended(ns->c))
			break;
		nanosleep(&pause, NULL);
		ms += COME_UP_POLL_MS;
		status = look_for_node(ns, &known, &why);
		if (ms == COME_UP_SAY_MS && ns->n == 0)
			cli_notice(ns->c, "waiting for the command of -c to become a node "
					  "(erl -sname NAME)");
	}
	nd_names_free(&known);
	if (ns->n > 0 || status != CLI_OK)
		return status;
	if (cli_procs_failed(ns->c) != CLI_OK || cli_interrupted(ns->c))
		return CLI_ERROR;
	if (cli_procs_ended(ns->c) && why.text[0] != '\0') /* it had a name already */
		node_too_short(&e);
	else
		et_err(&e, ET_NODE,
			"the command of -c %s a node: start it with -sname or -name%s%s",
			cli_procs_ended(ns->c) ? "has ended before it became" : "has not become",
			why.text[0] != '\0' ? "; " : "", why.text);
	return node_fail(ns, &e, "failed to find a node");
}

int node_cookie(const struct cli *c, pid_t pid, struct nd_cookie *cookie, struct et_error *e)
{
	if (pid != 0 && c->cookie_file == NULL && getenv("ERL_COOKIE_FILE") == NULL &&
		nd_cookie_of(pid, cookie))
		return 0;
	return nd_cookie(c->cookie_file, cookie, e);
}

/* One that is stopped answers nobody, and accepts connections all the same. */
static int check_runs(pid_t pid, struct et_error *e)
{
	if (!cli_proc_is_stopped(pid))
		return 0;
	return et_err(e, ET_NODE,
		"process %d is stopped (SIGSTOP, or a debugger), and its node answers nobody: kill "
		"-CONT %d lets it go on",
		(int)pid, (int)pid);
}

int node_find(struct nodes *ns)
{
	struct cli *c = ns->c;
	struct et_error e = {.tag = ""};
	pid_t pid;
	int status;

	if (c->nnodes == 1 && strcmp(c->nodes[0], "*") == 0)
		c->nnodes = 0; /* every local one */
	if (c->nnodes == 0 && has_command(c))
		return command_node(ns);
	pid = c->nnodes == 0 && c->nprocs > 0 ? c->procs[0].pid : 0;
	if ((pid != 0 && check_runs(pid, &e) < 0) || node_cookie(c, pid, &ns->cookie, &e) < 0 ||
		(pid != 0 && nd_enter(pid, &e) < 0))
		return unreachable(ns, &e, "failed to reach nodes");
	status = c->nnodes > 0 ? named_nodes(ns) : local_nodes(ns);
	return status == CLI_OK && c->cluster ? cluster(ns) : status;
}

void node_leave(struct nodes *ns)
{
	for (int i = 0; i < ns->n; i++) {
		nd_agent_gone(ns->v[i].nd);
		nd_close(ns->v[i].nd);
		cli_snapshot_free(ns->v[i].snapshot);
	}
	memset(&ns->cookie, 0, sizeof(ns->cookie));
	free(ns->v);
	ns->v = NULL;
	ns->n = 0;
}

bool cli_is_node(struct cli *c, int pid)
{
	const struct nd_accept accept = {.pids = &(pid_t){pid}, .npids = 1};
	struct et_error e = {.tag = ""};
	struct nd_cookie cookie;
	struct nd_names names;
	bool found = false;

	if (node_cookie(c, pid, &cookie, &e) < 0 || nd_names(NULL, &names, &e) < 0)
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
