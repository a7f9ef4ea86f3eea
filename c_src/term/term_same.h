/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are two terms the same, as =:= compares them? (A template: term_access.h.) The VM's own
 * comparison walks all of them, however large; this one counts its steps, and goes no deeper than
 * SAME_DEEP. The last part of a tuple and the tail of a list are not deeper than the whole. Of two
 * funs of one place in a module it is not known, unless they are one: what is in them is not
 * compared.
 */
#include <string.h>

#include "compiler.h"

#define SAME_DEEP 64

struct same {
	term_env env;
	unsigned left; /* steps */
};

static int same(struct same *w, term_ref a, term_ref b, unsigned deep);
/* For the source that includes this: by the words of maps, or by same_pairs(). */
static int same_maps(struct same *w, term_ref a, term_ref b, unsigned deep);

static bool spend(struct same *w, uint64_t n)
{
	if (n > w->left) {
		w->left = 0;
		return false;
	}
	w->left -= (unsigned)n;
	return true;
}

/* ---- numbers and bits ------------------------------------------------------------------ */

static int same_integers(struct same *w, term_ref a, term_ref b)
{
	const uint64_t *da, *db;
	bool negative_a, negative_b;
	int64_t ia, ib;
	unsigned na, nb;

	if (term_int64(w->env, a, &ia))
		return term_int64(w->env, b, &ib) && ia == ib;
	na = term_big(w->env, a, &da, &negative_a);
	nb = term_big(w->env, b, &db, &negative_b);
	if (na == 0) /* its words are not known, or it is small */
		return term_same_plain(w->env, KIND_INTEGER, a, b);
	if (na != nb || negative_a != negative_b)
		return SAME_NOT;
	if (!spend(w, na / 8))
		return SAME_UNKNOWN;
	return memcmp(da, db, na * sizeof(*da)) == 0;
}

PROBE_PATH static int same_bits(struct same *w, const struct term_bits *a, const struct term_bits *b)
{
	bool whole = a->off == 0 && b->off == 0;
	uint64_t n = a->n / 8;

	if (a->n != b->n)
		return SAME_NOT;
	if (a->data == b->data && a->off == b->off)
		return SAME;
	if (!spend(w, n / (whole ? 64 : 4)))
		return SAME_UNKNOWN;
	if (whole && memcmp(a->data, b->data, n) != 0)
		return SAME_NOT;
	for (uint64_t i = 0; i < n && !whole; i++)
		if (term_octet(a, i) != term_octet(b, i))
			return SAME_NOT;
	return a->n % 8 == 0 || term_last_octet(a) == term_last_octet(b);
}

static int same_bitstrings(struct same *w, term_ref a, term_ref b)
{
	struct term_bits ba, bb;

	if (!term_bits(w->env, a, &ba) || !term_bits(w->env, b, &bb))
		return SAME_UNKNOWN;
	return same_bits(w, &ba, &bb);
}

/* ---- what has parts -------------------------------------------------------------------- */

static int same_parts(
	struct same *w, struct term_parts *a, struct term_parts *b, unsigned n, unsigned deep)
{
	int is = SAME;

	while (n-- > 0 && is == SAME)
		is = same(w, term_next(a), term_next(b), deep);
	return is;
}

/* The value of a key, looked for from where the last one was found: mostly it is the next. */
static int find_key(struct same *w, term_ref map, struct term_pairs *at, term_ref key,
	term_ref *value, unsigned deep)
{
	for (int turn = 0; turn < 2; turn++) {
		enum term_next next = PAIRS_END;
		struct term_pairs inner;
		term_ref k;
		int is = SAME_NOT;

		while (is == SAME_NOT &&
			(next = term_next_pair(w->env, at, &k, value, &inner)) == PAIRS_PAIR)
			is = same(w, k, key, deep);
		if (is != SAME_NOT)
			return is;
		if (next == PAIRS_INNER || !term_pairs(w->env, map, at))
			return SAME_UNKNOWN;
	}
	return SAME_NOT;
}

