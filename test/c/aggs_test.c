/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the consumer: aggregations, their layout and order, printa(), and what acts on them.
 */
#include "consume_env.h"

/* ---- distributions ------------------------------------------------------------------------ */

static void test_quantize(void)
{
	unsigned q;

	reset("quantize");
	opt("quiet", NULL);
	q = add_agg("_", AGG_QUANTIZE, keys2, 2);
	key_str("a"), key_int(1);
	give_dist(q, 10, 1);
	key_str("a"), key_int(1);
	give_dist(q, 100, 1);
	CHECK(work(true), "\n"
			  "  a                                                         1\n"
			  "           value  ------------- Distribution ------------- count    \n"
			  "               4 |                                         0        \n"
			  "               8 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
			  "              16 |                                         0        \n"
			  "              32 |                                         0        \n"
			  "              64 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
			  "             128 |                                         0        \n"
			  "\n");

	reset("quantize, around zero");
	opt("quiet", NULL);
	q = add_agg("_", AGG_QUANTIZE, NULL, 0);
	give_dist(q, -3, 1);
	give_dist(q, -1, 1);
	give_dist(q, 0, 2);
	CHECK(printa1(NULL, q),
		"\n\n"
		"           value  ------------- Distribution ------------- count    \n"
		"              -4 |                                         0        \n"
		"              -2 |@@@@@@@@@@                               1        \n"
		"              -1 |@@@@@@@@@@                               1        \n"
		"               0 |@@@@@@@@@@@@@@@@@@@@                     2        \n"
		"               1 |                                         0        \n"
		"\n");
	CHECK(work(true), "\n"); /* printed already */

	reset("quantize, counts of both signs");
	opt("quiet", NULL);
	q = add_agg("_", AGG_QUANTIZE, NULL, 0);
	give_dist(q, 1, -1);
	give_dist(q, 2, 3);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"               0                     |                     0        \n"
		"               1                @@@@@|                     -1       \n"
		"               2                     |@@@@@@@@@@@@@@@      3        \n"
		"               4                     |                     0        \n");
	give_dist(q, 2, -3);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"               0                                         | 0        \n"
		"               1 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -1       \n"
		"               2                                         | 0        \n");
	give_dist(q, 1, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"              -1 |                                         0        \n"
		"               0 |                                         0        \n"
		"               1 |                                         0        \n");

	reset("quantize, the ends of 64 bits");
	opt("quiet", NULL);
	q = add_agg("_", AGG_QUANTIZE, NULL, 0);
	give_dist(q, INT64_MIN, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"-4611686018427387904 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
		"-2305843009213693952 |                                         0        \n");
}

static void test_lquantize(void)
{
	unsigned q;

	reset("lquantize");
	opt("quiet", NULL);
	q = add_agg("_", AGG_LQUANTIZE, NULL, 0);
	w.agg[q].param[0] = (uint64_t)-10;
	w.agg[q].param[1] = 10;
	w.agg[q].param[2] = 5;
	give_dist(q, -100, 1);
	give_dist(q, 3, 2);
	give_dist(q, 10, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"           < -10 |@@@@@@@@@@                               1        \n"
		"             -10 |                                         0        \n"
		"              -5 |                                         0        \n"
		"               0 |@@@@@@@@@@@@@@@@@@@@                     2        \n"
		"               5 |                                         0        \n"
		"           >= 10 |@@@@@@@@@@                               1        \n");
	agg_do(ACT_NORMALIZE, q, 2);
	agg_do(ACT_CLEAR, q, INT64_MIN);
	give_dist(q, 7, 8);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"               0 |                                         0        \n"
		"               5 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 4        \n"
		"           >= 10 |                                         0        \n");
	agg_do(ACT_CLEAR, q, INT64_MIN);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"           < -10 |                                         0        \n"
		"             -10 |                                         0        \n"
		"              -5 |                                         0        \n");
}

