/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are two terms the same (probe path)? The VM's own comparison walks all of them, however large;
 * this one counts its steps, and goes no deeper than DEEP. The last part of a tuple and the tail of
 * a list are not deeper than the whole. Of two funs of one place in a module it is not known,
 * unless they lie at the same address: the VM would compare all that is in them.
 */
#include <string.h>

#include "beam/vm/sizes.h"
#include "compiler.h"
#include "same.h"
#include "term_words.h"

#define DEEP 64

struct walk {
	ErlNifEnv *env;
	unsigned left; /* steps */
};

static int same(struct walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned deep);

static bool spend(struct walk *w, uint64_t n)
{
	if (n > w->left) {
		w->left = 0;
		return false;
	}
	w->left -= (unsigned)n;
	return true;
}

/* ---- numbers and bits ------------------------------------------------------------------ */

PROBE_PATH static int same_integers(struct walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
	const uint64_t *da, *db;
	bool negative_a, negative_b;
	ErlNifSInt64 ia, ib;
	unsigned na, nb;

	if (enif_get_int64(w->env, a, &ia))
		return enif_get_int64(w->env, b, &ib) && ia == ib;
	na = beam_peek_big(a, &da, &negative_a);
	nb = beam_peek_big(b, &db, &negative_b);
	if (na == 0) /* its words are not known */
		return enif_is_identical(a, b);
	if (na != nb || negative_a != negative_b)
		return SAME_NOT;
	if (!spend(w, na / 8))
		return SAME_UNKNOWN;
	return memcmp(da, db, na * sizeof(*da)) == 0;
}

/* Bits of the last octet that are part of it, in the highest places. */
PROBE_PATH static uint8_t last_octet(const struct beam_bits *b)
{
	uint64_t n = b->n / 8;
	unsigned rest = b->n % 8;
	uint8_t v = b->off + rest <= 8 ? (uint8_t)(b->data[n] << b->off) : beam_octet(b, n);

	return (uint8_t)(v & 0xff00 >> rest);
}

PROBE_PATH int beam_same_bits(const struct beam_bits *a, const struct beam_bits *b, unsigned *steps)
{
	struct walk w = {.left = *steps};
	uint64_t n = a->n / 8;
	bool is;

	if (a->n != b->n)
		return SAME_NOT;
	if (a->data == b->data && a->off == b->off)
		return SAME;
	is = spend(&w, n / (a->off == 0 && b->off == 0 ? 64 : 4));
	*steps = w.left;
	if (!is)
		return SAME_UNKNOWN;
	if (a->off == 0 && b->off == 0) {
		if (memcmp(a->data, b->data, n) != 0)
			return SAME_NOT;
	} else {
		for (uint64_t i = 0; i < n; i++)
			if (beam_octet(a, i) != beam_octet(b, i))
				return SAME_NOT;
	}
	return a->n % 8 == 0 || last_octet(a) == last_octet(b);
}

PROBE_PATH static int same_bitstrings(struct walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
	struct beam_bits ba, bb;

	if (!beam_get_bits(w->env, a, &ba) || !beam_get_bits(w->env, b, &bb))
		return SAME_UNKNOWN;
	return beam_same_bits(&ba, &bb, &w->left);
}

/* The text of a fun has its module and its place in it, or the function that it is. */
PROBE_PATH static int same_funs(ERL_NIF_TERM a, ERL_NIF_TERM b)
{
	char ta[600], tb[600];

	enif_snprintf(ta, sizeof(ta), "%T", a);
	enif_snprintf(tb, sizeof(tb), "%T", b);
	if (strcmp(ta, tb) != 0)
		return SAME_NOT;
	return strncmp(ta, "fun ", 4) == 0 ? SAME : SAME_UNKNOWN;
}

/* ---- what has parts -------------------------------------------------------------------- */

static int same_all(
	struct walk *w, const ERL_NIF_TERM *a, const ERL_NIF_TERM *b, unsigned n, unsigned deep)
{
	int is = SAME;

	for (unsigned i = 0; i < n && is == SAME; i++)
		is = same(w, a[i], b[i], deep);
	return is;
}

/*
 * Maps of more than 32 keys are trees, which are built the same for the same keys. A node has words
 * of its own, then nodes and cells of key and value.
 */
static int same_trees(struct walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned deep)
{
	const ERL_NIF_TERM *pa, *pb;
	unsigned n = beam_map_node(a, &pa);

	if (n == 0)
		return SAME_UNKNOWN;
	if (n != beam_map_node(b, &pb) ||
		memcmp(beam_words(a), beam_words(b),
			(size_t)((const char *)pa - (const char *)beam_words(a))) != 0)
		return SAME_NOT;
	return same_all(w, pa, pb, n, deep);
}