/* Two maps. Of one that has pairs within pairs it is not known. */
static int same_pairs(struct same *w, term_ref a, term_ref b, unsigned deep)
{
	struct term_pairs pa, pb, inner;
	enum term_next next = PAIRS_END;
	term_ref key, value, other;
	int is = SAME;
	size_t na, nb;

	if (!term_map_size(w->env, a, &na) || !term_map_size(w->env, b, &nb) || na != nb)
		return SAME_NOT;
	if (na == 0)
		return SAME;
	if (!term_pairs(w->env, a, &pa) || !term_pairs(w->env, b, &pb))
		return SAME_UNKNOWN;
	while (is == SAME &&
		(next = term_next_pair(w->env, &pa, &key, &value, &inner)) == PAIRS_PAIR) {
		is = find_key(w, b, &pb, key, &other, deep);
		if (is == SAME)
			is = same(w, value, other, deep);
	}
	return is == SAME && next == PAIRS_INNER ? SAME_UNKNOWN : is;
}

static int same_boxes(struct same *w, term_ref a, term_ref b, unsigned deep)
{
	enum term_kind kind = term_kind(w->env, a);

	if (kind != term_kind(w->env, b))
		return SAME_NOT;
	switch (kind) {
	case KIND_LIST: return term_is_nil(w->env, b); /* as a is: it is no cell */
	case KIND_INTEGER: return same_integers(w, a, b);
	case KIND_BITSTRING: return same_bitstrings(w, a, b);
	case KIND_MAP: return same_maps(w, a, b, deep);
	default: return term_same_plain(w->env, kind, a, b);
	}
}

PROBE_PATH static int same(struct same *w, term_ref a, term_ref b, unsigned deep)
{
	struct term_parts pa, pb;
	term_ref ha, hb;
	unsigned na, nb;
	int is;

	for (;;) {
		if (term_identical(a, b))
			return SAME;
		if (term_immediate(a, b))
			return SAME_NOT;
		if (deep >= SAME_DEEP || !spend(w, 1))
			return SAME_UNKNOWN;
		if (term_cell(w->env, a, &ha, &a)) {
			if (!term_cell(w->env, b, &hb, &b))
				return SAME_NOT;
			is = same(w, ha, hb, deep + 1);
			if (is != SAME)
				return is;
		} else if (term_tuple(w->env, a, &na, &pa)) {
			if (!term_tuple(w->env, b, &nb, &pb) || na != nb)
				return SAME_NOT;
			if (na == 0)
				return SAME;
			is = same_parts(w, &pa, &pb, na - 1, deep + 1);
			if (is != SAME)
				return is;
			a = term_next(&pa);
			b = term_next(&pb);
		} else {
			return same_boxes(w, a, b, deep + 1);
		}
	}
}

/* ---- values ---------------------------------------------------------------------------- */

/* What a term contains, to be compared with such a value; false: it has no such contents. */
static bool contents(term_env env, term_ref t, enum term_value_kind kind, struct term_value *v)
{
	uint64_t u = 0;

	v->kind = kind;
	switch (kind) {
	case VALUE_BITS: return term_bits(env, t, &v->bits);
	case VALUE_INT: return term_int64(env, t, &v->num);
	default:
		if (!term_uint64(env, t, &u) || u <= INT64_MAX)
			return false;
		v->num = (int64_t)u;
		return true;
	}
}

/* *steps: how many are left. SAME_UNKNOWN: they did not suffice. */
static int same_values(
	term_env env, const struct term_value *a, const struct term_value *b, unsigned *steps)
{
	const struct term_value *term = value_is_term(a) ? a : b, *v = term == a ? b : a;
	struct same w = {.env = env, .left = *steps};
	struct term_value got;
	int is;

	if (value_is_term(v)) {
		is = same(&w, a->term, b->term, 0);
	} else {
		if (value_is_term(term)) {
			if (!contents(env, term->term, v->kind, &got))
				return SAME_NOT;
			term = &got;
		}
		is = term->kind != v->kind   ? SAME_NOT
		     : v->kind == VALUE_BITS ? same_bits(&w, &term->bits, &v->bits)
					     : term->num == v->num;
	}
	*steps = w.left;
	return is;
}
