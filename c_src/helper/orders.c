/* SPDX-License-Identifier: Apache-2.0 */
/* What the node orders: each order is a call of the library, and its result the answer. */
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "cost.h"
#include "erltrace.h"
#include "error.h"
#include "helper.h"
#include "flight_record.h"
#include "rights.h"
#include "stream/writer.h"

#define MS 1000000ULL
enum { MOST_ARGS = 256, MOST_BYTES = 1 << 20 /* of a stream in one answer, or a little more */ };

struct helper {
	erltrace_t *h;
	struct rights rights;
	bool forbids;	    /* destructive actions: the node */
	bool running, told; /* go has succeeded; OVER or ABORTED is out */
	struct cost cost;   /* from go on */
};

struct helper *helper_new(void)
{
	struct helper *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	rights_find(&p->rights);
	p->h = erltrace_open(NULL);
	if (p->h == NULL) {
		free(p);
		return NULL;
	}
	helper_bridge(p->h);
	api_confine(p->h, &p->rights.confine);
	api_bpf_token(p->h, p->rights.token);
	api_time(p->h);
	return p;
}

void helper_free(struct helper *p)
{
	if (p == NULL)
		return;
	erltrace_close(p->h);
	free(p);
}

/* ---- contents of frames ------------------------------------------------------------------ */

/* To be freed; NULL: it is NULL, or the order is bad. */
static char *get_text(struct sb *s)
{
	uint32_t len = sb_get32(s);
	const char *from = len != SB_NULL ? sb_get(s, len) : NULL;
	char *text = from != NULL ? malloc((size_t)len + 1) : NULL;

	if (text == NULL)
		return NULL;
	memcpy(text, from, len);
	text[len] = '\0';
	return text;
}

static void put_state(struct helper *p, struct co_buf *out)
{
	int code = 0;

	sb_put8(out, (uint8_t)erltrace_status(p->h, &code));
	sb_put32(out, (uint32_t)code);
	sb_put64(out, p->running ? api_fired(p->h) : 0);
	sb_put64(out, cost_spent(p->h));
	sb_put32(out, p->cost.permille);
}

static int put_ok(struct helper *p, uint32_t n, struct co_buf *out)
{
	sb_put8(out, HELPER_OK);
	put_state(p, out);
	sb_put32(out, n);
	return 0;
}

static int put_error(const erltrace_error_t *e, struct co_buf *out)
{
	sb_put8(out, HELPER_ERROR);
	sb_put_text(out, e->tag);
	sb_put32(out, (uint32_t)e->line);
	sb_put32(out, (uint32_t)e->column);
	sb_put_text(out, e->text);
	sb_put_text(out, e->file);
	sb_put_text(out, e->source);
	return 0;
}

/* ---- before go --------------------------------------------------------------------------- */

static int option(struct helper *p, struct sb *s, struct co_buf *out)
{
	erltrace_error_t e = {.tag = ""};
	char *name = get_text(s), *value = get_text(s);
	int rc = 0;

	if (name != NULL && !s->bad)
		rc = erltrace_setopt(p->h, name, value, &e);
	free(name);
	free(value);
	return rc < 0 ? put_error(&e, out) : put_ok(p, 0, out);
}

static int compile(struct helper *p, struct sb *s, struct co_buf *out)
{
	erltrace_compile_opts_t o = {.size = sizeof(o)};
	erltrace_info_t info = {.size = sizeof(info)};
	erltrace_error_t e = {.tag = ""};
	char *args[MOST_ARGS], *text, *file;
	uint32_t n, i, flags, len = 0;
	int rc = -1;

	if (s->left >= sizeof(len))
		memcpy(&len, s->p, sizeof(len));
	text = get_text(s); /* which may hold NULs */
	o.file = file = get_text(s);
	flags = sb_get8(s);
	o.default_action = (flags & HELPER_DEFAULT_ACTION) != 0;
	o.zero_matches = (flags & HELPER_ZERO_MATCHES) != 0;
	o.empty = (flags & HELPER_EMPTY) != 0;
	n = sb_get_count(s, sizeof(uint32_t));
	for (i = 0; i < n && i < MOST_ARGS && (args[i] = get_text(s)) != NULL; i++)
		;
	o.argc = (int)i;
	o.argv = (const char *const *)args;
	if (n > MOST_ARGS)
		et_err(&e, ET_ARGS, "more than %d arguments", MOST_ARGS);
	else if (text == NULL || i < n)
		et_err(&e, ET_NOMEM, "out of memory");
	else if (!s->bad)
		rc = erltrace_compile_n(p->h, text, len, &o, &e);
	erltrace_info(p->h, &info);
	free(text);
	free(file);
	while (i > 0)
		free(args[--i]);
	return rc < 0 ? put_error(&e, out) : put_ok(p, info.matches, out);
}

static int target(struct helper *p, struct sb *s, struct co_buf *out)
{
	uint32_t pid = sb_get32(s);

	if (!s->bad)
		erltrace_set_target(p->h, pid);
	return put_ok(p, 0, out);
}

static int put_row(void *arg, const erltrace_probe_info_t *p)
{
	struct co_buf *out = arg;

	sb_put32(out, p->id);
	sb_put_text(out, p->provider);
	sb_put_text(out, p->module);
	sb_put_text(out, p->function);
	sb_put_text(out, p->name);
	sb_put32(out, (uint32_t)p->nargs);
	for (int i = 0; i < p->nargs; i++)
		sb_put_text(out, p->argtypes != NULL ? p->argtypes[i] : "");
	return 0;
}

