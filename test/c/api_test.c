/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library as its users see it (include/erltrace.h): life of a handle, probes of the program's
 * own fired from many threads, results by callback, aggregations, errors.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "erltrace.h"
#include "checks.h"

static erltrace_error_t err;

/* ---- collecting output ----------------------------------------------------------------- */

struct out {
	char text[65536];
	size_t len;
	unsigned events, records, drops, faults;
	uint64_t dropped;
	char last_fault[256], last_drop[32];
	int64_t last_int;
	char last_str[64];
};

static int on_text(void *arg, const char *text, size_t len)
{
	struct out *o = arg;

	if (o->len + len < sizeof(o->text)) {
		memcpy(o->text + o->len, text, len);
		o->len += len;
		o->text[o->len] = '\0';
	}
	return 0;
}

static int on_event(void *arg, const erltrace_event_t *ev)
{
	struct out *o = arg;

	(void)ev;
	o->events++;
	return 0;
}

static int on_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	struct out *o = arg;

	(void)ev;
	o->records++;
	for (unsigned i = 0; i < rec->nvalues; i++) {
		if (rec->values[i].kind == ERLTRACE_INT)
			o->last_int = rec->values[i].i;
		else if (rec->values[i].kind == ERLTRACE_STRING)
			snprintf(o->last_str, sizeof(o->last_str), "%.*s", (int)rec->values[i].len,
				(const char *)rec->values[i].bytes);
	}
	return 0;
}

static int on_drop(void *arg, const erltrace_drop_t *d)
{
	struct out *o = arg;

	o->drops++;
	o->dropped += d->drops;
	snprintf(o->last_drop, sizeof(o->last_drop), "%s", d->kind);
	return 0;
}

static int on_fault(void *arg, const erltrace_fault_t *f)
{
	struct out *o = arg;

	o->faults++;
	snprintf(o->last_fault, sizeof(o->last_fault), "%s", f->fault);
	return 0;
}

static erltrace_handlers_t handlers(struct out *o)
{
	memset(o, 0, sizeof(*o));
	return (erltrace_handlers_t){.size = sizeof(erltrace_handlers_t),
		.arg = o,
		.text = on_text,
		.event = on_event,
		.record = on_record,
		.drop = on_drop,
		.fault = on_fault};
}

/* Stop if it still runs, read everything out. */
static void drain(erltrace_t *h, struct out *o)
{
	erltrace_handlers_t hs = handlers(o);
	int rc;

	if (erltrace_status(h, NULL) == ERLTRACE_RUNNING)
		erltrace_stop(h, &err);
	while ((rc = erltrace_work(h, &hs, &err)) == ERLTRACE_OK)
		erltrace_sleep(h);
	CHECK(rc == ERLTRACE_DONE, "%d %s", rc, err.text);
}

static erltrace_t *compiled(const char *text)
{
	erltrace_t *h = erltrace_open(&err);

	CHECK(h != NULL, "%s", err.text);
	erltrace_setopt(h, "quiet", NULL, &err);
	if (erltrace_compile(h, text, NULL, &err) < 0)
		CHECK(false, "%s: %s", text, err.text);
	return h;
}

/* ---- tests ----------------------------------------------------------------------------- */

static void test_hello(void)
{
	erltrace_t *h = compiled("BEGIN { printf(\"hello %d\\n\", 1 + 2); exit(7); }");
	struct out o;
	int code = 0;

	CHECK(erltrace_status(h, NULL) == ERLTRACE_IDLE);
	CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
	drain(h, &o);
	CHECK(strcmp(o.text, "hello 3\n\n") == 0, "%s", o.text);
	CHECK(erltrace_status(h, &code) == ERLTRACE_EXITED && code == 7, "%d", code);
	CHECK(o.last_int == 7);
	erltrace_close(h);
}

static void test_wrong_order(void)
{
	erltrace_t *h = erltrace_open(&err);
	struct out o;
	erltrace_handlers_t hs = handlers(&o);

	CHECK(erltrace_work(h, &hs, &err) < 0 && strcmp(err.tag, "ET_IDLE") == 0, "%s", err.tag);
	CHECK(erltrace_stop(h, &err) < 0);
	CHECK(erltrace_walk(h, NULL, NULL, NULL, &err) < 0);
	CHECK(erltrace_compile(h, "BEGIN { exit(0); }", NULL, &err) == 0);
	CHECK(erltrace_go(h, &err) == 0);
	CHECK(erltrace_go(h, &err) < 0 && strcmp(err.tag, "ET_RUNNING") == 0);
	CHECK(erltrace_compile(h, "END { }", NULL, &err) < 0);
	CHECK(erltrace_setopt(h, "bufsize", "1m", &err) < 0);
	CHECK(erltrace_setopt(h, "aggsortrev", NULL, &err) == 0);
	erltrace_close(h);
	erltrace_close(NULL);
}

