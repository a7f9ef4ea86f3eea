/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of aggregating functions: initial value, update and merge. Shared by the engine (update)
 * and the consumer (merge). All data are 64-bit words:
 *
 *   count, sum    one word
 *   min, max      one word, initially INT64_MAX, INT64_MIN
 *   avg           count, sum
 *   stddev        count, sum, sum of squares (low word, high word)
 *   quantize      127 buckets, bucket 63 is 0, 63 + k is [2^(k-1), 2^k), 63 - k its mirror image
 *   lquantize     below base, (limit - base) / step buckets, at or above limit
 *   llquantize    mirrored: see aggfn.c; the middle bucket is abs() < factor^low
 *   percentile    struct hist (hist.h): words that refer to others
 */
#ifndef PROG_AGGFN_H
#define PROG_AGGFN_H

#include <stdint.h>

#include "bits.h"
#include "prog.h"

#define QUANTIZE_BUCKETS 127
#define QUANTIZE_ZERO	 63

/* Number of buckets, and of words of data (fn and param are set). 0: bad parameters. */
uint32_t aggfn_nbuckets(const struct prog_agg *a);
uint32_t aggfn_words(const struct prog_agg *a);
void aggfn_init(const struct prog_agg *a, uint64_t *data);
void aggfn_merge(const struct prog_agg *a, uint64_t *into, const uint64_t *from);
/*
 * The constants of percentile() in param: percentages in millionths (hist.h), two in a word. Those
 * after the last one are 0.
 */
#define AGGFN_PERCENTS 10
static inline uint32_t aggfn_percent(const uint64_t param[5], unsigned i)
{
	return i < AGGFN_PERCENTS ? (uint32_t)(param[i / 2] >> 32 * (i % 2)) : 0;
}
unsigned aggfn_npercents(const struct prog_agg *a);
/* The bucket of a value (probe path); nbuckets is set. */
unsigned aggfn_lquantize(const struct prog_agg *a, int64_t v);
unsigned aggfn_llquantize(const struct prog_agg *a, int64_t v);
static inline uint64_t aggfn_magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}
static inline unsigned aggfn_quantize(int64_t v)
{
	unsigned k;

	if (v == 0)
		return QUANTIZE_ZERO;
	k = bit_length(aggfn_magnitude(v));
	if (k > QUANTIZE_ZERO) /* INT64_MIN */
		k = QUANTIZE_ZERO;
	return v < 0 ? QUANTIZE_ZERO - k : QUANTIZE_ZERO + k;
}
/* The first value of bucket i and the first one of the next; the ends saturate. */
void aggfn_bounds(const struct prog_agg *a, unsigned i, int64_t *lo, int64_t *hi);

#endif
