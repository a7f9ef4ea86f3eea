/* SPDX-License-Identifier: Apache-2.0 */
/* Are two terms of the VM the same (probe path)? Maps are compared by their words. */
#include "same.h"

#include "beam_terms.h"
#include "compiler.h"
#include "term/term_same.h"

/* The text of a fun has its module and its place in it, or the function that it is. */
PROBE_PATH int beam_same_funs(ERL_NIF_TERM a, ERL_NIF_TERM b)
{
	char ta[600], tb[600];

	enif_snprintf(ta, sizeof(ta), "%T", a);
	enif_snprintf(tb, sizeof(tb), "%T", b);
	if (strcmp(ta, tb) != 0)
		return SAME_NOT;
	return strncmp(ta, "fun ", 4) == 0 ? SAME : SAME_UNKNOWN;
}

static int same_words(
	struct same *w, const ERL_NIF_TERM *a, const ERL_NIF_TERM *b, unsigned n, unsigned deep)
{
	return same_parts(w, &(struct term_parts){a}, &(struct term_parts){b}, n, deep);
}

/*
 * Maps of more than 32 keys are trees, which are built the same for the same keys. A node has words
 * of its own, then nodes and cells of key and value.
 */
static int same_trees(struct same *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned deep)
{
	const ERL_NIF_TERM *pa, *pb;
	unsigned n = beam_map_node(a, &pa);

	if (n == 0)
		return SAME_UNKNOWN;
	if (n != beam_map_node(b, &pb) ||
		memcmp(beam_words(a), beam_words(b),
			(size_t)((const char *)pa - (const char *)beam_words(a))) != 0)
		return SAME_NOT;
	return same_words(w, pa, pb, n, deep);
}

PROBE_PATH static int same_maps(struct same *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned deep)
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
	is = ka == kb ? SAME : same_words(w, ka, kb, na, deep);
	return is == SAME ? same_words(w, va, vb, na, deep) : is;
}

PROBE_PATH int beam_same_values(
	ErlNifEnv *env, const struct term_value *a, const struct term_value *b, unsigned *steps)
{
	return same_values(env, a, b, steps);
}
