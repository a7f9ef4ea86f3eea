/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as JSON lines: the handlers of json.h. Integers are numbers, all 64 bits of them.
 */
#include "json.h"
#include "consume/consumer.h"

#include <stdlib.h>
#include <string.h>

#include "consume/aggs.h"
#include "consume/percentile.h"
#include "json_write.h"
#include "parts.h"

static void put(void *b, const void *text, size_t len)
{
	cb_put(b, text, len);
}

void js_string(struct co_buf *b, const void *data, size_t len)
{
	jw_string(put, b, data, len);
}

void js_text(struct co_buf *b, const char *key, const char *s)
{
	cb_fmt(b, ",\"%s\":", key);
	js_string(b, s ? s : "", s ? strlen(s) : 0);
}

void js_float(struct co_buf *b, double f)
{
	if (f - f != 0) /* JSON has no infinities */
		cb_str(b, "null");
	else
		cb_fmt(b, "%.17g", f);
}

/* Frames as an array of their texts, one a line in the value. */
static void js_stack(struct co_buf *b, const erltrace_value_t *v)
{
	const char *p = v->bytes, *end = p + v->len, *nl;
	bool first = true;

	cb_str(b, "[");
	while (p < end && (nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		if (!first)
			cb_str(b, ",");
		first = false;
		js_string(b, p, (size_t)(nl - p));
		p = nl + 1;
	}
	cb_str(b, "]");
}

static void js_value(struct co_buf *b, const erltrace_value_t *v)
{
	size_t i;

	switch (v->kind) {
	case ERLTRACE_INT:
		if (v->is_signed)
			cb_fmt(b, "%lld", (long long)v->i);
		else
			cb_fmt(b, "%llu", (unsigned long long)v->i);
		break;
	case ERLTRACE_FLOAT: js_float(b, v->f); break;
	case ERLTRACE_STACK: js_stack(b, v); break;
	case ERLTRACE_BYTES:
		cb_str(b, "\"");
		for (i = 0; i < v->len; i++)
			cb_fmt(b, "%02x", ((const uint8_t *)v->bytes)[i]);
		cb_str(b, "\"");
		break;
	default: js_string(b, v->bytes != NULL ? v->bytes : "", v->len);
	}
}

void js_values(struct co_buf *b, const char *key, const erltrace_value_t *v, unsigned n)
{
	unsigned i;

	cb_fmt(b, ",\"%s\":[", key);
	for (i = 0; i < n; i++) {
		if (i)
			cb_str(b, ",");
		js_value(b, &v[i]);
	}
	cb_str(b, "]");
}

static void js_begin(struct co_buf *b, const char *type)
{
	b->len = 0;
	cb_fmt(b, "{\"type\":\"%s\"", type);
}

/* What one of several nodes has, says so first. */
static void js_begin_of(struct co_buf *b, const char *node, const char *type)
{
	js_begin(b, type);
	if (node == NULL)
		return;
	b->len = 0;
	cb_str(b, "{\"node\":");
	js_string(b, node, strlen(node));
	cb_fmt(b, ",\"type\":\"%s\"", type);
}

static int js_end(struct co_json *j)
{
	struct co_buf *b = j->buf;

	cb_str(b, "}\n");
	if (b->nomem) {
		b->nomem = false;
		return -1;
	}
	return j->text ? j->text(j->arg, b->p, b->len) : 0;
}

void js_event(struct co_buf *b, const erltrace_event_t *ev)
{
	js_text(b, "provider", ev->probe.provider);
	js_text(b, "module", ev->probe.module);
	js_text(b, "function", ev->probe.function);
	js_text(b, "name", ev->probe.name);
	cb_fmt(b, ",\"id\":%u,\"cpu\":%u,\"timestamp\":%llu,\"walltimestamp\":%llu", ev->probe.id,
		ev->cpu, (unsigned long long)ev->timestamp, (unsigned long long)ev->walltimestamp);
}

static int js_on_event(void *arg, const erltrace_event_t *ev)
{
	struct co_json *j = arg;

	if (j->quiet)
		return 0;
	js_begin_of(j->buf, ev->node, "probe");
	js_event(j->buf, ev);
	cb_fmt(j->buf, ",\"epid\":%u", ev->epid);
	if (ev->flow)
		js_text(j->buf, "flow", ev->flow > 0 ? "entry" : "return");
	return js_end(j);
}

/* What gives nothing of its own: aggregations come through js_on_aggregation. */
bool co_json_is_silent(const char *action)
{
	static const char *const silent[] = {"printa", "clear", "trunc", "normalize", "denormalize",
		"commit", "discard", "speculate", "ftruncate", ""};
	unsigned i;

	for (i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (strcmp(action, silent[i]) == 0)
			return true;
	return false;
}

static int js_on_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	struct co_json *j = arg;

	if (co_json_is_silent(rec->action))
		return 0;
	js_begin_of(j->buf, ev->node, rec->action);
	js_event(j->buf, ev);
	js_values(j->buf, "values", rec->values, rec->nvalues);
	if (strcmp(rec->action, "printf") == 0 || strcmp(rec->action, "print") == 0 ||
		strcmp(rec->action, "alert") == 0) {
		cb_str(j->buf, ",\"text\":");
		js_string(j->buf, rec->text, rec->len);
	}
	return js_end(j);
}

int co_json_recording(struct co_json *j, const erltrace_snapshot_t *s, uint64_t first,
	uint64_t whole, uint64_t last)
{
	js_begin(j->buf, "recording");
	js_text(j->buf, "why", s->why);
	cb_fmt(j->buf,
		",\"walltimestamp\":%llu,\"events\":%llu,\"overwritten\":%llu,\"first\":%llu,"
		"\"whole\":%llu,\"last\":%llu",
		(unsigned long long)s->walltimestamp, (unsigned long long)s->events,
		(unsigned long long)s->overwritten, (unsigned long long)first,
		(unsigned long long)whole, (unsigned long long)last);
	return js_end(j);
}

static int js_on_drop(void *arg, const erltrace_drop_t *d)
{
	struct co_json *j = arg;

	js_begin_of(j->buf, d->node, "drop");
	js_text(j->buf, "kind", d->kind);
	if (d->cpu >= 0)
		cb_fmt(j->buf, ",\"cpu\":%d", d->cpu);
	else
		cb_str(j->buf, ",\"cpu\":null");
	cb_fmt(j->buf, ",\"drops\":%llu,\"total\":%llu", (unsigned long long)d->drops,
		(unsigned long long)d->total);
	js_text(j->buf, "message", d->message);
	return js_end(j);
}

static int js_on_fault(void *arg, const erltrace_fault_t *f)
{
	struct co_json *j = arg;

	js_begin_of(j->buf, f->event.node, "error");
	js_event(j->buf, &f->event);
	js_text(j->buf, "fault", f->fault);
	cb_fmt(j->buf, ",\"address\":%llu,\"pc\":%u", (unsigned long long)f->address, f->pc);
	js_text(j->buf, "file", f->file);
	cb_fmt(j->buf, ",\"line\":%d", f->line);
	js_text(j->buf, "message", f->message);
	return js_end(j);
}

static int js_on_nothing(void *arg, const erltrace_nothing_t *n)
{
	struct co_json *j = arg;

	js_begin(j->buf, "nothing");
	cb_fmt(j->buf, ",\"seconds\":%.3f,\"nodes\":%u,\"events\":%llu", n->seconds, n->nodes,
		(unsigned long long)n->events);
	if (n->things != NULL) {
		js_text(j->buf, "things", n->things);
		cb_fmt(j->buf, ",\"rounds\":%llu,\"whole\":%llu,\"seen\":%llu",
			(unsigned long long)n->rounds, (unsigned long long)n->whole,
			(unsigned long long)n->seen);
		if (n->whole == 0)
			cb_fmt(j->buf, ",\"there\":%llu", (unsigned long long)n->there);
	}
	js_text(j->buf, "text", n->text);
	return js_end(j);
}

static void js_bound(struct co_buf *b, const char *key, int64_t v, int64_t none)
{
	if (v == none)
		cb_fmt(b, "\"%s\":null,", key);
	else
		cb_fmt(b, "\"%s\":%lld,", key, (long long)v);
}

static void js_buckets(struct co_buf *b, const erltrace_agg_t *a)
{
	unsigned i;

	cb_str(b, ",\"buckets\":[");
	for (i = 0; i < a->nbuckets; i++) {
		cb_str(b, i ? ",{" : "{");
		js_bound(b, "lo", a->buckets[i].lo, INT64_MIN);
		js_bound(b, "hi", a->buckets[i].hi, INT64_MAX);
		cb_fmt(b, "\"count\":%lld}", (long long)a->buckets[i].count);
	}
	cb_str(b, "]");
}

static void js_percentiles(struct co_buf *b, const erltrace_agg_t *a)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < a->nbuckets; i++)
		count += (uint64_t)a->buckets[i].count;
	cb_str(b, ",\"percentiles\":[");
	for (unsigned i = 0; i < a->npercentiles; i++)
		cb_fmt(b, "%s{\"percent\":%.9g,\"value\":%lld}", i ? "," : "",
			a->percentiles[i].percent, (long long)a->percentiles[i].value);
	cb_fmt(b, "],\"count\":%lld", (long long)count);
}

