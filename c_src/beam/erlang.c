/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider erlang<OS pid>. Probes of processes and messages always exist; probes of functions
 * are made for the functions that a description names, as the Erlang side finds them loaded: the
 * first compile tells it that functions are wanted, it adds them, and compiles again.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beam.h"

#define TYPES(...) ((const char *const[]){__VA_ARGS__})
const struct beam_probedef beam_probedefs[BP_COUNT_] = {
#define PROBE(ID, name, route, nargs, ...) {name, ROUTE_##route, nargs, TYPES(__VA_ARGS__)},
#include "probes.def"
};

static const struct provider erlang_provider;
static __thread struct beam_handle *opening; /* by nif_open, while it makes the engine */

static const char *provider_name(void)
{
	static char name[32];

	if (name[0] == '\0')
		snprintf(name, sizeof(name), "erlang%d", getpid());
	return name;
}

static struct en_probe *add(struct en *en, enum beam_probe id, const char *mod, const char *fun)
{
	const struct beam_probedef *d = &beam_probedefs[id];
	struct en_probe *p =
		en_probe_add(en, &erlang_provider, NULL, provider_name(), mod, fun, d->name);

	if (p != NULL) {
		p->nargs = d->nargs;
		p->argtypes = d->argtypes;
	}
	return p;
}

static bool is_function(enum beam_probe id)
{
	return beam_probedefs[id].route == ROUTE_LOCAL || beam_probedefs[id].route == ROUTE_GLOBAL;
}

static int erlang_init(struct en *en, void **data, struct et_error *e)
{
	struct beam_handle *b = opening;

	*data = b;
	for (int i = 0; i < BP_COUNT_; i++) {
		if (is_function(i))
			continue;
		b->probe[i] = add(en, i, "", "");
		if (b->probe[i] == NULL)
			return et_err(e, "ET_NOMEM", "out of memory");
	}
	return 0;
}

/* Does the description ask for functions? Then the Erlang side must say which there are. */
static int erlang_provide(struct en *en, void *data, const struct d_pdesc *desc, struct et_error *e)
{
	struct beam_handle *b = data;

	(void)en, (void)e;
	if (desc->id != 0 || !en_glob(desc->prov, provider_name()))
		return 0;
	for (int i = 0; i < BP_COUNT_; i++)
		if (is_function(i) && en_glob(desc->name, beam_probedefs[i].name))
			b->wants_functions = true;
	return 0;
}

static const struct provider erlang_provider = {
	.name = "erlang",
	.init = erlang_init,
	.provide = erlang_provide,
};

extern const struct provider dtrace_provider, profile_provider;
const struct provider *const et_providers[] = {
	&dtrace_provider, &profile_provider, &erlang_provider, NULL};

/* ---- functions ------------------------------------------------------------------------- */

static unsigned hash_fn(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	uint64_t h = (mod * 0x9e3779b97f4a7c15ULL) ^ (fun + arity) * 0xc2b2ae3d27d4eb4fULL;

	return (unsigned)(h >> 32);
}

struct beam_fn *beam_function_find(
	const struct beam_functions *f, ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	struct beam_fn *fn;

	if (f->nbuckets == 0)
		return NULL;
	for (fn = f->buckets[hash_fn(mod, fun, arity) & (f->nbuckets - 1)]; fn != NULL;
		fn = fn->next)
		if (fn->mod == mod && fn->fun == fun && fn->arity == arity)
			return fn;
	return NULL;
}

static int rehash(struct beam_functions *f)
{
	unsigned n = f->nbuckets ? f->nbuckets * 2 : 1024;
	struct beam_fn **buckets = calloc(n, sizeof(*buckets));

	if (buckets == NULL)
		return -1;
	for (unsigned i = 0; i < f->nbuckets; i++)
		for (struct beam_fn *fn = f->buckets[i], *next; fn != NULL; fn = next) {
			unsigned k = hash_fn(fn->mod, fn->fun, fn->arity) & (n - 1);

			next = fn->next;
			fn->next = buckets[k];
			buckets[k] = fn;
		}
	free(f->buckets);
	f->buckets = buckets;
	f->nbuckets = n;
	return 0;
}

int beam_function_add(
	struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	struct beam_functions *f = &b->fns;
	char m[256], fname[256], func[272], mfa[544];
	struct beam_fn *fn;
	unsigned k;

	if (beam_function_find(f, mod, fun, arity) != NULL)
		return 0;
	if (enif_get_atom(env, mod, m, sizeof(m), ERL_NIF_LATIN1) <= 0 ||
		enif_get_atom(env, fun, fname, sizeof(fname), ERL_NIF_LATIN1) <= 0)
		return 0; /* a name that no description can hold */
	if (f->n >= f->nbuckets && rehash(f) < 0)
		return -1;
	fn = calloc(1, sizeof(*fn));
	if (fn == NULL)
		return -1;
	fn->mod = mod;
	fn->fun = fun;
	fn->arity = arity;
	snprintf(func, sizeof(func), "%s/%u", fname, arity);
	enif_snprintf(mfa, sizeof(mfa), "%T:%T/%u", mod, fun, arity);
	fn->mfa = et_str_new(mfa, strlen(mfa));
	fn->name = strdup(fname);
	for (int i = 0; i < BP_COUNT_; i++)
		if (is_function(i)) {
			struct en_probe *p = add(b->h->en, i, m, func);

			if (p != NULL) /* lists:seq as well as lists:seq/2 */
				p->func_alias = fn->name;
			fn->probe[i - BP_FUNCTION_ENTRY] = p;
		}
	k = hash_fn(mod, fun, arity) & (f->nbuckets - 1);
	fn->next = f->buckets[k];
	f->buckets[k] = fn;
	f->n++;
	return 0;
}

void beam_set_opening(struct beam_handle *b)
{
	opening = b;
}
