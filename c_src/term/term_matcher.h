/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A term and a pattern. (A template: term_access.h.) The work is bounded by the pattern: by its
 * nodes, the bytes in it, and SAME_STEPS for all variables that are there more than once. C calls
 * go as deep as the pattern (PAT_DEEP), since its last part, the tail of a list, is done in place.
 */
#include <string.h>

#include "compiler.h"

struct match {
	term_env env;
	const term_node *node;
	struct term_value *var;
	uint32_t bound;
	unsigned steps; /* left, to compare terms */
	bool exact;	/* a map has no other keys than the pattern: it is a key itself */
};

static bool match(struct match *m, unsigned i, term_ref t);

/* ---- variables ------------------------------------------------------------------------- */

PROBE_PATH static bool bind(struct match *m, unsigned n, const struct term_value *v)
{
	if (m->bound >> n & 1)
		return term_same_values(m->env, &m->var[n], v, &m->steps) == SAME;
	m->bound |= 1u << n;
	m->var[n] = *v;
	return true;
}

static inline bool bind_term(struct match *m, unsigned n, term_ref t)
{
	if (unlikely(m->bound >> n & 1))
		return bind(m, n, &(struct term_value){.kind = VALUE_TERM, .term = t});
	m->bound |= 1u << n;
	m->var[n].kind = VALUE_TERM;
	m->var[n].term = t;
	return true;
}

/* Whether 0.0 is -0.0 depends on the release. */
static bool match_float(term_env env, const term_node *p, term_ref t)
{
	double d;

	return term_double(env, t, &d) && d == p->real &&
	       (d != 0.0 || term_zeros_same(env) ||
		       __builtin_signbit(d) == __builtin_signbit(p->real));
}

/* ---- binaries -------------------------------------------------------------------------- */

/* Up to 64 bits; the first is the highest. */
static uint64_t big_endian(const struct term_bits *b)
{
	uint64_t v = 0;

	for (uint64_t i = 0; i < b->n; i++) {
		uint64_t at = b->off + i;

		if (at % 8 == 0 && b->n - i >= 8) {
			v = v << 8 | b->data[at / 8];
			i += 7;
		} else {
			v = v << 1 | (b->data[at / 8] >> (7 - at % 8) & 1);
		}
	}
	return v;
}

static uint64_t little_endian(const struct term_bits *b)
{
	uint64_t v = 0;

	for (uint64_t i = 0; i < b->n / 8; i++)
		v |= (uint64_t)term_octet(b, i) << 8 * i;
	return v;
}

static struct term_value integer_of(const term_node *seg, const struct term_bits *b)
{
	uint64_t v = seg->num & SEG_LITTLE ? little_endian(b) : big_endian(b);
	unsigned up = 64 - (unsigned)b->n;

	if ((seg->num & SEG_SIGNED) && b->n > 0)
		v = (uint64_t)((int64_t)(v << up) >> up);
	else if (v > INT64_MAX)
		return (struct term_value){.kind = VALUE_UINT, .num = (int64_t)v};
	return (struct term_value){.kind = VALUE_INT, .num = (int64_t)v};
}

static bool match_part(struct match *m, const term_node *child, const struct term_value *v)
{
	switch (child->op) {
	case PAT_ANY: return true;
	case PAT_VAR: return bind(m, child->n, v);
	default: return v->kind == VALUE_INT && v->num == child->num;
	}
}

static bool match_bytes(const term_node *seg, const struct term_bits *b)
{
	if (b->off == 0)
		return memcmp(b->data, seg->text, seg->len) == 0;
	for (uint32_t i = 0; i < seg->len; i++)
		if (term_octet(b, i) != (uint8_t)seg->text[i])
			return false;
	return true;
}

PROBE_PATH static bool match_bits(struct match *m, unsigned i, const struct term_bits *b)
{
	unsigned end = m->node[i].end;
	uint64_t at = 0;

	for (i++; i < end; i = m->node[i].end) {
		const term_node *seg = &m->node[i];
		uint64_t left = b->n - at, n = seg->op == SEG_BYTES  ? (uint64_t)seg->len * 8
					       : seg->op == SEG_REST ? left
								     : seg->n;
		struct term_value v = {.kind = VALUE_BITS};

		if (n > left)
			return false;
		v.bits = term_bits_part(b, at, n);
		if (seg->op == SEG_BYTES) {
			if (!match_bytes(seg, &v.bits))
				return false;
		} else {
			if (seg->op == SEG_REST && n % seg->n != 0)
				return false;
			if (seg->op == SEG_INT)
				v = integer_of(seg, &v.bits);
			if (!match_part(m, seg + 1, &v))
				return false;
		}
		at += n;
	}
	return at == b->n;
}

