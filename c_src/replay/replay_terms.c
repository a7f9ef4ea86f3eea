/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of events as values of D: the counterpart of beam/builtins/terms.c for terms that come from
 * text. Slots are emptied before each event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prog/builtins.h"
#include "prog/prog.h"
#include "engine/state.h"
#include "file_terms.h"
#include "replay.h"
#include "term/term_answers.h"

enum { COMPARED = 4096 };

struct rp_slots {
	bool set[TERM_SLOTS + 1]; /* the last is for answers.c */
	struct term_value value[TERM_SLOTS + 1];
	char text[COMPARED];
};

/* ---- reading -------------------------------------------------------------------------- */

static void *alloc(void *ctx, size_t size)
{
	return rp_alloc(ctx, size);
}

/* A binary's segments as bits in one piece, for its node: text, and len of them. */
static bool flatten(struct rp_file *f, struct pat *p, unsigned i)
{
	uint64_t bits = 0;
	uint8_t *data;

	for (unsigned k = i + 1; k < p->nodes[i].end; k = p->nodes[k].end)
		bits += p->nodes[k].op == SEG_BYTES ? (uint64_t)p->nodes[k].len * 8 : p->nodes[k].n;
	data = rp_alloc(f, (size_t)(bits / 8) + 2);
	if (data == NULL || bits > UINT32_MAX)
		return false;
	bits = 0;
	for (unsigned k = i + 1; k < p->nodes[i].end; k = p->nodes[k].end) {
		const struct pat_node *seg = &p->nodes[k];
		uint64_t n = seg->op == SEG_BYTES ? (uint64_t)seg->len * 8 : seg->n;

		for (uint64_t at = 0; at < n; at++, bits++) {
			unsigned bit = seg->op == SEG_BYTES
					       ? (uint8_t)seg->text[at / 8] >> (7 - at % 8) & 1
					       : (unsigned)(seg[1].num >> (n - 1 - at) & 1);

			data[bits / 8] |= (uint8_t)(bit << (7 - bits % 8));
		}
	}
	p->nodes[i].text = (const char *)data;
	p->nodes[i].len = (uint32_t)bits;
	return true;
}

/* A node writes such a text only if its lists of any characters are texts (+pc unicode). */
static bool has_wide_text(const struct rp_term *t, unsigned i)
{
	const struct pat_node *nodes = t->pat.nodes;

	if (nodes[i].op != PAT_CONS || nodes[i].to == 0 || t->text->text[nodes[i].from] != '"')
		return false;
	for (; nodes[i].op == PAT_CONS; i = nodes[i + 1].end)
		if (nodes[i + 1].op == PAT_INT && nodes[i + 1].num > 255)
			return true;
	return false;
}

const char *rp_term_read(struct rp_file *f, struct rp_term *t)
{
	struct pat_reader r = {.key = true, .printed = true, .alloc = alloc, .ctx = f};
	static char why[256];
	struct et_error e = {.tag = ""};
	struct pat pat;
	size_t at;

	if (t->pat.nodes != NULL)
		return NULL;
	if (pat_read(&r, t->text->text, t->text->len, &pat, &at, &e) < 0) {
		snprintf(why, sizeof(why), "%.200s (at character %zu)", e.text, at + 1);
		return why;
	}
	for (unsigned i = 0; i < pat.n; i++)
		if (pat.nodes[i].op == PAT_BINARY && !flatten(f, &pat, i))
			return "a binary that is too large";
	t->pat = pat;
	for (unsigned i = 0; i < pat.n && !f->wide_texts; i++)
		f->wide_texts = has_wide_text(t, i);
	return NULL;
}

/* ---- slots ---------------------------------------------------------------------------- */

static const struct rp_current *current_of(const struct en_current *cur)
{
	return (const struct rp_current *)(const void *)cur;
}

static struct rp_slots *slots(const struct en_current *cur)
{
	struct replay *r = current_of(cur)->r;

	if (r->slots == NULL)
		r->slots = calloc(1, sizeof(*r->slots));
	return r->slots;
}

void rp_slots_clear(struct replay *r)
{
	if (r->slots != NULL)
		memset(r->slots->set, 0, sizeof(r->slots->set));
}

static const struct term_value *get(const struct en_current *cur, uint64_t of)
{
	const struct rp_slots *s = slots(cur);

	return s != NULL && of > 0 && of <= TERM_SLOTS + 1 && s->set[of - 1] ? &s->value[of - 1]
									     : NULL;
}

/* Puts it into the slot if it is there. */
static uint64_t put(
	const struct en_current *cur, unsigned slot, bool there, const struct term_value *v)
{
	struct rp_slots *s = slots(cur);

	if (s == NULL || slot > TERM_SLOTS)
		return 0;
	s->set[slot] = there;
	if (there)
		s->value[slot] = *v;
	return there ? slot + 1 : 0;
}

/* ---- where terms come from ------------------------------------------------------------ */

/* The n-th element of a list. */
static bool nth(const struct term_value *list, uint64_t n, struct term_value *v)
{
	term_ref head, tail = list->term;

	while (term_cell(NULL, tail, &head, &tail))
		if (n-- == 0) {
			*v = (struct term_value){.kind = VALUE_TERM, .term = head};
			return true;
		}
	return false;
}

