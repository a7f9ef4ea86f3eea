/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a script that a server runs, handed to the calls that the server gave instead of
 * being written. Each call is made under the server's lock, and none after it has left the run.
 */
#ifndef OUTPUT_SERVER_CALLS_H
#define OUTPUT_SERVER_CALLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/unmatched.h"
#include "erltrace.h"

struct output;

/*
 * Results, handed on by the thread of the run while it holds the lock. The loop holds it too when it
 * uses what these calls change, and when it leaves the worker: none comes after that. node: "" for
 * the kernel and this process. Texts are UTF-8.
 */
struct run_calls {
	pthread_mutex_t *lock;
	void *arg;
	/* erltrace_change_handlers_t: the first of these says that the script runs. */
	void (*shapes)(
		void *arg, const char *node, const erltrace_shape_t *shapes, unsigned n);
	void (*tick)(void *arg, const char *node, const erltrace_tick_t *tick);
	void (*change)(void *arg, const char *node, const erltrace_agg_t *agg);
	void (*printed)(void *arg, const char *text); /* printf() and print() */
	void (*values)(void *arg, const erltrace_value_t *values, unsigned n); /* trace() ... */
	void (*alert)(void *arg, const char *name, const char *text);
	void (*exited)(void *arg);
	void (*drop)(void *arg, const erltrace_drop_t *d);
	void (*fault)(void *arg, const erltrace_fault_t *f);
	/*
	 * The run fails. line: what the command would print. may_come: a description matches
	 * nothing, and what it names may be loaded later.
	 */
	void (*error)(void *arg, const erltrace_error_t *err, const char *line, bool may_come);
	void (*unmatched)(void *arg, const struct client_unmatched *list, size_t n); /* those of now */
	/* One that is written, or error says why it is not. */
	void (*snapshot)(void *arg, const erltrace_snapshot_t *s);
	void (*said)(void *arg, const char *line); /* what else the command would say */
};

/* What no sink gives: the alert of a node's flight recorder; what the command would say. */
void calls_alert(
	struct output *o, const char *name, size_t name_len, const char *text, size_t len);
void calls_said(struct output *o, const char *lines, size_t len);

#endif
