/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many words a term takes, as erts_debug:flat_size/1 counts them: without the bytes of binaries
 * that lie outside the heap (probe path). The VM tells a tracer no sizes, and to ask for those of
 * maps with more than 32 keys allocates. So the words of a term are read, with the layout of OTP
 * 25. Whether this VM has the same is checked when the library is loaded, on samples whose sizes
 * are known, for three kinds of terms one by one. Where it has not, the sizes of bits and funs, or
 * all sizes, are asked of the VM. They are then right for terms without large maps, large integers,
 * and funs with variables.
 *
 * A walk ends after STEPS terms, or where they are nested more than DEEP: the size is what was
 * counted by then.
 */
#include <stdint.h>
#include <string.h>

#include "compiler.h"
#include "sizes.h"
#include "vm_facts.h"

#define STEPS	10000
#define WAITING 128 /* terms that the walk by calls comes back to */
#define DEEP	128

/* ---- by the VM's own calls -------------------------------------------------------------- */

struct walk {
	ErlNifEnv *env;
	unsigned words, steps, n;
	ERL_NIF_TERM wait[WAITING];
};

/* Where the tag is not as it has always been, the VM is asked. */
PROBE_PATH static __attribute__((noinline)) bool ask_immediate(ErlNifEnv *env, ERL_NIF_TERM t)
{
	ErlNifSInt64 i;
	ErlNifPid pid;
	ErlNifPort port;

	if (enif_is_number(env, t))
		return enif_get_int64(env, t, &i) && i < 1LL << 59 && i >= -(1LL << 59);
	return enif_is_atom(env, t) || enif_is_empty_list(env, t) ||
	       enif_get_local_pid(env, t, &pid) || enif_get_local_port(env, t, &port);
}

static inline bool is_immediate(ErlNifEnv *env, ERL_NIF_TERM t)
{
	return likely(beam_vm.immediates) ? (t & 3) == 3 : ask_immediate(env, t);
}

static inline void later(struct walk *w, ERL_NIF_TERM t)
{
	if (!is_immediate(w->env, t) && w->n < WAITING)
		w->wait[w->n++] = t;
}

static unsigned number_size(ErlNifEnv *env, ERL_NIF_TERM t)
{
	ErlNifSInt64 i;
	ErlNifUInt64 u;

	return enif_get_int64(env, t, &i) || enif_get_uint64(env, t, &u) ? 2 : 3;
}

static void walk_map(struct walk *w, ERL_NIF_TERM t)
{
	size_t n = 0;

	enif_get_map_size(w->env, t, &n);
	if (n > 32) { /* a tree: an iterator would allocate; about this much */
		w->words += (unsigned)(n * 19 / 5);
		return;
	}
	w->words += 3 + (unsigned)n + (n > 0 ? 1 + (unsigned)n : 0); /* values, tuple of keys */
	if (n > 0) {
		ErlNifMapIterator it;
		ERL_NIF_TERM k, v;

		if (!enif_map_iterator_create(w->env, t, &it, ERL_NIF_MAP_ITERATOR_FIRST))
			return;
		while (enif_map_iterator_get_pair(w->env, &it, &k, &v)) {
			later(w, k);
			later(w, v);
			enif_map_iterator_next(w->env, &it);
		}
		enif_map_iterator_destroy(w->env, &it);
	}
}

PROBE_PATH static void walk_binary(struct walk *w, ERL_NIF_TERM t)
{
	ErlNifBinary bin;

	if (enif_is_binary(w->env, t) && enif_inspect_binary(w->env, t, &bin))
		w->words += bin.size <= 64 ? 2 + (unsigned)(bin.size + 7) / 8
					  : beam_vm.size_binary;
	else
		w->words += 2 + beam_vm.size_binary; /* bits */
}