static void test_compile_error(void)
{
	erltrace_t *h = erltrace_open(&err);
	erltrace_compile_opts_t o = {.size = sizeof(o), .file = "x.d"};
	char text[2048];

	CHECK(erltrace_compile(h, "BEGIN\n{\n\ttrace(nosuch);\n}\n", &o, &err) < 0);
	CHECK(strcmp(err.tag, "D_IDENT_UNDEF") == 0, "%s", err.tag);
	CHECK(err.line == 3 && err.column == 8, "%d:%d", err.line, err.column);
	CHECK(strcmp(err.file, "x.d") == 0);
	CHECK(strstr(err.source, "trace(nosuch)") != NULL);
	erltrace_error_format(&err, 1, text, sizeof(text));
	CHECK(strstr(text, "\n  \ttrace(nosuch);\n  \t      ^") != NULL, "%s", text);
	/* nothing of the failed script is left: its names can be used anew, with other types */
	CHECK(erltrace_compile(h, "BEGIN { a = 1; b[1] = 2; @c = count(); d(); }", NULL, &err) < 0);
	CHECK(erltrace_compile(
		      h, "BEGIN { a = \"s\"; b = 3; @c[1] = sum(2); exit(0); }", NULL, &err) == 0,
		"%s", err.text);
	erltrace_close(h);
}

static void test_two_scripts_share(void)
{
	erltrace_t *h = compiled("BEGIN { x = 41; }");
	struct out o;

	CHECK(erltrace_compile(h, "END { printf(\"%d\", x + 1); }", NULL, &err) == 0, "%s",
		err.text);
	CHECK(erltrace_go(h, &err) == 0);
	drain(h, &o);
	CHECK(strcmp(o.text, "42\n") == 0, "%s", o.text);
	erltrace_close(h);
}

static void test_arguments(void)
{
	static const char *const argv[] = {"12", "abc"};
	erltrace_compile_opts_t co = {.size = sizeof(co), .argc = 2, .argv = argv};
	erltrace_t *h = erltrace_open(&err);
	struct out o;

	erltrace_setopt(h, "quiet", NULL, &err);
	erltrace_set_target(h, 77);
	CHECK(erltrace_compile(h, "BEGIN { printf(\"%d %s %d\", $1, $$2, $target); exit(0); }", &co,
		      &err) == 0,
		"%s", err.text);
	CHECK(erltrace_go(h, &err) == 0);
	drain(h, &o);
	CHECK(strcmp(o.text, "12 abc 77\n") == 0, "%s", o.text);
	erltrace_close(h);
}

/* The caller's text and arguments may be gone after compiling. */
static void test_arguments_are_copied(void)
{
	char arg[] = "first", text[] = "BEGIN { printf(\"%s\", $$1); exit(0); }";
	const char *const argv[] = {arg};
	erltrace_compile_opts_t co = {.size = sizeof(co), .argc = 1, .argv = argv};
	erltrace_t *h = erltrace_open(&err);
	struct out o;

	erltrace_setopt(h, "quiet", NULL, &err);
	CHECK(erltrace_compile(h, text, &co, &err) == 0, "%s", err.text);
	memset(arg, 'X', sizeof(arg) - 1);
	memset(text, 'X', sizeof(text) - 1);
	CHECK(erltrace_go(h, &err) == 0);
	drain(h, &o);
	CHECK(strcmp(o.text, "first\n") == 0, "%s", o.text);
	erltrace_close(h);
}

/* ---- own probes ------------------------------------------------------------------------ */

static erltrace_probe_t *own_probe(erltrace_t *h)
{
	static const char *const types[] = {"string", "int"};
	erltrace_probe_t *p = erltrace_probe_add(h, "app", "mod", "fn", "call", 2, types, &err);

	CHECK(p != NULL, "%s", err.text);
	return p;
}

