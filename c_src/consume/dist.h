/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions as bars. */
#ifndef CONSUME_DIST_H
#define CONSUME_DIST_H

#include "aggs.h"
#include "textbuf.h"

/* The number that stands for a bucket: the bound nearer to zero. */
int64_t di_label(const struct prog_agg *a, unsigned i);
void di_print(struct co *co, struct co_buf *b, const struct ag_val *v);
struct di_scale {
	long double total; /* of all bars */
	bool positives, negatives;
	unsigned first, last; /* aggpack: buckets shown */
};
void di_scale_add(struct co *co, struct di_scale *s, int64_t v);
void di_hist_add(struct co *co, struct di_scale *s, int64_t v); /* the same for agghist */
void di_bar(struct co *co, struct co_buf *b, const struct di_scale *s, int64_t v, uint64_t normal);
void di_hist_header(struct co_buf *b, unsigned width);
/* aggpack: which buckets rows of an aggregation show; the header; a row's bars. */
void di_pack_scale(struct co *co, const struct prog_agg *a, const struct ag_row *rows, size_t n,
	struct di_scale *s);
void di_pack_header(
	struct co_buf *b, const struct prog_agg *a, const struct di_scale *s, unsigned width);
void di_pack(struct co *co, struct co_buf *b, const struct ag_val *v, const struct di_scale *s);

#endif
