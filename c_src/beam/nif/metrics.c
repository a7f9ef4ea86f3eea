/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the aggregations of a script are called as metrics (metric_name.c), for scripts that run in
 * a release (erltrace_metrics.erl).
 *
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "metrics/metric_name.h"
#include "prog/aggfn.h"
#include "prog/builtins.h"
#include "prog/hist.h"
#include "prog/prog.h"

static const char *function_of(const struct prog_agg *a)
{
	static const char *const names[AGG_COUNT_] = {
#define D_BAGG(name, ID, proto, traits) [AGG_##ID] = name,
#include "prog/builtins.def"
	};

	return names[a->fn];
}

/* Of percentile(): which, in percent. */
static ERL_NIF_TERM percents(ErlNifEnv *env, const struct prog_agg *a)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);

	for (unsigned i = a->fn == AGG_PERCENTILE ? aggfn_npercents(a) : 0; i-- > 0;)
		list = enif_make_list_cell(env,
			enif_make_double(env, (double)aggfn_percent(a->param, i) / PERCENT), list);
	return list;
}

static ERL_NIF_TERM labels(ErlNifEnv *env, const struct prog_metric *m)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);

	for (unsigned i = m != NULL ? m->nlabels : 0; i-- > 0;)
		list = enif_make_list_cell(env, beam_make_text(env, m->labels[i]), list);
	return list;
}

static ERL_NIF_TERM samples(ErlNifEnv *env, const char *name, const char *type)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	char full[1024];

	for (const char *const *s = metric_suffixes(type); *s != NULL; s++) {
		snprintf(full, sizeof(full), "%s%s", name, *s);
		list = enif_make_list_cell(env, beam_make_text(env, full), list);
	}
	return list;
}

/* What erltrace_metrics:shape() is. */
static ERL_NIF_TERM shape(ErlNifEnv *env, const struct prog_agg *a, const struct metric_name *n,
			  const char *help)
{
	const struct prog_metric *m = a->metric;
	const char *function = function_of(a), *type = metric_type(function);
	const struct {
		const char *key;
		ERL_NIF_TERM value;
	} members[] = {
		{"function", enif_make_atom(env, function)},
		{"type", enif_make_atom(env, type)},
		{"name", beam_make_text(env, n->name)},
		{"help", beam_make_text(env, m != NULL && m->help != NULL ? m->help : help)},
		{"decimals", enif_make_uint(env, n->decimals)},
		{"keys", enif_make_uint(env, a->nkeys)},
		{"labels", labels(env, m)},
		{"percents", percents(env, a)},
		{"samples", samples(env, n->name, type)},
	};
	ERL_NIF_TERM map = enif_make_new_map(env);

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		enif_make_map_put(env, map, enif_make_atom(env, members[i].key), members[i].value,
				  &map);
	return map;
}

static ERL_NIF_TERM one(ErlNifEnv *env, const struct prog_agg *a, const char *script)
{
	const struct prog_metric *m = a->metric;
	const char *function = function_of(a);
	char help[METRIC_HELP];
	struct metric_name n;
	ERL_NIF_TERM t;

	if (metric_type(function) == NULL || metric_name_of(&n, script, a->name, m != NULL ? m->name : NULL,
				    m != NULL ? m->unit : NULL) < 0)
		return enif_make_tuple2(env, beam_make_text(env, a->name), atom_undefined);
	metric_help(help, script, a->name, function);
	t = enif_make_tuple2(env, beam_make_text(env, a->name), shape(env, a, &n, help));
	metric_name_free(&n);
	return t;
}

/*
 * metrics(Handle, Script) -> [{Aggregation, Shape | undefined}]; undefined: it has no metric. Once
 * the script has been started its ticks are kept from here on.
 *
 */
ERL_NIF_TERM nif_metrics(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = beam_get(env, argv[0]);
	char *script = beam_get_text(env, argv[1], NULL);
	ERL_NIF_TERM list = enif_make_list(env, 0);
	const struct prog *prog = NULL;
	int rc = -1;

	(void)argc;
	if (b == NULL || script == NULL) {
		free(script);
		return beam_badarg(env);
	}
	enif_mutex_lock(b->lock);
	if (b->h != NULL) {
		rc = 0;
		prog = api_program(b->h);
		api_changes_begin(b->h); /* if it has been started */
	}
	for (unsigned i = prog != NULL ? prog->naggs : 0; i-- > 0;)
		list = enif_make_list_cell(env, one(env, prog->aggs[i], script), list);
	enif_mutex_unlock(b->lock);
	free(script);
	return rc == 0 ? list : enif_make_tuple2(env, atom_error, atom_closed);
}
