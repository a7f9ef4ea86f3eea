/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine's results as frames, for a consumer elsewhere. The writer has a consumer of its own,
 * which merges aggregations and finds names, and makes no text.
 */
#ifndef STREAM_WRITER_H
#define STREAM_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "consume/consume.h"

struct sw;
struct sw_round {
	bool final;	   /* END has run, nothing more fires */
	size_t most;	   /* bytes, or a little more */
	unsigned permille; /* what the script takes of the node */
	uint64_t every;	   /* ns: aggregations that no action needs at once come so often */
	uint64_t beat;	   /* ns: and the time, where nothing else is; 0: it does not */
	bool now;	   /* aggregations come, whenever they came last */
	bool no_records;   /* these stay in their buffers, unless it is final */
};
/* After go. All of it must outlive the writer. NULL: out of memory. */
struct sw *sw_new(struct en *en, struct co *co, const struct prog *prog, struct et_options *opts,
	const char *node);
void sw_free(struct sw *w);
/*
 * What came since the last call. 1: there is more, call again; 0: that was all, of a final call for good; -ENOMEM:
 * nothing is lost, call again.
 */
uint64_t sw_every(const struct sw *w); /* ns: as in the last round */
int sw_work(struct sw *w, const struct sw_round *round, char **bytes, size_t *len);

#endif
