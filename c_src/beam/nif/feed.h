/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of deployed scripts: what a handle's ticks bring is added up in the library (feed.c). */
#ifndef BEAM_FEED_H
#define BEAM_FEED_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "metrics/alert_set.h"
#include "metrics/totals.h"

struct beam_handle;

/* Resources, which are read and added to by any thread. */
struct beam_totals {
	ErlNifMutex *lock; /* all of it */
	struct totals t;
	struct alert_set alerts;
};

#pragma GCC visibility push(hidden)

bool totals_open_type(ErlNifEnv *env);				/* at load */
struct beam_totals *totals_get(ErlNifEnv *env, ERL_NIF_TERM t); /* NULL: it is none */

/* In a NIF whose first argument is totals: they are locked. */
#define WITH_TOTALS(b)                                                                             \
	struct beam_totals *b = totals_get(env, argv[0]);                                          \
	(void)argc;                                                                                \
	if (b == NULL)                                                                             \
		return beam_badarg(env);                                                           \
	enif_mutex_lock(b->lock);

/* Changes of a handle that feeds no totals go nowhere. Between lock and unlock, under its lock. */
void feed_lock(struct beam_handle *b);
void feed_add(struct beam_handle *b, const char *node, const erltrace_agg_t *change);
uint64_t feed_unlock(struct beam_handle *b); /* how many found no memory */
void feed_free(struct beam_handle *b);

#pragma GCC visibility pop
#endif
