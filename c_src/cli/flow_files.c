/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --follow, --perfetto, --otlp and --flows. Clauses are added to the scripts that tell of every
 * event of a flow, unless a script does that itself, as for those that it chooses. When a flow is
 * complete it is printed, posted, or kept for the file, which is written at the end: the slowest,
 * if there are many.
 *
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "flow_model.h"
#include "flow_post.h"
#include "output.h"

enum {
	MAX_KEPT = 1000, /* for the file */
	MAX_LIVE = 20,	 /* objects of --flows for each tick of --live */
};

/* The slowest of all that came. */
struct slowest {
	struct flow **v;
	size_t n, max;
	uint64_t left_out;
};

struct cli_flows {
	struct flows *flows;
	struct slowest kept, live;
	FILE *file;
	bool made;
	struct flow_post *post;
	uint64_t longest; /* of those printed */
	uint64_t requests;
	uint64_t whole, messages, spawns, total, slowest; /* of those that are not incomplete */
	uint64_t waiting; /* have not finished */
	int64_t next_live; /* ms */
	bool told_live;
};

/* Of each event what node_flows.c reads. The script's arguments are none of theirs. */
static const char clauses[] =
	"#pragma D option argref\n"
	"erlang*:::flow-begin { flowtrace(\"%d%d%s%s%s\", args[0], args[3], args[1], erlproc, "
	"args[2]); }\n"
	"erlang*:::flow-send { flowtrace(\"%d%d%d%d%d%s%s%s%s%s\", args[0], args[7], args[1], "
	"args[2],"
	" args[6], args[3], args[4], erlproc, erlpeerproc, erlmsg); }\n"
	"erlang*:::flow-receive { flowtrace(\"%d%d%d%d%s%s\", args[0], args[7], args[1], args[2],"
	" args[4], erlproc); }\n"
	"erlang*:::flow-spawn { flowtrace(\"%d%d%d%d%s%s%s%s\", args[0], args[7], args[1], args[2],"
	" args[3], args[4], erlproc, args[6]); }\n"
	"erlang*:::flow-end { flowtrace(\"%d%d%d%d%d%d%s%s\", args[0], args[7], args[1], args[3],"
	" args[4], args[5], args[2], args[6]); }\n";

/* ---- options ----------------------------------------------------------------------------- */

static bool is_name(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]) && strchr("_@*?'.-", p[i]) == NULL)
			return false;
	return n > 0;
}

int cli_follow_option(struct cli *c, const char *function)
{
	const char *colon = strchr(function, ':'),
		   *slash = colon != NULL ? strchr(colon, '/') : NULL;
	const char *end = function + strlen(function);
	struct cli_flow_options *o = &c->flow_options;
	char *text;

	if (colon == NULL || !is_name(function, (size_t)(colon - function)) ||
		!is_name(colon + 1, (size_t)((slash != NULL ? slash : end) - colon - 1)) ||
		(slash != NULL && (slash[1] == '\0' ||
					  strspn(slash + 1, "0123456789") != strlen(slash + 1)))) {
		cli_say("--follow takes a function, MODULE:FUNCTION or MODULE:FUNCTION/ARITY, not "
			"'%s'",
			function);
		return CLI_USAGE;
	}
	if (asprintf(&text, "erlang*:%s:function-entry { follow(); }", function) < 0 ||
		!ARRAY_ROOM(o->follow, (size_t)o->nfollow)) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	o->follow[o->nfollow++] = text;
	return -1;
}

bool cli_flows_wanted(const struct cli *c)
{
	const struct cli_flow_options *o = &c->flow_options;

	return o->nfollow > 0 || o->perfetto != NULL || o->otlp != NULL || o->objects;
}

void cli_flows_dropped(struct cli *c)
{
	if (c->flows != NULL)
		c->flows->flows->dropped = true;
}

struct flows *cli_flows(const struct cli *c)
{
	return c->flows->flows;
}

static const char *option_of(const struct cli *c)
{
	return c->flow_options.perfetto != NULL ? "--perfetto" : "--otlp";
}

/* ---- flows that are complete -------------------------------------------------------------- */

static uint64_t elapsed(const struct flow *f)
{
	return f->end - f->start;
}

static void keep(struct slowest *s, struct flow *f)
{
	size_t least = 0;

	if (s->n < s->max && ARRAY_ROOM(s->v, s->n)) {
		s->v[s->n++] = f;
		return;
	}
	s->left_out++;
	for (size_t i = 1; i < s->n; i++)
		if (elapsed(s->v[i]) < elapsed(s->v[least]))
			least = i;
	if (s->n > 0 && elapsed(f) > elapsed(s->v[least])) {
		struct flow *out = s->v[least];

		s->v[least] = f;
		f = out;
	}
	flow_free(f);
}

