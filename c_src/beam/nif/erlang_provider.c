/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider erlang<OS pid>. Probes of processes and messages always exist; probes of functions
 * are made for the functions that a description names, as the Erlang side finds them loaded: a
 * compile tells that functions are wanted, the Erlang side adds them, and compiles again. Probes
 * that tracing inside the node cannot give exist too, so that they can be listed; to enable one by
 * its name is an error that says what would give it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/in_node.h"
#include "beam/atoms.h"
#include "beam/builtins/erl_builtins.h"
#include "beam/events/call_probes.h"
#include "beam/events/user.h"
#include "beam/handle/beam_handle.h"
#include "beam/sample/sampler.h"
#include "beam/state/state_provider.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "prog/erlang_has.h"
#include "prog/prog.h"
#include "erlang_provider.h"

#define WHY_UPROBE(symbol)                                                                         \
	"needs the kernel engine: as root, a uprobe on " symbol                                    \
	" of beam.smp gives it (OTP up to 28)"
#define WHY_GONE(release) "gone from OTP " release
#define WHY_ALIKE(probe)                                                                           \
	"a port that runs for a timer looks like one that is ready (" probe " has both); "         \
	"the kernel engine can tell them apart"
#define WHY_HIDDEN(what) "nothing outside " what " shows it"

#define ARGS(...)                                                                                  \
	.nargs = PROBE_NARGS(__VA_ARGS__),                                                         \
	.argtypes = (const char *const[]){PROBE_TYPES(__VA_ARGS__)}