static bool get_source(const struct en_current *cur, unsigned pbi, uint64_t n, struct term_value *v)
{
	const struct rp_event *ev = current_of(cur)->ev;
	const struct rp_field *f = NULL;
	struct term_value all;

	if (ev == NULL)
		return false;
	if (pbi == PBI_ERLARG && n < 255)
		f = rp_field(ev, RP_ERLARG, (unsigned)n);
	else if (pbi != PBI_ERLARG)
		f = rp_field(ev, RP_PBI, pbi);
	if (f == NULL && pbi == PBI_ERLARG)
		return get_source(cur, PBI_ERLARGS, 0, &all) && nth(&all, n, v);
	if (f == NULL || f->term->pat.nodes == NULL)
		return false;
	*v = (struct term_value){
		.kind = pbi == PBI_ERLARGS ? VALUE_ARGS : VALUE_TERM, .term = {f->term, 0}};
	return true;
}

static uint64_t source(const struct en_current *cur, unsigned slot, unsigned pbi, uint64_t n)
{
	struct term_value v;

	return put(cur, slot, get_source(cur, pbi, n, &v), &v);
}

static const struct pat *pattern_of(const struct en_current *cur, uint64_t n)
{
	const struct prog *p = current_of(cur)->r->en->prog;

	return n < p->npats ? &p->pats[n] : NULL;
}

static bool get_part(const struct en_current *cur, enum term_part what, const struct term_value *of,
	uint64_t n, struct term_value *v)
{
	const struct rp_file *f = current_of(cur)->r->file;
	const struct pat *key;

	if (!value_is_term(of))
		return false;
	*v = (struct term_value){.kind = VALUE_TERM};
	if (what != TERM_KEY)
		return part_of_term(f, what, of->term, n, &v->term);
	key = pattern_of(cur, n);
	return key != NULL && rp_map_value(f, of->term, key, &v->term);
}

static uint64_t part(
	const struct en_current *cur, unsigned slot, enum term_part what, uint64_t of, uint64_t n)
{
	const struct term_value *v = get(cur, of);
	struct term_value p;

	return put(cur, slot, v != NULL && get_part(cur, what, v, n, &p), &p);
}

static uint64_t source_part(const struct en_current *cur, unsigned slot, enum term_part what,
	unsigned pbi, uint64_t source_n, uint64_t n)
{
	struct term_value v, p;

	return put(cur, slot, get_source(cur, pbi, source_n, &v) && get_part(cur, what, &v, n, &p),
		&p);
}

static bool match_value(
	const struct en_current *cur, const struct term_value *v, unsigned pattern, unsigned first)
{
	const struct pat *p = pattern_of(cur, pattern);
	struct rp_slots *s = slots(cur);
	struct term_value var[PAT_VARS];
	bool is;

	if (s == NULL || p == NULL || first + p->nvars > TERM_SLOTS)
		return false;
	is = v != NULL && rp_match(current_of(cur)->r->file, p, v, var);
	for (unsigned i = 0; i < p->nvars; i++)
		put(cur, first + i, is, &var[i]);
	return is;
}

static bool match(const struct en_current *cur, uint64_t of, unsigned pattern, unsigned first)
{
	return match_value(cur, get(cur, of), pattern, first);
}

static bool source_match(
	const struct en_current *cur, unsigned pbi, uint64_t n, unsigned pattern, unsigned first)
{
	struct term_value v;

	return match_value(cur, get_source(cur, pbi, n, &v) ? &v : NULL, pattern, first);
}

/* ---- answers -------------------------------------------------------------------------- */

static bool number(const struct en_current *cur, uint64_t of, enum term_fact fact, int64_t *n)
{
	const struct rp_file *f = current_of(cur)->r->file;
	const struct term_value *v = get(cur, of);

	switch (fact) {
	case TERM_IS: *n = v != NULL; return true;
	case TERM_INTEGER: return v != NULL && integer_of_value(f, v, n);
	case TERM_SIZE: return v != NULL && size_of_value(f, v, n);
	case TERM_SCALED: return v != NULL && scaled_value(f, v, n);
	}
	return false;
}

static int compare(const struct en_current *cur, uint64_t of, uint64_t to, bool huge)
{
	const struct term_value *v = get(cur, of);

	return v != NULL ? order_value(current_of(cur)->r->file, v, to, huge) : TERM_NOT_A_NUMBER;
}

static bool text(const struct en_current *cur, uint64_t of, enum term_text what, char *buf,
	size_t size, const struct et_str **s)
{
	const struct rp_file *f = current_of(cur)->r->file;
	const struct term_value *v = get(cur, of);

	*s = NULL;
	if (v == NULL || size == 0)
		return false;
	switch (what) {
	case TERM_TYPE: snprintf(buf, size, "%s", type_of_value(f, v)); return true;
	case TERM_CHARS: return rp_chars(f, v, buf, size);
	case TERM_PRINTED:
	case TERM_PRETTY: rp_print(f, v, buf, size); return true;
	}
	return false;
}

static int equals(const struct en_current *cur, uint64_t of, const char *other, size_t len)
{
	struct rp_slots *s = slots(cur);
	const struct term_value *v = get(cur, of);

	if (v == NULL)
		return 0;
	return text_equals(current_of(cur)->r->file, v, other, len, s->text, sizeof(s->text));
}

static int same(const struct en_current *cur, uint64_t a, uint64_t b)
{
	const struct term_value *va = get(cur, a), *vb = get(cur, b);
	unsigned steps = SAME_STEPS;

	return va != NULL && vb != NULL ? rp_same(current_of(cur)->r->file, va, vb, &steps) : 0;
}

const struct en_term_ops rp_term_ops = {
	.source = source,
	.part = part,
	.source_part = source_part,
	.match = match,
	.source_match = source_match,
	.number = number,
	.text = text,
	.equals = equals,
	.compare = compare,
	.same = same,
};
