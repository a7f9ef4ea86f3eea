/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Percentiles, against sorted lists: every bucket has the values it says, the value that is printed
 * is within 1/64 of the one at the nearest rank, and histograms that are merged equal that of all
 * values. Then the same of the whole way: threads that fire while their tables are taken, a second
 * engine whose results are handed on, with compiled and interpreted clauses.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "stream/writer.h"
#include "checks.h"
#include "prog/hist.h"

#define CASES	3000
#define MOST	2000 /* values of a case */
#define THREADS 3
#define KEYS	5
#define FIRINGS 20000 /* of each thread */

static uint64_t rnd = 88172645463325252u;

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Of every size, with ties, and the ends of 64 bits. */
static int64_t value(uint64_t *state, unsigned shape)
{
	static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -64, -63, -1, 0, 1, 63, 64, 65,
		INT64_MAX - 1, INT64_MAX};
	uint64_t v = next(state);

	switch (shape % 5) {
	case 0: return (int64_t)(v % 100) - 20;
	case 1: return (int64_t)(v >> next(state) % 64);		/* any size */
	case 2: return 1000000 + (int64_t)(v % 300000);			/* latencies */
	case 3: return (int64_t)(v % 1000 == 0 ? v >> 20 : v % 5000); /* and few that are long */
	default: return ends[v % (sizeof(ends) / sizeof(*ends))];
	}
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The value at the nearest rank of sorted ones. */
static int64_t exact(const int64_t *sorted, size_t n, uint32_t percent)
{
	unsigned __int128 all = 100 * (unsigned __int128)PERCENT;

	return sorted[(size_t)((n * (unsigned __int128)percent + all - 1) / all) - 1];
}

static bool is_near(int64_t got, int64_t want)
{
	__int128 off = (__int128)got - want, size = want;

	off = off < 0 ? -off : off;
	return 64 * off <= (size < 0 ? -size : size);
}

/* ---- histograms ------------------------------------------------------------------------ */

static void test_each_value_has_one_bucket(void)
{
	int64_t lo, hi, before = INT64_MIN;
	unsigned b, i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		b = hist_ascending(i);
		if (b % (HIST_BUCKETS / 2) > 1888 || b == 1888)
			continue; /* beyond 2^63, or 2^63 itself, which is only negative */
		if (b == HIST_BUCKETS / 2)
			continue; /* 0 is positive */
		hist_bounds(b, &lo, &hi);
		CHECK(lo == before, "bucket %u begins at %lld", b, (long long)lo);
		CHECK(hist_bucket(lo) == b, "%lld", (long long)lo);
		CHECK(hist_bucket(hi - 1) == b, "%lld", (long long)hi - 1);
		before = hi;
	}
	CHECK(before == INT64_MAX);
	CHECK(hist_bucket(INT64_MAX) == 1887);
}

static struct hist *make(void)
{
	struct hist *h = malloc(sizeof(*h));

	hist_init(h);
	for (unsigned g = 0; g < HIST_GROUPS; g++)
		h->group[g] = calloc(HIST_GROUP, sizeof(uint64_t));
	return h;
}

static void unmake(struct hist *h)
{
	for (unsigned g = 0; g < HIST_GROUPS; g++)
		free(h->group[g]);
	free(h);
}

static void add(struct hist *h, int64_t v)
{
	unsigned b = hist_bucket(v);

	h->group[b / HIST_GROUP][b % HIST_GROUP]++;
	h->min = v < h->min ? v : h->min;
	h->max = v > h->max ? v : h->max;
}

static bool equal(const struct hist *x, const struct hist *y)
{
	bool same = x->min == y->min && x->max == y->max;

	for (unsigned b = 0; b < HIST_BUCKETS; b++)
		same &= hist_at(x, b) == hist_at(y, b);
	return same;
}

static void check_percentile(const struct hist *h, const int64_t *v, size_t n, uint32_t percent)
{
	int64_t got = hist_percentile(h, percent), want = exact(v, n, percent);

	CHECK(is_near(got, want) && got >= v[0] && got <= v[n - 1],
		"%u millionths of %zu values: %lld, not %lld", percent, n, (long long)got,
		(long long)want);
}

static void test_random_values(void)
{
	static int64_t v[MOST];

	for (unsigned i = 0; i < CASES; i++) {
		struct hist *all = make(), *one = make(), *other = make();
		size_t n = 1 + next(&rnd) % (i % 2 ? 10 : MOST);

		for (size_t k = 0; k < n; k++) {
			v[k] = value(&rnd, i);
			add(all, v[k]);
			add(next(&rnd) % 3 ? one : other, v[k]);
		}
		hist_merge(one, other);
		CHECK(equal(one, all));
		CHECK(hist_count(all) == n);
		qsort(v, n, sizeof(*v), by_value);
		CHECK(hist_percentile(all, 1) == v[0]);
		CHECK(hist_percentile(all, 100 * PERCENT) == v[n - 1]);
		for (unsigned k = 0; k < 20; k++)
			check_percentile(all, v, n, 1 + (uint32_t)(next(&rnd) % (100 * PERCENT)));
		unmake(all), unmake(one), unmake(other);
	}
}

