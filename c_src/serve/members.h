/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes that are traced: those of -N; with --cluster those that they are connected with, too;
 * without -N those of this machine. Each script has a job (job.h) for each of them.
 */
#ifndef SERVE_MEMBERS_H
#define SERVE_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "sources.h"

/* A thread that says which nodes there are: watch_nodes.c. */
struct watcher {
	struct member *whom;   /* is asked; NULL: this machine is looked at */
	struct worker *worker; /* NULL: none runs */
	struct source out;
	int64_t due; /* when it is started */
};

struct member {
	struct member *next;
	char *target; /* for -N, and in labels */
	char *name;   /* in full; NULL: not known yet */
	bool named;   /* by the user */
	bool left;    /* it has not been seen for long: nobody waits for it */
	int64_t seen; /* the last time */
	struct watcher watcher;
};

struct serve;
struct worker;

int members_open(struct serve *v);  /* -1: memory is out */
void members_look(struct serve *v); /* ask who is there, forget who has left */
void members_end(struct serve *v);  /* nobody is asked any more */
void members_free(struct serve *v);
int member_known(
	struct serve *v, const char *name); /* of saved.c: it was there; -1: memory is out */

/*
 * watch_nodes.c: a line of JSON a second. node NULL: of this machine. Returns NULL if there is no
 * memory, or no thread.
 */
struct worker *watch_nodes(const char *node, const char *cookie_file);

#endif
