/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder (option bufpolicy=ring): alert() and snapshot() are noticed while tracing
 * goes on, and what the buffers hold is shown to handlers, once more for each snapshot.
 *
 */
#ifndef CONSUME_FLIGHT_H
#define CONSUME_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "erltrace.h"

struct co;
struct rec_head;
struct co_val;
struct en_recording;

enum { CO_WISH = 200 };

/* A snapshot that the script wants. */
struct co_wish {
	char name[CO_WISH]; /* of snapshot() or alert() */
	bool alert;
};

/*
 * Was snapshot() called, or alert(), since the last call? *wish is then the first, *more: how many
 * others there were.
 */
bool co_wants_snapshot(struct co *co, struct co_wish *wish, unsigned *more);
/*
 * Show the next records of a recording to handlers, at most so many; *done: there are no more.
 * Nothing is changed: no aggregation, no file, no option.
 */
int co_replay(struct co *co, struct en_recording *c, unsigned most, const erltrace_handlers_t *h,
	bool *done);

/*
 * Of the record that a handler is shown, in a node: the process, or port, as Erlang writes it, and
 * the name that it was registered by, or NULL. NULL: it is of none, or the option snapshotform has
 * no timeline.
 */
const char *co_process(const struct co *co, const char **name);

/* Notice what there is to notice, as a round of work does. */
int co_look(struct co *co, const erltrace_handlers_t *h);

/* ---- for consume.c and actions.c ---- */

/* A record has said that it wants one. */
void co_want(struct co *co, bool alert, const struct co_val *name);
/* Look for alert() and snapshot() in what is new, and perform them. */
int co_notice(struct co *co);
/* Has that been done with the record under way? */
bool co_is_noted(const struct co *co, const struct rec_head *rec);

#endif