/* The value of a key, looked for from where the last one was found: mostly it is the next. */
static int find_key(struct walk *w, ERL_NIF_TERM map, ErlNifMapIterator *it, ERL_NIF_TERM key,
	ERL_NIF_TERM *value, unsigned deep)
{
	for (int turn = 0; turn < 2; turn++) {
		ERL_NIF_TERM k;
		int is = SAME_NOT;

		while (is == SAME_NOT && enif_map_iterator_get_pair(w->env, it, &k, value)) {
			is = same(w, k, key, deep);
			enif_map_iterator_next(w->env, it);
		}
		if (is != SAME_NOT)
			return is;
		enif_map_iterator_destroy(w->env, it);
		if (!enif_map_iterator_create(w->env, map, it, ERL_NIF_MAP_ITERATOR_FIRST))
			return SAME_UNKNOWN;
	}
	return SAME_NOT;
}

/*
 * Where the words of maps are not known. To walk one of more than 32 keys, the VM would allocate.
 */
static int same_pairs(struct walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned deep)
{
	ERL_NIF_TERM key, value, other;
	ErlNifMapIterator ia, ib;
	int is = SAME;
	size_t na, nb;

	if (!enif_get_map_size(w->env, a, &na) || !enif_get_map_size(w->env, b, &nb) || na != nb)
		return SAME_NOT;
	if (na == 0)
		return SAME;
	if (na > BEAM_FLAT_MAP ||
		!enif_map_iterator_create(w->env, a, &ia, ERL_NIF_MAP_ITERATOR_FIRST) ||
		!enif_map_iterator_create(w->env, b, &ib, ERL_NIF_MAP_ITERATOR_FIRST))
		return SAME_UNKNOWN;
	while (is == SAME && enif_map_iterator_get_pair(w->env, &ia, &key, &value)) {
		is = find_key(w, b, &ib, key, &other, deep);
		if (is == SAME)
			is = same(w, value, other, deep);
		enif_map_iterator_next(w->env, &ia);
	}
	enif_map_iterator_destroy(w->env, &ia);
	enif_map_iterator_destroy(w->env, &ib);
	return is;
}

PROBE_PATH static int same_maps(struct walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned deep)
{
	const ERL_NIF_TERM *ka, *kb, *va, *vb;
	unsigned na, nb;
	int is;

	if (!beam_vm.words)
		return same_pairs(w, a, b, deep);
	if (!beam_get_flat_map(a, &na, &ka, &va))
		return same_trees(w, a, b, deep);
	if (!beam_get_flat_map(b, &nb, &kb, &vb) || na != nb)
		return SAME_NOT;
	is = ka == kb ? SAME : same_all(w, ka, kb, na, deep);
	return is == SAME ? same_all(w, va, vb, na, deep) : is;
}

static int same_boxes(struct walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned deep)
{
	ErlNifTermType type = enif_term_type(w->env, a);

	if (type != enif_term_type(w->env, b))
		return SAME_NOT;
	switch (type) {
	case ERL_NIF_TERM_TYPE_INTEGER: return same_integers(w, a, b);
	case ERL_NIF_TERM_TYPE_BITSTRING: return same_bitstrings(w, a, b);
	case ERL_NIF_TERM_TYPE_MAP: return same_maps(w, a, b, deep);
	case ERL_NIF_TERM_TYPE_FUN: return same_funs(a, b);
	default: return enif_is_identical(a, b); /* floats, pids, ports, references: small */
	}
}

PROBE_PATH static int same(struct walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned deep)
{
	ERL_NIF_TERM ha, hb;
	const ERL_NIF_TERM *ea, *eb;
	unsigned na, nb;
	int is;

	for (;;) {
		if (a == b)
			return SAME;
		if (beam_vm.immediates && (beam_is_immediate(a) || beam_is_immediate(b)))
			return SAME_NOT;
		if (deep >= DEEP || !spend(w, 1))
			return SAME_UNKNOWN;
		if (beam_get_cell(w->env, a, &ha, &a)) {
			if (!beam_get_cell(w->env, b, &hb, &b))
				return SAME_NOT;
			is = same(w, ha, hb, deep + 1);
			if (is != SAME)
				return is;
		} else if (beam_get_tuple(w->env, a, &na, &ea)) {
			if (!beam_get_tuple(w->env, b, &nb, &eb) || na != nb)
				return SAME_NOT;
			if (na == 0)
				return SAME;
			is = same_all(w, ea, eb, na - 1, deep + 1);
			if (is != SAME)
				return is;
			a = ea[na - 1];
			b = eb[na - 1];
		} else {
			return same_boxes(w, a, b, deep + 1);
		}
	}
}

PROBE_PATH int beam_same(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned *steps)
{
	struct walk w = {.env = env, .left = *steps};
	int is = same(&w, a, b, 0);

	*steps = w.left;
	return is;
}
