/* SPDX-License-Identifier: Apache-2.0 */
/* A request as agents are sent it (erltrace_agent.erl has the messages), and agents started. */
#include "client.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "node/agent.h"
#include "node/decode.h"

/* ---- the request ------------------------------------------------------------------------ */

static void put_pair(ei_x_buff *x, const char *key)
{
	ei_x_encode_list_header(x, 1);
	ei_x_encode_tuple_header(x, 2);
	ei_x_encode_atom(x, key);
}

static void put_setting(ei_x_buff *x, const char *name, const char *value)
{
	ei_x_encode_list_header(x, 1);
	ei_x_encode_tuple_header(x, 2);
	nd_put_text(x, name);
	nd_put_text(x, value != NULL ? value : "");
}

/*
 * flowpeers: all nodes, so that requests can be followed from one to another, and a number that
 * only this run has.
 *
 */
static void put_peers(ei_x_buff *x, struct client *cl)
{
	char *text = NULL;
	size_t len;
	FILE *f;

	if (cl->n < 2 ||
		(cl->run == 0 && getrandom(&cl->run, sizeof(cl->run), 0) != sizeof(cl->run)) ||
		(f = open_memstream(&text, &len)) == NULL)
		return;
	fprintf(f, "%u", cl->run);
	for (int i = 0; i < cl->n; i++)
		fprintf(f, ",%s", cl->v[i].nd->name);
	fclose(f);
	put_setting(x, "flowpeers", text);
	free(text);
}

static void put_flag(ei_x_buff *x, const char *key, bool on)
{
	if (!on)
		return;
	put_pair(x, key);
	ei_x_encode_atom(x, "true");
}

static void put_number(ei_x_buff *x, const char *key, long long n)
{
	put_pair(x, key);
	ei_x_encode_longlong(x, n);
}

static void put_pairs(ei_x_buff *x, const struct request_pair *v, int n)
{
	for (int i = 0; i < n; i++)
		put_setting(x, v[i].name, v[i].value);
}

/* {clause | file, Name, Text} */
static void put_scripts(ei_x_buff *x, const struct request *r)
{
	put_pair(x, "scripts");
	for (int i = 0; i < r->nscripts; i++) {
		ei_x_encode_list_header(x, 1);
		ei_x_encode_tuple_header(x, 3);
		ei_x_encode_atom(x, r->scripts[i].file ? "file" : "clause");
		nd_put_text(x, r->scripts[i].name);
		nd_put_text(x, r->scripts[i].text);
	}
	ei_x_encode_empty_list(x);
}

static void put_args(ei_x_buff *x, const struct request *r)
{
	put_pair(x, "args");
	for (int i = 0; i < r->nargs; i++) {
		ei_x_encode_list_header(x, 1);
		nd_put_text(x, r->args[i]);
	}
	ei_x_encode_empty_list(x);
}

/* Of what is said to the agents: erltrace_agent.erl has the same number. */
enum { PROTOCOL = 5 };
enum { NEVER_MS = 1000000000, BEAT_MS = 1000 };

void client_put_request(ei_x_buff *x, struct client *cl, const struct request *r)
{
	int silence = r->silence_ms > 0 ? r->silence_ms : NEVER_MS;

	cl->beat_ms = silence / 4 < BEAT_MS ? silence / 4 : BEAT_MS;
	put_number(x, "protocol", PROTOCOL);
	put_pair(x, "settings");
	put_peers(x, cl);
	put_pairs(x, r->settings, r->nsettings);
	if (r->zero_matches || r->list)
		put_setting(x, "zdefs", NULL);
	ei_x_encode_empty_list(x);
	put_flag(x, "json", r->json);
	put_flag(x, "data", r->data);
	put_flag(x, "list", r->list);
	put_flag(x, "kernel", r->kernel);
	put_flag(x, "zero", r->zero_matches);
	put_flag(x, "terminal", r->terminal);
	put_flag(x, "verbose", r->verbose);
	put_flag(x, "code", r->code);
	put_number(x, "silence", silence);
	if (r->live_ms > 0)
		put_number(x, "live", r->live_ms);
	if (r->target != 0)
		put_number(x, "target", r->target);
	put_args(x, r);
	if (r->nheaders > 0) {
		put_pair(x, "headers");
		put_pairs(x, r->headers, r->nheaders);
		ei_x_encode_empty_list(x);
	}
	put_scripts(x, r);
	ei_x_encode_empty_list(x);
}

/* ---- agents ----------------------------------------------------------------------------- */

/* It has another erltrace: its own, or one that another command has loaded. */
static int other_version(const struct nd *n, struct et_error *e)
{
	if (n->came)
		return et_err(e, ET_VERSION,
			"another command, of another version, is tracing the node %s: trace it "
			"with "
			"the same, or wait for that to end",
			n->name);
	return et_err(e, ET_VERSION,
		"the node %s has an erltrace of its own, of another version: use the command that "
		"belongs to it",
		n->name);
}

/* {ok, Pid} | {error, {protocol | unknown, What}} */
static int start(struct target *t, const ei_x_buff *spec, struct et_error *e)
{
	ei_x_buff args = {0}, res = {0};
	char word[16] = "", why[16] = "";
	int rc;

	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 3);
	ei_x_encode_pid(&args, ei_self(&t->nd->ec));
	ei_x_append(&args, &t->nd->connection);
	ei_x_append(&args, spec);
	ei_x_encode_empty_list(&args);
	rc = nd_rpc(t->nd, "erltrace_agent", "start", &args, &res, e);
	if (rc < 0 && et_err_is(e, ET_UNDEF)) { /* an agent without such a function */
		et_err_clear(e);
		rc = other_version(t->nd, e);
	} else if (rc == 0 && (nd_get_tuple(&res, &res.index, 2) < 0 ||
				      nd_get_atom(&res, &res.index, word, sizeof(word)) < 0 ||
				      ei_decode_pid(res.buff, &res.index, &t->agent) < 0)) {
		nd_get_tuple(&res, &res.index, 2);
		nd_get_atom(&res, &res.index, why, sizeof(why));
		rc = strcmp(why, "protocol") == 0
			     ? other_version(t->nd, e)
			     : et_err(e, ET_AGENT, "the agent of %s does not start: %s",
				       t->nd->name, why);
	}
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

int client_start(struct target *t, const ei_x_buff *spec, struct et_error *e)
{
	return nd_agent(t->nd, e) < 0 ? -1 : start(t, spec, e);
}

static void leave_out(struct client *cl, int i)
{
	nd_agent_gone(cl->v[i].nd);
	nd_close(cl->v[i].nd);
	memmove(&cl->v[i], &cl->v[i + 1], (size_t)(--cl->n - i) * sizeof(*cl->v));
}

int client_start_all(struct client *cl, const struct request *r)
{
	ei_x_buff spec;
	int rc = 0;

	ei_x_new(&spec);
	client_put_request(&spec, cl, r);
	for (int i = 0; i < cl->n && rc == 0; i++) {
		struct et_error e = {.tag = ""};

		if (client_start(&cl->v[i], &spec, &e) == 0)
			continue;
		if (r->nnodes == 0 && cl->n > 1) { /* the user has not named it */
			client_say(cl, CLIENT_NOTICE, "left out: %s", e.text);
			leave_out(cl, i--);
			continue;
		}
		for (; i < cl->n; i++) /* no agent runs there */
			cl->v[i].state = DONE;
		rc = client_fail(cl, &e, "failed to trace a node");
	}
	ei_x_free(&spec);
	return rc;
}
