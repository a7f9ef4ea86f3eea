/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a call until it returns (probe path). The process goes on meanwhile, and its
 * garbage collector moves or frees what they are. So they are copied, as terms of the VM in memory
 * of ours: at the return they can be printed, compared and matched as at the entry. Every argument
 * has an equal share of the room. What does not fit, or has a part that must not be read later (a
 * fun, an identity of another node, a map of more than 32 keys) is replaced by {'...', Text} with
 * the first bytes of its text, of a binary with its own, and behind that tuple a word with its
 * type; the rest of a list by '...'.
 *
 * What is kept of a process lies in a list, the newest first, with the depths of the calls on the
 * shadow stack. Calls that end unseen, by an exception or a tail call, leave theirs behind until
 * the next call or return that is no deeper.
 *
 * Calls with parts left out are counted only if a clause meets one of these parts at the return: if
 * a pattern or an operator compares it, if it is asked for its type or size, and so on. A text
 * shows it: that does not count.
 *
 */
#include <string.h>
#include <sys/mman.h>

#include "beam/atoms.h"
#include "beam/pages.h"
#include "beam/vm/peek.h"
#include "compiler.h"
#include "engine/clock.h"
#include "kept_args.h"
#include "term_print.h"
#include "beam_terms.h"
#include "term/term_answers.h"

#define DEEP  32 /* calls of C: schedulers' stacks are small */
#define TEXT  64 /* bytes of a text instead of a term, if there is room */
#define TYPE  3  /* the word behind such a tuple of two: a name */

int beam_kept_init(struct beam_kept_pool *pool)
{
	_Static_assert(sizeof(struct beam_kept) == 8192, "two pages");
	pool->tab = beam_pages(BEAM_KEPT * sizeof(*pool->tab));
	return pool->tab != NULL ? 0 : -1;
}

void beam_kept_fini(struct beam_kept_pool *pool)
{
	if (pool->tab != NULL)
		munmap(pool->tab, BEAM_KEPT * sizeof(*pool->tab));
	pool->tab = NULL;
}

/* ---- room ------------------------------------------------------------------------------ */

static struct beam_kept *room_get(struct beam_kept_pool *pool)
{
	uint32_t n = free_list_get(&pool->free, &pool->tab->next, sizeof(*pool->tab), BEAM_KEPT);

	return n != 0 ? &pool->tab[n - 1] : NULL;
}

static void room_put(struct beam_kept_pool *pool, struct beam_kept *k)
{
	/* or it is lost until the handle is closed */
	free_list_put(&pool->free, &pool->tab->next, sizeof(*k), (uint32_t)(k - pool->tab + 1));
}

/* ---- copies ---------------------------------------------------------------------------- */

struct copy {
	ErlNifEnv *env;
	ERL_NIF_TERM *at, *end;
	bool cut;
};

static size_t left(const struct copy *c)
{
	return (size_t)(c->end - c->at);
}

static ERL_NIF_TERM boxed(const ERL_NIF_TERM *w)
{
	return (ERL_NIF_TERM)(uintptr_t)w | 2;
}

/* The first bytes, if there is room for one. */
static bool copy_bytes(struct copy *c, const struct term_bits *b, size_t most, ERL_NIF_TERM *to)
{
	size_t n = b->n / 8 < most ? b->n / 8 : most, words;

	if (left(c) < 3)
		return false;
	if (n > (left(c) - 2) * 8)
		n = (left(c) - 2) * 8;
	words = beam_make_bytes(c->at, b, n);
	*to = boxed(c->at);
	c->at += words;
	return words != 0;
}

/* {'...', Text}, for this term. */
PROBE_PATH static ERL_NIF_TERM instead(
	struct copy *c, ERL_NIF_TERM t, const struct term_bits *text, size_t most)
{
	ERL_NIF_TERM *w = c->at;

	c->cut = true;
	if (left(c) < TYPE + 1 + 4)
		return atom_dots;
	c->at += TYPE + 1;
	w[0] = 2 << 6;
	w[1] = atom_dots;
	w[TYPE] = (uintptr_t)type_of_term(c->env, t);
	return copy_bytes(c, text, most, &w[2]) ? boxed(w) : atom_dots;
}

PROBE_PATH static ERL_NIF_TERM printed(struct copy *c, ERL_NIF_TERM t)
{
	char text[TEXT + 1];
	struct term_bits b = {.data = (const uint8_t *)text};

	beam_print(c->env, t, false, text, sizeof(text));
	b.n = strlen(text) * 8;
	return instead(c, t, &b, TEXT);
}

static ERL_NIF_TERM copy(struct copy *c, ERL_NIF_TERM t, int deep);

