/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts of deployed scripts (metrics/alert_set.h), which are kept beside their totals.
 * erltrace_alerts.erl tells them. They have no node: all are this one's.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "beam/nif.h"
#include "feed.h"

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static ERL_NIF_TERM text_of(ErlNifEnv *env, const struct alert *a)
{
	return beam_make_text(env, a->text != NULL ? a->text : "");
}

/* One call, {Name, Text}; an alert that begins is put in front of *begun. */
static void call(ErlNifEnv *env, struct alert_set *all, const char *script, ERL_NIF_TERM t,
	ERL_NIF_TERM *begun)
{
	char *name = NULL, *text = NULL;
	const ERL_NIF_TERM *e;
	struct alert *a;
	int n;

	if (enif_get_tuple(env, t, &n, &e) && n == 2) {
		name = beam_get_text(env, e[0], NULL);
		text = beam_get_text(env, e[1], NULL);
	}
	if (name != NULL && text != NULL &&
		alerts_call(all, script, "", name, text, now_ms(), true, &a) == ALERT_BEGINS)
		*begun = enif_make_list_cell(env,
			enif_make_tuple2(env, beam_make_text(env, a->name), text_of(env, a)),
			*begun);
	free(name);
	free(text);
}

/*
 * alerts_call(Totals, Script, [{Name, Text}], PerMinute) -> {[{Name, Text}], LeftOut}: those that
 * begin; were the first of this minute left out?
 */
ERL_NIF_TERM nif_alerts_call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM begun = enif_make_list(env, 0), sorted, head, list = argv[2];
	struct beam_totals *b = totals_get(env, argv[0]);
	char *script = beam_get_text(env, argv[1], NULL);
	unsigned left_out, most;
	bool first;

	(void)argc;
	if (b == NULL || script == NULL || !enif_get_uint(env, argv[3], &most)) {
		free(script);
		return beam_badarg(env);
	}
	enif_mutex_lock(b->lock);
	left_out = b->alerts.left_out;
	b->alerts.most = most;
	while (enif_get_list_cell(env, list, &head, &list))
		call(env, &b->alerts, script, head, &begun);
	first = left_out == 0 && b->alerts.left_out > 0;
	enif_mutex_unlock(b->lock);
	free(script);
	enif_make_reverse_list(env, begun, &sorted);
	return enif_make_tuple2(env, sorted, first ? atom_true : atom_false);
}

/*
 * alerts_over(Totals, Hold | Script) -> {[{Script, Name, Text}], LeftOut, Rests}: those that were
 * not called for so many seconds, or are of this script, which has been removed; how many were left
 * out in a minute that has just passed; is there nothing to look for any more?
 */
ERL_NIF_TERM nif_alerts_over(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_totals *b = totals_get(env, argv[0]);
	ERL_NIF_TERM over = enif_make_list(env, 0);
	unsigned hold = 0, left_out;
	char *script = NULL;
	bool rests;

	(void)argc;
	if (b == NULL || (!enif_get_uint(env, argv[1], &hold) &&
				 (script = beam_get_text(env, argv[1], NULL)) == NULL))
		return beam_badarg(env);
	enif_mutex_lock(b->lock);
	for (struct alert **at = &b->alerts.list, *a; (a = *at) != NULL;) {
		if ((script != NULL && strcmp(a->script, script) != 0) ||
			!alert_ends(a, now_ms(), (int64_t)hold * 1000)) {
			at = &a->next;
			continue;
		}
		over = enif_make_list_cell(env,
			enif_make_tuple3(env, beam_make_text(env, a->script),
				beam_make_text(env, a->name), text_of(env, a)),
			over);
		alerts_remove(&b->alerts, at);
	}
	left_out = alerts_minute(&b->alerts, now_ms());
	rests = b->alerts.list == NULL && b->alerts.left_out == 0;
	enif_mutex_unlock(b->lock);
	free(script);
	return enif_make_tuple3(
		env, over, enif_make_uint(env, left_out), rests ? atom_true : atom_false);
}

/* alerts(Totals) -> {[{Script, Name}], Dropped}: those that go on; how many were left out so far */
ERL_NIF_TERM nif_alerts(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list = enif_make_list(env, 0), dropped;

	WITH_TOTALS(b)
	for (const struct alert *a = b->alerts.list; a != NULL; a = a->next)
		list = enif_make_list_cell(env,
			enif_make_tuple2(
				env, beam_make_text(env, a->script), beam_make_text(env, a->name)),
			list);
	dropped = enif_make_uint64(env, b->alerts.dropped);
	enif_mutex_unlock(b->lock);
	return enif_make_tuple2(env, list, dropped);
}
