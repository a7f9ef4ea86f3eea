/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of all scripts: what their ticks bring is added up here, so that a counter does not go
 * back when a script or its node starts again. A metric is one aggregation of one script; a series
 * is one combination of node and keys.
 */
#ifndef SERVE_TOTALS_H
#define SERVE_TOTALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_kind {
	METRIC_COUNT,
	METRIC_SUM,
	METRIC_MIN,
	METRIC_MAX,
	METRIC_AVG,
	METRIC_BUCKETS,
	METRIC_QUANTILES,
};

/* Values up to and with `le`; INT64_MAX: all that are above the other bounds. */
struct bucket {
	int64_t le;
	uint64_t count;
};

/* percentile(): quantiles are those of the last minute, in parts that go one by one. */
enum { QUANTILE_PARTS = 6, QUANTILE_PART_MS = 10000, QUANTILES_MAX = 16 };

struct rank { /* values near to this one */
	int64_t value;
	uint64_t count;
};

struct quantile_part {
	int64_t number; /* of the part since the clock began; what is older is forgotten */
	struct rank *ranks;
	size_t nranks;
};

struct series {
	struct series *next; /* in its chain */
	char *labels;	     /* as they are printed, without braces; its key */
	int64_t value;
	double sum; /* avg */
	uint64_t count;
	struct bucket *buckets; /* ascending */
	size_t nbuckets;
	struct quantile_part parts[QUANTILE_PARTS];
};

struct metric {
	struct metric *next;
	char *script, *aggregation;
	char *name;	   /* without _total */
	json_t *labels;	   /* names of the keys, an array; NULL: key0, key1 ... */
	char *help, *unit; /* or NULL; the unit is at the end of the name */
	unsigned decimals; /* values are divided by this power of ten */
	enum metric_kind kind;
	size_t nkeys;
	double percents[QUANTILES_MAX]; /* METRIC_QUANTILES */
	size_t npercents;
	bool goes_down;		/* a sum that had negative values: a gauge */
	struct series **chains; /* a table of series by their labels */
	size_t nchains, nseries;
	int64_t *bounds; /* of the buckets of all series, ascending */
	size_t nbounds;
	uint64_t to_other; /* what was added to labels `other` instead of its own */
	uint64_t began;	   /* ns of the epoch: since when is counted */
	bool shown;	   /* no other metric has its name */
	char *why;	   /* it is not, which has been told; or NULL */
};

struct totals {
	struct metric *metrics; /* in the order in which they came */
	size_t max_series;	/* of a metric, besides `other` */
};

/*
 * A metric of a script's shape. NULL: there is none, and *why says why. One whose name another has
 * is counted, and not shown until the other is gone.
 */
struct metric *totals_metric(
	struct totals *t, const char *script, const json_t *shape, const char **why);
/* Forget those of a script that are not among its shapes: it has changed. */
void totals_keep(struct totals *t, const char *script, const json_t *shapes);
struct metric *totals_find(const struct totals *t, const char *script, const char *aggregation);
/* Add an aggregation of a tick. -1: memory is out. */
int metric_add(struct totals *t, struct metric *m, const char *node, const json_t *part);
/* The value below which `percent` of those of the last minute are; false: there were none. */
bool series_quantile(const struct series *s, double percent, int64_t *value);
int totals_restore(struct totals *t, const json_t *saved); /* a metric of saved.c; -1: it is bad */
void totals_forget(struct totals *t, const char *script);  /* it has been removed */
void totals_free(struct totals *t);

#endif