/* Without its braces, after a first member or none; mergeable: others are added to it. */
static void js_agg(struct co_buf *b, const erltrace_agg_t *a, bool mergeable)
{
	cb_str(b, "\"aggregation\":");
	js_string(b, a->name, strlen(a->name));
	js_text(b, "function", a->function);
	js_values(b, "keys", a->keys, a->nkeys);
	if (strstr(a->function, "quantize") != NULL || (a->npercentiles > 0 && mergeable)) {
		js_buckets(b, a);
	} else if (a->npercentiles > 0) {
		js_percentiles(b, a);
	} else if (strcmp(a->function, "avg") == 0 || strcmp(a->function, "stddev") == 0) {
		cb_str(b, ",\"value\":");
		js_float(b, a->avg);
	} else if (a->is_signed) {
		cb_fmt(b, ",\"value\":%lld", (long long)a->value);
	} else {
		cb_fmt(b, ",\"value\":%llu", (unsigned long long)a->value);
	}
	cb_fmt(b, ",\"normal\":%llu", (unsigned long long)a->normal);
}

static int js_on_aggregation(void *arg, const erltrace_agg_t *a)
{
	struct co_json *j = arg;

	js_begin(j->buf, "aggregation");
	cb_str(j->buf, ",");
	js_agg(j->buf, a, false);
	return js_end(j);
}

