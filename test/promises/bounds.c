/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises 2 and 3 in a program of its own: how long a large script takes to load, how much memory
 * ten million keys take, what ten thousand lives leave. Asserts times: not for make test.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "erltrace.h"

static unsigned passed, failed;

static void check(int ok)
{
	passed += ok != 0;
	failed += ok == 0;
}

static void die(const char *what, const erltrace_error_t *e)
{
	printf("%s: %s: %s\n0 passed, 1 failed\n", what, e->tag, e->text);
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double resident(void) /* MB */
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return (double)pages * 4096 / 1048576;
}

/* 64 KiB of clauses as scripts have them: from the text to machine code that is ready to run. */
static void loading(void)
{
	static const char clause[] = "tick-1s /self->t && x > 10/ { self->t = timestamp; "
				     "@a[probefunc, x] = quantize(x); "
				     "printf(\"%d %s\\n\", x, probename); }\n";
	static char text[65536];
	erltrace_error_t e = {0};
	double best = 1e9;

	strcpy(text, "BEGIN { x = 1; self->t = 0; }\n");
	while (strlen(text) + sizeof(clause) < sizeof(text))
		strcat(text, clause);
	for (int i = 0; i < 15; i++) {
		erltrace_t *h = erltrace_open(&e);
		double t = now();

		if (h == NULL || erltrace_compile(h, text, NULL, &e) < 0 || erltrace_go(h, &e) < 0)
			die("64 KiB", &e);
		t = now() - t;
		best = t < best ? t : best;
		erltrace_close(h);
	}
	printf("promise 2: a script of %zu bytes compiled, verified and made machine code: %.1f ms "
	       "of "
	       "CPU, bound 50\n",
		strlen(text), best * 1000);
	check(best < 0.05);
}

static int add_up(void *arg, const erltrace_agg_t *agg)
{
	*(uint64_t *)arg += (uint64_t)agg->value;
	return 0;
}

static int add_drops(void *arg, const erltrace_drop_t *d)
{
	*(uint64_t *)arg += d->drops;
	return 0;
}

/* Of each size as it is by default; this thread fires and reads. */
static void keys(void)
{
	uint64_t n = 10 * 1000 * 1000, counted = 0, dropped = 0;
	double before = resident(), most = 0, left, bound = 2 * 4 + 64 + 4;
	erltrace_handlers_t on = {.size = sizeof(on), .arg = &dropped, .drop = add_drops};
	erltrace_error_t e = {0};
	erltrace_t *h = erltrace_open(&e);
	erltrace_probe_t *p;

	if (h == NULL || erltrace_setopt(h, "aggsize", "4m", &e) < 0 ||
		erltrace_setopt(h, "aggmax", "64m", &e) < 0 ||
		erltrace_setopt(h, "bufsize", "4m", &e) < 0 ||
		(p = erltrace_probe_add(h, "keys", "m", "f", "p", 1,
			 (const char *const[]){"int64_t"}, &e)) == NULL ||
		erltrace_compile(h, "p { @[arg0] = count(); }", NULL, &e) < 0 ||
		erltrace_go(h, &e) < 0)
		die("keys", &e);
	for (uint64_t i = 0; i < n; i++) {
		erltrace_fire(p, &i, 1, 0, 0);
		if (i % 20000 == 0 && erltrace_work(h, &on, &e) < 0)
			die("work", &e);
		if (i % 20000 == 0 && resident() - before > most)
			most = resident() - before;
	}
	if (erltrace_stop(h, &e) < 0)
		die("stop", &e);
	while (erltrace_work(h, &on, &e) == ERLTRACE_OK)
		;
	erltrace_each(h, NULL, add_up, &counted, &e);
	erltrace_close(h);
	malloc_trim(0);
	left = resident() - before;
	printf("promise 3: %llu distinct keys: %.1f MB more, bound %.0f + 5 %%; after close %.1f "
	       "MB more\n",
		(unsigned long long)n, most, bound, left);
	check(most <= bound * 1.05);
	check(left <= bound * 0.05);
	check(counted + dropped == n);
}

static void lives(void)
{
	double before = 0;

	for (int i = 0; i < 11000; i++) {
		erltrace_error_t e = {0};
		erltrace_t *h = erltrace_open(&e);

		if (h == NULL ||
			erltrace_compile(h,
				"BEGIN { self->x[\"k\"] = 1; @[\"a\"] = quantize(1); trace(1); } "
				"tick-1s { }",
				NULL, &e) < 0 ||
			erltrace_go(h, &e) < 0 || (i % 2 && erltrace_stop(h, &e) < 0))
			die("life", &e);
		erltrace_close(h);
		if (i == 1000)
			before = resident();
	}
	printf("promise 3: 10,000 x open, go, stop, close: %.2f MB more\n", resident() - before);
	check(resident() - before < 2);
}

int main(void)
{
	loading();
	keys();
	lives();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