static void test_llquantize(void)
{
	unsigned q;

	reset("llquantize");
	opt("quiet", NULL);
	q = add_agg("_", AGG_LLQUANTIZE, NULL, 0);
	w.agg[q].param[0] = 10;
	w.agg[q].param[1] = 1;
	w.agg[q].param[2] = 2;
	w.agg[q].param[3] = 10;
	w.agg[q].nbuckets = aggfn_nbuckets(&w.agg[q]);
	give_dist(q, 3, 1);
	give_dist(q, 35, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"             -10 |                                         0        \n"
		"      abs() < 10 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"              10 |                                         0        \n"
		"              20 |                                         0        \n"
		"              30 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"              40 |                                         0        \n");
	agg_do(ACT_TRUNC, q, INT64_MIN);
	give_dist(q, 15, 1);
	give_dist(q, 5000, 1);
	CHECK(printa1("%@d", q) + strlen("\n           value  ------------- Distribution "
					 "------------- count    \n"),
		"            < 10 |                                         0        \n"
		"              10 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"              20 |                                         0        \n"
		"              30 |                                         0        \n"
		"              40 |                                         0        \n"
		"              50 |                                         0        \n"
		"              60 |                                         0        \n"
		"              70 |                                         0        \n"
		"              80 |                                         0        \n"
		"              90 |                                         0        \n"
		"             100 |                                         0        \n"
		"             200 |                                         0        \n"
		"             300 |                                         0        \n"
		"             400 |                                         0        \n"
		"             500 |                                         0        \n"
		"             600 |                                         0        \n"
		"             700 |                                         0        \n"
		"             800 |                                         0        \n"
		"             900 |                                         0        \n"
		"         >= 1000 |@@@@@@@@@@@@@@@@@@@@                     1        \n");
	agg_do(ACT_TRUNC, q, INT64_MIN);
	give_dist(q, -5000, 1);
	give_dist(q, -950, 1);
	CHECK(printa1("%@d", q),
		"\n"
		"           value  ------------- Distribution ------------- count    \n"
		"        <= -1000 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"            -900 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
		"            -800 |                                         0        \n");
}

static void test_packed(void)
{
	static struct prog_val k1[1] = {{.kind = V_STR}};
	unsigned c, q, l;

	reset("agghist, aggpack, aggzoom");
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "xterm", 1);
	opt("quiet", NULL);
	opt("agghist", NULL);
	opt("aggpack", NULL);
	c = add_agg("c", AGG_COUNT, k1, 1);
	q = add_agg("q", AGG_QUANTIZE, k1, 1);
	l = add_agg("l", AGG_LQUANTIZE, NULL, 0);
	w.agg[l].param[1] = 4;
	w.agg[l].param[2] = 1;
	key_str("x"), give(c, 1);
	key_str("yy"), give(c, 3);
	CHECK(printa1(NULL, c),
		"\n\n"
		"              key  ------------- Distribution ------------- count    \n"
		"                x |@@@@@@@@@@                               1        \n"
		"               yy |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n");
	opt("aggzoom", NULL);
	CHECK(printa1(NULL, c),
		"\n\n"
		"              key  ------------- Distribution ------------- count    \n"
		"                x |@@@@@@@@@@@@@                            1        \n"
		"               yy |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 3        \n");
	opt("aggzoom", "0");
	key_str("x"), give_dist(q, 8, 4);
	key_str("x"), give_dist(q, 4, 4);
	key_str("y"), give_dist(q, 16, 1);
	CHECK(printa1(NULL, q), "\n\n"
				"              key min .-----. max | count\n"
				"                y   2 :   \xe2\x96\x88 : 32  | 1\n"
				"                x   2 : \xe2\x96\x85\xe2\x96\x85  : 32  | 8\n");
	setenv("LC_ALL", "C", 1);
	give_dist(l, 2, 1);
	give_dist(l, 3, 1);
	CHECK(printa1(NULL, l), "\n\n"
				"     min .------. max      | count\n"
				"     < 0 :   xx : >= 4     | 2\n");
}

static void test_printa(void)
{
	static struct prog_val k1[1] = {{.kind = V_STR}};
	uint16_t both[3];
	unsigned x, y, z;

	reset("printa");
	opt("quiet", NULL);
	x = add_agg("x", AGG_COUNT, k1, 1);
	y = add_agg("y", AGG_AVG, k1, 1);
	z = add_agg("z", AGG_STDDEV, NULL, 0);
	key_str("one"), give(x, 1);
	key_str("two"), give(x, 2);
	key_str("two"), give(y, 10);
	key_str("two"), give(y, -20);
	key_str("three"), give(y, 7);
	both[0] = (uint16_t)x;
	both[1] = (uint16_t)y;
	both[2] = (uint16_t)y;
	CHECK(printa1(NULL, x),
		"\n"
		"  one                                                               1\n"
		"  two                                                               2\n");
	CHECK(printa1("%-5s|%@5d|\n", x), "one  |    1|\ntwo  |    2|\n");
	CHECK(printa1("%@d %@x\n", x), "1 1\n2 2\n");
	CHECK(agg_act(ACT_PRINTA, NULL, 2, both, INT64_MIN),
		"\n"
		"  three                                                             0"
		"                7\n"
		"  one                                                               1"
		"                0\n"
		"  two                                                               2"
		"               -5\n");
	CHECK(agg_act(ACT_PRINTA, "%s %@d %@d %@d\n", 3, both, INT64_MIN),
		"three 0 7 7\none 1 0 0\ntwo 2 -5 -5\n");
	opt("aggsortpos", "1");
	CHECK(agg_act(ACT_PRINTA, "%s %@d %@d\n", 2, both, INT64_MIN),
		"two 2 -5\none 1 0\nthree 0 7\n");
	opt("aggsortkey", NULL);
	CHECK(agg_act(ACT_PRINTA, "%s ", 2, both, INT64_MIN), "one three two ");
	opt("aggsortrev", NULL);
	CHECK(agg_act(ACT_PRINTA, "%s ", 2, both, INT64_MIN), "two three one ");
	/* Deviation of 2, 4, 4, 4, 5, 5, 7, 9 is 2. */
	give(z, 2), give(z, 4), give(z, 4), give(z, 4);
	give(z, 5), give(z, 5), give(z, 7), give(z, 9);
	CHECK(printa1("%@d", z), "2");
	agg_do(ACT_CLEAR, z, INT64_MIN);
	CHECK(printa1("%@d", z), "0");
	/* A printa() of nothing does not count as printed. */
	x = add_agg("late", AGG_MIN, NULL, 0);
	CHECK(printa1(NULL, x), "\n");
	give(x, -7);
	CHECK(work(true), "\n               -7\n");
}

