/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results, errors and what is to be known of scripts as Erlang terms. No atom is made of what was
 * traced.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "json/json.h"
#include "prog/prog.h"
#include "stream/writer.h"
#include "feed.h"

/* ---- terms ----------------------------------------------------------------------------- */

/* Short names: much here is made of them. */
#define binary(env, bytes, len) beam_make_binary(env, bytes, len)
#define text(env, s)		beam_make_text(env, s)

/* A stack is the list of its frames; its text has one a line. */
static ERL_NIF_TERM frames_term(ErlNifEnv *env, const char *s, size_t len)
{
	ERL_NIF_TERM list = enif_make_list(env, 0), frames;
	const char *end = s + len, *nl;

	for (; s != NULL && s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (nl == NULL)
			nl = end;
		list = enif_make_list_cell(env, binary(env, s, (size_t)(nl - s)), list);
	}
	enif_make_reverse_list(env, list, &frames);
	return frames;
}

static ERL_NIF_TERM value_term(ErlNifEnv *env, const erltrace_value_t *v)
{
	switch (v->kind) {
	case ERLTRACE_INT:
		return v->is_signed ? enif_make_int64(env, v->i)
				    : enif_make_uint64(env, (uint64_t)v->i);
	case ERLTRACE_FLOAT:
		return isfinite(v->f) ? enif_make_double(env, v->f) : atom_undefined;
	case ERLTRACE_STACK: return frames_term(env, v->bytes, v->len);
	default: return v->bytes ? binary(env, v->bytes, v->len) : atom_undefined;
	}
}

/* ---- results --------------------------------------------------------------------------- */

struct results {
	ErlNifEnv *env;
	ERL_NIF_TERM list;
	const char *name; /* of the last aggregation, and as terms */
	ERL_NIF_TERM name_term, function;
	ERL_NIF_TERM probe; /* of an event that no record has followed yet */
	bool bare;
	bool files; /* names of snapshots are wanted */
};

static void push(struct results *r, ERL_NIF_TERM t)
{
	r->list = enif_make_list_cell(r->env, t, r->list);
}

static int on_text(void *arg, const char *s, size_t len)
{
	struct results *r = arg;

	push(r, enif_make_tuple2(r->env, atom_text, binary(r->env, s, len)));
	return 0;
}

static ERL_NIF_TERM probe_term(ErlNifEnv *env, const erltrace_probe_info_t *p)
{
	return enif_make_tuple4(env, text(env, p->provider), text(env, p->module),
		text(env, p->function), text(env, p->name));
}

/* A probe that fired, with nothing recorded: the default action. */
static void end_event(struct results *r)
{
	if (r->bare)
		push(r, enif_make_tuple3(r->env, atom_probe, r->probe, atom_undefined));
	r->bare = false;
}

static int on_event(void *arg, const erltrace_event_t *ev)
{
	struct results *r = arg;

	end_event(r);
	r->probe = probe_term(r->env, &ev->probe);
	r->bare = true;
	return 0;
}

/*
 * {printf | printa | print, Probe, Text}, {alert, Probe, {Name, Text}}, and {probe, Probe, Value}
 * for each value of others.
 */
static int on_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	static const char *const texts[] = {"printf", "printa", "print"};
	static const char *const silent[] = {"exit", "commit", "discard", "speculate", "setopt",
		"system", "freopen", "ftruncate", "raise", "stop", "chill", "panic", "breakpoint",
		"clear", "trunc", "normalize", "denormalize", "snapshot"};
	struct results *r = arg;

	(void)ev;
	r->bare = false;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(rec->action, texts[i]) == 0) {
			push(r, enif_make_tuple3(r->env, enif_make_atom(r->env, texts[i]), r->probe,
					binary(r->env, rec->text, rec->len)));
			return 0;
		}
	if (strcmp(rec->action, "alert") == 0 && rec->nvalues > 0) {
		push(r, enif_make_tuple3(r->env, enif_make_atom(r->env, "alert"), r->probe,
				enif_make_tuple2(r->env, value_term(r->env, &rec->values[0]),
					binary(r->env, rec->text, rec->len))));
		return 0;
	}
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (strcmp(rec->action, silent[i]) == 0)
			return 0;
	for (unsigned i = 0; i < (strcmp(rec->action, "tracemem") == 0 ? 1 : rec->nvalues); i++)
		push(r, enif_make_tuple3(r->env, atom_probe, r->probe,
				value_term(r->env, &rec->values[i])));
	return 0;
}