static int list(struct helper *p, struct sb *s, struct co_buf *out)
{
	erltrace_error_t e = {.tag = ""};
	char *desc = get_text(s);
	size_t from = out->len;
	int n = 0;

	sb_put8(out, HELPER_ROWS);
	if (!s->bad)
		n = erltrace_probes(p->h, desc, put_row, out, &e);
	free(desc);
	if (n > 0)
		return 0;
	out->len = from;
	if (e.tag[0] == '\0')
		et_err(&e, D_PDESC_ZERO, "no probe matches the description");
	return put_error(&e, out);
}

/* What acts on others is for root, where the node permits it. */
static int check_actions(const struct helper *p, erltrace_error_t *e)
{
	if (!api_is_destructive(p->h) || (p->rights.root && !p->forbids))
		return 0;
	return et_err(e, ET_DESTRUCTIVE,
		p->forbids ? "this node forbids destructive actions (erltrace's setting destructive)"
			   : "destructive actions in the kernel are for root");
}

static int go(struct helper *p, struct co_buf *out)
{
	erltrace_error_t e = {.tag = ""};

	if (rights_check(&p->rights, &e) == 0 && check_actions(p, &e) == 0 &&
		erltrace_go(p->h, &e) == 0) {
		p->running = true;
		cost_go(&p->cost, p->h);
		return put_ok(p, 0, out);
	}
	return put_error(&e, out);
}

/* ---- from go on -------------------------------------------------------------------------- */

static int ask(struct helper *p, struct sb *s, struct co_buf *out)
{
	uint8_t flags = sb_get8(s);
	uint32_t every = sb_get32(s), beat = sb_get32(s);
	const struct sw_round round = {.most = MOST_BYTES,
		.permille = p->cost.permille,
		.every = every * MS,
		.beat = beat * MS,
		.now = (flags & HELPER_NOW) != 0,
		.no_records = (flags & HELPER_NO_RECORDS) != 0};
	erltrace_error_t e = {.tag = ""};
	size_t from = out->len, len = 0;
	char *bytes = NULL;
	int rc;

	if (s->bad)
		return 0;
	cost_read(&p->cost, p->h);
	sb_put8(out, HELPER_STREAM);
	rc = api_forward(p->h, "", &round, &flight_handlers, &bytes, &len, &e);
	if (rc < 0) {
		out->len = from;
		return put_error(&e, out);
	}
	sb_put8(out, rc == ERLTRACE_DONE ? HELPER_DONE : rc == API_MORE ? HELPER_MORE : HELPER_ALL);
	put_state(p, out);
	if (len > 0)
		cb_put(out, bytes, len);
	free(bytes);
	return 0;
}

static int snapshot(struct helper *p, struct sb *s, struct co_buf *out)
{
	erltrace_error_t e = {.tag = ""};
	size_t from = out->len;
	char *why = get_text(s);
	int rc = 0;

	sb_put8(out, HELPER_FILES);
	if (why != NULL && !s->bad)
		rc = flight_snapshot(p->h, why, out, &e);
	free(why);
	if (rc == 0)
		return 0;
	out->len = from;
	return put_error(&e, out);
}

static int stop(struct helper *p, struct co_buf *out)
{
	erltrace_error_t e = {.tag = ""};

	p->told = true;
	return erltrace_stop(p->h, &e) < 0 ? put_error(&e, out) : put_ok(p, 0, out);
}

int helper_order(struct helper *p, const uint8_t *order, size_t len, struct co_buf *out)
{
	struct sb s = {order + 1, len - 1, false};
	int rc = -1;

	if (len == 0)
		return -1;
	switch (order[0]) {
	case HELPER_OPTION: rc = option(p, &s, out); break;
	case HELPER_TARGET: rc = target(p, &s, out); break;
	case HELPER_COMPILE: rc = compile(p, &s, out); break;
	case HELPER_FORBID:
		p->forbids = true;
		rc = put_ok(p, 0, out);
		break;
	case HELPER_LIST: rc = list(p, &s, out); break;
	case HELPER_GO: rc = go(p, out); break;
	case HELPER_ASK: rc = ask(p, &s, out); break;
	case HELPER_SNAPSHOT: rc = snapshot(p, &s, out); break;
	case HELPER_STOP: rc = stop(p, out); break;
	default: break;
	}
	return s.bad ? -1 : rc;
}

/* The watchdog ends it: what was gathered can be read. */
static void abort_script(struct helper *p, const char *why, struct co_buf *out)
{
	p->told = true;
	erltrace_stop(p->h, NULL);
	sb_put8(out, HELPER_ABORTED);
	put_state(p, out);
	sb_put_text(out, why);
}

int helper_tend(struct helper *p, struct co_buf *out)
{
	char why[256];
	uint64_t ns;
	unsigned ms;

	if (!p->running || p->told)
		return -1;
	ns = api_tend(p->h);
	(void)api_record(p->h, &flight_handlers, false);
	if (erltrace_status(p->h, NULL) != ERLTRACE_RUNNING) {
		p->told = true;
		sb_put8(out, HELPER_OVER);
		put_state(p, out);
		return -1;
	}
	switch (cost_look(&p->cost, p->h, why, sizeof(why))) {
	case COST_ABORT: abort_script(p, why, out); return -1;
	case COST_NEWS:
		sb_put8(out, HELPER_COST);
		put_state(p, out);
		break;
	default: break;
	}
	ms = (unsigned)(ns / MS) + 1;
	return (int)(cost_due(&p->cost) < ms ? cost_due(&p->cost) : ms);
}
