/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The totals of deployed scripts for those who collect them: as terms, for the library
 * `prometheus`, and as text (metrics/exposition.h). Behind them comes what the application says
 * about itself and its scripts, whose labels are names and values until they are escaped here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/nif.h"
#include "metrics/exposition.h"
#include "metrics/labels.h"
#include "metrics/metric_name.h"
#include "feed.h"

/* ---- numbers --------------------------------------------------------------------------------- */

/* One beyond 64 bits, as the external format has it: the VM's API has no other way. */
static ERL_NIF_TERM big_term(ErlNifEnv *env, metric_sum v)
{
	unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
	unsigned char bytes[4 + sizeof(rest)] = {131, 'n', sizeof(rest), v < 0};
	ERL_NIF_TERM t;

	for (size_t i = 4; i < sizeof(bytes); i++, rest >>= 8)
		bytes[i] = (unsigned char)rest;
	return enif_binary_to_term(env, bytes, sizeof(bytes), &t, 0) > 0 ? t : atom_undefined;
}

/* In the metric's unit. */
static ERL_NIF_TERM value_term(ErlNifEnv *env, const struct metric *m, metric_sum v)
{
	uint64_t unit = metric_unit(m);

	if (v % unit != 0)
		return enif_make_double(env, (double)v / (double)unit);
	v /= unit;
	return v == (int64_t)v ? enif_make_int64(env, (int64_t)v) : big_term(env, v);
}

/* ---- totals as terms ------------------------------------------------------------------------- */

/* A text that is written into memory, as a binary. */
static ERL_NIF_TERM written(ErlNifEnv *env, FILE *f, char **text, size_t *len)
{
	bool failed = ferror(f) != 0;
	ERL_NIF_TERM t;

	failed |= fclose(f) != 0;
	t = failed ? atom_undefined : beam_make_binary(env, *text, *len);
	free(*text);
	return t;
}

/* As Prometheus prints them, without braces. */
static ERL_NIF_TERM labels_term(ErlNifEnv *env, const struct metric *m, const struct series *s)
{
	char *text = NULL;
	struct label l;
	size_t len;
	struct expo x = {.f = open_memstream(&text, &len)};

	if (x.f == NULL)
		return atom_undefined;
	for (label_first(&l, m, s); l.value != NULL; label_next(&l)) {
		if (ftell(x.f) > 0)
			fputc(',', x.f);
		expo_label(&x, l.name, l.value);
	}
	return written(env, x.f, &text, &len);
}

/* {Labels, [{Le, Count}], Count, undefined} */
static ERL_NIF_TERM histogram_term(
	ErlNifEnv *env, ERL_NIF_TERM labels, const struct metric *m, const struct series *s)
{
	ERL_NIF_TERM list = enif_make_list(env, 0), buckets;
	uint64_t below = 0;
	size_t at = 0;

	for (size_t i = 0; i < m->nbounds; i++) {
		below += series_below(s, &at, m->bounds[i]);
		list = enif_make_list_cell(env,
			enif_make_tuple2(env, value_term(env, m, m->bounds[i]),
				enif_make_uint64(env, below)),
			list);
	}
	list = enif_make_list_cell(
		env, enif_make_tuple2(env, atom_infinity, enif_make_uint64(env, s->count)), list);
	enif_make_reverse_list(env, list, &buckets);
	return enif_make_tuple4(
		env, labels, buckets, enif_make_uint64(env, s->count), atom_undefined);
}

/* {Labels, Count, undefined, [{Quantile, Value | undefined}]} */
static ERL_NIF_TERM quantiles_term(
	ErlNifEnv *env, ERL_NIF_TERM labels, const struct metric *m, const struct series *s)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	char quantile[32];
	int64_t v;

	for (size_t i = m->npercents; i-- > 0;) {
		bool any = series_quantile(s, m->percents[i], &v);

		expo_quantile(quantile, m->percents[i]);
		list = enif_make_list_cell(env,
			enif_make_tuple2(env, enif_make_double(env, strtod(quantile, NULL)),
				any ? value_term(env, m, v) : atom_undefined),
			list);
	}
	return enif_make_tuple4(env, labels, enif_make_uint64(env, s->count), atom_undefined, list);
}