static int on_alert(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	return strcmp(rec->action, "alert") != 0 || on_event(arg, ev) != 0
		       ? 0
		       : on_record(arg, ev, rec);
}

/* {alert, <<Name, 0, Text>>} */
static int on_alert_data(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	struct results *r = arg;
	const erltrace_value_t *name = rec->values;
	unsigned char *p;
	ERL_NIF_TERM t;

	(void)ev;
	if (strcmp(rec->action, "alert") != 0 || rec->nvalues == 0 || name->bytes == NULL)
		return 0;
	p = enif_make_new_binary(r->env, name->len + 1 + rec->len, &t);
	memcpy(p, name->bytes, name->len);
	p[name->len] = '\0';
	memcpy(p + name->len + 1, rec->text, rec->len);
	push(r, enif_make_tuple2(r->env, enif_make_atom(r->env, "alert"), t));
	return 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct results *r = arg;

	push(r, enif_make_tuple4(r->env, atom_drop, text(r->env, d->kind),
			enif_make_uint64(r->env, d->drops), text(r->env, d->message)));
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	struct results *r = arg;

	push(r, enif_make_tuple2(r->env, atom_fault, text(r->env, f->message)));
	return 0;
}

/* What starting found, said once. */
static void push_warnings(struct results *r, struct beam_handle *b)
{
	char *end, *line = b->warnings;

	for (; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1)
		push(r, enif_make_tuple2(r->env, atom_warning,
				binary(r->env, line, (size_t)(end - line))));
	free(b->warnings);
	b->warnings = NULL;
}

/*
 * For the command: {snapopen, <<"FORM NS WHY">>} or {snapalert, <<"FORM NS NAME">>}, {snap,
 * Bytes}.., {snapend, <<>>}; else {snapshot, File} where somebody waits for it. What went wrong is
 * a warning.
 *
 */
static int on_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	struct results *r = arg;
	const char *open = s->alert != NULL ? "snapalert" : "snapopen";
	char head[512];

	if (s->error != NULL) {
		snprintf(head, sizeof(head), "snapshot '%.150s': %.300s", s->why, s->error);
		push(r, enif_make_tuple2(r->env, atom_warning, text(r->env, head)));
	} else if (s->file != NULL) {
		if (r->files)
			push(r, enif_make_tuple2(r->env, enif_make_atom(r->env, "snapshot"),
					text(r->env, s->file)));
	} else if (s->bytes == NULL) {
		push(r, enif_make_tuple2(
				r->env, enif_make_atom(r->env, "snapend"), text(r->env, "")));
	} else {
		if (s->part == 0) {
			snprintf(head, sizeof(head), "%s %llu %s", s->form,
				(unsigned long long)s->walltimestamp,
				s->alert != NULL ? s->alert : s->why);
			push(r, enif_make_tuple2(r->env, enif_make_atom(r->env, open),
					text(r->env, head)));
		}
		push(r, enif_make_tuple2(r->env, enif_make_atom(r->env, "snap"),
				binary(r->env, s->bytes, s->len)));
	}
	return 0;
}

/* The handler of JSON has a state of its own. */
static int on_json_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	return on_snapshot(((struct co_json *)arg)->arg, s);
}

/*
 * How results are wanted: text, terminal, json, records, both (text and records), alerts (nothing
 * that is printed), data (of a flight recorder: its alerts).
 */
static int handlers(ErlNifEnv *env, struct beam_handle *b, ERL_NIF_TERM form, struct results *r,
	struct co_json *json, erltrace_handlers_t *hs)
{
	char f[16] = "";