const struct beam_probedef beam_probedefs[BP_COUNT_] = {
#define PROBE(ID, name, route, ...) {name, ROUTE_##route, ARGS(__VA_ARGS__)},
#define ABSENT(ID, name, reason, what, ...)                                                        \
	{name, ROUTE_NONE, ABSENT_##reason, WHY_##reason(what), ARGS(__VA_ARGS__)},
#include "erlang_probes.def"
};

/* What is to be known of a probe. */
static const char *const notes[BP_COUNT_] = {
#define PROBE(...)
#define ABSENT(...)
#define NOTE(ID, text) [BP_##ID] = text,
#include "erlang_probes.def"
};

static const struct provider erlang_provider;
static __thread struct beam_handle *opening; /* by nif_open, while it makes the engine */

const char *beam_provider_name(void)
{
	static char name[32];

	if (name[0] == '\0')
		snprintf(name, sizeof(name), "erlang%d", getpid());
	return name;
}

/*
 * function-exception has the VM leave a frame on the stack at every tail call: it must be named. A
 * pattern that means entries too, such as function-*, or no name at all, does not make it. Those of
 * certain functions must be named too: others are there for all that these functions do.
 */
bool beam_is_meant(const char *name, enum beam_probe id)
{
	if (!en_glob(name, beam_probedefs[id].name))
		return false;
	if (id >= BP_CALLS && en_glob(name, beam_probedefs[BP_FUNCTION_RETURN].name))
		return false;
	return (id != BP_FUNCTION_EXCEPTION && id < BP_CALLS) ||
	       !en_glob(name, beam_probedefs[BP_FUNCTION_ENTRY].name);
}

struct en_probe *beam_probe_add(
	struct en *en, enum beam_probe id, const char *mod, const char *fun, const char *name)
{
	const struct beam_probedef *d = &beam_probedefs[id];
	struct en_probe *p = en_probe_add(en, &erlang_provider, (void *)(uintptr_t)d,
		beam_provider_name(), mod, fun, name != NULL ? name : d->name);

	if (p != NULL) {
		p->absent = d->route == ROUTE_NONE;
		p->note = p->absent ? d->why : notes[id];
		p->nargs = d->nargs;
		p->has = prog_erlang_pbis(d->name);
		p->argtypes = d->argtypes;
	}
	return p;
}

static int erlang_init(struct en *en, void **data, struct et_error *e)
{
	struct beam_handle *b = opening;

	*data = b;
	b->wants = calloc(1, sizeof(*b->wants));
	b->host = calloc(1, sizeof(*b->host));
	if (b->wants == NULL || b->host == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	b->host->b = b;
	b->host->cur.ops = &beam_ops;
	en_set_host(en, &b->host->cur);
	for (int i = 0; i < BP_FUNCTIONS; i++) {
		b->probe[i] = beam_probe_add(en, i, "", "", NULL);
		if (b->probe[i] == NULL)
			return et_err(e, ET_NOMEM, "out of memory");
	}
	return 0;
}

/* ---- probes on demand ------------------------------------------------------------------ */

static bool is_known(const struct beam_handle *b, const struct d_pdesc *d)
{
	for (unsigned i = 0; i < b->wants->n; i++)
		if (strcmp(b->wants->v[i].mod, d->mod) == 0 &&
			strcmp(b->wants->v[i].fun, d->func) == 0 &&
			strcmp(b->wants->v[i].name, d->name) == 0)
			return true;
	return false;
}

static int want(struct beam_handle *b, const struct d_pdesc *d, struct et_error *e)
{
	struct beam_want *w = realloc(b->wants->v, (b->wants->n + 1) * sizeof(*w));

	if (w == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	b->wants->v = w;
	w += b->wants->n;
	w->mod = strdup(d->mod);
	w->fun = strdup(d->func);
	w->name = strdup(d->name);
	if (w->mod == NULL || w->fun == NULL || w->name == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	b->wants->n++;
	b->wants->fresh = true;
	return 0;
}

static int provide_user(struct en *en, struct beam_handle *b, const struct d_pdesc *d,
	struct et_error *e)
{
	char name[32];

	if (!en_glob(d->mod, "") || !en_glob(d->func, ""))
		return 0;
	for (unsigned i = 0; i < BP_NUSER; i++) {
		snprintf(name, sizeof(name), "user_trace-n%u", i);
		if (!en_glob(d->name, name))
			continue;
		if (b->user == NULL)
			b->user = calloc(BP_NUSER, sizeof(struct en_probe *));
		if (b->user != NULL && b->user[i] == NULL)
			b->user[i] = beam_probe_add(en, BP_USER_TRACE_I4S4, "", "", name);
		if (b->user == NULL || b->user[i] == NULL)
			return et_err(e, ET_NOMEM, "out of memory");
	}
	return 0;
}

/* Does the description ask for functions? Then the Erlang side must say which there are. */
static int erlang_provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	struct beam_handle *b = data;

	if (d->id != 0 || !en_glob(d->prov, beam_provider_name()))
		return 0;
	for (int i = BP_FUNCTIONS; i < BP_COUNT_; i++)
		if (beam_is_meant(d->name, i)) {
			if (!is_known(b, d) && want(b, d, e) < 0)
				return -1;
			break;
		}
	return provide_user(en, b, d, e);
}

/* ---- functions ------------------------------------------------------------------------- */

void beam_wants_free(struct beam_handle *b)
{
	for (unsigned i = 0; b->wants != NULL && i < b->wants->n; i++) {
		free(b->wants->v[i].mod);
		free(b->wants->v[i].fun);
		free(b->wants->v[i].name);
	}
	if (b->wants != NULL)
		free(b->wants->v);
	free(b->wants);
	b->wants = NULL;
}

bool beam_wants_module(const struct beam_handle *b, const char *mod)
{
	for (unsigned i = 0; i < b->wants->n; i++)
		for (int id = BP_FUNCTIONS; id < BP_COUNT_; id++)
			if (en_glob(b->wants->v[i].mod, mod) &&
				beam_is_meant(b->wants->v[i].name, id) &&
				(id < BP_CALLS || beam_call_probe_in(id, mod)))
				return true;
	return false;
}

/* Is this probe of a function named by a description? func: "seq/2", name: "seq". */
static bool is_wanted(const struct beam_handle *b, const char *mod, const char *func,
	const char *name, enum beam_probe id)
{
	for (unsigned i = 0; i < b->wants->n; i++) {
		const struct beam_want *w = &b->wants->v[i];

		if (beam_is_meant(w->name, id) && en_glob(w->mod, mod) &&
			(en_glob(w->fun, func) || en_glob(w->fun, name)))
			return true;
	}
	return false;
}

static bool has_probe(enum beam_probe id, enum beam_fnkind kind, const char *mod, const char *name,
	unsigned arity)
{
	if (id >= BP_CALLS)
		return beam_call_probe_of(id, kind, mod, name, arity);
	switch (id) {
	case BP_BIF_ENTRY:
	case BP_BIF_RETURN: return kind == FN_BIF;
	case BP_NIF_ENTRY:
	case BP_NIF_RETURN: return kind == FN_NIF;
	default: return true;
	}
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

		if (!has_probe(i, kind, m, name, arity) || !is_wanted(b, m, func, name, i))
			continue;
		if (fn == NULL &&
			(fn = beam_function_need(&b->fns, b->en, env, mod, fun, arity)) == NULL)
			return -1;
		beam_fn_put(fn, TRAIT_ERLANG, kind == FN_ERLANG);
		p = &fn->probe[i - BP_FUNCTIONS];
		if (*p == NULL)
			*p = beam_probe_add(b->en, i, m, func, NULL);
		if (*p == NULL)
			return -1;
		(*p)->func_alias = fn->name; /* lists:seq as well as lists:seq/2 */
	}
	return 0;
}

/* ---- enabling -------------------------------------------------------------------------- */

/* Was this probe asked for by its name, not by a pattern that matches it among others? */
static bool is_named(const struct beam_handle *b, const struct en_probe *p)
{
	const struct prog *prog = api_program(b->h);

	for (unsigned i = 0; i < prog->nclauses; i++)
		for (const struct d_pdesc *d = prog->clauses[i]->descs; d != NULL; d = d->next)
			if (d->id == p->id || strcmp(d->name, p->name->text) == 0)
				return true;
	return false;
}

/* Has the program clauses for other probes of ours, which do fire? */
static bool is_one_of_several(const struct beam_handle *b)
{
	for (int i = 0; i < BP_FUNCTIONS; i++)
		if (en_enabled(b->probe[i]) && beam_probedefs[i].route != ROUTE_NONE)
			return true;
	for (unsigned i = 0; i < b->fns.nbuckets; i++)
		for (const struct beam_fn *fn = b->fns.buckets[i]; fn != NULL; fn = fn->next)
			for (int k = 0; k < BP_NFUNCTIONS; k++)
				if (fn->probe[k] != NULL && en_enabled(fn->probe[k]))
					return true;
	return beam_user_enabled(b);
}

/* Kept for the next nif_work: a line each. */
int beam_warn(struct beam_handle *b, const char *line)
{
	size_t old = b->warnings != NULL ? strlen(b->warnings) : 0;
	size_t size = old + strlen(line) + 2;
	char *text = realloc(b->warnings, size);

	if (text == NULL)
		return -1;
	b->warnings = text;
	snprintf(text + old, size - old, "%s\n", line);
	return 0;
}

static int warn(struct beam_handle *b, const char *name, const char *why, struct et_error *e)
{
	char line[512];

	snprintf(line, sizeof(line), "%s never fires in this node: %s", name, why);
	return beam_warn(b, line) < 0 ? et_err(e, ET_NOMEM, "out of memory") : 0;
}

/*
 * A probe that cannot be given, asked for by name: a script that asks for nothing else would wait
 * for ever, that is an error. One that has clauses for other probes too, as scripts for every VM
 * do, or that was told to go on (-Z), runs without it and is warned. What no VM has any more has
 * happened zero times: never an error.
 */
static int erlang_enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	const struct beam_probedef *d = p->pvdata;
	struct beam_handle *b = data;

	(void)en;
	if (d->route != ROUTE_NONE || !is_named(b, p))
		return 0;
	if (d->reason == ABSENT_GONE || is_one_of_several(b) || api_option(b->h, OPT_ZDEFS))
		return warn(b, p->name->text, d->why, e);
	return et_err(e, D_PDESC_INVAL, "%s cannot be traced inside this node: %s", p->name->text,
		d->why);
}

static const char *erlang_kind(unsigned i)
{
	return BP_FUNCTIONS + i < BP_COUNT_ ? beam_probedefs[BP_FUNCTIONS + i].name : NULL;
}

static const struct provider erlang_provider = {
	.name = "erlang",
	.init = erlang_init,
	.provide = erlang_provide,
	.enable = erlang_enable,
	.kind = erlang_kind,
};

extern const struct provider dtrace_provider, profile_provider;
const struct en_sampler *const et_sampler = &beam_sampler;
const struct provider *const et_providers[] = {
	&dtrace_provider, &profile_provider, &erlang_provider, &beam_state_provider,
	NULL};

void beam_set_opening(struct beam_handle *b)
{
	opening = b;
}