static void empty(struct slowest *s)
{
	for (size_t i = 0; i < s->n; i++)
		flow_free(s->v[i]);
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

static void print(struct cli *c, const struct flow *f, bool json)
{
	char *text = NULL;
	size_t len = 0;
	FILE *m = open_memstream(&text, &len);

	if (m == NULL)
		return;
	(json ? flow_json : flow_tree)(c->flows->flows, f, m);
	fclose(m);
	cli_write_foreign(c, text, len);
	free(text);
}

static void on_done(void *arg, struct flow *f)
{
	struct cli *c = arg;
	struct cli_flows *s = c->flows;
	bool live = c->json && c->live_ms > 0 && s->kept.max == 0;

	s->requests++;
	if (!f->incomplete) {
		s->whole++;
		s->messages += f->messages;
		s->spawns += f->spawns;
		s->total += elapsed(f);
		if (elapsed(f) > s->slowest)
			s->slowest = elapsed(f);
	}
	s->waiting += f->why != NULL && strcmp(f->why, "waits") == 0;
	if (s->post != NULL)
		flow_post_add(s->post, s->flows, f);
	if (c->json && !live && (c->flow_options.objects || c->flow_options.nfollow > 0))
		print(c, f, true);
	if (!c->json && c->flow_options.nfollow > 0 && elapsed(f) > s->longest) {
		s->longest = elapsed(f);
		print(c, f, false);
	}
	if (live)
		keep(&s->live, f);
	else if (s->kept.max > 0)
		keep(&s->kept, f);
	else
		flow_free(f);
}

/* --flows with --live: the slowest since the last tick, and how many there were. */
static void look_live(struct cli *c, int64_t now_ms)
{
	struct cli_flows *s = c->flows;

	if (c->live_ms == 0 || !c->json || now_ms < s->next_live ||
		(s->live.n == 0 && s->told_live))
		return;
	s->next_live = now_ms + c->live_ms;
	s->told_live = true;
	cli_printf(c, "{\"type\":\"flows\",\"flows\":%llu,\"shown\":%llu}\n",
		(unsigned long long)s->requests,
		(unsigned long long)(s->requests - s->live.left_out));
	for (size_t i = 0; i < s->live.n; i++)
		print(c, s->live.v[i], true);
	empty(&s->live);
	cli_flush(c);
}

void cli_flows_look(struct cli *c, int64_t now_ms)
{
	if (c->flows == NULL)
		return;
	flows_look(c->flows->flows, now_ms, false);
	look_live(c, now_ms);
	if (c->flows->post != NULL)
		flow_post_look(c->flows->post, now_ms);
}

/* ---- the beginning ------------------------------------------------------------------------ */

static int check_script(const struct cli *c)
{
	if (c->uses.follows || c->flow_options.objects)
		return CLI_OK;
	for (int i = 0; i < c->nscripts; i++)
		if (c->scripts[i].err.tag[0] != '\0')
			return CLI_OK; /* compiling says more */
	cli_say("%s: the script follows no requests: call follow() in it, or add --follow "
		"MODULE:FUNCTION",
		option_of(c));
	return CLI_ERROR;
}

static int open_all(struct cli *c)
{
	const struct cli_flow_options *o = &c->flow_options;
	struct cli_flows *s = c->flows;

	if (o->perfetto != NULL) {
		s->kept.max = MAX_KEPT;
		s->file = cli_result_open(o->perfetto, &s->made);
		if (s->file == NULL) {
			cli_say("failed to open the file of --perfetto, '%s': %s", o->perfetto,
				strerror(errno));
			return CLI_ERROR;
		}
		if (c->out == stdout)
			c->terminal = isatty(STDOUT_FILENO) == 1;
	}
	if (o->otlp != NULL && (s->post = flow_post_open(o->otlp)) == NULL)
		return CLI_ERROR;
	return CLI_OK;
}

/* The option flowevents. */
static size_t most_events(const struct cli *c)
{
	char value[32] = "";

	erltrace_getopt(c->h, "flowevents", value, sizeof(value), NULL);
	return strtoul(value, NULL, 10);
}

int cli_flows_open(struct cli *c)
{
	int status = check_script(c);

	if (status != CLI_OK || (c->flow_options.objects && !c->uses.follows))
		return status;
	c->flows = calloc(1, sizeof(*c->flows));
	if (c->flows != NULL)
		c->flows->flows = flows_new(most_events(c), on_done, c);
	if (c->flows == NULL || c->flows->flows == NULL ||
		!ARRAY_ROOM(c->scripts, (size_t)c->nscripts)) {
		cli_say("out of memory");
		return CLI_ERROR;
	}
	c->flows->live.max = MAX_LIVE;
	if (!c->uses.flowtrace)
		c->scripts[c->nscripts++] =
			(struct cli_script){.flag = 'n', .arg = clauses, .own = true};
	return open_all(c);
}

/* ---- the end ------------------------------------------------------------------------------ */

void cli_flow_options_free(struct cli_flow_options *o)
{
	for (int i = 0; i < o->nfollow; i++)
		free(o->follow[i]);
	free(o->follow);
}

static void title_of(const struct cli *c, char *buf, size_t size)
{
	const char *text = c->nscripts > 0 ? c->scripts[0].arg : "";

	snprintf(buf, size, "%.*s%s%s", (int)strcspn(text, "\n"), text, c->nnodes > 0 ? " on " : "",
		c->nnodes > 0 ? c->nodes[0] : "");
	for (char *p = buf; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
			*p = '?';
}

static bool write_file(struct cli *c)
{
	const struct cli_flows *s = c->flows;
	char title[256];
	bool ok;

	title_of(c, title, sizeof(title));
	if (strcmp(c->flow_options.perfetto, "-") != 0 && ftruncate(fileno(s->file), 0) < 0 &&
		errno != EINVAL)
		goto failed;
	errno = 0;
	ok = perfetto_write(s->flows, s->kept.v, s->kept.n, title, s->file);
	if (!ok)
		errno = ENOMEM;
	if (ok && fflush(s->file) == 0 && !ferror(s->file))
		return true;
	if (errno == EPIPE)
		return true;
failed:
	cli_say("failed to write '%s' of --perfetto: %s", c->flow_options.perfetto,
		strerror(errno));
	return false;
}

static void tell_sum(struct cli *c)
{
	const struct cli_flows *s = c->flows;
	unsigned long long lacking = s->requests - s->whole;

	if (s->whole > 0)
		cli_printf(c,
			"%llu request%s, %llu messages, %llu spawns; %.1f us each, the slowest "
			"%.1f us",
			(unsigned long long)s->whole, s->whole == 1 ? "" : "s",
			(unsigned long long)s->messages, (unsigned long long)s->spawns,
			(double)s->total / 1000 / (double)s->whole, (double)s->slowest / 1000);
	if (s->waiting > 0)
		cli_printf(c, "%s%llu not finished", s->whole > 0 ? "; " : "",
			(unsigned long long)s->waiting);
	if (lacking > 0)
		cli_printf(c, "%s%llu request%s incomplete%s",
			s->whole + s->waiting > 0 ? "; " : "", lacking,
			lacking == 1 ? " is" : "s are", s->whole > 0 ? ", not counted here" : "");
	cli_printf(c, "\n");
}

static void tell(struct cli *c, int status)
{
	const struct cli_flows *s = c->flows;

	if (s->kept.left_out > 0)
		cli_say("--perfetto: the file has the %zu slowest of %llu requests", s->kept.n,
			(unsigned long long)s->requests);
	if (s->flows->lost > 0)
		cli_say("%llu events of requests are left out: there were too many at a time "
			"(option flowevents)",
			(unsigned long long)s->flows->lost);
	if (s->requests == 0 && status == CLI_OK)
		cli_say("no request was followed: the function was not called, or only by "
			"processes that have a"
			" sequential trace token already");
	if (s->requests > 0 && !c->json && c->flow_options.nfollow > 0)
		tell_sum(c);
}

int cli_flows_close(struct cli *c, int status)
{
	struct cli_flows *s = c->flows;

	if (s == NULL)
		return status;
	if (c->gathers) {
		flows_look(s->flows, 0, true);
		s->next_live = 0;
		look_live(c, 1);
		tell(c, status);
		if (s->file != NULL && !write_file(c))
			status = CLI_ERROR;
	}
	if (s->post != NULL && flow_post_close(s->post) < 0 && status == CLI_OK)
		status = CLI_ERROR;
	if (s->file != NULL)
		fclose(s->file);
	if (!c->gathers && s->made) /* a script that has not run leaves no file */
		unlink(c->flow_options.perfetto);
	empty(&s->kept);
	empty(&s->live);
	flows_free(s->flows);
	free(s);
	c->flows = NULL;
	return status;
}
