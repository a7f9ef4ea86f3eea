/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions as bars. A bar is 40 columns; a bucket has its share of all counts of the
 * distribution (aggzoom: of the largest count, which then has 95 %), rounded. Counts below zero
 * (increments may be negative) grow to the left of the line; with both signs each side has 20. With
 * encoding=utf8 bars to the right are drawn with blocks, down to an eighth of a column.
 *
 *   di_print   the default: a line a bucket, one empty bucket on each side
 *   agghist    count() and sum(): a line a key
 *   aggpack    distributions: a line a key, a column a bucket
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "consumer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "aggs.h"
#include "dist.h"

#define BAR  40
#define ZOOM 0.95L
static const char at40[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";

/* The bucket of zero, or nbuckets. */
static unsigned zero_of(const struct prog_agg *a)
{
	unsigned n = aggfn_nbuckets(a);

	return a->fn == AGG_QUANTIZE ? QUANTIZE_ZERO : a->fn == AGG_LLQUANTIZE ? n / 2 : 0;
}

int64_t di_label(const struct prog_agg *a, unsigned i)
{
	unsigned zero = zero_of(a);
	int64_t lo, hi;

	aggfn_bounds(a, i, &lo, &hi);
	if (a->fn == AGG_LQUANTIZE)
		return i == 0 && hi > INT64_MIN ? hi - 1 : lo;
	return i < zero ? hi - 1 : i == zero ? 0 : lo;
}

/* llquantize with more steps than whole numbers has buckets that nothing falls into. */
static bool is_ghost(const struct prog_agg *a, unsigned i)
{
	int64_t lo, hi;

	aggfn_bounds(a, i, &lo, &hi);
	return lo >= hi;
}

/* ---- bars ----------------------------------------------------------------------------- */

void di_scale_add(struct co *co, struct di_scale *s, int64_t v)
{
	long double abs = v < 0 ? -(long double)v : (long double)v;

	s->positives |= v > 0;
	s->negatives |= v < 0;
	if (!co_opt(co, OPT_AGGZOOM))
		s->total += abs;
	else if (s->total < abs / ZOOM)
		s->total = abs / ZOOM;
}

/* Zoomed, the scale of agghist is a whole number, so the largest of small ones is a full bar. */
void di_hist_add(struct co *co, struct di_scale *s, int64_t v)
{
	di_scale_add(co, s, v);
	if (co_opt(co, OPT_AGGZOOM))
		s->total = (long double)(uint64_t)s->total;
}

static unsigned depth(const struct di_scale *s, int64_t v, unsigned len)
{
	long double f = v < 0 ? -(long double)v : (long double)v;

	if (!(s->total > 0))
		return 0;
	f = f * len / s->total + 0.5L;
	return f >= len ? len : (unsigned)f;
}

enum encoding { ENC_DEFAULT, ENC_ASCII, ENC_UTF8 };

static enum encoding encoding(const struct co *co)
{
	uint64_t n = co->opts->val[OPT_ENCODING]; /* the last of them counts */

	if (n == 0)
		return ENC_DEFAULT;
	return strcmp(co->opts->str[OPT_ENCODING][n - 1], "utf8") == 0 ? ENC_UTF8 : ENC_ASCII;
}

/* A bar of full blocks (U+2588) and, at its end, one of one to seven eighths (U+258F to U+2589). */
static void blocks(struct co_buf *b, const struct di_scale *s, int64_t v)
{
	long double f = s->total > 0 ? (long double)v * BAR / s->total : 0;
	unsigned whole = f >= BAR ? BAR : (unsigned)f, eighths = (unsigned)((f - whole) * 8), i;

	for (i = 0; i < whole; i++)
		cb_utf8(b, 0x2588);
	if (whole < BAR && eighths > 0) {
		cb_utf8(b, 0x2590 - eighths);
		i++;
	}
	cb_fill(b, ' ', BAR - i);
}

/* "|@@@    " or "    @@@|" or both sides of the line, then the count and the end of the line. */
void di_bar(struct co *co, struct co_buf *b, const struct di_scale *s, int64_t v, uint64_t normal)
{
	unsigned len = s->negatives && s->positives ? BAR / 2 : BAR, d = depth(s, v, len);
	bool left = s->negatives && (!s->positives || v <= 0);

	if (left) {
		cb_fill(b, ' ', len - d);
		cb_put(b, at40, d);
	} else if (s->negatives) {
		cb_fill(b, ' ', len);
	}
	cb_str(b, "|");
	if (!s->negatives && encoding(co) == ENC_UTF8) {
		blocks(b, s, v);
	} else if (!left) {
		cb_put(b, at40, d);
		cb_fill(b, ' ', len - d);
	} else if (s->positives) {
		cb_fill(b, ' ', len);
	}
	cb_fmt(b, " %-9lld\n", (long long)((__int128)v / (__int128)(normal ? normal : 1)));
}

static void header(struct co_buf *b, unsigned width, const char *what)
{
	cb_fmt(b, "\n%*s %41s %-9s\n", (int)width, what, "------------- Distribution -------------",
		"count");
}

/* ---- a distribution over many lines --------------------------------------------------- */

/* Nothing counted: the buckets around zero, or the first ones. */
static void empty_range(const struct prog_agg *a, unsigned n, struct di_scale *s)
{
	unsigned zero = zero_of(a);

	s->first = a->fn == AGG_QUANTIZE ? zero - 1 : zero;
	s->last = a->fn == AGG_QUANTIZE ? zero + 1 : zero + 2;
	if (s->last >= n)
		s->last = n - 1;
}

static void range(struct co *co, const struct ag_val *v, unsigned n, struct di_scale *s)
{
	unsigned i;

	s->first = n;
	for (i = 0; v->data != NULL && i < n; i++) {
		if (v->data[i] == 0)
			continue;
		if (s->first == n)
			s->first = i;
		s->last = i;
		di_scale_add(co, s, (int64_t)v->data[i]);
	}
	if (s->first == n) {
		empty_range(v->a, n, s);
		return;
	}
	do
		s->first -= s->first > 0;
	while (s->first > 0 && is_ghost(v->a, s->first));
	do
		s->last += s->last < n - 1;
	while (s->last < n - 1 && is_ghost(v->a, s->last));
}

static void row_label(
	const struct prog_agg *a, unsigned i, unsigned first, unsigned n, char *buf, size_t size)
{
	int64_t lo, hi;

	aggfn_bounds(a, i, &lo, &hi);
	if (a->fn == AGG_LQUANTIZE && i == 0)
		snprintf(buf, size, "< %lld", (long long)hi);
	else if (a->fn == AGG_LLQUANTIZE && i == 0)
		snprintf(buf, size, "<= %lld", (long long)(hi - 1));
	else if (a->fn != AGG_QUANTIZE && i == n - 1)
		snprintf(buf, size, ">= %lld", (long long)lo);
	else if (a->fn == AGG_LLQUANTIZE && i == zero_of(a) && hi > 1)
		snprintf(buf, size, first >= i ? "< %lld" : "abs() < %lld", (long long)hi);
	else
		snprintf(buf, size, "%lld", (long long)di_label(a, i));
}

void di_print(struct co *co, struct co_buf *b, const struct ag_val *v)
{
	unsigned n = aggfn_nbuckets(v->a), i;
	struct di_scale s = {0};
	char label[40];

	if (n == 0)
		return;
	range(co, v, n, &s);
	header(b, 16, "value");
	for (i = s.first; i <= s.last; i++) {
		if (is_ghost(v->a, i))
			continue;
		row_label(v->a, i, s.first, n, label, sizeof(label));
		cb_fmt(b, "%16s ", label);
		di_bar(co, b, &s, v->data ? (int64_t)v->data[i] : 0, v->normal);
	}
}

void di_hist_header(struct co_buf *b, unsigned width)
{
	header(b, width, "key");
}

/* ---- aggpack: a distribution on one line ---------------------------------------------- */

/*
 * Blocks of eight heights where the output can show them: by the option, or unless the environment
 * names another character set than UTF-8, or the terminal is a dumb one. (Asking the C library
 * would need a setlocale() that the program may not have done.)
 */
static bool can_utf8(const struct co *co)
{
	const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"}, *s = getenv("TERM");
	unsigned i;

	if (encoding(co) != ENC_DEFAULT)
		return encoding(co) == ENC_UTF8;
	if (s != NULL && strcmp(s, "dumb") == 0)
		return false;
	for (i = 0; i < 3; i++) {
		s = getenv(names[i]);
		if (s != NULL && s[0] != '\0')
			return strcasestr(s, "utf-8") != NULL || strcasestr(s, "utf8") != NULL;
	}
	return true;
}

/* All rows of an aggregation show the same buckets, so that columns can be compared. */
void di_pack_scale(struct co *co, const struct prog_agg *a, const struct ag_row *rows, size_t nrows,
	struct di_scale *s)
{
	unsigned n = aggfn_nbuckets(a), zero = zero_of(a), i;
	size_t r;

	memset(s, 0, sizeof(*s));
	if (a->fn == AGG_LQUANTIZE) {
		s->last = n - 1;
		return;
	}
	s->first = n;
	for (r = 0; r < nrows; r++) {
		struct ag_val v = ag_value(co, rows[r].ent->agg, rows[r].ent);

		for (i = 0; v.data != NULL && i < n; i++) {
			if (v.data[i] == 0)
				continue;
			s->first = i < s->first ? i : s->first;
			s->last = i > s->last ? i : s->last;
		}
	}
	if (s->first == n)
		s->first = s->last = zero;
	if (s->first != 0 && s->first != zero)
		s->first--;
	if (s->last < n - 1)
		s->last++;
}

static void pack_ends(
	const struct prog_agg *a, const struct di_scale *s, char *lo, char *hi, size_t size)
{
	unsigned n = aggfn_nbuckets(a);

	row_label(a, s->first, s->first, n, lo, size);
	row_label(a, s->last, s->first, n, hi, size);
}

/* No less than "min" and "max" take, so that rows stand under them. */
static int end_width(const struct prog_agg *a, const char *s)
{
	int len = (int)strlen(s);

	return a->fn == AGG_LQUANTIZE ? 8 : len < 3 ? 3 : len;
}

void di_pack_header(
	struct co_buf *b, const struct prog_agg *a, const struct di_scale *s, unsigned width)
{
	char lo[40], hi[40];
	unsigned i;

	pack_ends(a, s, lo, hi, sizeof(lo));
	cb_fmt(b, "\n%*s %*s .", (int)width, width ? "key" : "",
		end_width(a, lo) - (a->fn == AGG_LQUANTIZE), "min");
	for (i = s->first; i <= s->last; i++)
		if (!is_ghost(a, i))
			cb_str(b, "-");
	cb_fmt(b, ". %-*s | count\n", end_width(a, hi), "max");
}

static void pack_column(struct co_buf *b, const struct di_scale *s, int64_t v, bool utf8)
{
	static const char ascii[] = "__xxxxXX", below[] = "vvvvVV";

	if (v == 0)
		cb_str(b, " ");
	else if (v < 0)
		cb_put(b, below + depth(s, v, sizeof(below) - 2), 1);
	else if (utf8)
		cb_utf8(b, 0x2581 + depth(s, v, 7));
	else
		cb_put(b, ascii + depth(s, v, sizeof(ascii) - 2), 1);
}

void di_pack(struct co *co, struct co_buf *b, const struct ag_val *v, const struct di_scale *all)
{
	struct di_scale s = {.first = all->first, .last = all->last};
	bool utf8 = can_utf8(co);
	char lo[40], hi[40];
	__int128 count = 0;
	unsigned i;

	for (i = s.first; v->data != NULL && i <= s.last; i++) {
		di_scale_add(co, &s, (int64_t)v->data[i]);
		count += (int64_t)v->data[i];
	}
	pack_ends(v->a, &s, lo, hi, sizeof(lo));
	if (v->a->fn == AGG_LQUANTIZE)
		cb_fmt(b, "%8s :", lo);
	else
		cb_fmt(b, " %*s :", end_width(v->a, lo), lo);
	for (i = s.first; i <= s.last; i++)
		if (!is_ghost(v->a, i))
			pack_column(b, &s, v->data ? (int64_t)v->data[i] : 0, utf8);
	cb_fmt(b, ": %-*s | %lld\n", end_width(v->a, hi), hi, (long long)count);
}
