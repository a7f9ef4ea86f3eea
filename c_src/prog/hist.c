/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histograms: merging, bounds, percentiles. The probe path's part is in hist.h. */
#include "hist.h"

#include <stdio.h>
#include <string.h>

#define ZERO_AT (HIST_BUCKETS / 2) /* position of the bucket of 0 in ascending order */

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = INT64_MAX;
	h->max = INT64_MIN;
}

uint64_t hist_count(const struct hist *h)
{
	uint64_t n = 0;

	for (unsigned g = 0; g < HIST_GROUPS; g++)
		for (unsigned i = 0; h->group[g] != NULL && i < HIST_GROUP; i++)
			n += h->group[g][i];
	return n;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	for (unsigned g = 0; g < HIST_GROUPS; g++)
		for (unsigned i = 0; from->group[g] != NULL && i < HIST_GROUP; i++)
			into->group[g][i] += from->group[g][i];
}

unsigned hist_ascending(unsigned i)
{
	return i < ZERO_AT ? HIST_BUCKETS - 1 - i : i - ZERO_AT;
}

/* The magnitudes of a bucket: n of them from *from on. */
static uint64_t magnitudes(unsigned bucket, uint64_t *from)
{
	unsigned i = bucket % (HIST_SIDE * HIST_GROUP);
	unsigned shift = i < HIST_GROUP ? 0 : i / 32 - 1;

	*from = (uint64_t)(i - 32 * shift) << shift;
	return 1ULL << shift;
}

void hist_bounds(unsigned bucket, int64_t *lo, int64_t *hi)
{
	uint64_t from, n = magnitudes(bucket, &from), last = from + (n - 1);

	if (bucket < HIST_SIDE * HIST_GROUP) {
		*lo = (int64_t)from;
		*hi = last >= INT64_MAX ? INT64_MAX : (int64_t)last + 1;
	} else {
		*lo = last > INT64_MAX ? INT64_MIN : -(int64_t)last;
		*hi = from > INT64_MAX ? INT64_MIN + 1 : 1 - (int64_t)from;
	}
}

static int64_t middle(unsigned bucket)
{
	uint64_t from, n = magnitudes(bucket, &from);

	from += (n - 1) / 2;
	if (bucket < HIST_SIDE * HIST_GROUP)
		return (int64_t)from;
	return from > INT64_MAX ? INT64_MIN : -(int64_t)from;
}

int64_t hist_percentile(const struct hist *h, uint32_t percent)
{
	const unsigned __int128 all = 100 * (unsigned __int128)PERCENT;
	uint64_t count = hist_count(h), rank, n = 0;
	unsigned b = 0, i = 0;
	int64_t v;

	if (count == 0)
		return 0;
	rank = (uint64_t)((count * (unsigned __int128)percent + all - 1) / all);
	if (rank <= 1)
		return h->min;
	if (rank >= count)
		return h->max;
	while (n < rank && i < HIST_BUCKETS) {
		b = hist_ascending(i++);
		if (h->group[b / HIST_GROUP] == NULL)
			i += HIST_GROUP - 1; /* groups are contiguous in either order */
		else
			n += hist_at(h, b);
	}
	v = middle(b);
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

void hist_percent_text(uint32_t percent, char text[PERCENT_TEXT])
{
	int n = snprintf(text, PERCENT_TEXT, "%u.%06u", percent / PERCENT, percent % PERCENT);

	while (text[n - 1] == '0')
		n--;
	text[text[n - 1] == '.' ? n - 1 : n] = '\0';
}
