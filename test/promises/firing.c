/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promise 20: one firing is bounded, whatever clauses do with their strings. Clauses with as many
 * calls as they take, on strings of 64 KiB that are the worst for them, fire; the processor time of
 * a firing is measured, and that of BEGIN and END. Asserts times: not for make test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "erltrace.h"

#define LONG	 65535
#define CALLS	 60 /* in a clause */
#define NCLAUSES 20 /* at the probe */
#define MOST_MS	 20 /* one is meant: this is for machines that are slow or busy */

static unsigned passed, failed;
static char opens[LONG + 1], path[LONG + 1], xs[LONG + 1], almost[LONG + 1];
static unsigned faults;

static void check(int ok, const char *what, double ms)
{
	passed += ok != 0;
	failed += ok == 0;
	if (!ok)
		printf("FAILED %s: %.1f ms\n", what, ms);
}

static void die(const char *what, const erltrace_error_t *e)
{
	printf("%s: %s: %s\n0 passed, 1 failed\n", what, e->tag, e->text);
	exit(1);
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Nested as deep as it goes, closed, with a path to the innermost; one text nearly in another. */
static void make_texts(void)
{
	for (unsigned i = 0; i < 10000; i++) {
		memcpy(opens + 5 * i, "{\"a\":", 5);
		memcpy(path + 2 * i, "a.", 2);
		opens[50001 + i] = '}';
	}
	opens[50000] = '1';
	path[19999] = '\0';
	memset(xs, 'x', LONG);
	memset(almost, 'x', LONG / 2);
	almost[LONG / 2 - 1] = 'y';
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	(void)arg;
	faults += strstr(f->fault, "too much work") != NULL;
	return 0;
}

static char *script_of(const char *probe, const char *statement)
{
	size_t size = NCLAUSES * (CALLS * (strlen(statement) + 2) + 200) + 400;
	char *s = malloc(size), *at = s;

	at += sprintf(at, "string o, p, x, y; int i[string];"
			  "firing:::set { o = copyinstr(arg0); p = copyinstr(arg1);"
			  "x = copyinstr(arg2); y = copyinstr(arg3); }");
	for (int c = 0; c < NCLAUSES; c++) {
		at += sprintf(at, "%s {", probe);
		for (int k = 0; k < CALLS; k++)
			at += sprintf(at, " %s", statement);
		at += sprintf(at, "}");
	}
	return s;
}

static double measure(const char *statement)
{
	erltrace_handlers_t on = {.size = sizeof(on), .fault = on_fault};
	const char *const types[] = {"char *", "char *", "char *", "char *"};
	uint64_t args[10] = {(uint64_t)(uintptr_t)opens, (uint64_t)(uintptr_t)path,
		(uint64_t)(uintptr_t)xs, (uint64_t)(uintptr_t)almost};
	erltrace_error_t e = {0};
	erltrace_t *h = erltrace_open(&e);
	char *s = script_of("firing:::p", statement);
	erltrace_probe_t *set, *p;
	double from, worst = 0;

	if (h == NULL || erltrace_setopt(h, "strsize", "64k", &e) < 0 ||
		erltrace_setopt(h, "bufsize", "16m", &e) < 0 ||
		(set = erltrace_probe_add(h, "firing", "", "", "set", 4, types, &e)) == NULL ||
		(p = erltrace_probe_add(h, "firing", "", "", "p", 4, types, &e)) == NULL ||
		erltrace_compile(h, s, NULL, &e) < 0 || erltrace_go(h, &e) < 0)
		die(statement, &e);
	erltrace_fire(set, args, 4, 0, 0);
	faults = 0;
	for (int n = 0; n < 10; n++) {
		from = cpu_ms();
		erltrace_fire(p, args, 4, 0, 0);
		if (cpu_ms() - from > worst)
			worst = cpu_ms() - from;
		erltrace_work(h, &on, &e);
	}
	from = cpu_ms();
	erltrace_stop(h, &e);
	while (erltrace_work(h, &on, &e) == ERLTRACE_OK)
		;
	check(faults > 0, "no fault said that it was too much", 0);
	check(worst < MOST_MS, statement, worst);
	erltrace_close(h);
	free(s);
	return worst;
}

/* BEGIN with as much to do as the others. */
static double measure_own(const char *probe)
{
	erltrace_handlers_t on = {.size = sizeof(on), .fault = on_fault};
	erltrace_error_t e = {0};
	char *s = malloc(1 << 20), *at = s;
	erltrace_t *h = erltrace_open(&e);
	double from, begin, end;

	at += sprintf(at, "BEGIN { x = \"xxxxxxxx\"; }");
	for (int i = 0; i < 13; i++)
		at += sprintf(at, "BEGIN { x = strjoin(x, x); }");
	for (int c = 0; c < NCLAUSES; c++) {
		at += sprintf(at, "%s {", probe);
		for (int k = 0; k < CALLS; k++)
			at += sprintf(at, " n = rindex(x, \"xy\");");
		at += sprintf(at, "}");
	}
	if (h == NULL || erltrace_setopt(h, "strsize", "64k", &e) < 0 ||
		erltrace_compile(h, s, NULL, &e) < 0)
		die(probe, &e);
	from = cpu_ms();
	if (erltrace_go(h, &e) < 0)
		die(probe, &e);
	begin = cpu_ms() - from;
	from = cpu_ms();
	erltrace_stop(h, &e);
	end = cpu_ms() - from;
	faults = 0;
	while (erltrace_work(h, &on, &e) == ERLTRACE_OK)
		;
	check(faults > 0, "no fault said that it was too much", 0);
	check(begin < 5 * MOST_MS, probe, begin); /* go loads the program too */
	check(end < MOST_MS, probe, end);
	erltrace_close(h);
	free(s);
	return strcmp(probe, "BEGIN") == 0 ? begin : end;
}

int main(void)
{
	static const char *const worst[] = {"this->s = json(o, p);", "this->n = rindex(x, y);",
		"this->n = index(x, y);", "this->s = strstr(x, y);", "this->s = strtok(x, y);",
		"this->s = cleanpath(x);", "this->s = toupper(x);", "this->s = strjoin(x, y);",
		"this->s = substr(x, 1);", "this->n = x == y;", "@[x] = count();", "i[x]++;",
		"this->n = strlen(x);", "this->n = strtoll(x);"};
	double most = 0, ms, begin, end;
	const char *what = "";

	make_texts();
	for (unsigned i = 0; i < sizeof(worst) / sizeof(*worst); i++) {
		ms = measure(worst[i]);
		if (ms > most) {
			most = ms;
			what = worst[i];
		}
	}
	begin = measure_own("BEGIN");
	end = measure_own("END");
	printf("promise 20: %d calls on strings of 64 KiB in a firing: %.2f ms of processor time "
	       "at "
	       "most (%s), BEGIN %.2f ms with loading, END %.2f ms\n",
		NCLAUSES * CALLS, most, what, begin, end);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