static ERL_NIF_TERM copy_bits(struct copy *c, ERL_NIF_TERM t)
{
	struct term_bits b;
	ERL_NIF_TERM to;

	if (!beam_get_bits(c->env, t, &b) || b.n % 8 != 0)
		return printed(c, t);
	if (left(c) < 2 + (b.n / 8 + 7) / 8)
		return instead(c, t, &b, SIZE_MAX);
	return copy_bytes(c, &b, SIZE_MAX, &to) ? to : printed(c, t);
}

/* A number or a reference of this node: words without terms in them. */
PROBE_PATH static ERL_NIF_TERM copy_plain(struct copy *c, ERL_NIF_TERM t)
{
	const ERL_NIF_TERM *w = beam_words(t);
	size_t n = 1 + (size_t)(w[0] >> 6);
	ERL_NIF_TERM *to = c->at;

	if (left(c) < n)
		return printed(c, t);
	memcpy(to, w, n * sizeof(*w));
	c->at += n;
	return boxed(to);
}

PROBE_PATH static void copy_terms(
	struct copy *c, ERL_NIF_TERM *to, const ERL_NIF_TERM *from, unsigned n, int deep)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = copy(c, from[i], deep);
}

static ERL_NIF_TERM copy_tuple(struct copy *c, ERL_NIF_TERM t, int deep)
{
	ERL_NIF_TERM *to = c->at;
	const ERL_NIF_TERM *e;
	unsigned n;

	if (!beam_get_tuple(c->env, t, &n, &e) || left(c) < 1 + (size_t)n)
		return printed(c, t);
	c->at += 1 + n;
	to[0] = (ERL_NIF_TERM)n << 6;
	copy_terms(c, to + 1, e, n, deep);
	return boxed(to);
}

static ERL_NIF_TERM copy_map(struct copy *c, ERL_NIF_TERM t, int deep)
{
	ERL_NIF_TERM *to = c->at, *keys_to;
	const ERL_NIF_TERM *keys, *values;
	unsigned n;

	/* the words of the map and of its tuple of keys: all of them, or none */
	if (!beam_get_flat_map(t, &n, &keys, &values) || left(c) < 3 + 1 + 2 * (size_t)n)
		return printed(c, t);
	keys_to = to + 3 + n;
	c->at += 3 + 1 + 2 * n;
	memcpy(to, beam_words(t), 2 * sizeof(*to));
	to[2] = boxed(keys_to);
	keys_to[0] = (ERL_NIF_TERM)n << 6;
	/* what a key is replaced by may be equal to another, but these maps are only searched */
	copy_terms(c, keys_to + 1, keys, n, deep);
	copy_terms(c, to + 3, values, n, deep);
	return boxed(to);
}

static ERL_NIF_TERM copy_list(struct copy *c, ERL_NIF_TERM t, int deep)
{
	ERL_NIF_TERM first, *to = &first, head, tail;

	for (; beam_get_cell(c->env, t, &head, &tail); t = tail) {
		ERL_NIF_TERM *cell = c->at;

		if (left(c) < 2) {
			c->cut = true;
			*to = atom_dots;
			return first;
		}
		c->at += 2;
		*to = (ERL_NIF_TERM)(uintptr_t)cell | 1;
		cell[1] = atom_dots;
		cell[0] = copy(c, head, deep);
		to = &cell[1];
	}
	*to = copy(c, t, deep);
	return first;
}

PROBE_PATH static ERL_NIF_TERM copy(struct copy *c, ERL_NIF_TERM t, int deep)
{
	if (beam_is_immediate(t))
		return t;
	if (deep == 0)
		return printed(c, t);
	switch (enif_term_type(c->env, t)) {
	case ERL_NIF_TERM_TYPE_LIST: return copy_list(c, t, deep - 1);
	case ERL_NIF_TERM_TYPE_TUPLE: return copy_tuple(c, t, deep - 1);
	case ERL_NIF_TERM_TYPE_MAP: return copy_map(c, t, deep - 1);
	case ERL_NIF_TERM_TYPE_BITSTRING: return copy_bits(c, t);
	case ERL_NIF_TERM_TYPE_INTEGER:
	case ERL_NIF_TERM_TYPE_FLOAT: return copy_plain(c, t);
	case ERL_NIF_TERM_TYPE_REFERENCE:
		return beam_local_ref(t) ? copy_plain(c, t) : printed(c, t);
	default: return printed(c, t);
	}
}

