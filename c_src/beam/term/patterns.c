/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of a handle, made ready before its events come. What is looked for in a map is made
 * as a term, in an environment of the handle. Atoms are looked up without being made: by the
 * external term format, which has a mode for that, and knows UTF-8 in every release.
 */
#include <stdlib.h>
#include <string.h>

#include "patterns.h"
#include "term_words.h"

enum { EXT_VERSION = 131, EXT_ATOM_UTF8 = 118, EXT_SMALL_BIG = 110 };

static ERL_NIF_TERM from_external(ErlNifEnv *env, const unsigned char *bytes, size_t n)
{
	ERL_NIF_TERM t;

	return enif_binary_to_term(env, bytes, n, &t, ERL_NIF_BIN2TERM_SAFE) == n ? t : 0;
}

/* 0: there is no such atom. */
static ERL_NIF_TERM existing_atom(ErlNifEnv *env, const struct pat_node *p)
{
	unsigned char bytes[4 + 4 * 255] = {
		EXT_VERSION, EXT_ATOM_UTF8, (unsigned char)(p->len >> 8), (unsigned char)p->len};

	if (p->len > sizeof(bytes) - 4)
		return 0;
	memcpy(bytes + 4, p->text, p->len);
	return from_external(env, bytes, 4 + p->len);
}

static ERL_NIF_TERM big_integer(ErlNifEnv *env, const struct pat_node *p)
{
	unsigned char bytes[4 + 255] = {
		EXT_VERSION, EXT_SMALL_BIG, (unsigned char)p->len, (unsigned char)p->n};

	if (p->len > 255)
		return 0;
	memcpy(bytes + 4, p->text, p->len); /* little-endian, as its words are */
	return from_external(env, bytes, 4 + p->len);
}

/* ---- keys ------------------------------------------------------------------------------ */

static ERL_NIF_TERM make(ErlNifEnv *env, const struct beam_node *node, unsigned i);

/* Its parts, n of them from node i on, made one by one; NULL: one cannot be made. */
static ERL_NIF_TERM *make_all(ErlNifEnv *env, const struct beam_node *node, unsigned i, unsigned n)
{
	ERL_NIF_TERM *part = malloc((n + 1) * sizeof(*part));

	for (unsigned k = 0; part != NULL && k < n; k++, i = node[i].end) {
		part[k] = make(env, node, i);
		if (part[k] == 0) {
			free(part);
			return NULL;
		}
	}
	return part;
}

static ERL_NIF_TERM make_tuple(ErlNifEnv *env, const struct beam_node *node, unsigned i)
{
	ERL_NIF_TERM *e = make_all(env, node, i + 1, node[i].n);
	ERL_NIF_TERM t = e != NULL ? enif_make_tuple_from_array(env, e, node[i].n) : 0;

	free(e);
	return t;
}

static ERL_NIF_TERM make_map(ErlNifEnv *env, const struct beam_node *node, unsigned i)
{
	ERL_NIF_TERM *e = make_all(env, node, i + 1, 2 * node[i].n);
	ERL_NIF_TERM t = e != NULL ? enif_make_new_map(env) : 0;

	for (unsigned k = 0; t != 0 && k < node[i].n; k++)
		if (!enif_make_map_put(env, t, e[2 * k], e[2 * k + 1], &t))
			t = 0;
	free(e);
	return t;
}

/* From the last cell to the first: a list may be long. */
static ERL_NIF_TERM make_list(ErlNifEnv *env, const struct beam_node *node, unsigned i)
{
	ERL_NIF_TERM *head, t = 0;
	unsigned n = 0, at;

	for (at = i; node[at].op == PAT_CONS; at = node[at + 1].end)
		n++;
	head = malloc(n * sizeof(*head));
	if (head == NULL)
		return 0;
	for (unsigned k = 0; k < n; k++, i = node[i + 1].end) {
		head[k] = make(env, node, i + 1);
		if (head[k] == 0)
			goto out;
	}
	t = make(env, node, at);
	while (t != 0 && n-- > 0)
		t = enif_make_list_cell(env, head[n], t);
out:
	free(head);
	return t;
}

/* The reader makes all that is constant one segment. */
static ERL_NIF_TERM make_binary(ErlNifEnv *env, const struct beam_node *node, unsigned i)
{
	uint32_t len = node[i].n > 0 ? node[i + 1].len : 0;
	unsigned char *bytes;
	ERL_NIF_TERM t;

	if (node[i].n > 1 || (node[i].n == 1 && node[i + 1].op != SEG_BYTES))
		return 0;
	bytes = enif_make_new_binary(env, len, &t);
	if (bytes == NULL)
		return 0;
	if (len > 0)
		memcpy(bytes, node[i + 1].text, len);
	return t;
}

