/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of the VM, for the rules of c_src/term (probe path): read in place where their words are
 * known (term_words.h), else the VM is asked.
 */
#ifndef BEAM_BEAM_TERMS_H
#define BEAM_BEAM_TERMS_H

#include <erl_nif.h>

#include "atom_text.h"
#include "beam/vm/peek.h"
#include "beam/vm/sizes.h"
#include "compiler.h"
#include "patterns.h"
#include "same.h"
#include "term_chars.h"
#include "term_print.h"
#include "term_words.h"

typedef ERL_NIF_TERM term_ref;
typedef ErlNifEnv *term_env;
typedef struct beam_node term_node;

struct term_parts {
	const ERL_NIF_TERM *at;
};

struct term_pairs {
	enum { PAIRS_FLAT, PAIRS_ASKED, PAIRS_TREE } how;
	unsigned n;		/* left; of those that the VM is asked for, how many were before */
	const ERL_NIF_TERM *at; /* keys, or nodes of a tree */
	union {
		const ERL_NIF_TERM *values;
		ERL_NIF_TERM map;
	};
};

#include "term/term_access.h"

_Static_assert((int)KIND_ATOM == ERL_NIF_TERM_TYPE_ATOM, "kinds are the VM's");
_Static_assert((int)KIND_INTEGER == ERL_NIF_TERM_TYPE_INTEGER, "kinds are the VM's");
_Static_assert((int)KIND_TUPLE == ERL_NIF_TERM_TYPE_TUPLE, "kinds are the VM's");

static inline enum term_kind term_kind(term_env env, term_ref t)
{
	return (enum term_kind)enif_term_type(env, t);
}

/* ---- lists and tuples ------------------------------------------------------------------ */

static inline bool term_is_nil(term_env env, term_ref t)
{
	return enif_is_empty_list(env, t);
}

static inline bool term_cell(term_env env, term_ref t, term_ref *head, term_ref *tail)
{
	return beam_get_cell(env, t, head, tail);
}

static inline bool term_tuple(term_env env, term_ref t, unsigned *n, struct term_parts *parts)
{
	return beam_get_tuple(env, t, n, &parts->at);
}

static inline term_ref term_next(struct term_parts *parts)
{
	return *parts->at++;
}

static inline void term_skip(struct term_parts *parts, unsigned n)
{
	parts->at += n;
}

/* ---- maps ------------------------------------------------------------------------------ */

static inline bool term_map_size(term_env env, term_ref t, size_t *n)
{
	return enif_get_map_size(env, t, n);
}

/* Of more than 32 keys the VM's own iterator would allocate. */
static inline bool term_pairs(term_env env, term_ref map, struct term_pairs *p)
{
	size_t n = 0;

	p->how = PAIRS_FLAT;
	if (beam_get_flat_map(map, &p->n, &p->at, &p->values))
		return true;
	enif_get_map_size(env, map, &n);
	if (n <= BEAM_FLAT_MAP) {
		p->how = PAIRS_ASKED;
		p->n = 0;
		p->map = map;
		return true;
	}
	p->how = PAIRS_TREE;
	p->n = beam_map_node(map, &p->at);
	return p->n > 0;
}

/* Where the words of maps are not known. */
static inline bool beam_nth_pair(
	term_env env, const struct term_pairs *p, term_ref *key, term_ref *value)
{
	ErlNifMapIterator it;
	bool is;

	if (!enif_map_iterator_create(env, p->map, &it, ERL_NIF_MAP_ITERATOR_FIRST))
		return false;
	for (unsigned i = 0; i < p->n; i++)
		enif_map_iterator_next(env, &it);
	is = enif_map_iterator_get_pair(env, &it, key, value);
	enif_map_iterator_destroy(env, &it);
	return is;
}

/* A node of a map of more than 32 keys: its parts are nodes, or cells of key and value. */
static inline enum term_next beam_next_in_tree(term_env env, struct term_pairs *p, term_ref *key,
	term_ref *value, struct term_pairs *inner)
{
	while (p->n > 0) {
		ERL_NIF_TERM t = *p->at++;

		p->n--;
		if (beam_get_cell(env, t, key, value))
			return PAIRS_PAIR;
		inner->how = PAIRS_TREE;
		inner->n = beam_map_node(t, &inner->at);
		/* keys with the same hash are a tuple */
		if (inner->n > 0 || beam_get_tuple(env, t, &inner->n, &inner->at))
			return PAIRS_INNER;
	}
	return PAIRS_END;
}

PROBE_PATH static inline enum term_next term_next_pair(term_env env, struct term_pairs *p, term_ref *key,
	term_ref *value, struct term_pairs *inner)
{
	switch (p->how) {
	case PAIRS_TREE: return beam_next_in_tree(env, p, key, value, inner);
	case PAIRS_ASKED:
		if (!beam_nth_pair(env, p, key, value))
			return PAIRS_END;
		p->n++;
		return PAIRS_PAIR;
	default:
		if (p->n == 0)
			return PAIRS_END;
		p->n--;
		*key = *p->at++;
		*value = *p->values++;
		return PAIRS_PAIR;
	}
}

/* ---- numbers, binaries ----------------------------------------------------------------- */

static inline bool beam_is_small(ERL_NIF_TERM t)
{
	return likely(beam_vm.small) && (t & 15) == 15;
}