	enif_get_atom(env, form, f, sizeof(f), ERL_NIF_LATIN1);
	*json = (struct co_json){
		.text = on_text, .arg = r, .quiet = api_option(beam_results(b), OPT_QUIET) != 0};
	*hs = (erltrace_handlers_t){
		.size = sizeof(*hs), .arg = r, .drop = on_drop, .fault = on_fault,
		.snapshot = on_snapshot};
	hs->terminal = strcmp(f, "terminal") == 0;
	if (strcmp(f, "records") == 0 || strcmp(f, "both") == 0) {
		hs->event = on_event;
		hs->record = on_record;
	} else if (strcmp(f, "alerts") == 0) {
		hs->record = on_alert;
		api_mute(beam_results(b));
	} else if (strcmp(f, "data") == 0) {
		hs->record = on_alert_data;
	}
	if (hs->record == NULL || strcmp(f, "both") == 0)
		hs->text = on_text;
	if (strcmp(f, "json") != 0)
		return 0;
	hs->snapshot = on_json_snapshot;
	return co_json_handlers(json, hs);
}

enum { STREAM_MOST = 1 << 20 }; /* bytes in one answer */

/*
 * {stream, Ms, Beat, Form}: a stream, for a consumer elsewhere; both in ms (stream/writer.h). Form: of the
 * alerts and snapshots of a flight recorder.
 */
static bool is_stream(ErlNifEnv *env, ERL_NIF_TERM *form, struct sw_round *round)
{
	const ERL_NIF_TERM *t;
	unsigned every, beat;
	int n;

	if (!enif_get_tuple(env, *form, &n, &t) || n != 4 || !enif_get_uint(env, t[1], &every) ||
		!enif_get_uint(env, t[2], &beat))
		return false;
	round->every = every * 1000000ULL;
	round->beat = beat * 1000000ULL;
	*form = t[3];
	return true;
}

/* {stream, Bytes} */
static int forward(struct results *r, struct beam_handle *b, struct sw_round *round,
	const erltrace_handlers_t *hs, erltrace_error_t *e)
{
	char *bytes;
	size_t len;
	int rc;

	round->most = STREAM_MOST;
	round->permille = b->watchdog.permille;
	rc = api_forward(b->h, b->node_text != NULL ? b->node_text->text : "", round, hs, &bytes,
		&len, e);
	if (len > 0)
		push(r, enif_make_tuple2(r->env, enif_make_atom(r->env, "stream"),
				binary(r->env, bytes, len)));
	free(bytes);
	return rc == API_MORE ? ERLTRACE_OK : rc;
}

/* work(Handle, Form) -> {ok | done, [Item]} */
ERL_NIF_TERM nif_work(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct results r = {.env = env, .list = enif_make_list(env, 0)};
	erltrace_handlers_t hs;
	struct co_json json = {0};
	erltrace_error_t e = {.tag = ""};
	uint64_t from = clock_thread();
	struct sw_round round = {0};
	ERL_NIF_TERM items, form = argv[1];
	bool streams;
	int rc;

	WITH_HANDLE(b)
	push_warnings(&r, b);
	streams = is_stream(env, &form, &round);
	rc = handlers(env, b, form, &r, &json, &hs);
	if (rc == 0)
		rc = streams ? forward(&r, b, &round, &hs, &e) : erltrace_work(beam_results(b), &hs, &e);
	beam_watchdog_read(b);
	co_json_free(&json);
	atomic_fetch_add(&b->cost.reading, clock_thread() - from);
	enif_mutex_unlock(b->lock);
	if (rc < 0)
		return beam_error(env, &e);
	end_event(&r);
	enif_make_reverse_list(env, r.list, &items);
	return enif_make_tuple2(env, rc == ERLTRACE_DONE ? atom_done : atom_ok, items);
}

/* Is there nothing to read? */
static bool is_at_rest(struct beam_handle *b, bool (*is_idle)(const erltrace_t *h))
{
	bool idle = b->warnings == NULL && is_idle(b->h);

	if (idle)
		beam_watchdog_read(b);
	return idle;
}

