/* SPDX-License-Identifier: Apache-2.0 */
/* A term of the VM and a pattern (probe path). */
#include "match.h"

#include "compiler.h"
#include "kept_args.h"
#include "beam_terms.h"
#include "term/term_matcher.h"

/* An atom that was not there when the pattern was made ready. */
PROBE_PATH __attribute__((noinline)) bool beam_atom_by_name(
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

PROBE_PATH NO_GUARD bool beam_match(ErlNifEnv *env, const struct beam_pattern *p, const struct term_value *v,
	struct term_value *var)
{
	return match_value(env, p->node, v, var);
}

PROBE_PATH NO_GUARD bool beam_match_key(
	ErlNifEnv *env, const struct beam_pattern *key, ERL_NIF_TERM map, ERL_NIF_TERM *value)
{
	ERL_NIF_TERM k = atomic_load_explicit(&key->whole, memory_order_acquire);
	struct match m = {.env = env, .node = key->node};
	size_t n;

	if (likely(k != 0))
		return beam_get_value(env, map, k, value);
	return key->ground && enif_get_map_size(env, map, &n) && n <= BEAM_FLAT_MAP &&
	       value_by_walk(&m, 0, map, value);
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
	const struct term_value *v = &m->var[n];

	if ((m->bound >> n & 1) &&
		(beam_kept_has_left_out(k, t, true) ||
			(value_is_term(v) && beam_kept_has_left_out(k, v->term, true))))
		return MEETS;
	return bind_term(m, n, t) ? YES : NO;
}

/* As match(); the first part that was left out decides. */
PROBE_PATH static enum verdict meets(struct match *m, const struct beam_kept *k, unsigned i, ERL_NIF_TERM t)
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

PROBE_PATH bool beam_match_meets(ErlNifEnv *env, const struct beam_pattern *p, const struct term_value *v,
	const struct beam_kept *k)
{
	struct term_value var[PAT_VARS];
	struct match m = {.env = env, .node = p->node, .var = var, .steps = SAME_STEPS};

	return value_is_term(v) && meets(&m, k, 0, v->term) == MEETS;
}
