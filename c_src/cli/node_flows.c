/* SPDX-License-Identifier: Apache-2.0 */
/* Events of flows, decoded from what an agent sends. */
#include "targets.h"

#include <string.h>

#include "flow_model.h"
#include "node/decode.h"

/* Where the numbers and texts of an event are, by the clauses of flow_files.c. */
static const struct {
	const char *probe;
	int nnumbers, ntexts;
	enum flow_text texts[FT_TEXTS];
} kinds[FLOW_KINDS] = {
	[FLOW_BEGIN] = {"flow-begin", 2, 3, {FT_FROM, FT_PROC, FT_MESSAGE}},
	[FLOW_SEND] = {"flow-send", 5, 5, {FT_FROM, FT_TO, FT_PROC, FT_PEER, FT_MESSAGE}},
	[FLOW_RECEIVE] = {"flow-receive", 4, 2, {FT_TO, FT_PROC}},
	[FLOW_SPAWN] = {"flow-spawn", 4, 4, {FT_FROM, FT_TO, FT_PROC, FT_MESSAGE}},
	[FLOW_END] = {"flow-end", 6, 2, {FT_MESSAGE, FT_FROM}},
};

static int get_number(const ei_x_buff *x, int *at, int64_t *n)
{
	unsigned long long u;
	long long i;

	if (ei_decode_longlong(x->buff, at, &i) == 0)
		*n = i;
	else if (ei_decode_ulonglong(x->buff, at, &u) == 0)
		*n = (int64_t)u;
	else
		return -1;
	return 0;
}

/* [Value] */
static int get_values(const ei_x_buff *x, int *at, struct flow_event *e)
{
	int n = 0;
	long len;

	if (ei_decode_list_header(x->buff, at, &n) < 0 ||
		n != kinds[e->kind].nnumbers + kinds[e->kind].ntexts)
		return -1;
	for (int i = 0; i < kinds[e->kind].nnumbers; i++)
		if (get_number(x, at, &e->number[i]) < 0)
			return -1;
	for (int i = 0; i < kinds[e->kind].ntexts; i++) {
		enum flow_text t = kinds[e->kind].texts[i];

		if (nd_get_text(x, at, &e->text[t].p, &len) < 0)
			return -1;
		e->text[t].len = (size_t)len;
	}
	return nd_skip(x, at); /* the list's end */
}

static int kind_of(const char *name, size_t len)
{
	int kind = 0;

	while (kind < FLOW_KINDS && (strlen(kinds[kind].probe) != len ||
					    memcmp(kinds[kind].probe, name, len) != 0))
		kind++;
	return kind;
}

/* {Name, Monotonic, Wall, [Value]}; the values have the time on the time line of all nodes. */
static int get_event(const ei_x_buff *x, int *at, struct flow_event *e)
{
	const char *name;
	int64_t monotonic, wall;
	long len;
	int kind;

	if (nd_get_tuple(x, at, 4) < 0 || nd_get_text(x, at, &name, &len) < 0 ||
		get_number(x, at, &monotonic) < 0 || get_number(x, at, &wall) < 0)
		return -1;
	kind = kind_of(name, (size_t)len);
	if (kind == FLOW_KINDS)
		return -1;
	e->kind = (enum flow_kind)kind;
	e->wall = (uint64_t)wall;
	return get_values(x, at, e);
}

int node_flow_event(const erltrace_event_t *ev, const erltrace_record_t *rec, struct flow_event *e)
{
	int kind = kind_of(ev->probe.name, strlen(ev->probe.name)), n, texts;

	if (kind == FLOW_KINDS)
		return -1;
	e->kind = (enum flow_kind)kind;
	e->wall = ev->walltimestamp;
	n = kinds[kind].nnumbers;
	texts = kinds[kind].ntexts;
	if (rec->nvalues != (unsigned)(n + texts))
		return -1;
	for (int i = 0; i < n + texts; i++) {
		const erltrace_value_t *v = &rec->values[i];

		if (v->kind != (i < n ? ERLTRACE_INT : ERLTRACE_STRING))
			return -1;
		if (i < n) {
			e->number[i] = v->i;
		} else {
			e->text[kinds[kind].texts[i - n]].p = v->bytes != NULL ? v->bytes : "";
			e->text[kinds[kind].texts[i - n]].len = v->len;
		}
	}
	return 0;
}

int node_get_flows(const ei_x_buff *x, int at, const char *node, struct flows *s)
{
	int n = 0, rc = ei_decode_list_header(x->buff, &at, &n);

	for (int i = 0; i < n && rc == 0; i++) {
		struct flow_event e = {.node = node};

		rc = get_event(x, &at, &e);
		if (rc == 0)
			flows_add(s, &e, node_ms());
	}
	flows_look(s, node_ms(), false);
	return rc;
}