static bool match_binary(struct match *m, unsigned i, term_ref t)
{
	struct term_bits b;

	return term_bits(m->env, t, &b) && match_bits(m, i, &b);
}

/* ---- maps ------------------------------------------------------------------------------ */

PROBE_PATH static __attribute__((noinline)) bool value_by_walk(
	struct match *m, unsigned key, term_ref map, term_ref *value)
{
	struct match by = {.env = m->env, .node = m->node, .exact = true};
	struct term_pairs pairs, inner;
	term_ref k;

	if (!term_pairs(m->env, map, &pairs))
		return false;
	while (term_next_pair(m->env, &pairs, &k, value, &inner) == PAIRS_PAIR)
		if (match(&by, key, k))
			return true;
	return false;
}

static inline bool value_of(struct match *m, unsigned key, term_ref map, term_ref *value)
{
	enum term_key is = term_key(m->env, &m->node[key], map, value);

	return unlikely(is == KEY_BY_WALK) ? value_by_walk(m, key, map, value) : is == KEY_FOUND;
}

/* All but the last of its keys; that one's node and value are for the caller. */
static inline bool match_map(struct match *m, unsigned *i, term_ref *t)
{
	unsigned n = m->node[*i].n, at = *i + 1;
	term_ref v;

	for (unsigned k = 0;;) {
		if (!value_of(m, at, *t, &v))
			return false;
		at = m->node[at].end;
		if (++k == n)
			break;
		if (!match(m, at, v))
			return false;
		at = m->node[at].end;
	}
	*i = at;
	*t = v;
	return true;
}

static inline bool is_map_of(struct match *m, const term_node *p, term_ref t)
{
	size_t n;

	return likely(p->n > 0 && !m->exact) ||
	       (term_map_size(m->env, t, &n) && (!m->exact || n == p->n));
}

/* ---- all of it ------------------------------------------------------------------------- */

PROBE_PATH NO_GUARD static bool match(struct match *m, unsigned i, term_ref t)
{
	struct term_parts parts;
	term_ref head;
	unsigned n;

	for (;;) {
		const term_node *p = &m->node[i];

		switch (p->op) {
		case PAT_ANY: return true;
		case PAT_VAR: return bind_term(m, p->n, t);
		case PAT_ATOM: return term_match_atom(m->env, p, t);
		case PAT_INT: return term_match_int(m->env, p, t);
		case PAT_BIG: return term_match_big(m->env, p, t);
		case PAT_FLOAT: return match_float(m->env, p, t);
		case PAT_NIL: return term_match_nil(m->env, p, t);
		case PAT_BINARY: return match_binary(m, i, t);
		case PAT_BOTH:
			if (!match(m, i + 1, t))
				return false;
			i = m->node[i + 1].end;
			break;
		case PAT_CONS:
			if (!term_cell(m->env, t, &head, &t) || !match(m, i + 1, head))
				return false;
			i = m->node[i + 1].end;
			break;
		case PAT_TUPLE:
			if (!term_tuple(m->env, t, &n, &parts) || n != p->n)
				return false;
			if (n == 0)
				return true;
			for (i++; --n > 0; i = m->node[i].end)
				if (!match(m, i, term_next(&parts)))
					return false;
			t = term_next(&parts);
			break;
		case PAT_MAP:
			if (!is_map_of(m, p, t))
				return false;
			if (p->n == 0)
				return true;
			if (!match_map(m, &i, &t))
				return false;
			break;
		default: return false;
		}
	}
}

/* What is no term: part of a binary, or a number from it. */
PROBE_PATH static bool match_other(struct match *m, unsigned i, const struct term_value *v)
{
	const term_node *p = &m->node[i];

	for (; p->op == PAT_BOTH; p = &m->node[m->node[i + 1].end], i = m->node[i + 1].end)
		if (!match_other(m, i + 1, v))
			return false;
	switch (p->op) {
	case PAT_ANY: return true;
	case PAT_VAR: return bind(m, p->n, v);
	case PAT_INT: return v->kind == VALUE_INT && v->num == p->num;
	case PAT_BIG:
		return v->kind == VALUE_UINT && p->n == 0 && p->len == sizeof(v->num) &&
		       memcmp(p->text, &v->num, p->len) == 0;
	case PAT_BINARY: return v->kind == VALUE_BITS && match_bits(m, i, &v->bits);
	default: return false;
	}
}

/* Then var[] are the values of the pattern's variables; else they may have been overwritten. */
NO_GUARD static inline bool match_value(
	term_env env, const term_node *node, const struct term_value *v, struct term_value *var)
{
	struct match m = {.env = env, .node = node, .var = var, .steps = SAME_STEPS};

	return value_is_term(v) ? match(&m, 0, v->term) : match_other(&m, 0, v);
}
