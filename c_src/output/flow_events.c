/* SPDX-License-Identifier: Apache-2.0 */
/* Events of flows, out of the values that scripts send. */
#include "flow_model.h"

#include <string.h>

/* Where the numbers and texts of an event are, by the clauses of requests.c. */
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

static int kind_of(const char *name, size_t len)
{
	int kind = 0;

	while (kind < FLOW_KINDS && (strlen(kinds[kind].probe) != len ||
					    memcmp(kinds[kind].probe, name, len) != 0))
		kind++;
	return kind;
}

int flow_event_read(const erltrace_event_t *ev, const erltrace_record_t *rec, struct flow_event *e)
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