static inline bool term_bits(term_env env, term_ref t, struct term_bits *b)
{
	return beam_get_bits(env, t, b);
}

static inline bool term_int64(term_env env, term_ref t, int64_t *i)
{
	ErlNifSInt64 v;

	if (likely(beam_is_small(t))) {
		*i = (int64_t)t >> 4;
		return true;
	}
	if (!enif_get_int64(env, t, &v))
		return false;
	*i = v;
	return true;
}

static inline bool term_uint64(term_env env, term_ref t, uint64_t *u)
{
	ErlNifUInt64 v;

	if (!enif_get_uint64(env, t, &v))
		return false;
	*u = v;
	return true;
}

static inline bool term_double(term_env env, term_ref t, double *d)
{
	return !beam_is_small(t) && enif_get_double(env, t, d);
}

static inline bool term_char(term_env env, term_ref t, uint32_t *c)
{
	return enif_get_uint(env, t, c);
}

static inline unsigned term_big(term_env env, term_ref t, const uint64_t **digits, bool *negative)
{
	(void)env;
	return beam_peek_big(t, digits, negative);
}

static inline int term_sign(term_env env, term_ref t)
{
	if (!enif_is_number(env, t))
		return 0;
	return enif_compare(t, enif_make_int(env, 0)) < 0 ? -1 : 1;
}

/* ---- atoms and others ------------------------------------------------------------------ */

static inline bool term_atom_is(term_env env, term_ref t, const char *name, size_t len)
{
	(void)env;
	return beam_atom_is(t, name, len);
}

static inline const char *term_atom_name(
	term_env env, term_ref t, char buf[TERM_ATOM_NAME], size_t *len)
{
	(void)env;
	*len = beam_atom_name(t, buf);
	return buf;
}

static inline size_t term_atom_text(term_env env, term_ref t, char *buf, size_t size)
{
	(void)env;
	return beam_atom_text(t, buf, size);
}

/* Of the VM's own making: short, and bounded whatever it is. The text of a resource's reference
 * takes a lock. */
static inline size_t term_other_text(term_env env, term_ref t, char *buf, size_t size)
{
	bool plain = !enif_is_ref(env, t) || beam_plain_ref(t);
	int n = plain ? enif_snprintf(buf, size, "%T", t) : enif_snprintf(buf, size, "#Ref<...>");

	return n < 0 ? 0 : (size_t)n;
}

/* ---- two terms, a term and a node of a pattern ----------------------------------------- */

static inline bool term_identical(term_ref a, term_ref b)
{
	return a == b;
}

static inline bool term_immediate(term_ref a, term_ref b)
{
	return beam_vm.immediates && (beam_is_immediate(a) || beam_is_immediate(b));
}

static inline int term_same_plain(term_env env, enum term_kind kind, term_ref a, term_ref b)
{
	(void)env;
	return kind == KIND_FUN ? beam_same_funs(a, b) : enif_is_identical(a, b);
}

static inline bool term_match_atom(term_env env, const term_node *p, term_ref t)
{
	ERL_NIF_TERM atom = atomic_load_explicit(&p->term, memory_order_relaxed);

	return likely(atom != 0) ? t == atom : beam_atom_by_name(env, p, t);
}

static inline bool term_match_int(term_env env, const term_node *p, term_ref t)
{
	int64_t v;

	if (likely(p->term != 0))
		return t == p->term;
	return term_int64(env, t, &v) && v == p->num;
}

static inline bool term_match_big(term_env env, const term_node *p, term_ref t)
{
	(void)env;
	return p->term != 0 && enif_is_identical(t, p->term);
}

static inline bool term_match_nil(term_env env, const term_node *p, term_ref t)
{
	return p->term != 0 ? t == p->term : enif_is_empty_list(env, t);
}

/*
 * A key that has an atom which was not there when the pattern was made ready is looked for among
 * the keys, one by one. In a map of more than 32 keys it is not found before the handle has looked
 * for its atoms again (nif_clean()): to walk that map has no bound.
 */
static inline enum term_key term_key(
	term_env env, const term_node *key, term_ref map, term_ref *value)
{
	ERL_NIF_TERM k = atomic_load_explicit(&key->term, memory_order_acquire);
	size_t n;

	if (likely(k != 0))
		return beam_get_value(env, map, k, value) ? KEY_FOUND : KEY_NOT;
	return enif_get_map_size(env, map, &n) && n <= BEAM_FLAT_MAP ? KEY_BY_WALK : KEY_NOT;
}

static inline bool term_zeros_same(term_env env)
{
	(void)env;
	return beam_vm.zeros_same;
}

static inline bool term_wide_texts(term_env env)
{
	(void)env;
	return beam_vm.unicode;
}

/* ---- rules that other rules need ------------------------------------------------------- */

static inline int term_same_values(
	term_env env, const struct term_value *a, const struct term_value *b, unsigned *steps)
{
	return beam_same_values(env, a, b, steps);
}

static inline void term_print_value(
	term_env env, const struct term_value *v, char *buf, size_t size)
{
	beam_print_value(env, v, buf, size);
}

static inline int term_chars_are(
	term_env env, const struct term_value *v, const char *text, size_t len)
{
	return beam_chars_are(env, v, text, len);
}

#endif
