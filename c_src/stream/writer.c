/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "consume/aggs.h"
#include "consume/percentile.h"
#include "consume/value.h"
#include "engine/clock.h"
#include "said.h"
#include "prog/stack_marks.h"
#include "tables.h"

enum { FIRST_NS = 10000000 }; /* a node may die soon after it has begun */
enum { SHARE = 20 }; /* handing them over takes a 20th of the time at most */

struct sw {
	struct en *en;
	struct co *co;
	const struct prog *prog;
	struct et_options *opts;
	const char *node;
	struct co_buf out;
	struct sw_round round;
	bool begun;
	bool orders;  /* records print or change aggregations: these come first */
	bool handing; /* aggregations have been taken, and not all are handed over */
	bool ended;
	uint64_t due, every; /* ns: when they are taken next */
	uint64_t status;     /* when drops were looked at */
	uint64_t told;	     /* when TIME was put */
	uint8_t *said; /* by epid: enum said */
	size_t nsaid;
	size_t open;	     /* where the RECORDS under way begin; 0: none are */
	unsigned open_thread;
	struct st_names names;
	uint64_t (*drops)[2]; /* by thread, as they were told */
	size_t ndrops;
	uint64_t other_drops[DROP_KINDS], merged_drops;
};

/* Of a probe and its clause: is PROBE out, and is there nothing to look at in its records? */
enum said { SAID_NOT, SAID, SAID_PLAIN };

static bool needs_aggregations(const struct prog *p)
{
	for (unsigned i = 0; i < p->nclauses; i++)
		for (unsigned k = 0; k < p->clauses[i]->nactions; k++)
			if (p->clauses[i]->actions[k].naggs > 0)
				return true;
	return false;
}

struct sw *sw_new(struct en *en, struct co *co, const struct prog *prog, struct et_options *opts,
	const char *node)
{
	struct sw *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->en = en;
	w->co = co;
	w->prog = prog;
	w->opts = opts;
	w->node = node;
	w->orders = needs_aggregations(prog);
	w->every = FIRST_NS;
	return w;
}

void sw_free(struct sw *w)
{
	if (w == NULL)
		return;
	cb_free(&w->out);
	st_names_free(&w->names);
	free(w->said);
	free(w->drops);
	free(w);
}

uint64_t sw_every(const struct sw *w)
{
	return w->round.every;
}

static bool is_full(const struct sw *w)
{
	return w->out.len >= w->round.most || w->out.nomem;
}

static void end_records(struct sw *w)
{
	if (w->open > 0)
		sb_end(&w->out, w->open);
	w->open = 0;
}

static size_t begin(struct sw *w, enum stream_frame kind)
{
	end_records(w);
	return sb_begin(&w->out, kind);
}

static void put_head(struct sw *w)
{
	struct co_buf *b = &w->out;
	size_t at = begin(w, STREAM_HEAD);

	sb_put32(b, STREAM_MAGIC);
	sb_put16(b, STREAM_VERSION);
	sb_put_text(b, w->node);
	sb_end(b, at);
	at = begin(w, STREAM_PROGRAM);
	st_put_program(b, w->prog, w->opts);
	sb_end(b, at);
}

/* ---- names -------------------------------------------------------------------------------- */

/* A text that was not said yet goes before what has it. */
static void put_name(struct sw *w, uint64_t of, uint8_t form, const char *text)
{
	struct co_buf *b = &w->out;
	size_t at;

	if (w->names.n >= ST_NAMES) {
		at = begin(w, STREAM_FORGET);
		sb_end(b, at);
		st_names_free(&w->names);
	}
	if (!st_name_add(&w->names, of, form, NULL, 0)) {
		b->nomem = true;
		return;
	}
	at = begin(w, form == ST_PROCESS ? STREAM_PROCESS : STREAM_NAME);
	sb_put64(b, of);
	if (form != ST_PROCESS)
		sb_put8(b, form);
	sb_put_text(b, text);
	sb_end(b, at);
}

static int say_address(void *arg, enum sy_form form, uint64_t *addr)
{
	struct sw *w = arg;
	char text[NM_TEXT];

	if (st_name(&w->names, *addr, (uint8_t)form) == NULL) {
		sy_format(co_symbols(w->co), *addr, form, text, sizeof(text));
		put_name(w, *addr, (uint8_t)form, text);
	}
	return 0;
}

static void say_process(struct sw *w, uint64_t term)
{
	char text[1100];

	if (term == 0 || st_name(&w->names, term, ST_PROCESS) != NULL)
		return;
	en_process_text(w->en, term, text, sizeof(text));
	put_name(w, term, ST_PROCESS, text);
}