static void test_own_probe(void)
{
	erltrace_t *h = erltrace_open(&err);
	erltrace_probe_t *p = own_probe(h);
	erltrace_string_t *s = erltrace_string_new("lists:seq/2");
	uint64_t args[2] = {erltrace_string_arg(s), (uint64_t)-5};
	struct out o;

	CHECK(!erltrace_enabled(p) && erltrace_wanted(p) == 0);
	erltrace_fire(p, args, 2, 1, 0); /* nobody listens: nothing happens */
	erltrace_setopt(h, "quiet", NULL, &err);
	CHECK(erltrace_compile(h,
		      "app:mod:fn:call { printf(\"%s %s %d %s:%s|\", args[0], copyinstr(arg0), "
		      "args[1], probemod, probefunc); }",
		      NULL, &err) == 0,
		"%s", err.text);
	CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
	CHECK(erltrace_enabled(p) && erltrace_wanted(p) == 3, "%u", erltrace_wanted(p));
	erltrace_fire(p, args, 2, 1, 0);
	erltrace_fire(p, args, 2, 1, 9);
	drain(h, &o);
	CHECK(strcmp(o.text,
		      "lists:seq/2 lists:seq/2 -5 mod:fn|lists:seq/2 lists:seq/2 -5 mod:fn|\n") ==
			0,
		"%s", o.text);
	CHECK(o.events == 2 && o.records == 2);
	erltrace_fire(p, args, 2, 1, 0); /* stopped: nothing happens */
	erltrace_close(h);
	erltrace_string_free(s);
}

/* self-> follows the key that the program gives, not the thread. */
static void test_self_key(void)
{
	erltrace_t *h = erltrace_open(&err);
	erltrace_probe_t *p = own_probe(h);
	struct out o;
	uint64_t args[2] = {0, 0};

	erltrace_setopt(h, "quiet", NULL, &err);
	CHECK(erltrace_compile(
		      h, "app:::call { self->n++; printf(\"%d \", self->n); }", NULL, &err) == 0,
		"%s", err.text);
	CHECK(erltrace_wanted(p) == 0);
	CHECK(erltrace_go(h, &err) == 0);
	erltrace_fire(p, args, 2, 0, 100);
	erltrace_fire(p, args, 2, 0, 100);
	erltrace_fire(p, args, 2, 0, 200);
	erltrace_fire(p, args, 2, 0, 100);
	drain(h, &o);
	CHECK(strcmp(o.text, "1 2 1 3 \n") == 0, "%s", o.text);
	erltrace_close(h);
}

#define THREADS 4
#define EACH	200000

static erltrace_probe_t *shared_probe;

static void *fire_each(void *arg)
{
	for (uint64_t i = 0; i < EACH; i++) {
		uint64_t a[2] = {0, i % 10};

		erltrace_fire(shared_probe, a, 2, 0, 0);
	}
	return arg;
}

static int64_t sum_of_values;
static unsigned keys_seen;

static int add_value(void *arg, const erltrace_agg_t *a)
{
	if (arg != NULL && strcmp(arg, a->name) != 0)
		CHECK(false, "%s", a->name);
	sum_of_values += a->value;
	keys_seen++;
	return 0;
}

/* Scalars, associative arrays and aggregations from many threads lose nothing. */
static void test_threads_lose_nothing(void)
{
	erltrace_t *h = erltrace_open(&err);
	pthread_t id[THREADS];
	struct out o;
	char want[128];

	shared_probe = own_probe(h);
	erltrace_setopt(h, "quiet", NULL, &err);
	CHECK(erltrace_compile(h,
		      "int total; short narrow; long by[int];\n"
		      "app:::call { total++; narrow += 2; by[args[1]]++; n += args[1];\n"
		      "	@c[args[1]] = count(); @s = sum(args[1]); }\n"
		      "END { printf(\"%d %d %d %d\", total, narrow, by[3], n); }",
		      NULL, &err) == 0,
		"%s", err.text);
	CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&id[i], NULL, fire_each, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	CHECK(erltrace_snapshot(h, &err) == 0);
	keys_seen = 0, sum_of_values = 0;
	CHECK(erltrace_walk(h, "c", add_value, "c", &err) == 0);
	CHECK(keys_seen == 10 && sum_of_values == THREADS * EACH, "%u %ld", keys_seen,
		(long)sum_of_values);
	keys_seen = 0, sum_of_values = 0;
	erltrace_walk(h, "s", add_value, "s", &err);
	CHECK(sum_of_values == THREADS * EACH / 10 * 45, "%ld", (long)sum_of_values);
	drain(h, &o);
	snprintf(want, sizeof(want), "%d %d %d %d", THREADS * EACH, (short)(THREADS * EACH * 2),
		THREADS * EACH / 10, THREADS * EACH / 10 * 45);
	CHECK(strncmp(o.text, want, strlen(want)) == 0, "%.60s, not %s", o.text, want);
	CHECK(o.drops == 0);
	erltrace_close(h);
}

