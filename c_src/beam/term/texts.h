/* SPDX-License-Identifier: Apache-2.0 */
/* Pids, functions, atoms as texts (texts.c, probe path): valid until the event is over. */
#ifndef BEAM_TEXTS_H
#define BEAM_TEXTS_H

#include <erl_nif.h>
#include <stdint.h>

#include "beam/vm/vm_threads.h"
#include "compiler.h"
#include "engine/str.h"

#pragma GCC visibility push(hidden)

struct beam_text_cache { /* those of terms that were made last */
	struct beam_text {
		ERL_NIF_TERM term;
		struct et_str *str;
	} of[512]; /* a power of two */
};

/* Room for the texts of so many threads, kept when the library is loaded again; those of one. */
int beam_texts_init(unsigned n);
struct beam_texts *beam_texts_nth(unsigned n);

#define BEAM_TEXT_MAX 256 /* with the NUL; what is longer is truncated at a whole character */
const struct et_str *beam_term_text(ERL_NIF_TERM t); /* a pid, port or atom */
const struct et_str *beam_mfa_text(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity);
static inline struct beam_text *beam_text_slot(struct beam_text_cache *cache, ERL_NIF_TERM t)
{
	const size_t n = sizeof(cache->of) / sizeof(cache->of[0]);

	return &cache->of[(t * 0x9e3779b97f4a7c15ULL >> 40) % n];
}
/* The same if it is in the cache; else NULL. */
static inline const struct et_str *beam_text_cached(const struct beam_thread *t, ERL_NIF_TERM term)
{
	const struct beam_text *c = beam_text_slot(t->cache, term);

	return likely(c->term == term) ? c->str : NULL;
}

static inline uint64_t beam_str(const struct et_str *s)
{
	return (uint64_t)(uintptr_t)s->text;
}

#pragma GCC visibility pop
#endif