static void test_percent_text(void)
{
	static const struct {
		uint32_t percent;
		const char *text;
	} cases[] = {{1, "0.000001"}, {50 * PERCENT, "50"}, {99900000, "99.9"},
		{100 * PERCENT, "100"}, {10 * PERCENT, "10"}};
	char text[PERCENT_TEXT];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		hist_percent_text(cases[i].percent, text);
		ok(strcmp(text, cases[i].text) == 0, cases[i].text, text);
	}
}

/* ---- engines --------------------------------------------------------------------------- */

struct engine {
	erltrace_t *h;
	erltrace_probe_t *probe;
	_Atomic unsigned running;
};
struct thread {
	struct engine *engine;
	uint64_t rnd;
	int64_t v[KEYS][FIRINGS];
	size_t n[KEYS];
};
static struct thread threads[2 * THREADS];

static void *firing(void *arg)
{
	struct thread *t = arg;

	for (unsigned i = 0; i < FIRINGS; i++) {
		unsigned key = (unsigned)(next(&t->rnd) % KEYS);
		int64_t v = value(&t->rnd, key);
		uint64_t args[10] = {key, (uint64_t)v};

		t->v[key][t->n[key]++] = v;
		erltrace_fire(t->engine->probe, args, 2, 0, 0);
	}
	t->engine->running--;
	return NULL;
}

static void begin(struct engine *e, const char *jit)
{
	static const char *const types[] = {"int64_t", "int64_t"};
	erltrace_error_t err = {.tag = ""};

	e->h = erltrace_open(&err);
	if (e->h == NULL || erltrace_setopt(e->h, "jit", jit, &err) < 0 ||
		(e->probe = erltrace_probe_add(e->h, "t", "", "", "p", 2, types, &err)) == NULL ||
		erltrace_compile(e->h,
			"t:::p { @[arg0] = percentile(arg1, 0.5, 25, 50, 90, 99, 99.9, 99.999, "
			"100); }",
			NULL, &err) < 0 ||
		erltrace_go(e->h, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

static int text(void *arg, const char *s, size_t len)
{
	(void)arg, (void)s, (void)len;
	return 0;
}

static int check_key(void *arg, const erltrace_agg_t *a)
{
	static int64_t v[2 * THREADS * FIRINGS];
	size_t n = 0, key = (size_t)a->keys[0].i;
	int64_t count = 0;

	++*(unsigned *)arg;
	for (unsigned i = 0; i < 2 * THREADS; i++) {
		memcpy(v + n, threads[i].v[key], threads[i].n[key] * sizeof(*v));
		n += threads[i].n[key];
	}
	qsort(v, n, sizeof(*v), by_value);
	for (unsigned i = 0; i < a->nbuckets; i++)
		count += a->buckets[i].count;
	CHECK((size_t)count == n, "key %zu: %lld of %zu values", key, (long long)count, n);
	CHECK(a->npercentiles == 8);
	for (unsigned i = 0; i < a->npercentiles; i++) {
		double percent = a->percentiles[i].percent;
		int64_t want = exact(v, n, (uint32_t)(percent * PERCENT + 0.5));

		CHECK(is_near(a->percentiles[i].value, want), "key %zu: p%g is %lld, not %lld", key,
			percent, (long long)a->percentiles[i].value, (long long)want);
	}
	return 0;
}

/* What an engine has, to a reader. */
static void stream(erltrace_t *h, erltrace_t *r, unsigned n)
{
	struct sw_round round = {.most = 100000, .every = 1};
	erltrace_error_t err;
	char *bytes;
	size_t len;
	int rc;

	erltrace_stop(h, &err);
	do {
		rc = api_forward(h, "", &round, NULL, &bytes, &len, &err);
		CHECK(rc >= 0 && erltrace_feed(r, n, bytes, len, &err) == 0, "%s", err.text);
		free(bytes);
	} while (rc >= 0 && rc != ERLTRACE_DONE);
}

static void test_threads_and_engines(const char *jit)
{
	erltrace_handlers_t handlers = {.size = sizeof(handlers), .text = text};
	struct engine e[2] = {{.running = THREADS}, {.running = THREADS}};
	pthread_t t[2 * THREADS];
	erltrace_error_t err;
	erltrace_t *r = erltrace_reader(2, &err);
	unsigned keys = 0;

	begin(&e[0], jit);
	begin(&e[1], jit);
	memset(threads, 0, sizeof(threads));
	for (unsigned i = 0; i < 2 * THREADS; i++) {
		threads[i].engine = &e[i % 2];
		threads[i].rnd = next(&rnd);
		pthread_create(&t[i], NULL, firing, &threads[i]);
	}
	while (e[0].running + e[1].running > 0) /* tables are swapped while they are filled */
		for (unsigned i = 0; i < 2; i++)
			erltrace_snapshot(e[i].h, &err);
	for (unsigned i = 0; i < 2 * THREADS; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < 2; i++)
		stream(e[i].h, r, i);
	while (erltrace_work(r, &handlers, &err) == ERLTRACE_OK)
		;
	erltrace_walk(r, NULL, check_key, &keys, &err);
	CHECK(keys == KEYS, "%u keys", keys);
	erltrace_close(e[0].h);
	erltrace_close(e[1].h);
	erltrace_close(r);
}

int main(void)
{
	test_each_value_has_one_bucket();
	test_percent_text();
	test_random_values();
	test_threads_and_engines("on");
	test_threads_and_engines("off");
	return finish();
}