/*
 * rest(Handle, work | ticks | clean) -> Result | job: what these would return, if there is nothing
 * to do for them; that is found out at once.
 */
ERL_NIF_TERM nif_rest(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = beam_get(env, argv[0]);
	ERL_NIF_TERM none = enif_make_list(env, 0), answer = atom_job;
	uint64_t ms;

	(void)argc;
	if (b == NULL)
		return beam_badarg(env);
	if (enif_mutex_trylock(b->lock) != 0)
		return atom_job;
	if (b->h == NULL)
		answer = atom_job;
	else if (argv[1] == atom_work && is_at_rest(b, api_idle))
		answer = enif_make_tuple2(env, atom_ok, none);
	else if (argv[1] == atom_ticks && is_at_rest(b, api_rests))
		answer = enif_make_tuple3(env, atom_ok, none, none);
	else if (argv[1] == atom_clean && (ms = beam_clean_rest(b)) > 0)
		answer = enif_make_uint64(env, ms);
	enif_mutex_unlock(b->lock);
	return answer;
}

/* snapshot(Handle, Why, Form) -> {ok, [Item]} */
ERL_NIF_TERM nif_snapshot(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct results r = {.env = env, .list = enif_make_list(env, 0), .files = true};
	erltrace_handlers_t hs;
	struct co_json json;
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM items;
	char *why;
	int rc = -1;

	WITH_HANDLE(b)
	why = beam_get_text(env, argv[1], NULL);
	if (why != NULL && handlers(env, b, argv[2], &r, &json, &hs) == 0) {
		rc = erltrace_take_snapshot(b->h, why, &hs, &e);
		co_json_free(&json);
	}
	enif_mutex_unlock(b->lock);
	free(why);
	if (rc < 0)
		return beam_error(env, &e);
	enif_make_reverse_list(env, r.list, &items);
	return enif_make_tuple2(env, atom_ok, items);
}

/* ---- aggregations ---------------------------------------------------------------------- */

/* {{Min, Max}, Count}, both in it; the ends of 64 bits are no bound. */
static ERL_NIF_TERM bucket_term(ErlNifEnv *env, const erltrace_bucket_t *b)
{
	int64_t max = b->hi == INT64_MAX ? b->hi : b->hi - 1;

	return enif_make_tuple2(env,
		enif_make_tuple2(env, enif_make_int64(env, b->lo), enif_make_int64(env, max)),
		enif_make_int64(env, b->count));
}

/* {99.9, Value}, {99, Value} */
static ERL_NIF_TERM percentile_term(ErlNifEnv *env, const erltrace_percentile_t *p)
{
	int whole = (int)p->percent;

	return enif_make_tuple2(env,
		p->percent > whole ? enif_make_double(env, p->percent) : enif_make_int(env, whole),
		enif_make_int64(env, p->value));
}

static int on_agg(void *arg, const erltrace_agg_t *a)
{
	struct results *r = arg;
	ErlNifEnv *env = r->env;
	ERL_NIF_TERM keys = enif_make_list(env, 0), value;

	for (unsigned i = a->nkeys; i-- > 0;)
		keys = enif_make_list_cell(env, value_term(env, &a->keys[i]), keys);
	if (strcmp(a->function, "avg") == 0 || strcmp(a->function, "stddev") == 0) {
		value = isfinite(a->avg) ? enif_make_double(env, a->avg) : atom_undefined;
	} else if (a->npercentiles > 0) {
		value = enif_make_list(env, 0);
		for (unsigned i = a->npercentiles; i-- > 0;)
			value = enif_make_list_cell(
				env, percentile_term(env, &a->percentiles[i]), value);
	} else if (strstr(a->function, "quantize") != NULL) {
		value = enif_make_list(env, 0);
		for (unsigned i = a->nbuckets; i-- > 0;)
			value = enif_make_list_cell(env, bucket_term(env, &a->buckets[i]), value);
	} else {
		value = a->is_signed ? enif_make_int64(env, a->value)
				     : enif_make_uint64(env, (uint64_t)a->value);
	}
	if (a->name != r->name) { /* the same terms for all keys of one */
		r->name = a->name;
		r->name_term = text(env, a->name);
		r->function = enif_make_atom(env, a->function);
	}
	push(r, enif_make_tuple4(env, r->name_term, r->function, keys, value));
	return 0;
}

