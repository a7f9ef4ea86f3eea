/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of deployed scripts (metrics/totals.h), which `erltrace serve` has too. They are a
 * resource that the application keeps (erltrace_metrics.erl), and so outlive the
 * processes and handles of scripts. A handle feeds them by itself: what a tick brings goes from the
 * consumer to the totals, and no process that is killed meanwhile takes any of it along.
 *
 * They outlive this library as well: one that takes its place takes them over, if its structs are
 * the same. What is in them is memory of the C library, and functions are not.
 */
#include "feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"
#include "metrics/metric_name.h"
#include "jobs.h"

enum { TOTALS_LAYOUT = 1 }; /* of what is in the structs, where their sizes do not tell */

struct beam_feed {
	struct beam_totals *to;
	char *script;
	uint64_t lost; /* of this tick */
};

static ErlNifResourceType *totals_type;

static void totals_end(struct beam_totals *b)
{
	totals_free(&b->t);
	alerts_remove_all(&b->alerts);
	if (b->lock != NULL)
		enif_mutex_destroy(b->lock);
}

static void end_copy(void *copy)
{
	totals_end(copy);
	free(copy);
}

/* It may be a scheduler that collects them, and there may be much to free: a thread of ours does
 * it. */
static void totals_dtor(ErlNifEnv *env, void *obj)
{
	struct beam_totals *copy = malloc(sizeof(*copy));

	(void)env;
	if (copy != NULL)
		memcpy(copy, obj, sizeof(*copy));
	if (copy != NULL && jobs_run(end_copy, copy))
		return;
	free(copy);
	totals_end(obj);
}

bool totals_open_type(ErlNifEnv *env)
{
	char name[96];

	snprintf(name, sizeof(name), "erltrace_totals_%d_%zu_%zu_%zu_%zu", TOTALS_LAYOUT,
		sizeof(struct beam_totals), sizeof(struct metric), sizeof(struct series),
		sizeof(struct alert));
	totals_type = enif_open_resource_type(
		env, NULL, name, totals_dtor, ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, NULL);
	return totals_type != NULL;
}

struct beam_totals *totals_get(ErlNifEnv *env, ERL_NIF_TERM t)
{
	void *obj;

	return enif_get_resource(env, t, totals_type, &obj) ? obj : NULL;
}

/* totals(MaxSeries) -> {ok, Totals}: MaxSeries of a metric, besides `other` */
ERL_NIF_TERM nif_totals(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_totals *b;
	ErlNifUInt64 most;
	ERL_NIF_TERM t;

	(void)argc;
	if (!enif_get_uint64(env, argv[0], &most))
		return beam_badarg(env);
	b = enif_alloc_resource(totals_type, sizeof(*b));
	if (b == NULL)
		return beam_error(env, &(erltrace_error_t){.tag = ""});
	*b = (struct beam_totals){.lock = enif_mutex_create("erltrace_totals"),
		.t = {.max_series = most, .own = own_metrics, .owner = "erltrace itself"}};
	t = enif_make_resource(env, b);
	enif_release_resource(b);
	return b->lock != NULL ? enif_make_tuple2(env, atom_ok, t)
			       : beam_error(env, &(erltrace_error_t){.tag = ""});
}

/* totals_limit(Totals, MaxSeries) -> ok */
ERL_NIF_TERM nif_totals_limit(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifUInt64 most;

	if (!enif_get_uint64(env, argv[1], &most))
		return beam_badarg(env);
	WITH_TOTALS(b)
	b->t.max_series = most;
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* totals_forget(Totals, Script) -> ok: it has been removed */
ERL_NIF_TERM nif_totals_forget(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_totals *b = totals_get(env, argv[0]);
	char *script = beam_get_text(env, argv[1], NULL);

	(void)argc;
	if (b == NULL || script == NULL) {
		free(script);
		return beam_badarg(env);
	}
	enif_mutex_lock(b->lock);
	totals_forget(&b->t, script);
	enif_mutex_unlock(b->lock);
	free(script);
	return atom_ok;
}

/*
 * totals_about(Totals) -> [{Script, Aggregation, Why, ToOther}]: Why it is not shown, or undefined;
 * how many updates were added to `other`.
 */
ERL_NIF_TERM nif_totals_about(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list = enif_make_list(env, 0), sorted;

	WITH_TOTALS(b)
	for (const struct metric *m = b->t.metrics; m != NULL; m = m->next)
		list = enif_make_list_cell(env,
			enif_make_tuple4(env, beam_make_text(env, m->script),
				beam_make_text(env, m->aggregation),
				m->why != NULL ? beam_make_text(env, m->why) : atom_undefined,
				enif_make_uint64(env, m->to_other)),
			list);
	enif_mutex_unlock(b->lock);
	enif_make_reverse_list(env, list, &sorted);
	return sorted;
}

/* ---- what a script feeds --------------------------------------------------------------------- */

struct shapes {
	ErlNifEnv *env;
	struct beam_feed *feed;
	ERL_NIF_TERM list;
};

static ERL_NIF_TERM label_names(ErlNifEnv *env, const struct metric *m)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);

	for (size_t i = m->nlabels; i-- > 0;)
		list = enif_make_list_cell(env, beam_make_text(env, m->labels[i]), list);
	return list;
}