/* ---- live ----------------------------------------------------------------------------- */

#define TICK_MAX (512u << 10) /* bytes of a line: the keys beyond come with the next one */

/* #pragma D metric: what it says, and no more. */
static void js_metric(struct co_buf *b, const erltrace_metric_t *m)
{
	const struct { const char *key, *text; } texts[] = {
		{"name", m->name}, {"help", m->help}, {"unit", m->unit}};

	cb_str(b, ",\"metric\":{\"labels\":[");
	for (unsigned i = 0; i < m->nlabels; i++) {
		cb_str(b, i ? "," : "");
		js_string(b, m->labels[i], strlen(m->labels[i]));
	}
	cb_str(b, "]");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].text != NULL)
			js_text(b, texts[i].key, texts[i].text);
	cb_str(b, "}");
}

static void js_shape(struct co_buf *b, const erltrace_shape_t *s)
{
	char percent[PERCENT_TEXT];

	cb_str(b, "{\"aggregation\":");
	js_string(b, s->name, strlen(s->name));
	js_text(b, "function", s->function);
	cb_str(b, ",\"params\":[");
	for (unsigned i = 0; i < s->nparams; i++)
		cb_fmt(b, "%s%lld", i ? "," : "", (long long)s->params[i]);
	for (unsigned i = 0; i < s->npercents; i++) {
		hist_percent_text((uint32_t)(s->percents[i] * PERCENT + 0.5), percent);
		cb_fmt(b, "%s%s", i ? "," : "", percent);
	}
	cb_fmt(b, "],\"keys\":%u", s->nkeys);
	if (s->metric != NULL)
		js_metric(b, s->metric);
	cb_str(b, "}");
}

struct ticking {
	struct co_json *j;
	const char *node;
	bool first;
};

static int js_on_shapes(void *arg, const erltrace_shape_t *shapes, unsigned n)
{
	const struct ticking *t = arg;
	struct co_json *j = t->j;

	js_begin(j->buf, "shape");
	js_text(j->buf, "node", t->node);
	cb_str(j->buf, ",\"aggregations\":[");
	for (unsigned i = 0; i < n; i++) {
		if (i)
			cb_str(j->buf, ",");
		js_shape(j->buf, &shapes[i]);
	}
	cb_str(j->buf, "]");
	return js_end(j) != 0 ? -1 : 0;
}

static int js_on_tick(void *arg, const erltrace_tick_t *tick)
{
	const struct ticking *t = arg;

	js_begin(t->j->buf, "tick");
	js_text(t->j->buf, "node", t->node);
	cb_fmt(t->j->buf, ",\"time\":%llu,\"aggregations\":[", (unsigned long long)tick->time);
	return 0;
}

static int js_on_change(void *arg, const erltrace_agg_t *a)
{
	struct ticking *t = arg;
	struct co_buf *b = t->j->buf;

	cb_str(b, t->first ? "{" : ",{");
	t->first = false;
	js_agg(b, a, true);
	if (strcmp(a->function, "avg") == 0 || strcmp(a->function, "stddev") == 0)
		cb_fmt(b, ",\"count\":%llu", (unsigned long long)a->count); /* to join them */
	cb_str(b, "}");
	return b->len > TICK_MAX;
}

/*
 * What normalize() divides by, of the aggregations that it does. A tick has what came undivided:
 * parts that are divided one by one do not add up, and many came before the script normalized.
 */
