/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pids, ports, atoms and functions as strings of the engine (probe path). Making a text costs more
 * than all the rest of an event, so each thread keeps those it made last, by their terms. Tables
 * copy the text when they take a key, and ids are never used twice: a text may be overwritten when
 * its event is over. Not before: two texts of an event may fall into the same slot, so a new one is
 * written into a spare, and the text that was in the slot becomes the spare that is used last.
 */
#include <stdlib.h>
#include <string.h>

#include "beam/pages.h"
#include "beam/vm/vm_facts.h"
#include "atom_text.h"
#include "compiler.h"
#include "texts.h"
#include "utf8.h"

#define CACHED	 (sizeof(((struct beam_text_cache *)0)->of) / sizeof(struct beam_text))
#define SHORT	 40  /* bytes of a pid's text, or a usual atom's */
#define LONG	 BEAM_TEXT_MAX
#define SPARE	 8 /* more than an event has texts */

struct long_text {
	ERL_NIF_TERM mod, fun;
	uint64_t arity;
	struct et_str *str; /* LONG */
};

#define SMALL (sizeof(struct et_str) + SHORT)
#define LARGE ((sizeof(struct et_str) + LONG + 7) / 8 * 8)
struct beam_texts {
	struct beam_text_cache cache; /* with room for SHORT bytes each; beam_thread.cache */
	uint64_t next_id; /* 0: not set up yet */
	struct long_text mfas[CACHED];
	struct et_str *spare_terms[SPARE], *spare_mfas[SPARE];
	struct et_str *others[SPARE]; /* atoms with long names: not kept */
	unsigned next_term, next_mfa, next_other;
	char room[(CACHED + SPARE) * (SMALL + LARGE) + SPARE * LARGE];
};

static struct beam_texts *pool; /* mapped at load, touched as threads come */

int beam_texts_init(unsigned n)
{
	_Static_assert(SMALL % 8 == 0, "aligned");
	if (pool == NULL)
		pool = beam_pages(n * sizeof(*pool));
	return pool != NULL ? 0 : -1;
}

PROBE_PATH struct beam_texts *beam_texts_nth(unsigned n)
{
	return &pool[n];
}

/* Once in a thread's life. Ids of a thread lie above all that et_str_new gives. */
PROBE_PATH static __attribute__((noinline)) struct beam_texts *set_up(struct beam_texts *x)
{
	char *at = x->room;

	for (unsigned i = 0; i < CACHED + SPARE; i++, at += SMALL)
		*(i < CACHED ? &x->cache.of[i].str : &x->spare_terms[i - CACHED]) = (void *)at;
	for (unsigned i = 0; i < CACHED + SPARE; i++, at += LARGE)
		*(i < CACHED ? &x->mfas[i].str : &x->spare_mfas[i - CACHED]) = (void *)at;
	for (unsigned i = 0; i < SPARE; i++, at += LARGE)
		x->others[i] = (void *)at;
	x->next_id = (1ULL << 62) | (uint64_t)(x - pool) << 40;
	return x;
}

/* Only inside a handle: the thread is known then. */
static inline struct beam_texts *texts(void)
{
	struct beam_texts *x = beam_self->texts;

	return likely(x->next_id != 0) ? x : set_up(x);
}

/* Another text for a slot; the one that was there stays as it is for a while. */
static void renew(struct et_str **slot, struct et_str **spares, unsigned *next)
{
	struct et_str **spare = &spares[(*next)++ % SPARE], *old = *slot;

	*slot = *spare;
	*spare = old;
}

PROBE_PATH static void finish(struct beam_texts *x, struct et_str *s, size_t room)
{
	s->len = (uint32_t)utf8_whole(s->text, strnlen(s->text, room - 1));
	s->text[s->len] = '\0';
	s->hash = et_hash(s->text, s->len);
	s->id = x->next_id++;
}

/* Does it fit? */
static bool write_term(ERL_NIF_TERM t, char *buf, size_t size)
{
	if (enif_is_atom(NULL, t))
		return beam_atom_text(t, buf, size) < size;
	return enif_snprintf(buf, size, "%T", t) < (int)size - 1;
}

PROBE_PATH static __attribute__((noinline)) const struct et_str *make_term(
	struct beam_texts *x, struct beam_text *c, ERL_NIF_TERM t)
{
	struct et_str *other;

	c->term = 0;
	renew(&c->str, x->spare_terms, &x->next_term);
	if (write_term(t, c->str->text, SHORT)) {
		if (beam_vm.immediates ? (t & 3) == 3 : enif_is_atom(NULL, t))
			c->term = t;
		finish(x, c->str, SHORT);
		return c->str;
	}
	other = x->others[x->next_other++ % SPARE];
	write_term(t, other->text, LONG);
	finish(x, other, LONG);
	return other;
}

PROBE_PATH const struct et_str *beam_term_text(ERL_NIF_TERM t)
{
	struct beam_texts *x = texts();
	struct beam_text *c = beam_text_slot(&x->cache, t);

	return likely(c->term == t) ? c->str : make_term(x, c, t);
}

PROBE_PATH const struct et_str *beam_mfa_text(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	struct beam_texts *x = texts();
	struct long_text *c = &x->mfas[beam_hash_fn(mod, fun, arity) % CACHED];

	if (likely(c->mod == mod && c->fun == fun && c->arity == arity))
		return c->str;
	renew(&c->str, x->spare_mfas, &x->next_mfa);
	beam_function_text(mod, fun, arity, c->str->text, LONG);
	finish(x, c->str, LONG);
	c->mod = mod;
	c->fun = fun;
	c->arity = arity;
	return c->str;
}