static void say_value(struct sw *w, const struct rec_head *rec, const struct prog_val *v)
{
	struct co_val val;
	uint64_t addr;

	if ((v->kind != V_STACK && v->kind != V_SYM) || cv_record(rec, v, &val) != 0)
		return;
	if (v->kind == V_SYM) {
		addr = (uint64_t)val.i;
		say_address(w, cv_form_of(v->sub), &addr);
	}
	for (unsigned i = 0; v->kind == V_STACK && i < cv_nframes(&val); i++) {
		addr = cv_frame(&val, i);
		if (!stack_is_mark(addr))
			say_address(w, cv_frame_form(i), &addr);
	}
}

/* printf("%a") of a number prints what is at that address. */
static void say_numbers(struct sw *w, const struct rec_head *rec, const struct prog_action *a)
{
	const struct d_fmtpart *p = a->fmt != NULL ? a->fmt->parts : NULL;
	struct co_val val;
	uint64_t addr;

	while (p != NULL && p->conv != 'a' && p->conv != 'A')
		p = p->next;
	for (unsigned i = 0; p != NULL && i < a->nvals; i++)
		if (a->vals[i].kind == V_INT && cv_record(rec, &a->vals[i], &val) == 0) {
			addr = (uint64_t)val.i;
			say_address(w, SY_ADDR, &addr);
		}
}

/* ---- probes and records ------------------------------------------------------------------- */

static uint32_t clause_number(const struct sw *w, const struct prog_clause *c)
{
	uint32_t i = 0;

	while (i < w->prog->nclauses && w->prog->clauses[i] != c)
		i++;
	return i;
}

static void put_probe(struct sw *w, const struct co_at *at)
{
	const erltrace_probe_info_t *p = &at->probe;
	struct co_buf *b = &w->out;
	size_t from = begin(w, STREAM_PROBE);

	sb_put32(b, at->epid);
	sb_put32(b, clause_number(w, at->clause));
	sb_put32(b, p->id);
	sb_put_text(b, p->provider);
	sb_put_text(b, p->module);
	sb_put_text(b, p->function);
	sb_put_text(b, p->name);
	sb_put32(b, (uint32_t)p->nargs);
	for (int i = 0; i < p->nargs; i++)
		sb_put_text(b, p->argtypes != NULL ? p->argtypes[i] : NULL);
	sb_end(b, from);
}

static bool has_addresses(const struct prog_action *a)
{
	for (unsigned k = 0; k < a->nvals; k++)
		if (a->vals[k].kind == V_STACK || a->vals[k].kind == V_SYM)
			return true;
	for (const struct d_fmtpart *p = a->fmt != NULL ? a->fmt->parts : NULL; p != NULL;
		p = p->next)
		if (p->conv == 'a' || p->conv == 'A')
			return true;
	return false;
}

static bool is_plain(const struct prog_clause *c)
{
	for (unsigned i = 0; i < c->nactions; i++)
		if (c->actions[i].act == ACT_SETOPT || has_addresses(&c->actions[i]))
			return false;
	return true;
}

/* SAID_NOT: there is no such clause, or no memory. */
static enum said say_probe(struct sw *w, uint32_t epid, struct co_at *at)
{
	size_t n = (size_t)epid + 1, was = w->nsaid;

	if (epid < w->nsaid && w->said[epid] == SAID_PLAIN)
		return SAID_PLAIN;
	if (!co_engine_origin.at(w->en, epid, at))
		return SAID_NOT;
	if (!ARRAY_RESERVE(w->said, w->nsaid, n)) {
		w->out.nomem = true;
		return SAID_NOT;
	}
	memset(w->said + was, 0, w->nsaid - was);
	if (w->said[epid] == SAID_NOT) {
		put_probe(w, at);
		w->said[epid] = is_plain(at->clause) ? SAID_PLAIN : SAID;
	}
	return w->out.nomem ? SAID_NOT : w->said[epid];
}

/* What the engine reads of its options while it runs, a script may change. */
static void set_option(struct sw *w, const struct rec_head *rec, const struct prog_action *a)
{
	struct co_val v[2] = {{0}, {0}};
	char name[64], value[512];
	struct et_error e;

	for (unsigned i = 0; i < a->nvals && i < 2; i++)
		if (a->vals[i].kind != V_STR || cv_record(rec, &a->vals[i], &v[i]) != 0)
			return;
	snprintf(name, sizeof(name), "%.*s", (int)v[0].len, v[0].len ? (const char *)v[0].p : "");
	snprintf(value, sizeof(value), "%.*s", (int)v[1].len, v[1].len ? (const char *)v[1].p : "");
	et_err_clear(&e); /* the consumer tells what is wrong */
	(void)et_setopt_script(w->opts, name, a->nvals > 1 ? value : NULL, &e);
}

