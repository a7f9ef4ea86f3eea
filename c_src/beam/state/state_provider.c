/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of the provider state, which fire once for each object of a kind that there is in the
 * node, such as process-5s for each process every five seconds, and round-5s when such a round is
 * over. key fires when a key is pressed where the script runs in a terminal. prog/state_kinds.h has
 * the kinds and their members. A process of ours (erltrace_state.erl) iterates over the
 * objects, asks the VM for the members that clauses read, which are named here, and fires the
 * probes with rows of them (state_fire.c).
 *
 * If all clauses have predicates that can be computed alone (d/gate.c), the rows first have what
 * these read, and only objects for which one is true are asked for the rest: nif_gate().
 */
#include "state_provider.h"

#include <stdlib.h>
#include <string.h>

#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "beam/vm/vm_event.h"
#include "engine/engine.h"
#include "engine/probe.h"
#include "engine/state.h"
#include "prog/builtins.h"
#include "prog/prog.h"

#define LEAST 100000000ULL /* ns: the shortest period */

/* ---- probes --------------------------------------------------------------------------- */

static struct beam_handle *handle_of(const struct en *en)
{
	return ((const struct beam_event *)(const void *)en->host)->b;
}

static int nargs(enum state_kind kind)
{
	switch (kind) {
	case STATE_ROUND: return STATE_ROUND_ARGS;
	case STATE_KEY: return STATE_KEY_ARGS;
	default: return 1;
	}
}

static int add(
	struct en *en, const char *name, enum state_kind kind, uint64_t period, struct et_error *e)
{
	static const char *const object[] = {"uintptr_t"};
	static const char *const numbers[STATE_ROUND_ARGS] = {
		"int64_t", "int64_t", "int64_t", "int64_t", "int64_t", "int64_t", "int64_t"};
	struct beam_handle *b = handle_of(en);
	struct state_probe *s;
	struct en_probe *p;

	if (en_probe_find(en, "state", "", "", name) != NULL)
		return 0;
	s = realloc(b->states->v, (b->states->n + 1) * sizeof(*s));
	if (s != NULL)
		b->states->v = s;
	p = s != NULL ? en_probe_add(en, &beam_state_provider, NULL, "state", "", "", name) : NULL;
	if (p == NULL)
		return et_err(e, ET_NOMEM, "out of memory for probe %s", name);
	b->states->v[b->states->n++] =
		(struct state_probe){.probe = p, .kind = kind, .period = period};
	p->has = state_pbis(kind);
	p->nargs = nargs(kind);
	p->argtypes = state_type(kind) != NULL ? object : numbers;
	p->xargtypes = state_type(kind);
	p->note = state_kind_note(kind);
	return 0;
}

