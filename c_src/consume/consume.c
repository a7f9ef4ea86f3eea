/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer's round: aggregations merged, records performed in order, drops told. A record
 * is a row of the default output (a probe that fired), then its clause's actions one by one;
 * each makes text, changes the merged aggregations, or changes where text goes.
 *
 * Text goes to handlers->text, or to the file of freopen(), in pieces of some 64 KiB and at the
 * end of a round. What a record claims about itself is checked (value.c) before it is read.
 */
#include "array.h"
#include "consumer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions.h"
#include "aggs.h"
#include "faults.h"
#include "nothing.h"
#include "printa.h"

/* ---- life ----------------------------------------------------------------------------- */

unsigned co_streams(const struct co *co)
{
	return co->from != NULL && co->from->streams != NULL ? co->from->streams(co->of) : 1;
}

unsigned co_cpu(const struct co *co, unsigned thread, unsigned *stream)
{
	*stream = 0;
	return co->from != NULL && co->from->cpu != NULL ? co->from->cpu(co->of, thread, stream) : thread;
}

struct co *co_new(const struct co_origin *from, void *of, const struct prog *prog,
	struct et_options *opts, struct et_error *e)
{
	struct co *co = calloc(1, sizeof(*co));

	if (co == NULL) {
		et_err(e, ET_NOMEM, "out of memory");
		return NULL;
	}
	co->from = from;
	co->of = of;
	co->prog = prog;
	co->opts = opts;
	co->fd = -1;
	co->ag = ag_new();
	co->sy = from != NULL ? from->symbols(of) : sy_new(0, NULL);
	co->told = calloc(co_streams(co), sizeof(*co->told));
	if (co->ag == NULL || co->sy == NULL || co->told == NULL) {
		et_err(e, ET_NOMEM, "out of memory");
		co_free(co);
		return NULL;
	}
	return co;
}

void co_free(struct co *co)
{
	if (co == NULL)
		return;
	if (co->fd >= 0)
		close(co->fd);
	co_tmp_free(co);
	ag_free(co->ag);
	for (unsigned i = 0; i < co->nlive; i++)
		ag_free(co->live[i]);
	free(co->live);
	sy_free(co->sy);
	cb_free(&co->out);
	free(co->vals);
	free(co->threads);
	free(co->told);
	free(co);
}

/* ---- where text goes ------------------------------------------------------------------ */

static void write_file(struct co *co)
{
	size_t done = 0;
	ssize_t n;

	while (done < co->out.len) {
		n = write(co->fd, co->out.p + done, co->out.len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			co->fd_error = n < 0 ? errno : EIO;
			return;
		}
		done += (size_t)n;
	}
}

int co_flush(struct co *co)
{
	if (co->out.len != 0) {
		if (co->fd >= 0)
			write_file(co);
		else if (co->h.text != NULL && co->rv == 0)
			co->rv = co->h.text(co->h.arg, co->out.p, co->out.len);
		co->flushes++;
	}
	co->out.len = 0;
	if (co->out.nomem) {
		co->out.nomem = false;
		if (co->rv == 0)
			co->rv = -ENOMEM;
	}
	return co->rv;
}

int co_room(struct co *co)
{
	if (co->telling)
		return co->rv;
	return co->out.len >= CO_FLUSH_AT ? co_flush(co) : co->rv;
}

/* The handlers of a call; a caller built against an older header has fewer of them. */
void co_begin_call(struct co *co, const erltrace_handlers_t *h)
{
	memset(&co->h, 0, sizeof(co->h));
	if (h != NULL)
		memcpy(&co->h, h, h->size < sizeof(co->h) ? h->size : sizeof(co->h));
	co->out.terminal = co->h.terminal != 0 && co->fd < 0;
	sy_lines(co->sy, co_opt(co, OPT_STACKLINES));
	co->rv = 0;
}

/* ---- rows ----------------------------------------------------------------------------- */

/*
 * Those of a flight recorder come at the end, whatever it notices or writes to a snapshot before.
 */
static bool rows_shown(const struct co *co)
{
	return !co_opt(co, OPT_QUIET) && co->mode == CO_ALL;
}