static void look_at_actions(struct sw *w, const struct rec_head *rec, const struct prog_clause *c)
{
	for (unsigned i = 0; i < c->nactions; i++) {
		const struct prog_action *a = &c->actions[i];

		for (unsigned k = 0; k < a->nvals; k++)
			say_value(w, rec, &a->vals[k]);
		if (a->fmt != NULL)
			say_numbers(w, rec, a);
		if (a->act == ACT_SETOPT)
			set_option(w, rec, a);
	}
}

static int put_record(void *arg, unsigned thread, const struct rec_head *rec)
{
	struct sw *w = arg;
	struct rec_process is;
	struct co_at at;
	enum said said;

	if (rec->kind != REC_DATA && rec->kind != REC_ERROR)
		return is_full(w);
	said = say_probe(w, rec->epid, &at);
	if (said == SAID_NOT)
		return is_full(w);
	if (said != SAID_PLAIN && rec->kind == REC_DATA)
		look_at_actions(w, rec, at.clause);
	if (rec->flags & REC_PROCESS) {
		memcpy(&is, (const char *)rec + rec->size - sizeof(is), sizeof(is));
		say_process(w, is.id);
		say_process(w, is.name);
	}
	if (w->open == 0 || w->open_thread != thread) {
		w->open = begin(w, STREAM_RECORDS);
		w->open_thread = thread;
		sb_put32(&w->out, thread);
	}
	cb_put(&w->out, rec, rec->size);
	if (en_is_noted(w->en) && !w->out.nomem)
		w->out.p[w->out.len - rec->size + offsetof(struct rec_head, flags)] |= REC_NOTED;
	return is_full(w);
}

/* ---- aggregations ------------------------------------------------------------------------- */

static uint32_t nwords(const struct prog_agg *a)
{
	return a->fn == AGG_PERCENTILE ? PC_WORDS : aggfn_words(a);
}

static uint64_t word(const struct prog_agg *a, const uint64_t *data, uint32_t i)
{
	return a->fn == AGG_PERCENTILE ? pc_word((const struct hist *)(const void *)data, i)
				       : data[i];
}

/* Of distributions what is not 0; the others are short. */
static bool is_handed_on(const struct prog_agg *a, const uint64_t *data, uint32_t i)
{
	if (a->fn == AGG_PERCENTILE && i >= PC_FIRST_BUCKET)
		return word(a, data, i) != 0;
	return !ag_is_dist(a) || data[i] != 0;
}

static void put_part(struct sw *w, const struct ag_ent *e, uint32_t thread, const uint64_t *data)
{
	const struct prog_agg *a = w->prog->aggs[e->agg];
	uint32_t words = nwords(a), n = 0;
	struct co_buf *b = &w->out;
	size_t from;

	for (uint32_t i = 0; i < words; i++)
		n += is_handed_on(a, data, i);
	from = begin(w, STREAM_AGGREGATION);
	sb_put16(b, e->agg);
	sb_put32(b, thread);
	sb_put32(b, e->keylen);
	sb_put32(b, n);
	cb_put(b, e->key, e->keylen);
	for (uint32_t i = 0; i < words; i++)
		if (is_handed_on(a, data, i)) {
			sb_put32(b, i);
			sb_put64(b, word(a, data, i));
		}
	sb_end(b, from);
}

/* aggpercpu: what each thread gave, which is all together the sum. */
static int put_entry(struct co *co, const struct ag_ent *e, void *arg)
{
	struct sw *w = arg;
	uint8_t *key;

	(void)co;
	if (cv_has_addresses(w->prog->aggs[e->agg])) {
		key = malloc((size_t)e->keylen + 1);
		if (key != NULL) {
			memcpy(key, e->key, e->keylen);
			cv_map(w->prog->aggs[e->agg], key, e->keylen, say_address, w);
		}
		free(key);
	}
	for (const struct ag_part *p = e->parts; p != NULL; p = p->next)
		put_part(w, e, p->thread, p->data);
	if (e->parts == NULL)
		put_part(w, e, 0, e->data);
	return is_full(w);
}

/* true: all that was taken is out. */
static bool hand_over(struct sw *w)
{
	uint64_t from = en_now(), took;

	if (!w->handing) {
		if (!w->round.final && !w->round.now && from < w->due &&
			!(w->orders && en_pending(w->en)))
			return true;
		co_snapshot(w->co);
		w->handing = true;
	}
	w->handing = co_hand_over(w->co, put_entry, w) != 0;
	took = (en_now() - from) * SHARE;
	w->due = from + (took > w->every ? took : w->every);
	if (!w->handing)
		w->every = 2 * w->every < w->round.every ? 2 * w->every : w->round.every;
	return !w->handing;
}

