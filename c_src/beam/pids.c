/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of pids and ports, "<0.91.0>", as strings of the engine. Making one costs more than all
 * the rest of an event, so each thread keeps those it made last, by their term. Tables copy the
 * text when they take a key, and ids are never used twice: a text may be overwritten when its
 * event is over.
 */
#include <stdlib.h>
#include <string.h>

#include "beam.h"

#define CACHED	  512 /* a power of two */
#define TEXT_SIZE 40

struct cached {
	ERL_NIF_TERM term;
	struct et_str str;
	char text[TEXT_SIZE]; /* str.text begins here */
};

struct cache {
	uint64_t next_id;
	struct cached slot[CACHED];
};

static _Atomic uint64_t threads;
static __thread struct cache *cache; /* a pointer: static TLS of a loaded library is scarce */

/* Once in a thread's life. Ids of a thread lie above all that et_str_new gives. */
static struct cache *new_cache(void)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (c == NULL)
		abort();
	c->next_id = (1ULL << 62) | (atomic_fetch_add(&threads, 1) << 40);
	return c;
}

const struct et_str *beam_pid_text(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	struct cached *c;

	(void)env;
	if (cache == NULL)
		cache = new_cache();
	c = &cache->slot[(pid >> 4) * 0x9e3779b1u % CACHED];
	if (c->term == pid)
		return &c->str;
	enif_snprintf(c->str.text, TEXT_SIZE, "%T", pid);
	c->str.len = (uint32_t)strnlen(c->str.text, TEXT_SIZE - 1);
	c->str.hash = et_hash(c->str.text, c->str.len);
	c->str.id = cache->next_id++;
	c->term = pid;
	return &c->str;
}