/* The cells of the list first, then each argument in its share of the rest. */
static bool copy_args(struct beam_kept *k, ErlNifEnv *env, ERL_NIF_TERM list, unsigned n)
{
	ERL_NIF_TERM *end = k->word + BEAM_KEPT_WORDS;
	struct copy c = {.env = env, .at = k->word};
	ERL_NIF_TERM *cell = k->word, head;

	k->args = n > 0 ? (ERL_NIF_TERM)(uintptr_t)cell | 1 : list;
	c.at += 2 * n;
	for (; beam_get_cell(env, list, &head, &list); cell += 2, n--) {
		c.end = c.at + (end - c.at) / n;
		cell[0] = copy(&c, head, DEEP);
		cell[1] = n > 1 ? (ERL_NIF_TERM)(uintptr_t)(cell + 2) | 1 : list;
	}
	return c.cut;
}

/* ---- calls and returns ----------------------------------------------------------------- */

PROBE_PATH void beam_kept_drop(struct beam_kept_pool *pool, struct beam_kept **calls, unsigned depth)
{
	struct beam_kept *k;

	while ((k = *calls) != NULL && k->depth >= depth) {
		*calls = k->below;
		if (k->met)
			atomic_fetch_add_explicit(&pool->cut, 1, memory_order_relaxed);
		room_put(pool, k);
	}
}

PROBE_PATH struct beam_kept *beam_kept_call(struct beam_kept_pool *pool, struct beam_kept **calls,
	const struct beam_fn *fn, unsigned depth, bool all, ErlNifEnv *env, ERL_NIF_TERM list)
{
	struct beam_kept *k;
	unsigned n;

	beam_kept_drop(pool, calls, depth);
	if (depth == 0 || !beam_vm.words || !beam_vm.immediates ||
		!enif_get_list_length(env, list, &n) || n > 255 || (k = room_get(pool)) == NULL)
		return NULL;
	k->args = atom_dots; /* what nobody reads is not copied */
	k->cut = all && copy_args(k, env, list, n);
	k->note = 0;
	k->at = en_now();
	k->met = false;
	k->fn = fn;
	k->depth = depth;
	k->below = *calls;
	*calls = k;
	return k;
}

PROBE_PATH struct beam_kept *beam_kept_return(struct beam_kept_pool *pool, struct beam_kept **calls,
	const struct beam_fn *fn, unsigned depth)
{
	beam_kept_drop(pool, calls, depth + 1);
	if (*calls != NULL && (*calls)->depth == depth && (*calls)->fn == fn)
		return *calls;
	atomic_fetch_add_explicit(&pool->lost, 1, memory_order_relaxed);
	return NULL;
}

/* ---- what was left out ----------------------------------------------------------------- */

static bool is_inside(const struct beam_kept *k, ERL_NIF_TERM t)
{
	const ERL_NIF_TERM *w = beam_words(t);

	return !beam_is_immediate(t) && w >= k->word && w < k->word + BEAM_KEPT_WORDS;
}

PROBE_PATH bool beam_kept_left_out(const struct beam_kept *k, ERL_NIF_TERM t)
{
	const ERL_NIF_TERM *e;
	unsigned n;

	return t == atom_dots ||
	       (is_inside(k, t) && beam_get_tuple(NULL, t, &n, &e) && n == 2 && e[0] == atom_dots);
}

PROBE_PATH const char *beam_kept_type(ERL_NIF_TERM t)
{
	return t == atom_dots ? "..." : (const char *)beam_words(t)[TYPE];
}

static bool some_left_out(const struct beam_kept *k, const ERL_NIF_TERM *t, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (beam_kept_has_left_out(k, t[i], true))
			return true;
	return false;
}

/* As deep as copies are. */
PROBE_PATH bool beam_kept_has_left_out(const struct beam_kept *k, ERL_NIF_TERM t, bool whole)
{
	const ERL_NIF_TERM *e, *keys;
	ERL_NIF_TERM head;
	unsigned n;

	for (; is_inside(k, t) && beam_get_cell(NULL, t, &head, &t);)
		if (whole && beam_kept_has_left_out(k, head, true))
			return true;
	if (beam_kept_left_out(k, t))
		return true;
	if (!whole || !is_inside(k, t))
		return false;
	if (beam_get_flat_map(t, &n, &keys, &e))
		return some_left_out(k, keys, n) || some_left_out(k, e, n);
	return beam_get_tuple(NULL, t, &n, &e) && some_left_out(k, e, n);
}

PROBE_PATH bool beam_kept_lacks_keys(const struct beam_kept *k, ERL_NIF_TERM map)
{
	const ERL_NIF_TERM *keys, *values;
	unsigned n;

	return is_inside(k, map) && beam_get_flat_map(map, &n, &keys, &values) &&
	       some_left_out(k, keys, n);
}