static void row_header(struct co *co)
{
	if (co->header || !rows_shown(co))
		return;
	co->header = true;
	if (co_opt(co, OPT_FLOWINDENT))
		cb_fmt(&co->out, "%3s %-41s\n", "CPU", "FUNCTION");
	else
		cb_fmt(&co->out, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0 && (n == m || name[n - m - 1] == '-');
}

/*
 * -F: entry and return by the probe's name ("entry" or "...-entry"). Several clauses at one probe
 * are one step: only the first of them moves.
 */
static void flow(struct co_rec *r, struct co_thread *t)
{
	const char *name = r->ev.probe.name;
	bool sys = strcmp(r->ev.probe.provider, "syscall") == 0;
	struct co_at last;

	r->ev.flow = ends_with(name, "entry") ? 1 : ends_with(name, "return") ? -1 : 0;
	if (t->last_epid != 0 && t->last_epid != r->head->epid &&
		co_at(r->co, t->last_epid, &last) && last.probe.id == r->ev.probe.id)
		r->ev.flow = 0;
	t->last_epid = r->head->epid;
	if (r->ev.flow < 0 && t->indent > 0)
		t->indent -= 2;
	r->prefix = r->ev.flow == 0  ? "| "
		    : r->ev.flow > 0 ? (sys ? " => " : " -> ")
				     : (sys ? " <= " : " <- ");
}

static void row_flow(struct co_rec *r, int indent)
{
	struct co_buf *b = &r->co->out;
	size_t start;

	cb_fmt(b, "%3u ", r->ev.cpu);
	start = b->len;
	cb_fill(b, ' ', (size_t)indent);
	cb_str(b, r->prefix);
	cb_data(b, r->ev.probe.function, strlen(r->ev.probe.function));
	if (r->ev.flow == 0) {
		cb_str(b, ":");
		cb_data(b, r->ev.probe.name, strlen(r->ev.probe.name));
	}
	cb_field(b, start, -41);
	cb_str(b, " ");
}

static void row_plain(struct co_rec *r)
{
	struct co_buf *b = &r->co->out;
	size_t start;

	cb_fmt(b, "%3u %6u ", r->ev.cpu, r->ev.probe.id);
	start = b->len;
	cb_data(b, r->ev.probe.function, strlen(r->ev.probe.function));
	cb_str(b, ":");
	cb_data(b, r->ev.probe.name, strlen(r->ev.probe.name));
	cb_field(b, start, 32);
	cb_str(b, " ");
}

struct co_thread *co_thread_of(struct co *co, unsigned thread)
{
	size_t was = co->nthreads;

	if (thread >= was) {
		if (!ARRAY_RESERVE(co->threads, co->nthreads, (size_t)thread + 1))
			return NULL;
		memset(co->threads + was, 0, (co->nthreads - was) * sizeof(*co->threads));
	}
	return &co->threads[thread];
}

static int row_put(struct co_rec *r)
{
	struct co *co = r->co;
	struct co_thread *t = co_thread_of(co, r->thread);
	bool indents = co_opt(co, OPT_FLOWINDENT) && t != NULL && co->mode == CO_ALL;

	if (indents)
		flow(r, t);
	if (co->h.event != NULL)
		co->rv = co->h.event(co->h.arg, &r->ev);
	row_header(co);
	co->shown |= rows_shown(co);
	if (rows_shown(co) && indents)
		row_flow(r, t->indent);
	else if (rows_shown(co))
		row_plain(r);
	if (indents && r->ev.flow > 0 && t->indent < 1000)
		t->indent += 2;
	return co->rv;
}

/* ---- records -------------------------------------------------------------------------- */

/* A clause that only tells a handler of flows. */
static bool is_of_flows(const struct co_rec *r)
{
	const struct prog_clause *c = r->at.clause;
	unsigned n = 0;

	while (n < c->nactions && c->actions[n].act == ACT_FLOWTRACE)
		n++;
	return r->co->h.flow != NULL && n > 0 && n == c->nactions;
}

static int rec_data(struct co_rec *r)
{
	if (is_of_flows(r))
		return ac_perform(r);
	if (row_put(r) == 0)
		ac_perform(r);
	if (rows_shown(r->co))
		cb_str(&r->co->out, "\n");
	return r->co->rv;
}

/* What is known of a record's event; without a record, which probe it is. */
static void fill_event(struct co_rec *r)
{
	r->ev.probe = r->at.probe;
	r->ev.node = r->at.node;
	if (r->head == NULL)
		return;
	r->ev.epid = r->head->epid;
	r->ev.cpu = r->co->opts->replay ? 0 : r->head->cpu;
	r->ev.timestamp = r->head->ts;
	r->ev.walltimestamp = r->co->from->wall(r->co->of, r->head->ts);
}

/* Most records are of the same process as the one before. */
static void fill_process(struct co_rec *r)
{
	struct co *co = r->co;
	unsigned stream = co->from->stream != NULL ? co->from->stream(co->of) : 0;
	struct rec_process is;

	co->has_process = r->head->flags & REC_PROCESS;
	if (!co->has_process)
		return;
	memcpy(&is, (const char *)r->head + r->head->size - sizeof(is), sizeof(is));
	if (co->process.stream != stream)
		memset(&co->process, 0, sizeof(co->process));
	co->process.stream = stream;
	if (co->process.is.id != is.id)
		co->from->process_text(co->of, is.id, co->process.id, sizeof(co->process.id));
	if (co->process.is.name != is.name)
		co->from->process_text(co->of, is.name, co->process.name, sizeof(co->process.name));
	co->process.is = is;
}

const char *co_process(const struct co *co, const char **name)
{
	*name = co->process.is.name != 0 ? co->process.name : NULL;
	return co->has_process ? co->process.id : NULL;
}

static int rec_one(void *arg, unsigned thread, const struct rec_head *head)
{
	struct co_rec r = {.co = arg, .head = head, .thread = thread};

	if (head->kind != REC_DATA && head->kind != REC_ERROR)
		return 0;
	if (!co_at(r.co, head->epid, &r.at))
		return 0;
	fill_event(&r);
	fill_process(&r);
	if (head->kind == REC_ERROR)
		te_fault(&r);
	else
		rec_data(&r);
	if (co_text_unread(r.co) || r.co->mode == CO_REPLAY)
		r.co->out.len = 0;
	return co_room(r.co);
}

int co_record(struct co *co, unsigned thread, const struct rec_head *rec)
{
	return rec_one(co, thread, rec);
}

/* The file of freopen() is full or gone: say so once, and give up on it. */
static void check_file(struct co *co)
{
	struct co_rec r = {.co = co};
	int err = co->fd_error;

	if (err == 0)
		return;
	co->fd_error = 0;
	if (co->fd >= 0)
		close(co->fd);
	co->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!co_at(co, co->fd_epid, &r.at))
		return;
	fill_event(&r);
	te_error(&r, "couldn't write to the file of freopen(): %s", strerror(err));
}