static void *go(void *h)
{
	erltrace_error_t e;

	CHECK(erltrace_go(h, &e) == 0, "%s", e.text);
	return NULL;
}

/* In a node they are called by any of several threads. */
static void test_end_has_what_begin_left(void)
{
	erltrace_t *h = compiled("BEGIN { self->x = 7; self->y[\"a\"] = 8; }\n"
				 "END { printf(\"%d %d\", self->x, self->y[\"a\"]); }");
	pthread_t id;
	struct out o;

	pthread_create(&id, NULL, go, h);
	pthread_join(id, NULL);
	drain(h, &o);
	CHECK(strncmp(o.text, "7 8", 3) == 0, "%.60s", o.text);
	erltrace_close(h);
}

/* ---- aggregations ---------------------------------------------------------------------- */

static erltrace_agg_t last_agg;
static erltrace_bucket_t last_buckets[8];
static char last_key[64];

static int keep_agg(void *arg, const erltrace_agg_t *a)
{
	(void)arg;
	last_agg = *a;
	for (unsigned i = 0; i < a->nbuckets && i < 8; i++)
		last_buckets[i] = a->buckets[i];
	if (a->nkeys > 0 && a->keys[0].kind == ERLTRACE_STRING)
		snprintf(last_key, sizeof(last_key), "%.*s", (int)a->keys[0].len,
			(const char *)a->keys[0].bytes);
	keys_seen++;
	return 0;
}

static void test_walk(void)
{
	erltrace_t *h = compiled("BEGIN { @q[\"k\", 7] = quantize(10); @q[\"k\", 7] = quantize(-3);"
				 "@l = lquantize(55, 0, 100, 10); @a = avg(3); @a = avg(4);"
				 "@m[-1] = min(-9); @m[-1] = min(4); }");
	struct out o;

	CHECK(erltrace_go(h, &err) == 0);
	erltrace_snapshot(h, &err);
	keys_seen = 0;
	erltrace_walk(h, "q", keep_agg, NULL, &err);
	CHECK(keys_seen == 1 && strcmp(last_agg.function, "quantize") == 0);
	CHECK(last_agg.nkeys == 2 && strcmp(last_key, "k") == 0, "%s", last_key);
	CHECK(last_agg.nbuckets == 2);
	/* -3 is in -4 < v <= -2, 10 in [8, 16) */
	CHECK(last_buckets[0].lo == -3 && last_buckets[0].hi == -1 && last_buckets[0].count == 1,
		"%ld %ld", (long)last_buckets[0].lo, (long)last_buckets[0].hi);
	CHECK(last_buckets[1].lo == 8 && last_buckets[1].hi == 16 && last_buckets[1].count == 1);
	erltrace_walk(h, "l", keep_agg, NULL, &err);
	CHECK(last_agg.nbuckets == 1 && last_buckets[0].lo == 50 && last_buckets[0].hi == 60);
	erltrace_walk(h, "a", keep_agg, NULL, &err);
	CHECK(last_agg.avg == 3.5, "%f", last_agg.avg);
	erltrace_walk(h, "m", keep_agg, NULL, &err);
	CHECK(last_agg.value == -9);
	keys_seen = 0;
	erltrace_walk(h, NULL, keep_agg, NULL, &err);
	CHECK(keys_seen == 4, "%u", keys_seen);
	CHECK(erltrace_clear(h, "m", &err) == 0);
	erltrace_walk(h, "m", keep_agg, NULL, &err);
	CHECK(last_agg.value == 0, "%ld", (long)last_agg.value);
	CHECK(erltrace_trunc(h, NULL, &err) == 0);
	keys_seen = 0;
	erltrace_walk(h, NULL, keep_agg, NULL, &err);
	CHECK(keys_seen == 0);
	CHECK(erltrace_walk(h, "nosuch", keep_agg, NULL, &err) < 0);
	drain(h, &o);
	erltrace_close(h);
}

/* ---- losses and faults ----------------------------------------------------------------- */

