/* SPDX-License-Identifier: Apache-2.0 */
/* What alert() of scripts says, kept track of by name and told to others. */
#ifndef SERVE_ALERTS_H
#define SERVE_ALERTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "post.h"

struct serve;
struct job;

enum {
	ALERTS_MAX = 1000,	 /* that are kept at a time */
	ALERTS_NEW_MAX = 60,	 /* that begin, a minute */
	ALERTS_POST_MS = 1000,	 /* between two posts, at least */
	ALERTS_AGAIN_MS = 30000, /* what goes on is told again */
	ALERTS_HOLD = 60,	 /* seconds after the last call until it is over */
};

enum { ALERTS_TO_MANAGER = 1, ALERTS_TO_WEBHOOK = 2 };

struct alert {
	struct alert *next;
	char *name, *script, *node;
	char *text, *recorded; /* of the last call; what the script printed before */
	int64_t began, last;   /* ms of the epoch */
	int64_t over;	       /* likewise; 0: it goes on */
	unsigned untold;       /* who has not been sent its last change: ALERTS_TO_MANAGER, ... */
};

struct alerts {
	struct alert *list;
	size_t n;
	int hold; /* seconds */
	struct post manager, webhook;
	bool has_manager, has_webhook;
	int64_t manager_next, webhook_next; /* no post before */
	int64_t told_at;		    /* the manager, of what goes on */
	int64_t minute;
	unsigned begun; /* in this minute */
	uint64_t total, dropped;
	bool full; /* which has been told */
};

void alerts_fire(struct serve *v, const struct job *j, const json_t *line);
void alerts_look(struct serve *v); /* end those that are over; tell what has changed */
void alerts_free(struct serve *v);

#endif
