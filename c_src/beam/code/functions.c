/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Erlang functions that have probes. Only what a description names is here: the Erlang side
 * tells all functions of a module, and those that no description matches are left out
 * (erlang_provider.c).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "beam/pages.h"
#include "beam/term/atom_text.h"
#include "engine/engine.h"
#include "functions.h"

/* ---- memory ---------------------------------------------------------------------------- */

/*
 * Much of it is read at random. So it lies in huge pages where the system has them: else a miss of
 * the TLB costs more than the miss of the cache that comes with it.
 */
#define HUGE_PAGE (2UL << 20)

static size_t with_room(size_t size) /* to begin at a huge page */
{
	return ((size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1)) + HUGE_PAGE;
}

/* Zeros, aligned to a cache line; *map is what is to be freed. */
static void *huge_new(size_t size, void **map)
{
	uintptr_t at;

	if (size < HUGE_PAGE) {
		*map = aligned_alloc(64, (size + 63) & ~63UL);
		return *map != NULL ? memset(*map, 0, size) : NULL;
	}
	*map = beam_pages(with_room(size));
	if (*map == NULL)
		return NULL;
	at = ((uintptr_t)*map + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	madvise((void *)at, with_room(size) - HUGE_PAGE, MADV_HUGEPAGE);
	return (void *)at;
}

static void huge_free(void *map, size_t size)
{
	if (size < HUGE_PAGE)
		free(map);
	else if (map != NULL)
		munmap(map, with_room(size));
}

struct beam_slab {
	struct beam_slab *older;
	void *map;
	size_t size;
	unsigned used, room; /* functions */
	struct beam_fn *fns;
};

/* Each is eight times as large as the last, up to a huge page. */
static struct beam_slab *slab_new(const struct beam_slab *older)
{
	struct beam_slab *s = malloc(sizeof(*s));

	if (s == NULL)
		return NULL;
	s->older = (struct beam_slab *)older;
	s->size = older == NULL		     ? HUGE_PAGE / 64
		  : older->size < HUGE_PAGE ? older->size * 8
					     : HUGE_PAGE;
	s->fns = huge_new(s->size, &s->map);
	s->used = 0;
	s->room = (unsigned)(s->size / sizeof(struct beam_fn));
	if (s->fns == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

static struct beam_fn *fn_new(struct beam_functions *f)
{
	struct beam_slab *s = f->slabs;

	if (s == NULL || s->used == s->room) {
		s = slab_new(s);
		if (s == NULL)
			return NULL;
		f->slabs = s;
	}
	return &s->fns[s->used++];
}

static void buckets_free(struct beam_functions *f)
{
	huge_free(f->buckets_map, f->nbuckets * sizeof(struct beam_fn *));
}

/* ---- the table ------------------------------------------------------------------------- */

/* Twice as many buckets as functions, so that few have two. */
static int rehash(struct beam_functions *f)
{
	unsigned n = f->nbuckets ? f->nbuckets * 2 : 256;
	void *map;
	struct beam_fn **buckets = huge_new(n * sizeof(struct beam_fn *), &map);

	if (buckets == NULL)
		return -1;
	for (unsigned i = 0; i < f->nbuckets; i++)
		for (struct beam_fn *fn = f->buckets[i], *next; fn != NULL; fn = next) {
			uint64_t k = beam_hash_fn(fn->mod, fn->fun, fn->arity_term) & (n - 1);

			next = fn->next;
			fn->next = buckets[k];
			buckets[k] = fn;
		}
	buckets_free(f);
	f->buckets = buckets;
	f->buckets_map = map;
	f->nbuckets = n;
	f->mask = n - 1;
	return 0;
}

void beam_functions_free(struct beam_functions *f)
{
	for (struct beam_slab *s = f->slabs, *older; s != NULL; s = older) {
		for (unsigned i = 0; i < s->used; i++) {
			et_str_free(s->fns[i].mfa);
			free(s->fns[i].name);
		}
		older = s->older;
		huge_free(s->map, s->size);
		free(s);
	}
	buckets_free(f);
	memset(f, 0, sizeof(*f));
}

struct beam_fn *beam_function_need(struct beam_functions *f, const struct en *en, ErlNifEnv *env,
	ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	ERL_NIF_TERM arity_term = enif_make_uint(env, arity);
	struct beam_fn *fn = beam_function_find(f, mod, fun, arity_term);
	char name[1024], mfa[2048], *alias;
	struct et_str *text;
	uint64_t k;

	if (fn != NULL)
		return fn;
	/* From go on events may look functions up: the table stays as large as it is. */
	if ((2 * f->n >= f->nbuckets && en_state(en) == EN_IDLE && rehash(f) < 0) ||
		f->nbuckets == 0)
		return NULL;
	beam_function_text(mod, fun, arity, mfa, sizeof(mfa));
	if (enif_get_atom(env, fun, name, sizeof(name), ERL_NIF_LATIN1) <= 0)
		enif_snprintf(name, sizeof(name), "%T", fun);
	text = et_str_new(mfa, strlen(mfa));
	alias = strdup(name);
	if (text == NULL || alias == NULL || (fn = fn_new(f)) == NULL) {
		et_str_free(text);
		free(alias);
		return NULL;
	}
	fn->mod = mod;
	fn->fun = fun;
	fn->arity = (uint8_t)arity;
	fn->arity_term = (uint16_t)arity_term;
	fn->mfa = text;
	fn->name = alias;
	k = beam_hash_fn(mod, fun, (uint32_t)arity_term) & f->mask;
	fn->next = f->buckets[k];
	__atomic_store_n(&f->buckets[k], fn, __ATOMIC_RELEASE);
	f->n++;
	return fn;
}

int beam_functions_room(struct beam_functions *f, unsigned n)
{
	while (f->nbuckets < 2 * n)
		if (rehash(f) < 0)
			return -1;
	return 0;
}