/* ---- drops, news, time -------------------------------------------------------------------- */

static void put_drop(struct sw *w, uint32_t thread, enum en_drop kind, uint64_t total,
	uint64_t *told)
{
	size_t at;

	if (total == *told)
		return;
	at = begin(w, STREAM_DROPS);
	sb_put32(&w->out, thread);
	sb_put32(&w->out, kind);
	sb_put64(&w->out, total);
	sb_end(&w->out, at);
	*told = total;
}

static void put_drops(struct sw *w)
{
	uint32_t n = en_nthreads(w->en);
	size_t was = w->ndrops;

	if (!ARRAY_RESERVE(w->drops, w->ndrops, n))
		return; /* the next time */
	if (w->ndrops > was)
		memset(w->drops + was, 0, (w->ndrops - was) * sizeof(*w->drops));
	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = DROP_PRINCIPAL; k <= DROP_AGGREGATION; k++)
			put_drop(w, i, k, en_drops(w->en, i, k), &w->drops[i][k]);
	for (unsigned k = DROP_DYNAMIC; k < DROP_KINDS; k++)
		put_drop(w, 0, k, en_drops(w->en, 0, k), &w->other_drops[k]);
	put_drop(w, UINT32_MAX, DROP_AGGREGATION, co_merge_drops(w->co), &w->merged_drops);
}

static void put_news(struct sw *w)
{
	char line[512];
	size_t at;

	while (en_news(w->en, line, sizeof(line)) || sy_news(co_symbols(w->co), line, sizeof(line))) {
		at = begin(w, STREAM_NEWS);
		sb_put_text(&w->out, line);
		sb_end(&w->out, at);
	}
}

static void put_time(struct sw *w)
{
	uint64_t now = en_now();
	size_t at = begin(w, STREAM_TIME);

	sb_put64(&w->out, now);
	sb_put64(&w->out, en_wall(w->en, now));
	sb_put64(&w->out, en_fired(w->en));
	sb_put32(&w->out, en_nthreads(w->en));
	sb_put32(&w->out, w->round.permille);
	sb_end(&w->out, at);
	w->told = now;
}

static void put_end(struct sw *w)
{
	struct en_seen seen;
	int code = -1;
	size_t at;

	en_seen(w->en, &seen);
	at = begin(w, STREAM_SEEN);
	sb_put64(&w->out, seen.ns);
	sb_put64(&w->out, seen.events);
	sb_put64(&w->out, seen.looks.rounds);
	sb_put64(&w->out, seen.looks.whole);
	sb_put64(&w->out, seen.looks.things);
	sb_put64(&w->out, seen.looks.now);
	sb_put64(&w->out, seen.looks.there);
	sb_end(&w->out, at);
	if (!en_exited(w->en, &code))
		code = -1;
	at = begin(w, STREAM_END);
	sb_put32(&w->out, (uint32_t)code);
	sb_end(&w->out, at);
	w->ended = true;
}

/* ---- a round ------------------------------------------------------------------------------ */

static bool status_due(struct sw *w)
{
	uint64_t now = en_now();

	if (w->status != 0 && now - w->status < w->opts->val[OPT_STATUSRATE])
		return false;
	w->status = now;
	return true;
}

static bool takes_records(const struct sw_round *round)
{
	return round->final || !round->no_records;
}

int sw_work(struct sw *w, const struct sw_round *round, char **bytes, size_t *len)
{
	bool more, final = round->final;

	*bytes = NULL;
	*len = 0;
	if (w->ended)
		return 0;
	w->round = *round;
	sy_watch(co_symbols(w->co));
	if (!w->begun) {
		put_head(w);
		put_time(w);
	}
	more = !hand_over(w) || (takes_records(round) && en_consume(w->en, put_record, w) != 0);
	if (!more && (final || status_due(w))) {
		put_drops(w);
		put_news(w);
	}
	if (w->out.len > 0 || final || (round->beat > 0 && en_now() - w->told >= round->beat))
		put_time(w);
	if (final && !more)
		put_end(w);
	end_records(w);
	if (w->out.nomem) { /* a stream that lacks something is none */
		cb_free(&w->out);
		return -ENOMEM;
	}
	w->begun = true;
	*bytes = w->out.p;
	*len = w->out.len;
	w->out = (struct co_buf){0};
	return more;
}
