/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of events as values of D: the counterpart of beam/builtins/terms.c for terms that come from
 * text. A term is read by the reader of patterns (prog/pattern.c) into the same nodes; a value is
 * one of these, or a part of a binary. Slots are emptied before each event.
 */
#include "replay_terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prog/builtins.h"
#include "prog/prog.h"
#include "engine/state.h"
#include "replay.h"
#include "utf8.h"

enum { LONGEST = 10000, COMPARED = 4096 };

struct rp_slots {
	bool set[TERM_SLOTS + 1]; /* the last is for answers.c */
	struct rp_value value[TERM_SLOTS + 1];
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
	return NULL;
}

bool rp_bits_of(const struct rp_value *v, struct rp_bits *b)
{
	const struct pat_node *n = is_term(v) ? node_of(v) : NULL;

	if (v->kind == VALUE_BITS)
		*b = v->bits;
	else if (n != NULL && n->op == PAT_BINARY)
		*b = (struct rp_bits){(const uint8_t *)n->text, 0, n->len};
	else
		return false;
	return true;
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

static const struct rp_value *get(const struct en_current *cur, uint64_t of)
{
	const struct rp_slots *s = slots(cur);

	return s != NULL && of > 0 && of <= TERM_SLOTS + 1 && s->set[of - 1] ? &s->value[of - 1]
									     : NULL;
}

/* Puts it into the slot if it is there. */
static uint64_t put(
	const struct en_current *cur, unsigned slot, bool there, const struct rp_value *v)
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
static bool nth(const struct rp_value *list, uint64_t n, struct rp_value *v)
{
	const struct pat_node *nodes = list->of->pat.nodes;
	unsigned at = list->node;

	for (; nodes[at].op == PAT_CONS; at = nodes[at + 1].end)
		if (n-- == 0) {
			*v = part_of(list, at + 1);
			return true;
		}
	return false;
}

static bool get_source(const struct en_current *cur, unsigned pbi, uint64_t n, struct rp_value *v)
{
	const struct rp_event *ev = current_of(cur)->ev;
	const struct rp_field *f = NULL;
	struct rp_value all;

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
	*v = (struct rp_value){.kind = pbi == PBI_ERLARGS ? VALUE_ARGS : VALUE_TERM, .of = f->term};
	return true;
}

static uint64_t source(const struct en_current *cur, unsigned slot, unsigned pbi, uint64_t n)
{
	struct rp_value v;

	return put(cur, slot, get_source(cur, pbi, n, &v), &v);
}

static const struct pat *pattern_of(const struct en_current *cur, uint64_t n)
{
	const struct prog *p = current_of(cur)->r->en->prog;

	return n < p->npats ? &p->pats[n] : NULL;
}

static bool get_part(const struct en_current *cur, enum term_part what, const struct rp_value *of,
	uint64_t n, struct rp_value *v)
{
	const struct pat *key;
	const struct pat_node *node;
	unsigned at;

	if (!is_term(of))
		return false;
	node = node_of(of);
	switch (what) {
	case TERM_ELEMENT:
		if (node->op != PAT_TUPLE || n < 1 || n > node->n)
			return false;
		for (at = of->node + 1; --n > 0;)
			at = of->of->pat.nodes[at].end;
		*v = part_of(of, at);
		return true;
	case TERM_HD:
	case TERM_TL:
		if (node->op != PAT_CONS)
			return false;
		*v = part_of(
			of, what == TERM_HD ? of->node + 1 : of->of->pat.nodes[of->node + 1].end);
		return true;
	case TERM_KEY: key = pattern_of(cur, n); return key != NULL && rp_map_value(of, key, v);
	}
	return false;
}

static uint64_t part(
	const struct en_current *cur, unsigned slot, enum term_part what, uint64_t of, uint64_t n)
{
	const struct rp_value *v = get(cur, of);
	struct rp_value p;

	return put(cur, slot, v != NULL && get_part(cur, what, v, n, &p), &p);
}

static uint64_t source_part(const struct en_current *cur, unsigned slot, enum term_part what,
	unsigned pbi, uint64_t source_n, uint64_t n)
{
	struct rp_value v, p;

	return put(cur, slot, get_source(cur, pbi, source_n, &v) && get_part(cur, what, &v, n, &p),
		&p);
}

static bool match_value(
	const struct en_current *cur, const struct rp_value *v, unsigned pattern, unsigned first)
{
	const struct pat *p = pattern_of(cur, pattern);
	struct rp_slots *s = slots(cur);
	struct rp_value var[PAT_VARS];
	bool is;

	if (s == NULL || p == NULL || first + p->nvars > TERM_SLOTS)
		return false;
	is = v != NULL && rp_match(p, v, var);
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
	struct rp_value v;

	return match_value(cur, get_source(cur, pbi, n, &v) ? &v : NULL, pattern, first);
}

/* ---- numbers -------------------------------------------------------------------------- */

static bool float_to_int(double d, int64_t *v)
{
	if (!(d >= -0x1p63 && d < 0x1p63))
		return false;
	*v = (int64_t)d;
	return true;
}

static bool is_float(const struct rp_value *v)
{
	return v->kind == VALUE_TERM && node_of(v)->op == PAT_FLOAT;
}

static bool integer(const struct rp_value *v, int64_t *n)
{
	if (v->kind == VALUE_INT || (v->kind == VALUE_TERM && node_of(v)->op == PAT_INT)) {
		*n = v->kind == VALUE_INT ? v->num : node_of(v)->num;
		return true;
	}
	return is_float(v) && float_to_int(node_of(v)->real, n);
}

static bool scaled(const struct rp_value *v, int64_t *n)
{
	int64_t i;
	double d;

	if (!is_float(v))
		return integer(v, &i) && !__builtin_mul_overflow(i, *n, n);
	d = node_of(v)->real * (double)*n;
	if (!float_to_int(d, n))
		return false;
	d -= (double)*n;
	*n += (d >= 0.5) - (d <= -0.5);
	return true;
}

static bool size_of(const struct rp_value *v, int64_t *n)
{
	const struct pat_node *node, *nodes;
	struct rp_bits b;

	if (rp_bits_of(v, &b)) {
		*n = (int64_t)((b.n + 7) / 8);
		return true;
	}
	if (!is_term(v))
		return false;
	node = node_of(v);
	nodes = v->of->pat.nodes;
	*n = 0;
	switch (node->op) {
	case PAT_TUPLE:
	case PAT_MAP: *n = node->n; return true;
	case PAT_ATOM: *n = (int64_t)utf8_count(node->text, node->len); return true;
	case PAT_NIL:
	case PAT_CONS:
		for (; *n < LONGEST && node->op == PAT_CONS; ++*n)
			node = &nodes[node[1].end];
		return node->op == PAT_NIL;
	default: return false;
	}
}

static bool number(const struct en_current *cur, uint64_t of, enum term_fact fact, int64_t *n)
{
	const struct rp_value *v = get(cur, of);

	switch (fact) {
	case TERM_IS: *n = v != NULL; return true;
	case TERM_INTEGER: return v != NULL && integer(v, n);
	case TERM_SIZE: return v != NULL && size_of(v, n);
	case TERM_SCALED: return v != NULL && scaled(v, n);
	}
	return false;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* n is above INT64_MAX. */
static int compare_huge(const struct rp_value *v, uint64_t n)
{
	const struct pat_node *node = v->kind == VALUE_TERM ? node_of(v) : NULL;
	uint64_t word;
	double d;

	if (v->kind == VALUE_UINT)
		return order((uint64_t)v->num, n);
	if (node == NULL || node->op == PAT_INT)
		return -1;
	if (node->op == PAT_FLOAT) {
		d = node->real;
		return d < 0x1p63 ? -1 : d >= 0x1p64 ? 1 : order((uint64_t)d, n);
	}
	if (node->op != PAT_BIG)
		return TERM_NOT_A_NUMBER;
	if (node->n != 0)
		return -1;
	memcpy(&word, node->text, sizeof(word));
	return node->len > sizeof(word) ? 1 : order(word, n);
}

static int compare_float(double d, int64_t n)
{
	int64_t whole;

	if (!float_to_int(d, &whole))
		return d < 0 ? -1 : 1;
	if (whole != n)
		return whole < n ? -1 : 1;
	return d < (double)whole ? -1 : d > (double)whole;
}

static int compare(const struct en_current *cur, uint64_t of, uint64_t to, bool huge)
{
	const struct rp_value *v = get(cur, of);
	int64_t n = (int64_t)to, i;

	if (v == NULL || v->kind == VALUE_BITS || v->kind == VALUE_ARGS)
		return TERM_NOT_A_NUMBER;
	if (huge)
		return compare_huge(v, to);
	if (v->kind == VALUE_UINT)
		return 1;
	if (is_float(v))
		return compare_float(node_of(v)->real, n);
	if (integer(v, &i))
		return i < n ? -1 : i > n;
	/* it is too large for an int64_t: its sign decides */
	return node_of(v)->op == PAT_BIG ? (node_of(v)->n != 0 ? -1 : 1) : TERM_NOT_A_NUMBER;
}

/* ---- texts ---------------------------------------------------------------------------- */

static const char *type_name(const struct rp_value *v)
{
	const struct pat_node *n;
	struct rp_bits b;

	if (rp_bits_of(v, &b))
		return b.n % 8 == 0 ? "binary" : "bitstring";
	if (!is_term(v))
		return "integer";
	n = node_of(v);
	switch (n->op) {
	case PAT_INT:
	case PAT_BIG: return "integer";
	case PAT_FLOAT: return "float";
	case PAT_ATOM: return "atom";
	case PAT_NIL:
	case PAT_CONS: return "list";
	case PAT_TUPLE: return "tuple";
	case PAT_MAP: return "map";
	default: break;
	}
	return n->text[0] == '<'		   ? "pid"
	       : strncmp(n->text, "#Ref", 4) == 0  ? "reference"
	       : strncmp(n->text, "#Port", 5) == 0 ? "port"
						   : "fun";
}

static bool text(const struct en_current *cur, uint64_t of, enum term_text what, char *buf,
	size_t size, const struct et_str **s)
{
	const struct rp_value *v = get(cur, of);

	*s = NULL;
	if (v == NULL || size == 0)
		return false;
	switch (what) {
	case TERM_TYPE: snprintf(buf, size, "%s", type_name(v)); return true;
	case TERM_CHARS: return rp_chars(v, buf, size);
	case TERM_PRINTED:
	case TERM_PRETTY: rp_print(v, buf, size); return true;
	}
	return false;
}

static int equals(const struct en_current *cur, uint64_t of, const char *other, size_t len)
{
	struct rp_slots *s = slots(cur);
	const struct rp_value *v = get(cur, of);

	if (v == NULL)
		return 0;
	if (rp_chars_are(v, other, len) > 0)
		return 1;
	if (len == 0 || strchr("'{[\"#<-0123456789f", other[0]) == NULL ||
		len + 8 > sizeof(s->text))
		return 0;
	rp_print(v, s->text, len + 8);
	return memcmp(s->text, other, len) == 0 && s->text[len] == '\0';
}

static int same(const struct en_current *cur, uint64_t a, uint64_t b)
{
	const struct rp_value *va = get(cur, a), *vb = get(cur, b);

	return va != NULL && vb != NULL ? rp_same(va, vb) : 0;
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
