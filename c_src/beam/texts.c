/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pids, ports, atoms and functions as strings of the engine (probe path). Making a text costs more
 * than all the rest of an event, so each thread keeps those it made last, by their terms. Tables
 * copy the text when they take a key, and ids are never used twice: a text may be overwritten when
 * its event is over.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "beam.h"

#define CACHED	 512 /* a power of two */
#define SHORT	 40  /* bytes of a pid's text, or a usual atom's */
#define LONG	 256

struct short_text {
	ERL_NIF_TERM term;
	struct et_str *str; /* with room for SHORT bytes */
};

struct long_text {
	ERL_NIF_TERM mod, fun;
	uint64_t arity;
	struct et_str *str; /* LONG */
};

#define SMALL (sizeof(struct et_str) + SHORT)
#define LARGE ((sizeof(struct et_str) + LONG + 7) / 8 * 8)
struct beam_texts {
	uint64_t next_id; /* 0: not set up yet */
	struct short_text terms[CACHED];
	struct long_text mfas[CACHED];
	struct et_str *other; /* an atom with a long name */
	char room[CACHED * (SMALL + LARGE) + LARGE];
};

static struct beam_texts *pool; /* mapped at load, touched as threads come */

int beam_texts_init(unsigned n)
{
	void *p = mmap(NULL, n * sizeof(*pool), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	_Static_assert(SMALL % 8 == 0, "aligned");
	if (p == MAP_FAILED)
		return -1;
	pool = p;
	return 0;
}

struct beam_texts *beam_texts_nth(unsigned n)
{
	return &pool[n];
}

/* Once in a thread's life. Ids of a thread lie above all that et_str_new gives. */
static __attribute__((noinline)) struct beam_texts *set_up(struct beam_texts *x)
{
	for (unsigned i = 0; i < CACHED; i++) {
		x->terms[i].str = (struct et_str *)(void *)(x->room + i * SMALL);
		x->mfas[i].str = (struct et_str *)(void *)(x->room + CACHED * SMALL + i * LARGE);
	}
	x->other = (struct et_str *)(void *)(x->room + CACHED * (SMALL + LARGE));
	x->next_id = (1ULL << 62) | (uint64_t)(x - pool) << 40;
	return x;
}

/* Only inside a handle: the thread is known then. */
static inline struct beam_texts *texts(void)
{
	struct beam_texts *x = beam_self->texts;

	return likely(x->next_id != 0) ? x : set_up(x);
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
