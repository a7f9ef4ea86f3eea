/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams as the origin of a consumer. Those of several nodes are read as one: records in order of
 * time, by the clocks of their nodes; what a probe that fires in each of them prints (BEGIN, END,
 * ticks) once, as the first node has it, unless the clause reads variables, of which each node has
 * its own.
 */
#ifndef STREAM_READER_H
#define STREAM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consume/origin.h"
#include "error.h"
#include "options.h"

enum { SR_SOURCES = 1024 };

struct sr;
extern const struct co_origin sr_origin; /* of: a struct sr */

/* Options that come with a stream are set in opts. NULL: out of memory. */
struct sr *sr_new(struct et_options *opts, unsigned streams);
void sr_free(struct sr *r);
/* What may be done here: permitted.h. Before the first stream. */
int sr_permit(struct sr *r, const char *action, const char *format);
/* Instead of the name that its head has; before that. -1: out of memory. */
int sr_name(struct sr *r, unsigned source, const char *node);
/*
 * The next bytes of a stream. -1: this is no stream, is not of the same script, or wants something
 * done here that is not permitted; nothing more of it is read.
 */
int sr_feed(struct sr *r, unsigned source, const void *bytes, size_t len, struct et_error *e);
void sr_hangs(struct sr *r, unsigned source); /* nothing comes of it for now */
void sr_close(struct sr *r, unsigned source); /* nothing more of it comes */
const struct prog *sr_program(const struct sr *r); /* NULL: none has come yet */
/* Is there something that a round of the consumer takes? now: ns */
bool sr_ready(struct sr *r, uint64_t now);
bool sr_has_news(const struct sr *r); /* messages that no round has told yet */
bool sr_ended(const struct sr *r); /* all streams are at their ends, and all is taken */
unsigned sr_streams(const struct sr *r);
uint64_t sr_fired(const struct sr *r, unsigned source);
double sr_cost(const struct sr *r, unsigned source); /* percent */
uint64_t sr_gathered(const struct sr *r, unsigned source); /* ns: when aggregations came; 0: never */
bool sr_came(const struct sr *r, unsigned source); /* anything, since sr_ticked() */
void sr_ticked(struct sr *r, unsigned source);

#endif
