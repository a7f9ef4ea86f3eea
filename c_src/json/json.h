/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --json: handlers that write one JSON object a line (doc/json.md has the schema). Set text and
 * arg, call co_json_handlers(), give the handlers to erltrace_work(); co_json_free() at the end.
 * (timeline.h: events for Perfetto; parts.h: what both write.)
 */
#ifndef CO_JSON_H
#define CO_JSON_H

#include <stdbool.h>

#include "erltrace.h"

struct co_buf;
struct co_json {
	int (*text)(void *arg, const char *text, size_t len); /* gets whole lines */
	void *arg;
	bool quiet;	    /* no "probe" objects */
	struct co_buf *buf; /* its own */
};

/* Fill the handlers; flush and truncate stay the caller's. 0, or -1: memory is out. */
int co_json_handlers(struct co_json *j, erltrace_handlers_t *h);
/* What failed before there were results: a script that does not compile. */
int co_json_error(struct co_json *j, const erltrace_error_t *err, const char *doing);
/* What the command says beside its results, to a page. */
int co_json_warning(struct co_json *j, const char *message);
int co_json_snapshot_written(struct co_json *j, const char *why, const char *file);
int co_json_snapshot_failed(struct co_json *j, const char *why, const char *error);
/* --live, -Z: which descriptions of the script match nothing in a node, a sentence each. */
int co_json_gone(struct co_json *j, const char *node); /* a node that was lost */
int co_json_unmatched(struct co_json *j, const char *node, const char *const *texts, size_t n);
bool co_json_is_silent(const char *action); /* it has no line */
/*
 * --live: a line with what aggregations gathered since the last one; the first is preceded by a
 * line that says which aggregations there are. 1: there is more, for another line; -1: out of memory.
 */
struct co;
int co_json_tick(struct co_json *j, struct co *co, unsigned stream, unsigned nstreams,
	const char *node, const erltrace_tick_t *tick);
/*
 * The first line of a snapshot: why, from when to when, from when on none is missing (timestamp).
 */
int co_json_recording(struct co_json *j, const erltrace_snapshot_t *s, uint64_t first,
	uint64_t whole, uint64_t last);
void co_json_free(struct co_json *j);

#endif
