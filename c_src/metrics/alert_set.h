/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts: calls of alert() by scripts, of which people want to hear once that it begins and once
 * that it is over. So an alert goes on while it is called again within `hold`. It is known by its
 * name, the script and the node. How many are kept, and how many begin in a minute, is bounded.
 * Who is told, and how, is up to the owner of the set.
 */
#ifndef METRICS_ALERT_SET_H
#define METRICS_ALERT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ALERTS_MAX = 1000,     /* that are kept at a time */
	ALERTS_NEW_MAX = 60,   /* that begin, a minute, unless the owner says otherwise */
	ALERTS_NAME_MAX = 256, /* bytes: what is longer is cut */
	ALERTS_TEXT_MAX = 4096,
	ALERTS_HOLD = 60, /* seconds after the last call until it is over, likewise */
};

struct alert {
	struct alert *next;
	char *name, *script, *node;
	char *text;   /* of the last call; or NULL */
	int64_t last; /* call of it: ms */
	bool on;      /* else it is over, and the owner has not forgotten it */
};

struct alert_set {
	struct alert *list;
	size_t n;
	size_t size; /* of an owner's struct that begins with struct alert; or 0 */
	void (*free)(struct alert *a); /* what that has besides; or NULL */
	unsigned most;		       /* that begin in a minute */
	int64_t minute;		       /* when it began: ms */
	unsigned begun, left_out;      /* in it */
	uint64_t calls, dropped;
};

enum alert_is {
	ALERT_NONE, /* without a name, or no memory */
	ALERT_GOES_ON,
	ALERT_BEGINS,
	ALERT_LEFT_OUT,
};

/*
 * A call, at this time: ms, monotonic. spare: the script may begin another one. *a: unless it is
 * NONE or LEFT_OUT.
 */
enum alert_is alerts_call(struct alert_set *all, const char *script, const char *node,
	const char *name, const char *text, int64_t now, bool spare, struct alert **a);
/* One of them, over or not; the name may be longer than is kept. NULL: there is none. */
struct alert *alerts_find(
	const struct alert_set *all, const char *name, const char *script, const char *node);
/* Is it over by now? Then it is, from now on; hold: ms; 0: whatever was called. */
bool alert_ends(struct alert *a, int64_t now, int64_t hold);
/* A new minute begins, if the last one has passed: how many were left out in that. */
unsigned alerts_minute(struct alert_set *all, int64_t now);
/* One that was saved, or is called: all zero but for its names. NULL: out of memory. */
struct alert *alerts_new(
	struct alert_set *all, const char *name, const char *script, const char *node);
void alert_set_text(struct alert *a, const char *text);
void alerts_remove(struct alert_set *all, struct alert **at); /* the one that *at is */
void alerts_remove_all(struct alert_set *all);

#endif