static int init(struct en *en, void **data, struct et_error *e)
{
	struct beam_handle *b = handle_of(en);

	*data = NULL;
	b->states = calloc(1, sizeof(*b->states));
	if (b->states == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	for (unsigned i = 0; i < STATE_COUNT_; i++)
		if (add(en, state_kind_name(i), i, 0, e) < 0)
			return -1;
	return 0;
}

static int provide(struct en *en, void *data, const struct d_pdesc *d, struct et_error *e)
{
	uint64_t period;
	int kind;

	(void)data;
	if (d->id != 0 || !en_glob(d->prov, "state") || *d->mod != '\0' || *d->func != '\0')
		return 0;
	kind = state_kind(d->name, &period);
	return kind >= 0 && period >= LEAST ? add(en, d->name, kind, period, e) : 0;
}

static const char *why_none(const struct d_pdesc *d)
{
	uint64_t period;

	if (d->name == NULL || strcmp(d->prov, "state") != 0)
		return NULL;
	if (state_kind(d->name, &period) < 0)
		return state_kind_names;
	return period != 0 && period < LEAST
		       ? "it would fire too often: the shortest interval is 100 milliseconds"
		       : NULL;
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	(void)en, (void)data;
	if (!p->uses.stack && !p->uses.ustack)
		return 0;
	return et_err(e, ET_SAMPLES, "%s has no stack: profile-wall-N samples those of processes",
		p->name->text);
}

const struct provider beam_state_provider = {
	.name = "state",
	.init = init,
	.provide = provide,
	.why_none = why_none,
	.enable = enable,
};

void beam_state_free(struct beam_handle *b)
{
	if (b->states != NULL)
		free(b->states->v);
	free(b->states);
	b->states = NULL;
}

/* ---- what is asked for ---------------------------------------------------------------- */

bool beam_state_enabled(const struct beam_handle *b)
{
	for (unsigned i = 0; i < b->states->n; i++)
		if (en_enabled(b->states->v[i].probe))
			return true;
	return false;
}

bool beam_state_only(const struct prog_clause *c)
{
	for (const struct d_pdesc *d = c->descs; d != NULL; d = d->next)
		if (d->id != 0 || strcmp(d->prov, "state") != 0)
			return false;
	return true;
}

/* The bit of a member; of none, none. */
static uint64_t bit(int index)
{
	return index >= 0 ? 1ULL << index : 0;
}

/* What clauses read of it: members by name, and those that stand for erlname and erlproc. */
static uint64_t asked(const struct state_probe *s, const struct prog_uses *u)
{
	uint64_t all = u->members;

	if (u->pbis >> PBI_ERLNAME & 1)
		all |= bit(state_erlname_member(s->kind));
	if (u->pbis >> PBI_ERLPROC & 1)
		all |= bit(state_erlproc_member(s->kind));
	return all;
}

/* What their predicates read; false: not all clauses have one that can be computed alone. */
static bool asked_first(const struct state_probe *s, uint64_t *all)
{
	const struct en_ecblist *l = atomic_load_explicit(&s->probe->ecbs, memory_order_acquire);

	*all = 0;
	for (unsigned i = 0; l != NULL && i < l->n; i++) {
		if (!l->ecb[i].clause->has_gate)
			return false;
		*all |= asked(s, &l->ecb[i].clause->gate);
	}
	return true;
}

static uint8_t position(const struct state_row *r, int member)
{
	return member >= 0 ? r->at[member] : 0;
}

/* Lay out rows; the members as atoms, in that order. */
static ERL_NIF_TERM lay_out(
	const struct state_probe *s, struct state_row *r, uint64_t all, ErlNifEnv *env)
{
	ERL_NIF_TERM names[STATE_MEMBERS];
	const struct state_member *m;
	unsigned n = 0;

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; (m = state_member(s->kind, i)) != NULL; i++)
		if (all >> i & 1) {
			names[n] = enif_make_atom(env, m->name);
			r->at[i] = (uint8_t)++n;
		}
	r->size = (uint8_t)(n + 1);
	r->name = position(r, state_erlname_member(s->kind));
	r->called = position(r, state_erlproc_member(s->kind));
	return enif_make_list_from_array(env, names, n);
}

static ERL_NIF_TERM need(struct state_probe *s, unsigned number, ErlNifEnv *env)
{
	ERL_NIF_TERM row = lay_out(s, &s->row, asked(s, &s->probe->uses), env);
	uint64_t first;
	ERL_NIF_TERM gate = asked_first(s, &first) ? lay_out(s, &s->gate, first, env)
						   : enif_make_atom(env, "none");

	return enif_make_tuple6(env, enif_make_atom(env, "state"), enif_make_uint(env, number),
		enif_make_atom(env, state_kind_name(s->kind)), enif_make_uint64(env, s->period),
		row, gate);
}

ERL_NIF_TERM beam_state_needs(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM tail)
{
	for (unsigned i = 0; i < b->states->n; i++)
		if (en_enabled(b->states->v[i].probe))
			tail = enif_make_list_cell(env, need(&b->states->v[i], i, env), tail);
	return tail;
}
