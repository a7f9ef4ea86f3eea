/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node that the command of -c becomes: it runs at once, for only a node that runs can be reached,
 * and names that come to epmd are tried. No other node gets so much as a connection.
 */
#include "targets.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "cli/signals.h"
#include "node/process.h"

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

static bool is_wanted(const struct cli *c, int64_t pid)
{
	for (int i = 0; i < c->procs.n; i++)
		if (c->procs.v[i].command != NULL ? is_progeny(pid, c->procs.v[i].pid)
						  : nd_own_pid(c->procs.v[i].pid) == pid)
			return true;
	return false;
}

enum { COME_UP_MS = 30000, COME_UP_SAY_MS = 3000, COME_UP_POLL_MS = 20 };

static bool is_of_command(const struct cli *c, pid_t pid)
{
	for (int i = 0; i < c->procs.n; i++)
		if (c->procs.v[i].command != NULL && is_progeny(pid, c->procs.v[i].pid))
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
		if (nd_cookie(ns->c->req.cookie_file, &ns->cookie, why) < 0)
			continue;
		nd = connect_progeny(ns, &names.v[i], why);
		if (et_err_is(why, ET_OTHER)) { /* another user's node has come up meanwhile */
			et_err_clear(why);
			continue;
		}
		if (nd != NULL && is_wanted(ns->c, nd->ospid))
			status = client_add(&ns->client, nd) < 0 ? CLI_ERROR : CLI_OK;
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

	for (int ms = 0; c->procs.n > 0 && ms < 2000; ms += COME_UP_POLL_MS) {
		if (cli_procs_ended(&c->procs, &c->out))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* It runs at once: only a node that runs can be reached. */
int node_of_command(struct nodes *ns)
{
	const struct timespec pause = {.tv_nsec = COME_UP_POLL_MS * 1000000L};
	struct et_error e = {.tag = ""}, why = {.tag = ""};
	struct nd_names known;
	int status = CLI_OK, ms = 0;

	if (nd_names(NULL, &known, &e) < 0)
		memset(&known, 0, sizeof(known));
	et_err_clear(&e);
	cli_catch_signals(&ns->c->procs, &ns->c->out);
	cli_procs_go(&ns->c->procs);
	while (status == CLI_OK && ns->n == 0 && ms < COME_UP_MS) {
		if (cli_interrupted(&ns->c->out) || cli_procs_ended(&ns->c->procs, &ns->c->out))
			break;
		nanosleep(&pause, NULL);
		ms += COME_UP_POLL_MS;
		status = look_for_node(ns, &known, &why);
		if (ms == COME_UP_SAY_MS && ns->n == 0)
			cli_notice(&ns->c->out, "waiting for the command of -c to become a node "
						"(erl -sname NAME)");
	}
	nd_names_free(&known);
	if (ns->n > 0 || status != CLI_OK)
		return status;
	if (cli_procs_failed(&ns->c->procs) != CLI_OK || cli_interrupted(&ns->c->out))
		return CLI_ERROR;
	if (cli_procs_ended(&ns->c->procs, &ns->c->out) &&
		why.text[0] != '\0') /* it had a name already */
		node_too_short(&e);
	else
		et_err(&e, ET_NODE,
			"the command of -c %s a node: start it with -sname or -name%s%s",
			cli_procs_ended(&ns->c->procs, &ns->c->out) ? "has ended before it became"
								    : "has not become",
			why.text[0] != '\0' ? "; " : "", why.text);
	return cli_fail(ns->c, &e, "failed to find a node");
}

