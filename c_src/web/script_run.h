/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: one for each script, and for each question about nodes or probes. */
#ifndef WEB_SCRIPT_RUN_H
#define WEB_SCRIPT_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "web_limits.h"

struct web;
struct web_user;
struct session;

enum run_kind { RUN_SCRIPT, RUN_NODES, RUN_PROBES };

struct run_spec {
	enum run_kind kind;
	json_int_t id;
	const char *nodes[WEB_MAX_NODES];
	int nnodes; /* 0: all */
	const char *args[WEB_MAX_ARGS];
	int nargs;
	const char *script; /* or the description of probes */
	size_t len;
	const char *asked; /* probes: the text as it came */
	int hz;
	const char *calls; /* calls=...; NULL: as the nodes have it */
	bool packed; /* ticks as of pack.h */
};

int run_start(struct session *s, const struct run_spec *spec);
void run_stop(struct session *s, json_int_t id);
bool run_is(const struct session *s, json_int_t id);
unsigned run_count(const struct web *w, const struct web_user *u);
void run_end_kind(struct session *s, enum run_kind kind); /* questions that are out of date */
void run_end_all(struct session *s);
void run_resume(struct session *s); /* its queue has room again */
void run_events(struct web *w);	    /* the epoll has something */
int run_watch_end(struct web *w);   /* signals, and with --until-eof the end of stdin */
void run_free_all(struct web *w);

#endif