static void test_agg_actions(void)
{
	static struct prog_val k1[1] = {{.kind = V_INT, .size = 8, .is_signed = true}};
	unsigned x, m, i;

	reset("clear, trunc, normalize");
	opt("quiet", NULL);
	x = add_agg("x", AGG_SUM, k1, 1);
	m = add_agg("m", AGG_MIN, NULL, 0);
	for (i = 0; i < 5; i++)
		key_int(i), give(x, (int64_t)(i * 7 % 5) - 2);
	give(m, 5);
	/* Values by key: 0 -2, 1 0, 2 2, 3 -1, 4 1. */
	CHECK(printa1("%d:%@d ", x), "0:-2 3:-1 1:0 4:1 2:2 ");
	CHECK(printa1("%@d", m), "5");
	agg_do(ACT_CLEAR, m, INT64_MIN);
	CHECK(printa1("%@d", m), "0");
	give(m, 9);
	CHECK(printa1("%@d", m), "9");
	agg_do(ACT_TRUNC, x, 3);
	CHECK(printa1("%d:%@d ", x), "1:0 4:1 2:2 ");
	agg_do(ACT_TRUNC, x, -2);
	CHECK(printa1("%d:%@d ", x), "1:0 4:1 ");
	agg_do(ACT_TRUNC, x, INT64_MIN + 1);
	CHECK(printa1("%d:%@d ", x), "1:0 4:1 ");
	key_int(4), give(x, 99);
	work(false);
	agg_do(ACT_NORMALIZE, x, 10);
	CHECK(printa1("%d:%@d ", x), "1:0 4:10 ");
	agg_do(ACT_NORMALIZE, x, 0); /* nobody divides by it */
	agg_do(ACT_DENORMALIZE, x, INT64_MIN);
	CHECK(printa1("%d:%@d ", x), "1:0 4:100 ");
	agg_do(ACT_CLEAR, x, INT64_MIN);
	CHECK(printa1("%d:%@d ", x), "1:0 4:0 ");
	agg_do(ACT_TRUNC, x, INT64_MIN);
	CHECK(printa1("%d:%@d ", x), "");
	CHECK_TRUE(co_clear(w.co, "nobody") != 0 && co_trunc(w.co, NULL) == 0);
}

static void test_percpu(void)
{
	uint64_t two = 2, three = 3;
	unsigned x;

	reset("aggpercpu");
	opt("quiet", NULL);
	opt("aggpercpu", NULL);
	x = add_agg("x", AGG_COUNT, NULL, 0);
	give_data(1, x, &two);
	give_data(0, x, &three);
	CHECK(work(true), "\n                5\n    [CPU 0]                3\n    [CPU 1]"
			  "                2\n");
}

static void test_aggmax(void)
{
	static struct prog_val k1[1] = {{.kind = V_INT, .size = 8}};
	unsigned x, i, n = 20000;
	struct ag *ag;

	reset("aggmax");
	opt("quiet", NULL);
	opt("aggmax", "64k");
	x = add_agg("x", AGG_COUNT, k1, 1);
	for (i = 0; i < n; i++)
		key_int(i), give(x, 1);
	for (i = 0; i < 100; i++)
		key_int(0), give(x, 1);
	w.drop_text.len = 0;
	co_snapshot(w.co);
	ag = w.co->ag;
	CHECK_TRUE(ag->mem <= 65536 + 256 && ag->n > 100);
	CHECK_TRUE(ag->n + ag_drops(ag) == n);
	work(true);
	CHECK_TRUE(strstr(cstr(&w.drop_text), "aggregation drops of the merged table") != NULL);
	co_trunc(w.co, NULL);
	CHECK_TRUE(ag->n == 0 && ag->mem == ag->ntab * sizeof(void *));
}