/* The term that node i and its children are; 0: it cannot be made. */
static ERL_NIF_TERM make(ErlNifEnv *env, const struct beam_node *node, unsigned i)
{
	const struct pat_node *p = (const struct pat_node *)&node[i];

	switch (p->op) {
	case PAT_ATOM: return existing_atom(env, p);
	case PAT_INT: return enif_make_int64(env, p->num);
	case PAT_BIG: return big_integer(env, p);
	case PAT_FLOAT: return enif_make_double(env, p->real);
	case PAT_NIL: return enif_make_list(env, 0);
	case PAT_CONS: return make_list(env, node, i);
	case PAT_TUPLE: return make_tuple(env, node, i);
	case PAT_MAP: return make_map(env, node, i);
	case PAT_BINARY: return make_binary(env, node, i);
	default: return 0;
	}
}

/*
 * The same, if all its atoms are there: that is asked first, and again and again until they come,
 * and what is made in the environment stays there.
 */
static ERL_NIF_TERM make_whole(ErlNifEnv *env, const struct beam_node *node, unsigned i)
{
	for (unsigned k = i; k < node[i].end; k++)
		if (node[k].op == PAT_ATOM &&
			existing_atom(env, (const struct pat_node *)&node[k]) == 0)
			return 0;
	return make(env, node, i);
}

/* ---- all of them ----------------------------------------------------------------------- */

static void find(ErlNifEnv *env, struct beam_pattern *p, unsigned i)
{
	struct beam_node *node = &p->node[i];
	ERL_NIF_TERM t = 0;

	if (node->key || node->op == PAT_ATOM || node->op == PAT_NIL || node->op == PAT_INT ||
		node->op == PAT_BIG)
		t = make_whole(env, p->node, i);
	if (!node->key && (node->op == PAT_NIL || node->op == PAT_INT) &&
		!(beam_vm.immediates && beam_is_immediate(t)))
		t = 0; /* it cannot be compared by its word */
	atomic_store_explicit(&node->term, t, memory_order_release);
}

static void find_whole(ErlNifEnv *env, struct beam_pattern *p)
{
	if (p->ground)
		atomic_store_explicit(&p->whole, make_whole(env, p->node, 0), memory_order_release);
}

/* Where patterns of maps have their keys. */
static void mark_keys(struct beam_pattern *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		unsigned at = i + 1;

		for (unsigned k = 0; p->node[i].op == PAT_MAP && k < p->node[i].n; k++) {
			p->node[at].key = true;
			at = p->node[p->node[at].end].end;
		}
	}
}

static int init(ErlNifEnv *env, struct beam_pattern *p, const struct pat *pat)
{
	p->node = calloc(pat->n, sizeof(*p->node));
	if (p->node == NULL)
		return -1;
	p->n = pat->n;
	p->nvars = pat->nvars;
	p->ground = pat_is_ground(pat);
	for (unsigned i = 0; i < pat->n; i++)
		memcpy(&p->node[i], &pat->nodes[i], sizeof(pat->nodes[i]));
	mark_keys(p);
	for (unsigned i = 0; i < pat->n; i++)
		find(env, p, i);
	if (p->node->op == PAT_TUPLE && beam_vm.words) {
		p->header = (uint64_t)p->node->n << 6;
		p->first = p->n > 1 && p->node[1].op == PAT_ATOM ? &p->node[1] : NULL;
	}
	find_whole(env, p);
	return 0;
}

int beam_patterns_init(struct beam_patterns *ps, const struct pat *pats, unsigned n)
{
	if (n == 0 || ps->env != NULL)
		return 0;
	ps->pattern = calloc(n, sizeof(*ps->pattern));
	ps->env = ps->pattern != NULL ? enif_alloc_env() : NULL;
	if (ps->env == NULL) {
		free(ps->pattern);
		return -1;
	}
	for (ps->n = 0; ps->n < n; ps->n++)
		if (init(ps->env, &ps->pattern[ps->n], &pats[ps->n]) < 0) {
			beam_patterns_fini(ps);
			return -1;
		}
	return 0;
}

void beam_patterns_fini(struct beam_patterns *ps)
{
	if (ps->env == NULL)
		return;
	for (unsigned i = 0; i < ps->n; i++)
		free(ps->pattern[i].node);
	free(ps->pattern);
	enif_free_env(ps->env);
	*ps = (struct beam_patterns){.env = NULL};
}

static bool is_there(_Atomic ERL_NIF_TERM *t)
{
	return atomic_load_explicit(t, memory_order_relaxed) != 0;
}

static bool renew(ErlNifEnv *env, struct beam_pattern *p)
{
	bool all = true;

	for (unsigned i = 0; i < p->n; i++) {
		struct beam_node *node = &p->node[i];

		if (node->op != PAT_ATOM && !node->key)
			continue;
		if (!is_there(&node->term))
			find(env, p, i);
		all &= is_there(&node->term);
	}
	if (p->ground && !is_there(&p->whole))
		find_whole(env, p);
	return all && (!p->ground || is_there(&p->whole));
}

bool beam_patterns_renew(struct beam_patterns *ps)
{
	bool all = true;

	for (unsigned i = 0; i < ps->n; i++)
		all &= renew(ps->env, &ps->pattern[i]);
	return all;
}
