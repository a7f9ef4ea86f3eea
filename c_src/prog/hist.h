/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log-linear histograms of signed 64-bit values: the data of percentile(). Each power of two has 32
 * buckets of equal width, so that the middle of a bucket is within 1/64 of each of its values, and
 * magnitudes below 64 have buckets of their own. Two histograms add up bucket by bucket: it does
 * not matter how values were spread over threads, CPUs and nodes.
 *
 * Few of the 3,840 buckets are ever used, for values that are measured have about the same size. So
 * buckets are in groups of 64, two powers of two, and a group is there when a value needs it.
 * Groups are allocated by whoever owns the histogram: the engine in its tables (agg.c), the
 * consumer on the heap (consume/percentile.c).
 *
 */
#ifndef PROG_HIST_H
#define PROG_HIST_H

#include <stdbool.h>
#include <stdint.h>

#include "bits.h"

#define HIST_GROUP   64 /* buckets of a group */
#define HIST_SIDE    30 /* groups of values from 0 on; those of negative ones follow */
#define HIST_GROUPS  (2 * HIST_SIDE)
#define HIST_BUCKETS (HIST_GROUPS * HIST_GROUP)
#define HIST_WORDS   (2 + HIST_GROUPS)

struct hist {
	int64_t min, max; /* exact; nothing counted: INT64_MAX, INT64_MIN */
	uint64_t *group[HIST_GROUPS];
};
_Static_assert(sizeof(struct hist) == 8 * HIST_WORDS, "the data of an aggregation are words");

/*
 * The bucket of a value (probe path). A magnitude below 64 is the bucket's number; larger ones are
 * shifted right to 6 bits, of which the highest is always set, and each shift has 32 buckets.
 */
static inline unsigned hist_bucket(int64_t v)
{
	uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	unsigned shift = bit_length(m | (HIST_GROUP - 1)) - 6;
	unsigned i = 32 * shift + (unsigned)(m >> shift);

	return v < 0 ? i + HIST_SIDE * HIST_GROUP : i;
}

void hist_init(struct hist *h);
uint64_t hist_count(const struct hist *h);
/* into has the groups that from has. */
void hist_merge(struct hist *into, const struct hist *from);
/* The first value of a bucket and the first one of the next; the end saturates. */
void hist_bounds(unsigned bucket, int64_t *lo, int64_t *hi);
/* The buckets in the order of their values: the i-th of HIST_BUCKETS. */
unsigned hist_ascending(unsigned i);
/* How many values are in it. */
static inline uint64_t hist_at(const struct hist *h, unsigned bucket)
{
	const uint64_t *group = h->group[bucket / HIST_GROUP];

	return group != 0 ? group[bucket % HIST_GROUP] : 0;
}

/*
 * The percentile by nearest rank: of n values in order, the one at position ceil(percent / 100 *
 * n), as the middle of its bucket, and never outside of min and max. Percentages are in millionths:
 * PERCENT is 1 %. Nothing counted: 0.
 *
 */
#define PERCENT 1000000u
int64_t hist_percentile(const struct hist *h, uint32_t percent);
#define PERCENT_TEXT 16
void hist_percent_text(uint32_t percent, char text[PERCENT_TEXT]); /* "99.9" */

#endif
