/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A term and a pattern (probe path). The work is bounded by the pattern: by its nodes, the bytes in
 * it, and SAME_STEPS for all variables that are there more than once. C calls go as deep as the
 * pattern (PAT_DEEP), since its last part, the tail of a list, is done in place. Nothing allocates.
 */
#include <string.h>

#include "atom_text.h"
#include "compiler.h"
#include "kept_args.h"
#include "match.h"
#include "same.h"
#include "term_words.h"

#define FLAT_MAP 32 /* keys: to walk more, the VM would allocate */

struct match {
	ErlNifEnv *env;
	const struct beam_node *node;
	struct beam_value *var;
	uint32_t bound;
	unsigned steps; /* left, to compare terms */
};

static bool match(struct match *m, unsigned i, ERL_NIF_TERM t);

/* ---- variables ------------------------------------------------------------------------- */

/* An integer of the VM; false: it is none, or larger. */
static bool get_integer(ErlNifEnv *env, ERL_NIF_TERM t, struct beam_value *v)
{
	ErlNifSInt64 i;
	ErlNifUInt64 u;

	if (enif_get_int64(env, t, &i))
		*v = (struct beam_value){.kind = VALUE_INT, .num = i};
	else if (enif_get_uint64(env, t, &u))
		*v = (struct beam_value){.kind = VALUE_UINT, .num = (int64_t)u};
	else
		return false;
	return true;
}

static bool is_term(const struct beam_value *v)
{
	return v->kind == VALUE_TERM || v->kind == VALUE_ARGS;
}

PROBE_PATH int beam_same_values(
	ErlNifEnv *env, const struct beam_value *a, const struct beam_value *b, unsigned *steps)
{
	const struct beam_value *term = is_term(a) ? a : b, *v = is_term(a) ? b : a;
	struct beam_value got;

	if (is_term(v))
		return beam_same(env, a->term, b->term, steps);
	if (is_term(term)) {
		if (v->kind == VALUE_BITS ? !beam_get_bits(env, term->term, &got.bits)
					  : !get_integer(env, term->term, &got))
			return SAME_NOT;
		if (v->kind == VALUE_BITS)
			got.kind = VALUE_BITS;
		term = &got;
	}
	if (term->kind != v->kind)
		return SAME_NOT;
	return v->kind == VALUE_BITS ? beam_same_bits(&term->bits, &v->bits, steps)
				     : term->num == v->num;
}

PROBE_PATH static bool bind(struct match *m, unsigned n, const struct beam_value *v)
{
	if (m->bound >> n & 1)
		return beam_same_values(m->env, &m->var[n], v, &m->steps) == SAME;
	m->bound |= 1u << n;
	m->var[n] = *v;
	return true;
}

static inline bool bind_term(struct match *m, unsigned n, ERL_NIF_TERM t)
{
	if (unlikely(m->bound >> n & 1))
		return bind(m, n, &(struct beam_value){.kind = VALUE_TERM, .term = t});
	m->bound |= 1u << n;
	m->var[n].kind = VALUE_TERM;
	m->var[n].term = t;
	return true;
}

/* ---- atoms and numbers ----------------------------------------------------------------- */

/* An atom that was not there when the pattern was made ready. */
PROBE_PATH static __attribute__((noinline)) bool atom_by_name(
	ErlNifEnv *env, const struct beam_node *p, ERL_NIF_TERM t)
{
	struct beam_node *known = (struct beam_node *)p; /* what is learnt is kept */

	if (!enif_is_atom(env, t) || t == atomic_load_explicit(&p->other, memory_order_relaxed))
		return false;
	if (!beam_atom_is(t, p->text, p->len)) {
		atomic_store_explicit(&known->other, t, memory_order_relaxed);
		return false;
	}
	atomic_store_explicit(&known->term, t, memory_order_relaxed);
	return true;
}

static inline bool match_atom(ErlNifEnv *env, const struct beam_node *p, ERL_NIF_TERM t)
{
	ERL_NIF_TERM atom = atomic_load_explicit(&p->term, memory_order_relaxed);

	return likely(atom != 0) ? t == atom : atom_by_name(env, p, t);
}