/* What erltrace_metrics:shape() is. */
static ERL_NIF_TERM shape_term(ErlNifEnv *env, const struct metric *m, const char *function)
{
	ERL_NIF_TERM map = enif_make_new_map(env);
	const struct {
		const char *key;
		ERL_NIF_TERM value;
	} members[] = {
		{"function", enif_make_atom(env, function)},
		{"name", beam_make_text(env, m->name)},
		{"type", enif_make_atom(env, metric_type(function))},
		{"decimals", enif_make_uint(env, m->decimals)},
		{"labels", label_names(env, m)},
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		enif_make_map_put(
			env, map, enif_make_atom(env, members[i].key), members[i].value, &map);
	return map;
}

static int on_shapes(void *arg, const erltrace_shape_t *shapes, unsigned n)
{
	struct shapes *to = arg;
	struct totals *t = &to->feed->to->t;
	const char *why;

	enif_mutex_lock(to->feed->to->lock);
	totals_keep(t, to->feed->script, shapes, n);
	for (unsigned i = 0; i < n; i++) {
		const struct metric *m = totals_metric(t, to->feed->script, &shapes[i], &why);

		to->list = enif_make_list_cell(to->env,
			enif_make_tuple2(to->env, beam_make_text(to->env, shapes[i].name),
				m != NULL ? shape_term(to->env, m, shapes[i].function)
					  : beam_make_text(to->env, why)),
			to->list);
	}
	enif_mutex_unlock(to->feed->to->lock);
	return 0;
}

static struct beam_feed *feed_new(struct beam_totals *to, char *script)
{
	struct beam_feed *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->to = to;
	f->script = script;
	enif_keep_resource(to);
	return f;
}

/* Changes of a stream are noted from here on; of our own engine from go on. */
static int feed_begin(struct beam_handle *b, struct shapes *all)
{
	if (b->reader != NULL && api_changes_begin(b->reader) < 0)
		return -1;
	return api_shapes(beam_results(b), on_shapes, all);
}

/*
 * feed(Handle, Totals, Script) -> [{Aggregation, Shape | Why}] | {error, ..}: before go; of a script
 * that a helper runs after go. What the handle gathers is added to the totals (ticks/4). Why: it has no
 * metric.
 */
ERL_NIF_TERM nif_feed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = beam_get(env, argv[0]);
	struct beam_totals *to = totals_get(env, argv[1]);
	char *script = beam_get_text(env, argv[2], NULL);
	struct shapes all = {.env = env, .list = enif_make_list(env, 0)};
	bool closed;
	int rc = -1;

	(void)argc;
	if (to == NULL || b == NULL || script == NULL) {
		free(script);
		return beam_badarg(env);
	}
	enif_mutex_lock(b->lock);
	feed_free(b);
	all.feed = b->h != NULL ? feed_new(to, script) : NULL;
	b->feed = all.feed;
	if (b->feed != NULL)
		rc = feed_begin(b, &all);
	else
		free(script);
	closed = b->h == NULL;
	enif_mutex_unlock(b->lock);
	if (closed)
		return enif_make_tuple2(env, atom_error, atom_closed);
	return rc == 0 ? all.list : beam_error(env, &(erltrace_error_t){.tag = ""});
}

void feed_free(struct beam_handle *b)
{
	if (b->feed == NULL)
		return;
	enif_release_resource(b->feed->to);
	free(b->feed->script);
	free(b->feed);
	b->feed = NULL;
}

void feed_lock(struct beam_handle *b)
{
	if (b->feed != NULL)
		enif_mutex_lock(b->feed->to->lock);
}

void feed_add(struct beam_handle *b, const char *node, const erltrace_agg_t *change)
{
	struct beam_feed *f = b->feed;
	struct metric *m = f != NULL ? totals_find(&f->to->t, f->script, change->name) : NULL;

	if (m != NULL && metric_add(&f->to->t, m, node, change) < 0)
		f->lost++;
}

uint64_t feed_unlock(struct beam_handle *b)
{
	uint64_t lost = b->feed != NULL ? b->feed->lost : 0;

	if (b->feed != NULL) {
		b->feed->lost = 0;
		enif_mutex_unlock(b->feed->to->lock);
	}
	return lost;
}