static void test_drops_are_told(void)
{
	erltrace_t *h = erltrace_open(&err);
	struct out o;

	shared_probe = own_probe(h);
	erltrace_setopt(h, "quiet", NULL, &err);
	erltrace_setopt(h, "bufsize", "4k", &err);
	CHECK(erltrace_compile(h, "app:::call { trace(args[1]); }", NULL, &err) == 0);
	CHECK(erltrace_go(h, &err) == 0);
	fire_each(NULL);
	drain(h, &o);
	CHECK(strcmp(o.last_drop, "PRINCIPAL") == 0, "%s", o.last_drop);
	CHECK(o.records + o.dropped == EACH, "%u + %lu", o.records, (unsigned long)o.dropped);
	CHECK(o.records > 10);
	erltrace_close(h);
}

static void test_fault(void)
{
	erltrace_t *h = compiled("BEGIN { trace(*(int *)0); } BEGIN { trace(1); }"
				 "ERROR { printf(\"E%d %x\", arg4, arg5); exit(3); }");
	struct out o;
	int code;

	CHECK(erltrace_go(h, &err) == 0);
	drain(h, &o);
	CHECK(o.faults == 1 && strcmp(o.last_fault, "invalid address") == 0, "%s", o.last_fault);
	CHECK(strncmp(o.text, "E1 0", 4) == 0, "%s", o.text);
	erltrace_status(h, &code);
	CHECK(code == 3);
	erltrace_close(h);
}

static void test_destructive_refused(void)
{
	erltrace_t *h = compiled("BEGIN { system(\"true\"); exit(0); }");

	CHECK(erltrace_go(h, &err) < 0 && strcmp(err.tag, "ET_DESTRUCTIVE") == 0, "%s", err.tag);
	CHECK(err.line == 1 && strncmp(err.text, "destructive", 11) == 0, "%d: %s", err.line, err.text);
	erltrace_close(h);
}

/* ---- listing, tables, many handles ----------------------------------------------------- */

static int count_probe(void *arg, const erltrace_probe_info_t *p)
{
	if (strcmp(p->name, "BEGIN") == 0)
		CHECK(p->id == 1 && strcmp(p->provider, "dtrace") == 0);
	++*(int *)arg;
	return 0;
}

static void test_listing(void)
{
	erltrace_t *h = erltrace_open(&err);
	int n = 0;

	CHECK(erltrace_probes(h, "dtrace:::", count_probe, &n, &err) == 3 && n == 3, "%d", n);
	n = 0;
	CHECK(erltrace_probes(h, NULL, count_probe, &n, &err) > 3 && n > 3);
	CHECK(erltrace_probes(h, "nosuch:::", count_probe, &n, &err) == 0);
	CHECK(erltrace_probes(h, "a:b:c:d:e", count_probe, &n, &err) < 0 &&
			strcmp(err.tag, "D_PDESC_INVAL") == 0,
		"%s", err.tag);
	erltrace_close(h);
}

