/* SPDX-License-Identifier: Apache-2.0 */
/* Probes as Erlang terms: all there are, those of a script, and what matches none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "engine/provider.h"
#include "prog/prog.h"
#include "erlang_provider.h"

struct list {
	ErlNifEnv *env;
	ERL_NIF_TERM list;
};

static void push(struct list *r, ERL_NIF_TERM t)
{
	r->list = enif_make_list_cell(r->env, t, r->list);
}

/* {Id, Provider, Module, Function, Name, [Type] | unknown, Absent, Note} */
static int on_probe(void *arg, const erltrace_probe_info_t *p)
{
	struct list *r = arg;
	ErlNifEnv *env = r->env;
	ERL_NIF_TERM types = enif_make_atom(env, "unknown");

	if (p->nargs >= 0)
		types = enif_make_list(env, 0);
	for (int i = p->nargs; i-- > 0;)
		types = enif_make_list_cell(env,
			beam_make_text(env, p->argtypes != NULL && p->argtypes[i] != NULL
						    ? p->argtypes[i]
						    : "int64_t"),
			types);
	push(r, enif_make_tuple8(env, enif_make_uint(env, p->id), beam_make_text(env, p->provider),
			beam_make_text(env, p->module), beam_make_text(env, p->function),
			beam_make_text(env, p->name), types, p->absent ? atom_true : atom_false,
			beam_make_text(env, p->note != NULL ? p->note : "")));
	return 0;
}

/*
 * In brief: without types and notes, very many in one binary. Of each the number, the four names
 * and "1" for one that is absent, each with a NUL behind it.
 */
struct brief {
	struct list *r;
	char *buf;
	size_t len;
	bool nomem;
};
enum { BRIEF_ROOM = 65536 };

static void brief_flush(struct brief *b)
{
	if (b->len > 0)
		push(b->r, beam_make_binary(b->r->env, b->buf, b->len));
	b->len = 0;
}

static int on_brief(void *arg, const erltrace_probe_info_t *p)
{
	const char *const parts[] = {
		p->provider, p->module, p->function, p->name, p->absent ? "1" : "0"};
	struct brief *b = arg;
	size_t len[5], need = 16;
	char *to;

	for (int i = 0; i < 5; i++)
		need += len[i] = strlen(parts[i]) + 1;
	if (b->buf == NULL)
		b->buf = malloc(BRIEF_ROOM);
	b->nomem |= b->buf == NULL || need > BRIEF_ROOM;
	if (b->nomem)
		return 1;
	if (need > BRIEF_ROOM - b->len)
		brief_flush(b);
	to = b->buf + b->len;
	to += sprintf(to, "%u", p->id) + 1;
	for (int i = 0; i < 5; i++) {
		memcpy(to, parts[i], len[i]);
		to += len[i];
	}
	b->len = (size_t)(to - b->buf);
	return 0;
}

/*
 * probes(Handle, Description | script, full | brief) -> {ok, [Probe]} | functions | {error, ..}:
 * <<>> is all there are, script those of the last script; functions as for compile.
 */
ERL_NIF_TERM nif_probes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct list r = {.env = env, .list = enif_make_list(env, 0)};
	struct brief brief = {.r = &r};
	bool is_brief = enif_is_identical(argv[2], enif_make_atom(env, "brief")), more;
	erltrace_probe_cb *cb = is_brief ? on_brief : on_probe;
	void *arg = is_brief ? (void *)&brief : (void *)&r;
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM items;
	char *desc;
	int rc;

	WITH_HANDLE(b)
	b->wants->fresh = false;
	desc = beam_get_text(env, argv[1], NULL);
	if (desc == NULL)
		rc = erltrace_script_probes(b->h, cb, arg, &e);
	else
		rc = erltrace_probes(b->h, desc[0] ? desc : NULL, cb, arg, &e);
	more = b->wants->fresh;
	free(desc);
	enif_mutex_unlock(b->lock);
	brief_flush(&brief);
	free(brief.buf);
	if (more)
		return atom_functions;
	if (brief.nomem)
		return enif_make_tuple2(env, atom_error, enif_make_atom(env, "enomem"));
	if (rc < 0)
		return beam_error(env, &e);
	enif_make_reverse_list(env, r.list, &items);
	return enif_make_tuple2(env, atom_ok, items);
}

/*
 * unmatched(Handle) -> [{Line, Column, Description}]: those of the script that match no probe so
 * far.
 */
ERL_NIF_TERM nif_unmatched(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	const struct prog *p;
	char buf[1024];

	WITH_HANDLE(b)
	p = api_program(b->h);
	for (unsigned i = p->nclauses; i-- > 0;)
		for (const struct d_pdesc *d = p->clauses[i]->descs; d != NULL; d = d->next) {
			if (d->id != 0 || en_probe_match_from(b->en, 0, d, NULL, NULL) > 0)
				continue;
			snprintf(
				buf, sizeof(buf), "%s:%s:%s:%s", d->prov, d->mod, d->func, d->name);
			list = enif_make_list_cell(env,
				enif_make_tuple3(env, enif_make_int(env, d->line),
					enif_make_int(env, d->col), beam_make_text(env, buf)),
				list);
		}
	enif_mutex_unlock(b->lock);
	return list;
}