static void walk_one(struct walk *w, ERL_NIF_TERM t)
{
	const ERL_NIF_TERM *e;
	ERL_NIF_TERM head;
	int n;

	while (enif_get_list_cell(w->env, t, &head, &t)) {
		w->words += 2;
		later(w, head);
		if (++w->steps > STEPS)
			return;
	}
	if (is_immediate(w->env, t))
		return;
	switch (enif_term_type(w->env, t)) {
	case ERL_NIF_TERM_TYPE_TUPLE:
		if (!enif_get_tuple(w->env, t, &n, &e))
			break;
		w->words += n > 0 ? 1 + (unsigned)n : 0;
		for (int i = 0; i < n && ++w->steps <= STEPS; i++)
			later(w, e[i]);
		break;
	case ERL_NIF_TERM_TYPE_MAP: walk_map(w, t); break;
	case ERL_NIF_TERM_TYPE_BITSTRING: walk_binary(w, t); break;
	case ERL_NIF_TERM_TYPE_FLOAT: w->words += 2; break;
	case ERL_NIF_TERM_TYPE_INTEGER: w->words += number_size(w->env, t); break;
	case ERL_NIF_TERM_TYPE_FUN: w->words += beam_vm.size_fun; break;
	default: w->words += beam_vm.size_ref; /* references, pids of other nodes */
	}
}

PROBE_PATH static __attribute__((noinline)) unsigned ask_size(ErlNifEnv *env, ERL_NIF_TERM t)
{
	struct walk w = {.env = env};

	later(&w, t);
	while (w.n > 0 && w.steps <= STEPS) {
		w.steps++;
		walk_one(&w, w.wait[--w.n]);
	}
	return w.words;
}

/* ---- by the words ----------------------------------------------------------------------- */

enum { LIST = 1, BOXED = 2, IMMEDIATE = 3 };			       /* a term's lowest bits */
enum { TUPLE = 0, FUN = 5, REFC = 8, SUB = 10 };		       /* a header's kind */
enum { SUB_SIZE = 1, SUB_BITS = 3, SUB_ORIG = 4, SUB_WORDS = 5 };      /* words of a part */

static bool know_words, know_funs, know_bits;
static unsigned map_kind; /* 15, and since OTP 27 11 */

struct todo {
	const ERL_NIF_TERM *at;
	uint64_t n;
};

static inline const ERL_NIF_TERM *words_of(ERL_NIF_TERM t)
{
	return (const ERL_NIF_TERM *)(uintptr_t)(t & ~(ERL_NIF_TERM)7);
}

static inline unsigned kind_of(ERL_NIF_TERM header)
{
	return (unsigned)(header >> 2) & 15;
}

/* A part of a binary: when it is sent it becomes one of its own. */
static unsigned part_size(const ERL_NIF_TERM *p)
{
	const uint8_t *bits = (const uint8_t *)&p[SUB_BITS];
	unsigned odd = bits[0] + bits[1], extra = odd > 8 ? 2 : odd > 0 ? 1 : 0;
	const ERL_NIF_TERM *orig = words_of(p[SUB_ORIG]);
	unsigned words = extra > 0 ? SUB_WORDS : 0;

	if (kind_of(orig[0]) == REFC)
		return words + 1 + (unsigned)(orig[0] >> 6);
	return words + 2 + (unsigned)((p[SUB_SIZE] + extra + 7) / 8);
}

static unsigned asked_bits(ErlNifEnv *env, ERL_NIF_TERM t)
{
	struct walk w = {.env = env};

	walk_binary(&w, t);
	return w.words;
}

PROBE_PATH static unsigned map_words(const ERL_NIF_TERM *p, struct todo *more)
{
	unsigned head = (unsigned)(p[0] >> 8) & 0xff, n;

	if ((p[0] >> 6 & 3) == 0) { /* of up to 32 keys: their tuple, the values */
		*more = (struct todo){p + 2, p[1] + 1};
		return (unsigned)p[1] + 3;
	}
	n = (unsigned)__builtin_popcount((unsigned)(p[0] >> 16) & 0xffff);
	*more = (struct todo){p + 1 + head, n};
	return 1 + head + n;
}

