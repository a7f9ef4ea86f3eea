/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that scripts follow, for the outputs that take them (output.h). */
#ifndef OUTPUT_REQUESTS_H
#define OUTPUT_REQUESTS_H

#include <stdint.h>
#include <stdio.h>

#include "erltrace.h"

struct flow;
struct flows;
struct output;
struct output_scripts;
struct requests;

/* *clauses: what is to be added to the scripts. CLI_ERROR: the scripts follow none. */
int requests_open(struct output *o, const struct output_scripts *of, const char **clauses);
/* The values of a flowtrace() in a node; -1: they cannot be read. */
int requests_event(struct output *o, const char *node, const erltrace_event_t *ev,
	const erltrace_record_t *rec, int64_t now_ms);
void requests_dropped(struct output *o); /* events were */
void requests_drop(struct output *o, const erltrace_drop_t *d); /* ... if these are some */
void requests_look(struct output *o, int64_t now_ms); /* some may be over */
void requests_finish(struct output *o); /* no more events come */
void requests_tell(const struct output *o, int status); /* at the end: what is missing */
void requests_free(struct output *o);

uint64_t requests_count(const struct output *o); /* that are over */
const struct flows *requests_flows(const struct output *o);
/* One, as text, to what the outputs print. */
void requests_print(struct output *o, const struct flow *f,
	void (*put)(const struct flows *s, const struct flow *f, FILE *out));

/* outputs.c: one is over */
void output_request(struct output *o, struct flow *f);

#endif