static bool match_int(ErlNifEnv *env, const struct beam_node *p, ERL_NIF_TERM t)
{
	ErlNifSInt64 v;

	if (likely(p->term != 0))
		return t == p->term;
	return enif_get_int64(env, t, &v) && v == p->num;
}

/* Whether 0.0 is -0.0 depends on the release. */
static bool match_float(ErlNifEnv *env, const struct beam_node *p, ERL_NIF_TERM t)
{
	double d;

	return enif_get_double(env, t, &d) && d == p->real &&
	       (d != 0.0 || beam_vm.zeros_same ||
		       __builtin_signbit(d) == __builtin_signbit(p->real));
}

/* ---- binaries -------------------------------------------------------------------------- */

/* Some bits of a binary, from this one on, as one of its own. */
static struct beam_bits part_of(const struct beam_bits *b, uint64_t from, uint64_t n)
{
	uint64_t at = b->off + from;

	return (struct beam_bits){.data = b->data + at / 8, .off = at % 8, .n = n};
}

/* Up to 64 bits; the first is the highest. */
static uint64_t big_endian(const struct beam_bits *b)
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

static uint64_t little_endian(const struct beam_bits *b)
{
	uint64_t v = 0;

	for (uint64_t i = 0; i < b->n / 8; i++)
		v |= (uint64_t)beam_octet(b, i) << 8 * i;
	return v;
}

static struct beam_value integer_of(const struct beam_node *seg, const struct beam_bits *b)
{
	uint64_t v = seg->num & SEG_LITTLE ? little_endian(b) : big_endian(b);
	unsigned up = 64 - (unsigned)b->n;

	if (seg->num & SEG_SIGNED)
		v = (uint64_t)((int64_t)(v << up) >> up);
	else if (v > INT64_MAX)
		return (struct beam_value){.kind = VALUE_UINT, .num = (int64_t)v};
	return (struct beam_value){.kind = VALUE_INT, .num = (int64_t)v};
}

static bool match_part(struct match *m, const struct beam_node *child, const struct beam_value *v)
{
	switch (child->op) {
	case PAT_ANY: return true;
	case PAT_VAR: return bind(m, child->n, v);
	default: return v->kind == VALUE_INT && v->num == child->num;
	}
}

static bool match_bytes(const struct beam_node *seg, const struct beam_bits *b)
{
	if (b->off == 0)
		return memcmp(b->data, seg->text, seg->len) == 0;
	for (uint32_t i = 0; i < seg->len; i++)
		if (beam_octet(b, i) != (uint8_t)seg->text[i])
			return false;
	return true;
}