/* walk(Handle, Clear) -> {ok, [{Name, Function, Keys, Value}]} */
ERL_NIF_TERM nif_walk(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct results r = {.env = env, .list = enif_make_list(env, 0)};
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM items;
	int rc;

	WITH_HANDLE(b)
	rc = erltrace_snapshot(beam_results(b), &e);
	beam_watchdog_read(b);
	if (rc == 0)
		rc = erltrace_each(beam_results(b), NULL, on_agg, &r, &e);
	if (rc == 0 && argv[1] == atom_true)
		erltrace_trunc(beam_results(b), NULL, &e);
	enif_mutex_unlock(b->lock);
	if (rc < 0)
		return beam_error(env, &e);
	enif_make_reverse_list(env, r.list, &items);
	return enif_make_tuple2(env, atom_ok, items);
}

/* Labels are text: bytes in hexadecimal digits. */
static ERL_NIF_TERM label_term(ErlNifEnv *env, const erltrace_value_t *v)
{
	const unsigned char *from = v->bytes;
	unsigned char *p;
	ERL_NIF_TERM t;

	if (v->kind != ERLTRACE_BYTES || from == NULL)
		return value_term(env, v);
	p = enif_make_new_binary(env, 2 * v->len, &t);
	for (size_t i = 0; i < v->len; i++) {
		p[2 * i] = (unsigned char)"0123456789abcdef"[from[i] >> 4];
		p[2 * i + 1] = (unsigned char)"0123456789abcdef"[from[i] & 15];
	}
	return t;
}

/* A part of a tick, for telemetry: {Aggregation, Keys, Value}. */
static void push_part(struct results *r, const erltrace_agg_t *a)
{
	ErlNifEnv *env = r->env;
	ERL_NIF_TERM keys = enif_make_list(env, 0), value;

	for (unsigned i = a->nkeys; i-- > 0;)
		keys = enif_make_list_cell(env, label_term(env, &a->keys[i]), keys);
	if (strcmp(a->function, "avg") == 0) {
		value = enif_make_tuple2(
			env, enif_make_int64(env, a->sum), enif_make_uint64(env, a->count));
	} else if (a->npercentiles > 0 || strstr(a->function, "quantize") != NULL) {
		value = enif_make_list(env, 0);
		for (unsigned i = a->nbuckets; i-- > 0;)
			value = enif_make_list_cell(env, bucket_term(env, &a->buckets[i]), value);
	} else {
		value = a->is_signed ? enif_make_int64(env, a->value)
				     : enif_make_uint64(env, (uint64_t)a->value);
	}
	if (a->name != r->name) {
		r->name = a->name;
		r->name_term = text(env, a->name);
	}
	push(r, enif_make_tuple3(env, r->name_term, keys, value));
}

struct tick {
	struct beam_handle *b;
	struct results parts;
	bool wanted; /* the parts */
	char *node;
};

static int on_change(void *arg, const erltrace_agg_t *a)
{
	struct tick *t = arg;

	feed_add(t->b, t->node, a);
	if (t->wanted)
		push_part(&t->parts, a);
	return 0;
}

/* Changes since the last tick are added to the totals; how many were lost, or -1. */
static int64_t take_tick(struct beam_handle *b, struct tick *t)
{
	const erltrace_change_handlers_t to = {.size = sizeof(to), .arg = t, .change = on_change};
	uint64_t from = clock_thread(), lost;
	int rc;

	feed_lock(b);
	rc = b->reader != NULL ? erltrace_stream_changes(b->reader, 0, &to, NULL)
			       : erltrace_changes(b->h, &to, NULL);
	lost = feed_unlock(b);
	atomic_fetch_add(&b->cost.reading, clock_thread() - from);
	return rc < 0 ? -1 : (int64_t)lost;
}