static void test_tables(void)
{
	const char *help = NULL, *meaning = NULL;
	unsigned n = 0;

	while (erltrace_option_name(n, &help) != NULL) {
		CHECK(help != NULL && help[0] != '\0', "%s", erltrace_option_name(n, NULL));
		n++;
	}
	CHECK(n > 60);
	for (n = 0; erltrace_error_tag(n, &meaning) != NULL; n++)
		CHECK(meaning[0] != '\0', "%s", erltrace_error_tag(n, NULL));
	CHECK(n > 200);
	CHECK(strcmp(erltrace_version(), ERLTRACE_VERSION) == 0);
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/* Under a sanitizer memory tells nothing of ours: 0. */
static long resident_pages(void)
{
	long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (__has_feature(address_sanitizer)) {
		fclose(f);
		return 0;
	}
	if (f != NULL && fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (f != NULL)
		fclose(f);
	return resident;
}

/* Open to close leaves nothing, however often. */
static void test_cycles(void)
{
	long before = 0;
	struct out *o = malloc(sizeof(*o));

	for (int i = 0; i < 400; i++) {
		erltrace_t *h = erltrace_open(&err);
		erltrace_handlers_t hs = handlers(o);

		erltrace_compile(h, "BEGIN { self->x[1] = \"a\"; @[1] = quantize(2); exit(0); }",
			NULL, &err);
		if (erltrace_go(h, &err) < 0) {
			CHECK(false, "%s", err.text);
			break;
		}
		while (erltrace_work(h, &hs, &err) == ERLTRACE_OK)
			;
		erltrace_close(h);
		if (i == 50)
			before = resident_pages();
	}
	CHECK(resident_pages() - before < 256, "%ld pages more", resident_pages() - before);
	free(o);
}

static int count_agg(void *arg, const erltrace_agg_t *a)
{
	*(int64_t *)arg += a->value;
	return 0;
}

/*
 * Two million distinct keys: memory stays within the configured sizes, what finds no room is
 * counted, and everything is given back.
 */
static void test_memory_is_bounded(void)
{
	const uint64_t keys = 2000000;
	erltrace_t *h = erltrace_open(&err);
	struct out *o = malloc(sizeof(*o));
	erltrace_handlers_t hs = handlers(o);
	erltrace_probe_t *p = own_probe(h);
	long before = resident_pages(), most = 0;
	int64_t counted = 0;

	hs.text = NULL;
	erltrace_setopt(h, "aggsize", "1m", &err);
	erltrace_setopt(h, "aggmax", "8m", &err);
	CHECK(erltrace_compile(h, "app:::call { @[arg1] = count(); }", NULL, &err) == 0);
	CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
	for (uint64_t i = 0; i < keys; i++) {
		uint64_t a[2] = {0, i * 7919};

		erltrace_fire(p, a, 2, 0, 0);
		if (i % 5000 == 0) {
			erltrace_work(h, &hs, &err);
			if (resident_pages() > most)
				most = resident_pages();
		}
	}
	erltrace_stop(h, &err);
	erltrace_snapshot(h, &err);
	erltrace_walk(h, NULL, count_agg, &counted, &err);
	while (erltrace_work(h, &hs, &err) == ERLTRACE_OK)
		;
	CHECK(counted > 10000 && o->dropped > 0);
	CHECK((uint64_t)counted + o->dropped == keys, "%ld + %lu", (long)counted,
		(unsigned long)o->dropped);
	/* two tables of 1 MB, 8 MB merged, 64 KiB of trace buffer, 5 % and a megabyte of code */
	CHECK((most - before) * 4 < (8192 + 2048 + 64) * 105 / 100 + 1024, "%ld KiB",
		(most - before) * 4);
	erltrace_close(h);
	CHECK(resident_pages() - before < 512, "%ld pages kept", resident_pages() - before);
	free(o);
}

struct changes {
	unsigned shapes, ticks, keys;
	int64_t hits, sum;
	uint64_t count, fired;
	int64_t most; /* keys that are taken by one call */
	bool ok;
};

static int on_shapes(void *arg, const erltrace_shape_t *s, unsigned n)
{
	struct changes *c = arg;

	c->shapes++;
	c->ok = n == 4 && strcmp(s[0].name, "hits") == 0 && strcmp(s[0].function, "count") == 0 &&
		s[0].nkeys == 1 && s[0].metric != NULL &&
		strcmp(s[0].metric->name, "requests") == 0 && s[0].metric->unit == NULL &&
		s[0].metric->nlabels == 1 && strcmp(s[0].metric->labels[0], "kind") == 0 &&
		s[1].nkeys == 0 && s[1].metric == NULL && s[2].nparams == 3 &&
		s[2].params[0] == -10 && s[2].params[1] == 10 && s[2].params[2] == 5 &&
		s[3].npercents == 2 && s[3].percents[1] == 99.9;
	return 0;
}

static int on_tick(void *arg, const erltrace_tick_t *tick)
{
	struct changes *c = arg;

	c->ticks++;
	c->fired = tick->fired;
	c->ok = c->ok && tick->time > 1500000000000 && tick->cost < 0;
	return 0;
}

static int on_change(void *arg, const erltrace_agg_t *a)
{
	struct changes *c = arg;

	c->keys++;
	if (strcmp(a->name, "hits") == 0)
		c->hits += a->value; /* not normalized */
	c->sum += a->sum;
	c->count += a->count;
	return c->keys == c->most ? 7 : 0;
}

/* What came since the last call, not normalized; what a handler does not take comes later. */
static void test_changes(void)
{
	erltrace_t *h = erltrace_open(&err);
	erltrace_probe_t *p = erltrace_probe_add(h, "app", "m", "f", "hit", 1, NULL, &err);
	struct changes c = {.most = -1};
	const erltrace_change_handlers_t to = {.size = sizeof(to),
		.arg = &c,
		.shapes = on_shapes,
		.tick = on_tick,
		.change = on_change};
	struct out o;

	CHECK(erltrace_changes(h, &to, &err) == -1 && c.shapes == 0);
	CHECK(erltrace_compile(h,
		      "#pragma D metric @hits name=requests labels=kind\n"
		      "app:::hit { @hits[arg0] = count(); @mean = avg(arg0);"
		      " @l = lquantize(arg0, -10, 10, 5); @p = percentile(arg0, 50, 99.9);"
		      " normalize(@hits, 3); }",
		      NULL, &err) == 0,
		"%s", err.text);
	CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
	CHECK(erltrace_changes(h, &to, &err) == 0 && c.ok && c.shapes == 1 && c.keys == 0);
	for (uint64_t i = 0; i < 12; i++)
		erltrace_fire(p, &i, 1, 0, 0);
	CHECK(erltrace_changes(h, &to, &err) == 0 && c.ok && c.shapes == 1 && c.ticks == 2);
	CHECK(c.keys == 15 && c.hits == 12 && c.sum == 66 && c.count == 12 && c.fired == 12,
		"%u %lld", c.keys, (long long)c.hits);
	for (uint64_t i = 0; i < 12; i++)
		erltrace_fire(p, &i, 1, 0, 0);
	c.most = 20;
	CHECK(erltrace_changes(h, &to, &err) == 7 && c.keys == 20);
	CHECK(erltrace_changes(h, &to, &err) == 0 && c.keys == 30 && c.hits == 24 && c.ticks == 4);
	drain(h, &o);
	erltrace_close(h);
}

struct taken {
	char why[64], alert[64];
};

static int on_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	struct taken *t = arg;

	snprintf(t->why, sizeof(t->why), "%s", s->why);
	snprintf(t->alert, sizeof(t->alert), "%s", s->alert != NULL ? s->alert : "none");
	return 0;
}

/* a_snapshot_says_whether_an_alert_wanted_it: its name may be any text. */
static void test_alert_of_snapshot(void)
{
	static const struct taken wanted[] = {
		{"alert Slow", "Slow"}, {"alert Slow", "none"}, {"signal", "none"}};
	static const char *const scripts[] = {"BEGIN { alert(\"Slow\", \"%d\", 1); }",
		"BEGIN { snapshot(\"alert Slow\"); }", "BEGIN { }"};
	struct taken t = {"", ""};
	erltrace_handlers_t hs = {.size = sizeof(hs), .arg = &t, .snapshot = on_snapshot};

	for (int i = 0; i < 3; i++) {
		erltrace_t *h = erltrace_open(&err);

		erltrace_setopt(h, "bufpolicy", "ring", &err);
		erltrace_setopt(h, "snapshotdir", "-", &err);
		CHECK(erltrace_compile(h, scripts[i], NULL, &err) == 0, "%s", err.text);
		CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
		CHECK(erltrace_work(h, &hs, &err) == ERLTRACE_OK, "%s", err.text);
		if (i == 2)
			CHECK(erltrace_take_snapshot(h, "signal", &hs, &err) == 0, "%s", err.text);
		CHECK(strcmp(t.why, wanted[i].why) == 0 && strcmp(t.alert, wanted[i].alert) == 0,
			"%s, %s", t.why, t.alert);
		erltrace_close(h);
	}
}

/* A child of fork() has no timer threads to wait for. */
static void test_close_after_fork(void)
{
	erltrace_t *h = compiled("tick-1ms { @ = count(); }");
	struct out o;
	int status = -1;
	pid_t child;

	CHECK(erltrace_go(h, &err) == 0, "%s", err.text);
	erltrace_sleep(h);
	child = fork();
	if (child == 0) {
		alarm(100);
		erltrace_close(h);
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "status %x", status);
	drain(h, &o);
	erltrace_close(h);
}

int main(void)
{
	test_hello();
	test_wrong_order();
	test_compile_error();
	test_two_scripts_share();
	test_arguments();
	test_arguments_are_copied();
	test_own_probe();
	test_self_key();
	test_threads_lose_nothing();
	test_end_has_what_begin_left();
	test_walk();
	test_changes();
	test_drops_are_told();
	test_fault();
	test_destructive_refused();
	test_listing();
	test_tables();
	test_alert_of_snapshot();
	test_close_after_fork();
	test_cycles();
	test_memory_is_bounded();
	return finish();
}