PROBE_PATH static bool match_bits(struct match *m, unsigned i, const struct beam_bits *b)
{
	unsigned end = m->node[i].end;
	uint64_t at = 0;

	for (i++; i < end; i = m->node[i].end) {
		const struct beam_node *seg = &m->node[i];
		uint64_t left = b->n - at, n = seg->op == SEG_BYTES  ? (uint64_t)seg->len * 8
					       : seg->op == SEG_REST ? left
								     : seg->n;
		struct beam_value v = {.kind = VALUE_BITS};

		if (n > left)
			return false;
		v.bits = part_of(b, at, n);
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

static bool match_binary(struct match *m, unsigned i, ERL_NIF_TERM t)
{
	struct beam_bits b;

	return beam_get_bits(m->env, t, &b) && match_bits(m, i, &b);
}

/* ---- maps ------------------------------------------------------------------------------ */

/* Where the words of a map are not known. */
static bool ask_by_name(struct match *m, unsigned key, ERL_NIF_TERM map, ERL_NIF_TERM *value)
{
	ErlNifMapIterator it;
	bool is = false;
	ERL_NIF_TERM k;
	size_t n;

	if (!enif_get_map_size(m->env, map, &n) || n > FLAT_MAP || n == 0 ||
		!enif_map_iterator_create(m->env, map, &it, ERL_NIF_MAP_ITERATOR_FIRST))
		return false;
	while (!is && enif_map_iterator_get_pair(m->env, &it, &k, value)) {
		is = match(m, key, k);
		enif_map_iterator_next(m->env, &it);
	}
	enif_map_iterator_destroy(m->env, &it);
	return is;
}

/*
 * A key that has an atom which was not there when the pattern was made ready: it is looked for
 * among the keys, one by one. In a map of more than 32 keys it is not found before the handle has
 * looked for its atoms again (nif_clean()): to walk that map has no bound.
 */
PROBE_PATH static __attribute__((noinline)) bool value_by_name(
	struct match *m, unsigned key, ERL_NIF_TERM map, ERL_NIF_TERM *value)
{
	const ERL_NIF_TERM *keys, *values;
	unsigned n;

	for (unsigned i = key; i < m->node[key].end; i++)
		if (m->node[i].op == PAT_MAP) /* it would match larger ones too */
			return false;
	if (!beam_get_flat_map(map, &n, &keys, &values))
		return !beam_vm.words && ask_by_name(m, key, map, value);
	for (unsigned i = 0; i < n; i++)
		if (match(m, key, keys[i])) {
			*value = values[i];
			return true;
		}
	return false;
}

static inline bool value_of(struct match *m, unsigned key, ERL_NIF_TERM map, ERL_NIF_TERM *value)
{
	ERL_NIF_TERM k = atomic_load_explicit(&m->node[key].term, memory_order_acquire);

	if (unlikely(k == 0))
		return value_by_name(m, key, map, value);
	return beam_get_value(m->env, map, k, value);
}

/* All but the last of its keys; that one's node and value are for the caller. */
static inline bool match_map(struct match *m, unsigned *i, ERL_NIF_TERM *t)
{
	unsigned n = m->node[*i].n, at = *i + 1;
	ERL_NIF_TERM v;

	for (unsigned k = 0; k < n; k++) {
		if (!value_of(m, at, *t, &v))
			return false;
		at = m->node[at].end;
		if (k == n - 1)
			break;
		if (!match(m, at, v))
			return false;
		at = m->node[at].end;
	}
	*i = at;
	*t = v;
	return true;
}

/* ---- all of it ------------------------------------------------------------------------- */

PROBE_PATH NO_GUARD static bool match(struct match *m, unsigned i, ERL_NIF_TERM t)
{
	const ERL_NIF_TERM *e;
	ERL_NIF_TERM head;
	unsigned n;

	for (;;) {
		const struct beam_node *p = &m->node[i];

		switch (p->op) {
		case PAT_ANY: return true;
		case PAT_VAR: return bind_term(m, p->n, t);
		case PAT_ATOM: return match_atom(m->env, p, t);
		case PAT_INT: return match_int(m->env, p, t);
		case PAT_BIG: return p->term != 0 && enif_is_identical(t, p->term);
		case PAT_FLOAT: return match_float(m->env, p, t);
		case PAT_NIL: return p->term != 0 ? t == p->term : enif_is_empty_list(m->env, t);
		case PAT_BINARY: return match_binary(m, i, t);
		case PAT_BOTH:
			if (!match(m, i + 1, t))
				return false;
			i = m->node[i + 1].end;
			break;
		case PAT_CONS:
			if (!beam_get_cell(m->env, t, &head, &t) || !match(m, i + 1, head))
				return false;
			i = m->node[i + 1].end;
			break;
		case PAT_TUPLE:
			if (!beam_get_tuple(m->env, t, &n, &e) || n != p->n)
				return false;
			if (n == 0)
				return true;
			for (i++; --n > 0; i = m->node[i].end)
				if (!match(m, i, *e++))
					return false;
			t = *e;
			break;
		case PAT_MAP:
			if (p->n == 0)
				return enif_is_map(m->env, t);
			if (!match_map(m, &i, &t))
				return false;
			break;
		default: return false;
		}
	}
}

/* What is no term of the VM: part of a binary, or a number from it. */
PROBE_PATH static bool match_other(struct match *m, unsigned i, const struct beam_value *v)
{
	const struct beam_node *p = &m->node[i];

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

PROBE_PATH NO_GUARD bool beam_match(ErlNifEnv *env, const struct beam_pattern *p,
	const struct beam_value *v, struct beam_value *var)
{
	struct match m = {.env = env, .node = p->node, .var = var, .steps = SAME_STEPS};

	return is_term(v) ? match(&m, 0, v->term) : match_other(&m, 0, v);
}

PROBE_PATH NO_GUARD bool beam_match_key(
	ErlNifEnv *env, const struct beam_pattern *key, ERL_NIF_TERM map, ERL_NIF_TERM *value)
{
	ERL_NIF_TERM k = atomic_load_explicit(&key->whole, memory_order_acquire);
	struct match m = {.env = env, .node = key->node, .steps = SAME_STEPS};

	if (likely(k != 0))
		return beam_get_value(env, map, k, value);
	return key->ground && value_by_name(&m, 0, map, value);
}

/* ---- arguments at a return ------------------------------------------------------------- */

enum verdict { NO, YES, MEETS };

static enum verdict meets(struct match *m, const struct beam_kept *k, unsigned i, ERL_NIF_TERM t);

/* n terms against as many patterns, from node i on. */
static enum verdict all_meet(
	struct match *m, const struct beam_kept *k, unsigned i, const ERL_NIF_TERM *t, unsigned n)
{
	enum verdict v = YES;

	for (; n-- > 0 && v == YES; i = m->node[i].end)
		v = meets(m, k, i, *t++);
	return v;
}

static enum verdict map_meets(
	struct match *m, const struct beam_kept *k, unsigned i, ERL_NIF_TERM map)
{
	unsigned n = m->node[i].n, key = i + 1;
	enum verdict v = enif_is_map(m->env, map) ? YES : NO;
	ERL_NIF_TERM value;

	for (; n-- > 0 && v == YES; key = m->node[m->node[key].end].end) {
		if (value_of(m, key, map, &value))
			v = meets(m, k, m->node[key].end, value);
		else
			v = beam_kept_lacks_keys(k, map) ? MEETS : NO;
	}
	return v;
}

static enum verdict variable_meets(
	struct match *m, const struct beam_kept *k, unsigned n, ERL_NIF_TERM t)
{
	const struct beam_value *v = &m->var[n];

	if ((m->bound >> n & 1) &&
		(beam_kept_has_left_out(k, t, true) ||
			(is_term(v) && beam_kept_has_left_out(k, v->term, true))))
		return MEETS;
	return bind_term(m, n, t) ? YES : NO;
}

/* As match(); the first part that was left out decides. */
PROBE_PATH static enum verdict meets(
	struct match *m, const struct beam_kept *k, unsigned i, ERL_NIF_TERM t)
{
	const struct beam_node *p = &m->node[i];
	const ERL_NIF_TERM *e;
	ERL_NIF_TERM cell[2];
	unsigned n;

	switch (p->op) {
	case PAT_ANY: return YES;
	case PAT_BOTH: return all_meet(m, k, i + 1, (ERL_NIF_TERM[]){t, t}, 2);
	case PAT_VAR: return variable_meets(m, k, p->n, t);
	default: break;
	}
	if (beam_kept_left_out(k, t))
		return MEETS;
	switch (p->op) {
	case PAT_CONS:
		return beam_get_cell(m->env, t, &cell[0], &cell[1]) ? all_meet(m, k, i + 1, cell, 2)
								    : NO;
	case PAT_TUPLE:
		return beam_get_tuple(m->env, t, &n, &e) && n == p->n ? all_meet(m, k, i + 1, e, n)
								      : NO;
	case PAT_MAP: return map_meets(m, k, i, t);
	default: return match(m, i, t) ? YES : NO;
	}
}

PROBE_PATH bool beam_match_meets(ErlNifEnv *env, const struct beam_pattern *p,
	const struct beam_value *v, const struct beam_kept *k)
{
	struct beam_value var[PAT_VARS];
	struct match m = {.env = env, .node = p->node, .var = var, .steps = SAME_STEPS};

	return is_term(v) && meets(&m, k, 0, v->term) == MEETS;
}