PROBE_PATH unsigned beam_map_node(ERL_NIF_TERM t, const ERL_NIF_TERM **parts)
{
	const ERL_NIF_TERM *p = words_of(t);
	struct todo more;

	if (!know_words || (t & 3) != BOXED || kind_of(p[0]) != map_kind)
		return 0;
	map_words(p, &more);
	*parts = more.at;
	return (unsigned)more.n;
}

static unsigned fun_words(const ERL_NIF_TERM *p, struct todo *more)
{
	unsigned size = (unsigned)(p[0] >> 6), n = 1u + ((const uint8_t *)&p[3])[1];

	*more = (struct todo){p + 1 + size, n}; /* creator and variables */
	return 1 + size + n;
}

/* The words of a boxed term itself; more: the terms in it. */
static inline unsigned box_size(ErlNifEnv *env, ERL_NIF_TERM t, struct todo *more)
{
	const ERL_NIF_TERM *p = words_of(t);
	unsigned kind = kind_of(p[0]), size = (unsigned)(p[0] >> 6);

	more->n = 0;
	if (kind == TUPLE) {
		*more = (struct todo){p + 1, size};
		return size > 0 ? 1 + size : 0;
	}
	if (kind == map_kind)
		return map_words(p, more);
	if (kind == FUN && know_funs)
		return fun_words(p, more);
	if (kind == SUB && know_bits)
		return part_size(p);
	if (!know_funs && enif_is_fun(env, t))
		return beam_vm.size_fun;
	if (!know_bits && enif_term_type(env, t) == ERL_NIF_TERM_TYPE_BITSTRING)
		return asked_bits(env, t);
	return 1 + size;
}

PROBE_PATH static unsigned look_size(ErlNifEnv *env, ERL_NIF_TERM t)
{
	unsigned words = 0, n = 0, steps = 0;
	struct todo todo[DEEP], more;

	for (;;) {
		if ((t & 3) == LIST) {
			words += 2;
			more = (struct todo){words_of(t), 2};
		} else if ((t & 3) == BOXED) {
			words += box_size(env, t, &more);
		} else {
			more.n = 0;
		}
		if (more.n > 0 && n < DEEP)
			todo[n++] = more;
		do {
			if (n == 0 || ++steps > STEPS)
				return words;
			t = *todo[n - 1].at++;
			if (--todo[n - 1].n == 0)
				n--; /* before its last one: a list is not deep */
		} while ((t & 3) == IMMEDIATE);
	}
}

/* ---- which of the two -------------------------------------------------------------------- */

PROBE_PATH unsigned beam_term_size(ErlNifEnv *env, ERL_NIF_TERM t)
{
	if (beam_vm.immediates && (t & 3) == IMMEDIATE)
		return 0;
	return likely(know_words) ? look_size(env, t) : ask_size(env, t);
}

/* none: that is not to be tried. */
static bool are_right(ErlNifEnv *env, ERL_NIF_TERM list)
{
	const ERL_NIF_TERM *s;
	ERL_NIF_TERM head;
	unsigned size;
	int n;

	while (enif_get_list_cell(env, list, &head, &list))
		if (!enif_get_tuple(env, head, &n, &s) || n != 2 ||
			!enif_get_uint(env, s[1], &size) || look_size(env, s[0]) != size)
			return false;
	return enif_is_empty_list(env, list);
}

/* {Words, Funs, Bits}: lists of {Term, Size}, at load. What is not right is not read by words. */
void beam_sizes_check(ErlNifEnv *env, ERL_NIF_TERM samples)
{
	const ERL_NIF_TERM *s;
	int n;

	know_words = know_funs = know_bits = false;
	if (!beam_vm.immediates || !enif_get_tuple(env, samples, &n, &s) || n != 3)
		return;
	map_kind = kind_of(words_of(enif_make_new_map(env))[0]);
	know_words = are_right(env, s[0]);
	if (!know_words)
		return;
	know_funs = enif_is_list(env, s[1]);
	know_funs = are_right(env, s[1]);
	know_bits = enif_is_list(env, s[2]);
	know_bits = are_right(env, s[2]);
}