static void js_normals(struct co_buf *b, struct co *co)
{
	bool some = false;

	for (unsigned i = 0; i < co->prog->naggs; i++) {
		const char *name = co->prog->aggs[i]->name;

		if (ag_normal(co, i) == 1)
			continue;
		cb_str(b, some ? "," : ",\"normals\":{");
		js_string(b, name, strlen(name));
		cb_fmt(b, ":%llu", (unsigned long long)ag_normal(co, i));
		some = true;
	}
	if (some)
		cb_str(b, "}");
}

int co_json_tick(struct co_json *j, struct co *co, unsigned stream, unsigned nstreams,
	const char *node, const erltrace_tick_t *tick)
{
	struct ticking t = {.j = j, .node = node, .first = true};
	const erltrace_change_handlers_t to = {.size = sizeof(to),
		.arg = &t,
		.shapes = js_on_shapes,
		.tick = js_on_tick,
		.change = js_on_change};
	int more;

	if (j->buf == NULL && (j->buf = calloc(1, sizeof(*j->buf))) == NULL)
		return -1;
	more = co_changes(co, stream, nstreams, tick, &to);
	if (more < 0)
		return -1;
	cb_str(j->buf, "]");
	js_normals(j->buf, co);
	cb_fmt(j->buf, ",\"fired\":%llu,\"cost\":", (unsigned long long)tick->fired);
	if (tick->cost < 0)
		cb_str(j->buf, "null");
	else
		cb_fmt(j->buf, "%.1f", tick->cost);
	return js_end(j) != 0 ? -1 : more;
}

int co_json_handlers(struct co_json *j, erltrace_handlers_t *h)
{
	if (j->buf == NULL && (j->buf = calloc(1, sizeof(*j->buf))) == NULL)
		return -1;
	h->size = sizeof(*h);
	h->arg = j;
	h->text = NULL;
	h->event = js_on_event;
	h->record = js_on_record;
	h->drop = js_on_drop;
	h->fault = js_on_fault;
	h->aggregation = js_on_aggregation;
	h->nothing = js_on_nothing;
	h->terminal = 0;
	return 0;
}

int co_json_error(struct co_json *j, const erltrace_error_t *err, const char *doing)
{
	if (j->buf == NULL && (j->buf = calloc(1, sizeof(*j->buf))) == NULL)
		return -1;
	js_begin(j->buf, "error");
	js_text(j->buf, "tag", err->tag);
	js_text(j->buf, "file", err->file);
	cb_fmt(j->buf, ",\"line\":%d,\"column\":%d", err->line, err->column);
	js_text(j->buf, "message", err->text);
	js_text(j->buf, "doing", doing);
	return js_end(j);
}

int co_json_warning(struct co_json *j, const char *message)
{
	if (j->buf == NULL && (j->buf = calloc(1, sizeof(*j->buf))) == NULL)
		return -1;
	js_begin(j->buf, "warning");
	js_text(j->buf, "message", message);
	return js_end(j);
}

/* A member besides `why`. */
static int on_file(
	struct co_json *j, const char *type, const char *why, const char *member, const char *text)
{
	if (j->buf == NULL && (j->buf = calloc(1, sizeof(*j->buf))) == NULL)
		return -1;
	js_begin(j->buf, type);
	js_text(j->buf, "why", why);
	js_text(j->buf, member, text);
	return js_end(j);
}

int co_json_snapshot_written(struct co_json *j, const char *why, const char *file)
{
	return on_file(j, "snapshot_written", why, "file", file);
}

int co_json_snapshot_failed(struct co_json *j, const char *why, const char *error)
{
	return on_file(j, "snapshot_failed", why, "message", error);
}

int co_json_gone(struct co_json *j, const char *node)
{
	if (j->buf == NULL && (j->buf = calloc(1, sizeof(*j->buf))) == NULL)
		return -1;
	js_begin(j->buf, "gone");
	js_text(j->buf, "node", node);
	return js_end(j);
}

int co_json_unmatched(struct co_json *j, const char *node, const char *const *texts, size_t n)
{
	if (j->buf == NULL && (j->buf = calloc(1, sizeof(*j->buf))) == NULL)
		return -1;
	js_begin(j->buf, "unmatched");
	js_text(j->buf, "node", node);
	cb_str(j->buf, ",\"descriptions\":[");
	for (size_t i = 0; i < n; i++) {
		cb_str(j->buf, i ? "," : "");
		js_string(j->buf, texts[i], strlen(texts[i]));
	}
	cb_str(j->buf, "]");
	return js_end(j);
}

void co_json_free(struct co_json *j)
{
	if (j->buf != NULL)
		cb_free(j->buf);
	free(j->buf);
	j->buf = NULL;
}
