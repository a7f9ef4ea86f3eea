/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks in C share: time, a table on the terminal, rows of results. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/*
 * One row: value, what it is compared with (baseline, same unit; 0: nothing), and the goal for
 * the ratio (or, without a baseline, for the value). at_least: more is better.
 */
struct bench_row {
	const char *name, *unit;
	double value, baseline, goal;
	bool at_least;
};

#define BENCH_ROWS 64
static struct bench_row bench_rows[BENCH_ROWS];
static unsigned bench_nrows;

static inline bool bench_ok(const struct bench_row *r)
{
	double x = r->baseline ? r->value / r->baseline : r->value;

	if (r->at_least && r->baseline)
		x = r->baseline / r->value; /* times faster than the baseline */
	if (r->goal == 0)
		return true;
	return r->at_least ? x >= r->goal : x <= r->goal;
}

static inline void bench_add(struct bench_row r)
{
	double ratio = r.baseline ? (r.at_least ? r.baseline / r.value : r.value / r.baseline) : 0;

	if (bench_nrows == 0)
		printf("%-52s %10s %-6s %10s %7s %8s\n", "what", "value", "unit", "against",
			"ratio", "goal");
	if (bench_nrows < BENCH_ROWS)
		bench_rows[bench_nrows++] = r;
	printf("%-52s %10.2f %-6s ", r.name, r.value, r.unit);
	if (r.baseline)
		printf("%10.2f %7.2f ", r.baseline, ratio);
	else
		printf("%10s %7s ", "", "");
	if (r.goal)
		printf("%s %5.2f  %s", r.at_least ? ">=" : "<=", r.goal,
			bench_ok(&r) ? "ok" : "MISSED");
	putchar('\n');
	fflush(stdout);
}

/* All rows, a line of JSON each, for bench/run.sh: added to the file that BENCH_ROWS names. */
static inline int bench_write(const char *part)
{
	const char *path = getenv("BENCH_ROWS");
	FILE *f;

	if (path == NULL)
		return 0;
	f = fopen(path, "a");
	if (f == NULL) {
		perror(path);
		return 1;
	}
	for (unsigned i = 0; i < bench_nrows; i++) {
		const struct bench_row *r = &bench_rows[i];
		double ratio = !r->baseline   ? 0
			: r->at_least ? r->baseline / r->value
				      : r->value / r->baseline;

		fprintf(f,
			"{\"part\": \"%s\", \"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", "
			"\"baseline\": %.3f, \"ratio\": %.3f, \"goal\": \"%s%g\", \"ok\": %s}\n",
			part, r->name, r->value, r->unit, r->baseline, ratio,
			r->goal ? (r->at_least ? ">=" : "<=") : "", r->goal,
			bench_ok(r) ? "true" : "false");
	}
	return fclose(f) != 0;
}

#endif
