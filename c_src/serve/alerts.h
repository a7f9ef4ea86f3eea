/* SPDX-License-Identifier: Apache-2.0 */
/* What alert() of scripts says, kept track of by name and told to others. */
#ifndef SERVE_ALERTS_H
#define SERVE_ALERTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "metrics/alert_set.h"
#include "post/post.h"

struct serve;
struct job;

enum {
	ALERTS_JOB_MAX = 20,	 /* that begin, a minute, of one script on one node */
	ALERTS_POST_MS = 1000,	 /* between two posts, at least */
	ALERTS_AGAIN_MS = 30000, /* what goes on is told again */
};

enum { ALERTS_TO_MANAGER = 1, ALERTS_TO_WEBHOOK = 2 };

struct told_alert {
	struct alert a;
	char *recorded;	     /* what the script printed before */
	char *snapshot;	     /* the file with what a recorder had; or NULL */
	int64_t began, over; /* ms of the epoch; over 0: it goes on */
	unsigned untold;     /* who has not been sent its last change: ALERTS_TO_MANAGER, ... */
	unsigned sent;	     /* to whom its last change is under way */
};

#define EACH_ALERT(t, all)                                                                         \
	for (struct told_alert *t = (struct told_alert *)(all)->set.list; (t) != NULL;             \
		(t) = (struct told_alert *)(t)->a.next)

struct alerts {
	struct alert_set set; /* struct told_alert */
	int hold;	      /* seconds */
	struct post manager, webhook;
	bool has_manager, has_webhook;
	int64_t manager_next, webhook_next; /* no post before: ms, monotonic, as those below */
	int64_t told_at;		    /* the manager, of what goes on */
	bool changed; /* since it was saved: what is on, or what others know */
};

void alerts_init(struct alerts *all);
void alerts_fire(struct serve *v, struct job *j, const char *called, const char *text);
void alerts_snapshot(struct serve *v, const struct job *j, const char *alert, const char *file);
void alerts_look(struct serve *v); /* end those that are over; tell what has changed */
void alerts_end(struct serve *v);  /* all scripts have ended: nobody calls alert() any more */
bool alerts_ended(const struct alerts *all);  /* that has been delivered */
json_t *alerts_out(const struct alerts *all); /* saved.c: what others do not know to be over */
void alerts_restore(struct alerts *all, const json_t *saved);
void alerts_free(struct serve *v);

#endif
