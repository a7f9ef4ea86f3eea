/* SPDX-License-Identifier: Apache-2.0 */
/* What clauses ask of an event: provider built-ins, vtimestamp, stacks. replay.c has seen to it
 * that what a script reads is there. */
#include <stdio.h>
#include <string.h>

#include "prog/builtins.h"
#include "file_terms.h"
#include "prog/state_kinds.h"
#include "replay.h"
#include "term/term_writer.h"

static const struct rp_current *current_of(const struct en_current *cur)
{
	return (const struct rp_current *)(const void *)cur;
}

static uint64_t answer_num(
	const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f)
{
	const struct rp_event *ev = current_of(cur)->ev;
	const struct rp_field *v;
	uint64_t slot;
	int64_t num = 0;

	(void)f;
	if (ev == NULL)
		return 0;
	switch (pbi) {
	case PBI_STATE_NUMBER: v = n < STATE_MEMBERS ? rp_field(ev, RP_MEMBER, (unsigned)n) : NULL; break;
	case PBI_ERLINT: /* 0 where it is no integer */
		slot = rp_term_ops.source(cur, TERM_SLOTS, PBI_ERLARG, n);
		return slot != 0 && rp_term_ops.number(cur, slot, TERM_INTEGER, &num)
			       ? (uint64_t)num
			       : 0;
	default: v = rp_field(ev, RP_PBI, pbi); break;
	}
	return v != NULL && !v->is_text ? (uint64_t)v->num : 0;
}

/* With a shorter strsize than it was recorded with, it is cut. */
static const struct et_str *copy(const struct et_str *s, char *buf, size_t size)
{
	size_t n;

	if (s->len < size)
		return s;
	n = utf8_cut(s->text, size - 1);
	memcpy(buf, s->text, n);
	buf[n] = '\0';
	return NULL;
}

/* Of a term as a node would cut it; unless it was cut before, and cannot be read. */
static const struct et_str *term_text(
	struct rp_file *f, struct rp_term *t, bool args, char *buf, size_t size)
{
	struct term_value v = {.kind = args ? VALUE_ARGS : VALUE_TERM, .term = {t, 0}};

	if (t->text->len < size)
		return t->text;
	if (rp_term_read(f, t) == NULL)
		rp_print(f, &v, buf, size);
	else
		write_cut(buf, size, t->text->text);
	return NULL;
}

static const struct et_str *answer_str(
	const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size)
{
	const struct rp_current *c = current_of(cur);
	const struct rp_field *v;

	if (pbi == PBI_ERLNODE)
		return copy(c->r->file->node, buf, size);
	if (c->ev == NULL)
		return NULL;
	switch (pbi) {
	case PBI_STATE_TEXT: v = n < STATE_MEMBERS ? rp_field(c->ev, RP_MEMBER, (unsigned)n) : NULL; break;
	case PBI_ERLARG:
		v = n < 255 ? rp_field(c->ev, RP_ERLARG, (unsigned)n) : NULL;
		if (v == NULL && rp_field(c->ev, RP_PBI, PBI_ERLARGS) != NULL) {
			const struct et_str *s = NULL;
			uint64_t slot = rp_term_ops.source(cur, TERM_SLOTS, pbi, n);

			if (slot != 0)
				rp_term_ops.text(cur, slot, TERM_PRETTY, buf, size, &s);
			return s;
		}
		break;
	default: v = rp_field(c->ev, RP_PBI, pbi); break;
	}
	if (v == NULL || !v->is_text)
		return NULL;
	switch (pbi) {
	case PBI_ERLARG:
	case PBI_ERLARGS:
	case PBI_ERLMSG:
	case PBI_ERLREASON:
	case PBI_ERLRET: return term_text(c->r->file, v->term, pbi == PBI_ERLARGS, buf, size);
	default: return copy(v->text, buf, size);
	}
}

/* A frame is 1 + its index in the file. */
static bool frame(const struct en_current *cur, uint64_t pc, char *buf, size_t size)
{
	const struct rp_file *f = current_of(cur)->r->file;

	if (pc == 0 || pc > f->nframes)
		return false;
	snprintf(buf, size, "%s", f->frames[pc - 1]->text);
	return true;
}

uint64_t rp_vtimestamp(const struct en_current *cur)
{
	const struct rp_field *v = rp_field(current_of(cur)->ev, RP_VTIMESTAMP, 0);

	return v != NULL ? (uint64_t)v->num : 0;
}

unsigned rp_ustack(const struct en_current *cur, uint64_t *pcs, unsigned max, bool lines)
{
	const struct rp_field *v = rp_field(current_of(cur)->ev, RP_STACK, 0);
	unsigned n = 0;

	(void)lines;
	for (; v != NULL && n < v->frames[0] && n < max; n++)
		pcs[n] = v->frames[n + 1];
	return n;
}

const struct en_current_ops rp_ops = {
	.num = answer_num, .str = answer_str, .terms = &rp_term_ops, .frame = frame};