/* Random rows against a plain model sorted by the rules as they are written. */
struct model {
	int64_t v, k1;
	char k0[4];
};
static unsigned sort_how;

static int model_cmp(const void *p, const void *q)
{
	const struct model *x = p, *y = q;
	int v = (x->v > y->v) - (x->v < y->v), s = strcmp(x->k0, y->k0);
	int i = (x->k1 > y->k1) - (x->k1 < y->k1), c;
	int k = sort_how & 4 ? (i ? i : s) : (s ? s : i);

	c = sort_how & 1 ? (k ? k : v) : (v ? v : k);
	return sort_how & 2 ? -c : c;
}

static void test_sorting(void)
{
	struct model rows[200];
	struct co_buf want = {0};
	unsigned x, i, j, n, round;

	for (round = 0; round < 64; round++) {
		reset("sorting");
		opt("quiet", NULL);
		sort_how = round & 7;
		opt("aggsortkey", sort_how & 1 ? "1" : "0");
		opt("aggsortrev", sort_how & 2 ? "1" : "0");
		opt("aggsortkeypos", sort_how & 4 ? "1" : "0");
		x = add_agg("x", round & 8 ? AGG_QUANTIZE : AGG_SUM, keys2, 2);
		for (i = n = 0; i < 200; i++) {
			struct model m = {.v = rand() % 21 - 10, .k1 = rand() % 7 - 3};

			snprintf(m.k0, sizeof(m.k0), "%c%c", 'a' + rand() % 3, 'a' + rand() % 3);
			for (j = 0; j < n; j++)
				if (strcmp(rows[j].k0, m.k0) == 0 && rows[j].k1 == m.k1)
					break;
			if (j < n)
				continue;
			if (round & 8 && m.v != 0) /* the bucket's bound is what sorts */
				m.v = di_label(&w.agg[x], aggfn_quantize(m.v));
			rows[n++] = m;
			key_str(m.k0), key_int(m.k1);
			if (round & 8)
				give_dist(x, m.v, 1);
			else
				give(x, m.v);
		}
		qsort(rows, n, sizeof(rows[0]), model_cmp);
		want.len = 0;
		for (i = 0; i < n; i++)
			cb_fmt(&want, "%s/%d ", rows[i].k0, (int)rows[i].k1);
		CHECK(printa1("%s/%d ", x), cstr(&want));
	}
	cb_free(&want);
}

static int got_agg(void *arg, const erltrace_agg_t *g)
{
	struct co_buf *b = arg;
	unsigned i;

	cb_fmt(b, "%s %s [", g->name, g->function);
	for (i = 0; i < g->nkeys; i++) {
		if (g->keys[i].kind == ERLTRACE_STRING)
			cb_fmt(b, "%.*s,", (int)g->keys[i].len, (const char *)g->keys[i].bytes);
		else
			cb_fmt(b, "%lld,", (long long)g->keys[i].i);
	}
	cb_fmt(b, "] %lld %.3f", (long long)g->value, g->avg);
	for (i = 0; i < g->nbuckets; i++)
		cb_fmt(b, " %lld..%lld=%lld", (long long)g->buckets[i].lo,
			(long long)g->buckets[i].hi, (long long)g->buckets[i].count);
	cb_str(b, "\n");
	return 0;
}

static void test_walk(void)
{
	struct co_buf b = {0};
	unsigned x, y, z;

	reset("walk");
	x = add_agg("x", AGG_AVG, keys2, 2);
	y = add_agg("y", AGG_QUANTIZE, NULL, 0);
	z = add_agg("z", AGG_STDDEV, NULL, 0);
	key_str("k"), key_int(-4), give(x, 1);
	key_str("k"), key_int(-4), give(x, 2);
	give_dist(y, -5, 1);
	give_dist(y, 0, 2);
	give_dist(y, 5, 3);
	give(z, 1), give(z, 2);
	co_snapshot(w.co);
	CHECK_TRUE(co_walk(w.co, NULL, got_agg, &b) == 0);
	CHECK(cstr(&b), "x avg [k,-4,] 1 1.500\n"
			"y quantize [] 0 0.000 -7..-3=1 0..1=2 4..8=3\n"
			"z stddev [] 1 0.500\n");
	CHECK_TRUE(co_walk(w.co, "z", got_agg, &b) == 0);
	CHECK(cstr(&b), "z stddev [] 1 0.500\n");
	CHECK_TRUE(co_walk(w.co, "q", got_agg, &b) != 0);
	cb_free(&b);
}

int main(void)
{
	static test_fn *const tests[] = {test_quantize, test_lquantize, test_llquantize,
		test_packed, test_printa, test_agg_actions, test_percpu, test_aggmax,
		test_sorting, test_walk};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
