/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: what scripts gather, for those who collect it.
 *
 *   totals.c       what ticks bring, added up
 *   metric_name.c  the rule by which metrics are called; naming.c: of a script, and conflicts
 *   labels.c       nodes and keys as labels
 *   exposition.c   the totals as Prometheus' text and as OpenMetrics
 *   otlp_json.c    the totals as OTLP has them
 *   alert_set.c    calls of alert(): which begin, go on and are over
 *
 * It is fed with the library's public structs. Who feeds it has the lock, if there is need of one,
 * and the network.
 *
 * Totals of all scripts: what their ticks bring is added up here, so that a counter does not go
 * back when a script or its node starts again. A metric is one aggregation of one script; a series
 * is one combination of node and keys.
 */
#ifndef METRICS_TOTALS_H
#define METRICS_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "erltrace.h"

/* No sum of 64-bit values reaches its end: a counter does not go back because it is full. */
typedef __int128 metric_sum;

enum { METRIC_TEXT = 64 };

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
	char *labels;	     /* values: labels.h; its key */
	size_t labels_len;
	metric_sum value; /* of avg: the sum */
	uint64_t count;
	struct bucket *buckets; /* ascending */
	size_t nbuckets;
	struct quantile_part parts[QUANTILE_PARTS];
};

struct metric {
	struct metric *next;
	char *script, *aggregation;
	char *name;    /* without _total */
	char **labels; /* names of the first keys; the others are key0, key1 ... */
	size_t nlabels;
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
	bool shown;	   /* nobody else has its name */
	char *why;	   /* it is not, which has been told; or NULL */
};

/* A family of those who show the totals, which may be of no script. */
struct own_metric {
	const char *name, *type;
};

/* Those of `erltrace serve` and of the application in a release: scripts are called alike in both.
 */
extern const struct own_metric own_metrics[];

struct totals {
	struct metric *metrics;	      /* in the order in which they came */
	size_t max_series;	      /* of a metric, besides `other` */
	const struct own_metric *own; /* the last has no name; or NULL */
	const char *owner;	      /* whose they are: "the server itself" */
	/* A metric is not shown from now on, for the reason it has, or is again. Or NULL. */
	void (*on_shown)(const struct metric *m);
};

/*
 * A metric of a script's shape. NULL: there is none, and *why says why. One whose name another has
 * is counted, and not shown until the other is gone.
 */
struct metric *totals_metric(
	struct totals *t, const char *script, const erltrace_shape_t *shape, const char **why);
/* Forget those of a script that are not among its shapes: it has changed. */
void totals_keep(struct totals *t, const char *script, const erltrace_shape_t *shapes, size_t n);
struct metric *totals_find(const struct totals *t, const char *script, const char *aggregation);
/* Add a change. -1: out of memory. */
int metric_add(struct totals *t, struct metric *m, const char *node, const erltrace_agg_t *change);
const char *metric_function(enum metric_kind kind); /* one that has such metrics */
uint64_t metric_unit(const struct metric *m);	    /* by which its values are divided */
/* A value in the metric's unit, in decimal, exactly. true: it is a whole number. */
bool metric_text(const struct metric *m, metric_sum value, char text[METRIC_TEXT]);
/* How many of a series are at most `le`; *at: its next bucket, 0 before the first, lowest bound. */
uint64_t series_below(const struct series *s, size_t *at, int64_t le);
/* The value below which `percent` of those of the last minute are; false: there were none. */
bool series_quantile(const struct series *s, double percent, int64_t *value);
void totals_forget(struct totals *t, const char *script); /* it has been removed */
void totals_free(struct totals *t);

/*
 * Parts of totals that were saved. The metric has no name until the caller sets it. NULL or false:
 * out of memory.
 */
struct metric *totals_new(struct totals *t, const char *script, const char *aggregation);
struct series *metric_series(struct metric *m, const char *labels, size_t len); /* it has none */
bool metric_bound(struct metric *m, int64_t le);
bool series_bucket(struct series *s, int64_t le, uint64_t count);

#endif