static ERL_NIF_TERM lost_term(ErlNifEnv *env, int64_t lost)
{
	char said[96];

	snprintf(said, sizeof(said), "%lld results were not added up: out of memory",
		(long long)lost);
	return enif_make_tuple4(env, atom_drop, text(env, "totals"), enif_make_int64(env, lost),
		text(env, said));
}

/*
 * ticks(Handle, Form, Node, Parts) -> {ok | done, [Item], [{Aggregation, Keys, Value}]}: as work(),
 * and what came since the last call is added to the totals that the handle feeds, with this node's
 * label. Parts: it is wanted as terms too, undivided: an integer, {Sum, Count} of avg(), buckets of
 * distributions and percentile().
 */
ERL_NIF_TERM nif_ticks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct tick tick = {.parts = {.env = env, .list = enif_make_list(env, 0)},
		.wanted = argv[3] == atom_true};
	ERL_NIF_TERM worked = beam_get(env, argv[0]) != NULL ? nif_work(env, argc, argv) : atom_closed;
	ERL_NIF_TERM items;
	const ERL_NIF_TERM *t;
	int64_t lost;
	int n;

	if (!enif_get_tuple(env, worked, &n, &t))
		return beam_badarg(env);
	if (t[0] == atom_error)
		return worked;
	WITH_HANDLE(b)
	tick.b = b;
	tick.node = beam_get_text(env, argv[2], NULL);
	lost = tick.node != NULL ? take_tick(b, &tick) : -1;
	enif_mutex_unlock(b->lock);
	free(tick.node);
	if (lost < 0)
		return enif_make_tuple2(env, atom_error, enif_make_atom(env, "enomem"));
	items = lost > 0 ? enif_make_list_cell(env, lost_term(env, lost), t[1]) : t[1];
	return enif_make_tuple3(env, t[0], items, tick.parts.list);
}

/* ---- about scripts --------------------------------------------------------------------- */

/* place(Handle) -> {File, SourceLine}: of the last script that did not compile */
ERL_NIF_TERM nif_place(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM ret;

	WITH_HANDLE(b)
	ret = enif_make_tuple2(env, text(env, b->failed.file), text(env, b->failed.source));
	enif_mutex_unlock(b->lock);
	return ret;
}

/* code(Handle) -> Binary: syntax tree and bytecode of the last script */
ERL_NIF_TERM nif_code(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char *tree, *code;
	ERL_NIF_TERM ret;
	size_t len;

	WITH_HANDLE(b)
	tree = erltrace_tree(b->h);
	code = erltrace_disassemble(b->h);
	enif_mutex_unlock(b->lock);
	len = tree != NULL ? strlen(tree) : 0;
	if (tree != NULL && code != NULL && (tree = realloc(tree, len + strlen(code) + 1)) != NULL)
		memcpy(tree + len, code, strlen(code) + 1);
	ret = text(env, tree != NULL ? tree : code != NULL ? code : "");
	free(tree);
	free(code);
	return ret;
}

/* ---- names ----------------------------------------------------------------------------- */

/* names(options | tags) -> [{Name, Help}] */
ERL_NIF_TERM nif_names(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct results r = {.env = env, .list = enif_make_list(env, 0)};
	ERL_NIF_TERM items;
	const char *name, *help;
	char which[16] = "";

	(void)argc;
	enif_get_atom(env, argv[0], which, sizeof(which), ERL_NIF_LATIN1);
	for (unsigned i = 0;; i++) {
		name = strcmp(which, "tags") == 0 ? erltrace_error_tag(i, &help)
						  : erltrace_option_name(i, &help);
		if (name == NULL)
			break;
		push(&r, enif_make_tuple2(env, text(env, name), text(env, help)));
	}
	enif_make_reverse_list(env, r.list, &items);
	return items;
}