static ERL_NIF_TERM sample_term(ErlNifEnv *env, const struct metric *m, const struct series *s)
{
	ERL_NIF_TERM labels = labels_term(env, m, s);

	switch (m->kind) {
	case METRIC_BUCKETS: return histogram_term(env, labels, m, s);
	case METRIC_QUANTILES: return quantiles_term(env, labels, m, s);
	case METRIC_AVG:
		return enif_make_tuple3(
			env, labels, enif_make_uint64(env, s->count), value_term(env, m, s->value));
	default: return enif_make_tuple2(env, labels, value_term(env, m, s->value));
	}
}

static ERL_NIF_TERM full_name(ErlNifEnv *env, const char *name, const char *type)
{
	char full[1024];

	snprintf(full, sizeof(full), "%s%s", name, strcmp(type, "counter") == 0 ? "_total" : "");
	return beam_make_text(env, full);
}

/* {Name, Type, Help, Samples} */
static ERL_NIF_TERM family_term(ErlNifEnv *env, const struct metric *m)
{
	ERL_NIF_TERM samples = enif_make_list(env, 0);
	const char *type = expo_type(m);
	char help[METRIC_HELP];

	for (size_t i = 0; i < m->nchains; i++)
		for (const struct series *s = m->chains[i]; s != NULL; s = s->next)
			samples = enif_make_list_cell(env, sample_term(env, m, s), samples);
	return enif_make_tuple4(env, full_name(env, m->name, type), enif_make_atom(env, type),
		beam_make_text(env, expo_help(m, help)), samples);
}

static ERL_NIF_TERM families(ErlNifEnv *env, const struct totals *t, ERL_NIF_TERM list)
{
	for (const struct metric *m = t->metrics; m != NULL; m = m->next)
		if (m->nseries > 0 && m->shown)
			list = enif_make_list_cell(env, family_term(env, m), list);
	return list;
}

/* ---- what the application says itself -------------------------------------------------------- */

/* [{Name, Type, Help, [{[{Label, Text}], Number}]}], names without _total */
struct own_family {
	char *name, *help, type[16];
	ERL_NIF_TERM samples;
};

static bool get_family(ErlNifEnv *env, ERL_NIF_TERM t, struct own_family *own)
{
	const ERL_NIF_TERM *e;
	int n;

	if (!enif_get_tuple(env, t, &n, &e) || n != 4 ||
		enif_get_atom(env, e[1], own->type, sizeof(own->type), ERL_NIF_LATIN1) <= 0)
		return false;
	own->name = beam_get_text(env, e[0], NULL);
	own->help = beam_get_text(env, e[2], NULL);
	own->samples = e[3];
	return own->name != NULL && own->help != NULL;
}

static void put_labels(ErlNifEnv *env, const struct expo *x, ERL_NIF_TERM list)
{
	const char *comma = "";
	const ERL_NIF_TERM *e;
	ERL_NIF_TERM head;
	int n;

	while (enif_get_list_cell(env, list, &head, &list)) {
		char *name = NULL, *value = NULL;

		if (enif_get_tuple(env, head, &n, &e) && n == 2) {
			name = beam_get_text(env, e[0], NULL);
			value = beam_get_text(env, e[1], NULL);
		}
		if (name != NULL && value != NULL) {
			fputs(comma, x->f);
			expo_label(x, name, value);
			comma = ",";
		}
		free(name);
		free(value);
	}
}

static void put_number(ErlNifEnv *env, FILE *f, ERL_NIF_TERM t)
{
	ErlNifSInt64 i;
	double d;

	if (enif_get_int64(env, t, &i))
		fprintf(f, "%lld\n", (long long)i);
	else if (enif_get_double(env, t, &d)) {
		put_float(f, d);
		fputc('\n', f);
	} else {
		fputs("NaN\n", f);
	}
}