/* ---- the calls ------------------------------------------------------------------------ */

int co_work(struct co *co, const erltrace_handlers_t *h, bool final)
{
	co_begin_call(co, h);
	sy_watch(co->sy);
	ag_take(co);
	if (co_notice(co) == 0 && !(co->mute && co_opt(co, OPT_BUFPOLICY) == BUFPOLICY_RING))
		co->from->records(co->of, rec_one, co);
	if (co->rv == 0)
		te_drops(co, final);
	if (co->rv == 0 && final && (!co->mute || co->fd >= 0)) {
		pa_final(co);
		no_final(co);
	}
	co_flush(co);
	check_file(co);
	return co->rv;
}

void co_mute(struct co *co)
{
	co->mute = true;
}

void co_watch(struct co *co)
{
	sy_watch(co->sy);
}

int co_begin(struct co *co, const erltrace_handlers_t *h)
{
	(void)h;
	co->header = false;
	return 0;
}

int co_snapshot(struct co *co)
{
	return ag_take(co);
}

/* -1: no such name; -2: every one (name NULL). */
static int agg_by_name(const struct co *co, const char *name)
{
	unsigned i;

	if (name == NULL)
		return -2;
	if (name[0] == '@')
		name++;
	for (i = 0; i < co->prog->naggs; i++)
		if (strcmp(co->prog->aggs[i]->name, name[0] ? name : "_") == 0)
			return (int)i;
	return -1;
}

static int walk_one(struct co *co, unsigned agg, erltrace_agg_cb *cb, void *arg)
{
	uint16_t which = (uint16_t)agg;
	struct ag_row *rows;
	erltrace_agg_t out;
	size_t n, i;
	int rv = 0;

	if (ag_rows(co, &which, 1, &rows, &n) != 0)
		return -ENOMEM;
	for (i = 0; i < n && rv == 0; i++) {
		if (ag_public(co, rows[i].ent, &out) == 0)
			rv = cb(arg, &out);
		co_tmp_free(co);
	}
	free(rows);
	return rv;
}

int co_walk(struct co *co, const char *name, erltrace_agg_cb *cb, void *arg)
{
	int which = agg_by_name(co, name), rv = which == -1 ? -ENOENT : 0;
	unsigned i;

	for (i = 0; i < co->prog->naggs && rv == 0; i++)
		if (which == -2 || which == (int)i)
			rv = walk_one(co, i, cb, arg);
	return rv;
}

struct each {
	erltrace_agg_cb *cb;
	void *arg;
};

static int each_one(struct co *co, const struct ag_ent *e, void *arg)
{
	const struct each *to = arg;
	erltrace_agg_t out;
	int rv = ag_public(co, e, &out) == 0 ? to->cb(to->arg, &out) : 0;

	co_tmp_free(co);
	return rv;
}

int co_each(struct co *co, const char *name, erltrace_agg_cb *cb, void *arg)
{
	struct each to = {cb, arg};
	int which = agg_by_name(co, name);

	return which == -1 ? -ENOENT : ag_each(co, which, each_one, &to);
}

int co_hand_over(struct co *co, co_entry_cb *fn, void *arg)
{
	return ag_give_each(co, co->ag, fn, arg);
}

uint64_t co_merge_drops(const struct co *co)
{
	return ag_drops(co->ag);
}

struct sy *co_symbols(struct co *co)
{
	return co->sy;
}

int co_clear(struct co *co, const char *name)
{
	int which = agg_by_name(co, name);
	unsigned i;

	for (i = 0; i < co->prog->naggs; i++)
		if (which == -2 || which == (int)i)
			ag_clear(co, i);
	return which == -1 ? -ENOENT : 0;
}

int co_trunc(struct co *co, const char *name)
{
	int which = agg_by_name(co, name);
	unsigned i;

	for (i = 0; i < co->prog->naggs; i++)
		if (which == -2 || which == (int)i)
			ag_trunc(co, i, true, 0);
	return which == -1 ? -ENOENT : 0;
}
