/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Erlang functions that have probes. Only what a description names is here: the Erlang side
 * tells all functions of a module, and those that no description matches are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "beam.h"

static int rehash(struct beam_functions *f)
{
	unsigned n = f->nbuckets ? f->nbuckets * 2 : 256;
	struct beam_fn **buckets = calloc(n, sizeof(struct beam_fn *));

	if (buckets == NULL)
		return -1;
	for (unsigned i = 0; i < f->nbuckets; i++)
		for (struct beam_fn *fn = f->buckets[i], *next; fn != NULL; fn = next) {
			uint64_t k = beam_hash_fn(fn->mod, fn->fun, fn->arity_term) & (n - 1);

			next = fn->next;
			fn->next = buckets[k];
			buckets[k] = fn;
		}
	free(f->buckets);
	f->buckets = buckets;
	f->nbuckets = n;
	f->mask = n - 1;
	return 0;
}

static void fn_free(struct beam_fn *fn)
{
	et_str_free(fn->mfa);
	free(fn->name);
	free(fn);
}

void beam_functions_free(struct beam_functions *f)
{
	for (unsigned i = 0; i < f->nbuckets; i++)
		for (struct beam_fn *fn = f->buckets[i], *next; fn != NULL; fn = next) {
			next = fn->next;
			fn_free(fn);
		}
	free(f->buckets);
	memset(f, 0, sizeof(*f));
}

bool beam_wants_module(const struct beam_handle *b, const char *mod)
{
	for (unsigned i = 0; i < b->nwants; i++)
		if (en_glob(b->wants[i].mod, mod))
			return true;
	return false;
}

/* Is this probe of a function named by a description? func: "seq/2", name: "seq". */
static bool is_wanted(const struct beam_handle *b, const char *mod, const char *func,
	const char *name, enum beam_probe id)
{
	for (unsigned i = 0; i < b->nwants; i++) {
		const struct beam_want *w = &b->wants[i];

		if (en_glob(w->name, beam_probedefs[id].name) && en_glob(w->mod, mod) &&
			(en_glob(w->fun, func) || en_glob(w->fun, name)))
			return true;
	}
	return false;
}

static bool has_probe(enum beam_probe id, enum beam_fnkind kind)
{
	switch (id) {
	case BP_BIF_ENTRY:
	case BP_BIF_RETURN: return kind == FN_BIF;
	case BP_NIF_ENTRY:
	case BP_NIF_RETURN: return kind == FN_NIF;
	default: return true;
	}
}

struct beam_fn *beam_function_need(
	struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	struct beam_functions *f = &b->fns;
	ERL_NIF_TERM arity_term = enif_make_uint(env, arity);
	struct beam_fn *fn = beam_function_find(f, mod, fun, arity_term);
	char name[1024], mfa[2048];
	uint64_t k;

	if (fn != NULL)
		return fn;
	/* From go on events may look functions up: the table stays as large as it is. */
	if ((f->n >= f->nbuckets && en_state(b->h->en) == EN_IDLE && rehash(f) < 0) ||
		f->nbuckets == 0 || (fn = aligned_alloc(64, (sizeof(*fn) + 63) & ~63UL)) == NULL)
		return NULL;
	memset(fn, 0, sizeof(*fn)); /* at a line's start: what a call reads of it is in one */
	fn->mod = mod;
	fn->fun = fun;
	fn->arity = arity;
	fn->arity_term = arity_term;
	enif_snprintf(mfa, sizeof(mfa), "%T:%T/%u", mod, fun, arity);
	enif_snprintf(name, sizeof(name), "%T", fun);
	if (enif_get_atom(env, fun, name, sizeof(name), ERL_NIF_LATIN1) <= 0)
		enif_snprintf(name, sizeof(name), "%T", fun);
	fn->mfa = et_str_new(mfa, strlen(mfa));
	fn->name = strdup(name);
	if (fn->mfa == NULL || fn->name == NULL) {
		fn_free(fn);
		return NULL;
	}
	k = beam_hash_fn(mod, fun, arity_term) & f->mask;
	fn->next = f->buckets[k];
	__atomic_store_n(&f->buckets[k], fn, __ATOMIC_RELEASE);
	f->n++;
	return fn;
}

int beam_functions_room(struct beam_functions *f, unsigned n)
{
	while (f->nbuckets < n)
		if (rehash(f) < 0)
			return -1;
	return 0;
}

int beam_function_add(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun,
	unsigned arity, enum beam_fnkind kind)
{
	char m[256], name[256], func[272];
	struct beam_fn *fn = NULL;

	if (enif_get_atom(env, mod, m, sizeof(m), ERL_NIF_LATIN1) <= 0 ||
		enif_get_atom(env, fun, name, sizeof(name), ERL_NIF_LATIN1) <= 0)
		return 0; /* a name that no description can hold */
	snprintf(func, sizeof(func), "%s/%u", name, arity);
	for (int i = BP_FUNCTIONS; i < BP_COUNT_; i++) {
		struct en_probe **p;

		if (!has_probe(i, kind) || !is_wanted(b, m, func, name, i))
			continue;
		if (fn == NULL && (fn = beam_function_need(b, env, mod, fun, arity)) == NULL)
			return -1;
		fn->erlang = kind == FN_ERLANG;
		p = &fn->probe[i - BP_FUNCTIONS];
		if (*p == NULL)
			*p = beam_probe_add(b->h->en, i, m, func, NULL);
		if (*p == NULL)
			return -1;
		(*p)->func_alias = fn->name; /* lists:seq as well as lists:seq/2 */
	}
	return 0;
}