static void put_own(ErlNifEnv *env, const struct expo *x, const struct own_family *own)
{
	const char *total = strcmp(own->type, "counter") == 0 ? "_total" : "";
	ERL_NIF_TERM head, list = own->samples;
	const ERL_NIF_TERM *e;
	int n;

	expo_family(x, own->name, own->type, own->help);
	while (enif_get_list_cell(env, list, &head, &list)) {
		if (!enif_get_tuple(env, head, &n, &e) || n != 2)
			continue;
		fprintf(x->f, "%s%s{", own->name, total);
		put_labels(env, x, e[0]);
		fputs("} ", x->f);
		put_number(env, x->f, e[1]);
	}
}

static ERL_NIF_TERM own_term(ErlNifEnv *env, const struct own_family *own)
{
	ERL_NIF_TERM head, list = own->samples, samples = enif_make_list(env, 0), sorted;
	const ERL_NIF_TERM *e;
	int n;

	while (enif_get_list_cell(env, list, &head, &list)) {
		char *text = NULL;
		size_t len;
		struct expo x = {.f = open_memstream(&text, &len)};

		if (x.f == NULL || !enif_get_tuple(env, head, &n, &e) || n != 2) {
			if (x.f != NULL)
				written(env, x.f, &text, &len);
			continue;
		}
		put_labels(env, &x, e[0]);
		samples = enif_make_list_cell(
			env, enif_make_tuple2(env, written(env, x.f, &text, &len), e[1]), samples);
	}
	enif_make_reverse_list(env, samples, &sorted);
	return enif_make_tuple4(env, full_name(env, own->name, own->type),
		enif_make_atom(env, own->type), beam_make_text(env, own->help), sorted);
}

/* Each family of the application: as text, or in front of *terms. */
static void each_own(ErlNifEnv *env, ERL_NIF_TERM list, const struct expo *x, ERL_NIF_TERM *terms)
{
	ERL_NIF_TERM head;

	while (enif_get_list_cell(env, list, &head, &list)) {
		struct own_family own = {.name = NULL};

		if (get_family(env, head, &own) && x != NULL)
			put_own(env, x, &own);
		else if (own.name != NULL && own.help != NULL)
			*terms = enif_make_list_cell(env, own_term(env, &own), *terms);
		free(own.name);
		free(own.help);
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

static ERL_NIF_TERM as_text(
	ErlNifEnv *env, struct beam_totals *b, ERL_NIF_TERM own, bool openmetrics)
{
	char *text = NULL;
	size_t len;
	struct expo x = {open_memstream(&text, &len), openmetrics};

	if (x.f == NULL)
		return atom_undefined;
	enif_mutex_lock(b->lock);
	expo_totals(&x, &b->t);
	enif_mutex_unlock(b->lock);
	each_own(env, own, &x, NULL);
	expo_end(&x);
	return written(env, x.f, &text, &len);
}

static ERL_NIF_TERM as_terms(ErlNifEnv *env, struct beam_totals *b, ERL_NIF_TERM own)
{
	ERL_NIF_TERM list = enif_make_list(env, 0), all;

	enif_mutex_lock(b->lock);
	list = families(env, &b->t, list);
	enif_mutex_unlock(b->lock);
	each_own(env, own, NULL, &list);
	enif_make_reverse_list(env, list, &all);
	return all;
}

/*
 * exposition(Totals, Own, terms | text | openmetrics) -> [{Name, Type, Help, Samples}] | Binary |
 * undefined: out of memory. Own: what the application says, with labels as names and values.
 */
ERL_NIF_TERM nif_exposition(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_totals *b = totals_get(env, argv[0]);

	(void)argc;
	if (b == NULL)
		return beam_badarg(env);
	if (argv[2] == atom_text)
		return as_text(env, b, argv[1], false);
	return argv[2] == atom_openmetrics ? as_text(env, b, argv[1], true)
					   : as_terms(env, b, argv[1]);
}
