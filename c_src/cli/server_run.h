/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts that a server runs: each by a thread of the server (client/worker.h). Its results are
 * lines of JSON that the server's loop takes, or calls of the server's in that thread.
 */
#ifndef CLI_SERVER_RUN_H
#define CLI_SERVER_RUN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/unmatched.h"
#include "erltrace.h"

struct worker;

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
	/* file NULL: it was not written, and error says why. */
	void (*snapshot)(void *arg, const char *why, const char *file, const char *error);
	void (*said)(void *arg, const char *line); /* what else the command would say */
};

struct run_request {
	const char *const *nodes; /* as -N has them; none: all of this machine */
	int nnodes;
	const char *cookie_file; /* or NULL */
	const char *const *settings; /* as -x has them */
	int nsettings;
	const char *file; /* the script, */
	const char *text; /* or its text, */
	size_t len;
	const char *list; /* or a description, whose probes are listed, a line each */
	const char *const *args;
	int nargs;
	int live_ms; /* between two ticks */
	bool flows;  /* requests that the script follows, as --flows */
	bool zero_matches; /* as -Z */
	const struct run_calls *calls; /* copied; NULL: results are lines of JSON */
};

/* Texts are copied. NULL: no memory, or no thread. */
struct worker *server_run(const struct run_request *r);
/*
 * At the start of a server: options in its environment are not those of its scripts, and it may open as
 * many files as there may be.
 */
void server_run_environment(void);

#endif
