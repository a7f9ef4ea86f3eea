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
/* After go. All of it must outlive the writer. NULL: out of memory. */
struct sw *sw_new(struct en *en, struct co *co, const struct prog *prog, struct et_options *opts,
	const char *node);
void sw_free(struct sw *w);
/*
 * What came since the last call, `most` bytes or a little more of it. final: END has run, nothing
 * more fires. 1: there is more, call again; 0: that was all, of a final call for good; -ENOMEM:
 * nothing is lost, call again.
 */
int sw_work(struct sw *w, size_t most, bool final, unsigned permille, char **bytes, size_t *len);

#endif
