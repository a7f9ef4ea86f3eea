/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pids, ports, atoms and functions as strings of the engine (probe path). Making a text costs more
 * than all the rest of an event, so each thread keeps those it made last, by their terms. Tables
 * copy the text when they take a key, and ids are never used twice: a text may be overwritten when
 * its event is over. Also: how large a term is.
 */
#include <stdlib.h>
#include <string.h>

#include "beam.h"

#define CACHED	 512 /* a power of two */
#define SHORT	 40  /* bytes of a pid's text, or a usual atom's */
#define LONG	 256
#define STEPS	 10000 /* of a walk over a term: what is larger is counted so far */
#define WAITING	 128   /* terms that the walk comes back to */

struct short_text {
	ERL_NIF_TERM term;
	struct et_str *str; /* with room for SHORT bytes */
};

struct long_text {
	ERL_NIF_TERM mod, fun;
	uint64_t arity;
	struct et_str *str; /* LONG */
};

struct beam_texts {
	uint64_t next_id;
	struct short_text terms[CACHED];
	struct long_text mfas[CACHED];
	struct et_str *other; /* an atom with a long name */
};

static _Atomic uint64_t nthreads;

/* Once in a thread's life. Ids of a thread lie above all that et_str_new gives. */
static __attribute__((noinline)) struct beam_texts *new_texts(struct beam_thread *t)
{
	const size_t small = sizeof(struct et_str) + SHORT, large = sizeof(struct et_str) + LONG;
	struct beam_texts *x = calloc(1, sizeof(*x));
	char *room = calloc(1, CACHED * (small + large) + large);

	if (x == NULL || room == NULL)
		abort();
	for (unsigned i = 0; i < CACHED; i++) {
		x->terms[i].str = (struct et_str *)(void *)(room + i * small);
		x->mfas[i].str = (struct et_str *)(void *)(room + CACHED * small + i * large);
	}
	x->other = (struct et_str *)(void *)(room + CACHED * (small + large));
	x->next_id = (1ULL << 62) | (atomic_fetch_add(&nthreads, 1) << 40);
	t->texts = x;
	return x;
}

static inline struct beam_texts *texts(void)
{
	struct beam_thread *t = beam_self;

	if (unlikely(t == NULL))
		t = beam_thread_new();
	return likely(t->texts != NULL) ? t->texts : new_texts(t);
}

static void finish(struct beam_texts *x, struct et_str *s, size_t room)
{
	s->len = (uint32_t)strnlen(s->text, room - 1);
	s->text[s->len] = '\0';
	s->hash = et_hash(s->text, s->len);
	s->id = x->next_id++;
}

static __attribute__((noinline)) const struct et_str *make_term(
	struct beam_texts *x, struct short_text *c, ERL_NIF_TERM t)
{
	if (enif_snprintf(c->str->text, SHORT, "%T", t) < SHORT - 1) {
		c->term = t;
		finish(x, c->str, SHORT);
		return c->str;
	}
	c->term = 0;
	enif_snprintf(x->other->text, LONG, "%T", t);
	finish(x, x->other, LONG);
	return x->other;
}

const struct et_str *beam_term_text(ERL_NIF_TERM t)
{
	struct beam_texts *x = texts();
	uint64_t h = t * 0x9e3779b97f4a7c15ULL;
	struct short_text *c = &x->terms[(h >> 40) % CACHED];

	return likely(c->term == t) ? c->str : make_term(x, c, t);
}

const struct et_str *beam_mfa_text(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	struct beam_texts *x = texts();
	struct long_text *c = &x->mfas[beam_hash_fn(mod, fun, arity) % CACHED];

	if (likely(c->mod == mod && c->fun == fun && c->arity == arity))
		return c->str;
	enif_snprintf(c->str->text, LONG, "%T:%T/%u", mod, fun, arity);
	finish(x, c->str, LONG);
	c->mod = mod;
	c->fun = fun;
	c->arity = arity;
	return c->str;
}

/* ---- sizes ----------------------------------------------------------------------------- */

struct walk {
	ErlNifEnv *env;
	unsigned words, steps, n;
	ERL_NIF_TERM wait[WAITING];
};

/* Where the tag is not as it has always been, the VM is asked. */
static __attribute__((noinline)) bool ask_immediate(ErlNifEnv *env, ERL_NIF_TERM t)
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
	return likely(beam_immediates) ? (t & 3) == 3 : ask_immediate(env, t);
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

static void walk_binary(struct walk *w, ERL_NIF_TERM t)
{
	ErlNifBinary bin;

	if (enif_inspect_binary(w->env, t, &bin))
		w->words += bin.size <= 64 ? 2 + (unsigned)(bin.size + 7) / 8
					  : beam_size_binary;
	else
		w->words += 2 + beam_size_binary; /* bits */
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
	case ERL_NIF_TERM_TYPE_FUN: w->words += beam_size_fun; break;
	default: w->words += beam_size_ref; /* references, pids of other nodes */
	}
}

unsigned beam_term_size(ErlNifEnv *env, ERL_NIF_TERM t)
{
	struct walk w = {.env = env};

	later(&w, t);
	while (w.n > 0 && w.steps <= STEPS) {
		w.steps++;
		walk_one(&w, w.wait[--w.n]);
	}
	return w.words;
}
