/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles: histograms on the heap, and columns. */
#ifndef CONSUME_PERCENTILE_H
#define CONSUME_PERCENTILE_H

#include "aggs.h"
#include "prog/hist.h"
#include "textbuf.h"

/* Bytes of the groups that a histogram needs before another is merged into it; allocate them: all
   or, if memory is out, none. */
size_t pc_missing(const struct hist *into, const struct hist *from);
bool pc_grow(struct hist *into, const struct hist *from);
size_t pc_free(struct hist *h); /* the groups; returns how many bytes they had */

/*
 * A histogram as words without references, as engines hand it on: min, max, the buckets. The one
 * that is set from such words has memory for all of them, which then are its groups.
 */
#define PC_FIRST_BUCKET 2
#define PC_WORDS	(HIST_WORDS + HIST_BUCKETS) /* as many as that memory has */
uint64_t pc_word(const struct hist *h, uint32_t i);
void pc_set_word(struct hist *h, uint32_t i, uint64_t v);

/* Do rows of these aggregations have columns: percentiles and numbers? */
bool pc_has_columns(struct co *co, const uint16_t *aggs, unsigned n);
/* How wide columns of percentiles are; their heading, after keys of this width; a row's. */
unsigned pc_width(struct co *co, const struct ag_row *rows, size_t nrows, unsigned n);
void pc_header(struct co *co, const uint16_t *aggs, unsigned n, unsigned keys, unsigned width);
void pc_columns(struct co_buf *b, const struct ag_val *v, unsigned width);
/* Without a heading: p50=12 p99=34. */
void pc_named(struct co_buf *b, const struct ag_val *v);

#endif
